//! The examples in the rules' documentation are tests, too.

use std::collections::BTreeSet;

use sparkls::rules::{Check, Rule};

use super::case::{Case, Document, Language, environment};
use super::markdown::{self, Piece};
use super::marker::Found;

/// Marks a line of an example on which the rule speaks.
const MARK: &str = "# finding";

/// The blocks under one heading of a rule's documentation, as a case; marked lines apart, one set a document.
pub(crate) struct Example {
    pub(crate) case: Case,
    pub(crate) marked: Vec<BTreeSet<usize>>,
    /// It is a `text` block, about a linked run.
    pub(crate) needs_run: bool,
}

/// Complaints on a rule's documentation.
pub(crate) fn complaints(rule: &'static Rule) -> Vec<String> {
    if matches!(rule.check, Check::Run(_)) {
        return Vec::new();
    }
    let bad = example(rule, "Example");
    let mut complaints = on_lines(rule, &bad);
    if !bad.needs_run && bad.marked.iter().all(BTreeSet::is_empty) {
        complaints.push(format!("{}: its example has no line that ends in `{MARK}`", rule.name));
    }
    let good = example(rule, "Use instead");
    complaints.extend(on_lines(rule, &good));
    for heading in ["Why", "Silent when", "Sources"] {
        if !docs(rule).contains(&format!("\n## {heading}\n")) {
            complaints.push(format!("{}: its documentation has no `## {heading}`", rule.name));
        }
    }
    complaints
}

/// The documentation without the blank that every doc comment line starts with.
fn docs(rule: &Rule) -> String {
    rule.docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// The case under one heading of the documentation.
pub(crate) fn example(rule: &Rule, heading: &str) -> Example {
    let mut example =
        Example { case: Case::new(&format!("{}, {heading}", rule.name)), marked: Vec::new(), needs_run: false };
    let mut here = false;
    for piece in markdown::pieces(&docs(rule)) {
        match piece {
            Piece::Heading(_, name) => here = name == heading,
            Piece::Block { info, text, .. } if here && info == "toml" => example.case.environment = environment(&text),
            // What needs a linked run can't be shown by a text alone.
            Piece::Block { info, .. } if here && info == "text" => example.needs_run = true,
            Piece::Block { info, text, line } if here => {
                let language = info.split_whitespace().next().and_then(Language::of);
                let language = language.unwrap_or_else(|| panic!("{}: a block of {info:?}", rule.name));
                let path = markdown::attribute(&info, "path").map_or_else(|| language.default_path(), str::to_owned);
                let marked = text.lines().enumerate().filter(|(_, line)| line.ends_with(MARK)).map(|(at, _)| at);
                example.marked.push(marked.collect());
                let text: String = text.lines().map(unmarked).collect();
                example.case.documents.push(Document { path, text, line, ..Document::new(language) });
            }
            Piece::Block { .. } => {}
        }
    }
    example
}

fn unmarked(line: &str) -> String {
    format!("{}\n", line.strip_suffix(MARK).map_or(line, str::trim_end))
}

fn on_lines(rule: &Rule, example: &Example) -> Vec<String> {
    let mut complaints = Vec::new();
    if example.case.documents.is_empty() && !example.needs_run {
        complaints.push(format!("{}: no code block", example.case.name));
    }
    for (document, marked) in example.case.documents.iter().zip(&example.marked) {
        let findings = example.case.analyse(document, &document.text).findings;
        let of_rule = findings.iter().filter(|finding| finding.rule == rule.name);
        let found: BTreeSet<usize> = of_rule.map(|finding| Found::new(&document.text, finding).place.line).collect();
        let lines = document.text.lines().enumerate();
        complaints.extend(lines.filter_map(|(at, line)| match (marked.contains(&at), found.contains(&at)) {
            (true, false) => Some(format!("{}: no finding on: {line}", example.case.name)),
            (false, true) => Some(format!("{}: a finding that is not marked on: {line}", example.case.name)),
            _ => None,
        }));
    }
    complaints
}
