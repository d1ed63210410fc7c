//! What a hover says of a measured stage.

use super::aqe_skew_gates::{Outcome, gates};
use super::stage_plan::StagePlan;
use super::view::{self, StageView};
use super::words::{bytes, count, duration, percent, ratio, sparkline};
use super::{host_score, host_storage};
use crate::run::model::StageKey;
use crate::run::stats::{Distribution, median, pick};
use crate::run::{Rows, Run};

/// Hosts that the hover names before it only counts them.
const NAMED_HOSTS: usize = 6;

/// A stage in Markdown: tasks, hosts, share of the run, durations and reads, the gates of AQE, and what the hosts took.
/// Empty for a stage that the run doesn't have.
pub fn stage_details(run: &Run, stage: StageKey) -> String {
    let Some(view) = StageView::new(run, stage) else { return String::new() };
    let mut lines = vec![title(&view), String::new(), "```text".to_owned()];
    let all = view.durations();
    match Distribution::of(&all) {
        Some(spread) => {
            lines.push(format!("{}    {}", durations(&spread), sparkline(&all, 24)));
            lines.extend(reads(&view));
            lines.extend(gates_line(&view));
            lines.extend(hosts(&view));
        }
        None => lines.push("no task of it succeeded in the log".to_owned()),
    }
    lines.push("```".to_owned());
    let hosts = not_a_slow_host(&view).or_else(|| odd_host(&view));
    let hosts = hosts.into_iter().chain(full_host(&view));
    lines.extend(hosts.flat_map(|sentence| [String::new(), sentence]));
    lines.join("\n")
}

/// What a stage is for: `join`, `aggregate`, `window`, `sort`, `write`, `scan`, or `stage` where the log doesn't tell.
pub fn stage_noun(run: &Run, key: StageKey) -> &'static str {
    StagePlan::of(run, key, view::execution_of(run, key)).operator().noun()
}

/// `**Stage 12** · 200 tasks on 4 hosts · 48.0 s of the run's 61.0 s (79 %)`.
fn title(view: &StageView<'_>) -> String {
    let attempt = if view.key.attempt > 0 { format!(" attempt {}", view.key.attempt) } else { String::new() };
    let seen = if view.count() as u32 == view.stage.task_count {
        count(view.count() as u64, "task")
    } else {
        format!("{} of {}", view.count(), count(u64::from(view.stage.task_count), "task"))
    };
    format!(
        "**Stage {}{attempt}** · {seen} on {} · {} of the run's {} ({})",
        view.key.stage,
        count(view.hosts().len() as u64, "host"),
        duration(view.wall_ms),
        duration(view.run_ms),
        percent(view.wall_ms / view.run_ms),
    )
}

fn durations(spread: &Distribution) -> String {
    format!(
        "duration   min {}  median {}  p75 {}  p95 {}  max {}",
        duration(spread.min as f64),
        duration(spread.median),
        duration(spread.p75 as f64),
        duration(spread.p95 as f64),
        duration(spread.max as f64)
    )
}

fn reads(view: &StageView<'_>) -> Vec<String> {
    let tasks = view.tasks();
    let Some(spread) = view.distribution(&tasks.read_bytes) else {
        return vec!["read       not recorded".to_owned()];
    };
    let mut lines = Vec::new();
    if spread.max > 0 {
        lines.push(format!(
            "read       min {}  median {}  p75 {}  p95 {}  max {}",
            bytes(spread.min as f64),
            bytes(spread.median),
            bytes(spread.p75 as f64),
            bytes(spread.p95 as f64),
            bytes(spread.max as f64)
        ));
    }
    let spilled = view.sum(&tasks.spill_disk).unwrap_or(0.0);
    if spilled > 0.0 {
        lines.push(format!("spill      {} to disk", bytes(spilled)));
    }
    lines
}

fn gates_line(view: &StageView<'_>) -> Option<String> {
    let plan = view.plan();
    let gates = gates(view, plan)?;
    let mark = |passes: bool| if passes { "✓" } else { "✗" };
    let verdict = match &gates.outcome {
        Outcome::Split => "split".to_owned(),
        Outcome::NotAJoin(_) => return None,
        Outcome::Off(key) => format!("not split: {key} is false"),
        Outcome::Forbidden(kind) => format!("not split: {kind} join"),
        _ => "not split".to_owned(),
    };
    Some(format!(
        "AQE gates  {} median > {} {}    {} > {} {}    → {verdict}",
        ratio(gates.ratio()),
        gates.factor_text(),
        mark(gates.ratio_passes),
        bytes(gates.largest),
        gates.threshold_text(),
        mark(gates.size_passes),
    ))
}

/// The median of each host; the one with the longest task is marked.
fn hosts(view: &StageView<'_>) -> Option<String> {
    let hosts = view.by_host();
    if hosts.len() < 2 {
        return None;
    }
    let longest = view.slowest().map(|row| view.tasks().host_of(row));
    let text = |(host, rows): (&u16, &Rows)| {
        let name = view.run.hosts.get(usize::from(*host)).map_or("unknown host", String::as_str);
        let median = median(&pick(&view.tasks().duration, rows)).unwrap_or(0.0);
        let mark = if Some(*host) == longest { " (holds the longest task)" } else { "" };
        format!("{name} {}{mark}", duration(median))
    };
    let mut named: Vec<String> = hosts.iter().map(text).collect();
    named.sort_unstable();
    named.truncate(NAMED_HOSTS);
    if hosts.len() > NAMED_HOSTS {
        named.push(format!("{} more", hosts.len() - NAMED_HOSTS));
    }
    Some(format!("hosts      {}", named.join(" · ")))
}

/// The host that stands out over several signals at once.
fn odd_host(view: &StageView<'_>) -> Option<String> {
    const WORTH_A_WORD: f64 = 2.0;
    let scores = host_score::scores(view);
    let (host, worst) = scores.iter().max_by(|(_, a), (_, b)| a.score.total_cmp(&b.score))?;
    let name = view.run.hosts.get(usize::from(*host))?;
    (worst.score >= WORTH_A_WORD).then(|| {
        format!("Experimental: {name} is {} the median host over {}.", ratio(worst.score), worst.signals.join(", "))
    })
}

/// The host whose storage memory was much fuller than that of the others.
fn full_host(view: &StageView<'_>) -> Option<String> {
    const WORTH_A_WORD: f64 = 2.0;
    const LEAST_SHARE: f64 = 0.1;
    let hosts = host_storage::storage(view);
    let (host, fullest) = hosts.iter().max_by(|(_, a), (_, b)| a.times().total_cmp(&b.times()))?;
    let name = view.run.hosts.get(usize::from(*host))?;
    (fullest.times() >= WORTH_A_WORD && fullest.share() >= LEAST_SHARE).then(|| {
        format!(
            "Experimental: {name} used {} the storage memory of the median host at its peak: {}.",
            ratio(fullest.times()),
            fullest.words()
        )
    })
}

/// Where the longest task might make its host look slow: what the host's median is without it, or what that task read.
fn not_a_slow_host(view: &StageView<'_>) -> Option<String> {
    let slowest = view.slowest()?;
    let (tasks, host) = (view.tasks(), view.host(slowest));
    let mut hosts = view.by_host();
    if hosts.len() < 2 || view.max_ms() < 3.0 * view.median_ms() {
        return None;
    }
    let here = hosts.remove(&tasks.host_of(slowest))?;
    let rest: Rows = here.iter().filter(|&row| row != slowest).collect();
    let Some(without) = median(&pick(&tasks.duration, &rest)) else {
        let times = tasks.read_bytes.get(slowest) as f64 / view.median_of(&tasks.read_bytes)?.max(1.0);
        let read_more = times >= 3.0;
        return read_more
            .then(|| format!("Not a slow host: the only task of {host} read {} the median.", ratio(times)));
    };
    (without < 2.0 * view.median_ms())
        .then(|| format!("Not a slow host: without its longest task {host}'s median is {}.", duration(without)))
}
