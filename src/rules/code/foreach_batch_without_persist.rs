//! A micro-batch computed once an action.

use super::blocks::{Together, together};
use super::lineage::recomputed;
use crate::declare_rule;
use crate::pyspark::plan::{Action, ActionKind, NodeId, PythonFunction, Runs, ScopeId};
use crate::rules::templates::cache_between;
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A function of `foreachBatch` with several actions on a batch that isn't persisted.
    ///
    /// ## Why
    /// The batch is a frame like others: each action computes it again from the source, with its state. Two writes read the source
    /// twice, and take twice the time of every batch.
    ///
    /// ## Silent when
    /// - the batch, or what is computed from it, is persisted before;
    /// - there is one action, or the others exclude each other;
    /// - an action only looks at some rows (`isEmpty`, `take`, `show`).
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// def save(batch, batch_id):
    ///     batch.write.format("delta").mode("overwrite").save(f"s3a://lake/raw/{batch_id}")  # finding
    ///     batch.groupBy("page").count().write.format("delta").mode("overwrite").save(f"s3a://lake/pages/{batch_id}")
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
    ///     batch.persist()
    ///     batch.write.format("delta").mode("overwrite").save(f"s3a://lake/raw/{batch_id}")
    ///     batch.groupBy("page").count().write.format("delta").mode("overwrite").save(f"s3a://lake/pages/{batch_id}")
    ///     batch.unpersist()
    ///
    /// events = spark.readStream.table("events")
    /// events.writeStream.option("checkpointLocation", "s3a://lake/checkpoints/events").foreachBatch(save).start()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/streaming/apis-on-dataframes-and-datasets.html#foreachbatch>
    /// - <https://issues.apache.org/jira/browse/SPARK-47329> (state that is loaded again for each action)
    pub FOREACH_BATCH_WITHOUT_PERSIST = {
        name: "foreach-batch-without-persist", group: Streaming, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let mut seen = Vec::new();
    for python in cx.plan.python.iter().filter(|python| python.runs == Runs::ForeachBatch) {
        let Some(scope) = python.function.as_ref().map(|function| function.scope) else { continue };
        if seen.contains(&scope) {
            continue;
        }
        seen.push(scope);
        if let Some(finding) = judge(cx, python) {
            cx.shared.report(finding);
        }
    }
}

/// Whether the rule speaks of a batch that the function at hand gets, and that a frame of this lineage is made of.
pub(super) fn reports(cx: &CodeContext<'_>, scope: ScopeId, lineage: &[NodeId]) -> bool {
    cx.plan.python.iter().filter(|python| python.runs == Runs::ForeachBatch).any(|python| {
        let is_here = python.function.as_ref().is_some_and(|function| function.scope == scope);
        let of_batch = python.input.is_some_and(|batch| lineage.contains(&batch));
        is_here && of_batch && judge(cx, python).is_some()
    })
}

fn judge(cx: &CodeContext<'_>, python: &PythonFunction) -> Option<Finding> {
    let function = python.function.as_ref()?;
    let batch = python.input?;
    let text = cx.shared.text;
    let computes = |action: &&Action| {
        let runs_all = matches!(
            action.kind,
            ActionKind::Write(_) | ActionKind::Count | ActionKind::Collect | ActionKind::ToPandas | ActionKind::Foreach
        );
        let of_batch = action.input.is_some_and(|input| recomputed(cx.plan, input).contains(&batch));
        runs_all && action.scope == function.scope && of_batch
    };
    let mut actions: Vec<&Action> = cx.plan.actions.iter().filter(computes).collect();
    actions.dedup_by_key(|action| action.site.call);
    let first = *actions.first()?;
    let together_with_first =
        |action: &&Action| together(text, first.site.statement, action.site.statement) == Together::Always;
    let others: Vec<&Action> = actions.iter().skip(1).copied().filter(together_with_first).collect();
    let last = *others.last()?;
    let times = others.len() + 1;
    let (name, _) = function.params.iter().find(|(name, _)| name != "self")?;
    let message = format!(
        "{name} is computed {times} times a batch, once for each action, from the source on. Persist it before the first one and unpersist it after the last."
    );
    let finding = Finding::new(cx.shared.rule, Severity::Warning, first.site.method, message)
        .with_fixes(cache_between(text, name, first, last));
    Some(
        others.into_iter().fold(finding, |finding, other| finding.with_related(other.site.method, "computes it again")),
    )
}
