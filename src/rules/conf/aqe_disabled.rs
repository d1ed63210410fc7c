//! Adaptive query execution switched off.

use super::support;
use crate::declare_rule;
use crate::rules::{SettingsContext, Severity};

const KEY: &str = "spark.sql.adaptive.enabled";

declare_rule! {
    /// `spark.sql.adaptive.enabled` is set to false.
    ///
    /// ## Why
    /// Without adaptive query execution (AQE) a shuffle keeps the number of partitions it was planned with, a join that turns
    /// out small stays a sort-merge join, and a skewed join partition is never split: all three need the sizes that are only
    /// known at run time. AQE has been on by default since Spark 3.2.
    ///
    /// ## Silent when
    /// - the file is a test, where plans are pinned on purpose
    /// - information only, when a comment beside the setting gives the reason
    /// - information only, on Spark 3.0 and 3.1, where off is the default
    ///
    /// ## Example
    /// ```conf
    /// spark.sql.adaptive.enabled false  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.sql.adaptive.enabled true
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#adaptive-query-execution>
    pub AQE_DISABLED = {
        name: "aqe-disabled", group: Settings, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let version = cx.shared.version();
    for (setting, value) in support::known(cx.settings, KEY) {
        if !value.eq_ignore_ascii_case("false") {
            continue;
        }
        let default_off = !version.at_least(3, 2);
        let (severity, message) = if default_off {
            let message = format!(
                "Adaptive query execution is off, the default of Spark {version}: small shuffle partitions are not merged and \
                 skewed joins are not split. It can be switched on."
            );
            (Severity::Information, message)
        } else {
            let message = format!(
                "Adaptive query execution is off (Spark {version} has it on): shuffles keep their planned partitions, small join \
                 sides are not broadcast at run time, skewed joins are not split. Remove it or set it to true."
            );
            let reason = support::has_reason(&cx.shared, setting);
            (if reason { Severity::Information } else { Severity::Warning }, message)
        };
        let mut finding = support::finding(&cx.shared, severity, support::value_or_key(setting), message);
        let remove = if default_off { None } else { support::remove(&cx.shared, setting) };
        finding.fixes = support::set_value(&cx.shared, setting, "true").into_iter().chain(remove).collect();
        cx.shared.report(finding);
    }
}
