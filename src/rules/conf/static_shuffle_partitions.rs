//! A fixed number of shuffle partitions.

use super::support;
use crate::conf::Setting;
use crate::declare_rule;
use crate::rules::{Finding, Fix, SettingsContext, Severity, Vendor};

const KEY: &str = "spark.sql.shuffle.partitions";
const INITIAL: &str = "spark.sql.adaptive.coalescePartitions.initialPartitionNum";

declare_rule! {
    /// `spark.sql.shuffle.partitions` is set to a fixed number.
    ///
    /// ## Why
    /// One number has to serve every shuffle of the job, small and large, today and when the data has grown. With adaptive query
    /// execution it is the upper bound of reduce tasks: merging starts from it. Without, every shuffle has exactly that many: too
    /// many tiny tasks and files for little data, partitions that spill for much.
    ///
    /// ## Silent when
    /// - the job runs on `local[…]` or the file is a test: a small number is right there
    /// - the session is for tests by its settings: a few partitions and no user interface
    /// - the value is `auto` on Databricks, an expression, or a template
    /// - the same document starts a stateful stream: the number is fixed in its checkpoint
    /// - a hint only, when the number is the default
    /// - information with AQE on, where the number only bounds what AQE merges
    ///
    /// ## Example
    /// ```conf
    /// spark.sql.shuffle.partitions 64  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.sql.adaptive.coalescePartitions.initialPartitionNum 800
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#coalescing-post-shuffle-partitions>
    pub STATIC_SHUFFLE_PARTITIONS = {
        name: "static-shuffle-partitions", group: Settings, severity: Information, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    if support::runs_locally(cx) || cx.shared.is_test || cx.plan.is_some_and(support::reads_a_stream) {
        return;
    }
    for (setting, value) in support::known(cx.settings, KEY) {
        let vendor = cx.shared.environment.vendor;
        let Ok(count) = value.parse::<u64>() else { continue };
        if count == 0
            || is_for_trials(cx, count)
            || (vendor == Vendor::Databricks && value.eq_ignore_ascii_case("auto"))
        {
            continue;
        }
        let finding = finding(cx, setting, count);
        cx.shared.report(finding);
    }
}

/// A session for tests: few partitions for a few cores, and no user interface.
fn is_for_trials(cx: &SettingsContext<'_>, count: u64) -> bool {
    let has_no_ui =
        support::known(cx.settings, "spark.ui.enabled").any(|(_, value)| value.eq_ignore_ascii_case("false"));
    count <= 8 && has_no_ui
}

fn finding(cx: &SettingsContext<'_>, setting: &Setting, count: u64) -> Finding {
    let adaptive = cx.shared.conf.boolean("spark.sql.adaptive.enabled").unwrap_or(true);
    let merges = cx.shared.conf.boolean("spark.sql.adaptive.coalescePartitions.enabled").unwrap_or(true);
    let version = cx.shared.version();
    let (severity, message) = if count == 200 {
        (Severity::Hint, format!("200 shuffle partitions are the default of Spark {version}: this changes nothing."))
    } else if adaptive && merges {
        let message = format!(
            "Every shuffle starts with {count} partitions (default 200). AQE merges small ones but never makes more: keep the \
             number generous, or set {INITIAL} for AQE alone."
        );
        (Severity::Information, message)
    } else {
        let why = if adaptive { "AQE does not merge partitions here" } else { "AQE is off" };
        let message = format!(
            "{why}: every shuffle has exactly {count} tasks, whatever its size (default 200). 100-200 MiB a task is a good aim."
        );
        (Severity::Warning, message)
    };
    let mut finding = support::finding(&cx.shared, severity, support::value_or_key(setting), message);
    finding.unnecessary = count == 200;
    if adaptive && merges && count != 200 {
        let renamed = support::rename(&cx.shared, setting, INITIAL);
        finding.fixes.extend(renamed.map(|fix| Fix { title: format!("Use {INITIAL} instead"), ..fix }));
    }
    finding.fixes.extend(support::remove(&cx.shared, setting));
    finding
}
