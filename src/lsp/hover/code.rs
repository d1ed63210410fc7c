//! Hover on a call: what it cost, what it runs, and the thresholds that decide how.

use super::super::document::Snapshot;
use super::api;
use super::attribution::attribution;
use super::setting::origin;
use crate::conf::EffectiveConf;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, Node, Operator, Source};
use crate::text::Span;

/// What there is to say of the call at an offset, and the method's name as its place.
pub(super) fn sections(snapshot: &Snapshot, plan: &StaticPlan, offset: usize) -> Option<(Span, Vec<String>)> {
    let action = plan.actions.iter().find(|action| action.site.method.touches(offset));
    let node = plan.nodes.iter().find(|node| node.site.as_ref().is_some_and(|site| site.method.touches(offset)));
    let said = snapshot.measured();
    let notes = &said.notes;
    let measured: Vec<String> =
        notes.iter().filter(|note| note.span.touches(offset)).map(|note| note.details.clone()).collect();
    let conf = snapshot.conf_at(offset);
    let document = &snapshot.document;
    let told = api::section(plan, document.text(), offset, conf.version());
    let place = action
        .map(|action| action.site.method)
        .or_else(|| node.and_then(|node| node.site.as_ref()).map(|site| site.method))
        .or_else(|| told.as_ref().map(|(place, _)| *place))
        .or_else(|| notes.iter().find(|note| note.span.touches(offset)).map(|note| note.span))?;
    let mut sections = measured;
    sections.extend(told.map(|(_, told)| told));
    let line = |offset: u32| snapshot.line_in_words(document.position(offset as usize, Default::default()).line + 1);
    sections.extend(action.and_then(|action| attribution(plan, document.text(), line, action)));
    let keys = action.map(action_keys).or_else(|| node.map(operator_keys)).unwrap_or_default();
    sections.extend(thresholds(snapshot, &conf, keys));
    (!sections.is_empty()).then_some((place, sections))
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
