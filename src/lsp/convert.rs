//! Between our plain data and LSP types.

use tower_lsp_server::ls_types as lsp;

use crate::rules::{Edit, Severity};
use crate::text::{self, Document, Encoding, Position, Span};

pub(super) fn position(position: lsp::Position) -> Position {
    Position { line: position.line, column: position.character }
}

/// The bytes under a range that a client sent; an inverted one covers nothing.
pub(super) fn span(document: &Document, range: lsp::Range, encoding: Encoding) -> Span {
    let start = document.offset(position(range.start), encoding);
    let end = document.offset(position(range.end), encoding);
    Span::new(start, end.max(start))
}

pub(super) fn range(document: &Document, span: Span, encoding: Encoding) -> lsp::Range {
    let at = |offset: u32| {
        let position = document.position(offset as usize, encoding);
        lsp::Position { line: position.line, character: position.column }
    };
    lsp::Range { start: at(span.start), end: at(span.end) }
}

/// Applies one change of a document's text.
pub(super) fn apply(
    document: &mut Document,
    version: i32,
    change: &lsp::TextDocumentContentChangeEvent,
    encoding: Encoding,
) -> Change {
    match change.range {
        Some(range) => {
            let (start, end) = (position(range.start), position(range.end));
            Change::Part(document.replace(version, start, end, encoding, &change.text))
        }
        None => {
            document.set_text(version, &change.text);
            Change::Whole
        }
    }
}

/// What a change did to a text.
pub(super) enum Change {
    /// A part of it is another; `None` if the range was none.
    Part(Option<text::Edit>),
    /// All of it is another.
    Whole,
}

/// An edit as the client applies it, with the document's own line ends.
pub(super) fn text_edit(document: &Document, edit: &Edit, encoding: Encoding) -> lsp::TextEdit {
    let new_text = match document.line_ending() {
        "\n" => edit.text.clone(),
        line_end => edit.text.replace('\n', line_end),
    };
    lsp::TextEdit { range: range(document, edit.span, encoding), new_text }
}

pub(super) fn severity(severity: Severity) -> lsp::DiagnosticSeverity {
    match severity {
        Severity::Hint => lsp::DiagnosticSeverity::HINT,
        Severity::Information => lsp::DiagnosticSeverity::INFORMATION,
        Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        Severity::Error => lsp::DiagnosticSeverity::ERROR,
    }
}

/// Markdown, or the same text for clients that show none.
pub(super) fn markup(value: String, markdown: bool) -> lsp::MarkupContent {
    let kind = if markdown { lsp::MarkupKind::Markdown } else { lsp::MarkupKind::PlainText };
    lsp::MarkupContent { kind, value }
}
