//! All columns, down to where they are kept or sent.

use super::shape::consumers;
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{ActionKind, Literal, Node, NodeId, Operator, RowBound, Source};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// `SELECT *` or `select("*")` whose columns are all written, cached or collected.
    ///
    /// ## Why
    /// All columns are read, and what is added to the table later is read, kept and written as well, without a change of the code.
    ///
    /// ## Silent when
    /// - columns are chosen behind it: the optimizer reads only those;
    /// - nothing keeps or sends the rows here: a count, a view, a function's value;
    /// - few rows come out (`LIMIT 10`), or the code is a test;
    /// - the star is a part of more (`select("*", ...)`, `count(*)`, `EXISTS (SELECT * ...)`, a subquery).
    ///
    /// ## Example
    /// ```toml
    /// [rules]
    /// select-star = "on"
    /// ```
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.sql("SELECT * FROM shop.orders WHERE paid")  # finding
    /// orders.write.mode("overwrite").parquet("s3a://lake/paid")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.sql("SELECT id, shop, total FROM shop.orders WHERE paid")
    /// orders.write.mode("overwrite").parquet("s3a://lake/paid")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select.html>
    pub SELECT_STAR = {
        name: "select-star", group: Plan, severity: Hint, confidence: Documented,
        since: "0.2.0", off: true, check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let consumers = consumers(cx.plan);
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let Some(site) = &node.site else { continue };
        let is_star = is_star(node, site.method.of(cx.shared.text));
        let is_small = matches!(cx.plan.bound(id), RowBound::Exactly(_) | RowBound::Small);
        if !is_star || is_small || cx.plan.is_repeat(id) {
            continue;
        }
        let Some(use_) = kept(cx.plan, &consumers, id) else { continue };
        let message = format!("All columns are read and {use_}, those that the table gets later as well. Name the columns that are needed.");
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Hint, site.method, message));
    }
}

fn is_star(node: &Node, method: &str) -> bool {
    let Some(site) = &node.site else { return false };
    match &node.operator {
        Operator::Project { .. } => {
            matches!(method, "select" | "selectExpr") && matches!(&site.args[..], [only] if only.value == Literal::Text("*".to_owned()))
        }
        Operator::Source(Source::Sql { text: Literal::Text(text), .. }) => {
            let words: Vec<String> = text.split_whitespace().take(3).map(str::to_ascii_lowercase).collect();
            matches!(&words[..], [select, star, from] if select == "select" && star == "*" && from == "from")
        }
        _ => false,
    }
}

/// What keeps or sends all columns, if something does.
fn kept(plan: &StaticPlan, consumers: &[Vec<NodeId>], from: NodeId) -> Option<&'static str> {
    let mut open = vec![from];
    let mut seen = Vec::new();
    while let Some(id) = open.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        for action in plan.actions.iter().filter(|action| action.input == Some(id)) {
            match action.kind {
                ActionKind::Write(_) => return Some("written"),
                ActionKind::Collect | ActionKind::ToPandas => return Some("sent to the driver"),
                _ => {}
            }
        }
        if plan.node(id).cached {
            return Some("cached");
        }
        let keeps = |operator: &Operator| {
            matches!(
                operator,
                Operator::Filter { .. }
                    | Operator::WithColumns
                    | Operator::Repartition { .. }
                    | Operator::Coalesce { .. }
                    | Operator::Sort { .. }
                    | Operator::Cache
            )
        };
        open.extend(consumers[id.0 as usize].iter().filter(|&&consumer| keeps(&plan.node(consumer).operator)));
    }
    None
}
