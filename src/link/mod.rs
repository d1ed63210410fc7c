//! From a stage of a run to a span of the code, with certainty and reason.

mod actions;
mod operators;
mod physical;
mod site;
mod written;

use std::path::Path;

use self::actions::{Code, Found};
use self::operators::Flat;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::NodeId;
use crate::run::Run;
use crate::run::model::{Stage, StageKey};
use crate::run::plan::PlanIndex;
use crate::text::Span;

/// How sure a link is; a link below [`Certainty::Likely`] is never painted on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// The file changed since the run: the place was found again by its surroundings.
    Stale,
    /// One of several candidates.
    Candidate,
    /// A clear winner among several.
    Likely,
    /// The only action of its kind with this literal target.
    Unique,
    /// The log names the line.
    Exact,
}

impl Certainty {
    /// Its name in messages and in the report's JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Candidate => "candidate",
            Self::Likely => "likely",
            Self::Unique => "unique",
            Self::Exact => "exact",
        }
    }
}

/// What of the run the span belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measured {
    /// A SQL execution.
    Execution(i64),
    /// A job outside SQL.
    Job(u32),
    /// A stage attempt.
    Stage(StageKey),
}

/// A span of the code and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// What was measured.
    pub measured: Measured,
    /// The operator's or the action's call: its method name with its receiver's end, as a finding underlines it.
    pub span: Span,
    /// The operator of the static plan, if the span is one.
    pub node: Option<NodeId>,
    /// The action (index into `StaticPlan::actions`) that ran it.
    pub action: Option<usize>,
    /// How sure.
    pub certainty: Certainty,
    /// Why, in a few words ("call site in the log", "only write to out/daily").
    pub reason: String,
}

/// All links of one run into one file, best first for each measured thing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Links {
    /// The links.
    pub links: Vec<Link>,
    /// What the run did that has no line here, with the reason.
    pub unlinked: Vec<(Measured, String)>,
}

impl Links {
    /// The best link of something measured.
    pub fn best(&self, measured: Measured) -> Option<&Link> {
        self.links.iter().filter(|link| link.measured == measured).rev().max_by_key(|link| link.certainty)
    }
}

/// Links a run to one Python file. `path` is compared with the paths in call sites by their longest common suffix; a run
/// of another job has no links here.
pub fn link(run: &Run, plan: &StaticPlan, text: &str, path: &Path) -> Links {
    let mut links = Links::default();
    if !belongs(run, plan, path) {
        return links;
    }
    let code = Code::new(plan, text, path);
    let index = PlanIndex::new(run);
    for (measured, found) in actions::link(run, &code) {
        match found {
            Found::Links(found) => {
                if let Some(best) = found.first().filter(|link| link.certainty >= Certainty::Likely) {
                    stages(run, &index, &code, best, &mut links);
                }
                links.links.extend(found);
            }
            Found::Nothing(reason) => links.unlinked.push((measured, reason)),
            Found::Elsewhere => {}
        }
    }
    links.links.sort_by(|one, other| one.measured.cmp(&other.measured).then(other.certainty.cmp(&one.certainty)));
    links
}

/// Whether a run can be one of this file: a call site or the submitted command names it, or the application has its name.
fn belongs(run: &Run, plan: &StaticPlan, path: &Path) -> bool {
    let named = |site: &str| site::python(site).is_some_and(|site| site::common_suffix(site.path, path) > 0);
    let by_name = || plan.uses.app_name.is_some() && plan.uses.app_name == run.application.name;
    let by_command = || {
        let command = run.application.command.as_deref().unwrap_or_default();
        command.split_whitespace().any(|word| word.ends_with(".py") && site::common_suffix(word, path) > 0)
    };
    let by_site = || {
        run.executions.values().any(|execution| named(&execution.description))
            || run.stages.values().any(|stage| named(&stage.name))
            || run.jobs.values().any(|job| job.call_site.as_deref().is_some_and(named))
    };
    by_name() || by_command() || by_site()
}

/// Links the stages of one linked execution or job: to the operator that caused them, else to the action. A stage that
/// several jobs list belongs to the first: the others skip it.
fn stages(run: &Run, index: &PlanIndex<'_>, code: &Code<'_>, action: &Link, links: &mut Links) {
    match action.measured {
        Measured::Execution(id) => {
            let Some(execution) = run.executions.get(&id) else { return };
            let flat = Flat::new(id, &execution.plan);
            for &key in run.stages.keys().filter(|key| index.execution_of(**key) == Some(id)) {
                links.links.extend(of_stage(code, action, &flat, index, key));
            }
        }
        Measured::Job(id) => {
            for (&key, stage) in run.stages.iter().filter(|(key, _)| index.job_of(**key) == Some(id)) {
                links.links.push(of_rdd_stage(code, action, key, stage));
            }
        }
        Measured::Stage(_) => {}
    }
}

/// The operator that a stage belongs to. Where several fit, they are candidates and the stage stays with its action.
fn of_stage(code: &Code<'_>, action: &Link, flat: &Flat<'_>, index: &PlanIndex<'_>, key: StageKey) -> Vec<Link> {
    let with_action = Link { measured: Measured::Stage(key), ..action.clone() };
    let input = action.action.and_then(|index| code.plan.actions[index].input);
    let place = input.and_then(|input| operators::place(flat, index, key, (code.plan, code.text), input));
    let Some(place) = place else { return vec![with_action] };
    let Some(site) = code.plan.node(place.node).site.as_ref() else { return vec![with_action] };
    let at_operator = Link {
        span: site.method,
        node: Some(place.node),
        certainty: if place.sure { action.certainty.min(Certainty::Unique) } else { Certainty::Candidate },
        reason: format!("{}; {}", place.reason, action.reason),
        ..with_action.clone()
    };
    if place.sure { vec![at_operator] } else { vec![with_action, at_operator] }
}

/// Stages of RDD code name their own line.
fn of_rdd_stage(code: &Code<'_>, action: &Link, key: StageKey, stage: &Stage) -> Link {
    let measured = Measured::Stage(key);
    let own = site::python(&stage.name).map(|site| code.at_site(measured, &site));
    match own {
        Some(Found::Links(links)) if !links.is_empty() => links[0].clone(),
        _ => Link { measured, ..action.clone() },
    }
}
