//! Rows brought to pandas for one number, or for a few.

use super::lineage::{is_given, is_grouped};
use super::results::is_read_only_at;
use crate::declare_rule;
use crate::pyspark::plan::{Action, ActionKind, ResultUse, RowBound, RowUseKind};
use crate::rules::{CodeContext, Finding, Severity, templates};
use crate::text::Span;

declare_rule! {
    /// A reduction in pandas, or by `len`, of rows that Spark could have reduced.
    ///
    /// ## Why
    /// `toPandas()["k"].unique()` moves every row to the driver and keeps a handful. Spark reduces where the rows are and moves the
    /// result only.
    ///
    /// ## Silent when
    /// - the rows are bounded: a limit, an aggregation, distinct values, literal data;
    /// - the pandas frame or the list is used for anything else as well;
    /// - the file is a test.
    ///
    /// A frame from elsewhere is a hint.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// countries = orders.toPandas()["country"].unique()  # finding
    /// rows = len(orders.collect())  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// countries = [row.country for row in orders.select("country").distinct().collect()]
    /// rows = orders.count()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.toPandas.html>
    pub PANDAS_REDUCTION_ON_DRIVER = {
        name: "pandas-reduction-on-driver", group: Driver, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for action in cx.plan.actions.iter().filter(|action| !cx.plan.scope(action.scope).is_test) {
        let found = match action.kind {
            ActionKind::ToPandas => in_pandas(cx, action),
            ActionKind::Collect => by_length(cx, action),
            _ => continue,
        };
        found.into_iter().for_each(|finding| cx.shared.report(finding));
    }
}

/// How Spark says it, by the name in pandas.
fn in_spark(reduction: &str) -> Option<&'static str> {
    Some(match reduction {
        "unique" | "drop_duplicates" => "select(…).distinct()",
        "nunique" => "F.count_distinct(…)",
        "value_counts" => "groupBy(…).count()",
        "groupby" => "groupBy(…).agg(…)",
        "sum" | "mean" | "min" | "max" | "std" | "var" | "median" | "agg" => "agg(…)",
        "describe" => "summary()",
        "shape" | "len" | "count" => "count()",
        "empty" => "isEmpty()",
        "nlargest" | "nsmallest" => "orderBy(…).limit(n)",
        _ => return None,
    })
}

fn in_pandas(cx: &CodeContext<'_>, action: &Action) -> Vec<Finding> {
    let uses = &action.uses.pandas;
    let Some(severity) = by_bound(cx, action) else { return Vec::new() };
    let places: Vec<Span> = uses.iter().map(|(name, span)| use_of(cx, action, name, *span)).collect();
    if !uses.iter().all(|(name, _)| in_spark(name).is_some()) || !is_read_only_at(cx, action, &places) {
        return Vec::new();
    }
    let finding = |(name, span): &(String, Span), place: Span| {
        let spark = in_spark(name).unwrap_or_default();
        let message = format!(
            "{}() brings every row to the driver for {name}; {spark} reduces them in Spark and brings the result only.",
            action.method,
        );
        let whole = match name.as_str() {
            "len" => Some(place),
            "shape" => Some(Span { start: action.site.call.start, end: span.end + 3 })
                .filter(|whole| whole.of(cx.shared.text).ends_with(".shape[0]")),
            _ => None,
        };
        let is_only = uses.len() == 1;
        let fix = whole.filter(|_| is_only).and_then(|whole| templates::count_rows(cx.shared.text, action, whole));
        Finding::new(cx.shared.rule, severity, *span, message).with_fixes(fix)
    };
    uses.iter().zip(places).map(|(used, place)| finding(used, place)).collect()
}

/// From the call that brings the rows to the reduction, where one expression holds both.
fn use_of(cx: &CodeContext<'_>, action: &Action, name: &str, span: Span) -> Span {
    let call = action.site.call;
    let whole = call.cover(span);
    if !action.site.statement.contains(whole) {
        return span;
    }
    // `len(…)` ends behind its argument.
    let closes = |whole: Span| cx.shared.text.get(whole.end as usize..).is_some_and(|rest| rest.starts_with(')'));
    if name == "len" && closes(whole) { Span { end: whole.end + 1, ..whole } } else { whole }
}

/// `len(df.collect())`, and `len(rows)` where nothing else reads the rows.
fn by_length(cx: &CodeContext<'_>, action: &Action) -> Vec<Finding> {
    let text = cx.shared.text;
    let argument = |whole: Span| whole.of(text).trim_end_matches(')').trim_start_matches("len(").trim();
    let is_this = |whole: Span| match &action.result {
        ResultUse::Bound(name) => argument(whole) == name,
        _ => {
            let before = text.get(whole.start as usize..action.site.call.start as usize).unwrap_or_default();
            whole.contains(action.site.call) && before.trim_end() == "len("
        }
    };
    let of_this = cx.plan.row_uses.iter().filter(|used| Some(used.node) == action.input);
    let lengths = of_this.filter(|used| used.kind == RowUseKind::Length && is_this(used.span));
    let lengths: Vec<Span> = lengths.map(|used| used.span).collect();
    let Some(severity) = by_bound(cx, action).filter(|_| is_read_only_at(cx, action, &lengths)) else {
        return Vec::new();
    };
    let message = "collect() brings every row to the driver to count them there; count() brings the number only.";
    let finding = |&whole: &Span| {
        let name = Span { end: whole.start + "len".len() as u32, ..whole };
        let fix = match &action.result {
            ResultUse::Bound(name) => Some(templates::count_named_rows(action, name, &lengths)),
            _ => templates::count_rows(text, action, whole),
        };
        Finding::new(cx.shared.rule, severity, name, message).with_fixes(fix)
    };
    lengths.iter().map(finding).collect()
}

fn by_bound(cx: &CodeContext<'_>, action: &Action) -> Option<Severity> {
    let frame = action.input?;
    match cx.plan.bound(frame) {
        _ if is_grouped(cx.plan, cx.shared.text, frame) => None,
        RowBound::Exactly(_) | RowBound::Small | RowBound::ByGroups => None,
        RowBound::Unknown => Some(Severity::Hint),
        RowBound::Unbounded if is_given(cx.plan, frame) => Some(Severity::Hint),
        RowBound::Unbounded => Some(Severity::Information),
    }
}
