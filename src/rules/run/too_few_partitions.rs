//! Fewer tasks than the cores could work on.

use super::evidence::PLAN;
use super::skewed_stage::{SKEWED_STAGE, is_skewed};
use super::stage_plan::{StagePlan, UserPartitions};
use super::view::StageView;
use super::words::{bytes, count, duration, percent};
use super::{advice, on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Verdict};

declare_rule! {
    /// A stage has fewer tasks than its cores could work on, and it takes time.
    ///
    /// ## Why
    /// Spark runs one task for each partition. With fewer than two or three tasks a core, cores wait for the last tasks;
    /// with fewer tasks than cores some never work at all. More hardware does not help, more partitions do. A
    /// `coalesce(1)` before a write makes everything before it in the stage run in one task.
    ///
    /// ## Silent when
    /// - the stage takes less than 10 s for each core, or its tasks are small and its cores busy,
    /// - it is a limit, a head or a global aggregate, which are one task by their nature,
    /// - it is skewed: then the hot task is the cause, not the number,
    /// - the cores of its executors are not in the log.
    ///
    /// ## Example
    /// ```text
    /// 1 task for 16 cores: 412.0 s of work, coalesce(1) fixes the number
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// df.repartition(1).write.csv(path)   # the work before it stays parallel
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/tuning.html#level-of-parallelism>
    pub TOO_FEW_PARTITIONS = {
        name: "too-few-partitions", group: Run, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [
            ("tasks-per-core", 2.0, "fewer tasks than this for each core"),
            ("seconds-per-core", 10.0, "task time for each core, in seconds, at least"),
            ("read-mib", 200.0, "and a median read above this (MiB)"),
            ("idle-share", 0.3, "or so much of the cores' time idle"),
            ("strong-seconds", 60.0, "with fewer tasks than cores: task time in seconds, at least"),
            ("one-task-seconds", 30.0, "with exactly one task: its time in seconds, at least"),
        ],
        check: Run(check),
    }
}

/// Which of the three forms of the formula holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Few,
    FewerThanCores,
    One,
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        if let Some(state) = view.skipped(&context.floors) {
            return Err(state);
        }
        let cores =
            view.cores.ok_or_else(|| State::NotApplicable("the cores of its executors are not known".to_owned()))?;
        let plan = view.plan();
        if plan.untold {
            return Err(State::NotRecorded(PLAN.to_owned()));
        }
        if plan.single_by_nature() {
            return Err(State::NotApplicable("a limit, a head or a global aggregate".to_owned()));
        }
        if is_skewed(context, view) {
            return Err(State::NotApplicable(format!("{} fires on it", SKEWED_STAGE.name)));
        }
        let form = form(context, view, cores).ok_or(State::NotFired)?;
        Ok(describe(context, view, plan, cores, form))
    })
}

/// Share of the cores' time in which no task ran.
fn idle_share(view: &StageView<'_>, cores: f64) -> f64 {
    (1.0 - view.task_ms() / (cores * view.wall_ms).max(1.0)).max(0.0)
}

fn form(context: &RunContext<'_>, view: &StageView<'_>, cores: f64) -> Option<Form> {
    let option = |name| context.option(name);
    let (tasks, task_ms) = (view.count() as f64, view.task_ms());
    if view.count() == 1 && cores > 1.0 && task_ms >= option("one-task-seconds") * 1000.0 {
        return Some(Form::One);
    }
    if tasks < cores && task_ms >= option("strong-seconds") * 1000.0 {
        return Some(Form::FewerThanCores);
    }
    let large =
        view.median_of(&view.tasks().read_bytes).is_some_and(|read| read > option("read-mib") * 1024.0 * 1024.0);
    let few = tasks < option("tasks-per-core") * cores && task_ms / cores >= option("seconds-per-core") * 1000.0;
    (few && (large || idle_share(view, cores) >= option("idle-share"))).then_some(Form::Few)
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, plan: &StagePlan<'_>, cores: f64, form: Form) -> Verdict {
    let saved = ((view.wall_ms - view.task_ms() / cores) / 1000.0).max(0.0);
    let mut verdict = on_stage(context, view, Some(saved));
    if form == Form::Few && !verdict.paintable {
        verdict.severity = Severity::Information;
    }
    let user = plan.user_partitions();
    let cause = match user {
        Some(user) => format!(", {user} fixes the number"),
        None if plan.coalesced_by_aqe() => match plan.partitions_before_aqe() {
            Some(before) => format!(", merged by AQE from {before}"),
            None => ", merged by AQE".to_owned(),
        },
        None => String::new(),
    };
    let tasks = count(view.count() as u64, "task");
    verdict.message = format!(
        "{tasks} for {cores:.0} cores: {} of work in {}, {} of the cores' time idle{cause}",
        duration(view.task_ms()),
        duration(view.wall_ms),
        percent(idle_share(view, cores)),
    );
    verdict.short = match user {
        Some(user @ (UserPartitions::Coalesce(_) | UserPartitions::Repartition(_))) => format!("{tasks} · {user}"),
        None => format!("{tasks} for {cores:.0} cores"),
    };
    verdict.prove(
        "tasks",
        format!("{} ({cores:.1} cores)", view.count()),
        Some(match form {
            Form::Few => format!("< {} a core", context.option("tasks-per-core")),
            Form::FewerThanCores => "< cores".to_owned(),
            Form::One => "exactly one".to_owned(),
        }),
        None,
    );
    verdict.prove(
        "task time",
        format!("{} ({} a core)", duration(view.task_ms()), duration(view.task_ms() / cores)),
        Some(match form {
            Form::Few => format!(">= {} a core", duration(context.option("seconds-per-core") * 1000.0)),
            Form::FewerThanCores => format!(">= {}", duration(context.option("strong-seconds") * 1000.0)),
            Form::One => format!(">= {}", duration(context.option("one-task-seconds") * 1000.0)),
        }),
        None,
    );
    verdict.prove(
        "idle",
        percent(idle_share(view, cores)),
        (form == Form::Few).then(|| {
            let read = bytes(context.option("read-mib") * 1024.0 * 1024.0);
            format!(">= {} (or a median read > {read})", percent(context.option("idle-share")))
        }),
        None,
    );
    verdict.advice = advice::for_partitions(context.run, plan, true);
    verdict.advice.push("More cores will not help: there are no tasks for them".to_owned());
    verdict
}
