//! Parsing through the grammars.

use tree_sitter::{Language, Node, Parser, Tree, TreeCursor};

use crate::text::Span;

/// A longer text is data, not configuration.
const MAX_BYTES: usize = 16 << 20;

/// Nesting that no configuration has; a grammar's own stacks are not trusted beyond it.
const MAX_NESTING: usize = 1000;

/// The syntax tree; `None` for a text that is too long or nested too deeply to be configuration.
pub(super) fn parse(language: Language, text: &str) -> Option<Tree> {
    if text.len() > MAX_BYTES || nests_too_deeply(text) {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&language).ok()?;
    parser.parse(text, None)
}

/// Whether more brackets stand open at once than [`MAX_NESTING`], counted without regard to quotes.
fn nests_too_deeply(text: &str) -> bool {
    let mut open = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'{' | b'[' | b'(' => open += 1,
            b'}' | b']' | b')' => open = open.saturating_sub(1),
            _ => {}
        }
        open > MAX_NESTING
    })
}

/// The node's place.
pub(super) fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// The named children.
pub(super) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// All children.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Visits every node in source order, without recursion; `visit` says whether to go into the node.
pub(super) fn walk<'t>(tree: &'t Tree, mut visit: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = tree.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        if !to_next(&mut cursor) {
            return;
        }
    }
}

fn to_next(cursor: &mut TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}
