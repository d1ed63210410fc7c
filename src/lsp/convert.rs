//! Between our plain data and LSP types.

use tower_lsp_server::ls_types as lsp;

use crate::rules::{Edit, Severity};
use crate::text::{Document, Encoding, Position, Span};

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
