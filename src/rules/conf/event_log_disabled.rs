//! No event log, or one that goes where nobody finds it.

use super::support;
use crate::conf::{Carrier, Setting};
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity, Vendor};

const ENABLED: &str = "spark.eventLog.enabled";
const DIR: &str = "spark.eventLog.dir";

declare_rule! {
    /// The event log is switched off, or written to the driver's own `/tmp`.
    ///
    /// ## Why
    /// The event log is all that is left of a run: the history server reads it, and so does sparkls, to say which line was slow
    /// and why. Off, the night's failure has to be repeated to be understood. Without a folder of its own the log goes to
    /// `/tmp/spark-events` on the driver's machine; Spark does not create it, and does not start without it.
    ///
    /// ## Silent when
    /// - nothing is written about the event log
    /// - the platform keeps its own: Databricks, Glue, EMR, Dataproc, Fabric
    /// - the job runs on `local[…]`, or the file is a test
    /// - a comment beside the setting gives the reason
    ///
    /// ## Example
    /// ```conf
    /// spark.eventLog.enabled false  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.eventLog.enabled true
    /// spark.eventLog.dir hdfs:///shared/spark-logs
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/monitoring.html#viewing-after-the-fact>
    pub EVENT_LOG_DISABLED = {
        name: "event-log-disabled", group: Settings, severity: Information, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    let managed = cx.shared.environment.vendor != Vendor::Oss;
    if cx.shared.is_test || managed || support::runs_locally(cx) {
        return;
    }
    for (setting, value) in support::known_at_start(cx.settings, ENABLED) {
        let finding = match value {
            _ if support::has_reason(&cx.shared, setting) => None,
            value if value.eq_ignore_ascii_case("false") => Some(off(cx, setting)),
            value if value.eq_ignore_ascii_case("true") => without_folder(cx, setting),
            _ => None,
        };
        if let Some(finding) = finding {
            cx.shared.report(finding);
        }
    }
}

fn off(cx: &SettingsContext<'_>, setting: &Setting) -> Finding {
    let message = "No event log: nothing is left of a run to explain it with, neither in the history server nor here.";
    let mut finding =
        support::finding(&cx.shared, Severity::Information, support::value_or_key(setting), message.to_owned());
    // Switched on without a folder, the application may not start.
    let has_folder = support::is_written(&cx.shared, DIR);
    finding.fixes.extend(has_folder.then(|| support::set_value(&cx.shared, setting, "true")).flatten());
    finding.with_fixes(support::remove(&cx.shared, setting))
}

/// Only a settings file tells that no other place names the folder.
fn without_folder(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Finding> {
    if setting.carrier != Carrier::Properties || support::is_written(&cx.shared, DIR) {
        return None;
    }
    let message = format!(
        "The event log goes to /tmp/spark-events on the driver's machine, which must exist for the application to start. \
         Set {DIR} to a folder that is kept."
    );
    Some(support::finding(&cx.shared, Severity::Information, setting.key_span, message))
}
