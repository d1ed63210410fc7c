//! A flag or a field beside the key that it stands for.

use rustc_hash::FxHashMap;

use super::support;
use crate::conf::carriers::CarrierKind;
use crate::conf::{Carrier, Setting, value};
use crate::declare_rule;
use crate::rules::{Finding, Fix, SettingsContext, Severity};

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
    // In HOCON a path is a key, however deep it is written.
    if cx.shared.format == Some(CarrierKind::Hocon) {
        return;
    }
    let last = |is: fn(&Setting) -> bool| -> FxHashMap<&str, &Setting> {
        cx.settings.iter().filter(|setting| is(setting)).map(|setting| (setting.key.as_str(), setting)).collect()
    };
    let flags = last(|setting| setting.carrier.names_a_field());
    if flags.is_empty() {
        return;
    }
    // Of two keys the earlier one loses against the later one already.
    let keys = last(|setting| matches!(setting.carrier, Carrier::SubmitConf | Carrier::Job) && !setting.key_is_prefix);
    let in_the_job = |key: &Setting| cx.submit.is_none_or(|submit| submit.span.contains(key.key_span));
    let both = keys.into_values().filter(|key| in_the_job(key));
    let findings: Vec<Finding> =
        both.filter_map(|key| finding(cx, key, flags.get(key.key.as_str()).copied()?)).collect();
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
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
        .with_fixes(without(cx, key));
    Some(finding)
}

/// Takes the key out of the job, wherever it is given.
fn without(cx: &SettingsContext<'_>, key: &Setting) -> Option<Fix> {
    let same = cx.settings.iter().filter(|other| other.key == key.key && other.carrier == key.carrier);
    let removed: Option<Vec<Fix>> = same.map(|other| support::remove(&cx.shared, other)).collect();
    let edits = removed?.into_iter().flat_map(|fix| fix.edits).collect();
    Some(Fix { edits, ..support::remove(&cx.shared, key)? })
}
