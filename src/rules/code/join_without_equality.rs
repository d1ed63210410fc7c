//! A join whose condition has no key.

use super::lineage::is_given;
use super::sides::{has_condition_later, hint, is_small};
use crate::declare_rule;
use crate::pyspark::plan::{CallSite, JoinCondition, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A join condition without an equality between the sides: a range, an `OR`, `LIKE`, a Python function.
    ///
    /// ## Why
    /// Spark sorts or hashes by equal keys. Without one it compares each row of one side with each row of the other: a broadcast
    /// nested loop join, or a cartesian product where neither side is small enough. A million rows against ten thousand are ten
    /// thousand million comparisons.
    ///
    /// ## Silent when
    /// - an equality is among the terms that are joined by `&`, or in a list, or in a variable; `eqNullSafe` is one;
    /// - each branch of the `OR` holds the same equality, which Spark takes out of it;
    /// - a side is small by the code (literals, `spark.range(k)`, a limit, one aggregated row), broadcast, or has another hint;
    /// - a filter with an equality follows, which Spark's optimizer makes a part of the condition;
    /// - the file doesn't tell what is compared.
    ///
    /// Information where a side comes from elsewhere (a parameter), so that its size isn't known.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// prices = spark.table("shop.prices")
    /// priced = visits.join(prices, (visits.day >= prices.valid_from) & (visits.day < prices.valid_to))  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// prices = spark.table("shop.prices")
    /// valid = (visits.day >= prices.valid_from) & (visits.day < prices.valid_to)
    /// priced = visits.join(prices, (visits.product == prices.product) & valid)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#join-strategy-hints-for-sql-queries>
    /// - <https://issues.apache.org/jira/browse/SPARK-28621> (broadcast nested loop joins)
    /// - <https://issues.apache.org/jira/browse/SPARK-25314> (Python functions in conditions)
    pub JOIN_WITHOUT_EQUALITY = {
        name: "join-without-equality", group: Joins, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("max-rows", 1000.0, "silent if one side has at most this many rows")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let few = cx.shared.option("max-rows");
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let (Operator::Join(join), Some(site), [left, right]) = (&node.operator, &node.site, &node.inputs[..]) else {
            continue;
        };
        if join.condition != JoinCondition::NoEquality {
            continue;
        }
        let sides = [*left, *right];
        let is_meant = sides.iter().any(|&side| is_small(cx.plan, side, few) || hint(cx.plan, side).is_some());
        if is_meant || has_condition_later(cx.plan, cx.shared.text, id) {
            continue;
        }
        if let Some(finding) = judge(cx, site, sides) {
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, site: &CallSite, sides: [NodeId; 2]) -> Option<Finding> {
    let on = site.argument(1, "on")?;
    let condition = on.span.of(cx.shared.text);
    if shares_an_equality(condition) {
        return None;
    }
    let runs_python = cx.plan.functions.iter().any(|call| call.udf.is_some() && on.span.contains(call.call));
    let advice = match condition {
        _ if runs_python => {
            "Compute what the Python function needs as columns of the sides first, or write the condition with built-in functions, and add an equality."
        }
        _ if condition.contains('|') && condition.contains("isNull") => {
            "eqNullSafe compares keys so that null equals null, and is an equality."
        }
        _ if condition.contains('|') && condition.contains("==") => {
            "Join once by each equality and union the results without duplicates."
        }
        _ => "Add an equality, such as a common key or a bucket of the range (the day), or broadcast the small side.",
    };
    let is_known = !sides.iter().any(|&side| is_given(cx.plan, side));
    let severity = if is_known { Severity::Warning } else { Severity::Information };
    let message = format!(
        "This condition has no equality between the sides, so there is no key to shuffle by: Spark compares every row of one side with every row of the other. {advice}"
    );
    Some(Finding::new(cx.shared.rule, severity, on.span, message))
}

/// `(a.k == b.k) & x | (a.k == b.k) & y`: Spark takes out what both branches hold.
fn shares_an_equality(condition: &str) -> bool {
    let plain =
        |branch: &str| -> String { branch.chars().filter(|c| !c.is_whitespace() && !"()".contains(*c)).collect() };
    let mut branches = condition.split('|').map(|branch| {
        let terms = branch.split('&').map(plain);
        terms.filter(|term| term.contains("==")).collect::<Vec<_>>()
    });
    let Some(first) = branches.next() else { return false };
    let rest: Vec<_> = branches.collect();
    !rest.is_empty() && first.iter().any(|term| rest.iter().all(|branch| branch.contains(term)))
}
