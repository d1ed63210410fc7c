//! The guard on results that the driver collects.

use super::support;
use crate::conf::{Bytes, Setting};
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity};

const KEY: &str = "spark.driver.maxResultSize";
const MEMORY: &str = "spark.driver.memory";

declare_rule! {
    /// `spark.driver.maxResultSize` is off (0), or as large as the driver's heap.
    ///
    /// ## Why
    /// The limit aborts one job, with a message that names the size, when its results are larger than the driver should hold.
    /// Without it the driver runs out of memory and takes the whole application along, often minutes later and without a word
    /// on who was to blame. Serialized results are also smaller than the objects that become of them.
    ///
    /// ## Silent when
    /// - the limit is smaller than the driver's heap
    /// - the heap's size isn't written: it may come from the submit command
    /// - a comment beside the setting gives the reason
    /// - the file is a test
    /// - information only, on `local[…]`
    ///
    /// ## Example
    /// ```conf
    /// spark.driver.maxResultSize 0  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.driver.memory 8g
    /// spark.driver.maxResultSize 2g
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#application-properties>
    /// - <https://issues.apache.org/jira/browse/SPARK-3466> (why there is a limit for results)
    pub MAX_RESULT_SIZE = {
        name: "max-result-size", group: Settings, severity: Information, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for (setting, value) in support::known_at_start(cx.settings, KEY) {
        let Some(limit) = support::bytes(KEY, cx.shared.version(), value) else { continue };
        let finding = match limit.0 {
            ..=0 => Some(unlimited(cx, setting)),
            _ => larger_than_the_heap(cx, setting, limit),
        };
        if let Some(finding) = finding.filter(|_| !support::has_reason(&cx.shared, setting)) {
            cx.shared.report(finding);
        }
    }
}

fn unlimited(cx: &SettingsContext<'_>, setting: &Setting) -> Finding {
    let message = "No limit on what actions send to the driver: a large result ends the application instead of one job. The \
                   default is 1 GiB; half of the driver's heap is plenty.";
    let better = match heap(cx) {
        Some(heap) if heap.0 >= 4 << 30 => "2g",
        _ => "1g",
    };
    support::replaceable(&cx.shared, Severity::Information, setting, message.to_owned(), better)
}

fn larger_than_the_heap(cx: &SettingsContext<'_>, setting: &Setting, limit: Bytes) -> Option<Finding> {
    let heap = heap(cx).filter(|heap| limit >= *heap)?;
    let message = format!(
        "Results of up to {limit} are let through to a driver whose heap is {heap}: it runs out of memory before the limit \
         aborts the job. Keep the limit below half of the heap."
    );
    let better = format!("{}m", (heap.0 / 2) >> 20);
    let mut finding = support::replaceable(&cx.shared, Severity::Information, setting, message, &better);
    finding.evidence.extend(crate::rules::in_force::evidence(cx.shared.conf, MEMORY));
    Some(finding)
}

/// The driver's heap, where somebody says it.
fn heap(cx: &SettingsContext<'_>) -> Option<Bytes> {
    support::is_written(&cx.shared, MEMORY).then(|| cx.shared.conf.bytes(MEMORY)).flatten()
}
