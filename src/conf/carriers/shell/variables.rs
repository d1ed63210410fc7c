//! What the variables of a script are known to hold.

use rustc_hash::FxHashMap;
use tree_sitter::{Node, Tree};

use crate::conf::carriers::syntax::{self, span};

/// The variables by name.
#[derive(Debug, Default)]
pub(super) struct Variables<'t> {
    by_name: FxHashMap<&'t str, Variable<'t>>,
}

#[derive(Debug, Default)]
struct Variable<'t> {
    /// The value, and what is appended to it, in source order.
    values: Vec<Node<'t>>,
    /// It is assigned more than once, or by something that the script doesn't tell.
    ambiguous: bool,
}

impl<'t> Variables<'t> {
    /// Reads all assignments.
    pub(super) fn of(tree: &'t Tree, text: &'t str) -> Self {
        let mut variables = Self::default();
        syntax::walk(tree, |node| {
            match node.kind() {
                "variable_assignment" => variables.assign(node, text),
                "for_statement" => variables.forget(node, text),
                "command" => variables.forget_read(node, text),
                _ => {}
            }
            true
        });
        variables
    }

    /// The values of a variable in the order in which they are put together; `None` if it isn't known.
    pub(super) fn values(&self, name: &str) -> Option<&[Node<'t>]> {
        self.by_name.get(name).filter(|variable| !variable.ambiguous).map(|variable| variable.values.as_slice())
    }

    fn assign(&mut self, node: Node<'t>, text: &'t str) {
        let Some(name) = node.child_by_field_name("name").filter(|name| name.kind() == "variable_name") else { return };
        let name = span(name).of(text);
        let value = node.child_by_field_name("value");
        let appends = syntax::children(node).iter().any(|child| child.kind() == "+=");
        let extends = appends || value.is_some_and(|value| mentions(value, name, text));
        let variable = self.by_name.entry(name).or_default();
        if !extends && !variable.values.is_empty() {
            variable.ambiguous = true;
        }
        variable.values.extend(value);
    }

    fn forget(&mut self, node: Node<'t>, text: &'t str) {
        if let Some(name) = node.child_by_field_name("variable") {
            self.by_name.entry(span(name).of(text)).or_default().ambiguous = true;
        }
    }

    /// `read NAME` fills its variables from elsewhere.
    fn forget_read(&mut self, node: Node<'t>, text: &'t str) {
        let is_read = node.child_by_field_name("name").is_some_and(|name| span(name).of(text) == "read");
        if is_read {
            for argument in syntax::named_children(node).into_iter().skip(1) {
                self.by_name.entry(span(argument).of(text)).or_default().ambiguous = true;
            }
        }
    }
}

/// Whether a value refers to the variable itself.
fn mentions(value: Node<'_>, name: &str, text: &str) -> bool {
    let value = span(value).of(text);
    [format!("${name}"), format!("${{{name}")].iter().any(|reference| {
        value.match_indices(reference.as_str()).any(|(at, _)| {
            !value[at + reference.len()..].starts_with(|char: char| char.is_ascii_alphanumeric() || char == '_')
        })
    })
}
