//! An open document at one version: an immutable snapshot that every request works on.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tower_lsp_server::ls_types::Uri;

use super::measured::Measured;
use super::panics;
use crate::analysis::{Analysis, Facts};
use crate::conf::EffectiveConf;
use crate::conf::carriers::CellLanguage;
use crate::link::Links;
use crate::pyspark::{Imports, NotebookCode, PythonFile, StaticPlan};
use crate::rules::{Level, MeasuredRun};
use crate::text::{Document, Edit};
use crate::workspace::{self, Joined, Kind, Project};

/// Edits kept for an incremental parse; a document that nobody parses for longer is parsed afresh.
const EDITS_KEPT: usize = 2_000;

/// What was parsed last of a document, and the edits since: what the next parse starts from.
#[derive(Debug, Default)]
pub(super) struct Lineage {
    parsed: Mutex<Option<(u64, PythonFile)>>,
    edits: Edits,
    /// What runs said when the syntax was whole for the last time, and the edits since.
    measured: Mutex<Option<(u64, Arc<Measured>)>>,
    edits_since_measured: Edits,
}

/// Edits with the revisions that they made.
#[derive(Debug, Default)]
struct Edits(Mutex<Vec<(u64, Edit)>>);

impl Edits {
    fn add(&self, revision: u64, edit: Edit) {
        let mut edits = self.0.lock();
        if edits.len() >= EDITS_KEPT {
            edits.clear();
        }
        edits.push((revision, edit));
    }

    /// Those that lead from one revision to another, if all of them are still known.
    fn between(&self, from: u64, to: u64) -> Option<Vec<Edit>> {
        let edits = self.0.lock();
        let between: Vec<Edit> =
            edits.iter().filter(|(made, _)| from < *made && *made <= to).map(|(_, edit)| *edit).collect();
        (between.len() as u64 == to.checked_sub(from)?).then_some(between)
    }

    fn forget_until(&self, revision: u64) {
        self.0.lock().retain(|(made, _)| *made > revision);
    }
}

impl Lineage {
    /// Notes the edit that made `revision`.
    pub(super) fn edited(&self, revision: u64, edit: Edit) {
        self.edits.add(revision, edit);
        if self.measured.lock().is_some() {
            self.edits_since_measured.add(revision, edit);
        }
    }

    /// Keeps what runs say of a whole text.
    fn keep(&self, revision: u64, measured: &Arc<Measured>) {
        let mut last = self.measured.lock();
        if last.as_ref().is_none_or(|(kept, _)| *kept <= revision) {
            *last = Some((revision, Arc::clone(measured)));
            self.edits_since_measured.forget_until(revision);
        }
    }

    /// What these runs said of the last whole text, where it stands now.
    fn kept(&self, revision: u64, runs: &[Arc<MeasuredRun>]) -> Option<Arc<Measured>> {
        let (kept, measured) = self.measured.lock().clone().filter(|(_, measured)| measured.is_of(runs))?;
        let edits = self.edits_since_measured.between(kept, revision)?;
        Some(Arc::new(Measured::clone(&measured).moved(&edits)))
    }

    /// The parse of `text`, made from the last one where the edits since are known.
    fn parse(&self, revision: u64, text: &Arc<str>, imports: &Imports) -> PythonFile {
        let afresh = || PythonFile::parse_in(text, imports);
        self.parse_with(revision, afresh, |file, edits| file.edited_in(edits, text, imports))
    }

    /// The parse of a notebook's cells, in the same way.
    fn parse_notebook(&self, revision: u64, notebook: &NotebookCode<'_>, imports: &Imports) -> PythonFile {
        let afresh = || PythonFile::parse_notebook(notebook, imports);
        self.parse_with(revision, afresh, |file, edits| file.edited_notebook(edits, notebook, imports))
    }

    fn parse_with(
        &self,
        revision: u64,
        afresh: impl FnOnce() -> PythonFile,
        edited: impl FnOnce(&PythonFile, &[Edit]) -> PythonFile,
    ) -> PythonFile {
        let last = self.parsed.lock().clone();
        let file = last
            .filter(|(parsed, _)| *parsed <= revision)
            .and_then(|(parsed, file)| Some(edited(&file, &self.edits.between(parsed, revision)?)))
            .unwrap_or_else(afresh);
        let mut last = self.parsed.lock();
        if last.as_ref().is_none_or(|(parsed, _)| *parsed < revision) {
            *last = Some((revision, file.clone()));
            self.edits.forget_until(revision);
        }
        file
    }
}

/// What was read out of a text; the same for every project with these modules.
#[derive(Debug, Default)]
struct Parsed {
    facts: OnceLock<Facts>,
    /// Its syntax has errors, so that some of what it does is not seen.
    is_broken: AtomicBool,
}

impl Parsed {
    /// The plan of a file, whose state is noted.
    fn plan(&self, file: &PythonFile) -> Arc<StaticPlan> {
        self.is_broken.store(file.is_broken(), Ordering::Relaxed);
        Arc::clone(file.plan())
    }
}

/// A document at one version in its project as it was then.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The client's own spelling.
    pub(super) uri: Uri,
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) document: Document,
    /// Counts changes of this document, whatever versions the client gives them.
    pub(super) revision: u64,
    pub(super) project: Arc<Project>,
    /// Counts changes of the project.
    pub(super) generation: u64,
    /// The text is over the size limit and is not analysed.
    pub(super) too_large: bool,
    /// The cells whose text the document is, if it is a notebook.
    pub(super) cells: Option<Arc<CellDocuments>>,
    lineage: Arc<Lineage>,
    parsed: Arc<Parsed>,
    links: OnceLock<Vec<Links>>,
    analysis: OnceLock<Arc<Analysis>>,
    panicked: OnceLock<String>,
}

/// The cells of an open notebook as its client names them.
#[derive(Debug)]
pub(super) struct CellDocuments {
    /// Their one text.
    pub(super) joined: Joined,
    /// The client's own spelling and the version of each of the joined cells.
    pub(super) documents: Vec<(Uri, i32)>,
    /// What else is a cell: nothing is ever found there.
    pub(super) others: Vec<Uri>,
}

impl Snapshot {
    /// The document as it was opened.
    pub(super) fn open(uri: Uri, path: PathBuf, kind: Kind, document: Document, project: (Arc<Project>, u64)) -> Self {
        Self {
            uri,
            path,
            kind,
            document,
            revision: 0,
            project: project.0,
            generation: project.1,
            too_large: false,
            cells: None,
            lineage: Arc::default(),
            parsed: Arc::default(),
            links: OnceLock::new(),
            analysis: OnceLock::new(),
            panicked: OnceLock::new(),
        }
    }

    /// The same document with a text that followed by these edits; without edits the text is new altogether.
    pub(super) fn changed(&self, document: Document, edits: Option<Vec<Edit>>) -> Self {
        let mut revision = self.revision;
        let lineage = match edits {
            Some(edits) => {
                for edit in edits {
                    revision += 1;
                    self.lineage.edited(revision, edit);
                }
                Arc::clone(&self.lineage)
            }
            None => {
                revision += 1;
                Arc::default()
            }
        };
        Self { revision, document, lineage, parsed: Arc::default(), ..self.fresh() }
    }

    /// The same notebook with other cells; `edit` is what that changed of their Python.
    pub(super) fn with_cells(&self, document: Document, cells: CellDocuments, edit: Option<Edit>) -> Self {
        Self { cells: Some(Arc::new(cells)), ..self.changed(document, edit.map(|edit| vec![edit])) }
    }

    /// The same notebook whose text is in other cells: what was found in it holds.
    pub(super) fn with_same_text(&self, cells: CellDocuments) -> Self {
        Self { cells: Some(Arc::new(cells)), ..self.in_same_conf(Arc::clone(&self.project)) }
    }

    /// The same text in a project that changed.
    pub(super) fn in_project(&self, project: Arc<Project>, generation: u64) -> Self {
        let modules = |project: &Project| project.imports(&self.path).modules;
        let parsed = match self.kind {
            Kind::Python if !modules(&project).is(&modules(&self.project)) => Arc::default(),
            Kind::Sql if project.is_about_spark() != self.project.is_about_spark() => Arc::default(),
            _ => Arc::clone(&self.parsed),
        };
        Self { project, generation, parsed, ..self.fresh() }
    }

    /// The same text in a project that changed nothing for it: what was found in it holds.
    pub(super) fn in_same_conf(&self, project: Arc<Project>) -> Self {
        Self {
            project,
            links: self.links.clone(),
            analysis: self.analysis.clone(),
            panicked: self.panicked.clone(),
            ..self.fresh()
        }
    }

    /// The same text, not analysed yet.
    fn fresh(&self) -> Self {
        Self {
            uri: self.uri.clone(),
            path: self.path.clone(),
            kind: self.kind,
            document: self.document.clone(),
            revision: self.revision,
            project: Arc::clone(&self.project),
            generation: self.generation,
            too_large: self.too_large,
            cells: self.cells.clone(),
            lineage: Arc::clone(&self.lineage),
            parsed: Arc::clone(&self.parsed),
            links: OnceLock::new(),
            analysis: OnceLock::new(),
            panicked: OnceLock::new(),
        }
    }

    /// Whether there is anything to analyse.
    pub(super) fn is_analysed(&self) -> bool {
        self.kind != Kind::Other && !self.too_large && !self.project.excludes(&self.path)
    }

    /// What was read out of the text; the first call parses. For workers.
    pub(super) fn facts(&self) -> &Facts {
        self.parsed.facts.get_or_init(|| {
            let text = self.document.text();
            let imports = self.project.imports(&self.path);
            if let Some(cells) = &self.cells {
                let plan = |notebook: &NotebookCode<'_>| {
                    self.parsed.plan(&self.lineage.parse_notebook(self.revision, notebook, &imports))
                };
                return cells.joined.facts(plan);
            }
            match self.kind {
                // A cell on its own, of a client that knows nothing of notebooks.
                Kind::Python if self.uri.scheme().as_str().starts_with("vscode-notebook-cell") => {
                    Joined::new([(1, &**text, CellLanguage::Python)]).facts(workspace::parsed)
                }
                Kind::Python if imports.may_use_spark(text) => {
                    Facts::Python(self.parsed.plan(&self.lineage.parse(self.revision, text, &imports)))
                }
                Kind::Python => Facts::Nothing,
                Kind::Sql if !self.project.may_run_sql(text) => Facts::Nothing,
                kind => workspace::facts(kind, text),
            }
        })
    }

    /// The configuration of the job that a place in the document belongs to. For workers.
    pub(super) fn conf_at(&self, offset: usize) -> EffectiveConf {
        let mut confs = workspace::confs(&self.project, &self.path, self.document.text(), self.facts(), self.links());
        let job = workspace::job_at(self.facts(), offset);
        if job < confs.len() {
            confs.swap_remove(job)
        } else {
            EffectiveConf::new(self.project.environment.version, Vec::new())
        }
    }

    /// The analysis; the first call makes it. A rule that panics is left out, and the rest is there. For workers.
    pub(super) fn analysis(&self) -> &Arc<Analysis> {
        self.analysis.get_or_init(|| {
            if !self.is_analysed() {
                return Arc::default();
            }
            let mut project = Arc::clone(&self.project);
            loop {
                let caught = match panics::catch(|| self.analyse(&project)) {
                    Ok(analysis) => return Arc::new(analysis),
                    Err(caught) => caught,
                };
                let version = self.document.version();
                panics::log("analysis of", Some(self.uri.as_str()), Some(version));
                let at = caught.rule.map_or("the analysis", |rule| rule.name);
                let _ = self.panicked.set(format!("{at} on version {version} of {}", self.uri.as_str()));
                // Only what a rule did can be left out, and each rule once.
                let Some(rule) =
                    caught.rule.filter(|rule| project.environment.rules.levels.get(rule.name) != Some(&Level::Off))
                else {
                    return Arc::default();
                };
                Arc::make_mut(&mut project).switch_off(rule.name);
            }
        })
    }

    /// What the linked runs say of it; while the syntax is broken, what they said before, moved with the text. For workers.
    pub(super) fn measured(&self) -> Arc<Measured> {
        let runs = &self.project.runs;
        // The analysis tells whether the syntax is broken.
        let analysis = self.analysis();
        let is_broken = self.parsed.is_broken.load(Ordering::Relaxed);
        if is_broken && let Some(kept) = self.lineage.kept(self.revision, runs) {
            return kept;
        }
        let now = Arc::new(Measured::of(analysis, runs));
        if !is_broken && !now.notes.is_empty() {
            self.lineage.keep(self.revision, &now);
        }
        now
    }

    /// What panicked in the analysis, if anything did.
    pub(super) fn panicked(&self) -> Option<&String> {
        self.panicked.get()
    }

    fn analyse(&self, project: &Project) -> Analysis {
        panic_on_purpose(self.document.text());
        let text = self.document.text();
        workspace::analyse(project, &self.path, text, self.facts(), self.links())
    }

    /// Where the linked runs touch the document.
    fn links(&self) -> &[Links] {
        let link = || workspace::link_runs(&self.project, &self.path, self.document.text(), self.facts());
        self.links.get_or_init(link)
    }
}

/// In debug builds, a text that holds `$SPARKLS_PANIC_ON` panics, for the tests of what happens then.
fn panic_on_purpose(text: &str) {
    if cfg!(debug_assertions)
        && let Ok(trigger) = std::env::var("SPARKLS_PANIC_ON")
        && !trigger.is_empty()
    {
        assert!(!text.contains(&trigger), "a test asked for this panic");
    }
}
