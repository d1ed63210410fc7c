//! A host whose tasks take twice the stage's median, as first described; with what else could explain it.

use std::collections::BTreeMap;

use super::host_score::{self, HostScore};
use super::host_storage::{self, HostStorage};
use super::in_force::in_force;
use super::view::StageView;
use super::words::{count, duration, percent, ratio};
use super::{advice, on_stage, per_stage_many, skewed_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Subject, Verdict};
use crate::run::model::Locality;
use crate::run::stats::{is_warm_up, median, pick};
use crate::run::{Rows, Run};

declare_rule! {
    /// A host holds a fifth of a stage's tasks and they take twice the median on average.
    ///
    /// ## Why
    /// A slow machine drags out every stage, since a stage ends with its slowest task. The rule compares the mean of a
    /// host's tasks with the median of all tasks of the stage.
    ///
    /// A mean is easily bent, so what could explain it otherwise is computed and named: one task alone, several hosts at
    /// once, more data, locality, garbage collection, a host that is a Kubernetes pod, start-up of executors. A hit with
    /// such an explanation is a hint, is never shown on a line of code, and never says that a machine is bad.
    ///
    /// Two numbers stand beside a hit as experimental hints and make none: a score of the host over several signals, and how
    /// full its storage memory was against the median host. Spark logs the latter with
    /// `spark.eventLog.logStageExecutorMetrics=true` only.
    ///
    /// ## Silent when
    /// The stage has fewer than 15 tasks or 3 hosts. With 6 equal hosts or more an even share is below a fifth: the rule
    /// then says that its gate cannot be met, not that there is no slow host; see `slow-host-median`.
    ///
    /// ## Example
    /// ```text
    /// worker-3 took 4.1 s a task, 2.4 x the stage's median of 1.7 s, and holds 25 % of its tasks
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.speculation  true
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#scheduling>
    pub SLOW_HOST = {
        name: "slow-host", group: Run, severity: Warning, confidence: Validated,
        since: "0.1.0",
        options: [
            ("min-tasks", 15.0, "tasks that the stage must have"),
            ("min-hosts", 3.0, "hosts that the stage must have run on"),
            ("ratio", 2.0, "mean duration of the host's tasks over the median of the stage"),
            ("share", 0.2, "share of the stage's tasks that the host must hold"),
        ],
        check: Run(check),
    }
}

/// A host for which the formula holds.
#[derive(Debug, Clone, PartialEq)]
struct Hit {
    host: u16,
    rows: Rows,
    mean_ms: f64,
    median_ms: f64,
    share: f64,
}

/// What is experimental about a host of a stage.
struct Hints<'a> {
    score: Option<&'a HostScore>,
    storage: Option<&'a HostStorage>,
}

/// The formula on some rows of a stage; `None` where it does not apply.
fn hits(context: &RunContext<'_>, view: &StageView<'_>, rows: &Rows, median_ms: f64) -> Option<Vec<Hit>> {
    let option = |name| context.rules.option(&SLOW_HOST, name);
    let tasks = view.tasks();
    // Tasks and their time: most stages have no hit, for which alone the rows are gathered.
    let mut hosts: BTreeMap<u16, (usize, u64)> = BTreeMap::new();
    for row in rows.iter() {
        let (count, total) = hosts.entry(tasks.host_of(row)).or_default();
        (*count, *total) = (*count + 1, *total + tasks.duration.get(row));
    }
    if (rows.len() as f64) < option("min-tasks") || (hosts.len() as f64) < option("min-hosts") || median_ms <= 0.0 {
        return None;
    }
    let hit = |(host, (count, total)): (u16, (usize, u64))| {
        let share = count as f64 / rows.len() as f64;
        let slow = total as f64 >= option("ratio") * median_ms * count as f64;
        let on_host = || rows.iter().filter(|&row| tasks.host_of(row) == host).collect();
        (slow && share >= option("share")).then(|| Hit {
            host,
            rows: on_host(),
            mean_ms: total as f64 / count as f64,
            median_ms,
            share,
        })
    };
    Some(hosts.into_iter().filter_map(hit).collect())
}

/// Whether the rule fires on a stage; `slow-stage` is then suppressed.
pub(super) fn fires(context: &RunContext<'_>, view: &StageView<'_>) -> bool {
    view.unjudged(&context.floors).is_none()
        && hits(context, view, &view.rows, view.median_ms()).is_some_and(|hits| !hits.is_empty())
}

/// Why the rule cannot be applied, or cannot be met, on a stage.
fn out_of_reach(context: &RunContext<'_>, view: &StageView<'_>) -> Option<State> {
    let hosts = view.hosts();
    if (view.count() as f64) < context.option("min-tasks") {
        return Some(State::NotApplicable(format!("fewer than {} tasks", context.option("min-tasks"))));
    }
    if (hosts.len() as f64) < context.option("min-hosts") {
        return Some(State::NotApplicable(format!("fewer than {} hosts", context.option("min-hosts"))));
    }
    let even = 1.0 / hosts.len() as f64;
    let largest = hosts.values().max().copied().unwrap_or(0) as f64 / view.count() as f64;
    let share = context.option("share");
    (even < share && largest < share).then(|| {
        State::NotApplicable(format!("share gate cannot be met: {} hosts, even share {}", hosts.len(), percent(even)))
    })
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage_many(context, |view| {
        if let Some(state) = view.unjudged(&context.floors).or_else(|| out_of_reach(context, view)) {
            return Err(state);
        }
        let hits = hits(context, view, &view.rows, view.median_ms())
            .ok_or_else(|| State::NotApplicable("the median duration is 0 ms".to_owned()))?;
        if hits.is_empty() {
            return Err(State::NotFired);
        }
        let (scores, storage) = (host_score::scores(view), host_storage::storage(view));
        let hints = |hit: &Hit| Hints { score: scores.get(&hit.host), storage: storage.get(&hit.host) };
        Ok(hits.iter().map(|hit| describe(context, view, hit, hits.len(), hints(hit))).collect())
    })
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, hit: &Hit, fired: usize, hints: Hints<'_>) -> Verdict {
    let tasks = view.tasks();
    let host = context.run.hosts.get(usize::from(hit.host)).cloned().unwrap_or_else(|| "unknown host".to_owned());
    let times = hit.mean_ms / hit.median_ms;
    let saved = view.saved_seconds(|row| {
        let duration = tasks.duration.get(row) as f64;
        if tasks.host_of(row) == hit.host { duration / times } else { duration }
    });
    let mut verdict = on_stage(context, view, Some(saved));
    verdict.subject = Subject::Host(host.clone());
    verdict.confounders = confounders(context, view, hit, fired);
    if !verdict.confounders.is_empty() {
        verdict.severity = Severity::Hint;
        verdict.paintable = false;
    }
    verdict.message = format!(
        "{host} took {} a task on average, {} the stage's median of {}, and holds {} of its {}",
        duration(hit.mean_ms),
        ratio(times),
        duration(hit.median_ms),
        percent(hit.share),
        count(view.count() as u64, "task"),
    );
    verdict.short = format!("{host} {} median", ratio(times));
    verdict.prove(
        "mean of the host's tasks over the stage's median",
        format!("{} ({} / {})", ratio(times), duration(hit.mean_ms), duration(hit.median_ms)),
        Some(format!(">= {}", ratio(context.option("ratio")))),
        None,
    );
    verdict.prove(
        "share of the stage's tasks",
        percent(hit.share),
        Some(format!(">= {}", percent(context.option("share")))),
        None,
    );
    if let Some(score) = hints.score {
        verdict.prove(
            "score against the median host (experimental)",
            format!("{} over {}", ratio(score.score), score.signals.join(", ")),
            None,
            None,
        );
    }
    if let Some(storage) = hints.storage {
        verdict.prove(
            "peak storage memory against the median host (experimental)",
            format!("{} ({})", ratio(storage.times()), storage.words()),
            None,
            None,
        );
    }
    if verdict.confounders.is_empty() {
        verdict.advice = advice::for_slow_tasks(context.run, view);
        verdict.advice.push(format!("Exclude {host} if its tasks also fail: spark.excludeOnFailure.enabled"));
    } else {
        verdict.advice = vec!["Look at what the host was running before calling the machine slow".to_owned()];
        if holds_locality(view, hit) {
            verdict.advice.extend(wait_less(context.run));
        }
    }
    verdict
}

/// For tasks that wait for the host of their data; nothing where they do not wait.
fn wait_less(run: &Run) -> Option<String> {
    let now = in_force(run, None, "spark.locality.wait")?;
    (now.milliseconds()? > 0.0).then(|| {
        format!(
            "Lower spark.locality.wait (now {}, {}), so that tasks go to another host sooner",
            now.value, now.origin
        )
    })
}

/// What could explain a hit otherwise.
fn confounders(context: &RunContext<'_>, view: &StageView<'_>, hit: &Hit, fired: usize) -> Vec<String> {
    let tasks = view.tasks();
    let mut found = Vec::new();
    if one_task_explains(context, view, hit) {
        let skewed = if skewed_stage::is_skewed(context, view) { ": see skewed-stage first" } else { "" };
        found.push(format!("one task explains it{skewed}"));
    }
    if fired >= 2 {
        found.push(format!("{fired} hosts fire: a spread, not a host"));
    }
    let read_here = median(&pick(&tasks.read_bytes, &hit.rows)).unwrap_or(0.0);
    let read_all = median(&pick(&tasks.read_bytes, &view.rows)).unwrap_or(0.0);
    if view.measured() && read_here > 0.0 && read_here >= 1.5 * read_all {
        found.push("its tasks read more: more data, not a slow machine".to_owned());
    }
    if holds_locality(view, hit) {
        found.push("it holds the data of its tasks (locality)".to_owned());
    } else if hit.share >= 0.5 {
        found.push(format!("the stage is pinned to it: it holds {} of the tasks", percent(hit.share)));
    }
    let (gc_here, gc_others) = gc_shares(view, hit);
    if gc_here > 0.0 && gc_here >= 2.0 * gc_others {
        found.push(format!("garbage collection: {} of its time, {} elsewhere", percent(gc_here), percent(gc_others)));
    }
    let on_kubernetes = context.run.conf.get("spark.master").is_some_and(|master| master.starts_with("k8s"));
    if on_kubernetes {
        found.push("on Kubernetes the host is a pod".to_owned());
    }
    let warm: Rows = view.rows.iter().filter(|&row| !is_warm_up(context.first_ends, tasks, row)).collect();
    let warm_ms = median(&pick(&tasks.duration, &warm)).unwrap_or(0.0);
    let fires_warm =
        hits(context, view, &warm, warm_ms).is_some_and(|hits| hits.iter().any(|warm| warm.host == hit.host));
    if warm.len() < view.count() && !fires_warm {
        found.push("start-up: without the first tasks of each executor it does not fire".to_owned());
    }
    found
}

fn one_task_explains(context: &RunContext<'_>, view: &StageView<'_>, hit: &Hit) -> bool {
    let mut durations = pick(&view.tasks().duration, &hit.rows);
    durations.sort_unstable();
    let Some((_, rest)) = durations.split_last() else { return false };
    let total: u64 = rest.iter().sum();
    rest.is_empty() || (total as f64) < context.option("ratio") * hit.median_ms * rest.len() as f64
}

/// Most of its tasks are local, and those of the others are not.
fn holds_locality(view: &StageView<'_>, hit: &Hit) -> bool {
    let tasks = view.tasks();
    let (mut here, mut others) = ((0, 0), (0, 0));
    for row in view.rows.iter() {
        let (count, local) = if tasks.host_of(row) == hit.host { &mut here } else { &mut others };
        *count += 1;
        *local += u32::from(matches!(tasks.flags[row].locality(), Locality::Process | Locality::Node));
    }
    let share = |(count, local): (u32, u32)| f64::from(local) / f64::from(count.max(1));
    share(here) >= 0.8 && share(others) <= 0.5
}

/// Share of run time in garbage collection, on the host and on the others.
fn gc_shares(view: &StageView<'_>, hit: &Hit) -> (f64, f64) {
    let tasks = view.tasks();
    let (mut here, mut others) = ((0.0, 0.0), (0.0, 0.0));
    for row in view.rows.iter() {
        let side = if tasks.host_of(row) == hit.host { &mut here } else { &mut others };
        side.0 += tasks.gc_time.get(row) as f64;
        side.1 += tasks.run_time.get(row) as f64;
    }
    (here.0 / here.1.max(1.0), others.0 / others.1.max(1.0))
}
