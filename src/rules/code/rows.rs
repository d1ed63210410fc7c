//! What `collect` and `toPandas` have in common: all rows of a frame in the driver.

use super::evidence::{self, Cost, measured};
use super::lineage::{gathers, is_from_driver, is_given, is_grouped};
use crate::pyspark::plan::{Action, ActionKind, RowBound};
use crate::rules::in_force;
use crate::rules::run::words::{duration, grouped};
use crate::rules::{CodeContext, Evidence, Finding, Fix, Severity};

/// The setting that stops a job whose results are too large for the driver.
const MAX_RESULT_SIZE: &str = "spark.driver.maxResultSize";
/// A tenth of the default of [`MAX_RESULT_SIZE`]: from here on a measured result is worth a warning.
const LARGE_RESULT: u64 = 100 << 20;

/// Reports each wanted action that brings an unknown number of rows, or measurably many.
pub(super) fn report(
    cx: &mut CodeContext<'_>,
    wanted: impl Fn(&Action) -> bool,
    fixes: impl Fn(&CodeContext<'_>, &Action) -> Vec<Fix>,
) {
    if cx.shared.is_test {
        return;
    }
    for (index, action) in cx.plan.actions.iter().enumerate().filter(|(_, action)| wanted(action)) {
        if cx.plan.scope(action.scope).is_test {
            continue;
        }
        let cost = evidence::cost(&cx.shared, index);
        let Some((severity, message, evidence)) = judge(cx, action, cost.as_ref()) else { continue };
        let mut finding = Finding::new(cx.shared.rule, severity, action.site.method, message)
            .with_measured(evidence)
            .with_fixes(fixes(cx, action));
        finding.evidence.extend(in_force::evidence(cx.shared.conf, MAX_RESULT_SIZE));
        cx.shared.report(finding);
    }
}

/// How bad by what the code tells; `None` is harmless.
fn by_bound(cx: &CodeContext<'_>, action: &Action) -> Option<Severity> {
    let Some(input) = action.input else { return Some(Severity::Hint) };
    match cx.plan.bound(input) {
        RowBound::ByGroups if gathers(cx.plan, input) => Some(Severity::Information),
        _ if is_grouped(cx.plan, cx.shared.text, input) || is_from_driver(cx.plan, cx.shared.text, input) => None,
        RowBound::Exactly(rows) if rows as f64 > cx.shared.option("max-rows") => Some(Severity::Information),
        RowBound::Exactly(_) | RowBound::Small | RowBound::ByGroups => None,
        RowBound::Unknown => Some(Severity::Hint),
        RowBound::Unbounded if is_given(cx.plan, input) => Some(Severity::Hint),
        RowBound::Unbounded => Some(Severity::Warning),
    }
}

/// How bad, in which words, and by which measured number; what a run measured counts more than what the code tells.
fn judge(cx: &CodeContext<'_>, action: &Action, cost: Option<&Cost>) -> Option<(Severity, String, Option<Evidence>)> {
    let method = &action.method;
    let by_code = by_bound(cx, action);
    let limit = in_force::in_force(cx.shared.conf, MAX_RESULT_SIZE);
    let limit = limit.map_or_else(|| MAX_RESULT_SIZE.to_owned(), |value| format!("{MAX_RESULT_SIZE} = {value}"));
    let instead = match action.kind {
        ActionKind::ToPandas => "limit or aggregate in Spark first, or keep the rows there with pandas_api().",
        _ => "take(n), aggregate in Spark, write the rows, or go through them with toLocalIterator().",
    };
    if let Some((cost, result)) = cost.and_then(|cost| Some((cost, cost.result?))) {
        let is_large = result.bytes >= LARGE_RESULT;
        if result.is_small() || (by_code.is_none() && !is_large) {
            return None;
        }
        let severity = if is_large { Severity::Warning } else { Severity::Information };
        let value = result.words();
        let took = duration(cost.total_ms);
        let message = format!(
            "{method}() brought {value} to the driver in run {} ({took}); Spark stops the job above {limit}. Instead: {instead}",
            cost.label,
        );
        return Some((severity, message, Some(measured("result sent to the driver", value, &cost.label))));
    }
    let severity = by_code?;
    let what = match action.input.map(|input| cx.plan.bound(input)) {
        Some(RowBound::Exactly(rows)) => format!("all {} rows of this frame", grouped(rows)),
        _ if severity == Severity::Hint => "however many rows this frame has".to_owned(),
        _ => "every row of this frame".to_owned(),
    };
    let to_pandas = matches!(method.as_str(), "toPandas" | "to_pandas");
    let copy = if to_pandas { ", and pandas copies them once more" } else { "" };
    let guard = if cx.plan.uses.local_master || cx.shared.environment.local {
        "on a local master they share the one JVM".to_owned()
    } else {
        format!("Spark stops the job above {limit}")
    };
    Some((severity, format!("{method}() brings {what} to the driver{copy}; {guard}. Instead: {instead}"), None))
}
