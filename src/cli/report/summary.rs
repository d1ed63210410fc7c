//! What every form of the report for people says: who ran, where the time went, what was found and what was not.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::places::Places;
use crate::cli::words::severity;
use crate::link::Measured;
use crate::rules::run::view::Floors;
use crate::rules::run::words::{count, duration, grouped, percent, ranges};
use crate::rules::{self, MeasuredRun, Severity, State, Subject, Verdict};
use crate::run::Run;
use crate::run::model::StageKey;
use crate::run::slots::{peak_cores, run_time, stage_wall};
use crate::run::stats::evaluated_stages;

/// Stages in the table of where the time went.
const ROWS: usize = 10;
/// Findings that a reader takes in; a run with thousands of stages has thousands.
const FINDINGS: usize = 40;
/// A stage without a finding is in that table from this share of the run on.
const ROW_SHARE: f64 = 0.05;

/// A report in the order in which people read it.
pub(super) struct Summary<'a> {
    pub(super) measured: &'a MeasuredRun,
    pub(super) places: &'a Places,
    /// Name, id, version, time, cluster and coverage of the run; none is empty.
    pub(super) head: Vec<String>,
    /// Things worth a word about the log.
    pub(super) notes: &'a [String],
    /// The stages that cost most, those with a finding first by what fixing it would save.
    pub(super) rows: Vec<Row>,
    /// Stages that would be rows too.
    pub(super) more_rows: usize,
    /// Findings that are worth reading, in the order of the verdicts.
    pub(super) shown: Vec<&'a Verdict>,
    /// Sentences on what is not shown, was not found, could not be applied or was not recorded.
    pub(super) unspoken: Vec<String>,
}

/// One stage of the table.
pub(super) struct Row {
    pub(super) stage: StageKey,
    pub(super) wall_ms: f64,
    /// What it ran and where in the code, as far as that is known.
    pub(super) what: String,
    /// What is wrong with it, in a few words.
    pub(super) short: String,
    impact_s: Option<f64>,
}

impl Row {
    /// `-44.0 s`: what fixing it would save.
    pub(super) fn saving(&self) -> Option<String> {
        self.impact_s.map(saving)
    }
}

/// What stands above a finding.
pub(super) struct Title {
    pub(super) severity: &'static str,
    /// `stage 12, join of orders.py:42 (likely)`; empty for the run.
    pub(super) place: String,
    /// `-44.0 s`.
    pub(super) saving: Option<String>,
}

fn saving(seconds: f64) -> String {
    format!("-{}", duration(seconds * 1000.0))
}

impl<'a> Summary<'a> {
    /// Sums a run up; `all` also shows what is below the display floor.
    pub(super) fn new(measured: &'a MeasuredRun, places: &'a Places, floors: &Floors, all: bool) -> Self {
        let fired = measured.verdicts.iter().filter(|verdict| verdict.is_fired());
        let (mut shown, hidden): (Vec<&Verdict>, Vec<&Verdict>) =
            fired.partition(|verdict| all || is_shown(verdict, &measured.run, floors));
        let (rows, more_rows) = rows(measured, places);
        let mut unspoken = Vec::new();
        if !all && shown.len() > FINDINGS {
            unspoken.push(more(&shown.split_off(FINDINGS)));
        }
        if !hidden.is_empty() {
            let below = count(hidden.len() as u64, "finding");
            let floor = format!("{} s and {} of the run", floors.paint_seconds, percent(floors.paint_share));
            unspoken.push(format!("{below} below {floor}: --all shows what they are."));
        }
        unspoken.extend(quiet(measured));
        Self {
            measured,
            places,
            head: head(measured),
            notes: &measured.run.coverage.notes,
            rows,
            more_rows,
            shown,
            unspoken,
        }
    }

    /// What stands above a finding.
    pub(super) fn title(&self, verdict: &Verdict) -> Title {
        let mut place = String::new();
        if let [stage] = verdict.stages.as_slice() {
            let _ = write!(place, "stage {}", stage.stage);
            let noun = rules::run::stage_noun(&self.measured.run, *stage);
            if noun != "stage" {
                let _ = write!(place, ", {noun}");
            }
            if let Some(line) = self.places.best(Measured::Stage(*stage)) {
                let _ = write!(place, " of {} ({})", line.short(), line.certainty);
            }
        }
        let saving = verdict.impact_s.filter(|_| verdict.paintable).map(saving);
        Title { severity: severity(verdict.severity), place, saving }
    }
}

/// `52 findings more (straggler 40, slow-host 12): --all shows them.`
fn more(findings: &[&Verdict]) -> String {
    let mut rules: Vec<(&str, u64)> = Vec::new();
    for verdict in findings {
        match rules.iter_mut().find(|(rule, _)| *rule == verdict.rule) {
            Some((_, count)) => *count += 1,
            None => rules.push((verdict.rule, 1)),
        }
    }
    let rules: Vec<String> = rules.iter().map(|(rule, count)| format!("{rule} {}", grouped(*count))).collect();
    format!("{} more ({}): --all shows them.", count(findings.len() as u64, "finding"), rules.join(", "))
}

/// Above the floor, or without a cost of its own to compare. The reason of AQE stands in `skewed-stage` already.
fn is_shown(verdict: &Verdict, run: &Run, floors: &Floors) -> bool {
    let run_s = run_ms(run) / 1000.0;
    match verdict.impact_s {
        Some(impact) => verdict.paintable || (impact >= floors.paint_seconds && impact >= floors.paint_share * run_s),
        None => verdict.paintable || verdict.subject == Subject::Run,
    }
}

fn run_ms(run: &Run) -> f64 {
    run_time(run).unwrap_or(1) as f64
}

/// `nightly-orders`, `app-20261129-0007`, `Spark 3.5.9`, `61.0 s`, `16 cores on 4 hosts`, `log complete, 1,204 of 1,204 tasks`.
fn head(measured: &MeasuredRun) -> Vec<String> {
    let run = &measured.run;
    let application = &run.application;
    let mut parts: Vec<String> = application.name.iter().cloned().collect();
    parts.push(match &application.attempt {
        Some(attempt) => format!("{} attempt {attempt}", measured.label),
        None => measured.label.clone(),
    });
    parts.push(match application.version {
        Some(version) => format!("Spark {version}"),
        None => "Spark version not recorded".to_owned(),
    });
    parts.push(match run_time(run) {
        Some(ms) if application.estimated => format!("{} (estimated)", duration(ms as f64)),
        Some(ms) => duration(ms as f64),
        None => "duration not recorded".to_owned(),
    });
    parts.push(cluster(run));
    if let Some(verdict) = measured.verdicts.iter().find(|verdict| verdict.rule == "log-coverage") {
        parts.push(match verdict.state {
            State::Fired => verdict.short.clone(),
            _ => verdict.message.clone(),
        });
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// `16 cores on 4 hosts`: what the executors had together at most.
fn cluster(run: &Run) -> String {
    let hosts = count(run.hosts.len() as u64, "host");
    match peak_cores(run) {
        Some(cores) => format!("{} on {hosts}", count(cores, "core")),
        None => hosts,
    }
}

fn rows(measured: &MeasuredRun, places: &Places) -> (Vec<Row>, usize) {
    let run = &measured.run;
    let worst = worst_by_stage(measured);
    let mut costs: Vec<Cost> = evaluated_stages(run).into_iter().map(|stage| Cost::of(run, stage, &worst)).collect();
    costs.retain(|cost| cost.impact_s.is_some() || cost.wall_ms >= ROW_SHARE * run_ms(run));
    costs.sort_by(|a, b| {
        let impact = |cost: &Cost| cost.impact_s.unwrap_or(0.0);
        impact(b).total_cmp(&impact(a)).then(b.wall_ms.total_cmp(&a.wall_ms))
    });
    let more = costs.len().saturating_sub(ROWS);
    costs.truncate(ROWS);
    (costs.into_iter().map(|cost| cost.row(run, places)).collect(), more)
}

/// The finding on each stage that is worth most.
fn worst_by_stage(measured: &MeasuredRun) -> FxHashMap<StageKey, &Verdict> {
    let worth = |verdict: &Verdict| (verdict.paintable, verdict.impact_s.unwrap_or(0.0));
    let mut worst: FxHashMap<StageKey, &Verdict> = FxHashMap::default();
    let fired = measured.verdicts.iter().filter(|verdict| verdict.is_fired());
    for verdict in fired.filter(|verdict| verdict.severity > Severity::Hint || verdict.paintable) {
        for stage in &verdict.stages {
            let known = worst.entry(*stage).or_insert(verdict);
            if worth(verdict) >= worth(known) {
                *known = verdict;
            }
        }
    }
    worst
}

/// What a stage cost, and the finding on it that is worth most.
struct Cost<'a> {
    stage: StageKey,
    wall_ms: f64,
    worst: Option<&'a Verdict>,
    impact_s: Option<f64>,
}

impl<'a> Cost<'a> {
    fn of(run: &Run, stage: StageKey, worst: &FxHashMap<StageKey, &'a Verdict>) -> Self {
        let worst = worst.get(&stage).copied();
        // What a finding on several stages is worth stands once, at the first of them.
        let own = worst.filter(|verdict| verdict.paintable && verdict.stages.first() == Some(&stage));
        let wall = run.stages.get(&stage).and_then(|stage| stage_wall(run, stage));
        Self { stage, wall_ms: wall.unwrap_or(0) as f64, worst, impact_s: own.and_then(|verdict| verdict.impact_s) }
    }

    fn row(self, run: &Run, places: &Places) -> Row {
        let noun = rules::run::stage_noun(run, self.stage);
        let what = match places.best(Measured::Stage(self.stage)) {
            Some(place) if noun == "stage" => place.short(),
            Some(place) => format!("{noun} of {}", place.short()),
            None if noun == "stage" => String::new(),
            None => noun.to_owned(),
        };
        Row {
            stage: self.stage,
            wall_ms: self.wall_ms,
            what,
            short: self.worst.map_or_else(String::new, |verdict| verdict.short.clone()),
            impact_s: self.impact_s,
        }
    }
}

/// What was checked and not found, what could not be applied and what was not recorded.
fn quiet(measured: &MeasuredRun) -> Vec<String> {
    let mut sentences = Vec::new();
    let fired: Vec<&str> = measured.verdicts.iter().filter(|v| v.is_fired()).map(|v| v.rule).collect();
    let mut clean: Vec<&str> = measured
        .verdicts
        .iter()
        .filter(|verdict| verdict.state == State::NotFired && !fired.contains(&verdict.rule))
        .filter(|verdict| verdict.rule != "log-coverage")
        .map(|verdict| verdict.rule)
        .collect();
    clean.dedup();
    if !clean.is_empty() {
        sentences.push(format!("Checked and not found: {}.", clean.join(", ")));
    }
    let mut reasons: BTreeMap<(&str, &str, &[StageKey]), Vec<&str>> = BTreeMap::new();
    for verdict in &measured.verdicts {
        let (kind, why) = match &verdict.state {
            State::NotApplicable(why) => ("Not applicable", why),
            State::NotRecorded(field) => ("Not recorded", field),
            State::Fired | State::NotFired => continue,
        };
        reasons.entry((kind, why, &verdict.stages)).or_default().push(verdict.rule);
    }
    for ((kind, why, stages), rules) in reasons {
        let ids: Vec<u32> = stages.iter().map(|key| key.stage).collect();
        let place = match ids.len() {
            0 => String::new(),
            1 => format!(" in stage {}", ranges(&ids)),
            _ => format!(" in stages {}", ranges(&ids)),
        };
        sentences.push(format!("{kind}: {}{place} ({why}).", rules.join(", ")));
    }
    let coverage = &measured.run.coverage;
    let unknown: u64 = coverage.unknown_events.values().sum();
    if unknown > 0 {
        sentences.push(format!("{} of kinds that sparkls does not read.", count(unknown, "event")));
    }
    if coverage.bad_lines > 0 {
        sentences.push(format!("{} skipped.", count(coverage.bad_lines, "bad line")));
    }
    sentences
}
