//! A window over all rows.

use super::lineage::{is_from_driver, is_given};
use crate::declare_rule;
use crate::pyspark::plan::{FunctionCall, NodeId, RowBound};
use crate::rules::{CodeContext, Finding, Severity, templates};
use crate::text::Span;

declare_rule! {
    /// A window without a partition key: all rows go to one task.
    ///
    /// ## Why
    /// A window function needs all rows of a partition of its window in one place. Without `partitionBy`, or with a literal in it, that
    /// is all rows of the frame: Spark moves them to a single partition, where one core sorts them, and says so in a warning of its log
    /// only. Nothing splits that task.
    ///
    /// ## Silent when
    /// - the window has a column in `partitionBy`;
    /// - the frame is small by the code: an aggregation, a limit, data that the driver held;
    /// - the file doesn't tell on which frame the window is used;
    /// - the other branch of a conditional expression has a key;
    /// - it is `F.window(...)`, which makes groups of time.
    ///
    /// Information where the frame comes from elsewhere (a parameter).
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, Window, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// in_order = Window.orderBy("time")  # finding
    /// visits.withColumn("before", F.lag("page").over(in_order)).write.mode("overwrite").parquet("out")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, Window, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// in_order = Window.partitionBy("visitor").orderBy("time")
    /// visits.withColumn("before", F.lag("page").over(in_order)).write.mode("overwrite").parquet("out")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.Window.partitionBy.html>
    /// - <https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select-window.html>
    pub WINDOW_WITHOUT_PARTITION = {
        name: "window-without-partition", group: Windows, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("max-rows", 1_000_000.0, "silent if the frame has at most this many rows")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, window) in cx.plan.windows.iter().enumerate().filter(|(_, window)| !window.partitioned) {
        let is_chosen = is_chosen(cx, window.site.statement);
        let Some(severity) = severity(cx, &window.used_on).filter(|_| !is_chosen) else { continue };
        let numbers = cx
            .plan
            .functions
            .iter()
            .any(|call| call.name == "row_number" && call.over.is_some_and(|over| over.order == Some(index)));
        let fixes = templates::partition_window(cx.plan, cx.shared.text, window);
        let finding = Finding::new(cx.shared.rule, severity, window.site.method, message(numbers)).with_fixes(fixes);
        cx.shared.report(finding);
    }
    for call in &cx.plan.functions {
        let Some(over) = call.over.filter(|over| over.order.is_none() && !over.partitioned) else { continue };
        let inputs: Vec<NodeId> =
            call.used_in.iter().filter_map(|&id| cx.plan.node(id).inputs.first().copied()).collect();
        let Some(severity) = severity(cx, &inputs) else { continue };
        let finding = Finding::new(cx.shared.rule, severity, over_call(cx, call, over.call), message(false));
        cx.shared.report(finding);
    }
}

fn message(numbers: bool) -> String {
    let advice = if numbers {
        "For ids, monotonically_increasing_id() or rdd.zipWithIndex() keep the rows where they are; else partition by a key."
    } else {
        "Partition by a key, or aggregate first."
    };
    format!("A window without a partition key moves all rows to one task, which one core sorts alone. {advice}")
}

/// `Window.partitionBy(keys).orderBy(...) if keys else Window.orderBy(...)`: its author knows what the other case costs.
fn is_chosen(cx: &CodeContext<'_>, statement: Span) -> bool {
    let text = statement.of(cx.shared.text);
    text.contains("partitionBy(") && text.split_whitespace().any(|word| word == "else")
}

/// How bad it is on these frames; `None` if all of them are small, or none is known.
fn severity(cx: &CodeContext<'_>, frames: &[NodeId]) -> Option<Severity> {
    let of = |&frame: &NodeId| match cx.plan.bound(frame) {
        RowBound::Exactly(rows) if rows as f64 <= cx.shared.option("max-rows") => None,
        RowBound::Small | RowBound::ByGroups => None,
        _ if is_from_driver(cx.plan, cx.shared.text, frame) => None,
        RowBound::Unbounded if !is_given(cx.plan, frame) => Some(Severity::Warning),
        RowBound::Exactly(_) | RowBound::Unknown | RowBound::Unbounded => Some(Severity::Information),
    };
    frames.iter().filter_map(of).max()
}

/// `over(...)` behind the function.
pub(super) fn over_call(cx: &CodeContext<'_>, function: &FunctionCall, whole: Span) -> Span {
    let behind = Span { start: function.call.end.min(whole.end), end: whole.end };
    let at = behind.of(cx.shared.text).find("over").unwrap_or_default();
    Span { start: behind.start + at as u32, end: whole.end }
}
