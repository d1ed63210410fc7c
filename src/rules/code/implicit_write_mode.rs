//! A write that doesn't say what becomes of what is there.

use crate::declare_rule;
use crate::pyspark::api::Class;
use crate::pyspark::plan::{ActionKind, Literal};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// A write without a mode.
    ///
    /// ## Why
    /// The default, `errorifexists`, fails on the second run of the job, after the rows were computed up to the write. Readers can't
    /// tell whether that is meant.
    ///
    /// ## Silent when
    /// - a mode is given, by `mode` or as an argument, even if it isn't known;
    /// - the method says it (`insertInto`, `append`, `overwritePartitions`);
    /// - it is a sink of messages, or the format isn't known;
    /// - the code is a test.
    ///
    /// ## Example
    /// ```toml
    /// [rules]
    /// implicit-write-mode = "on"
    /// ```
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// spark.table("shop.orders").write.parquet("s3a://lake/orders")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// spark.table("shop.orders").write.mode("errorifexists").parquet("s3a://lake/orders")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-load-save-functions.html#save-modes>
    pub IMPLICIT_WRITE_MODE = {
        name: "implicit-write-mode", group: Partitions, severity: Hint, confidence: Documented,
        since: "0.1.0", off: true, check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for action in &cx.plan.actions {
        let ActionKind::Write(write) = &action.kind else { continue };
        let text = cx.shared.text;
        // `insertInto` appends unless told otherwise, and the other writer says in its methods what it does.
        let is_plain = action.site.class == Some(Class::DataFrameWriter) && action.method != "insertInto";
        // Sinks of messages have no target that could be there; a format that isn't known may be one.
        let is_open = write.calls.iter().any(|call| call.method.of(text) == "format") && write.format.is_none();
        let sends = is_open || matches!(write.format.as_deref(), Some("kafka" | "noop" | "console"));
        let in_chain = write.calls.iter().any(|call| call.method.of(text) == "mode");
        let position = position_of_mode(&action.method);
        let by_argument = action.site.args.iter().enumerate().any(|(at, argument)| match argument.keyword.as_deref() {
            Some("mode") => argument.value != Literal::None,
            Some(keyword) => matches!(keyword, "**" | "*"),
            None => Some(at) == position && argument.value != Literal::None,
        });
        let starts_here = write.chain.of(text).trim_start().trim_start_matches('\\').trim_start().starts_with(".write");
        if !is_plain
            || sends
            || in_chain
            || by_argument
            || !starts_here
            || action.on_rdd
            || cx.plan.scope(action.scope).is_test
        {
            continue;
        }
        let message = "This write has no mode: it fails if the target is there, as on the second run of the job. Say which is meant: errorifexists, overwrite, append or ignore.";
        let fix =
            templates::on_writer(action, "mode(\"errorifexists\")", "Say the mode that is in force: errorifexists");
        let fix = fix.map(|fix| crate::rules::Fix { safe: true, ..fix });
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Hint, action.site.method, message).with_fixes(fix));
    }
}

/// Where a method of the writer takes the mode: others take the format or the compression there.
fn position_of_mode(method: &str) -> Option<usize> {
    match method {
        "parquet" | "orc" | "csv" | "json" => Some(1),
        "save" | "saveAsTable" | "xml" | "jdbc" => Some(2),
        _ => None,
    }
}
