//! Python's string and number literals.

use super::ir::Text;
use crate::text::Span;

/// What a literal's characters stand for.
pub(super) fn decode(source: &str, text: Text) -> String {
    let mut result = if text.format { source.replace("{{", "{").replace("}}", "}") } else { source.to_owned() };
    if !text.raw && result.contains('\\') {
        result = unescape(&result);
    }
    result
}

fn unescape(source: &str) -> String {
    let mut result = String::with_capacity(source.len());
    let mut letters = source.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            result.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some('\n') => {}
            Some('\r') => {
                if letters.as_str().starts_with('\n') {
                    letters.next();
                }
            }
            Some(quoted @ ('\\' | '\'' | '"')) => result.push(quoted),
            Some(kind @ ('x' | 'u' | 'U')) => {
                let digits = match kind {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let code = letters.as_str().get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok());
                match code.and_then(char::from_u32) {
                    Some(letter) => {
                        result.push(letter);
                        letters.nth(digits - 1);
                    }
                    None => result.extend(['\\', kind]),
                }
            }
            Some(other) => result.extend(['\\', other]),
            None => result.push('\\'),
        }
    }
    result
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
