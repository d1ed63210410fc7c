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
    /// twice. The finding says how many seconds the stages took that read the source again. Keeping the rows pays where
    /// that is more than what keeping them costs.
    ///
    /// ## Silent when
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
        options: [("executions", 2.0, "SQL executions that scan the same source, at least")],
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
    let executions = |scans: &[&Scan<'_>]| scans.iter().map(|scan| scan.execution).collect::<BTreeSet<i64>>().len();
    let least = context.option("executions");
    let mut found: Vec<Verdict> = sources
        .values()
        .filter(|scans| executions(scans) as f64 >= least)
        .map(|scans| describe(context, scans, executions(scans), &judged))
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

fn describe(
    context: &RunContext<'_>,
    scans: &[&Scan<'_>],
    executions: usize,
    judged: &BTreeMap<StageKey, &StageView<'_>>,
) -> Verdict {
    let mut walls: BTreeMap<i64, BTreeMap<StageKey, f64>> = BTreeMap::new();
    for scan in scans {
        let stages = scan.stages.iter().filter_map(|key| Some((*key, judged.get(key)?.wall_ms)));
        walls.entry(scan.execution).or_default().extend(stages);
    }
    let of_execution: Vec<f64> = walls.values().map(|stages| stages.values().sum()).collect();
    let total: f64 = of_execution.iter().sum();
    // Someone has to read it once; the costliest stays, so that the estimate is the least.
    let again_ms = total - of_execution.iter().copied().fold(0.0, f64::max);
    let mut stages: Vec<(StageKey, f64)> = walls.into_values().flatten().collect();
    stages.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    stages.dedup_by_key(|(key, _)| *key);
    let keys: Vec<StageKey> = stages.into_iter().map(|(key, _)| key).collect();
    let subject = keys.first().map_or(Subject::Run, |&key| Subject::Stage(key));
    let mut verdict = Verdict::fired(context.rule, subject, keys);
    verdict.impact_s = Some(again_ms / 1000.0);
    verdict.paintable = worth_painting(context, verdict.impact_s);
    if !verdict.paintable {
        verdict.severity = Severity::Information;
    }
    let source = scans.first().map_or_else(String::new, |scan| name(scan.node));
    let size = |scan: &Scan<'_>| {
        let execution = context.run.executions.get(&scan.execution)?;
        execution.node_metric(context.run, scan.node, "size of files read").map(|bytes| bytes.max(0) as f64)
    };
    let sizes: Vec<f64> = scans.iter().filter_map(|scan| size(scan)).collect();
    let again_bytes = sizes.iter().sum::<f64>() - sizes.iter().copied().fold(0.0, f64::max);
    let read = if again_bytes > 0.0 { format!(" ({} read again)", bytes(again_bytes)) } else { String::new() };
    let times = count(executions as u64, "execution");
    verdict.message = format!("{source} was read by {times}: {} spent again{read}", duration(again_ms));
    verdict.short = format!("{source} read by {times}");
    let threshold = Some(format!(">= {}", context.option("executions")));
    verdict.prove("executions", executions.to_string(), threshold, context.run.application.id.clone());
    verdict.prove("stages that read it", duration(total), None, None);
    verdict.prove("spent again", duration(again_ms), Some("all but the costliest execution".to_owned()), None);
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
