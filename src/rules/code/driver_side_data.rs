//! Data that the driver reads and sends to Spark.

use crate::declare_rule;
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// `createDataFrame` of what pandas read.
    ///
    /// ## Why
    /// One process reads the file, holds it, and sends it along with the tasks: through `spark.rpc.message.maxSize` if it is large. Spark
    /// reads the same file in parallel, on the executors, and only the columns that are used.
    ///
    /// ## Silent when
    /// - the data is a literal;
    /// - pandas reads what Spark can't: Excel, HTML, feather;
    /// - the file is a test.
    ///
    /// ## Example
    /// ```python
    /// import pandas as pd
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// shops = spark.createDataFrame(pd.read_parquet("s3://lake/shops"))  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// shops = spark.read.parquet("s3a://lake/shops")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources.html>
    /// - <https://spark.apache.org/docs/latest/configuration.html#networking> (`spark.rpc.message.maxSize`)
    pub DRIVER_SIDE_DATA = {
        name: "driver-side-data", group: Driver, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for data in &cx.plan.driver_data {
        if cx.plan.scope(cx.plan.node(data.node).scope).is_test {
            continue;
        }
        let message = "pandas reads these rows in the driver, and Spark sends them along with its tasks. \
             Read them with spark.read: the executors do it in parallel.";
        let finding = Finding::new(cx.shared.rule, Severity::Information, data.span, message);
        cx.shared.report(finding);
    }
}
