//! Reading the projects: at the start, when their files change, when the editor's settings do.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tower_lsp_server::ls_types::*;

use super::configuration::Editor;
use super::document::Snapshot;
use super::session::Session;
use super::{diagnostics, log, publish, runs, status, uri, watch};
use crate::workspace::{Kind, Project, Source, Sources};

/// How long the start waits for the client to tell its settings.
const PATIENCE: Duration = Duration::from_secs(1);

/// The folders that the client opened.
#[allow(deprecated, reason = "older clients send nothing else")]
pub(super) fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.as_deref().unwrap_or_default();
    let mut paths: Vec<PathBuf> =
        folders.iter().map(|folder| &folder.uri).filter(|uri| uri::is_file(uri)).map(uri::path).collect();
    if paths.is_empty() {
        let root = params.root_uri.as_ref().filter(|uri| uri::is_file(uri)).map(uri::path);
        paths.extend(root.or_else(|| params.root_path.as_ref().map(PathBuf::from)));
    }
    paths
}

/// What follows `initialized`: settings, projects, runs, watchers.
pub(super) fn begin(session: &Arc<Session>) {
    let session = Arc::clone(session);
    tokio::spawn(async move {
        follow_log(&session, &session.editor()).await;
        // A client that takes longer is heard by `ask_configuration` itself.
        let asking = tokio::spawn(ask_configuration(Arc::clone(&session)));
        let _ = tokio::time::timeout(PATIENCE, asking).await;
        let read_with = session.editor();
        reload(&session).await;
        session.ready.send_replace(true);
        // Settings that came while the projects were read found nothing to read again.
        if *session.editor() != *read_with {
            reload(&session).await;
        }
        refresh(&session);
        watch::begin(&session).await;
    });
}

/// Asks for the `sparkls` section, if the client can be asked; an answer that changes something after the start has
/// the projects read again.
async fn ask_configuration(session: Arc<Session>) {
    if !session.features().configuration {
        return;
    }
    let item = ConfigurationItem { scope_uri: None, section: Some("sparkls".to_owned()) };
    let Ok(answer) = session.client.configuration(vec![item]).await else { return };
    let Some(section) = answer.into_iter().next().filter(|section| section.is_object()) else { return };
    take_configuration(&session, Editor::read(&section)).await;
}

/// The client's settings may have changed: those it sent along, else those it tells when asked.
pub(super) fn configuration_changed(session: &Arc<Session>, pushed: serde_json::Value) {
    let session = Arc::clone(session);
    tokio::spawn(async move {
        if session.features().configuration {
            ask_configuration(session).await;
        } else if pushed.is_object() {
            take_configuration(&session, Editor::read(&pushed)).await;
        }
    });
}

async fn take_configuration(session: &Arc<Session>, editor: Editor) {
    if *session.editor() == editor {
        return;
    }
    // What is read with the new settings is logged as they say.
    follow_log(session, &editor).await;
    session.set_editor(editor);
    if *session.ready.borrow() {
        reload(session).await;
        refresh(session);
    }
}

/// Logs as the editor says now.
async fn follow_log(session: &Session, editor: &Editor) {
    if let Some(problem) = log::follow(editor) {
        session.client.show_message(MessageType::WARNING, problem).await;
    }
}

/// Folders came or went.
pub(super) fn folders_changed(session: &Arc<Session>, event: WorkspaceFoldersChangeEvent) {
    let removed: Vec<PathBuf> = event.removed.iter().map(|folder| uri::path(&folder.uri)).collect();
    let mut folders = session.folders();
    folders.retain(|folder| !removed.contains(folder));
    folders.extend(event.added.iter().filter(|folder| uri::is_file(&folder.uri)).map(|folder| uri::path(&folder.uri)));
    session.set_folders(folders);
    reload_soon(session);
}

/// Reads the projects again, on a task of its own.
pub(super) fn reload_soon(session: &Arc<Session>) {
    let session = Arc::clone(session);
    tokio::spawn(async move {
        if *session.ready.borrow() {
            reload(&session).await;
            refresh(&session);
        }
    });
}

/// Reads every folder's settings, keeps the runs that are linked, and reads those that are not yet.
async fn reload(session: &Arc<Session>) {
    let _one = session.reloading.lock().await;
    for folder in session.folders() {
        let editor = session.editor();
        let previous = session.project_at(&folder);
        let read = tokio::task::spawn_blocking({
            let folder = folder.clone();
            move || {
                let project = Project::open_with(&folder, &editor.settings, previous.as_deref());
                let known = previous.map(|previous| previous.sources.clone()).unwrap_or_default();
                project.with_sources(known)
            }
        });
        let Ok(read) = read.await else { continue };
        tracing::info!("{}: Spark {}", folder.display(), read.environment.version);
        let read = with_open_documents(session, read);
        session.change_project(&folder, |before| Some(read.with_runs_of(before)));
        scan_soon(session, folder.clone());
        tell_of_problems(session, &folder).await;
    }
    session.renew_elsewhere();
    diagnostics::publish_problems(session).await;
    runs::load_missing(session);
}

/// Reads what the files of a folder set and start, beside everything else: a large folder takes its time.
pub(super) fn scan_soon(session: &Arc<Session>, folder: PathBuf) {
    let session = Arc::clone(session);
    tokio::spawn(async move {
        let Some(project) = session.project_at(&folder) else { return };
        let scan = tokio::task::spawn_blocking(move || Sources::scan(&project.root, &project.exclude));
        let Ok(sources) = scan.await else { return };
        let changed = session.change_project(&folder, |project| {
            let read = with_open_documents(&session, project.with_sources(sources.clone()));
            (read.sources != project.sources).then_some(read)
        });
        if changed {
            refresh(&session);
        }
    });
}

/// One message when a settings file begins to be wrong; its diagnostics say where.
async fn tell_of_problems(session: &Arc<Session>, folder: &Path) {
    let Some(project) = session.project_at(folder) else { return };
    let Some(problem) = project.problems.first() else { return };
    let is_open = uri::of_path(&problem.path).is_some_and(|uri| session.snapshot(&uri).is_some());
    let known = is_open || session.published_problems.lock().iter().any(|uri| uri::path(uri) == problem.path);
    if !known {
        let name = problem.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let message =
            format!("{name}: {}. The rest of the settings stay in force.", problem.message.trim_end_matches('.'));
        session.client.show_message(MessageType::WARNING, message).await;
    }
}

/// Documents that are open count as they are in the editor.
fn with_open_documents(session: &Session, project: Project) -> Project {
    let open = session.snapshots();
    let is_own = |snapshot: &&Arc<Snapshot>| snapshot.path.starts_with(&project.root) && snapshot.is_analysed();
    let own: Vec<_> = open.iter().filter(is_own).collect();
    own.into_iter().fold(project, |project, snapshot| {
        let project = project.with_source(&snapshot.path, source(snapshot));
        project.with_module(&snapshot.path, snapshot.document.text()).unwrap_or(project)
    })
}

/// A Python file was saved: those that import it see what it does now.
pub(super) fn adopt_module(session: &Arc<Session>, snapshot: &Snapshot) {
    if snapshot.kind != Kind::Python || !snapshot.is_analysed() {
        return;
    }
    let change = |project: &Project| project.with_module(&snapshot.path, snapshot.document.text());
    if session.change_project(&snapshot.project.root, change) {
        refresh(session);
    }
}

/// What an open document says now.
pub(super) fn source(snapshot: &Snapshot) -> Option<Source> {
    Source::of(&snapshot.path, snapshot.document.text(), snapshot.facts())
}

/// What holds for the open documents changed: they are published again, or the client is asked to ask again.
pub(super) fn refresh(session: &Arc<Session>) {
    status::tell(session);
    refresh_where(session, |_| true);
}

/// [`refresh`], for the documents at some paths.
pub(super) fn refresh_where(session: &Arc<Session>, is_affected: impl Fn(&Path) -> bool) {
    let open = session.snapshots();
    let affected: Vec<_> = open.iter().filter(|snapshot| is_affected(&snapshot.path)).collect();
    if affected.is_empty() {
        return;
    }
    for snapshot in affected {
        publish::schedule(session, &snapshot.uri);
    }
    let session = Arc::clone(session);
    tokio::spawn(async move {
        let features = session.features();
        let client = &session.client;
        let diagnostics = async {
            if features.pull {
                let _ = client.workspace_diagnostic_refresh().await;
            }
        };
        let hints = async {
            if features.refresh_hints {
                let _ = client.inlay_hint_refresh().await;
            }
        };
        let lenses = async {
            if features.refresh_lenses {
                let _ = client.code_lens_refresh().await;
            }
        };
        tokio::join!(diagnostics, hints, lenses);
    });
}
