//! AQE's merging of small shuffle partitions switched off or aimed at odd sizes.

use super::support;
use crate::conf::{Bytes, Setting};
use crate::declare_rule;
use crate::rules::{Evidence, Finding, SettingsContext, Severity, State};

const ENABLED: &str = "spark.sql.adaptive.coalescePartitions.enabled";
const PARALLELISM: &str = "spark.sql.adaptive.coalescePartitions.parallelismFirst";
const ADVISORY: &str = "spark.sql.adaptive.advisoryPartitionSizeInBytes";
const MIB: f64 = 1024.0 * 1024.0;

declare_rule! {
    /// AQE's merging of small shuffle partitions is off, or aims at very small or very large ones.
    ///
    /// ## Why
    /// After a shuffle, AQE merges neighbouring partitions up to the advisory size. Without that a shuffle of a few megabytes
    /// runs as many tasks as one of a terabyte, each with its own start, its own small file. An advisory size of a few
    /// megabytes undoes the merging; one of several hundred leaves few, large tasks that spill.
    ///
    /// ## Silent when
    /// - AQE is off: `aqe-disabled` says that
    /// - the file is a test, or reads a stream
    /// - a comment beside the setting gives the reason
    /// - `parallelismFirst` is left on, unless a linked run had too many tiny tasks
    ///
    /// ## Example
    /// ```conf
    /// spark.sql.adaptive.coalescePartitions.enabled false  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.sql.adaptive.coalescePartitions.enabled true
    /// spark.sql.adaptive.advisoryPartitionSizeInBytes 64m
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#coalescing-post-shuffle-partitions>
    pub PARTITION_COALESCING = {
        name: "partition-coalescing", group: Settings, severity: Information, confidence: Documented, since: "0.1.0",
        options: [
            ("min-advisory-mib", 16.0, "An advisory size below this many MiB is reported (the default of Spark is 64)."),
            ("max-advisory-mib", 512.0, "An advisory size above this many MiB is reported.")
        ],
        check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    let streams = cx.plan.is_some_and(support::reads_a_stream);
    if cx.shared.is_test || streams || cx.shared.conf.boolean("spark.sql.adaptive.enabled") == Some(false) {
        return;
    }
    let mut findings = Vec::new();
    for (setting, value) in support::known(cx.settings, ENABLED) {
        if value.eq_ignore_ascii_case("false") {
            let message = "Small shuffle partitions are not merged: every shuffle runs all of its planned tasks, however little \
                           each has to do.";
            findings.push((
                setting,
                support::replaceable(&cx.shared, Severity::Information, setting, message.to_owned(), "true"),
            ));
        }
    }
    for (setting, value) in support::known(cx.settings, ADVISORY) {
        let size = support::bytes(ADVISORY, cx.shared.version(), value);
        findings.extend(size.and_then(|size| odd_size(cx, setting, size)).map(|finding| (setting, finding)));
    }
    for (setting, value) in support::known(cx.settings, PARALLELISM) {
        if value.eq_ignore_ascii_case("true") {
            findings.extend(tiny_tasks(cx, setting).map(|finding| (setting, finding)));
        }
    }
    for (setting, finding) in findings {
        if !support::has_reason(&cx.shared, setting) {
            cx.shared.report(finding);
        }
    }
}

fn odd_size(cx: &SettingsContext<'_>, setting: &Setting, size: Bytes) -> Option<Finding> {
    let (min, max) = (cx.shared.option("min-advisory-mib") * MIB, cx.shared.option("max-advisory-mib") * MIB);
    let bytes = size.0 as f64;
    let message = if bytes > 0.0 && bytes < min {
        format!("AQE merges shuffle partitions only up to {size} (default 64 MiB): many small tasks and files stay.")
    } else if bytes > max {
        format!(
            "AQE merges shuffle partitions up to {size} (default 64 MiB): tasks become few and large, and may spill."
        )
    } else {
        return None;
    };
    Some(support::replaceable(&cx.shared, Severity::Information, setting, message, "64m"))
}

/// Parallelism comes before the advisory size, and the last run shows what that costs.
fn tiny_tasks(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Finding> {
    let run = cx.shared.runs.first()?.measured;
    let verdict =
        run.verdicts.iter().find(|verdict| verdict.rule == "tiny-partitions" && verdict.state == State::Fired)?;
    let message = format!(
        "With parallelismFirst AQE merges only while every core has a task, and not up to the advisory size. The last run had \
         tiny tasks: {}",
        verdict.message
    );
    let mut finding = support::replaceable(&cx.shared, Severity::Information, setting, message, "false");
    finding.evidence = verdict.evidence.clone();
    let measured = Evidence { name: "measured in".into(), value: run.label.clone(), threshold: None, source: None };
    Some(finding.with_measured(Some(measured)))
}
