//! Escapes in quoted strings of JSON, YAML and HCL.

use super::mapped::Mapped;
use crate::text::Span;

/// Appends the text of `range` with its backslash escapes resolved; what is no escape stays as written.
pub(super) fn push<'a>(out: &mut Mapped<'a>, document: &'a str, range: Span) {
    let (mut from, end) = (range.start as usize, range.end as usize);
    while let Some(at) = document.get(from..end).and_then(|rest| rest.find('\\')).map(|offset| from + offset) {
        let Some((decoded, after)) = escape(&document[..end], at) else {
            let after = document[at + 1..end].chars().next().map_or(end, |char| at + 1 + char.len_utf8());
            out.push(document, Span::new(from, after));
            from = after;
            continue;
        };
        out.push(document, Span::new(from, at));
        out.push_decoded(decoded.encode_utf8(&mut [0; 4]), Span::new(at, after));
        from = after;
    }
    out.push(document, Span::new(from, end.max(from)));
}

/// The character of the escape at `at`, and where it ends.
fn escape(text: &str, at: usize) -> Option<(char, usize)> {
    let kind = text[at + 1..].chars().next()?;
    let after = at + 1 + kind.len_utf8();
    let char = match kind {
        'n' => '\n',
        't' | '\t' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        '0' => '\0',
        'a' => '\u{7}',
        'v' => '\u{b}',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        '"' | '\\' | '/' | ' ' => kind,
        'x' => return numbered(text, after, 2),
        'U' => return numbered(text, after, 8),
        'u' => return unit(text, after),
        _ => return None,
    };
    Some((char, after))
}

fn number(text: &str, at: usize, digits: usize) -> Option<u32> {
    let digits = text.get(at..at + digits)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

fn numbered(text: &str, at: usize, digits: usize) -> Option<(char, usize)> {
    Some((char::from_u32(number(text, at, digits)?)?, at + digits))
}

/// `\uXXXX`, two of them for a surrogate pair; a lone surrogate becomes U+FFFD.
fn unit(text: &str, at: usize) -> Option<(char, usize)> {
    let first = u16::try_from(number(text, at, 4)?).ok()?;
    let second = text.get(at + 4..at + 6).filter(|escape| *escape == "\\u").and_then(|_| number(text, at + 6, 4));
    let second = second.and_then(|unit| u16::try_from(unit).ok());
    let pair = [first, second.unwrap_or_default()];
    match char::decode_utf16(pair).next() {
        Some(Ok(char)) => Some((char, at + if char.len_utf16() == 2 { 10 } else { 4 })),
        _ => Some((char::REPLACEMENT_CHARACTER, at + 4)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved() {
        for (text, decoded) in [
            (r#"a\"b\\c\/d"#, "a\"b\\c/d"),
            (r"\n\t\u00e9\ud83e\udd80\ud83e!\x41\U0001F980", "\n\té🦀\u{fffd}!A🦀"),
            (r"\q\u12\", r"\q\u12\"),
            (r"\é", r"\é"),
        ] {
            let mut mapped = Mapped::default();
            push(&mut mapped, text, Span::new(0, text.len()));
            assert_eq!(mapped.text(), decoded);
        }
    }
}
