//! Where in a line the cursor stands: in a key, or in a value of a known key.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::Span;

/// What is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A key, up to the cursor.
    Key(String),
    /// A value of `key`, up to the cursor.
    Value {
        /// The setting.
        key: String,
        /// What stands before the cursor.
        typed: String,
    },
    /// A flag of spark-submit, up to the cursor.
    Flag(String),
}

/// A place in a document, and what an answer replaces there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) place: Place,
    /// What is replaced; it holds the cursor.
    pub(super) span: Span,
    /// Nothing is quoted here yet, and the format wants it.
    pub(super) needs_quotes: bool,
    /// What the blocks around it put before the key: `spark.executor.` inside of `spark { executor { } }`.
    pub(super) under: String,
}

impl Place {
    /// What stands between the start of the word and the cursor.
    pub(super) fn typed(&self) -> &str {
        match self {
            Place::Key(typed) | Place::Value { typed, .. } | Place::Flag(typed) => typed,
        }
    }

    /// Whether a character behind the cursor belongs to the word.
    pub(super) fn continues(&self, byte: u8) -> bool {
        let in_key = matches!(self, Place::Key(_)) && byte == b'.';
        in_key || byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
    }

    /// The place at the cursor with the rest of its word.
    pub(super) fn at(self, text: &str, offset: usize) -> Option<Spot> {
        let start = offset.checked_sub(self.typed().len())?;
        let rest = text.as_bytes().get(offset..)?.iter().take_while(|byte| self.continues(**byte)).count();
        Some(Spot { place: self, span: Span::new(start, offset + rest), needs_quotes: false, under: String::new() })
    }
}

/// In a line of a properties file, up to the cursor.
pub(super) fn in_properties(before: &str) -> Option<Place> {
    let line = before.trim_start_matches('\u{feff}').trim_start();
    if line.starts_with(['#', '!']) {
        return None;
    }
    let is_separator = |character: char| character.is_whitespace() || matches!(character, '=' | ':');
    match line.split_once(is_separator) {
        None => Some(Place::Key(line.to_owned())),
        Some((key, value)) => {
            Some(Place::Value { key: key.to_owned(), typed: value.trim_start_matches(is_separator).to_owned() })
        }
    }
}

/// What stands before a string that is a key: the calls that take one, lists of pairs and dicts of settings not among
/// them, because there only the text itself tells.
static TAKES_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\.(?:config|conf\.(?:set|get|unset|isModifiable)|setConf|setIfMissing)\s*\(\s*(?:key\s*=\s*)?$").ok()
});
/// A key and a comma or colon before a string that is its value.
static TAKES_VALUE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"["'](spark\.[\w.\-]+)["']\s*(?:,\s*(?:value\s*=\s*)?|:\s*)$"#).ok());
/// `SET key = value` in SQL, up to the cursor.
static SET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)^\s*set\s+(spark\.[\w.\-]*)(\s*=\s*([\w.\-]*))?$").ok());

/// In a line of SQL, up to the cursor.
pub(super) fn in_sql(before: &str) -> Option<Place> {
    let found = SET.as_ref()?.captures(before)?;
    let key = found.get(1)?.as_str().to_owned();
    Some(match found.get(2) {
        Some(_) => Place::Value { key, typed: found.get(3).map(|typed| typed.as_str().to_owned()).unwrap_or_default() },
        None => Place::Key(key),
    })
}

/// In a line of Python, up to the cursor; the code around it may be half written.
pub(super) fn in_python(before: &str) -> Option<Place> {
    let quote = open_quote(before)?;
    let (code, typed) = (&before[..quote], &before[quote + 1..]);
    let matches = |regex: &LazyLock<Option<Regex>>| regex.as_ref().is_some_and(|regex| regex.is_match(code));
    if let Some(found) = TAKES_VALUE.as_ref()?.captures(code) {
        return Some(Place::Value { key: found.get(1)?.as_str().to_owned(), typed: typed.to_owned() });
    }
    if let Some(place) = in_sql(typed) {
        return Some(place);
    }
    let is_word =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    ((matches(&TAKES_KEY) || typed.starts_with("spark.")) && is_word(typed)).then(|| Place::Key(typed.to_owned()))
}

/// Where the string begins that is open at the end of the line.
fn open_quote(line: &str) -> Option<usize> {
    let mut open: Option<(usize, u8)> = None;
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match open {
            Some(_) if escaped => escaped = false,
            Some(_) if byte == b'\\' => escaped = true,
            Some((_, quote)) if byte == quote => open = None,
            None if byte == b'#' => return None,
            None if byte == b'"' || byte == b'\'' => open = Some((at, byte)),
            _ => {}
        }
    }
    open.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(typed: &str) -> Option<Place> {
        Some(Place::Key(typed.to_owned()))
    }

    fn value(key: &str, typed: &str) -> Option<Place> {
        Some(Place::Value { key: key.to_owned(), typed: typed.to_owned() })
    }

    #[test]
    fn a_setting_of_sql_is_a_statement() {
        assert_eq!(in_sql("SET spark.sql.sh"), key("spark.sql.sh"));
        assert_eq!(in_sql("set spark.sql.ansi.enabled = fa"), value("spark.sql.ansi.enabled", "fa"));
        assert_eq!(in_sql("SELECT spark.sql"), None);
    }

    #[test]
    fn properties() {
        assert_eq!(in_properties(""), key(""));
        assert_eq!(in_properties("  spark.sql.ad"), key("spark.sql.ad"));
        assert_eq!(in_properties("spark.sql.adaptive.enabled "), value("spark.sql.adaptive.enabled", ""));
        assert_eq!(in_properties("spark.sql.adaptive.enabled = fa"), value("spark.sql.adaptive.enabled", "fa"));
        assert_eq!(in_properties("# spark.sql"), None);
    }

    #[test]
    fn python_keys_and_values_in_half_written_code() {
        assert_eq!(in_python("spark.conf.set(\"spark.sql.adap"), key("spark.sql.adap"));
        assert_eq!(in_python("SparkSession.builder.config('"), key(""));
        assert_eq!(in_python("    \"spark.sql.sh"), key("spark.sql.sh"));
        assert_eq!(in_python(".config(\"spark.a\", 1).config(key=\"s"), key("s"));
        assert_eq!(
            in_python("spark.conf.set('spark.sql.adaptive.enabled', '"),
            value("spark.sql.adaptive.enabled", "")
        );
        assert_eq!(in_python("{\"spark.sql.ansi.enabled\": \"tr"), value("spark.sql.ansi.enabled", "tr"));
        assert_eq!(in_python("spark.sql(\"SET spark.sql.sh"), key("spark.sql.sh"));
        assert_eq!(in_python("spark.sql(\"set spark.sql.ansi.enabled = f"), value("spark.sql.ansi.enabled", "f"));
    }

    #[test]
    fn other_strings_are_left_alone() {
        for line in ["print(\"spa", "x = 1", "# spark.conf.set(\"spark.", "open('a b", "df.join(\"id", "d = {'a': 'b"] {
            assert_eq!(in_python(line), None, "{line}");
        }
    }
}
