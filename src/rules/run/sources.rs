//! Scans of a run: what was read, in which execution, and by which stages.

use rustc_hash::FxHashMap;

use super::micro_batches;
use crate::run::Run;
use crate::run::model::{PlanNode, SqlExecution, StageKey};

/// A scan that ran.
pub(super) struct Scan<'a> {
    /// In which execution.
    pub(super) execution: i64,
    /// The node.
    pub(super) node: &'a PlanNode,
    /// Whether it fed a cache; later executions read the cache.
    pub(super) cached: bool,
    /// What is done with its rows before they are aggregated, joined or shuffled: filters, columns, functions.
    pub(super) work: String,
    /// Stages whose tasks updated its metrics.
    pub(super) stages: Vec<StageKey>,
}

/// Accumulator id → stages that name it.
pub(super) fn stages_by_accumulator(run: &Run) -> FxHashMap<i64, Vec<StageKey>> {
    let mut stages: FxHashMap<i64, Vec<StageKey>> = FxHashMap::default();
    for (&key, stage) in &run.stages {
        for &id in &stage.accumulables {
            stages.entry(id).or_default().push(key);
        }
    }
    stages
}

/// The stages whose tasks updated a metric of the node.
pub(super) fn stages_of(node: &PlanNode, by_accumulator: &FxHashMap<i64, Vec<StageKey>>) -> Vec<StageKey> {
    let ids = node.metrics.iter().filter_map(|metric| by_accumulator.get(&metric.accumulator));
    let mut stages: Vec<StageKey> = ids.flatten().copied().collect();
    stages.sort_unstable();
    stages.dedup();
    stages
}

/// Whether a node reads a source; generated rows and data from the driver are none.
pub(super) fn is_scan(node: &PlanNode) -> bool {
    let generated = [
        "Scan ExistingRDD",
        "Scan OneRowRelation",
        "LocalTableScan",
        "InMemoryTableScan",
        "MicroBatchScan",
        "ContinuousScan",
    ];
    let name = node.name.trim_end();
    (name.starts_with("Scan ")
        || name.starts_with("BatchScan")
        || name.starts_with("HiveTableScan")
        || name.starts_with("Scan hive"))
        && !generated.iter().any(|one| name.starts_with(one))
}

/// All scans whose tasks are in the log, but for those of micro-batches, which read something else each time.
pub(super) fn scans(run: &Run) -> Vec<Scan<'_>> {
    let by_accumulator = stages_by_accumulator(run);
    let mut scans = Vec::new();
    for (&id, execution) in run.executions.iter().filter(|(id, _)| !micro_batches::is_micro_batch(run, **id)) {
        scans.extend(scans_of(id, execution, &by_accumulator));
    }
    scans
}

fn scans_of<'a>(id: i64, execution: &'a SqlExecution, by_accumulator: &FxHashMap<i64, Vec<StageKey>>) -> Vec<Scan<'a>> {
    let mut caches: Vec<Vec<usize>> = Vec::new();
    let mut scans = Vec::new();
    for step in execution.plan.walk() {
        if step.node.name.starts_with("InMemoryTableScan") || step.node.name.starts_with("InMemoryRelation") {
            caches.push(step.path);
        } else if is_scan(step.node) {
            let stages = stages_of(step.node, by_accumulator);
            if !stages.is_empty() {
                let cached = caches.iter().any(|cache| step.path.starts_with(cache));
                let work = work(&execution.plan, &step.path);
                scans.push(Scan { execution: id, node: step.node, cached, work, stages });
            }
        }
    }
    scans
}

/// The texts of the filters, projections and functions above a node, without ids; empty if there are none.
fn work(plan: &PlanNode, path: &[usize]) -> String {
    const WRAPPERS: [&str; 3] = ["WholeStageCodegen", "InputAdapter", "ColumnarToRow"];
    const WORK: [&str; 6] = ["Filter", "Project", "Generate", "BatchEvalPython", "ArrowEvalPython", "MapIn"];
    let named = |node: &PlanNode, names: &[&str]| names.iter().any(|name| node.name.starts_with(name));
    let above = (0..path.len()).rev().filter_map(|depth| plan.at(&path[..depth]));
    above
        .filter(|node| !named(node, &WRAPPERS))
        .take_while(|node| named(node, &WORK))
        .map(|node| without_ids(&node.text))
        .collect::<Vec<String>>()
        .join("\n")
}

/// What a scan reads, apart from its columns: format, place or table, and pushed filters. `None` where the plan abbreviates
/// the place, so that two of them can look alike.
pub(super) fn identity(node: &PlanNode) -> Option<String> {
    let part = |key: &str| node.metadata.get(key).map_or("", String::as_str);
    let location = part("Location");
    if location.contains("...") {
        return None;
    }
    let what = if location.is_empty() { without_ids(&node.text) } else { node.name.trim().to_owned() };
    Some(format!("{what}\n{location}\n{}\n{}", part("PartitionFilters"), without_ids(part("PushedFilters"))))
}

/// A name for people: the last part of the path, or the node's own name.
pub(super) fn name(node: &PlanNode) -> String {
    let path = node.metadata.get("Location").and_then(|location| location.split_once('[')?.1.split([',', ']']).next());
    match path.map(|path| path.trim_end_matches('/')).filter(|path| !path.is_empty()) {
        Some(path) => path.rsplit('/').next().unwrap_or(path).to_owned(),
        None => node.name.trim().trim_start_matches("Scan ").chars().take(80).collect(),
    }
}

/// A plan's text without the numbers that Spark gives to columns, which differ from execution to execution.
fn without_ids(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::with_capacity(text.len());
    while let Some((before, after)) = rest.split_once('#') {
        kept.push_str(before);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        rest = after[digits..].trim_start_matches('L');
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(location: &str, filters: &str) -> PlanNode {
        let metadata = [("Location", location), ("PushedFilters", filters)];
        PlanNode {
            name: "Scan parquet ".into(),
            metadata: metadata.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            ..PlanNode::default()
        }
    }

    #[test]
    fn a_source_is_its_place_and_its_filters() {
        let orders = "InMemoryFileIndex(1 paths)[s3://lake/orders]";
        assert_eq!(identity(&scan(orders, "[IsNotNull(id)]")), identity(&scan(orders, "[IsNotNull(id)]")));
        assert_ne!(identity(&scan(orders, "[IsNotNull(id)]")), identity(&scan(orders, "[]")));
        assert_eq!(identity(&scan("InMemoryFileIndex(9 paths)[s3://lake/a, ...", "[]")), None);
        assert_eq!(name(&scan(orders, "[]")), "orders");
        assert_eq!(without_ids("BatchScan lake.orders[id#12L, day#3] x"), "BatchScan lake.orders[id, day] x");
    }

    #[test]
    fn rows_made_by_spark_are_no_source() {
        let named = |name: &str| PlanNode { name: name.into(), ..PlanNode::default() };
        assert!(is_scan(&named("Scan parquet ")) && is_scan(&named("BatchScan lake.orders")));
        assert!(is_scan(&named("Scan JDBCRelation(orders) [numPartitions=1]")));
        assert!(
            !is_scan(&named("Scan ExistingRDD")) && !is_scan(&named("Range")) && !is_scan(&named("LocalTableScan"))
        );
    }
}
