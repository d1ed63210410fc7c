//! What speculation would have copied, and what that could have saved.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::in_force::{InForce, in_force};
use super::skewed_stage::{SKEWED_STAGE, is_skewed};
use super::view::StageView;
use super::words::{count, duration, percent};
use super::{advice, on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Verdict};
use crate::run::Run;
use crate::run::model::Tasks;
use crate::run::stats::{finish, nth};

declare_rule! {
    /// Tasks that would have been copied with speculation on, and what that could have saved.
    ///
    /// ## Why
    /// With `spark.speculation` on, Spark starts a second copy of a task that runs long and takes the first that ends. This
    /// rule replays a stage with the quantile, the multiplier and the least run time that were in force: from which moment on
    /// enough tasks had ended, and which of the others then ran longer than the threshold. From Spark 3.4 on a task must also
    /// be inefficient: its rate of rows lags the stage's, or it runs far beyond the threshold.
    ///
    /// A copy is assumed to start at once on another host and to take the median: what is saved is the most that it can be.
    ///
    /// ## Silent when
    /// - speculation is on already, or all executors are on one host,
    /// - the stage is skewed: a copy has the same rows to read,
    /// - no task would have been copied, or no copy would have ended first.
    ///
    /// ## Example
    /// ```text
    /// speculation would have copied 1 of 24 tasks, 2.1 s after the stage's start, and saved 32.4 s at most
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.speculation  true
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#scheduling>
    pub SPECULATION_POTENTIAL = {
        name: "speculation-potential", group: Run, severity: Information, confidence: Experimental,
        since: "0.1.0",
        options: [("seconds", 1.0, "seconds saved at most, from which on it is worth a word")],
        check: Run(check),
    }
}

/// The settings that decide, as they were in force.
struct Settings {
    quantile: f64,
    multiplier: f64,
    least_ms: f64,
    efficiency: Option<Efficiency>,
    /// `spark.speculation.quantile 0.75 (default of Spark 3.5), …`.
    text: String,
}

/// The check of Spark 3.4 and later.
struct Efficiency {
    /// A task below this share of the stage's rate of rows is inefficient.
    rate: f64,
    /// Beyond so many thresholds a task is copied whatever its rate.
    long_run: f64,
}

impl Settings {
    fn of(run: &Run) -> Option<Self> {
        let mut known: Vec<String> = Vec::new();
        let mut read = |name: &str, value: fn(&InForce) -> Option<f64>| {
            let key = format!("spark.speculation.{name}");
            let now = in_force(run, None, &key)?;
            known.push(format!("{name} {} ({})", now.value, now.origin));
            value(&now)
        };
        let quantile = read("quantile", InForce::number)?;
        let multiplier = read("multiplier", InForce::number)?;
        // Before 3.2 there was no setting: 100 ms, as its default is.
        let least_ms = read("minTaskRuntime", InForce::milliseconds).unwrap_or(100.0);
        let checked = in_force(run, None, "spark.speculation.efficiency.enabled").and_then(|now| now.boolean());
        let efficiency = if checked == Some(true) {
            let rate = read("efficiency.processRateMultiplier", InForce::number)?;
            let long_run = read("efficiency.longRunTaskFactor", InForce::number)?;
            Some(Efficiency { rate, long_run })
        } else {
            None
        };
        Some(Self { quantile, multiplier, least_ms, efficiency, text: known.join(", ") })
    }
}

impl Settings {
    /// Tasks that must have ended before others are looked at.
    fn enough(&self, view: &StageView<'_>) -> usize {
        let announced = (view.stage.task_count as usize).max(view.count());
        ((self.quantile * announced as f64) as usize).max(1)
    }

    /// Whether any task can have crossed the threshold, which no median of that many tasks puts lower: most stages are even, and
    /// need no replay.
    fn may_copy(&self, view: &StageView<'_>) -> bool {
        let least_median = nth(&view.durations(), (self.enough(view) / 2).max(1)).unwrap_or(0);
        view.max_ms() > (self.multiplier * least_median as f64).max(self.least_ms)
    }
}

/// A task that would have been copied.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Copied {
    row: usize,
    /// When, in ms after the run's start.
    at: f64,
    /// How long a copy would take, in ms.
    median_ms: f64,
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let run = context.run;
    let on = in_force(run, None, "spark.speculation").and_then(|now| now.boolean()) == Some(true);
    let settings = Settings::of(run);
    per_stage(context, |view| {
        if let Some(state) = view.skipped(&context.floors) {
            return Err(state);
        }
        let settings = settings
            .as_ref()
            .ok_or_else(|| State::NotRecorded("Spark version, for its defaults of spark.speculation.*".to_owned()))?;
        if on {
            return Err(State::NotApplicable("speculation is on".to_owned()));
        }
        if view.count() < 2 {
            return Err(State::NotApplicable("one task".to_owned()));
        }
        if view.hosts().len() < 2 {
            return Err(State::NotApplicable("all its tasks ran on one host".to_owned()));
        }
        if is_skewed(context, view) {
            return Err(State::NotApplicable(format!("{} fires on it", SKEWED_STAGE.name)));
        }
        if settings.efficiency.is_some() && !view.measured() {
            return Err(State::NotRecorded("Task Metrics".to_owned()));
        }
        if !settings.may_copy(view) {
            return Err(State::NotFired);
        }
        let copied = replay(view, settings);
        let saved = saved_seconds(view, &copied);
        let helped: Vec<Copied> = copied.into_iter().filter(|copied| ends_first(view.tasks(), copied)).collect();
        if helped.is_empty() || saved < context.option("seconds") {
            return Err(State::NotFired);
        }
        Ok(describe(context, view, settings, &helped, saved))
    })
}

fn ends_first(tasks: &Tasks, copied: &Copied) -> bool {
    copied.at + copied.median_ms < finish(tasks, copied.row) as f64
}

fn saved_seconds(view: &StageView<'_>, copied: &[Copied]) -> f64 {
    let tasks = view.tasks();
    let mut durations: Vec<f64> = (0..tasks.len()).map(|row| tasks.duration.get(row) as f64).collect();
    for one in copied.iter().filter(|one| ends_first(tasks, one)) {
        durations[one.row] = one.at + one.median_ms - tasks.launch.get(one.row) as f64;
    }
    view.saved_seconds(|row| durations[row])
}

/// The median of values that come one by one.
#[derive(Default)]
struct RunningMedian {
    lower: BinaryHeap<u64>,
    upper: BinaryHeap<Reverse<u64>>,
}

impl RunningMedian {
    fn push(&mut self, value: u64) {
        if self.lower.peek().is_none_or(|&middle| value <= middle) {
            self.lower.push(value);
        } else {
            self.upper.push(Reverse(value));
        }
        if self.lower.len() > self.upper.len() + 1 {
            self.upper.extend(self.lower.pop().map(Reverse));
        } else if self.upper.len() > self.lower.len() {
            self.lower.extend(self.upper.pop().map(|Reverse(value)| value));
        }
    }

    fn get(&self) -> f64 {
        let middle = self.lower.peek().copied().unwrap_or(0) as f64;
        match self.upper.peek() {
            Some(&Reverse(above)) if self.upper.len() == self.lower.len() => (middle + above as f64) / 2.0,
            _ => middle,
        }
    }
}

/// The stage as the scheduler would have seen it: after each task that ended, those that ran longer than the threshold.
fn replay(view: &StageView<'_>, settings: &Settings) -> Vec<Copied> {
    let tasks = view.tasks();
    let enough = settings.enough(view);
    let mut ends: Vec<(u64, usize)> = view.rows.iter().map(|row| (finish(tasks, row), row)).collect();
    ends.sort_by_key(|&(end, _)| end);
    // Longest running first: those are the first to cross the threshold.
    let mut running: BinaryHeap<Reverse<(u64, usize)>> =
        ends.iter().map(|&(_, row)| Reverse((tasks.launch.get(row), row))).collect();
    let (mut durations, mut rate) = (RunningMedian::default(), Rate::default());
    let mut copied = Vec::new();
    for (ended, &(end, row)) in ends.iter().enumerate() {
        durations.push(tasks.duration.get(row));
        rate.add(tasks, row);
        if ended + 1 < enough {
            continue;
        }
        let now = end as f64;
        let next = ends.get(ended + 1).map_or(now, |&(next, _)| next as f64);
        let median_ms = durations.get();
        let threshold = (settings.multiplier * median_ms).max(settings.least_ms);
        let mut later = Vec::new();
        while let Some(&Reverse((launch, row))) = running.peek() {
            if launch as f64 + threshold >= next {
                break;
            }
            running.pop();
            if finish(tasks, row) as f64 <= now {
                continue;
            }
            let reached = |factor: f64| now.max(launch as f64 + factor * threshold);
            let at = match &settings.efficiency {
                Some(check) if !rate.lags(tasks, row, check.rate) => reached(check.long_run.max(1.0)),
                _ => reached(1.0),
            };
            if at < next && at < finish(tasks, row) as f64 {
                copied.push(Copied { row, at, median_ms });
            } else {
                later.push(Reverse((launch, row)));
            }
        }
        running.extend(later);
    }
    copied
}

/// Rows a second over the tasks that ended.
#[derive(Default)]
struct Rate {
    records: f64,
    run_ms: f64,
}

impl Rate {
    fn add(&mut self, tasks: &Tasks, row: usize) {
        self.records += tasks.read_records.get(row) as f64;
        self.run_ms += tasks.run_time.get(row) as f64;
    }

    /// Whether a task's rate is below this share of the others'. Where nothing was read there is no rate, and Spark takes a
    /// task for inefficient.
    fn lags(&self, tasks: &Tasks, row: usize, share: f64) -> bool {
        if self.records <= 0.0 || self.run_ms <= 0.0 {
            return true;
        }
        let own = tasks.read_records.get(row) as f64 / (tasks.run_time.get(row) as f64).max(1.0);
        own < share * self.records / self.run_ms
    }
}

fn describe(
    context: &RunContext<'_>,
    view: &StageView<'_>,
    settings: &Settings,
    helped: &[Copied],
    saved: f64,
) -> Verdict {
    let tasks = view.tasks();
    let mut verdict = on_stage(context, view, Some(saved));
    if !verdict.paintable {
        verdict.severity = Severity::Hint;
    }
    let first = helped.iter().map(|one| one.at).fold(f64::INFINITY, f64::min);
    let begin = view.rows.iter().map(|row| tasks.launch.get(row)).min().unwrap_or(0) as f64;
    let number = helped.len();
    let of = count(view.count() as u64, "task");
    verdict.message = format!(
        "speculation would have copied {number} of {of}, from {} after the stage's start on, and saved {} at most",
        duration(first - begin),
        duration(saved * 1000.0),
    );
    verdict.short = format!("speculation: {} less at most", duration(saved * 1000.0));
    let ids: Vec<String> = helped
        .iter()
        .take(5)
        .map(|one| {
            let (index, time) = (tasks.index.get(one.row), duration(tasks.duration.get(one.row) as f64));
            format!("{index} ({time} on {})", view.host(one.row))
        })
        .collect();
    let more = if number > ids.len() { format!(" and {} more", number - ids.len()) } else { String::new() };
    verdict.prove("tasks that qualify", format!("{}{more}", ids.join(", ")), None, None);
    let median = helped.first().map_or(0.0, |one| one.median_ms);
    verdict.prove("median when they qualified", duration(median), Some(settings.text.clone()), None);
    verdict.prove(
        "efficiency check",
        match &settings.efficiency {
            Some(check) => format!(
                "below {} of the stage's rate of rows, or {} thresholds long",
                percent(check.rate),
                check.long_run
            ),
            None => "none in this version, or off".to_owned(),
        },
        None,
        None,
    );
    verdict.confounders.push("a copy needs a free slot on another host and may be as slow there".to_owned());
    verdict.advice = advice::for_slow_tasks(context.run, view);
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_of_values_that_come_one_by_one() {
        let mut median = RunningMedian::default();
        let mut seen = Vec::new();
        for value in [5, 1, 9, 9, 2, 40, 3, 3] {
            median.push(value);
            seen.push(value);
            assert_eq!(Some(median.get()), crate::run::stats::median(&seen));
        }
    }
}
