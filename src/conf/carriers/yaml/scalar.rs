//! The five ways of writing a text in YAML.

use tree_sitter::Node as Syntax;

use super::verbatim;
use crate::conf::carriers::escapes;
use crate::conf::carriers::mapped::Mapped;
use crate::conf::carriers::syntax::span;
use crate::conf::carriers::tree::Scalar;
use crate::text::Span;

/// Reads a scalar.
pub(super) fn read<'a>(text: &'a str, node: Syntax<'_>) -> Scalar<'a> {
    let whole = span(node);
    match node.kind() {
        "block_scalar" => Scalar::new(block(text, whole), whole, false),
        "double_quote_scalar" => Scalar::new(folded(text, inside(whole), Quotes::Double), whole, false),
        "single_quote_scalar" => Scalar::new(folded(text, inside(whole), Quotes::Single), whole, false),
        _ if whole.of(text).contains('\n') => Scalar::new(folded(text, whole, Quotes::None), whole, true),
        _ => verbatim(text, whole, whole, true),
    }
}

fn inside(whole: Span) -> Span {
    let start = (whole.start + 1).min(whole.end);
    Span { start, end: whole.end.saturating_sub(1).max(start) }
}

/// `''` is a quote.
fn single<'a>(out: &mut Mapped<'a>, text: &'a str, range: Span) {
    let mut from = range.start as usize;
    while let Some(at) = text.get(from..range.end as usize).and_then(|rest| rest.find("''")).map(|offset| from + offset)
    {
        out.push(text, Span::new(from, at));
        out.push_decoded("'", Span::new(at, at + 2));
        from = at + 2;
    }
    out.push(text, Span::new(from, (range.end as usize).max(from)));
}

/// What stands around a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

impl Quotes {
    /// Appends text with what these quotes let escape resolved.
    fn push<'a>(self, out: &mut Mapped<'a>, text: &'a str, range: Span) {
        match self {
            Self::None => out.push(text, range),
            Self::Single => single(out, text, range),
            Self::Double => escapes::push(out, text, range),
        }
    }
}

/// Lines joined by one blank, an empty line by a line end.
fn folded(text: &str, range: Span, quotes: Quotes) -> Mapped<'_> {
    let mut out = Mapped::default();
    let mut at = range.start as usize;
    let mut empty_lines = 0;
    let mut joins = false;
    for (number, line) in range.of(text).split('\n').enumerate() {
        let content = if number == 0 { line.trim_end_matches('\r') } else { line.trim() };
        let start = at + (line.len() - if number == 0 { line.len() } else { line.trim_start().len() });
        // In double quotes a backslash at the end of a line joins it to the next without a blank.
        let is_joined = quotes == Quotes::Double && (content.len() - content.trim_end_matches('\\').len()) % 2 == 1;
        let end = start + content.len() - usize::from(is_joined);
        if content.is_empty() && number > 0 {
            empty_lines += 1;
        } else {
            if number > 0 {
                let joint = Span::new(at.saturating_sub(1), start);
                match (empty_lines, joins) {
                    (0, true) => {}
                    (0, false) => out.push_decoded(" ", joint),
                    _ => out.push_decoded("\n", joint),
                }
                empty_lines = 0;
            }
            quotes.push(&mut out, text, Span::new(start, end));
            joins = is_joined;
        }
        at += line.len() + 1;
    }
    if out.text().is_empty() { Mapped::empty_at(range.start as usize) } else { out }
}

/// `|` keeps the lines, `>` joins them.
fn block(text: &str, whole: Span) -> Mapped<'_> {
    let body = whole.of(text);
    let (header, _) = body.split_once('\n').unwrap_or((body, ""));
    let folds = header.starts_with('>');
    let mut lines = Vec::new();
    let mut at = whole.start as usize + header.len() + 1;
    for line in body.get(header.len() + 1..).unwrap_or_default().split('\n') {
        lines.push((at, line.strip_suffix('\r').unwrap_or(line)));
        at += line.len() + 1;
    }
    let indent = lines
        .iter()
        .find(|(_, line)| !line.trim().is_empty())
        .map_or(0, |(_, line)| line.len() - line.trim_start_matches(' ').len());
    let mut out = Mapped::default();
    let mut open_line = false;
    for (at, line) in lines {
        let cut = (line.len() - line.trim_start_matches(' ').len()).min(indent);
        let (start, content) = (at + cut, &line[cut..]);
        if open_line {
            let joins = folds && !content.is_empty() && !content.starts_with(' ') && !out.text().ends_with('\n');
            out.push_decoded(if joins { " " } else { "\n" }, Span::new(at - 1, start));
        }
        out.push(text, Span::new(start, start + content.len()));
        open_line = open_line || !content.is_empty();
    }
    if out.text().is_empty() { Mapped::empty_at(whole.end as usize) } else { out }
}
