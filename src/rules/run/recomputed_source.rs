//! A source that is read again and again.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{Scan, identity, name, scans};
use super::view::StageView;
use super::words::{bytes, count, duration};
use super::worth_painting;
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Subject, Verdict};
use crate::run::model::StageKey;

declare_rule! {
    /// Several executions scanned the same source with the same filters, and nothing cached it.
    ///
    /// ## Why
    /// A DataFrame is a recipe: each action runs it from the source on. Two actions on the same rows read and compute them
    /// twice. Keeping the rows pays where that costs more than keeping them.
    ///
    /// Where two executions also filter and compute the same columns, the time of the stage is spent again; where only the
    /// scan is the same, its scan time, spread over the stage's slots. The costliest execution is not counted.
    ///
    /// ## Silent when
    /// - less than 5 s were spent again,
    /// - the rows come from a cache, or the later execution reused the shuffle of the earlier one,
    /// - path or table, partition filters or pushed filters differ,
    /// - the stages are shorter than 0.5 % of the run,
    /// - a streaming query reads it: each micro-batch reads other rows.
    ///
    /// ## Example
    /// ```text
    /// orders was read by 3 executions: 41.2 s spent again (1.2 GiB read again)
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// orders = spark.read.parquet(path).filter("amount > 0.1").persist()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#caching-data>
    pub RECOMPUTED_SOURCE = {
        name: "recomputed-source", group: Run, severity: Warning, confidence: Measured,
        since: "0.1.0",
        options: [
            ("executions", 2.0, "SQL executions that scan the same source, at least"),
            ("seconds", 5.0, "seconds spent again, at least"),
        ],
        check: Run(check),
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let run = context.run;
    let judged: BTreeMap<StageKey, &StageView<'_>> = context
        .stages
        .iter()
        .filter(|view| view.skipped(&context.floors).is_none())
        .map(|view| (view.key, view))
        .collect();
    let all = scans(run);
    let mut sources: BTreeMap<String, Vec<&Scan<'_>>> = BTreeMap::new();
    for scan in all.iter().filter(|scan| !scan.cached && scan.stages.iter().any(|key| judged.contains_key(key))) {
        if let Some(source) = identity(scan.node) {
            sources.entry(source).or_default().push(scan);
        }
    }
    let (executions, seconds) = (context.option("executions"), context.option("seconds"));
    let mut found: Vec<Verdict> = sources
        .values()
        .map(|scans| (scans, Cost::of(context, scans, &judged)))
        .filter(|(_, cost)| cost.executions as f64 >= executions && cost.again_ms >= seconds * 1000.0)
        .map(|(scans, cost)| describe(context, scans, &cost))
        .collect();
    let fired: BTreeSet<StageKey> = found.iter().flat_map(|verdict| &verdict.stages).copied().collect();
    let mut quiet = |state: State, wanted: &dyn Fn(&StageView<'_>) -> bool| {
        let stages: Vec<StageKey> = context
            .stages
            .iter()
            .filter(|view| !fired.contains(&view.key) && wanted(view))
            .map(|view| view.key)
            .collect();
        if !stages.is_empty() {
            found.push(Verdict::quiet(context.rule, state, stages));
        }
    };
    let reads = |view: &StageView<'_>| all.iter().any(|scan| scan.stages.contains(&view.key));
    quiet(State::NotFired, &reads);
    quiet(State::NotApplicable("it reads no source of a SQL plan".to_owned()), &|view| !reads(view));
    found
}

/// What it cost to read a source in each execution.
struct Cost {
    executions: usize,
    /// Its stages, the longest first.
    stages: Vec<StageKey>,
    /// Of all executions, in ms.
    total_ms: f64,
    /// Of all but the costliest: someone has to read it once.
    again_ms: f64,
}

impl Cost {
    fn of(context: &RunContext<'_>, scans: &[&Scan<'_>], judged: &BTreeMap<StageKey, &StageView<'_>>) -> Self {
        let mut costs: BTreeMap<i64, f64> = BTreeMap::new();
        let mut walls: BTreeMap<StageKey, f64> = BTreeMap::new();
        for scan in scans {
            let same = |other: &&&Scan<'_>| other.execution != scan.execution && other.work == scan.work;
            let shared = !scan.work.is_empty() && scans.iter().any(|other| same(&other));
            let views = scan.stages.iter().filter_map(|key| judged.get(key));
            let wall_ms: f64 = views.clone().map(|view| view.wall_ms).sum();
            let slots = views.clone().map(|view| view.slots()).max().unwrap_or(1);
            walls.extend(views.map(|view| (view.key, view.wall_ms)));
            let scan_ms = metric(context, scan, "scan time").unwrap_or(0.0) / slots as f64;
            *costs.entry(scan.execution).or_default() += if shared { wall_ms } else { scan_ms.min(wall_ms) };
        }
        let mut stages: Vec<(StageKey, f64)> = walls.into_iter().collect();
        stages.sort_by(|a, b| b.1.total_cmp(&a.1));
        let total_ms: f64 = costs.values().sum();
        Self {
            executions: costs.len(),
            stages: stages.into_iter().map(|(key, _)| key).collect(),
            total_ms,
            again_ms: total_ms - costs.values().copied().fold(0.0, f64::max),
        }
    }
}

fn metric(context: &RunContext<'_>, scan: &Scan<'_>, name: &str) -> Option<f64> {
    let execution = context.run.executions.get(&scan.execution)?;
    execution.node_metric(context.run, scan.node, name).map(|value| value.max(0) as f64)
}

fn describe(context: &RunContext<'_>, scans: &[&Scan<'_>], cost: &Cost) -> Verdict {
    let (keys, again_ms) = (cost.stages.clone(), cost.again_ms);
    let subject = keys.first().map_or(Subject::Run, |&key| Subject::Stage(key));
    let mut verdict = Verdict::fired(context.rule, subject, keys);
    verdict.impact_s = Some(again_ms / 1000.0);
    verdict.paintable = worth_painting(context, verdict.impact_s);
    if !verdict.paintable {
        verdict.severity = Severity::Information;
    }
    let source = scans.first().map_or_else(String::new, |scan| name(scan.node));
    let sizes: Vec<f64> = scans.iter().filter_map(|scan| metric(context, scan, "size of files read")).collect();
    let again_bytes = sizes.iter().sum::<f64>() - sizes.iter().copied().fold(0.0, f64::max);
    let read = if again_bytes > 0.0 { format!(" ({} read again)", bytes(again_bytes)) } else { String::new() };
    let times = count(cost.executions as u64, "execution");
    verdict.message = format!("{source} was read by {times}: {} spent again{read}", duration(again_ms));
    verdict.short = format!("{source} read by {times}");
    let threshold = Some(format!(">= {}", context.option("executions")));
    verdict.prove("executions", cost.executions.to_string(), threshold, context.run.application.id.clone());
    let threshold = Some(format!(">= {}", duration(context.option("seconds") * 1000.0)));
    let spent = format!("{} of {}", duration(again_ms), duration(cost.total_ms));
    verdict.prove("spent again, all but the costliest execution", spent, threshold, None);
    let filters = scans.first().and_then(|scan| scan.node.metadata.get("PushedFilters"));
    if let Some(filters) = filters.filter(|filters| !matches!(filters.as_str(), "" | "[]")) {
        verdict.prove("pushed filters", filters.chars().take(200).collect(), None, None);
    }
    verdict
        .confounders
        .push("the stages also compute what follows the scan, which differs between the actions".to_owned());
    verdict.advice = vec![
        "Persist the DataFrame before its first action and unpersist it after the last, if keeping it costs less than reading it again".to_owned(),
        "Compute what the actions want in one action where they only differ in their aggregates".to_owned(),
    ];
    verdict
}
