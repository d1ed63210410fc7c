//! What YAML, JSON, HCL and HOCON have in common: maps, lists and scalars with places.

use super::mapped::Mapped;
use crate::conf::template;
use crate::text::Span;

/// How deep a tree is followed; what lies deeper is no carrier of settings.
pub(crate) const MAX_DEPTH: usize = 128;

/// A value of a structured document.
#[derive(Debug, Clone)]
pub(crate) enum Node<'a> {
    /// A text, number or boolean.
    Scalar(Scalar<'a>),
    /// Keys with values.
    Map(Vec<Entry<'a>>),
    /// Values in order.
    List(Vec<Node<'a>>),
    /// An expression or a value that isn't written yet.
    Unknown(Span),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Scalar<'a>,
    pub(crate) value: Node<'a>,
    /// What a removal takes: the line, or the pair with one of its commas.
    pub(crate) span: Span,
}

/// A scalar as its reader decodes it.
#[derive(Debug, Clone)]
pub(crate) struct Scalar<'a> {
    pub(crate) text: Mapped<'a>,
    /// Its place, with quotes.
    pub(crate) span: Span,
    /// Written without quotes.
    pub(crate) plain: bool,
    /// Part of it is an expression (`${var.x}` in Terraform).
    pub(crate) has_holes: bool,
}

impl<'a> Scalar<'a> {
    /// A scalar whose text is known in full.
    pub(crate) fn new(text: Mapped<'a>, span: Span, plain: bool) -> Self {
        Self { text, span, plain, has_holes: false }
    }

    /// The decoded text.
    pub(crate) fn as_str(&self) -> &str {
        self.text.text()
    }

    /// Whether something fills it in before Spark reads it.
    pub(crate) fn is_template(&self) -> bool {
        self.has_holes || template::placeholder(self.as_str()).is_some()
    }
}

impl<'a> Node<'a> {
    /// The value of one of these keys.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&Node<'a>> {
        self.entry(names).map(|entry| &entry.value)
    }

    /// The entry of the first of these keys that is there.
    pub(crate) fn entry(&self, names: &[&str]) -> Option<&Entry<'a>> {
        let Self::Map(entries) = self else { return None };
        names.iter().find_map(|name| entries.iter().find(|entry| entry.key.as_str() == *name))
    }

    /// The value of one of these keys, if it is a scalar.
    pub(crate) fn scalar(&self, names: &[&str]) -> Option<&Scalar<'a>> {
        match self.get(names)? {
            Self::Scalar(scalar) => Some(scalar),
            Self::Map(_) | Self::List(_) | Self::Unknown(_) => None,
        }
    }

    /// The entries of a map; none of anything else.
    pub(crate) fn entries(&self) -> &[Entry<'a>] {
        match self {
            Self::Map(entries) => entries,
            Self::Scalar(_) | Self::List(_) | Self::Unknown(_) => &[],
        }
    }

    /// The scalars of a list, if all its members are scalars.
    pub(crate) fn scalars(&self) -> Option<Vec<&Scalar<'a>>> {
        let Self::List(nodes) = self else { return None };
        nodes.iter().map(|node| if let Self::Scalar(scalar) = node { Some(scalar) } else { None }).collect()
    }
}

/// What a removal of the pair at `span` takes: its lines if they hold nothing else, and one of the commas around it.
pub(crate) fn removal(text: &str, span: Span) -> Span {
    let bytes = text.as_bytes();
    let (mut start, mut end) = (span.start as usize, span.end as usize);
    let blank = |byte: u8| matches!(byte, b' ' | b'\t');
    let skip_blanks = |mut at: usize| {
        while at < bytes.len() && blank(bytes[at]) {
            at += 1;
        }
        at
    };
    let behind = skip_blanks(end);
    let comma_behind = bytes.get(behind) == Some(&b',');
    if comma_behind {
        end = behind + 1;
    } else {
        let before = text[..start].trim_end();
        if before.ends_with(',') {
            return Span::new(before.len() - 1, end);
        }
    }
    let mut line_start = start;
    while line_start > 0 && blank(bytes[line_start - 1]) {
        line_start -= 1;
    }
    let opens_line = line_start == 0 || matches!(bytes[line_start - 1], b'\n' | b'\r');
    let line_end = skip_blanks(end);
    if opens_line && matches!(bytes.get(line_end), None | Some(b'\n' | b'\r')) {
        start = line_start;
        end = (line_end + if text[line_end..].starts_with("\r\n") { 2 } else { 1 }).min(text.len());
    } else if comma_behind {
        end = line_end;
    }
    Span::new(start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_takes_a_comma_or_the_line() {
        for (text, pair, removed) in [
            ("{\"a\": 1, \"b\": 2}", "\"a\": 1", "\"a\": 1, "),
            ("{\"a\": 1, \"b\": 2}", "\"b\": 2", ", \"b\": 2"),
            ("{\"a\": 1}", "\"a\": 1", "\"a\": 1"),
            ("{\n  \"a\": 1,\r\n  \"b\": 2\n}", "\"a\": 1", "  \"a\": 1,\r\n"),
            ("{\n  \"a\": 1,\n  \"b\": 2\n}", "\"b\": 2", ",\n  \"b\": 2"),
            ("x:\n  a: 1\n  b: 2", "a: 1", "  a: 1\n"),
            ("x:\n  a: 1 # why\n", "a: 1", "a: 1"),
            ("- a: 1\n", "a: 1", "a: 1"),
            ("  b: 2", "b: 2", "  b: 2"),
        ] {
            let at = text.find(pair).unwrap();
            assert_eq!(removal(text, Span::new(at, at + pair.len())).of(text), removed, "{text:?}");
        }
    }
}
