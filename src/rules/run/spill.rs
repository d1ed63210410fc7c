//! Tasks that did not fit into memory.

use super::skewed_stage::{SKEWED_STAGE, is_skewed};
use super::view::StageView;
use super::words::{MIB, bytes, count, percent};
use super::{advice, on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Verdict};

declare_rule! {
    /// A stage wrote parts of its data to disk because they did not fit into execution memory.
    ///
    /// ## Why
    /// Sorts, aggregates and joins spill when a partition outgrows the memory of its task: the data is serialised,
    /// written, read and merged again. Smaller partitions fit. A little spill is only a note; 1 GiB, or a tenth of what
    /// the stage reads, is a warning.
    ///
    /// What it costs is estimated from the bytes written and read back at the rate of the option `mib-per-second`.
    ///
    /// ## Silent when
    /// Nothing was spilled to disk, or the stage is shorter than 0.5 % of the run.
    ///
    /// ## Example
    /// ```text
    /// 14 GiB spilled to disk, 31 % of what the stage reads (61 GiB in memory), in 200 of 200 tasks
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.sql.shuffle.partitions  800
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/tuning.html#memory-management-overview>
    pub SPILL = {
        name: "spill", group: Run, severity: Warning, confidence: Measured,
        since: "0.1.0",
        options: [
            ("warning-gib", 1.0, "GiB spilled to disk that make it a warning"),
            ("warning-share", 0.1, "share of the bytes read that makes it a warning"),
            ("severe-run-share", 0.2, "a warning whose stage takes this share of the run says so"),
            ("mib-per-second", 50.0, "rate of the disk in MiB a second, for the estimate of what it costs"),
        ],
        check: Run(check),
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        if let Some(state) = view.skipped(&context.floors) {
            return Err(state);
        }
        let spilled = view
            .sum(&view.tasks().spill_disk)
            .filter(|_| view.recorded("Disk Bytes Spilled"))
            .ok_or_else(|| State::NotRecorded("Disk Bytes Spilled".to_owned()))?;
        if spilled > 0.0 { Ok(describe(context, view, spilled)) } else { Err(State::NotFired) }
    })
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, spilled: f64) -> Verdict {
    let tasks = view.tasks();
    let read = view.sum(&tasks.read_bytes).unwrap_or(0.0);
    let in_memory = view.sum(&tasks.spill_memory).unwrap_or(0.0);
    let spilling = view.rows.iter().filter(|&row| tasks.spill_disk.get(row) > 0).count();
    let rate = context.option("mib-per-second").max(1e-3) * MIB / 1000.0;
    let saved = view.saved_seconds(|row| {
        let duration = tasks.duration.get(row) as f64;
        (duration - 2.0 * tasks.spill_disk.get(row) as f64 / rate).max(duration / 2.0)
    });
    let mut verdict = on_stage(context, view, Some(saved));
    let limit = context.option("warning-gib") * 1024.0 * MIB;
    let warning = spilled >= limit || (read > 0.0 && spilled >= context.option("warning-share") * read);
    if !warning {
        verdict.severity = Severity::Information;
    }
    let of_read =
        if read > 0.0 { format!(", {} of what the stage reads", percent(spilled / read)) } else { String::new() };
    let severe = warning && view.wall_ms >= context.option("severe-run-share") * view.run_ms;
    let of_run = if severe {
        format!("; the stage is {} of the run", percent(view.wall_ms / view.run_ms))
    } else {
        String::new()
    };
    verdict.message = format!(
        "{} spilled to disk{of_read} ({} in memory), in {spilling} of {}{of_run}",
        bytes(spilled),
        bytes(in_memory),
        count(view.count() as u64, "task"),
    );
    verdict.short = format!("spilled {}", bytes(spilled));
    verdict.prove(
        "spilled to disk",
        bytes(spilled),
        Some(format!(
            "> 0, warning >= {} or >= {} of the read",
            bytes(limit),
            percent(context.option("warning-share"))
        )),
        None,
    );
    verdict.prove("spilled in memory", bytes(in_memory), None, None);
    verdict.prove("read", bytes(read), None, None);
    if is_skewed(context, view) {
        verdict.advice.push(format!(
            "Remove the skew first (see {}): more partitions leave the hot key in one task",
            SKEWED_STAGE.name
        ));
    } else {
        verdict.advice = advice::for_smaller_partitions(context, view, view.plan());
    }
    verdict
}
