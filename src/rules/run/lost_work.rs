//! Work that was done and thrown away.

use rustc_hash::FxHashSet;

use super::words::{count, duration, percent};
use super::worth_painting;
use crate::declare_rule;
use crate::rules::{RunContext, State, Subject, Verdict};
use crate::run::Run;
use crate::run::model::{Outcome, Stage, StageKey};
use crate::run::slots::{stage_slots, stage_wall};
use crate::run::stats::{LostTime, lost_time, population};

declare_rule! {
    /// Tasks failed, were killed or ran again: time that brought no result.
    ///
    /// ## Why
    /// A job that ends well may have worked for nothing on the way: failed attempts are repeated, a lost executor takes its
    /// shuffle files along, and the stages that made them run again. The log keeps each attempt with what it said.
    ///
    /// Counted are failed tasks, killed ones and tasks of partitions that had succeeded before; the losers of speculation
    /// are not. What it costs is the time of the repeated stage attempts, and of other lost tasks spread over the stage's
    /// slots.
    ///
    /// ## Silent when
    /// Less than 5 % of all task time was lost, and no fetch failure or repeated stage cost 30 s.
    ///
    /// ## Example
    /// ```text
    /// 48.2 s of task time was lost, 31 % of all: 2 tasks failed, 1 stage ran again; FetchFailed: ...
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.decommission.enabled  true
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/job-scheduling.html>
    pub LOST_WORK = {
        name: "lost-work", group: Run, severity: Warning, confidence: Measured,
        since: "0.1.0",
        options: [
            ("share", 0.05, "share of all task time that was lost, at least"),
            ("retry-seconds", 30.0, "or seconds that a fetch failure or a repeated stage cost, at least"),
        ],
        check: Run(check),
    }
}

/// What one stage attempt lost.
struct Loss {
    key: StageKey,
    /// Tasks that failed, and their time in ms; fetch failures are in both.
    failed: (u64, u64),
    /// Tasks that were killed, but for the losers of speculation, in ms.
    killed_ms: u64,
    /// Tasks of partitions that had succeeded before, in ms.
    repeated_ms: u64,
    /// This attempt only exists because another one lost its results, or it met lost blocks itself: what that cost, in ms.
    retry_ms: u64,
    impact_ms: f64,
}

impl Loss {
    fn total_ms(&self) -> u64 {
        self.failed.1 + self.killed_ms + self.repeated_ms
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let run = context.run;
    let all_ms: u64 = run.stages.values().flat_map(|stage| stage.tasks.duration.iter()).sum();
    if run.stages.values().all(|stage| stage.tasks.is_empty()) {
        let why = State::NotApplicable("no task ended in the log".to_owned());
        return vec![Verdict::quiet(context.rule, why, run.stages.keys().copied().collect())];
    }
    let mut losses = losses(context);
    let lost_ms: u64 = losses.iter().map(Loss::total_ms).sum();
    let retry_ms: u64 = losses.iter().map(|loss| loss.retry_ms).sum();
    let much = lost_ms > 0 && lost_ms as f64 >= context.option("share") * all_ms as f64;
    let long = retry_ms > 0 && retry_ms as f64 >= context.option("retry-seconds") * 1000.0;
    if !(much || long) {
        return vec![Verdict::quiet(context.rule, State::NotFired, run.stages.keys().copied().collect())];
    }
    losses.retain(|loss| loss.total_ms() > 0 || loss.retry_ms > 0);
    losses.sort_by(|a, b| b.impact_ms.total_cmp(&a.impact_ms));
    vec![describe(context, &losses, lost_ms, all_ms, retry_ms)]
}

/// What each stage attempt lost, in the order of the attempts.
fn losses(context: &RunContext<'_>) -> Vec<Loss> {
    let run = context.run;
    let mut views = context.stages.iter().peekable();
    let mut before = FxHashSet::default();
    let mut stages = run.stages.iter().peekable();
    let mut losses = Vec::with_capacity(run.stages.len());
    while let Some((&key, stage)) = stages.next() {
        // Both are in the order of stages and attempts.
        let lost = match views.next_if(|view| view.key == key) {
            Some(view) => lost_time(&stage.tasks, &view.rows),
            None => lost_time(&stage.tasks, &population(&stage.tasks)),
        };
        losses.push(loss(run, key, stage, lost, &before));
        if stages.peek().is_some_and(|(next, _)| next.stage == key.stage) {
            let succeeded = (0..stage.tasks.len()).filter(|&row| stage.tasks.flags[row].outcome() == Outcome::Success);
            before.extend(succeeded.map(|row| stage.tasks.index.get(row)));
        } else {
            before.clear();
        }
    }
    losses
}

fn loss(run: &Run, key: StageKey, stage: &Stage, lost: LostTime, before: &FxHashSet<u64>) -> Loss {
    let tasks = &stage.tasks;
    let rows = |outcome: Outcome| (0..tasks.len()).filter(move |&row| tasks.flags[row].outcome() == outcome);
    let again_ms: u64 = rows(Outcome::Success)
        .filter(|&row| before.contains(&tasks.index.get(row)))
        .map(|row| tasks.duration.get(row))
        .sum();
    let fetch_ms: u64 = rows(Outcome::FetchFailed).map(|row| tasks.duration.get(row)).sum();
    let failed = rows(Outcome::Failed).count() + rows(Outcome::FetchFailed).count();
    // A later attempt runs because results of an earlier one were lost, or because it could not finish.
    let retried_ms = if key.attempt > 0 { stage_wall(run, stage).unwrap_or(0) } else { 0 };
    let lost_ms = lost.total() + again_ms;
    let spread_ms = if lost_ms > 0 { lost_ms as f64 / stage_slots(run, key) as f64 } else { 0.0 };
    Loss {
        key,
        failed: (failed as u64, lost.failed),
        killed_ms: lost.killed,
        repeated_ms: lost.repeated + again_ms,
        retry_ms: retried_ms + fetch_ms,
        impact_ms: spread_ms.max(retried_ms as f64),
    }
}

fn describe(context: &RunContext<'_>, losses: &[Loss], lost_ms: u64, all_ms: u64, retry_ms: u64) -> Verdict {
    let run = context.run;
    let keys: Vec<StageKey> = losses.iter().map(|loss| loss.key).collect();
    let subject = keys.first().map_or(Subject::Run, |&key| Subject::Stage(key));
    let mut verdict = Verdict::fired(context.rule, subject, keys);
    let impact_s = losses.iter().map(|loss| loss.impact_ms).sum::<f64>() / 1000.0;
    verdict.impact_s = Some(impact_s);
    verdict.paintable = worth_painting(context, Some(impact_s));
    let share = percent(lost_ms as f64 / all_ms.max(1) as f64);
    let failed: u64 = losses.iter().map(|loss| loss.failed.0).sum();
    let again = losses.iter().filter(|loss| loss.key.attempt > 0).count() as u64;
    let mut what = Vec::new();
    if failed > 0 {
        what.push(format!("{} failed", count(failed, "task")));
    }
    if again > 0 {
        what.push(format!("{} ran again", count(again, "stage")));
    }
    let killed_ms: u64 = losses.iter().map(|loss| loss.killed_ms).sum();
    if killed_ms > 0 {
        what.push(format!("{} in killed tasks", duration(killed_ms as f64)));
    }
    let errors = errors(run, losses);
    let said = errors.first().map(|error| format!("; {}", error.text())).unwrap_or_default();
    let what = if what.is_empty() { "tasks ran again".to_owned() } else { what.join(", ") };
    verdict.message = format!("{} of task time was lost, {share} of all: {what}{said}", duration(lost_ms as f64));
    verdict.short = format!("{} lost", duration(lost_ms as f64));
    verdict.prove(
        "lost over all task time",
        format!("{share} ({} / {})", duration(lost_ms as f64), duration(all_ms as f64)),
        Some(format!(">= {}", percent(context.option("share")))),
        run.application.id.clone(),
    );
    verdict.prove(
        "fetch failures and repeated stages",
        duration(retry_ms as f64),
        Some(format!("or >= {}", duration(context.option("retry-seconds") * 1000.0))),
        None,
    );
    for error in &errors {
        verdict.prove("error", error.text(), None, Some(format!("stage {}", error.stage)));
    }
    verdict.advice = advise(context, &errors);
    verdict
}

/// An error that ended tasks of a stage.
struct Error<'a> {
    stage: u32,
    class: &'a str,
    message: &'a str,
    tasks: u32,
}

impl Error<'_> {
    /// `ValueError: the service refused, 2 tasks`; the class without its package, unless the message tells it.
    fn text(&self) -> String {
        let class = self.class.rsplit('.').next().unwrap_or(self.class);
        let message: String = self.message.chars().take(160).collect();
        let tasks = count(u64::from(self.tasks), "task");
        match class {
            "PythonException" if !message.is_empty() => format!("{message} ({tasks})"),
            _ if message.is_empty() || message == class => format!("{class} ({tasks})"),
            _ => format!("{class}: {message} ({tasks})"),
        }
    }
}

/// The errors of the stages that lost work, those of most tasks first.
fn errors<'a>(run: &'a Run, losses: &[Loss]) -> Vec<Error<'a>> {
    let stages = losses.iter().filter_map(|loss| Some((loss.key.stage, run.stages.get(&loss.key)?)));
    let mut errors: Vec<Error<'a>> = stages
        .flat_map(|(stage, measured)| {
            let error = move |failure: &'a crate::run::model::TaskFailure| Error {
                stage,
                class: &failure.class,
                message: &failure.message,
                tasks: failure.tasks,
            };
            measured.failures.iter().map(error)
        })
        .collect();
    errors.sort_by_key(|error| std::cmp::Reverse(error.tasks));
    errors.truncate(Stage::MAX_FAILURES);
    errors
}

fn advise(context: &RunContext<'_>, errors: &[Error<'_>]) -> Vec<String> {
    let has = |class: &str| errors.iter().any(|error| error.class.contains(class));
    let removed: Vec<&str> = context.run.executors.iter().filter_map(|one| one.removed_reason.as_deref()).collect();
    let mut advice = Vec::new();
    if has("FetchFailed") || has("ExecutorLost") {
        match removed.first() {
            Some(reason) => advice.push(format!(
                "Find out why executors were lost: their shuffle files went with them (the log says: {})",
                reason.lines().next().unwrap_or_default().chars().take(160).collect::<String>()
            )),
            None => advice.push(
                "Look at the disks of the executors: shuffle files could not be read, and the log has no lost executor"
                    .to_owned(),
            ),
        }
        let on = |key| super::in_force::in_force(context.run, None, key).and_then(|now| now.boolean()) == Some(true);
        if !removed.is_empty()
            && on("spark.dynamicAllocation.enabled")
            && !on("spark.shuffle.service.enabled")
            && !on("spark.decommission.enabled")
        {
            advice.push("Set spark.decommission.enabled=true with spark.storage.decommission.enabled=true: executors hand their shuffle files on before they go".to_owned());
        }
    }
    let of_code = |error: &&Error<'_>| {
        !["FetchFailed", "ExecutorLost", "TaskKilled", "Resubmitted"].iter().any(|one| error.class.contains(one))
    };
    if let Some(error) = errors.iter().find(of_code) {
        advice.push(format!(
            "Fix what failed in stage {}, or catch it in the function: a repeated task costs its whole time again",
            error.stage
        ));
    }
    if advice.is_empty() {
        advice.push("Look in the stage page at why tasks were killed or ran again".to_owned());
    }
    advice
}
