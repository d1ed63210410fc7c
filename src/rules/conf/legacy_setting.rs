//! Switches that bring the behaviour of an older Spark back.

use super::support;
use crate::catalog::{self, Default};
use crate::conf::value;
use crate::declare_rule;
use crate::rules::{SettingsContext, Severity};

declare_rule! {
    /// A `spark.sql.legacy` switch that keeps the behaviour of an older Spark.
    ///
    /// ## Why
    /// Legacy switches are there for the time between an upgrade and the change of the code. They go away without much notice,
    /// and until then results differ from what the documentation says: dates that parse otherwise, casts that return null,
    /// paths that are read otherwise.
    ///
    /// ## Silent when
    /// - a comment beside the setting gives the reason
    /// - the value is the default
    /// - the version at hand doesn't have the switch: `retired-key` says that
    /// - the file is a test
    ///
    /// ## Example
    /// ```conf
    /// spark.sql.legacy.timeParserPolicy LEGACY  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// # Reports of before 2020 hold dates in the old pattern, until they are rewritten.
    /// spark.sql.legacy.timeParserPolicy LEGACY
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-migration-guide.html>
    pub LEGACY_SETTING = {
        name: "legacy-setting", group: Settings, severity: Hint, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let version = cx.shared.version();
    for setting in cx.settings.iter().filter(|setting| setting.key.starts_with("spark.sql.legacy.")) {
        let (Some(facts), Some(text)) = (catalog::setting(&setting.key), setting.value.literal()) else { continue };
        let Default::Value(default) = facts.default(version) else { continue };
        if value::parse(facts, version, text).is_err()
            || value::same_value(facts, version, text, default)
            || facts.removed_in().is_some()
            || cx.shared.is_for_other_versions(setting.key_span)
            || support::has_reason(&cx.shared, setting)
        {
            continue;
        }
        let message = format!(
            "Keeps the behaviour of an older Spark (the default of {version} is `{default}`). Say beside it why and until when, \
             or move on."
        );
        let finding = support::finding(&cx.shared, Severity::Hint, setting.key_span, message)
            .with_fixes(support::remove(&cx.shared, setting));
        cx.shared.report(finding);
    }
}
