//! What a run holds. Times are milliseconds since the epoch, durations milliseconds, sizes bytes.
//! A field that a log did not record is `None`, never 0.

use std::collections::{BTreeMap, BTreeSet};

use super::column::Column;
use super::shared::Shared;
use super::summary::Summary;
use crate::catalog::SparkVersion;

/// A stage attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageKey {
    /// `Stage ID`.
    pub stage: u32,
    /// `Stage Attempt ID`.
    pub attempt: u32,
}

/// One application attempt.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The application.
    pub application: Application,
    /// Spark properties of `SparkListenerEnvironmentUpdate`, already redacted by Spark and again by us.
    pub conf: BTreeMap<String, String>,
    /// Stage attempts.
    pub stages: BTreeMap<StageKey, Stage>,
    /// Jobs.
    pub jobs: BTreeMap<u32, Job>,
    /// SQL executions.
    pub executions: BTreeMap<i64, SqlExecution>,
    /// Executors by their index in [`Tasks::executor`].
    pub executors: Vec<Executor>,
    /// Host names by their index in [`Tasks::host`]; several spellings of one host are one.
    pub hosts: Vec<String>,
    /// How complete the log is.
    pub coverage: Coverage,
    /// Totals of SQL metrics over all tasks, by accumulator id, as the last stage that completed with them reported them.
    pub metric_totals: BTreeMap<i64, i64>,
}

/// The application.
#[derive(Debug, Clone, Default)]
pub struct Application {
    /// `App ID`.
    pub id: Option<String>,
    /// `App Attempt ID`.
    pub attempt: Option<String>,
    /// `App Name`.
    pub name: Option<String>,
    /// Spark's version, from `SparkListenerLogStart` or the environment.
    pub version: Option<SparkVersion>,
    /// First instant: `SparkListenerApplicationStart`, else the first event (then `estimated`).
    pub start: i64,
    /// Last instant: `SparkListenerApplicationEnd`, else the last event (then `estimated`).
    pub end: i64,
    /// Start or end are not the log's own.
    pub estimated: bool,
    /// `User`: for redacting; never shown.
    pub user: Option<String>,
    /// The submitted command (`sun.java.command`), for matching the script; never shown.
    pub command: Option<String>,
}

/// How complete a log is.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// `SparkListenerApplicationEnd` was seen and nothing is missing.
    pub complete: bool,
    /// Events read.
    pub events: u64,
    /// Bytes read, decoded.
    pub bytes: u64,
    /// Lines that are no event, with the byte offsets of the first three.
    pub bad_lines: u64,
    /// Byte offsets of the first bad lines (at most 3), decoded.
    pub bad_offsets: Vec<u64>,
    /// The last line was cut at this offset.
    pub cut_at: Option<u64>,
    /// Indices missing in a rolled log.
    pub missing_files: Vec<u64>,
    /// Events of the early part were compacted away.
    pub compacted: bool,
    /// Unknown events by name, and how many.
    pub unknown_events: BTreeMap<String, u64>,
    /// Partitions of which a task ended, over those that the stages announced; of failed stages only those that ended.
    pub tasks_seen: u64,
    /// See `tasks_seen`.
    pub tasks_expected: u64,
    /// Other things worth a word ("2 attempts in the log, this is the last").
    pub notes: Vec<String>,
    /// Of a run that was not read from an event log: what a server's summary lacks.
    pub summary: Option<Summary>,
}

/// A stage attempt and its tasks.
#[derive(Debug, Clone, Default)]
pub struct Stage {
    /// `Stage Name`.
    pub name: Shared,
    /// `Details`: the JVM or Python stack.
    pub details: Shared,
    /// `Number of Tasks`.
    pub task_count: u32,
    /// `Submission Time`.
    pub submitted: Option<i64>,
    /// `Completion Time`.
    pub completed: Option<i64>,
    /// `Failure Reason`.
    pub failure: Option<String>,
    /// Parent stage ids.
    pub parents: Vec<u32>,
    /// Accumulator ids of the stage and its tasks, sorted: plan nodes name the same ids.
    pub accumulables: Vec<i64>,
    /// `Callsite` and `Name` of its RDDs.
    pub rdds: Vec<Rdd>,
    /// `callSite.short` of `StageSubmitted.Properties` or of the job.
    pub call_site: Option<String>,
    /// Ended tasks.
    pub tasks: Tasks,
    /// Whether its TaskEnd events were compacted away.
    pub compacted: bool,
    /// Whether a hole of the log may have taken tasks of it.
    pub partial: bool,
    /// What its failed tasks said, each error once (at most [`Stage::MAX_FAILURES`] different ones).
    pub failures: Vec<TaskFailure>,
    /// Peaks of its executors where `SparkListenerStageExecutorMetrics` has them; mostly empty, as they are off by default.
    pub storage_peaks: Vec<StoragePeak>,
}

impl Stage {
    /// How many different errors a stage keeps.
    pub const MAX_FAILURES: usize = 8;
}

/// The most storage memory that an executor used while a stage attempt ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoragePeak {
    /// Index into [`Run::executors`].
    pub executor: u16,
    /// `OnHeapStorageMemory` + `OffHeapStorageMemory`, each at its peak.
    pub bytes: u64,
}

/// An error that ended tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFailure {
    /// `Class Name` of the exception, else the kind of end (`ExecutorLostFailure`, `FetchFailed`, …).
    pub class: String,
    /// First line of the message; empty if none was recorded.
    pub message: String,
    /// How many tasks ended with it.
    pub tasks: u32,
}

/// An RDD of a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rdd {
    /// `Name`.
    pub name: Shared,
    /// `Callsite`.
    pub call_site: Shared,
    /// `Scope` name, e.g. `Exchange`.
    pub scope: Option<String>,
    /// `Number of Partitions`.
    pub partitions: u32,
}

/// Ended tasks of one stage attempt, a column a field; all columns are equally long. A task of a usual job
/// takes 36 bytes at most, on average over the job's stages.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    /// `Index`: the partition.
    pub index: Column,
    /// Launch, milliseconds after the application's first instant.
    pub launch: Column,
    /// Finish − launch, clamped at 0; `Executor Run Time` where finish is 0.
    pub duration: Column,
    /// Index into [`Run::executors`].
    pub executor: Column,
    /// Index into [`Run::hosts`].
    pub host: Column,
    /// Outcome and what was recorded.
    pub flags: Vec<PackedFlags>,
    /// `Executor Run Time`.
    pub run_time: Column,
    /// `JVM GC Time`.
    pub gc_time: Column,
    /// `Executor Deserialize Time`.
    pub deserialize_time: Column,
    /// `Fetch Wait Time`.
    pub fetch_wait: Column,
    /// Input + shuffle remote + shuffle local bytes.
    pub read_bytes: Column,
    /// Shuffle part of `read_bytes`.
    pub shuffle_read_bytes: Column,
    /// Input + shuffle records.
    pub read_records: Column,
    /// `Shuffle Bytes Written`.
    pub shuffle_write_bytes: Column,
    /// `Disk Bytes Spilled`.
    pub spill_disk: Column,
    /// `Memory Bytes Spilled`.
    pub spill_memory: Column,
    /// `Result Size`.
    pub result_bytes: Column,
    /// `Bytes Written`.
    pub output_bytes: Column,
    /// Spark's names of the fields that the metrics of at least one task lacked; their column holds 0 there.
    pub not_recorded: BTreeSet<&'static str>,
}

/// One task, as [`Tasks::push`] takes it; the fields are those of [`Tasks`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Task {
    pub index: u32,
    pub launch: u32,
    pub duration: u32,
    pub executor: u16,
    pub host: u16,
    pub flags: TaskFlags,
    pub run_time: u32,
    pub gc_time: u32,
    pub deserialize_time: u32,
    pub fetch_wait: u32,
    pub read_bytes: u64,
    pub shuffle_read_bytes: u64,
    pub read_records: u64,
    pub shuffle_write_bytes: u64,
    pub spill_disk: u64,
    pub spill_memory: u64,
    pub result_bytes: u64,
    pub output_bytes: u64,
}

impl Tasks {
    /// How many tasks ended.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether no task ended.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Makes room in every column for this many tasks more, and no more than that.
    pub fn reserve(&mut self, tasks: usize) {
        self.index.reserve(tasks);
        self.launch.reserve(tasks);
        self.duration.reserve(tasks);
        self.executor.reserve(tasks);
        self.host.reserve(tasks);
        self.flags.reserve_exact(tasks);
        self.run_time.reserve(tasks);
        self.gc_time.reserve(tasks);
        self.deserialize_time.reserve(tasks);
        self.fetch_wait.reserve(tasks);
        self.read_bytes.reserve(tasks);
        self.shuffle_read_bytes.reserve(tasks);
        self.read_records.reserve(tasks);
        self.shuffle_write_bytes.reserve(tasks);
        self.spill_disk.reserve(tasks);
        self.spill_memory.reserve(tasks);
        self.result_bytes.reserve(tasks);
        self.output_bytes.reserve(tasks);
    }

    /// The executor that ran a task: its index into [`Run::executors`].
    #[inline]
    pub fn executor_of(&self, row: usize) -> u16 {
        self.executor.get(row) as u16
    }

    /// The host that a task ran on: its index into [`Run::hosts`].
    #[inline]
    pub fn host_of(&self, row: usize) -> u16 {
        self.host.get(row) as u16
    }

    /// Bytes that all columns take.
    pub fn bytes(&self) -> usize {
        let columns = [
            &self.index,
            &self.launch,
            &self.duration,
            &self.executor,
            &self.host,
            &self.run_time,
            &self.gc_time,
            &self.deserialize_time,
            &self.fetch_wait,
            &self.read_bytes,
            &self.shuffle_read_bytes,
            &self.read_records,
            &self.shuffle_write_bytes,
            &self.spill_disk,
            &self.spill_memory,
            &self.result_bytes,
            &self.output_bytes,
        ];
        size_of_val(&*self.flags) + columns.iter().map(|column| column.bytes()).sum::<usize>()
    }

    /// Adds a task to every column.
    pub fn push(&mut self, task: Task) {
        self.index.push(u64::from(task.index));
        self.launch.push(u64::from(task.launch));
        self.duration.push(u64::from(task.duration));
        self.executor.push(u64::from(task.executor));
        self.host.push(u64::from(task.host));
        self.flags.push(task.flags.into());
        self.run_time.push(u64::from(task.run_time));
        self.gc_time.push(u64::from(task.gc_time));
        self.deserialize_time.push(u64::from(task.deserialize_time));
        self.fetch_wait.push(u64::from(task.fetch_wait));
        self.read_bytes.push(task.read_bytes);
        self.shuffle_read_bytes.push(task.shuffle_read_bytes);
        self.read_records.push(task.read_records);
        self.shuffle_write_bytes.push(task.shuffle_write_bytes);
        self.spill_disk.push(task.spill_disk);
        self.spill_memory.push(task.spill_memory);
        self.result_bytes.push(task.result_bytes);
        self.output_bytes.push(task.output_bytes);
    }
}

/// Outcome of a task and what its log line recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskFlags {
    /// How it ended.
    pub outcome: Outcome,
    /// `Speculative`.
    pub speculative: bool,
    /// `Task Metrics` were there.
    pub metrics: bool,
    /// Where its data was.
    pub locality: Locality,
}

/// [`TaskFlags`] in one byte: three bits for the outcome, three for the locality, one for each of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedFlags(u8);

const SPECULATIVE: u8 = 1 << 6;
const METRICS: u8 = 1 << 7;

impl From<TaskFlags> for PackedFlags {
    fn from(flags: TaskFlags) -> Self {
        let speculative = if flags.speculative { SPECULATIVE } else { 0 };
        let metrics = if flags.metrics { METRICS } else { 0 };
        Self(flags.outcome as u8 | (flags.locality as u8) << 3 | speculative | metrics)
    }
}

impl PackedFlags {
    /// How the task ended.
    pub fn outcome(self) -> Outcome {
        match self.0 & 7 {
            0 => Outcome::Success,
            1 => Outcome::Killed,
            2 => Outcome::FetchFailed,
            3 => Outcome::Resubmitted,
            _ => Outcome::Failed,
        }
    }

    /// `Speculative`.
    pub fn speculative(self) -> bool {
        self.0 & SPECULATIVE != 0
    }

    /// `Task Metrics` were there.
    pub fn metrics(self) -> bool {
        self.0 & METRICS != 0
    }

    /// Where its data was.
    pub fn locality(self) -> Locality {
        match self.0 >> 3 & 7 {
            0 => Locality::Process,
            1 => Locality::Node,
            2 => Locality::Rack,
            3 => Locality::Any,
            _ => Locality::NoPreference,
        }
    }
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    /// `Success`.
    #[default]
    Success,
    /// `TaskKilled`.
    Killed,
    /// `FetchFailed`.
    FetchFailed,
    /// `Resubmitted`.
    Resubmitted,
    /// Any other reason.
    Failed,
}

/// `Locality`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locality {
    /// `PROCESS_LOCAL`.
    Process,
    /// `NODE_LOCAL`.
    Node,
    /// `RACK_LOCAL`.
    Rack,
    /// `ANY`.
    Any,
    /// `NO_PREF`, or not recorded.
    #[default]
    NoPreference,
}

/// A job.
#[derive(Debug, Clone, Default)]
pub struct Job {
    /// `Submission Time`.
    pub submitted: Option<i64>,
    /// `Completion Time`.
    pub completed: Option<i64>,
    /// `Stage IDs`, skipped ones included.
    pub stages: Vec<u32>,
    /// `spark.sql.execution.id`.
    pub execution: Option<i64>,
    /// `callSite.short`.
    pub call_site: Option<String>,
    /// `callSite.long`: the user's stack, when the call-site helper was used.
    pub call_stack: Option<String>,
    /// `spark.job.description`.
    pub description: Option<String>,
    /// `spark.jobGroup.id`.
    pub group: Option<String>,
    /// Failed, with the first line of the reason.
    pub failure: Option<String>,
}

/// A SQL execution.
#[derive(Debug, Clone, Default)]
pub struct SqlExecution {
    /// `rootExecutionId` (3.4+); itself when it is the root.
    pub root: Option<i64>,
    /// `description`.
    pub description: String,
    /// `details`.
    pub details: Shared,
    /// `time` of the start.
    pub start: i64,
    /// `time` of the end.
    pub end: Option<i64>,
    /// The final plan: the last `SparkListenerSQLAdaptiveExecutionUpdate`, else the one of the start.
    pub plan: PlanNode,
    /// `modifiedConfigs`, redacted.
    pub modified_configs: BTreeMap<String, String>,
    /// `errorMessage`, first line.
    pub error: Option<String>,
    /// Driver-side metric updates: accumulator id → value.
    pub driver_metrics: BTreeMap<i64, i64>,
}

/// A node of `sparkPlanInfo`.
#[derive(Debug, Clone, Default)]
pub struct PlanNode {
    /// `nodeName`, e.g. `SortMergeJoin`.
    pub name: Shared,
    /// `simpleString`, cut at 4 KiB.
    pub text: String,
    /// `metadata` (locations, formats).
    pub metadata: BTreeMap<String, String>,
    /// Metrics: name, accumulator id, type.
    pub metrics: Vec<PlanMetric>,
    /// Children.
    pub children: Vec<PlanNode>,
}

/// A metric of a plan node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanMetric {
    /// `name`.
    pub name: Shared,
    /// `accumulatorId`.
    pub accumulator: i64,
    /// `metricType`.
    pub kind: Shared,
}

/// An executor.
#[derive(Debug, Clone, Default)]
pub struct Executor {
    /// `Executor ID`.
    pub id: String,
    /// Index into [`Run::hosts`].
    pub host: u16,
    /// `Total Cores`, if `ExecutorAdded` was seen.
    pub cores: Option<u32>,
    /// From.
    pub added: Option<i64>,
    /// Until.
    pub removed: Option<i64>,
    /// `Removed Reason`.
    pub removed_reason: Option<String>,
    /// Bytes of memory that can hold blocks: `Maximum Memory` of `SparkListenerBlockManagerAdded`.
    pub storage_memory: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stages as they follow each other in a job over an hour: a scan that writes a shuffle, a join that reads, spills and
    /// writes one, an output.
    #[test]
    fn tasks_of_a_usual_job_take_at_most_36_bytes_on_average() {
        let varied = |row: u32, around: u64| around / 2 + ((u64::from(row.wrapping_mul(2_654_435_761)) * around) >> 32);
        let task = |row: u32| {
            let duration = varied(row, 20_000) as u32;
            Task {
                index: row,
                launch: row * 180,
                duration,
                executor: (row % 100) as u16,
                host: (row % 25) as u16,
                run_time: duration - 20,
                gc_time: varied(row, 400) as u32,
                deserialize_time: varied(row, 30) as u32,
                result_bytes: varied(row, 4_000),
                ..Task::default()
            }
        };
        let scan = |row| Task {
            read_bytes: varied(row, 128 << 20),
            read_records: varied(row, 1_000_000),
            shuffle_write_bytes: varied(row, 40 << 20),
            ..task(row)
        };
        let join = |row| Task {
            read_bytes: varied(row, 40 << 20),
            shuffle_read_bytes: varied(row, 40 << 20),
            read_records: varied(row, 1_000_000),
            fetch_wait: varied(row, 300) as u32,
            shuffle_write_bytes: varied(row, 40 << 20),
            spill_disk: varied(row, 60 << 20),
            spill_memory: varied(row, 300 << 20),
            ..task(row)
        };
        let output = |row| Task { output_bytes: varied(row, 128 << 20), spill_disk: 0, spill_memory: 0, ..join(row) };
        let kinds: [&dyn Fn(u32) -> Task; 3] = [&scan, &join, &output];
        let per_task = kinds.map(|kind| {
            let mut tasks = Tasks::default();
            (0..20_000).for_each(|row| tasks.push(kind(row)));
            tasks.bytes() as f64 / tasks.len() as f64
        });
        let mean = per_task.iter().sum::<f64>() / 3.0;
        assert!(mean <= 36.0, "{mean} of {per_task:?}");
    }

    #[test]
    fn packed_flags_are_the_flags() {
        let outcomes = [Outcome::Success, Outcome::Killed, Outcome::FetchFailed, Outcome::Resubmitted, Outcome::Failed];
        let localities = [Locality::Process, Locality::Node, Locality::Rack, Locality::Any, Locality::NoPreference];
        for (outcome, locality) in outcomes.into_iter().flat_map(|outcome| localities.map(|place| (outcome, place))) {
            for (speculative, metrics) in [(false, false), (false, true), (true, false), (true, true)] {
                let flags = TaskFlags { outcome, speculative, metrics, locality };
                let packed = PackedFlags::from(flags);
                let unpacked = TaskFlags {
                    outcome: packed.outcome(),
                    speculative: packed.speculative(),
                    metrics: packed.metrics(),
                    locality: packed.locality(),
                };
                assert_eq!(unpacked, flags);
            }
        }
    }
}
