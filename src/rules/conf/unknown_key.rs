//! Keys that Spark does not know, but nearly.

use super::support;
use crate::catalog::{self, Family, SettingFacts};
use crate::conf::Setting;
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity, Vendor};

declare_rule! {
    /// A key that no Spark knows, close to one that it does.
    ///
    /// ## Why
    /// Spark ignores unknown keys without a word, in settings files, on the command line and in `spark.conf.set`: a mistyped
    /// setting looks set and does nothing.
    ///
    /// ## Silent when
    /// - the name belongs to a family whose names are free: Hadoop, environment variables, Kubernetes labels, catalogs, metrics,
    ///   resources, plugins, vendors, or an application's own settings
    /// - no known name is near: it may belong to a library that we don't know
    /// - the same file reads the key back with `conf.get`
    /// - the key has holes (an f-string) or its section is unknown
    ///
    /// ## Example
    /// ```conf
    /// spark.sql.adaptive.skewJoin.enable true  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.sql.adaptive.skewJoin.enabled true
    /// spark.myteam.ingest.window 7
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#available-properties>
    pub UNKNOWN_KEY = {
        name: "unknown-key", group: Carriers, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    for setting in cx.settings.iter().filter(|setting| !setting.key_is_prefix) {
        let finding = match catalog::setting(&setting.key) {
            Some(facts) => too_new(cx, setting, facts),
            None => mistyped(cx, setting),
        };
        if let Some(finding) = finding {
            cx.shared.report(finding);
        }
    }
}

fn mistyped(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Finding> {
    let key = setting.key.as_str();
    if !key.starts_with("spark.") || catalog::retired(key).is_some() || reads_back(cx.shared.text, key) {
        return None;
    }
    let names: Vec<String> = match catalog::family_name_near(key) {
        Some(name) => vec![name],
        // A first segment that Spark doesn't know may be an application's, or a slip.
        None if catalog::family(key).is_some_and(|family| family != Family::Application) => return None,
        None => catalog::similar(key).into_iter().map(|facts| facts.name().to_owned()).collect(),
    };
    let best = names.first()?;
    let message = format!("Spark does not know `{key}` and ignores it without a word. Did you mean `{best}`?");
    let mut finding = support::finding(&cx.shared, Severity::Warning, setting.key_span, message);
    finding.fixes = names.iter().take(3).filter_map(|name| support::rename(&cx.shared, setting, name)).collect();
    finding.fixes.extend(support::remove(&cx.shared, setting));
    Some(finding)
}

/// A key of a later Spark than the one at hand; vendors bring some of them early.
fn too_new(cx: &SettingsContext<'_>, setting: &Setting, facts: &SettingFacts) -> Option<Finding> {
    let version = cx.shared.version();
    let first = facts.declared_in()?.first;
    let vendor = cx.shared.environment.vendor != Vendor::Oss;
    if vendor
        || cx.shared.is_for_other_versions(setting.key_span)
        || !cx.shared.environment.version_known
        || facts.present(version)
        || catalog::nearest(version) >= first
    {
        return None;
    }
    let since = first.version();
    let message = format!(
        "`{}` came with Spark {}.{}: Spark {version} ignores it without a word.",
        setting.key, since.major, since.minor
    );
    Some(support::finding(&cx.shared, Severity::Information, setting.key_span, message))
}

/// Whether the file reads the key with `get("…")`: then it is the application's own.
fn reads_back(text: &str, key: &str) -> bool {
    text.match_indices(key).any(|(at, _)| {
        let before = text[..at].trim_end_matches(['"', '\'']).trim_end();
        before.ends_with("get(") || before.ends_with("getOption(")
    })
}
