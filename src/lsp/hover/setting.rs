//! Hover on a setting.

use std::path::Path;

use super::super::document::Snapshot;
use super::word;
use crate::catalog::{self, Default, Kind, Scope, SettingFacts, SparkVersion, family, notes, retired};
use crate::conf::{Carrier, Effective, EffectiveConf, Layer, Origin};
use crate::text::Span;

/// What there is to say of the setting at an offset, and its place.
pub(super) fn sections(snapshot: &Snapshot, offset: usize) -> Option<(Span, Vec<String>)> {
    let (key, span) = key_at(snapshot, offset)?;
    let conf = snapshot.conf_at(offset);
    let version = conf.version();
    let facts = catalog::setting(&key);
    let mut sections = vec![heading(&key, facts, version)];
    let guessed = guessed_default(snapshot, &conf, &key, facts);
    let is_guessed = guessed.is_some();
    sections.push(guessed.unwrap_or_else(|| effective(snapshot, &conf, &key, facts)));
    sections.extend(notes::note(&key).map(str::to_owned));
    sections.extend(notes::tuning(&key).map(str::to_owned));
    let history = facts.map(|facts| history(facts, version)).filter(|history| !history.is_empty() && !is_guessed);
    sections.extend(history);
    sections.extend(names(&key, facts));
    sections.extend(last_run(snapshot, &conf, &key));
    sections.extend(page(&key, version));
    Some((span, sections))
}

/// What there is to say of a setting wherever it is written; `None` for keys that are not in the catalogue.
pub(in super::super) fn documentation(key: &str, version: SparkVersion) -> Option<String> {
    let facts = catalog::setting(key)?;
    let mut sections = vec![heading(key, Some(facts), version)];
    sections.extend(notes::note(key).map(str::to_owned));
    sections.extend(notes::tuning(key).map(str::to_owned));
    sections.push(history(facts, version));
    sections.extend(names(key, Some(facts)));
    sections.extend(page(key, version));
    sections.retain(|section| !section.is_empty());
    Some(sections.join("\n\n"))
}

/// The setting written at an offset; else a known key that stands there in any text (`spark.conf.get("…")`, a comment).
pub(in super::super) fn key_at(snapshot: &Snapshot, offset: usize) -> Option<(String, Span)> {
    let settings = snapshot.facts().settings();
    let written = settings.iter().find(|setting| {
        !setting.key_is_prefix && (setting.key_span.touches(offset) || setting.value_span.touches(offset))
    });
    if let Some(setting) = written {
        return Some((setting.key.clone(), setting.key_span.cover(setting.value_span)));
    }
    let text = snapshot.document.text();
    let span = word(text, offset, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    let key = span.of(text).trim_end_matches('.');
    let known = key.starts_with("spark.") && catalog::setting(key).is_some();
    known.then(|| (key.to_owned(), Span::new(span.start as usize, span.start as usize + key.len())))
}

fn heading(key: &str, facts: Option<&SettingFacts>, version: SparkVersion) -> String {
    let Some(facts) = facts else {
        let what = match (family(key), retired(key)) {
            (Some(_), _) => "a free name that Spark or a plugin hands on",
            (None, Some(_)) => "no Spark since 3.0 reads it",
            (None, None) => "not a setting that we know",
        };
        return format!("**{key}** · {what}");
    };
    let mut parts = vec![format!("**{key}**"), kind(facts, version).to_owned()];
    parts.extend(facts.scope(version).map(|scope| {
        match scope {
            Scope::Core => "fixed when the application starts",
            Scope::SqlRuntime => "runtime SQL setting",
            Scope::SqlStatic => "static SQL setting",
        }
        .to_owned()
    }));
    parts.extend(facts.since().map(|since| format!("since {since}")));
    if !facts.present(version) {
        parts.push(format!("not read by Spark {}.{}", version.major, version.minor));
    }
    if facts.registered() && !facts.public(version) {
        parts.push("internal".to_owned());
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// What Spark parses the value into, with the unit of a bare number.
pub(in super::super) fn kind(facts: &SettingFacts, version: SparkVersion) -> &'static str {
    use catalog::{ByteUnit, TimeUnit};
    match facts.kind(version) {
        Kind::Boolean => "boolean",
        Kind::Int | Kind::Long => "int",
        Kind::Double | Kind::Decimal => "number",
        Kind::String => "string",
        Kind::StringList => "list",
        Kind::LongList => "list of ints",
        Kind::Bytes(ByteUnit::Byte) => "size, in bytes without a unit",
        Kind::Bytes(ByteUnit::KiB) => "size, in KiB without a unit",
        Kind::Bytes(ByteUnit::MiB) => "size, in MiB without a unit",
        Kind::Time(TimeUnit::Nanoseconds) => "duration, in ns without a unit",
        Kind::Time(TimeUnit::Milliseconds) => "duration, in ms without a unit",
        Kind::Time(TimeUnit::Seconds) => "duration, in s without a unit",
        Kind::Time(TimeUnit::Minutes) => "duration, in min without a unit",
        Kind::Regex => "regular expression",
        Kind::Enum => "one of a few words",
        Kind::Untyped => "",
    }
}

fn effective(snapshot: &Snapshot, conf: &EffectiveConf, key: &str, facts: Option<&SettingFacts>) -> String {
    let Effective { value, template, origin, overridden } = conf.get(key);
    let from = origin.as_ref().map(|origin| self::origin(snapshot, origin));
    if let Some(Origin::Launches(_)) = origin {
        return by_launch(snapshot, conf, key);
    }
    let stated = match (value, template, from) {
        (Some(value), _, Some(from)) => format!("Effective here: `{value}`, {from}"),
        (None, true, Some(from)) => format!("Effective here: known only when the job runs, {from}"),
        (None, false, Some(from)) => format!("Effective here: nothing, {from}"),
        (_, _, None) => match facts.map(|facts| facts.default(conf.version())) {
            Some(Default::Symbolic(how)) => format!("Nobody sets it; the default depends on the machine: {how}"),
            _ => "Nobody sets it here.".to_owned(),
        },
    };
    if overridden.is_empty() {
        return stated;
    }
    let losers: Vec<String> = overridden.iter().map(|layer| loser(snapshot, layer)).collect();
    format!("{stated}; overrides {}", losers.join(" and "))
}

/// Every default of a key that nobody sets, if it changed between releases and which of them is used is not known.
fn guessed_default(
    snapshot: &Snapshot,
    conf: &EffectiveConf,
    key: &str,
    facts: Option<&SettingFacts>,
) -> Option<String> {
    if snapshot.project.environment.version_known || !matches!(conf.get(key).origin, Some(Origin::Default(_))) {
        return None;
    }
    let defaults = default_by_release(facts?)?;
    Some(format!("Nobody sets it here, and no Spark version is known: the default is {defaults}."))
}

/// What holds for each of the ways in which the job is started.
fn by_launch(snapshot: &Snapshot, conf: &EffectiveConf, key: &str) -> String {
    let each = snapshot.project.launches(&snapshot.path).into_iter().map(|launch| {
        let effective = EffectiveConf::new(conf.version(), launch.layers).get(key);
        let value = effective.value.map_or("nothing".to_owned(), |value| format!("`{value}`"));
        let value = if effective.template { "known only when the job runs".to_owned() } else { value };
        let from = effective.origin.map(|from| format!(", {}", origin(snapshot, &from))).unwrap_or_default();
        format!("- started by {}:{}: {value}{from}", shown(snapshot, &launch.path), launch.line)
    });
    format!("Effective here: what starts the job decides\n{}", each.collect::<Vec<_>>().join("\n"))
}

/// A default that changed, by releases; `None` if it is the same in all of them.
fn default_by_release(facts: &SettingFacts) -> Option<String> {
    let defaults: Vec<String> = facts
        .history()
        .iter()
        .filter_map(|(releases, default)| Some(format!("{} in {releases}", shown_default(*default)?)))
        .collect();
    (defaults.len() > 1).then(|| defaults.join(", "))
}

/// A default as it is read; `None` where there is none to tell of.
pub(in super::super) fn shown_default(default: Default) -> Option<String> {
    Some(match default {
        Default::Value("") => "empty".to_owned(),
        Default::Value(value) => format!("`{value}`"),
        Default::Unset => "unset".to_owned(),
        Default::Symbolic(how) => format!("depends on the machine ({how})"),
        Default::Fallback(key) => format!("that of `{key}`"),
        Default::Unknown | Default::Absent => return None,
    })
}

fn loser(snapshot: &Snapshot, layer: &Layer) -> String {
    let value = layer.value.literal().map_or("an unknown value".to_owned(), |value| format!("`{value}`"));
    format!("{value} {}", origin(snapshot, &layer.origin))
}

/// Where a value comes from, as words behind it.
pub(super) fn origin(snapshot: &Snapshot, origin: &Origin) -> String {
    match origin {
        Origin::Default(version) => format!("the default of Spark {version}"),
        Origin::Launches(launches) => {
            let each = launches.iter().map(|layer| loser(snapshot, layer));
            format!("by how the job is started: {}", each.collect::<Vec<_>>().join(", "))
        }
        Origin::Run(label) => format!("as in the linked run {label}"),
        Origin::Written { carrier, path, line } if **path == snapshot.path => {
            format!("from {}{}", snapshot.line_in_words(*line), at_run_time(*carrier))
        }
        Origin::Written { carrier, path, line } => {
            format!("from {}:{line}{}", shown(snapshot, path), at_run_time(*carrier))
        }
    }
}

fn at_run_time(carrier: Carrier) -> &'static str {
    if carrier.at_run_time() { " on, at run time" } else { "" }
}

fn shown(snapshot: &Snapshot, path: &Path) -> String {
    path.strip_prefix(&snapshot.project.root).unwrap_or(path).display().to_string().replace('\\', "/")
}

/// The defaults by release, in one line where they never changed.
fn history(facts: &SettingFacts, version: SparkVersion) -> String {
    let lines: Vec<String> = facts
        .history()
        .iter()
        .filter_map(|(releases, default)| {
            let value = shown_default(*default)?;
            let here = if releases.contains(version.into()) { "**" } else { "" };
            Some(format!("{here}{value} in {releases}{here}"))
        })
        .collect();
    match lines.as_slice() {
        [] => String::new(),
        [one] => format!("Default {} (Spark).", one.replace("**", "")),
        many => format!("Default {} (Spark).", many.join(", ")),
    }
}

/// Older and newer names, removal.
fn names(key: &str, facts: Option<&SettingFacts>) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(facts) = facts {
        if let Some(main) = facts.alternative_of() {
            let since = main.since.map(|since| format!(" since {since}")).unwrap_or_default();
            sentences.push(format!("An older name of `{}`{since}.", main.key));
        }
        if let Some(version) = facts.deprecated_in() {
            sentences.push(format!("Deprecated since Spark {version}."));
        }
        if let Some(removed) = facts.removed_in() {
            sentences.push(format!("Removed in Spark {}; only `{}` is accepted.", removed.since, removed.accepted));
        }
    }
    if let Some(retired) = retired(key) {
        let instead = retired.instead.map(|key| format!(" Set `{key}` instead.")).unwrap_or_default();
        sentences.push(format!("Not read since Spark {}. {}{instead}", retired.since, retired.what));
    }
    sentences
}

/// What the newest linked run recorded, and whether it is what holds here.
fn last_run(snapshot: &Snapshot, conf: &EffectiveConf, key: &str) -> Option<String> {
    let run = snapshot.project.runs.first()?;
    let recorded = run.run.conf.get(key)?;
    let differs = match conf.get(key).value {
        Some(value) if value != *recorded => ", which is not what holds here",
        _ => "",
    };
    Some(format!("In the last run ({}): `{recorded}`{differs}.", run.label))
}

/// Spark's own page that lists the setting.
fn page(key: &str, version: SparkVersion) -> Option<String> {
    catalog::link(key, version).map(|page| format!("[Spark documentation]({page})"))
}
