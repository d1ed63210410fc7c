//! What the static plan says that stands in a physical plan too.

use std::collections::BTreeSet;

use super::physical::last_component;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, JoinCondition, Literal, NodeId, Operator, Source};

/// Literals, keys and numbers of what an action runs; comparable with [`super::physical::tokens`].
pub(super) fn tokens(plan: &StaticPlan, action: &Action, text: &str) -> BTreeSet<String> {
    let mut tokens = BTreeSet::new();
    for id in action.input.map(|input| plan.upstream(input)).unwrap_or_default() {
        node_tokens(plan, id, text, &mut tokens);
    }
    match &action.kind {
        // `show(n)` plans one row more, to know whether to print "only showing top n rows".
        ActionKind::Show => {
            let rows = match action.site.argument(0, "n").map(|argument| &argument.value) {
                Some(Literal::Integer(rows)) => Some(*rows),
                None => Some(20),
                Some(_) => None,
            };
            tokens.extend(rows.map(|rows| format!("limit:{}", rows + 1)));
        }
        ActionKind::Take(Some(rows)) => drop(tokens.insert(format!("limit:{rows}"))),
        ActionKind::Count => drop(tokens.insert("aggregate".to_owned())),
        _ => {}
    }
    tokens
}

fn node_tokens(plan: &StaticPlan, id: NodeId, text: &str, tokens: &mut BTreeSet<String>) {
    let node = plan.node(id);
    match &node.operator {
        Operator::Source(Source::Read { location, .. }) => {
            tokens.extend(location.iter().filter_map(tail).map(|tail| format!("source:{tail}")));
        }
        Operator::Source(Source::Table(name)) => tokens.extend(tail(name).map(|tail| format!("source:{tail}"))),
        Operator::Source(Source::Range(Some(rows))) => drop(tokens.insert(format!("range:{rows}"))),
        Operator::Join(join) => {
            tokens.insert("join".to_owned());
            if let JoinCondition::Using(keys) = &join.condition {
                tokens.extend(keys.iter().map(|key| format!("key:{key}")));
            }
        }
        Operator::Aggregate { keys, .. } => {
            tokens.insert("aggregate".to_owned());
            tokens.extend(keys.iter().flatten().map(|key| format!("key:{key}")));
        }
        Operator::Distinct => drop(tokens.insert("aggregate".to_owned())),
        Operator::Window => drop(tokens.insert("window".to_owned())),
        Operator::Repartition { count, .. } => drop(tokens.insert(format!("repartition:{}", count.unwrap_or(-1)))),
        Operator::Coalesce { count: Some(count) } => drop(tokens.insert(format!("coalesce:{count}"))),
        Operator::Sort { global: true } => drop(tokens.insert("sort".to_owned())),
        Operator::Limit(Some(rows)) => drop(tokens.insert(format!("limit:{rows}"))),
        Operator::Filter { .. } => {
            if let Some(site) = &node.site {
                tokens.extend(numbers(site.arguments.of(text)).map(|number| format!("literal:{number}")));
            }
        }
        _ => {}
    }
}

/// The numbers that stand in a condition.
fn numbers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The last component of a literal path or table; of a text with holes, its literal end.
pub(super) fn tail(literal: &Literal) -> Option<&str> {
    let text = match literal {
        Literal::Text(text) => text.as_str(),
        Literal::Template(parts) => parts.last()?.as_deref()?,
        _ => return None,
    };
    let tail = last_component(text);
    (!tail.is_empty()).then_some(tail)
}

/// Whether a literal target can be the logged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetMatch {
    /// The literal says so.
    Yes,
    /// The literal says otherwise.
    No,
    /// The code doesn't tell.
    Unknown,
}

/// Compares a written target with a logged one (`file:/srv/out/daily`, `spark_catalog.default.daily`).
pub(super) fn matches_target(written: &Literal, logged: &str) -> TargetMatch {
    let logged = logged.trim_end_matches('/');
    match written {
        Literal::Text(text) => verdict(ends_with_component(logged, text.trim_end_matches('/'))),
        Literal::Template(parts) => match parts.last() {
            // Only a literal end that starts a new component names the target.
            Some(Some(end)) if end.contains(['/', '.']) => verdict(logged.ends_with(end.trim_end_matches('/'))),
            Some(Some(end)) if !end.is_empty() && !logged.ends_with(end.trim_end_matches('/')) => TargetMatch::No,
            _ => TargetMatch::Unknown,
        },
        _ => TargetMatch::Unknown,
    }
}

fn verdict(matches: bool) -> TargetMatch {
    if matches { TargetMatch::Yes } else { TargetMatch::No }
}

/// Whether `text`, without its scheme, is all of `logged` or its end from a component's start on.
fn ends_with_component(logged: &str, text: &str) -> bool {
    let path = |location: &str| -> String {
        let bare = location.split_once(":/").map_or(location, |(_, rest)| rest);
        bare.trim_start_matches('/').to_owned()
    };
    let (logged, text) = (path(logged), path(text));
    logged == text || logged.strip_suffix(text.as_str()).is_some_and(|front| front.ends_with(['/', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_targets_match_from_a_component_on() {
        let daily = Literal::Text("out/daily".to_owned());
        assert_eq!(matches_target(&daily, "file:/srv/out/daily"), TargetMatch::Yes);
        assert_eq!(matches_target(&daily, "file:/srv/old-out/daily"), TargetMatch::No);
        let bucket = Literal::Text("s3a://lake/out/daily/".to_owned());
        assert_eq!(matches_target(&bucket, "s3a://lake/out/daily"), TargetMatch::Yes);
        let table = Literal::Text("daily".to_owned());
        assert_eq!(matches_target(&table, "spark_catalog.default.daily"), TargetMatch::Yes);
    }

    #[test]
    fn templates_match_by_their_end() {
        let template = Literal::Template(vec![None, Some("/orders_enriched".to_owned())]);
        assert_eq!(matches_target(&template, "file:/tmp/out/orders_enriched"), TargetMatch::Yes);
        assert_eq!(matches_target(&template, "file:/tmp/out/orders"), TargetMatch::No);
        let open = Literal::Template(vec![Some("out/".to_owned()), None]);
        assert_eq!(matches_target(&open, "file:/tmp/out/orders"), TargetMatch::Unknown);
        assert_eq!(matches_target(&Literal::Unknown, "file:/tmp/out/orders"), TargetMatch::Unknown);
    }
}
