//! Whether a run got slower or faster, and whether that can be said at all.

use super::actions::Action;
use super::{ActionChange, ActionFigures, RunFigures, Thresholds};
use crate::rules::run::words::{bytes, count, percent, ratio};
use crate::run::Run;

/// Least share of the time in actions that both runs must have in common.
const LEAST_COMMON: f64 = 0.5;
/// Ratios within this of 1 are not worth a word.
const SAME: f64 = 0.05;

/// Whether the candidate got slower or faster than the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It took longer, by more than noise.
    Slower,
    /// It took less time, by more than noise.
    Faster,
    /// The difference is within the noise.
    NoChange,
    /// The evidence does not suffice.
    Inconclusive,
}

/// `2.1 x slower at 1.0 x the data`, `as fast at 1.0 x the data`; without the data where its ratio is not known. `None` if
/// a time is 0.
pub fn speed(base_ms: f64, candidate_ms: f64, data: Option<f64>) -> Option<String> {
    if base_ms <= 0.0 || candidate_ms <= 0.0 {
        return None;
    }
    let change = candidate_ms / base_ms;
    let words = if (change - 1.0).abs() < SAME {
        "as fast".to_owned()
    } else if change > 1.0 {
        format!("{} slower", factor(change))
    } else {
        format!("{} faster", factor(1.0 / change))
    };
    Some(match data {
        Some(data) => format!("{words} at {} the data", factor(data)),
        None => words,
    })
}

/// `1.07 x`, `2.1 x`, `0.04 x`: near 1 and below 0.1 with a second digit, so that it does not read as nothing.
fn factor(value: f64) -> String {
    let near_one = (value - 1.0).abs() < 0.1 && (value - 1.0).abs() >= 0.005;
    if near_one || (value > 0.0 && value < 0.095) { format!("{value:.2} x") } else { ratio(value) }
}

/// What a judgement rests on besides the times.
pub(super) struct Evidence<'a> {
    /// What the base lacks.
    pub(super) base: Vec<String>,
    /// What the candidate lacks.
    pub(super) candidate: Vec<String>,
    /// The paired actions read their sources in the same way.
    pub(super) same_sources: bool,
    pub(super) actions: &'a [ActionChange],
    /// Candidate over base.
    pub(super) data: Option<f64>,
}

/// Why a run is no evidence of how long the job takes.
pub(super) fn gaps_of(run: &Run, actions: &[Action<'_>], thresholds: &Thresholds) -> Vec<String> {
    let coverage = &run.coverage;
    let mut gaps = Vec::new();
    if coverage.summary.is_some() {
        gaps.push("it is only what a server tells through its REST API, without plans".to_owned());
    } else if !coverage.complete {
        gaps.push(format!("its log is incomplete: {}", incomplete(run)));
    }
    let seen = coverage.tasks_seen as f64;
    if seen < thresholds.coverage * coverage.tasks_expected as f64 {
        let share = percent(seen / coverage.tasks_expected as f64);
        gaps.push(format!("{share} of its tasks are in the log, {} are needed", percent(thresholds.coverage)));
    }
    if crate::run::slots::run_time(run).is_none() {
        gaps.push("its duration is not recorded".to_owned());
    }
    if let Some(last) = actions.last()
        && let Some(failure) = last.failure
    {
        gaps.push(format!("it failed in {}: {failure}", last.site));
    }
    gaps
}

fn incomplete(run: &Run) -> String {
    let coverage = &run.coverage;
    if let Some(offset) = coverage.cut_at {
        format!("it is cut after {}", bytes(offset as f64))
    } else if !coverage.missing_files.is_empty() {
        format!("{} of it missing", count(coverage.missing_files.len() as u64, "file"))
    } else if coverage.compacted {
        "its early part was compacted away".to_owned()
    } else if coverage.bad_lines > 0 {
        format!("{} in it", count(coverage.bad_lines, "bad line"))
    } else if run.application.estimated {
        "it has no end".to_owned()
    } else {
        "tasks or its end are not in it".to_owned()
    }
}

/// The judgement, and what speaks against one.
pub(super) fn judge(
    base: &RunFigures,
    candidate: &RunFigures,
    evidence: &Evidence<'_>,
    thresholds: &Thresholds,
) -> (Judgement, Vec<String>) {
    let of_one = |name: &'static str, gaps: &[String]| -> Vec<String> {
        gaps.iter().map(|gap| format!("{name}: {gap}")).collect()
    };
    let mut gaps = of_one("base", &evidence.base);
    gaps.extend(of_one("candidate", &evidence.candidate));
    gaps.extend(not_in_common(evidence.actions));
    gaps.extend(failed_in_one(evidence.actions));
    let (Some(before), Some(after)) = (base.sums.wall_ms, candidate.sums.wall_ms) else {
        return (Judgement::Inconclusive, gaps);
    };
    let judgement = if thresholds.slower(before, after, thresholds.noise_ms) {
        Judgement::Slower
    } else if thresholds.slower(after, before, thresholds.noise_ms) {
        Judgement::Faster
    } else {
        Judgement::NoChange
    };
    gaps.extend(other_data(judgement, after / before, evidence, thresholds));
    (if gaps.is_empty() { judgement } else { Judgement::Inconclusive }, gaps)
}

/// One run's part of an action.
type Side = fn(&ActionChange) -> Option<&ActionFigures>;

fn not_in_common(actions: &[ActionChange]) -> Option<String> {
    if !actions.iter().any(|action| action.base.is_some() && action.candidate.is_some()) {
        return Some(match (actions.iter().any(|a| a.base.is_some()), actions.iter().any(|a| a.candidate.is_some())) {
            (true, true) => "no SQL execution and no job of one run has its like in the other".to_owned(),
            (true, false) => "the candidate ran nothing".to_owned(),
            (false, true) => "the base ran nothing".to_owned(),
            (false, false) => "neither run ran anything".to_owned(),
        });
    }
    let time = |of: Side, paired: bool| -> f64 {
        let wanted = actions.iter().filter(|action| !paired || (action.base.is_some() && action.candidate.is_some()));
        wanted.filter_map(of).filter_map(|figures| figures.sums.wall_ms).sum()
    };
    let sides: [(&str, Side); 2] =
        [("base", |action| action.base.as_ref()), ("candidate", |action| action.candidate.as_ref())];
    sides.into_iter().find_map(|(name, of)| {
        let share = time(of, true) / time(of, false).max(1.0);
        (time(of, false) > 0.0 && share < LEAST_COMMON).then(|| {
            let needed = percent(LEAST_COMMON);
            format!("{name}: {} of its time in actions is in those that both have, {needed} are needed", percent(share))
        })
    })
}

fn failed_in_one(actions: &[ActionChange]) -> Vec<String> {
    let pairs = actions.iter().filter_map(|action| action.base.as_ref().zip(action.candidate.as_ref()));
    let words = |name: &str, action: &ActionFigures| format!("{} failed in the {name} alone", action.site);
    pairs
        .filter_map(|(base, candidate)| match (&base.failure, &candidate.failure) {
            (Some(_), None) => Some(words("base", base)),
            (None, Some(_)) => Some(words("candidate", candidate)),
            _ => None,
        })
        .collect()
}

/// Where the same plans read another amount of data, only a difference beyond it is one of the change.
fn other_data(judgement: Judgement, time: f64, evidence: &Evidence<'_>, thresholds: &Thresholds) -> Option<String> {
    let data = evidence.data.filter(|_| evidence.same_sources)?;
    let band = 1.0 + thresholds.noise_share;
    let explained = match judgement {
        Judgement::Slower => data > band && time <= data * band,
        Judgement::Faster | Judgement::NoChange => data < 1.0 / band && time >= data / band,
        Judgement::Inconclusive => false,
    };
    explained.then(|| format!("the candidate read {} the data from the same sources", factor(data)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Figures;

    #[test]
    fn sentences() {
        let words = |base, candidate, data| speed(base, candidate, data).unwrap();
        assert_eq!(words(10_000.0, 21_000.0, Some(1.0)), "2.1 x slower at 1.0 x the data");
        assert_eq!(words(10_000.0, 4_000.0, Some(0.04)), "2.5 x faster at 0.04 x the data");
        assert_eq!(words(10_000.0, 10_400.0, None), "as fast");
        assert_eq!(words(10_000.0, 10_700.0, None), "1.07 x slower");
        assert_eq!(speed(0.0, 10.0, None), None);
    }

    fn judged(before_s: f64, after_s: f64, data: Option<f64>, same_sources: bool) -> Judgement {
        let side = |s: f64| {
            let sums = Figures { wall_ms: Some(s * 1000.0), ..Figures::NOTHING };
            let action =
                ActionFigures { id: super::super::ActionId::Job(0), site: "count".to_owned(), sums, failure: None };
            (RunFigures { sums, cores: None }, action)
        };
        let ((base, before), (candidate, after)) = (side(before_s), side(after_s));
        let action = ActionChange { base: Some(before), candidate: Some(after), stages: vec![], plan: vec![] };
        let evidence =
            Evidence { base: vec![], candidate: vec![], same_sources, actions: std::slice::from_ref(&action), data };
        judge(&base, &candidate, &evidence, &Thresholds::default()).0
    }

    #[test]
    fn a_verdict_needs_a_share_and_a_time() {
        assert_eq!(judged(50.0, 60.0, None, true), Judgement::NoChange);
        assert_eq!(judged(50.0, 60.1, None, true), Judgement::Slower);
        assert_eq!(judged(60.1, 50.0, None, true), Judgement::Faster);
        assert_eq!(judged(10.0, 19.9, None, true), Judgement::NoChange);
        assert_eq!(judged(100.0, 119.0, None, true), Judgement::NoChange);
    }

    #[test]
    fn more_data_is_no_regression_and_less_is_no_gain() {
        assert_eq!(judged(100.0, 210.0, Some(2.0), true), Judgement::Inconclusive);
        assert_eq!(judged(100.0, 300.0, Some(2.0), true), Judgement::Slower);
        assert_eq!(judged(100.0, 50.0, Some(0.5), true), Judgement::Inconclusive);
        assert_eq!(judged(100.0, 100.0, Some(0.5), true), Judgement::Inconclusive);
        assert_eq!(judged(100.0, 100.0, Some(2.0), true), Judgement::NoChange);
        // The change itself made it read less: another filter or fewer columns.
        assert_eq!(judged(100.0, 50.0, Some(0.5), false), Judgement::Faster);
    }
}
