//! All columns, down to where they are kept or sent.

use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{ActionKind, CallSite, Literal, Node, NodeId, Operator, RowBound};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

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
        since: "0.1.0", off: true, check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let Some(site) = &node.site else { continue };
        let star = star(node, site, cx.shared.text);
        let is_small = matches!(cx.plan.bound(id), RowBound::Exactly(_) | RowBound::Small);
        let Some(star) = star.filter(|_| !is_small && !cx.plan.is_repeat(id)) else { continue };
        let Some(use_) = kept(cx.plan, id) else { continue };
        let message = format!(
            "All columns are read and {use_}, those that the table gets later as well. Name the columns that are needed."
        );
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Hint, star, message));
    }
}

/// Where all columns are asked for: the star of `SELECT *`, the method of `select("*")`.
fn star(node: &Node, site: &CallSite, text: &str) -> Option<Span> {
    if !matches!(node.operator, Operator::Project { .. }) {
        return None;
    }
    if site.is_sql() {
        let inside = site.arguments.of(text);
        let start = site.arguments.start as usize + (inside.len() - inside.trim_start().len());
        return (inside.trim() == "*").then(|| Span::new(start, start + 1));
    }
    let is_all = matches!(&site.args[..], [only] if only.value == Literal::Text("*".to_owned()));
    (is_all && matches!(site.method.of(text), "select" | "selectExpr")).then_some(site.method)
}

/// What keeps or sends all columns, if something does.
fn kept(plan: &StaticPlan, from: NodeId) -> Option<&'static str> {
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
        open.extend(plan.consumers[id.0 as usize].iter().filter(|&&consumer| keeps(&plan.node(consumer).operator)));
    }
    None
}
