//! Executors of an odd size.

use super::support;
use crate::conf::{Bytes, Setting};
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity, Vendor};

const CORES: &str = "spark.executor.cores";
const MEMORY: &str = "spark.executor.memory";
const OVERHEAD: &str = "spark.executor.memoryOverhead";
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const LEAST_OVERHEAD: Bytes = Bytes(384 << 20);

declare_rule! {
    /// Executors with very many cores, a very large heap, or less overhead than Spark itself would give them.
    ///
    /// ## Why
    /// The tasks of one executor share its heap, its disks and its connections: beyond a handful of cores they wait for each
    /// other. A heap of many tens of gigabytes has long collections, and is lost as a whole. The overhead is what the
    /// container has beside the heap, for threads, network buffers and Python workers; below Spark's own minimum of 384 MiB
    /// the cluster manager kills containers that did nothing wrong.
    ///
    /// ## Silent when
    /// - the job runs on `local[…]`, or the file is a test
    /// - RAPIDS drives the executors, one for each GPU
    /// - Databricks gives executors the size of their machines
    /// - a comment beside the setting gives the reason
    ///
    /// ## Example
    /// ```conf
    /// spark.executor.cores 16  # finding
    /// spark.executor.memory 120g  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.executor.cores 4
    /// spark.executor.memory 30g
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/tuning.html#garbage-collection-tuning>
    /// - <https://spark.apache.org/docs/latest/configuration.html#application-properties>
    pub EXECUTOR_SIZING = {
        name: "executor-sizing", group: Settings, severity: Information, confidence: Reasoned, since: "0.1.0",
        options: [
            ("max-cores", 8.0, "More cores than this are reported."),
            ("max-memory-gib", 64.0, "A larger heap than this many GiB is reported.")
        ],
        check: Settings(check),
    }
}

type Look = fn(&SettingsContext<'_>, &Setting, &str) -> Option<Finding>;

fn check(cx: &mut SettingsContext<'_>) {
    let managed = cx.shared.environment.vendor == Vendor::Databricks || uses_rapids(cx);
    if cx.shared.is_test || managed || support::runs_locally(cx) {
        return;
    }
    let looks: [(&str, Look); 3] = [(CORES, cores), (MEMORY, memory), (OVERHEAD, overhead)];
    for (key, look) in looks {
        for (setting, value) in support::known_at_start(cx.settings, key) {
            if let Some(finding) = look(cx, setting, value).filter(|_| !support::has_reason(&cx.shared, setting)) {
                cx.shared.report(finding);
            }
        }
    }
}

fn uses_rapids(cx: &SettingsContext<'_>) -> bool {
    let plugin = cx.shared.conf.get("spark.plugins").value.is_some_and(|plugins| plugins.contains("rapids"));
    plugin || cx.shared.conf.winners().any(|(key, _)| key.starts_with("spark.rapids."))
}

fn cores(cx: &SettingsContext<'_>, setting: &Setting, value: &str) -> Option<Finding> {
    let limit = cx.shared.option("max-cores");
    let cores = value.parse::<u32>().ok().filter(|cores| f64::from(*cores) > limit)?;
    let message = format!(
        "{cores} tasks at a time share one heap, one set of disks and one set of connections. More executors of about \
         4 cores run the same tasks with less waiting."
    );
    Some(support::finding(&cx.shared, Severity::Information, support::value_or_key(setting), message))
}

fn memory(cx: &SettingsContext<'_>, setting: &Setting, value: &str) -> Option<Finding> {
    const NO_HEAP: f64 = 16_384.0;
    let heap = support::bytes(MEMORY, cx.shared.version(), value)?;
    let gib = heap.0 as f64 / GIB;
    // Beyond that the unit is wrong, which is another rule's word.
    if gib <= cx.shared.option("max-memory-gib") || gib >= NO_HEAP {
        return None;
    }
    let message = format!(
        "A heap of {heap} has long garbage collections, and all of its cached blocks and shuffle files go with one lost \
         executor. Several executors of 16 to 32 GiB hold the same."
    );
    Some(support::finding(&cx.shared, Severity::Information, support::value_or_key(setting), message))
}

fn overhead(cx: &SettingsContext<'_>, setting: &Setting, value: &str) -> Option<Finding> {
    let overhead = support::bytes(OVERHEAD, cx.shared.version(), value)?;
    if overhead >= LEAST_OVERHEAD || overhead.0 <= 0 {
        return None;
    }
    let message = format!(
        "{overhead} beside the heap is less than the {LEAST_OVERHEAD} that Spark gives on its own: containers are killed for \
         what threads and network buffers take. A bare number is MiB."
    );
    Some(support::replaceable(&cx.shared, Severity::Information, setting, message, "512m"))
}
