//! An overwrite of a partitioned table that deletes all of it.

use super::shape::{name_of, option};
use crate::declare_rule;
use crate::pyspark::api::Step;
use crate::pyspark::plan::{ActionKind, Literal, NodeId, Operator, Write};
use crate::rules::{CodeContext, Finding, Severity, in_force, templates};

declare_rule! {
    /// `mode("overwrite")` with `partitionBy` while partitions are overwritten statically.
    ///
    /// ## Why
    /// By default an overwrite deletes everything under the path, whatever days the new rows hold. A job that computes one day and
    /// overwrites the table leaves that one day. With `partitionOverwriteMode` dynamic only the partitions are replaced that rows are
    /// written into.
    ///
    /// ## Silent when
    /// - `partitionOverwriteMode` is dynamic, as an option or a setting; `replaceWhere` says what is replaced;
    /// - `insertInto`, `overwritePartitions`, and formats with an own way (Iceberg, Hudi);
    /// - the path is that of one part (`f"orders/day={day}"`);
    /// - the rows are literals, or the code is a test.
    ///
    /// It is information where the rows are a part (a filter, one literal value of a partition column), else a hint: a full refresh
    /// means to replace all.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("raw.orders").filter(F.col("day") == "2026-01-01")
    /// out = orders.write.mode("overwrite").partitionBy("day")  # finding
    /// out.parquet("s3a://lake/orders")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("raw.orders").filter(F.col("day") == "2026-01-01")
    /// out = orders.write.mode("overwrite").partitionBy("day")
    /// out.option("partitionOverwriteMode", "dynamic").parquet("s3a://lake/orders")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#runtime-sql-configuration>
    pub STATIC_PARTITION_OVERWRITE = {
        name: "static-partition-overwrite", group: Partitions, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

const MODE: &str = "spark.sql.sources.partitionOverwriteMode";

fn check(cx: &mut CodeContext<'_>) {
    let in_conf = cx.shared.conf.get(MODE).value;
    let is_static = in_conf.is_none_or(|mode| mode.eq_ignore_ascii_case("static"));
    let set_in_code = cx.plan.settings.iter().any(|setting| {
        let value = setting.value.literal();
        setting.key.eq_ignore_ascii_case(MODE) && value.is_none_or(|mode| !mode.eq_ignore_ascii_case("static"))
    });
    if !is_static || set_in_code || cx.shared.is_test {
        return;
    }
    for action in &cx.plan.actions {
        let (ActionKind::Write(write), Some(input)) = (&action.kind, action.input) else { continue };
        if !replaces_all(write)
            || action.site.receiver.is_empty()
            || cx.plan.scope(action.scope).is_test
            || super::lineage::is_generated(cx.plan, input)
        {
            continue;
        }
        let text = cx.shared.text;
        let names: Vec<String> = write.partition_by.iter().filter_map(name_of).collect();
        let by = if names.is_empty() { "its columns".to_owned() } else { names.join(", ") };
        let is_part = is_part(cx, input, &names);
        let severity = if is_part { Severity::Information } else { Severity::Hint };
        let mode = in_force::in_force(cx.shared.conf, MODE)
            .map_or_else(|| format!("{MODE} is static"), |mode| format!("{MODE} = {mode}"));
        let is_table = action.method == "saveAsTable";
        let instead = match is_table {
            true => {
                "insertInto a table that exists, with partitionOverwriteMode dynamic, replaces only the partitions that the rows are in."
            }
            false => "The option partitionOverwriteMode = dynamic replaces only the partitions that the rows are in.",
        };
        let message = format!(
            "This overwrite deletes every partition by {by}, also those that no new row is in ({mode}). {instead}"
        );
        let span = write
            .calls
            .iter()
            .rfind(|call| call.method.of(text) == "mode")
            .map_or(action.site.method, super::shape::called);
        let fix = templates::on_writer(
            action,
            "option(\"partitionOverwriteMode\", \"dynamic\")",
            "Overwrite only the partitions that are written",
        )
        .filter(|_| !is_table);
        cx.shared.report(Finding::new(cx.shared.rule, severity, span, message).with_fixes(fix));
    }
}

/// Whether the path is that of one part: `f"orders/day={day}"`.
fn names_part(target: &Literal) -> bool {
    matches!(target, Literal::Template(parts) if parts.iter().flatten().any(|part| part.ends_with('=')))
}

/// Whether a write deletes what is there before, without a word on which part of it.
fn replaces_all(write: &Write) -> bool {
    let own_way = matches!(write.format.as_deref(), Some("iceberg" | "hudi" | "org.apache.hudi" | "jdbc"));
    let says = ["partitionOverwriteMode", "replaceWhere"].iter().any(|name| option(&write.options, name).is_some());
    let is_open =
        write.calls.iter().any(|call| call.args.iter().any(|argument| argument.keyword.as_deref() == Some("**")));
    !names_part(&write.target)
        && write.mode.as_deref() == Some("overwrite")
        && !write.partition_by.is_empty()
        && !own_way
        && !says
        && !is_open
}

/// Whether the rows look like a part of the table: a filter, or one value of a partition column.
fn is_part(cx: &CodeContext<'_>, input: NodeId, names: &[String]) -> bool {
    cx.plan.upstream(input).into_iter().map(|id| cx.plan.node(id)).any(|node| match &node.operator {
        Operator::Filter { .. } => {
            node.site.as_ref().is_some_and(|site| site.step(cx.shared.text) == Some(Step::Filter))
        }
        Operator::WithColumns => node.site.as_ref().is_some_and(|site| {
            let is_named =
                site.args.first().is_some_and(|it| matches!(&it.value, Literal::Text(name) if names.contains(name)));
            let value = site.args.get(1).map(|it| it.span.of(cx.shared.text)).unwrap_or_default();
            is_named && super::shape::is_literal(value)
        }),
        _ => false,
    })
}
