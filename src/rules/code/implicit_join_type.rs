//! A join that doesn't say its type.

use crate::declare_rule;
use crate::pyspark::plan::{JoinCondition, Operator};
use crate::rules::{CodeContext, Finding, Fix, Severity, templates};

declare_rule! {
    /// A join without `how=`.
    ///
    /// ## Why
    /// An inner join drops the rows without a match. Who reads `a.join(b, "k")` can't tell whether that is meant or was forgotten. A rule
    /// of style: off unless it is switched on.
    ///
    /// ## Silent when
    /// - the type is given, or arguments are unpacked;
    /// - there is no condition, which `cartesian-join` reports.
    ///
    /// ## Example
    /// ```toml
    /// [rules]
    /// implicit-join-type = "on"
    /// ```
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// joined = spark.table("shop.orders").join(spark.table("shop.users"), "user_id")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [rules]
    /// implicit-join-type = "on"
    /// ```
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// joined = spark.table("shop.orders").join(spark.table("shop.users"), "user_id", how="inner")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.join.html>
    pub IMPLICIT_JOIN_TYPE = {
        name: "implicit-join-type", group: Joins, severity: Hint, confidence: Documented,
        since: "0.1.0", off: true, check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for node in &cx.plan.nodes {
        let (Operator::Join(join), Some(site)) = (&node.operator, &node.site) else { continue };
        let unpacked = site.args.iter().any(|argument| matches!(argument.keyword.as_deref(), Some("*" | "**")));
        let says_nothing = matches!(join.condition, JoinCondition::Missing | JoinCondition::Cross);
        let is_join = site.method.of(cx.shared.text) == "join";
        if unpacked || says_nothing || !is_join || site.argument(2, "how").is_some() {
            continue;
        }
        let message =
            "This is an inner join, which drops rows without a match, and doesn't say so: name the type with how=.";
        let fix = templates::join_type(cx.shared.text, site, "inner").map(|fix| Fix { safe: true, ..fix });
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Hint, site.method, message).with_fixes(fix));
    }
}
