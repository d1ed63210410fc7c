//! Completion.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::document::Snapshot;
use super::session::Session;

/// The answer to `textDocument/completion`.
pub(super) async fn answer(_: &Arc<Session>, _: Arc<Snapshot>, _: Position) -> Result<Option<CompletionResponse>> {
    Ok(None)
}

/// Adds documentation.
pub(super) fn resolve(_: &Session, item: CompletionItem) -> CompletionItem {
    item
}
