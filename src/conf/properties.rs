//! Properties files as Spark reads them: `java.util.Properties` over UTF-8, then a trim.

mod lines;
mod problems;

use super::template::{self, Control};
use super::{Carrier, Setting, Value};
use crate::text::Span;
use lines::{Lines, LogicalLine, Placed, is_blank};

/// A properties file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PropertiesFile {
    /// What Spark keeps, plus keys that it drops (no `spark.` prefix), in source order.
    pub settings: Vec<Setting>,
    /// What Spark trips over or what silently becomes something else.
    pub problems: Vec<Problem>,
    /// The file holds lines that steer a template: a key that stands twice may be two branches.
    pub is_template: bool,
}

/// Something in the file that Spark reads otherwise than it looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// Which trap.
    pub kind: ProblemKind,
    /// spark-submit stops (a malformed `\u`).
    pub fatal: bool,
    /// What happens, in one sentence.
    pub message: String,
}

/// The traps of properties files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// `# note` behind a value; the span is the note.
    InlineComment,
    /// A character that nobody sees, in a key or at the end of a value; the span is the character.
    Invisible,
    /// A line in another language's syntax (`// note`, `[section]`, `export k=v`); the span is the line's text.
    ForeignSyntax,
    /// Quotes around the whole value; the span is the value with them.
    Quoted,
    /// A `;` or `,` behind the value; the span is that character.
    TrailingSeparator,
    /// `\u` without four hexadecimal digits; the span is the escape.
    MalformedEscape,
    /// A comment that a backslash at the end of the line before it has drawn into the value; the span is the comment.
    SwallowedComment,
    /// A backslash at the end of a line that does not continue it, because blanks follow; the span is both.
    BrokenContinuation,
    /// A backslash that is read as an escape (`C:\temp`); the span is the word with it.
    LostBackslash,
    /// A key without `spark.`; the span is the key.
    Dropped,
}

/// Reads a properties file. Never fails: what can't be read is a [`Problem`] at its place.
pub fn read(text: &str) -> PropertiesFile {
    let mut file = PropertiesFile::default();
    let mut lines = Lines::new(text);
    let mut line = LogicalLine::default();
    while let Some(next) = lines.peek() {
        if let Some(control) = template::control(next) {
            file.is_template = true;
            skip_control(&mut lines, control);
            continue;
        }
        if !lines.next(&mut line) {
            break;
        }
        if !line.chars.is_empty() {
            read_line(text, &line, lines.peek(), &mut file);
        }
    }
    problems::forget_dropped_keys_elsewhere(text, &mut file);
    file
}

/// Skips a template's own line, and the lines below it that belong to it.
fn skip_control(lines: &mut Lines<'_>, control: Control) {
    lines.skip();
    if let Control::OpenUntil(close) = control {
        while let Some(line) = lines.peek() {
            lines.skip();
            if line.contains(close) {
                break;
            }
        }
    }
}

fn read_line(text: &str, line: &LogicalLine, next: Option<&str>, file: &mut PropertiesFile) {
    let raw = line.span.of(text);
    let (key, value) = split(&line.chars);
    let key_end = key.last().map_or(line.chars[0].start, |last| last.end);
    let placeholder = template::placeholder(raw).map(|at| line.span.start as usize + at);
    if let Some(at) = placeholder.filter(|&at| at < key_end) {
        file.settings.push(unfinished_key(line, key, at));
        return;
    }
    let mut problems = Vec::new();
    let key = decode(key, &mut problems);
    let value = decode(value, &mut problems);
    let trimmed = trim(&value);
    let value_span = match trimmed {
        [first, .., last] => Span::new(first.start, last.end),
        [only] => Span::new(only.start, only.end),
        [] => Span::at(value_place(line, key_end)),
    };
    let literal: String = trimmed.iter().map(|placed| placed.char).collect();
    let is_template = placeholder.is_some() && template::placeholder(&literal).is_some();
    let setting = Setting {
        key: key.iter().map(|placed| placed.char).collect(),
        key_is_prefix: false,
        value: if is_template { Value::Template } else { Value::Literal(literal) },
        key_span: Span::new(key.first().map_or(key_end, |first| first.start), key_end),
        value_span,
        span: line.span,
        carrier: Carrier::Properties,
    };
    problems::look(&problems::Read { text, line, next, key: &key, value: trimmed, setting: &setting }, &mut problems);
    problems.sort_by_key(|problem| problem.span);
    file.problems.append(&mut problems);
    file.settings.push(setting);
}

/// A line whose key is filled in by a template: only what stands before the first placeholder is known.
fn unfinished_key(line: &LogicalLine, key: &[Placed], placeholder: usize) -> Setting {
    let known = key.iter().take_while(|placed| placed.end <= placeholder);
    let start = line.chars[0].start;
    let end = line.chars.last().map_or(start, |last| last.end);
    Setting {
        key: known.map(|placed| placed.char).collect(),
        key_is_prefix: true,
        value: Value::Template,
        key_span: Span::new(start, placeholder.max(start)),
        value_span: Span::at(end),
        span: line.span,
        carrier: Carrier::Properties,
    }
}

/// Where the value of a line without one would stand: behind the separator, or behind the key.
fn value_place(line: &LogicalLine, key_end: usize) -> usize {
    line.chars.iter().rfind(|placed| placed.start >= key_end && !is_blank(placed.char)).map_or(key_end, |last| last.end)
}

/// Key and value of a logical line: the first blank, `=` or `:` that no backslash escapes parts them; blanks around one
/// `=` or `:` belong to it.
fn split(chars: &[Placed]) -> (&[Placed], &[Placed]) {
    let mut escaped = false;
    let ends_key = |placed: &Placed| {
        let ends = !escaped && (is_blank(placed.char) || matches!(placed.char, '=' | ':'));
        escaped = placed.char == '\\' && !escaped;
        ends
    };
    let (key, rest) = chars.split_at(chars.iter().position(ends_key).unwrap_or(chars.len()));
    let rest = trim_start(rest);
    match rest {
        [Placed { char: '=' | ':', .. }, value @ ..] => (key, trim_start(value)),
        value => (key, value),
    }
}

fn trim_start(chars: &[Placed]) -> &[Placed] {
    let blanks = chars.iter().take_while(|placed| is_blank(placed.char)).count();
    &chars[blanks..]
}

/// What Spark cuts off a value after escapes are resolved: everything up to the blank, but no line ends.
fn trim(value: &[Placed]) -> &[Placed] {
    let kept = |placed: &Placed| placed.char > ' ' || matches!(placed.char, '\r' | '\n');
    let Some(first) = value.iter().position(kept) else { return &[] };
    let last = value.iter().rposition(kept).unwrap_or(first);
    &value[first..=last]
}

/// Resolves escapes; a character of the result stands where its whole escape does.
fn decode(raw: &[Placed], problems: &mut Vec<Problem>) -> Vec<Placed> {
    let mut decoded = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let [first, after @ ..] = rest {
        rest = after;
        let (true, [escaped, after @ ..]) = (first.char == '\\', after) else {
            if first.char != '\\' {
                decoded.push(*first);
            }
            continue;
        };
        rest = after;
        let char = match escaped.char {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            'u' => match unicode_escape(&mut rest) {
                Some((char, end)) => {
                    decoded.push(Placed { char, start: first.start, end });
                    continue;
                }
                None => {
                    problems.push(problems::malformed_escape(first, rest));
                    'u'
                }
            },
            other => other,
        };
        decoded.push(Placed { char, start: first.start, end: escaped.end });
    }
    decoded
}

/// The character of `\u` and four digits, two of them for a surrogate pair, and where it ends; `rest` stands behind the
/// `u` and is moved on. A lone surrogate becomes U+FFFD.
fn unicode_escape(rest: &mut &[Placed]) -> Option<(char, usize)> {
    let (unit, end) = four_digits(rest)?;
    let after = &rest[4..];
    *rest = after;
    if let [Placed { char: '\\', .. }, Placed { char: 'u', .. }, low @ ..] = after
        && let Some((second, low_end)) = four_digits(low)
        && let Some(Ok(char)) = char::decode_utf16([unit, second]).next()
        && char.len_utf16() == 2
    {
        *rest = &low[4..];
        return Some((char, low_end));
    }
    Some((char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER), end))
}

fn four_digits(chars: &[Placed]) -> Option<(u16, usize)> {
    let digits = chars.get(..4)?;
    let unit = digits.iter().try_fold(0, |unit, placed| Some(unit * 16 + placed.char.to_digit(16)?))?;
    Some((u16::try_from(unit).ok()?, digits[3].end))
}
