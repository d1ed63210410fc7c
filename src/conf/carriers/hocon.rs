//! HOCON: `spark.executor.memory = 4g` and `spark { executor.memory = 4g }`, handed on to Spark by the application.
//!
//! Any key below a top-level `spark`, and any key written out with its `spark.` in another object. Within a file the
//! later of two wins. Values with substitutions (`${x}`) are known only in part; included files are not followed.
//! There is no maintained grammar that keeps places, so this reads tokens itself: paths, braces and values.

use super::collect::{Collector, literal_or_template};
use super::escapes;
use super::mapped::Mapped;
use super::tree::{MAX_DEPTH, removal};
use crate::conf::{Carrier, Setting, Value};
use crate::text::Span;

/// Reads a document.
pub(super) fn read(text: &str, out: &mut Collector) {
    let mut reader = Reader { text, at: 0, objects: Vec::new(), groups: Vec::new(), out };
    while reader.at < text.len() {
        reader.item();
    }
    reader.groups.iter().for_each(|(_, settings)| reader.out.group(settings));
}

struct Reader<'t, 'o> {
    text: &'t str,
    at: usize,
    /// What stands open: the path of each object, `None` for a list and for what stands in it.
    objects: Vec<Option<String>>,
    /// The settings of each object around a `spark`, by its path.
    groups: Vec<(String, Vec<usize>)>,
    out: &'o mut Collector,
}

/// A piece of a key or a value.
struct Piece<'t> {
    text: Mapped<'t>,
    span: Span,
    is_quoted: bool,
}

impl<'t> Reader<'t, '_> {
    /// A brace, a comma, or a key with its value.
    fn item(&mut self) {
        self.skip_blanks_and_comments();
        match self.peek() {
            None => {}
            Some('}' | ']') => {
                self.objects.pop();
                self.at += 1;
            }
            Some('{') => self.open(self.objects.last().cloned().unwrap_or(Some(String::new()))),
            Some('[') => self.open(None),
            Some(',' | '=' | ':' | '+') => self.at += 1,
            Some(_) => self.pair(),
        }
    }

    fn open(&mut self, path: Option<String>) {
        // What lies deeper than any configuration has no path that is worth keeping.
        self.objects.push(path.filter(|_| self.objects.len() < MAX_DEPTH));
        self.at += 1;
    }

    fn pair(&mut self) {
        let start = self.at;
        let key = self.pieces(&['=', ':', '{', '}', '[', ']', ',', '+']);
        let (Some(first), Some(last)) = (key.first(), key.last()) else {
            self.at = self.at.max(start + 1).min(self.text.len());
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
            return;
        };
        let key_span = first.span.cover(last.span);
        let name: String = key.iter().map(|piece| piece.text.text()).collect();
        if name.starts_with("include ") || name == "include" {
            return;
        }
        let content = first.text.whole().cover(last.text.whole());
        let parent = self.objects.last().cloned().unwrap_or(Some(String::new()));
        let path = parent.map(|parent| if parent.is_empty() { name.clone() } else { format!("{parent}.{name}") });
        self.skip_blanks();
        if self.text[self.at..].starts_with("+=") {
            self.at += 2;
        } else if matches!(self.peek(), Some('=' | ':')) {
            self.at += 1;
        } else if self.peek() != Some('{') {
            return;
        }
        self.skip_blanks();
        match self.peek() {
            Some('{') => self.open(path),
            Some('[') => self.open(None),
            _ => self.value(&name, path, content, key_span),
        }
    }

    fn value(&mut self, name: &str, path: Option<String>, content: Span, key_span: Span) {
        let place = self.at;
        let pieces = self.pieces(&[',', '}', ']']);
        let is_written_out = name.starts_with("spark.");
        let key = if is_written_out { Some(name.to_owned()) } else { path.filter(|path| path.starts_with("spark.")) };
        let Some(key) = key.filter(|key| key.len() > "spark.".len() && !key.contains(' ')) else { return };
        let (value, value_span) = match pieces.as_slice() {
            [] => (Value::Unknown, Span::at(place)),
            [only] if only.is_quoted => (literal_or_template(only.text.text(), false), only.text.whole()),
            [first, .., last] | [first @ last] => {
                let joined: String = pieces.iter().map(|piece| piece.text.text()).collect();
                let value = if joined.contains("${") { Value::Template } else { literal_or_template(&joined, false) };
                (value, first.span.cover(last.span))
            }
        };
        let value = if value == Value::Literal("null".to_owned()) { Value::Unknown } else { value };
        let whole = key_span.cover(pieces.last().map_or(value_span, |piece| piece.span));
        let index = self.out.add(Setting {
            key,
            key_is_prefix: false,
            value,
            key_span: content,
            value_span,
            span: removal(self.text, whole),
            carrier: if is_written_out { Carrier::Job } else { Carrier::JobField },
        });
        let around = self.objects.last().cloned().flatten().filter(|_| is_written_out).unwrap_or_default();
        match self.groups.iter_mut().find(|(path, _)| *path == around) {
            Some((_, settings)) => settings.push(index),
            None => self.groups.push((around, vec![index])),
        }
    }

    /// The pieces up to one of these characters, the end of the line or a comment; blanks at the ends are left out.
    fn pieces(&mut self, ends: &[char]) -> Vec<Piece<'t>> {
        let mut pieces: Vec<Piece<'t>> = Vec::new();
        let mut after_blank = None;
        while let Some(char) = self.peek() {
            if matches!(char, '\n' | '\r') || ends.contains(&char) || self.at_comment() {
                break;
            }
            if matches!(char, ' ' | '\t') {
                after_blank.get_or_insert(self.at);
                self.skip_blanks();
                continue;
            }
            let piece = self.piece(ends);
            if let Some(start) = after_blank.take().filter(|_| !pieces.is_empty()) {
                let blank = Span { start: start as u32, end: piece.span.start };
                pieces.push(Piece { text: Mapped::verbatim(self.text, blank), span: blank, is_quoted: false });
            }
            pieces.push(piece);
        }
        pieces
    }

    fn piece(&mut self, ends: &[char]) -> Piece<'t> {
        let start = self.at;
        let rest = &self.text[start..];
        if let Some(body) = rest.strip_prefix("\"\"\"") {
            let end = body.find("\"\"\"").map_or(rest.len(), |length| length + 3);
            self.at = start + (end + 3).min(rest.len());
            return self.quoted(start, Span::new(start + 3, start + end), false);
        }
        if rest.starts_with('"') {
            let end = closing_quote(rest);
            self.at = start + (end + 1).min(rest.len());
            return self.quoted(start, Span::new(start + 1, start + end), true);
        }
        if rest.starts_with("${") {
            let end = rest.find(['}', '\n', '\r']).unwrap_or(rest.len());
            self.at = start + end + usize::from(rest[end..].starts_with('}'));
        } else {
            let stops = |char: char| ends.contains(&char) || matches!(char, '\n' | '\r' | ' ' | '\t' | '"' | '#' | '$');
            let plain = rest.find(stops).unwrap_or(rest.len());
            let plain = rest[..plain].find("//").filter(|&at| at == 0 || ends.contains(&'=')).unwrap_or(plain);
            let first = rest.chars().next().map_or(0, char::len_utf8);
            self.at = start + plain.max(first);
        }
        let span = Span::new(start, self.at);
        Piece { text: Mapped::verbatim(self.text, span), span, is_quoted: false }
    }

    fn quoted(&self, start: usize, content: Span, has_escapes: bool) -> Piece<'t> {
        let mut text = Mapped::default();
        if has_escapes {
            escapes::push(&mut text, self.text, content);
        } else {
            text.push(self.text, content);
        }
        if text.text().is_empty() {
            text = Mapped::empty_at(content.start as usize);
        }
        Piece { text, span: Span::new(start, self.at), is_quoted: true }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn at_comment(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.starts_with('#') || rest.starts_with("//")
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start().len();
            if !self.at_comment() {
                return;
            }
            let rest = &self.text[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }
}

/// Where the quote that `text` begins with is closed, on its line; else where the line ends.
fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            '\n' | '\r' => return at,
            '"' if !escaped => return at,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}
