//! From an execution or a job of the run to the action that started it.

use std::collections::BTreeMap;

use super::physical;
use super::site::{self, PythonSite};
use super::written::{self, TargetMatch};
use super::{Certainty, Link, Measured};
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind};
use crate::run::Run;
use crate::text::Span;

/// The code that a run is linked to.
pub(super) struct Code<'a> {
    pub(super) plan: &'a StaticPlan,
    pub(super) text: &'a str,
    pub(super) path: &'a std::path::Path,
    lines: Vec<usize>,
}

/// What was found for one execution or job.
pub(super) enum Found {
    /// The place, best first.
    Links(Vec<Link>),
    /// No place, and why.
    Nothing(String),
    /// Another file's.
    Elsewhere,
}

impl<'a> Code<'a> {
    pub(super) fn new(plan: &'a StaticPlan, text: &'a str, path: &'a std::path::Path) -> Self {
        let mut lines = vec![0];
        let bytes = text.as_bytes();
        lines.extend(
            (0..bytes.len())
                .filter(|&at| match bytes[at] {
                    b'\n' => true,
                    b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                    _ => false,
                })
                .map(|at| at + 1),
        );
        Self { plan, text, path, lines }
    }

    /// The line of an offset, from 1.
    fn line_of(&self, offset: u32) -> u32 {
        self.lines.partition_point(|&start| start <= offset as usize) as u32
    }

    /// The text span of a line, from 1.
    fn line(&self, line: u32) -> Option<Span> {
        let start = *self.lines.get((line as usize).checked_sub(1)?)?;
        let end = self.lines.get(line as usize).copied().unwrap_or(self.text.len());
        Some(Span::new(start, end))
    }

    fn actions(&self) -> impl Iterator<Item = (usize, &'a Action)> {
        self.plan.actions.iter().enumerate()
    }

    fn link(&self, measured: Measured, index: usize, certainty: Certainty, reason: String) -> Link {
        let action = &self.plan.actions[index];
        Link { measured, span: action.site.method, node: None, action: Some(index), certainty, reason }
    }

    /// An exact site: the action on its line; else the function's name on that line; else the nearest like it, as stale.
    pub(super) fn at_site(&self, measured: Measured, logged: &PythonSite<'_>) -> Found {
        if site::common_suffix(logged.path, self.path) == 0 {
            return Found::Elsewhere;
        }
        let method = site::method(logged.function);
        let on_line = |action: &Action| {
            // Spark logs where Python calls, not where the clause stands.
            let call = if action.site.is_sql() { action.site.statement } else { action.site.call };
            let (first, last) = (self.line_of(call.start), self.line_of(call.end));
            (first..=last).contains(&logged.line)
        };
        let here = self
            .actions()
            .filter(|(_, action)| site::is_call_of(&action.method, method) && on_line(action))
            .min_by_key(|(_, action)| self.line_of(action.site.method.start).abs_diff(logged.line));
        if let Some((index, _)) = here {
            let reason = format!("call site in the log, line {}", logged.line);
            return Found::Links(vec![self.link(measured, index, Certainty::Exact, reason)]);
        }
        if let Some(span) = self.name_on_line(logged.line, method) {
            let reason = format!("call site in the log, line {}", logged.line);
            let link = Link { measured, span, node: None, action: None, certainty: Certainty::Exact, reason };
            return Found::Links(vec![link]);
        }
        self.moved(measured, logged, method)
    }

    /// The file changed since the run: the nearest call of the same method, marked stale.
    fn moved(&self, measured: Measured, logged: &PythonSite<'_>, method: &str) -> Found {
        let nearest = self
            .actions()
            .filter(|(_, action)| action.method == method)
            .min_by_key(|(_, action)| self.line_of(action.site.method.start).abs_diff(logged.line));
        let gone = format!("line {} has no {method}() any more", logged.line);
        match nearest {
            Some((index, _)) => {
                Found::Links(vec![self.link(measured, index, Certainty::Stale, format!("{gone}; nearest like it"))])
            }
            None => Found::Nothing(gone),
        }
    }

    /// The word `name` in front of a parenthesis on a line.
    fn name_on_line(&self, line: u32, name: &str) -> Option<Span> {
        let span = self.line(line)?;
        let text = span.of(self.text);
        let found = text.match_indices(name).find(|(at, _)| {
            let before = text[..*at].chars().next_back();
            let after = text[at + name.len()..].trim_start();
            before.is_none_or(|c| !c.is_alphanumeric() && c != '_') && after.starts_with('(')
        })?;
        let start = span.start as usize + found.0;
        Some(Span::new(start, start + name.len()))
    }
}

/// Links every SQL execution, then every job outside SQL.
pub(super) fn link(run: &Run, code: &Code<'_>) -> Vec<(Measured, Found)> {
    let mut found = Vec::new();
    let mut open: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (&id, execution) in &run.executions {
        let measured = Measured::Execution(id);
        match execution_site(run, id) {
            Some(site) => found.push((measured, code.at_site(measured, &site))),
            None => match execution_method(run, id) {
                Some(method) => open.entry(method.to_owned()).or_default().push(id),
                None => found
                    .push((measured, Found::Nothing(format!("`{}` names no call", shorten(&execution.description))))),
            },
        }
    }
    for (method, ids) in open {
        found.extend(by_content(run, code, &method, &ids));
    }
    for (&id, job) in run.jobs.iter().filter(|(_, job)| job.execution.is_none()) {
        let measured = Measured::Job(id);
        let site = job.call_site.as_deref().or_else(|| stage_site(run, &job.stages));
        match site.and_then(site::python) {
            Some(site) => found.push((measured, code.at_site(measured, &site))),
            None => {
                let what = site.unwrap_or("no call site");
                found.push((measured, Found::Nothing(format!("`{}` names no line", shorten(what)))));
            }
        }
    }
    found
}

/// A Python call site of an execution: its own, or that of one of its jobs (a job description hides the own one).
fn execution_site(run: &Run, id: i64) -> Option<PythonSite<'_>> {
    let own = run.executions.get(&id).and_then(|execution| site::python(&execution.description));
    own.or_else(|| {
        run.jobs
            .values()
            .filter(|job| job.execution == Some(id))
            .filter_map(|job| job.call_site.as_deref())
            .find_map(site::python)
    })
}

/// The method that started an execution, where the log names it.
fn execution_method(run: &Run, id: i64) -> Option<&str> {
    let execution = run.executions.get(&id)?;
    let description = site::function(&execution.description);
    let by_job = || {
        run.jobs
            .values()
            .filter(|job| job.execution == Some(id))
            .find_map(|job| job.call_site.as_deref().and_then(site::function))
    };
    // With a job description, `details` still starts with the JVM method: `org.apache.spark.sql.Dataset.count(Dataset.scala:…)`.
    let by_details = || {
        let first = execution.details.lines().next()?;
        first.split_once('(')?.0.rsplit('.').next()
    };
    description.or_else(by_job).or_else(by_details).map(site::method)
}

fn stage_site<'a>(run: &'a Run, stages: &[u32]) -> Option<&'a str> {
    run.stages.iter().filter(|(key, _)| stages.contains(&key.stage)).map(|(_, stage)| stage.name.as_str()).next_back()
}

/// Executions of one method without a site, against the actions of that method that no site has taken.
fn by_content(run: &Run, code: &Code<'_>, method: &str, ids: &[i64]) -> Vec<(Measured, Found)> {
    let candidates: Vec<usize> =
        code.actions().filter(|(_, action)| action.method == method).map(|(index, _)| index).collect();
    let choices: Vec<(i64, Choice)> = ids.iter().map(|&id| (id, choose(run, code, method, id, &candidates))).collect();
    let ordered = in_order(code, &choices);
    choices
        .into_iter()
        .zip(ordered)
        .map(|((id, choice), ordered)| {
            let measured = Measured::Execution(id);
            let found = match (choice, ordered) {
                (Choice::None(reason), _) => Found::Nothing(reason),
                (Choice::One(index, certainty, reason), _) => {
                    Found::Links(vec![code.link(measured, index, certainty, reason)])
                }
                (Choice::Several(_), Some(index)) => {
                    let reason = format!("as many {method}() in the run as in the file, in this order");
                    Found::Links(vec![code.link(measured, index, Certainty::Likely, reason)])
                }
                (Choice::Several(several), None) => {
                    let reason = format!("one of {} {method}() that the log can't tell apart", several.len());
                    let links = several
                        .into_iter()
                        .map(|index| code.link(measured, index, Certainty::Candidate, reason.clone()))
                        .collect();
                    Found::Links(links)
                }
            };
            (measured, found)
        })
        .collect()
}

enum Choice {
    None(String),
    One(usize, Certainty, String),
    Several(Vec<usize>),
}

/// The action of one execution: by its literal target, by being the only one, by what its plan holds.
fn choose(run: &Run, code: &Code<'_>, method: &str, id: i64, candidates: &[usize]) -> Choice {
    let plan = &run.executions[&id].plan;
    let target = physical::target(plan);
    let match_of = |&index: &usize| match (&code.plan.actions[index].kind, &target) {
        (ActionKind::Write(write), Some(target)) => written::matches_target(&write.target, target),
        _ => TargetMatch::Unknown,
    };
    let named: Vec<usize> = candidates.iter().copied().filter(|index| match_of(index) == TargetMatch::Yes).collect();
    if let ([only], Some(target)) = (named.as_slice(), &target) {
        return Choice::One(*only, Certainty::Unique, format!("the only {method}() to {}", shorten(target)));
    }
    let possible: Vec<usize> = match named.is_empty() {
        false => named,
        true => candidates.iter().copied().filter(|index| match_of(index) != TargetMatch::No).collect(),
    };
    match possible.as_slice() {
        [] => Choice::None(format!("no {method}() in this file can be it")),
        [only] => Choice::One(*only, Certainty::Likely, format!("the only {method}() in this file")),
        several => by_score(code, plan, several),
    }
}

/// A clear winner by shared keys, sources, numbers and literals; else all of the best. A call whose own tokens the plan
/// lacks never wins: something else ran.
fn by_score(code: &Code<'_>, plan: &crate::run::model::PlanNode, candidates: &[usize]) -> Choice {
    let logged = physical::tokens(plan);
    let scores: Vec<Score> = candidates
        .iter()
        .map(|&index| {
            let written = written::tokens(code.plan, &code.plan.actions[index], code.text);
            let shared = written.intersection(&logged).count();
            let missing = written.difference(&logged).count();
            let extra = logged.difference(&written).count();
            Score { index, shared, missing, total: shared as f64 - missing as f64 - extra as f64 / 2.0 }
        })
        .collect();
    let best = scores.iter().map(|score| score.total).fold(f64::NEG_INFINITY, f64::max);
    let top: Vec<&Score> = scores.iter().filter(|score| best - score.total < 1.0).collect();
    match top.as_slice() {
        [only] if only.missing == 0 && only.shared >= 2 => {
            Choice::One(only.index, Certainty::Likely, "its plan has the keys and numbers of this call".to_owned())
        }
        _ => Choice::Several(top.iter().map(|score| score.index).collect()),
    }
}

/// How well a call fits a plan.
struct Score {
    index: usize,
    shared: usize,
    missing: usize,
    total: f64,
}

/// For executions that could be any of the same calls: the calls in source order, if there are as many, each runs once,
/// at the module's top level.
fn in_order(code: &Code<'_>, choices: &[(i64, Choice)]) -> Vec<Option<usize>> {
    choices
        .iter()
        .map(|(_, choice)| {
            let Choice::Several(several) = choice else { return None };
            let alike: Vec<&i64> = choices
                .iter()
                .filter(|(_, other)| matches!(other, Choice::Several(theirs) if theirs == several))
                .map(|(id, _)| id)
                .collect();
            let straight = several.iter().all(|&index| {
                let action = &code.plan.actions[index];
                action.scope.0 == 0 && action.loops.is_empty() && !action.conditional
            });
            let id = choices.iter().find(|(_, other)| std::ptr::eq(other, choice)).map(|(id, _)| id)?;
            let place = alike.iter().position(|other| *other == id)?;
            (straight && alike.len() == several.len()).then(|| several[place])
        })
        .collect()
}

/// A text for a message: the first 60 characters.
fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}
