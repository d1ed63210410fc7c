//! A directory for each id.

use super::shape::{columns, name_of};
use crate::declare_rule;
use crate::pyspark::plan::{ActionKind, CallSite, Literal, NodeId, Operator, Write};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// `partitionBy` on a column that is named like an id, a moment or a person.
    ///
    /// ## Why
    /// Every value is a directory with at least one file, in every write. A million users are a million files of some kilobytes: the
    /// write commits and every read lists them one by one, for minutes before the first task. Partition by a day or a bucket, and let
    /// the files' statistics find the id.
    ///
    /// ## Silent when
    /// - the name comes from elsewhere, or is one of few values (`country_id`, `tenant_id`);
    /// - the column is computed here: a day out of a moment, a bucket out of an id;
    /// - few rows are written, or the code is a test.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.table("web.events").repartition("user_id")
    /// events.write.mode("append").partitionBy("user_id").parquet("s3a://lake/events")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.table("web.events").withColumn("day", F.to_date("ts")).repartition("day")
    /// events.write.mode("append").partitionBy("day").parquet("s3a://lake/events")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-load-save-functions.html#bucketing-sorting-and-partitioning>
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-parquet.html#partition-discovery>
    pub PARTITION_BY_HIGH_CARDINALITY = {
        name: "partition-by-high-cardinality", group: Partitions, severity: Information, confidence: Reasoned,
        since: "0.1.0", check: Code(check),
    }
}

/// Whole names, and last words of names, of what has a value for nearly each row.
const MANY: [&str; 13] = [
    "uuid",
    "guid",
    "timestamp",
    "datetime",
    "ts",
    "email",
    "phone",
    "username",
    "url",
    "ip",
    "ssn",
    "hash",
    "created_at",
];

/// Things with very many ids.
const MANY_IDS: [&str; 40] = [
    "user",
    "customer",
    "client",
    "order",
    "session",
    "transaction",
    "event",
    "device",
    "account",
    "request",
    "message",
    "visitor",
    "invoice",
    "payment",
    "member",
    "person",
    "patient",
    "trip",
    "click",
    "record",
    "artist",
    "song",
    "track",
    "video",
    "article",
    "post",
    "tweet",
    "comment",
    "product",
    "item",
    "employee",
    "student",
    "passenger",
    "driver",
    "listing",
    "ticket",
    "contract",
    "policy",
    "loan",
    "author",
];

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for action in &cx.plan.actions {
        let (ActionKind::Write(write), Some(input)) = (&action.kind, action.input) else { continue };
        let is_small = matches!(cx.plan.bound(input), crate::pyspark::plan::RowBound::Exactly(_));
        if is_small || cx.plan.scope(action.scope).is_test {
            continue;
        }
        for name in write.partition_by.iter().filter_map(name_of) {
            if !has_many_values(&name) || is_computed(cx, input, &name) {
                continue;
            }
            let Some(span) = place(write, &action.site, cx.shared.text, &name) else { continue };
            let message = format!(
                "{name} sounds like a column with a value for nearly each row, and partitionBy makes a directory with a file of its own for each. Partition by a day or a bucket of it; statistics in the files find the rest."
            );
            cx.shared.report(Finding::new(cx.shared.rule, Severity::Information, span, message));
        }
    }
}

fn has_many_values(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit('_').next().unwrap_or_default();
    let of = name.strip_suffix("_id").or_else(|| name.strip_suffix("id")).map(|of| of.trim_end_matches('_'));
    let is_id = of.is_some_and(|of| of.is_empty() || MANY_IDS.contains(&of.rsplit('_').next().unwrap_or_default()));
    is_id
        || MANY.contains(&name.as_str())
        || (name.contains('_') && MANY.contains(&last) && last != "ip" && last != "hash")
}

/// Whether a step before gives the column its value.
fn is_computed(cx: &CodeContext<'_>, input: NodeId, name: &str) -> bool {
    cx.plan.upstream(input).into_iter().map(|id| cx.plan.node(id)).any(|node| {
        let Some(site) = &node.site else { return false };
        match &node.operator {
            Operator::WithColumns | Operator::Udf | Operator::Window => {
                site.args.first().is_some_and(|argument| match &argument.value {
                    Literal::Text(column) => column == name,
                    Literal::Dict(entries) => entries.iter().any(|(key, _)| *key == Literal::Text(name.to_owned())),
                    _ => false,
                })
            }
            Operator::Project { .. } => {
                let written = site.arguments.of(cx.shared.text);
                columns(site, cx.shared.text).iter().all(|column| column.as_deref() != Some(name))
                    && ["alias", " as ", " AS ", "Renamed"]
                        .iter()
                        .any(|word| written.contains(word) || site.method.of(cx.shared.text).contains(word))
                    && written.contains(name)
            }
            _ => false,
        }
    })
}

/// The column's name in the write.
fn place(write: &Write, site: &CallSite, text: &str, name: &str) -> Option<Span> {
    let of_call = write.calls.iter().filter(|call| matches!(call.method.of(text), "partitionBy" | "partitionedBy"));
    let arguments = of_call.flat_map(|call| &call.args);
    let arguments =
        arguments.chain(site.args.iter().filter(|argument| argument.keyword.as_deref() == Some("partitionBy")));
    let spans: Vec<Span> = arguments.map(|argument| argument.span).collect();
    let quoted = |span: &&Span| span.of(text).contains(name);
    let span = *spans.iter().find(quoted).or(spans.first())?;
    let at = span.of(text).find(&format!("\"{name}\"")).or_else(|| span.of(text).find(&format!("'{name}'")));
    Some(match at {
        Some(at) => Span::new(span.start as usize + at, span.start as usize + at + name.len() + 2),
        None => span,
    })
}
