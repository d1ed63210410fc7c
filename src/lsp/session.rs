//! What one editor has open: documents, projects, settings. Locks are held for moments, never while anything is computed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use tokio::sync::{Semaphore, watch};
use tower_lsp_server::Client;
use tower_lsp_server::ls_types::*;

use super::adoption::Adoption;
use super::capabilities::Features;
use super::cells::{Notebook, Notebooks, View};
use super::configuration::Editor;
use super::convert::{self, Change};
use super::document::Snapshot;
use super::publish::Schedule;
use super::runs::Logs;
use super::uri::{self, Key};
use crate::text::Document;
use crate::workspace::{Affected, Kind, Project};

/// Everything of one editor's session.
pub(super) struct Session {
    pub(super) client: Client,
    features: OnceLock<Features>,
    documents: RwLock<HashMap<Key, Open>>,
    notebooks: RwLock<Notebooks>,
    roots: RwLock<Roots>,
    editor: RwLock<Arc<Editor>>,
    generation: AtomicU64,
    /// Turns true when the projects were read for the first time.
    pub(super) ready: watch::Sender<bool>,
    pub(super) workers: Semaphore,
    /// The user was told of a panic.
    pub(super) told_of_panic: AtomicBool,
    pub(super) last_panic: Mutex<Option<String>>,
    /// How the logs of linked runs were read.
    pub(super) logs: Logs,
    /// Settings files with problems that were published.
    pub(super) published_problems: Mutex<Vec<Uri>>,
    /// What was published for cells of notebooks, with the version of each.
    pub(super) published_cells: Mutex<HashMap<Key, (i32, Vec<Diagnostic>)>>,
    /// One reload of the projects at a time.
    pub(super) reloading: tokio::sync::Mutex<()>,
    /// One publication at a time, so that none overtakes the empty one of a close.
    pub(super) publishing: tokio::sync::Mutex<()>,
    /// Files and documents whose settings are taken over.
    pub(super) adoption: Adoption,
}

/// An open document: its newest snapshot, and where its publication stands.
struct Open {
    snapshot: Arc<Snapshot>,
    schedule: Arc<Schedule>,
}

/// The folders of the workspace.
#[derive(Default)]
pub(super) struct Roots {
    /// Longest first.
    folders: Vec<Root>,
    /// What holds outside every folder.
    elsewhere: Option<(Arc<Project>, u64)>,
}

struct Root {
    folder: PathBuf,
    project: Arc<Project>,
    generation: u64,
}

impl Session {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            features: OnceLock::new(),
            documents: RwLock::default(),
            notebooks: RwLock::default(),
            roots: RwLock::default(),
            editor: RwLock::default(),
            generation: AtomicU64::new(0),
            ready: watch::Sender::new(false),
            workers: Semaphore::new(super::WORKERS),
            told_of_panic: AtomicBool::new(false),
            last_panic: Mutex::default(),
            logs: Logs::default(),
            published_problems: Mutex::default(),
            published_cells: Mutex::default(),
            reloading: tokio::sync::Mutex::default(),
            publishing: tokio::sync::Mutex::default(),
            adoption: Adoption::default(),
        }
    }

    /// What the client can do; before `initialize`, nothing.
    pub(super) fn features(&self) -> &Features {
        self.features.get_or_init(Features::default)
    }

    pub(super) fn greet(&self, features: Features, editor: Editor, folders: Vec<PathBuf>) {
        let _ = self.features.set(features);
        *self.editor.write() = Arc::new(editor);
        self.set_folders(folders);
    }

    pub(super) fn editor(&self) -> Arc<Editor> {
        Arc::clone(&self.editor.read())
    }

    pub(super) fn set_editor(&self, editor: Editor) {
        *self.editor.write() = Arc::new(editor);
    }

    /// The folders of the workspace, longest first.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        self.roots.read().folders.iter().map(|root| root.folder.clone()).collect()
    }

    /// Sets the folders; those that are new have an empty project until it is read.
    pub(super) fn set_folders(&self, folders: Vec<PathBuf>) {
        let editor = self.editor();
        let mut roots = self.roots.write();
        let known = std::mem::take(&mut roots.folders);
        for folder in folders {
            if roots.folders.iter().any(|root| root.folder == folder) {
                continue;
            }
            let project = known
                .iter()
                .find(|root| root.folder == folder)
                .map_or_else(|| Arc::new(Project::without_folder(&editor.settings)), |root| Arc::clone(&root.project));
            roots.folders.push(Root { folder, project, generation: self.next_generation() });
        }
        roots.folders.sort_by_key(|root| std::cmp::Reverse(root.folder.components().count()));
    }

    /// The project of a path: that of the longest folder that holds it.
    pub(super) fn project(&self, path: &Path) -> (Arc<Project>, u64) {
        if let Some(root) = self.roots.read().folders.iter().find(|root| path.starts_with(&root.folder)) {
            return (Arc::clone(&root.project), root.generation);
        }
        if let Some(elsewhere) = &self.roots.read().elsewhere {
            return elsewhere.clone();
        }
        let project = Arc::new(Project::without_folder(&self.editor().settings));
        self.roots.write().elsewhere.get_or_insert((project, self.next_generation())).clone()
    }

    /// The project of a folder, if it is still one of the workspace.
    pub(super) fn project_at(&self, folder: &Path) -> Option<Arc<Project>> {
        let roots = self.roots.read();
        roots.folders.iter().find(|root| root.folder == folder).map(|root| Arc::clone(&root.project))
    }

    /// All projects of the workspace.
    pub(super) fn projects(&self) -> Vec<Arc<Project>> {
        self.roots.read().folders.iter().map(|root| Arc::clone(&root.project)).collect()
    }

    /// Replaces a folder's project by what `change` makes of it; open documents see it from now on. `false` if the
    /// folder is gone or `change` has nothing to change.
    pub(super) fn change_project(&self, folder: &Path, change: impl Fn(&Project) -> Option<Project>) -> bool {
        self.change_project_for(folder, |project| Some((change(project)?, Affected::All))).is_some()
    }

    /// [`Session::change_project`] where only some documents have to be analysed again: those that it says.
    pub(super) fn change_project_for(
        &self,
        folder: &Path,
        change: impl Fn(&Project) -> Option<(Project, Affected)>,
    ) -> Option<Affected> {
        // `change` runs outside the lock, so another change may come between: then it is asked again.
        loop {
            let before = self.project_at(folder)?;
            let (after, affected) = change(&before)?;
            let mut roots = self.roots.write();
            let root = roots.folders.iter_mut().find(|root| root.folder == folder)?;
            if Arc::ptr_eq(&root.project, &before) {
                root.project = Arc::new(after);
                root.generation = self.next_generation();
                drop(roots);
                self.renew_documents(&affected);
                return Some(affected);
            }
        }
    }

    /// Lets documents outside every folder see the editor's settings as they are now.
    pub(super) fn renew_elsewhere(&self) {
        self.roots.write().elsewhere = None;
        self.renew_documents(&Affected::All);
    }

    /// Puts open documents into their projects as they are now; those that are not affected keep their analysis.
    fn renew_documents(&self, affected: &Affected) {
        let mut documents = self.documents.write();
        for open in documents.values_mut() {
            let (project, generation) = self.project(&open.snapshot.path);
            if Arc::ptr_eq(&project, &open.snapshot.project) {
                continue;
            }
            let renewed = if affected.holds(&open.snapshot.path) {
                open.snapshot.in_project(project, generation)
            } else {
                open.snapshot.in_same_conf(project)
            };
            open.snapshot = Arc::new(renewed);
        }
    }

    fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Opens a document; one that is open already is replaced.
    pub(super) fn open(&self, item: TextDocumentItem) {
        if self.is_notebook(&item.uri) {
            return;
        }
        let path = uri::path(&item.uri);
        let kind = Kind::of_language(&item.language_id, &path, &item.text);
        let document = Document::new(item.version, &item.text);
        let project = self.project(&path);
        let mut snapshot = Snapshot::open(item.uri, path, kind, document, project);
        // A document that is opened again is another one: results for the first must not pass for the second's.
        snapshot.revision = self.next_generation() << 32;
        snapshot.too_large = snapshot.document.len() > self.editor().max_file_bytes;
        self.insert(snapshot);
    }

    fn insert(&self, snapshot: Snapshot) {
        let key = Key::of(&snapshot.uri);
        let mut documents = self.documents.write();
        let schedule = documents.remove(&key).map_or_else(Arc::default, |open| open.schedule);
        documents.insert(key, Open { snapshot: Arc::new(snapshot), schedule });
    }

    /// Applies changes in order; `false` if the document is not open.
    pub(super) fn change(&self, params: DidChangeTextDocumentParams) -> bool {
        if self.is_notebook(&params.text_document.uri) {
            return false;
        }
        let encoding = self.features().encoding;
        let version = params.text_document.version;
        let largest = self.editor().max_file_bytes;
        let mut documents = self.documents.write();
        let Some(open) = documents.get_mut(&Key::of(&params.text_document.uri)) else { return false };
        let mut document = open.snapshot.document.clone();
        let mut edits = Some(Vec::new());
        for change in params.content_changes {
            match convert::apply(&mut document, version, &change, encoding) {
                Change::Part(edit) => edits.iter_mut().for_each(|edits| edits.extend(edit)),
                Change::Whole => edits = None,
            }
        }
        let mut snapshot = open.snapshot.changed(document, edits);
        snapshot.too_large = snapshot.document.len() > largest;
        open.snapshot = Arc::new(snapshot);
        true
    }

    /// Opens a notebook; one that is open already is replaced.
    pub(super) fn open_notebook(&self, params: DidOpenNotebookDocumentParams) {
        let notebook = Notebook::open(params);
        let path = uri::path(&notebook.uri);
        let cells = notebook.cells();
        let document = Document::new(notebook.revision, &cells.joined.text);
        let project = self.project(&path);
        let mut snapshot = Snapshot::open(notebook.uri.clone(), path, Kind::Python, document, project);
        snapshot.revision = self.next_generation() << 32;
        snapshot.too_large = snapshot.document.len() > self.editor().max_file_bytes;
        snapshot.cells = Some(Arc::new(cells));
        self.notebooks.write().insert(notebook);
        self.insert(snapshot);
    }

    /// Applies a change of a notebook's cells; the cells where nothing is found any more, or `None` if it is not open.
    pub(super) fn change_notebook(&self, params: DidChangeNotebookDocumentParams) -> Option<Vec<Uri>> {
        let encoding = self.features().encoding;
        let largest = self.editor().max_file_bytes;
        let mut notebooks = self.notebooks.write();
        let key = Key::of(&params.notebook_document.uri);
        let mut gone = notebooks.change(&key, params.change, encoding)?;
        let notebook = notebooks.get(&key)?;
        let cells = notebook.cells();
        gone.extend(cells.others.iter().cloned());
        let mut documents = self.documents.write();
        let open = documents.get_mut(&key)?;
        let before = open.snapshot.cells.as_ref()?;
        if before.joined.same_code(&cells.joined) {
            open.snapshot = Arc::new(open.snapshot.with_same_text(cells));
            return Some(gone);
        }
        let mut code = Document::new(notebook.revision, &before.joined.code);
        let edit = code.become_text(notebook.revision, &cells.joined.code);
        let document = Document::new(notebook.revision, &cells.joined.text);
        let mut snapshot = open.snapshot.with_cells(document, cells, edit);
        snapshot.too_large = snapshot.document.len() > largest;
        open.snapshot = Arc::new(snapshot);
        Some(gone)
    }

    /// Closes a notebook and answers with its last snapshot.
    pub(super) fn close_notebook(&self, uri: &Uri) -> Option<Arc<Snapshot>> {
        self.notebooks.write().remove(&Key::of(uri));
        self.documents.write().remove(&Key::of(uri)).map(|open| open.snapshot)
    }

    /// Whether an address is that of an open notebook, whose text its cells bring.
    fn is_notebook(&self, uri: &Uri) -> bool {
        self.notebooks.read().get(&Key::of(uri)).is_some()
    }

    /// The newest snapshot of an open document, or of the notebook that it is a cell of.
    pub(super) fn view(&self, uri: &Uri) -> Option<View> {
        let notebook = self.notebooks.read().of_cell(&Key::of(uri));
        match notebook {
            Some(notebook) => View::of_cell(self.snapshot(&notebook)?, uri),
            None => self.snapshot(uri).filter(|snapshot| snapshot.cells.is_none()).map(View::of_document),
        }
    }

    /// Closes a document and answers with its last snapshot.
    pub(super) fn close(&self, uri: &Uri) -> Option<Arc<Snapshot>> {
        if self.is_notebook(uri) {
            return None;
        }
        self.documents.write().remove(&Key::of(uri)).map(|open| open.snapshot)
    }

    /// The newest snapshot of an open document.
    pub(super) fn snapshot(&self, uri: &Uri) -> Option<Arc<Snapshot>> {
        self.documents.read().get(&Key::of(uri)).map(|open| Arc::clone(&open.snapshot))
    }

    /// The newest snapshot and the schedule of its publications.
    pub(super) fn scheduled(&self, uri: &Uri) -> Option<(Arc<Snapshot>, Arc<Schedule>)> {
        let documents = self.documents.read();
        documents.get(&Key::of(uri)).map(|open| (Arc::clone(&open.snapshot), Arc::clone(&open.schedule)))
    }

    /// Whether this snapshot is still what the document is.
    pub(super) fn is_current(&self, snapshot: &Snapshot) -> bool {
        self.snapshot(&snapshot.uri).is_some_and(|current| {
            current.revision == snapshot.revision
                && current.generation == snapshot.generation
                && current.document.version() == snapshot.document.version()
        })
    }

    /// All open documents.
    pub(super) fn snapshots(&self) -> Vec<Arc<Snapshot>> {
        self.documents.read().values().map(|open| Arc::clone(&open.snapshot)).collect()
    }
}
