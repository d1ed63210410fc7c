//! A flag or a field beside the key that it stands for.

use super::support;
use crate::conf::{Carrier, Setting, value};
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity};

declare_rule! {
    /// A job gives a value twice: with a flag or a field of its own name, and with the key that it stands for.
    ///
    /// ## Why
    /// `--executor-memory 8g` and `--conf spark.executor.memory=4g` set one key. The flag wins wherever it stands, and so does a
    /// field (`executorMemory`, `executor.memory`) against the entry in `conf` or `sparkConf`. Whoever changes the other one
    /// sees nothing happen.
    ///
    /// ## Silent when
    /// - both say the same, or the value of one of them is filled in by something else
    /// - the key comes from a variable that several commands may share
    /// - the two belong to different jobs, or one is a cluster's and a job may override it
    ///
    /// ## Example
    /// ```sh
    /// spark-submit \
    ///   --executor-memory 8g \
    ///   --conf spark.executor.memory=4g \  # finding
    ///   jobs/daily.py
    /// ```
    ///
    /// ## Use instead
    /// ```sh
    /// spark-submit \
    ///   --executor-memory 8g \
    ///   jobs/daily.py
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#dynamically-loading-spark-properties>
    /// - <https://spark.apache.org/docs/latest/submitting-applications.html>
    pub CONFLICTING_FLAG = {
        name: "conflicting-flag", group: Carriers, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    let keys = cx.settings.iter().filter(|setting| matches!(setting.carrier, Carrier::SubmitConf | Carrier::Job));
    let findings: Vec<Finding> = keys.filter_map(|key| finding(cx, key, flag(cx, key)?)).collect();
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

/// The flag or field of the same job for a key that stands in it.
fn flag<'a>(cx: &SettingsContext<'a>, key: &Setting) -> Option<&'a Setting> {
    let in_the_job = cx.submit.is_none_or(|submit| submit.span.contains(key.key_span));
    let same = |other: &&Setting| other.carrier.names_a_field() && other.key == key.key;
    cx.settings.iter().rev().find(same).filter(|_| in_the_job && !key.key_is_prefix)
}

fn finding(cx: &SettingsContext<'_>, key: &Setting, flag: &Setting) -> Option<Finding> {
    let (loser, winner) = (key.value.literal()?.trim(), flag.value.literal()?.trim());
    let facts = crate::catalog::setting(&key.key);
    if facts.map_or(loser == winner, |facts| value::same_value(facts, cx.shared.version(), loser, winner)) {
        return None;
    }
    let name = flag.key_span.of(cx.shared.text);
    let what =
        if flag.carrier == Carrier::SubmitFlag { "A flag beats `--conf`" } else { "A field beats the key in the map" };
    let message = format!("`{name}` sets `{}` to {winner}, and that counts. {what}: {loser} is lost.", key.key);
    let finding = support::finding(&cx.shared, Severity::Warning, support::value_or_key(key), message)
        .with_related(flag.key_span.cover(flag.value_span), "the one that wins")
        .with_fixes(support::remove(&cx.shared, key));
    Some(finding)
}
