//! Unions that match columns by their position.

use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Literal, Node, NodeId, Operator, Source};
use crate::rules::templates::union_by_name;
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// `union` of frames whose columns needn't stand in one order.
    ///
    /// ## Why
    /// `union` takes the first column with the first, whatever their names: two columns of one type that stand in another order are
    /// swapped without an error. `unionByName` matches them by name.
    ///
    /// ## Silent when
    /// - both sides are computed from one frame, or by one call;
    /// - both sides select the same names in the same order;
    /// - a side is no frame that the file reads: its columns aren't known.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// shop = spark.read.parquet("s3a://lake/shop")
    /// web = spark.read.parquet("s3a://lake/web")
    /// orders = shop.union(web)  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// shop = spark.read.parquet("s3a://lake/shop")
    /// web = spark.read.parquet("s3a://lake/web")
    /// orders = shop.unionByName(web)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.unionByName.html>
    pub UNION_BY_POSITION = {
        name: "union-by-position", group: Correctness, severity: Hint, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let mut findings = Vec::new();
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let Some(site) = node.site.as_ref().filter(|_| !cx.plan.is_repeat(id)) else { continue };
        let by_position = matches!(site.method.of(cx.shared.text), "union" | "unionAll");
        let [left, right] = node.inputs[..] else { continue };
        if by_position && matches!(node.operator, Operator::Union { open: false }) && differ(cx, left, right) {
            let message = "union matches columns by position, whatever their names: in another order they are swapped without an error. unionByName matches them by name.";
            findings.push(
                Finding::new(cx.shared.rule, Severity::Hint, site.method, message)
                    .with_fixes([union_by_name(site.method)]),
            );
        }
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

/// Whether the columns of both sides come from places of their own.
fn differ(cx: &CodeContext<'_>, left: NodeId, right: NodeId) -> bool {
    let plan = cx.plan;
    let (first, second) = (plan.upstream(left), plan.upstream(right));
    let is_read = |ids: &[NodeId]| ids.iter().all(|&id| is_known(plan.node(id)));
    let shares = first.iter().any(|id| second.contains(id));
    let call = |id: NodeId| plan.node(id).site.as_ref().map(|site| site.call);
    let one_call = first.iter().any(|&a| call(a).is_some() && second.iter().any(|&b| call(a) == call(b)));
    let same_names = match (selected(plan, cx.shared.text, left), selected(plan, cx.shared.text, right)) {
        (Some(first), Some(second)) => first == second,
        _ => false,
    };
    is_read(&first) && is_read(&second) && !shares && !one_call && !same_names && !on_rdd(plan, left)
}

fn is_known(node: &Node) -> bool {
    !matches!(
        node.operator,
        Operator::Source(Source::Given | Source::Local(_) | Source::Range(_) | Source::Sql { .. })
            | Operator::LoopCarried(_)
            | Operator::Merge
            | Operator::Rdd
            | Operator::Udf
    )
}

fn on_rdd(plan: &StaticPlan, id: NodeId) -> bool {
    plan.upstream(id).iter().any(|&id| matches!(plan.node(id).operator, Operator::Rdd))
}

/// The names of the nearest `select`, as written.
fn selected<'a>(plan: &'a StaticPlan, text: &'a str, from: NodeId) -> Option<Vec<String>> {
    let mut at = from;
    for _ in 0..plan.nodes.len() {
        let node = plan.node(at);
        match (&node.operator, &node.site) {
            (Operator::Project { .. }, Some(site)) if site.method.of(text) == "select" => {
                return Some(site.args.iter().map(|argument| name(&argument.value, argument.span.of(text))).collect());
            }
            (Operator::Filter { .. } | Operator::Cache | Operator::Distinct | Operator::Limit(_), _) => {
                at = *node.inputs.first()?;
            }
            _ => return None,
        }
    }
    None
}

/// The name that a selected expression gets, else its text.
fn name(value: &Literal, written: &str) -> String {
    match value {
        Literal::Text(name) => name.clone(),
        _ => match written.rfind(".alias(") {
            Some(at) => written[at + ".alias(".len()..].trim_end_matches(')').trim_matches(['"', '\'']).to_owned(),
            None => written.to_owned(),
        },
    }
}
