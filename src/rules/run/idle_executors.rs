//! Executors that wait.

use super::in_force::in_force;
use super::words::{duration, percent};
use crate::declare_rule;
use crate::rules::{RunContext, State, Subject, Verdict};
use crate::run::Run;
use crate::run::slots::{run_time, stage_slots, task_cpus};

declare_rule! {
    /// The executors' slots were busy for less than 40 % of their time.
    ///
    /// ## Why
    /// An executor holds its cores from the day it is added until it is removed, whether it runs tasks or not. Time in
    /// which the driver works alone, stages with few tasks and long tails leave them idle, and they are paid for. The run
    /// would not end earlier with fewer executors; it would cost less.
    ///
    /// ## Silent when
    /// The run is shorter than 5 minutes, or the cores of its executors are not in the log.
    ///
    /// ## Example
    /// ```text
    /// slots were busy 12 % of the time: 2 min 4 s of task time on 4 slots over 5 min 12 s
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.dynamicAllocation.executorIdleTimeout  30s
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/job-scheduling.html#dynamic-resource-allocation>
    pub IDLE_EXECUTORS = {
        name: "idle-executors", group: Run, severity: Information, confidence: Measured,
        since: "0.1.0",
        options: [
            ("busy-share", 0.4, "share of the slots' time in which tasks run, below which executors count as idle"),
            ("minutes", 5.0, "length of the run in minutes, at least"),
        ],
        check: Run(check),
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let run = context.run;
    let quiet = |state| vec![Verdict::quiet(context.rule, state, Vec::new())];
    let Some(run_ms) = run_time(run).map(|ms| ms as f64) else {
        return quiet(State::NotRecorded("Timestamp of the application's start and end".to_owned()));
    };
    if run_ms < context.option("minutes") * 60_000.0 {
        return quiet(State::NotFired);
    }
    let Some(slot_ms) = slot_time(run).filter(|&ms| ms > 0.0) else {
        return quiet(State::NotApplicable("the cores of its executors are not known".to_owned()));
    };
    let coverage = &run.coverage;
    if coverage.compacted || !coverage.missing_files.is_empty() {
        return quiet(State::NotApplicable("a part of the log is missing".to_owned()));
    }
    let busy_ms: u64 = run.stages.values().flat_map(|stage| stage.tasks.duration.iter()).sum();
    let busy = busy_ms as f64 / slot_ms;
    if busy >= context.option("busy-share") {
        return quiet(State::NotFired);
    }
    vec![describe(context, busy, busy_ms as f64, slot_ms, run_ms)]
}

/// Time of all slots between the run's start and end, in ms. `None` if an executor that ran tasks was never announced.
fn slot_time(run: &Run) -> Option<f64> {
    let mut used = vec![false; run.executors.len()];
    for executor in run.stages.values().flat_map(|stage| stage.tasks.executor.iter()) {
        if let Some(used) = usize::try_from(executor).ok().and_then(|executor| used.get_mut(executor)) {
            *used = true;
        }
    }
    let (from, to) = (run.application.start, run.application.end);
    let mut total = 0.0;
    for (executor, used) in run.executors.iter().zip(used) {
        match (executor.cores, executor.added) {
            (Some(cores), Some(added)) => {
                let alive = executor.removed.unwrap_or(to).min(to).saturating_sub(added.max(from)).max(0);
                total += f64::from(cores) * alive as f64;
            }
            _ if used => return None,
            _ => {}
        }
    }
    Some(total / f64::from(task_cpus(run)))
}

fn describe(context: &RunContext<'_>, busy: f64, busy_ms: f64, slot_ms: f64, run_ms: f64) -> Verdict {
    let run = context.run;
    let mut verdict = Verdict::fired(context.rule, Subject::Run, Vec::new());
    let slots = slot_ms / run_ms;
    verdict.message = format!(
        "slots were busy {} of the time: {} of task time on {slots:.1} slots over {}",
        percent(busy),
        duration(busy_ms),
        duration(run_ms)
    );
    verdict.short = format!("slots busy {}", percent(busy));
    verdict.prove(
        "busy over slot time",
        format!("{} ({} / {})", percent(busy), duration(busy_ms), duration(slot_ms)),
        Some(format!("< {}", percent(context.option("busy-share")))),
        run.application.id.clone(),
    );
    let least = duration(context.option("minutes") * 60_000.0);
    verdict.prove("run", duration(run_ms), Some(format!(">= {least}")), None);
    let peak = run.stages.keys().map(|&key| stage_slots(run, key)).max().unwrap_or(0);
    verdict.prove("most tasks at once in a stage", peak.to_string(), None, None);
    if super::micro_batches::is_streaming(run) {
        verdict.confounders.push("streaming queries wait between their triggers".to_owned());
    }
    verdict.advice = advise(run, peak as f64, slots);
    verdict
}

fn advise(run: &Run, peak: f64, slots: f64) -> Vec<String> {
    let setting = |key| in_force(run, None, key);
    let mut advice = vec![
        "Look at where no task runs (driver-gap) and at stages with fewer tasks than cores (too-few-partitions) first"
            .to_owned(),
    ];
    if run.conf.get("spark.master").is_some_and(|master| master.starts_with("local")) {
        advice.push(
            "There is nothing to release in local mode: on a cluster this job would hold its executors as long"
                .to_owned(),
        );
        return advice;
    }
    let dynamic = setting("spark.dynamicAllocation.enabled").and_then(|now| now.boolean()) == Some(true);
    if dynamic {
        if let Some(now) = setting("spark.dynamicAllocation.executorIdleTimeout") {
            advice.push(format!(
                "Lower spark.dynamicAllocation.executorIdleTimeout (now {}, {}): idle executors are released sooner",
                now.value, now.origin
            ));
        }
        if let Some(now) = setting("spark.dynamicAllocation.minExecutors").filter(|now| now.number() > Some(0.0)) {
            advice.push(format!(
                "Lower spark.dynamicAllocation.minExecutors (now {}, {}): so many are kept whatever they do",
                now.value, now.origin
            ));
        }
    } else if peak < slots {
        advice.push(format!(
            "Ask for fewer executors: no stage ran more than {peak:.0} tasks at once on {slots:.0} slots"
        ));
    } else {
        advice.push(
            "Ask for fewer executors if the run may take longer: they hold their cores whether tasks run or not"
                .to_owned(),
        );
    }
    advice
}
