//! AQE's skew handling switched off or out of reach.

use super::support;
use crate::conf::{Bytes, Setting};
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity};

const ENABLED: &str = "spark.sql.adaptive.skewJoin.enabled";
const FACTOR: &str = "spark.sql.adaptive.skewJoin.skewedPartitionFactor";
const THRESHOLD: &str = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes";
const ADVISORY: &str = "spark.sql.adaptive.advisoryPartitionSizeInBytes";

declare_rule! {
    /// AQE's splitting of skewed join partitions is off or out of reach.
    ///
    /// ## Why
    /// A join partition is split only if it is larger than the factor times the median *and* larger than the byte threshold. With
    /// an extreme factor or threshold no real partition passes both gates, and one task goes on holding the stage. With a
    /// threshold below the advisory size, partitions are called skewed that would not be split into more than one piece.
    ///
    /// ## Silent when
    /// - AQE is off: `aqe-disabled` says that once
    /// - the file is a test
    /// - information only, when a comment beside the setting gives the reason
    ///
    /// ## Example
    /// ```conf
    /// spark.sql.adaptive.skewJoin.enabled false  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.sql.adaptive.skewJoin.enabled true
    /// spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes 128m
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#optimizing-skew-join>
    pub SKEW_JOIN_THRESHOLDS = {
        name: "skew-join-thresholds", group: Settings, severity: Warning, confidence: Documented, since: "0.1.0",
        options: [
            ("max-factor", 20.0, "A factor from this on is reported (the default of Spark is 5)."),
            ("max-threshold-mib", 2048.0, "A byte threshold from this many MiB on is reported (the default of Spark is 256).")
        ],
        check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.is_test || cx.shared.conf.boolean("spark.sql.adaptive.enabled") == Some(false) {
        return;
    }
    for (setting, value) in support::known(cx.settings, ENABLED) {
        if value.eq_ignore_ascii_case("false") {
            let message = "Skewed join partitions are not split: one task may hold the whole stage. The default is true; \
                           aggregates and windows are not helped by it either way.";
            report(cx, setting, message.to_owned(), "true");
        }
    }
    for (setting, value) in support::known(cx.settings, FACTOR) {
        let limit = cx.shared.option("max-factor");
        if value.parse::<f64>().is_ok_and(|factor| factor >= limit) {
            let message = format!(
                "A join partition must be larger than {value} x the median before it is split (default 5): a straggler of half \
                 that stays whole."
            );
            report(cx, setting, message, "5");
        }
    }
    for (setting, value) in support::known(cx.settings, THRESHOLD) {
        let Some(bytes) = support::bytes(THRESHOLD, cx.shared.version(), value) else { continue };
        check_threshold(cx, setting, bytes);
    }
}

fn check_threshold(cx: &mut SettingsContext<'_>, setting: &Setting, bytes: Bytes) {
    let limit = cx.shared.option("max-threshold-mib") * (1024.0 * 1024.0);
    if bytes.0 as f64 >= limit {
        let message = format!(
            "A join partition must be larger than {bytes} before it is split (default 256 MiB): stragglers below that stay whole."
        );
        report(cx, setting, message, "256m");
        return;
    }
    let advisory = cx.shared.conf.get(ADVISORY).value;
    let advisory = advisory.and_then(|advisory| support::bytes(ADVISORY, cx.shared.version(), &advisory));
    if let Some(advisory) = advisory.filter(|advisory| bytes.0 > 0 && bytes < *advisory) {
        let message = format!(
            "The skew threshold ({bytes}) is below the advisory partition size ({advisory}) that skewed partitions are split \
             towards: partitions between the two count as skewed and stay whole."
        );
        let mut finding = support::finding(&cx.shared, Severity::Information, support::value_or_key(setting), message);
        finding.confidence = support::REASONED;
        finding.evidence = vec![support::evidence(ADVISORY, advisory.to_string(), "effective value")];
        cx.shared.report(finding);
    }
}

fn report(cx: &mut SettingsContext<'_>, setting: &Setting, message: String, default: &str) {
    let severity = if support::has_reason(&cx.shared, setting) { Severity::Information } else { Severity::Warning };
    let mut finding: Finding = support::finding(&cx.shared, severity, support::value_or_key(setting), message);
    finding.fixes = support::set_value(&cx.shared, setting, default)
        .into_iter()
        .chain(support::remove(&cx.shared, setting))
        .collect();
    cx.shared.report(finding);
}
