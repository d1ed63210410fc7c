//! One task is late without more data.

use super::advice;
use super::evidence::lacks_work;
use super::skewed_stage::{Lopsided, SKEWED_STAGE, lone_ms, look_alikes, lopsided};
use super::view::StageView;
use super::words::{bytes, count, duration, grouped, percent, ratio};
use super::{on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Verdict};
use crate::run::model::Outcome;
use crate::run::stats::{is_warm_up, median};

declare_rule! {
    /// One task of a stage runs many times longer than the others without reading more.
    ///
    /// ## Why
    /// It looks like skew in the duration column, but the data is even, so nothing that spreads data helps. The cause is
    /// looked for in this order: start-up of the executor, garbage collection, waiting for shuffle blocks, its host,
    /// an earlier failed attempt. If none of them shows in the log, the finding says so.
    ///
    /// ## Silent when
    /// - the slowest task also read 3 times the median (that is `skewed-stage`),
    /// - the stage has fewer than 5 tasks or is shorter than 0.5 % of the run.
    ///
    /// A task that was launched before its executor had ended its first task is start-up: it is named, and never shown
    /// on a line of code.
    ///
    /// ## Example
    /// ```text
    /// one task took 14.9 s, the median 1.4 s (11 x), and read no more than the others: garbage collection
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.speculation  true
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#scheduling>
    pub STRAGGLER = {
        name: "straggler", group: Run, severity: Warning, confidence: Measured,
        since: "0.1.0",
        options: [
            ("gc-share", 0.2, "share of the task's run time in garbage collection that explains it"),
            ("fetch-wait-share", 0.2, "share of the task's run time spent waiting for shuffle blocks that explains it"),
            ("host-ratio", 2.0, "median of the task's host over the median of the others that explains it"),
        ],
        check: Run(check),
    }
}

/// Why one task was late.
#[derive(Debug, Clone, PartialEq)]
enum Cause {
    StartUp,
    Gc(f64),
    FetchWait(f64),
    Host(String, f64),
    Retried,
    Unexplained,
}

impl Cause {
    fn text(&self) -> String {
        match self {
            Self::StartUp => "it was launched while its executor was starting up".to_owned(),
            Self::Gc(share) => format!("{} of its time went into garbage collection", percent(*share)),
            Self::FetchWait(share) => format!("{} of its time it waited for shuffle blocks", percent(*share)),
            Self::Host(host, times) => format!("{host} took {} the median of the other hosts", ratio(*times)),
            Self::Retried => "an earlier attempt of it had failed".to_owned(),
            Self::Unexplained => "the cause is not in the log".to_owned(),
        }
    }

    fn short(&self) -> &'static str {
        match self {
            Self::StartUp => "executor start-up",
            Self::Gc(_) => "garbage collection",
            Self::FetchWait(_) => "waits for shuffle blocks",
            Self::Host(..) => "slow on its host",
            Self::Retried => "retried",
            Self::Unexplained => "cause not in the log",
        }
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        let found = lopsided(context, view)?;
        if found.read.lopsided {
            return Err(State::NotFired);
        }
        if lacks_work(context.run) && is_warm_up(context.first_ends, view.tasks(), found.row) {
            return Err(State::NotRecorded("whether its executor had ended a task before".to_owned()));
        }
        Ok(describe(context, view, &found))
    })
}

fn cause(context: &RunContext<'_>, view: &StageView<'_>, row: usize) -> Cause {
    let tasks = view.tasks();
    let run_time = (tasks.run_time.get(row) as f64).max(1.0);
    if is_warm_up(context.first_ends, tasks, row) {
        return Cause::StartUp;
    }
    let gc = tasks.gc_time.get(row) as f64 / run_time;
    let median_gc = view.median_of(&tasks.gc_time).unwrap_or(0.0);
    if gc >= context.option("gc-share") && (tasks.gc_time.get(row) as f64) > median_gc {
        return Cause::Gc(gc);
    }
    let fetch = tasks.fetch_wait.get(row) as f64 / run_time;
    if fetch >= context.option("fetch-wait-share") {
        return Cause::FetchWait(fetch);
    }
    if let Some(times) = host_ratio(view, row).filter(|&times| times >= context.option("host-ratio")) {
        return Cause::Host(view.host(row).to_owned(), times);
    }
    let failed = |other: usize| {
        tasks.index.get(other) == tasks.index.get(row)
            && !matches!(tasks.flags[other].outcome(), Outcome::Success | Outcome::Killed)
    };
    if (0..tasks.index.len()).any(failed) { Cause::Retried } else { Cause::Unexplained }
}

/// The median of the other tasks on the row's host over the median on all other hosts; needs 2 tasks here and
/// 3 there.
fn host_ratio(view: &StageView<'_>, row: usize) -> Option<f64> {
    let tasks = view.tasks();
    let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
    for other in view.rows.iter().filter(|&other| other != row) {
        let side = if tasks.host_of(other) == tasks.host_of(row) { &mut here } else { &mut elsewhere };
        side.push(tasks.duration.get(other));
    }
    if here.len() < 2 || elsewhere.len() < 3 {
        return None;
    }
    Some(median(&here)? / median(&elsewhere)?.max(1.0))
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, found: &Lopsided) -> Verdict {
    let tasks = view.tasks();
    let cause = cause(context, view, found.row);
    let median_ms = view.median_ms();
    let slow_from = context.rules.option(&SKEWED_STAGE, "ratio") * median_ms;
    let saved = view.saved_seconds(|row| {
        let duration = tasks.duration.get(row) as f64;
        if duration >= slow_from { median_ms } else { duration }
    });
    let mut verdict = on_stage(context, view, Some(saved));
    if cause == Cause::StartUp {
        verdict.paintable = false;
        verdict.severity = Severity::Hint;
    } else if !verdict.paintable || (view.count() as f64) < context.rules.option(&SKEWED_STAGE, "confident-tasks") {
        verdict.severity = Severity::Information;
    }
    verdict.message = format!(
        "one task took {}, the median {} ({}), {}: {}",
        duration(view.max_ms()),
        duration(median_ms),
        ratio(found.ratio),
        reading(found),
        cause.text(),
    );
    verdict.short = format!("max {} median · {}", ratio(found.ratio), cause.short());
    verdict.prove(
        "slowest task over the median",
        format!("{} ({} / {})", ratio(found.ratio), duration(view.max_ms()), duration(median_ms)),
        Some(format!(">= {}", ratio(context.rules.option(&SKEWED_STAGE, "ratio")))),
        Some(format!("task {} on {}", tasks.index.get(found.row), view.host(found.row))),
    );
    verdict.prove("excess", duration(found.excess_ms), Some(format!(">= {}", duration(found.least_excess_ms))), None);
    verdict.prove(
        "read by it",
        format!(
            "{} and {} (medians {} and {})",
            bytes(found.read.bytes),
            count(found.read.records as u64, "row"),
            bytes(found.read.median_bytes),
            grouped(found.read.median_records as u64)
        ),
        Some("below the floors or the ratio of skewed-stage".to_owned()),
        None,
    );
    verdict.prove("waited for it", duration(lone_ms(view)), None, None);
    if cause != Cause::StartUp {
        verdict.confounders = look_alikes(view.plan());
    }
    verdict.advice = advise(context, view, &cause);
    verdict
}

/// What it read, where that is not enough to call it skew.
fn reading(found: &Lopsided) -> String {
    let read = &found.read;
    if read.bytes > 2.0 * read.median_bytes && read.median_bytes > 0.0 {
        let times = ratio(read.bytes / read.median_bytes);
        return format!("and read {} ({times} the median), too little to explain it by data alone", bytes(read.bytes));
    }
    "and read no more than the others".to_owned()
}

fn advise(context: &RunContext<'_>, view: &StageView<'_>, cause: &Cause) -> Vec<String> {
    match cause {
        Cause::StartUp => vec![
            "Nothing to change in the job: first tasks of an executor load classes and start Python workers".to_owned(),
        ],
        Cause::Gc(_) => {
            vec!["Look at the executor's memory in the stage page: this task was collecting garbage".to_owned()]
        }
        Cause::FetchWait(_) => {
            vec!["Look at the executor that served the shuffle blocks: disk, network, or lost blocks".to_owned()]
        }
        Cause::Retried => vec!["Read why the first attempt failed: the time was lost there".to_owned()],
        Cause::Host(..) | Cause::Unexplained => advice::for_slow_tasks(context.run, view),
    }
}
