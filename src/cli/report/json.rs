//! The report as JSON: one object, `version` 1. Fields are only ever added.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::{Serialize, Serializer};

use super::places::{Place, Places};
use crate::link::Measured;
use crate::rules::run::view::StageView;
use crate::rules::{Confidence, Evidence, MeasuredRun, Severity, State, Subject, Verdict};
use crate::run::model::StageKey;
use crate::run::stats::Distribution;

#[derive(Serialize)]
struct Report<'a, S: Serialize, F: Serialize> {
    version: u32,
    application: Application<'a>,
    coverage: Coverage<'a>,
    stages: S,
    executions: Vec<Execution<'a>>,
    findings: F,
}

/// Items that are made one at a time, while they are written: large runs have thousands of stages.
struct Each<M>(M);

impl<I: IntoIterator<Item: Serialize>, M: Fn() -> I> Serialize for Each<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0())
    }
}

#[derive(Serialize)]
struct Application<'a> {
    id: Option<&'a str>,
    attempt: Option<&'a str>,
    name: Option<&'a str>,
    spark_version: Option<String>,
    start_ms: i64,
    end_ms: i64,
    estimated: bool,
    source: &'a str,
}

#[derive(Serialize)]
struct Coverage<'a> {
    /// `log`, or `rest` where a server told less than its log.
    kind: &'static str,
    complete: bool,
    events: u64,
    bytes: u64,
    bad_lines: u64,
    bad_offsets: &'a [u64],
    cut_at: Option<u64>,
    missing_files: &'a [u64],
    compacted: bool,
    tasks_seen: u64,
    tasks_expected: u64,
    unknown_events: &'a BTreeMap<String, u64>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Stage<'a> {
    stage: u32,
    attempt: u32,
    name: &'a str,
    tasks: u32,
    /// Tasks that count: one success for each partition.
    succeeded: usize,
    wall_ms: f64,
    duration_ms: Option<Quantiles>,
    read_bytes: Option<Quantiles>,
    spill_bytes: Option<f64>,
    hosts: Vec<&'a str>,
    links: &'a [Place],
}

#[derive(Serialize)]
struct Quantiles {
    min: u64,
    median: f64,
    p75: u64,
    p95: u64,
    max: u64,
}

impl Quantiles {
    fn new(of: Distribution) -> Self {
        Self { min: of.min, median: of.median, p75: of.p75, p95: of.p95, max: of.max }
    }
}

#[derive(Serialize)]
struct Execution<'a> {
    execution: i64,
    root: Option<i64>,
    description: &'a str,
    duration_ms: Option<i64>,
    error: Option<&'a str>,
    stages: Vec<u32>,
    links: &'a [Place],
}

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'static str,
    state: &'static str,
    /// Why it could not be applied, or which field is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    stage: Option<u32>,
    attempt: Option<u32>,
    /// All stages of a finding that touches several; `stage` is the most costly one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    severity: Severity,
    confidence: Confidence,
    impact_s: Option<f64>,
    /// Above the display floor, and shown on lines of code.
    paintable: bool,
    message: &'a str,
    advice: &'a [String],
    confounders: &'a [String],
    evidence: &'a [Evidence],
    links: &'a [Place],
}

/// Writes every state of every rule: what did not fire has one entry for each stage.
pub(super) fn write(measured: &MeasuredRun, places: &Places, to: &mut dyn io::Write) -> io::Result<()> {
    let run = &measured.run;
    let report = Report {
        version: 1,
        application: Application {
            id: run.application.id.as_deref(),
            attempt: run.application.attempt.as_deref(),
            name: run.application.name.as_deref(),
            spark_version: run.application.version.map(|version| version.to_string()),
            start_ms: run.application.start,
            end_ms: run.application.end,
            estimated: run.application.estimated,
            source: &measured.source,
        },
        coverage: coverage(measured),
        stages: Each(|| StageView::every_attempt(run).map(|view| stage(&view, places))),
        executions: executions(measured, places),
        findings: Each(|| measured.verdicts.iter().flat_map(|verdict| findings(verdict, places))),
    };
    serde_json::to_writer_pretty(&mut *to, &report)?;
    to.write_all(b"\n")
}

fn coverage(measured: &MeasuredRun) -> Coverage<'_> {
    let coverage = &measured.run.coverage;
    Coverage {
        kind: if coverage.summary.is_some() { "rest" } else { "log" },
        complete: coverage.complete,
        events: coverage.events,
        bytes: coverage.bytes,
        bad_lines: coverage.bad_lines,
        bad_offsets: &coverage.bad_offsets,
        cut_at: coverage.cut_at,
        missing_files: &coverage.missing_files,
        compacted: coverage.compacted,
        tasks_seen: coverage.tasks_seen,
        tasks_expected: coverage.tasks_expected,
        unknown_events: &coverage.unknown_events,
        notes: &coverage.notes,
    }
}

fn stage<'a>(view: &StageView<'a>, places: &'a Places) -> Stage<'a> {
    let (run, key) = (view.run, view.key);
    let tasks = view.tasks();
    let mut hosts: Vec<u16> = view.rows.iter().map(|row| tasks.host_of(row)).collect();
    hosts.sort_unstable();
    hosts.dedup();
    Stage {
        stage: key.stage,
        attempt: key.attempt,
        name: &view.stage.name,
        tasks: view.stage.task_count,
        succeeded: view.count(),
        wall_ms: view.wall_ms,
        duration_ms: Distribution::of(&view.durations()).map(Quantiles::new),
        read_bytes: view.distribution(&tasks.read_bytes).map(Quantiles::new),
        spill_bytes: view.sum(&tasks.spill_disk),
        hosts: hosts.iter().filter_map(|&host| run.hosts.get(usize::from(host))).map(String::as_str).collect(),
        links: places.of(Measured::Stage(key)),
    }
}

fn executions<'a>(measured: &'a MeasuredRun, places: &'a Places) -> Vec<Execution<'a>> {
    let run = &measured.run;
    let mut stages: BTreeMap<i64, BTreeSet<u32>> = BTreeMap::new();
    for job in run.jobs.values() {
        if let Some(id) = job.execution {
            stages.entry(id).or_default().extend(&job.stages);
        }
    }
    run.executions
        .iter()
        .map(|(&id, execution)| Execution {
            execution: id,
            root: execution.root,
            description: &execution.description,
            duration_ms: execution.end.map(|end| end - execution.start),
            error: execution.error.as_deref(),
            stages: stages.get(&id).into_iter().flatten().copied().collect(),
            links: places.of(Measured::Execution(id)),
        })
        .collect()
}

fn findings<'a>(verdict: &'a Verdict, places: &'a Places) -> Vec<Finding<'a>> {
    let (state, why) = match &verdict.state {
        State::Fired => ("fired", None),
        State::NotFired => ("not fired", None),
        State::NotApplicable(why) => ("not applicable", Some(why.as_str())),
        State::NotRecorded(field) => ("not recorded", Some(field.as_str())),
    };
    let entry = |stage: Option<StageKey>| Finding {
        rule: verdict.rule,
        state,
        why,
        stage: stage.map(|key| key.stage),
        attempt: stage.map(|key| key.attempt),
        stages: match (&verdict.state, verdict.stages.as_slice()) {
            (State::Fired, stages @ [_, _, ..]) => stages.iter().map(|key| key.stage).collect(),
            _ => Vec::new(),
        },
        host: match &verdict.subject {
            Subject::Host(host) => Some(host),
            _ => None,
        },
        severity: verdict.severity,
        confidence: verdict.confidence,
        impact_s: verdict.impact_s.map(|seconds| (seconds * 1000.0).round() / 1000.0),
        paintable: verdict.paintable,
        message: &verdict.message,
        advice: &verdict.advice,
        confounders: &verdict.confounders,
        evidence: &verdict.evidence,
        links: stage.map_or(&[], |key| places.of(Measured::Stage(key))),
    };
    match (&verdict.state, verdict.stages.as_slice()) {
        (State::Fired, stages) => vec![entry(stages.first().copied())],
        (_, []) => vec![entry(None)],
        (_, stages) => stages.iter().map(|&key| entry(Some(key))).collect(),
    }
}
