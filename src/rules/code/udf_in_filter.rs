//! UDFs in conditions.

use crate::declare_rule;
use crate::pyspark::plan::{FunctionCall, NodeId, Operator, RowBound};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A Python UDF in a filter or in the condition of a join.
    ///
    /// ## Why
    /// Spark can't look into a UDF: the condition isn't pushed down to the source, so every row is read and sent to Python first. In
    /// a join's condition it gives no key to join by: both sides meet row by row.
    ///
    /// ## Silent when
    /// - built-in functions do the same (`udf-for-builtin` says so);
    /// - few rows are left before it;
    /// - another filter without a UDF stands before it.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// @F.udf("boolean", useArrow=True)
    /// def is_valid(code):
    ///     return sum(int(digit) for digit in code) % 10 == 0
    ///
    /// cards = spark.read.parquet("s3a://lake/cards")
    /// cards.filter(is_valid("code")).write.parquet("s3a://lake/valid")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// @F.udf("boolean", useArrow=True)
    /// def is_valid(code):
    ///     return sum(int(digit) for digit in code) % 10 == 0
    ///
    /// cards = spark.read.parquet("s3a://lake/cards").filter(F.length("code") == 16)
    /// cards.filter(is_valid("code")).write.parquet("s3a://lake/valid")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-ref-functions-udf-scalar.html>
    /// - <https://issues.apache.org/jira/browse/SPARK-25314> (Python functions in conditions of joins)
    pub UDF_IN_FILTER = {
        name: "udf-in-filter", group: Udfs, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for call in &cx.plan.functions {
        let Some(python) = call.udf.and_then(|index| cx.plan.python.get(index)) else { continue };
        let has_builtin = python.function.as_ref().is_some_and(|function| function.builtin.is_some());
        if has_builtin {
            continue;
        }
        if let Some(&node) = call.used_in.iter().find(|&&node| is_condition(cx, node)) {
            cx.shared.report(finding(cx, call, node));
        }
    }
}

fn is_condition(cx: &CodeContext<'_>, id: NodeId) -> bool {
    let node = cx.plan.node(id);
    match node.operator {
        Operator::Join(_) => true,
        Operator::Filter { .. } => {
            let Some(&input) = node.inputs.first() else { return false };
            let few = matches!(cx.plan.bound(input), RowBound::Exactly(..=10_000) | RowBound::Small);
            !few && !is_filtered(cx, input)
        }
        _ => false,
    }
}

/// Whether a filter without a UDF stands on the way to the nearest source.
fn is_filtered(cx: &CodeContext<'_>, from: NodeId) -> bool {
    let uses_udf = |id: NodeId| cx.plan.functions.iter().any(|call| call.udf.is_some() && call.used_in.contains(&id));
    let is_filter = |id: &NodeId| matches!(cx.plan.node(*id).operator, Operator::Filter { .. });
    cx.plan.upstream(from).into_iter().any(|id| is_filter(&id) && !uses_udf(id))
}

fn finding(cx: &CodeContext<'_>, call: &FunctionCall, node: NodeId) -> Finding {
    let name = &call.name;
    let message = match cx.plan.node(node).operator {
        Operator::Join(_) => format!(
            "{name}() runs in Python, so that this condition gives Spark no key to join by. Compute it as a column of its side first, and join by that."
        ),
        _ => format!(
            "{name}() runs in Python, so that this filter isn't pushed down: every row is read and sent there. Filter by built-in functions first, or keep its result as a column of the table."
        ),
    };
    Finding::new(cx.shared.rule, Severity::Information, call.method, message)
}
