//! A larger target for AQE's partitions beside an old threshold for skewed ones.

use super::support;
use crate::conf::{Bytes, Setting};
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity};

const ADVISORY: &str = "spark.sql.adaptive.advisoryPartitionSizeInBytes";
const THRESHOLD: &str = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes";
const DEFAULT: Bytes = Bytes(64 << 20);

declare_rule! {
    /// The advisory partition size is raised, and the skew threshold is left as it was.
    ///
    /// ## Why
    /// AQE splits a skewed join partition into pieces of about the advisory size. The partition counts as skewed only above a
    /// threshold of its own, 256 MiB by default. Whoever raises the one moves it towards the other: at the default ratio a
    /// partition that just counts as skewed becomes four pieces, at 128 MiB two, and from 256 MiB on it may stay whole. This
    /// follows from how the settings relate; no documented rule says so. Test it on your own data.
    ///
    /// ## Silent when
    /// - the threshold is written too, whatever it is: `skew-join-thresholds` looks at it
    /// - AQE or its skew join is off, which other rules say
    /// - the file is a test, or a comment beside the setting gives the reason
    ///
    /// ## Example
    /// ```conf
    /// spark.sql.adaptive.advisoryPartitionSizeInBytes 256m  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.sql.adaptive.advisoryPartitionSizeInBytes 256m
    /// spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes 1g
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#optimizing-skew-join>
    pub ADVISORY_SIZE_VS_SKEW_THRESHOLD = {
        name: "advisory-size-vs-skew-threshold", group: Settings, severity: Hint, confidence: Reasoned,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    let off = |key: &str| cx.shared.conf.boolean(key) == Some(false);
    let skew_join = !off("spark.sql.adaptive.enabled") && !off("spark.sql.adaptive.skewJoin.enabled");
    if cx.shared.is_test || !skew_join || support::is_written(&cx.shared, THRESHOLD) {
        return;
    }
    let Some(threshold) = cx.shared.conf.bytes(THRESHOLD) else { return };
    for (setting, value) in support::known(cx.settings, ADVISORY) {
        let size = support::bytes(ADVISORY, cx.shared.version(), value).filter(|size| *size > DEFAULT);
        if let Some(size) = size.filter(|_| !support::has_reason(&cx.shared, setting)) {
            let finding = finding(cx, setting, size, threshold);
            cx.shared.report(finding);
        }
    }
}

fn finding(cx: &SettingsContext<'_>, setting: &Setting, size: Bytes, threshold: Bytes) -> Finding {
    let message = format!(
        "Skewed join partitions are split towards {size} (default {DEFAULT}), and count as skewed above {threshold} as before: \
         review {THRESHOLD} alongside. This is reasoning from how the settings relate, not a documented rule."
    );
    let mut finding = support::finding(&cx.shared, Severity::Hint, support::value_or_key(setting), message);
    finding.evidence.extend(crate::rules::in_force::evidence(cx.shared.conf, THRESHOLD));
    finding
}
