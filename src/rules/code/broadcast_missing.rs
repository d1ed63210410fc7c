//! A small side that is shuffled because Spark may not broadcast.

use super::sides::{hint, is_small};
use crate::declare_rule;
use crate::pyspark::plan::{JoinCondition, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity, in_force, templates};

declare_rule! {
    /// A join with a side that is small by the code, while automatic broadcasts are switched off.
    ///
    /// ## Why
    /// Spark sends a small side to every executor on its own, and then the large side isn't moved at all. With
    /// `spark.sql.autoBroadcastJoinThreshold = -1` it never does: both sides are shuffled and sorted for a handful of rows.
    ///
    /// ## Silent when
    /// - automatic broadcasts are on, whatever the threshold: then Spark decides by sizes;
    /// - the adaptive threshold is set on its own;
    /// - a side has a hint, or the join type can't build the small side.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.config("spark.sql.autoBroadcastJoinThreshold", "-1").getOrCreate()  # sparkls: ignore[broadcast-threshold]
    /// orders = spark.table("shop.orders")
    /// rates = spark.createDataFrame([("EUR", 1.0), ("USD", 0.9)], ["currency", "rate"])
    /// priced = orders.join(rates, "currency")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.config("spark.sql.autoBroadcastJoinThreshold", "-1").getOrCreate()  # sparkls: ignore[broadcast-threshold]
    /// orders = spark.table("shop.orders")
    /// rates = spark.createDataFrame([("EUR", 1.0), ("USD", 0.9)], ["currency", "rate"])
    /// priced = orders.join(F.broadcast(rates), "currency")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#automatically-broadcasting-joins>
    pub BROADCAST_MISSING = {
        name: "broadcast-missing", group: Joins, severity: Information, confidence: Documented,
        since: "0.1.0",
        options: [("max-rows", 10_000.0, "a side of at most this many rows is small")],
        check: Code(check),
    }
}

const THRESHOLD: &str = "spark.sql.autoBroadcastJoinThreshold";
const ADAPTIVE: &str = "spark.sql.adaptive.autoBroadcastJoinThreshold";

fn check(cx: &mut CodeContext<'_>) {
    let is_off = |key| cx.shared.conf.get(key).value.is_some_and(|value| value.trim().starts_with('-'));
    let adapts = cx.shared.conf.get(ADAPTIVE).value.is_some_and(|value| !value.trim().starts_with('-'));
    if !is_off(THRESHOLD) || adapts {
        return;
    }
    let few = cx.shared.option("max-rows");
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let (Operator::Join(join), Some(site), [left, right]) = (&node.operator, &node.site, &node.inputs[..]) else {
            continue;
        };
        let has_key = matches!(join.condition, JoinCondition::Using(_) | JoinCondition::Equality);
        let side = match join.kind.as_deref() {
            Some("right") => left,
            Some("inner" | "left" | "left_semi" | "left_anti") => right,
            _ => continue,
        };
        let is_hinted = [left, right].iter().any(|&&side| hint(cx.plan, side).is_some());
        if !has_key || is_hinted || !is_small(cx.plan, *side, few) {
            continue;
        }
        let value = in_force::in_force(cx.shared.conf, THRESHOLD).unwrap_or_else(|| "-1".to_owned());
        let message = format!(
            "One side of this join has a few rows, but {THRESHOLD} = {value} keeps Spark from broadcasting it, so both sides are shuffled and sorted. Put broadcast() around it."
        );
        let fix = templates::broadcast(cx.plan, cx.shared.text, cx.shared.conf, NodeId(index as u32));
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Information, site.method, message).with_fixes(fix));
    }
}
