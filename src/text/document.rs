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

/// What one change replaced, in bytes, for an incremental parser.
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

    /// The byte offset of a position; positions outside the text are clamped into it.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let _ = (position, encoding, &self.rope);
        0
    }

    /// The position of a byte offset; an offset inside a character counts as its start.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let _ = (offset, encoding);
        Position::default()
    }

    /// Replaces what lies between two positions and sets the version. An inverted range is no change (`None`).
    pub fn replace(
        &mut self,
        version: i32,
        start: Position,
        end: Position,
        encoding: Encoding,
        text: &str,
    ) -> Option<Edit> {
        let _ = (version, start, end, encoding, text);
        None
    }

    /// The span of line `line` without its line end; empty at the end of the text for lines that are not there.
    pub fn line(&self, line: u32) -> Span {
        let _ = line;
        Span::default()
    }
}
