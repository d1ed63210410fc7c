//! Bytes to lines, in blocks, whatever the lines' length.

use std::io::{self, Read};

/// How much is read at once: a block that stays in the cache of one core, so that its bytes come from memory once.
const BLOCK: usize = 256 << 10;

/// A buffer that long lines made larger than this is given back.
const MAX_KEPT: usize = 16 * BLOCK;

/// A line without its end; offsets count decoded bytes from the reader's start.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Ended by a line feed.
    Whole { offset: u64, bytes: &'a [u8] },
    /// The last one, with no line feed behind it.
    Last { offset: u64, bytes: &'a [u8] },
    /// Longer than the limit, and skipped.
    TooLong { offset: u64 },
}

/// Reads lines.
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Up to here no line feed stands in `buffer`.
    searched: usize,
    /// Offset of `buffer[start]`.
    offset: u64,
    limit: usize,
    at_end: bool,
    /// Why reading stopped before the end.
    broken: Option<io::Error>,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader,
            buffer: vec![0; 2 * BLOCK],
            start: 0,
            end: 0,
            searched: 0,
            offset: 0,
            limit,
            at_end: false,
            broken: None,
        }
    }

    /// Bytes handed out so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The error that ended reading early, if one did; all lines before it were handed out.
    pub(super) fn broken(&mut self) -> Option<io::Error> {
        self.broken.take()
    }

    /// The next line.
    pub(super) fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let fresh = self.buffer.get(self.searched..self.end).unwrap_or_default();
            if let Some(found) = memchr::memchr(b'\n', fresh) {
                let (from, to) = (self.start, self.searched + found);
                let offset = self.advance(to + 1);
                return Some(Line::Whole { offset, bytes: &self.buffer[from..to] });
            }
            self.searched = self.end;
            if self.at_end {
                let (from, to) = (self.start, self.end);
                if from == to {
                    return None;
                }
                let offset = self.advance(to);
                return Some(Line::Last { offset, bytes: &self.buffer[from..to] });
            }
            if self.end - self.start > self.limit {
                let offset = self.offset;
                self.skip_line();
                return Some(Line::TooLong { offset });
            }
            self.fill();
        }
    }

    fn advance(&mut self, to: usize) -> u64 {
        let offset = self.offset;
        self.offset += (to - self.start) as u64;
        self.start = to;
        self.searched = to;
        offset
    }

    fn skip_line(&mut self) {
        self.advance(self.end);
        self.compact();
        while !self.at_end {
            self.fill();
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[..self.end]) {
                self.advance(found + 1);
                return;
            }
            self.advance(self.end);
        }
    }

    /// Moves what was not handed out yet to the buffer's front, and gives a long line's room back.
    fn compact(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.searched -= self.start;
        self.start = 0;
        if self.buffer.len() > MAX_KEPT && self.end < BLOCK {
            self.buffer.truncate(2 * BLOCK);
            self.buffer.shrink_to_fit();
        }
    }

    /// Reads at least one byte more, or notes the end.
    fn fill(&mut self) {
        let was_long = self.buffer.len() > MAX_KEPT && self.end - self.start < BLOCK;
        if was_long || self.buffer.len() - self.end < BLOCK {
            self.compact();
            if self.buffer.len() - self.end < BLOCK {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        let free = &mut self.buffer[self.end..];
        let room = free.len().min(BLOCK);
        match self.reader.read(&mut free[..room]) {
            Ok(0) => self.at_end = true,
            Ok(read) => self.end += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.at_end = true;
                self.broken = Some(error);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], limit: usize) -> Vec<String> {
        let mut lines = Lines::new(bytes, limit);
        let mut out = Vec::new();
        while let Some(line) = lines.next() {
            out.push(match line {
                Line::Whole { offset, bytes } => format!("{offset} {}", String::from_utf8_lossy(bytes)),
                Line::Last { offset, bytes } => format!("{offset} {}…", String::from_utf8_lossy(bytes)),
                Line::TooLong { offset } => format!("{offset} too long"),
            });
        }
        assert_eq!(lines.offset(), bytes.len() as u64);
        out
    }

    #[test]
    fn lines_and_their_offsets() {
        assert_eq!(all(b"a\n\nbc\nd", 10), ["0 a", "2 ", "3 bc", "6 d…"]);
        assert_eq!(all(b"", 10), Vec::<String>::new());
    }

    #[test]
    fn long_lines_grow_the_buffer_and_too_long_ones_are_skipped() {
        let long = "x".repeat(5 * BLOCK);
        let text = format!("a\n{long}\nb\n");
        assert_eq!(all(text.as_bytes(), 10 * BLOCK).len(), 3);
        assert_eq!(all(text.as_bytes(), BLOCK), ["0 a", "2 too long", &format!("{} b", long.len() + 3)]);
        assert_eq!(all(long.as_bytes(), BLOCK), ["0 too long"]);
    }

    #[test]
    fn the_room_of_a_long_line_is_given_back() {
        let text = "x".repeat(2 * MAX_KEPT) + "\n" + &"y\n".repeat(BLOCK);
        let mut lines = Lines::new(text.as_bytes(), text.len());
        assert!(matches!(lines.next(), Some(Line::Whole { bytes, .. }) if bytes.len() == 2 * MAX_KEPT));
        assert!(lines.buffer.capacity() > 2 * MAX_KEPT);
        for _ in 0..BLOCK {
            assert!(matches!(lines.next(), Some(Line::Whole { bytes: b"y", .. })));
        }
        assert_eq!((lines.buffer.capacity(), lines.next()), (2 * BLOCK, None));
    }
}
