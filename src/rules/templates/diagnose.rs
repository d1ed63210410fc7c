//! Queries that show how rows are spread, with the names of the line, and the plan of an action.

use super::edits::{Functions, as_receiver, can_move_before, is_name, lines_before, refactor};
use crate::catalog::SparkVersion;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, CallSite, JoinCondition, NodeId, Operator};
use crate::rules::Fix;
use crate::text::Span;

/// Rows per partition of the frame before a wide step.
pub fn rows_per_partition(plan: &StaticPlan, text: &str, id: NodeId) -> Option<Fix> {
    let (site, frame) = frame_before(plan, text, id)?;
    let functions = Functions::of(plan, text);
    let by = format!("{}().alias(\"pid\")", functions.call("spark_partition_id"));
    let lines = query("Rows per partition before this step: even, or a few large ones?", &frame, &by, &functions);
    let edits = functions.with_import(vec![lines_before(text, site.statement, &lines)?]);
    Some(refactor(format!("Insert a query: rows per partition of {}", label(&frame)), edits))
}

/// Rows per key of the frame before a join or an aggregation.
pub fn heaviest_keys(plan: &StaticPlan, text: &str, id: NodeId) -> Option<Fix> {
    let keys = keys(plan, id);
    if keys.is_empty() {
        return None;
    }
    let (site, frame) = frame_before(plan, text, id)?;
    let functions = Functions::of(plan, text);
    let by = keys.iter().map(|key| format!("\"{key}\"")).collect::<Vec<_>>().join(", ");
    let lines = query("Heaviest keys of this step: do a few hold most rows?", &frame, &by, &functions);
    let edits = functions.with_import(vec![lines_before(text, site.statement, &lines)?]);
    Some(refactor(format!("Insert a query: heaviest keys ({}) of {}", keys.join(", "), label(&frame)), edits))
}

/// Prints the plan of an action before it runs.
pub fn explain(plan: &StaticPlan, text: &str, version: SparkVersion, action: &Action) -> Option<Fix> {
    let can_move = can_move_before(plan, action.site.statement, &action.loops, action.scope);
    if action.on_rdd || !can_move || matches!(action.kind, ActionKind::Other(_)) {
        return None;
    }
    let frame = match &action.kind {
        ActionKind::Write(write) => {
            let until = write.chain.start.max(action.site.receiver.start) as usize;
            text.get(action.site.receiver.start as usize..until)?.trim_end().trim_end_matches('.')
        }
        _ => action.site.receiver.of(text),
    };
    if frame.trim().is_empty() {
        return None;
    }
    let mode = if version.at_least(3, 0) { "mode=\"formatted\"" } else { "True" };
    let line = format!("{}.explain({mode})", as_receiver(frame));
    let edit = lines_before(text, action.site.statement, &[line])?;
    Some(refactor(format!("Insert explain before {}", action.method), vec![edit]))
}

fn query(comment: &str, frame: &str, by: &str, functions: &Functions<'_>) -> [String; 2] {
    let desc = functions.call("desc");
    [
        format!("# {comment}"),
        format!("{frame}.groupBy({by}).count().orderBy({desc}(\"count\")).show(10, truncate=False)"),
    ]
}

fn label(frame: &str) -> &str {
    if is_name(frame) { frame } else { "its input" }
}

/// The frame that a wide step reads first, as it is written in front of the step.
fn frame_before<'a>(plan: &'a StaticPlan, text: &str, id: NodeId) -> Option<(&'a CallSite, String)> {
    let node = plan.node(id);
    let site = node.site.as_ref()?;
    if !can_move_before(plan, site.statement, &node.loops, node.scope) {
        return None;
    }
    let receiver = match node.operator {
        Operator::Aggregate { .. } => before_grouping(text, site),
        _ => site.receiver.of(text),
    };
    (!receiver.trim().is_empty()).then(|| (site, as_receiver(receiver)))
}

/// What stands in front of `.groupBy(...)` in `df.groupBy(...).agg(...)`.
fn before_grouping<'a>(text: &'a str, site: &CallSite) -> &'a str {
    let written = Span { start: site.receiver.start, end: site.arguments.start.max(site.receiver.end) }.of(text);
    let at = [".groupBy", ".groupby", ".rollup", ".cube"].iter().filter_map(|grouping| written.rfind(grouping)).max();
    at.map_or_else(|| site.receiver.of(text), |at| &written[..at])
}

fn keys(plan: &StaticPlan, id: NodeId) -> Vec<String> {
    match &plan.node(id).operator {
        Operator::Join(join) => match &join.condition {
            JoinCondition::Using(keys) => keys.clone(),
            _ => Vec::new(),
        },
        Operator::Aggregate { keys, .. } => keys.iter().cloned().collect::<Option<_>>().unwrap_or_default(),
        _ => Vec::new(),
    }
}
