//! A partitioned write whose rows are spread over all tasks.

use super::lineage::is_given;
use super::shape::{SHUFFLE_PARTITIONS, columns, is_literal, is_narrow, is_true, name_of, option, plain_column};
use crate::declare_rule;
use crate::pyspark::api;
use crate::pyspark::plan::{ActionKind, CallSite, Literal, NodeId, Operator, RowBound, Source, Write};
use crate::rules::{CodeContext, Finding, Severity, Vendor, in_force, templates};
use crate::text::Span;

declare_rule! {
    /// `partitionBy` on rows that are not distributed by its columns: every task writes a file into every directory.
    ///
    /// ## Why
    /// A task writes one file for each value of the partition columns that it holds. After a shuffle by another key each task holds
    /// all of them: 200 tasks and 365 days are up to 73,000 files, which cost the write minutes of commits and every later read a
    /// request a file. `repartition` by the same columns puts each value into one task.
    ///
    /// ## Silent when
    /// - the rows are distributed by the columns: `repartition`, `groupBy`, a sort or a join by them, `REBALANCE`, `DISTRIBUTE BY`;
    /// - an argument `partitionBy=` isn't known: it may be `None`;
    /// - few rows, or one task, or a known small number of tasks write;
    /// - the columns hold one value each: a literal, a filter for equality;
    /// - the table's format does it: Iceberg, Hudi, Delta with optimized writes.
    ///
    /// Where it isn't known how the rows lie (a table may be read in the partitions that it is written in), on frames from elsewhere,
    /// and for small results of an aggregation it is information or a hint.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.csv("s3a://lake/incoming", schema="id long, shop long, day date")
    /// shops = spark.table("shops")
    /// joined = orders.join(shops, "shop")
    /// joined.write.mode("append").partitionBy("day").parquet("s3a://lake/orders")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.csv("s3a://lake/incoming", schema="id long, shop long, day date")
    /// shops = spark.table("shops")
    /// joined = orders.join(shops, "shop")
    /// joined.repartition("day").write.mode("append").partitionBy("day").parquet("s3a://lake/orders")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-load-save-functions.html#bucketing-sorting-and-partitioning>
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#coalesce-hints-for-sql-queries>
    /// - <https://issues.apache.org/jira/browse/SPARK-45594> (files of a partitioned write)
    pub PARTITIONED_WRITE_SMALL_FILES = {
        name: "partitioned-write-small-files", group: Partitions, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("few-tasks", 16.0, "silent if a repartition or coalesce leaves at most this many tasks")],
        check: Code(check),
    }
}

/// Settings that make a table format distribute rows before it writes.
const OPTIMIZED_WRITES: [&str; 3] = [
    "spark.databricks.delta.optimizeWrite.enabled",
    "spark.microsoft.delta.optimizeWrite.enabled",
    "spark.databricks.delta.properties.defaults.autoOptimize.optimizeWrite",
];

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test || OPTIMIZED_WRITES.iter().any(|key| cx.shared.conf.boolean(key) == Some(true)) {
        return;
    }
    for action in &cx.plan.actions {
        let (ActionKind::Write(write), Some(input)) = (&action.kind, action.input) else { continue };
        let is_partitioned =
            !write.partition_by.is_empty() && !distributes(write) && !cx.plan.scope(action.scope).is_test;
        if is_partitioned && let Some(finding) = judge(cx, write, &action.site, input) {
            cx.shared.report(finding);
        }
    }
}

/// Whether the table's format shuffles by the partition columns itself.
fn distributes(write: &Write) -> bool {
    let by_format = matches!(write.format.as_deref(), Some("iceberg" | "hudi" | "org.apache.hudi"));
    let asked = ["optimizeWrite", "delta.autoOptimize.optimizeWrite", "write.distribution-mode"];
    by_format
        || asked.iter().any(|name| {
            option(&write.options, name).is_some_and(|value| is_true(value) || *value == Literal::Text("hash".into()))
        })
}

fn judge(cx: &CodeContext<'_>, write: &Write, site: &CallSite, input: NodeId) -> Option<Finding> {
    let text = cx.shared.text;
    let (by, span) = partition_call(write, site, text)?;
    let names: Option<Vec<String>> = write.partition_by.iter().map(name_of).collect();
    if matches!(cx.plan.bound(input), RowBound::Exactly(_) | RowBound::Small)
        || is_one_value(cx, input, names.as_deref())
    {
        return None;
    }
    let spread = spread(cx, input, names.as_deref())?;
    let is_delta = write.format.as_deref() == Some("delta") || write.format.is_none();
    let softer = [
        (cx.plan.bound(input) == RowBound::ByGroups, Severity::Hint),
        (is_given(cx.plan, input) || names.is_none(), Severity::Information),
        (is_delta && cx.shared.environment.vendor == Vendor::Databricks, Severity::Information),
    ];
    let severity =
        softer.iter().filter(|(holds, _)| *holds).map(|(_, severity)| *severity).fold(spread.severity, Severity::min);
    let list = names.as_ref().map(|names| names.join(", "));
    let values = list.as_ref().map_or_else(|| "its columns".to_owned(), Clone::clone);
    let tasks = match in_force::in_force(cx.shared.conf, SHUFFLE_PARTITIONS) {
        Some(value) if spread.after_shuffle => format!(", with up to {SHUFFLE_PARTITIONS} = {value} tasks"),
        _ => String::new(),
    };
    let message = format!(
        "Nothing distributes the rows by {values} before this write, so each task writes a file into the directory of each value that it holds: up to tasks times values files{tasks}. repartition({}) before the write puts each value into one task.",
        by.as_deref().unwrap_or("…"),
    );
    let is_dynamic = site.args.iter().any(|argument| argument.keyword.as_deref() == Some(GLUE));
    let fix = by.filter(|_| !is_dynamic).and_then(|by| {
        templates::before_write(
            text,
            write,
            &format!("repartition({by})"),
            "Repartition by the columns before the write",
        )
    });
    let finding = Finding::new(cx.shared.rule, severity, span, message).with_fixes(fix);
    Some(match spread.site {
        Some(site) => finding.with_related(site, "distributes the rows otherwise"),
        None => finding,
    })
}

/// The argument of AWS Glue's writes that holds `partitionKeys`.
const GLUE: &str = "connection_options";

/// The partition columns as arguments of `repartition`, where they can be, and their place in the write.
fn partition_call(write: &Write, site: &CallSite, text: &str) -> Option<(Option<String>, Span)> {
    let quoted = |names: &[Literal]| {
        let names: Option<Vec<String>> = names.iter().map(|name| Some(format!("\"{}\"", name_of(name)?))).collect();
        names.map(|names| names.join(", "))
    };
    if let Some(call) = write.calls.iter().rfind(|call| call.method.of(text) == "partitionBy") {
        let unpacked = || match &call.args[..] {
            [only] if only.keyword.as_deref() == Some("*") => Some(only.span.of(text).to_owned()),
            _ => None,
        };
        return Some((quoted(&write.partition_by).or_else(unpacked), call.method.cover(call.arguments)));
    }
    // What isn't known may be `None`. AWS Glue has the columns among the options of the connection.
    let argument =
        site.args.iter().find(|argument| matches!(argument.keyword.as_deref(), Some("partitionBy" | GLUE)))?;
    quoted(&write.partition_by).map(|names| (Some(names), argument.span))
}

/// How the rows lie that are written.
struct Spread {
    severity: Severity,
    after_shuffle: bool,
    site: Option<Span>,
}

enum Step {
    /// By the partition columns, or in few tasks.
    Clustered,
    /// As in the inputs.
    Passes,
    /// By something else, this surely.
    Spreads(Severity),
}

/// How the rows are spread over the tasks; `None` if they may be clustered by the columns.
fn spread(cx: &CodeContext<'_>, from: NodeId, names: Option<&[String]>) -> Option<Spread> {
    let mut spread = Spread { severity: Severity::Warning, after_shuffle: false, site: None };
    let mut open = vec![from];
    let mut seen = Vec::new();
    while let Some(id) = open.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let node = cx.plan.node(id);
        match step(cx, id, names) {
            Step::Clustered => return None,
            Step::Passes => open.extend(node.inputs.iter().copied()),
            Step::Spreads(severity) => {
                spread.severity = spread.severity.min(severity);
                spread.after_shuffle |= super::shape::shuffles(node);
                spread.site = spread.site.or(node.site.as_ref().map(|site| site.method));
            }
        }
    }
    Some(spread)
}

fn step(cx: &CodeContext<'_>, id: NodeId, names: Option<&[String]>) -> Step {
    let text = cx.shared.text;
    let node = cx.plan.node(id);
    // By some of the columns, and nothing else: all rows of a value lie in few tasks.
    let clusters = |keys: &[Option<String>]| match names {
        None => false,
        Some(names) => !keys.is_empty() && keys.iter().all(|key| key.as_ref().is_none_or(|key| names.contains(key))),
    };
    let touches = |keys: &[Option<String>]| match names {
        None => true,
        Some(names) => keys.iter().any(|key| key.as_ref().is_none_or(|key| names.contains(key))),
    };
    let keys = || node.site.as_ref().map(|site| columns(site, text)).unwrap_or_default();
    match &node.operator {
        Operator::Repartition { keyed: true, .. } if touches(&keys()) => Step::Clustered,
        Operator::Repartition { count: None, keyed: false } | Operator::Coalesce { count: None } => Step::Clustered,
        Operator::Repartition { count: Some(count), .. } | Operator::Coalesce { count: Some(count) }
            if *count as f64 <= cx.shared.option("few-tasks") =>
        {
            Step::Clustered
        }
        Operator::Repartition { .. } => Step::Spreads(Severity::Warning),
        Operator::Aggregate { grouped: true, keys, .. } if clusters(keys) => Step::Clustered,
        Operator::Aggregate { grouped: true, .. } => Step::Spreads(Severity::Hint),
        Operator::Aggregate { .. } | Operator::Limit(_) | Operator::Summary => Step::Clustered,
        Operator::Distinct if !keys().is_empty() && clusters(&keys()) => Step::Clustered,
        Operator::Distinct => Step::Spreads(Severity::Warning),
        Operator::Join(_) if super::shape::is_broadcast(cx.plan, node) => Step::Passes,
        Operator::Join(join) => match &join.condition {
            crate::pyspark::plan::JoinCondition::Using(keys) => {
                let keys: Vec<Option<String>> = keys.iter().cloned().map(Some).collect();
                if clusters(&keys) { Step::Clustered } else { Step::Spreads(Severity::Warning) }
            }
            _ => Step::Spreads(Severity::Information),
        },
        Operator::Window => Step::Spreads(Severity::Information),
        Operator::Sort { global: true } => match keys().first() {
            Some(Some(first)) if names.is_none_or(|names| !names.contains(first)) => Step::Spreads(Severity::Warning),
            _ => Step::Clustered,
        },
        Operator::Hint(hint) if hint.starts_with("re") || hint == "coalesce" => Step::Clustered,
        Operator::Udf if node.site.as_ref().is_some_and(|site| site.step(text) == Some(api::Step::MapGroups)) => {
            Step::Clustered
        }
        Operator::Udf | Operator::Coalesce { .. } | Operator::Sort { .. } | Operator::Sample { .. } => Step::Passes,
        Operator::Cache
        | Operator::Checkpoint
        | Operator::Merge
        | Operator::LoopCarried(_)
        | Operator::Union { .. } => Step::Passes,
        operator if is_narrow(operator) => Step::Passes,
        Operator::Source(source) => of_source(source),
        _ => Step::Spreads(Severity::Information),
    }
}

/// Text files know no partitions by column; what else is read may lie as it is written.
fn of_source(source: &Source) -> Step {
    match source {
        Source::Read { format: Some(format), options, .. }
            if format == "jdbc" && option(options, "numPartitions").is_none() =>
        {
            Step::Clustered
        }
        Source::Read { format: Some(format), .. }
            if matches!(format.as_str(), "csv" | "json" | "text" | "xml" | "jdbc") =>
        {
            Step::Spreads(Severity::Warning)
        }
        Source::Sql { text: Literal::Text(text), .. } => {
            let text = text.to_ascii_lowercase();
            let clusters = ["rebalance", "distribute by", "cluster by", "repartition", "coalesce("];
            if clusters.iter().any(|word| text.contains(word)) {
                Step::Clustered
            } else {
                Step::Spreads(Severity::Information)
            }
        }
        Source::Local(Some(_)) | Source::Range(Some(_)) => Step::Clustered,
        _ => Step::Spreads(Severity::Information),
    }
}

/// Whether every partition column holds one value: a literal was put into it, or a filter keeps one.
fn is_one_value(cx: &CodeContext<'_>, input: NodeId, names: Option<&[String]>) -> bool {
    let Some(names) = names else { return false };
    let text = cx.shared.text;
    let upstream = cx.plan.upstream(input);
    names.iter().all(|name| {
        upstream.iter().any(|&id| {
            let node = cx.plan.node(id);
            let Some(site) = &node.site else { return false };
            match node.operator {
                Operator::WithColumns => {
                    site.args.first().is_some_and(|argument| argument.value == Literal::Text(name.clone()))
                        && site.args.get(1).is_some_and(|argument| is_literal(argument.span.of(text)))
                }
                Operator::Filter { key_equality: true } => site.args.first().is_some_and(|argument| {
                    let condition = argument.span.of(text);
                    let compared = condition.split("==").next().unwrap_or_default();
                    plain_column(compared) == Some(name.as_str())
                        || condition.contains(&format!("{name} ="))
                        || condition.contains(&format!("{name}="))
                }),
                _ => false,
            }
        })
    })
}
