//! An append that a second try repeats.

use super::shape::option;
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, Operator, Runs, Source, Write};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// An append in a loop that tries until it works.
    ///
    /// ## Why
    /// An append has no key: what a failed try has already committed stays, and the next try adds the same rows again. A table format
    /// commits all or nothing, but the error may come after the commit (a time-out, a failing step behind it in the `try`), and plain
    /// files have no commit across tasks that failed half-way. An overwrite of the partition or a merge by key gives the same table
    /// however often it runs.
    ///
    /// ## Silent when
    /// - no retry is seen: that a scheduler may run the job again is not told by its code;
    /// - the write can be told from its repetition (`txnAppId` and `txnVersion`), or the rows are removed first;
    /// - it is a batch of a stream (`foreach-batch-not-idempotent`).
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("raw.orders")
    /// for attempt in range(3):
    ///     try:
    ///         orders.write.mode("append").parquet("s3a://lake/orders")  # finding
    ///         break
    ///     except Exception as error:
    ///         print(error)
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("raw.orders")
    /// for attempt in range(3):
    ///     try:
    ///         orders.write.mode("overwrite").parquet("s3a://lake/orders/day=2026-01-01")
    ///         break
    ///     except Exception as error:
    ///         print(error)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-load-save-functions.html#save-modes>
    pub APPEND_ON_RERUN = {
        name: "append-on-rerun", group: Partitions, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for action in &cx.plan.actions {
        let ActionKind::Write(write) = &action.kind else { continue };
        let Some(looped) = action.loops.iter().map(|&id| cx.plan.loop_(id)).find(|looped| looped.retries) else {
            continue;
        };
        let tells_itself = ["txnAppId", "txnVersion"].iter().any(|name| option(&write.options, name).is_some());
        if !appends(action, write) || tells_itself || is_batch(cx.plan, action) || removes_first(cx, action) {
            continue;
        }
        let message = format!(
            "{} appends in a loop that tries again: rows of a try that failed after they were written are there twice. Overwrite the partition, or merge by a key.",
            action.method
        );
        let finding = Finding::new(cx.shared.rule, Severity::Information, action.site.method, message);
        cx.shared.report(finding.with_related(looped.header, "tries again"));
    }
}

fn appends(action: &Action, write: &Write) -> bool {
    let in_table = action.method == "insertInto" && write.mode.is_none() && action.site.args.len() < 2;
    write.mode.as_deref() == Some("append") || action.method == "append" || in_table
}

fn is_batch(plan: &StaticPlan, action: &Action) -> bool {
    let batches = plan.python.iter().filter(|function| function.runs == Runs::ForeachBatch);
    batches.filter_map(|function| function.function.as_ref()).any(|function| function.scope == action.scope)
}

/// Whether a statement of SQL removes rows in the same function before.
fn removes_first(cx: &CodeContext<'_>, action: &Action) -> bool {
    cx.plan.nodes.iter().filter(|node| node.scope == action.scope).any(|node| {
        let (Operator::Source(Source::Sql { .. }), Some(site)) = (&node.operator, &node.site) else { return false };
        let text = site.arguments.of(cx.shared.text).to_ascii_lowercase();
        let removes = ["delete ", "drop partition", "truncate "].iter().any(|word| text.contains(word));
        removes && site.call.start < action.site.call.start
    })
}
