//! Small runs with named numbers.

// Each test file uses a part of it.
#![allow(dead_code)]

pub(crate) mod judged;

use sparkls::run::Run;
use sparkls::run::model::{Executor, Job, PlanMetric, PlanNode, SqlExecution, Stage, StageKey, Task, TaskFlags, Tasks};

pub(crate) const MIB: u64 = 1 << 20;

/// A successful task with metrics, whose run time is its duration.
pub(crate) fn task(index: u32, ms: u32) -> Task {
    Task {
        index,
        duration: ms,
        run_time: ms,
        flags: TaskFlags { metrics: true, ..TaskFlags::default() },
        ..Task::default()
    }
}

/// A run of Spark 3.5.9 whose executors, one a host, live from its start to its end. Before the stages under test each
/// executor has ended a short task, so that nothing there is start-up.
pub(crate) struct RunBuilder {
    pub(crate) run: Run,
    cores: u32,
    /// When the next stage starts, ms after the run's start.
    clock: u32,
}

impl RunBuilder {
    pub(crate) fn new(cores: u32, hosts: u16, run_s: i64) -> Self {
        let mut run = Run::default();
        run.application.version = "3.5.9".parse().ok();
        run.application.id = Some("app-1".to_owned());
        run.application.end = run_s * 1_000;
        run.coverage.complete = true;
        for host in 0..hosts {
            run.hosts.push(format!("worker-{host}"));
            let executor =
                Executor { id: host.to_string(), host, cores: Some(cores), added: Some(0), ..Executor::default() };
            run.executors.push(executor);
        }
        Self { run, cores, clock: 0 }
    }

    /// A stage on the first executor, each task on the slot that is free first. Its executor has ended a task before.
    pub(crate) fn stage(&mut self, id: u32, tasks: Vec<Task>) {
        if self.clock == 0 {
            self.clock = 10;
            let warm = Task { duration: 1, ..task(0, 1) };
            self.add(1_000_000, vec![warm]);
        }
        let mut free = vec![self.clock; self.cores as usize];
        let mut placed = Vec::new();
        for mut task in tasks {
            let slot = free.iter_mut().min().expect("an executor has cores");
            task.launch = *slot;
            *slot += task.duration;
            placed.push(task);
        }
        self.add(id, placed);
    }

    /// A stage with so many tasks on each host, back to back on one core.
    pub(crate) fn stage_on_hosts(&mut self, id: u32, counts: &[u32], duration: impl Fn(u16) -> u32) {
        let mut placed = Vec::new();
        for (host, &count) in (0u16..).zip(counts) {
            let mut clock = self.clock;
            for _ in 0..count {
                let index = placed.len() as u32;
                let place = Task { launch: clock, executor: host, host, ..task(index, duration(host)) };
                clock += place.duration;
                placed.push(place);
            }
        }
        self.add(id, placed);
    }

    fn add(&mut self, id: u32, placed: Vec<Task>) {
        let mut tasks = Tasks::default();
        placed.iter().for_each(|&task| tasks.push(task));
        let start = placed.iter().map(|task| task.launch).min().unwrap_or(self.clock);
        let end = placed.iter().map(|task| task.launch + task.duration).max().unwrap_or(self.clock);
        let stage = Stage {
            task_count: placed.len() as u32,
            submitted: Some(i64::from(start)),
            completed: Some(i64::from(end)),
            tasks,
            ..Stage::default()
        };
        self.run.stages.insert(StageKey { stage: id, attempt: 0 }, stage);
        self.clock = end.max(self.clock);
    }
}

/// Makes a stage a sort-merge join of this kind in a SQL execution.
pub(crate) fn join_plan(run: &mut Run, stage: u32, kind: &str) {
    let node = |name: &str, text: String, metric: &str, accumulator, children| PlanNode {
        name: name.into(),
        text,
        metrics: vec![PlanMetric { name: metric.into(), accumulator, kind: "sum".into() }],
        children,
        ..PlanNode::default()
    };
    let exchange = |accumulator| {
        let text = "Exchange hashpartitioning(k#1L, 10), ENSURE_REQUIREMENTS, [plan_id=1]".to_owned();
        node("Exchange", text, "local bytes read", accumulator, Vec::new())
    };
    let text = format!("SortMergeJoin [k#1L], [k#2L], {kind}");
    let plan = node("SortMergeJoin", text, "number of output rows", 1, vec![exchange(2), exchange(3)]);
    run.executions.insert(0, SqlExecution { plan, ..SqlExecution::default() });
    run.jobs.insert(0, Job { stages: vec![stage], execution: Some(0), ..Job::default() });
    run.stages.get_mut(&StageKey { stage, attempt: 0 }).expect("the stage exists").accumulables = vec![1, 2, 3];
}

/// A node of a plan with metrics given as (name, accumulator).
pub(crate) fn plan_node(name: &str, text: &str, metrics: &[(&str, i64)], children: Vec<PlanNode>) -> PlanNode {
    let metric = |&(name, accumulator): &(&str, i64)| PlanMetric { name: name.into(), accumulator, kind: "sum".into() };
    PlanNode {
        name: name.into(),
        text: text.to_owned(),
        metrics: metrics.iter().map(metric).collect(),
        children,
        ..PlanNode::default()
    }
}

/// Adds a SQL execution of this plan, whose job ran these stages with these accumulators.
pub(crate) fn execute(run: &mut Run, id: i64, plan: PlanNode, stages: &[(u32, &[i64])]) {
    run.executions.insert(id, SqlExecution { plan, root: Some(id), ..SqlExecution::default() });
    let ids = stages.iter().map(|&(stage, _)| stage).collect();
    run.jobs.insert(id as u32, Job { stages: ids, execution: Some(id), ..Job::default() });
    for &(stage, accumulables) in stages {
        let measured = run.stages.get_mut(&StageKey { stage, attempt: 0 }).expect("the stage exists");
        measured.accumulables = accumulables.to_vec();
    }
}
