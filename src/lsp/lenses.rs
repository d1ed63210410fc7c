//! Above the lines: what the linked runs say of the whole file, measured numbers where they are wanted there, and what a
//! newer Spark changes.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::configuration::Measured;
use super::document::Snapshot;
use super::session::Session;
use super::{convert, upgrade, work};
use crate::text::Span;

/// The answer to `textDocument/codeLens`.
pub(super) async fn answer(session: &Arc<Session>, snapshot: Arc<Snapshot>) -> Result<Option<Vec<CodeLens>>> {
    let measured = session.editor().measured;
    let features = session.features().clone();
    let snapshot = if features.refresh_lenses { snapshot } else { work::linked(session, snapshot).await };
    let lenses = work::fresh(session, "textDocument/codeLens", snapshot, move |snapshot| {
        let mut lenses = of_runs(snapshot, measured, &features);
        let upgrade = upgrade::lens(snapshot);
        lenses.extend(upgrade.map(|(span, command)| lens(snapshot, span, command, &features)));
        lenses
    });
    Ok(Some(lenses.await?).filter(|lenses| !lenses.is_empty()))
}

fn lens(snapshot: &Snapshot, span: Span, command: Command, features: &Features) -> CodeLens {
    let range = convert::range(&snapshot.document, span, features.encoding);
    CodeLens { range, command: Some(command), data: None }
}

fn of_runs(snapshot: &Snapshot, measured: Measured, features: &Features) -> Vec<CodeLens> {
    if measured == Measured::Off || snapshot.project.runs.is_empty() {
        return Vec::new();
    }
    let said = snapshot.measured();
    // A lens without a command's name is text only.
    let text = |title: &str| Command { title: title.to_owned(), command: String::new(), arguments: None };
    let lens = |span: Span, title: &str| lens(snapshot, span, text(title), features);
    let summary = said.summary.iter().map(|sentence| lens(Span::at(0), sentence));
    let lines = said.notes.iter().filter(|_| measured == Measured::Lenses).map(|note| lens(note.span, &note.short));
    summary.chain(lines).collect()
}
