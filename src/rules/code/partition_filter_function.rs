//! A filter that hides the partition column from pruning.

use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{ActionKind, FunctionCall, Literal, NodeId, Operator, Source};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A filter on a function of a partition column.
    ///
    /// ## Why
    /// A filter on the column itself tells which folders to read. A Python function tells nothing: all partitions are read, and each row
    /// goes through Python. A built-in function is computed for each partition on the driver, after the metastore had to send the list of
    /// all of them; Iceberg and JDBC tables prune nothing by it.
    ///
    /// ## Silent when
    /// - the column isn't known as a partition column: by a `partitionBy` of this file that writes the same table, or by the names `dt` and
    ///   `ds` on a table;
    /// - the column is compared as it is;
    /// - the function is applied to the value that it is compared with.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// january = visits.filter(F.date_format("dt", "yyyy-MM") == "2026-01")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// january = visits.filter(F.col("dt").between("2026-01-01", "2026-01-31"))
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-parquet.html#partition-discovery>
    pub PARTITION_FILTER_FUNCTION = {
        name: "partition-filter-function", group: Reads, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for call in &cx.plan.functions {
        let Some(column) = call.columns.first() else { continue };
        let filtered = call.used_in.iter().find_map(|&id| partitioned_source(cx.plan, id, column));
        let Some(proven) = filtered.filter(|_| call.over.is_none() && is_of_column(call)) else { continue };
        let (severity, message) = if call.udf.is_some() {
            let message = format!(
                "A Python function hides the partition column {column} from Spark: all partitions are read, and each of their rows goes through Python. Compare {column} itself."
            );
            (Severity::Information, message)
        } else {
            let message = format!(
                "Through {} the filter on the partition column {column} can't be given to the table's catalogue, which sends all partitions to the driver. Compare {column} itself, with a range if need be.",
                call.name
            );
            (Severity::Hint, message)
        };
        let severity = if proven { severity } else { Severity::Hint };
        cx.shared.report(Finding::new(cx.shared.rule, severity, call.method, message));
    }
}

/// `coalesce`, `isnull` and the like look at the column as it is; constants have no column.
fn is_of_column(call: &FunctionCall) -> bool {
    !matches!(call.name.as_str(), "coalesce" | "isnull" | "isnan" | "broadcast" | "asc" | "desc" | "when")
}

/// Whether an operator filters a source that has this partition column: proven by a write, or told by a name.
fn partitioned_source(plan: &StaticPlan, filter: NodeId, column: &str) -> Option<bool> {
    let node = plan.node(filter);
    if !matches!(node.operator, Operator::Filter { .. }) && node.operator != Operator::Udf {
        return None;
    }
    let mut at = *node.inputs.first()?;
    for _ in 0..plan.nodes.len() {
        let node = plan.node(at);
        let target = match &node.operator {
            Operator::Filter { .. } => {
                at = *node.inputs.first()?;
                continue;
            }
            Operator::Source(Source::Table(name)) => name,
            Operator::Source(Source::Read { location, .. }) => location.first().filter(|_| location.len() == 1)?,
            _ => return None,
        };
        let is_table = matches!(node.operator, Operator::Source(Source::Table(_)));
        let by = Literal::Text(column.to_owned());
        let proven = *target != Literal::Unknown
            && plan.actions.iter().any(|action| match &action.kind {
                ActionKind::Write(write) => write.target == *target && write.partition_by.contains(&by),
                _ => false,
            });
        return (proven || is_table && matches!(column, "dt" | "ds")).then_some(proven);
    }
    None
}
