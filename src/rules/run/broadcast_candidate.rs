//! Sort-merge joins with a small side.

use super::advice::{Side, small_side};
use super::stage_plan::{Operator, StagePlan};
use super::view::StageView;
use super::words::{MIB, bytes};
use super::{on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, State, Verdict};
use crate::run::model::PlanNode;

declare_rule! {
    /// A sort-merge join of which one side was measured small enough to broadcast.
    ///
    /// ## Why
    /// A sort-merge join shuffles and sorts both sides. Where one of them fits into a broadcast, the other needs neither.
    /// Spark decides by its estimate before the run; the shuffle measured what the side really was. A side counts as small
    /// below the threshold in force, or below 10 MiB, and only if the join type allows to broadcast it.
    ///
    /// What it costs is the time that the log has for it: sorting, writing the shuffle of the other side, waiting for it.
    ///
    /// ## Silent when
    /// - the join type needs the small side whole on both ends (a full outer join, the kept side of an outer join),
    /// - the sizes of the sides are not in the log.
    ///
    /// ## Example
    /// ```text
    /// the right side of this sort-merge join was 24.0 KiB: both sides were shuffled and sorted
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// orders.join(F.broadcast(stores), "store")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#join-strategy-hints-for-sql-queries>
    pub BROADCAST_CANDIDATE = {
        name: "broadcast-candidate", group: Run, severity: Information, confidence: Experimental,
        since: "0.1.0",
        options: [("mib", 10.0, "a side below this (MiB) counts whatever the threshold is")],
        check: Run(check),
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        if let Some(state) = view.skipped(&context.floors) {
            return Err(state);
        }
        let plan = view.plan();
        let kind = match plan.operator() {
            Operator::Join { kind, .. } if plan.has("SortMergeJoin") => kind,
            _ => return Err(State::NotApplicable("no sort-merge join".to_owned())),
        };
        let [left, right] = plan.reads.as_slice() else {
            return Err(State::NotApplicable("the sides of its join cannot be told apart".to_owned()));
        };
        let execution = plan.execution.and_then(|id| context.run.executions.get(&id));
        let recorded =
            |side: &PlanNode| execution.and_then(|one| one.node_metric(context.run, side, "data size")).is_some();
        if !recorded(left) || !recorded(right) {
            return Err(State::NotRecorded("data size of the shuffles".to_owned()));
        }
        let side = small_side(context.run, plan, &kind, context.option("mib") * MIB).ok_or(State::NotFired)?;
        Ok(describe(context, view, plan, &side))
    })
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, plan: &StagePlan<'_>, side: &Side) -> Verdict {
    let mut verdict = on_stage(context, view, Some(spent_seconds(context, view, plan, side)));
    verdict.message = format!(
        "the {} side of this sort-merge join was {}: both sides were shuffled and sorted",
        side.name(),
        bytes(side.bytes)
    );
    verdict.short = format!("{} side {}", side.name(), bytes(side.bytes));
    verdict.prove(
        "measured side",
        bytes(side.bytes),
        Some(format!("< {}", bytes(side.limit))),
        Some(side.threshold.clone()),
    );
    verdict.prove("other side", bytes(side.other_bytes), None, None);
    verdict
        .confounders
        .push("a broadcast is collected on the driver and held by every executor: the side must stay small".to_owned());
    verdict.advice = vec![side.advice()];
    verdict
}

/// Sorting in the stage, writing the other side's shuffle and waiting for it, spread over the stage's slots.
fn spent_seconds(context: &RunContext<'_>, view: &StageView<'_>, plan: &StagePlan<'_>, side: &Side) -> f64 {
    let run = context.run;
    let Some(execution) = plan.execution.and_then(|id| run.executions.get(&id)) else { return 0.0 };
    let metric = |node: &PlanNode, name: &str| execution.node_metric(run, node, name).unwrap_or(0).max(0) as f64;
    let sorted: f64 = plan.nodes.iter().filter(|node| node.name == "Sort").map(|node| metric(node, "sort time")).sum();
    let other = plan.reads.get(1 - side.index).map_or(0.0, |node| metric(node, "shuffle write time") / 1e6);
    let waited = view.sum(&view.tasks().fetch_wait).unwrap_or(0.0);
    (sorted + other + waited) / view.slots() as f64 / 1000.0
}
