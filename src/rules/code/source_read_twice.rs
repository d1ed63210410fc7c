//! One path or table read at two places of a job.

use super::blocks::{Together, together};
use super::lineage::recomputed;
use crate::declare_rule;
use crate::pyspark::plan::{ActionKind, Literal, Node, NodeId, Operator, Source};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// The same path or table read twice in one function.
    ///
    /// ## Why
    /// Each read of a path lists the files, may infer the schema, and scans them for itself; each read of a table scans it. One variable
    /// says that both are the same, and can be cached where both parts are needed.
    ///
    /// ## Silent when
    /// - format, options or schema differ, or the path isn't a literal;
    /// - it is a table, and nothing in the file computes both frames, both stand in one statement, or the table is cached (`CACHE TABLE`);
    /// - the reads are in branches that exclude each other, or in different functions;
    /// - something is written between them, so that the second one may bring other rows;
    /// - one of them is cached, a stream, or in a test.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// paid = spark.read.parquet("s3://lake/orders").filter("state = 'paid'")
    /// unpaid = spark.read.parquet("s3://lake/orders").filter("state = 'open'")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3://lake/orders")
    /// paid = orders.filter("state = 'paid'")
    /// unpaid = orders.filter("state = 'open'")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#caching-data>
    pub SOURCE_READ_TWICE = {
        name: "source-read-twice", group: Reads, severity: Hint, confidence: Reasoned,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let mut reads: Vec<(NodeId, &Node)> = Vec::new();
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let is_plain = node.loops.is_empty() && !node.cached && !cx.plan.scope(node.scope).is_test;
        if !is_plain || cx.plan.is_repeat(id) || !is_named(node) {
            continue;
        }
        let first = reads.iter().find(|(_, first)| first.scope == node.scope && is_same(first, node));
        let Some((before, now)) = first.and_then(|(_, first)| Some((first.site.as_ref()?, node.site.as_ref()?))) else {
            reads.push((id, node));
            continue;
        };
        let runs_both = together(cx.shared.text, before.statement, now.statement) == Together::Always;
        // The files of a table are listed once for a session: only the scans count.
        let is_one_scan = is_table(node)
            && (before.statement == now.statement
                || !first.is_some_and(|(first, _)| is_computed(cx, *first) && is_computed(cx, id)));
        let writes = cx.plan.actions.iter().any(|action| {
            let changes = matches!(action.kind, ActionKind::Write(_) | ActionKind::Other(_));
            changes && action.site.call.start >= before.call.start && action.site.call.start < now.call.start
        });
        if runs_both && !writes && before.call != now.call && !is_one_scan {
            let what = name(node).unwrap_or("This source");
            let again = if is_table(node) { "it is scanned again" } else { "its files are listed and scanned again" };
            let message = format!(
                "{what} is read a second time: {again}. Keep the first frame in a variable, and cache it if both parts are computed."
            );
            let finding = Finding::new(cx.shared.rule, Severity::Hint, now.method, message);
            cx.shared.report(finding.with_related(before.method, "the first read"));
        }
    }
}

fn is_table(node: &Node) -> bool {
    matches!(node.operator, Operator::Source(Source::Table(_)))
}

/// Whether an action of the file computes a frame.
fn is_computed(cx: &CodeContext<'_>, frame: NodeId) -> bool {
    let runs = |input: NodeId| recomputed(cx.plan, input).contains(&frame);
    cx.plan
        .actions
        .iter()
        .filter(|action| !matches!(action.kind, ActionKind::Other(_)))
        .any(|action| action.input.is_some_and(runs))
}

/// Whether both read the same in the same way.
fn is_same(a: &Node, b: &Node) -> bool {
    match (&a.operator, &b.operator) {
        (Operator::Source(Source::Table(Literal::Text(a))), Operator::Source(Source::Table(Literal::Text(b)))) => {
            a.eq_ignore_ascii_case(b)
        }
        (
            Operator::Source(Source::Read { format, location, options, has_schema, .. }),
            Operator::Source(Source::Read { format: f, location: l, options: o, has_schema: s, .. }),
        ) => {
            // An option whose value isn't known may differ.
            let is_known = options.iter().all(|(_, value)| *value != Literal::Unknown);
            is_known && !has_schema && format == f && location == l && options == o && has_schema == s
        }
        _ => false,
    }
}

/// Whether the source has a literal path or name.
fn is_named(node: &Node) -> bool {
    match &node.operator {
        Operator::Source(Source::Table(Literal::Text(_))) => true,
        Operator::Source(Source::Read { location, open: false, streaming: false, .. }) => {
            !location.is_empty() && location.iter().all(|path| matches!(path, Literal::Text(_)))
        }
        _ => false,
    }
}

fn name(node: &Node) -> Option<&str> {
    match &node.operator {
        Operator::Source(Source::Table(Literal::Text(name))) => Some(name),
        Operator::Source(Source::Read { location, .. }) => match &location[..] {
            [Literal::Text(path)] => Some(path),
            _ => None,
        },
        _ => None,
    }
}
