//! `F.broadcast` around the side of a join that may be built.

use super::edits::{Functions, insert, lines_before, refactor};
use crate::conf::EffectiveConf;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Join, NodeId, Operator};
use crate::rules::Fix;
use crate::rules::in_force::in_force_in;

/// A side of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The side that Spark can build a hash table of, by join type: a full outer join has none.
pub(super) fn buildable(join: &Join) -> Option<Side> {
    match join.kind.as_deref()? {
        "inner" | "left" | "left_semi" | "left_anti" | "cross" => Some(Side::Right),
        "right" => Some(Side::Left),
        _ => None,
    }
}

/// Wraps the side of a join that may be broadcast, with what can go wrong in a comment.
pub fn broadcast(plan: &StaticPlan, text: &str, conf: &EffectiveConf, join: NodeId) -> Option<Fix> {
    let node = plan.node(join);
    let Operator::Join(kind) = &node.operator else { return None };
    let site = node.site.as_ref()?;
    let (side, span, input) = match buildable(kind)? {
        Side::Left => ("left", site.receiver, node.inputs.first()),
        Side::Right => ("right", site.argument(0, "other")?.span, node.inputs.get(1)),
    };
    let is_hinted = node.inputs.iter().any(|&input| matches!(plan.node(input).operator, Operator::Hint(_)));
    if is_hinted || span.is_empty() || input.is_none() {
        return None;
    }
    let functions = Functions::of(plan, text);
    let timeout = in_force_in(conf, "spark.sql.broadcastTimeout", "s").unwrap_or_else(|| "300s".to_owned());
    let threshold = in_force_in(conf, "spark.sql.autoBroadcastJoinThreshold", "b").unwrap_or_else(|| "10MB".to_owned());
    let comment = [
        format!(
            "# Right only while the {side} side is small. It can fail in two ways: the driver collects it first and"
        ),
        format!("# needs the memory, and the join fails after spark.sql.broadcastTimeout, {timeout}."),
        "# Each executor then holds a copy. Spark broadcasts on its own below".to_owned(),
        format!("# spark.sql.autoBroadcastJoinThreshold, {threshold}."),
    ];
    let edits = vec![
        lines_before(text, site.statement, &comment)?,
        insert(span.start as usize, format!("{}(", functions.call("broadcast"))),
        insert(span.end as usize, ")"),
    ];
    Some(refactor(format!("Broadcast the {side} side of this join"), functions.with_import(edits)))
}
