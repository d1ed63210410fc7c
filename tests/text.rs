//! Documents: positions in three encodings, clamping, edits, line ends.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use sparkls::text::{Document, Encoding, Point, Position, Span};

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

fn at(line: u32, column: u32) -> Position {
    Position { line, column }
}

#[test]
fn columns_behind_an_emoji_depend_on_the_encoding() {
    let document = Document::new(1, "s = '🦀' # x\n");
    for (encoding, column) in [(Encoding::Utf8, 12), (Encoding::Utf16, 10), (Encoding::Utf32, 9)] {
        assert_eq!(document.offset(at(0, column), encoding), 12, "{encoding:?}");
        assert_eq!(document.position(12, encoding), at(0, column), "{encoding:?}");
    }
}

#[test]
fn a_column_inside_a_character_is_its_start() {
    let document = Document::new(1, "a🦀b");
    assert_eq!(document.offset(at(0, 2), Encoding::Utf16), 1, "inside the surrogate pair");
    assert_eq!(document.offset(at(0, 3), Encoding::Utf8), 1);
    assert_eq!(document.position(3, Encoding::Utf16), at(0, 1));
}

#[test]
fn positions_outside_are_clamped() {
    let document = Document::new(1, "ab\r\ncd");
    for encoding in ENCODINGS {
        assert_eq!(document.offset(at(0, 3), encoding), 2, "never between \\r and \\n");
        assert_eq!(document.offset(at(0, u32::MAX), encoding), 2);
        assert_eq!(document.offset(at(1, 99), encoding), 6);
        assert_eq!(document.offset(at(u32::MAX, 0), encoding), 6);
        assert_eq!(document.position(3, encoding), at(0, 2));
        assert_eq!(document.position(usize::MAX, encoding), at(1, 2));
    }
}

#[test]
fn only_lf_crlf_and_cr_end_a_line() {
    let document = Document::new(1, "a\rb\r\nc\nd\u{2028}e\u{b}f\u{c}g\u{85}h");
    let text = document.text().clone();
    let lines: Vec<&str> = (0..4).map(|line| document.line(line).of(&text)).collect();
    assert_eq!(lines, ["a", "b", "c", "d\u{2028}e\u{b}f\u{c}g\u{85}h"]);
    assert_eq!(document.line_count(), 4);
    assert_eq!(document.line(4), Span::at(text.len()));
}

#[test]
fn a_byte_order_mark_is_one_unit_of_the_first_line() {
    let document = Document::new(1, "\u{feff}x = 1\n");
    assert_eq!(document.offset(at(0, 1), Encoding::Utf16), 3);
    assert_eq!(document.offset(at(0, 1), Encoding::Utf32), 3);
    assert_eq!(document.position(3, Encoding::Utf16), at(0, 1));
}

#[test]
fn the_first_line_end_is_the_documents_own() {
    for (text, ending) in [("a\nb\r\n", "\n"), ("a\r\nb\n", "\r\n"), ("a\rb\n", "\r"), ("a", "\n"), ("", "\n")] {
        assert_eq!(Document::new(1, text).line_ending(), ending, "{text:?}");
    }
}

#[test]
fn an_inverted_range_changes_nothing() {
    let mut document = Document::new(1, "abc");
    assert_eq!(document.replace(2, at(0, 2), at(0, 1), Encoding::Utf16, "x"), None);
    assert_eq!((&**document.text(), document.version()), ("abc", 2));
}

#[test]
fn an_edit_has_byte_points() {
    let mut document = Document::new(1, "é = 1\rb = 2\n");
    let edit = document.replace(2, at(1, 0), at(1, 1), Encoding::Utf16, "x\ny").unwrap();
    assert_eq!(&**document.text(), "é = 1\rx\ny = 2\n");
    assert_eq!((edit.start, edit.old_end, edit.new_end), (7, 8, 10));
    assert_eq!(edit.start_point, Point { row: 1, column: 0 });
    assert_eq!(edit.old_end_point, Point { row: 1, column: 1 });
    assert_eq!(edit.new_end_point, Point { row: 2, column: 1 });
}

#[test]
fn a_cr_that_gains_its_lf_belongs_to_the_edit() {
    let mut document = Document::new(1, "a\rb");
    let edit = document.replace(2, at(1, 0), at(1, 0), Encoding::Utf16, "\n").unwrap();
    assert_eq!((edit.start, edit.old_end, edit.new_end), (1, 2, 3));
    assert_eq!(edit.start_point, Point { row: 0, column: 1 });
    assert_eq!(edit.old_end_point, Point { row: 1, column: 0 });
    assert_eq!(edit.new_end_point, Point { row: 1, column: 0 });
}

#[test]
fn a_whole_text_replaces_the_old_one() {
    let mut document = Document::new(1, "a");
    document.set_text(7, "b\nc");
    assert_eq!((&**document.text(), document.version(), document.line_count()), ("b\nc", 7, 2));
}

/// Lines of `text` as (start, end without the line end, start of the next), by a plain walk.
fn plain_lines(text: &str) -> Vec<(usize, usize, usize)> {
    let bytes = text.as_bytes();
    let (mut lines, mut start, mut i) = (Vec::new(), 0, 0);
    while i < bytes.len() {
        let width = match bytes[i] {
            b'\r' if bytes.get(i + 1) == Some(&b'\n') => 2,
            b'\r' | b'\n' => 1,
            _ => 0,
        };
        if width > 0 {
            lines.push((start, i, i + width));
            start = i + width;
        }
        i += width.max(1);
    }
    lines.push((start, bytes.len(), bytes.len()));
    lines
}

fn units(c: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => c.len_utf8(),
        Encoding::Utf16 => c.len_utf16(),
        Encoding::Utf32 => 1,
    }
}

/// The byte offset of a position in a plain string, one character after the other.
fn plain_offset(text: &str, position: Position, encoding: Encoding) -> usize {
    let lines = plain_lines(text);
    let Some(&(start, end, _)) = lines.get(position.line as usize) else { return text.len() };
    let mut left = position.column as usize;
    for (i, c) in text[start..end].char_indices() {
        let width = units(c, encoding);
        if left < width {
            return start + i;
        }
        left -= width;
    }
    end
}

/// What a parser reads that takes a lone `\r` for `\n`; `\u{1}` marks the `\r` of a `\r\n`.
fn parsed(text: &str) -> String {
    text.replace("\r\n", "\u{1}\n").replace('\r', "\n")
}

/// A byte offset as a point in what such a parser reads.
fn plain_point(text: &str, offset: usize) -> Point {
    let parsed = parsed(text);
    let before = &parsed[..offset];
    Point { row: before.matches('\n').count(), column: offset - before.rfind('\n').map_or(0, |i| i + 1) }
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-c =#.]{1,3}",
        2 => Just("\n".to_owned()),
        2 => Just("\r\n".to_owned()),
        2 => Just("\r".to_owned()),
        1 => Just("🦀".to_owned()),
        1 => Just("👩‍🚀".to_owned()),
        1 => Just("漢字".to_owned()),
        1 => Just("é\u{2028}".to_owned()),
        1 => Just("\u{feff}".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn positions() -> impl Strategy<Value = Position> {
    (0u32..8, 0u32..12).prop_map(|(line, column)| at(line, column))
}

proptest! {
    #[test]
    fn edits_do_what_they_do_to_a_plain_string(
        text in texts(),
        edits in prop::collection::vec((positions(), positions(), texts(), 0usize..3), 1..12),
    ) {
        let mut plain = text.clone();
        let mut document = Document::new(0, &text);
        for (version, (start, end, new, encoding)) in edits.into_iter().enumerate() {
            let encoding = ENCODINGS[encoding];
            let edit = document.replace(version as i32, start, end, encoding, &new);
            prop_assert_eq!(edit.is_none(), end < start);
            if let Some(edit) = edit {
                let range = plain_offset(&plain, start, encoding)..plain_offset(&plain, end, encoding);
                let old = plain.clone();
                plain.replace_range(range.clone(), &new);
                prop_assert_eq!((edit.old_end, edit.new_end), (range.end, range.start + new.len()));
                prop_assert!(edit.start == range.start || edit.start + 1 == range.start);
                prop_assert_eq!(edit.start_point, plain_point(&old, edit.start));
                prop_assert_eq!(edit.start_point, plain_point(&plain, edit.start));
                prop_assert_eq!(edit.old_end_point, plain_point(&old, edit.old_end));
                prop_assert_eq!(edit.new_end_point, plain_point(&plain, edit.new_end));
                let (old, new) = (parsed(&old), parsed(&plain));
                prop_assert_eq!(&old.as_bytes()[..edit.start], &new.as_bytes()[..edit.start]);
                prop_assert_eq!(&old.as_bytes()[edit.old_end..], &new.as_bytes()[edit.new_end..]);
            }
            prop_assert_eq!(&**document.text(), plain.as_str());
        }
        for (line, (start, end, _)) in plain_lines(&plain).into_iter().enumerate() {
            prop_assert_eq!(document.line(line as u32), Span::new(start, end));
        }
    }

    #[test]
    fn a_text_becomes_another_by_one_edit(old in texts(), middle in texts(), cut in 0usize..40) {
        // Something of the old text is kept on both sides.
        let cut = old.char_indices().map(|(at, _)| at).nth(cut % 12).unwrap_or(old.len());
        let new = format!("{}{middle}{}", &old[..cut], &old[cut..]);
        for (from, to) in [(&old, &new), (&new, &old), (&old, &middle)] {
            let mut document = Document::new(0, from);
            let edit = document.become_text(3, to);
            prop_assert_eq!((&**document.text(), document.version()), (to.as_str(), 3));
            prop_assert_eq!(edit.is_none(), from == to);
            if let Some(edit) = edit {
                let (old, new) = (parsed(from), parsed(to));
                prop_assert_eq!(&old.as_bytes()[..edit.start], &new.as_bytes()[..edit.start]);
                prop_assert_eq!(&old.as_bytes()[edit.old_end..], &new.as_bytes()[edit.new_end..]);
                prop_assert_eq!(edit.old_end_point, plain_point(from, edit.old_end));
                prop_assert_eq!(edit.new_end_point, plain_point(to, edit.new_end));
            }
        }
    }

    #[test]
    fn a_position_and_its_offset_belong_together(text in texts()) {
        let document = Document::new(0, &text);
        for (start, end, _) in plain_lines(&text) {
            for offset in (start..=end).filter(|&offset| text.is_char_boundary(offset)) {
                for encoding in ENCODINGS {
                    let position = document.position(offset, encoding);
                    prop_assert_eq!(document.offset(position, encoding), offset);
                    prop_assert_eq!(plain_offset(&text, position, encoding), offset);
                }
            }
        }
    }
}
