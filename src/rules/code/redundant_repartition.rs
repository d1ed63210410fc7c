//! A repartition that the next step undoes.

use super::shape::{acted_on, called, columns, is_broadcast, is_narrow, option};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{JoinCondition, NodeId, Operator, Source};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// `repartition` in front of a step that distributes the rows again.
    ///
    /// ## Why
    /// A `repartition` is a full shuffle. Where the next step is another one, a `coalesce`, or a join or an aggregation by another key,
    /// the rows are shuffled once more at once, and the first shuffle bought nothing.
    ///
    /// ## Silent when
    /// - it is by the key of the next step, or by columns that aren't known;
    /// - several steps or actions read it, or it is cached;
    /// - work in between may need its tasks: a Python function, an `explode`;
    /// - what it spreads comes out of few tasks: JDBC, one compressed file, text in one read;
    /// - the join broadcasts a side.
    ///
    /// Without columns before a join or an aggregation it is a hint: it may be there to spread the work before the shuffle.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders").repartition("day")  # finding
    /// totals = orders.groupBy("shop").sum("total")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// totals = orders.groupBy("shop").sum("total")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.repartition.html>
    pub REDUNDANT_REPARTITION = {
        name: "redundant-repartition", group: Partitions, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let acted = acted_on(cx.plan);
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let (Operator::Repartition { keyed, count }, Some(site)) = (&node.operator, &node.site) else { continue };
        let is_open = count.is_none() && !keyed;
        if node.conditional || is_open || cx.plan.is_repeat(id) {
            continue;
        }
        let Some(next) = next(cx.plan, &acted, id) else { continue };
        let keys = columns(site, cx.shared.text);
        let comes_out_of_few = node.inputs.first().is_none_or(|&input| is_from_few_tasks(cx.plan, input));
        let Some((what, severity)) = undone(cx, next, *keyed, &keys, comes_out_of_few) else { continue };
        let Some(at) = &cx.plan.node(next).site else { continue };
        let written = called(site).of(cx.shared.text);
        let is_merged = matches!(cx.plan.node(next).operator, Operator::Coalesce { .. });
        let instead = match is_merged {
            true => "One repartition by the smaller number does both.",
            false => "Remove it, or repartition by the key of that step.",
        };
        let message = format!("{written} is a shuffle of all rows that the {what} behind it undoes. {instead}");
        let fix = match is_merged {
            true => templates::merge_repartition(cx.shared.text, site, at),
            false => templates::without_call(cx.shared.text, site),
        };
        let finding = Finding::new(cx.shared.rule, severity, called(site), message)
            .with_related(at.method, format!("the {what}"));
        cx.shared.report(finding.with_fixes(fix));
    }
}

/// The only step that reads a frame, behind columns and filters.
fn next(plan: &StaticPlan, acted: &[bool], mut id: NodeId) -> Option<NodeId> {
    for _ in 0..plan.nodes.len() {
        let [consumer] = plan.consumers[id.0 as usize][..] else { return None };
        if acted[id.0 as usize] || plan.node(id).cached {
            return None;
        }
        let node = plan.node(consumer);
        match &node.operator {
            Operator::Project { explodes: true, .. } | Operator::Hint(_) => return None,
            operator if is_narrow(operator) => id = consumer,
            _ => return Some(consumer),
        }
    }
    None
}

/// What undoes the repartition, and how sure that is.
fn undone(
    cx: &CodeContext<'_>,
    next: NodeId,
    keyed: bool,
    keys: &[Option<String>],
    few: bool,
) -> Option<(&'static str, Severity)> {
    let node = cx.plan.node(next);
    let differs = |of_next: &[Option<String>]| {
        let known: Option<Vec<&String>> = keys.iter().map(Option::as_ref).collect();
        let of_next: Option<Vec<&String>> = of_next.iter().map(Option::as_ref).collect();
        match (known, of_next) {
            (Some(known), Some(of_next)) if !known.is_empty() && !of_next.is_empty() => {
                known.iter().any(|key| !of_next.contains(key))
            }
            _ => false,
        }
    };
    let by_key = |of_next: &[Option<String>]| match keyed {
        true => differs(of_next).then_some(Severity::Information),
        false => (!few).then_some(Severity::Hint),
    };
    match &node.operator {
        Operator::Repartition { .. } => Some(("repartition", Severity::Information)),
        Operator::Coalesce { count } => count.filter(|count| *count > 0).map(|_| ("coalesce", Severity::Information)),
        Operator::Aggregate { keys: of_next, grouped: true, pivot: None } => Some(("aggregation", by_key(of_next)?)),
        Operator::Join(join) if !is_broadcast(cx.plan, node) => match &join.condition {
            JoinCondition::Using(names) => {
                let names: Vec<Option<String>> = names.iter().cloned().map(Some).collect();
                Some(("join", by_key(&names)?))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether a frame may come out of a few tasks, so that spreading its rows is worth a shuffle.
fn is_from_few_tasks(plan: &StaticPlan, id: NodeId) -> bool {
    plan.upstream(id).into_iter().any(|id| match &plan.node(id).operator {
        Operator::Source(Source::Read { format, options, .. }) => {
            !matches!(format.as_deref(), Some("parquet" | "orc" | "delta" | "iceberg"))
                || option(options, "numPartitions").is_some()
        }
        Operator::Source(Source::Table(_)) => false,
        Operator::Source(_) | Operator::Coalesce { .. } | Operator::Limit(_) | Operator::Rdd | Operator::Udf => true,
        Operator::Project { explodes, .. } => *explodes,
        _ => false,
    })
}
