//! Speculative copies of tasks that write where nothing undoes it.

use super::support;
use crate::declare_rule;
use crate::pyspark::plan::{Action, ActionKind};
use crate::rules::{Finding, SettingsContext, Severity};

const KEY: &str = "spark.speculation";

declare_rule! {
    /// A sink that two attempts of one task can write, while speculation is on.
    ///
    /// ## Why
    /// With speculation on, Spark runs a second copy of a slow task while the first goes on. Files go through a commit protocol
    /// that keeps one of the two. A JDBC write has each task insert rows on a connection of its own, and `foreach` and
    /// `foreachPartition` call whatever they are given: both attempts do it, and rows, messages or requests are there twice.
    ///
    /// ## Silent when
    /// - the sink is a file, a table of Delta, Iceberg or Hudi, or another that commits
    /// - speculation is off, as it is by default
    /// - the job runs on `local[…]`, where nothing is speculated
    /// - the file is a test
    /// - information only, for `foreach` and `foreachPartition`: what they call may bear a second time
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.config("spark.speculation", "true").getOrCreate()
    /// orders = spark.table("orders")
    /// orders.write.jdbc(url, "orders_copy", mode="append")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.config("spark.speculation", "false").getOrCreate()
    /// orders = spark.table("orders")
    /// orders.write.jdbc(url, "orders_copy", mode="append")
    /// ```
    ///
    /// ## Sources
    /// - <https://issues.apache.org/jira/browse/SPARK-4879>
    /// - <https://spark.apache.org/docs/latest/configuration.html#scheduling>
    /// - <https://issues.apache.org/jira/browse/SPARK-9899> (direct committers)
    /// - <https://issues.apache.org/jira/browse/SPARK-27194> (files of another attempt)
    pub SPECULATION_WITH_SIDE_EFFECTS = {
        name: "speculation-with-side-effects", group: Settings, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    let Some(plan) = cx.plan else { return };
    if cx.shared.is_test || support::runs_locally(cx) || cx.shared.conf.boolean(KEY) != Some(true) {
        return;
    }
    for action in &plan.actions {
        if let Some(finding) = finding(cx, action) {
            cx.shared.report(finding);
        }
    }
}

fn finding(cx: &SettingsContext<'_>, action: &Action) -> Option<Finding> {
    let (severity, what) = match &action.kind {
        ActionKind::Foreach => (Severity::Information, format!("`{}` calls its function in", action.method)),
        ActionKind::Write(write) if write.format.as_deref() == Some("jdbc") => {
            (Severity::Warning, "the JDBC write inserts rows from".to_owned())
        }
        _ => return None,
    };
    let in_force = crate::rules::in_force::in_force(cx.shared.conf, KEY)?;
    let place = in_force.split_once(' ').map_or("", |(_, place)| place);
    let message = format!(
        "Speculation is on {place}: {what} both copies of a slow task, and nothing takes one back. Switch it off for this job, \
         or make the sink take the same rows twice."
    );
    let mut finding = support::finding(&cx.shared, severity, action.site.method, message);
    if let Some((setting, _)) = support::known_at_start(cx.settings, KEY).last() {
        finding = finding
            .with_related(support::value_or_key(setting), "speculation is switched on here")
            .with_fixes(support::set_value(&cx.shared, setting, "false"));
    }
    Some(finding)
}
