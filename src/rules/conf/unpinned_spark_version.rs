//! Settings that mean another thing in another Spark, and no word on which Spark it is.

use super::support;
use crate::catalog::{self, SettingFacts};
use crate::conf::Setting;
use crate::declare_rule;
use crate::rules::{SettingsContext, Severity};
use crate::text::Span;

declare_rule! {
    /// Settings that depend on the Spark version, in a project that does not say which one it runs on.
    ///
    /// ## Why
    /// Defaults and names change: adaptive execution is on since 3.2, ANSI mode since 4.0, speculation waits for another share
    /// of tasks. Without a version the facts of the newest are shown, and they may not be those of your cluster.
    ///
    /// ## Silent when
    /// - the version is known: `spark-version` in `sparkls.toml`, a linked run, a `pyspark==` requirement, an installed Spark
    /// - nothing in the document depends on it
    /// - code that doesn't build the session
    /// - the file is a test
    ///
    /// ## Example
    /// ```toml
    /// vendor = "oss"
    /// ```
    /// ```conf
    /// spark.speculation true  # finding
    /// spark.speculation.quantile 0.75
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// spark-version = "3.5"
    /// ```
    /// ```conf
    /// spark.speculation true
    /// spark.speculation.quantile 0.75
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/core-migration-guide.html>
    /// - <https://spark.apache.org/docs/latest/sql-migration-guide.html>
    pub UNPINNED_SPARK_VERSION = {
        name: "unpinned-spark-version", group: Carriers, severity: Hint, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.environment.version_known || cx.shared.is_test {
        return;
    }
    let Some((setting, facts)) = cx.settings.iter().find_map(depends_on_version) else { return };
    let Some(place) = place(cx) else { return };
    let message = format!(
        "No Spark version is known: facts are those of {}, and `{}` {}. Put `spark-version = \"3.5\"`, or whichever it is, into \
         sparkls.toml.",
        cx.shared.version(),
        setting.key,
        how(facts)
    );
    let finding = support::finding(&cx.shared, Severity::Hint, place, message);
    cx.shared.report(finding);
}

/// The first setting of a settings file, or the name of the session that code builds.
fn place(cx: &SettingsContext<'_>) -> Option<Span> {
    match cx.plan {
        Some(plan) => plan.uses.builds_session.then_some(plan.session_span).flatten(),
        None => cx.properties.and(cx.settings.first()).map(|setting| setting.key_span),
    }
}

fn depends_on_version(setting: &Setting) -> Option<(&Setting, &'static SettingFacts)> {
    let facts = catalog::setting(&setting.key).filter(|_| !setting.key_is_prefix)?;
    (facts.history().len() > 1 || is_new(facts) || is_gone(facts)).then_some((setting, facts))
}

fn is_new(facts: &SettingFacts) -> bool {
    facts.declared_in().is_some_and(|declared| declared.first > catalog::Releases::ALL.first)
        && facts
            .since()
            .is_some_and(|since| since.parse::<catalog::SparkVersion>().is_ok_and(|since| since.at_least(3, 1)))
}

fn is_gone(facts: &SettingFacts) -> bool {
    facts.declared_in().is_some_and(|declared| declared.last < catalog::VersionIndex::NEWEST)
}

fn how(facts: &SettingFacts) -> String {
    let last = facts.history().last().filter(|_| facts.history().len() > 1);
    match (last, facts.declared_in()) {
        (Some((releases, _)), _) => {
            let since = releases.first.version();
            format!("has another default since {}.{}", since.major, since.minor)
        }
        (None, Some(declared)) if is_gone(facts) => {
            let last = declared.last.version();
            format!("is gone after {}.{}", last.major, last.minor)
        }
        (None, Some(declared)) => {
            let first = declared.first.version();
            format!("came with {}.{}", first.major, first.minor)
        }
        (None, None) => "depends on it".to_owned(),
    }
}
