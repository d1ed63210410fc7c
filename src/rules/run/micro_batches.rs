//! Streaming runs: a query's micro-batches are one thing to read about, not one each.

use std::collections::BTreeMap;

use super::words::{grouped, ranges};
use crate::rules::{Subject, Verdict};
use crate::run::Run;
use crate::run::model::{Job, StageKey};

/// The streaming query of a job: what people call it, else its id. Spark describes each micro-batch's jobs by the query's
/// name and ids and the batch's number.
pub(super) fn query_of(job: &Job) -> Option<String> {
    query_in(job.description.as_deref()?)
}

fn query_in(description: &str) -> Option<String> {
    let line = |prefix: &str| description.lines().find_map(|line| line.trim().strip_prefix(prefix));
    let (id, _) = (line("id = ")?, line("runId = ")?);
    line("batch = ")?;
    let first = description.lines().next().unwrap_or_default().trim();
    Some(if first.is_empty() || first.starts_with("id = ") { id.to_owned() } else { first.to_owned() })
}

/// Whether an execution is a micro-batch.
pub(super) fn is_micro_batch(run: &Run, execution: i64) -> bool {
    run.executions.get(&execution).is_some_and(|execution| query_in(&execution.description).is_some())
}

/// Whether the run has streaming queries that ran a micro-batch.
pub(super) fn is_streaming(run: &Run) -> bool {
    run.jobs.values().any(|job| query_of(job).is_some())
}

/// One verdict for each rule and query instead of one for each micro-batch: the costliest, with the stages of all.
pub(super) fn group(run: &Run, verdicts: Vec<Verdict>) -> Vec<Verdict> {
    if !is_streaming(run) {
        return verdicts;
    }
    let jobs = run.jobs_by_stage();
    let query_of_stage = |key: &StageKey| query_of(run.jobs.get(jobs.get(&key.stage)?)?);
    let mut others: Vec<Verdict> = Vec::new();
    let mut groups: BTreeMap<(&'static str, String), Vec<Verdict>> = BTreeMap::new();
    for verdict in verdicts {
        let query = match &verdict.subject {
            Subject::Stage(key) if verdict.is_fired() => query_of_stage(key),
            Subject::Execution(id) if verdict.is_fired() => {
                run.executions.get(id).and_then(|execution| query_in(&execution.description))
            }
            _ => None,
        };
        match query {
            Some(query) => groups.entry((verdict.rule, query)).or_default().push(verdict),
            None => others.push(verdict),
        }
    }
    others.extend(groups.into_iter().filter_map(|((_, query), batches)| merge(&query, batches)));
    others
}

fn merge(query: &str, mut batches: Vec<Verdict>) -> Option<Verdict> {
    batches.sort_by(|a, b| b.impact_s.unwrap_or(0.0).total_cmp(&a.impact_s.unwrap_or(0.0)));
    let stages: Vec<StageKey> = batches.iter().flat_map(|verdict| &verdict.stages).copied().collect();
    let total: f64 = batches.iter().filter_map(|verdict| verdict.impact_s).sum();
    let (times, paintable) = (batches.len() as u64, batches.iter().any(|verdict| verdict.paintable));
    let severity = batches.iter().map(|verdict| verdict.severity).max()?;
    let mut worst = batches.into_iter().next()?;
    if times > 1 {
        let times = grouped(times);
        worst.message = format!("streaming query {query}, {times} micro-batches, the costliest: {}", worst.message);
        worst.impact_s = worst.impact_s.map(|_| total);
        let ids: Vec<u32> = stages.iter().map(|key| key.stage).collect();
        worst.prove("micro-batches", times, None, Some(format!("stages {}", ranges(&ids))));
    } else {
        worst.message = format!("streaming query {query}: {}", worst.message);
    }
    (worst.stages, worst.severity, worst.paintable) = (stages, severity, paintable);
    Some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_told_by_the_description_of_its_batches() {
        let named = "orders\nid = 5f-1\nrunId = 22-0\nbatch = 7";
        assert_eq!(query_in(named).as_deref(), Some("orders"));
        assert_eq!(query_in("\nid = 5f-1\nrunId = 22-0\nbatch = 7").as_deref(), Some("5f-1"));
        assert_eq!(query_in("id = 5f-1\nrunId = 22-0\nbatch = 7").as_deref(), Some("5f-1"));
        assert_eq!(query_in("collect at job.py:3"), None);
        assert_eq!(query_in("my job\nid = 7"), None);
    }
}
