//! Built-in functions of Python that a star import replaced.

use crate::declare_rule;
use crate::rules::templates::builtins;
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// `sum`, `max`, `round` of Python's values, where a star import made them functions of columns.
    ///
    /// ## Why
    /// `from pyspark.sql.functions import *` replaces `sum`, `min`, `max`, `abs`, `round`, `filter` and others of Python. Called with numbers or a
    /// list they raise, or make a column that looks like a value.
    ///
    /// ## Silent when
    /// - the functions are imported by name or as `F`;
    /// - the argument is a column, or the file doesn't tell.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    /// from pyspark.sql.functions import *
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// weights = [0.2, 0.3, 0.5]
    /// total = sum(weights)  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// weights = [0.2, 0.3, 0.5]
    /// total = sum(weights)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/functions.html>
    pub SHADOWED_BUILTIN = {
        name: "shadowed-builtin", group: Correctness, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for shadowed in &cx.plan.shadowed {
        let name = &shadowed.name;
        let message = format!(
            "The star import made {name} the function of columns, which doesn't take Python's values. Import the functions as F, or call builtins.{name}."
        );
        let fix = builtins(cx.plan, cx.shared.text, name, shadowed.span);
        let finding = Finding::new(cx.shared.rule, Severity::Information, shadowed.span, message).with_fixes([fix]);
        cx.shared.report(finding);
    }
}
