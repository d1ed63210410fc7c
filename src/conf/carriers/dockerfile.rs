//! Dockerfiles: `RUN`, `CMD` and `ENTRYPOINT` in both forms, `ENV PYSPARK_SUBMIT_ARGS` and other variables with options.
//!
//! Keys and precedence are those of the commands; `CMD` in brackets is appended to `ENTRYPOINT` in brackets.

use tree_sitter::Node as Syntax;

use super::collect::Collector;
use super::mapped::Mapped;
use super::syntax::{self, span};
use super::tree::Scalar;
use super::words::split;
use super::{escapes, mask, shapes, shell};
use crate::text::Span;

/// Reads a document.
pub(super) fn read(text: &str, out: &mut Collector) {
    let masked = mask::templates(text);
    let Some(tree) = syntax::parse(tree_sitter_containerfile::LANGUAGE.into(), &masked) else { return };
    let mut entrypoint = Entrypoint { text, words: Vec::new() };
    syntax::walk(&tree, |node| {
        match node.kind() {
            "shell_command" => shell::read_string(&command(text, node), out),
            "heredoc_content" => shell::read_string(&Mapped::verbatim(text, span(node)), out),
            "env_pair" => environment(text, node, out),
            "json_string_array" => entrypoint.list(node, out),
            "from_instruction" => entrypoint.end(out),
            _ => return true,
        }
        false
    });
    entrypoint.end(out);
}

/// A command without the comments between its lines.
fn command<'a>(text: &'a str, node: Syntax<'_>) -> Mapped<'a> {
    let mut out = Mapped::default();
    let mut at = node.start_byte();
    for comment in syntax::named_children(node).into_iter().filter(|child| child.kind() == "comment") {
        out.push(text, Span::new(at, comment.start_byte().max(at)));
        at = comment.end_byte().max(at);
    }
    out.push(text, Span::new(at, node.end_byte().max(at)));
    out
}

fn environment(text: &str, node: Syntax<'_>, out: &mut Collector) {
    let field = |name| node.child_by_field_name(name).map(span);
    if let (Some(name), Some(value)) = (field("name"), field("value")) {
        let words = split(&Mapped::verbatim(text, value));
        shell::read_variable(text, name.of(text), span(node), &words, out);
    }
}

/// The words of an `ENTRYPOINT`, until it is known whether a `CMD` goes on.
struct Entrypoint<'t> {
    text: &'t str,
    words: Vec<Scalar<'t>>,
}

impl Entrypoint<'_> {
    fn list(&mut self, node: Syntax<'_>, out: &mut Collector) {
        let strings = syntax::named_children(node).into_iter().filter(|child| child.kind() == "json_string");
        let mut words: Vec<Scalar<'_>> = strings.map(|child| string(self.text, child)).collect();
        match node.parent().map(|parent| parent.kind()) {
            Some("entrypoint_instruction") => {
                self.end(out);
                self.words = words;
            }
            Some("cmd_instruction") => {
                self.words.append(&mut words);
                self.end(out);
            }
            _ => shapes::read_command(self.text, &words.iter().collect::<Vec<_>>(), out),
        }
    }

    fn end(&mut self, out: &mut Collector) {
        let words = std::mem::take(&mut self.words);
        shapes::read_command(self.text, &words.iter().collect::<Vec<_>>(), out);
    }
}

fn string<'a>(text: &'a str, node: Syntax<'_>) -> Scalar<'a> {
    let whole = span(node);
    let content = Span { start: (whole.start + 1).min(whole.end), end: (whole.end - 1).max(whole.start + 1) };
    let mut mapped = Mapped::default();
    escapes::push(&mut mapped, text, content);
    if mapped.text().is_empty() {
        mapped = Mapped::empty_at(content.start as usize);
    }
    Scalar::new(mapped, whole, false)
}
