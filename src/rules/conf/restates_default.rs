//! Settings that change nothing.

use super::support;
use crate::catalog::{self, Default, SettingFacts};
use crate::conf::{Carrier, Setting, value};
use crate::declare_rule;
use crate::rules::{SettingsContext, Severity, Vendor};

declare_rule! {
    /// A setting with the value that it has anyway.
    ///
    /// ## Why
    /// Every line that says what is so anyway hides the lines that were decided. After an upgrade it also holds the old default
    /// where the new one was better.
    ///
    /// ## Silent when
    /// - a comment beside it gives the reason
    /// - the default changed between Spark versions: the value may be pinned on purpose
    /// - it is the size of the driver or the executors, which clusters and submit commands set too
    /// - another rule speaks of the same setting: speculation, shuffle partitions, adaptive execution
    /// - a command or the definition of a job gives it: that wins over a cluster's own defaults, which nobody knows here
    /// - it overrides another place's value, or is itself set anew at run time
    /// - the file is a template or a test, or the platform has defaults of its own, or the Spark version is not known
    ///
    /// ## Example
    /// ```conf
    /// spark.sql.broadcastTimeout 300  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.sql.broadcastTimeout 600
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#available-properties>
    pub RESTATES_DEFAULT = {
        name: "restates-default", group: Carriers, severity: Hint, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

/// Spoken of by rules of their own, or set by clusters and submit commands too.
const NOT_OURS: [&str; 13] = [
    "spark.app.name",
    "spark.driver.cores",
    "spark.driver.host",
    "spark.driver.maxResultSize",
    "spark.driver.memory",
    "spark.eventLog.enabled",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.master",
    "spark.speculation",
    "spark.sql.shuffle.partitions",
    "spark.submit.deployMode",
];

fn check(cx: &mut SettingsContext<'_>) {
    let environment = cx.shared.environment;
    let own_defaults = environment.vendor != Vendor::Oss || !environment.version_known;
    if cx.shared.is_test || own_defaults || cx.properties.is_some_and(|file| file.is_template) {
        return;
    }
    // What a launch gives to a job wins over the defaults of a cluster that nobody knows here.
    let may_be_known = |setting: &&Setting| {
        let carrier = setting.carrier;
        !setting.key_is_prefix && (carrier == Carrier::Properties || carrier.is_code() && !carrier.at_run_time())
    };
    for setting in cx.settings.iter().filter(may_be_known) {
        let is_for_some = cx.shared.versions_at(setting.key_span).is_some();
        if is_for_some || !restates(cx, setting) || support::has_reason(&cx.shared, setting) {
            continue;
        }
        let message =
            format!("`{}` is this by default in Spark {}: this changes nothing.", setting.key, cx.shared.version());
        let mut finding =
            support::finding(&cx.shared, Severity::Hint, setting.key_span.cover(setting.value_span), message);
        finding.unnecessary = true;
        let finding = finding.with_fixes(support::remove(&cx.shared, setting));
        cx.shared.report(finding);
    }
}

fn restates(cx: &SettingsContext<'_>, setting: &Setting) -> bool {
    let version = cx.shared.version();
    let (Some(facts), Some(text)) = (catalog::setting(&setting.key), setting.value.literal()) else { return false };
    let Default::Value(default) = facts.default(version) else { return false };
    let effective = cx.shared.conf.get(&setting.key);
    let alone = effective.overridden.is_empty() && support::is_in_force(&cx.shared, setting);
    let set_once = cx.settings.iter().filter(|other| other.key == setting.key).count() == 1;
    let of_aqe = setting.key.starts_with("spark.sql.adaptive.");
    !NOT_OURS.contains(&setting.key.as_str())
        && !of_aqe
        && set_once
        && alone
        && value::same_value(facts, version, text.trim(), default)
        && never_changed(facts)
}

/// One default in all the versions that have the setting.
fn never_changed(facts: &SettingFacts) -> bool {
    let mut defaults = facts.history().iter().map(|(_, default)| default);
    let first = defaults.next();
    defaults.all(|default| Some(default) == first)
}
