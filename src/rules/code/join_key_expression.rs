//! A key that is computed in the join's condition.

use crate::declare_rule;
use crate::pyspark::plan::{KeySide, Operator};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A cast or a function on a key in a join's condition.
    ///
    /// ## Why
    /// Spark has statistics and bucketing of columns, not of expressions: a bucketed table is shuffled again. A cast that fails makes null,
    /// which matches nothing and says nothing. Every other join on the same key repeats the expression.
    ///
    /// ## Silent when
    /// - the key is made a column of its own before the join;
    /// - it is arithmetic, such as the bucket of a range, or a term that is no equality.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// users = spark.table("shop.users")
    /// joined = orders.join(users, F.lower(orders.mail) == users.mail)  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders").withColumn("mail", F.lower("mail"))
    /// users = spark.table("shop.users")
    /// joined = orders.join(users, "mail")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-load-save-functions.html#bucketing-sorting-and-partitioning>
    /// - <https://spark.apache.org/docs/latest/sql-ref-ansi-compliance.html#cast>
    pub JOIN_KEY_EXPRESSION = {
        name: "join-key-expression", group: Joins, severity: Hint, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for node in &cx.plan.nodes {
        let Operator::Join(join) = &node.operator else { continue };
        let mut sides = join.terms.iter().flat_map(|term| &term.sides);
        let Some((side, how)) = sides.find_map(|side| Some((side, normalises(cx, side)?))) else { continue };
        let message = format!(
            "This key is computed in the condition ({how}), so bucketing and statistics of the column don't apply, and values that fail the conversion match nothing. Make it a column of the same type on both sides before the join."
        );
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Hint, side.span, message));
    }
}

/// The cast or function that makes the key.
fn normalises(cx: &CodeContext<'_>, side: &KeySide) -> Option<String> {
    const FUNCTIONS: [&str; 18] = [
        "lower",
        "upper",
        "trim",
        "ltrim",
        "rtrim",
        "btrim",
        "to_date",
        "to_timestamp",
        "date_format",
        "substring",
        "concat",
        "concat_ws",
        "regexp_replace",
        "regexp_extract",
        "lpad",
        "rpad",
        "initcap",
        "split",
    ];
    let written = side.span.of(cx.shared.text).trim_end();
    if !side.computed {
        return None;
    }
    let function = cx.plan.functions.iter().find(|call| side.span.contains(call.call));
    match function {
        Some(call) if FUNCTIONS.contains(&call.name.as_str()) => Some(call.name.clone()),
        Some(_) => None,
        None if written.ends_with(')') && (written.contains(".cast(") || written.contains(".astype(")) => {
            Some("a cast".to_owned())
        }
        None if written.contains(".substr(") => Some("substr".to_owned()),
        None => None,
    }
}
