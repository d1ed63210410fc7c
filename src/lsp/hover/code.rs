//! Hover on a call: what it cost, what it runs, and the thresholds that decide how.

use std::collections::VecDeque;

use super::super::document::Snapshot;
use super::setting::origin;
use crate::conf::EffectiveConf;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, CallSite, Node, NodeId, Operator, Source};
use crate::text::Span;

/// Operators named one by one; more are counted.
const SHOWN: usize = 12;

/// What there is to say of the call at an offset, and the method's name as its place.
pub(super) fn sections(snapshot: &Snapshot, plan: &StaticPlan, offset: usize) -> Option<(Span, Vec<String>)> {
    let action = plan.actions.iter().find(|action| action.site.method.touches(offset));
    let node = plan.nodes.iter().find(|node| node.site.as_ref().is_some_and(|site| site.method.touches(offset)));
    let notes = &snapshot.analysis().notes;
    let measured: Vec<String> =
        notes.iter().filter(|note| note.span.touches(offset)).map(|note| note.details.clone()).collect();
    let place = action
        .map(|action| action.site.method)
        .or_else(|| node.and_then(|node| node.site.as_ref()).map(|site| site.method))
        .or_else(|| notes.iter().find(|note| note.span.touches(offset)).map(|note| note.span))?;
    let conf = snapshot.conf_at(offset);
    let mut sections = measured;
    sections.extend(action.and_then(|action| attribution(snapshot, plan, action)));
    let keys = action.map(action_keys).or_else(|| node.map(operator_keys)).unwrap_or_default();
    sections.extend(thresholds(snapshot, &conf, keys));
    (!sections.is_empty()).then_some((place, sections))
}

/// What an action runs: every operator since the last materialisation, in the order of the source.
fn attribution(snapshot: &Snapshot, plan: &StaticPlan, action: &Action) -> Option<String> {
    let (run, kept) = not_run_before(plan, action.input?);
    let mut steps: Vec<(&Node, &CallSite)> =
        run.iter().filter_map(|id| Some((plan.node(*id), plan.node(*id).site.as_ref()?))).collect();
    steps.sort_by_key(|(_, site)| site.method.start);
    if steps.is_empty() {
        return None;
    }
    let shuffles = steps.iter().filter(|(node, _)| shuffle(&node.operator).is_some()).count();
    let since = if kept { "since what is cached" } else { "from the sources on" };
    let mut lines = vec![format!(
        "`{}` runs what has not run before, {since}: {}, {}",
        action.method,
        count(steps.len(), "operation"),
        count(shuffles, "shuffle"),
    )];
    let text = snapshot.document.text();
    for (node, site) in steps.iter().take(SHOWN) {
        let line = snapshot.document.position(site.method.start as usize, Default::default()).line + 1;
        let boundary = shuffle(&node.operator).map(|note| format!(" — {note}")).unwrap_or_default();
        let line = snapshot.line_in_words(line);
        lines.push(format!("- {line}: `{}`{boundary}", name(node, site, text)));
    }
    if steps.len() > SHOWN {
        lines.push(format!("- and {} more", steps.len() - SHOWN));
    }
    Some(lines.join("\n"))
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The node and what it is computed from, up to where rows are kept; and whether any are.
fn not_run_before(plan: &StaticPlan, from: NodeId) -> (Vec<NodeId>, bool) {
    let mut seen = vec![false; plan.nodes.len()];
    let (mut run, mut kept) = (Vec::new(), false);
    let mut queue = VecDeque::from([from]);
    while let Some(id) = queue.pop_front() {
        let Some(seen) = seen.get_mut(id.0 as usize).filter(|seen| !**seen) else { continue };
        *seen = true;
        run.push(id);
        let node = plan.node(id);
        if id != from && (node.cached || matches!(node.operator, Operator::Cache | Operator::Checkpoint)) {
            kept = true;
            continue;
        }
        queue.extend(node.inputs.iter().copied());
    }
    (run, kept)
}

/// The method as written; for a read, with its format.
fn name(node: &Node, site: &CallSite, text: &str) -> String {
    let method = site.method.of(text);
    match &node.operator {
        Operator::Source(Source::Read { format: Some(format), .. }) if method != format => {
            format!("{method} ({format})")
        }
        _ => method.to_owned(),
    }
}

/// Whether rows move between executors for an operator, and when they don't.
fn shuffle(operator: &Operator) -> Option<&'static str> {
    match operator {
        Operator::Join(_) => Some("shuffle of both sides, unless one is broadcast"),
        Operator::Aggregate { grouped: true, .. } | Operator::Distinct | Operator::Window => Some("shuffle"),
        Operator::Repartition { .. } => Some("shuffle"),
        Operator::Sort { global: true } => Some("shuffle by ranges"),
        _ => None,
    }
}

/// Settings that decide how an operator runs.
fn operator_keys(node: &Node) -> &'static [&'static str] {
    match node.operator {
        Operator::Join(_) => &[
            "spark.sql.autoBroadcastJoinThreshold",
            "spark.sql.adaptive.enabled",
            "spark.sql.adaptive.skewJoin.enabled",
            "spark.sql.adaptive.skewJoin.skewedPartitionFactor",
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes",
            "spark.sql.shuffle.partitions",
        ],
        Operator::Aggregate { grouped: true, .. } | Operator::Distinct | Operator::Window => &[
            "spark.sql.shuffle.partitions",
            "spark.sql.adaptive.enabled",
            "spark.sql.adaptive.coalescePartitions.enabled",
            "spark.sql.adaptive.advisoryPartitionSizeInBytes",
        ],
        Operator::Source(Source::Read { .. }) => {
            &["spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes"]
        }
        _ => &[],
    }
}

/// Settings that bound an action.
fn action_keys(action: &Action) -> &'static [&'static str] {
    match action.kind {
        ActionKind::Collect => &["spark.driver.maxResultSize", "spark.driver.memory"],
        ActionKind::ToPandas => {
            &["spark.driver.maxResultSize", "spark.driver.memory", "spark.sql.execution.arrow.pyspark.enabled"]
        }
        ActionKind::Write(_) => &["spark.sql.files.maxRecordsPerFile", "spark.sql.sources.partitionOverwriteMode"],
        _ => &[],
    }
}

fn thresholds(snapshot: &Snapshot, conf: &EffectiveConf, keys: &[&str]) -> Option<String> {
    let lines: Vec<String> = keys
        .iter()
        .filter_map(|key| {
            let effective = conf.get(key);
            let value = effective.value?;
            let size =
                conf.bytes(key).filter(|bytes| bytes.0 > 0).map(|bytes| format!(" ({bytes})")).unwrap_or_default();
            let from = effective.origin.map(|from| format!(", {}", origin(snapshot, &from))).unwrap_or_default();
            Some(format!("- `{key}` = `{value}`{size}{from}"))
        })
        .collect();
    (!lines.is_empty()).then(|| format!("In force here\n{}", lines.join("\n")))
}
