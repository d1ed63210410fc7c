//! Automatic broadcast joins switched off, or allowed for large tables.

use super::support;
use crate::conf::Setting;
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity};

const KEY: &str = "spark.sql.autoBroadcastJoinThreshold";
const ADAPTIVE: &str = "spark.sql.adaptive.autoBroadcastJoinThreshold";
const MIB: i64 = 1024 * 1024;

declare_rule! {
    /// The automatic broadcast threshold is off (-1) or very large.
    ///
    /// ## Why
    /// Off, every join without a hint shuffles both sides, however small one of them is. Very large, Spark collects that much to
    /// the driver and keeps a copy on each executor, on the word of an estimate that is compressed and often wrong: a table grows
    /// several times in memory, so drivers and executors run out of it.
    ///
    /// ## Silent when
    /// - the file is a test
    /// - the value is below the limit (an option, 256 MiB)
    /// - information only, when a comment beside the setting gives the reason, or when AQE keeps an own threshold
    ///
    /// ## Example
    /// ```conf
    /// spark.sql.autoBroadcastJoinThreshold -1  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.sql.autoBroadcastJoinThreshold 20m
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#automatically-broadcasting-joins>
    /// - <https://issues.apache.org/jira/browse/SPARK-24757> (broadcasts that time out)
    /// - <https://issues.apache.org/jira/browse/SPARK-40377> (the limit of a broadcast table)
    pub BROADCAST_THRESHOLD = {
        name: "broadcast-threshold", group: Settings, severity: Warning, confidence: Documented,
        since: "0.1.0", options: [("large-mib", 256.0, "Thresholds from this many MiB on are reported.")],
        check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let large = (cx.shared.option("large-mib") * MIB as f64) as i64;
    for key in [KEY, ADAPTIVE] {
        for (setting, value) in support::known(cx.settings, key) {
            let Some(bytes) = support::bytes(key, cx.shared.version(), value) else { continue };
            if bytes.0 < 0 {
                let finding = off(cx, setting);
                cx.shared.report(finding);
            } else if bytes.0 >= large {
                let finding = too_large(cx, setting, &bytes.to_string());
                cx.shared.report(finding);
            }
        }
    }
}

fn off(cx: &SettingsContext<'_>, setting: &Setting) -> Finding {
    let adaptive_own =
        setting.key == KEY && cx.shared.conf.get(ADAPTIVE).value.is_some_and(|value| !value.starts_with('-'));
    let excused = adaptive_own || support::has_reason(&cx.shared, setting);
    let severity = if excused { Severity::Information } else { Severity::Warning };
    let message =
        "Automatic broadcast joins are off: every join without a hint shuffles both sides, however small one is. \
                   The default is 10 MiB; a single bad estimate is better met with a hint at its join."
            .to_owned();
    with_default(cx, setting, severity, message)
}

fn too_large(cx: &SettingsContext<'_>, setting: &Setting, size: &str) -> Finding {
    let excused = support::has_reason(&cx.shared, setting);
    let severity = if excused { Severity::Information } else { Severity::Warning };
    let message = format!(
        "Join sides up to an estimated {size} are collected to the driver and copied to every executor, several times larger in \
         memory than on disk. 10-30 MiB and a hint where one join needs more are safer."
    );
    with_default(cx, setting, severity, message)
}

fn with_default(cx: &SettingsContext<'_>, setting: &Setting, severity: Severity, message: String) -> Finding {
    let mut finding = support::finding(&cx.shared, severity, support::value_or_key(setting), message);
    finding.fixes = support::set_value(&cx.shared, setting, "10m")
        .into_iter()
        .chain(support::remove(&cx.shared, setting))
        .collect();
    finding
}
