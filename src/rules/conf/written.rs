//! How a setting is written where it stands: another value, another name, another setting beside it, none at all.

use crate::conf::carriers::CarrierKind;
use crate::conf::{Carrier, Setting};
use crate::rules::{Edit, Fix, FixKind, Shared};
use crate::text::Span;

/// Sets the value; written as its surroundings ask for (`True`, `"true"`, `true`).
pub(super) fn set_value(cx: &Shared<'_>, setting: &Setting, value: &str) -> Option<Fix> {
    let edit = value_edit(cx, setting, value)?;
    Some(quick_fix(format!("Set {} to {value}", setting.key), vec![edit]))
}

/// Replaces the key, where one is written.
pub(super) fn rename(cx: &Shared<'_>, setting: &Setting, key: &str) -> Option<Fix> {
    let edit = key_edit(cx, setting, key)?;
    Some(quick_fix(format!("Rename to {key}"), vec![edit]))
}

/// Takes the line out of a settings file, the option out of a command, the entry out of a map, or the call out of a
/// builder chain.
pub(super) fn remove(cx: &Shared<'_>, setting: &Setting) -> Option<Fix> {
    let written = setting.span.of(cx.text);
    let removable = match setting.carrier {
        // A pair that a variable holds leaves its `--conf` behind.
        Carrier::SubmitConf => written.split('=').next().is_some_and(|option| option.contains("-c")),
        // In a chain of pairs the `--conf` of one or the other would be left.
        Carrier::Job | Carrier::Cluster => {
            cx.format == Some(CarrierKind::Hocon) || !stands_in_a_word(cx.text, setting) || written.contains(',')
        }
        Carrier::Properties | Carrier::SubmitFlag | Carrier::JobField => true,
        Carrier::Builder | Carrier::SparkConf => written.trim_start().starts_with('.'),
        Carrier::RuntimeSet | Carrier::SqlSet => false,
    };
    let edit = Edit { span: whole_line(cx.text, setting.span), text: String::new() };
    removable.then(|| quick_fix(format!("Remove {}", setting.key), vec![edit]))
}

/// A span that is all of a line with the line's end, so that no empty one is left.
fn whole_line(text: &str, span: Span) -> Span {
    let (start, end) = (span.start as usize, span.end as usize);
    let opens = text.get(..start).is_some_and(|before| before.ends_with('\n'));
    let behind = text.get(end..).unwrap_or_default();
    let line_end = if behind.starts_with("\r\n") { 2 } else { usize::from(behind.starts_with('\n')) };
    let is_line = opens && !span.of(text).ends_with(['\n', '\r']);
    Span::new(start, end + if is_line { line_end } else { 0 })
}

/// Another setting right behind one, in the same syntax; `None` where the one stands for a key or alone.
pub(super) fn beside(cx: &Shared<'_>, setting: &Setting, key: &str, value: &str) -> Option<Edit> {
    let whole = setting.span;
    let (name, assigned) = (key_edit(cx, setting, key)?, value_edit(cx, setting, value)?);
    let part = |start: u32, end: u32| cx.text.get(start as usize..end as usize);
    let before = part(whole.start, name.span.start)?;
    let between = part(name.span.end, assigned.span.start)?;
    let behind = part(assigned.span.end, whole.end)?;
    let has = |parts: &[char]| [before, between, behind].iter().any(|text| text.contains(parts));
    let is_parted = match (setting.carrier, cx.format) {
        (Carrier::Properties, _) => true,
        (Carrier::Builder | Carrier::SparkConf, _) => before.trim_start().starts_with('.'),
        (Carrier::SubmitConf, _) => before.contains("-c"),
        (_, Some(CarrierKind::Yaml | CarrierKind::Hcl | CarrierKind::Hocon)) => has(&['\n', '\r', ',']),
        (_, _) => has(&[',']),
    };
    if !is_parted {
        return None;
    }
    let clone = format!("{before}{}{between}{}{behind}", name.text, assigned.text).replace("\r\n", "\n");
    let parts = |char: char| char.is_whitespace() || char == ',';
    let gap = match setting.carrier {
        Carrier::Properties if !clone.ends_with(['\n', '\r']) => "\n",
        Carrier::SubmitConf if !clone.starts_with(parts) && !clone.ends_with(parts) => " ",
        _ => "",
    };
    Some(Edit { span: Span::at(whole.end as usize), text: format!("{gap}{clone}") })
}

/// A quick fix that nobody applies without being asked.
fn quick_fix(title: String, edits: Vec<Edit>) -> Fix {
    Fix { title, kind: FixKind::QuickFix, safe: false, edits }
}

/// The edit that writes another key.
pub(super) fn key_edit(cx: &Shared<'_>, setting: &Setting, key: &str) -> Option<Edit> {
    let is_key = match setting.carrier {
        carrier if carrier.names_a_field() => false,
        Carrier::Properties => true,
        // The name of a constant stands elsewhere, escapes read otherwise.
        _ => setting.key_span.of(cx.text) == setting.key,
    };
    is_key.then(|| Edit { span: setting.key_span, text: key.to_owned() })
}

/// The edit that writes another value.
pub(super) fn value_edit(cx: &Shared<'_>, setting: &Setting, value: &str) -> Option<Edit> {
    let text = match setting.carrier {
        Carrier::Properties => {
            let open = setting.value_span.is_empty() && setting.value_span.start == setting.key_span.end;
            format!("{}{value}", if open { " " } else { "" })
        }
        carrier if carrier.is_code() => in_code(cx.text, setting, value)?,
        _ => in_carrier(cx, setting, value)?,
    };
    Some(Edit { span: setting.value_span, text })
}

/// Inside of quotes, or in place of a Python literal; a name or an expression stays: the value belongs where the name is
/// defined.
fn in_code(text: &str, setting: &Setting, value: &str) -> Option<String> {
    if is_quoted(text, setting.value_span) || setting.carrier == Carrier::SqlSet {
        return Some(value.to_owned());
    }
    let written = setting.value_span.of(text);
    let is_literal = matches!(written, "True" | "False" | "None") || written.parse::<f64>().is_ok();
    is_literal.then(|| python(value))
}

fn python(value: &str) -> String {
    match value {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        number if number.parse::<i64>().is_ok() => number.to_owned(),
        other => format!("\"{other}\""),
    }
}

/// What is put together out of several places or written with escapes stays, and nothing is written that needs them.
fn in_carrier(cx: &Shared<'_>, setting: &Setting, value: &str) -> Option<String> {
    let written = setting.value_span.of(cx.text);
    let is_python = cx.format.is_none();
    let as_written = setting.value.literal() == Some(written) || (is_python && matches!(written, "True" | "False"));
    if !as_written || !is_word(value) {
        return None;
    }
    if is_quoted(cx.text, setting.value_span) || stands_in_a_word(cx.text, setting) {
        return Some(value.to_owned());
    }
    match cx.format {
        None => in_code(cx.text, setting, value),
        Some(CarrierKind::Hocon) => Some(value.to_owned()),
        Some(CarrierKind::Yaml) => Some(in_yaml(cx.text, setting, value)),
        Some(CarrierKind::Hcl) => Some(if is_typed(value) { value.to_owned() } else { format!("\"{value}\"") }),
        Some(CarrierKind::Json | CarrierKind::Notebook) => in_json(cx.text, setting, value),
        Some(CarrierKind::Shell | CarrierKind::Makefile | CarrierKind::Dockerfile) => in_json(cx.text, setting, value),
    }
}

/// A text that is itself in every syntax, quoted or not.
fn is_word(value: &str) -> bool {
    !value.is_empty()
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'/' | b'+' | b'-'))
}

fn is_quoted(text: &str, span: Span) -> bool {
    text.get(..span.start as usize).is_some_and(|before| before.ends_with(['"', '\'']))
}

/// A part of a command's word, or of a text that holds `key=value`.
fn stands_in_a_word(text: &str, setting: &Setting) -> bool {
    let between = text.get(setting.key_span.end as usize..setting.value_span.start as usize);
    match setting.carrier {
        Carrier::SubmitConf | Carrier::SubmitFlag => true,
        carrier => !carrier.names_a_field() && between == Some("="),
    }
}

/// A value that formats with types take for more than text.
fn is_typed(value: &str) -> bool {
    matches!(value, "true" | "false") || value.parse::<f64>().is_ok()
}

/// As it was written before; quoted, where only text is taken, or was written, and this would not be text.
fn in_yaml(text: &str, setting: &Setting, value: &str) -> String {
    let wants_text = is_in_a_manifest(text, setting) || !is_typed(setting.value_span.of(text));
    let quoted = is_typed(value) && wants_text && !setting.carrier.names_a_field();
    if quoted { format!("\"{value}\"") } else { value.to_owned() }
}

/// Whether a manifest that takes nothing but text stands around a setting: its kind is named not far above.
fn is_in_a_manifest(text: &str, setting: &Setting) -> bool {
    const FAR: usize = 1 << 16;
    let before = text.get(..setting.key_span.start as usize).unwrap_or_default();
    before[before.ceil_char_boundary(before.len().saturating_sub(FAR))..].contains("SparkApplication")
}

/// A number or a boolean stays bare, text gets quotes; where the key's own are escaped, those would have to be, too.
fn in_json(text: &str, setting: &Setting, value: &str) -> Option<String> {
    let before = text.get(..setting.key_span.start as usize)?;
    if is_typed(value) || !before.ends_with('"') {
        return Some(value.to_owned());
    }
    (!before.ends_with("\\\"")).then(|| format!("\"{value}\""))
}
