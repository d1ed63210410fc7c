//! Distinct values counted exactly.

use std::collections::BTreeMap;

use super::lineage::is_generated;
use crate::declare_rule;
use crate::pyspark::api::Step;
use crate::pyspark::plan::{ActionKind, FunctionCall, NodeId, Operator, RowBound};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// An exact number of distinct values, where an estimate may do.
    ///
    /// ## Why
    /// `distinct().count()` shuffles every distinct row. Several `count_distinct` in one aggregation are worse: Spark copies each row
    /// once for each of them before the shuffle. `approx_count_distinct` needs one pass and a few kilobytes a group, with a
    /// relative standard deviation of 5 % by default.
    ///
    /// ## Silent when
    /// - few rows come in;
    /// - the distinct rows have a name, under which they may be used for more;
    /// - one `count_distinct` stands alone in its aggregation;
    /// - the number is compared with another count: a check for duplicates has to be exact;
    /// - the file is a test.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// customers = orders.select("customer").distinct().count()  # finding
    /// both = orders.groupBy("day").agg(
    ///     F.count_distinct("customer"),
    ///     F.count_distinct("product"),  # finding
    /// )
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// both = orders.groupBy("day").agg(
    ///     F.approx_count_distinct("customer"),
    ///     F.approx_count_distinct("product", rsd=0.01),
    /// )
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.functions.approx_count_distinct.html>
    pub EXACT_DISTINCT_COUNT = {
        name: "exact-distinct-count", group: Driver, severity: Hint, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    by_action(cx);
    by_function(cx);
}

/// `distinct().count()`.
fn by_action(cx: &mut CodeContext<'_>) {
    for action in cx.plan.actions.iter().filter(|action| action.kind == ActionKind::Count && !action.on_rdd) {
        let Some(input) = action.input.filter(|_| !cx.plan.scope(action.scope).is_test) else { continue };
        let node = cx.plan.node(input);
        let Some(site) = node.site.as_ref().filter(|_| node.operator == Operator::Distinct && !node.cached) else {
            continue;
        };
        let is_distinct = site.step(cx.shared.text) == Some(Step::Distinct);
        let from = node.inputs.first().is_some_and(|&from| has_many_rows(cx, from));
        let statement = action.site.statement.of(cx.shared.text);
        if !is_distinct
            || !from
            || site.call != action.site.receiver
            || compares_counts(statement)
            || !action.uses.emptiness.is_empty()
        {
            continue;
        }
        let message = "Counting distinct rows exactly shuffles every one of them. If an estimate will do, agg(F.approx_count_distinct(…)) needs one pass, with a standard deviation of 5 % by default.";
        let finding = Finding::new(cx.shared.rule, Severity::Hint, site.method, message);
        cx.shared.report(finding);
    }
}

/// `df.count() == df.distinct().count()` and the like.
fn compares_counts(statement: &str) -> bool {
    statement.matches(".count()").count() > 1 || ["==", "!=", " - "].iter().any(|operator| statement.contains(operator))
}

/// Several `count_distinct` in one aggregation.
fn by_function(cx: &mut CodeContext<'_>) {
    let mut by_node: BTreeMap<NodeId, Vec<&FunctionCall>> = BTreeMap::new();
    let is_exact = |call: &&FunctionCall| matches!(call.name.as_str(), "countDistinct" | "count_distinct");
    for call in cx.plan.functions.iter().filter(is_exact) {
        for &node in &call.used_in {
            by_node.entry(node).or_default().push(call);
        }
    }
    let mut reported = Vec::new();
    for (node, mut calls) in by_node {
        calls.sort_by_key(|call| call.call);
        calls.dedup_by_key(|call| call.call);
        let is_aggregate = matches!(
            cx.plan.node(node).operator,
            Operator::Aggregate { .. } | Operator::Project { only_aggregates: true, .. }
        );
        let from = cx.plan.node(node).inputs.first().is_some_and(|&from| has_many_rows(cx, from));
        let Some(second) = calls.get(1).filter(|_| is_aggregate && from) else { continue };
        if reported.contains(&second.method) || cx.plan.scope(second.scope).is_test {
            continue;
        }
        reported.push(second.method);
        let message = format!(
            "{} exact distinct counts in one aggregation: Spark copies each row {} times before the shuffle. If estimates will do, F.approx_count_distinct needs no copies.",
            calls.len(),
            calls.len(),
        );
        let fix = templates::estimated_counts(cx.plan, cx.shared.text, &calls);
        let finding = Finding::new(cx.shared.rule, Severity::Hint, second.method, message).with_fixes(fix);
        cx.shared.report(finding);
    }
}

fn has_many_rows(cx: &CodeContext<'_>, frame: NodeId) -> bool {
    matches!(cx.plan.bound(frame), RowBound::Unbounded | RowBound::Unknown) && !is_generated(cx.plan, frame)
}
