//! A long stage, and which of the known causes hold.

use super::gc_pressure::{GC_PRESSURE, pressure};
use super::skewed_stage::{SKEWED_STAGE, is_skewed};
use super::slow_host::{SLOW_HOST, fires};
use super::view::StageView;
use super::words::{GIB, bytes, count, duration, percent};
use super::{advice, on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, State, Verdict};

declare_rule! {
    /// A stage takes a large part of the run; the causes that the log shows.
    ///
    /// ## Why
    /// When no single machine drags, a stage lags because of how its work was cut: too few tasks for the cores, too much
    /// data in each, or shuffle and spill. All causes that hold are named, the costliest first. If none holds, the
    /// finding says that the cause is not in the log. It is a fallback, not a verdict.
    ///
    /// ## Silent when
    /// The stage takes less than 60 s or 10 % of the run, or `slow-host` fires on it.
    ///
    /// ## Example
    /// ```text
    /// slow stage: 412.0 s, 61 % of the run: 2.4 GiB a task
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.sql.shuffle.partitions  2000
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/tuning.html#level-of-parallelism>
    pub SLOW_STAGE = {
        name: "slow-stage", group: Run, severity: Information, confidence: Experimental,
        since: "0.1.0",
        options: [
            ("seconds", 60.0, "seconds from submission to completion"),
            ("share", 0.1, "share of the run"),
            ("tasks-per-core", 2.0, "fewer tasks than this for each core are too few"),
            ("task-gib", 1.0, "median read of a task in GiB that is too much"),
            ("spill-share", 0.1, "bytes spilled over bytes read"),
            ("spill-gib", 1.0, "GiB spilled"),
            ("fetch-wait-share", 0.2, "share of run time spent waiting for shuffle blocks"),
            ("shuffle-write-share", 0.2, "bytes written to shuffles over bytes read"),
        ],
        check: Run(check),
    }
}

/// One cause that holds.
struct Cause {
    text: String,
    short: &'static str,
    impact_s: Option<f64>,
    advice: Vec<String>,
    threshold: String,
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        if let Some(state) = view.skipped(&context.floors) {
            return Err(state);
        }
        if view.wall_ms < context.option("seconds") * 1000.0 || view.wall_ms < context.option("share") * view.run_ms {
            return Err(State::NotFired);
        }
        if fires(context, view) {
            return Err(State::NotApplicable(format!("{} fires on it", SLOW_HOST.name)));
        }
        Ok(describe(context, view))
    })
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>) -> Verdict {
    let mut causes = causes(context, view);
    causes.sort_by(|a, b| b.impact_s.unwrap_or(0.0).total_cmp(&a.impact_s.unwrap_or(0.0)));
    let impact = causes.iter().filter_map(|cause| cause.impact_s).reduce(f64::max);
    let mut verdict = on_stage(context, view, impact);
    let texts: Vec<&str> = causes.iter().map(|cause| cause.text.as_str()).collect();
    let why = if texts.is_empty() { "the cause is not in the log".to_owned() } else { texts.join("; ") };
    let share = percent(view.wall_ms / view.run_ms);
    verdict.message = format!("slow stage: {}, {share} of the run: {why}", duration(view.wall_ms));
    verdict.short = match causes.first() {
        Some(cause) => format!("{share} of the run · {}", cause.short),
        None => format!("{share} of the run"),
    };
    verdict.prove(
        "stage",
        format!("{} ({share} of the run)", duration(view.wall_ms)),
        Some(format!(
            ">= {} and {} of the run",
            duration(context.option("seconds") * 1000.0),
            percent(context.option("share"))
        )),
        None,
    );
    for cause in causes {
        verdict.prove(cause.short, cause.text, Some(cause.threshold), None);
        for advice in cause.advice {
            if !verdict.advice.contains(&advice) {
                verdict.advice.push(advice);
            }
        }
    }
    if verdict.advice.is_empty() {
        verdict.advice.push(
            "Compare the tasks in the stage page: run time without CPU time is storage, the rest is work".to_owned(),
        );
    }
    verdict
}

fn causes(context: &RunContext<'_>, view: &StageView<'_>) -> Vec<Cause> {
    if is_skewed(context, view) {
        return vec![Cause {
            text: format!("one task holds the data (see {})", SKEWED_STAGE.name),
            short: "skewed",
            impact_s: None,
            advice: vec![format!("See {}: more partitions do not help a skewed stage", SKEWED_STAGE.name)],
            threshold: "skewed-stage fires".to_owned(),
        }];
    }
    let plan = view.plan();
    let more = || advice::for_smaller_partitions(context, view, plan);
    [too_few(context, view, &more), too_large(context, view, &more), spilled(context, view, &more)]
        .into_iter()
        .flatten()
        .chain(shuffle(context, view))
        .chain(collects_garbage(context, view))
        .collect()
}

/// What `gc-pressure` says of the stage is a cause that is in the log.
fn collects_garbage(context: &RunContext<'_>, view: &StageView<'_>) -> Option<Cause> {
    let (gc_ms, run_ms) = pressure(context, view)?;
    Some(Cause {
        text: format!("{} of run time is garbage collection (see {})", percent(gc_ms / run_ms), GC_PRESSURE.name),
        short: "collects garbage",
        impact_s: None,
        advice: vec![format!("See {}: what the tasks hold at once is too large for the heap", GC_PRESSURE.name)],
        threshold: format!("{} fires", GC_PRESSURE.name),
    })
}

fn too_few(context: &RunContext<'_>, view: &StageView<'_>, more: &dyn Fn() -> Vec<String>) -> Option<Cause> {
    let cores = view.cores?;
    let per_core = context.option("tasks-per-core");
    if view.count() as f64 >= per_core * cores {
        return None;
    }
    Some(Cause {
        text: format!("{} for {cores:.0} cores", count(view.count() as u64, "task")),
        short: "too few tasks",
        impact_s: Some(((view.wall_ms - view.task_ms() / cores) / 1000.0).max(0.0)),
        advice: more(),
        threshold: format!("< {per_core} a core"),
    })
}

fn too_large(context: &RunContext<'_>, view: &StageView<'_>, more: &dyn Fn() -> Vec<String>) -> Option<Cause> {
    let read = view.median_of(&view.tasks().read_bytes)?;
    let limit = context.option("task-gib") * GIB;
    (read >= limit).then(|| Cause {
        text: format!("{} a task", bytes(read)),
        short: "much data a task",
        impact_s: None,
        advice: more(),
        threshold: format!(">= {}", bytes(limit)),
    })
}

fn spilled(context: &RunContext<'_>, view: &StageView<'_>, more: &dyn Fn() -> Vec<String>) -> Option<Cause> {
    let spilled = view.sum(&view.tasks().spill_disk)?;
    let read = view.sum(&view.tasks().read_bytes)?;
    let much = spilled >= context.option("spill-gib") * GIB;
    (spilled > 0.0 && (much || (read > 0.0 && spilled >= context.option("spill-share") * read))).then(|| Cause {
        text: format!("{} spilled to disk ({} read)", bytes(spilled), bytes(read)),
        short: "spills",
        impact_s: None,
        advice: more(),
        threshold: format!(
            ">= {} of what it reads, or >= {}",
            percent(context.option("spill-share")),
            bytes(context.option("spill-gib") * GIB)
        ),
    })
}

fn shuffle(context: &RunContext<'_>, view: &StageView<'_>) -> Vec<Cause> {
    let tasks = view.tasks();
    let mut causes = Vec::new();
    let sums = view.sum(&tasks.fetch_wait).zip(view.sum(&tasks.run_time));
    if let Some((wait, run_time)) = sums.filter(|&(_, run_time)| run_time > 0.0)
        && wait >= context.option("fetch-wait-share") * run_time
    {
        let slots = view.slots() as f64;
        causes.push(Cause {
            text: format!("{} of run time waits for shuffle blocks", percent(wait / run_time)),
            short: "waits for shuffle blocks",
            impact_s: Some(wait / slots / 1000.0),
            advice: vec!["Shuffle less: filter and select columns before the join or aggregate".to_owned()],
            threshold: format!(">= {} of run time", percent(context.option("fetch-wait-share"))),
        });
    }
    let sums = view.sum(&tasks.shuffle_write_bytes).zip(view.sum(&tasks.read_bytes));
    if let Some((written, read)) = sums.filter(|&(_, read)| read > 0.0)
        && written >= context.option("shuffle-write-share") * read
    {
        causes.push(Cause {
            text: format!("it writes {} to a shuffle ({} of what it reads)", bytes(written), percent(written / read)),
            short: "much shuffle",
            impact_s: None,
            advice: vec!["Shuffle less: filter and select columns before the join or aggregate".to_owned()],
            threshold: format!(">= {} of what it reads", percent(context.option("shuffle-write-share"))),
        });
    }
    causes
}
