//! Rows that are drawn again by each action.

use super::blocks::{Together, together};
use super::lineage::{costly, is_generated, name_of, recomputed};
use crate::declare_rule;
use crate::pyspark::api::{self, Function};
use crate::pyspark::plan::{Action, ActionKind, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity, templates};
use crate::text::Span;

declare_rule! {
    /// A frame whose rows or values may differ from one action to the next, read by several.
    ///
    /// ## Why
    /// Each action computes an uncached frame again. A Python function that makes an id draws another one; a sample, a `rand()` or a
    /// `limit` without order takes other rows as soon as they arrive in another order, as behind every shuffle. The count in the log and
    /// the written file then disagree, and keys that two tables should share don't match.
    ///
    /// ## Silent when
    /// - a seed is given, or the limit follows an `orderBy`;
    /// - the frame is cached or checkpointed, or written and read back;
    /// - only one action reads it, or the actions exclude each other;
    /// - the actions are in different functions;
    /// - all rows come from the code;
    /// - the file is a test.
    ///
    /// Behind a shuffle, and for a Python function, it is information; else a hint.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// drawn = spark.table("shop.orders").sample(0.01)  # finding
    /// drawn.write.mode("overwrite").parquet("s3a://lake/drawn")
    /// drawn.groupBy("country").count().write.mode("overwrite").parquet("s3a://lake/drawn_by_country")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// drawn = spark.table("shop.orders").sample(0.01).cache()
    /// drawn.write.mode("overwrite").parquet("s3a://lake/drawn")
    /// drawn.groupBy("country").count().write.mode("overwrite").parquet("s3a://lake/drawn_by_country")
    /// drawn.unpersist()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.functions.monotonically_increasing_id.html>
    /// - <https://spark.apache.org/docs/latest/rdd-programming-guide.html#rdd-persistence>
    pub NONDETERMINISTIC_REUSE = {
        name: "nondeterministic-reuse", group: Cache, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

/// What draws rows or values, and where.
struct Drawn {
    node: NodeId,
    span: Span,
    what: String,
    /// Another value each time it runs, whatever the order of the rows.
    always: bool,
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let mut reported: Vec<Span> = Vec::new();
    for drawn in drawn(cx) {
        if reported.contains(&drawn.span) {
            continue;
        }
        if let Some(finding) = judge(cx, &drawn) {
            reported.push(drawn.span);
            cx.shared.report(finding);
        }
    }
}

fn drawn(cx: &CodeContext<'_>) -> Vec<Drawn> {
    let text = cx.shared.text;
    let mut found = Vec::new();
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let Some(site) = &node.site else { continue };
        let is_ordered = || node.inputs.first().is_some_and(|&input| is_ordered(cx, input));
        let draws = match node.operator {
            Operator::Sample { seeded } => !seeded,
            Operator::Limit(_) => !is_ordered(),
            _ => false,
        };
        if draws {
            let what = format!("{}()", site.method.of(text));
            found.push(Drawn { node: NodeId(index as u32), span: site.method, what, always: false });
        }
    }
    for call in &cx.plan.functions {
        let python = call.udf.and_then(|udf| cx.plan.python.get(udf));
        let source = python.and_then(|python| python.function.as_ref()).and_then(|function| {
            function.calls.iter().map(|(name, _)| name.as_str()).find(|name| draws_in_python(name))
        });
        let draws = match api::function(&call.name) {
            _ if call.udf.is_some() => source.is_some(),
            // With a seed it gives the same again.
            Some(Function { draws: Some(seed), .. }) => call.args.len() <= usize::from(seed),
            _ => call.name == "monotonically_increasing_id",
        };
        let what =
            source.map_or_else(|| format!("{}()", call.name), |source| format!("{}(), through {source},", call.name));
        for &node in call.used_in.iter().filter(|_| draws) {
            found.push(Drawn { node, span: call.method, what: what.clone(), always: call.udf.is_some() });
        }
    }
    found
}

/// Functions of Python that return something else each time.
fn draws_in_python(name: &str) -> bool {
    matches!(name, "uuid.uuid4" | "uuid.uuid1" | "uuid4" | "uuid1")
        || ["random.", "numpy.random.", "secrets."].iter().any(|module| name.starts_with(module))
}

/// Whether rows come out of a global sort, so that the first ones are always the same.
fn is_ordered(cx: &CodeContext<'_>, from: NodeId) -> bool {
    let mut at = from;
    for _ in 0..cx.plan.nodes.len() {
        let node = cx.plan.node(at);
        match node.operator {
            Operator::Sort { global: true } => return true,
            Operator::Project { .. } | Operator::WithColumns | Operator::Filter { .. } | Operator::Hint(_) => {}
            _ => return false,
        }
        let Some(&input) = node.inputs.first() else { return false };
        at = input;
    }
    false
}

fn judge(cx: &CodeContext<'_>, drawn: &Drawn) -> Option<Finding> {
    let plan = cx.plan;
    let node = plan.node(drawn.node);
    if node.cached || plan.scope(node.scope).is_test || is_generated(plan, drawn.node) || !node.loops.is_empty() {
        return None;
    }
    let computes = |action: &&Action| {
        draws(cx, drawn, action) && action.input.is_some_and(|input| recomputed(plan, input).contains(&drawn.node))
    };
    let actions: Vec<&Action> =
        plan.actions.iter().filter(|action| action.scope == node.scope).filter(computes).collect();
    let (first, second) = pair(cx, &actions)?;
    let input = *node.inputs.first()?;
    let is_behind_shuffle =
        recomputed(plan, input).iter().any(|&id| costly(plan.node(id)).is_some_and(|step| step != "Python function"));
    let severity = if drawn.always || is_behind_shuffle { Severity::Information } else { Severity::Hint };
    let why = match (drawn.always, is_behind_shuffle) {
        (true, _) => "and returns other values each time",
        (false, true) => "and what it takes depends on the order of rows, which a shuffle before it changes",
        (false, false) => "and what it takes depends on the order in which rows arrive",
    };
    let message = format!(
        "{} runs again for each of {} and {}, {why}. Cache or checkpoint the frame before the first, or write it and read it back.",
        drawn.what, first.method, second.method,
    );
    let fix = name_of(plan, drawn.node, first)
        .zip(actions.last())
        .and_then(|(name, last)| templates::cache_between(cx.shared.text, name, first, last));
    let finding = Finding::new(cx.shared.rule, severity, drawn.span, message).with_fixes(fix);
    Some(finding.with_related(first.site.method, "draws once").with_related(second.site.method, "draws again"))
}

/// Whether what an action returns depends on the draw. A look at some rows is compared with nothing, and only a sample
/// changes the number of rows.
fn draws(cx: &CodeContext<'_>, drawn: &Drawn, action: &Action) -> bool {
    let is_sample = matches!(cx.plan.node(drawn.node).operator, Operator::Sample { .. });
    match action.kind {
        ActionKind::Other(_) | ActionKind::Show | ActionKind::IsEmpty => false,
        ActionKind::Count => is_sample,
        _ => true,
    }
}

/// Two actions that run together.
fn pair<'a>(cx: &CodeContext<'_>, actions: &[&'a Action]) -> Option<(&'a Action, &'a Action)> {
    let pairs = actions
        .iter()
        .enumerate()
        .flat_map(|(at, &first)| actions[at + 1..].iter().map(move |&second| (first, second)));
    pairs
        .into_iter()
        .find(|(first, second)| together(cx.shared.text, first.site.statement, second.site.statement) > Together::Never)
}
