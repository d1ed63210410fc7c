//! The latest row of a group by a join with the group's maximum.

use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Join, JoinCondition, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A frame joined with its own maximum (or minimum) by group, to keep the latest (or earliest) rows.
    ///
    /// ## Why
    /// The frame is computed twice, aggregated, and shuffled twice more for the join. A window finds the row in one shuffle, and
    /// `max_by` does in one aggregation; both keep one row where two tie.
    ///
    /// ## Silent when
    /// - the aggregate has other columns as well;
    /// - the join is by the group alone, so that each row gets its group's maximum;
    /// - the aggregate is of another frame.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// prices = spark.table("shop.prices")
    /// latest = prices.groupBy("product").agg(F.max("day").alias("day"))
    /// current = prices.join(latest, ["product", "day"])  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, Window, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// prices = spark.table("shop.prices")
    /// by_day = Window.partitionBy("product").orderBy(F.desc("day"))
    /// current = prices.withColumn("n", F.row_number().over(by_day)).filter("n = 1").drop("n")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select-window.html>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.functions.max_by.html>
    pub SELF_JOIN_FOR_LATEST = {
        name: "self-join-for-latest", group: Joins, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

/// Between the frame that is joined and the one that is aggregated stand some filters and renames.
const MOST_STEPS: usize = 32;

fn check(cx: &mut CodeContext<'_>) {
    for node in &cx.plan.nodes {
        let (Operator::Join(join), Some(site), [left, right]) = (&node.operator, &node.site, &node.inputs[..]) else {
            continue;
        };
        let extreme = [(*left, *right), (*right, *left)].into_iter().find_map(|(rows, of)| extreme(cx, join, rows, of));
        let Some(function) = extreme.filter(|_| matches!(join.kind.as_deref(), Some("inner" | "left_semi"))) else {
            continue;
        };
        let message = format!(
            "This joins a frame with its own {function} by group: the frame is computed twice and shuffled again for the join. row_number() over a window by the group, or {function}_by, finds the rows in one pass."
        );
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Information, site.method, message));
    }
}

/// `max` or `min`, if a side is nothing but that of the other side's groups, and the join is by more than the group.
fn extreme<'a>(cx: &CodeContext<'a>, join: &Join, rows: NodeId, side: NodeId) -> Option<&'a str> {
    let plan = cx.plan;
    let aggregate =
        *path(plan, side).iter().find(|&&id| matches!(plan.node(id).operator, Operator::Aggregate { .. }))?;
    let node = plan.node(aggregate);
    let Operator::Aggregate { keys, grouped: true, pivot: None } = &node.operator else { return None };
    let by = match &join.condition {
        JoinCondition::Using(names) => names.len(),
        JoinCondition::Equality => join.terms.len(),
        _ => return None,
    };
    let mut functions = plan.functions.iter().filter(|call| call.used_in.contains(&aggregate));
    let (Some(only), None) = (functions.next(), functions.next()) else { return None };
    let is_one = node.site.as_ref().is_some_and(|site| site.args.len() == 1);
    let is_same = path(plan, rows).contains(node.inputs.first()?);
    (matches!(only.name.as_str(), "max" | "min") && is_one && is_same && by > keys.len()).then_some(only.name.as_str())
}

/// A frame and what it is computed from, as long as each step has one input, and not too far up.
fn path(plan: &StaticPlan, id: NodeId) -> Vec<NodeId> {
    let mut path = vec![id];
    while let Some(&at) = path.last()
        && let [input] = plan.node(at).inputs[..]
        && path.len() < MOST_STEPS
    {
        path.push(input);
    }
    path
}
