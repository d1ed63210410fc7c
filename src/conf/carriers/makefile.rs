//! Makefiles: the commands of recipes, and variables that hold options.
//!
//! Keys and precedence are those of the commands. `$(NAME)` with one literal value is filled in, `$$` is the shell's `$`.

use rustc_hash::FxHashMap;
use tree_sitter::{Node as Syntax, Tree};

use super::collect::Collector;
use super::mapped::Mapped;
use super::syntax::{self, span};
use super::words::split;
use super::{mask, shell};
use crate::text::Span;

/// Reads a document.
pub(super) fn read(text: &str, out: &mut Collector) {
    let masked = mask::templates(text);
    let Some(tree) = syntax::parse(tree_sitter_make::LANGUAGE.into(), &masked) else { return };
    let variables = Variables::of(&tree, text);
    syntax::walk(&tree, |node| {
        match node.kind() {
            "recipe_line" => shell::read_string(&variables.expanded(text, node), out),
            "raw_text" => shell::read_string(&Mapped::verbatim(text, span(node)), out),
            "variable_assignment" => assignment(text, node, out),
            _ => return true,
        }
        false
    });
}

fn assignment(text: &str, node: Syntax<'_>, out: &mut Collector) {
    let field = |name| node.child_by_field_name(name).map(span);
    if let (Some(name), Some(value)) = (field("name"), field("value")) {
        let words = split(&unfolded(text, value));
        shell::read_variable(text, name.of(text), span(node), &words, out);
    }
}

/// A value without the backslashes that continue it.
fn unfolded(text: &str, value: Span) -> Mapped<'_> {
    let mut out = Mapped::default();
    let mut at = value.start as usize;
    for line in value.of(text).split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let content = content.strip_suffix('\\').unwrap_or(content);
        out.push(text, Span::new(at, at + content.len()));
        if content.len() < line.len() {
            out.push_decoded(" ", Span::new(at + content.len(), at + line.len()));
        }
        at += line.len();
    }
    out
}

/// The variables with one value.
struct Variables<'t> {
    by_name: FxHashMap<&'t str, Option<Span>>,
}

impl<'t> Variables<'t> {
    fn of(tree: &Tree, text: &'t str) -> Self {
        let mut by_name = FxHashMap::default();
        syntax::walk(tree, |node| {
            if node.kind() == "variable_assignment"
                && let Some(name) = node.child_by_field_name("name")
            {
                // `?=` is there to be overridden.
                let is_default = node.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "?=");
                let value = node.child_by_field_name("value").map(span);
                let value = value.filter(|value| !is_default && !value.of(text).contains('$'));
                by_name.entry(span(name).of(text)).and_modify(|known| *known = None).or_insert(value);
            }
            true
        });
        Self { by_name }
    }

    /// A recipe's line as the shell gets it.
    fn expanded(&self, text: &'t str, line: Syntax<'_>) -> Mapped<'t> {
        let parts: Vec<Syntax<'_>> =
            syntax::named_children(line).into_iter().filter(|child| child.kind() == "shell_text").collect();
        let mut out = Mapped::default();
        for part in parts {
            let mut at = part.start_byte();
            for child in syntax::named_children(part) {
                if child.start_byte() >= at {
                    out.push(text, Span::new(at, child.start_byte()));
                    at = child.end_byte();
                    self.reference(text, child, &mut out);
                }
            }
            out.push(text, Span::new(at, part.end_byte().max(at)));
        }
        out
    }

    fn reference(&self, text: &'t str, node: Syntax<'_>, out: &mut Mapped<'t>) {
        let place = span(node);
        let written = place.of(text);
        let name = written.trim_start_matches('$').trim_matches(['(', ')', '{', '}']);
        match self.by_name.get(name).copied().flatten() {
            _ if node.kind() == "escape" => out.push_decoded(written.get(1..).unwrap_or_default(), place),
            Some(value) if value.of(text).contains("--") => out.push_mapped(&unfolded(text, value)),
            Some(value) => out.push_decoded(unfolded(text, value).text().trim(), place),
            None => out.push_decoded(&format!("${{{}}}", shell_name(name)), place),
        }
    }
}

/// A name that a shell takes as a variable's, so that it sees a variable where make will put something.
fn shell_name(name: &str) -> &str {
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|char: char| char.is_ascii_digit());
    if is_name { name } else { "MAKE" }
}
