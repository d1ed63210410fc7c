//! Logical lines of a properties file: natural lines joined where a backslash says so.

use crate::text::Span;

/// A character and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) char: char,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// One logical line, with its escapes still in it.
#[derive(Debug, Default)]
pub(super) struct LogicalLine {
    /// What is left of it: no leading blanks, no backslashes that continue, no line ends.
    pub(super) chars: Vec<Placed>,
    /// All of it, line end included.
    pub(super) span: Span,
    /// Natural lines beyond the first, from their first character that is not blank.
    pub(super) continued: Vec<Span>,
}

/// Reads logical lines one after the other. Comments and blank lines are skipped.
pub(super) struct Lines<'a> {
    text: &'a str,
    at: usize,
}

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The natural line that comes next, without its line end.
    pub(super) fn peek(&self) -> Option<&'a str> {
        let rest = &self.text[self.at..];
        (!rest.is_empty()).then(|| &rest[..line_length(rest)])
    }

    /// Skips one natural line.
    pub(super) fn skip(&mut self) {
        self.natural();
    }

    /// Fills `line` with the next logical line; false at the end of the text.
    pub(super) fn next(&mut self, line: &mut LogicalLine) -> bool {
        line.chars.clear();
        line.continued.clear();
        let start = self.at;
        let Some((natural, mut offset)) = self.natural() else { return false };
        let mut rest = natural.trim_start_matches(is_blank);
        offset += natural.len() - rest.len();
        if !rest.starts_with(['#', '!']) {
            loop {
                let continues = ends_in_odd_backslashes(rest);
                let kept = if continues { &rest[..rest.len() - 1] } else { rest };
                line.chars.extend(kept.char_indices().map(|(at, char)| {
                    let start = offset + at;
                    Placed { char, start, end: start + char.len_utf8() }
                }));
                if !continues {
                    break;
                }
                let Some((natural, next_offset)) = self.natural() else { break };
                rest = natural.trim_start_matches(is_blank);
                offset = next_offset + natural.len() - rest.len();
                if line.chars.is_empty() && rest.starts_with(['#', '!']) {
                    break;
                }
                line.continued.push(Span::new(offset, offset + rest.len()));
            }
        }
        line.span = Span::new(start, self.at);
        true
    }

    /// Takes one natural line: its text without the line end, and where it begins.
    fn natural(&mut self) -> Option<(&'a str, usize)> {
        let line = self.peek()?;
        let start = self.at;
        let after = &self.text[start + line.len()..];
        let end = match after.as_bytes() {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        self.at = start + line.len() + end;
        Some((line, start))
    }
}

fn line_length(text: &str) -> usize {
    memchr::memchr2(b'\n', b'\r', text.as_bytes()).unwrap_or(text.len())
}

fn ends_in_odd_backslashes(line: &str) -> bool {
    line.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1
}
