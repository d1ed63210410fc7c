//! A write of one partition.

use super::evidence::{self, measured};
use super::lineage::{costly, is_from_driver, is_given};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{ActionKind, NodeId, Operator, RowBound};
use crate::rules::run::words::duration;
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// `coalesce(1)` or `repartition(1)` in front of a write.
    ///
    /// ## Why
    /// One task on one core writes all rows, and a failure starts it again from the beginning. `coalesce(1)` is worse than it looks:
    /// it adds no shuffle, so the steps before it, back to the last shuffle, run in that one task, too.
    ///
    /// ## Silent when
    /// - few rows come in: a limit, an aggregate without keys, data that the driver held; after a `groupBy` it is a hint;
    /// - the number isn't known, or the call runs only under an `if`;
    /// - `F.coalesce(a, b)`, the column function;
    /// - the file is a test;
    /// - a linked run measured the one task at under 10 s. At 10 min or more it is an error with the number.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// orders.coalesce(1).write.csv("s3a://lake/export")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// orders.write.option("maxRecordsPerFile", 5_000_000).csv("s3a://lake/export")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.coalesce.html>
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#coalesce-hints-for-sql-queries>
    /// - <https://issues.apache.org/jira/browse/SPARK-32291> (a `coalesce` behind a join)
    pub SINGLE_PARTITION_WRITE = {
        name: "single-partition-write", group: Partitions, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [
            ("quiet-seconds", 10.0, "silent if a linked run measured the one task below this, in seconds"),
            ("error-minutes", 10.0, "an error if a linked run measured the one task at this or more, in minutes"),
        ],
        check: Code(check),
    }
}

/// Rows that one task may write without a word.
const FEW_ROWS: u64 = 100_000;

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for (index, action) in cx.plan.actions.iter().enumerate() {
        let is_write = matches!(action.kind, ActionKind::Write(_)) && !cx.plan.scope(action.scope).is_test;
        let Some(narrow) = action.input.filter(|_| is_write).and_then(|input| single_partition(cx.plan, input)) else {
            continue;
        };
        if let Some(finding) = judge(cx, index, narrow) {
            cx.shared.report(finding);
        }
    }
}

/// The `coalesce(1)` or `repartition(1)` that decides how many partitions a frame is written in.
fn single_partition(plan: &StaticPlan, mut id: NodeId) -> Option<NodeId> {
    // As many steps as there are nodes: a chain of a loop never comes round twice.
    for _ in 0..plan.nodes.len() {
        let node = plan.node(id);
        match node.operator {
            Operator::Coalesce { count: Some(1) } | Operator::Repartition { count: Some(1), keyed: false } => {
                return (!node.conditional && node.site.is_some()).then_some(id);
            }
            Operator::Filter { .. }
            | Operator::Project { .. }
            | Operator::WithColumns
            | Operator::Sort { global: false }
            | Operator::Sample { .. }
            | Operator::Cache
            | Operator::Hint(_)
            | Operator::Udf
            | Operator::Rdd => id = *node.inputs.first()?,
            _ => return None,
        }
    }
    None
}

fn judge(cx: &CodeContext<'_>, index: usize, narrow: NodeId) -> Option<Finding> {
    let node = cx.plan.node(narrow);
    let site = node.site.as_ref()?;
    let input = *node.inputs.first()?;
    let is_coalesce = matches!(node.operator, Operator::Coalesce { .. });
    let by_code = match cx.plan.bound(input) {
        RowBound::Exactly(rows) if rows <= FEW_ROWS => return None,
        RowBound::Small => return None,
        _ if is_from_driver(cx.plan, cx.shared.text, input) => return None,
        RowBound::ByGroups => Severity::Hint,
        RowBound::Exactly(_) | RowBound::Unknown => Severity::Information,
        RowBound::Unbounded if is_given(cx.plan, input) => Severity::Information,
        RowBound::Unbounded => Severity::Warning,
    };
    let call = site.method.cover(site.arguments);
    let written = call.of(cx.shared.text);
    let above = if is_coalesce { work_above(cx.plan, input) } else { String::new() };
    let advice = match is_coalesce {
        true => {
            "repartition(1) would keep the steps before it parallel; several files, or a merge step after, keep the write parallel, too."
        }
        false => "Write several files (maxRecordsPerFile bounds their size), or merge them in a step of its own.",
    };
    let (severity, what, evidence) = match evidence::single_task_ms(&cx.shared, narrow, index) {
        Some((ms, _)) if ms < cx.shared.option("quiet-seconds") * 1000.0 => return None,
        Some((ms, label)) => {
            let took = duration(ms);
            let is_error = ms >= cx.shared.option("error-minutes") * 60_000.0;
            let severity = if is_error { Severity::Error } else { Severity::Warning };
            let what = format!("{written} made one task run for {took} in run {label}{above}.");
            (severity, what, Some(measured("the one task", took, &label)))
        }
        None => (by_code, format!("{written} lets one task on one core write all rows{above}."), None),
    };
    let fixes =
        [templates::without_call(cx.shared.text, site), templates::repartition(cx.plan, cx.shared.text, narrow)];
    let finding = Finding::new(cx.shared.rule, severity, call, format!("{what} {advice}"));
    Some(finding.with_measured(evidence).with_fixes(fixes.into_iter().flatten()))
}

/// What else runs in the one task of a `coalesce(1)`: a shuffle's reduce side, or the read.
fn work_above(plan: &StaticPlan, input: NodeId) -> String {
    let upstream = plan.upstream(input);
    match upstream.iter().find_map(|&id| costly(plan.node(id))) {
        Some(step) => format!(", and compute the {step} before it as well"),
        None => ", and read and transform them as well".to_owned(),
    }
}
