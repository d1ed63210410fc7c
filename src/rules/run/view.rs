//! One stage attempt as the rules see it: the tasks that count and what is derived from them once.

use super::support::{self, median, quantile};
use crate::rules::{RuleSettings, State};
use crate::run::Run;
use crate::run::model::{Stage, StageKey, Tasks};

/// Thresholds that all rules on runs share; they are options of `log-coverage`.
#[derive(Debug, Clone, Copy)]
pub struct Floors {
    /// Least share of a stage's tasks in the log for a verdict.
    pub coverage: f64,
    /// Least share of the run's time that makes a stage worth looking at.
    pub stage_share: f64,
    /// Least impact that is shown in an editor, in seconds.
    pub paint_seconds: f64,
    /// Least impact that is shown in an editor, as a share of the run.
    pub paint_share: f64,
}

impl Floors {
    /// As set by the user.
    pub fn new(rules: &RuleSettings) -> Self {
        let option = |name| rules.option(&super::log_coverage::LOG_COVERAGE, name);
        Self {
            coverage: option("stage-coverage"),
            stage_share: option("stage-share"),
            paint_seconds: option("paint-seconds"),
            paint_share: option("paint-share"),
        }
    }
}

/// Minimum, median, quantiles and maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Smallest.
    pub min: u64,
    /// Mean of the two middle ones for an even count.
    pub median: f64,
    /// Nearest rank.
    pub p75: u64,
    /// Nearest rank.
    pub p95: u64,
    /// Largest.
    pub max: u64,
}

impl Spread {
    /// Of sorted values; `None` without any.
    pub fn of(sorted: &[u64]) -> Option<Self> {
        Some(Self {
            min: *sorted.first()?,
            median: median(sorted)?,
            p75: quantile(sorted, 0.75)?,
            p95: quantile(sorted, 0.95)?,
            max: *sorted.last()?,
        })
    }
}

/// The evaluated attempt of a stage with the rows of its tasks that count.
#[derive(Debug)]
pub struct StageView<'a> {
    /// The run.
    pub run: &'a Run,
    /// Which stage.
    pub key: StageKey,
    /// The stage.
    pub stage: &'a Stage,
    /// Rows of the population in launch order.
    pub rows: Vec<usize>,
    /// Durations of the population, sorted, in ms.
    pub durations: Vec<u64>,
    /// From submission to completion (else from the first launch to the last finish), in ms.
    pub wall_ms: f64,
    /// The whole run, in ms; at least 1.
    pub run_ms: f64,
    /// Cores that it could use, weighted by time; `None` when unknown.
    pub cores: Option<f64>,
}

impl<'a> StageView<'a> {
    /// The view of one stage attempt.
    pub fn new(run: &'a Run, key: StageKey) -> Option<Self> {
        let stage = run.stages.get(&key)?;
        let rows = support::population(&stage.tasks);
        let mut durations: Vec<u64> = rows.iter().map(|&row| u64::from(stage.tasks.duration[row])).collect();
        durations.sort_unstable();
        let task_cpus = run.conf.get("spark.task.cpus").and_then(|text| text.trim().parse().ok()).unwrap_or(1.0);
        let mut view = Self {
            run,
            key,
            stage,
            rows,
            durations,
            wall_ms: 0.0,
            run_ms: (run.application.end - run.application.start).max(1) as f64,
            cores: support::cores(run, stage, task_cpus),
        };
        view.wall_ms = view.wall();
        Some(view)
    }

    /// The evaluated attempts of all stages of a run.
    pub fn all(run: &'a Run) -> Vec<Self> {
        support::evaluated(run).into_iter().filter_map(|key| Self::new(run, key)).collect()
    }

    fn wall(&self) -> f64 {
        if let (Some(from), Some(to)) = (self.stage.submitted, self.stage.completed) {
            return (to - from).max(0) as f64;
        }
        let tasks = self.tasks();
        let first = self.rows.iter().map(|&row| u64::from(tasks.launch[row])).min().unwrap_or(0);
        let ends = self.rows.iter().map(|&row| u64::from(tasks.launch[row]) + u64::from(tasks.duration[row]));
        ends.max().unwrap_or(0).saturating_sub(first) as f64
    }

    /// All ended tasks of the attempt.
    pub fn tasks(&self) -> &'a Tasks {
        &self.stage.tasks
    }

    /// Tasks that count.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Median duration in ms; 0 without tasks.
    pub fn median_ms(&self) -> f64 {
        median(&self.durations).unwrap_or(0.0)
    }

    /// Longest duration in ms; 0 without tasks.
    pub fn max_ms(&self) -> f64 {
        self.durations.last().copied().unwrap_or(0) as f64
    }

    /// Time of all tasks that count, in ms.
    pub fn task_ms(&self) -> f64 {
        self.durations.iter().sum::<u64>() as f64
    }

    /// Whether metrics were recorded for the tasks that count.
    pub fn measured(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|&row| self.tasks().flags[row].metrics)
    }

    /// A column over the population, sorted; `None` if task metrics were not recorded.
    pub fn sorted<T: Copy + Into<u64>>(&self, column: &[T]) -> Option<Vec<u64>> {
        if !self.measured() {
            return None;
        }
        let mut values: Vec<u64> = self.rows.iter().map(|&row| column[row].into()).collect();
        values.sort_unstable();
        Some(values)
    }

    /// The sum of a column over the population; `None` if task metrics were not recorded.
    pub fn sum<T: Copy + Into<u64>>(&self, column: &[T]) -> Option<f64> {
        self.measured().then(|| self.rows.iter().map(|&row| column[row].into()).sum::<u64>() as f64)
    }

    /// The task that took longest.
    pub fn slowest(&self) -> Option<usize> {
        self.rows.iter().copied().max_by_key(|&row| self.tasks().duration[row])
    }

    /// The host of a row.
    pub fn host(&self, row: usize) -> &'a str {
        self.run.hosts.get(usize::from(self.tasks().host[row])).map_or("unknown host", String::as_str)
    }

    /// Share of the announced tasks that count.
    pub fn coverage(&self) -> f64 {
        if self.stage.task_count == 0 { 1.0 } else { self.rows.len() as f64 / f64::from(self.stage.task_count) }
    }

    /// Why no rule can judge this stage, if so.
    pub fn unjudged(&self, floors: &Floors) -> Option<State> {
        if self.stage.compacted {
            return Some(State::NotApplicable("its tasks were compacted away".to_owned()));
        }
        if self.rows.is_empty() {
            return Some(State::NotApplicable("no task of it succeeded in the log".to_owned()));
        }
        if self.coverage() < floors.coverage {
            let least = super::words::percent(floors.coverage);
            return Some(State::NotApplicable(format!("less than {least} of its tasks are in the log")));
        }
        None
    }

    /// As [`Self::unjudged`], and stages too short to matter.
    pub fn skipped(&self, floors: &Floors) -> Option<State> {
        self.unjudged(floors).or_else(|| {
            (self.wall_ms < floors.stage_share * self.run_ms).then(|| {
                State::NotApplicable(format!("shorter than {} of the run", super::words::percent(floors.stage_share)))
            })
        })
    }

    /// Seconds that the stage would end earlier if each of its tasks took what `without` says (in ms, by row).
    pub fn saved_seconds(&self, without: impl Fn(usize) -> f64) -> f64 {
        let tasks = self.tasks();
        let slots = support::peak_slots(tasks, &self.rows);
        let now = support::replay(self.rows.iter().map(|&row| f64::from(tasks.duration[row])), slots);
        let then = support::replay(self.rows.iter().map(|&row| without(row)), slots);
        ((now - then) / 1000.0).max(0.0)
    }

    /// As [`Self::saved_seconds`], with the work that the tasks lose spread evenly over all slots.
    pub fn saved_seconds_if_spread(&self, without: impl Fn(usize) -> f64) -> f64 {
        let tasks = self.tasks();
        let moved: f64 = self.rows.iter().map(|&row| (f64::from(tasks.duration[row]) - without(row)).max(0.0)).sum();
        let slots = support::peak_slots(tasks, &self.rows) as f64;
        (self.saved_seconds(without) - moved / slots / 1000.0).max(0.0)
    }

    /// Whether a task was launched before its executor had ended its first task of the run: start-up of the JVM, class
    /// loading and Python workers falls into it.
    pub fn is_warm_up(&self, row: usize, first_ends: &[Option<u64>]) -> bool {
        const CLOCK_MS: u64 = 5;
        let tasks = self.tasks();
        let end = first_ends.get(usize::from(tasks.executor[row])).copied().flatten();
        end.is_some_and(|end| u64::from(tasks.launch[row]) + CLOCK_MS < end)
    }
}
