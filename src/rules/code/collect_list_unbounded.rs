//! All values of a group, or of a frame, in one row.

use super::lineage::readers;
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::api;
use crate::pyspark::plan::{NodeId, Operator, RowBound};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// `collect_list` or `collect_set` of all rows, or of groups that are exploded again.
    ///
    /// ## Why
    /// The list of a group is one value of one row: it has to fit into the memory of one task, and can't be split or spilled. A hot key
    /// is then an out-of-memory error. Where the list is exploded right after, the rows that went in come out again, after a shuffle of
    /// them all.
    ///
    /// ## Silent when
    /// - the frame is small by the code: a limit, an aggregation, distinct values, or comes from elsewhere;
    /// - the lists of the groups are kept.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// pages = visits.groupBy("visitor").agg(F.collect_list("page").alias("pages"), F.count("page").alias("n"))  # finding
    /// visits = pages.select("visitor", "n", F.explode("pages").alias("page"))
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, Window, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// visits = visits.withColumn("n", F.count("page").over(Window.partitionBy("visitor")))
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.functions.collect_list.html>
    pub COLLECT_LIST_UNBOUNDED = {
        name: "collect-list-unbounded", group: Windows, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for call in &cx.plan.functions {
        let collects = api::function(&call.name).is_some_and(|function| function.collects);
        if !collects || call.over.is_some() {
            continue;
        }
        let Some((severity, message)) = call.used_in.iter().find_map(|&id| judge(cx, &call.name, id)) else { continue };
        cx.shared.report(Finding::new(cx.shared.rule, severity, call.method, message));
    }
}

fn judge(cx: &CodeContext<'_>, name: &str, id: NodeId) -> Option<(Severity, String)> {
    let node = cx.plan.node(id);
    let input = *node.inputs.first()?;
    if cx.plan.bound(input) != RowBound::Unbounded {
        return None;
    }
    let severity = Severity::Information;
    match node.operator {
        Operator::Aggregate { grouped: false, .. } | Operator::Project { only_aggregates: true, .. } => {
            let instead =
                if name == "collect_set" { "select(...).distinct() keeps them in rows" } else { "keep them in rows" };
            Some((
                severity,
                format!(
                    "{name} without groupBy puts the values of all rows into one value of one row, in the memory of one task: {instead}."
                ),
            ))
        }
        Operator::Aggregate { grouped: true, .. } if is_exploded(cx.plan, id) => Some((
            severity,
            format!(
                "{name} builds one list a group, in the memory of one task, and the lists are exploded again below: the same rows come out. Use a window over the key, or join the aggregate to the rows."
            ),
        )),
        _ => None,
    }
}

/// Whether the groups are exploded again, some steps later.
fn is_exploded(plan: &StaticPlan, id: NodeId) -> bool {
    let mut at = id;
    for _ in 0..plan.nodes.len() {
        let mut next = readers(plan, at);
        let (Some(only), None) = (next.next(), next.next()) else { return false };
        match plan.node(only).operator {
            Operator::Project { explodes: true, .. } => return true,
            Operator::Filter { .. } | Operator::Project { .. } | Operator::WithColumns | Operator::Cache => at = only,
            _ => return false,
        }
    }
    false
}
