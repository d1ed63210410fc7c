//! Tasks that each read too much.

use super::skewed_stage::{SKEWED_STAGE, is_skewed};
use super::view::StageView;
use super::words::{GIB, bytes, count};
use super::{advice, on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Verdict};

declare_rule! {
    /// The median task of a stage reads more than a task should.
    ///
    /// ## Why
    /// 100 to 200 MiB a task work well. From 1 GiB on tasks run long, few run at once and one lost task costs much; at
    /// 3 GiB and spilling, more partitions are due. Columnar files are compressed: in memory they are 3 to 5 times
    /// larger than what was read.
    ///
    /// ## Silent when
    /// The median read is 200 MiB or less, or the stage is skewed (then only one partition is too large).
    ///
    /// ## Example
    /// ```text
    /// the median task reads 3.4 GiB and spills 1.1 GiB: 200 tasks
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.sql.shuffle.partitions  4000
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/tuning.html#memory-usage-of-reduce-tasks>
    pub OVERSIZED_PARTITIONS = {
        name: "oversized-partitions", group: Run, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [
            ("note-mib", 200.0, "median read above this (MiB) is a note"),
            ("warning-gib", 1.0, "from this (GiB) on a warning"),
            ("severe-gib", 3.0, "from this (GiB) on, with spill, the message says so"),
        ],
        check: Run(check),
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        if let Some(state) = view.skipped(&context.floors) {
            return Err(state);
        }
        let reads = view.median_of(&view.tasks().read_bytes);
        let read = reads.ok_or_else(|| State::NotRecorded("Input Metrics, Shuffle Read Metrics".to_owned()))?;
        if read <= context.option("note-mib") * 1024.0 * 1024.0 {
            return Err(State::NotFired);
        }
        if is_skewed(context, view) {
            return Err(State::NotApplicable(format!("{} fires on it", SKEWED_STAGE.name)));
        }
        Ok(describe(context, view, read))
    })
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, read: f64) -> Verdict {
    let slots = view.slots() as f64;
    let even_s = view.task_ms() / slots / 1000.0;
    let now_s = view.saved_seconds(|_| 0.0);
    let mut verdict = on_stage(context, view, Some((now_s - even_s).max(0.0)));
    let spilled = view.sum(&view.tasks().spill_disk).unwrap_or(0.0);
    if read < context.option("warning-gib") * GIB {
        verdict.severity = Severity::Information;
    }
    let severe = read >= context.option("severe-gib") * GIB && spilled > 0.0;
    let spills = if severe { format!(" and the stage spills {}", bytes(spilled)) } else { String::new() };
    verdict.message = format!("the median task reads {}{spills}: {}", bytes(read), count(view.count() as u64, "task"));
    verdict.short = format!("{} a task", bytes(read));
    verdict.prove(
        "median read",
        bytes(read),
        Some(format!(
            "> {}, warning >= {}, severe >= {} with spill",
            bytes(context.option("note-mib") * 1024.0 * 1024.0),
            bytes(context.option("warning-gib") * GIB),
            bytes(context.option("severe-gib") * GIB)
        )),
        None,
    );
    verdict.prove("spilled to disk", bytes(spilled), None, None);
    if view.plan().reads.is_empty() && !view.plan().untold {
        verdict.confounders.push("columnar files are compressed: in memory it is 3 to 5 times as much".to_owned());
    }
    verdict.advice = advice::for_smaller_partitions(context, view, view.plan());
    verdict
}
