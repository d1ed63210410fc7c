//! A row: one evaluated stage attempt of one run, in numbers that can be compared with those of other runs.

use serde::{Deserialize, Serialize};

use crate::run::model::{Stage, StageKey, Tasks};
use crate::run::stats::{self, Distribution, pick, population};
use crate::run::{Column, Rows, Run, keys, slots};

/// One evaluated stage attempt. What the log did not record is `None`, never 0. The names are those of the columns of the
/// table and of the fields in JSON; `_ms` is milliseconds, `_bytes` bytes, and instants count from the epoch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Application id; `unnamed-` and the start where the log has none.
    pub application: String,
    /// Attempt of the application, where the cluster manager counts them.
    pub application_attempt: Option<String>,
    /// The job that the run is one of: see [`keys::job_key`].
    pub job: Option<String>,
    /// When the application started.
    pub run_started_ms: i64,
    /// How long it ran.
    pub run_wall_ms: Option<u64>,
    /// What the stage is in every run: see [`keys::stage_identities`].
    pub stage_key: String,
    /// The same for people.
    pub stage_label: String,
    /// Spark's number of the stage in this run.
    pub stage: u32,
    /// The attempt that was evaluated: the one with most successes.
    pub stage_attempt: u32,
    /// When the stage started.
    pub stage_started_ms: Option<i64>,
    /// How long the stage took.
    pub wall_ms: Option<u64>,
    /// Tasks that the stage announced.
    pub tasks: Option<u32>,
    /// Tasks that succeeded, one for each partition; all that follows is about them.
    pub tasks_succeeded: u64,
    /// Their shortest duration.
    pub duration_min_ms: Option<u64>,
    /// Their median duration.
    pub duration_median_ms: Option<f64>,
    /// 95 % took no longer.
    pub duration_p95_ms: Option<u64>,
    /// Their longest duration.
    pub duration_max_ms: Option<u64>,
    /// Longest over median; `None` where the median is 0.
    pub max_to_median: Option<f64>,
    /// Input and shuffle bytes read.
    pub read_bytes: Option<u64>,
    /// Bytes spilled to disk.
    pub spill_disk_bytes: Option<u64>,
    /// The same data in memory.
    pub spill_memory_bytes: Option<u64>,
    /// Time in garbage collection, over all tasks.
    pub gc_ms: Option<u64>,
    /// Cores that the stage could use, weighted by time.
    pub cores: Option<f64>,
    /// Spark's version.
    pub spark_version: Option<String>,
    /// Changes when a setting of the job does: see [`keys::conf_key`].
    pub conf: Option<String>,
    /// `tasks_succeeded` over `tasks`.
    pub coverage: Option<f64>,
    /// The log has the application's end, and nothing is missing.
    pub log_complete: bool,
    /// Events in the log.
    pub log_events: u64,
}

impl Row {
    /// Which run it is of: the application and its attempt.
    pub fn run(&self) -> (&str, Option<&str>) {
        (&self.application, self.application_attempt.as_deref())
    }

    /// How much of the run its log held; a log that is read again later holds more.
    pub(super) fn fullness(&self) -> (bool, u64) {
        (self.log_complete, self.log_events)
    }
}

/// The rows of a run, by stage; none if no stage of it is in the log.
pub fn rows_of(run: &Run) -> Vec<Row> {
    let of_run = of_run(run);
    let identities = keys::stage_identities(run);
    let row = |key: StageKey| {
        let (stage, identity) = (run.stages.get(&key)?, identities.get(&key)?);
        let named = Row {
            stage_key: identity.key.clone(),
            stage_label: identity.label.clone(),
            stage: key.stage,
            stage_attempt: key.attempt,
            ..of_run.clone()
        };
        Some(measured(run, key, stage, named))
    };
    stats::evaluated_stages(run).into_iter().filter_map(row).collect()
}

/// What is the same in all rows of a run.
fn of_run(run: &Run) -> Row {
    let application = &run.application;
    let id = application.id.clone().or_else(|| run.conf.get("spark.app.id").cloned());
    Row {
        application: id.unwrap_or_else(|| format!("unnamed-{}", application.start)),
        application_attempt: application.attempt.clone(),
        job: keys::job_key(run),
        run_started_ms: application.start,
        run_wall_ms: slots::run_time(run),
        spark_version: application.version.map(|version| version.to_string()),
        conf: (!run.conf.is_empty()).then(|| keys::conf_key(run)),
        log_complete: run.coverage.complete,
        log_events: run.coverage.events,
        ..Row::default()
    }
}

fn measured(run: &Run, key: StageKey, stage: &Stage, row: Row) -> Row {
    let tasks = &stage.tasks;
    let counted = population(tasks);
    let durations = Distribution::of(&pick(&tasks.duration, &counted));
    let sum = |column: &Column, fields: &[&str]| recorded_sum(tasks, &counted, column, fields);
    Row {
        stage_started_ms: slots::stage_span(run, stage).map(|(from, _)| from),
        wall_ms: slots::stage_wall(run, stage),
        tasks: Some(stage.task_count).filter(|&count| count > 0),
        tasks_succeeded: counted.len() as u64,
        duration_min_ms: durations.map(|found| found.min),
        duration_median_ms: durations.map(|found| found.median),
        duration_p95_ms: durations.map(|found| found.p95),
        duration_max_ms: durations.map(|found| found.max),
        max_to_median: durations.filter(|found| found.median > 0.0).map(|found| found.max as f64 / found.median),
        read_bytes: sum(&tasks.read_bytes, &["Input Metrics: Bytes Read", "Remote Bytes Read", "Local Bytes Read"]),
        spill_disk_bytes: sum(&tasks.spill_disk, &["Disk Bytes Spilled"]),
        spill_memory_bytes: sum(&tasks.spill_memory, &["Memory Bytes Spilled"]),
        gc_ms: sum(&tasks.gc_time, &["JVM GC Time"]),
        cores: slots::stage_cores(run, key),
        coverage: stats::coverage_of(stage, counted.len()),
        ..row
    }
}

/// The sum over the tasks that count; `None` if there are none, or if one of them lacks metrics or one of the fields.
fn recorded_sum(tasks: &Tasks, counted: &Rows, column: &Column, fields: &[&str]) -> Option<u64> {
    let measured = !counted.is_empty() && counted.iter().all(|task| tasks.flags[task].metrics());
    let recorded = measured && !fields.iter().any(|field| tasks.not_recorded.contains(field));
    recorded.then(|| pick(column, counted).into_iter().fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::model::{Task, TaskFlags};

    fn run(durations: &[u32], metrics: bool) -> Run {
        let mut run = Run::default();
        run.application.id = Some("app-1".to_owned());
        run.application.name = Some("orders 2026-11-30".to_owned());
        (run.application.start, run.application.end) = (1_000, 61_000);
        let mut stage = Stage { task_count: 4, submitted: Some(2_000), completed: Some(12_000), ..Stage::default() };
        for (index, &duration) in (0..).zip(durations) {
            let flags = TaskFlags { metrics, ..TaskFlags::default() };
            stage.tasks.push(Task { index, duration, flags, read_bytes: 10, gc_time: 1, ..Task::default() });
        }
        run.stages.insert(StageKey { stage: 7, attempt: 0 }, stage);
        run
    }

    #[test]
    fn a_row_has_the_numbers_of_the_stage() {
        let rows = rows_of(&run(&[100, 200, 900], true));
        let [row] = rows.as_slice() else { panic!("{rows:#?}") };
        assert_eq!((row.application.as_str(), row.job.as_deref()), ("app-1", Some("orders 0-0-0")));
        assert_eq!((row.run_wall_ms, row.wall_ms, row.stage_started_ms), (Some(60_000), Some(10_000), Some(2_000)));
        assert_eq!((row.tasks, row.tasks_succeeded, row.coverage), (Some(4), 3, Some(0.75)));
        assert_eq!((row.duration_min_ms, row.duration_median_ms), (Some(100), Some(200.0)));
        assert_eq!((row.duration_max_ms, row.max_to_median), (Some(900), Some(4.5)));
        assert_eq!((row.read_bytes, row.gc_ms, row.spill_disk_bytes), (Some(30), Some(3), Some(0)));
        assert_eq!((row.cores, row.spark_version.as_deref(), row.conf.as_deref()), (None, None, None));
    }

    #[test]
    fn what_was_not_recorded_is_not_zero() {
        let without_metrics = &rows_of(&run(&[100], false))[0];
        assert_eq!((without_metrics.read_bytes, without_metrics.gc_ms), (None, None));

        let mut lacking = run(&[0, 0], true);
        let key = StageKey { stage: 7, attempt: 0 };
        lacking.stages.get_mut(&key).unwrap().tasks.not_recorded.insert("Local Bytes Read");
        let row = &rows_of(&lacking)[0];
        assert_eq!((row.read_bytes, row.gc_ms, row.max_to_median), (None, Some(2), None));

        let no_task = &rows_of(&run(&[], true))[0];
        assert_eq!((no_task.duration_max_ms, no_task.read_bytes, no_task.coverage), (None, None, Some(0.0)));
        assert!(serde_json::to_value(no_task).unwrap()["read_bytes"].is_null());
    }

    #[test]
    fn a_run_without_an_id_is_known_by_its_start() {
        let mut unnamed = run(&[1], true);
        unnamed.application.id = None;
        assert_eq!(rows_of(&unnamed)[0].application, "unnamed-1000");
    }
}
