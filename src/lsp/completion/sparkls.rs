//! Completion and explanations in `sparkls.toml` and in `[tool.sparkls]` of `pyproject.toml`, out of the schema that is
//! generated from the declarations of the settings and the rules.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

use super::Offer;
use super::place::{Place, Spot};
use crate::catalog::VERSIONS;
use crate::text::Span;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../sparkls.schema.json")).unwrap_or_default());

/// What can be typed at an offset, and what it replaces.
pub(super) fn offers(path: &Path, text: &str, offset: usize) -> Option<(Spot, Vec<Offer>)> {
    let line = Line::at(path, text, offset)?;
    let before = text.get(line.start..offset)?;
    if let Some(header) = before.trim_start().strip_prefix('[') {
        let segments = segments(header.trim_start_matches('['));
        let (typed, parents) = segments.split_last()?;
        let mut parents: Vec<&str> = parents.to_vec();
        if line.is_shared {
            parents = parents.strip_prefix(&["tool", "sparkls"])?.to_vec();
        }
        return Some((spot(text, offset, typed), keys(node(&parents)?, is_table)));
    }
    let mut table = line.table;
    let mut rest = before;
    loop {
        let Some((key, value)) = rest.split_once('=') else {
            let segments = segments(rest.trim_start());
            let (typed, parents) = segments.split_last()?;
            table.extend(parents);
            return Some((spot(text, offset, typed), keys(node(&table)?, |_| true)));
        };
        let assigned = segments(key.trim());
        let value = value.trim_start();
        match value.rfind(['{', ',']).filter(|_| value.starts_with('{') && !value.ends_with('}')) {
            // Inside of an inline table the entry behind the last comma is typed.
            Some(at) => {
                table.extend(assigned);
                rest = &value[at + 1..];
            }
            None => {
                table.extend(assigned);
                return values(text, offset, value, node(&table)?, table.last()?);
            }
        }
    }
}

/// What the key at an offset means, and its place.
pub(in super::super) fn explanation(path: &Path, text: &str, offset: usize) -> Option<(Span, String)> {
    let line = Line::at(path, text, offset)?;
    let belongs = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let (before, behind) = text.as_bytes().split_at_checked(offset)?;
    let start = offset - before.iter().rev().take_while(belongs).count();
    let end = offset + behind.iter().take_while(belongs).count();
    let written = text.get(line.start..end)?.trim_start();
    let path = match written.strip_prefix('[') {
        Some(header) => {
            let segments = segments(header.trim_start_matches('['));
            if line.is_shared { segments.strip_prefix(&["tool", "sparkls"])?.to_vec() } else { segments }
        }
        None if written.contains('=') => return None,
        None => line.table.into_iter().chain(segments(written)).collect(),
    };
    let node = node(&path)?;
    let default = node.get("default").map(|default| format!("\n\nDefault `{default}`.")).unwrap_or_default();
    let description = node.get("description").and_then(Value::as_str)?;
    Some((Span::new(start, end), format!("**{}**\n\n{description}{default}", path.join("."))))
}

/// The line of an offset and the table that it stands in.
struct Line<'t> {
    start: usize,
    table: Vec<&'t str>,
    /// The file is shared with other tools.
    is_shared: bool,
}

impl<'t> Line<'t> {
    fn at(path: &Path, text: &'t str, offset: usize) -> Option<Self> {
        let above = text.get(..offset)?;
        let start = above.rfind('\n').map_or(0, |end| end + 1);
        if text[start..].trim_start().starts_with('#') {
            return None;
        }
        let is_shared = path.file_name().is_some_and(|name| name == "pyproject.toml");
        let header = above[..start].lines().rev().map(str::trim).find_map(|line| {
            let header = line.strip_prefix('[')?;
            header.split(']').next()
        });
        let mut table = segments(header.unwrap_or_default());
        table.retain(|segment| !segment.is_empty());
        if is_shared && !text[start..].trim_start().starts_with('[') {
            table = table.strip_prefix(&["tool", "sparkls"])?.to_vec();
        }
        Some(Self { start, table, is_shared })
    }
}

/// The names of a dotted key, without quotes.
fn segments(key: &str) -> Vec<&str> {
    let mut quote = None;
    let is_dot = |char: char| match (quote, char) {
        (None, '"' | '\'') => {
            quote = Some(char);
            false
        }
        (Some(open), _) => {
            quote = quote.filter(|_| open != char);
            false
        }
        (None, _) => char == '.',
    };
    key.split(is_dot).map(|segment| segment.trim().trim_matches(['"', '\''])).collect()
}

/// The schema of what stands under a path of names.
fn node(path: &[&str]) -> Option<&'static Value> {
    path.iter().try_fold(&*SCHEMA, |node, name| {
        let named = properties(node).and_then(|properties| properties.get(*name));
        let node = named.or_else(|| node.get("additionalProperties").filter(|node| node.is_object()))?;
        Some(target(node))
    })
}

/// What a reference of the schema means.
fn target(node: &'static Value) -> &'static Value {
    let reference = node.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    reference.and_then(|pointer| SCHEMA.pointer(pointer)).unwrap_or(node)
}

/// What a table may hold.
fn properties(node: &'static Value) -> Option<&'static Value> {
    let alternatives = node.get("anyOf").and_then(Value::as_array);
    node.get("properties").or_else(|| alternatives?.iter().find_map(|node| node.get("properties")))
}

fn is_table(node: &'static Value) -> bool {
    properties(node).is_some() || node.get("additionalProperties").is_some_and(Value::is_object)
}

fn keys(table: &'static Value, wanted: impl Fn(&'static Value) -> bool) -> Vec<Offer> {
    let entries = properties(table).and_then(Value::as_object).into_iter().flatten();
    let entries = entries.map(|(name, node)| (name, target(node)));
    let offer = |(name, node): (&String, &'static Value)| {
        let description = node.get("description").and_then(Value::as_str);
        let default = node.get("default").map(|default| format!("default {default}"));
        let parts: Vec<&str> = default.as_deref().into_iter().chain(description).collect();
        Offer { detail: Some(parts.join(" · ")).filter(|detail| !detail.is_empty()), ..Offer::new(name.clone()) }
    };
    entries.filter(|(_, node)| wanted(node)).map(offer).collect()
}

fn spot(text: &str, offset: usize, typed: &str) -> Spot {
    let belongs = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let rest = text.as_bytes()[offset..].iter().take_while(belongs).count();
    let span = Span::new(offset - typed.len().min(offset), offset + rest);
    Spot { place: Place::Key(typed.to_owned()), span, needs_quotes: false, under: String::new() }
}

/// The values of a key; a string is offered with its quotes unless they are there.
fn values(text: &str, offset: usize, typed: &str, node: &'static Value, key: &str) -> Option<(Spot, Vec<Offer>)> {
    let inside = ['"', '\''].into_iter().find_map(|quote| typed.strip_prefix(quote));
    if inside.is_some_and(|inside| inside.contains(['"', '\''])) || typed.starts_with('[') {
        return None;
    }
    let label = |value: &Value| match (value, inside) {
        (Value::String(value), Some(_)) => Some(value.clone()),
        (_, Some(_)) => None,
        (value, None) => Some(value.to_string()),
    };
    let spot = Spot { span: spot(text, offset, inside.unwrap_or(typed)).span, ..spot(text, offset, typed) };
    let mut offers: Vec<Offer> = possible(node, key).iter().filter_map(label).map(Offer::new).collect();
    if let Some(default) = node.get("default").and_then(label) {
        offers
            .iter_mut()
            .filter(|offer| offer.label == default)
            .for_each(|offer| offer.detail = Some("default".into()));
    }
    Some((spot, offers))
}

fn possible(node: &'static Value, key: &str) -> Vec<Value> {
    if key == "spark-version" {
        return VERSIONS.iter().rev().map(|known| format!("{}.{}", known.major, known.minor).into()).collect();
    }
    let alternatives = || node.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let listed =
        node.get("enum").or_else(|| alternatives().find_map(|node| node.get("enum"))).and_then(Value::as_array);
    match (listed, node.get("type").and_then(Value::as_str)) {
        (Some(listed), _) => listed.clone(),
        (None, Some("boolean")) => vec![true.into(), false.into()],
        (None, _) => node.get("default").or_else(|| node.get("examples")?.get(0)).cloned().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is offered at `│`, and the text that it replaces.
    fn offered(file: &str, marked: &str) -> Option<(Vec<String>, String)> {
        let offset = marked.find('│').unwrap();
        let text = marked.replace('│', "");
        let (spot, offers) = offers(Path::new(file), &text, offset)?;
        Some((offers.into_iter().map(|offer| offer.label).collect(), spot.span.of(&text).to_owned()))
    }

    fn sparkls(marked: &str) -> (Vec<String>, String) {
        offered("sparkls.toml", marked).unwrap()
    }

    #[test]
    fn keys_of_the_file_of_a_table_and_of_a_rule() {
        assert_eq!(sparkls("local = true\nspark-v│").1, "spark-v");
        assert_eq!(sparkls("│").0, ["spark-version", "runs", "exclude", "vendor", "local", "rules"]);
        assert_eq!(sparkls("[│]").0, ["rules"]);
        assert!(sparkls("[rules.unk│]").0.contains(&"unknown-key".to_owned()));
        assert!(sparkls("[rules]\nunk│").0.contains(&"unknown-key".to_owned()));
        assert_eq!(sparkls("[rules.broadcast-threshold]\nl│ = 3").0, ["severity", "large-mib"]);
        assert_eq!(sparkls("rules.broadcast-threshold.la│").1, "la");
        assert!(sparkls("[rules.per│]").0.contains(&"per-path".to_owned()));
        assert!(sparkls("[rules.per-path.\"*.py\"]\nunk│").0.contains(&"unknown-key".to_owned()));
        assert_eq!(sparkls("[rules.per-path.\"*.py\"]\nunknown-key = \"│\"").0[..2], ["off", "on"]);
        assert_eq!(sparkls("[rules]\nbroadcast-threshold = { severity = \"off\", l│ }").0, ["severity", "large-mib"]);
    }

    #[test]
    fn values_with_quotes_where_none_are_there() {
        assert_eq!(sparkls("vendor = │").0[..2], ["\"oss\"", "\"databricks\""]);
        assert_eq!(sparkls("vendor = \"e│\"").0[2], "emr");
        assert_eq!(sparkls("vendor = \"e│\"").1, "e");
        assert_eq!(sparkls("local = │").0, ["true", "false"]);
        assert_eq!(sparkls("spark-version = \"│\"").0[..2], ["4.3", "4.2"]);
        assert_eq!(sparkls("[rules]\nunknown-key = \"│\"").0[..3], ["off", "on", "hint"]);
        assert_eq!(sparkls("[rules.broadcast-threshold]\nlarge-mib = │").0, ["256.0"]);
        assert_eq!(sparkls("rules.unknown-key = { severity = \"w│").0[4], "warning");
    }

    #[test]
    fn only_the_own_table_of_a_shared_file() {
        assert_eq!(offered("pyproject.toml", "[project]\nna│"), None);
        assert_eq!(offered("pyproject.toml", "na│"), None);
        let own = offered("pyproject.toml", "[project]\n[tool.sparkls]\nlo│\n").unwrap();
        assert!(own.0.contains(&"local".to_owned()));
        assert!(offered("pyproject.toml", "[tool.sparkls.rules.un│").unwrap().0.contains(&"unknown-key".to_owned()));
        assert_eq!(offered("sparkls.toml", "# loc│"), None);
        assert_eq!(offered("sparkls.toml", "runs = [\"│"), None);
    }

    #[test]
    fn a_key_is_explained() {
        let explained = |text: &str, at: usize| explanation(Path::new("sparkls.toml"), text, at);
        assert!(explained("local = true", 3).unwrap().1.contains("Default `false`"));
        assert!(explained("[rules.broadcast-threshold]\nlarge-mib = 3", 30).unwrap().1.contains("Default `256.0`"));
        assert!(explained("[rules.unknown-key]", 10).is_some());
        assert_eq!(explained("local = true", 10), None);
    }
}
