//! A UDF that runs several times for one value.

use super::python::is_row_udf;
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{FunctionCall, NodeId};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// The same UDF called with the same columns more than once on one frame.
    ///
    /// ## Why
    /// Each call is an expression of its own: a filter by `f(x)` and a column `f(x)` behind it run the function twice for each row. If it
    /// draws or fetches something, the two values needn't agree.
    ///
    /// ## Silent when
    /// - the frame between them is cached or checkpointed;
    /// - the function is marked `asNondeterministic()`;
    /// - the calls stand on different frames.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// @F.pandas_udf("double")
    /// def score(text):
    ///     return text.map(hash) / 7.0
    ///
    /// posts = spark.table("posts").where("text is not null")
    /// scored = posts.where(score("text") > 5).withColumn("score", score("text"))  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// @F.pandas_udf("double")
    /// def score(text):
    ///     return text.map(hash) / 7.0
    ///
    /// score = score.asNondeterministic()
    /// posts = spark.table("posts").where("text is not null")
    /// scored = posts.withColumn("score", score("text")).where("score > 5")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.functions.udf.html> (its notes)
    pub UDF_REEVALUATED = {
        name: "udf-reevaluated", group: Udfs, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let calls: Vec<&FunctionCall> = cx.plan.functions.iter().filter(|call| is_costly(cx.plan, call)).collect();
    for (at, second) in calls.iter().enumerate() {
        let text = |call: &FunctionCall| call.arguments.of(cx.shared.text);
        let is_same = |first: &&&FunctionCall| {
            first.udf == second.udf && first.scope == second.scope && text(first) == text(second)
        };
        let first = calls[..at].iter().find(|first| is_same(first) && on_one_frame(cx.plan, first, second));
        if let Some(first) = first {
            let message = format!(
                "{}{} is computed before on the same rows, and Python runs it again here. Make it a column once and use that; mark the function asNondeterministic() so that Spark doesn't copy it.",
                second.name,
                text(second),
            );
            let finding = Finding::new(cx.shared.rule, Severity::Information, second.method, message);
            cx.shared.report(finding.with_related(first.method, "the first time"));
        }
    }
}

/// A known UDF that built-in functions don't stand for.
fn is_costly(plan: &StaticPlan, call: &FunctionCall) -> bool {
    let Some(python) = call.udf.and_then(|index| plan.python.get(index)) else { return false };
    let has_builtin = python.function.as_ref().is_some_and(|function| function.builtin.is_some());
    (is_row_udf(python) || python.runs.is_udf()) && !python.nondeterministic && !has_builtin && !call.columns.is_empty()
}

/// Whether both calls are used in one operator, or in two of which one is computed from the other without a cache between.
fn on_one_frame(plan: &StaticPlan, first: &FunctionCall, second: &FunctionCall) -> bool {
    let follows = |from: NodeId, to: NodeId| {
        from == to || super::lineage::recomputed(plan, from).contains(&to) && !plan.node(to).cached
    };
    first.used_in.iter().any(|&a| second.used_in.iter().any(|&b| follows(a, b) || follows(b, a)))
}
