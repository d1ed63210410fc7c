//! One stage attempt as the rules see it: the tasks that count and what is derived from them once.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::stage_plan::StagePlan;
use crate::rules::{RuleSettings, State};
use crate::run::model::{Stage, StageKey, Tasks};
use crate::run::slots::{self, Replay, Tail, stage_cores, stage_slots, stage_wall};
use crate::run::stats::{self, Distribution, median, pick, population};
use crate::run::{Column, Rows, Run};

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

/// What the tasks of a stage that count read.
#[derive(Debug, Clone, Copy)]
pub struct Read {
    /// Bytes a task.
    pub bytes: Distribution,
    /// Records a task.
    pub records: Distribution,
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
    /// The SQL execution whose job ran it.
    pub execution: Option<i64>,
    /// Rows of the population: one success for each partition.
    pub rows: Rows,
    /// From submission to completion (else from the first launch to the last finish), in ms.
    pub wall_ms: f64,
    /// The whole run, in ms; at least 1.
    pub run_ms: f64,
    /// Cores that it could use, weighted by time; `None` when unknown.
    pub cores: Option<f64>,
    measured: bool,
    median_ms: f64,
    max_ms: u64,
    task_ms: u64,
    // What only some rules ask for.
    slots: OnceCell<usize>,
    hosts: OnceCell<BTreeMap<u16, usize>>,
    replay: OnceCell<Replay>,
    plan: OnceCell<StagePlan<'a>>,
    tail: OnceCell<Option<Tail>>,
    read: OnceCell<Option<Read>>,
}

/// The SQL execution whose job ran the stage; of many stages one by one, [`Run::jobs_by_stage`] is the way.
pub(super) fn execution_of(run: &Run, key: StageKey) -> Option<i64> {
    run.jobs.values().find(|job| job.stages.contains(&key.stage))?.execution
}

impl<'a> StageView<'a> {
    /// The view of one stage attempt.
    pub fn new(run: &'a Run, key: StageKey) -> Option<Self> {
        Self::of_execution(run, key, execution_of(run, key))
    }

    /// The evaluated attempts of all stages of a run.
    pub fn all(run: &'a Run) -> Vec<Self> {
        let jobs = run.jobs_by_stage();
        let execution = |key: StageKey| run.jobs.get(jobs.get(&key.stage)?)?.execution;
        stats::evaluated_stages(run)
            .into_iter()
            .filter_map(|key| Self::of_execution(run, key, execution(key)))
            .collect()
    }

    /// All stage attempts of a run, evaluated or not.
    pub fn every_attempt(run: &'a Run) -> impl Iterator<Item = Self> {
        let jobs = run.jobs_by_stage();
        let execution = move |key: StageKey| run.jobs.get(jobs.get(&key.stage)?)?.execution;
        run.stages.keys().filter_map(move |&key| Self::of_execution(run, key, execution(key)))
    }

    fn of_execution(run: &'a Run, key: StageKey, execution: Option<i64>) -> Option<Self> {
        let stage = run.stages.get(&key)?;
        let rows = population(&stage.tasks);
        let durations = pick(&stage.tasks.duration, &rows);
        Some(Self {
            run,
            key,
            stage,
            execution,
            wall_ms: stage_wall(run, stage).unwrap_or(0) as f64,
            run_ms: slots::run_time(run).unwrap_or(1) as f64,
            cores: stage_cores(run, key),
            median_ms: median(&durations).unwrap_or(0.0),
            max_ms: durations.iter().max().copied().unwrap_or(0),
            task_ms: durations.iter().sum(),
            measured: !rows.is_empty() && rows.iter().all(|row| stage.tasks.flags[row].metrics()),
            rows,
            slots: OnceCell::new(),
            hosts: OnceCell::new(),
            replay: OnceCell::new(),
            plan: OnceCell::new(),
            tail: OnceCell::new(),
            read: OnceCell::new(),
        })
    }

    /// All ended tasks of the attempt.
    pub fn tasks(&self) -> &'a Tasks {
        &self.stage.tasks
    }

    /// The part of the physical plan that it ran.
    pub(crate) fn plan(&self) -> &StagePlan<'a> {
        self.plan.get_or_init(|| StagePlan::of(self.run, self.key, self.execution))
    }

    /// Tasks that count.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// The rows by host.
    pub fn by_host(&self) -> BTreeMap<u16, Rows> {
        stats::by_host(self.tasks(), &self.rows)
    }

    /// How many of the tasks that count ran on each host.
    pub fn hosts(&self) -> &BTreeMap<u16, usize> {
        self.hosts.get_or_init(|| {
            let mut hosts = BTreeMap::new();
            for row in self.rows.iter() {
                *hosts.entry(self.tasks().host_of(row)).or_default() += 1;
            }
            hosts
        })
    }

    /// Slots that its tasks ran on, see [`stage_slots`].
    pub fn slots(&self) -> usize {
        *self.slots.get_or_init(|| stage_slots(self.run, self.key))
    }

    /// What its slots did while its last task ran; `None` without tasks that count.
    pub fn tail(&self) -> Option<Tail> {
        *self.tail.get_or_init(|| slots::tail(self.tasks(), &self.rows, self.slots()))
    }

    /// What its tasks read; `None` if task metrics were not recorded.
    pub fn read(&self) -> Option<Read> {
        let tasks = self.tasks();
        *self.read.get_or_init(|| {
            let (bytes, records) = (self.distribution(&tasks.read_bytes)?, self.distribution(&tasks.read_records)?);
            Some(Read { bytes, records })
        })
    }

    /// Durations of the tasks that count, in ms.
    pub fn durations(&self) -> Vec<u64> {
        pick(&self.tasks().duration, &self.rows)
    }

    /// Median duration in ms; 0 without tasks.
    pub fn median_ms(&self) -> f64 {
        self.median_ms
    }

    /// Longest duration in ms; 0 without tasks.
    pub fn max_ms(&self) -> f64 {
        self.max_ms as f64
    }

    /// Time of all tasks that count, in ms.
    pub fn task_ms(&self) -> f64 {
        self.task_ms as f64
    }

    /// Whether metrics were recorded for the tasks that count.
    pub fn measured(&self) -> bool {
        self.measured
    }

    /// Whether the log has this field of `Task Metrics` (by Spark's name) for every task that counts.
    pub fn recorded(&self, field: &str) -> bool {
        self.measured() && !self.tasks().not_recorded.contains(field)
    }

    /// A column over the population; `None` if task metrics were not recorded.
    pub fn column(&self, column: &Column) -> Option<Vec<u64>> {
        self.measured().then(|| pick(column, &self.rows))
    }

    /// The median of a column over the population; `None` if task metrics were not recorded.
    pub fn median_of(&self, column: &Column) -> Option<f64> {
        median(&self.column(column)?)
    }

    /// A column over the population in a few numbers; `None` if task metrics were not recorded.
    pub fn distribution(&self, column: &Column) -> Option<Distribution> {
        Distribution::of(&self.column(column)?)
    }

    /// The sum of a column over the population; `None` if task metrics were not recorded.
    pub fn sum(&self, column: &Column) -> Option<f64> {
        Some(self.column(column)?.into_iter().fold(0, u64::saturating_add) as f64)
    }

    /// The task that took longest.
    pub fn slowest(&self) -> Option<usize> {
        self.rows.iter().max_by_key(|&row| self.tasks().duration.get(row))
    }

    /// The host of a row.
    pub fn host(&self, row: usize) -> &'a str {
        self.run.hosts.get(usize::from(self.tasks().host_of(row))).map_or("unknown host", String::as_str)
    }

    /// Share of the announced tasks that count; 1 where their number was not recorded.
    pub fn coverage(&self) -> f64 {
        stats::coverage_of(self.stage, self.count()).unwrap_or(1.0)
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

    /// Seconds that the stage would end earlier if each of its tasks took what `without` says (in ms, by row), by replay.
    pub fn saved_seconds(&self, without: impl Fn(usize) -> f64) -> f64 {
        self.at_most_all(self.replayed_ms(without))
    }

    /// As [`Self::saved_seconds`], with the work that the tasks lose spread evenly over all slots.
    pub fn saved_seconds_if_spread(&self, without: impl Fn(usize) -> f64) -> f64 {
        let tasks = self.tasks();
        let moved: f64 = self.rows.iter().map(|row| (tasks.duration.get(row) as f64 - without(row)).max(0.0)).sum();
        self.at_most_all(self.replayed_ms(without) - moved / self.slots() as f64)
    }

    fn replayed_ms(&self, without: impl Fn(usize) -> f64) -> f64 {
        let counted = self.rows.among(self.tasks().len());
        let replaced = |row: usize| counted[row].then(|| without(row).max(0.0) as u64);
        let replay = self.replay.get_or_init(|| Replay::new(self.tasks(), self.slots()));
        replay.saved(self.tasks(), replaced) as f64
    }

    /// Milliseconds in seconds; not more than the stage took, where its times and those of its tasks do not go together.
    fn at_most_all(&self, saved_ms: f64) -> f64 {
        let all = if self.wall_ms > 0.0 { self.wall_ms } else { f64::INFINITY };
        saved_ms.clamp(0.0, all) / 1000.0
    }
}
