//! Statistics of one stage.

use crate::run::Run;
use crate::run::model::{Outcome, Stage, StageKey, Tasks};

/// Rows of the tasks that count: one success for each index, the first to finish, in launch order.
pub(crate) fn population(tasks: &Tasks) -> Vec<usize> {
    let mut rows: Vec<usize> =
        (0..tasks.index.len()).filter(|&row| tasks.flags[row].outcome == Outcome::Success).collect();
    rows.sort_by_key(|&row| (tasks.index[row], u64::from(tasks.launch[row]) + u64::from(tasks.duration[row])));
    rows.dedup_by_key(|row| tasks.index[*row]);
    rows.sort_by_key(|&row| (tasks.launch[row], row));
    rows
}

/// The attempt with most successes of each stage.
pub(crate) fn evaluated(run: &Run) -> Vec<StageKey> {
    let mut best: Vec<(StageKey, usize)> = Vec::new();
    for (&key, stage) in &run.stages {
        let successes = stage.tasks.flags.iter().filter(|flags| flags.outcome == Outcome::Success).count();
        match best.last_mut() {
            Some((last, most)) if last.stage == key.stage => {
                if successes > *most {
                    (*last, *most) = (key, successes);
                }
            }
            _ => best.push((key, successes)),
        }
    }
    best.into_iter().map(|(key, _)| key).collect()
}

/// The median of sorted values: the mean of the two middle ones for an even count.
pub(crate) fn median(sorted: &[u64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)? as f64;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some((*sorted.get(middle.checked_sub(1)?)? as f64 + upper) / 2.0) }
}

/// The nearest-rank quantile of sorted values.
pub(crate) fn quantile(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).checked_sub(1)?).copied()
}

/// Rows of the population without those launched before their executor had ended its first task of the run.
pub(crate) fn first_ends(run: &Run) -> Vec<Option<u64>> {
    let mut ends = vec![None; run.executors.len()];
    for tasks in run.stages.values().map(|stage| &stage.tasks) {
        for row in 0..tasks.index.len() {
            let end = u64::from(tasks.launch[row]) + u64::from(tasks.duration[row]);
            if let Some(first) = ends.get_mut(usize::from(tasks.executor[row])) {
                *first = Some(first.map_or(end, |first: u64| first.min(end)));
            }
        }
    }
    ends
}

/// Most tasks that ran at once.
pub(crate) fn peak_slots(tasks: &Tasks, rows: &[usize]) -> usize {
    let mut changes: Vec<(u64, i32)> = Vec::with_capacity(rows.len() * 2);
    for &row in rows {
        let launch = u64::from(tasks.launch[row]);
        changes.push((launch, 1));
        changes.push((launch + u64::from(tasks.duration[row]).max(1), -1));
    }
    changes.sort_unstable();
    let (mut running, mut peak) = (0i32, 0i32);
    for (_, change) in changes {
        running += change;
        peak = peak.max(running);
    }
    peak.max(1) as usize
}

/// How long tasks of these durations take on so many slots, each on the slot that is free first.
pub(crate) fn replay(durations: impl Iterator<Item = f64>, slots: usize) -> f64 {
    let mut free = std::collections::BinaryHeap::from(vec![std::cmp::Reverse(0u64); slots.max(1)]);
    let mut end = 0u64;
    for duration in durations {
        let std::cmp::Reverse(start) = free.pop().unwrap_or(std::cmp::Reverse(0));
        let finish = start + (duration.max(0.0) * 1000.0) as u64;
        end = end.max(finish);
        free.push(std::cmp::Reverse(finish));
    }
    end as f64 / 1000.0
}

/// Cores that the stage could use, weighted by time; `None` where an executor's cores are unknown.
pub(crate) fn cores(run: &Run, stage: &Stage, task_cpus: f64) -> Option<f64> {
    let (from, to) = (stage.submitted?, stage.completed?);
    let length = (to - from).max(1) as f64;
    let mut cores = 0.0;
    for executor in &run.executors {
        let added = executor.added.unwrap_or(i64::MIN).max(from);
        let removed = executor.removed.unwrap_or(i64::MAX).min(to.max(from + 1));
        if removed > added {
            cores += f64::from(executor.cores?) * (removed - added) as f64 / length;
        }
    }
    (cores > 0.0).then_some(cores / task_cpus.max(1e-9))
}
