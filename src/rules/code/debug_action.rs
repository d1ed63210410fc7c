//! Rows shown by a job that nobody watches.

use crate::declare_rule;
use crate::pyspark::is_databricks_notebook;
use crate::pyspark::plan::{Action, ActionKind, RowBound, ScopeId};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// `show()` or `display()` in a job.
    ///
    /// ## Why
    /// Each call is a Spark job of its own that computes the frame up to its first rows, and behind a shuffle all of it. In a scheduled
    /// job nobody reads what it prints.
    ///
    /// ## Silent when
    /// - it runs only under a condition: `if verbose:`, `if __name__ == "__main__":`;
    /// - its function is there to show rows by its name: `display_diff`;
    /// - few rows come in: literal data, a limit;
    /// - the file is a notebook or a test.
    ///
    /// A matter of style, and off unless it is asked for.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// totals = spark.table("shop.orders").groupBy("country").count()
    /// totals.show()  # finding
    /// ```
    /// ```toml
    /// [rules]
    /// debug-action = "on"
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// totals = spark.table("shop.orders").groupBy("country").count()
    /// totals.write.mode("overwrite").parquet("s3a://lake/totals")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.show.html>
    pub DEBUG_ACTION = {
        name: "debug-action", group: Driver, severity: Information, confidence: Documented,
        since: "0.1.0", off: true, check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for action in cx.plan.actions.iter().filter(|action| action.kind == ActionKind::Show) {
        let is_few = action.input.is_some_and(|frame| cx.plan.bound(frame) <= RowBound::Small);
        if action.conditional || is_few || shows_on_purpose(cx, action) || cx.plan.scope(action.scope).is_test {
            continue;
        }
        let message = format!(
            "{}() runs a Spark job to print some rows. Remove it, or log what the job needs to tell.",
            action.method
        );
        let finding = Finding::new(cx.shared.rule, Severity::Information, action.site.method, message);
        let fix = templates::without_line(cx.shared.text, &action.site);
        cx.shared.report(finding.with_fixes(fix));
    }
}

/// Whether somebody looks at what is shown: in a notebook, a demo, or a function that is there for it.
pub(super) fn shows_on_purpose(cx: &CodeContext<'_>, action: &Action) -> bool {
    let is_notebook = cx.shared.format.is_some() || is_databricks_notebook(cx.shared.text);
    is_notebook || is_main(cx, action) || shows_by_name(cx, action)
}

/// In a block of the module: under `if __name__ == "__main__":`, or a loop of a demo.
fn is_main(cx: &CodeContext<'_>, action: &Action) -> bool {
    let before = cx.shared.text.get(..action.site.statement.start as usize).unwrap_or_default();
    action.scope == ScopeId(0) && before.ends_with([' ', '\t'])
}

/// In a function that is there to show rows: `display_diff`, `print_sample`.
fn shows_by_name(cx: &CodeContext<'_>, action: &Action) -> bool {
    let name = &cx.plan.scope(action.scope).name;
    ["show", "display", "print", "preview"].iter().any(|word| name.contains(word))
}
