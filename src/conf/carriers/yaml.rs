//! YAML: SparkApplication manifests, Databricks bundles, EMR and Dataproc definitions, dbt profiles, CI and compose
//! files with commands in them, Helm charts and other templates of all these.

mod scalar;

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use tree_sitter::{Node as Syntax, Tree};

use super::collect::Collector;
use super::mapped::Mapped;
use super::syntax::{self, span};
use super::tree::{Entry, MAX_DEPTH, Node, Scalar, removal};
use super::{mask, shapes};
use crate::text::Span;

/// How many broken lines are taken out to save the lines around them.
const MAX_REPAIRS: usize = 6;

/// How many columns blocks may begin in, over the whole document. The grammar keeps its open blocks in a fixed buffer
/// for about 250 of them and does not check it; a column holds two of them at most.
const MAX_COLUMNS: usize = 100;

/// Reads a document.
pub(super) fn read(text: &str, out: &mut Collector) {
    if columns_of_blocks(text) > MAX_COLUMNS {
        return;
    }
    let mut masked = mask::templates(text);
    for _ in 0..=MAX_REPAIRS {
        let Some(tree) = syntax::parse(tree_sitter_yaml::LANGUAGE.into(), &masked) else { return };
        if let Some(line) = broken_line(&tree, &masked) {
            masked = Cow::Owned(without(&masked, line));
            continue;
        }
        read_tree(text, &tree, out);
        return;
    }
    if let Some(tree) = syntax::parse(tree_sitter_yaml::LANGUAGE.into(), &masked) {
        read_tree(text, &tree, out);
    }
}

fn read_tree(text: &str, tree: &Tree, out: &mut Collector) {
    shapes::read(text, &lower(text, tree.root_node(), 0), out);
}

/// How many columns there are in which a block may begin: those of the first words of lines, and of what follows the
/// indicators of lists and keys in front of them.
fn columns_of_blocks(text: &str) -> usize {
    let mut columns = FxHashSet::default();
    for line in text.split(['\n', '\r']) {
        let mut blanks = true;
        for (column, byte) in line.bytes().enumerate() {
            match byte {
                b' ' | b'\t' => blanks = true,
                b'-' | b'?' | b':' if blanks => {
                    columns.insert(column);
                    blanks = false;
                }
                _ => {
                    columns.insert(column);
                    break;
                }
            }
        }
    }
    columns.len()
}

/// The first line that the grammar stumbles over.
fn broken_line(tree: &Tree, text: &str) -> Option<Span> {
    let root = tree.root_node();
    if !root.has_error() {
        return None;
    }
    // What can't be a token ends the parse: the rest of the text is in no node.
    let rest = text.get(root.end_byte()..).unwrap_or_default();
    let mut broken = (!rest.trim().is_empty()).then(|| text.len() - rest.trim_start().len());
    syntax::walk(tree, |node| {
        if broken.is_some() || !node.has_error() && !node.is_missing() {
            return false;
        }
        let is_leaf_error = node.is_missing() || node.is_error() && !has_broken_child(node);
        if is_leaf_error {
            broken = Some(last_token(node).start_byte().min(text.len()));
        }
        !is_leaf_error
    });
    let at = broken?;
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    (!text[start..end].trim().is_empty()).then(|| Span::new(start, end))
}

/// Where the grammar gave up: what stands before it in a broken part is whole.
fn last_token(mut node: Syntax<'_>) -> Syntax<'_> {
    while let Some(last) = node.child_count().checked_sub(1).and_then(|last| node.child(last)) {
        node = last;
    }
    node
}

fn has_broken_child(node: Syntax<'_>) -> bool {
    syntax::children(node).iter().any(|child| child.has_error() || child.is_missing())
}

/// The text with blanks in place of a line.
fn without(text: &str, line: Span) -> String {
    let blanks = " ".repeat(line.len());
    [&text[..line.start as usize], &blanks, &text[line.end as usize..]].concat()
}

fn lower<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Node<'a> {
    if depth > MAX_DEPTH {
        return Node::Unknown(span(node));
    }
    match node.kind() {
        "block_node" | "flow_node" => wrapped(text, node, depth),
        "block_mapping" | "flow_mapping" => Node::Map(pairs(text, node, depth)),
        "block_mapping_pair" | "flow_pair" => Node::Map(pair(text, node, depth).into_iter().collect()),
        "plain_scalar" | "double_quote_scalar" | "single_quote_scalar" | "block_scalar" => {
            if syntax::named_children(node).iter().any(|child| child.kind() == "null_scalar") {
                return Node::Unknown(span(node));
            }
            Node::Scalar(scalar::read(text, node))
        }
        "block_sequence" | "flow_sequence" | "block_sequence_item" => list(text, node, depth),
        "stream" | "document" | "ERROR" => rest(text, node, depth),
        _ => Node::Unknown(span(node)),
    }
}

/// A node with its anchor and its tag.
fn wrapped<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Node<'a> {
    let children = syntax::named_children(node);
    let tag = children.iter().find(|child| child.kind() == "tag").map(|tag| span(*tag).of(text));
    let content = children.into_iter().find(|child| !matches!(child.kind(), "anchor" | "tag" | "comment"));
    let Some(content) = content else { return Node::Unknown(span(node)) };
    let mut lowered = lower(text, content, depth + 1);
    // A tag of one's own calls a function (`!Ref`); `!Sub` fills in what its text marks.
    let calls = tag.is_some_and(|tag| !tag.starts_with("!!") && tag != "!Sub");
    if let (true, Node::Scalar(scalar)) = (calls, &mut lowered) {
        scalar.has_holes = true;
    }
    lowered
}

fn list<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Node<'a> {
    let mut members = Vec::new();
    for child in syntax::named_children(node) {
        match child.kind() {
            "comment" => {}
            "block_sequence_item" => {
                let content = syntax::named_children(child).into_iter().find(|inner| inner.kind() != "comment");
                members.push(content.map_or(Node::Unknown(span(child)), |content| lower(text, content, depth + 1)));
            }
            _ => members.push(lower(text, child, depth + 1)),
        }
    }
    Node::List(members)
}

/// What a stream, a document or a broken part holds: pairs that lost their mapping, and values.
fn rest<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Node<'a> {
    let mut nodes = vec![Node::Map(pairs(text, node, depth))];
    let is_pair = |child: &Syntax<'_>| matches!(child.kind(), "block_mapping_pair" | "flow_pair");
    let others = syntax::named_children(node).into_iter().filter(|child| !is_pair(child) && child.kind() != "comment");
    nodes.extend(others.map(|child| lower(text, child, depth + 1)));
    Node::List(nodes)
}

fn pairs<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Vec<Entry<'a>> {
    let children = syntax::named_children(node);
    let is_pair = |child: &&Syntax<'_>| matches!(child.kind(), "block_mapping_pair" | "flow_pair");
    children.iter().filter(is_pair).filter_map(|child| pair(text, *child, depth)).collect()
}

fn pair<'a>(text: &'a str, node: Syntax<'_>, depth: usize) -> Option<Entry<'a>> {
    let key = match lower(text, node.child_by_field_name("key")?, depth + 1) {
        Node::Scalar(key) => key,
        Node::Map(_) | Node::List(_) | Node::Unknown(_) => return None,
    };
    let value = match node.child_by_field_name("value") {
        Some(value) => lower(text, value, depth + 1),
        None => Node::Unknown(Span::at(value_place(text, node))),
    };
    Some(Entry { key, value, span: removal(text, span(node)) })
}

/// Where the value of a pair without one would stand: behind the colon and a blank.
fn value_place(text: &str, node: Syntax<'_>) -> usize {
    let end = node.end_byte();
    end + usize::from(text[end..].starts_with(' '))
}

/// A scalar whose text stands in the document as it is.
fn verbatim<'a>(text: &'a str, place: Span, whole: Span, plain: bool) -> Scalar<'a> {
    Scalar::new(Mapped::verbatim(text, place), whole, plain)
}
