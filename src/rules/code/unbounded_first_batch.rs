//! A first batch with all there is.

use crate::declare_rule;
use crate::pyspark::plan::{CallSite, Literal, NodeId, Operator, Source};
use crate::rules::templates::option_before;
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A stream that begins with all there is, with no limit for a batch: of Kafka from the earliest offsets, or of files.
    ///
    /// ## Why
    /// The first batch then holds all that the topic keeps: hours of work in one job, with the state of all of it, and from the start again
    /// if it fails. Limits cut it into batches that are checkpointed one by one. A stream of files takes all files that are in the
    /// directory into its first batch; that is a hint, as only the directory tells how many there are.
    ///
    /// ## Silent when
    /// - `maxOffsetsPerTrigger` (or a vendor's `maxBytesPerTrigger`) is given, or options that the file doesn't tell;
    /// - the stream starts at the latest offsets, which is Kafka's default;
    /// - `maxFilesPerTrigger` is given, or the source has a limit by itself (Delta, Auto Loader).
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// reader = spark.readStream.format("kafka").option("subscribe", "clicks").option("startingOffsets", "earliest")
    /// clicks = reader.load()  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// reader = spark.readStream.format("kafka").option("subscribe", "clicks").option("startingOffsets", "earliest")
    /// clicks = reader.option("maxOffsetsPerTrigger", 1000000).load()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/streaming/structured-streaming-kafka-integration.html>
    pub UNBOUNDED_FIRST_BATCH = {
        name: "unbounded-first-batch", group: Streaming, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let mut findings = Vec::new();
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let Some(site) = node.site.as_ref().filter(|_| !cx.plan.is_repeat(NodeId(index as u32))) else { continue };
        if is_unbounded_directory(cx.shared.text, &node.operator, site) {
            let message = "The first batch holds all files that are in the directory, in one job. Bound the batches with maxFilesPerTrigger.";
            let fix = option_before(site.receiver.end, "maxFilesPerTrigger", "1000");
            findings.push(Finding::new(cx.shared.rule, Severity::Hint, site.method, message).with_fixes([fix]));
        }
        if is_unbounded(cx.shared.text, &node.operator, site) {
            let message = "The first batch holds everything that the topic keeps, in one job. Bound the batches with maxOffsetsPerTrigger.";
            let fix = option_before(site.receiver.end, "maxOffsetsPerTrigger", "1000000");
            findings.push(Finding::new(cx.shared.rule, Severity::Information, site.method, message).with_fixes([fix]));
        }
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

fn is_unbounded(text: &str, operator: &Operator, site: &CallSite) -> bool {
    let Operator::Source(Source::Read { format: Some(format), options, streaming: true, .. }) = operator else {
        return false;
    };
    let has = |wanted: &str| options.iter().any(|(name, _)| name == wanted);
    let earliest = options.iter().any(|(name, value)| {
        name == "startingoffsets" && matches!(value, Literal::Text(text) if text.eq_ignore_ascii_case("earliest"))
    });
    let bounded = has("maxoffsetspertrigger") || has("maxbytespertrigger");
    format == "kafka" && earliest && !bounded && !site.call.of(text).contains("**")
}

/// Whether all files of a directory come in the first batch.
fn is_unbounded_directory(text: &str, operator: &Operator, site: &CallSite) -> bool {
    let Operator::Source(Source::Read { format: Some(format), options, open, streaming: true, .. }) = operator else {
        return false;
    };
    let of_files = matches!(format.as_str(), "parquet" | "orc" | "csv" | "json" | "text" | "xml" | "avro");
    let limits = ["maxfilespertrigger", "maxbytespertrigger"];
    let bounded = options.iter().any(|(name, _)| limits.contains(&name.as_str()));
    of_files && !open && !bounded && !site.call.of(text).contains("**")
}
