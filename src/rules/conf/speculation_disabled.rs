//! Speculative execution switched off, or tuned with the defaults of another version.

use super::support;
use crate::conf::Setting;
use crate::declare_rule;
use crate::rules::{Evidence, Finding, MeasuredRun, SettingsContext, Severity, State, Verdict};

const KEY: &str = "spark.speculation";

declare_rule! {
    /// `spark.speculation` is set to false.
    ///
    /// ## Why
    /// A host that runs every task slowly holds each stage back until its last task ends. With speculation on, Spark starts a
    /// second copy of such a task elsewhere and keeps the first that ends. It does nothing for skew: the copy has the same data
    /// to read.
    ///
    /// ## Silent when
    /// - the setting is not written: not writing it is no finding
    /// - information only, unless a linked run has a slow host that it would have helped
    ///
    /// ## Example
    /// ```conf
    /// spark.speculation false  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.speculation true
    /// spark.speculation.quantile 0.9
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#scheduling>
    /// - <https://issues.apache.org/jira/browse/SPARK-49485> (copies of tasks when all executors are on one host)
    /// - <https://issues.apache.org/jira/browse/SPARK-29976> (stages of few tasks)
    pub SPECULATION_DISABLED = {
        name: "speculation-disabled", group: Settings, severity: Information, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    for (setting, value) in support::known(cx.settings, KEY) {
        if value.eq_ignore_ascii_case("false") {
            let finding = match slow_host(cx) {
                Some((run, verdict)) => measured(cx, setting, run, verdict),
                None => written(cx, setting),
            };
            cx.shared.report(finding);
        }
    }
}

/// A slow host that the newest run is sure enough of to name.
fn slow_host<'a>(cx: &SettingsContext<'a>) -> Option<(&'a MeasuredRun, &'a Verdict)> {
    let run = cx.shared.runs.first()?.measured;
    let named = |verdict: &&Verdict| {
        verdict.rule == "slow-host-median" && verdict.state == State::Fired && verdict.severity >= Severity::Warning
    };
    run.verdicts.iter().find(named).map(|verdict| (run, verdict))
}

fn written(cx: &SettingsContext<'_>, setting: &Setting) -> Finding {
    let message = format!(
        "Speculation is off (the default): tasks on a slow host are waited for. On, Spark {} copies a task that runs {} x the \
         median once {} of the stage has ended; sinks without commit protocol may then be written twice.",
        cx.shared.version(),
        default(cx, "spark.speculation.multiplier"),
        default(cx, "spark.speculation.quantile"),
    );
    with_fix(cx, setting, Severity::Information, message)
}

fn measured(cx: &SettingsContext<'_>, setting: &Setting, run: &MeasuredRun, verdict: &Verdict) -> Finding {
    let message = format!(
        "Speculation is off, and the last run had a slow host: {}. Copies of its tasks elsewhere would have ended first.",
        verdict.message.trim_end_matches('.')
    );
    let mut finding = with_fix(cx, setting, Severity::Warning, message);
    finding.confidence = verdict.confidence;
    finding.evidence = verdict.evidence.clone();
    finding.evidence.push(Evidence {
        name: "measured in".into(),
        value: run.label.clone(),
        threshold: None,
        source: None,
    });
    finding
}

fn with_fix(cx: &SettingsContext<'_>, setting: &Setting, severity: Severity, message: String) -> Finding {
    let mut finding = support::finding(&cx.shared, severity, support::value_or_key(setting), message);
    finding.fixes = super::blocks::speculation(cx, setting)
        .into_iter()
        .chain(support::set_value(&cx.shared, setting, "true"))
        .chain(support::remove(&cx.shared, setting))
        .collect();
    finding
}

/// The default of a key in the version at hand, as text.
fn default(cx: &SettingsContext<'_>, key: &str) -> &'static str {
    match crate::catalog::setting(key).map(|facts| facts.default(cx.shared.version())) {
        Some(crate::catalog::Default::Value(value)) => value.trim_end_matches(".0"),
        _ => "",
    }
}
