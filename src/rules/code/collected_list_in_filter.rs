//! Collected values that go back to Spark as literals.

use super::lineage::is_given;
use crate::declare_rule;
use crate::pyspark::plan::{RowBound, RowUse, RowUseKind};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// Collected values in an `isin` or in the `IN (…)` of a text.
    ///
    /// ## Why
    /// The values travel to the driver and back as literals in the plan: a job to fetch them, a predicate that is parsed, optimised and
    /// sent with every task, and a list that grows with the data. A semi-join asks the same without the driver.
    ///
    /// ## Silent when
    /// - the list is short: a limit, a literal, an aggregate without keys;
    /// - the file is a test.
    ///
    /// A row a group or distinct value, and a frame from elsewhere, are hints.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// ids = [row.id for row in spark.table("shop.blocked").select("id").toLocalIterator()]
    /// orders = spark.table("shop.orders").filter(~F.col("customer").isin(ids))  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// blocked = spark.table("shop.blocked").select(F.col("id").alias("customer"))
    /// orders = spark.table("shop.orders").join(blocked, "customer", "left_anti")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select-join.html>
    pub COLLECTED_LIST_IN_FILTER = {
        name: "collected-list-in-filter", group: Driver, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

/// The method's name, or what stands for the values in a text.
fn place(cx: &CodeContext<'_>, used: &RowUse) -> Option<Span> {
    if used.kind == RowUseKind::InText {
        return Some(used.span);
    }
    let at = used.span.start as usize + used.span.of(cx.shared.text).rfind(".isin")? + 1;
    Some(Span::new(at, at + "isin".len()))
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for used in cx.plan.row_uses.iter().filter(|used| used.kind != RowUseKind::Length) {
        let severity = match cx.plan.bound(used.node) {
            RowBound::Exactly(_) | RowBound::Small => continue,
            RowBound::ByGroups | RowBound::Unknown => Severity::Hint,
            RowBound::Unbounded if is_given(cx.plan, used.node) => Severity::Hint,
            RowBound::Unbounded => Severity::Information,
        };
        let Some(span) = place(cx, used) else { continue };
        let message = "These values were collected and go back as literals: a job to fetch them, and a predicate that grows with the data. \
             A left_semi join (left_anti for the rest) keeps them in Spark; broadcast() its side if it is small.";
        let finding = Finding::new(cx.shared.rule, severity, span, message);
        cx.shared.report(finding);
    }
}
