//! Hover.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::document::Snapshot;
use super::session::Session;

/// The answer to `textDocument/hover`.
pub(super) async fn answer(_: &Arc<Session>, _: Arc<Snapshot>, _: Position) -> Result<Option<Hover>> {
    Ok(None)
}
