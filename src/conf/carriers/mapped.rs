//! A text taken out of a document: quotes removed, escapes resolved, indentation stripped, yet every character still
//! knows where it stands.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::SmallVec;

use crate::text::Span;

/// A decoded text with the places of its characters in the document.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mapped<'a> {
    text: Cow<'a, str>,
    pieces: SmallVec<[Piece; 1]>,
}

/// A run of the decoded text.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Where it begins in the decoded text.
    at: usize,
    /// Where it stands in the document.
    source: Span,
    /// The same bytes stand in both; otherwise the run as a whole stands for the source as a whole (an escape).
    verbatim: bool,
}

impl Piece {
    fn start(self, offset: usize) -> usize {
        if self.verbatim { self.source.start as usize + (offset - self.at) } else { self.source.start as usize }
    }

    fn end(self, offset: usize) -> usize {
        if self.verbatim { self.source.start as usize + (offset - self.at) } else { self.source.end as usize }
    }
}

impl<'a> Mapped<'a> {
    /// The text under a span of the document, as it stands.
    pub(crate) fn verbatim(document: &'a str, span: Span) -> Self {
        let mut mapped = Self { text: Cow::Borrowed(span.of(document)), pieces: SmallVec::new() };
        mapped.pieces.push(Piece { at: 0, source: span, verbatim: true });
        mapped
    }

    /// A text that nothing in the document spells.
    pub(crate) fn empty_at(offset: usize) -> Self {
        let mut mapped = Self::default();
        mapped.pieces.push(Piece { at: 0, source: Span::at(offset), verbatim: true });
        mapped
    }

    /// Appends text of the document as it stands.
    pub(crate) fn push(&mut self, document: &'a str, span: Span) {
        if span.is_empty() {
            return;
        }
        if self.pieces.is_empty() {
            *self = Self::verbatim(document, span);
            return;
        }
        let at = self.text.len();
        self.text.to_mut().push_str(span.of(document));
        match self.pieces.last_mut() {
            Some(last) if last.verbatim && last.source.end == span.start => last.source.end = span.end,
            _ => self.pieces.push(Piece { at, source: span, verbatim: true }),
        }
    }

    /// Appends text that stands for `source`: a resolved escape, or the value of a variable.
    pub(crate) fn push_decoded(&mut self, decoded: &str, source: Span) {
        self.pieces.push(Piece { at: self.text.len(), source, verbatim: false });
        self.text.to_mut().push_str(decoded);
    }

    /// Appends a part of another text with its places.
    pub(crate) fn push_mapped(&mut self, other: &Mapped<'_>) {
        let at = self.text.len();
        self.text.to_mut().push_str(&other.text);
        self.pieces.extend(other.pieces.iter().map(|piece| Piece { at: at + piece.at, ..*piece }));
    }

    /// The part of the text in `range`, with its places.
    pub(crate) fn slice(&self, range: Range<usize>) -> Mapped<'static> {
        let mut part = Mapped::default();
        let text = self.text.get(range.clone()).unwrap_or_default();
        part.text = Cow::Owned(text.to_owned());
        let first = self.pieces.partition_point(|piece| piece.at <= range.start).saturating_sub(1);
        for (index, piece) in self.pieces.iter().enumerate().skip(first) {
            if piece.at >= range.end {
                break;
            }
            let end = self.pieces.get(index + 1).map_or(self.text.len(), |next| next.at);
            let (from, to) = (piece.at.max(range.start), end.min(range.end));
            if from < to {
                let source = Span::new(piece.start(from), piece.end(to));
                part.pieces.push(Piece { at: from - range.start, source, verbatim: piece.verbatim });
            }
        }
        if part.pieces.is_empty() {
            let at = self.span(range.start..range.start).start as usize;
            part.pieces.push(Piece { at: 0, source: Span::at(at), verbatim: true });
        }
        part
    }

    /// The decoded text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where a part of the decoded text stands in the document. A part whose ends stand in different places of the
    /// document (a variable's value in a command) gets the place of its beginning.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        if range.is_empty() {
            let place = match self.piece(range.start.saturating_sub(1)) {
                Some(piece) if range.start > 0 => piece.end(range.start),
                Some(piece) => piece.start(0),
                None => 0,
            };
            return Span::at(place);
        }
        let (Some(first), Some(last)) = (self.piece(range.start), self.piece(range.end - 1)) else {
            return Span::default();
        };
        let (start, end) = (first.start(range.start), last.end(range.end));
        if start <= end { Span::new(start, end) } else { Span::new(start, first.source.end as usize) }
    }

    /// Where the whole text stands.
    pub(crate) fn whole(&self) -> Span {
        self.span(0..self.text.len())
    }

    fn piece(&self, offset: usize) -> Option<Piece> {
        let after = self.pieces.partition_point(|piece| piece.at <= offset);
        self.pieces.get(after.saturating_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_through_escapes() {
        let document = r#"x = "a\"b\tc""#;
        let mut mapped = Mapped::default();
        mapped.push(document, Span::new(5, 6));
        mapped.push_decoded("\"", Span::new(6, 8));
        mapped.push(document, Span::new(8, 9));
        mapped.push_decoded("\t", Span::new(9, 11));
        mapped.push(document, Span::new(11, 12));
        assert_eq!(mapped.text(), "a\"b\tc");
        assert_eq!(mapped.span(1..3).of(document), "\\\"b");
        assert_eq!(mapped.span(3..4).of(document), "\\t");
        assert_eq!(mapped.whole().of(document), "a\\\"b\\tc");
        assert_eq!(mapped.slice(1..4).span(1..2).of(document), "b");
        assert_eq!(mapped.span(5..5), Span::at(12));
        assert_eq!(mapped.slice(2..2).whole(), Span::at(8));
    }

    #[test]
    fn a_part_with_its_ends_in_two_places_stands_where_it_begins() {
        let document = "M=4g; f spark.x=$M";
        let mut mapped = Mapped::verbatim(document, Span::new(8, 16));
        mapped.push_mapped(&Mapped::verbatim(document, Span::new(2, 4)));
        assert_eq!(mapped.text(), "spark.x=4g");
        assert_eq!(mapped.span(0..10).of(document), "spark.x=");
        assert_eq!(mapped.span(8..10).of(document), "4g");
    }
}
