//! Words of a script as the program gets them: quotes removed, escapes resolved, known variables filled in.

use tree_sitter::Node;

use super::Script;
use crate::conf::carriers::mapped::Mapped;
use crate::conf::carriers::syntax::{self, span};
use crate::conf::carriers::words::{Holes, Word};
use crate::text::Span;

/// How far a variable is followed through others.
const MAX_REFERENCES: usize = 4;

/// How deep quotes and concatenations may nest in one word.
const MAX_NESTING: usize = 8;

/// What quotes stand around a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

struct Decoder<'s, 't> {
    script: &'s Script<'t>,
    text: Mapped<'t>,
    holes: Holes,
    references: usize,
}

impl<'t> Script<'t> {
    /// The word that a run of adjacent nodes spells.
    pub(super) fn word(&self, nodes: &[Node<'_>]) -> Word<'t> {
        self.word_through(nodes, 0)
    }

    fn word_through(&self, nodes: &[Node<'_>], references: usize) -> Word<'t> {
        let mut decoder = Decoder { script: self, text: Mapped::default(), holes: Holes::default(), references };
        let mut whole: Option<Span> = None;
        for &node in nodes {
            decoder.node(node, Quotes::None, 0);
            whole = Some(whole.map_or(span(node), |whole| whole.cover(span(node))));
        }
        let whole = whole.unwrap_or_default();
        let text = match decoder.text.text() {
            "" => Mapped::empty_at(empty_place(nodes, whole)),
            _ => decoder.text,
        };
        Word { text, holes: decoder.holes, span: whole }
    }

    /// The words that one argument becomes: several for an array or for a variable that holds options.
    pub(super) fn expand(&self, nodes: &[Node<'_>]) -> Vec<Word<'t>> {
        if let [node] = nodes
            && let Some(reference) = self.reference(*node)
            && let Some(values) = self.variables.values(reference.name)
            && (reference.is_array || reference.is_unquoted)
            && self.may_substitute(values)
        {
            let words: Vec<Word<'t>> = values.iter().flat_map(|value| self.words_of_value(*value)).collect();
            if reference.is_array {
                return words;
            }
            let parts: Vec<Word<'t>> = words.iter().flat_map(super::split_options).collect();
            if parts.iter().any(|part| part.as_str().starts_with("--") || part.as_str().starts_with("spark.")) {
                return parts;
            }
        }
        vec![self.word(nodes)]
    }

    /// The words of an assigned value: those of an array, or the one.
    pub(super) fn words_of_value(&self, value: Node<'_>) -> Vec<Word<'t>> {
        if value.kind() != "array" {
            return vec![self.word(&[value])];
        }
        let members = syntax::named_children(value);
        let members: Vec<Node<'_>> = members.into_iter().filter(|member| member.kind() != "comment").collect();
        adjacent(&members).map(|nodes| self.word(nodes)).collect()
    }

    /// A node that is nothing but a reference to a variable.
    fn reference(&self, node: Node<'_>) -> Option<Reference<'t>> {
        let (inner, is_unquoted) = match node.kind() {
            "string" => match syntax::named_children(node).as_slice() {
                [only] if span(*only).len() + 2 == span(node).len() => (*only, false),
                _ => return None,
            },
            _ => (node, true),
        };
        let children = syntax::named_children(inner);
        let [only] = children.as_slice() else { return None };
        let whole = span(inner).of(self.text);
        match (inner.kind(), only.kind()) {
            ("simple_expansion", "variable_name") | ("expansion", "variable_name") => {
                let name = span(*only).of(self.text);
                let is_plain = whole.len() == name.len() + if inner.kind() == "expansion" { 3 } else { 1 };
                is_plain.then_some(Reference { name, is_array: false, is_unquoted })
            }
            ("expansion", "subscript") => {
                let name = span(only.child_by_field_name("name")?).of(self.text);
                let index = span(only.child_by_field_name("index")?).of(self.text);
                let is_all = matches!(index, "@" | "*") && whole.len() == name.len() + 6;
                is_all.then_some(Reference { name, is_array: true, is_unquoted })
            }
            _ => None,
        }
    }
}

/// A reference to a variable.
struct Reference<'t> {
    name: &'t str,
    /// All members of an array.
    is_array: bool,
    is_unquoted: bool,
}

/// Runs of nodes without anything between them: the grammar parts some words that a shell doesn't.
pub(super) fn adjacent<'n, 't>(nodes: &'n [Node<'t>]) -> impl Iterator<Item = &'n [Node<'t>]> {
    nodes.chunk_by(|one, next| one.end_byte() == next.start_byte())
}

/// Where the text of an empty word would stand: between its quotes.
fn empty_place(nodes: &[Node<'_>], whole: Span) -> usize {
    let quoted = matches!(nodes, [node] if matches!(node.kind(), "string" | "raw_string"));
    whole.start as usize + usize::from(quoted)
}

impl<'t> Decoder<'_, 't> {
    fn node(&mut self, node: Node<'_>, quotes: Quotes, depth: usize) {
        let whole = span(node);
        if depth > MAX_NESTING {
            return self.hole(whole);
        }
        match node.kind() {
            "string" => self.parts(node, inside(whole, 1), Quotes::Double, depth),
            "translated_string" => self.parts(node, whole, quotes, depth),
            "concatenation" | "command_name" => self.parts(node, whole, quotes, depth),
            "raw_string" => self.text.push(self.script.text, inside(whole, 1)),
            "ansi_c_string" => self.ansi(Span::new(whole.start as usize + 2, (whole.end - 1) as usize)),
            "simple_expansion" | "expansion" => self.variable(node),
            "command_substitution" | "process_substitution" | "arithmetic_expansion" => self.hole(whole),
            _ => self.unescaped(whole, quotes),
        }
    }

    /// The children of a node and the text between them.
    fn parts(&mut self, node: Node<'_>, content: Span, quotes: Quotes, depth: usize) {
        let mut at = content.start as usize;
        for child in syntax::named_children(node) {
            let (start, end) = (child.start_byte().max(at), child.end_byte());
            if start > at {
                self.unescaped(Span::new(at, start), quotes);
            }
            if end > at {
                self.node(child, quotes, depth + 1);
                at = end;
            }
        }
        if at < content.end as usize {
            self.unescaped(Span::new(at, content.end as usize), quotes);
        }
    }

    /// Text as it stands, with backslashes resolved.
    fn unescaped(&mut self, range: Span, quotes: Quotes) {
        let document = self.script.text;
        let (mut from, end) = (range.start as usize, range.end as usize);
        while let Some(at) = document[from..end].find('\\').map(|offset| from + offset) {
            let Some(escaped) = document[at + 1..end].chars().next() else { break };
            let after = at + 1 + escaped.len_utf8();
            let after = if document[at + 1..end].starts_with("\r\n") { after + 1 } else { after };
            let keeps_backslash = quotes == Quotes::Double && !matches!(escaped, '$' | '`' | '"' | '\\' | '\n' | '\r');
            if keeps_backslash {
                self.text.push(document, Span::new(from, after));
            } else {
                self.text.push(document, Span::new(from, at));
                if !matches!(escaped, '\n' | '\r') {
                    self.text.push_decoded(&document[at + 1..after], Span::new(at, after));
                }
            }
            from = after;
        }
        self.text.push(document, Span::new(from, end));
    }

    /// `$'…'` with the escapes of C.
    fn ansi(&mut self, range: Span) {
        let document = self.script.text;
        let (mut from, end) = (range.start as usize, range.end as usize);
        while let Some(at) = document[from..end].find('\\').map(|offset| from + offset) {
            let Some(escaped) = document[at + 1..end].chars().next() else { break };
            let after = at + 1 + escaped.len_utf8();
            self.text.push(document, Span::new(from, at));
            let span = Span::new(at, after);
            match escaped {
                'n' => self.text.push_decoded("\n", span),
                't' => self.text.push_decoded("\t", span),
                'r' => self.text.push_decoded("\r", span),
                '\\' | '\'' | '"' | '?' => self.text.push_decoded(&document[at + 1..after], span),
                _ => self.hole(span),
            }
            from = after;
        }
        self.text.push(document, Span::new(from, end));
    }

    /// A variable with one literal value is filled in; another is a hole.
    fn variable(&mut self, node: Node<'_>) {
        let whole = span(node);
        let value = self.script.reference(node).filter(|reference| !reference.is_array).and_then(|reference| {
            let values = self.script.variables.values(reference.name)?;
            let [value] = values else { return None };
            (value.kind() != "array" && self.references < MAX_REFERENCES && self.script.may_substitute(values))
                .then(|| self.script.word_through(&[*value], self.references + 1))
        });
        match value {
            Some(word) if word.holes.first().is_none() => self.text.push_decoded(word.as_str(), whole),
            _ => self.hole(whole),
        }
    }

    fn hole(&mut self, whole: Span) {
        self.holes.add(self.text.text().len());
        self.text.push(self.script.text, whole);
    }
}

/// A place without the quotes around it; a half-written one may lack the second.
fn inside(whole: Span, quote: u32) -> Span {
    let start = (whole.start + quote).min(whole.end);
    Span { start, end: whole.end.saturating_sub(quote).max(start) }
}
