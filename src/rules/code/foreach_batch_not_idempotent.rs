//! Batches that are appended twice when they are run again.

use crate::declare_rule;
use crate::pyspark::plan::{ActionKind, FunctionFacts, Literal, Runs, Write};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// A function of `foreachBatch` that appends without looking at the batch's number.
    ///
    /// ## Why
    /// `foreachBatch` runs a batch at least once: after a failure the same batch comes again under the same number, and what was
    /// appended the first time is there twice.
    ///
    /// ## Silent when
    /// - the function uses the batch's number;
    /// - the write has `txnAppId` and `txnVersion` (Delta leaves out what it has), or a merge does the work;
    /// - it overwrites.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// def save(batch, batch_id):
    ///     batch.write.format("delta").mode("append").save("s3a://lake/events")  # finding
    ///
    /// events = spark.readStream.table("events")
    /// events.writeStream.option("checkpointLocation", "s3a://lake/checkpoints/events").foreachBatch(save).start()
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// def save(batch, batch_id):
    ///     writer = batch.write.format("delta").mode("append").option("txnAppId", "events").option("txnVersion", batch_id)
    ///     writer.save("s3a://lake/events")
    ///
    /// events = spark.readStream.table("events")
    /// events.writeStream.option("checkpointLocation", "s3a://lake/checkpoints/events").foreachBatch(save).start()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/streaming/apis-on-dataframes-and-datasets.html#foreachbatch>
    pub FOREACH_BATCH_NOT_IDEMPOTENT = {
        name: "foreach-batch-not-idempotent", group: Streaming, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let mut seen: Vec<Span> = Vec::new();
    let mut findings = Vec::new();
    for python in cx.plan.python.iter().filter(|python| python.runs == Runs::ForeachBatch) {
        let (Some(function), Some(batch)) = (&python.function, python.input) else { continue };
        if looks_at_number(cx.shared.text, function) {
            continue;
        }
        for action in cx.plan.actions.iter().filter(|action| action.scope == function.scope) {
            let ActionKind::Write(write) = &action.kind else { continue };
            let of_batch = action.input.is_some_and(|input| cx.plan.upstream(input).contains(&batch));
            if of_batch && appends(write, &action.method) && !seen.contains(&action.site.method) {
                seen.push(action.site.method);
                let message = "A batch that fails half-way comes again, and this append then writes its rows twice. Use the batch's number: txnAppId and txnVersion of Delta, a merge by key, or a partition for each batch that is overwritten.";
                findings.push(Finding::new(cx.shared.rule, Severity::Information, action.site.method, message));
            }
        }
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

fn looks_at_number(text: &str, function: &FunctionFacts) -> bool {
    let params: Vec<_> = function.params.iter().filter(|(name, _)| name != "self").collect();
    let uses_number = params.get(1).is_none_or(|(_, used)| *used);
    let lower = function.span.of(text).to_ascii_lowercase();
    uses_number
        || ["txn", "merge", "dropduplicates", "left_anti", "leftanti", "on conflict"]
            .iter()
            .any(|word| lower.contains(word))
}

fn appends(write: &Write, method: &str) -> bool {
    let to_nothing = matches!(write.format.as_deref(), Some("console" | "noop" | "memory"));
    let overwrites = write.options.iter().any(|(name, value)| name == "overwrite" && *value != Literal::Bool(false));
    !to_nothing && !overwrites && (write.mode.as_deref() == Some("append") || method == "append")
}
