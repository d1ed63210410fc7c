//! Python's string and number literals.

use std::ops::Range;

use super::ir::Text;
use crate::conf::carriers::Mapped;
use crate::text::Span;

/// What a literal's characters stand for.
pub(super) fn decode(source: &str, text: Text) -> String {
    let mut result = String::with_capacity(source.len());
    runs(source, text, |range, decoded| result.push_str(decoded.unwrap_or(&source[range])));
    result
}

/// Appends what the characters of `content` stand for, each with its place in the document.
pub(super) fn push<'a>(out: &mut Mapped<'a>, document: &'a str, content: Span, text: Text) {
    let place =
        |range: Range<usize>| Span::new(content.start as usize + range.start, content.start as usize + range.end);
    runs(content.of(document), text, |range, decoded| match decoded {
        Some(decoded) => out.push_decoded(decoded, place(range)),
        None => out.push(document, place(range)),
    });
}

/// Calls `emit` with each run that stands for itself, and with each escape and what it stands for.
fn runs(source: &str, text: Text, mut emit: impl FnMut(Range<usize>, Option<&str>)) {
    let (mut from, mut at) = (0, 0);
    while let Some(next) = memchr::memchr3(b'\\', b'{', b'}', &source.as_bytes()[at..]).map(|offset| at + offset) {
        let rest = &source[next..];
        let is_doubled = text.format && (rest.starts_with("{{") || rest.starts_with("}}"));
        let escape = match rest.strip_prefix('\\') {
            Some(escaped) => (!text.raw).then(|| escape(escaped)).flatten(),
            None => is_doubled.then(|| (rest.chars().next(), 2)),
        };
        let Some((decoded, length)) = escape else {
            at = next + 1;
            continue;
        };
        if next > from {
            emit(from..next, None);
        }
        let mut bytes = [0; 4];
        emit(next..next + length, Some(decoded.map_or("", |letter| letter.encode_utf8(&mut bytes))));
        (from, at) = (next + length, next + length);
    }
    if from < source.len() {
        emit(from..source.len(), None);
    }
}

/// What stands behind a backslash stands for, and the length of the escape with its backslash; `None` if it is none.
fn escape(escaped: &str) -> Option<(Option<char>, usize)> {
    let kind = escaped.chars().next()?;
    Some(match kind {
        'n' => (Some('\n'), 2),
        't' => (Some('\t'), 2),
        'r' => (Some('\r'), 2),
        '\r' if escaped.starts_with("\r\n") => (None, 3),
        '\n' | '\r' => (None, 2),
        '\\' | '\'' | '"' => (Some(kind), 2),
        'x' => (Some(numbered(escaped, 2)?), 4),
        'u' => (Some(numbered(escaped, 4)?), 6),
        'U' => (Some(numbered(escaped, 8)?), 10),
        _ => return None,
    })
}

fn numbered(escaped: &str, digits: usize) -> Option<char> {
    char::from_u32(u32::from_str_radix(escaped.get(1..=digits)?, 16).ok()?)
}

/// The pieces of a literal that [`decode`] takes one by one: how many bytes come out, and how many stand in the source.
pub(super) fn pieces(source: &str, text: Text) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    runs(source, text, |range, decoded| {
        pieces.push((decoded.map_or(range.len(), str::len), range.len()));
    });
    pieces
}

/// The value of an integer literal in any base.
pub(super) fn integer(source: &str) -> Option<i64> {
    let digits = source.replace('_', "").to_ascii_lowercase();
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, &digits[..]),
    };
    i64::from_str_radix(digits, radix).ok()
}

/// The characters between the quotes of one literal with any prefix.
pub(super) fn inside(literal: Span, source: &str) -> Span {
    let prefix = source.find(['"', '\'']).unwrap_or(0);
    let quote = &source[prefix..];
    let width = if quote.starts_with("\"\"\"") || quote.starts_with("'''") { 3 } else { 1 };
    let start = literal.start as usize + prefix + width;
    let end = (literal.end as usize).saturating_sub(width);
    if start <= end { Span::new(start, end) } else { literal }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Text {
        Text { content: Span::default(), raw: false, bytes: false, format: false }
    }

    #[test]
    fn escapes_are_read_as_python_reads_them() {
        assert_eq!(decode(r"a\tb\\c\x41\u00e9\q", plain()), "a\tb\\cAé\\q");
        assert_eq!(decode(r"a\tb", Text { raw: true, ..plain() }), r"a\tb");
        assert_eq!(decode("{{x}}", Text { format: true, ..plain() }), "{x}");
        assert_eq!(decode("a\\\r\nb", plain()), "ab");
    }

    #[test]
    fn escapes_keep_their_places() {
        let document = r#"x = "a\"b\q""#;
        let mut text = Mapped::default();
        push(&mut text, document, Span::new(5, document.len() - 1), plain());
        assert_eq!(text.text(), "a\"b\\q");
        assert_eq!(text.span(1..3).of(document), "\\\"b");
    }

    #[test]
    fn pieces_are_as_long_as_what_is_decoded() {
        for source in [r"a\tb\\c\x41\u00e9\q\xzz", "a\\\r\nb", "{{x}}é\\n", "plain", "", "\\"] {
            for (raw, format) in [(false, false), (true, false), (false, true)] {
                let text = Text { raw, format, ..plain() };
                let (decoded, pieces) = (decode(source, text), pieces(source, text));
                assert_eq!(
                    pieces.iter().map(|piece| piece.0).sum::<usize>(),
                    decoded.len(),
                    "{source:?} {raw} {format}"
                );
                assert_eq!(
                    pieces.iter().map(|piece| piece.1).sum::<usize>(),
                    source.len(),
                    "{source:?} {raw} {format}"
                );
            }
        }
    }

    #[test]
    fn integers_have_bases_and_underscores() {
        assert_eq!((integer("1_000"), integer("0x10"), integer("5j")), (Some(1000), Some(16), None));
    }

    #[test]
    fn the_inside_of_a_literal() {
        let text = "x = rf'''a{b}'''";
        let literal = Span::new(4, text.len());
        assert_eq!(inside(literal, literal.of(text)).of(text), "a{b}");
    }
}
