//! Joins of DataFrames.

use super::Interpreter;
use super::call::Call;
use crate::pyspark::ir::ArgName;
use crate::pyspark::plan::{Join, JoinCondition, KeyTerm, NodeId, Operator};
use crate::pyspark::value::{Relation, Value};

impl<'a> Interpreter<'a> {
    pub(super) fn join_frames(&mut self, frame: NodeId, call: &Call<'a>) -> Value<'a> {
        let kind = match call.value(2, "how") {
            None => Some("inner".to_owned()),
            Some(how) => how.as_text().map(join_kind),
        };
        let is_cross = kind.as_deref() == Some("cross");
        let condition = match call.value(1, "on") {
            _ if call.args.iter().any(|arg| !matches!(arg.name, ArgName::Positional | ArgName::Keyword(_))) => {
                JoinCondition::Unknown
            }
            None | Some(Value::None) if is_cross => JoinCondition::Cross,
            None | Some(Value::None) => JoinCondition::Missing,
            Some(on) => join_condition(on),
        };
        let terms = call.value(1, "on").map(join_terms).unwrap_or_default();
        self.join_with(frame, Join { condition, kind, terms }, call)
    }

    pub(super) fn join_with(&mut self, frame: NodeId, join: Join, call: &Call<'a>) -> Value<'a> {
        let site = self.site(call);
        let other = match call.value(0, "other") {
            Some(Value::Frame(other)) => *other,
            _ => self.given(),
        };
        let node = self.node(Operator::Join(join), &[frame, other], Some(site));
        self.used_in(node, &call.values);
        Value::Frame(node)
    }
}

/// Spark's names for a kind of join, folded.
fn join_kind(how: &str) -> String {
    let folded = how.to_ascii_lowercase().replace('_', "");
    match folded.as_str() {
        "left" | "leftouter" => "left",
        "right" | "rightouter" => "right",
        "full" | "outer" | "fullouter" => "full",
        "leftsemi" | "semi" => "left_semi",
        "leftanti" | "anti" => "left_anti",
        "cross" => "cross",
        "inner" => "inner",
        other => return other.to_owned(),
    }
    .to_owned()
}

/// The equalities that a condition needs, in order.
fn join_terms(on: &Value<'_>) -> Vec<KeyTerm> {
    match on {
        Value::Column(column) => column.terms.clone(),
        Value::List(items) | Value::Tuple(items) => items
            .iter()
            .flat_map(|item| if let Value::Column(column) = &item.value { column.terms.clone() } else { Vec::new() })
            .collect(),
        _ => Vec::new(),
    }
}

fn join_condition(on: &Value<'_>) -> JoinCondition {
    match on {
        Value::Text(text) => JoinCondition::Using(vec![text.text.clone()]),
        Value::List(items) | Value::Tuple(items) => {
            let names: Option<Vec<String>> = items.iter().map(|item| item.value.as_text().map(str::to_owned)).collect();
            match names {
                Some(names) if !names.is_empty() => JoinCondition::Using(names),
                _ => items
                    .iter()
                    .map(|item| match &item.value {
                        Value::Column(column) => column.relation,
                        _ => Relation::Unknown,
                    })
                    .reduce(Relation::and)
                    .map_or(JoinCondition::Unknown, Relation::condition),
            }
        }
        Value::Many(element) => match &**element {
            Value::Column(column) if column.relation == Relation::Equality => JoinCondition::Equality,
            _ => JoinCondition::Unknown,
        },
        Value::Column(column) if column.name.is_some() => JoinCondition::Using(column.name.iter().cloned().collect()),
        Value::Column(column) => column.relation.condition(),
        _ => JoinCondition::Unknown,
    }
}
