//! A costly frame computed once an action.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::blocks::{Together, together};
use super::evidence::{self, measured};
use super::lineage::{costly, is_generated, name_of, recomputed};
use super::{count_for_logging, foreach_batch_without_persist};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, Literal, NodeId, Operator, ScopeId, Source};
use crate::rules::run::words::duration;
use crate::rules::{CodeContext, Evidence, Finding, Severity, templates};

declare_rule! {
    /// A costly frame that several actions compute again, because it isn't cached.
    ///
    /// ## Why
    /// A frame is a recipe, not data: each action runs it again from the sources. A join that is counted and then written runs twice.
    ///
    /// ## Silent when
    /// - the frame, or what is costly in it, is cached or checkpointed;
    /// - nothing in it is costly: a scan with filters and projections is as cheap to read again as to keep;
    /// - the actions exclude each other (branches, a `return` between), or run frames of their own;
    /// - all rows come from the code;
    /// - the actions are an RDD's: its shuffles are reused;
    /// - the costly column isn't read by the action, as by a count: Spark doesn't compute it then;
    /// - it is the batch of a `foreachBatch`: see `foreach-batch-without-persist`;
    /// - one of two actions is a count for a log line: see `count-for-logging`.
    ///
    /// An action under a condition, or one that only looks at some rows (`show`, `take`, `isEmpty`), makes it information.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// shops = spark.read.parquet("s3a://lake/shops")
    /// joined = orders.join(shops, "shop_id")
    /// rows = joined.count()  # finding
    /// joined.repartition(1 + rows // 1_000_000).write.parquet("s3a://lake/joined")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.read.parquet("s3a://lake/orders")
    /// shops = spark.read.parquet("s3a://lake/shops")
    /// joined = orders.join(shops, "shop_id").cache()
    /// rows = joined.count()
    /// joined.repartition(1 + rows // 1_000_000).write.parquet("s3a://lake/joined")
    /// joined.unpersist()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/rdd-programming-guide.html#rdd-persistence>
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#caching-data>
    pub REUSE_WITHOUT_CACHE = {
        name: "reuse-without-cache", group: Cache, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

/// A frame that several actions compute, by their indices in source order.
struct Reused {
    frame: NodeId,
    actions: Vec<usize>,
}

fn check(cx: &mut CodeContext<'_>) {
    let mut by_scope: BTreeMap<ScopeId, Vec<usize>> = BTreeMap::new();
    for (index, action) in cx.plan.actions.iter().enumerate().filter(|(_, action)| runs_frame(action)) {
        // One word on one call is enough.
        if count_for_logging::reports(cx, index) {
            continue;
        }
        by_scope.entry(action.scope).or_default().push(index);
    }
    for actions in by_scope.into_values().filter(|actions| actions.len() > 1) {
        let mut reported: Vec<NodeId> = Vec::new();
        for reused in reused(cx.plan, &actions) {
            if let Some(finding) = judge(cx, &reused, &reported) {
                cx.shared.report(finding);
                reported.push(reused.frame);
            }
        }
    }
}

/// Jobs on one RDD reuse the files of its shuffles; frames are planned anew.
fn runs_frame(action: &Action) -> bool {
    !action.on_rdd && !matches!(action.kind, ActionKind::Other(_))
}

/// Only some rows are wanted, though a shuffle before them runs in full.
fn looks_at_some_rows(kind: &ActionKind) -> bool {
    matches!(kind, ActionKind::Take(_) | ActionKind::Show | ActionKind::IsEmpty)
}

/// The frames nearest to the actions that several of them share; those with most actions first.
fn reused(plan: &StaticPlan, actions: &[usize]) -> Vec<Reused> {
    let mut users: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
    for &index in actions {
        for id in plan.actions[index].input.map(|input| recomputed(plan, input)).unwrap_or_default() {
            users.entry(id).or_default().push(index);
        }
    }
    let mut nearest: FxHashMap<NodeId, bool> = users.iter().map(|(&id, users)| (id, users.len() > 1)).collect();
    for (id, users_of_consumer) in &users {
        for input in &plan.node(*id).inputs {
            if users.get(input) == Some(users_of_consumer) {
                nearest.insert(*input, false);
            }
        }
    }
    let shared = users.into_iter().filter(|(id, _)| nearest.get(id) == Some(&true));
    let mut reused: Vec<Reused> = shared.map(|(frame, actions)| Reused { frame, actions }).collect();
    reused.sort_by_key(|reused| (std::cmp::Reverse(reused.actions.len()), reused.frame));
    reused
}

fn judge(cx: &CodeContext<'_>, reused: &Reused, reported: &[NodeId]) -> Option<Finding> {
    let lineage = recomputed(cx.plan, reused.frame);
    let kept: Vec<NodeId> = reported.iter().flat_map(|&frame| recomputed(cx.plan, frame)).collect();
    let steps = lineage.iter().filter(|id| !kept.contains(id));
    let run_by = |step: NodeId| -> Vec<usize> {
        reused.actions.iter().copied().filter(|&index| computes(cx, &cx.plan.actions[index], step)).collect()
    };
    let mut costly_steps = steps.filter_map(|&id| Some((id, costly(cx.plan.node(id))?, run_by(id))));
    let (step, what, actions) = costly_steps.find(|(.., actions)| actions.len() > 1)?;
    let streams =
        |&id: &NodeId| matches!(cx.plan.node(id).operator, Operator::Source(Source::Read { streaming: true, .. }));
    if is_generated(cx.plan, reused.frame) || lineage.iter().any(streams) {
        return None;
    }
    let (first, last, severity) = worst_pair(cx, &actions)?;
    if foreach_batch_without_persist::reports(cx, cx.plan.actions[first].scope, &lineage) {
        return None;
    }
    let action = |index: usize| &cx.plan.actions[index];
    let name = name_of(cx.plan, reused.frame, action(first));
    let frame = name.map_or_else(|| "this frame".to_owned(), str::to_owned);
    let others = || actions.iter().filter(|&&index| index != first).map(|&index| action(index));
    let methods: Vec<&str> = others().map(|action| action.method.as_str()).collect();
    let (spent, evidence) = spent_again(cx, &actions).unzip();
    let message = format!(
        "{frame} is computed again by {}: its {what} runs {} times{}. Cache {frame} before the first action and unpersist it after the last.",
        methods.join(", "),
        actions.len(),
        spent.unwrap_or_default(),
    );
    let mut finding = Finding::new(cx.shared.rule, severity, action(first).site.method, message)
        .with_measured(evidence)
        .with_fixes(name.and_then(|name| templates::cache_between(cx.shared.text, name, action(first), action(last))));
    for other in others() {
        finding = finding.with_related(other.site.method, format!("computes {frame} again"));
    }
    match &cx.plan.node(step).site {
        Some(site) => Some(finding.with_related(site.method, format!("the {what}"))),
        None => Some(finding),
    }
}

/// Whether an action computes a step before it: a column that it doesn't read is taken out of its plan.
fn computes(cx: &CodeContext<'_>, action: &Action, step: NodeId) -> bool {
    let is_column = matches!(cx.plan.node(step).operator, Operator::Window | Operator::Udf);
    let reads_no_column = matches!(action.kind, ActionKind::Count | ActionKind::IsEmpty);
    let (Some(input), Some(column)) = (action.input, added_column(cx, step)) else { return true };
    if !is_column || !reads_no_column {
        return true;
    }
    let between = recomputed(cx.plan, input);
    let behind = between.iter().filter(|&&id| id != step && cx.plan.upstream(id).contains(&step));
    behind.into_iter().any(|&id| may_read(cx, id, &column))
}

/// The name of the column that `withColumn` adds.
fn added_column(cx: &CodeContext<'_>, id: NodeId) -> Option<String> {
    let site = cx.plan.node(id).site.as_ref().filter(|site| site.method.of(cx.shared.text) == "withColumn")?;
    match &site.argument(0, "colName")?.value {
        Literal::Text(name) => Some(name.clone()),
        _ => None,
    }
}

/// Whether an operator may read a column, or needs all of them.
fn may_read(cx: &CodeContext<'_>, id: NodeId, column: &str) -> bool {
    let node = cx.plan.node(id);
    let Some(site) = &node.site else { return !matches!(node.operator, Operator::Merge) };
    match node.operator {
        Operator::Filter { .. } | Operator::Project { .. } | Operator::WithColumns | Operator::Window => {
            let arguments = site.arguments.of(cx.shared.text);
            let is_open =
                site.args.iter().any(|argument| matches!(argument.value, Literal::Unknown)) && !arguments.contains('"');
            arguments.contains(column)
                || is_open && matches!(node.operator, Operator::Filter { .. }) && !arguments.contains('\'')
        }
        Operator::Limit(_) | Operator::Hint(_) | Operator::Coalesce { .. } => false,
        _ => true,
    }
}

/// The first and the last action of those that run together, and how bad that is.
fn worst_pair(cx: &CodeContext<'_>, actions: &[usize]) -> Option<(usize, usize, Severity)> {
    let action = |index: usize| &cx.plan.actions[index];
    let mut worst: Option<(usize, usize, Severity)> = None;
    for (at, &first) in actions.iter().enumerate() {
        for &second in &actions[at + 1..] {
            let severity = match together(cx.shared.text, action(first).site.statement, action(second).site.statement) {
                Together::Never => continue,
                Together::Maybe => Severity::Information,
                Together::Always if [first, second].iter().any(|&it| looks_at_some_rows(&action(it).kind)) => {
                    Severity::Information
                }
                Together::Always => Severity::Warning,
            };
            let (start, _, before) = worst.unwrap_or((first, second, severity));
            worst = Some((start, second, severity.max(before)));
        }
    }
    worst
}

/// What all actions but the longest cost in a linked run: what a cache would have saved at most.
fn spent_again(cx: &CodeContext<'_>, actions: &[usize]) -> Option<(String, Evidence)> {
    let costs: Vec<_> = actions.iter().map(|&index| evidence::cost(&cx.shared, index)).collect::<Option<_>>()?;
    let label = costs.first()?.label.clone();
    let longest = costs.iter().map(|cost| cost.total_ms).fold(0.0, f64::max);
    let again = costs.iter().map(|cost| cost.total_ms).sum::<f64>() - longest;
    let evidence = measured("spent again, at most", duration(again), &label);
    Some((format!(" (in run {label} the repetitions took {})", duration(again)), evidence))
}
