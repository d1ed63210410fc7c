//! Noticing that files changed: by the client where it can watch, else by looking from time to time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tower_lsp_server::ls_types::*;

use super::session::Session;
use super::{adoption, projects, runs, uri};
use crate::workspace::{Kind, Stamp};

/// How often files are looked at.
const EVERY: Duration = Duration::from_secs(3);

/// Files whose change may change a project, and those that may hold settings or start a job.
const WATCHED: [&str; 14] = [
    "**/sparkls.toml",
    "**/pyproject.toml",
    "**/spark-defaults.conf",
    "**/*requirements*.txt",
    "**/uv.lock",
    "**/poetry.lock",
    "**/environment.{yml,yaml}",
    "**/Pipfile",
    "**/Pipfile.lock",
    "**/*.{py,pyw,sql,ipynb,sh,bash,zsh,ksh,mk,mak,yaml,yml,json,jsonc,tf,hcl,tfvars,tofu,hocon,conf,properties}",
    "**/*.{dockerfile,containerfile,j2,jinja,jinja2,tpl,tmpl,tftpl,template,erb,gotmpl,in}",
    "**/{Makefile,makefile,GNUmakefile}",
    "**/{Dockerfile,Containerfile}",
    "**/{Dockerfile,Containerfile}.*",
];

/// Registers what the client can tell of, and looks after the rest.
pub(super) async fn begin(session: &Arc<Session>) {
    let features = session.features();
    let mut registrations = Vec::new();
    if features.register_watchers {
        let watchers = WATCHED
            .iter()
            .map(|glob| FileSystemWatcher { glob_pattern: GlobPattern::String((*glob).to_owned()), kind: None })
            .collect();
        registrations.push(Registration {
            id: "sparkls/files".to_owned(),
            method: "workspace/didChangeWatchedFiles".to_owned(),
            register_options: serde_json::to_value(DidChangeWatchedFilesRegistrationOptions { watchers }).ok(),
        });
    }
    if features.register_configuration {
        registrations.push(Registration {
            id: "sparkls/configuration".to_owned(),
            method: "workspace/didChangeConfiguration".to_owned(),
            register_options: Some(serde_json::json!({ "section": "sparkls" })),
        });
    }
    if !registrations.is_empty() {
        let client = session.client.clone();
        tokio::spawn(async move {
            if let Err(error) = client.register_capability(registrations).await {
                tracing::warn!("the client refuses to watch files: {error}");
            }
        });
    }
    tokio::spawn(look(Arc::clone(session)));
}

/// Looks at the files of linked runs, and at settings files if the client does not watch them.
async fn look(session: Arc<Session>) {
    let mut seen: HashMap<PathBuf, Stamp> = HashMap::new();
    let mut settled: HashMap<PathBuf, Stamp> = HashMap::new();
    loop {
        tokio::time::sleep(EVERY).await;
        let settings = !session.features().register_watchers;
        let projects = session.projects();
        let looked = tokio::task::spawn_blocking(move || {
            let mut stamps = Vec::new();
            for project in projects {
                let linked = project.runs.iter().map(|run| PathBuf::from(&run.source));
                stamps.extend(linked.map(|path| (Some(project.root.clone()), Stamp::of(&path), path)));
                if settings {
                    stamps.push((None, project.settings_stamp(), project.root.clone()));
                }
            }
            stamps
        });
        let Ok(stamps) = looked.await else { return };
        for (folder, stamp, path) in stamps {
            let first = match &folder {
                Some(root) => session.logs.begun(root, &path),
                None => settled.get(&path).cloned(),
            };
            let Some(first) = first else {
                settled.insert(path, stamp);
                continue;
            };
            // A log that is being written is read again when it rests.
            let rests = seen.insert(path.clone(), stamp.clone()).as_ref() == Some(&stamp);
            if first != stamp && (rests || folder.is_none()) {
                settled.insert(path.clone(), stamp);
                reread(&session, folder.as_deref(), path).await;
            }
        }
    }
}

async fn reread(session: &Arc<Session>, folder: Option<&Path>, path: PathBuf) {
    match folder {
        Some(folder) => {
            if let Err(error) = runs::link(session, folder, path).await {
                tracing::warn!("{error}");
            }
        }
        None => projects::reload_soon(session),
    }
}

/// A file was saved in the editor: settings are read again where the client does not watch them, and what code sets is
/// taken over.
pub(super) fn saved(session: &Arc<Session>, uri: &Uri) {
    if let Some(snapshot) = session.snapshot(uri) {
        projects::adopt_module(session, &snapshot);
    }
    let path = uri::path(uri);
    if !session.features().register_watchers && is_watched(&path) {
        projects::reload_soon(session);
    } else if Kind::is_possible(&path) {
        adoption::changed(session, [path]);
    }
}

/// The client tells of changed files: those that the project is made of have it read again, of others only they are.
pub(super) fn changed(session: &Arc<Session>, events: &[FileEvent]) {
    let paths = || events.iter().map(|event| (uri::path(&event.uri), event.typ));
    if paths().any(|(path, _)| is_watched(&path)) {
        projects::reload_soon(session);
    }
    // What was deleted may have been a folder, whatever its name.
    let counts = |path: &Path, what| !is_watched(path) && (Kind::is_possible(path) || what == FileChangeType::DELETED);
    let single: Vec<PathBuf> = paths().filter(|(path, what)| counts(path, *what)).map(|(path, _)| path).collect();
    if !single.is_empty() {
        adoption::changed(session, single);
    }
}

fn is_watched(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.contains("requirements") && name.ends_with(".txt")
        || ["sparkls.toml", "pyproject.toml", "spark-defaults.conf", "uv.lock", "poetry.lock"].contains(&name.as_str())
        || ["environment.yml", "environment.yaml", "Pipfile", "Pipfile.lock"].contains(&name.as_str())
}
