//! A pivot that has to look for its columns.

use crate::declare_rule;
use crate::pyspark::plan::{ActionKind, RowBound};
use crate::rules::{CodeContext, Finding, Severity, in_force};

declare_rule! {
    /// `pivot("column")` without the list of values.
    ///
    /// ## Why
    /// Spark runs a job of its own first, which computes the frame and shuffles it to find the distinct values, and does so where the
    /// pivot is written, not at the action. More than 10,000 values (`spark.sql.pivotMaxValues`) fail, and the columns of the result change with the data.
    ///
    /// ## Silent when
    /// - the values are given;
    /// - few rows come in: a limit, literal data.
    ///
    /// On frames from elsewhere it is a hint.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// wide = orders.groupBy("shop").pivot("state").sum("total")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// wide = orders.groupBy("shop").pivot("state", ["open", "paid", "sent"]).sum("total")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.GroupedData.pivot.html>
    /// - <https://spark.apache.org/docs/latest/configuration.html#runtime-sql-configuration> (`spark.sql.pivotMaxValues`)
    pub PIVOT_WITHOUT_VALUES = {
        name: "pivot-without-values", group: Plan, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

const MOST_VALUES: &str = "spark.sql.pivotMaxValues";

fn check(cx: &mut CodeContext<'_>) {
    for action in &cx.plan.actions {
        let Some(input) = action.input.filter(|_| action.kind == ActionKind::Other("pivot".to_owned())) else {
            continue;
        };
        let severity = match cx.plan.bound(input) {
            RowBound::Exactly(_) | RowBound::Small => continue,
            _ if super::lineage::is_given(cx.plan, input) => Severity::Hint,
            _ => Severity::Information,
        };
        let most = in_force::in_force(cx.shared.conf, MOST_VALUES)
            .map(|most| format!(", and fails above {MOST_VALUES} = {most}"));
        let message = format!(
            "pivot without values runs a job first that computes the whole frame to find the distinct ones{}. List the values that are wanted.",
            most.unwrap_or_default()
        );
        let mut finding = Finding::new(cx.shared.rule, severity, action.site.method, message);
        finding.evidence.extend(in_force::evidence(cx.shared.conf, MOST_VALUES));
        cx.shared.report(finding);
    }
}
