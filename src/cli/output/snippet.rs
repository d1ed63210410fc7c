//! A line of source with carets under a span.

use unicode_width::UnicodeWidthChar as _;

use crate::text::{Document, Encoding, Span};

/// How wide a tab is drawn.
const TAB: usize = 4;
/// What is kept left of a span that is itself too long for the line.
const CONTEXT: usize = 16;

/// The first line of a span, ready to be drawn under each other.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct Snippet {
    /// From 1.
    pub line: u32,
    /// The line, or the part of it around the span.
    pub source: String,
    /// Blanks left of the carets.
    pub indent: usize,
    /// How many carets, at least one.
    pub carets: usize,
}

/// A character as it is drawn.
struct Cell {
    text: String,
    width: usize,
    /// Byte offset in the document.
    offset: usize,
}

/// Draws the line on which `span` starts in at most `width` columns.
pub(in crate::cli) fn snippet(document: &Document, span: Span, width: usize) -> Snippet {
    let number = document.position(span.start as usize, Encoding::Utf8).line;
    let line = document.line(number);
    let cells = cells(line.of(document.text()), line.start as usize);
    let columns =
        |end: usize| -> usize { cells.iter().take_while(|cell| cell.offset < end).map(|cell| cell.width).sum() };
    let start = columns(span.start as usize);
    let end = columns(span.end.min(line.end) as usize).max(start + 1);
    let (from, to) = window(start, end, columns(usize::MAX), width);
    Snippet {
        line: number + 1,
        source: cut(&cells, from, to),
        indent: start - from,
        carets: end.min(to).saturating_sub(start).max(1),
    }
}

fn cells(line: &str, offset: usize) -> Vec<Cell> {
    let mut column = 0;
    line.char_indices()
        .map(|(at, character)| {
            let text = match character {
                '\t' => " ".repeat(TAB - column % TAB),
                '\u{feff}' => String::new(),
                control if control.is_control() => "\u{fffd}".to_owned(),
                other => other.to_string(),
            };
            let width = text.chars().map(|drawn| drawn.width().unwrap_or(0)).sum();
            column += width;
            Cell { text, width, offset: offset + at }
        })
        .collect()
}

/// The columns to draw so that `start..end` is seen in a line of `total` columns.
fn window(start: usize, end: usize, total: usize, width: usize) -> (usize, usize) {
    if total <= width {
        return (0, total.max(end));
    }
    let left = (width.saturating_sub(end - start) / 2).max(CONTEXT.min(width / 4));
    let from = start.saturating_sub(left).min(total.saturating_sub(width));
    (from, from + width)
}

/// The cells between two columns, with `…` where something is cut off; a wide character on the edge becomes a blank.
fn cut(cells: &[Cell], from: usize, to: usize) -> String {
    let mut drawn = String::new();
    let mut column = 0;
    let total: usize = cells.iter().map(|cell| cell.width).sum();
    for cell in cells {
        let next = column + cell.width;
        let is_inside = column >= from && next <= to;
        let first = from > 0 && column <= from && from < next;
        let last = to < total && column < to && to <= next;
        if first || last {
            drawn.push('…');
            let rest = next.min(to).saturating_sub(column.max(from));
            drawn.push_str(&" ".repeat(rest.saturating_sub(1)));
        } else if is_inside {
            drawn.push_str(&cell.text);
        }
        column = next;
    }
    drawn.truncate(drawn.trim_end().len());
    drawn
}

#[cfg(test)]
mod tests {
    use super::{Snippet, snippet};
    use crate::text::{Document, Span};

    /// Draws the line and the carets of `marked` in `text`.
    fn drawn(text: &str, marked: &str, width: usize) -> String {
        let start = text.find(marked).expect("the text holds what is marked");
        let Snippet { line, source, indent, carets } =
            snippet(&Document::new(0, text), Span::new(start, start + marked.len()), width);
        format!("{line}|{source}\n |{}{}", " ".repeat(indent), "^".repeat(carets))
    }

    #[test]
    fn carets_stand_under_the_span() {
        assert_eq!(drawn("a\nrows = df.collect()\n", "collect", 80), "2|rows = df.collect()\n |          ^^^^^^^");
    }

    #[test]
    fn a_tab_and_wide_characters_take_their_width() {
        assert_eq!(drawn("\tx = '日本' + y\n", "y", 80), "1|    x = '日本' + y\n |                 ^");
    }

    #[test]
    fn a_span_over_lines_is_marked_to_the_end_of_its_first_line() {
        assert_eq!(drawn("f(a,\n  b)\n", "a,\n  b", 80), "1|f(a,\n |  ^^");
    }

    #[test]
    fn an_empty_span_at_the_end_gets_one_caret() {
        let text = "spark.executor.memory";
        let Snippet { indent, carets, .. } = snippet(&Document::new(0, text), Span::at(text.len()), 80);
        assert_eq!((indent, carets), (21, 1));
    }

    #[test]
    fn a_long_line_is_cut_around_the_span() {
        let text = format!("{}target{}", "a".repeat(200), "b".repeat(200));
        assert_eq!(drawn(&text, "target", 20), "1|…aaaaaatargetbbbbbb…\n |       ^^^^^^");
    }

    #[test]
    fn a_span_longer_than_the_line_starts_near_the_left() {
        let text = format!("{}{}", "a".repeat(200), "b".repeat(200));
        let text = drawn(&text, &"b".repeat(200), 40);
        assert_eq!(text, format!("1|…{}{}…\n |{}{}", "a".repeat(9), "b".repeat(29), " ".repeat(10), "^".repeat(30)));
    }
}
