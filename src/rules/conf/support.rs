//! What the rules on settings share: replacing and removing values where they stand, reasons beside them.

use crate::catalog::{self, SparkVersion};
use crate::conf::{Bytes, Carrier, Setting, value};
use crate::rules::{Confidence, Edit, Evidence, Finding, Fix, FixKind, Severity, Shared};
use crate::text::Span;

/// A finding on a span of a setting, with nothing but a message.
pub(super) fn finding(cx: &Shared<'_>, severity: Severity, span: Span, message: String) -> Finding {
    Finding {
        rule: cx.rule.name,
        severity,
        confidence: cx.rule.confidence,
        message,
        span,
        evidence: Vec::new(),
        related: Vec::new(),
        fixes: Vec::new(),
        unnecessary: false,
        deprecated: false,
    }
}

/// The value's span, or the key's where no value is written.
pub(super) fn value_or_key(setting: &Setting) -> Span {
    if setting.value_span.is_empty() { setting.key_span } else { setting.value_span }
}

/// Sets the value; written as its surroundings ask for (`True`, `"true"`, `true`).
pub(super) fn set_value(cx: &Shared<'_>, setting: &Setting, value: &str) -> Option<Fix> {
    let (span, text) = replacement(cx.text, setting, value)?;
    Some(Fix {
        title: format!("Set {} to {value}", setting.key),
        kind: FixKind::QuickFix,
        safe: false,
        edits: vec![Edit { span, text }],
    })
}

/// Where and how a new value is written in the setting's carrier.
fn replacement(text: &str, setting: &Setting, value: &str) -> Option<(Span, String)> {
    let span = setting.value_span;
    if setting.carrier == Carrier::Properties {
        let blank = if span.is_empty() && span.start == setting.key_span.end { " " } else { "" };
        return Some((span, format!("{blank}{value}")));
    }
    let before = text.get(..span.start as usize)?.chars().next_back()?;
    if before == '"' || before == '\'' || setting.carrier == Carrier::SqlSet {
        return Some((span, value.to_owned()));
    }
    // A Python literal; a name or an expression stays: the value belongs where the name is defined.
    let written = span.of(text);
    let is_literal = matches!(written, "True" | "False" | "None") || written.parse::<f64>().is_ok();
    let python = match value {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        number if number.parse::<i64>().is_ok() => number.to_owned(),
        other => format!("\"{other}\""),
    };
    is_literal.then_some((span, python))
}

/// Replaces the key.
pub(super) fn rename(setting: &Setting, key: &str, safe: bool) -> Fix {
    Fix {
        title: format!("Rename to {key}"),
        kind: FixKind::QuickFix,
        safe,
        edits: vec![Edit { span: setting.key_span, text: key.to_owned() }],
    }
}

/// Takes the line out of a settings file, or the call out of a builder chain.
pub(super) fn remove(cx: &Shared<'_>, setting: &Setting) -> Option<Fix> {
    let removable = match setting.carrier {
        Carrier::Properties => true,
        Carrier::Builder | Carrier::SparkConf => setting.span.of(cx.text).trim_start().starts_with('.'),
        Carrier::RuntimeSet | Carrier::SqlSet => false,
    };
    removable.then(|| Fix {
        title: format!("Remove {}", setting.key),
        kind: FixKind::QuickFix,
        safe: false,
        edits: vec![Edit { span: setting.span, text: String::new() }],
    })
}

/// Whether somebody wrote why: a comment of a few words at the end of the line or right above it.
pub(super) fn has_reason(cx: &Shared<'_>, setting: &Setting) -> bool {
    let start = setting.key_span.start as usize;
    let Some(before) = cx.text.get(..start) else { return false };
    let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let above = before[..line_start].trim_end_matches(['\n', '\r']);
    let above = above.rsplit(['\n', '\r']).next().unwrap_or_default().trim_start();
    let behind = match setting.carrier {
        Carrier::Properties => "",
        _ => {
            let rest = &cx.text[setting.span.end as usize..];
            let rest = rest.split(['\n', '\r']).next().unwrap_or_default();
            rest.find('#').map_or("", |at| &rest[at..])
        }
    };
    [above, behind].into_iter().any(is_reason)
}

fn is_reason(comment: &str) -> bool {
    let Some(words) = comment.strip_prefix(['#', '!']) else { return false };
    let directive = words.trim_start().starts_with("sparkls:");
    !directive && words.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() >= 4
}

/// Evidence: an effective value with its threshold.
pub(super) fn evidence(name: &str, value: impl Into<String>, source: impl Into<String>) -> Evidence {
    Evidence { name: name.to_owned(), value: value.into(), threshold: None, source: Some(source.into()) }
}

/// The settings with this key whose value is known, with the value trimmed as Spark trims it.
pub(super) fn known<'a>(settings: &'a [Setting], key: &'a str) -> impl Iterator<Item = (&'a Setting, &'a str)> + 'a {
    settings
        .iter()
        .filter(move |setting| setting.key == key && !setting.key_is_prefix)
        .filter_map(|setting| Some((setting, setting.value.literal()?.trim())))
}

/// The size that a value means to Spark; `None` for what Spark refuses.
pub(super) fn bytes(key: &str, version: SparkVersion, value: &str) -> Option<Bytes> {
    value::parse(catalog::setting(key)?, version, value).ok()?.bytes()
}

/// Confidence of what follows from how settings relate.
pub(super) const REASONED: Confidence = Confidence::Reasoned;
