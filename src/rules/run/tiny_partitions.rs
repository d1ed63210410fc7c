//! More tasks than the work deserves.

use super::view::StageView;
use super::words::{bytes, count, duration, percent};
use super::{advice, on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Verdict};

declare_rule! {
    /// A thousand tasks or more that are so small that starting them costs as much as their work.
    ///
    /// ## Why
    /// Each task is scheduled, sent, deserialised and reported. For tasks of a few milliseconds that overhead is most of
    /// the stage, and a write leaves as many small files.
    ///
    /// ## Silent when
    /// The stage has fewer than 1,000 tasks or 10 a core, or less than 30 % of task time is overhead: tasks of 200 ms
    /// alone are fine.
    ///
    /// ## Example
    /// ```text
    /// 20,000 tasks for 16 cores, median 41 ms and 12 KiB: 63 % of task time is overhead
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.sql.adaptive.coalescePartitions.enabled  true
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#coalescing-post-shuffle-partitions>
    pub TINY_PARTITIONS = {
        name: "tiny-partitions", group: Run, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [
            ("tasks-per-core", 10.0, "tasks for each core, at least"),
            ("min-tasks", 1000.0, "tasks, at least"),
            ("median-ms", 200.0, "median duration below this (ms)"),
            ("read-mib", 1.0, "or median read below this (MiB)"),
            ("overhead-share", 0.3, "share of task time that is not run time, at least"),
        ],
        check: Run(check),
    }
}

/// The numbers of a stage for which the formula holds.
struct Tiny {
    cores: f64,
    read: f64,
    overhead: f64,
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        tiny(context, view).map(|found| describe(context, view, found.cores, found.read, found.overhead))
    })
}

/// Whether a stage has too many small tasks, so that more partitions are not the advice for it.
pub(super) fn is_tiny(context: &RunContext<'_>, view: &StageView<'_>) -> bool {
    tiny(context, view).is_ok()
}

fn tiny(context: &RunContext<'_>, view: &StageView<'_>) -> Result<Tiny, State> {
    if let Some(state) = view.skipped(&context.floors) {
        return Err(state);
    }
    let option = |name| context.rules.option(&TINY_PARTITIONS, name);
    if (view.count() as f64) < option("min-tasks") {
        return Err(State::NotFired);
    }
    let cores =
        view.cores.ok_or_else(|| State::NotApplicable("the cores of its executors are not known".to_owned()))?;
    let reads = view.median_of(&view.tasks().read_bytes);
    let read = reads.ok_or_else(|| State::NotRecorded("Task Metrics".to_owned()))?;
    let overhead = overhead_share(view).ok_or_else(|| State::NotRecorded("Executor Run Time".to_owned()))?;
    let small = view.median_ms() < option("median-ms") || read < option("read-mib") * 1024.0 * 1024.0;
    let many = view.count() as f64 >= option("tasks-per-core") * cores;
    if many && small && overhead >= option("overhead-share") {
        Ok(Tiny { cores, read, overhead })
    } else {
        Err(State::NotFired)
    }
}

/// Share of the tasks' time that was not run time: scheduling, deserialisation, sending results.
fn overhead_share(view: &StageView<'_>) -> Option<f64> {
    let run_time = view.sum(&view.tasks().run_time).filter(|_| view.recorded("Executor Run Time"))?;
    Some((1.0 - run_time / view.task_ms().max(1.0)).max(0.0))
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, cores: f64, read: f64, overhead: f64) -> Verdict {
    let tasks = view.tasks();
    let saved = view.saved_seconds(|row| tasks.run_time.get(row).min(tasks.duration.get(row)) as f64);
    let mut verdict = on_stage(context, view, Some(saved));
    if !verdict.paintable {
        verdict.severity = Severity::Information;
    }
    verdict.message = format!(
        "{} for {cores:.0} cores, median {} and {}: {} of task time is overhead",
        count(view.count() as u64, "task"),
        duration(view.median_ms()),
        bytes(read),
        percent(overhead),
    );
    verdict.short = format!("{} of {}", count(view.count() as u64, "task"), duration(view.median_ms()));
    let option = |name| context.option(name);
    verdict.prove(
        "tasks",
        format!("{} ({cores:.1} cores)", view.count()),
        Some(format!(">= {} and {} a core", option("min-tasks"), option("tasks-per-core"))),
        None,
    );
    verdict.prove(
        "median",
        format!("{} and {}", duration(view.median_ms()), bytes(read)),
        Some(format!("< {} or {}", duration(option("median-ms")), bytes(option("read-mib") * 1024.0 * 1024.0))),
        None,
    );
    verdict.prove("overhead", percent(overhead), Some(format!(">= {}", percent(option("overhead-share")))), None);
    verdict.advice = advice::for_partitions(context.run, view.plan(), false);
    verdict
}
