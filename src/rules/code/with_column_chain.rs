//! Many `withColumn` calls in one chain.

use crate::declare_rule;
use crate::pyspark::plan::{CallSite, Literal, NodeId};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// A chain of many `withColumn` calls that don't need each other.
    ///
    /// ## Why
    /// Each call makes a projection and analyses the plan again. The optimizer merges the projections, but the driver has paid for
    /// each; one `withColumns` (3.3) or `select` is one of both, and reads as the list of columns that it is.
    ///
    /// ## Silent when
    /// - there are fewer than 8 calls;
    /// - one uses a column of another;
    /// - it is a loop (`with-column-in-loop`).
    ///
    /// ## Example
    /// ```toml
    /// [rules.with-column-chain]
    /// severity = "on"
    /// min-calls = 3
    /// ```
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.table("web.events")
    /// out = (
    ///     events.withColumn("day", F.to_date("ts"))  # finding
    ///     .withColumn("host", F.lower("host"))
    ///     .withColumn("path", F.trim("path"))
    /// )
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.table("web.events")
    /// out = events.withColumns({"day": F.to_date("ts"), "host": F.lower("host"), "path": F.trim("path")})
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.withColumns.html>
    pub WITH_COLUMN_CHAIN = {
        name: "with-column-chain", group: Plan, severity: Hint, confidence: Documented,
        since: "0.1.0", off: true,
        options: [("min-calls", 8.0, "chains of fewer calls are left alone")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for index in 0..cx.plan.nodes.len() {
        let id = NodeId(index as u32);
        let is_last = cx.plan.consumers[index].iter().all(|&next| column(cx, next).is_none());
        if column(cx, id).is_none() || !is_last || cx.plan.is_repeat(id) {
            continue;
        }
        let calls = chain(cx, id);
        if (calls.len() as f64) < cx.shared.option("min-calls") || depend(&calls, cx.shared.text) {
            continue;
        }
        let instead = if cx.shared.version().at_least(3, 3) { "withColumns" } else { "select" };
        let message = format!(
            "{} calls of withColumn in a row, none of which needs another's column: each makes a projection and analyses the plan again. One {instead} does all.",
            calls.len()
        );
        let fix = templates::merge_columns(cx.shared.text, cx.shared.version(), &calls);
        let finding = Finding::new(cx.shared.rule, Severity::Hint, calls[0].method, message);
        cx.shared.report(finding.with_fixes(fix));
    }
}

/// A `withColumn` call outside of loops.
fn column<'a>(cx: &CodeContext<'a>, id: NodeId) -> Option<&'a CallSite> {
    let node = cx.plan.node(id);
    let site = node.site.as_ref()?;
    (site.method.of(cx.shared.text) == "withColumn" && node.loops.is_empty() && site.args.len() == 2).then_some(site)
}

/// The calls that end in this one, the first one first; the frames between them are read by nothing else.
fn chain<'a>(cx: &CodeContext<'a>, last: NodeId) -> Vec<&'a CallSite> {
    let mut calls = Vec::new();
    let mut at = last;
    while let Some(site) = column(cx, at) {
        calls.push(site);
        let Some(&input) = cx.plan.node(at).inputs.first() else { break };
        let is_read = cx.plan.actions.iter().any(|action| action.input == Some(input));
        if is_read || cx.plan.consumers[input.0 as usize].len() > 1 || cx.plan.node(input).cached {
            break;
        }
        at = input;
    }
    calls.reverse();
    calls
}

/// Whether a call may read a column that an earlier one makes.
fn depend(calls: &[&CallSite], text: &str) -> bool {
    let mut made: Vec<&str> = Vec::new();
    for call in calls {
        let [name, value] = &call.args[..] else { return true };
        let Literal::Text(name) = &name.value else { return true };
        let value = value.span.of(text);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let names = |made: &&str| {
            value
                .match_indices(*made)
                .any(|(at, found)| !value[..at].ends_with(is_word) && !value[at + found.len()..].starts_with(is_word))
        };
        if made.iter().any(names) || made.contains(&name.as_str()) {
            return true;
        }
        made.push(name);
    }
    false
}
