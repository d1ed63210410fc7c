//! JSON, also with comments and trailing commas: job definitions of Livy, EMR, Databricks, Dataproc and Glue.
//!
//! Which keys stand where, and who wins, is the same as in YAML.

use tree_sitter::{Node as Syntax, Tree};

use super::collect::Collector;
use super::mapped::Mapped;
use super::syntax::{self, span};
use super::tree::{Entry, MAX_DEPTH, Node, Scalar, removal};
use super::{escapes, mask, shapes};
use crate::text::Span;

/// Reads a document.
pub(super) fn read(text: &str, out: &mut Collector) {
    if let Some(node) = tree(text) {
        shapes::read(text, &node, out);
    }
}

/// The document as a tree.
pub(super) fn tree(text: &str) -> Option<Node<'_>> {
    let masked = mask::templates(text);
    let mut tree = parse(&masked)?;
    if tree.root_node().has_error() {
        let closed = without_open_strings(&masked);
        tree = parse(&closed)?;
        if let Some(mended) = without_broken_pairs(&closed, &tree) {
            tree = parse(&mended)?;
        }
    }
    Some(lower(text, tree.root_node(), 0))
}

fn parse(text: &str) -> Option<Tree> {
    syntax::parse(tree_sitter_json::LANGUAGE.into(), text)
}

/// The text with blanks in place of pairs whose value is none, so that it isn't looked for behind them.
fn without_broken_pairs(text: &str, tree: &Tree) -> Option<String> {
    let mut masked = text.as_bytes().to_vec();
    let mut found = false;
    syntax::walk(tree, |node| {
        let broken = syntax::children(node).into_iter().find(|child| node.kind() == "pair" && child.is_error());
        if let Some(value) = broken {
            found = true;
            for byte in &mut masked[node.start_byte()..value.end_byte()] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        broken.is_none() && node.has_error()
    });
    if found { String::from_utf8(masked).ok() } else { None }
}

/// The text with blanks in place of lines whose string is still open at their end: no string goes over lines.
fn without_open_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut escaped = false;
        let quotes = line.bytes().filter(|byte| {
            let is_quote = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            is_quote
        });
        if quotes.count() % 2 == 0 {
            out.push_str(line);
        } else {
            out.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        }
    }
    out
}

fn lower<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Node<'a> {
    if depth > MAX_DEPTH {
        return Node::Unknown(span(node));
    }
    match node.kind() {
        "string" => Node::Scalar(string(text, node)),
        "number" | "true" | "false" => Node::Scalar(plain(text, node)),
        "object" => Node::Map(pairs(text, node, depth)),
        "array" => {
            Node::List(syntax::named_children(node).iter().map(|child| lower(text, *child, depth + 1)).collect())
        }
        "document" | "ERROR" => rest(text, node, depth),
        _ => Node::Unknown(span(node)),
    }
}

/// What a document or a broken part of it holds: pairs that lost their braces, or values.
fn rest<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Node<'a> {
    let mut nodes = vec![Node::Map(pairs(text, node, depth))];
    let others = syntax::named_children(node);
    nodes.extend(others.iter().filter(|child| child.kind() != "pair").map(|child| lower(text, *child, depth + 1)));
    Node::List(nodes)
}

fn pairs<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    for child in syntax::named_children(node) {
        match child.kind() {
            "pair" => entries.extend(pair(text, child, depth)),
            "ERROR" => entries.extend(lone_keys(text, child, depth)),
            _ => {}
        }
    }
    entries
}

fn pair<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Option<Entry<'a>> {
    let key = node.child_by_field_name("key").filter(|key| key.kind() == "string")?;
    let value = node.child_by_field_name("value");
    let value = match value.filter(|value| !value.is_missing()) {
        Some(value) => lower(text, value, depth + 1),
        None => Node::Unknown(Span::at(node.end_byte())),
    };
    Some(Entry { key: string(text, key), value, span: removal(text, span(node)) })
}

/// Pairs inside a broken part of an object.
fn lone_keys<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Vec<Entry<'a>> {
    if depth > MAX_DEPTH { Vec::new() } else { pairs(text, node, depth + 1) }
}

fn string<'a>(text: &'a str, node: Syntax<'_>) -> Scalar<'a> {
    let whole = span(node);
    let end = if text[..whole.end as usize].ends_with('"') && whole.len() > 1 { whole.end - 1 } else { whole.end };
    let content = Span { start: (whole.start + 1).min(end), end };
    let mut mapped = Mapped::default();
    escapes::push(&mut mapped, text, content);
    if mapped.text().is_empty() {
        mapped = Mapped::empty_at(content.start as usize);
    }
    Scalar::new(mapped, whole, false)
}

fn plain<'a>(text: &'a str, node: Syntax<'_>) -> Scalar<'a> {
    Scalar::new(Mapped::verbatim(text, span(node)), span(node), true)
}
