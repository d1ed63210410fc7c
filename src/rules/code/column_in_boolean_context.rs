//! Columns where Python wants a truth value.

use crate::declare_rule;
use crate::pyspark::plan::{Misuse, MisusedColumn};
use crate::rules::templates::{column_operator, null_test};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A column in `and`, `or`, `not`, an `if`, a chained comparison, or compared with `None`.
    ///
    /// ## Why
    /// A column is an expression, not a value: Python can't tell whether it is true, and PySpark raises `ValueError`. Compared with `None` by
    /// `==` it is null for every row, so that a filter keeps nothing; `is None` is Python's `False`, whatever the column holds.
    ///
    /// ## Silent when
    /// - the operand is a name alone, which may hold nothing yet (`condition or F.lit(True)`);
    /// - it is an attribute alone (`if df.ready`), which may be no column;
    /// - the column is one of pandas.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("orders")
    /// late = orders.filter((F.col("state") == "open") and (F.col("days") > 30))  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("orders")
    /// late = orders.filter((F.col("state") == "open") & (F.col("days") > 30))
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/column.html>
    pub COLUMN_IN_BOOLEAN_CONTEXT = {
        name: "column-in-boolean-context", group: Correctness, severity: Error, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for misused in cx.plan.misused.iter().filter(|misused| !is_attribute(cx.shared.text, misused)) {
        let finding = judge(cx, misused);
        cx.shared.report(finding);
    }
}

/// `if df.flag:`: the attribute may be another thing than a column.
fn is_attribute(text: &str, misused: &MisusedColumn) -> bool {
    let code = misused.span.of(text).trim_start_matches("not ");
    let asks = matches!(misused.misuse, Misuse::Not | Misuse::Condition);
    // An object keeps an expression in an attribute of its own, or nothing.
    let own = misused.misuse == Misuse::IsNone && code.starts_with("self.") && !code.contains('(');
    own || asks && code.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

fn judge(cx: &CodeContext<'_>, misused: &MisusedColumn) -> Finding {
    let text = cx.shared.text;
    let word = misused.operator.of(text);
    let (severity, message) = match misused.misuse {
        Misuse::BooleanOperator => {
            let symbol = if word == "and" { "&" } else { "|" };
            (Severity::Error, format!("`{word}` asks whether a column is true, and PySpark raises ValueError. Join conditions with `{symbol}`, each in parentheses."))
        }
        Misuse::Not => (Severity::Error, "`not` asks whether a column is true, and PySpark raises ValueError. Negate it with `~`, in parentheses.".to_owned()),
        Misuse::Chained => (Severity::Error, "A chained comparison joins its parts with `and`, and PySpark raises ValueError. Write both comparisons with `&`, or between().".to_owned()),
        Misuse::Condition => (Severity::Error, "This asks whether a column is true, and PySpark raises ValueError: a column has no value before an action. Use F.when(), or filter by it.".to_owned()),
        Misuse::EqualsNone => (Severity::Information, format!("A comparison with null by `{word}` is null for every row, so that no row passes. Use isNull() or isNotNull().")),
        Misuse::IsNone => (Severity::Information, format!("`{word} None` asks for the column object, which is never None. Use isNull() or isNotNull() for its values.")),
    };
    let fix = match misused.misuse {
        Misuse::BooleanOperator | Misuse::Not => column_operator(text, misused),
        Misuse::EqualsNone | Misuse::IsNone => null_test(text, misused),
        Misuse::Chained | Misuse::Condition => None,
    };
    let span = if misused.operator.is_empty() { misused.span } else { misused.operator };
    Finding::new(cx.shared.rule, severity, span, message).with_fixes(fix)
}
