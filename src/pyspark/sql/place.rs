//! From places of a decoded text to places of the file: through quotes, prefixes, escapes and the holes of f-strings.

use std::ops::Range;

use smallvec::SmallVec;

use crate::pyspark::ir::Text;
use crate::pyspark::strings;
use crate::text::Span;

/// Pieces of a text, in order.
pub(in crate::pyspark) type Pieces = SmallVec<[Piece; 1]>;

/// A piece of a text and the characters of the file that it was made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::pyspark) struct Piece {
    /// How many bytes of the text it is; a hole has none.
    pub(in crate::pyspark) len: u32,
    /// The characters; empty if the file doesn't hold them.
    pub(in crate::pyspark) span: Span,
    pub(in crate::pyspark) written: Written,
}

/// How a piece is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pyspark) enum Written {
    /// The inside of a literal.
    Literal {
        raw: bool,
        /// Part of an f-string.
        format: bool,
    },
    /// As something else, such as the name of a constant.
    Otherwise,
    /// As a hole.
    Hole,
}

impl Piece {
    /// The inside of a literal.
    pub(in crate::pyspark) fn of_literal(text: &str, span: Span, raw: bool, format: bool) -> Self {
        Self { len: text.len() as u32, span, written: Written::Literal { raw, format } }
    }

    /// A part of the piece; it has a place of its own if the piece stands in the file as it is.
    pub(in crate::pyspark) fn slice(self, range: Range<usize>) -> Self {
        let (len, start) = (range.len() as u32, self.span.start as usize);
        match self.written {
            Written::Literal { .. } if self.span.len() == self.len as usize => {
                Self { len, span: Span::new(start + range.start, start + range.end), ..self }
            }
            _ => Self { len, written: Written::Otherwise, ..self },
        }
    }

    /// A piece of which nothing but its length is known.
    pub(in crate::pyspark) fn elsewhere(text: &str) -> Self {
        Self { len: text.len() as u32, span: Span::default(), written: Written::Otherwise }
    }
}

/// The pieces of a part of a text without holes.
pub(in crate::pyspark) fn slice(pieces: &[Piece], range: &Range<usize>) -> Pieces {
    let mut found = Pieces::new();
    let mut at = 0;
    for piece in pieces {
        let end = at + piece.len as usize;
        let (from, to) = (range.start.max(at), range.end.min(end));
        if from < to {
            found.push(piece.slice(from - at..to - at));
        }
        at = end;
    }
    found
}

/// Characters of the text and of the file that belong together.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    len: usize,
    /// In the file.
    span: Span,
    /// Each byte stands for itself.
    verbatim: bool,
    /// How many runs up to this one don't follow the one before them in the file.
    breaks: u32,
}

/// Leads places of a text back to the file.
#[derive(Debug, Clone)]
pub(in crate::pyspark) struct SourceMap {
    runs: Vec<Run>,
    /// What stands for places that the file doesn't hold.
    whole: Span,
}

impl SourceMap {
    /// `hole` is how many bytes stand for a hole in the text.
    pub(in crate::pyspark) fn new<'t>(
        pieces: &[Piece],
        text_of: impl Fn(Span) -> &'t str,
        hole: usize,
        whole: Span,
    ) -> Self {
        let mut map = Self { runs: Vec::new(), whole };
        let mut at = 0;
        for piece in pieces {
            let len = if piece.written == Written::Hole { hole } else { piece.len as usize };
            match piece.written {
                Written::Literal { raw, format } => map.literal(at, len, piece.span, text_of(piece.span), raw, format),
                _ => map.push(at, len, piece.span, false),
            }
            at += len;
        }
        map
    }

    fn literal(&mut self, at: usize, len: usize, span: Span, source: &str, raw: bool, format: bool) {
        let mut runs = Vec::new();
        let (mut text, mut read) = (at, 0);
        for (decoded, written) in strings::pieces(source, Text { content: span, raw, bytes: false, format }) {
            runs.push((text, decoded, read..read + written));
            (text, read) = (text + decoded, read + written);
        }
        if text != at + len {
            return self.push(at, len, span, false);
        }
        for (start, decoded, written) in runs {
            let from = span.start as usize;
            let verbatim = decoded == written.len();
            self.push(start, decoded, Span::new(from + written.start, from + written.end), verbatim);
        }
    }

    fn push(&mut self, start: usize, len: usize, span: Span, verbatim: bool) {
        let breaks = match self.runs.last() {
            Some(last) => last.breaks + u32::from(span.is_empty() || span.start < last.span.end),
            None => u32::from(span.is_empty()),
        };
        self.runs.push(Run { start, len, span, verbatim, breaks });
    }

    /// The characters of the file that a range of the text stands for.
    pub(in crate::pyspark) fn span(&self, range: &Range<usize>) -> Span {
        self.exact(range).unwrap_or(self.whole)
    }

    fn exact(&self, range: &Range<usize>) -> Option<Span> {
        let first = self.run(range.start)?;
        let last = if range.is_empty() { first } else { self.run(range.end - 1)? };
        let (from, to) = (&self.runs[first], &self.runs[last]);
        if from.breaks != to.breaks || from.span.is_empty() || to.span.is_empty() {
            return None;
        }
        let start = if from.verbatim {
            from.span.start as usize + (range.start - from.start)
        } else {
            from.span.start as usize
        };
        let end = match (range.is_empty(), to.verbatim) {
            (true, _) => start,
            (false, true) => to.span.start as usize + (range.end - to.start),
            (false, false) => to.span.end as usize,
        };
        (start <= end).then(|| Span::new(start, end))
    }

    /// The run that holds a byte of the text; the end belongs to the last one.
    fn run(&self, at: usize) -> Option<usize> {
        let index = self.runs.partition_point(|run| run.start <= at).checked_sub(1)?;
        let run = &self.runs[index];
        (at < run.start + run.len || index + 1 == self.runs.len() && at == run.start + run.len).then_some(index)
    }
}
