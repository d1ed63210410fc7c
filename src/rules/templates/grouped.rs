//! One grouped query for a query a key.

use super::edits::{is_name, lines_before, quick_fix, replace};
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, Loop, LoopId, NodeId, Operator};
use crate::rules::{Edit, Fix};

/// `df.filter(F.col("k") == key).count()` in a loop over keys to a look into one `groupBy("k").count()` before the loop.
pub fn grouped_counts(plan: &StaticPlan, text: &str, action: &Action, inside: LoopId) -> Option<Fix> {
    let looped = plan.loop_(inside);
    let filter = action.input.filter(|_| action.kind == ActionKind::Count && !action.on_rdd)?;
    let node = plan.node(filter);
    let site = node.site.as_ref().filter(|_| node.operator == Operator::Filter { key_equality: true })?;
    let frame = site.receiver.of(text);
    let from = *node.inputs.first()?;
    let is_fixed = is_name(frame) && !changes_in(plan, from, inside) && action.loops.last() == Some(&inside);
    let [condition] = &site.args[..] else { return None };
    let (column, key) = column_and_key(frame, condition.span.of(text))?;
    let name = "counts";
    let is_free = !text.contains(name) && !plan.bindings.iter().any(|binding| binding.name == name);
    if site.call != action.site.receiver || !is_fixed || !is_free || !is_of_turn(looped, key) {
        return None;
    }
    let before = if looped.comprehension { action.site.statement } else { looped.span };
    // No row equals null, and a group of nulls is one.
    let not_null = format!("\"{} IS NOT NULL\"", column.trim_matches(['"', '\'']));
    let query = format!("{name} = dict({frame}.where({not_null}).groupBy({column}).count().collect())");
    let edits: Vec<Edit> =
        vec![lines_before(text, before, &[query])?, replace(action.site.call, format!("{name}.get({key}, 0)"))];
    Some(quick_fix("Count all keys in one query before the loop", edits))
}

/// Whether a frame is another one in each turn.
fn changes_in(plan: &StaticPlan, frame: NodeId, inside: LoopId) -> bool {
    let node = plan.node(frame);
    node.loops.contains(&inside) || matches!(node.operator, Operator::LoopCarried(_))
}

/// `F.col("k") == key`, `df.k == key`, `df["k"] == key`: the column as a text, and the key.
fn column_and_key<'a>(frame: &str, condition: &'a str) -> Option<(String, &'a str)> {
    let (column, key) = condition.split_once("==").map(|(column, key)| (column.trim(), key.trim()))?;
    let called = column
        .strip_suffix(')')
        .and_then(|column| column.split_once("col("))
        .filter(|(before, _)| before.is_empty() || before.strip_suffix('.').is_some_and(is_name));
    let indexed = || column.strip_prefix(frame)?.strip_prefix('[')?.strip_suffix(']');
    let attribute =
        || column.strip_prefix(frame)?.strip_prefix('.').filter(|name| is_name(name) && !name.contains('.'));
    let column = match (called, indexed(), attribute()) {
        (Some((_, quoted)), ..) | (None, Some(quoted), _) => is_quoted(quoted).then(|| quoted.to_owned())?,
        (None, None, Some(name)) => format!("\"{name}\""),
        (None, None, None) => return None,
    };
    Some((column, key))
}

fn is_quoted(text: &str) -> bool {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let inner = inner.or_else(|| text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')));
    inner.is_some_and(|inner| !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// Whether a key is the loop's variable, or a field of it.
fn is_of_turn(looped: &Loop, key: &str) -> bool {
    let root: &str = key.split(['.', '[']).next().unwrap_or_default();
    let is_plain = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '"' | '\''));
    is_plain && looped.targets.iter().any(|target| target == root)
}
