//! A narrow coalesce behind a wide step.

use super::lineage::is_given;
use super::shape::{SHUFFLE_PARTITIONS, called, is_broadcast, is_narrow, shuffle_partitions};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{NodeId, Operator, RowBound};
use crate::rules::{CodeContext, Finding, Severity, in_force, templates};

declare_rule! {
    /// `coalesce(n)` behind a join, an aggregation or a Python function, which then runs in n tasks.
    ///
    /// ## Why
    /// `coalesce` adds no shuffle: it merges partitions inside the stage that makes them. The reduce side of the step before it
    /// therefore runs in n tasks as well, on n cores, with n times larger tasks that spill. `repartition(n)` costs one shuffle of the
    /// result, and the step keeps its tasks.
    ///
    /// ## Silent when
    /// - only filters and columns stand between a read and the `coalesce`;
    /// - n is not known, or at least half of `spark.sql.shuffle.partitions`, or 1 (`single-partition-write`);
    /// - few rows come in: a limit, an aggregate without keys, literal data;
    /// - a `repartition` stands before it (`redundant-repartition`);
    /// - the frame is cached in between, or an RDD's.
    ///
    /// After a `groupBy` or `distinct`, whose results are often small, it is a hint; after a sort, whose order `repartition` would
    /// lose, on frames from elsewhere, or under an `if`, information.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// shops = spark.read.parquet("s3a://lake/shops")
    /// joined = orders.join(shops, "shop_id")
    /// joined.coalesce(8).write.parquet("s3a://lake/joined")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// shops = spark.read.parquet("s3a://lake/shops")
    /// joined = orders.join(shops, "shop_id")
    /// joined.repartition(8).write.parquet("s3a://lake/joined")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.coalesce.html>
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#coalesce-hints-for-sql-queries>
    /// - <https://issues.apache.org/jira/browse/SPARK-32291> (a `coalesce` behind a join)
    pub COALESCE_AFTER_SHUFFLE = {
        name: "coalesce-after-shuffle", group: Partitions, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let most = shuffle_partitions(&cx.shared).unwrap_or(200);
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let (Operator::Coalesce { count: Some(count) }, Some(&input)) = (&node.operator, node.inputs.first()) else {
            continue;
        };
        if *count > 1
            && count * 2 < most
            && !cx.plan.is_repeat(id)
            && let Some(finding) = judge(cx, id, input, *count)
        {
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, id: NodeId, input: NodeId, count: i64) -> Option<Finding> {
    let node = cx.plan.node(id);
    let site = node.site.as_ref()?;
    let step = narrowed(cx.plan, input)?;
    let (what, by_step) = match cx.plan.node(step).operator {
        Operator::Join(_) => ("join", Severity::Warning),
        Operator::Window => ("window", Severity::Warning),
        Operator::Udf => ("Python function", Severity::Information),
        Operator::Sort { .. } => ("sort", Severity::Information),
        Operator::Distinct => ("deduplication", Severity::Hint),
        _ => ("aggregation", Severity::Hint),
    };
    let by_rows = match cx.plan.bound(input) {
        RowBound::Exactly(_) | RowBound::Small => return None,
        RowBound::ByGroups => Severity::Hint,
        RowBound::Unknown => Severity::Information,
        RowBound::Unbounded if is_given(cx.plan, input) || node.conditional => Severity::Information,
        RowBound::Unbounded => Severity::Warning,
    };
    let sorts = what == "sort";
    let tasks = match in_force::in_force(cx.shared.conf, SHUFFLE_PARTITIONS) {
        Some(value) if what != "Python function" => format!(" instead of up to {SHUFFLE_PARTITIONS} = {value}"),
        _ => String::new(),
    };
    let rebalance =
        if cx.shared.version().at_least(3, 2) { ", and the REBALANCE hint lets Spark choose the number" } else { "" };
    let instead = match sorts {
        true => "Fewer tasks for it are better asked for by the shuffle's own number of partitions.".to_owned(),
        false => format!("repartition({count}) keeps its tasks for one shuffle of the result{rebalance}."),
    };
    let written = called(site).of(cx.shared.text);
    let message =
        format!("{written} adds no shuffle, so the {what} before it runs in {count} tasks as well{tasks}. {instead}");
    let finding = Finding::new(cx.shared.rule, by_step.min(by_rows), called(site), message);
    let finding = match &cx.plan.node(step).site {
        Some(step) => finding.with_related(step.method, format!("the {what}")),
        None => finding,
    };
    let fix = templates::repartition(cx.plan, cx.shared.text, id).filter(|_| !sorts && !site.receiver.is_empty());
    Some(finding.with_fixes(fix))
}

/// The step that runs in the tasks of what is put behind this frame, if it is a costly one.
fn narrowed(plan: &StaticPlan, mut id: NodeId) -> Option<NodeId> {
    for _ in 0..plan.nodes.len() {
        let node = plan.node(id);
        if node.cached {
            return None;
        }
        match &node.operator {
            Operator::Join(_) if is_broadcast(plan, node) => {}
            Operator::Join(_)
            | Operator::Aggregate { grouped: true, .. }
            | Operator::Distinct
            | Operator::Window
            | Operator::Sort { global: true }
            | Operator::Udf => return node.site.is_some().then_some(id),
            Operator::Sort { global: false } => {}
            operator if is_narrow(operator) => {}
            _ => return None,
        }
        id = *node.inputs.first()?;
    }
    None
}
