//! What linked runs measured on an action or an operator of the plan.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::link::{Certainty, Link, Measured};
use crate::pyspark::plan::NodeId;
use crate::rules::run::words::{bytes, grouped};
use crate::rules::{Evidence, RunView, Shared, Subject, Verdict};
use crate::run::Run;
use crate::run::model::{SqlExecution, Stage};
use crate::run::slots::stage_wall;
use crate::run::stats::{pick, population};

/// What an action cost in the newest run that ran it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cost {
    /// The run.
    pub(super) label: String,
    /// How often it ran.
    pub(super) times: usize,
    /// All times together, in milliseconds.
    pub(super) total_ms: f64,
    /// The most that one time sent to the driver.
    pub(super) result: Option<ResultSize>,
}

/// What the tasks of one execution sent to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ResultSize {
    /// Bytes, with what every task sends along.
    pub(super) bytes: u64,
    /// Tasks that sent them.
    tasks: u64,
    /// Rows, if the plan counted them.
    rows: Option<u64>,
}

impl ResultSize {
    /// Hardly more than what every task sends along (about 4 KiB of metrics): a result of some rows.
    pub(super) fn is_small(self) -> bool {
        self.bytes <= (1 << 20) + self.tasks * (4 << 10)
    }

    /// `900 MiB`, `1,204,331 rows, 900 MiB`.
    pub(super) fn words(self) -> String {
        let size = bytes(self.bytes as f64);
        self.rows.map_or_else(|| size.clone(), |rows| format!("{} rows, {size}", grouped(rows)))
    }
}

/// What the newest run that is surely linked to an action measured on it.
pub(super) fn cost(cx: &Shared<'_>, action: usize) -> Option<Cost> {
    cx.runs.iter().find_map(|view| {
        let whole = |link: &Link| link.action == Some(action) && !matches!(link.measured, Measured::Stage(_));
        let measured: BTreeSet<Measured> = links(view, whole).map(|link| link.measured).collect();
        let run = &view.measured.run;
        let total_ms = measured.iter().filter_map(|&measured| wall_ms(run, measured)).sum();
        let result = measured.iter().filter_map(|&measured| result_size(run, measured)).max();
        let label = view.measured.label.clone();
        (!measured.is_empty()).then_some(Cost { label, times: measured.len(), total_ms, result })
    })
}

/// The longest stage of a single task that is linked to an operator or its action, in milliseconds, and the run.
pub(super) fn single_task_ms(cx: &Shared<'_>, node: NodeId, action: usize) -> Option<(f64, String)> {
    cx.runs.iter().find_map(|view| {
        let run = &view.measured.run;
        let walls = links(view, |link| link.node == Some(node) || link.action == Some(action))
            .flat_map(|link| stages(run, link.measured))
            .filter(|stage| stage.task_count == 1)
            .filter_map(|stage| stage_wall(run, stage));
        walls.max().map(|longest| (longest as f64, view.measured.label.clone()))
    })
}

/// What a rule on runs says of a stage that is linked to an operator, and the run.
pub(super) fn fired<'a>(cx: &Shared<'a>, node: NodeId, rule: &str) -> Option<(&'a Verdict, &'a str)> {
    cx.runs.iter().find_map(|view| {
        let linked: BTreeSet<Measured> =
            links(view, |link| link.node == Some(node)).map(|link| link.measured).collect();
        let is_linked = |verdict: &&Verdict| match verdict.subject {
            Subject::Stage(key) => linked.contains(&Measured::Stage(key)),
            _ => false,
        };
        let mut verdicts = view.measured.verdicts.iter().filter(|verdict| verdict.rule == rule && verdict.is_fired());
        Some((verdicts.find(is_linked)?, view.measured.label.as_str()))
    })
}

/// A number of a run as evidence.
pub(super) fn measured(name: impl Into<Cow<'static, str>>, value: String, label: &str) -> Evidence {
    Evidence { name: name.into(), value, threshold: None, source: Some(format!("run {label}")) }
}

/// Links that may be shown on a line; stale ones may not, whatever they say.
fn links<'a>(view: &RunView<'a>, wanted: impl Fn(&Link) -> bool) -> impl Iterator<Item = &'a Link> {
    view.links.links.iter().filter(|link| link.certainty >= Certainty::Likely).filter(move |link| wanted(link))
}

fn wall_ms(run: &Run, measured: Measured) -> Option<f64> {
    let ms = match measured {
        Measured::Execution(id) => {
            run.executions.get(&id).and_then(|execution| Some(execution.end? - execution.start))?
        }
        Measured::Job(id) => run.jobs.get(&id).and_then(|job| Some(job.completed? - job.submitted?))?,
        Measured::Stage(key) => {
            return run.stages.get(&key).and_then(|stage| stage_wall(run, stage)).map(|ms| ms as f64);
        }
    };
    Some(ms as f64)
}

fn result_size(run: &Run, measured: Measured) -> Option<ResultSize> {
    let sent: Vec<u64> = stages(run, measured)
        .into_iter()
        .flat_map(|stage| {
            let counted = population(&stage.tasks);
            let with_metrics = counted.iter().filter(|&task| stage.tasks.flags[task].metrics()).collect();
            pick(&stage.tasks.result_bytes, &with_metrics)
        })
        .collect();
    let rows = match measured {
        Measured::Execution(id) => run.executions.get(&id).and_then(|execution| rows_out(run, execution)),
        Measured::Job(_) | Measured::Stage(_) => None,
    };
    (!sent.is_empty()).then(|| ResultSize { bytes: sent.iter().sum(), tasks: sent.len() as u64, rows })
}

/// Rows that come out at the top of a plan: counted by the first operator below steps that keep their number.
fn rows_out(run: &Run, execution: &SqlExecution) -> Option<u64> {
    const KEEP_ROWS: [&str; 8] = [
        "AdaptiveSparkPlan",
        "ResultQueryStage",
        "WholeStageCodegen",
        "InputAdapter",
        "ColumnarToRow",
        "Project",
        "Sort",
        "ShuffleQueryStage",
    ];
    let mut node = &execution.plan;
    loop {
        if let Some(rows) = execution.node_metric(run, node, "number of output rows") {
            return u64::try_from(rows).ok();
        }
        let keeps = KEEP_ROWS.iter().any(|name| node.name.starts_with(name));
        match &node.children[..] {
            [child] if keeps => node = child,
            _ => return None,
        }
    }
}

fn stages(run: &Run, measured: Measured) -> Vec<&Stage> {
    let ids: BTreeSet<u32> = match measured {
        Measured::Stage(key) => return run.stages.get(&key).into_iter().collect(),
        Measured::Job(id) => run.jobs.get(&id).into_iter().flat_map(|job| job.stages.iter().copied()).collect(),
        Measured::Execution(id) => {
            let jobs = run.jobs.values().filter(|job| job.execution == Some(id));
            jobs.flat_map(|job| job.stages.iter().copied()).collect()
        }
    };
    run.stages.iter().filter(|(key, _)| ids.contains(&key.stage)).map(|(_, stage)| stage).collect()
}
