//! What a run, an action or a stage took, in the numbers that are compared.

use std::ops::Add;

use rustc_hash::FxHashMap;

use crate::rules::run::view::StageView;
use crate::run::Run;
use crate::run::model::Outcome;
use crate::run::stats::Distribution;

/// What was measured. Times are milliseconds, sizes bytes; `None` is "not recorded". Sums are over the tasks that count: of
/// the evaluated attempt one success for each partition.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// From start to end.
    pub wall_ms: Option<f64>,
    /// Tasks that count.
    pub tasks: u64,
    /// Time of these tasks.
    pub task_ms: f64,
    /// Read from sources.
    pub input_bytes: Option<f64>,
    /// Read from sources and shuffles.
    pub read_bytes: Option<f64>,
    /// Rows read from sources, by tasks that read no shuffle.
    pub input_rows: Option<f64>,
    /// Rows read from sources and shuffles.
    pub read_rows: Option<f64>,
    /// Written to shuffles.
    pub shuffle_write_bytes: Option<f64>,
    /// Spilled to disk.
    pub spill_bytes: Option<f64>,
    /// Spent collecting garbage.
    pub gc_ms: Option<f64>,
    /// Tasks that failed, of all attempts; killed ones are not among them.
    pub failed_tasks: u64,
    /// Tasks that succeeded or failed, of all attempts.
    pub ended_tasks: u64,
}

impl Figures {
    /// Share of the ended tasks that failed. `None` if none ended.
    pub fn failed_share(&self) -> Option<f64> {
        (self.ended_tasks > 0).then(|| self.failed_tasks as f64 / self.ended_tasks as f64)
    }

    /// How much of a source's data the candidate read for each row or byte that the base read; see [`ratio`].
    pub fn input_ratio(&self, candidate: &Self) -> Option<f64> {
        ratio((self.input_rows, candidate.input_rows), (self.input_bytes, candidate.input_bytes))
    }

    /// How much the candidate read, from sources and shuffles, for each row or byte that the base read; see [`ratio`].
    pub fn read_ratio(&self, candidate: &Self) -> Option<f64> {
        ratio((self.read_rows, candidate.read_rows), (self.read_bytes, candidate.read_bytes))
    }

    /// Nothing, so that sums can start with it: 0 everywhere, and no time.
    pub(super) const NOTHING: Self = Self {
        wall_ms: None,
        tasks: 0,
        task_ms: 0.0,
        input_bytes: Some(0.0),
        read_bytes: Some(0.0),
        input_rows: Some(0.0),
        read_rows: Some(0.0),
        shuffle_write_bytes: Some(0.0),
        spill_bytes: Some(0.0),
        gc_ms: Some(0.0),
        failed_tasks: 0,
        ended_tasks: 0,
    };

    /// Of a stage; `ended` is what became of the tasks of all its attempts.
    pub(super) fn of_stage(view: &StageView<'_>, ended: Ended) -> Self {
        let base = Self {
            wall_ms: Some(view.wall_ms).filter(|ms| *ms > 0.0),
            failed_tasks: ended.failed,
            ended_tasks: ended.failed + ended.succeeded,
            ..Self::NOTHING
        };
        if view.count() == 0 {
            return base;
        }
        let tasks = view.tasks();
        let sum = |column, fields: &[&str]| {
            fields.iter().all(|field| view.recorded(field)).then(|| view.sum(column)).flatten()
        };
        let shuffle = ["Remote Bytes Read", "Local Bytes Read"];
        let read = sum(&tasks.read_bytes, &["Input Metrics: Bytes Read", shuffle[0], shuffle[1]]);
        let shuffled = sum(&tasks.shuffle_read_bytes, &shuffle);
        let rows = ["Input Metrics: Records Read", "Total Records Read"];
        let read_rows = sum(&tasks.read_records, &rows);
        let of_sources = || {
            let from_sources = view.rows.iter().filter(|&row| tasks.shuffle_read_bytes.get(row) == 0);
            from_sources.fold(0u64, |sum, row| sum.saturating_add(tasks.read_records.get(row))) as f64
        };
        Self {
            tasks: view.count() as u64,
            task_ms: view.task_ms(),
            input_bytes: read.zip(shuffled).map(|(read, shuffled)| (read - shuffled).max(0.0)),
            read_bytes: read,
            input_rows: read_rows.map(|_| of_sources()),
            read_rows,
            shuffle_write_bytes: sum(&tasks.shuffle_write_bytes, &["Shuffle Bytes Written"]),
            spill_bytes: sum(&tasks.spill_disk, &["Disk Bytes Spilled"]),
            gc_ms: sum(&tasks.gc_time, &["JVM GC Time"]),
            ..base
        }
    }
}

/// Fewer rows, or bytes, have no ratio that means anything.
const LEAST_ROWS: f64 = 1_000.0;
const LEAST_BYTES: f64 = 1024.0 * 1024.0;

/// Candidate over base: by rows, since Spark versions count the bytes of one file differently, else by bytes.
fn ratio(rows: (Option<f64>, Option<f64>), bytes: (Option<f64>, Option<f64>)) -> Option<f64> {
    let of = |(base, candidate): (Option<f64>, Option<f64>), least| {
        let (base, candidate) = (base.filter(|base| *base >= least)?, candidate?);
        Some(candidate / base)
    };
    of(rows, LEAST_ROWS).or_else(|| of(bytes, LEAST_BYTES))
}

/// Sums; what one of them did not record the sum does not know. The time stays that of the first.
impl Add for Figures {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let both = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        Self {
            wall_ms: self.wall_ms,
            tasks: self.tasks + other.tasks,
            task_ms: self.task_ms + other.task_ms,
            input_bytes: both(self.input_bytes, other.input_bytes),
            read_bytes: both(self.read_bytes, other.read_bytes),
            input_rows: both(self.input_rows, other.input_rows),
            read_rows: both(self.read_rows, other.read_rows),
            shuffle_write_bytes: both(self.shuffle_write_bytes, other.shuffle_write_bytes),
            spill_bytes: both(self.spill_bytes, other.spill_bytes),
            gc_ms: both(self.gc_ms, other.gc_ms),
            failed_tasks: self.failed_tasks + other.failed_tasks,
            ended_tasks: self.ended_tasks + other.ended_tasks,
        }
    }
}

/// What became of tasks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ended {
    succeeded: u64,
    failed: u64,
}

/// What became of the tasks of each stage, over all its attempts.
pub(super) fn ended_tasks(run: &Run) -> FxHashMap<u32, Ended> {
    let mut by_stage: FxHashMap<u32, Ended> = FxHashMap::default();
    for (key, stage) in &run.stages {
        let ended = by_stage.entry(key.stage).or_default();
        for flags in &stage.tasks.flags {
            match flags.outcome() {
                Outcome::Success => ended.succeeded += 1,
                Outcome::Failed | Outcome::FetchFailed => ended.failed += 1,
                Outcome::Killed | Outcome::Resubmitted => {}
            }
        }
    }
    by_stage
}

/// How the durations of a stage's tasks lie, in ms. `None` without tasks.
pub(super) fn durations(view: &StageView<'_>) -> Option<Distribution> {
    Distribution::of(&view.durations())
}
