//! A broadcast that the join can't use, or that can't be small.

use super::sides::{hint, is_broadcast, source_name, words};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{CallSite, JoinCondition, Node, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// A broadcast hint on the side that the join can't build, or on a table that is large by its name.
    ///
    /// ## Why
    /// A left outer, semi or anti join decides for each row of its left side whether it has a match, so only the right side can be
    /// sent to every executor; a right outer join is the other way round, and a full outer join can send neither. Spark then drops the
    /// hint with one line in its log, and sorts and shuffles both sides.
    ///
    /// A hint on a large table is obeyed whatever its size: the driver collects it first, an 8 GB table ends the job, and each executor
    /// holds a copy that takes several times the size of the files.
    ///
    /// ## Silent when
    /// - the join type may build the side: both sides of an inner join, the right one of left joins, the left one of right joins;
    /// - the condition has no equality: nested loop joins may broadcast either side;
    /// - the join type is not known;
    /// - of a table that is large by its name: rows are filtered, aggregated or limited before the hint.
    ///
    /// A name such as `fact_sales` or `click_events` proves nothing: information.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// currencies = spark.table("shop.currencies")
    /// orders = spark.table("shop.orders")
    /// joined = F.broadcast(currencies).join(orders, "currency", "left")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// currencies = spark.table("shop.currencies")
    /// orders = spark.table("shop.orders")
    /// joined = orders.join(F.broadcast(currencies), "currency", "left")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#join-strategy-hints-for-sql-queries>
    /// - <https://issues.apache.org/jira/browse/SPARK-40377> (the limit of a broadcast table)
    pub BROADCAST_WRONG_SIDE = {
        name: "broadcast-wrong-side", group: Joins, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

const NAMES: [&str; 2] = ["left", "right"];

fn check(cx: &mut CodeContext<'_>) {
    for node in &cx.plan.nodes {
        let (Operator::Join(join), Some(site)) = (&node.operator, &node.site) else { continue };
        let has_key = matches!(join.condition, JoinCondition::Using(_) | JoinCondition::Equality);
        for (side, &input) in node.inputs.iter().enumerate().take(2) {
            let Some((at, _)) = hint(cx.plan, input).filter(|(_, name)| is_broadcast(name)) else { continue };
            let hinted = cx.plan.node(at);
            let Some(call) = &hinted.site else { continue };
            let kind = join.kind.as_deref().filter(|_| has_key);
            let finding = match kind.filter(|kind| !may_build(kind, side)) {
                Some(kind) => dropped(cx, node, site, call, kind, side),
                None => large(cx, hinted, call),
            };
            finding.into_iter().for_each(|finding| cx.shared.report(finding));
        }
    }
}

/// Whether Spark can send this side (0 is left) of a join with keys to every executor; true for types that it doesn't know.
fn may_build(kind: &str, side: usize) -> bool {
    match kind {
        "left" | "left_semi" | "left_anti" => side == 1,
        "right" => side == 0,
        "full" => false,
        _ => true,
    }
}

fn dropped(
    cx: &CodeContext<'_>,
    node: &Node,
    site: &CallSite,
    call: &CallSite,
    kind: &str,
    side: usize,
) -> Option<Finding> {
    let (this, other) = (NAMES[side], NAMES[1 - side]);
    let words = match kind {
        "left" | "right" | "full" => format!("{kind} outer join"),
        _ => kind.replace('_', " ") + " join",
    };
    let message = if kind == "full" {
        format!(
            "A {words} keeps the rows of both sides, so Spark can broadcast neither: it drops this hint, and sorts and shuffles both. Remove it, or use a left join if the unmatched rows of one side aren't needed."
        )
    } else {
        format!(
            "A {words} can't build its {this} side, so Spark drops this hint, and sorts and shuffles both sides. Broadcast the {other} side if it is small, or swap the sides."
        )
    };
    let is_written_here = site.call.contains(call.call);
    let span = if is_written_here { call.method } else { site.method };
    let is_free = node.inputs.get(1 - side).is_some_and(|&input| hint(cx.plan, input).is_none());
    let sides = [Some(site.receiver), site.argument(0, "other").map(|argument| argument.span)];
    let swap = match (sides[side], sides[1 - side]) {
        (Some(from), Some(to)) if is_free && kind != "full" => {
            templates::move_hint(cx.shared.text, call, from, to, other)
        }
        _ => None,
    };
    let finding = Finding::new(cx.shared.rule, Severity::Warning, span, message);
    let finding = if is_written_here { finding } else { finding.with_related(call.method, "the hint") };
    Some(finding.with_fixes(swap))
}

/// A hint on all rows of a table whose name says that it is no lookup table.
fn large(cx: &CodeContext<'_>, hinted: &Node, call: &CallSite) -> Option<Finding> {
    let source = unfiltered_source(cx.plan, *hinted.inputs.first()?)?;
    let name = source_name(cx.plan.node(source))?;
    if !words(name).iter().any(|word| is_fact_like(word)) {
        return None;
    }
    let message = format!(
        "This sends all rows of {name} to the driver and a copy to each executor, and its name is not that of a small table; nothing before the hint makes it smaller. Above 8 GB the job fails: leave the choice to Spark, or broadcast the other side."
    );
    Some(Finding::new(cx.shared.rule, Severity::Information, call.method, message))
}

/// The source of a frame if all its rows are in the frame.
fn unfiltered_source(plan: &StaticPlan, id: NodeId) -> Option<NodeId> {
    let mut at = id;
    for _ in 0..plan.nodes.len() {
        let node = plan.node(at);
        match node.operator {
            Operator::Source(_) => return Some(at),
            Operator::Project { only_aggregates: false, .. } | Operator::WithColumns | Operator::Cache => {}
            Operator::Sort { .. } | Operator::Repartition { .. } | Operator::Coalesce { .. } | Operator::Hint(_) => {}
            _ => return None,
        }
        at = *node.inputs.first()?;
    }
    None
}

fn is_fact_like(word: &str) -> bool {
    const WORDS: [&str; 15] = [
        "fact",
        "facts",
        "fct",
        "events",
        "logs",
        "clicks",
        "clickstream",
        "transactions",
        "impressions",
        "pageviews",
        "lineitem",
        "lineitems",
        "telemetry",
        "measurements",
        "readings",
    ];
    WORDS.contains(&word)
}
