//! What to do, by operator. Advice that is in effect already is never given, nor more memory or nodes for a skewed stage.

use super::aqe_skew_gates::{Gates, Outcome, THRESHOLD};
use super::in_force::in_force;
use super::stage_plan::{Operator, StagePlan, UserPartitions};
use super::tiny_partitions;
use super::view::StageView;
use super::words::{MIB, bytes, count};
use crate::rules::RunContext;
use crate::run::Run;

/// A side below this is worth a broadcast whatever the threshold is.
const SMALL_SIDE: f64 = 10.0 * MIB;
const ADVISORY: &str = "spark.sql.adaptive.advisoryPartitionSizeInBytes";

/// For a stage that is skewed by data.
pub(super) fn for_skew(
    context: &RunContext<'_>,
    view: &StageView<'_>,
    plan: &StagePlan<'_>,
    gates: Option<&Gates>,
) -> Vec<String> {
    let operator = plan.operator();
    let keys = operator.key_text();
    let mut advice = Vec::new();
    match &operator {
        Operator::Join { kind, .. } => {
            if let Some(side) = small_side(context.run, plan, kind, SMALL_SIDE) {
                advice.push(side.advice());
            }
            if let Some(gates) = gates {
                advice.extend(for_gates(context.run, plan, gates));
            }
            advice.push(format!(
                "Salt {keys}: a random bucket on the large side, the other side once per bucket (16 copies of it, and code that is harder to read)"
            ));
        }
        Operator::Aggregate { .. } => advice.push(format!(
            "Aggregate in two steps: by {keys} and a random bucket first, then by {keys}; AQE does not split an aggregate"
        )),
        Operator::Window { global: true } => {
            advice.push("Give the window a partitionBy: without one all rows go through one task".to_owned());
        }
        Operator::Window { global: false } => advice.push(
            "Partition the window by one more column, or rank the hot key apart; AQE does not split a window".to_owned(),
        ),
        // What it does with the keys is not known.
        Operator::Unknown if plan.untold => {}
        Operator::Write | Operator::Sort | Operator::Unknown if !plan.reads.is_empty() => {
            advice.push(format!("Repartition by more than {keys}, or by a number only, so that no partition holds it all"));
        }
        _ => advice.push(
            "Look at the largest input file: a file that cannot be split (gzip, one row group) is one task".to_owned(),
        ),
    }
    advice.push(format!(
        "Count the heaviest values of {keys} first; null or a default value is better filtered or split off"
    ));
    advice.push(format!(
        "More executors or memory will not help: {} waited for one, and it stays one task",
        count(view.count().saturating_sub(1) as u64, "task")
    ));
    advice
}

/// What would make AQE split, if anything would.
pub(super) fn for_gates(run: &Run, plan: &StagePlan<'_>, gates: &Gates) -> Vec<String> {
    match &gates.outcome {
        Outcome::Off(key) if gates.ratio_passes && gates.size_passes => {
            vec![format!("Set {key}=true: AQE then splits skewed partitions of joins")]
        }
        Outcome::SizeGate => lower_threshold(run, plan, gates).into_iter().collect(),
        Outcome::RatioGate => vec![
            "Shuffle less: all partitions are large, so none stands out for AQE; filter and select columns before the join"
                .to_owned(),
        ],
        Outcome::Off(_)
        | Outcome::Split
        | Outcome::NotAJoin(_)
        | Outcome::Forbidden(_)
        | Outcome::BothGates
        | Outcome::PassedButWhole => Vec::new(),
    }
}

/// A lower threshold helps only if the partition is larger than what AQE would cut it into.
fn lower_threshold(run: &Run, plan: &StagePlan<'_>, gates: &Gates) -> Option<String> {
    const SMALLEST_MIB: f64 = 32.0;
    if gates.largest < SMALLEST_MIB * MIB {
        return None;
    }
    let mut lower = SMALLEST_MIB / 2.0;
    while lower * 2.0 * MIB < gates.largest {
        lower *= 2.0;
    }
    let advisory = in_force(run, plan.execution, ADVISORY)?;
    let pieces = if advisory.bytes()? * 2.0 > gates.largest {
        format!(
            " and {ADVISORY} to {:.0}m (now {}, {}), the size of the pieces",
            lower / 2.0,
            advisory.value,
            advisory.origin
        )
    } else {
        String::new()
    };
    Some(format!(
        "Lower {THRESHOLD} to {lower:.0}m (now {}, {}){pieces}",
        gates.threshold.value, gates.threshold.origin
    ))
}

/// The side of a join that is small enough to broadcast.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Side {
    /// 0 for the left side, 1 for the right.
    pub(super) index: usize,
    /// Measured in memory.
    pub(super) bytes: f64,
    /// The other side, measured.
    pub(super) other_bytes: f64,
    /// Below this it counts as small.
    pub(super) limit: f64,
    /// `spark.sql.autoBroadcastJoinThreshold is -1 (set in this run)`.
    pub(super) threshold: String,
    off: bool,
}

impl Side {
    /// `left` or `right`.
    pub(super) fn name(&self) -> &'static str {
        if self.index == 0 { "left" } else { "right" }
    }

    /// What to do.
    pub(super) fn advice(&self) -> String {
        let off = if self.off { format!("; {}", self.threshold) } else { String::new() };
        format!(
            "Broadcast the {} side with F.broadcast: it was {} in memory, and no shuffle is left to skew{off}",
            self.name(),
            bytes(self.bytes)
        )
    }
}

/// The side of a sort-merge join that was measured under the threshold in force or under `least` bytes, if the join type
/// allows to broadcast it; the smaller of two.
pub(super) fn small_side(run: &Run, plan: &StagePlan<'_>, kind: &str, least: f64) -> Option<Side> {
    let key = "spark.sql.autoBroadcastJoinThreshold";
    let now = in_force(run, plan.execution, key)?;
    let threshold = now.bytes();
    let limit = threshold.unwrap_or(0.0).max(least);
    let sides: &[usize] = match kind {
        "Inner" | "Cross" => &[1, 0],
        "LeftOuter" | "LeftSemi" | "LeftAnti" => &[1],
        "RightOuter" => &[0],
        _ => &[],
    };
    let [left, right] = plan.reads.as_slice() else { return None };
    let execution = run.executions.get(&plan.execution?)?;
    let size = |exchange| execution.node_metric(run, exchange, "data size").filter(|&size| size > 0);
    let sizes = [size(left)? as f64, size(right)? as f64];
    let &index = sides.iter().filter(|&&side| sizes[side] < limit).min_by(|&&a, &&b| sizes[a].total_cmp(&sizes[b]))?;
    Some(Side {
        index,
        bytes: sizes[index],
        other_bytes: sizes[1 - index],
        limit,
        threshold: format!("{key} is {} ({})", now.value, now.origin),
        off: threshold.is_some_and(|bytes| bytes <= 0.0),
    })
}

/// Smaller partitions, for tasks that hold too much at once; not where there are too many tasks already.
pub(super) fn for_smaller_partitions(
    context: &RunContext<'_>,
    view: &StageView<'_>,
    plan: &StagePlan<'_>,
) -> Vec<String> {
    if tiny_partitions::is_tiny(context, view) {
        return vec![format!(
            "See {} first: the stage has too many tasks, not too few",
            tiny_partitions::TINY_PARTITIONS.name
        )];
    }
    for_partitions(context.run, plan, true)
}

/// A larger heap for the JVM that runs the tasks. Not for skewed stages.
pub(super) fn more_heap(run: &Run) -> String {
    let local = run.conf.get("spark.master").is_some_and(|master| master.starts_with("local"));
    let key = if local { "spark.driver.memory" } else { "spark.executor.memory" };
    let now = in_force(run, None, key).map(|now| format!(" (now {}, {})", now.value, now.origin)).unwrap_or_default();
    format!("Raise {key}{now} if the data held at once cannot be made smaller, or give each JVM fewer cores")
}

/// The lever that decides how many tasks a stage has. Not for skewed stages.
pub(super) fn for_partitions(run: &Run, plan: &StagePlan<'_>, more: bool) -> Vec<String> {
    let direction = if more { "Raise" } else { "Lower" };
    if plan.untold {
        return vec![format!(
            "{direction} the number of partitions; which setting or call decides it stands in the plan, which is not told"
        )];
    }
    match plan.user_partitions() {
        Some(user @ UserPartitions::Coalesce(_)) if more => {
            return vec![format!(
                "Replace {user}: it makes everything before it in this stage run in as many tasks; repartition keeps that parallel"
            )];
        }
        Some(user) => return vec![format!("Change {user} in the code: it fixes the number of tasks here")],
        None => {}
    }
    if plan.execution.is_none() {
        return vec![format!(
            "{direction} the number of partitions where the RDD is made (numSlices, minPartitions or repartition)"
        )];
    }
    if plan.reads.is_empty() {
        if ["Range", "LocalTableScan", "Scan ExistingRDD"].iter().any(|name| plan.has(name)) {
            return vec![format!(
                "{direction} the number of partitions where the rows are made (spark.range, parallelize, or repartition after it)"
            )];
        }
        let key = "spark.sql.files.maxPartitionBytes";
        let now = in_force(run, plan.execution, key).map(|now| format!(" (now {}, {})", now.value, now.origin));
        let (verb, now) = (if more { "Lower" } else { "Raise" }, now.unwrap_or_default());
        return vec![format!(
            "{verb} {key}{now} if this reads files; shuffle.partitions has no part in a stage without a shuffle"
        )];
    }
    if plan.coalesced_by_aqe() {
        return for_coalesced(run, plan, more);
    }
    let initial = "spark.sql.adaptive.coalescePartitions.initialPartitionNum";
    let key = match in_force(run, plan.execution, initial) {
        Some(_) => initial,
        None => "spark.sql.shuffle.partitions",
    };
    let now = in_force(run, plan.execution, key).map(|now| format!(" (now {}, {})", now.value, now.origin));
    let now = now.unwrap_or_default();
    vec![format!("{direction} {key}{now}")]
}

/// AQE merged: the number of shuffle partitions is not the lever.
fn for_coalesced(run: &Run, plan: &StagePlan<'_>, more: bool) -> Vec<String> {
    let mut advice = Vec::new();
    let parallelism_first = "spark.sql.adaptive.coalescePartitions.parallelismFirst";
    if more
        && let Some(now) = in_force(run, plan.execution, parallelism_first).filter(|now| now.boolean() == Some(false))
    {
        advice.push(format!(
            "Set {parallelism_first}=true (now false, {}): AQE then keeps at least one task per core",
            now.origin
        ));
    }
    if let Some(now) = in_force(run, plan.execution, ADVISORY) {
        let verb = if more { "Lower" } else { "Raise" };
        advice.push(format!("{verb} {ADVISORY} (now {}, {}): AQE merged the partitions", now.value, now.origin));
    }
    advice
}

/// For tasks that are slow without more data: speculation with this version's numbers, and when it cannot help.
pub(super) fn for_slow_tasks(run: &Run, view: &StageView<'_>) -> Vec<String> {
    if on_one_host(view) {
        return vec!["Speculation cannot help here: all executors are on one host".to_owned()];
    }
    let setting = |key| in_force(run, None, key);
    let mut advice = Vec::new();
    let quantile = setting("spark.speculation.quantile");
    let multiplier = setting("spark.speculation.multiplier");
    let on = setting("spark.speculation").and_then(|value| value.boolean());
    if let (Some(quantile), Some(multiplier)) = (quantile, multiplier) {
        let rule = format!(
            "a task of more than {} x the median gets a copy once {} of the tasks are done (spark.speculation.multiplier {}, {}; spark.speculation.quantile {}, {})",
            multiplier.value,
            quantile.number().map_or_else(|| quantile.value.clone(), super::words::percent),
            multiplier.value,
            multiplier.origin,
            quantile.value,
            quantile.origin,
        );
        match on {
            Some(true) => advice.push(format!("Speculation is on already: {rule}; see whether it reached this stage")),
            _ => advice.push(format!("Set spark.speculation=true: {rule}")),
        }
        if on != Some(true) {
            advice.push(
                "Do not speculate on stages that write to a sink which is not idempotent: a task may run twice"
                    .to_owned(),
            );
        }
        advice.extend(late_speculation(run, view, quantile.number()));
    } else if on != Some(true) {
        advice.push("Set spark.speculation=true: slow tasks get a copy on another executor".to_owned());
    }
    advice
}

fn on_one_host(view: &StageView<'_>) -> bool {
    let tasks = view.tasks();
    let mut hosts = view.rows.iter().map(|row| tasks.host_of(row));
    hosts.next().is_none_or(|first| hosts.all(|host| host == first))
}

/// When speculation starts too late in this stage, or not at all.
fn late_speculation(run: &Run, view: &StageView<'_>, quantile: Option<f64>) -> Option<String> {
    let least = in_force(run, None, "spark.speculation.minTaskRuntime").and_then(|least| least.milliseconds());
    if least.is_some_and(|least| view.max_ms() < least) {
        return Some("Its tasks are below spark.speculation.minTaskRuntime: none gets a copy".to_owned());
    }
    let slow =
        view.durations().into_iter().filter(|&duration| duration as f64 >= 2.0 * view.median_ms()).count() as f64;
    let quantile = quantile?;
    (slow > (1.0 - quantile) * view.count() as f64).then(|| {
        format!(
            "It starts late here: {slow:.0} of {} tasks are slow, and {} must have ended first",
            view.count(),
            super::words::percent(quantile)
        )
    })
}
