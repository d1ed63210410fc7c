//! Stages that collect garbage instead of working.

use super::skewed_stage::{SKEWED_STAGE, is_skewed};
use super::view::StageView;
use super::words::{duration, percent};
use super::{advice, on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, State, Verdict};

declare_rule! {
    /// A tenth of a stage's run time, or more, goes into garbage collection.
    ///
    /// ## Why
    /// While the JVM collects garbage its tasks stand still. A few percent are normal; from a tenth on, the heap is too
    /// small for what the tasks hold at once: cached rows, collected lists, large partitions. From a fifth on the message
    /// says that it is severe. Smaller partitions and less cached data cure it; on a skewed stage only the skew does, since
    /// a larger heap leaves one task with most of the rows.
    ///
    /// What it costs is estimated by taking the time in garbage collection away from each task.
    ///
    /// ## Silent when
    /// The stage's tasks ran for less than 60 s together, or the stage is shorter than 0.5 % of the run.
    ///
    /// ## Example
    /// ```text
    /// 31 % of run time went into garbage collection (25.2 s of 81.4 s), severe
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// held.unpersist()   # when nothing reads it any more
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/tuning.html#garbage-collection-tuning>
    pub GC_PRESSURE = {
        name: "gc-pressure", group: Run, severity: Warning, confidence: Measured,
        since: "0.1.0",
        options: [
            ("share", 0.1, "share of run time in garbage collection, at least"),
            ("seconds", 60.0, "run time of the stage's tasks together, in seconds, at least"),
            ("severe-share", 0.2, "from this share on the message says that it is severe"),
        ],
        check: Run(check),
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        if let Some(state) = view.skipped(&context.floors) {
            return Err(state);
        }
        for field in ["Executor Run Time", "JVM GC Time"] {
            if !view.recorded(field) {
                return Err(State::NotRecorded(field.to_owned()));
            }
        }
        let (gc_ms, run_ms) = pressure(context, view).ok_or(State::NotFired)?;
        Ok(describe(context, view, gc_ms, run_ms))
    })
}

/// Time in garbage collection and run time of a stage for which the formula holds, in ms.
pub(super) fn pressure(context: &RunContext<'_>, view: &StageView<'_>) -> Option<(f64, f64)> {
    let option = |name| context.rules.option(&GC_PRESSURE, name);
    let run_ms = view.sum(&view.tasks().run_time)?;
    let gc_ms = view.sum(&view.tasks().gc_time)?;
    (run_ms >= option("seconds") * 1000.0 && gc_ms >= option("share") * run_ms).then_some((gc_ms, run_ms))
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, gc_ms: f64, run_ms: f64) -> Verdict {
    let tasks = view.tasks();
    let saved = view.saved_seconds(|row| tasks.duration.get(row).saturating_sub(tasks.gc_time.get(row)) as f64);
    let mut verdict = on_stage(context, view, Some(saved));
    let share = gc_ms / run_ms;
    let severe = if share >= context.option("severe-share") { ", severe" } else { "" };
    verdict.message = format!(
        "{} of run time went into garbage collection ({} of {}){severe}",
        percent(share),
        duration(gc_ms),
        duration(run_ms)
    );
    verdict.short = format!("{} in garbage collection", percent(share));
    verdict.prove(
        "garbage collection over run time",
        format!("{} ({} / {})", percent(share), duration(gc_ms), duration(run_ms)),
        Some(format!(">= {}, severe >= {}", percent(context.option("share")), percent(context.option("severe-share")))),
        None,
    );
    verdict.prove(
        "run time",
        duration(run_ms),
        Some(format!(">= {}", duration(context.option("seconds") * 1000.0))),
        None,
    );
    verdict.advice = advise(context, view);
    verdict
}

fn advise(context: &RunContext<'_>, view: &StageView<'_>) -> Vec<String> {
    if is_skewed(context, view) {
        return vec![format!(
            "Remove the skew first (see {}): a larger heap leaves the hot key in one task",
            SKEWED_STAGE.name
        )];
    }
    let plan = view.plan();
    let mut advice = Vec::new();
    if plan.has("InMemoryTableScan") {
        advice.push("Unpersist what nothing reads any more, and cache only the columns that are read".to_owned());
    }
    let gathers =
        plan.nodes.iter().any(|node| ["collect_list(", "collect_set("].iter().any(|name| node.text.contains(name)));
    if gathers {
        advice.push(
            "Aggregate to a number where the code allows it: collect_list holds all rows of a key in the heap"
                .to_owned(),
        );
    }
    advice.extend(advice::for_smaller_partitions(context, view, plan));
    advice.push(advice::more_heap(context.run));
    advice
}
