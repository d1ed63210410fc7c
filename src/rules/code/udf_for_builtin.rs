//! A UDF that a built-in function could stand for.

use super::python::{arguments, calls_of, is_row_udf, name_of, on_few_rows, words};
use crate::declare_rule;
use crate::pyspark::plan::{FunctionCall, Language, PythonFunction};
use crate::rules::templates::{UdfCall, by_builtin, shown};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A Python UDF whose work built-in functions do.
    ///
    /// ## Why
    /// For each row the values are pickled, sent to a Python process, and the result comes back the same way; the optimizer can't look
    /// into the function, so filters on it aren't pushed down. The same expression of `pyspark.sql.functions` runs in the JVM in
    /// generated code.
    ///
    /// ## Silent when
    /// - a step of the function has no counterpart: loops, look-ups, other libraries, regular expressions that Java reads otherwise;
    /// - the values go through Arrow (`useArrow=True`, `pandas_udf`);
    /// - nothing in the file calls it, or only on few rows.
    ///
    /// Built-in functions give null for null where Python raises, and letters of some languages differ in case: the rewrite is
    /// offered, never applied by itself.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    /// from pyspark.sql.types import StringType
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// clean = F.udf(lambda name: name.strip().lower(), StringType())  # finding
    /// users = spark.read.parquet("s3a://lake/users")
    /// users.withColumn("name", clean("name")).write.parquet("s3a://lake/clean")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// users = spark.read.parquet("s3a://lake/users")
    /// users.withColumn("name", F.lower(F.trim(F.col("name")))).write.parquet("s3a://lake/clean")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/functions.html>
    pub UDF_FOR_BUILTIN = {
        name: "udf-for-builtin", group: Udfs, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, python) in cx.plan.python.iter().enumerate().filter(|(_, python)| is_row_udf(python)) {
        if let Some(finding) = judge(cx, index, python) {
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, index: usize, python: &PythonFunction) -> Option<Finding> {
    let text = cx.shared.text;
    let function = python.function.as_ref()?;
    let expression = function.builtin.as_ref()?;
    let shown = shown(function, expression)?;
    let calls: Vec<_> = calls_of(cx.plan, index).collect();
    if calls.is_empty() || calls.iter().all(|call| on_few_rows(cx.plan, call)) {
        return None;
    }
    let message = format!(
        "{} runs in Python: every row is pickled there and back, and the optimizer can't look into it. Built-in functions do the same: {shown}; look at how it treats nulls.",
        words(python),
    );
    // A call in SQL needs SQL's names.
    let in_python = |call: &&&FunctionCall| call.language == Language::Python;
    let written: Option<Vec<UdfCall<'_>>> = calls
        .iter()
        .map(|call| {
            Some(call)
                .filter(in_python)
                .and_then(|call| Some(UdfCall { call: call.call, arguments: arguments(text, call)? }))
        })
        .collect();
    let fix = written.and_then(|calls| by_builtin(cx.plan, text, function, expression, &calls));
    let finding = Finding::new(cx.shared.rule, Severity::Warning, name_of(text, python), message).with_fixes(fix);
    Some(calls.iter().take(3).fold(finding, |finding, call| finding.with_related(call.method, "called here")))
}
