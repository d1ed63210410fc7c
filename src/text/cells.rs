//! The cells of a notebook as one text, and back.

use super::Span;

/// One cell of a joined text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Its number among all cells of the notebook, from 1.
    pub number: u32,
    /// Its own text within the joined one, without the line end that was put behind it.
    pub span: Span,
    /// The joined text's line at which it begins, from 0.
    pub first_line: u32,
    /// How many lines it has; an empty cell has one.
    pub lines: u32,
}

/// Which bytes and lines of a joined text belong to which cell.
///
/// Every cell begins at the beginning of a line and keeps its bytes, but for a lone `\r`, which becomes `\n`: so a line of
/// the joined text is a line of its cell, and columns are the same in every encoding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells(Vec<Cell>);

impl Cells {
    /// Joins numbered cells in their order; the text, and whose it is.
    pub fn join<'t>(cells: impl IntoIterator<Item = (u32, &'t str)>) -> (Self, String) {
        let mut joined = String::new();
        let mut all = Vec::new();
        let mut first_line = 0;
        for (number, text) in cells {
            let start = joined.len();
            push_with_line_feeds(&mut joined, text);
            let span = Span::new(start, joined.len());
            joined.push('\n');
            let lines = joined[start..].bytes().filter(|byte| *byte == b'\n').count() as u32;
            all.push(Cell { number, span, first_line, lines });
            first_line += lines;
        }
        (Self(all), joined)
    }

    /// All cells, in order.
    pub fn all(&self) -> &[Cell] {
        &self.0
    }

    /// The place in [`Cells::all`] of the cell that an offset is in; the line end behind a cell is still its.
    pub fn at(&self, offset: usize) -> Option<usize> {
        let after = self.0.partition_point(|cell| cell.span.start as usize <= offset);
        after.checked_sub(1).filter(|index| offset <= self.0[*index].span.end as usize)
    }

    /// The place in [`Cells::all`] of the cell that holds the whole of a span.
    pub fn holding(&self, span: Span) -> Option<usize> {
        let index = self.at(span.start as usize)?;
        self.0[index].span.contains(span).then_some(index)
    }

    /// The place in [`Cells::all`] of the cell that a line of the joined text is in.
    pub fn at_line(&self, line: u32) -> Option<usize> {
        let after = self.0.partition_point(|cell| cell.first_line <= line);
        after.checked_sub(1).filter(|index| line < self.0[*index].first_line + self.0[*index].lines)
    }

    /// The same edit with its ends inside of cells: the line ends between them are nobody's. What would have stood behind
    /// the last cell is put on a line of its own at its end.
    pub fn inside(&self, span: Span, text: &str) -> Option<(usize, Span, String)> {
        if let Some(index) = self.holding(span) {
            return Some((index, span, text.to_owned()));
        }
        let before = |offset: u32| self.at((offset as usize).checked_sub(1)?);
        let index = if span.is_empty() { before(span.start)? } else { self.at(span.start as usize)? };
        let own = self.0[index].span;
        if span.end != own.end + 1 {
            return None;
        }
        if span.is_empty() {
            let text = text.strip_suffix('\n').unwrap_or(text);
            return Some((index, Span::at(own.end as usize), format!("\n{text}")));
        }
        let text = text.strip_suffix('\n').unwrap_or(text);
        Some((index, Span { start: span.start, end: own.end }, text.to_owned()))
    }
}

/// Appends a text with `\n` for each lone `\r`.
fn push_with_line_feeds(out: &mut String, text: &str) {
    let mut characters = text.chars().peekable();
    if !text.contains('\r') {
        out.push_str(text);
        return;
    }
    while let Some(character) = characters.next() {
        let is_lone = character == '\r' && characters.peek() != Some(&'\n');
        out.push(if is_lone { '\n' } else { character });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_begins_a_line_and_keeps_its_lines() {
        let (cells, text) = Cells::join([(1, "a\nb"), (3, ""), (4, "c\n"), (5, "é\rd\r\ne\r")]);
        assert_eq!(text, "a\nb\n\nc\n\né\nd\r\ne\n\n");
        let lines: Vec<_> = cells.all().iter().map(|cell| (cell.number, cell.first_line, cell.lines)).collect();
        assert_eq!(lines, [(1, 0, 2), (3, 2, 1), (4, 3, 2), (5, 5, 4)]);
        for (index, cell) in cells.all().iter().enumerate() {
            assert_eq!(cells.at(cell.span.start as usize), Some(index));
            assert_eq!(cells.at(cell.span.end as usize), Some(index));
            assert_eq!(cells.at_line(cell.first_line), Some(index));
            assert_eq!(cells.at_line(cell.first_line + cell.lines - 1), Some(index));
        }
        assert_eq!((cells.at(text.len()), cells.at_line(9)), (None, None));
    }

    #[test]
    fn edits_stay_inside_of_cells() {
        let (cells, text) = Cells::join([(1, "ab"), (2, "cd")]);
        assert_eq!(text, "ab\ncd\n");
        let inside = |start, end, text| cells.inside(Span::new(start, end), text);
        assert_eq!(inside(0, 2, "x"), Some((0, Span::new(0, 2), "x".to_owned())));
        assert_eq!(inside(0, 3, ""), Some((0, Span::new(0, 2), String::new())), "a whole line, the cell's last");
        assert_eq!(inside(3, 3, "x\n"), Some((1, Span::at(3), "x\n".to_owned())));
        assert_eq!(inside(6, 6, "x\n"), Some((1, Span::at(5), "\nx".to_owned())), "behind the last line");
        assert_eq!(inside(1, 4, "x"), None, "no edit crosses cells");
    }
}
