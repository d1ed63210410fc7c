//! Keys that the Spark at hand no longer reads, or reads under a newer name.

use super::support;
use crate::catalog::{self, SettingFacts};
use crate::conf::Setting;
use crate::declare_rule;
use crate::rules::{Finding, Fix, FixKind, SettingsContext, Severity, Vendor};

declare_rule! {
    /// A key that the Spark version at hand ignores, refuses, or knows by a newer name.
    ///
    /// ## Why
    /// A key that is no longer read looks set and does nothing. A removed one may be set to the value of the behaviour that
    /// stayed, any other value is refused. An old name that still works does so with a warning in a log that nobody reads.
    ///
    /// ## Silent when
    /// - the document sets the newer name too, as templates for several versions do
    /// - information only, for old names that still work, and on Databricks, whose runtime keeps some
    /// - the version of Spark still has the key
    /// - the code asks for Spark's version before it, and a version that passes still has the key
    ///
    /// ## Example
    /// ```conf
    /// spark.akka.frameSize 128  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.rpc.message.maxSize 128
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/core-migration-guide.html>
    pub RETIRED_KEY = {
        name: "retired-key", group: Carriers, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

/// Releases that code may still ask for, before those whose facts are known.
const RELEASES: [catalog::SparkVersion; 1] = [catalog::SparkVersion::new(2, 4, 8)];

/// What became of a key.
enum Fate {
    /// Not read any more.
    Ignored { since: String, instead: Option<&'static str>, why: String },
    /// An older name that is read when the newer one is not set.
    Alias { of: &'static str, since: Option<&'static str> },
    /// Only the value of the behaviour that stayed is accepted.
    Removed { since: &'static str, accepted: &'static str },
    /// Works, with a warning in Spark's log.
    Deprecated { since: &'static str },
}

fn check(cx: &mut SettingsContext<'_>) {
    for setting in cx.settings.iter().filter(|setting| !setting.key_is_prefix) {
        let Some(fate) = fate(&setting.key, cx.shared.version()).filter(|_| !is_for_other_versions(cx, setting)) else {
            continue;
        };
        let newer = match &fate {
            Fate::Ignored { instead, .. } => *instead,
            Fate::Alias { of, .. } => Some(*of),
            Fate::Removed { .. } | Fate::Deprecated { .. } => None,
        };
        let both = newer.is_some_and(|newer| cx.settings.iter().any(|other| other.key == newer));
        if let Some(finding) = finding(cx, setting, &fate, newer).filter(|_| !both) {
            cx.shared.report(finding);
        }
    }
}

/// Whether the code sets the key for versions of Spark that still have it.
fn is_for_other_versions(cx: &SettingsContext<'_>, setting: &Setting) -> bool {
    cx.shared.versions_at(setting.key_span).is_some_and(|versions| {
        let mut meant =
            RELEASES.iter().chain(&catalog::VERSIONS).copied().filter(|release| versions.holds(*release)).peekable();
        meant.peek().is_none() || meant.any(|version| fate(&setting.key, version).is_none())
    })
}

fn fate(key: &str, version: catalog::SparkVersion) -> Option<Fate> {
    let Some(facts) = catalog::setting(key) else {
        let retired = catalog::retired(key)?;
        let why = retired.what.to_owned();
        let gone = retired.since.parse().is_ok_and(|since| version >= since);
        return gone.then(|| Fate::Ignored { since: retired.since.to_owned(), instead: retired.instead, why });
    };
    let main = facts.alternative_of();
    if let Some(removed) = facts.removed_in().filter(|removed| reached(removed.since, version)) {
        return Some(Fate::Removed { since: removed.since, accepted: removed.accepted });
    }
    if let Some(main) = main.filter(|main| is_read(main.key, key, facts, version)) {
        return Some(Fate::Alias { of: main.key, since: main.since });
    }
    let last = facts.declared_in().or(facts.raw_in()).map(|releases| releases.last);
    if !facts.present(version) && last.is_some_and(|last| last < catalog::nearest(version)) {
        let last =
            last.map(|last| last.version()).map(|last| format!("{}.{}", last.major, last.minor)).unwrap_or_default();
        let instead = main.map(|main| main.key);
        return Some(Fate::Ignored { since: format!("after {last}"), instead, why: String::new() });
    }
    let since = facts.deprecated_in().filter(|since| reached(since, version))?;
    Some(Fate::Deprecated { since })
}

/// Whether the version reads an old name in place of its newer one.
fn is_read(main: &str, key: &str, facts: &SettingFacts, version: catalog::SparkVersion) -> bool {
    let Some(main) = catalog::setting(main).filter(|main| main.present(version)) else { return false };
    main.alternatives(version).contains(&key) || (!facts.registered() && facts.present(version))
}

fn reached(since: &str, version: catalog::SparkVersion) -> bool {
    since.parse::<catalog::SparkVersion>().is_ok_and(|since| version >= since)
}

fn finding(cx: &SettingsContext<'_>, setting: &Setting, fate: &Fate, newer: Option<&str>) -> Option<Finding> {
    let key = &setting.key;
    let version = cx.shared.version();
    let instead = newer.map(|newer| format!(" Use `{newer}`.")).unwrap_or_default();
    let (severity, message) = match fate {
        Fate::Ignored { since, why, .. } => {
            let why = if why.is_empty() { String::new() } else { format!(" {why}") };
            (
                Severity::Warning,
                format!("Spark {version} does not read `{key}` (gone {}).{why}{instead}", since_words(since)),
            )
        }
        Fate::Alias { of, since } => {
            let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
            (
                Severity::Information,
                format!("`{key}` is the old name of `{of}`{since}; it still works and logs a warning."),
            )
        }
        Fate::Removed { since, accepted } => {
            let value = setting.value.literal()?.trim();
            if value.eq_ignore_ascii_case(accepted) {
                let message = format!("`{key}` was removed in Spark {since}; `{accepted}` is what Spark does anyway.");
                (Severity::Information, message)
            } else {
                let message = format!(
                    "`{key}` was removed in Spark {since}: setting it to `{value}` is refused, only `{accepted}` is accepted."
                );
                (Severity::Error, message)
            }
        }
        Fate::Deprecated { since } => (Severity::Information, format!("`{key}` is deprecated since Spark {since}.")),
    };
    let keeps = cx.shared.environment.vendor == Vendor::Databricks;
    let severity = if keeps { severity.min(Severity::Information) } else { severity };
    let mut finding = support::finding(&cx.shared, severity, setting.key_span, message);
    finding.deprecated = true;
    finding.fixes = newer.and_then(|newer| renamed(cx, setting, newer)).into_iter().collect();
    finding.fixes.extend(support::remove(&cx.shared, setting));
    Some(finding)
}

fn since_words(since: &str) -> String {
    if since.starts_with("after") { since.to_owned() } else { format!("since {since}") }
}

/// The rename; where Spark converts the old name's value, with the value as it converts it.
fn renamed(cx: &SettingsContext<'_>, setting: &Setting, newer: &str) -> Option<Fix> {
    let translates =
        catalog::setting(&setting.key).and_then(|facts| facts.alternative_of()).is_some_and(|main| main.translates);
    if !translates {
        return support::rename(&cx.shared, setting, newer);
    }
    let value = translated(&setting.key, setting.value.literal()?.trim())?;
    Some(Fix {
        title: format!("Rename to {newer}, {value}"),
        kind: FixKind::QuickFix,
        safe: false,
        edits: [support::rename(&cx.shared, setting, newer)?, support::set_value(&cx.shared, setting, &value)?]
            .into_iter()
            .flat_map(|fix| fix.edits)
            .collect(),
    })
}

/// What Spark makes of an old name's value (`SparkConf.configsWithAlternatives`).
fn translated(key: &str, value: &str) -> Option<String> {
    match key {
        "spark.kryoserializer.buffer.mb" => Some(format!("{}k", (value.parse::<f64>().ok()? * 1000.0) as i64)),
        "spark.yarn.applicationMaster.waitTries" => Some(format!("{}s", value.parse::<i64>().ok()?.checked_mul(10)?)),
        _ => None,
    }
}
