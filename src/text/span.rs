//! Byte ranges into a document.

use std::ops::Range;

/// A half-open range of bytes in one document's text. Always on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of the bytes `start..end`; documents above 4 GiB are refused long before this.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end && end <= u32::MAX as usize);
        Self { start: start as u32, end: end as u32 }
    }

    /// An empty span at `offset`.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// The span as a range for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The same span that many bytes further on.
    pub fn shifted(self, by: u32) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it covers no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` lies in the span or right at its end, as a cursor does.
    pub fn touches(self, offset: usize) -> bool {
        self.start as usize <= offset && offset <= self.end as usize
    }

    /// Whether `other` lies inside this span.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the two share a byte or touch.
    pub fn intersects(self, other: Span) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// The smallest span that holds both.
    pub fn cover(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The text under the span; empty if the span does not fit the text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }
}
