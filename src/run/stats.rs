//! What the rules on runs mean by a task, a median, a warm-up task: each definition once.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Outcome, Stage, StageKey, Tasks};
use super::{Column, Rows, Run};

/// A task launched this much before its executor's first end still counts as launched after it: the scheduler gives a free
/// slot away a moment before it notes that the task there ended.
const WARM_UP_TOLERANCE_MS: u64 = 5;

/// Median: the mean of the two middle values for an even number. `None` of nothing.
pub fn median(values: &[u64]) -> Option<f64> {
    middle(&mut values.to_vec(), values.len())
}

/// The median of `count` values, of which the smaller half and at least the next stand in `values`.
fn middle(values: &mut [u64], count: usize) -> Option<f64> {
    let (below, &mut upper, _) = (count / 2 < values.len()).then(|| values.select_nth_unstable(count / 2))?;
    let lower = if count.is_multiple_of(2) { *below.iter().max()? } else { upper };
    Some((lower as f64 + upper as f64) / 2.0)
}

/// Percentile by nearest rank: the smallest value that at least `percent` % of the values do not exceed.
pub fn percentile(values: &[u64], percent: u32) -> Option<u64> {
    nth(values, rank(values.len(), percent))
}

/// The rank of a percentile among so many values, counted from 1.
fn rank(count: usize, percent: u32) -> usize {
    (count * percent as usize).div_ceil(100).max(1)
}

/// The value at this rank, counted from 1 for the smallest.
pub fn nth(values: &[u64], rank: usize) -> Option<u64> {
    let mut values = values.to_vec();
    (1..=values.len()).contains(&rank).then(|| *values.select_nth_unstable(rank - 1).1)
}

/// Arithmetic mean. `None` of nothing.
pub fn mean(values: &[u64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().map(|&value| value as f64).sum::<f64>() / values.len() as f64)
}

/// A distribution in a few numbers, in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// How many values.
    pub count: usize,
    /// Smallest.
    pub min: u64,
    /// See [`median`].
    pub median: f64,
    /// See [`percentile`].
    pub p75: u64,
    /// See [`percentile`].
    pub p95: u64,
    /// Largest.
    pub max: u64,
    /// Sum, saturating.
    pub sum: u64,
}

impl Distribution {
    /// Of these values; `None` of nothing.
    pub fn of(values: &[u64]) -> Option<Self> {
        let count = values.len();
        let (min, max) = (*values.iter().min()?, *values.iter().max()?);
        // Each is looked for only among what stands below the one before.
        let mut ordered = values.to_vec();
        let (upto_95, upto_75) = (rank(count, 95), rank(count, 75));
        let p95 = *ordered.select_nth_unstable(upto_95 - 1).1;
        let p75 = *ordered[..upto_95].select_nth_unstable(upto_75 - 1).1;
        let median = middle(&mut ordered[..upto_75], count)?;
        let sum = values.iter().fold(0u64, |sum, &value| sum.saturating_add(value));
        Some(Self { count, min, median, p75, p95, max, sum })
    }
}

/// The tasks that statistics are about, by partition: for each `Index` the success that
/// finished first. Failed, killed and resubmitted tasks are not in it.
pub fn population(tasks: &Tasks) -> Rows {
    let partitions = tasks.index.iter().max().map_or(0, |last| last.saturating_add(1));
    // Partitions count from 0 without gaps, unless the log is damaged.
    match (usize::try_from(partitions), u32::try_from(tasks.len())) {
        (Ok(partitions), Ok(none)) if partitions <= tasks.len().saturating_mul(4) => {
            let mut best = vec![none; partitions];
            for task in successes(tasks) {
                let best = &mut best[tasks.index.get(task) as usize];
                let chosen = (*best < none).then_some(*best as usize);
                *best = first_to_finish(tasks, chosen, task) as u32;
            }
            best.into_iter().filter(|&row| row < none).map(|row| row as usize).collect()
        }
        _ => {
            let mut best: BTreeMap<u64, usize> = BTreeMap::new();
            for task in successes(tasks) {
                let chosen = best.entry(tasks.index.get(task)).or_insert(task);
                *chosen = first_to_finish(tasks, Some(*chosen), task);
            }
            best.into_values().collect()
        }
    }
}

fn successes(tasks: &Tasks) -> impl Iterator<Item = usize> {
    (0..tasks.len()).filter(|&task| tasks.flags[task].outcome() == Outcome::Success)
}

/// The earlier one keeps its place if both finished at once.
fn first_to_finish(tasks: &Tasks, chosen: Option<usize>, task: usize) -> usize {
    chosen.filter(|&chosen| finish(tasks, chosen) <= finish(tasks, task)).unwrap_or(task)
}

/// When a task ended, in milliseconds after the application's first instant.
#[inline]
pub fn finish(tasks: &Tasks, task: usize) -> u64 {
    tasks.launch.get(task) + tasks.duration.get(task)
}

/// A column of chosen tasks, e.g. `pick(&tasks.duration, &population)`.
pub fn pick(column: &Column, chosen: &Rows) -> Vec<u64> {
    chosen.iter().map(|task| column.get(task)).collect()
}

/// Population ÷ `Number of Tasks`; `None` if the number of tasks was not recorded.
pub fn coverage(stage: &Stage) -> Option<f64> {
    coverage_of(stage, population(&stage.tasks).len())
}

/// As [`coverage`], of a population that is counted already.
pub fn coverage_of(stage: &Stage, counted: usize) -> Option<f64> {
    (stage.task_count > 0).then(|| counted as f64 / f64::from(stage.task_count))
}

/// The attempt of a stage to evaluate: the one with most partitions that succeeded; of equal ones the later.
pub fn evaluated_attempt(run: &Run, stage: u32) -> Option<StageKey> {
    let attempts = StageKey { stage, attempt: 0 }..=StageKey { stage, attempt: u32::MAX };
    let mut found = run.stages.range(attempts);
    let (&first, stage) = found.next()?;
    let successes = |stage: &Stage| population(&stage.tasks).len();
    let mut best: Option<(usize, StageKey)> = None;
    for (&key, other) in found {
        let (most, _) = *best.get_or_insert_with(|| (successes(stage), first));
        best = Some((successes(other), key)).filter(|(count, _)| *count >= most).or(best);
    }
    // Nearly every stage has one attempt, whose tasks need not be counted.
    Some(best.map_or(first, |(_, key)| key))
}

/// The stages to evaluate, each in its evaluated attempt.
pub fn evaluated_stages(run: &Run) -> Vec<StageKey> {
    let ids: BTreeSet<u32> = run.stages.keys().map(|key| key.stage).collect();
    ids.into_iter().filter_map(|id| evaluated_attempt(run, id)).collect()
}

/// When each executor ended its first task, whatever the outcome, over all stages; in milliseconds after the application's
/// first instant, by the executor's index. `None` for one that ended none.
pub fn first_ends(run: &Run) -> Vec<Option<u64>> {
    let mut ends: Vec<Option<u64>> = vec![None; run.executors.len()];
    for stage in run.stages.values() {
        for task in 0..stage.tasks.len() {
            let end = finish(&stage.tasks, task);
            if let Some(first) = ends.get_mut(usize::from(stage.tasks.executor_of(task))) {
                *first = Some(first.map_or(end, |known| known.min(end)));
            }
        }
    }
    ends
}

/// Whether a task was launched before its executor ended its first task, so that it paid for the start of the JVM, of
/// classes and of the Python worker.
pub fn is_warm_up(first_ends: &[Option<u64>], tasks: &Tasks, task: usize) -> bool {
    let first_end = first_ends.get(usize::from(tasks.executor_of(task))).copied().flatten();
    first_end.is_some_and(|end| tasks.launch.get(task) + WARM_UP_TOLERANCE_MS < end)
}

/// The chosen tasks by host.
pub fn by_host(tasks: &Tasks, chosen: &Rows) -> BTreeMap<u16, Rows> {
    let mut hosts: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for task in chosen.iter() {
        hosts.entry(tasks.host_of(task)).or_default().push(task);
    }
    hosts.into_iter().map(|(host, rows)| (host, rows.into_iter().collect())).collect()
}

/// Task time that brought no result, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LostTime {
    /// Tasks that failed, fetch failures included.
    pub failed: u64,
    /// Tasks that were killed, but for the losers of speculation.
    pub killed: u64,
    /// Successes that were thrown away: a later success of the same partition, resubmitted tasks; but for speculative ones.
    pub repeated: u64,
}

impl LostTime {
    /// All of it.
    pub fn total(self) -> u64 {
        self.failed + self.killed + self.repeated
    }
}

/// What a stage attempt's tasks worked for nothing; `population` is that of the tasks.
pub fn lost_time(tasks: &Tasks, population: &Rows) -> LostTime {
    if population.len() == tasks.len() {
        return LostTime::default();
    }
    let speculated: BTreeSet<u64> =
        (0..tasks.len()).filter(|&task| tasks.flags[task].speculative()).map(|task| tasks.index.get(task)).collect();
    let counted = population.among(tasks.len());
    let mut lost = LostTime::default();
    for (task, counted) in counted.into_iter().enumerate() {
        let time = tasks.duration.get(task);
        let raced = speculated.contains(&tasks.index.get(task));
        match tasks.flags[task].outcome() {
            Outcome::Failed | Outcome::FetchFailed => lost.failed += time,
            Outcome::Killed if !raced => lost.killed += time,
            Outcome::Resubmitted if !raced => lost.repeated += time,
            Outcome::Success if !raced && !counted => lost.repeated += time,
            Outcome::Killed | Outcome::Resubmitted | Outcome::Success => {}
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::model::{Executor, Task, TaskFlags};

    fn task(index: u32, launch: u32, duration: u32, outcome: Outcome) -> Task {
        Task { index, launch, duration, flags: TaskFlags { outcome, ..TaskFlags::default() }, ..Task::default() }
    }

    fn tasks(all: &[Task]) -> Tasks {
        let mut tasks = Tasks::default();
        all.iter().for_each(|&task| tasks.push(task));
        tasks
    }

    fn key(stage: u32, attempt: u32) -> StageKey {
        StageKey { stage, attempt }
    }

    #[test]
    fn median_of_odd_even_and_nothing() {
        assert_eq!(median(&[9, 1, 5]), Some(5.0));
        assert_eq!(median(&[4, 1, 2, 9]), Some(3.0));
        assert_eq!(median(&[7]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        // Ranks of 75 %: ceil(0.75 × 5) = 4, ceil(0.75 × 4) = 3. Ranks of 95 %: 5 and, of 100 values, 95.
        assert_eq!(percentile(&[15, 20, 35, 40, 50], 75), Some(40));
        assert_eq!(percentile(&[4, 3, 2, 1], 75), Some(3));
        assert_eq!(percentile(&[15, 20, 35, 40, 50], 95), Some(50));
        assert_eq!(percentile(&(1..=100).collect::<Vec<_>>(), 95), Some(95));
        assert_eq!(percentile(&[], 75), None);
    }

    #[test]
    fn a_distribution() {
        let of = Distribution::of(&[10, 20, 30, 40]).unwrap();
        assert_eq!((of.count, of.min, of.median, of.p75, of.p95, of.max, of.sum), (4, 10, 25.0, 30, 40, 40, 100));
        assert_eq!(mean(&[1, 2, 6]), Some(3.0));
        assert!(Distribution::of(&[]).is_none() && mean(&[]).is_none());
    }

    #[test]
    fn the_population_is_the_first_success_of_each_partition() {
        let tasks = tasks(&[
            task(1, 0, 100, Outcome::Success),
            task(0, 0, 500, Outcome::Success),
            task(0, 200, 100, Outcome::Success),
            task(2, 0, 10, Outcome::Failed),
            task(2, 20, 10, Outcome::Success),
            task(2, 20, 5, Outcome::Resubmitted),
            task(3, 0, 10, Outcome::Killed),
        ]);
        assert_eq!(population(&tasks), [2, 0, 4]);
        assert_eq!(pick(&tasks.duration, &population(&tasks)), [100, 100, 10]);
        let stage = Stage { tasks, task_count: 4, ..Stage::default() };
        assert_eq!(coverage(&stage), Some(0.75));
        assert_eq!(coverage(&Stage::default()), None);
    }

    #[test]
    fn the_attempt_with_most_successes_is_evaluated() {
        let with = |successes: u32| Stage {
            tasks: tasks(&(0..successes).map(|index| task(index, 0, 1, Outcome::Success)).collect::<Vec<_>>()),
            ..Stage::default()
        };
        let mut run = Run::default();
        run.stages.extend([(key(1, 0), with(3)), (key(1, 1), with(1)), (key(2, 0), with(2)), (key(2, 1), with(2))]);
        assert_eq!(evaluated_attempt(&run, 1), Some(key(1, 0)));
        assert_eq!(evaluated_stages(&run), [key(1, 0), key(2, 1)]);
        assert_eq!(evaluated_attempt(&run, 3), None);
    }

    #[test]
    fn warm_up_tasks_start_before_their_executor_ended_its_first() {
        let mut run = Run { executors: vec![Executor::default(), Executor::default()], ..Run::default() };
        let mut other = task(1, 100, 50, Outcome::Success);
        other.executor = 1;
        let all = [
            task(0, 0, 900, Outcome::Success),
            task(2, 10, 990, Outcome::Success),
            task(3, 896, 10, Outcome::Success),
            other,
        ];
        run.stages.insert(key(0, 0), Stage { tasks: tasks(&all), ..Stage::default() });
        let ends = first_ends(&run);
        assert_eq!(ends, [Some(900), Some(150)]);
        let warm: Vec<bool> = (0..4).map(|task| is_warm_up(&ends, &run.stages[&key(0, 0)].tasks, task)).collect();
        assert_eq!(warm, [true, true, false, true]);
    }

    fn rows<const N: usize>(rows: [usize; N]) -> Rows {
        rows.into_iter().collect()
    }

    #[test]
    fn tasks_by_host() {
        let mut far = task(1, 0, 1, Outcome::Success);
        far.host = 3;
        let tasks = tasks(&[task(0, 0, 1, Outcome::Success), far, task(2, 0, 1, Outcome::Success)]);
        assert_eq!(by_host(&tasks, &rows([0, 1, 2])), BTreeMap::from([(0, rows([0, 2])), (3, rows([1]))]));
    }

    #[test]
    fn lost_time_leaves_speculation_out() {
        let mut copy = task(4, 50, 10, Outcome::Success);
        copy.flags.speculative = true;
        let tasks = tasks(&[
            task(0, 0, 100, Outcome::Failed),
            task(0, 0, 20, Outcome::FetchFailed),
            task(1, 0, 30, Outcome::Killed),
            task(2, 0, 40, Outcome::Success),
            task(2, 90, 50, Outcome::Success),
            task(4, 0, 70, Outcome::Killed),
            copy,
        ]);
        let lost = lost_time(&tasks, &population(&tasks));
        assert_eq!(lost, LostTime { failed: 120, killed: 30, repeated: 50 });
        assert_eq!(lost.total(), 200);
    }
}
