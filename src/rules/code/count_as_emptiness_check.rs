//! `count()` where only the presence of rows is asked.

use super::lineage::is_given;
use super::results::{is_read_only_at, is_streaming};
use crate::declare_rule;
use crate::pyspark::plan::{Action, ActionKind, RowBound};
use crate::rules::{CodeContext, Finding, Severity, templates};
use crate::text::Span;

declare_rule! {
    /// `count()` that is only compared with zero.
    ///
    /// ## Why
    /// Counting reads every row for one bit. `isEmpty()` stops at the first row that it meets; it is `take(1)` without the row.
    ///
    /// ## Silent when
    /// - the number is used for anything else;
    /// - something before it is cached: the count fills the cache, where `isEmpty()` would fill a part of it and leave the rest to
    ///   the next action;
    /// - few rows come in: a limit, an aggregate without keys, literal data;
    /// - it isn't the action: `groupBy().count()`, a list's `count`;
    /// - the file is a test.
    ///
    /// A frame from elsewhere, and one with a row a group, are hints.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// rejected = spark.read.parquet("s3a://lake/orders").filter("amount < 0")
    /// if rejected.count() > 0:  # finding
    ///     raise ValueError("negative amounts")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// rejected = spark.read.parquet("s3a://lake/orders").filter("amount < 0")
    /// if not rejected.isEmpty():
    ///     raise ValueError("negative amounts")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.isEmpty.html>
    /// - <https://issues.apache.org/jira/browse/SPARK-29874> (what an emptiness check has to read)
    pub COUNT_AS_EMPTINESS_CHECK = {
        name: "count-as-emptiness-check", group: Driver, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for action in &cx.plan.actions {
        if let Some(finding) = judge(cx, action) {
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, action: &Action) -> Option<Finding> {
    let uses = &action.uses;
    let tests: Vec<Span> = uses.emptiness.iter().map(|test| test.span).collect();
    let asks_only = uses.other == 0 && uses.logged.is_empty() && is_read_only_at(cx, action, &tests);
    let frame = action.input?;
    if action.kind != ActionKind::Count || !asks_only || cx.plan.scope(action.scope).is_test || is_streaming(cx, frame)
    {
        return None;
    }
    if cx.plan.upstream(frame).iter().any(|&id| cx.plan.node(id).cached) {
        return None;
    }
    let severity = match cx.plan.bound(frame) {
        RowBound::Exactly(_) | RowBound::Small => return None,
        RowBound::ByGroups => Severity::Hint,
        RowBound::Unknown | RowBound::Unbounded if is_given(cx.plan, frame) => Severity::Hint,
        RowBound::Unknown | RowBound::Unbounded => Severity::Information,
    };
    let has_method = action.on_rdd || cx.shared.version().at_least(3, 3);
    let instead = if has_method { "isEmpty() stops at the first one" } else { "take(1) stops at the first one" };
    let message = format!("count() reads every row to tell whether there is any; {instead}.");
    let fix = match uses.emptiness[..] {
        [test] => templates::is_empty(cx.shared.text, has_method, action, test),
        _ => None,
    };
    Some(Finding::new(cx.shared.rule, severity, action.site.method, message).with_fixes(fix))
}
