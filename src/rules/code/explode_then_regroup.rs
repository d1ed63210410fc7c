//! Rows blown up to be put together again.

use super::shape::is_narrow;
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::api;
use crate::pyspark::plan::{Literal, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// `explode` of an array, and a `groupBy` that collects the elements again.
    ///
    /// ## Why
    /// Each row becomes as many as its array is long, all other columns are copied, and the `groupBy` shuffles all of them to put
    /// together what was together. `transform`, `filter` and `aggregate` work on the array where it is, in the row.
    ///
    /// ## Silent when
    /// - the exploded column is a key: then other rows are needed;
    /// - the keys don't tell the row, or aren't known;
    /// - the aggregate reads other columns than the exploded one, or steps that need rows stand in between (a join, a window).
    ///
    /// By an id that was made for it (`monotonically_increasing_id`, `uuid`) it is information, by a column that is named like an id,
    /// where the elements are collected, a hint.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// items = orders.withColumn("item", F.explode("items")).withColumn("item", F.lower("item"))
    /// clean = items.groupBy("order_id").agg(F.collect_list("item").alias("items"))  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// clean = orders.select("order_id", F.transform("items", F.lower).alias("items"))
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.functions.transform.html>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.functions.aggregate.html>
    pub EXPLODE_THEN_REGROUP = {
        name: "explode-then-regroup", group: Plan, severity: Information, confidence: Reasoned,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let Operator::Project { explodes: true, .. } = node.operator else { continue };
        let Some(exploded) = exploded(cx, id).filter(|_| !cx.plan.is_repeat(id)) else { continue };
        for group in groups(cx.plan, id) {
            let Some((severity, how)) = judge(cx, id, group, &exploded) else { continue };
            let Some(site) = &cx.plan.node(group).site else { continue };
            let message = format!(
                "This puts {exploded} together again {how}: explode made a row of each element, and all of them are shuffled for it. transform, filter and aggregate work on the array in its row."
            );
            let finding = Finding::new(cx.shared.rule, severity, site.method, message);
            let finding = match &node.site {
                Some(site) => finding.with_related(site.method, "the explode"),
                None => finding,
            };
            cx.shared.report(finding);
        }
    }
}

/// The column that an explode makes.
fn exploded(cx: &CodeContext<'_>, id: NodeId) -> Option<String> {
    let site = cx.plan.node(id).site.as_ref()?;
    if let (Literal::Text(name), "withColumn") = (&site.args.first()?.value, site.method.of(cx.shared.text)) {
        return Some(name.clone());
    }
    let explodes = |text: &&str| text.contains("explode(") || text.contains("explode_outer(");
    let written = site.args.iter().map(|argument| argument.span.of(cx.shared.text)).find(explodes)?;
    let alias = written.rsplit_once(".alias(").map(|(_, alias)| alias.trim_end_matches(')').trim())?;
    let name = alias.trim_matches(['"', '\'']);
    (name.len() + 2 == alias.len()).then(|| name.to_owned())
}

/// The aggregations that read a frame through columns and filters.
fn groups(plan: &StaticPlan, from: NodeId) -> Vec<NodeId> {
    let mut open = vec![from];
    let mut seen = Vec::new();
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        for &consumer in &plan.consumers[id.0 as usize] {
            match &plan.node(consumer).operator {
                Operator::Aggregate { grouped: true, pivot: None, .. } => found.push(consumer),
                Operator::Project { explodes: true, .. } => {}
                operator if is_narrow(operator) => open.push(consumer),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Whether an aggregation puts the exploded elements of each row together, and by what it tells the rows.
fn judge(cx: &CodeContext<'_>, explode: NodeId, group: NodeId, exploded: &str) -> Option<(Severity, String)> {
    let Operator::Aggregate { keys, .. } = &cx.plan.node(group).operator else { return None };
    let keys: Vec<&str> = keys.iter().map(|key| key.as_deref()).collect::<Option<_>>()?;
    let functions: Vec<_> = cx.plan.functions.iter().filter(|call| call.used_in.contains(&group)).collect();
    let of_elements = functions.iter().all(|call| {
        let texts = call.args.iter().filter_map(super::shape::name_of);
        let mut columns = call.columns.iter().cloned().chain(texts).peekable();
        columns.peek().is_some()
            && columns.all(|column| column == exploded || column.starts_with(&format!("{exploded}.")))
    });
    if functions.is_empty() || !of_elements || keys.contains(&exploded) {
        return None;
    }
    let made = keys.iter().find(|key| is_made_id(cx, explode, key));
    let collects = functions.iter().any(|call| api::function(&call.name).is_some_and(|function| function.collects));
    let named = keys.iter().find(|key| **key == "id" || key.ends_with("_id") || key.ends_with("Id"));
    match (made, named) {
        (Some(key), _) => Some((Severity::Information, format!("by {key}, which was made for it"))),
        (None, Some(key)) if collects => Some((Severity::Hint, format!("by {key}"))),
        _ => None,
    }
}

/// Whether a step before the explode gives each row an id of this name.
fn is_made_id(cx: &CodeContext<'_>, explode: NodeId, key: &str) -> bool {
    cx.plan.upstream(explode).into_iter().any(|id| {
        let node = cx.plan.node(id);
        let makes = cx.plan.functions.iter().any(|call| {
            matches!(call.name.as_str(), "monotonically_increasing_id" | "uuid") && call.used_in.contains(&id)
        });
        let names = node.site.as_ref().and_then(|site| site.args.first());
        makes && names.is_some_and(|argument| argument.value == Literal::Text(key.to_owned()))
    })
}
