//! Time and slots: how long a stage took on how many cores, and how long it would have taken otherwise.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::model::{Stage, StageKey, Tasks};
use super::stats::finish;
use super::{Rows, Run};

/// How long the run took, in milliseconds. `None` if only one instant of it was recorded, or none.
pub fn run_time(run: &Run) -> Option<u64> {
    u64::try_from(run.application.end.saturating_sub(run.application.start)).ok().filter(|&time| time > 0)
}

/// From when to when a stage attempt ran, in milliseconds since the epoch: its own times, else its tasks'. `None` if
/// neither was recorded.
pub fn stage_span(run: &Run, stage: &Stage) -> Option<(i64, i64)> {
    let since_start = |time: u64| run.application.start.saturating_add(i64::try_from(time).unwrap_or(i64::MAX));
    let tasks = &stage.tasks;
    let from = stage.submitted.or_else(|| tasks.launch.iter().min().map(since_start))?;
    let to = stage.completed.or_else(|| (0..tasks.len()).map(|task| finish(tasks, task)).max().map(since_start))?;
    (from <= to).then_some((from, to))
}

/// How long a stage attempt took, in milliseconds.
pub fn stage_wall(run: &Run, stage: &Stage) -> Option<u64> {
    let (from, to) = stage_span(run, stage)?;
    u64::try_from(to - from).ok()
}

/// `spark.task.cpus`, 1 if unset.
pub fn task_cpus(run: &Run) -> u32 {
    run.conf.get("spark.task.cpus").and_then(|text| text.trim().parse().ok()).filter(|&cpus| cpus > 0).unwrap_or(1)
}

/// Cores of a stage: executors alive during it, weighted by the share of its time, × their cores ÷ `spark.task.cpus`.
/// `None` if that can't be known: no times, no executor announced, or tasks on one that was not.
pub fn stage_cores(run: &Run, key: StageKey) -> Option<f64> {
    let stage = run.stages.get(&key)?;
    let (from, to) = stage_span(run, stage)?;
    let ran_on = |index: usize| (0..stage.tasks.len()).any(|task| usize::from(stage.tasks.executor_of(task)) == index);
    let length = (to - from).max(1) as f64;
    let mut cores = 0.0;
    for (index, executor) in run.executors.iter().enumerate() {
        match (executor.cores, executor.added) {
            (Some(count), Some(added)) => {
                // A stage within one millisecond still has the executors alive at that time.
                let (since, until) =
                    (added.max(from), executor.removed.unwrap_or(i64::MAX).min(to.max(from.saturating_add(1))));
                cores += f64::from(count) * (until.saturating_sub(since).max(0) as f64 / length);
            }
            _ if ran_on(index) => return None,
            _ => {}
        }
    }
    (cores > 0.0).then(|| cores / f64::from(task_cpus(run)))
}

/// Most cores that the run's executors had together. `None` if the cores of one are not recorded, or there were none.
pub fn peak_cores(run: &Run) -> Option<u64> {
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for executor in &run.executors {
        let cores = i64::from(executor.cores?);
        changes.push((executor.added.unwrap_or(i64::MIN), cores));
        changes.push((executor.removed.unwrap_or(i64::MAX), -cores));
    }
    changes.sort_unstable();
    let now = changes.into_iter().scan(0, |now, (_, change)| {
        *now += change;
        Some(*now)
    });
    now.max().and_then(|cores| u64::try_from(cores).ok()).filter(|&cores| cores > 0)
}

/// Most tasks of the stage attempt that ran at once, of any outcome.
pub fn peak_slots(tasks: &Tasks) -> usize {
    let mut launches: Vec<u64> = tasks.launch.iter().collect();
    let mut ends: Vec<u64> = (0..tasks.len()).map(|task| finish(tasks, task).max(tasks.launch.get(task) + 1)).collect();
    // Both are nearly in order, in which this sort is fast.
    launches.sort();
    ends.sort();
    let mut ended = 0;
    let running = launches.iter().enumerate().map(|(before, launch)| {
        // Of a task that ended in the millisecond of the launch the slot was handed on.
        ended += ends[ended..].iter().take_while(|&end| end <= launch).count();
        before + 1 - ended
    });
    running.max().unwrap_or(0)
}

/// Slots that a stage's tasks are replayed on: the observed peak, not above the stage's cores where they are known (a slot
/// is given away a moment before its task is noted as ended, so the peak can be too high). At least 1.
pub fn stage_slots(run: &Run, key: StageKey) -> usize {
    let peak = run.stages.get(&key).map_or(1, |stage| peak_slots(&stage.tasks));
    let cores = stage_cores(run, key).map_or(usize::MAX, |cores| cores.ceil() as usize);
    peak.min(cores).max(1)
}

/// A stage's tasks run again on so many slots, each in launch order on the slot that is free first.
#[derive(Debug)]
pub struct Replay {
    slots: usize,
    /// The tasks by launch.
    order: Rows,
    /// How long the tasks take as they were, in milliseconds.
    as_it_was: u64,
}

impl Replay {
    /// Of these tasks.
    pub fn new(tasks: &Tasks, slots: usize) -> Self {
        let mut launches: Vec<(u64, u32)> = tasks.launch.iter().zip(0..).collect();
        // Tasks end about in the order in which they start: a sort that sees runs is fast here.
        launches.sort();
        let order = launches.into_iter().map(|(_, task)| task as usize).collect();
        let mut replay = Self { slots: slots.max(1), order, as_it_was: 0 };
        replay.as_it_was = replay.end(|task| tasks.duration.get(task));
        replay
    }

    /// How long the tasks would take with `duration` (milliseconds) for each.
    pub fn end(&self, duration: impl Fn(usize) -> u64) -> u64 {
        let mut free: BinaryHeap<Reverse<u64>> = BinaryHeap::with_capacity(self.slots.min(self.order.len()));
        let mut end = 0;
        for task in self.order.iter() {
            let mut done = duration(task);
            if free.len() < self.slots {
                free.push(Reverse(done));
            } else if let Some(mut first) = free.peek_mut() {
                done += first.0;
                first.0 = done;
            }
            end = end.max(done);
        }
        end
    }

    /// How many milliseconds earlier the stage would end if some tasks took what `replaced` says: the difference of two
    /// replays, so that what the replay leaves out cancels out.
    pub fn saved(&self, tasks: &Tasks, replaced: impl Fn(usize) -> Option<u64>) -> u64 {
        self.as_it_was.saturating_sub(self.end(|task| replaced(task).unwrap_or_else(|| tasks.duration.get(task))))
    }
}

/// The end of a stage, when its last task kept the others waiting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// The task of the population that finished last: an index into the columns.
    pub task: usize,
    /// How long it ran after all others had finished, in milliseconds.
    pub alone: u64,
    /// Slots idle while it ran, on average.
    pub idle_slots: f64,
}

/// What the stage's slots did while its last task ran; `population` is that of the tasks. `None` without tasks that
/// succeeded.
pub fn tail(tasks: &Tasks, population: &Rows, slots: usize) -> Option<Tail> {
    let task = population.iter().max_by_key(|&task| finish(tasks, task))?;
    let (from, to) = (tasks.launch.get(task), finish(tasks, task));
    let others = || (0..tasks.len()).filter(|&other| other != task);
    let before = others().map(|other| finish(tasks, other)).max().unwrap_or(0);
    let overlap = |other: usize| finish(tasks, other).min(to).saturating_sub(tasks.launch.get(other).max(from));
    let busy: u64 = others().map(overlap).sum();
    let busy_slots = if to > from { busy as f64 / (to - from) as f64 } else { 0.0 };
    Some(Tail {
        task,
        alone: to.saturating_sub(before.max(from)),
        idle_slots: (slots.saturating_sub(1) as f64 - busy_slots).max(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::model::{Executor, Task};
    use crate::run::stats::population;

    fn tasks(all: &[(u32, u32)]) -> Tasks {
        let mut tasks = Tasks::default();
        for (index, &(launch, duration)) in all.iter().enumerate() {
            tasks.push(Task { index: index as u32, launch, duration, ..Task::default() });
        }
        tasks
    }

    const KEY: StageKey = StageKey { stage: 0, attempt: 0 };

    /// A stage from 1,000 to 2,000 on executors given as (cores, added, removed); its tasks ran on the first.
    fn run(executors: &[(Option<u32>, i64, Option<i64>)]) -> Run {
        let mut run = Run::default();
        run.application.start = 500;
        run.application.end = 4500;
        run.executors = executors
            .iter()
            .map(|&(cores, added, removed)| Executor {
                cores,
                added: cores.map(|_| added),
                removed,
                ..Executor::default()
            })
            .collect();
        let stage =
            Stage { submitted: Some(1000), completed: Some(2000), tasks: tasks(&[(500, 1000)]), ..Stage::default() };
        run.stages.insert(KEY, stage);
        run
    }

    #[test]
    fn a_stage_at_the_end_of_all_times_has_no_cores() {
        let mut run = run(&[(Some(4), 1, None)]);
        let stage = run.stages.get_mut(&KEY).unwrap();
        (stage.submitted, stage.completed) = (Some(i64::MAX), Some(i64::MAX));
        assert_eq!(stage_cores(&run, KEY), None);
    }

    #[test]
    fn times_of_run_and_stage() {
        let mut run = run(&[]);
        assert_eq!(run_time(&run), Some(4000));
        assert_eq!(stage_wall(&run, &run.stages[&KEY]), Some(1000));
        let stage = run.stages.get_mut(&KEY).unwrap();
        (stage.submitted, stage.completed) = (None, None);
        assert_eq!(stage_span(&run, &run.stages[&KEY]), Some((1000, 2000)));
        assert_eq!(stage_span(&run, &Stage::default()), None);
    }

    #[test]
    fn cores_are_weighted_by_time() {
        // 4 cores all the time, 2 cores for the last quarter, 8 cores gone before: 4 + 2 × 0.25.
        let mut run = run(&[(Some(4), 0, None), (Some(2), 1750, Some(9000)), (Some(8), 0, Some(900))]);
        assert_eq!(stage_cores(&run, KEY), Some(4.5));
        run.conf.insert("spark.task.cpus".to_owned(), "2".to_owned());
        assert_eq!(stage_cores(&run, KEY), Some(2.25));
    }

    #[test]
    fn unknown_cores_stay_unknown() {
        assert_eq!(stage_cores(&run(&[]), KEY), None);
        assert_eq!(stage_cores(&run(&[(None, 0, None), (Some(4), 0, None)]), KEY), None);
        // An executor that was never announced and ran nothing of the stage does not matter.
        assert_eq!(stage_cores(&run(&[(Some(4), 0, None), (None, 0, None)]), KEY), Some(4.0));
    }

    #[test]
    fn the_peak_counts_tasks_at_once() {
        assert_eq!(peak_slots(&tasks(&[(0, 10), (5, 10), (10, 10), (15, 1)])), 2);
        assert_eq!(peak_slots(&tasks(&[(0, 0), (0, 0)])), 2);
        assert_eq!(peak_slots(&Tasks::default()), 0);
    }

    #[test]
    fn slots_are_the_peak_within_the_cores() {
        let mut run = run(&[(Some(2), 0, None)]);
        run.stages.get_mut(&KEY).unwrap().tasks = tasks(&[(500, 9), (500, 9), (508, 9)]);
        assert_eq!(stage_slots(&run, KEY), 2);
        run.executors.clear();
        assert_eq!(stage_slots(&run, KEY), 3);
    }

    #[test]
    fn a_replay_fills_the_slot_that_is_free_first() {
        // Two slots: 10 | 40, then 10 at 10, then 30 at 20: ends at 50.
        let tasks = tasks(&[(0, 10), (0, 40), (11, 10), (22, 30)]);
        assert_eq!(Replay::new(&tasks, 2).end(|task| tasks.duration.get(task)), 50);
        assert_eq!(Replay::new(&tasks, 1).end(|task| tasks.duration.get(task)), 90);
        assert_eq!(Replay::new(&tasks, 9).end(|task| tasks.duration.get(task)), 40);
        assert_eq!(Replay::new(&tasks, 0).end(|_| 1), 4);
    }

    #[test]
    fn what_is_saved_is_the_difference_of_two_replays() {
        // One task of 100 s among four on two slots: 10 | 10, then 100 and 10 from 10: 110. With 10 instead: 20.
        let tasks = tasks(&[(0, 10_000), (0, 10_000), (10_000, 100_000), (10_000, 10_000)]);
        let replay = Replay::new(&tasks, 2);
        assert_eq!(replay.saved(&tasks, |task| (task == 2).then_some(10_000)), 90_000);
        assert_eq!(replay.saved(&tasks, |_| None), 0);
        assert_eq!(replay.saved(&tasks, |task| (task == 0).then_some(50_000)), 0);
    }

    #[test]
    fn idle_slots_while_the_last_task_ran() {
        // On 3 slots: the last runs 0–100, one beside it until 40, one until 20: idle 2 − 0.6.
        let tail = |tasks: &Tasks| tail(tasks, &population(tasks), 3);
        let found = tail(&tasks(&[(0, 100), (0, 40), (0, 20)])).unwrap();
        assert_eq!((found.task, found.alone), (0, 60));
        assert!((found.idle_slots - 1.4).abs() < 1e-9);
        assert!(tail(&Tasks::default()).is_none());
    }
}
