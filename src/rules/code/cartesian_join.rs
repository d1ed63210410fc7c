//! A join of every row with every row.

use super::lineage::is_given;
use super::sides::{has_condition_later, is_small};
use crate::declare_rule;
use crate::pyspark::plan::{CallSite, JoinCondition, NodeId, Operator, RowBound};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A join without a condition: every row meets every row.
    ///
    /// ## Why
    /// The result has as many rows as the sides multiplied: a million times a million is a million million. Spark has no key to shuffle
    /// by and pairs every partition with every partition.
    ///
    /// ## Silent when
    /// - one side is small by the code: `spark.range(k)`, literal data, an exploded sequence, an aggregate without keys, a limit;
    /// - one side is broadcast: then somebody thought of it;
    /// - a filter with an equality follows, which Spark's optimizer makes the condition;
    /// - it is no join of frames: `os.path.join`, `",".join`.
    ///
    /// `crossJoin` and `how="cross"` are written on purpose: information where a side's size isn't known.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// shops = spark.table("shop.shops")
    /// pairs = orders.join(shops)  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// shops = spark.table("shop.shops")
    /// pairs = orders.join(shops, "shop_id")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select-join.html#cross-join>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.crossJoin.html>
    pub CARTESIAN_JOIN = {
        name: "cartesian-join", group: Joins, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("max-copies", 1000.0, "silent if one side has at most this many rows")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let few = cx.shared.option("max-copies");
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let (Operator::Join(join), Some(site), [left, right]) = (&node.operator, &node.site, &node.inputs[..]) else {
            continue;
        };
        let on_purpose = match join.condition {
            JoinCondition::Missing => false,
            JoinCondition::Cross => true,
            _ => continue,
        };
        let sides = [*left, *right];
        if sides.iter().any(|&side| is_small(cx.plan, side, few)) || has_condition_later(cx.plan, cx.shared.text, id) {
            continue;
        }
        let finding = judge(cx, site, sides, on_purpose);
        cx.shared.report(finding);
    }
}

fn judge(cx: &CodeContext<'_>, site: &CallSite, sides: [NodeId; 2], on_purpose: bool) -> Finding {
    let known = !sides.iter().any(|&side| is_given(cx.plan, side));
    let large = |&side: &NodeId| cx.plan.bound(side) == RowBound::Unbounded;
    let severity =
        if known && (!on_purpose || sides.iter().all(large)) { Severity::Warning } else { Severity::Information };
    let method = match site.method.of(cx.shared.text) {
        "," => "comma between tables",
        method => method,
    };
    let (hint, keys) = if site.is_sql() { ("a BROADCAST hint", "ON or WHERE") } else { ("broadcast()", "on=") };
    let message = if on_purpose {
        format!(
            "This {method} pairs every row of one side with every row of the other: the result is the product of both. If one side is small, say so with {hint}; else join by a key."
        )
    } else {
        format!(
            "This {method} has no condition, so every row of one side meets every row of the other: the result is the product of both. Name the keys with {keys}."
        )
    };
    Finding::new(cx.shared.rule, severity, site.method, message)
}
