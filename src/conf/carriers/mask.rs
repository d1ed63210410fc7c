//! Hides the syntax of templates (Jinja, Go templates, ERB, CircleCI) from a grammar that doesn't know it, without moving a byte.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

const PAIRS: [(&str, &str); 5] =
    [("{{", "}}"), ("{%", "%}"), ("<%", "%>"), ("<< parameters.", ">>"), ("<< pipeline.", ">>")];

/// The text with each template construct replaced by as many zeros, a construct that has lines to itself by blanks.
/// A construct that never ends is left as it is.
pub(super) fn templates(text: &str) -> Cow<'_, str> {
    let constructs = constructs(text);
    if constructs.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = text.as_bytes().to_vec();
    for construct in with_fillers(text, constructs) {
        for byte in &mut masked[construct.range] {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = construct.filler;
            }
        }
    }
    // Whole characters were replaced, so the rest is the UTF-8 that it was.
    Cow::Owned(String::from_utf8(masked).unwrap_or_else(|_| text.to_owned()))
}

/// For a shell's grammar: Terraform's `${var.x}` looks like a variable.
pub(super) fn interpolations(text: Cow<'_, str>) -> Cow<'_, str> {
    let in_path = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let dotted: Vec<Range<usize>> = text
        .match_indices("${")
        .filter_map(|(at, _)| {
            let name = at + 2..at + 2 + text.as_bytes()[at + 2..].iter().take_while(|byte| in_path(byte)).count();
            (text[name.clone()].contains('.') && text[name.end..].starts_with('}')).then_some(name)
        })
        .collect();
    if dotted.is_empty() {
        return text;
    }
    let mut masked = text.into_owned();
    for range in dotted {
        let name = masked[range.clone()].replace(['.', '-'], "_");
        masked.replace_range(range, &name);
    }
    Cow::Owned(masked)
}

struct Construct {
    range: Range<usize>,
    filler: u8,
}

/// Constructs from left to right; `$` before `{{` (GitHub's `${{ }}`) belongs to it.
fn constructs(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut closed = [true; PAIRS.len()];
    let mut at = 0;
    while let Some(next) = memchr::memchr3(b'{', b'<', b'@', &bytes[at..]).map(|offset| at + offset) {
        if bytes[next] == b'@' {
            at = between_ats(bytes, next).unwrap_or(next + 1);
            if at > next + 1 {
                found.push(next..at);
            }
            continue;
        }
        let pair = PAIRS.iter().position(|(open, _)| bytes[next..].starts_with(open.as_bytes()));
        at = next + 1;
        let Some(pair) = pair.filter(|&pair| closed[pair]) else { continue };
        match memmem::find(&bytes[next..], PAIRS[pair].1.as_bytes()) {
            Some(length) => {
                let start = if next > 0 && bytes[next - 1] == b'$' { next - 1 } else { next };
                at = next + length + PAIRS[pair].1.len();
                found.push(start..at);
            }
            // Looked for once: a text full of openings costs no more.
            None => closed[pair] = false,
        }
    }
    found
}

/// Where `@NAME@` ends, which a build tool fills in.
fn between_ats(bytes: &[u8], at: usize) -> Option<usize> {
    let name = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte)).count();
    (name > 0 && bytes.get(at + 1 + name) == Some(&b'@')).then_some(at + name + 2)
}

/// Says for each construct what stands in its place.
fn with_fillers(text: &str, constructs: Vec<Range<usize>>) -> Vec<Construct> {
    let bytes = text.as_bytes();
    let not_blank = |byte: &&u8| !matches!(byte, b' ' | b'\t');
    let ends_line = |byte: Option<&u8>| matches!(byte, None | Some(b'\n' | b'\r'));
    let alone = |range: &Range<usize>| {
        ends_line(bytes[..range.start].iter().rev().find(not_blank))
            && ends_line(bytes[range.end..].iter().find(not_blank))
    };
    constructs.into_iter().map(|range| Construct { filler: if alone(&range) { b' ' } else { b'0' }, range }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructs_are_hidden_in_place() {
        for (text, masked) in [
            ("a: {{ x }}-b", "a: 0000000-b"),
            ("{%- if x %}\na: é\n{% endif %}\n", "           \na: é\n           \n"),
            ("a: ${{ é }}", "a: 000000000"),
            ("a: <%= x\ny %>!", "a: 00000\n0000!"),
            ("a << parameters.x >> b << EOF >> c", "a 000000000000000000 b << EOF >> c"),
            ("a: {{ x", "a: {{ x"),
            ("{{ {{ }}", "        "),
            ("a: @A.b@, c@d", "a: 00000, c@d"),
        ] {
            assert_eq!(templates(text), masked, "{text:?}");
        }
    }

    #[test]
    fn interpolations_look_like_variables() {
        let masked = |text: &'static str| interpolations(Cow::Borrowed(text)).into_owned();
        assert_eq!(masked("a ${var.x-y} ${X:-.} ${z"), "a ${var_x_y} ${X:-.} ${z");
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(templates("a: {b: c}"), Cow::Borrowed(_)));
    }
}
