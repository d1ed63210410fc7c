//! What linked runs measured on an action or an operator of the plan.

use std::collections::BTreeSet;

use crate::link::{Certainty, Link, Measured};
use crate::pyspark::plan::NodeId;
use crate::rules::{Evidence, RunView, Shared};
use crate::run::Run;
use crate::run::model::{Outcome, Stage};

/// What an action cost in the newest run that ran it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cost {
    /// The run.
    pub(super) label: String,
    /// How often it ran.
    pub(super) times: usize,
    /// All times together, in milliseconds.
    pub(super) total_ms: i64,
    /// The most that one time sent to the driver, in bytes, and by how many tasks.
    pub(super) result: Option<ResultSize>,
}

/// Bytes that the tasks of one execution sent to the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ResultSize {
    /// Bytes.
    pub(super) bytes: u64,
    /// Tasks that sent them.
    pub(super) tasks: u64,
}

impl ResultSize {
    /// Hardly more than what every task sends along (about 4 KiB of metrics): a result of some rows.
    pub(super) fn is_small(self) -> bool {
        self.bytes <= (1 << 20) + self.tasks * (4 << 10)
    }
}

/// What the newest run that is surely linked to an action measured on it.
pub(super) fn cost(cx: &Shared<'_>, action: usize) -> Option<Cost> {
    cx.runs.iter().find_map(|view| {
        let links = links(view, |link| link.action == Some(action) && link.node.is_none());
        let measured: BTreeSet<Measured> =
            links.map(|link| link.measured).filter(|measured| !matches!(measured, Measured::Stage(_))).collect();
        let run = &view.measured.run;
        let walls: Vec<i64> = measured.iter().filter_map(|&measured| wall_ms(run, measured)).collect();
        let result = measured.iter().filter_map(|&measured| result_size(run, measured)).max();
        let total_ms = walls.iter().sum();
        (!measured.is_empty()).then(|| Cost {
            label: view.measured.label.clone(),
            times: measured.len(),
            total_ms,
            result,
        })
    })
}

/// The longest stage of a single task that is linked to an operator or its action, in milliseconds, and the run.
pub(super) fn single_task_ms(cx: &Shared<'_>, node: NodeId, action: usize) -> Option<(i64, String)> {
    cx.runs.iter().find_map(|view| {
        let run = &view.measured.run;
        links(view, |link| link.node == Some(node) || link.action == Some(action))
            .flat_map(|link| stages(run, link.measured))
            .filter(|stage| stage.task_count == 1)
            .filter_map(|stage| Some(stage.completed? - stage.submitted?))
            .max()
            .map(|longest| (longest, view.measured.label.clone()))
    })
}

/// A number of a run as evidence.
pub(super) fn measured(name: &str, value: String, label: &str) -> Evidence {
    Evidence { name: name.to_owned(), value, threshold: None, source: Some(format!("run {label}")) }
}

fn links<'a>(view: &RunView<'a>, wanted: impl Fn(&Link) -> bool) -> impl Iterator<Item = &'a Link> {
    view.links.links.iter().filter(|link| link.certainty >= Certainty::Likely).filter(move |link| wanted(link))
}

fn wall_ms(run: &Run, measured: Measured) -> Option<i64> {
    match measured {
        Measured::Execution(id) => run.executions.get(&id).and_then(|execution| Some(execution.end? - execution.start)),
        Measured::Job(id) => run.jobs.get(&id).and_then(|job| Some(job.completed? - job.submitted?)),
        Measured::Stage(key) => run.stages.get(&key).and_then(|stage| Some(stage.completed? - stage.submitted?)),
    }
}

fn result_size(run: &Run, measured: Measured) -> Option<ResultSize> {
    let stages = stages(run, measured);
    let sent = |stage: &&Stage| {
        let flags = stage.tasks.flags.iter().zip(&stage.tasks.result_bytes);
        flags.filter(|(flags, _)| flags.outcome == Outcome::Success && flags.metrics).map(|(_, &bytes)| bytes).collect()
    };
    let bytes: Vec<u64> = stages.iter().flat_map(|stage| -> Vec<u64> { sent(stage) }).collect();
    (!bytes.is_empty()).then(|| ResultSize { bytes: bytes.iter().sum(), tasks: bytes.len() as u64 })
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

/// `900.0 MiB`, as Spark prints sizes.
pub(super) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", units[unit]) }
}

/// `48.0 s`, `12 min`.
pub(super) fn duration(ms: i64) -> String {
    match ms {
        ..600_000 => format!("{:.1} s", ms as f64 / 1000.0),
        _ => format!("{:.0} min", ms as f64 / 60_000.0),
    }
}
