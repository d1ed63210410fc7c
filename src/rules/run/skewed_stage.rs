//! One task holds the data of a stage.

use super::aqe_skew_gates::Outcome;
use super::stage_plan::{Operator, StagePlan};
use super::view::{Read, StageView};
use super::words::{bytes, count, duration, grouped, percent, ratio};
use super::{advice, aqe_skew_gates, on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Verdict};

declare_rule! {
    /// One task of a stage reads and runs many times longer than the others.
    ///
    /// ## Why
    /// A stage ends when its last task ends. If one key holds much of the data, one task does much of the work while
    /// all other cores wait. More executors or more memory do not help: the hot partition is still one task.
    ///
    /// The rule fires if the slowest task took 3 times the median or more, by at least 1 s and 2 % of the run, and it
    /// also read 3 times the median in bytes or records: both distributions are lopsided. If only the durations are, it
    /// is a `straggler`.
    ///
    /// ## Silent when
    /// - the stage has fewer than 5 tasks (below 10 it is only information),
    /// - the slowest task read as much as the others,
    /// - the stage is shorter than 0.5 % of the run, or less than 90 % of its tasks are in the log.
    ///
    /// ## Example
    /// ```text
    /// one task read 71 % of the rows of this join: 200 tasks, median 1.2 s, max 48.0 s (40 x), 199 tasks waited 44.1 s
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// salts = spark.range(16).withColumnRenamed("id", "salt")
    /// orders = orders.withColumn("salt", (F.rand() * 16).cast("long"))
    /// joined = orders.join(merchants.crossJoin(salts), ["merchant_id", "salt"])
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#optimizing-skew-join>
    pub SKEWED_STAGE = {
        name: "skewed-stage", group: Run, severity: Warning, confidence: Measured,
        since: "0.1.0",
        options: [
            ("min-tasks", 5.0, "tasks that the stage must have"),
            ("confident-tasks", 10.0, "below so many tasks it is at most information"),
            ("ratio", 3.0, "slowest task over the median, in time"),
            ("severe-ratio", 10.0, "from here on always a warning"),
            ("excess-seconds", 1.0, "slowest task minus the median, in seconds, at least"),
            ("excess-share", 0.02, "slowest task minus the median, as a share of the run, at least"),
            ("read-ratio", 3.0, "what the slowest task read over the median, in bytes or records"),
            ("read-floor-mib", 1.0, "medians of bytes read below this (MiB) count as this"),
            ("read-floor-records", 1000.0, "medians of records read below this count as this"),
        ],
        check: Run(check),
    }
}

/// What the slowest task read against the median.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadSkew {
    pub(super) bytes: f64,
    pub(super) median_bytes: f64,
    pub(super) records: f64,
    pub(super) median_records: f64,
    /// Share of all records (of all bytes where no records were counted).
    pub(super) share: f64,
    /// Above the threshold in bytes or in records.
    pub(super) lopsided: bool,
}

/// A stage whose slowest task is far from the median.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lopsided {
    /// The slowest task.
    pub(super) row: usize,
    /// Slowest over median, in time.
    pub(super) ratio: f64,
    /// Slowest minus median, in ms.
    pub(super) excess_ms: f64,
    /// The least excess that counts, in ms.
    pub(super) least_excess_ms: f64,
    /// What it read.
    pub(super) read: ReadSkew,
}

/// Whether the durations of a stage are lopsided by the options of `skewed-stage`; `Err` says why not.
pub(super) fn lopsided(context: &RunContext<'_>, view: &StageView<'_>) -> Result<Lopsided, State> {
    let option = |name| context.rules.option(&SKEWED_STAGE, name);
    if let Some(state) = view.skipped(&context.floors) {
        return Err(state);
    }
    if (view.count() as f64) < option("min-tasks") {
        return Err(State::NotApplicable(format!("fewer than {} tasks", option("min-tasks"))));
    }
    let (median_ms, max_ms) = (view.median_ms(), view.max_ms());
    let excess_ms = max_ms - median_ms;
    let least_excess_ms = (option("excess-seconds") * 1000.0).max(option("excess-share") * view.run_ms);
    if max_ms < option("ratio") * median_ms || excess_ms < least_excess_ms {
        return Err(State::NotFired);
    }
    let row = view.slowest().ok_or(State::NotFired)?;
    let read = read_skew(context, view, row).ok_or_else(|| State::NotRecorded("Task Metrics".to_owned()))?;
    Ok(Lopsided { row, ratio: max_ms / median_ms.max(1.0), excess_ms, least_excess_ms, read })
}

fn read_skew(context: &RunContext<'_>, view: &StageView<'_>, row: usize) -> Option<ReadSkew> {
    let option = |name| context.rules.option(&SKEWED_STAGE, name);
    let tasks = view.tasks();
    let Read { bytes: all_bytes, records: all_records } = view.read()?;
    let (bytes, records) = (tasks.read_bytes.get(row) as f64, tasks.read_records.get(row) as f64);
    let (median_bytes, median_records) = (all_bytes.median, all_records.median);
    let floor_bytes = option("read-floor-mib") * 1024.0 * 1024.0;
    let threshold = option("read-ratio");
    let lopsided = bytes >= threshold * median_bytes.max(floor_bytes)
        || records >= threshold * median_records.max(option("read-floor-records"));
    let share = match (all_records.sum, all_bytes.sum) {
        (0, 0) => 0.0,
        (0, total) => bytes / total as f64,
        (total, _) => records / total as f64,
    };
    Some(ReadSkew { bytes, median_bytes, records, median_records, share, lopsided })
}

/// Whether the stage is skewed by data; other rules then hold their advice on partitions back.
pub(super) fn is_skewed(context: &RunContext<'_>, view: &StageView<'_>) -> bool {
    lopsided(context, view).is_ok_and(|lopsided| lopsided.read.lopsided)
}

/// How long the last task ran after all others had ended, in ms.
pub(super) fn lone_ms(view: &StageView<'_>) -> f64 {
    view.tail().map_or(0.0, |tail| tail.alone as f64)
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        let found = lopsided(context, view)?;
        if found.read.lopsided { Ok(describe(context, view, &found)) } else { Err(State::NotFired) }
    })
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, found: &Lopsided) -> Verdict {
    let plan = view.plan();
    let operator = plan.operator();
    let (median_ms, tasks) = (view.median_ms(), view.tasks());
    let hot_from = context.option("ratio") * median_ms;
    let without = |row: usize| {
        let duration = tasks.duration.get(row) as f64;
        if duration >= hot_from { median_ms } else { duration }
    };
    let mut verdict = on_stage(context, view, Some(view.saved_seconds_if_spread(without)));
    let severe = found.ratio >= context.option("severe-ratio");
    if (view.count() as f64) < context.option("confident-tasks") || !(severe || verdict.paintable) {
        verdict.severity = Severity::Information;
    }
    let lone = lone_ms(view);
    let what = if found.read.records > 0.0 { "rows" } else { "bytes" };
    verdict.message = format!(
        "one task read {} of the {what} of this {}: {}, median {}, max {} ({}), {} waited {}",
        percent(found.read.share),
        operator.noun(),
        count(view.count() as u64, "task"),
        duration(median_ms),
        duration(view.max_ms()),
        ratio(found.ratio),
        count(view.count() as u64 - 1, "task"),
        duration(lone),
    );
    let gates = aqe_skew_gates::gates(view, plan);
    verdict.short = format!("max {} median", ratio(found.ratio));
    if let Some(word) = gates.as_ref().map(|gates| gates.short()) {
        verdict.short = format!("{} · {word}", verdict.short);
    }
    prove(context, view, found, &mut verdict);
    if let Some(gates) = &gates {
        let split = if gates.outcome == Outcome::Split { "yes" } else { "no" };
        verdict.prove("split by AQE", format!("{split}: {}", gates.why(plan)), None, Some(gates.settings()));
    }
    if plan.coalesced_by_aqe()
        && let Some(before) = plan.partitions_before_aqe()
    {
        verdict.prove("partitions before AQE merged them", grouped(before), None, None);
    }
    verdict.confounders.extend(look_alikes(plan));
    verdict.advice = advice::for_skew(context, view, plan, gates.as_ref());
    verdict
}

/// The numbers of the formula.
fn prove(context: &RunContext<'_>, view: &StageView<'_>, found: &Lopsided, verdict: &mut Verdict) {
    let ReadSkew { bytes: read, median_bytes, records, median_records, .. } = found.read;
    let over = |value: f64, median: f64| if median > 0.0 { ratio(value / median) } else { "all of it".to_owned() };
    verdict.prove(
        "slowest task over the median",
        format!("{} ({} / {})", ratio(found.ratio), duration(view.max_ms()), duration(view.median_ms())),
        Some(format!(">= {}", ratio(context.option("ratio")))),
        Some(format!("task {} on {}", view.tasks().index.get(found.row), view.host(found.row))),
    );
    verdict.prove("excess", duration(found.excess_ms), Some(format!(">= {}", duration(found.least_excess_ms))), None);
    verdict.prove("slowest tasks", slowest(view), None, None);
    if let Some(tail) = view.tail() {
        let idle = format!("{:.1} for {}", tail.idle_slots, duration(view.max_ms()));
        verdict.prove("idle cores while the last task ran", idle, None, None);
    }
    let threshold = || Some(format!(">= {} in bytes or rows", ratio(context.option("read-ratio"))));
    verdict.prove(
        "bytes read by it",
        format!("{} ({}), median {}", bytes(read), over(read, median_bytes), bytes(median_bytes)),
        threshold(),
        None,
    );
    verdict.prove(
        "rows read by it",
        format!(
            "{} ({}), median {}",
            grouped(records as u64),
            over(records, median_records),
            grouped(median_records as u64)
        ),
        threshold(),
        None,
    );
}

/// `task 0 107.6 s on worker-3, task 5 12.1 s on worker-1`.
fn slowest(view: &StageView<'_>) -> String {
    const NAMED: usize = 3;
    let tasks = view.tasks();
    let mut rows: Vec<usize> = view.rows.iter().collect();
    rows.sort_by_key(|&row| std::cmp::Reverse(tasks.duration.get(row)));
    let text = |&row: &usize| {
        format!("task {} {} on {}", tasks.index.get(row), duration(tasks.duration.get(row) as f64), view.host(row))
    };
    rows.iter().take(NAMED).map(text).collect::<Vec<_>>().join(", ")
}

/// What looks the same, and where to tell it apart, since the log can't.
pub(super) fn look_alikes(plan: &StagePlan<'_>) -> Vec<String> {
    let mut found = Vec::new();
    if plan.untold {
        found.push(
            "what the stage computes is not known without its plan: a Python UDF that is slow for some rows, or slow \
             storage, looks the same"
                .to_owned(),
        );
    }
    if let Some(python) = plan.python() {
        found.push(format!(
            "{python} runs in this stage: a UDF that is slow for some rows looks the same, confirm in the stage page"
        ));
    }
    if plan.operator() == Operator::Scan {
        found
            .push("slow storage looks the same in a scan: compare CPU time with run time in the stage page".to_owned());
    }
    found
}
