//! Where a streaming query keeps its progress.

use super::blocks::{Together, together};
use crate::declare_rule;
use crate::pyspark::plan::{Literal, StreamStart};
use crate::rules::templates::option_before;
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

/// The directory below which queries without a location of their own keep theirs.
const DEFAULT_LOCATION: &str = "spark.sql.streaming.checkpointLocation";

declare_rule! {
    /// A streaming query without a checkpoint location of its own that lasts.
    ///
    /// ## Why
    /// The checkpoint holds the offsets and the state. Without one Spark refuses a file or Kafka sink, and starts others from the beginning
    /// each time; one in a temporary directory is gone with the machine; two queries in one directory mix their offsets.
    ///
    /// ## Silent when
    /// - `checkpointLocation` is given, or options that the file doesn't tell;
    /// - `spark.sql.streaming.checkpointLocation` is set;
    /// - the sink is for looking at rows: `console`, `memory`, `noop`.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.readStream.table("events")
    /// events.writeStream.format("parquet").start("s3a://lake/events")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.readStream.table("events")
    /// writer = events.writeStream.format("parquet").option("checkpointLocation", "s3a://lake/checkpoints/events")
    /// writer.start("s3a://lake/events")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/streaming/apis-on-dataframes-and-datasets.html#recovering-from-failures-with-checkpointing>
    pub CHECKPOINT_LOCATION = {
        name: "checkpoint-location", group: Streaming, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let has_default = cx.shared.conf.get(DEFAULT_LOCATION).value.is_some();
    let mut known: Vec<(&str, &StreamStart)> = Vec::new();
    for stream in &cx.plan.streams {
        let location = stream.write.options.iter().rev().find(|(name, _)| name == "checkpointlocation");
        let finding = match location {
            None if has_default || is_looked_at(stream) || may_have(cx.shared.text, stream) => continue,
            None => missing(cx, stream),
            Some((_, Literal::Text(path))) if is_temporary(path) => temporary(cx, stream, path),
            Some((_, Literal::Text(path))) => {
                let shared = known.iter().find(|(other, first)| {
                    other == path
                        && together(cx.shared.text, first.site.statement, stream.site.statement) != Together::Never
                });
                let Some((_, first)) = shared else {
                    known.push((path, stream));
                    continue;
                };
                let message = format!(
                    "Another query keeps its progress in {path} too: their offsets and states get mixed. Give each query a directory of its own."
                );
                Finding::new(cx.shared.rule, Severity::Information, place(cx.shared.text, stream, path), message)
                    .with_related(first.site.method, "the other query")
            }
            Some(_) => continue,
        };
        cx.shared.report(finding);
    }
}

fn missing(cx: &CodeContext<'_>, stream: &StreamStart) -> Finding {
    let message = match (stream.batch, &stream.write.format) {
        (Some(_), _) => "This query has no checkpointLocation: it starts from the beginning each time, and batches run again. Give it a directory of its own that lasts.".to_owned(),
        _ => format!("This query has no checkpointLocation, and {DEFAULT_LOCATION} isn't set: Spark refuses it, or it forgets its progress. Give it a directory of its own that lasts."),
    };
    let fix = option_before(stream.site.receiver.end, "checkpointLocation", "\"path/to/checkpoint\"");
    Finding::new(cx.shared.rule, Severity::Information, stream.site.method, message).with_fixes([fix])
}

fn temporary(cx: &CodeContext<'_>, stream: &StreamStart, path: &str) -> Finding {
    let message = format!(
        "The checkpoint in {path} is gone when the machine or its temporary files are, and the query then starts anew. Put it on storage that lasts."
    );
    Finding::new(cx.shared.rule, Severity::Information, place(cx.shared.text, stream, path), message)
}

/// The path where the query writes it, else the start.
fn place(text: &str, stream: &StreamStart, path: &str) -> Span {
    let call = stream.site.call;
    let found = call.of(text).find(path).filter(|_| !path.is_empty());
    found.map_or(stream.site.method, |at| {
        let start = call.start as usize + at;
        Span::new(start, start + path.len())
    })
}

fn is_temporary(path: &str) -> bool {
    let path = path.strip_prefix("file:").or_else(|| path.strip_prefix("dbfs:")).unwrap_or(path);
    let path = format!("/{}", path.trim_start_matches('/'));
    path == "/tmp"
        || path.starts_with("/tmp/")
        || path.starts_with("/var/tmp/")
        || path.starts_with("/local_disk0/tmp/")
}

fn is_looked_at(stream: &StreamStart) -> bool {
    matches!(stream.write.format.as_deref(), Some("console" | "memory" | "noop"))
}

/// Options that the file doesn't tell, or a writer that comes from elsewhere.
fn may_have(text: &str, stream: &StreamStart) -> bool {
    let written = stream.site.call.of(text);
    !written.contains("writeStream") || written.contains("**") || written.to_ascii_lowercase().contains("checkpoint")
}
