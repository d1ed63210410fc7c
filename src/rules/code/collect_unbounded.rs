//! `collect()` of a frame that nothing bounds.

use super::rows;
use crate::declare_rule;
use crate::pyspark::plan::ActionKind;
use crate::rules::{CodeContext, templates};

declare_rule! {
    /// `collect()` of a frame whose number of rows nothing bounds.
    ///
    /// ## Why
    /// `collect()` moves every partition into the memory of the driver, one JVM, and from there into Python. The cluster exists
    /// because no single machine holds the data. Spark stops the job when the serialised results pass
    /// `spark.driver.maxResultSize` (1 GiB by default); below that the driver stalls in garbage collection or dies.
    ///
    /// ## Silent when
    /// - the rows are bounded: `limit`, `take`, an aggregation, `describe`, distinct keys, literal data, `SHOW TABLES`, a `LIMIT` in SQL;
    /// - they were on the driver before: `createDataFrame(rows)`, `parallelize(items)`;
    /// - the file is a test;
    /// - a linked run measured that the call brought a few rows only. One that brought 100 MiB or more is a warning with the number.
    ///
    /// A frame from another function, one filtered to a key, and a parameter under `if isinstance(param, DataFrame)` are hints: the
    /// code doesn't tell how large they are.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// for order in orders.collect():  # finding
    ///     print(order)
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// for order in orders.toLocalIterator():
    ///     print(order)
    /// some = orders.take(100)
    /// totals = orders.groupBy("country").sum("amount").collect()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#application-properties> (`spark.driver.maxResultSize`)
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.collect.html>
    /// - <https://issues.apache.org/jira/browse/SPARK-3466> (why there is a limit for results)
    pub COLLECT_UNBOUNDED = {
        name: "collect-unbounded", group: Driver, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("max-rows", 100_000.0, "a literal bound above this many rows is reported, too")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    rows::report(
        cx,
        |action| action.kind == ActionKind::Collect,
        |cx, action| {
            let fixes = [
                templates::iterate(action),
                templates::first(cx.shared.text, action),
                Some(templates::take(action)),
                templates::write_rows(cx.shared.text, action),
            ];
            fixes.into_iter().flatten().collect()
        },
    );
}
