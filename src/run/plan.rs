//! From a stage to the plan nodes that ran in it, and what their metrics measured.

use rustc_hash::FxHashMap;

use super::Run;
use super::model::{PlanMetric, PlanNode, SqlExecution, StageKey};

/// A node of an execution's plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanPlace {
    /// The execution.
    pub execution: i64,
    /// Which child to take at each level, from the root down; empty for the root.
    pub path: Vec<usize>,
}

/// One step of [`PlanNode::walk`].
#[derive(Debug, Clone)]
pub struct Step<'a> {
    /// The node.
    pub node: &'a PlanNode,
    /// Where it is, as in [`PlanPlace::path`].
    pub path: Vec<usize>,
}

/// Walks a plan, parents before children, children from left to right.
#[derive(Debug)]
pub struct Walk<'a> {
    open: Vec<Step<'a>>,
}

impl<'a> Iterator for Walk<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        let step = self.open.pop()?;
        let children = step.node.children.iter().enumerate().rev().map(|(index, node)| {
            let mut path = step.path.clone();
            path.push(index);
            Step { node, path }
        });
        self.open.extend(children);
        Some(step)
    }
}

impl PlanNode {
    /// This node and all below it.
    pub fn walk(&self) -> Walk<'_> {
        Walk { open: vec![Step { node: self, path: Vec::new() }] }
    }

    /// The node at `path`.
    pub fn at(&self, path: &[usize]) -> Option<&PlanNode> {
        path.iter().try_fold(self, |node, &child| node.children.get(child))
    }
}

impl SqlExecution {
    /// What `metric` measured: tasks and driver together, as Spark's SQL page adds them up. `None` if nothing was recorded;
    /// Spark does not record a metric that stayed 0. In the unit of the metric's kind (rows, bytes, ms, ns).
    pub fn metric_value(&self, run: &Run, metric: &PlanMetric) -> Option<i64> {
        let tasks = run.metric_totals.get(&metric.accumulator);
        let driver = self.driver_metrics.get(&metric.accumulator);
        match (tasks, driver) {
            (None, None) => None,
            (tasks, driver) => Some(tasks.copied().unwrap_or(0).saturating_add(driver.copied().unwrap_or(0))),
        }
    }

    /// The value of the node's metric called `name`, e.g. `number of output rows` or `data size`.
    pub fn node_metric(&self, run: &Run, node: &PlanNode, name: &str) -> Option<i64> {
        let metric = node.metrics.iter().find(|metric| metric.name == name)?;
        self.metric_value(run, metric)
    }
}

impl Run {
    /// The job that ran each stage: the first that lists it, since later ones skip it.
    pub fn jobs_by_stage(&self) -> FxHashMap<u32, u32> {
        let mut jobs = FxHashMap::default();
        for (&id, job) in &self.jobs {
            for &stage in &job.stages {
                jobs.entry(stage).or_insert(id);
            }
        }
        jobs
    }

    /// The plan node at a place.
    pub fn plan_node(&self, place: &PlanPlace) -> Option<&PlanNode> {
        self.executions.get(&place.execution)?.plan.at(&place.path)
    }

    /// See [`PlanIndex::nodes_of`]; for one stage. Build the index to ask for many.
    pub fn plan_nodes_of(&self, stage: StageKey) -> Vec<PlanPlace> {
        PlanIndex::new(self).nodes_of(stage).into_iter().cloned().collect()
    }
}

/// Stages, jobs, executions and plan nodes of a run, tied by the ids that the log ties them by.
#[derive(Debug)]
pub struct PlanIndex<'r> {
    run: &'r Run,
    jobs: FxHashMap<u32, u32>,
    places: Vec<PlanPlace>,
    /// Accumulator id → indices into `places`; reused exchanges and cached plans stand in several places.
    by_accumulator: FxHashMap<i64, Vec<u32>>,
}

impl<'r> PlanIndex<'r> {
    /// Indexes a run.
    pub fn new(run: &'r Run) -> Self {
        let mut places: Vec<PlanPlace> = Vec::new();
        let mut by_accumulator: FxHashMap<i64, Vec<u32>> = FxHashMap::default();
        for (&id, execution) in &run.executions {
            for step in execution.plan.walk().filter(|step| !step.node.metrics.is_empty()) {
                let index = u32::try_from(places.len()).unwrap_or(u32::MAX);
                for metric in &step.node.metrics {
                    by_accumulator.entry(metric.accumulator).or_default().push(index);
                }
                places.push(PlanPlace { execution: id, path: step.path });
            }
        }
        Self { run, jobs: run.jobs_by_stage(), places, by_accumulator }
    }

    /// The job that ran the stage.
    pub fn job_of(&self, stage: StageKey) -> Option<u32> {
        self.jobs.get(&stage.stage).copied()
    }

    /// The SQL execution whose job ran the stage.
    pub fn execution_of(&self, stage: StageKey) -> Option<i64> {
        self.run.jobs.get(&self.job_of(stage)?)?.execution
    }

    /// The plan nodes whose metrics the stage's tasks updated, in plan order: those of the stage's own execution if there
    /// are any, else those of whatever execution names the metrics. Empty outside SQL.
    pub fn nodes_of(&self, stage: StageKey) -> Vec<&PlanPlace> {
        let Some(measured) = self.run.stages.get(&stage) else { return Vec::new() };
        let ids = measured.accumulables.iter().filter_map(|id| self.by_accumulator.get(id));
        let mut indices: Vec<u32> = ids.flatten().copied().collect();
        indices.sort_unstable();
        indices.dedup();
        let mut places: Vec<&PlanPlace> = indices.iter().filter_map(|&index| self.places.get(index as usize)).collect();
        let own = self.execution_of(stage);
        if places.iter().any(|place| Some(place.execution) == own) {
            places.retain(|place| Some(place.execution) == own);
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::model::{Job, Stage};

    fn node(name: &str, accumulators: &[i64], children: Vec<PlanNode>) -> PlanNode {
        let metric =
            |&accumulator| PlanMetric { name: "number of output rows".into(), accumulator, kind: "sum".into() };
        PlanNode {
            name: name.into(),
            metrics: accumulators.iter().map(metric).collect(),
            children,
            ..PlanNode::default()
        }
    }

    /// Execution 7: a join of two scans; execution 8 reuses the left scan's metrics. Stage 3 ran the left scan.
    fn run() -> Run {
        let mut run = Run::default();
        let join = node("Join", &[1], vec![node("Left", &[2], vec![]), node("Right", &[3], vec![])]);
        run.executions.insert(7, SqlExecution { plan: join, ..SqlExecution::default() });
        run.executions.insert(8, SqlExecution { plan: node("Reuse", &[2], vec![]), ..SqlExecution::default() });
        run.jobs.insert(0, Job { stages: vec![3, 4], execution: Some(7), ..Job::default() });
        run.jobs.insert(1, Job { stages: vec![3, 5], execution: Some(8), ..Job::default() });
        run.stages.insert(StageKey { stage: 3, attempt: 0 }, Stage { accumulables: vec![2], ..Stage::default() });
        run.metric_totals.insert(2, 100);
        run
    }

    #[test]
    fn a_walk_is_in_plan_order_and_paths_lead_back() {
        let run = run();
        let plan = &run.executions[&7].plan;
        let walked: Vec<_> = plan.walk().map(|step| (step.node.name.as_str(), step.path)).collect();
        assert_eq!(walked, [("Join", vec![]), ("Left", vec![0]), ("Right", vec![1])]);
        assert_eq!(plan.at(&[1]).unwrap().name, "Right");
        assert!(plan.at(&[1, 0]).is_none());
    }

    #[test]
    fn a_stage_belongs_to_the_first_job_and_its_own_plan() {
        let run = run();
        let index = PlanIndex::new(&run);
        let stage = StageKey { stage: 3, attempt: 0 };
        assert_eq!((index.job_of(stage), index.execution_of(stage)), (Some(0), Some(7)));
        assert_eq!(run.plan_nodes_of(stage), [PlanPlace { execution: 7, path: vec![0] }]);
        assert!(run.plan_nodes_of(StageKey { stage: 9, attempt: 0 }).is_empty());
    }

    #[test]
    fn metrics_of_tasks_and_driver_add_up_and_nothing_stays_nothing() {
        let mut run = run();
        run.executions.get_mut(&7).unwrap().driver_metrics.insert(2, 5);
        let execution = &run.executions[&7];
        let value =
            |path: &[usize]| execution.node_metric(&run, execution.plan.at(path).unwrap(), "number of output rows");
        assert_eq!(value(&[0]), Some(105));
        assert_eq!(value(&[1]), None);
    }
}
