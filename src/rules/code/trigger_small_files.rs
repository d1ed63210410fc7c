//! Triggers that make small files, and the one that is deprecated.

use crate::declare_rule;
use crate::pyspark::plan::{Literal, StreamStart};
use crate::rules::templates::available_now;
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A partitioned file sink with a short trigger, or `trigger(once=True)`.
    ///
    /// ## Why
    /// Each batch writes at least one file into each partition that it touches: every ten seconds these are 8,640 files a day for each
    /// partition, and every reader opens all of them. `once=True` takes everything in one batch, whatever the limits of the source
    /// say; `availableNow=True` took its place in Spark 3.3 and keeps to them.
    ///
    /// ## Silent when
    /// - the trigger is a minute or longer, or takes what is there (`availableNow`);
    /// - the sink is a table format that compacts files;
    /// - the sink isn't partitioned.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.readStream.table("events")
    /// writer = events.writeStream.format("parquet").option("checkpointLocation", "s3a://lake/checkpoints/events")
    /// writer.partitionBy("day").trigger(processingTime="10 seconds").start("s3a://lake/events")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.readStream.table("events")
    /// writer = events.writeStream.format("parquet").option("checkpointLocation", "s3a://lake/checkpoints/events")
    /// writer.partitionBy("day").trigger(processingTime="10 minutes").start("s3a://lake/events")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/streaming/apis-on-dataframes-and-datasets.html#triggers>
    pub TRIGGER_SMALL_FILES = {
        name: "trigger-small-files", group: Streaming, severity: Information, confidence: Documented,
        since: "0.1.0",
        options: [("min-seconds", 60.0, "triggers of at least this many seconds are left alone")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for stream in &cx.plan.streams {
        if let Some(finding) = judge(cx, stream) {
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, stream: &StreamStart) -> Option<Finding> {
    let (keyword, value, span) = stream.trigger.as_ref()?;
    if keyword == "once" && *value == Literal::Bool(true) && cx.shared.version().at_least(3, 3) {
        let message = "trigger(once=True) is deprecated and takes everything in one batch, whatever limits the source has. availableNow=True takes the same in batches of that size.";
        return Some(
            Finding::new(cx.shared.rule, Severity::Information, method_of(cx.shared.text, *span), message)
                .with_fixes(available_now(*span, cx.shared.text)),
        );
    }
    let plain_files =
        matches!(stream.write.format.as_deref(), Some("parquet" | "orc" | "csv" | "json" | "text" | "avro"));
    let seconds = match value {
        Literal::Text(text) if keyword == "processingTime" => seconds(text)?,
        _ => return None,
    };
    if !plain_files || stream.write.partition_by.is_empty() || seconds >= cx.shared.option("min-seconds") {
        return None;
    }
    let a_day = if seconds > 0.0 { format!("{:.0}", 86_400.0 / seconds) } else { "as many as batches run".to_owned() };
    let message = format!(
        "Each batch writes a file or more into every partition that it touches: up to {a_day} files a day for each. A longer trigger makes fewer and larger ones."
    );
    Some(Finding::new(cx.shared.rule, Severity::Information, method_of(cx.shared.text, *span), message))
}

/// The name `trigger` in front of its arguments.
fn method_of(text: &str, call: crate::text::Span) -> crate::text::Span {
    match call.of(text).rfind("trigger") {
        Some(at) => crate::text::Span::new(call.start as usize + at, call.start as usize + at + "trigger".len()),
        None => call,
    }
}

/// `10 seconds` in seconds.
fn seconds(interval: &str) -> Option<f64> {
    let interval = interval.trim().trim_start_matches("interval ").trim();
    let (number, unit) = interval.split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    let factor = match unit.trim().trim_end_matches('s') {
        "millisecond" | "milli" | "m" => 0.001,
        "second" | "sec" => 1.0,
        "minute" | "min" => 60.0,
        "hour" => 3600.0,
        "day" => 86_400.0,
        _ => return None,
    };
    Some(number * factor)
}
