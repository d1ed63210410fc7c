//! Functions that run in Python row by row.

use super::python::{calls_of, is_row_udf, name_of, on_few_rows, words};
use crate::declare_rule;
use crate::pyspark::plan::PythonFunction;
use crate::rules::templates::{pandas_udf, use_arrow};
use crate::rules::{CodeContext, Finding, Severity};

/// Sends the values of all UDFs through Arrow.
const ARROW: &str = "spark.sql.execution.pythonUDF.arrow.enabled";

declare_rule! {
    /// A UDF that Python runs row by row.
    ///
    /// ## Why
    /// Each row's values are pickled, sent to a Python process one by one, and the results come back the same way. Arrow moves them in
    /// batches of columns (10,000 rows by default), and a `pandas_udf` also works on whole batches.
    ///
    /// ## Silent when
    /// - built-in functions do the same (`udf-for-builtin` says so);
    /// - the values go through Arrow: `useArrow=True`, `spark.sql.execution.pythonUDF.arrow.enabled`, `pandas_udf`, a UDTF;
    /// - it is called on few rows only, or nothing in the file calls it.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    /// from pyspark.sql.types import DoubleType
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// @F.udf(DoubleType())
    /// def score(text):  # finding
    ///     return sum(ord(letter) for letter in text) / 7.0
    ///
    /// spark.table("posts").withColumn("score", score("text")).write.parquet("s3a://lake/scores")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    /// from pyspark.sql.types import DoubleType
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// @F.udf(DoubleType(), useArrow=True)
    /// def score(text):
    ///     return sum(ord(letter) for letter in text) / 7.0
    ///
    /// spark.table("posts").withColumn("score", score("text")).write.parquet("s3a://lake/scores")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/tutorial/sql/arrow_pandas.html#arrow-python-udfs>
    pub PYTHON_UDF = {
        name: "python-udf", group: Udfs, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let by_arrow = cx.shared.conf.get(ARROW).value.is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if by_arrow {
        return;
    }
    for (index, python) in cx.plan.python.iter().enumerate().filter(|(_, python)| is_row_udf(python)) {
        if let Some(finding) = judge(cx, index, python) {
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, index: usize, python: &PythonFunction) -> Option<Finding> {
    let has_builtin = python.function.as_ref().is_some_and(|function| function.builtin.is_some());
    let mut calls = calls_of(cx.plan, index).peekable();
    calls.peek()?;
    if has_builtin || calls.all(|call| on_few_rows(cx.plan, call)) {
        return None;
    }
    let has_arrow = cx.shared.version().at_least(3, 5);
    let instead = if has_arrow {
        "Pass them in batches with useArrow=True, or work on batches in a pandas_udf."
    } else {
        "A pandas_udf gets them in batches."
    };
    let message = format!("{} runs in Python once a row, its values pickled one by one. {instead}", words(python));
    let arrow = use_arrow(cx.shared.text, python).filter(|_| has_arrow);
    let pandas = pandas_udf(cx.plan, cx.shared.text, python);
    let span = name_of(cx.shared.text, python);
    Some(Finding::new(cx.shared.rule, Severity::Information, span, message).with_fixes(arrow).with_fixes(pandas))
}
