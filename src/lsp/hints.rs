//! Measured numbers at the ends of lines.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::configuration::Measured;
use super::document::Snapshot;
use super::session::Session;
use super::{convert, work};
use crate::analysis::LineNote;

/// The answer to `textDocument/inlayHint`.
pub(super) async fn answer(
    session: &Arc<Session>,
    snapshot: Arc<Snapshot>,
    range: Range,
) -> Result<Option<Vec<InlayHint>>> {
    if session.editor().measured != Measured::Hints {
        return Ok(None);
    }
    let features = session.features().clone();
    let snapshot = if features.refresh_hints { snapshot } else { work::linked(session, snapshot).await };
    if snapshot.project.runs.is_empty() {
        return Ok(None);
    }
    work::fresh(session, "textDocument/inlayHint", snapshot, move |snapshot| hints(snapshot, range, &features))
        .await
        .map(Some)
}

fn hints(snapshot: &Snapshot, range: Range, features: &Features) -> Vec<InlayHint> {
    let asked = convert::span(&snapshot.document, range, features.encoding);
    let measured = snapshot.measured();
    measured
        .notes
        .iter()
        .filter(|note| note.span.intersects(asked))
        .map(|note| hint(snapshot, note, features))
        .collect()
}

fn hint(snapshot: &Snapshot, note: &LineNote, features: &Features) -> InlayHint {
    let line = snapshot.document.position(note.span.end as usize, features.encoding).line;
    let end = snapshot.document.line(line);
    InlayHint {
        position: convert::range(&snapshot.document, end, features.encoding).end,
        label: InlayHintLabel::String(note.short.clone()),
        kind: None,
        text_edits: None,
        tooltip: Some(InlayHintTooltip::MarkupContent(convert::markup(note.details.clone(), features.markdown))),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}
