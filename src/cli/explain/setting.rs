//! A Spark setting on a terminal: what it is, its defaults by version, what became of it.

use std::fmt::Write as _;

use anstyle::Style;

use crate::catalog::{self, Bounds, Default, Kind, Limit, Retired, Scope, SettingFacts, VersionIndex};

/// The page of a key that any Spark has known; `None` for other words.
pub(super) fn page(key: &str) -> Option<String> {
    let facts = catalog::setting(key).map(known);
    facts.or_else(|| catalog::retired(key).map(|retired| gone(key, retired)))
}

fn known(facts: &SettingFacts) -> String {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let newest = newest(facts);
    let mut page = format!("{bold}{}{bold:#}  {dim}{}{dim:#}\n", facts.name(), nature(facts, newest));
    if let Some(note) = catalog::notes::note(facts.name()) {
        let _ = writeln!(page, "\n{note}");
    }
    if let Some(tuning) = catalog::notes::tuning(facts.name()) {
        let _ = writeln!(page, "{tuning}");
    }
    defaults(&mut page, facts);
    accepts(&mut page, facts, newest);
    names(&mut page, facts, newest);
    if let Some(link) = catalog::link(facts.name(), None) {
        let _ = writeln!(page, "\n{dim}{link}{dim:#}");
    }
    page
}

/// The newest release that declares the setting.
pub(in crate::cli) fn newest(facts: &SettingFacts) -> VersionIndex {
    facts.declared_in().map_or(VersionIndex::NEWEST, |releases| releases.last)
}

/// `int, runtime SQL setting, since 1.1.0`.
pub(in crate::cli) fn nature(facts: &SettingFacts, version: VersionIndex) -> String {
    let mut words = vec![kind(facts.kind(version))];
    words.extend(facts.scope(version).map(|scope| scope_words(scope).to_owned()));
    words.extend(facts.since().map(|since| format!("since {since}")));
    if facts.registered() && !facts.public(version) {
        words.push("internal".to_owned());
    }
    words.join(", ")
}

/// What a value is, in words.
pub(in crate::cli) fn kind(kind: Kind) -> String {
    match kind {
        Kind::Boolean => "boolean".to_owned(),
        Kind::Int => "int".to_owned(),
        Kind::Long => "long".to_owned(),
        Kind::Double => "double".to_owned(),
        Kind::Decimal => "decimal".to_owned(),
        Kind::String => "text".to_owned(),
        Kind::StringList => "texts between commas".to_owned(),
        Kind::LongList => "numbers between commas".to_owned(),
        Kind::Bytes(unit) => format!("size (a bare number is in {})", unit_words(unit.suffix())),
        Kind::Time(unit) => format!("duration (a bare number is in {})", unit.name()),
        Kind::Regex => "regular expression".to_owned(),
        Kind::Enum => "one of a list".to_owned(),
        Kind::Untyped => "read as plain text".to_owned(),
    }
}

fn unit_words(suffix: &str) -> &str {
    match suffix {
        "b" => "bytes",
        "k" => "KiB",
        "m" => "MiB",
        other => other,
    }
}

/// Where a setting is in force, in words.
pub(in crate::cli) fn scope_words(scope: Scope) -> &'static str {
    match scope {
        Scope::Core => "fixed when the application starts",
        Scope::SqlRuntime => "runtime SQL setting",
        Scope::SqlStatic => "static SQL setting (fixed with the first session)",
    }
}

fn defaults(page: &mut String, facts: &SettingFacts) {
    if facts.history().is_empty() {
        if let Some(releases) = facts.raw_in() {
            let _ = writeln!(page, "\nRead by Spark {releases} without a declared type or default.");
        }
        return;
    }
    let bold = Style::new().bold();
    let _ = writeln!(page, "\n{bold}Default{bold:#}");
    for (releases, default) in facts.history() {
        let _ = writeln!(page, "  Spark {:8}  {}", releases.to_string(), default_words(*default));
    }
}

/// A default, in words.
pub(in crate::cli) fn default_words(default: Default) -> String {
    match default {
        Default::Value("") => "empty".to_owned(),
        Default::Value(value) => value.to_owned(),
        Default::Unset => "unset".to_owned(),
        Default::Symbolic(how) => how.to_owned(),
        Default::Fallback(key) => format!("the value of {key}"),
        Default::Unknown => "not declared".to_owned(),
        Default::Absent => "no such setting".to_owned(),
    }
}

fn accepts(page: &mut String, facts: &SettingFacts, version: VersionIndex) {
    let allowed = facts.allowed(version);
    if !allowed.is_empty() {
        let _ = writeln!(page, "\nAccepts: {}", allowed.join(", "));
    } else if let Some(interval) = facts.bounds(version).and_then(interval) {
        let _ = writeln!(page, "\nAccepts: {interval}");
    }
}

fn interval(bounds: Bounds) -> Option<String> {
    let end = |limit: Limit, open: &str| format!("{open}{} {}", if limit.inclusive { "=" } else { "" }, limit.value);
    match (bounds.min, bounds.max) {
        (None, None) => None,
        (Some(min), None) => Some(end(min, ">")),
        (None, Some(max)) => Some(end(max, "<")),
        (Some(min), Some(max)) => Some(format!("{} and {}", end(min, ">"), end(max, "<"))),
    }
}

fn names(page: &mut String, facts: &SettingFacts, version: VersionIndex) {
    let mut lines = Vec::new();
    if let Some(main) = facts.alternative_of() {
        let since = main.since.map(|since| format!(" since Spark {since}")).unwrap_or_default();
        let how = if main.translates { ", which counts in another unit" } else { "" };
        lines.push(format!("An older name of {}{since}{how}.", main.key));
    }
    let older = facts.alternatives(version);
    if !older.is_empty() {
        lines.push(format!("Older names: {}.", older.join(", ")));
    }
    if let Some(key) = facts.prepended_key(version) {
        lines.push(format!("The value of {key} is put in front of it."));
    }
    if let Some(since) = facts.deprecated_in() {
        lines.push(format!("Deprecated since Spark {since}."));
    }
    if let Some(removed) = facts.removed_in() {
        lines.push(format!("Removed in Spark {}: any value but `{}` is refused.", removed.since, removed.accepted));
    }
    if let Some(last) = facts.declared_in().map(|releases| releases.last).filter(|last| *last < VersionIndex::NEWEST) {
        let version = last.version();
        lines.push(format!("Spark {}.{} is the last that declares it.", version.major, version.minor));
    }
    if !lines.is_empty() {
        let _ = write!(page, "\n{}\n", lines.join("\n"));
    }
}

fn gone(key: &str, retired: Retired) -> String {
    let bold = Style::new().bold();
    let instead = retired.instead.map(|key| format!("\nUse {key} instead.")).unwrap_or_default();
    format!(
        "{bold}{key}{bold:#}\n\nGone since Spark {}: {}.{instead}\n",
        retired.since,
        retired.what.trim_end_matches('.')
    )
}

#[cfg(test)]
mod tests {
    use super::page;

    fn plain(key: &str) -> String {
        anstream::adapter::strip_str(&page(key).expect("a known key")).to_string()
    }

    #[test]
    fn a_setting_tells_type_scope_and_history() {
        let text = plain("spark.sql.adaptive.enabled");
        assert!(text.starts_with("spark.sql.adaptive.enabled  boolean, runtime SQL setting, since 1.6.0\n"), "{text}");
        assert!(text.contains("Spark 3.0-3.1   false") && text.contains("true\n"), "{text}");
    }

    #[test]
    fn an_older_name_leads_to_the_new_one() {
        assert!(plain("spark.yarn.executor.memoryOverhead").contains("spark.executor.memoryOverhead"));
    }

    #[test]
    fn words_that_no_spark_knew_have_no_page() {
        assert!(page("spark.sql.shufle.partitions").is_none());
    }
}
