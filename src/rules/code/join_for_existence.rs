//! An inner join that only asks whether there is a match.

use super::lineage::{actions_on, readers};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{CallSite, Join, JoinCondition, Literal, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// An inner join of which only the left side's columns are used, or with the distinct keys of the right side.
    ///
    /// ## Why
    /// The question is whether a row has a match. An inner join answers with a row for each match, and shuffles the right side's columns;
    /// distinct keys first cost a shuffle of their own. A left semi join keeps each row once, and stops at the first match.
    ///
    /// ## Silent when
    /// - columns of the right side are used, or the file doesn't tell;
    /// - the join is no inner join.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// users = spark.table("web.users")
    /// buyers = spark.table("shop.orders").select("user_id").distinct()
    /// active = users.join(buyers, "user_id")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// users = spark.table("web.users")
    /// active = users.join(spark.table("shop.orders"), "user_id", "left_semi")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select-join.html#semi-join>
    pub JOIN_FOR_EXISTENCE = {
        name: "join-for-existence", group: Joins, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let (Operator::Join(join), Some(site), [_, right]) = (&node.operator, &node.site, &node.inputs[..]) else {
            continue;
        };
        if join.kind.as_deref() != Some("inner") {
            continue;
        }
        let message = if brings_keys_only(cx, join, *right) {
            "The right side holds the join's keys only, each once: a left semi join asks the same, without the shuffle that makes them distinct."
        } else if keeps_the_left_side(cx, id, site) {
            "Only the left side's columns are used: an inner join repeats a row for each of its matches and carries the right side's columns through the shuffle. A left semi join keeps each row once."
        } else {
            continue;
        };
        let fix = templates::join_type(cx.shared.text, site, "left_semi");
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Information, site.method, message).with_fixes(fix));
    }
}

/// Whether the right side is `select(keys).distinct()`.
fn brings_keys_only(cx: &CodeContext<'_>, join: &Join, right: NodeId) -> bool {
    let JoinCondition::Using(keys) = &join.condition else { return false };
    let mut at = right;
    let mut distinct = false;
    for _ in 0..cx.plan.nodes.len() {
        let node = cx.plan.node(at);
        match (&node.operator, &node.site) {
            (Operator::Hint(_) | Operator::Cache, _) => {}
            (Operator::Distinct, Some(_)) if node.inputs.len() == 1 => distinct = true,
            (Operator::Project { .. }, Some(site)) if site.method.of(cx.shared.text) == "select" => {
                return distinct
                    && selected(site).is_some_and(|mut names| {
                        names.sort_unstable();
                        let mut keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                        keys.sort_unstable();
                        names == keys
                    });
            }
            _ => return false,
        }
        let Some(&input) = node.inputs.first() else { return false };
        at = input;
    }
    false
}

/// The columns of a `select` of plain names.
fn selected(site: &CallSite) -> Option<Vec<&str>> {
    site.args
        .iter()
        .map(|argument| match &argument.value {
            Literal::List(names) => names.iter().map(as_text).collect::<Option<Vec<_>>>(),
            value => as_text(value).map(|name| vec![name]),
        })
        .collect::<Option<Vec<_>>>()
        .map(|names| names.concat())
}

fn as_text(value: &Literal) -> Option<&str> {
    if let Literal::Text(text) = value { Some(text) } else { None }
}

/// Whether all that reads the join selects the left frame's columns: `select(a["*"])`, `select(a.columns)`.
fn keeps_the_left_side(cx: &CodeContext<'_>, id: NodeId, join: &CallSite) -> bool {
    let left = join.receiver.of(cx.shared.text);
    let plan: &StaticPlan = cx.plan;
    let selects_left = |id: NodeId| {
        plan.node(id).site.as_ref().is_some_and(|site| {
            let [only] = &site.args[..] else { return false };
            let written = only.span.of(cx.shared.text);
            let all = [format!("{left}[\"*\"]"), format!("{left}['*']"), format!("{left}.columns")];
            site.method.of(cx.shared.text) == "select" && all.iter().any(|all| all == written)
        })
    };
    let mut readers = readers(plan, id).peekable();
    readers.peek().is_some() && readers.all(selects_left) && actions_on(plan, id).next().is_none()
}
