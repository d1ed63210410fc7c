//! Where a properties file looks like one thing and is read as another.

use super::lines::{LogicalLine, Placed, is_blank};
use super::{Problem, ProblemKind, PropertiesFile};
use crate::catalog::{self, Family, Kind, VersionIndex};
use crate::conf::{Setting, Value};
use crate::text::Span;

/// One line as it was read.
pub(super) struct Read<'a> {
    pub(super) text: &'a str,
    pub(super) line: &'a LogicalLine,
    /// The natural line below it.
    pub(super) next: Option<&'a str>,
    /// The key, escapes resolved.
    pub(super) key: &'a [Placed],
    /// The value, escapes resolved, trimmed.
    pub(super) value: &'a [Placed],
    pub(super) setting: &'a Setting,
}

/// Adds what is wrong with the line.
pub(super) fn look(read: &Read<'_>, problems: &mut Vec<Problem>) {
    invisible(read, problems);
    if !read.setting.key.starts_with("spark.") {
        problems.extend(not_sparks(read));
        return;
    }
    problems.extend(swallowed_comment(read));
    problems.extend(broken_continuation(read));
    if let Value::Literal(value) = &read.setting.value {
        problems.extend(inline_comment(read));
        problems.extend(quoted(read, value));
        problems.extend(trailing_separator(read, value));
    }
    lost_backslashes(read, problems);
}

/// Keys without `spark.` are worth a word only in a file of Spark's; others are no business of ours.
pub(super) fn forget_dropped_keys_elsewhere(text: &str, file: &mut PropertiesFile) {
    let about_spark = |setting: &Setting| {
        let line = setting.key_span.cover(setting.value_span).of(text).as_bytes();
        line.windows(6).any(|word| word.eq_ignore_ascii_case(b"spark."))
    };
    if !file.settings.iter().any(about_spark) {
        file.problems.retain(|problem| problem.fatal);
    }
}

pub(super) fn malformed_escape(backslash: &Placed, behind: &[Placed]) -> Problem {
    let digits = behind.iter().take(4).take_while(|placed| !is_blank(placed.char));
    let end = digits.last().map_or(backslash.end + 1, |last| last.end);
    Problem {
        span: Span::new(backslash.start, end),
        kind: ProblemKind::MalformedEscape,
        fatal: true,
        message: "`\\u` needs four hexadecimal digits; spark-submit stops here. Write `\\\\u` for a backslash and a u."
            .to_owned(),
    }
}

fn problem(kind: ProblemKind, span: Span, message: impl Into<String>) -> Problem {
    Problem { span, kind, fatal: false, message: message.into() }
}

fn span_of(chars: &[Placed]) -> Option<Span> {
    Some(Span::new(chars.first()?.start, chars.last()?.end))
}

/// A character that takes no ink and is no separator either, and its name.
fn unseen(c: char) -> Option<&'static str> {
    match c {
        '\u{a0}' | '\u{202f}' => Some("no-break space"),
        '\u{b}' => Some("vertical tab"),
        '\u{feff}' => Some("byte order mark"),
        '\u{3000}' => Some("ideographic space"),
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{ad}' => Some("zero-width character"),
        c if c.is_whitespace() && !is_blank(c) && !matches!(c, '\r' | '\n') => Some("unusual space"),
        _ => None,
    }
}

fn invisible(read: &Read<'_>, problems: &mut Vec<Problem>) {
    for placed in read.key {
        if let Some(name) = unseen(placed.char) {
            problems.push(problem(
                ProblemKind::Invisible,
                Span::new(placed.start, placed.end),
                format!(
                    "A {name} (U+{:04X}) is part of the key: it parts nothing, and Spark knows no such key.",
                    u32::from(placed.char)
                ),
            ));
        }
    }
    let ends = [read.value.first(), read.value.last()];
    for placed in if read.value.len() < 2 { &ends[..1] } else { &ends }.iter().copied().flatten() {
        if let Some(name) = unseen(placed.char) {
            problems.push(problem(
                ProblemKind::Invisible,
                Span::new(placed.start, placed.end),
                format!("A {name} (U+{:04X}) is part of the value; Spark does not trim it.", u32::from(placed.char)),
            ));
        }
    }
}

/// A line whose key Spark drops: another language's syntax, or a key without the prefix.
fn not_sparks(read: &Read<'_>) -> Option<Problem> {
    let key = read.setting.key.as_str();
    let foreign = |message: &str| Some(problem(ProblemKind::ForeignSyntax, span_of(&read.line.chars)?, message));
    if key.starts_with("//") || key.starts_with(';') {
        return foreign("Only `#` and `!` begin a comment; Spark reads this line as a key of its own and drops it.");
    }
    if key.starts_with('[') {
        return foreign("A properties file has no sections; Spark reads this line as a key and drops it.");
    }
    if key == "export" {
        return foreign("`export` is read as the key, so that the setting behind it is lost; write `KEY VALUE`.");
    }
    if key.starts_with("--") || key == "spark-submit" {
        return foreign(
            "Command-line flags are not read from a file, so that this setting is lost; write `KEY VALUE`.",
        );
    }
    if key.starts_with(['"', '\'', '{', '}']) {
        return foreign(
            "Quotes and braces are part of the key, which Spark then drops; write `KEY VALUE` without them.",
        );
    }
    if key.contains(|c| unseen(c).is_some()) {
        return None;
    }
    let span = if read.setting.key_span.is_empty() { span_of(&read.line.chars)? } else { read.setting.key_span };
    Some(problem(ProblemKind::Dropped, span, dropped_message(key)))
}

fn dropped_message(key: &str) -> String {
    let prefix = match catalog::family(key) {
        Some(Family::Hadoop) => "spark.hadoop.",
        Some(Family::Hive) if key.starts_with("hive.") => "spark.",
        Some(Family::Hive) => "spark.hadoop.",
        _ if key.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("spark.")) => {
            return format!("Keys are case-sensitive and begin with `spark.`; `{key}` is dropped.");
        }
        _ => return format!("Spark keeps only keys that begin with `spark.`; `{key}` is dropped."),
    };
    format!("Spark keeps only keys that begin with `spark.`; `{key}` is dropped. Write `{prefix}{key}` to hand it on.")
}

fn swallowed_comment(read: &Read<'_>) -> Option<Problem> {
    let is_comment = |span: &&Span| span.of(read.text).starts_with(['#', '!']);
    let comment = read.line.continued.iter().find(is_comment)?;
    let message = "The backslash above makes this comment part of the value; a continued line has no comments.";
    Some(problem(ProblemKind::SwallowedComment, *comment, message))
}

/// A backslash with blanks behind it, where the next line looks as if it were meant to go on.
fn broken_continuation(read: &Read<'_>) -> Option<Problem> {
    let next = read.next?.trim_start_matches(is_blank);
    if next.is_empty() || next.starts_with(['#', '!']) || next.starts_with("spark.") {
        return None;
    }
    let chars = &read.line.chars;
    let blanks = chars.iter().rev().take_while(|placed| is_blank(placed.char)).count();
    let before = &chars[..chars.len() - blanks];
    let backslashes = before.iter().rev().take_while(|placed| placed.char == '\\').count();
    if blanks == 0 || backslashes % 2 == 0 {
        return None;
    }
    let message = "Blanks follow the backslash, so that the line ends here and the next one is a setting of its own.";
    Some(problem(ProblemKind::BrokenContinuation, span_of(&chars[before.len() - 1..])?, message))
}

/// `#`, `!` or `//` behind a blank: meant as a note, kept as value.
fn inline_comment(read: &Read<'_>) -> Option<Problem> {
    let value = read.value;
    let blank_at = |at: usize| value.get(at).is_none_or(|placed| is_blank(placed.char));
    let begins_note = |at: usize| {
        let first = at == 0;
        let apart = first || blank_at(at - 1);
        match value[at].char {
            '#' => apart && (!first || (value.len() > 1 && blank_at(1))),
            '!' => apart && !first && blank_at(at + 1),
            '/' => apart && !first && value.get(at + 1).is_some_and(|next| next.char == '/') && blank_at(at + 2),
            _ => false,
        }
    };
    let at = (0..value.len()).find(|&at| begins_note(at))?;
    // Behind a swallowed comment everything is comment; that one is reported.
    if read.line.continued.iter().any(|span| span.start as usize == value[at].start) {
        return None;
    }
    let message = "A comment stands only on a line of its own; here it is part of the value.";
    Some(problem(ProblemKind::InlineComment, span_of(&value[at..])?, message))
}

fn quoted(read: &Read<'_>, value: &str) -> Option<Problem> {
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
    // Options of a command line are split as a shell does, quotes and all.
    if inner.contains(quote) || read.setting.key.ends_with("Options") {
        return None;
    }
    let message = "Spark keeps the quotes as part of the value; write it without them.";
    Some(problem(ProblemKind::Quoted, read.setting.value_span, message))
}

/// Only behind values of declared settings: elsewhere a `;` may belong to the value.
fn trailing_separator(read: &Read<'_>, value: &str) -> Option<Problem> {
    let facts = catalog::setting(&read.setting.key).filter(|facts| facts.registered())?;
    let separator = value.chars().next_back().filter(|last| matches!(last, ';' | ','))?;
    let harmless = match facts.kind(VersionIndex::NEWEST) {
        Kind::StringList | Kind::LongList => separator == ',',
        Kind::Regex => true,
        _ => read.setting.key.ends_with("Options"),
    };
    let span = span_of(&read.value[read.value.len() - 1..])?;
    let message = || format!("The `{separator}` is part of the value; a line ends without one.");
    (!harmless).then(|| problem(ProblemKind::TrailingSeparator, span, message()))
}

/// `C:\temp` loses its backslashes and gains a tab; `\d` loses its backslash.
fn lost_backslashes(read: &Read<'_>, problems: &mut Vec<Problem>) {
    if problems.iter().any(|problem| problem.fatal) {
        return;
    }
    for word in read.value.split(|placed| placed.char == ' ') {
        let Some(span) = span_of(word) else { continue };
        let source = span.of(read.text);
        if is_damaged_path(source) {
            let message = "Backslashes are escapes here, so that this path is damaged; write `\\\\` or `/`.";
            problems.push(problem(ProblemKind::LostBackslash, span, message));
        } else if let Some(lost) = dropped_backslash(source) {
            let message = format!("The backslash before `{lost}` is dropped; write `\\\\{lost}` to keep it.");
            problems.push(problem(ProblemKind::LostBackslash, span, message));
        }
    }
}

/// A drive letter, a colon and a single backslash, with anything but another drive before it.
fn is_damaged_path(source: &str) -> bool {
    source.match_indices(":\\").any(|(at, _)| {
        let before = source.as_bytes()[..at].last_chunk::<2>();
        let drive = source.as_bytes()[..at].last().is_some_and(u8::is_ascii_alphabetic);
        let alone = before.is_none_or(|[before, _]| !before.is_ascii_alphanumeric());
        drive && alone && source[at + 2..].starts_with(|c: char| c.is_alphanumeric())
    })
}

/// The letter or digit whose backslash is dropped: one that means nothing to a properties file.
fn dropped_backslash(source: &str) -> Option<char> {
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            let escaped = chars.next()?;
            if escaped.is_ascii_alphanumeric() && !matches!(escaped, 't' | 'n' | 'r' | 'f' | 'u') {
                return Some(escaped);
            }
        }
    }
    None
}
