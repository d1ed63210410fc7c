//! Frames that leave for RDDs.

use crate::declare_rule;
use crate::pyspark::plan::{NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// `df.rdd` whose rows go through a Python function one by one.
    ///
    /// ## Why
    /// Each row is turned into a Python object and back; the optimizer sees neither columns nor conditions behind it, and Spark Connect
    /// and serverless compute have no RDDs at all. The functions of columns, or `mapInPandas`, do the same on the frame.
    ///
    /// ## Silent when
    /// - whole partitions are worked on (`mapPartitions`, `foreachPartition`);
    /// - only the RDD's properties are asked for (`getNumPartitions`), or it is handed to another library;
    /// - it is read as JSON (`spark.read.json(df.rdd.map(...))`);
    /// - it numbers rows (`zipWithIndex`).
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// users = spark.read.parquet("s3a://lake/users")
    /// names = users.rdd.map(lambda row: (row.id, row.name.lower())).toDF(["id", "name"])  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// users = spark.read.parquet("s3a://lake/users")
    /// names = users.select("id", F.lower("name").alias("name"))
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/spark-connect-overview.html>
    pub DATAFRAME_TO_RDD = {
        name: "dataframe-to-rdd", group: Udfs, severity: Information, confidence: Documented,
        since: "0.2.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let mut findings = Vec::new();
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let Some(site) = node.site.as_ref().filter(|_| !cx.plan.is_repeat(id)) else { continue };
        if node.operator != Operator::Rdd || site.method.of(cx.shared.text) != "rdd" || !by_row(cx, id) {
            continue;
        }
        // The reader of JSON texts takes an RDD, and has no other way to a schema.
        if site.statement.of(cx.shared.text).contains(".read.json(") {
            continue;
        }
        let connect = if cx.plan.uses.connect { " Spark Connect, which this file uses, has no RDDs." } else { "" };
        let message = format!(
            "Behind .rdd every row becomes a Python object, and the optimizer sees nothing of it.{connect} Use functions of columns, or mapInPandas on the frame."
        );
        findings.push(Finding::new(cx.shared.rule, Severity::Information, site.method, message));
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

/// Whether a function of single rows works on the RDD.
fn by_row(cx: &CodeContext<'_>, rdd: NodeId) -> bool {
    cx.plan.nodes.iter().any(|node| {
        let method = node.site.as_ref().map(|site| site.method.of(cx.shared.text)).unwrap_or_default();
        node.inputs.first() == Some(&rdd) && matches!(method, "map" | "flatMap" | "filter" | "keyBy" | "mapValues")
    })
}
