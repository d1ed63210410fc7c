//! A sort whose order nothing keeps.

use super::shape::{acted_on, called, is_narrow};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::api::{self, Function};
use crate::pyspark::plan::{ActionKind, NodeId, Operator, Write};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// `orderBy` before a step that shuffles the rows again.
    ///
    /// ## Why
    /// A global sort samples its input, shuffles and sorts it; a `groupBy`, a join, a `repartition` or another `orderBy` behind it
    /// distributes the rows anew, and the order is gone. At best the optimizer drops the sort, at worst it is a pass, a shuffle and a
    /// sort for nothing.
    ///
    /// ## Silent when
    /// - something takes the rows in order: `limit`, an action, a write, a Python function, an RDD, a view;
    /// - an aggregate depends on the order as people hope (`first`, `collect_list`), or `dropDuplicates` does;
    /// - a window follows, or row ids are made of it (`monotonically_increasing_id`);
    /// - it is `sortWithinPartitions`.
    ///
    /// A sort right before a write of columnar files may be meant as their layout: there it is a hint.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders").orderBy("day")  # finding
    /// totals = orders.groupBy("shop").sum("total")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// totals = orders.groupBy("shop").sum("total")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.sort.html>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.sortWithinPartitions.html>
    pub LOST_SORT = {
        name: "lost-sort", group: Plan, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let acted = acted_on(cx.plan);
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let (Operator::Sort { global: true }, Some(site)) = (&node.operator, &node.site) else { continue };
        if cx.plan.is_repeat(id) {
            continue;
        }
        if let Some(loser) = loser(cx, &acted, id) {
            let (what, at) = loser;
            let method = site.method.of(cx.shared.text);
            let message = format!(
                "The order of this {method} is lost in the {what} behind it, which distributes the rows anew: at best the optimizer drops the sort, at worst it is a shuffle and a sort for nothing. Remove it, or sort behind."
            );
            let finding = Finding::new(cx.shared.rule, Severity::Information, called(site), message);
            let finding = match &cx.plan.node(at).site {
                Some(at) => finding.with_related(at.method, format!("the {what}")),
                None => finding,
            };
            cx.shared.report(finding.with_fixes(templates::without_call(cx.shared.text, site)));
        } else if is_layout(cx.plan, id) {
            let message = format!(
                "{} sorts all rows before a write: it samples the input and shuffles it by ranges. sortWithinPartitions behind a repartition by the key gives files the same narrow ranges of values without the pass.",
                site.method.of(cx.shared.text)
            );
            let fix = templates::sort_within_partitions(cx.shared.text, site);
            cx.shared.report(Finding::new(cx.shared.rule, Severity::Hint, site.method, message).with_fixes(fix));
        }
    }
}

/// The first step that loses the order, if all that reads the sort does.
fn loser(cx: &CodeContext<'_>, acted: &[bool], sort: NodeId) -> Option<(&'static str, NodeId)> {
    let plan = cx.plan;
    let mut open = vec![sort];
    let mut seen = Vec::new();
    let mut found = None;
    while let Some(id) = open.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        if acted[id.0 as usize] || (id != sort && plan.node(id).cached) || is_handed_on(cx, id) {
            return None;
        }
        for &consumer in &plan.consumers[id.0 as usize] {
            let node = plan.node(consumer);
            let uses = |depends: fn(Function) -> bool| {
                let mut used = plan.functions.iter().filter(|call| call.used_in.contains(&consumer));
                used.any(|call| api::function(&call.name).is_some_and(depends))
            };
            let what = match &node.operator {
                Operator::Aggregate { grouped: true, .. } if !uses(|function| function.by_order) => "aggregation",
                Operator::Join(_) if !super::shape::is_broadcast(plan, node) => "join",
                Operator::Repartition { .. } => "repartition",
                Operator::Sort { global: true } => "sort",
                operator if is_narrow(operator) && !uses(|function| function.by_place) => {
                    open.push(consumer);
                    continue;
                }
                _ => return None,
            };
            found = found.or(Some((what, consumer)));
        }
    }
    found
}

/// Whether a function returns the frame, so that others may read it in order.
fn is_handed_on(cx: &CodeContext<'_>, id: NodeId) -> bool {
    let names = cx.plan.bindings.iter().filter(|binding| binding.node == id);
    names.into_iter().any(|binding| {
        let scope = cx.plan.scope(binding.scope);
        let is_return = |line: &str| {
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            matches!(words.first(), Some(&("return" | "yield"))) && words[1..].contains(&binding.name.as_str())
        };
        !scope.name.is_empty() && scope.span.of(cx.shared.text).lines().any(|line| is_return(line.trim_start()))
    })
}

/// Whether nothing but writes of columnar files read the sort.
fn is_layout(plan: &StaticPlan, sort: NodeId) -> bool {
    let columnar =
        |write: &Write| matches!(write.format.as_deref(), Some("parquet" | "orc" | "delta" | "iceberg" | "hudi"));
    let mut reads = plan.actions.iter().filter(|action| action.input == Some(sort)).peekable();
    plan.consumers[sort.0 as usize].is_empty()
        && reads.peek().is_some()
        && reads.all(|action| matches!(&action.kind, ActionKind::Write(write) if columnar(write) && write.partition_by.is_empty()))
}
