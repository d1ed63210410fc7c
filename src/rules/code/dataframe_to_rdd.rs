//! Frames that leave for RDDs.

use super::lineage::readers;
use crate::declare_rule;
use crate::pyspark::api::Step;
use crate::pyspark::plan::{NodeId, Operator, Source};
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
    /// - it numbers rows (`zipWithIndex`);
    /// - the RDD of objects is what a function returns: its callers want no frame.
    /// - `pyspark.mllib` takes the rows (`Rating`, `LabeledPoint`, vectors), or they are the lines of a text.
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
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let mut findings = Vec::new();
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let Some(site) = node.site.as_ref().filter(|_| !cx.plan.is_repeat(id)) else { continue };
        if node.operator != Operator::Rdd
            || site.method.of(cx.shared.text) != "rdd"
            || !by_row(cx, id)
            || is_handed_out(cx, id)
        {
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

/// Whether the RDD leaves the file as one, and is neither run nor made a frame again before.
fn is_handed_out(cx: &CodeContext<'_>, rdd: NodeId) -> bool {
    let mut behind = vec![rdd];
    let mut at = 0;
    while let Some(&id) = behind.get(at) {
        at += 1;
        let next = readers(cx.plan, id).filter(|reader| !behind.contains(reader)).collect::<Vec<_>>();
        behind.extend(next);
    }
    let stays = behind.iter().all(|&id| matches!(cx.plan.node(id).operator, Operator::Rdd | Operator::Udf));
    let runs = cx.plan.actions.iter().any(|action| action.input.is_some_and(|input| behind.contains(&input)));
    stays && !runs && behind.iter().any(|id| cx.plan.escapes.contains(id))
}

/// Whether a function of single rows works on the RDD, and no library of RDDs wants its results.
fn by_row(cx: &CodeContext<'_>, rdd: NodeId) -> bool {
    const OF_MLLIB: [&str; 5] = ["Rating(", "LabeledPoint(", "Vectors.", "DenseVector(", "SparseVector("];
    let text = cx.shared.text;
    let sites =
        cx.plan.nodes.iter().filter(|node| node.inputs.first() == Some(&rdd)).filter_map(|node| node.site.as_ref());
    let mut by_row =
        sites.filter(|site| matches!(site.step(text), Some(Step::Map | Step::MapKeys | Step::Filter))).peekable();
    by_row.peek().is_some()
        && !by_row.any(|site| OF_MLLIB.iter().any(|name| site.arguments.of(text).contains(name)))
        && !is_text(cx, rdd)
}

/// Whether the rows are the lines of a text.
fn is_text(cx: &CodeContext<'_>, rdd: NodeId) -> bool {
    cx.plan.node(rdd).inputs.first().is_some_and(|&frame| match &cx.plan.node(frame).operator {
        Operator::Source(Source::Read { format, .. }) => format.as_deref() == Some("text"),
        _ => false,
    })
}
