//! What can only be said of a run after its last line.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::build::Builder;
use crate::run::Run;
use crate::run::model::PlanNode;

/// The same map in full nodes: filled in order, as ids come, they are left half empty.
fn packed<K: Ord, V>(map: &mut BTreeMap<K, V>) -> BTreeMap<K, V> {
    std::mem::take(map).into_iter().collect()
}

impl Builder {
    /// The run, after the last line.
    pub(super) fn finish(mut self) -> Run {
        for id in self.plans.waiting() {
            self.parse_plan(id);
        }
        self.keep_plan_metrics();
        self.times();
        self.call_sites();
        self.coverage();
        let Run { stages, metric_totals, .. } = &mut self.run;
        (*stages, *metric_totals) = (packed(stages), packed(metric_totals));
        self.run
    }

    /// Drops the accumulators that no plan names.
    fn keep_plan_metrics(&mut self) {
        let mut named = FxHashSet::default();
        for execution in self.run.executions.values() {
            let mut open: Vec<&PlanNode> = vec![&execution.plan];
            while let Some(node) = open.pop() {
                named.extend(node.metrics.iter().map(|metric| metric.accumulator));
                open.extend(&node.children);
            }
        }
        self.run.metric_totals.retain(|id, _| named.contains(id));
        for stage in self.run.stages.values_mut() {
            stage.accumulables.retain(|id| named.contains(id));
            stage.accumulables.sort_unstable();
            stage.accumulables.dedup();
            stage.accumulables.shrink_to_fit();
        }
    }

    fn times(&mut self) {
        let start = match (self.started, self.earliest) {
            (Some(started), Some(earliest)) => Some(started.min(earliest)),
            (started, _) => started.or(self.first_time).or_else(|| self.executor_times().min()),
        };
        let first = start.unwrap_or(0);
        self.move_base(first);
        let last = self.ended.or(self.last_time).or_else(|| self.executor_times().max());
        let application = &mut self.run.application;
        application.start = first;
        application.end = last.unwrap_or(first).max(first);
        application.estimated = self.ended.is_none() || self.started != start;
    }

    /// When executors came and went. These times stand in only where no work has one: they are noted by clocks and vendors
    /// that can be years off.
    fn executor_times(&self) -> impl Iterator<Item = i64> {
        self.run.executors.iter().flat_map(|executor| [executor.added, executor.removed]).flatten()
    }

    /// A stage without a call site of its own has that of its job.
    fn call_sites(&mut self) {
        let mut sites: FxHashMap<u32, &str> = FxHashMap::default();
        for job in self.run.jobs.values() {
            let Some(site) = job.call_site.as_deref() else { continue };
            for &stage in &job.stages {
                sites.entry(stage).or_insert(site);
            }
        }
        for (key, stage) in &mut self.run.stages {
            if stage.call_site.is_none() {
                stage.call_site = sites.get(&key.stage).map(|&site| site.to_owned());
            }
        }
    }

    fn coverage(&mut self) {
        let coverage = &mut self.run.coverage;
        let mut whole = true;
        for stage in self.run.stages.values_mut() {
            let done: FxHashSet<u64> = stage.tasks.index.iter().collect();
            let seen = done.len() as u64;
            let ran_through = stage.completed.is_some() && stage.failure.is_none();
            stage.compacted = coverage.compacted && ran_through && seen == 0 && stage.task_count > 0;
            // A stage that failed never ran the tasks that it still had.
            let expected = if stage.failure.is_some() { seen } else { u64::from(stage.task_count).max(seen) };
            whole &= !ran_through || seen >= expected;
            coverage.tasks_seen += seen;
            coverage.tasks_expected += expected;
        }
        let clean = coverage.bad_lines == 0 && coverage.cut_at.is_none() && coverage.missing_files.is_empty();
        coverage.complete = self.end_seen && clean && !coverage.compacted && whole;
        if let Some(note) = self.attempts.note() {
            coverage.notes.push(note);
        }
        coverage.notes.extend(self.plans.notes());
        if self.crowded {
            coverage.notes.push("more than 65,536 hosts or executors: the last ones are taken for one".to_owned());
        }
    }
}
