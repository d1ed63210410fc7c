//! One file that one task reads.

use super::lineage::{actions_on, readers};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{ActionKind, Literal, NodeId, Operator, Source};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// A single file that Spark can't split, and no repartition behind it.
    ///
    /// ## Why
    /// Spark cuts large files into pieces of 128 MB, one for each task, but a gzip stream has to be read from its start, and
    /// a record over several lines may begin anywhere (`multiLine`). One task then reads the file, and all steps up to the next shuffle
    /// run in that task, too.
    ///
    /// ## Silent when
    /// - the path is a folder, a pattern or a list: then there is a task for each file;
    /// - a repartition follows;
    /// - only some rows are looked at.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.read.schema("user STRING, page STRING").csv("s3://lake/visits.csv.gz")  # finding
    /// visits.withColumn("page", F.lower("page")).write.mode("overwrite").parquet("out")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.read.schema("user STRING, page STRING").csv("s3://lake/visits.csv.gz").repartition(64)
    /// visits.withColumn("page", F.lower("page")).write.mode("overwrite").parquet("out")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-json.html> (`multiLine`)
    /// - <https://spark.apache.org/docs/latest/rdd-programming-guide.html#external-datasets>
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html> (`spark.sql.files.maxPartitionBytes`)
    pub UNSPLITTABLE_SOURCE = {
        name: "unsplittable-source", group: Reads, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let Operator::Source(Source::Read { format, location, options, streaming: false, .. }) = &node.operator else {
            continue;
        };
        let Some(site) =
            node.site.as_ref().filter(|_| matches!(format.as_deref(), Some("csv" | "json" | "text" | "xml")))
        else {
            continue;
        };
        let path = match &location[..] {
            [Literal::Text(path)] => path.as_str(),
            // Its end tells the kind, and a pattern would be written out: `f"{folder}/visits.csv.gz"`.
            [Literal::Template(parts)] => match parts.last() {
                Some(Some(end)) if end.contains('/') => end.as_str(),
                _ => continue,
            },
            _ => continue,
        };
        let multi_line =
            options.iter().rev().find(|(name, _)| name == "multiline").is_some_and(|(_, value)| match value {
                Literal::Bool(on) => *on,
                Literal::Text(text) => text.eq_ignore_ascii_case("true"),
                _ => false,
            });
        let Some(why) = why(path, multi_line).filter(|_| works_on_all_rows(cx.plan, id)) else { continue };
        let message = format!(
            "{why}, so one task reads all of this file and runs every step up to the next shuffle. Repartition right behind the read, or store the file in pieces."
        );
        let fix = templates::repartition_behind(cx.plan, id);
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Information, site.method, message).with_fixes(fix));
    }
}

/// Why Spark can't split the one file at this path.
fn why(path: &str, multi_line: bool) -> Option<&'static str> {
    let name = path.rsplit('/').next()?.to_ascii_lowercase();
    if name.contains(['*', '{', '?', '[', ',']) {
        return None;
    }
    match name.rsplit_once('.')?.1 {
        "gz" | "gzip" => Some("A gzip stream can only be read from its start"),
        "csv" | "json" | "txt" | "xml" | "tsv" | "jsonl" if multi_line => {
            Some("With multiLine a record may begin anywhere in the file")
        }
        _ => None,
    }
}

/// Whether the frame is worked on as it was read: no repartition, and more than a look at some rows.
fn works_on_all_rows(plan: &StaticPlan, id: NodeId) -> bool {
    let mut readers = readers(plan, id).peekable();
    let moves = |id: NodeId| {
        matches!(plan.node(id).operator, Operator::Repartition { .. } | Operator::Limit(_) | Operator::Coalesce { .. })
    };
    let looks = |kind: &ActionKind| matches!(kind, ActionKind::Take(_) | ActionKind::Show | ActionKind::IsEmpty);
    let mut actions = actions_on(plan, id).filter(|action| !looks(&action.kind)).peekable();
    let worked_on = readers.peek().is_some() || actions.peek().is_some();
    worked_on && !readers.any(moves)
}
