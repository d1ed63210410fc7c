//! Every file's footer read for the schema.

use crate::declare_rule;
use crate::pyspark::plan::{Literal, Operator, Source};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// A Parquet or ORC read with `mergeSchema`.
    ///
    /// ## Why
    /// Spark takes the schema from one file. With `mergeSchema` it opens the footers of all files, in a job of its own, before the first
    /// row is read: a table of a hundred thousand files waits for a hundred thousand requests, on each read.
    ///
    /// ## Silent when
    /// - a schema is given: then nothing is merged;
    /// - the format has a log of its schema (Delta, Iceberg), or the option is `false`.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.read.option("mergeSchema", "true").parquet("s3://lake/events")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.read.schema("id BIGINT, name STRING, device STRING").parquet("s3://lake/events")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-parquet.html#schema-merging>
    pub MERGE_SCHEMA = {
        name: "merge-schema", group: Reads, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for node in &cx.plan.nodes {
        let Operator::Source(Source::Read { format, options, has_schema: false, streaming: false, chain, .. }) =
            &node.operator
        else {
            continue;
        };
        let Some(site) = node.site.as_ref().filter(|_| matches!(format.as_deref(), Some("parquet" | "orc"))) else {
            continue;
        };
        let merges =
            options.iter().rev().find(|(name, _)| name == "mergeschema").is_some_and(|(_, value)| match value {
                Literal::Bool(on) => *on,
                Literal::Text(text) => text.eq_ignore_ascii_case("true"),
                _ => false,
            });
        if !merges {
            continue;
        }
        let message = "With mergeSchema Spark opens the footer of every file before it reads the first row, each time. If the columns are known, give them with schema(): missing ones are read as null.";
        let span = written_option(cx.shared.text, *chain).unwrap_or(site.method);
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Information, span, message));
    }
}

/// The option's name in the reader's chain.
fn written_option(text: &str, chain: Span) -> Option<Span> {
    const OPTION: &str = "mergeschema";
    let at = chain.of(text).to_ascii_lowercase().find(OPTION)? + chain.start as usize;
    Some(Span::new(at, at + OPTION.len()))
}
