//! The words of a command line, from whatever spells them: a shell, a list in YAML, one string.

use super::mapped::Mapped;
use super::tree::Scalar;
use super::{Text, Value};
use crate::conf::template;
use crate::text::Span;

/// One argument of a command.
#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    /// The argument as the program gets it; what isn't known stands in it as written.
    pub(super) text: Mapped<'a>,
    /// Where its unknown parts begin, in `text`.
    pub(super) holes: Holes,
    /// The word as written, with quotes.
    pub(super) span: Span,
}

/// The unknown parts of a word: where the first and the last one begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Holes(Option<(usize, usize)>);

impl Holes {
    /// Notes an unknown part.
    pub(super) fn add(&mut self, at: usize) {
        self.0 = Some((self.0.map_or(at, |(first, _)| first), at));
    }

    /// Whether an unknown part begins before `at`.
    pub(super) fn before(self, at: usize) -> bool {
        self.0.is_some_and(|(first, _)| first < at)
    }

    /// Where the first one begins.
    pub(super) fn first(self) -> Option<usize> {
        self.0.map(|(first, _)| first)
    }

    /// Whether an unknown part begins at `at` or behind it.
    pub(super) fn from(self, at: usize) -> bool {
        self.0.is_some_and(|(_, last)| last >= at)
    }
}

impl<'a> Word<'a> {
    /// A word out of a list.
    pub(super) fn of_scalar(scalar: &Scalar<'a>) -> Self {
        let mut holes = Holes::default();
        if scalar.has_holes {
            let at = template::placeholder(scalar.as_str()).unwrap_or(0);
            holes.add(at);
            holes.add(at.max(scalar.as_str().len().saturating_sub(1)));
        }
        Self { span: scalar.span, text: scalar.text.clone(), holes }
    }

    /// A word whose text is known.
    pub(super) fn known(text: Mapped<'a>) -> Self {
        Self { span: text.whole(), text, holes: Holes::default() }
    }

    /// The argument.
    pub(super) fn as_str(&self) -> &str {
        self.text.text()
    }

    /// The value that stands in `as_str()[from..]`.
    pub(super) fn value(&self, from: usize) -> Value {
        let text = self.as_str().get(from..).unwrap_or_default();
        super::collect::literal_or_template(text, self.holes.from(from))
    }

    /// The word with its place.
    pub(super) fn to_text(&self) -> Text {
        Text::of(&self.text, self.holes.from(0))
    }
}

/// The words of one string as a shell would split it: blanks part them, quotes keep them together.
pub(super) fn split<'a>(text: &Mapped<'_>) -> Vec<Word<'a>> {
    let source = text.text();
    let mut words = Vec::new();
    let mut word: Option<(usize, Mapped<'static>)> = None;
    let mut quote = None;
    let mut chars = source.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let end = at + char.len_utf8();
        if quote.is_none() && char.is_whitespace() {
            finish(text, &mut word, at, &mut words);
            continue;
        }
        if char == '\\' && matches!(chars.peek(), Some((_, '\n' | '\r'))) {
            continue;
        }
        let (_, content) = word.get_or_insert_with(|| (at, Mapped::default()));
        match (quote, char) {
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), close) if open == close => quote = None,
            (None | Some('"'), '\\') => match chars.next() {
                Some((next, escaped)) => {
                    let span = text.span(at..next + escaped.len_utf8());
                    content.push_decoded(&source[next..next + escaped.len_utf8()], span);
                }
                None => content.push_mapped(&text.slice(at..end)),
            },
            _ => {
                let from = at;
                let mut to = end;
                while let Some(&(next, plain)) = chars.peek() {
                    if plain.is_whitespace() || matches!(plain, '"' | '\'' | '\\') {
                        break;
                    }
                    to = next + plain.len_utf8();
                    chars.next();
                }
                content.push_mapped(&text.slice(from..to));
            }
        }
    }
    finish(text, &mut word, source.len(), &mut words);
    words
}

fn finish<'a>(text: &Mapped<'_>, word: &mut Option<(usize, Mapped<'static>)>, end: usize, words: &mut Vec<Word<'a>>) {
    if let Some((start, mut content)) = word.take() {
        let span = text.span(start..end);
        if content.text().is_empty() {
            content = Mapped::empty_at(span.end as usize);
        }
        words.push(Word { text: content, holes: Holes::default(), span });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_string_is_split_as_a_shell_does() {
        let document = r#"x --conf "a=b c"  -Dx='y z'\ w "" é"#;
        let words = split(&Mapped::verbatim(document, Span::new(0, document.len())));
        let texts: Vec<&str> = words.iter().map(Word::as_str).collect();
        assert_eq!(texts, ["x", "--conf", "a=b c", "-Dx=y z w", "", "é"]);
        assert_eq!(words[2].span.of(document), "\"a=b c\"");
        assert_eq!(words[2].text.span(2..5).of(document), "b c");
        assert_eq!(words[3].text.span(4..8).of(document), "y z'\\ ");
    }
}
