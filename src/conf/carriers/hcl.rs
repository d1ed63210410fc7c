//! Terraform and other HCL: `spark_conf` of Databricks, `configurations_json` of EMR (heredoc or `jsonencode`),
//! `default_arguments` of Glue, `properties` of Dataproc, manifests of Kubernetes, and the scripts inside of them.

use tree_sitter::Node as Syntax;

use super::collect::Collector;
use super::mapped::Mapped;
use super::syntax::{self, span};
use super::tree::{Entry, MAX_DEPTH, Node, Scalar, removal};
use super::{escapes, shapes};
use crate::text::Span;

/// A longer run of blanks is no configuration; the grammar's time grows with its square.
const MAX_BLANKS: usize = 500;

/// Reads a document.
pub(super) fn read(text: &str, out: &mut Collector) {
    let mut blanks = 0;
    let is_endless = text.bytes().any(|byte| {
        blanks = if byte.is_ascii_whitespace() { blanks + 1 } else { 0 };
        blanks > MAX_BLANKS
    });
    if is_endless {
        return;
    }
    if let Some(tree) = syntax::parse(tree_sitter_hcl::LANGUAGE.into(), text) {
        shapes::read(text, &lower(text, tree.root_node(), 0), out);
    }
}

fn lower<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Node<'a> {
    if depth > MAX_DEPTH {
        return Node::Unknown(span(node));
    }
    match node.kind() {
        "config_file" | "ERROR" => lists(text, node, depth),
        "body" | "object" => Node::Map(entries(text, node, depth)),
        "expression" | "literal_value" | "collection_value" | "template_expr" => match only_child(node) {
            Some(child) => lower(text, child, depth + 1),
            None => lists(text, node, depth),
        },
        "string_lit" | "quoted_template" => Node::Scalar(quoted(text, node)),
        "heredoc_template" => Node::Scalar(heredoc(text, node)),
        "numeric_lit" | "bool_lit" => Node::Scalar(Scalar::new(Mapped::verbatim(text, span(node)), span(node), true)),
        "tuple" => {
            let members = syntax::named_children(node).into_iter().filter(|child| child.kind() == "expression");
            Node::List(members.map(|child| lower(text, child, depth + 1)).collect())
        }
        "function_call" => call(text, node, depth),
        _ => lists(text, node, depth),
    }
}

fn only_child(node: Syntax<'_>) -> Option<Syntax<'_>> {
    match syntax::named_children(node).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// An expression or a broken part: unknown itself, but the maps and lists in it are not.
fn lists<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Node<'a> {
    let mut nodes = vec![Node::Map(entries(text, node, depth))];
    for child in syntax::named_children(node) {
        if !matches!(child.kind(), "attribute" | "block" | "object_elem" | "comment") {
            nodes.push(lower(text, child, depth + 1));
        }
    }
    nodes.retain(|node| matches!(node, Node::List(_)) || !node.entries().is_empty());
    if nodes.is_empty() { Node::Unknown(span(node)) } else { Node::List(nodes) }
}

/// `jsonencode(x)` is x, `merge(a, b)` the entries of both; of another function only the maps and lists are known.
fn call<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Node<'a> {
    let children = syntax::named_children(node);
    let name = children.first().map(|name| span(*name).of(text)).unwrap_or_default();
    let arguments = children.iter().find(|child| child.kind() == "function_arguments");
    let arguments = arguments.map(|arguments| syntax::named_children(*arguments)).unwrap_or_default();
    let mut lowered: Vec<Node<'a>> = arguments.iter().map(|argument| lower(text, *argument, depth + 1)).collect();
    match name {
        "merge" => Node::Map(lowered.into_iter().flat_map(into_entries).collect()),
        "jsonencode" | "yamlencode" | "tomap" | "tolist" if lowered.len() == 1 => lowered.remove(0),
        _ => {
            lowered.retain(|node| matches!(node, Node::Map(_) | Node::List(_)));
            if lowered.is_empty() { Node::Unknown(span(node)) } else { Node::List(lowered) }
        }
    }
}

fn into_entries(node: Node<'_>) -> Vec<Entry<'_>> {
    if let Node::Map(entries) = node { entries } else { Vec::new() }
}

fn entries<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    for child in syntax::named_children(node) {
        match child.kind() {
            "attribute" => entries.extend(attribute(text, child, depth)),
            "block" => entries.extend(block(text, child, depth)),
            "object_elem" => entries.extend(element(text, child, depth)),
            _ => {}
        }
    }
    entries
}

fn attribute<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Option<Entry<'a>> {
    let children = syntax::named_children(node);
    let name = children.first().filter(|name| name.kind() == "identifier")?;
    let value = children.iter().find(|child| child.kind() == "expression");
    entry(text, node, identifier(text, *name), value.copied(), depth)
}

fn element<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Option<Entry<'a>> {
    let key = node.child_by_field_name("key")?;
    let key = match lower(text, key, depth + 1) {
        Node::Scalar(scalar) => scalar,
        _ if span(key).of(text).starts_with(|char: char| char.is_ascii_alphabetic()) => identifier(text, key),
        _ => return None,
    };
    entry(text, node, key, node.child_by_field_name("val"), depth)
}

fn entry<'a>(
    text: &'a str,
    node: Syntax<'_>,
    key: Scalar<'a>,
    value: Option<Syntax<'_>>,
    depth: usize,
) -> Option<Entry<'a>> {
    let value = match value {
        Some(value) => lower(text, value, depth + 1),
        None => Node::Unknown(Span::at(node.end_byte())),
    };
    Some(Entry { key, value, span: removal(text, span(node)) })
}

/// A block is an entry with its type as key; its labels name it.
fn block<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Option<Entry<'a>> {
    let children = syntax::named_children(node);
    let name = children.first().filter(|name| name.kind() == "identifier")?;
    let body = children.iter().find(|child| child.kind() == "body")?;
    entry(text, node, identifier(text, *name), Some(*body), depth)
}

fn identifier<'a>(text: &'a str, node: Syntax<'_>) -> Scalar<'a> {
    Scalar::new(Mapped::verbatim(text, span(node)), span(node), true)
}

/// A string with escapes, and with interpolations as written.
fn quoted<'a>(text: &'a str, node: Syntax<'_>) -> Scalar<'a> {
    let whole = span(node);
    let closed = whole.len() > 1 && whole.of(text).ends_with('"');
    let end = whole.end - u32::from(closed);
    let content = Span { start: (whole.start + 1).min(end), end };
    let mut out = Mapped::default();
    let mut has_holes = false;
    let mut at = content.start as usize;
    for child in syntax::named_children(node) {
        if !matches!(child.kind(), "template_interpolation" | "template_directive") {
            continue;
        }
        escapes::push(&mut out, text, Span::new(at, child.start_byte().max(at)));
        out.push(text, span(child));
        at = child.end_byte();
        has_holes = true;
    }
    escapes::push(&mut out, text, Span::new(at, (content.end as usize).max(at)));
    if out.text().is_empty() {
        out = Mapped::empty_at(content.start as usize);
    }
    Scalar { has_holes, ..Scalar::new(out, whole, false) }
}

/// The lines of a heredoc, as they stand; interpolations show as `${…}` and are templates to whoever reads the text.
fn heredoc<'a>(text: &'a str, node: Syntax<'_>) -> Scalar<'a> {
    let whole = span(node);
    let body = whole.of(text);
    let start = body.find('\n').map_or(body.len(), |at| at + 1);
    let end = body.rfind('\n').map_or(start, |at| at.max(start));
    let place = Span::new(whole.start as usize + start, whole.start as usize + end);
    Scalar::new(Mapped::verbatim(text, place), whole, false)
}
