//! What rules on the order of operators ask of the plan.

use rustc_hash::FxHashSet;

use super::lineage::is_given;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{CallSite, Literal, Loop, LoopId, LoopOver, Node, NodeId, Operator, Source};
use crate::rules::Shared;
use crate::text::Span;

/// By node: whether something other than an operator reads it: an action, a release, Python that gets it.
pub(super) fn acted_on(plan: &StaticPlan) -> Vec<bool> {
    let mut acted = vec![false; plan.nodes.len()];
    let read = plan.actions.iter().filter_map(|action| action.input);
    let read = read.chain(plan.streams.iter().map(|stream| stream.input));
    for id in read.chain(plan.python.iter().filter_map(|function| function.input)) {
        acted[id.0 as usize] = true;
    }
    acted
}

/// From the method's name to the closing parenthesis.
pub(super) fn called(site: &CallSite) -> Span {
    site.method.cover(site.arguments)
}

/// The number of shuffle partitions in force.
pub(super) fn shuffle_partitions(cx: &Shared<'_>) -> Option<i64> {
    cx.conf.integer(SHUFFLE_PARTITIONS)
}

/// The setting of [`shuffle_partitions`].
pub(super) const SHUFFLE_PARTITIONS: &str = "spark.sql.shuffle.partitions";

/// The columns that a call is given by name, without numbers; `None` for those that are no plain names.
pub(super) fn columns(site: &CallSite, text: &str) -> Vec<Option<String>> {
    let mut columns = Vec::new();
    for argument in &site.args {
        match &argument.value {
            Literal::Text(name) => columns.push(Some(name.clone())),
            Literal::Integer(_) | Literal::Bool(_) => {}
            Literal::List(items) => columns.extend(items.iter().map(name_of)),
            _ => columns.push(plain_column(argument.span.of(text)).map(str::to_owned)),
        }
    }
    columns
}

/// A literal column name.
pub(super) fn name_of(literal: &Literal) -> Option<String> {
    match literal {
        Literal::Text(name) => Some(name.clone()),
        _ => None,
    }
}

/// The name in `col("a")`, `F.col('a')`, `df["a"]` and `df.a`, with or without `.desc()` and `.asc()` behind it.
pub(super) fn plain_column(expression: &str) -> Option<&str> {
    let expression = expression.trim();
    let expression = ["desc", "asc"].iter().fold(expression, |rest, order| {
        rest.strip_suffix("()")
            .and_then(|rest| rest.strip_suffix(order))
            .and_then(|rest| rest.strip_suffix('.'))
            .unwrap_or(rest)
    });
    let expression = ["desc(", "asc("].iter().fold(expression, |rest, order| {
        let inner = rest.rsplit_once(order).filter(|(before, _)| before.is_empty() || before.ends_with('.'));
        inner.and_then(|(_, inner)| inner.strip_suffix(')')).unwrap_or(rest)
    });
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let unquoted = |text: &'_ str| -> Option<usize> {
        let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        (text.len() > 2 && text.ends_with(quote)).then_some(1)
    };
    let inner = match expression.split_once('(') {
        Some((function, rest)) => {
            let is_col = ["col", "column"].contains(&function.rsplit('.').next().unwrap_or_default());
            rest.strip_suffix(')').filter(|_| is_col)?
        }
        None => match expression.split_once('[') {
            Some((frame, rest)) => rest.strip_suffix(']').filter(|_| frame.split('.').all(is_word))?,
            None if unquoted(expression).is_some() => expression,
            None => {
                let (frame, name) = expression.rsplit_once('.')?;
                return (frame.split('.').all(is_word) && is_word(name)).then_some(name);
            }
        },
    };
    let inner = inner.trim();
    unquoted(inner).and_then(|quote| inner.get(quote..inner.len() - quote))
}

/// Whether a shuffle lies in front of what this operator gives out.
pub(super) fn shuffles(node: &Node) -> bool {
    matches!(
        node.operator,
        Operator::Join(_)
            | Operator::Aggregate { grouped: true, .. }
            | Operator::Distinct
            | Operator::Window
            | Operator::Sort { global: true }
            | Operator::Repartition { .. }
    )
}

/// Whether rows stay in their partitions and each comes from one row: filters, columns, hints.
pub(super) fn is_narrow(operator: &Operator) -> bool {
    matches!(
        operator,
        Operator::Filter { .. }
            | Operator::Project { only_aggregates: false, .. }
            | Operator::WithColumns
            | Operator::Hint(_)
    )
}

/// Whether one side of a join has the broadcast hint.
pub(super) fn is_broadcast(plan: &StaticPlan, join: &Node) -> bool {
    join.inputs.iter().any(|&side| is_hinted(plan, side))
}

/// Whether a frame has the broadcast hint, perhaps under some columns or filters.
pub(super) fn is_hinted(plan: &StaticPlan, mut id: NodeId) -> bool {
    for _ in 0..plan.nodes.len() {
        let node = plan.node(id);
        match &node.operator {
            Operator::Hint(hint) if hint.starts_with("broadcast") || hint.starts_with("mapjoin") => return true,
            operator if is_narrow(operator) => {}
            _ => return false,
        }
        let Some(&input) = node.inputs.first() else { return false };
        id = input;
    }
    false
}

/// Whether all that a frame is computed from comes from elsewhere.
pub(super) fn is_all_given(plan: &StaticPlan, id: NodeId) -> bool {
    let sources = plan.upstream(id).into_iter().filter(|&id| matches!(plan.node(id).operator, Operator::Source(_)));
    is_given(plan, id) && sources.into_iter().all(|id| plan.node(id).operator == Operator::Source(Source::Given))
}

/// The option of a literal list of options, whatever its case.
pub(super) fn option<'a>(options: &'a [(String, Literal)], name: &str) -> Option<&'a Literal> {
    options.iter().rev().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// Whether an expression is `F.lit(…)`, perhaps with a cast behind it, or the day of the run.
pub(super) fn is_literal(expression: &str) -> bool {
    let function = expression.trim().split('(').next().unwrap_or_default();
    matches!(function.rsplit('.').next(), Some("lit" | "current_date" | "current_timestamp"))
}

/// Whether a literal is true as an option reads it.
pub(super) fn is_true(literal: &Literal) -> bool {
    match literal {
        Literal::Bool(value) => *value,
        Literal::Text(text) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// An operator that a loop carries on: it builds on its loop's variable, and the next turn builds on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Growth {
    /// The loop's variable.
    pub(super) variable: NodeId,
    /// The loop.
    pub(super) inside: LoopId,
    /// The operator.
    pub(super) node: NodeId,
}

/// The operators of one kind by which loops grow their variables, in the order of the nodes.
pub(super) fn growths(plan: &StaticPlan, wanted: impl Fn(&Node) -> bool) -> Vec<Growth> {
    if plan.loops.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, variable) in plan.nodes.iter().enumerate() {
        let (Operator::LoopCarried(inside), Some(&end)) = (&variable.operator, variable.inputs.get(1)) else {
            continue;
        };
        let (variable, inside) = (NodeId(index as u32), *inside);
        let built_on = downstream(plan, variable);
        for id in plan.upstream(end).into_iter().filter(|id| built_on.contains(id)) {
            let node = plan.node(id);
            if wanted(node) && node.site.is_some() && node.loops.contains(&inside) {
                found.push(Growth { variable, inside, node: id });
            }
        }
    }
    found.sort_by_key(|growth| growth.node);
    found
}

/// What is computed from a node, without it.
fn downstream(plan: &StaticPlan, from: NodeId) -> FxHashSet<NodeId> {
    let mut found = FxHashSet::default();
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        open.extend(plan.consumers[id.0 as usize].iter().filter(|&&consumer| found.insert(consumer)));
    }
    found
}

/// Whether what a loop makes of its variable is cut off from the plan of the turn before.
pub(super) fn is_cut(plan: &StaticPlan, growth: Growth) -> bool {
    let Some(&end) = plan.node(growth.variable).inputs.get(1) else { return true };
    plan.upstream(end).into_iter().map(|id| plan.node(id)).any(|node| {
        let cuts = matches!(node.operator, Operator::Checkpoint | Operator::Rdd);
        cuts && node.loops.contains(&growth.inside)
    })
}

/// Whether a loop has many turns, as far as is known.
pub(super) fn has_many_turns(looped: &Loop, few: f64) -> bool {
    let is_few = matches!(looped.over, LoopOver::Literal(turns) if (turns as f64) <= few);
    !is_few && !looped.runs_once && !looped.retries
}

/// `each of 12 turns`, `each turn`.
pub(super) fn turns(looped: &Loop) -> String {
    match looped.over {
        LoopOver::Literal(turns) => format!("each of {turns} turns"),
        _ => "each turn".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_columns_have_a_name() {
        for written in [
            "F.col(\"day\")",
            "col('day')",
            "df.day",
            "self.df.day",
            "df[\"day\"]",
            "'day'",
            "F.col(\"day\").desc()",
            "F.desc(\"day\")",
        ] {
            assert_eq!(plain_column(written), Some("day"), "{written}");
        }
        for written in ["F.to_date(\"day\")", "F.lit(1)", "day", "F.col(name)", "f(x)[\"day\"]", "'", ""] {
            assert_eq!(plain_column(written), None, "{written}");
        }
    }
}
