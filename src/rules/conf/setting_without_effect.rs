//! Settings that do nothing where they are set.

use super::support;
use crate::conf::Setting;
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::Operator;
use crate::rules::{Confidence, Finding, SettingsContext, Severity};

const PARALLELISM: &str = "spark.default.parallelism";

declare_rule! {
    /// A setting that this job does not look at.
    ///
    /// ## Why
    /// On `local[…]` everything runs in the driver's JVM: there are no executors whose memory, cores or number could be set,
    /// and `spark.driver.memory` is the one heap. `spark.default.parallelism` is the number of partitions of RDDs; the shuffles
    /// of DataFrames take theirs from `spark.sql.shuffle.partitions`. Whoever tunes such a setting measures noise.
    ///
    /// ## Silent when
    /// - the master is not known, or is `local-cluster[…]`, which starts executors
    /// - the master comes from another place than the document that sets the executors: a development master may be overridden
    /// - for `spark.default.parallelism`: the file uses RDDs, or its frames are not known
    /// - the file is a test
    ///
    /// ## Example
    /// ```conf
    /// spark.master local[4]
    /// spark.executor.memory 8g  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.master local[4]
    /// spark.driver.memory 8g
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#execution-behavior>
    /// - <https://spark.apache.org/docs/latest/submitting-applications.html#master-urls>
    pub SETTING_WITHOUT_EFFECT = {
        name: "setting-without-effect", group: Settings, severity: Information, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

/// Keys, and beginnings of keys, that only an application with executors reads.
const OF_EXECUTORS: [&str; 8] = [
    "spark.cores.max",
    "spark.dynamicAllocation.",
    "spark.executor.cores",
    "spark.executor.extraJavaOptions",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.speculation",
];

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let mut findings = Vec::new();
    if has_local_master(cx) {
        findings.extend(
            cx.settings.iter().filter(|setting| is_of_executors(setting)).map(|setting| no_executors(cx, setting)),
        );
    }
    if cx.plan.is_some_and(uses_frames_only) && !uses_rdds(cx.shared.text) {
        let parallelism = support::known_at_start(cx.settings, PARALLELISM).map(|(setting, _)| setting);
        findings.extend(parallelism.map(|setting| only_rdds(cx, setting)));
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

/// The document itself sets a local master, and it is the one in force.
fn has_local_master(cx: &SettingsContext<'_>) -> bool {
    let local = |master: &str| master.starts_with("local") && !master.starts_with("local-cluster");
    let mut masters = support::known_at_start(cx.settings, "spark.master").peekable();
    masters.peek().is_some()
        && masters.all(|(setting, master)| local(master) && support::is_in_force(&cx.shared, setting))
}

fn is_of_executors(setting: &Setting) -> bool {
    let key = setting.key.as_str();
    !setting.key_is_prefix
        && !setting.carrier.at_run_time()
        && OF_EXECUTORS.iter().any(|of| key == *of || (of.ends_with('.') && key.starts_with(of)))
}

fn no_executors(cx: &SettingsContext<'_>, setting: &Setting) -> Finding {
    let instead = match setting.key.as_str() {
        "spark.executor.memory" => " The one heap is `spark.driver.memory`.",
        "spark.executor.cores" | "spark.executor.instances" | "spark.cores.max" => {
            " The number in `local[…]` is that of tasks at a time."
        }
        _ => "",
    };
    let message = format!("On a local master there are no executors: `{}` does nothing.{instead}", setting.key);
    let mut finding = support::finding(&cx.shared, Severity::Information, setting.key_span, message);
    finding.unnecessary = true;
    finding.with_fixes(support::remove(&cx.shared, setting))
}

/// The plan has frames, and nothing in it is an RDD.
fn uses_frames_only(plan: &StaticPlan) -> bool {
    !plan.actions.is_empty()
        && plan.actions.iter().all(|action| !action.on_rdd && action.input.is_some())
        && plan.nodes.iter().all(|node| node.operator != Operator::Rdd)
}

fn uses_rdds(text: &str) -> bool {
    [".rdd", "parallelize", "sparkContext", "textFile", "SparkContext"].iter().any(|sign| text.contains(sign))
}

fn only_rdds(cx: &SettingsContext<'_>, setting: &Setting) -> Finding {
    let message = format!(
        "`{PARALLELISM}` is the number of partitions of RDDs: the shuffles of this file's DataFrames take theirs from \
         `spark.sql.shuffle.partitions`."
    );
    let mut finding = support::finding(&cx.shared, Severity::Hint, setting.key_span, message);
    finding.confidence = Confidence::Reasoned;
    finding.with_fixes(support::remove(&cx.shared, setting))
}
