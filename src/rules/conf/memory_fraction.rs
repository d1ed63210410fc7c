//! Extremes of Spark's memory regions, and of its patience with tasks.

use super::support;
use crate::conf::Setting;
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity};

const FRACTION: &str = "spark.memory.fraction";
const STORAGE: &str = "spark.memory.storageFraction";
const OFF_HEAP: &str = "spark.memory.offHeap.enabled";
const OFF_HEAP_SIZE: &str = "spark.memory.offHeap.size";
const MAX_FAILURES: &str = "spark.task.maxFailures";

declare_rule! {
    /// Spark's share of the heap at an extreme, off-heap memory by halves, or no second attempt for a task.
    ///
    /// ## Why
    /// `spark.memory.fraction` is what execution and cache may take; the rest holds the objects of the code and Spark's own. At
    /// 0.9 and more the rest runs out of memory while Spark's region is half empty, at 0.2 and less everything spills.
    /// Off-heap memory needs both its switch and its size: the switch alone stops the application at its start, the size
    /// alone does nothing. With `spark.task.maxFailures` at 1 the first lost executor ends the job.
    ///
    /// ## Silent when
    /// - the value lies between the extremes, however far from the default
    /// - another place overrides the value, or a comment beside the setting gives the reason
    /// - the file is a test
    /// - for the number of attempts: the job runs on `local[…]`
    ///
    /// ## Example
    /// ```conf
    /// spark.memory.fraction 0.95  # finding
    /// spark.memory.offHeap.enabled true  # finding
    /// spark.task.maxFailures 1  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.memory.fraction 0.7
    /// spark.memory.offHeap.enabled true
    /// spark.memory.offHeap.size 4g
    /// spark.task.maxFailures 8
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/tuning.html#memory-management-overview>
    /// - <https://spark.apache.org/docs/latest/configuration.html#memory-management>
    pub MEMORY_FRACTION = {
        name: "memory-fraction", group: Settings, severity: Information, confidence: Documented, since: "0.1.0",
        options: [
            ("max-fraction", 0.9, "A spark.memory.fraction from this on is reported (the default of Spark is 0.6)."),
            ("min-fraction", 0.2, "A spark.memory.fraction up to this is reported.")
        ],
        check: Settings(check),
    }
}

type Look = fn(&SettingsContext<'_>, &Setting, &str) -> Option<Finding>;

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let looks: [(&str, Look); 5] = [
        (FRACTION, fraction),
        (STORAGE, storage),
        (OFF_HEAP, off_heap),
        (OFF_HEAP_SIZE, off_heap_size),
        (MAX_FAILURES, attempts),
    ];
    for (key, look) in looks {
        for (setting, value) in support::known_at_start(cx.settings, key) {
            let spoken_for = support::has_reason(&cx.shared, setting) || !support::is_in_force(&cx.shared, setting);
            if let Some(finding) =
                look(cx, setting, value).filter(|finding| finding.severity == Severity::Error || !spoken_for)
            {
                cx.shared.report(finding);
            }
        }
    }
}

fn fraction(cx: &SettingsContext<'_>, setting: &Setting, value: &str) -> Option<Finding> {
    let fraction = value.parse::<f64>().ok().filter(|fraction| (0.0..=1.0).contains(fraction))?;
    let message = if fraction >= cx.shared.option("max-fraction") {
        format!(
            "Execution and cache may take {value} of the heap (default 0.6): what the code itself and Spark's own objects need \
             runs out first."
        )
    } else if fraction <= cx.shared.option("min-fraction") {
        format!("Execution and cache get {value} of the heap (default 0.6): sorts, joins and caches spill early.")
    } else {
        return None;
    };
    Some(support::replaceable(&cx.shared, Severity::Information, setting, message, "0.6"))
}

/// Nothing left to evict, or nothing that is safe from eviction, is an extreme only at the very end.
fn storage(cx: &SettingsContext<'_>, setting: &Setting, value: &str) -> Option<Finding> {
    let fraction = value.parse::<f64>().ok().filter(|fraction| (0.95..1.0).contains(fraction))?;
    let message = format!(
        "{fraction} of Spark's memory belongs to cached blocks that execution can't evict (default 0.5): once the cache is full, \
         sorts and joins spill."
    );
    Some(support::replaceable(&cx.shared, Severity::Information, setting, message, "0.5"))
}

fn off_heap(cx: &SettingsContext<'_>, setting: &Setting, value: &str) -> Option<Finding> {
    let size = cx.shared.conf.bytes(OFF_HEAP_SIZE)?;
    if !value.eq_ignore_ascii_case("true") || size.0 != 0 || !support::is_in_force(&cx.shared, setting) {
        return None;
    }
    // In code, the size may come from the submit command.
    let severity = if cx.properties.is_some() { Severity::Error } else { Severity::Information };
    let message =
        format!("Off-heap memory is on and {OFF_HEAP_SIZE} is 0: the application does not start. Give it a size.");
    let finding = support::finding(&cx.shared, severity, support::value_or_key(setting), message);
    Some(
        finding
            .with_fixes(support::set_value(&cx.shared, setting, "false"))
            .with_fixes(support::remove(&cx.shared, setting)),
    )
}

fn off_heap_size(cx: &SettingsContext<'_>, setting: &Setting, value: &str) -> Option<Finding> {
    let size = support::bytes(OFF_HEAP_SIZE, cx.shared.version(), value).filter(|size| size.0 > 0)?;
    // Only where the document says no itself, or is the whole of the settings.
    let off = cx.shared.conf.boolean(OFF_HEAP) == Some(false);
    if !off || !(cx.properties.is_some() || support::is_written(&cx.shared, OFF_HEAP)) {
        return None;
    }
    let message = format!("{OFF_HEAP} is false: the {size} are not used.");
    let mut finding = support::finding(&cx.shared, Severity::Information, support::value_or_key(setting), message);
    finding.unnecessary = true;
    let switch = support::known_at_start(cx.settings, OFF_HEAP).last();
    let on = switch.and_then(|(switch, _)| support::set_value(&cx.shared, switch, "true"));
    Some(finding.with_fixes(on).with_fixes(support::remove(&cx.shared, setting)))
}

fn attempts(cx: &SettingsContext<'_>, setting: &Setting, value: &str) -> Option<Finding> {
    if value != "1" || support::runs_locally(cx) {
        return None;
    }
    let message = "A task gets no second attempt (default 4): one lost executor or one broken connection ends the job.";
    Some(support::replaceable(&cx.shared, Severity::Information, setting, message.to_owned(), "4"))
}
