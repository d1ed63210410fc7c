//! `dropDuplicates` without the columns that make a row one.

use crate::declare_rule;
use crate::pyspark::plan::{CallSite, Literal, Node, Operator};
use crate::rules::{CodeContext, Finding, Fix, FixKind, Severity, templates};

declare_rule! {
    /// `dropDuplicates()` without a subset, or with an empty one.
    ///
    /// ## Why
    /// Without a subset each row is hashed, shuffled and compared with all of its columns, and two versions of one record that differ in
    /// a timestamp are both kept. An empty list is another thing: no column has to differ, so that one row of the whole frame is left.
    ///
    /// ## Silent when
    /// - `distinct()` is written, which says that whole rows are meant;
    /// - the columns were selected just before, or the frames were put together by a union.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// orders.dropDuplicates().write.mode("overwrite").parquet("out")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// orders.dropDuplicates(["order_id"]).write.mode("overwrite").parquet("out")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.dropDuplicates.html>
    pub DROP_DUPLICATES_ALL_COLUMNS = {
        name: "drop-duplicates-all-columns", group: Windows, severity: Hint, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for node in &cx.plan.nodes {
        let (Operator::Distinct, Some(site)) = (&node.operator, &node.site) else { continue };
        if !matches!(site.method.of(cx.shared.text), "dropDuplicates" | "drop_duplicates") {
            continue;
        }
        let (severity, message) = match site.argument(0, "subset").map(|subset| &subset.value) {
            Some(Literal::List(columns)) if columns.is_empty() => (
                Severity::Information,
                "With an empty list no column tells rows apart, so one row of the whole frame is left. Name the key's columns, or write distinct() for whole rows.",
            ),
            None | Some(Literal::None) if site.args.len() <= 1 && !is_narrow(cx, node) => (
                Severity::Hint,
                "Without a subset whole rows are shuffled and compared, and two versions of one record are both kept. Name the key's columns, or write distinct() if whole rows are meant.",
            ),
            _ => continue,
        };
        let finding =
            Finding::new(cx.shared.rule, severity, site.method, message).with_fixes([distinct(site, severity)]);
        cx.shared.report(finding);
    }
}

/// Whether somebody chose the columns just before, or put frames together.
fn is_narrow(cx: &CodeContext<'_>, node: &Node) -> bool {
    let Some(&input) = node.inputs.first() else { return true };
    let before = cx.plan.node(input);
    let method = before.site.as_ref().map(|site| site.method.of(cx.shared.text)).unwrap_or_default();
    let is_unpacked =
        node.site.iter().flat_map(|site| &site.args).any(|argument| argument.keyword.as_deref() == Some("*"));
    is_unpacked
        || matches!(before.operator, Operator::Union { .. } | Operator::Aggregate { .. })
        || matches!(method, "select" | "selectExpr" | "__getitem__")
}

/// `distinct()` in its place: the same without a subset, another result than with an empty one.
fn distinct(site: &CallSite, severity: Severity) -> Fix {
    let fix = templates::instead(site, "distinct()", "Write distinct(): whole rows are meant");
    Fix { safe: severity == Severity::Hint, kind: FixKind::QuickFix, ..fix }
}
