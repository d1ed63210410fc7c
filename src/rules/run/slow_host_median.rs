//! A host whose tasks take twice as long as those of the other hosts, by medians.

use std::cell::RefCell;

use super::view::StageView;
use super::words::{count, duration, percent, ranges, ratio};
use super::{advice, worth_painting};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Subject, Verdict};
use crate::run::model::StageKey;
use crate::run::stats::{by_host, is_warm_up, median, pick};
use crate::run::{Column, Rows};

declare_rule! {
    /// The median task of a host takes twice the median of the other hosts' tasks.
    ///
    /// ## Why
    /// The share of tasks says little about a slow host: while its tasks run, free slots elsewhere take the next ones.
    /// Medians, each host against the others and without start-up, find it anyway.
    ///
    /// Left out are tasks launched before their executor had ended its first task, and speculative copies. A host fires
    /// if its median is twice that of the others and 100 ms more, over at least 3 tasks, and neither the data it read
    /// nor garbage collection and deserialisation explain it. In one stage it is a hint; in two or more stages, or with
    /// 8 tasks or more, a warning.
    ///
    /// ## Silent when
    /// The stage has fewer than 15 tasks or 3 hosts, or is shorter than 0.5 % of the run; or the host read 1.5 times
    /// what the others read.
    ///
    /// ## Example
    /// ```text
    /// worker-3 took 3.5 x the time of the other hosts in 2 stages (9 tasks, 14 % of the stages' task time)
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.speculation  true
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#scheduling>
    pub SLOW_HOST_MEDIAN = {
        name: "slow-host-median", group: Run, severity: Warning, confidence: Experimental,
        since: "0.1.0",
        options: [
            ("min-tasks", 15.0, "tasks that the stage must have, start-up included"),
            ("min-hosts", 3.0, "hosts that the stage must have run on"),
            ("ratio", 2.0, "median on the host over the median on the others"),
            ("excess-ms", 100.0, "by at least so many milliseconds"),
            ("host-tasks", 3.0, "tasks on the host, and on the others together"),
            ("read-ratio", 1.5, "median of bytes or records read over that of the others that explains it"),
            ("warning-stages", 2.0, "stages in which the host is slow that make it a warning"),
            ("warning-tasks", 8.0, "tasks on the host that make it a warning"),
        ],
        check: Run(check),
    }
}

/// A host that is slow in one stage.
#[derive(Debug, Clone, PartialEq)]
struct Hit {
    host: u16,
    stage: StageKey,
    tasks: usize,
    median_ms: f64,
    others_ms: f64,
    /// Time of the host's tasks, and of all, in ms.
    time_ms: (f64, f64),
    impact_s: f64,
    /// What explains it.
    explained: Option<&'static str>,
}

/// All hits in a stage; `Err` says why it was not looked at.
fn hits(context: &RunContext<'_>, view: &StageView<'_>) -> Result<Vec<Hit>, State> {
    if let Some(state) = view.skipped(&context.floors) {
        return Err(state);
    }
    if (view.count() as f64) < context.option("min-tasks") {
        return Err(State::NotApplicable(format!("fewer than {} tasks", context.option("min-tasks"))));
    }
    if (view.hosts().len() as f64) < context.option("min-hosts") {
        return Err(State::NotApplicable(format!("fewer than {} hosts", context.option("min-hosts"))));
    }
    if !view.measured() {
        return Err(State::NotRecorded("Task Metrics".to_owned()));
    }
    let tasks = view.tasks();
    let kept = |&row: &usize| !tasks.flags[row].speculative() && !is_warm_up(context.first_ends, tasks, row);
    let rows: Rows = view.rows.iter().filter(kept).collect();
    let hosts = by_host(tasks, &rows);
    Ok(hosts.iter().filter_map(|(host, here)| hit(context, view, *host, here, &rows)).collect())
}

fn hit(context: &RunContext<'_>, view: &StageView<'_>, host: u16, here: &Rows, rows: &Rows) -> Option<Hit> {
    let tasks = view.tasks();
    let least = context.option("host-tasks");
    if (here.len() as f64) < least || ((rows.len() - here.len()) as f64) < least {
        return None;
    }
    let others = || rows.iter().filter(|&row| tasks.host_of(row) != host);
    let median_ms = median(&pick(&tasks.duration, here))?;
    let others_ms = median(&others().map(|row| tasks.duration.get(row)).collect::<Vec<_>>())?;
    if median_ms < context.option("ratio") * others_ms || median_ms - others_ms < context.option("excess-ms") {
        return None;
    }
    let time = |rows: &Rows| rows.iter().map(|row| tasks.duration.get(row) as f64).sum::<f64>();
    let times = median_ms / others_ms.max(1.0);
    let impact_s = view.saved_seconds(|row| {
        let duration = tasks.duration.get(row) as f64;
        if tasks.host_of(row) == host { duration / times } else { duration }
    });
    let explained = explanation(context, view, here, &others().collect());
    let time_ms = (time(here), time(rows));
    Some(Hit { host, stage: view.key, tasks: here.len(), median_ms, others_ms, time_ms, impact_s, explained })
}

/// What explains that a host is slow in a stage, other than the host.
fn explanation(context: &RunContext<'_>, view: &StageView<'_>, here: &Rows, others: &Rows) -> Option<&'static str> {
    let tasks = view.tasks();
    let more = |column: &Column| {
        let (here, others) = (median(&pick(column, here)), median(&pick(column, others)));
        here.zip(others).is_some_and(|(here, others)| here > 0.0 && here >= context.option("read-ratio") * others)
    };
    if more(&tasks.read_bytes) || more(&tasks.read_records) {
        return Some("more data on this host");
    }
    let rest = |rows: &Rows| {
        let overhead = |row: usize| tasks.gc_time.get(row).saturating_add(tasks.deserialize_time.get(row));
        let values: Vec<u64> = rows.iter().map(|row| tasks.duration.get(row).saturating_sub(overhead(row))).collect();
        median(&values).unwrap_or(0.0)
    };
    (rest(here) < context.option("ratio") * rest(others)).then_some("garbage collection or deserialisation")
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let found: RefCell<Vec<Hit>> = RefCell::default();
    let mut quiet = super::per_stage_many(context, |view| {
        let hits = hits(context, view)?;
        if hits.is_empty() {
            return Err(State::NotFired);
        }
        found.borrow_mut().extend(hits);
        Ok(Vec::new())
    });
    let found = found.into_inner();
    let mut hosts: Vec<u16> = found.iter().map(|hit| hit.host).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let mut verdicts = Vec::new();
    for host in hosts {
        let (explained, unexplained): (Vec<&Hit>, Vec<&Hit>) =
            found.iter().filter(|hit| hit.host == host).partition(|hit| hit.explained.is_some());
        if !unexplained.is_empty() {
            verdicts.push(describe(context, unexplained));
        }
        if !explained.is_empty() {
            quiet.push(explained_away(context, &explained));
        }
    }
    verdicts.append(&mut quiet);
    verdicts
}

fn name(context: &RunContext<'_>, host: u16) -> String {
    context.run.hosts.get(usize::from(host)).cloned().unwrap_or_else(|| "unknown host".to_owned())
}

/// A host that is slower, for a reason that is not the host.
fn explained_away(context: &RunContext<'_>, hits: &[&Hit]) -> Verdict {
    let mut verdict = Verdict::quiet(context.rule, State::NotFired, hits.iter().map(|hit| hit.stage).collect());
    if let Some(first) = hits.first() {
        let host = name(context, first.host);
        verdict.message = format!("{host} was slower, but not as a host: {}", first.explained.unwrap_or_default());
        verdict.subject = Subject::Host(host);
    }
    verdict.confounders = hits.iter().filter_map(|hit| hit.explained).map(str::to_owned).collect();
    verdict.confounders.dedup();
    verdict
}

fn describe(context: &RunContext<'_>, mut hits: Vec<&Hit>) -> Verdict {
    hits.sort_by(|a, b| b.impact_s.total_cmp(&a.impact_s));
    let stages: Vec<StageKey> = hits.iter().map(|hit| hit.stage).collect();
    let tasks: usize = hits.iter().map(|hit| hit.tasks).sum();
    let (here, all) = hits.iter().fold((0.0, 0.0), |sum, hit| (sum.0 + hit.time_ms.0, sum.1 + hit.time_ms.1));
    let least = hits.iter().map(|hit| hit.median_ms / hit.others_ms.max(1.0)).fold(f64::INFINITY, f64::min);
    let host = hits.first().map_or_else(String::new, |hit| name(context, hit.host));
    let mut verdict = Verdict::fired(context.rule, Subject::Host(host.clone()), stages.clone());
    let impact_s: f64 = hits.iter().map(|hit| hit.impact_s).sum();
    verdict.impact_s = Some(impact_s);
    verdict.paintable = worth_painting(context, Some(impact_s));
    let enough_stages = hits.len() as f64 >= context.option("warning-stages");
    if !(enough_stages || tasks as f64 >= context.option("warning-tasks")) {
        verdict.severity = Severity::Hint;
    }
    let ids: Vec<u32> = stages.iter().map(|key| key.stage).collect();
    verdict.message = format!(
        "{host} took {}{} the time of the other hosts in {} ({}, {} of the task time there)",
        if hits.len() > 1 { "at least " } else { "" },
        ratio(least),
        if ids.len() > 1 { format!("stages {}", ranges(&ids)) } else { format!("stage {}", ranges(&ids)) },
        count(tasks as u64, "task"),
        percent(here / all.max(1.0)),
    );
    verdict.short = format!("{host} {} the other hosts", ratio(least));
    for hit in &hits {
        verdict.prove(
            format!("stage {}: median on the host over the others", hit.stage.stage),
            format!(
                "{} ({} / {}, {})",
                ratio(hit.median_ms / hit.others_ms.max(1.0)),
                duration(hit.median_ms),
                duration(hit.others_ms),
                count(hit.tasks as u64, "task")
            ),
            Some(format!(">= {} and {} more", ratio(context.option("ratio")), duration(context.option("excess-ms")))),
            context.run.application.id.clone(),
        );
    }
    verdict.prove(
        "stages and tasks",
        format!("{} and {}", count(hits.len() as u64, "stage"), count(tasks as u64, "task")),
        Some(format!(
            "warning from {} stages or {} tasks",
            context.option("warning-stages"),
            context.option("warning-tasks")
        )),
        None,
    );
    if let Some(view) = hits.first().and_then(|hit| context.stages.iter().find(|view| view.key == hit.stage)) {
        verdict.advice = advice::for_slow_tasks(context.run, view);
    }
    verdict.advice.push(format!("Look at {host} itself: disk, CPU frequency, a neighbour on the same machine"));
    verdict
}
