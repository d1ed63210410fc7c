//! A window over all rows.

use super::lineage::is_given;
use crate::declare_rule;
use crate::pyspark::plan::{CallSite, FunctionCall, NodeId, Operator, RowBound, Source};
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
    /// - the frame is small by the code: an aggregation, a limit, literal data;
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
        since: "0.2.0",
        options: [("max-rows", 1_000_000.0, "silent if the frame has at most this many rows")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, window) in cx.plan.windows.iter().enumerate().filter(|(_, window)| !window.partitioned) {
        let is_chosen = is_chosen(cx, window.site.statement);
        let Some(severity) = severity(cx, &window.used_on).filter(|_| !is_chosen) else { continue };
        let numbers = cx.plan.functions.iter().any(|call| {
            call.name == "row_number" && call.over.is_some_and(|over| over.order == Some(index))
        });
        let fixes = templates::partition_window(cx.plan, cx.shared.text, window);
        let finding = Finding::new(cx.shared.rule, severity, window.site.method, message(numbers)).with_fixes(fixes);
        cx.shared.report(finding);
    }
    for call in &cx.plan.functions {
        let Some(over) = call.over.filter(|over| over.order.is_none() && !over.partitioned) else { continue };
        let inputs: Vec<NodeId> = call.used_in.iter().filter_map(|&id| cx.plan.node(id).inputs.first().copied()).collect();
        let Some(severity) = severity(cx, &inputs) else { continue };
        let finding = Finding::new(cx.shared.rule, severity, over_call(cx, call, over.call), message(false));
        cx.shared.report(finding);
    }
    for node in &cx.plan.nodes {
        let (Operator::Source(Source::Sql { bound: RowBound::Unbounded, .. }), Some(site)) = (&node.operator, &node.site)
        else {
            continue;
        };
        for span in windows_in_sql(cx, site) {
            cx.shared.report(Finding::new(cx.shared.rule, Severity::Warning, span, message(false)));
        }
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

/// `OVER (ORDER BY ...)` without `PARTITION BY` in the text of a query on tables.
fn windows_in_sql(cx: &CodeContext<'_>, site: &CallSite) -> Vec<Span> {
    let text = site.arguments.of(cx.shared.text).to_ascii_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, word) in text.match_indices("over") {
        let behind = &text[at + word.len()..];
        let open = behind.len() - behind.trim_start().len();
        let Some(inner) = behind.trim_start().strip_prefix('(').filter(|_| !text[..at].ends_with(is_word)) else { continue };
        let mut depth = 1;
        let close = inner.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let Some(specification) = close.map(|close| inner[..close].trim()) else { continue };
        // Rows that were grouped or limited before are few.
        let is_small = text.contains("group by") || text.contains("limit ");
        if specification.starts_with("order by") && !specification.contains("partition by") && !is_small {
            let start = site.arguments.start as usize + at;
            found.push(Span::new(start, start + word.len() + open + 1 + close.unwrap_or_default() + 1));
        }
    }
    found
}
