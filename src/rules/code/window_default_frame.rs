//! An aggregate up to the current row and its ties.

use super::sides::words;
use super::window_without_partition::over_call;
use crate::declare_rule;
use crate::pyspark::plan::{FunctionCall, Literal, NodeId};
use crate::rules::{CodeContext, Finding, Severity, templates};
use crate::text::Span;

declare_rule! {
    /// An aggregate over an ordered window without a frame.
    ///
    /// ## Why
    /// An order changes what an aggregate sees: not all rows of the partition, but those from its start to the current row, and all that
    /// tie with it in the order (`RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW`). `max` over such a window is a running maximum,
    /// `last` is the current row, and two rows of one day have one running sum.
    ///
    /// ## Silent when
    /// - the window has `rowsBetween` or `rangeBetween`, or no order;
    /// - the function ranks or looks around (`row_number`, `lag`, `lead`), or is `first`, for which the frame makes no difference;
    /// - the file doesn't tell on which frame the column is used;
    /// - the column is called `running_...` or `cumulative_...`.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, Window, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// prices = spark.table("shop.prices")
    /// by_day = Window.partitionBy("product").orderBy("day")
    /// newest = prices.withColumn("newest", F.last("price").over(by_day))  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, Window, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// prices = spark.table("shop.prices")
    /// by_day = Window.partitionBy("product").orderBy("day")
    /// whole = by_day.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    /// newest = prices.withColumn("newest", F.last("price").over(whole))
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select-window.html>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.Window.orderBy.html>
    pub WINDOW_DEFAULT_FRAME = {
        name: "window-default-frame", group: Windows, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for call in &cx.plan.functions {
        let Some(over) = call.over.filter(|over| over.order.is_some() && !over.framed) else { continue };
        if !sees_the_frame(&call.name) || call.used_in.is_empty() || is_running(cx, call, over.call) {
            continue;
        }
        let finding = judge(cx, call).with_fixes(templates::rows_frame(cx.plan, cx.shared.text, call));
        cx.shared.report(Finding { span: over_call(cx, call, over.call), ..finding });
    }
}

fn sees_the_frame(function: &str) -> bool {
    const FUNCTIONS: [&str; 16] = [
        "sum",
        "avg",
        "mean",
        "min",
        "max",
        "count",
        "last",
        "last_value",
        "collect_list",
        "collect_set",
        "stddev",
        "variance",
        "countDistinct",
        "count_distinct",
        "median",
        "mode",
    ];
    FUNCTIONS.contains(&function)
}

/// Whether the column's name says that a running value is meant: of `withColumn`, or of an alias behind the window.
fn is_running(cx: &CodeContext<'_>, call: &FunctionCall, over: Span) -> bool {
    let site = |id: &NodeId| cx.plan.node(*id).site.as_ref();
    let named = call.used_in.iter().filter_map(site).filter_map(|site| match &site.argument(0, "colName")?.value {
        Literal::Text(name) => Some(name.as_str()),
        _ => None,
    });
    let behind = cx.shared.text.get(over.end as usize..).unwrap_or_default().trim_start();
    let alias = behind.strip_prefix(".alias(").and_then(|rest| rest.split([')', '\n']).next());
    named.chain(alias).flat_map(words).any(|word| {
        matches!(
            word.as_str(),
            "cum" | "cumulative" | "cumsum" | "running" | "rolling" | "sofar" | "ytd" | "mtd" | "acc"
        )
    })
}

fn judge(cx: &CodeContext<'_>, call: &FunctionCall) -> Finding {
    let name = &call.name;
    let (severity, message) = if matches!(name.as_str(), "last" | "last_value") {
        let message = format!(
            "Over an ordered window without a frame {name} is the current row (or one that ties with it), not the last one of the partition. Add rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing), or take first in the opposite order."
        );
        (Severity::Information, message)
    } else {
        let message = format!(
            "Over an ordered window without a frame {name} sees the rows up to the current one and all that tie with it in the order. Say which are meant with rowsBetween(...), or leave out orderBy for the whole partition."
        );
        (Severity::Hint, message)
    };
    Finding::new(cx.shared.rule, severity, call.method, message)
}
