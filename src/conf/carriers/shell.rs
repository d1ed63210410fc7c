//! Shell scripts: `spark-submit`, `pyspark`, `spark-shell` and `spark-sql` with `--conf` and flags.
//!
//! Any key can stand behind `--conf`; flags stand for keys of their own and win over `--conf`, and both win over the
//! properties file (`--properties-file`, which replaces `spark-defaults.conf`). Arrays (`CONF=(--conf …)` with
//! `"${CONF[@]}"`) and variables with one literal value are followed; heredocs are left alone. Options that stand in a
//! variable or before an unknown wrapper are settings too, of no command that is known.

mod command;
mod decode;
mod variables;

use std::cell::Cell;

use super::collect::Collector;
use super::mapped::Mapped;
use super::mask;
use super::syntax::{self, span};
use super::words::{Word, split};
use super::{json, submit, yaml};
use crate::text::Span;
pub(crate) use command::runs_tool;
use variables::Variables;

/// Reads a script.
pub(super) fn read(text: &str, out: &mut Collector) {
    let masked = mask::interpolations(mask::templates(text));
    let Some(tree) = syntax::parse(tree_sitter_bash::LANGUAGE.into(), &masked) else { return };
    let script = Script { text, variables: Variables::of(&tree, text), budget: Cell::new(MAX_SUBSTITUTED) };
    syntax::walk(&tree, |node| match node.kind() {
        "command" => {
            command::read(&script, node, out);
            true
        }
        "variable_assignment" => {
            read_assignment(&script, node, out);
            true
        }
        "heredoc_body" | "comment" => false,
        _ => true,
    });
}

/// A script with what its variables are known to hold.
struct Script<'t> {
    text: &'t str,
    variables: Variables<'t>,
    /// How many bytes of values may still be filled in.
    budget: Cell<usize>,
}

/// Values of variables are filled in up to this many bytes in one script; variables in variables can't multiply further.
const MAX_SUBSTITUTED: usize = 1 << 20;

impl Script<'_> {
    /// Whether these values may be filled in once more.
    fn may_substitute(&self, values: &[tree_sitter::Node<'_>]) -> bool {
        let bytes: usize = values.iter().map(|value| value.end_byte() - value.start_byte() + 1).sum();
        let left = self.budget.get().checked_sub(bytes);
        self.budget.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// Options in a variable, an array or `PYSPARK_SUBMIT_ARGS`.
fn read_assignment(script: &Script<'_>, node: tree_sitter::Node<'_>, out: &mut Collector) {
    let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value")) else {
        return;
    };
    let words = script.words_of_value(value);
    let name = span(name).of(script.text);
    if let [word] = words.as_slice()
        && read_embedded(word, out)
    {
        return;
    }
    read_variable(script.text, name, span(node), &words, out);
}

/// What an environment variable or a shell variable holds for Spark; also those of Dockerfiles and YAML.
pub(super) fn read_variable(document: &str, name: &str, whole: Span, words: &[Word<'_>], out: &mut Collector) {
    let parts: Vec<Word<'_>> = words.iter().flat_map(split_options).collect();
    let options = submit::Options { document, words: &parts, layout: submit::Layout::Line };
    if name == "PYSPARK_SUBMIT_ARGS" {
        submit::read_command(super::Tool::PySparkSubmitArgs, whole, &options, out);
    } else {
        submit::read_options(&options, out);
    }
}

/// The words of a variable's value, if it holds options.
fn split_options<'a>(word: &Word<'a>) -> Vec<Word<'a>> {
    let text = word.as_str();
    if !text.contains(char::is_whitespace) || !text.contains("--") {
        return vec![word.clone()];
    }
    let mut parts = split(&word.text);
    for part in &mut parts {
        if let Some(at) = part.as_str().find('$').filter(|_| word.holes.first().is_some()) {
            part.holes.add(at);
        }
    }
    parts
}

/// A word that is a text of another kind: a command for a further shell, JSON or YAML for a cluster's interface.
/// Says whether it is.
pub(super) fn read_embedded(word: &Word<'_>, out: &mut Collector) -> bool {
    let text = word.as_str();
    let start = text.trim_start();
    if !super::may_hold_settings(text) || !text.contains([' ', '\n', ':', ',']) {
        return false;
    }
    if start.starts_with(['{', '[']) {
        out.embedded(&word.text, json::read);
        return true;
    }
    let is_yaml = start.contains(":\n") || start.contains(": |");
    if is_yaml && !mentions_tool(text) {
        out.embedded(&word.text, yaml::read);
        return true;
    }
    let is_command = (mentions_tool(text) || command::calls_client(text)) && text.contains(char::is_whitespace);
    if is_command {
        out.embedded(&word.text, read);
    }
    is_command
}

/// Whether a text calls one of Spark's tools.
pub(super) fn mentions_tool(text: &str) -> bool {
    text.split(|char: char| char.is_whitespace() || matches!(char, ';' | '&' | '|' | '(' | '"' | '\'' | '`'))
        .any(|word| submit::tool(word).is_some())
}

/// Reads a string of another document as a script.
pub(super) fn read_string(text: &Mapped<'_>, out: &mut Collector) {
    out.embedded(text, read);
}
