//! Applying fixes to a text.

use super::Edit;

/// The text after these edits; an edit's `\n` becomes the text's own line end.
///
/// Edits may come in any order. One that overlaps an earlier one or does not fit the text is left out.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let line_end = line_end(text);
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| edit.span);
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for edit in sorted {
        let range = edit.span.range();
        let Some(kept) = text.get(done..range.start).filter(|_| text.is_char_boundary(range.end)) else { continue };
        result.push_str(kept);
        if line_end == "\n" {
            result.push_str(&edit.text);
        } else {
            result.push_str(&edit.text.replace('\n', line_end));
        }
        done = range.end;
    }
    result.push_str(text.get(done..).unwrap_or_default());
    result
}

/// The line end that a text uses first; `\n` if it has one line only.
pub fn line_end(text: &str) -> &'static str {
    match text.find(['\n', '\r']).map(|at| &text.as_bytes()[at..]) {
        Some([b'\r', b'\n', ..]) => "\r\n",
        Some([b'\r', ..]) => "\r",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit { span: Span::new(start, end), text: text.to_owned() }
    }

    #[test]
    fn edits_apply_in_any_order_to_the_old_offsets() {
        assert_eq!(apply("one two", &[edit(4, 7, "2"), edit(0, 3, "1")]), "1 2");
    }

    #[test]
    fn new_lines_take_the_line_end_of_the_text() {
        assert_eq!(apply("a\r\nb\r\n", &[edit(3, 3, "x\n")]), "a\r\nx\r\nb\r\n");
        assert_eq!(apply("a\rb", &[edit(2, 2, "x\n")]), "a\rx\rb");
    }

    #[test]
    fn edits_that_overlap_or_do_not_fit_are_left_out() {
        assert_eq!(apply("abcd", &[edit(0, 3, "x"), edit(2, 4, "y"), edit(9, 9, "z")]), "xd");
    }
}
