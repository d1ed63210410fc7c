//! A stage, or the run, that takes longer than in earlier runs of the job.

use super::words::{bytes, count, duration, ratio};
use super::{on_stage, per_stage, worth_painting};
use crate::declare_rule;
use crate::history::{Change, Past, Row, Thresholds, Trend};
use crate::rules::{RuleSettings, RunContext, State, Subject, Verdict};

declare_rule! {
    /// A stage, or the whole run, takes longer than it did in earlier runs of the job.
    ///
    /// ## Why
    /// A job that gets slower from week to week is seen when it misses its hour, and then nobody knows since when and
    /// why. Three earlier runs are enough to tell a change from the noise that every cluster has: a run is slower when
    /// it takes more than the median of the earlier ones by 30 % and by three standard deviations (estimated from the
    /// median absolute deviation, which one odd run doesn't move), and by at least 10 s. The same stage is found again by
    /// what it does and where it was called from, not by its number. Earlier runs come from a file that
    /// `sparkls record` writes.
    ///
    /// ## Silent when
    /// - fewer than three earlier runs of the job have the stage: then it says so
    /// - less than 90 % of the stage's tasks are in the log; for the whole run, if a log is not complete
    /// - the run is faster, or slower by less than the noise of the earlier runs
    ///
    /// ## Example
    /// ```text
    /// 2.1 x slower than before: 48.0 s, median of 12 earlier runs 22.9 s, at 1.0 x the data
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// sparkls compare BASE CANDIDATE    what changed between the last good run and this one
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/monitoring.html>
    pub REGRESSION = {
        name: "regression", group: Run, severity: Warning, confidence: Measured,
        since: "0.1.0",
        options: [
            ("runs", 3.0, "earlier runs that are needed"),
            ("window", 30.0, "earlier runs that are looked at: the latest"),
            ("share", 0.3, "slower than the median of the earlier runs by more than this share of it"),
            ("deviations", 3.0, "and by more than this many standard deviations, estimated from the median absolute deviation"),
            ("seconds", 10.0, "and by at least this much, in seconds"),
        ],
        check: Run(check),
    }
}

/// The thresholds that the user set.
pub fn thresholds(rules: &RuleSettings) -> Thresholds {
    let option = |name| rules.option(&REGRESSION, name);
    Thresholds {
        runs: option("runs").max(1.0) as usize,
        window: option("window").max(1.0) as usize,
        share: option("share"),
        deviations: option("deviations"),
        seconds: option("seconds"),
        coverage: super::view::Floors::new(rules).coverage,
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let Some(past) = context.past else {
        let stages = context.stages.iter().map(|view| view.key).collect();
        return vec![Verdict::quiet(context.rule, State::NotApplicable("no history given".to_owned()), stages)];
    };
    let thresholds = thresholds(context.rules);
    let whole = past.whole_run(&thresholds);
    let mut verdicts: Vec<Verdict> = whole.slower().map(|change| of_run(context, past, change)).into_iter().collect();
    verdicts.extend(per_stage(context, |view| {
        let own = past.own.iter().find(|row| (row.stage, row.stage_attempt) == (view.key.stage, view.key.attempt));
        let Some(row) = own else { return Err(State::NotApplicable("it is not in the history's rows".to_owned())) };
        match past.stage(row, &thresholds) {
            Trend::Slower(change) => {
                let mut verdict = on_stage(context, view, Some(excess_s(&change)));
                tell(context, &mut verdict, &change, past.last(&row.stage_key), row, data_ratio(past, row));
                Ok(verdict)
            }
            Trend::Steady(_) => Err(State::NotFired),
            Trend::TooFew(runs) => Err(State::NotApplicable(format!(
                "{} of it, {} needed",
                count(runs as u64, "earlier run"),
                thresholds.runs
            ))),
            Trend::Unknown(why) => Err(State::NotApplicable(why.to_owned())),
        }
    }));
    verdicts
}

fn of_run(context: &RunContext<'_>, past: &Past, change: &Change) -> Verdict {
    let mut verdict = Verdict::fired(context.rule, Subject::Run, Vec::new());
    verdict.impact_s = Some(excess_s(change));
    verdict.paintable = worth_painting(context, verdict.impact_s);
    if let Some(row) = past.own.first() {
        tell(context, &mut verdict, change, past.earlier.last(), row, None);
    }
    verdict
}

/// What both say: by how much, against what, and what else is different.
fn tell(
    context: &RunContext<'_>,
    verdict: &mut Verdict,
    change: &Change,
    last: Option<&Row>,
    row: &Row,
    data: Option<f64>,
) {
    let what = if verdict.subject == Subject::Run { "the run is " } else { "" };
    let times = ratio(change.now / change.median.max(1.0));
    let runs = count(change.earlier.len() as u64, "earlier run");
    let at = data.map(|data| format!(", at {} the data", ratio(data))).unwrap_or_default();
    let (now, median) = (duration(change.now), duration(change.median));
    verdict.message = format!("{what}{times} slower than before: {now}, median of {runs} {median}{at}");
    verdict.short = format!("{times} slower than before");
    let options = ["share", "deviations", "seconds"].map(|name| context.option(name));
    let bound = format!(
        "> median + max({:.0} %, {} x 1.4826 x MAD) = {} and >= {} more",
        options[0] * 100.0,
        options[1],
        duration(change.limit),
        duration(options[2] * 1000.0)
    );
    verdict.prove("time", now, Some(bound), None);
    let spread = format!("median {median}, MAD {}", duration(change.mad));
    verdict.prove("earlier runs", format!("{}: {spread}", change.earlier.len()), None, Some("history".to_owned()));
    if let Some(read) = row.read_bytes.filter(|_| data.is_some()) {
        verdict.prove("read", bytes(read as f64), None, None);
    }
    if data.is_some_and(|data| data >= 1.3) {
        verdict.confounders.push("it reads more data than before".to_owned());
    }
    let Some(last) = last else { return };
    if let (Some(before), Some(now)) = (&last.spark_version, &row.spark_version)
        && before != now
    {
        verdict.confounders.push(format!("Spark {now}, the run before had {before}"));
    }
    if last.conf.is_some() && row.conf.is_some() && last.conf != row.conf {
        verdict.confounders.push("other settings than in the run before".to_owned());
    }
    if let (Some(before), Some(now)) = (last.cores, row.cores)
        && now < 0.8 * before
        && verdict.subject != Subject::Run
    {
        verdict.confounders.push(format!("{now:.0} cores, the run before had {before:.0}"));
    }
    verdict
        .advice
        .push("See what changed: sparkls compare, with the log of the last run that was not slow as BASE".to_owned());
}

fn excess_s(change: &Change) -> f64 {
    (change.now - change.median) / 1000.0
}

/// Bytes read over the median of the stage's earlier runs.
fn data_ratio(past: &Past, row: &Row) -> Option<f64> {
    let same = past.earlier.iter().filter(|other| other.stage_key == row.stage_key);
    let earlier: Vec<f64> = same.filter_map(|other| Some(other.read_bytes? as f64)).collect();
    let median = crate::history::median(&earlier).filter(|&median| median > 0.0)?;
    Some(row.read_bytes? as f64 / median)
}
