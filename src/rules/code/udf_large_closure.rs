//! What Python functions take along from outside.

use super::python::words;
use crate::declare_rule;
use crate::pyspark::plan::{Capture, Captured, PythonFunction, Runs};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// A Python function on rows that takes a session, a frame or much data from outside.
    ///
    /// ## Why
    /// What a function names is pickled and sent along with every task. Sessions, contexts and frames live on the driver: pickling
    /// them fails, and the job with it. Collected rows and long literals travel with each task anew; a broadcast variable is sent
    /// once to each executor.
    ///
    /// ## Silent when
    /// - the function runs on the driver (`foreachBatch`);
    /// - it binds the name itself;
    /// - what it takes is a small constant.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// rates = spark.read.parquet("s3a://lake/rates")
    ///
    /// @F.udf("double", useArrow=True)
    /// def in_euros(amount, currency):
    ///     return amount * rates.filter(F.col("currency") == currency).first()["rate"]  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// rates = spark.read.parquet("s3a://lake/rates")
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// priced = orders.join(F.broadcast(rates), "currency")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/rdd-programming-guide.html#broadcast-variables>
    pub UDF_LARGE_CLOSURE = {
        name: "udf-large-closure", group: Udfs, severity: Information, confidence: Documented,
        since: "0.1.0",
        options: [("max-items", 1000.0, "literal collections with fewer items travel with the task unnoticed")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let mut seen: Vec<Span> = Vec::new();
    for python in cx.plan.python.iter().filter(|python| python.runs != Runs::ForeachBatch) {
        for capture in python.function.iter().flat_map(|function| &function.captures) {
            if seen.contains(&capture.span) {
                continue;
            }
            if let Some(finding) = judge(cx, python, capture) {
                seen.push(capture.span);
                cx.shared.report(finding);
            }
        }
    }
}

fn judge(cx: &CodeContext<'_>, python: &PythonFunction, capture: &Capture) -> Option<Finding> {
    let (function, name) = (words(python), &capture.name);
    let on_driver = |what: &str, instead: &str| {
        format!(
            "{function} runs on executors, where {name}, a {what}, doesn't exist: Spark can't pickle it, and the job fails. {instead}"
        )
    };
    let (severity, message) = match capture.what {
        Captured::Session => {
            (Severity::Error, on_driver("session or context", "Read what it needs before, or join it."))
        }
        Captured::Frame(_) => (Severity::Error, on_driver("DataFrame", "Join it instead.")),
        Captured::Collected => (
            Severity::Information,
            format!(
                "{name} holds collected rows that are pickled into every task of {function}. Join them, or send them once to each executor with sparkContext.broadcast({name})."
            ),
        ),
        Captured::Literal(items) if items as f64 >= cx.shared.option("max-items") => (
            Severity::Information,
            format!(
                "{name} with its {items} items is pickled into every task of {function}. Send it once to each executor with sparkContext.broadcast({name})."
            ),
        ),
        Captured::Literal(_) => return None,
    };
    Some(Finding::new(cx.shared.rule, severity, capture.span, message))
}
