//! What every form of the comparison for people says, in words.

use super::words::{arrow, defaults, plan, signed, site};
use super::{Compared, Page};
use crate::cli::logs::ReadRun;
use crate::compare::{
    ActionChange, ActionFigures, ActionId, Comparison, Figures, Judgement, PlanChange, RunFigures, StageChange,
    UsedDefault, speed,
};
use crate::conf::upgrade::{Change, NewDefault, Reliance, Upgrade};
use crate::rules::run::words::{bytes, count, duration, grouped, percent, ratio};
use crate::run::stats::Distribution;
use crate::run::summary;

/// A change of less is not shown without `--all`: in ms, and as a share of the longer run.
const LEAST_CHANGE_MS: f64 = 1_000.0;
const LEAST_CHANGE_SHARE: f64 = 0.01;
/// Bytes below this are not worth a word.
const LEAST_BYTES: f64 = 1024.0 * 1024.0;
/// Actions, and stages of one action, that are shown without `--all`.
const MOST_ACTIONS: usize = 10;
const MOST_STAGES: usize = 4;

/// `nightly-orders`, `app-20261129-0007`, `Spark 3.5.9`, `61.0 s`, `16 cores`, `log complete`.
pub(super) fn head(read: &ReadRun, figures: &RunFigures) -> Vec<String> {
    let application = &read.run.application;
    let file_name = || read.source.rsplit(['/', '\\']).next().unwrap_or(&read.source).to_owned();
    let mut parts: Vec<String> = application.name.iter().filter(|name| !name.is_empty()).cloned().collect();
    parts.push(application.id.clone().unwrap_or_else(file_name));
    parts.extend(application.attempt.as_ref().map(|attempt| format!("attempt {attempt}")));
    parts.push(match application.version {
        Some(version) => format!("Spark {version}"),
        None => "Spark version not recorded".to_owned(),
    });
    parts.push(match figures.sums.wall_ms {
        Some(ms) if application.estimated => format!("{} (estimated)", duration(ms)),
        Some(ms) => duration(ms),
        None => "duration not recorded".to_owned(),
    });
    parts.extend(figures.cores.map(|cores| count(cores, "core")));
    let coverage = &read.run.coverage;
    let log = match (coverage.complete, &coverage.summary) {
        (true, _) => "log complete",
        (false, None) => "log incomplete",
        (false, Some(_)) => summary::Summary::NAME,
    };
    parts.push(log.to_owned());
    parts
}

/// `153.3 s -> 39.7 s, 3.9 x faster at 1.0 x the data`.
pub(super) fn times_and_speed(comparison: &Comparison) -> String {
    let times = comparison.base.sums.wall_ms.zip(comparison.candidate.sums.wall_ms);
    let mut parts: Vec<String> =
        times.map(|(base, candidate)| arrow(&duration(base), &duration(candidate))).into_iter().collect();
    parts.extend(comparison.speed());
    parts.join(", ")
}

/// The same, and what noise is where nothing changed.
pub(super) fn verdict(comparison: &Comparison, page: &Page) -> String {
    let mut words = times_and_speed(comparison);
    if comparison.judgement == Judgement::NoChange {
        let (share, time) = (percent(page.thresholds.noise_share), duration(page.thresholds.noise_ms));
        words = format!("{words} (up to {share} or {time} is noise)");
    }
    words
}

/// A row of the table of totals.
pub(super) struct Total {
    pub(super) name: &'static str,
    pub(super) base: String,
    pub(super) candidate: String,
    /// By how much, where that can be told.
    pub(super) change: String,
}

/// What the runs took in all.
pub(super) fn totals(comparison: &Comparison) -> Vec<Total> {
    let (base, candidate) = (&comparison.base.sums, &comparison.candidate.sums);
    let number = |value: f64| grouped(value.max(0.0) as u64);
    let total = |name, of: fn(&Figures) -> Option<f64>, words: &dyn Fn(f64) -> String| {
        let (base, candidate) = (of(base), of(candidate));
        let shown = |value: Option<f64>| value.map_or_else(|| "not recorded".to_owned(), words);
        let change = base.zip(candidate).map(|(base, candidate)| times(base, candidate)).unwrap_or_default();
        Total { name, base: shown(base), candidate: shown(candidate), change }
    };
    vec![
        total("run", |sums| sums.wall_ms, &duration),
        total("task time", |sums| Some(sums.task_ms), &duration),
        total("tasks", |sums| Some(sums.tasks as f64), &number),
        total("failed tasks", |sums| Some(sums.failed_tasks as f64), &number),
        total("input", |sums| sums.input_bytes, &bytes),
        total("read", |sums| sums.read_bytes, &bytes),
        total("shuffle write", |sums| sums.shuffle_write_bytes, &bytes),
        total("spill", |sums| sums.spill_bytes, &bytes),
        total("GC", |sums| sums.gc_ms, &duration),
    ]
}

/// `0.3 x`, `=`, or nothing where there is no ratio.
fn times(base: f64, candidate: f64) -> String {
    match candidate / base {
        _ if candidate == base => "=".to_owned(),
        change if base > 0.0 && (change >= 0.095 || candidate == 0.0) => ratio(change),
        change if base > 0.0 => format!("{change:.2} x"),
        _ => String::new(),
    }
}

/// An action that changed.
pub(super) struct Action {
    /// `count at job.py:12 (execution 3)`.
    pub(super) title: String,
    /// `48.0 s -> 15.0 s`, or where it is alone.
    pub(super) times: String,
    /// `-33.0 s`.
    pub(super) difference: String,
    /// `3.2 x faster at 1.0 x the data`, what else differs, how the plans do: one thought each.
    pub(super) details: Vec<String>,
    /// How the plans differ.
    pub(super) plan: Vec<String>,
    /// Its stages that changed.
    pub(super) stages: Vec<Stage>,
    /// Stages that changed too and are not among them.
    pub(super) more_stages: usize,
}

/// A stage that changed.
pub(super) struct Stage {
    /// `stage 8 -> 5`.
    pub(super) title: String,
    pub(super) label: String,
    pub(super) times: String,
    pub(super) details: Vec<String>,
}

/// Actions that changed, those with the largest difference first, and how many are not shown.
pub(super) fn actions(comparison: &Comparison, page: &Page) -> (Vec<Action>, usize) {
    let wall = |figures: &RunFigures| figures.sums.wall_ms.unwrap_or(0.0);
    let longer = wall(&comparison.base).max(wall(&comparison.candidate));
    let scale = Scale { least_ms: LEAST_CHANGE_MS.max(LEAST_CHANGE_SHARE * longer), page };
    let mut changed: Vec<(f64, &ActionChange)> = comparison
        .actions
        .iter()
        .filter(|action| page.all || scale.action_matters(action))
        .map(|action| (delta(sums(&action.base), sums(&action.candidate)), action))
        .collect();
    changed.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let more = if page.all { 0 } else { changed.len().saturating_sub(MOST_ACTIONS) };
    changed.truncate(changed.len() - more);
    (changed.into_iter().map(|(_, action)| scale.action(action)).collect(), more)
}

fn sums(side: &Option<ActionFigures>) -> Option<&Figures> {
    side.as_ref().map(|figures| &figures.sums)
}

/// Milliseconds that the candidate took more; what is alone counts in full.
fn delta(base: Option<&Figures>, candidate: Option<&Figures>) -> f64 {
    wall_or_none(candidate) - wall_or_none(base)
}

fn wall_or_none(figures: Option<&Figures>) -> f64 {
    figures.and_then(|figures| figures.wall_ms).unwrap_or(0.0)
}

/// From when on a difference within these runs is worth a line.
struct Scale<'a> {
    least_ms: f64,
    page: &'a Page,
}

impl Scale<'_> {
    fn differs(&self, base: f64, candidate: f64, least: f64) -> bool {
        let thresholds = &self.page.thresholds;
        thresholds.slower(base, candidate, least) || thresholds.slower(candidate, base, least)
    }

    fn time_differs(&self, base: Option<&Figures>, candidate: Option<&Figures>) -> bool {
        self.differs(wall_or_none(base), wall_or_none(candidate), self.least_ms)
    }

    fn action_matters(&self, action: &ActionChange) -> bool {
        let failed = |side: &Option<ActionFigures>| side.as_ref().is_some_and(|figures| figures.failure.is_some());
        let telling = |change: &PlanChange| !matches!(change, PlanChange::Operator { .. });
        self.time_differs(sums(&action.base), sums(&action.candidate))
            || action.plan.iter().any(telling)
            || failed(&action.base) != failed(&action.candidate)
            || action.stages.iter().any(|stage| self.stage_matters(stage))
    }

    fn stage_matters(&self, stage: &StageChange) -> bool {
        let (base, candidate) = (stage.base.as_ref(), stage.candidate.as_ref());
        let spill = |sums: &Figures| sums.spill_bytes.unwrap_or(0.0);
        let work_differs = base.zip(candidate).is_some_and(|(base, candidate)| {
            self.differs(spill(&base.sums), spill(&candidate.sums), LEAST_BYTES)
                || base.sums.failed_tasks != candidate.sums.failed_tasks
        });
        work_differs || self.time_differs(base.map(|stage| &stage.sums), candidate.map(|stage| &stage.sums))
    }

    fn action(&self, action: &ActionChange) -> Action {
        let (base, candidate) = (sums(&action.base), sums(&action.candidate));
        let mut details = Vec::new();
        if let (Some(base), Some(candidate)) = (base, candidate) {
            details = self.differences(base, candidate);
        }
        for (name, side) in [("base", &action.base), ("candidate", &action.candidate)] {
            let failure = side.as_ref().and_then(|figures| figures.failure.as_ref());
            details.extend(failure.map(|failure| format!("failed in the {name}: {failure}")));
        }
        let paired = base.is_some() && candidate.is_some();
        let mut stages: Vec<&StageChange> =
            action.stages.iter().filter(|stage| self.page.all || (paired && self.stage_matters(stage))).collect();
        let stage_delta = |stage: &StageChange| {
            delta(stage.base.as_ref().map(|side| &side.sums), stage.candidate.as_ref().map(|side| &side.sums)).abs()
        };
        stages.sort_by(|a, b| stage_delta(b).total_cmp(&stage_delta(a)));
        let more_stages = if self.page.all { 0 } else { stages.len().saturating_sub(MOST_STAGES) };
        stages.truncate(stages.len() - more_stages);
        Action {
            title: action_title(action),
            times: wall_words(base, candidate),
            difference: signed(delta(base, candidate)),
            details,
            plan: action.plan.iter().map(plan).collect(),
            stages: stages.into_iter().map(|change| self.stage(change)).collect(),
            more_stages,
        }
    }

    fn stage(&self, change: &StageChange) -> Stage {
        let (base, candidate) = (change.base.as_ref(), change.candidate.as_ref());
        let id = |side: Option<&crate::compare::StageFigures>| side.map(|stage| i64::from(stage.key.stage));
        let mut details = Vec::new();
        if let (Some(base), Some(candidate)) = (base, candidate) {
            details = self.differences(&base.sums, &candidate.sums);
            details.extend(self.task_times(base.durations.as_ref(), candidate.durations.as_ref()));
        }
        Stage {
            title: format!("stage {}", ids(id(base), id(candidate))),
            label: candidate.or(base).map(|stage| operators(&stage.label).to_owned()).unwrap_or_default(),
            times: wall_words(base.map(|stage| &stage.sums), candidate.map(|stage| &stage.sums)),
            details,
        }
    }

    fn task_times(&self, base: Option<&Distribution>, candidate: Option<&Distribution>) -> Option<String> {
        let (base, candidate) = base.zip(candidate)?;
        self.differs(base.max as f64, candidate.max as f64, LEAST_CHANGE_MS).then(|| {
            let longest = arrow(&duration(base.max as f64), &duration(candidate.max as f64));
            format!("longest task {longest}, median {}", arrow(&duration(base.median), &duration(candidate.median)))
        })
    }

    /// `2.1 x slower at 1.0 x the data`, `tasks 200 -> 14`, `spill 0 B -> 1.2 GiB`: what differs by more than noise.
    fn differences(&self, base: &Figures, candidate: &Figures) -> Vec<String> {
        let times = base.wall_ms.zip(candidate.wall_ms);
        let data = base.read_ratio(candidate);
        let mut words: Vec<String> = times.and_then(|(old, new)| speed(old, new, data)).into_iter().collect();
        for (name, base, candidate) in
            [("tasks", base.tasks, candidate.tasks), ("failed tasks", base.failed_tasks, candidate.failed_tasks)]
        {
            if base != candidate {
                words.push(format!("{name} {}", arrow(&grouped(base), &grouped(candidate))));
            }
        }
        for (name, base, candidate) in [
            ("read", base.read_bytes, candidate.read_bytes),
            ("shuffle write", base.shuffle_write_bytes, candidate.shuffle_write_bytes),
            ("spill", base.spill_bytes, candidate.spill_bytes),
        ] {
            if let Some((base, candidate)) = base.zip(candidate)
                && self.differs(base, candidate, LEAST_BYTES)
            {
                words.push(format!("{name} {}", arrow(&bytes(base), &bytes(candidate))));
            }
        }
        if let Some((base, candidate)) = base.gc_ms.zip(candidate.gc_ms)
            && self.differs(base, candidate, LEAST_CHANGE_MS)
        {
            words.push(format!("GC {}", arrow(&duration(base), &duration(candidate))));
        }
        words
    }
}

/// A stage's label without the call site, which its action names.
fn operators(label: &str) -> &str {
    label.split_once(": ").map_or(label, |(_, operators)| operators)
}

fn wall_words(base: Option<&Figures>, candidate: Option<&Figures>) -> String {
    let wall = |figures: &Figures| figures.wall_ms.map_or_else(|| "not recorded".to_owned(), duration);
    match (base, candidate) {
        (Some(base), Some(candidate)) => arrow(&wall(base), &wall(candidate)),
        (Some(base), None) => format!("{}, in the base alone", wall(base)),
        (None, Some(candidate)) => format!("{}, in the candidate alone", wall(candidate)),
        (None, None) => String::new(),
    }
}

/// `8`, or `8 -> 5` where the other run has another id.
fn ids(base: Option<i64>, candidate: Option<i64>) -> String {
    match (base, candidate) {
        (Some(base), Some(candidate)) if base != candidate => arrow(&base.to_string(), &candidate.to_string()),
        (one, other) => one.or(other).map(|id| id.to_string()).unwrap_or_default(),
    }
}

fn action_title(action: &ActionChange) -> String {
    let Some(shown) = action.candidate.as_ref().or(action.base.as_ref()) else { return String::new() };
    let kind = match shown.id {
        ActionId::Execution(_) => "execution",
        ActionId::Job(_) => "job",
    };
    let id = |side: &Option<ActionFigures>| {
        side.as_ref().map(|figures| match figures.id {
            ActionId::Execution(id) => id,
            ActionId::Job(id) => i64::from(id),
        })
    };
    format!("{} ({kind} {})", site(&shown.site), ids(id(&action.base), id(&action.candidate)))
}

/// What the other Spark version changes: a title, the entries as key and words, and how many defaults change besides.
pub(super) struct Versions {
    pub(super) title: String,
    pub(super) entries: Vec<(String, String)>,
    pub(super) besides: usize,
}

/// What the other Spark version changes for these runs; with `all` all defaults that change.
pub(super) fn versions(upgrade: &Upgrade, used: &[UsedDefault], all: bool) -> Versions {
    let minor = |version: crate::catalog::SparkVersion| format!("{}.{}", version.major, version.minor);
    let changes =
        upgrade.written.iter().flat_map(|written| written.changes.iter().map(|change| (&written.key, change)));
    let mut entries: Vec<(String, String)> =
        changes.filter_map(|(key, change)| Some((key.clone(), written_change(change)?))).collect();
    let default = |default: &NewDefault| {
        let reason = match &default.reason {
            Some(Reliance::Feature { key, .. }) => format!(", as {key} is set"),
            Some(Reliance::FallsBack { key }) => format!(", one of them is the value of {key}"),
            None => String::new(),
        };
        (default.key.to_owned(), format!("{}{reason}", defaults(default.old, default.new)))
    };
    entries.extend(upgrade.relied_on.iter().map(default));
    entries.extend(used.iter().map(|UsedDefault { default, used_by }| {
        (default.key.to_owned(), format!("{}, used by {used_by}", defaults(default.old, default.new)))
    }));
    if all {
        entries.extend(upgrade.others.iter().map(default));
    }
    Versions {
        title: format!("Spark {}", arrow(&minor(upgrade.from), &minor(upgrade.to))),
        entries,
        besides: if all { 0 } else { upgrade.others.len() },
    }
}

/// A key that is set keeps its value whatever the default; what else changes for it matters.
fn written_change(change: &Change) -> Option<String> {
    Some(match change {
        Change::Removed { since, accepted } => format!("removed in Spark {since}: only {accepted} is accepted"),
        Change::NotRead { instead: Some(key), .. } => format!("not read any more; {key} is"),
        Change::NotRead { instead: None, .. } => "not read any more".to_owned(),
        Change::Read => "not read before".to_owned(),
        Change::Default { .. } | Change::Kind { .. } | Change::Scope { .. } => return None,
        Change::Renamed { .. } | Change::Deprecated { .. } => return None,
    })
}

/// The end of a path that fits.
pub(super) fn tail(source: &str, columns: usize) -> String {
    let length = source.chars().count();
    if length <= columns {
        return source.to_owned();
    }
    let kept: String = source.chars().skip(length + 1 - columns).collect();
    format!("…{kept}")
}

/// How many actions have their like, and how many are alone.
pub(super) fn alignment(comparison: &Comparison) -> String {
    let (mut paired, mut gone, mut new) = (0u64, 0u64, 0u64);
    for action in &comparison.actions {
        match (&action.base, &action.candidate) {
            (Some(_), Some(_)) => paired += 1,
            (Some(_), None) => gone += 1,
            _ => new += 1,
        }
    }
    let mut words = format!("{} aligned", count(paired, "action"));
    for (number, side) in [(gone, "base"), (new, "candidate")] {
        if number > 0 {
            words.push_str(&format!(", {number} in the {side} alone"));
        }
    }
    words
}

/// `candidate`, or `candidate 2` of several.
pub(super) fn name(page: &Page, index: usize) -> String {
    let only = page.candidates.len() < 2;
    if only { "candidate".to_owned() } else { format!("candidate {}", index + 1) }
}

/// Which of several candidates is best, and whether that is more than noise.
pub(super) fn best(page: &Page) -> Option<String> {
    if page.candidates.len() < 2 {
        return None;
    }
    let Some((index, compared)) = page.best.and_then(|index| Some((index, page.candidates.get(index)?))) else {
        return Some("No candidate passed.".to_owned());
    };
    let Compared { read, comparison } = compared;
    let speed = comparison.speed().unwrap_or_default();
    let noise = if comparison.judgement == Judgement::NoChange { ", within the noise" } else { "" };
    Some(format!("Best: candidate {}, {} ({speed}{noise}).", index + 1, read.source))
}
