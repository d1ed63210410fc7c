//! More memory for a job that one task holds up.

use super::support;
use crate::catalog;
use crate::conf::{Setting, value};
use crate::declare_rule;
use crate::rules::{Confidence, Evidence, Finding, MeasuredRun, SettingsContext, Severity, State, Verdict};

declare_rule! {
    /// Memory or executors were added to a job whose last run waited for one skewed task.
    ///
    /// ## Why
    /// More memory, more cores and more executors help a job that had too little. They do nothing for a stage in which one of
    /// two hundred tasks holds most of the rows: the others end sooner and wait longer, on machines that are paid for. Two
    /// queries tell the cases apart before anything is bought: rows per partition, and the heaviest keys.
    ///
    /// ## Silent when
    /// - no run is linked, or none of its stages is skewed
    /// - the value is not larger than the run's, or than the default where the run did not record one
    /// - the file is a test
    ///
    /// ## Example
    /// Needs a linked run: with one that has a skewed stage and recorded `4g`, this line is a finding.
    ///
    /// ```text
    /// spark.executor.memory 16g
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.sql.adaptive.enabled true
    /// spark.sql.adaptive.skewJoin.enabled true
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#optimizing-skew-join>
    pub MEMORY_REFLEX = {
        name: "memory-reflex", group: Settings, severity: Information, confidence: Measured,
        since: "0.1.0", check: Settings(check),
    }
}

/// What is raised by reflex.
const KEYS: [&str; 8] = [
    "spark.cores.max",
    "spark.driver.memory",
    "spark.driver.memoryOverhead",
    "spark.dynamicAllocation.maxExecutors",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
];

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let Some((run, verdict)) = skewed_stage(cx) else { return };
    for key in KEYS {
        for (setting, text) in support::known_at_start(cx.settings, key) {
            if let Some(before) = raised_from(cx, run, key, text) {
                let finding = finding(cx, setting, &before, run, verdict);
                cx.shared.report(finding);
            }
        }
    }
}

/// The costliest skewed stage of the newest run; verdicts that fired come by impact.
fn skewed_stage<'a>(cx: &SettingsContext<'a>) -> Option<(&'a MeasuredRun, &'a Verdict)> {
    let run = cx.shared.runs.first()?.measured;
    let skewed = |verdict: &&Verdict| verdict.rule == "skewed-stage" && verdict.state == State::Fired;
    run.verdicts.iter().find(skewed).map(|verdict| (run, verdict))
}

/// What the run had, if this is more; the version's default where the run recorded nothing.
fn raised_from(cx: &SettingsContext<'_>, run: &MeasuredRun, key: &str, text: &str) -> Option<String> {
    let facts = catalog::setting(key)?;
    let amount = |text: &str| {
        let parsed = value::parse(facts, cx.shared.version(), text).ok()?;
        match parsed {
            value::Parsed::Integer(number) => Some(number),
            parsed => parsed.bytes().map(|bytes| bytes.0),
        }
    };
    let (before, whose) = match (run.run.conf.get(key), facts.default(cx.shared.version())) {
        (Some(recorded), _) => (recorded.as_str(), "in that run"),
        (None, catalog::Default::Value(default)) => (default, "the default, in that run"),
        (None, _) => return None,
    };
    (amount(text)? > amount(before)?).then(|| format!("{before} {whose}"))
}

fn finding(cx: &SettingsContext<'_>, setting: &Setting, before: &str, run: &MeasuredRun, verdict: &Verdict) -> Finding {
    let message = format!(
        "More of `{}` ({before}) does not help a stage that waits for one task. {} First ask for rows per partition and for \
         the heaviest keys: both queries are offered at the join or aggregation.",
        setting.key, verdict.message
    );
    let mut finding = support::finding(&cx.shared, Severity::Information, support::value_or_key(setting), message);
    finding.confidence = Confidence::Measured;
    finding.evidence = verdict.evidence.clone();
    finding.evidence.push(Evidence {
        name: "measured in".into(),
        value: run.label.clone(),
        threshold: None,
        source: None,
    });
    finding
}
