//! Above the lines: what the linked runs say of the whole file, and measured numbers where they are wanted there.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::configuration::Measured;
use super::document::Snapshot;
use super::session::Session;
use super::{convert, work};
use crate::text::Span;

/// The answer to `textDocument/codeLens`.
pub(super) async fn answer(session: &Arc<Session>, snapshot: Arc<Snapshot>) -> Result<Option<Vec<CodeLens>>> {
    let measured = session.editor().measured;
    if measured == Measured::Off || snapshot.project.runs.is_empty() {
        return Ok(None);
    }
    let features = session.features().clone();
    work::fresh(session, "textDocument/codeLens", snapshot, move |snapshot| lenses(snapshot, measured, &features))
        .await
        .map(Some)
}

fn lenses(snapshot: &Snapshot, measured: Measured, features: &Features) -> Vec<CodeLens> {
    let analysis = snapshot.analysis();
    let lens = |span: Span, title: &str| CodeLens {
        range: convert::range(&snapshot.document, span, features.encoding),
        // A lens without a command's name is text only.
        command: Some(Command { title: title.to_owned(), command: String::new(), arguments: None }),
        data: None,
    };
    let summary = analysis.summary.iter().map(|sentence| lens(Span::at(0), sentence));
    let lines = analysis.notes.iter().filter(|_| measured == Measured::Lenses).map(|note| lens(note.span, &note.short));
    summary.chain(lines).collect()
}
