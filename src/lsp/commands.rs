//! Commands: link a run, take it away again, tell what a newer Spark changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::*;

use super::session::Session;
use super::{runs, upgrade};

const LINK: &str = "sparkls.linkRun";
const UNLINK: &str = "sparkls.unlinkRun";
pub(super) const SHOW_UPGRADE: &str = "sparkls.showUpgrade";

pub(super) fn names() -> Vec<String> {
    [LINK, UNLINK, SHOW_UPGRADE].map(str::to_owned).to_vec()
}

/// Runs are given as a path: absolute, or relative to the workspace's folder.
pub(super) async fn execute(session: &Arc<Session>, params: ExecuteCommandParams) -> Result<Option<LSPAny>> {
    if params.command == SHOW_UPGRADE {
        return show_upgrade(session, params.arguments.first().and_then(LSPAny::as_str)).await;
    }
    let Some(path) = params.arguments.first().and_then(LSPAny::as_str) else {
        return Err(Error::invalid_params(format!("`{}` takes the path of an event log", params.command)));
    };
    let Some((folder, path)) = place(session, path) else {
        return Err(Error::invalid_params("a run is linked to a folder, and none is open"));
    };
    match params.command.as_str() {
        LINK => match runs::link(session, &folder, path).await {
            Ok(run) => Ok(Some(json!({ "label": run.label, "source": run.source }))),
            Err(sentence) => Err(Error::invalid_params(sentence)),
        },
        UNLINK => Ok(Some(runs::unlink(session, &folder, &path.display().to_string()).into())),
        unknown => Err(Error::invalid_params(format!("there is no command `{unknown}`"))),
    }
}

/// What a newer Spark changes for the project of a folder, else of the first one, as a text.
async fn show_upgrade(session: &Session, folder: Option<&str>) -> Result<Option<LSPAny>> {
    let named = folder.and_then(|folder| session.project_at(Path::new(folder)));
    let Some(project) = named.or_else(|| session.projects().into_iter().next()) else {
        return Err(Error::invalid_params("no folder is open"));
    };
    let text = tokio::task::spawn_blocking(move || upgrade::text(&project)).await.unwrap_or_default();
    Ok(text.map(LSPAny::from))
}

/// The folder whose project a log belongs to, and the log's path: the longest folder that holds it, else the first.
fn place(session: &Session, path: &str) -> Option<(PathBuf, PathBuf)> {
    let folders = session.folders();
    let path = PathBuf::from(path);
    let folder = folders.iter().find(|folder| path.starts_with(folder)).or(folders.last())?;
    let path = if path.is_absolute() { path } else { folder.join(path) };
    Some((folder.clone(), path))
}
