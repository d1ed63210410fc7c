//! A checkpoint that has no directory.

use crate::declare_rule;
use crate::pyspark::plan::Operator;
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// `checkpoint()` in a file that builds its session and sets no checkpoint directory.
    ///
    /// ## Why
    /// `checkpoint()` writes the rows into a directory that `setCheckpointDir` names. Without one it throws, often after the hours that
    /// made the checkpoint worth having.
    ///
    /// ## Silent when
    /// - the file calls `setCheckpointDir`, or `spark.checkpoint.dir` is set (Spark 4.0 and later);
    /// - the session is built elsewhere: its directory may be set there;
    /// - it is `localCheckpoint()`, which needs no directory;
    /// - the file is a test.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// edges = spark.table("graph.edges").distinct().checkpoint()  # finding
    /// edges.write.mode("overwrite").parquet("s3a://lake/edges")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// spark.sparkContext.setCheckpointDir("s3a://lake/checkpoints")
    /// edges = spark.table("graph.edges").distinct().checkpoint()
    /// edges.write.mode("overwrite").parquet("s3a://lake/edges")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.checkpoint.html>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/api/pyspark.SparkContext.setCheckpointDir.html>
    pub CHECKPOINT_WITHOUT_DIR = {
        name: "checkpoint-without-dir", group: Cache, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

/// The same by a setting, since Spark 4.0.
const DIRECTORY: &str = "spark.checkpoint.dir";

fn check(cx: &mut CodeContext<'_>) {
    let by_setting = cx.shared.conf.get(DIRECTORY).origin.is_some();
    // Whoever calls it, and on what: the name is enough to be silent.
    let by_call = cx.shared.text.contains("setCheckpointDir") || cx.shared.text.contains(DIRECTORY);
    if cx.shared.is_test || by_setting || by_call || !cx.plan.uses.builds_session {
        return;
    }
    let mut seen = Vec::new();
    for node in cx.plan.nodes.iter().filter(|node| node.operator == Operator::Checkpoint) {
        let Some(site) = &node.site else { continue };
        if site.method.of(cx.shared.text) != "checkpoint"
            || cx.plan.scope(node.scope).is_test
            || seen.contains(&site.call)
        {
            continue;
        }
        seen.push(site.call);
        let message = "checkpoint() throws without a directory, and this file builds its session and sets none. \
             Call sparkContext.setCheckpointDir first, or use localCheckpoint(), which keeps the rows in the executors.";
        let fix = templates::checkpoint_directory(cx.plan, cx.shared.text, site, node.scope);
        let finding = Finding::new(cx.shared.rule, Severity::Information, site.method, message).with_fixes(fix);
        cx.shared.report(finding);
    }
}
