//! Streams that lose rows without a word.

use crate::declare_rule;
use crate::pyspark::plan::{Literal, NodeId, Operator, Source, StreamStart};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// A stream that drops what it can't read, or a query that keeps nothing.
    ///
    /// ## Why
    /// With `failOnDataLoss=false` a topic whose old rows were deleted before they were read is just continued: the gap is seen in no
    /// result. The console sink prints twenty rows of a batch and keeps none.
    ///
    /// ## Silent when
    /// - `failOnDataLoss` isn't written as `false`;
    /// - the console sink is the file's only sink: then it is a demonstration.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// reader = spark.readStream.format("kafka").option("subscribe", "clicks")
    /// clicks = reader.option("failOnDataLoss", "false").load()  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// reader = spark.readStream.format("kafka").option("subscribe", "clicks")
    /// clicks = reader.load()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/streaming/structured-streaming-kafka-integration.html>
    pub SILENT_DATA_LOSS = {
        name: "silent-data-loss", group: Streaming, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let text = cx.shared.text;
    let mut findings = Vec::new();
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let Some(site) = node.site.as_ref().filter(|_| !cx.plan.is_repeat(NodeId(index as u32))) else { continue };
        let Operator::Source(Source::Read { options, streaming: true, .. }) = &node.operator else { continue };
        let goes_on = options.iter().any(|(name, value)| name == "failondataloss" && is_false(value));
        if goes_on {
            let message = "With failOnDataLoss=false rows that were deleted before they were read are skipped without a word. Leave it true, and set it to false only for the restart that needs it.";
            let span = word(text, site.call, "failOnDataLoss").unwrap_or(site.method);
            findings.push(Finding::new(cx.shared.rule, Severity::Information, span, message));
        }
    }
    let is_console = |stream: &&StreamStart| stream.write.format.as_deref() == Some("console");
    if cx.plan.streams.iter().any(|stream| !is_console(&stream)) {
        for stream in cx.plan.streams.iter().filter(is_console) {
            let message = "The console sink prints some rows of each batch and keeps none of them.";
            findings.push(Finding::new(cx.shared.rule, Severity::Hint, stream.site.method, message));
        }
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

fn is_false(value: &Literal) -> bool {
    match value {
        Literal::Bool(value) => !value,
        Literal::Text(text) => text.eq_ignore_ascii_case("false"),
        _ => false,
    }
}

fn word(text: &str, within: Span, word: &str) -> Option<Span> {
    let at = within.of(text).find(word)?;
    let start = within.start as usize + at;
    Some(Span::new(start, start + word.len()))
}
