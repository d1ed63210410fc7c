//! A database table through one connection.

use super::lineage::{actions_on, readers};
use super::sides::{source_name, words};
use crate::declare_rule;
use crate::pyspark::plan::{ActionKind, CallSite, Literal, NodeId, Operator, Source};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// A JDBC read without partition column and bounds: one connection and one task read the table.
    ///
    /// ## Why
    /// Spark splits a JDBC read only by `partitionColumn`, `lowerBound`, `upperBound` and `numPartitions`, which go together, or by a
    /// list of `predicates`. Without them the whole table comes through one connection into one partition on one core, and what follows
    /// has one task, too, until the next shuffle. `numPartitions` alone splits nothing.
    ///
    /// ## Silent when
    /// - the four options or `predicates` are given, or options that the file doesn't tell;
    /// - `query` is given, or the table is a subquery with a limit, an aggregate or an equality: few rows by the code;
    /// - the name is that of a lookup table (`dim_shops`, `country_codes`);
    /// - only a key or a few rows of it are asked for.
    ///
    /// Information where the table's name comes from elsewhere. An error where a partition column stands without its bounds, which Spark
    /// refuses.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.jdbc("jdbc:postgresql://db/shop", "public.orders", properties={"fetchsize": "10000"})  # finding
    /// orders.write.mode("overwrite").parquet("s3://lake/orders")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.jdbc(
    ///     "jdbc:postgresql://db/shop", "public.orders", properties={"fetchsize": "10000"},
    ///     column="order_id", lowerBound=0, upperBound=50_000_000, numPartitions=16,
    /// )
    /// orders.write.mode("overwrite").parquet("s3://lake/orders")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-jdbc.html> (`partitionColumn`, `numPartitions`)
    pub JDBC_SINGLE_PARTITION = {
        name: "jdbc-single-partition", group: Reads, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let (
            Operator::Source(Source::Read { format, location, options, open: false, streaming: false, .. }),
            Some(site),
        ) = (&node.operator, &node.site)
        else {
            continue;
        };
        if format.as_deref() != Some("jdbc") {
            continue;
        }
        let table = options.iter().rev().find(|(name, _)| name == "dbtable" || name == "table").map(|(_, value)| value);
        let read = JdbcRead { id, site, options, table: table.or(location.get(1)) };
        if let Some(finding) = read.judge(cx) {
            cx.shared.report(finding);
        }
    }
}

/// A read with its options.
struct JdbcRead<'a> {
    id: NodeId,
    site: &'a CallSite,
    options: &'a [(String, Literal)],
    table: Option<&'a Literal>,
}

impl JdbcRead<'_> {
    /// Whether one of these is among the options, or at this position of `jdbc(...)`.
    fn has(&self, cx: &CodeContext<'_>, names: &[&str], position: Option<usize>) -> bool {
        let by_position = position.is_some_and(|at| {
            let given = self.site.args.iter().take(at + 1).filter(|argument| argument.keyword.is_none()).count();
            self.site.method.of(cx.shared.text) == "jdbc" && given == at + 1
        });
        by_position || self.options.iter().any(|(option, _)| names.contains(&option.as_str()))
    }

    fn judge(&self, cx: &CodeContext<'_>) -> Option<Finding> {
        let unpacked = self.site.args.iter().any(|argument| argument.keyword.as_deref() == Some("*"));
        let column = self.has(cx, &["partitioncolumn", "column"], Some(2));
        let bounds = self.has(cx, &["lowerbound"], Some(3)) && self.has(cx, &["upperbound"], Some(4));
        let count = self.has(cx, &["numpartitions"], Some(5));
        if unpacked
            || self.has(cx, &["predicates"], Some(6))
            || self.has(cx, &["query"], None)
            || column && bounds && count
        {
            return None;
        }
        let fixes = templates::jdbc_partitions(cx.plan, cx.shared.text, self.id);
        if column {
            let message = "Spark refuses a partition column without the rest: partitionColumn, lowerBound, upperBound and numPartitions go together.";
            return Some(Finding::new(cx.shared.rule, Severity::Error, self.site.method, message));
        }
        if self.is_small(cx) {
            return None;
        }
        let table =
            self.table.and_then(|table| if let Literal::Text(name) = table { Some(name.as_str()) } else { None });
        let severity = if table.is_some() { Severity::Warning } else { Severity::Information };
        let what = match table {
            Some(name) if name.len() <= 60 && !name.contains(['(', '\n']) => format!("all of {name}"),
            _ => "the whole result".to_owned(),
        };
        let alone = if count { " numPartitions alone splits nothing:" } else { "" };
        let message = format!(
            "This reads {what} through one connection with one task, and what follows has one task until the next shuffle.{alone} give partitionColumn, lowerBound, upperBound and numPartitions together, or predicates."
        );
        let message = if count { message } else { message.replace("shuffle. give", "shuffle. Give") };
        Some(Finding::new(cx.shared.rule, severity, self.site.method, message).with_fixes(fixes))
    }

    fn is_small(&self, cx: &CodeContext<'_>) -> bool {
        let by_query = match self.table {
            Some(Literal::Text(table)) => bounds_rows(table),
            Some(Literal::Template(parts)) => {
                bounds_rows(&parts.iter().flatten().map(String::as_str).collect::<String>())
            }
            _ => false,
        };
        let name = source_name(cx.plan.node(self.id)).map(words).unwrap_or_default();
        by_query || name.iter().any(|word| is_lookup(word)) || self.is_asked_for_little(cx)
    }

    /// Whether all that reads the frame takes a key or some rows of it.
    fn is_asked_for_little(&self, cx: &CodeContext<'_>) -> bool {
        let takes_key = |id: NodeId| {
            matches!(cx.plan.node(id).operator, Operator::Filter { key_equality: true } | Operator::Limit(_))
        };
        let takes_some =
            |kind: &ActionKind| matches!(kind, ActionKind::Take(_) | ActionKind::IsEmpty | ActionKind::Show);
        let mut readers = readers(cx.plan, self.id).peekable();
        let mut actions = actions_on(cx.plan, self.id).peekable();
        let is_read = readers.peek().is_some() || actions.peek().is_some();
        is_read && readers.all(takes_key) && actions.all(|action| takes_some(&action.kind))
    }
}

/// Whether a subquery in the place of a table brings few rows.
fn bounds_rows(table: &str) -> bool {
    let text = table.to_ascii_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let condition = text.split_once("where").map_or("", |(_, condition)| condition);
    let has_key = condition.replace(">=", "").replace("<=", "").replace("!=", "").contains('=');
    words.contains(&"select") && (has(&["limit", "top", "fetch", "rownum", "group", "count", "max", "min"]) || has_key)
}

fn is_lookup(word: &str) -> bool {
    const WORDS: [&str; 24] = [
        "dim",
        "dims",
        "lookup",
        "lookups",
        "lkp",
        "ref",
        "reference",
        "config",
        "configs",
        "configuration",
        "settings",
        "code",
        "codes",
        "metadata",
        "meta",
        "control",
        "watermark",
        "watermarks",
        "params",
        "parameters",
        "types",
        "countries",
        "currencies",
        "calendar",
    ];
    WORDS.contains(&word)
}
