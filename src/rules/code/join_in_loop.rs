//! A plan that doubles or joins once more in each turn.

use super::shape::{Growth, growths, has_many_turns, is_all_given, is_cut, is_hinted, turns};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{LoopOver, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// `df = df.join(...)` in a loop: a join more in the plan each turn.
    ///
    /// ## Why
    /// Nothing runs in the loop: the plan grows by a join (two shuffles) a turn, is analysed again in each, and all of it runs at the
    /// first action behind. An iterative algorithm computes its first turn again in every later one; a union of a frame with what is
    /// derived from it doubles the plan each turn, so that twenty turns are a million scans.
    ///
    /// ## Silent when
    /// - the loop has at most 3 literal items, leaves in its first turn, or is a retry;
    /// - the body cuts the plan with `checkpoint` or `localCheckpoint`, or goes through an RDD;
    /// - the frame is a new one in each turn;
    /// - a union only adds frames that don't depend on the loop's variable (`union-in-loop`).
    ///
    /// Small sides with the broadcast hint, up to 10 literal items, `reduce`, and frames that all come from elsewhere make it
    /// information.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// features = spark.table("ml.customers")
    /// for name in spark.conf.get("job.tables").split(","):
    ///     features = features.join(spark.table(name), "customer_id", "left")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// features = spark.table("ml.customers")
    /// for name in spark.conf.get("job.tables").split(","):
    ///     features = features.join(spark.table(name), "customer_id", "left")
    ///     features = features.localCheckpoint()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.checkpoint.html>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.localCheckpoint.html>
    pub JOIN_IN_LOOP = {
        name: "join-in-loop", group: Plan, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("max-turns", 3.0, "loops over at most this many literal items are left alone")],
        check: Code(check),
    }
}

/// As many joins as people write below each other.
const SOME_TURNS: u64 = 10;

fn check(cx: &mut CodeContext<'_>) {
    let mut grown = growths(cx.plan, |node| matches!(node.operator, Operator::Join(_) | Operator::Union { .. }));
    grown.sort_by_key(|growth| std::cmp::Reverse(dependent_sides(cx.plan, growth)));
    let mut reported: Vec<NodeId> = Vec::new();
    for growth in grown {
        let is_known = reported.contains(&growth.variable) || cx.plan.is_repeat(growth.node);
        if !is_known && let Some(finding) = judge(cx, growth) {
            reported.push(growth.variable);
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, growth: Growth) -> Option<Finding> {
    let Growth { inside, node: id, .. } = growth;
    let node = cx.plan.node(id);
    let looped = cx.plan.loop_(inside);
    let site = node.site.as_ref()?;
    let joins = matches!(node.operator, Operator::Join(_));
    let sides = dependent_sides(cx.plan, &growth);
    if !(joins || sides > 1) || !has_many_turns(looped, cx.shared.option("max-turns")) || is_cut(cx.plan, growth) {
        return None;
    }
    let is_small = joins && node.inputs.iter().any(|&side| is_hinted(cx.plan, side));
    let is_bounded = matches!(looped.over, LoopOver::Literal(turns) if turns <= SOME_TURNS) && sides < 2;
    let softer = is_small || is_bounded || looped.comprehension || is_all_given(cx.plan, id) || node.conditional;
    let severity = if softer { Severity::Information } else { Severity::Warning };
    let method = site.method.of(cx.shared.text);
    let cost = match (joins, sides) {
        (_, 2..) => "reads the frame of the turn before on both sides, so the plan doubles in",
        (true, _) => "puts one more join on the plan in",
        (false, _) => "puts one more union on the plan in",
    };
    let advice = match sides {
        2.. => "Cut it with localCheckpoint() or checkpoint() in the loop.",
        _ => "Cut it with localCheckpoint() every few turns, or ask for all columns in one aggregation or one join.",
    };
    let message = format!(
        "{method} {cost} {} of this loop, and nothing runs until the first action behind it, which then computes all turns. {advice}",
        turns(looped)
    );
    let finding = Finding::new(cx.shared.rule, severity, site.method, message).with_related(looped.header, "the loop");
    Some(finding.with_fixes(templates::checkpoint_after(cx.shared.text, site, !looped.comprehension)))
}

/// How many sides go back to the loop's variable.
fn dependent_sides(plan: &StaticPlan, growth: &Growth) -> usize {
    plan.node(growth.node).inputs.iter().filter(|&&side| plan.upstream(side).contains(&growth.variable)).count()
}
