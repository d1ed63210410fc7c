//! Dynamic allocation without what it needs.

use super::support;
use crate::conf::Setting;
use crate::declare_rule;
use crate::rules::{Finding, Fix, FixKind, SettingsContext, Severity, Vendor};

const ENABLED: &str = "spark.dynamicAllocation.enabled";
const TRACKING: &str = "spark.dynamicAllocation.shuffleTracking.enabled";
const SERVICE: &str = "spark.shuffle.service.enabled";
const INSTANCES: &str = "spark.executor.instances";

declare_rule! {
    /// Dynamic allocation without a way to keep shuffle data, or together with a fixed number of executors.
    ///
    /// ## Why
    /// An executor that is given back takes the shuffle files on its disks with it. Spark therefore starts with dynamic
    /// allocation only if something looks after them: the external shuffle service, shuffle tracking (on by default since
    /// Spark 3.4), or decommissioning that moves shuffle blocks. `spark.executor.instances` beside it is only the number to
    /// start with: the application grows and shrinks all the same.
    ///
    /// ## Silent when
    /// - shuffle tracking is on, as it is by default since Spark 3.4, or the shuffle service, or decommissioning
    /// - the shuffle data is kept elsewhere: another shuffle manager, a plugin of the sort shuffle
    /// - a vendor's platform brings its own shuffle service
    /// - the job runs on `local[…]`
    /// - information only, where the cluster's own settings may hold what is missing here
    ///
    /// ## Example
    /// ```conf
    /// spark.dynamicAllocation.enabled true  # finding
    /// spark.dynamicAllocation.shuffleTracking.enabled false
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.dynamicAllocation.enabled true
    /// spark.dynamicAllocation.shuffleTracking.enabled true
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/job-scheduling.html#dynamic-resource-allocation>
    /// - <https://spark.apache.org/docs/latest/core-migration-guide.html>
    pub DYNAMIC_ALLOCATION_INCOMPLETE = {
        name: "dynamic-allocation-incomplete", group: Settings, severity: Error, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.conf.boolean(ENABLED) != Some(true) || support::runs_locally(cx) {
        return;
    }
    let mut findings = Vec::new();
    for (setting, _) in support::known_at_start(cx.settings, ENABLED) {
        if support::is_in_force(&cx.shared, setting) && !keeps_shuffle_data(cx) {
            findings.push(nothing_keeps_it(cx, setting));
        }
    }
    for (setting, value) in support::known_at_start(cx.settings, INSTANCES) {
        if value.parse::<u32>().is_ok_and(|count| count > 0) && support::is_in_force(&cx.shared, setting) {
            findings.push(only_the_start(cx, setting, value));
        }
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

fn keeps_shuffle_data(cx: &SettingsContext<'_>) -> bool {
    let conf = cx.shared.conf;
    let on = |key: &str| conf.boolean(key) == Some(true);
    // A value that is not known may well be true.
    let may_be_on = |key: &str| on(key) || conf.get(key).template;
    cx.shared.environment.vendor != Vendor::Oss
        || may_be_on(SERVICE)
        || may_be_on(TRACKING)
        || (may_be_on("spark.decommission.enabled") && may_be_on("spark.storage.decommission.shuffleBlocks.enabled"))
        || on("spark.dynamicAllocation.testing")
        || support::is_written(&cx.shared, "spark.shuffle.manager")
        || support::is_written(&cx.shared, "spark.shuffle.sort.io.plugin.class")
}

fn nothing_keeps_it(cx: &SettingsContext<'_>, setting: &Setting) -> Finding {
    let version = cx.shared.version();
    // Only a properties file of its own takes the place of the cluster's settings.
    let says_no = support::is_written(&cx.shared, TRACKING) || support::is_written(&cx.shared, SERVICE);
    // A command of its own may well be given the service by the cluster.
    let says_all = support::is_written(&cx.shared, TRACKING) && support::is_written(&cx.shared, SERVICE);
    let severity = match says_no {
        true if cx.shared.format.is_some() && !says_all => Severity::Warning,
        true => Severity::Error,
        false if cx.properties.is_some() => Severity::Error,
        false => Severity::Information,
    };
    let message = format!(
        "Dynamic allocation needs {SERVICE}, {TRACKING} or decommissioning of shuffle blocks: with none of them Spark \
         {version} does not start."
    );
    let finding = support::finding(&cx.shared, severity, support::value_or_key(setting), message);
    let tracking = match support::known_at_start(cx.settings, TRACKING).last() {
        Some((tracking, _)) => support::set_value(&cx.shared, tracking, "true"),
        None => add_tracking(cx, setting),
    };
    finding.with_fixes(tracking).with_fixes(support::set_value(&cx.shared, setting, "false"))
}

/// A setting beside the one that switches dynamic allocation on.
fn add_tracking(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Fix> {
    let edit = support::beside(&cx.shared, setting, TRACKING, "true")?;
    Some(Fix {
        title: "Switch shuffle tracking on".to_owned(),
        kind: FixKind::QuickFix,
        safe: false,
        edits: vec![edit],
    })
}

fn only_the_start(cx: &SettingsContext<'_>, setting: &Setting, count: &str) -> Finding {
    let message = format!(
        "Dynamic allocation is on: {count} executors are only the start, and the application grows and shrinks from there. \
         spark.dynamicAllocation.maxExecutors bounds it."
    );
    support::finding(&cx.shared, Severity::Information, setting.key_span, message)
        .with_fixes(support::rename(&cx.shared, setting, "spark.dynamicAllocation.initialExecutors"))
        .with_fixes(support::remove(&cx.shared, setting))
}
