//! A first batch with all there is.

use crate::declare_rule;
use crate::pyspark::plan::{CallSite, Literal, NodeId, Operator, Source};
use crate::rules::templates::option_before;
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A stream of Kafka that starts at the earliest offsets, with no limit for a batch.
    ///
    /// ## Why
    /// The first batch then holds all that the topic keeps: hours of work in one job, with the state of all of it, and from the start again
    /// if it fails. Limits cut it into batches that are checkpointed one by one.
    ///
    /// ## Silent when
    /// - `maxOffsetsPerTrigger` (or a vendor's `maxBytesPerTrigger`) is given, or options that the file doesn't tell;
    /// - the stream starts at the latest offsets, which is the default.
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
        since: "0.2.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let mut findings = Vec::new();
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let Some(site) = node.site.as_ref().filter(|_| !cx.plan.is_repeat(NodeId(index as u32))) else { continue };
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
