//! One document's text at one version.

use std::sync::{Arc, OnceLock};

use ropey::Rope;

use super::{Encoding, Position, Span};

/// A line and a column in bytes, as tree-sitter counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Point {
    /// Line, from 0.
    pub row: usize,
    /// Bytes from the line's start.
    pub column: usize,
}

/// What one change replaced, in bytes, for an incremental parser that reads a lone `\r` as `\n`.
///
/// The edit may begin one byte before the change: a `\r` that gains or loses its `\n` reads differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// First byte that changed.
    pub start: usize,
    /// One past the last replaced byte, in the old text.
    pub old_end: usize,
    /// One past the last new byte, in the new text.
    pub new_end: usize,
    /// `start` as a point.
    pub start_point: Point,
    /// `old_end` as a point in the old text.
    pub old_end_point: Point,
    /// `new_end` as a point in the new text.
    pub new_end_point: Point,
}

/// A document's text at one version. Cloning shares the rope.
#[derive(Debug, Clone)]
pub struct Document {
    version: i32,
    rope: Rope,
    flat: OnceLock<Arc<str>>,
}

impl Document {
    /// A document with the given text.
    pub fn new(version: i32, text: &str) -> Self {
        Self { version, rope: Rope::from_str(text), flat: OnceLock::new() }
    }

    /// The version that the editor gave to this text.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// The text in one piece, made once per version.
    pub fn text(&self) -> &Arc<str> {
        self.flat.get_or_init(|| Arc::from(String::from(&self.rope)))
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.rope.len_bytes()
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of lines; text after the last line end is a line of its own, even if empty.
    pub fn line_count(&self) -> usize {
        self.rope.len_lines()
    }

    /// The byte offset of a position; positions outside the text are clamped into it.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let line = self.line(position.line).range();
        let column = position.column as usize;
        let offset = match encoding {
            Encoding::Utf8 => self.character_start(line.start.saturating_add(column).min(line.end)),
            Encoding::Utf16 => {
                let first = self.rope.char_to_utf16_cu(self.rope.byte_to_char(line.start));
                let last = self.rope.char_to_utf16_cu(self.rope.byte_to_char(line.end));
                self.rope.char_to_byte(self.rope.utf16_cu_to_char(first.saturating_add(column).min(last)))
            }
            Encoding::Utf32 => {
                let character = self.rope.byte_to_char(line.start).saturating_add(column);
                self.rope.char_to_byte(character.min(self.rope.byte_to_char(line.end)))
            }
        };
        offset.min(line.end)
    }

    /// The position of a byte offset; an offset inside a character or between `\r` and `\n` counts as its start.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let offset = self.character_start(offset.min(self.len()));
        let row = self.rope.byte_to_line(offset);
        let line = self.line(row as u32).range();
        let offset = offset.min(line.end);
        let column = match encoding {
            Encoding::Utf8 => offset - line.start,
            Encoding::Utf16 => {
                let units = |byte| self.rope.char_to_utf16_cu(self.rope.byte_to_char(byte));
                units(offset) - units(line.start)
            }
            Encoding::Utf32 => self.rope.byte_to_char(offset) - self.rope.byte_to_char(line.start),
        };
        Position { line: row as u32, column: column as u32 }
    }

    /// Replaces what lies between two positions and sets the version. An inverted range is no change (`None`), though
    /// the version counts on.
    pub fn replace(
        &mut self,
        version: i32,
        start: Position,
        end: Position,
        encoding: Encoding,
        text: &str,
    ) -> Option<Edit> {
        self.version = version;
        if end < start {
            return None;
        }
        Some(self.splice(self.offset(start, encoding)..self.offset(end, encoding), text))
    }

    /// Makes the text another one and says what changed, from the first byte that differs to the last; `None` if nothing
    /// does. Sets the version.
    pub fn become_text(&mut self, version: i32, text: &str) -> Option<Edit> {
        self.version = version;
        let old = Arc::clone(self.text());
        let shorter = old.len().min(text.len());
        let same = |(a, b): &(u8, u8)| a == b;
        let mut start = old.bytes().zip(text.bytes()).take_while(same).count();
        if start == old.len() && start == text.len() {
            return None;
        }
        // Neither a character nor a line end is cut in two.
        let is_cut = |text: &str, at: usize| {
            !text.is_char_boundary(at) || text[..at].ends_with('\r') && text[at..].starts_with('\n')
        };
        while is_cut(&old, start) || is_cut(text, start) {
            start -= 1;
        }
        let behind = old.bytes().rev().zip(text.bytes().rev()).take_while(same).count();
        let mut behind = behind.min(shorter - start);
        while is_cut(&old, old.len() - behind) || is_cut(text, text.len() - behind) {
            behind -= 1;
        }
        Some(self.splice(start..old.len() - behind, &text[start..text.len() - behind]))
    }

    /// Replaces bytes, on character boundaries.
    fn splice(&mut self, replaced: std::ops::Range<usize>, text: &str) -> Edit {
        let new_end = replaced.start + text.len();
        let old_end_point = self.point(replaced.end);
        let followed_by_line_feed = text.as_bytes().first().copied().or_else(|| self.byte(replaced.end)) == Some(b'\n');
        let start = match replaced.start.checked_sub(1) {
            Some(before) if followed_by_line_feed && self.byte(before) == Some(b'\r') => before,
            _ => replaced.start,
        };
        let start_point = self.point(start);
        let first = self.rope.byte_to_char(replaced.start);
        self.rope.remove(first..self.rope.byte_to_char(replaced.end));
        self.rope.insert(first, text);
        self.flat = OnceLock::new();
        Edit { start, old_end: replaced.end, new_end, start_point, old_end_point, new_end_point: self.point(new_end) }
    }

    /// Replaces the whole text and sets the version.
    pub fn set_text(&mut self, version: i32, text: &str) {
        *self = Self::new(version, text);
    }

    /// The span of line `line` without its line end; empty at the end of the text for lines that are not there.
    pub fn line(&self, line: u32) -> Span {
        let line = line as usize;
        if line >= self.rope.len_lines() {
            return Span::at(self.len());
        }
        let start = self.rope.line_to_byte(line);
        let next = self.rope.line_to_byte(line + 1);
        Span::new(start, next - self.terminator(start, next).len())
    }

    /// The document's own line end, which is its first: `"\n"`, `"\r\n"` or `"\r"`; `"\n"` if it has none.
    pub fn line_ending(&self) -> &'static str {
        match self.rope.len_lines() {
            0 | 1 => "\n",
            _ => self.terminator(0, self.rope.line_to_byte(1)),
        }
    }

    /// The line end that a line with the bytes `start..next` has; empty for the last line.
    fn terminator(&self, start: usize, next: usize) -> &'static str {
        let from_end = |n: usize| next.checked_sub(n).filter(|&at| at >= start).and_then(|at| self.byte(at));
        match (from_end(2), from_end(1)) {
            (Some(b'\r'), Some(b'\n')) => "\r\n",
            (_, Some(b'\n')) => "\n",
            (_, Some(b'\r')) => "\r",
            _ => "",
        }
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.rope.get_byte(offset)
    }

    fn character_start(&self, offset: usize) -> usize {
        self.rope.char_to_byte(self.rope.byte_to_char(offset))
    }

    fn point(&self, offset: usize) -> Point {
        let row = self.rope.byte_to_line(offset);
        Point { row, column: offset - self.rope.line_to_byte(row) }
    }
}
