//! A projection a turn.

use std::collections::BTreeMap;

use super::blocks::{Together, together};
use crate::catalog::SparkVersion;
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{CallSite, Literal, Loop, LoopId, LoopOver, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity, templates};
use crate::text::Span;

declare_rule! {
    /// `df = df.withColumn(...)` in a loop: one projection more a turn.
    ///
    /// ## Why
    /// Each call adds a projection to the plan and analyses the whole plan again, so that the time on the driver grows with the square
    /// of the number of columns: 2,000 columns take minutes before the first task starts, against a second for one `select`. Deep plans
    /// can overflow the stack of the optimizer.
    ///
    /// ## Silent when
    /// - the frame is a new one in each turn;
    /// - the loop has fewer than 10 literal items, leaves in its first turn, or an `if name == "..."` bounds it;
    /// - it is in a branch for other versions of Spark than the project's;
    /// - it is the other branch of one that makes all columns in one call: the code knows, and goes step by step where it has to.
    ///
    /// A step that reads the column made by the step before can't be put into one call as it is: then it is a hint.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// frame = spark.table("raw.events")
    /// for name in frame.columns:
    ///     frame = frame.withColumn(name, F.trim(F.col(name)))  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// frame = spark.table("raw.events")
    /// frame = frame.withColumns({name: F.trim(F.col(name)) for name in frame.columns})
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.withColumn.html> (its note)
    /// - <https://issues.apache.org/jira/browse/SPARK-53505> (the same in Spark Connect)
    /// - <https://github.com/airbnb/chronon/pull/888> (2,000 columns renamed: about 3 minutes, and about a second by one `select`)
    pub WITH_COLUMN_IN_LOOP = {
        name: "with-column-in-loop", group: Plan, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("min-turns", 10.0, "loops over fewer literal items than this are left alone")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    // One finding for each variable that a loop carries, at the first call that grows it.
    let mut by_variable: BTreeMap<NodeId, Vec<(NodeId, LoopId)>> = BTreeMap::new();
    for (index, node) in cx.plan.nodes.iter().enumerate().filter(|(_, node)| !node.loops.is_empty()) {
        let id = NodeId(index as u32);
        let is_projection = node.site.as_ref().is_some_and(|site| is_projection(site.method.of(cx.shared.text)));
        if let Some((carried, inside)) = Some(id).filter(|_| is_projection).and_then(|id| carried(cx.plan, id)) {
            by_variable.entry(carried).or_default().push((id, inside));
        }
    }
    for calls in by_variable.values() {
        if let Some(finding) = judge(cx, calls) {
            cx.shared.report(finding);
        }
    }
}

fn is_projection(method: &str) -> bool {
    matches!(method, "withColumn" | "withColumnRenamed" | "drop")
}

/// The loop variable that a call grows, and its loop: its receiver goes back to the variable's value in the turn before, and the
/// turn after starts with what the call made.
fn carried(plan: &StaticPlan, id: NodeId) -> Option<(NodeId, LoopId)> {
    let loops = &plan.node(id).loops;
    let mut open = vec![id];
    let mut seen = Vec::new();
    while let Some(at) = open.pop() {
        if seen.contains(&at) {
            continue;
        }
        seen.push(at);
        let node = plan.node(at);
        match node.operator {
            Operator::LoopCarried(inside) if loops.contains(&inside) => {
                let made_here = node.inputs.get(1).is_some_and(|&end| plan.upstream(end).contains(&id));
                return made_here.then_some((at, inside));
            }
            Operator::Merge => open.extend(node.inputs.iter().copied()),
            _ => open.extend(node.inputs.first().copied()),
        }
    }
    None
}

fn judge(cx: &CodeContext<'_>, calls: &[(NodeId, LoopId)]) -> Option<Finding> {
    let text = cx.shared.text;
    let sites = || calls.iter().filter_map(|&(id, inside)| Some((cx.plan.node(id).site.as_ref()?, inside, id)));
    let is_meant =
        |site: &CallSite, id| cx.shared.is_for_other_versions(site.method) || is_beside_one_call(cx, site, id);
    let reported: Vec<_> =
        sites().filter(|&(site, inside, id)| grows(cx, site, cx.plan.loop_(inside)) && !is_meant(site, id)).collect();
    let &(site, inside, id) = reported.first()?;
    let looped = cx.plan.loop_(inside);
    let severity = if reads_its_own_column(site, looped, text) { Severity::Hint } else { Severity::Warning };
    let turns = match looped.over {
        LoopOver::Literal(turns) => format!("each of {turns} turns"),
        _ => "each turn".to_owned(),
    };
    let method = site.method.of(text);
    let instead = match severity {
        Severity::Hint => "Build one expression over all names and add it once, or use one select.",
        _ => in_one_call(method, cx.shared.version()),
    };
    let message = format!(
        "{method} runs in {turns} of this loop: each call adds a projection and analyses the whole plan again, so the time grows with the square of the columns. {instead}"
    );
    let may_join = severity != Severity::Hint;
    let fix = templates::with_columns(cx.plan, text, cx.shared.version(), id, inside)
        .filter(|_| may_join && reported.len() == 1);
    let finding = Finding::new(cx.shared.rule, severity, site.method, message)
        .with_related(looped.header, "the loop")
        .with_fixes(fix);
    let others = reported[1..].iter().map(|(site, ..)| site.method);
    Some(others.fold(finding, |finding, other| finding.with_related(other, "grows the same frame")))
}

/// What does the work of all turns.
fn in_one_call(method: &str, version: SparkVersion) -> &'static str {
    match method {
        "drop" => "Drop them all in one call: drop(*columns).",
        "withColumnRenamed" if version.at_least(3, 4) => {
            "Rename all of them in one call of withColumnsRenamed({old: new}), or in one select."
        }
        "withColumnRenamed" => "Rename all of them in one select.",
        _ if version.at_least(3, 3) => "Build all columns first and add them in one call of withColumns or select.",
        _ => "Build all columns first and add them in one select.",
    }
}

/// Whether another branch of the function does the same in one call.
fn is_beside_one_call(cx: &CodeContext<'_>, site: &CallSite, id: NodeId) -> bool {
    let text = cx.shared.text;
    let one_call = match site.method.of(text) {
        "withColumn" => "withColumns",
        "withColumnRenamed" => "withColumnsRenamed",
        _ => return false,
    };
    let scope = cx.plan.node(id).scope;
    // The lambda of a reduce is read where the reduce stands.
    let holds = |scope: crate::pyspark::plan::ScopeId| cx.plan.scope(scope).span.contains(site.call);
    cx.plan.nodes.iter().filter(|node| node.scope == scope || holds(node.scope)).any(|node| {
        node.site.as_ref().is_some_and(|other| {
            let (first, second) = if other.call.start < site.call.start { (other, site) } else { (site, other) };
            other.method.of(text) == one_call && together(text, first.statement, second.statement) == Together::Never
        })
    })
}

/// Whether the loop has many turns that reach the call.
fn grows(cx: &CodeContext<'_>, site: &CallSite, looped: &Loop) -> bool {
    let few = matches!(looped.over, LoopOver::Literal(turns) if (turns as f64) < cx.shared.option("min-turns"));
    !few && !looped.runs_once && !is_guarded_by_name(cx.shared.text, site, looped)
}

/// Whether an `if name == "..."` lets only one turn of the loop reach the statement.
fn is_guarded_by_name(text: &str, site: &CallSite, looped: &Loop) -> bool {
    let before = Span { start: looped.header.end, end: site.statement.start.max(looped.header.end) }.of(text);
    let Some(own_indent) = before.rsplit(['\n', '\r']).next().map(str::len) else { return false };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut limit = own_indent;
    for line in before.lines().rev().skip(1).filter(|line| !line.trim().is_empty()) {
        if indent(line) >= limit {
            continue;
        }
        limit = indent(line);
        let is_test = line.trim_start().starts_with("if ") || line.trim_start().starts_with("elif ");
        if is_test && looped.targets.iter().any(|target| names_one(line, target)) {
            return true;
        }
    }
    false
}

/// Whether a condition holds `target == "..."`, either way round.
fn names_one(condition: &str, target: &str) -> bool {
    let quoted = |c: char| c == '"' || c == '\'';
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    condition.match_indices("==").any(|(at, equals)| {
        let (left, right) = (condition[..at].trim_end(), condition[at + equals.len()..].trim_start());
        let left_is_target = left.strip_suffix(target).is_some_and(|rest| !rest.ends_with(is_word));
        let right_is_target = right.strip_prefix(target).is_some_and(|rest| !rest.starts_with(is_word));
        left_is_target && right.starts_with(quoted) || right_is_target && left.ends_with(quoted)
    })
}

/// `df.withColumn("total", F.col("total") + F.col(name))`: every turn needs the column of the turn before.
fn reads_its_own_column(site: &CallSite, looped: &Loop, text: &str) -> bool {
    let (Some(name), Some(column)) = (site.argument(0, "colName"), site.argument(1, "col")) else { return false };
    let column = column.span.of(text);
    match &name.value {
        Literal::Text(name) => has_word(column, name),
        _ => {
            let name = name.span.of(text);
            stays_the_same(name, looped, text) && has_word(column, name)
        }
    }
}

/// Whether a name means the same in each turn of a loop.
fn stays_the_same(name: &str, looped: &Loop, text: &str) -> bool {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    // What a name belongs to: `field` of `field.name`.
    let root = name.split('.').next().unwrap_or_default();
    let bound_by_lambda = || {
        let lambdas = looped.span.of(text).split("lambda ").skip(1);
        looped.comprehension && lambdas.filter_map(|rest| rest.split(':').next()).any(|params| has_word(params, root))
    };
    let is_bound = |line: &str| {
        let (target, value) = line.split_once('=').unwrap_or((line, ""));
        let assigns = !value.starts_with('=') && !target.ends_with(['!', '<', '>']) && line.contains('=');
        let is_named = |names: &str| has_word(names, name) || has_word(names, root) && !names.contains('.');
        assigns && is_named(target) && !target.contains('(')
            || line.trim_start().starts_with("for ") && is_named(line.split(" in ").next().unwrap_or_default())
    };
    is_name && !bound_by_lambda() && !looped.span.of(text).lines().any(is_bound)
}

/// Whether a text holds a name that is no part of a longer one.
fn has_word(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text
            .match_indices(name)
            .any(|(at, found)| !text[..at].ends_with(is_word) && !text[at + found.len()..].starts_with(is_word))
}
