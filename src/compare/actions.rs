//! What a run did, one after the other: SQL executions, and jobs outside of SQL, each with its stages.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use rustc_hash::FxHashMap;

use super::figures::{self, Figures};
use crate::rules::run::view::StageView;
use crate::run::Run;
use crate::run::keys::{self, StageIdentity};
use crate::run::model::{PlanNode, StageKey};
use crate::run::plan::PlanIndex;

/// Which action of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionId {
    /// A SQL execution; those that run inside of it belong to it.
    Execution(i64),
    /// A job outside of SQL.
    Job(u32),
}

/// Operators by name and how many of them; those that come and go with AQE, code generation and the choice of a physical
/// operator are left out or have one name.
pub(super) type Operators = BTreeMap<String, u32>;

/// An action and what identifies it.
#[derive(Debug)]
pub(super) struct Action<'a> {
    pub(super) id: ActionId,
    /// Its description or call site, as logged.
    pub(super) site: String,
    /// The same without what changes from run to run.
    pub(super) lasting_site: String,
    pub(super) operators: Operators,
    /// Stands for the texts of its plan without what changes from run to run.
    pub(super) shape: u64,
    /// Stand for the texts of its scans, likewise; sorted.
    pub(super) scans: Vec<u64>,
    pub(super) start: i64,
    pub(super) failure: Option<&'a str>,
    pub(super) figures: Figures,
    pub(super) stages: Vec<ActionStage<'a>>,
    /// SQL executions that make it up; empty outside of SQL.
    pub(super) executions: Vec<i64>,
}

/// A stage of an action.
#[derive(Debug)]
pub(super) struct ActionStage<'a> {
    pub(super) view: StageView<'a>,
    pub(super) identity: StageIdentity,
    pub(super) operators: Operators,
    pub(super) figures: Figures,
}

/// The actions of a run in the order of their start.
pub(super) fn actions(run: &Run) -> Vec<Action<'_>> {
    let mut actions: BTreeMap<ActionId, Action<'_>> = BTreeMap::new();
    for (&id, execution) in &run.executions {
        let action = actions.entry(ActionId::Execution(root(run, id))).or_insert_with_key(|&id| new(id));
        action.executions.push(id);
        action.failure = action.failure.or(execution.error.as_deref());
        add_plan(action, &execution.plan);
    }
    // Newer ones say themselves whether they failed; adaptive execution cancels jobs, which then count as failed.
    let executions_tell = run.application.version.is_some_and(|version| version.at_least(3, 4));
    for (&id, job) in &run.jobs {
        if let Some(action) = job_action(run, id).and_then(|id| actions.get_mut(&id)) {
            action.failure = action.failure.or(job.failure.as_deref().filter(|_| !executions_tell));
            continue;
        }
        let mut action = new(ActionId::Job(id));
        action.site = job.call_site.as_deref().or(job.description.as_deref()).unwrap_or_default().to_owned();
        action.start = job.submitted.unwrap_or(i64::MAX);
        action.failure = job.failure.as_deref();
        let wall = job.submitted.zip(job.completed).map(|(from, to)| (to - from).max(0) as f64);
        action.figures.wall_ms = wall;
        actions.insert(action.id, action);
    }
    for (&id, action) in &mut actions {
        if let ActionId::Execution(id) = id
            && let Some(execution) = run.executions.get(&id)
        {
            action.site.clone_from(&execution.description);
            action.start = execution.start;
            action.figures.wall_ms = execution.end.map(|end| (end - execution.start).max(0) as f64);
        }
    }
    add_stages(run, &mut actions);
    let mut actions: Vec<Action<'_>> = actions.into_values().collect();
    for action in &mut actions {
        action.lasting_site = keys::lasting_site(&action.site);
        action.scans.sort_unstable();
    }
    actions.sort_by_key(|action| (action.start, action.id));
    actions
}

fn new<'a>(id: ActionId) -> Action<'a> {
    Action {
        id,
        site: String::new(),
        lasting_site: String::new(),
        operators: Operators::new(),
        shape: 0,
        scans: Vec::new(),
        start: 0,
        failure: None,
        figures: Figures::NOTHING,
        stages: Vec::new(),
        executions: Vec::new(),
    }
}

/// The execution that this one runs in; itself if it is no part of another.
fn root(run: &Run, id: i64) -> i64 {
    let root = run.executions.get(&id).and_then(|execution| execution.root);
    root.filter(|root| run.executions.contains_key(root)).unwrap_or(id)
}

fn job_action(run: &Run, job: u32) -> Option<ActionId> {
    let execution = run.jobs.get(&job)?.execution?;
    run.executions.contains_key(&execution).then(|| ActionId::Execution(root(run, execution)))
}

fn add_plan(action: &mut Action<'_>, plan: &PlanNode) {
    for step in plan.walk() {
        let name = step.node.name.trim();
        if keys::is_wrapper(name) {
            continue;
        }
        let text = keys::stable(&step.node.text);
        if name.starts_with("Scan") || name.starts_with("BatchScan") {
            action.scans.push(hash(&text));
        }
        action.shape = hash(&(action.shape, text));
        if let Some(class) = class(name) {
            *action.operators.entry(class).or_default() += 1;
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn add_stages<'a>(run: &'a Run, actions: &mut BTreeMap<ActionId, Action<'a>>) {
    let ended = figures::ended_tasks(run);
    let index = PlanIndex::new(run);
    let mut identities = keys::stage_identities(run);
    let jobs: FxHashMap<u32, u32> = run.jobs_by_stage();
    for view in StageView::all(run) {
        let Some(&job) = jobs.get(&view.key.stage) else { continue };
        let id = job_action(run, job).unwrap_or(ActionId::Job(job));
        let (Some(action), Some(identity)) = (actions.get_mut(&id), identities.remove(&view.key)) else { continue };
        let figures = Figures::of_stage(&view, ended.get(&view.key.stage).copied().unwrap_or_default());
        let operators = operators(run, &index, view.key);
        if matches!(id, ActionId::Job(_)) {
            operators.iter().for_each(|(name, count)| *action.operators.entry(name.clone()).or_default() += count);
        }
        action.figures = action.figures + figures;
        action.stages.push(ActionStage { view, identity, operators, figures });
    }
}

fn operators(run: &Run, index: &PlanIndex<'_>, key: StageKey) -> Operators {
    let mut operators = Operators::new();
    let nodes = index.nodes_of(key).into_iter().filter_map(|place| run.plan_node(place));
    for class in nodes.filter_map(|node| class(node.name.trim())) {
        *operators.entry(class).or_default() += 1;
    }
    if operators.is_empty()
        && let Some(stage) = run.stages.get(&key)
    {
        for rdd in &stage.rdds {
            *operators.entry(keys::stable(&rdd.name).into_owned()).or_default() += 1;
        }
    }
    operators
}

/// What an operator does, whichever way; `None` for those that come with others.
fn class(name: &str) -> Option<String> {
    let name = name.split('(').next().unwrap_or(name).trim();
    let comes_with_others = name.contains("Exchange")
        || matches!(name, "Project" | "Filter" | "Sort" | "WriteFiles" | "Subquery" | "ReusedSubquery");
    if keys::is_wrapper(name) || comes_with_others || name.is_empty() {
        None
    } else if name.contains("Join") || name == "CartesianProduct" {
        Some("Join".to_owned())
    } else if name.contains("Aggregate") {
        Some("Aggregate".to_owned())
    } else {
        Some(name.to_owned())
    }
}

/// How alike two sets of operators are, from 0 to 1: what they share over what either has.
pub(super) fn likeness(a: &Operators, b: &Operators) -> f64 {
    let (mut shared, mut either) = (0, 0);
    for (name, &count) in a {
        let other = b.get(name).copied().unwrap_or(0);
        shared += count.min(other);
        either += count.max(other);
    }
    either += b.iter().filter(|(name, _)| !a.contains_key(*name)).map(|(_, count)| count).sum::<u32>();
    if either == 0 { 1.0 } else { f64::from(shared) / f64::from(either) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Operators {
        let mut operators = Operators::new();
        for class in names.iter().filter_map(|name| class(name)) {
            *operators.entry(class).or_default() += 1;
        }
        operators
    }

    #[test]
    fn another_join_strategy_is_the_same_operator() {
        let merged = of(&["HashAggregate", "Exchange", "SortMergeJoin(skew=true)", "Sort", "Scan parquet"]);
        let broadcast = of(&["SortAggregate", "BroadcastHashJoin", "BroadcastExchange", "Project", "Scan parquet"]);
        assert_eq!(likeness(&merged, &broadcast), 1.0);
        assert_eq!(likeness(&merged, &of(&["Scan parquet", "Window"])), 0.25);
        assert_eq!(likeness(&of(&[]), &of(&["Project"])), 1.0);
    }
}
