//! The first row of an order that nothing keeps.

use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Literal, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// `orderBy` before `dropDuplicates` on a subset, and `first` or `last` of a group.
    ///
    /// ## Why
    /// `dropDuplicates` and an aggregation shuffle the rows by key. Which row of a key arrives first depends on when the blocks of the
    /// shuffle arrive, not on a sort before it: the result may be another one in the next run, and the sort was for nothing.
    ///
    /// ## Silent when
    /// - `dropDuplicates` compares all columns: then the rows are equal;
    /// - the rows are in one partition by construction (`coalesce(1)`);
    /// - `first` ignores nulls or fills a pivot, or is taken over a window with its own order.
    ///
    /// `first` of a group without a sort is a hint: right if the column depends on the key.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// users = spark.table("web.users")
    /// newest = users.orderBy(F.desc("seen")).dropDuplicates(["user_id"])  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, Window, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// users = spark.table("web.users")
    /// by_age = Window.partitionBy("user_id").orderBy(F.desc("seen"))
    /// newest = users.withColumn("n", F.row_number().over(by_age)).filter("n = 1").drop("n")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.functions.first.html> (its note)
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.dropDuplicates.html>
    pub ORDER_DEPENDENT_FIRST = {
        name: "order-dependent-first", group: Windows, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for node in &cx.plan.nodes {
        let (Operator::Distinct, Some(site), [input]) = (&node.operator, &node.site, &node.inputs[..]) else {
            continue;
        };
        let has_subset = match site.argument(0, "subset").map(|subset| &subset.value) {
            None | Some(Literal::None) => false,
            Some(Literal::List(columns)) => !columns.is_empty(),
            Some(_) => true,
        };
        let is_drop = matches!(site.method.of(cx.shared.text), "dropDuplicates" | "drop_duplicates");
        if let Some(sort) = sort_before(cx.plan, *input).filter(|_| has_subset && is_drop) {
            let message = "Which row of a key is kept doesn't depend on the sort before: the rows are shuffled by key, and the first to arrive wins. Number the rows of each key with row_number() over an ordered window and keep the first.";
            let fix = cx
                .plan
                .node(sort)
                .site
                .as_ref()
                .and_then(|sort| templates::first_of_key(cx.plan, cx.shared.text, sort, site));
            let finding = Finding::new(cx.shared.rule, Severity::Information, site.method, message).with_fixes(fix);
            cx.shared.report(related(cx, finding, sort));
        }
    }
    for call in cx.plan.functions.iter().filter(|call| matches!(call.name.as_str(), "first" | "last")) {
        let ignores_nulls = call.args.len() > 1 || call.over.is_some();
        let aggregate = call.used_in.iter().find(|&&id| is_plain_aggregate(cx.plan, id));
        let Some(&input) = aggregate.filter(|_| !ignores_nulls).and_then(|&id| cx.plan.node(id).inputs.first()) else {
            continue;
        };
        let name = &call.name;
        let sort = sort_before(cx.plan, input);
        if sort.is_none() && is_in_one_partition(cx.plan, input) {
            continue;
        }
        let finding = match sort {
            Some(sort) => {
                let message = format!(
                    "The sort before doesn't decide which row {name} takes: the rows are shuffled by key, and their order is that of arrival. Use max_by or min_by with the column of the order, or row_number() over an ordered window."
                );
                related(cx, Finding::new(cx.shared.rule, Severity::Information, call.method, message), sort)
            }
            None => {
                let message = format!(
                    "{name} takes whichever row of a group arrives {name}: another run may take another one, unless the column depends on the key. max_by and min_by take the row by an order."
                );
                Finding::new(cx.shared.rule, Severity::Hint, call.method, message)
            }
        };
        cx.shared.report(finding);
    }
}

fn is_plain_aggregate(plan: &StaticPlan, id: NodeId) -> bool {
    matches!(plan.node(id).operator, Operator::Aggregate { pivot: None, grouped: true, .. })
}

/// The sort whose order the rows still have, unless they are in one partition.
fn sort_before(plan: &StaticPlan, id: NodeId) -> Option<NodeId> {
    let mut at = id;
    for _ in 0..plan.nodes.len() {
        let node = plan.node(at);
        match node.operator {
            Operator::Sort { global: true } => return (!is_in_one_partition(plan, at)).then_some(at),
            Operator::Filter { .. } | Operator::Project { .. } | Operator::WithColumns | Operator::Cache => {}
            _ => return None,
        }
        at = *node.inputs.first()?;
    }
    None
}

/// Whether `coalesce(1)` or `repartition(1)` is the last step that moves rows.
fn is_in_one_partition(plan: &StaticPlan, id: NodeId) -> bool {
    let mut at = id;
    for _ in 0..plan.nodes.len() {
        let node = plan.node(at);
        match node.operator {
            Operator::Coalesce { count: Some(1) } | Operator::Repartition { count: Some(1), .. } => return true,
            Operator::Filter { .. } | Operator::Project { .. } | Operator::WithColumns | Operator::Cache => {}
            Operator::Sort { .. } => {}
            _ => return false,
        }
        let Some(&input) = node.inputs.first() else { return false };
        at = input;
    }
    false
}

fn related(cx: &CodeContext<'_>, finding: Finding, sort: NodeId) -> Finding {
    match &cx.plan.node(sort).site {
        Some(site) => finding.with_related(site.method, "the sort"),
        None => finding,
    }
}
