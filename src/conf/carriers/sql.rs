//! `SET key = value` in SQL: of `spark-sql -e`, of cells of notebooks, of `spark.sql(…)`.

use std::ops::Range;

use super::Mapped;
use super::collect::literal_or_template;
use crate::conf::{Carrier, Setting};

/// Key and value of `SET key = value`, which comments may precede, as ranges of the text.
pub(crate) fn set(sql: &str) -> Option<(Range<usize>, Range<usize>)> {
    let start = leading_comments(sql);
    let after = start + 3;
    if !sql.get(start..after)?.eq_ignore_ascii_case("set") || !sql[after..].starts_with([' ', '\t', '\n', '\r']) {
        return None;
    }
    let equals = after + sql[after..].find('=')?;
    let key = trimmed(sql, after..equals);
    let end = sql.trim_end_matches([';', ' ', '\t', '\n', '\r']).len().max(equals + 1);
    let value = trimmed(sql, equals + 1..end);
    let plain = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | ':' | '$' | '{' | '}' | '`' | '?')
    };
    let text = &sql[key.clone()];
    (!text.is_empty() && text.chars().all(plain)).then_some((key, value))
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// The settings that a script of SQL makes, of Spark's own keys.
pub(crate) fn settings(script: &Mapped<'_>) -> Vec<Setting> {
    let text = script.text();
    let mut settings = Vec::new();
    for statement in statements(text) {
        let (start, written) = (statement.start, statement.start + leading_comments(&text[statement.clone()]));
        let Some((key, value)) = set(&text[statement.clone()]) else { continue };
        let place = |range: Range<usize>| start + range.start..start + range.end;
        let (key, value) = (place(key), place(value));
        if text[key.clone()].starts_with("spark.") {
            settings.push(Setting {
                key: text[key.clone()].to_owned(),
                key_is_prefix: false,
                value: literal_or_template(&text[value.clone()], false),
                key_span: script.span(key),
                value_span: script.span(value),
                span: script.span(trimmed(text, written..statement.end)),
                carrier: Carrier::SqlSet,
            });
        }
    }
    settings
}

/// The statements with their semicolons, told apart from those in quotes and comments.
fn statements(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut quote = None;
    let mut in_comment = false;
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' => in_comment = false,
            _ if in_comment => {}
            b'\'' | b'"' => match quote {
                None => quote = Some(byte),
                Some(open) if open == byte => quote = None,
                Some(_) => {}
            },
            b'-' if quote.is_none() => in_comment = bytes.get(at + 1) == Some(&b'-'),
            b';' if quote.is_none() => {
                found.push(start..at + 1);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(start..text.len());
    found
}

/// The length of the blanks and `-- comments` in front of a statement.
pub(crate) fn leading_comments(statement: &str) -> usize {
    let mut rest = statement.trim_start();
    while rest.starts_with("--") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    statement.len() - rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    #[test]
    fn a_set_statement_has_a_key_and_a_value() {
        let sql = " SET spark.sql.ansi.enabled = false ;";
        let (key, value) = set(sql).expect("it is one");
        assert_eq!((&sql[key], &sql[value]), ("spark.sql.ansi.enabled", "false"));
        assert_eq!(set("SETTLE a = b"), None);
        assert_eq!(set("SET"), None);
        assert_eq!(set("SET spark.x"), None);
    }

    #[test]
    fn a_script_sets_statement_by_statement() {
        let sql =
            "-- why; how\nSET spark.a = 1;\nset spark.b=${x} ; SELECT 'SET spark.c=1'; SET d.e = 1; SET spark.f=2";
        let settings = settings(&Mapped::verbatim(sql, Span::new(0, sql.len())));
        let found: Vec<(&str, &str)> =
            settings.iter().map(|setting| (setting.key.as_str(), setting.value_span.of(sql))).collect();
        assert_eq!(found, [("spark.a", "1"), ("spark.b", "${x}"), ("spark.f", "2")]);
        assert_eq!(settings[0].span.of(sql), "SET spark.a = 1;");
    }
}
