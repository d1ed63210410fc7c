//! From paths on the command line to projects, runs and analysed files.

mod notes;
mod reading;
mod roots;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::logs;
use super::output::{FileOutcome, InFile, InputError, Place};
use super::progress::ReadProgress;
use crate::analysis::{Analysis, Facts};
use crate::catalog::SparkVersion;
use crate::eventlog::{Location, ReadError, Which};
use crate::pyspark::Imports;
use crate::rules::{self, Finding, Level, MeasuredRun, Rule};
use crate::text::{Document, plainly};
use crate::workspace::{self, Notebook, Project, Settings, Source, Sources};
use reading::{Reading, failed, guarded, understand};
use roots::{Roots, beside};
pub(super) use roots::{root_of, settings_files};

/// A folder of logs stands for its newest ones, as it does in `sparkls.toml`.
const NEWEST_LOGS: usize = 4;

/// What the command line says about every project.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Stronger than any other answer to "which Spark?".
    pub version: Option<SparkVersion>,
    /// Event logs, instead of those in the settings.
    pub runs: Vec<Location>,
    /// Which rules speak.
    pub selection: Selection,
}

/// `--select` and `--ignore`, resolved.
#[derive(Debug, Default)]
pub(super) struct Selection {
    only: Option<BTreeSet<&'static str>>,
    without: BTreeSet<&'static str>,
}

impl Selection {
    /// Resolves slugs and groups; an unknown word is an error with the nearest known one.
    pub(super) fn new(select: &[String], ignore: &[String]) -> anyhow::Result<Self> {
        let only = if select.is_empty() { None } else { Some(slugs(select)?) };
        Ok(Self { only, without: slugs(ignore)? })
    }

    fn apply(&self, project: &mut Project) {
        for rule in rules::all() {
            let levels = &mut project.environment.rules.levels;
            let selected = self.only.as_ref().map(|only| only.contains(rule.name));
            if selected == Some(false) || self.without.contains(rule.name) {
                project.switch_off(rule.name);
            } else if selected == Some(true) && levels.get(rule.name).is_none_or(|level| *level == Level::Off) {
                levels.insert(rule.name.to_owned(), Level::On);
            }
        }
    }
}

fn slugs(words: &[String]) -> anyhow::Result<BTreeSet<&'static str>> {
    let mut slugs = BTreeSet::new();
    for word in words {
        let matching = rules::all().filter(|rule| answers_to(rule, word)).map(|rule| rule.name);
        let before = slugs.len();
        slugs.extend(matching);
        if slugs.len() == before && !rules::all().any(|rule| answers_to(rule, word)) {
            let known = rules::all().map(|rule| rule.name);
            let hint = nearest(word, known).map(|name| format!(", did you mean `{name}`?"));
            let hint = hint.unwrap_or_else(|| "; `sparkls rules` lists them".to_owned());
            anyhow::bail!("there is no rule or group `{word}`{hint}");
        }
    }
    Ok(slugs)
}

fn answers_to(rule: &Rule, word: &str) -> bool {
    rule.name == word || super::words::group(rule.group) == word || word == "all"
}

/// The most similar known word, if it is similar at all.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (strsim::damerau_levenshtein(word, name), name))
        .filter(|(distance, name)| *distance <= name.len().max(word.len()) / 3)
        .min()
        .map(|(_, name)| name)
}

/// The projects of the inputs, opened once each, and their files, read once each.
pub(super) struct Inputs {
    /// By root.
    projects: BTreeMap<PathBuf, Project>,
    /// In path order.
    files: Vec<InputFile>,
    /// What a user should know though nothing failed, a sentence each.
    pub notes: Vec<String>,
    /// What can't be read or used.
    pub errors: Vec<InputError>,
}

/// A file that is about Spark.
pub(super) struct InputFile {
    pub(super) path: PathBuf,
    root: PathBuf,
    pub(super) text: Arc<str>,
    pub(super) facts: Facts,
    notebook: Option<Arc<Notebook>>,
    is_named: bool,
}

/// A path that may be about Spark.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    path: PathBuf,
    root: PathBuf,
    is_named: bool,
}

impl Inputs {
    /// Finds the files below `paths`, reads them, and opens their projects. Logs are read here.
    pub(super) fn open(paths: &[PathBuf], options: &Options) -> Self {
        let mut inputs = Self::empty();
        let mut roots = Roots::default();
        let mut candidates = Vec::new();
        let mut walked = HashMap::new();
        for path in paths.iter().map(|path| beside(path)) {
            if let Err(error) = reading::reachable(&path) {
                inputs.errors.push(error);
                continue;
            }
            let exclude = inputs.project(&roots.of(&path), options).exclude.clone();
            let files: Vec<PathBuf> = workspace::files(std::slice::from_ref(&path), &exclude).collect();
            for file in &files {
                let root = roots.of(file);
                let is_named = *file == path;
                if is_named || !inputs.project(&root, options).excludes(file) {
                    candidates.push(Candidate { path: file.clone(), root, is_named });
                }
            }
            walked.insert(path, files);
        }
        candidates.sort();
        // Of a file that was walked and named, the later one is the named one.
        candidates.reverse();
        candidates.dedup_by(|later, earlier| later.path == earlier.path);
        candidates.reverse();
        inputs.read(candidates, walked);
        inputs.link(options);
        inputs.note(paths, options);
        inputs
    }

    /// The project of a file that need not exist, and its text, which came from stdin.
    pub(super) fn of_text(path: &Path, text: &Arc<str>, options: &Options) -> Self {
        let mut inputs = Self::empty();
        let path = beside(path);
        let root = Roots::default().of(&path);
        inputs.project(&root, options);
        let listed = inputs.list(HashMap::new(), &HashMap::from([(path.as_path(), Arc::clone(text))]));
        let understood = understand(&path, text, true, &inputs.imports(&root, &path));
        inputs.keep(path.clone(), root, true, understood);
        inputs.scan(listed, &[]);
        inputs.link(options);
        inputs.note(&[], options);
        inputs
    }

    fn empty() -> Self {
        Self { projects: BTreeMap::new(), files: Vec::new(), notes: Vec::new(), errors: Vec::new() }
    }

    fn project(&mut self, root: &Path, options: &Options) -> &Project {
        self.projects.entry(root.to_owned()).or_insert_with(|| {
            let stronger = Settings { spark_version: options.version, ..Settings::default() };
            let mut project = Project::open_with(root, &stronger, None);
            options.selection.apply(&mut project);
            self.errors.extend(project.problems.iter().map(|problem| {
                let document = Document::new(0, &problem.text);
                let place = Some(Place::of(&document, problem.span.start));
                InputError { path: shown(&problem.path), place, message: problem.message.clone() }
            }));
            project
        })
    }

    /// Reads the candidates, in parallel, and what else lies in their projects. Each is parsed once, when all texts that it
    /// may import are there.
    fn read(&mut self, candidates: Vec<Candidate>, walked: HashMap<PathBuf, Vec<PathBuf>>) {
        let texts: Vec<_> = candidates.par_iter().map(|one| reading::read(&one.path, one.is_named)).collect();
        let read = candidates.iter().zip(&texts).filter_map(|(one, text)| match text {
            Ok(Some(text)) => Some((one.path.as_path(), Arc::clone(text))),
            _ => None,
        });
        let listed = self.list(walked, &read.collect());
        let understood = |(one, text): (&Candidate, Result<Option<Arc<str>>, InputError>)| match text? {
            Some(text) => understand(&one.path, &text, one.is_named, &self.imports(&one.root, &one.path)),
            None => Ok(None),
        };
        let understood: Vec<_> = candidates.par_iter().zip(texts).map(understood).collect();
        let paths: Vec<PathBuf> = candidates.iter().map(|candidate| candidate.path.clone()).collect();
        for (Candidate { path, root, is_named }, reading) in candidates.into_iter().zip(understood) {
            self.keep(path, root, is_named, reading);
        }
        self.scan(listed, &paths);
    }

    /// The files of every project, by its root; the projects know their Python files then. `walked` has the files below
    /// folders that were listed already, `read` the texts that are there.
    fn list(
        &mut self,
        mut walked: HashMap<PathBuf, Vec<PathBuf>>,
        read: &HashMap<&Path, Arc<str>>,
    ) -> HashMap<PathBuf, Vec<PathBuf>> {
        let mut listed = HashMap::new();
        for (root, project) in &mut self.projects {
            let list = || workspace::files(std::slice::from_ref(root), &project.exclude).collect();
            let paths = walked.remove(root).unwrap_or_else(list);
            *project = project.with_sources(Sources::of_scripts(root, &paths, read));
            listed.insert(root.clone(), paths);
        }
        listed
    }

    /// What the file at `path` may import of its project.
    fn imports(&self, root: &Path, path: &Path) -> Imports {
        self.projects.get(root).map(|project| project.imports(path)).unwrap_or_default()
    }

    fn keep(&mut self, path: PathBuf, root: PathBuf, is_named: bool, read: Result<Option<Reading>, InputError>) {
        match read {
            Ok(Some(Reading { text, facts, notebook })) => {
                self.files.push(InputFile { path, root, text, facts, notebook, is_named });
            }
            Ok(None) if is_named => self.notes.push(notes::idle(&path)),
            Ok(None) => {}
            Err(error) => self.errors.push(error),
        }
    }

    /// Gives every project its sources: what was read, and what else lies in it. `listed` has the files of the projects,
    /// `seen` those that were read, whatever came of it.
    fn scan(&mut self, mut listed: HashMap<PathBuf, Vec<PathBuf>>, seen: &[PathBuf]) {
        let of_file = |file: &InputFile| Source::of(&file.path, &file.text, &file.facts).map(Arc::new);
        let sources: Vec<Option<Arc<Source>>> = self.files.par_iter().map(of_file).collect();
        let mut known: HashMap<&Path, Option<Arc<Source>>> = seen.iter().map(|path| (path.as_path(), None)).collect();
        known.extend(self.files.iter().map(|file| file.path.as_path()).zip(sources));
        for (root, project) in &mut self.projects {
            let paths = listed.remove(root).unwrap_or_default();
            *project = project.with_sources(project.sources.clone().filled(paths, &known));
        }
        let projects = &self.projects;
        // Somebody's SQL is Spark's where it is named, or where there is something of Spark beside it.
        let is_spark_s = |file: &InputFile| {
            !matches!(file.facts, Facts::Sql(_))
                || file.is_named
                || projects.get(&file.root).is_some_and(Project::is_about_spark)
        };
        self.files.retain(is_spark_s);
    }

    /// Reads the logs of every project that has files.
    fn link(&mut self, options: &Options) {
        let used: BTreeSet<&PathBuf> = self.files.iter().map(|file| &file.root).collect();
        self.projects.retain(|root, _| used.is_empty() || used.contains(root));
        let (on_disk, elsewhere): (Vec<&Location>, Vec<&Location>) =
            options.runs.iter().partition(|location| matches!(location, Location::Path(_)));
        let mut far = Vec::new();
        for location in elsewhere {
            // What comes once is read once, for all projects.
            far.extend(logs::read_all(location, &Which::Newest).map(|(_, read)| read));
        }
        let mut errors = Vec::new();
        for project in self.projects.values_mut() {
            let logs: Vec<PathBuf> = if options.runs.is_empty() {
                project.run_paths.clone()
            } else {
                on_disk.iter().copied().flat_map(newest_logs).collect()
            };
            let near = logs.iter().map(|log| {
                let mut progress = ReadProgress::new(&shown(log).display().to_string());
                project.load_run(log, &mut |read| {
                    progress.update(read);
                    true
                })
            });
            let mut runs = Vec::new();
            for loaded in near {
                match loaded {
                    Ok(run) => runs.push(run),
                    Err(error) => errors.push(unreadable_log(&error)),
                }
            }
            for loaded in &far {
                match loaded {
                    Ok(read) => runs.push(project.judge_run(read.source.clone(), read.run.clone())),
                    Err(error) => errors.push(unreadable_log(error)),
                }
            }
            for run in runs {
                *project = project.with_run(Arc::new(run));
            }
        }
        for error in errors {
            if !self.errors.contains(&error) {
                self.errors.push(error);
            }
        }
    }

    /// Analyses all files, in parallel; what fails is added to the errors. Files of which nothing is to be said are only
    /// counted.
    pub(super) fn analyse(&mut self) -> (Vec<FileOutcome>, usize) {
        let results: Vec<_> = self.files.par_iter().map(|file| self.one(file)).collect();
        let mut outcomes = Vec::new();
        for result in results {
            match result {
                Ok(outcome) => outcomes.extend(outcome),
                Err(error) => self.errors.push(error),
            }
        }
        (outcomes, self.files.len())
    }

    fn one(&self, file: &InputFile) -> Result<Option<FileOutcome>, InputError> {
        let mut analysis = match &file.notebook {
            Some(notebook) => self.judge(&file.path, &file.root, &notebook.joined.text, &notebook.facts)?,
            None => self.judge(&file.path, &file.root, &file.text, &file.facts)?,
        };
        if let Some(notebook) = &file.notebook {
            notebook.retain_fixes(&mut analysis.findings);
        }
        let is_silent = analysis.findings.is_empty() && analysis.notes.is_empty() && analysis.summary.is_empty();
        Ok((!is_silent).then(|| FileOutcome {
            path: shown(&file.path),
            root: file.root.clone(),
            file: file.path.clone(),
            document: Document::new(0, file.notebook.as_ref().map_or(&file.text, |notebook| &notebook.joined.text)),
            in_file: file.notebook.as_ref().map(|notebook| InFile::new(Arc::clone(notebook))),
            analysis,
        }))
    }

    /// What is found in one text as the file at `path`; the fixes are edits of this text.
    pub(super) fn findings(&self, path: &Path, root: &Path, text: &Arc<str>) -> Result<Vec<Finding>, InputError> {
        match understand(path, text, true, &self.imports(root, path))? {
            Some(Reading { notebook: Some(notebook), .. }) => {
                let analysis = self.judge(path, root, &notebook.joined.text, &notebook.facts)?;
                Ok(notebook.with_edits_of_file(analysis.findings))
            }
            Some(Reading { text, facts, .. }) => Ok(self.judge(path, root, &text, &facts)?.findings),
            None => Ok(Vec::new()),
        }
    }

    fn judge(&self, path: &Path, root: &Path, text: &Arc<str>, facts: &Facts) -> Result<Analysis, InputError> {
        let project = self.projects.get(root).ok_or_else(|| failed(path, "its project is not open"))?;
        guarded(path, || {
            let links = workspace::link_runs(project, path, text, facts);
            workspace::analyse(project, path, text, facts, &links)
        })
    }

    /// Takes the texts that were written to the files at these paths for what they hold.
    pub(super) fn rewritten<'a>(&mut self, written: impl Iterator<Item = (&'a Path, &'a Arc<str>)>) {
        for (path, text) in written {
            let Some(file) = self.files.iter_mut().find(|file| file.path == path) else { continue };
            let imports = self.projects.get(&file.root).map(|project| project.imports(path)).unwrap_or_default();
            let understood = understand(path, text, true, &imports);
            let Ok(Some(Reading { text, facts, notebook })) = understood else { continue };
            let source = Source::of(path, &text, &facts);
            for project in self.projects.values_mut().filter(|project| project.sources.holds(path)) {
                *project = project.with_source(path, source.clone());
            }
            (file.text, file.facts, file.notebook) = (text, facts, notebook);
        }
    }

    /// The files that are about Spark, with their projects, in path order.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Project, &InputFile)> {
        self.files.iter().filter_map(|file| Some((self.projects.get(&file.root)?, file)))
    }

    /// The projects, by root.
    pub(super) fn projects(&self) -> impl Iterator<Item = &Project> {
        self.projects.values()
    }

    /// Linked runs of all projects, newest first, each once.
    pub(super) fn runs(&self) -> Vec<Arc<MeasuredRun>> {
        let mut runs: HashMap<&str, &Arc<MeasuredRun>> = HashMap::new();
        for run in self.projects.values().flat_map(|project| &project.runs) {
            runs.entry(&run.source).or_insert(run);
        }
        let mut runs: Vec<_> = runs.into_values().cloned().collect();
        runs.sort_by_key(|run| (std::cmp::Reverse(run.run.application.start), run.source.clone()));
        runs
    }

    /// The Spark version of all files, if they have one in common.
    pub(super) fn version(&self) -> Option<SparkVersion> {
        let mut versions = self.files().map(|(project, _)| project.environment.version);
        let first = versions.next()?;
        versions.all(|version| version == first).then_some(first)
    }
}

/// A path as the user would name it.
pub(super) fn shown(path: &Path) -> PathBuf {
    match path.strip_prefix(".") {
        Ok(below) if below.as_os_str().is_empty() => path.to_owned(),
        Ok(below) => below.to_owned(),
        Err(_) => path.to_owned(),
    }
}

fn unreadable_log(error: &ReadError) -> InputError {
    let (path, message) = match error {
        ReadError::Io { path, source } => (path, plainly(source)),
        ReadError::NotALog { path, reason } => (path, reason.clone()),
    };
    InputError { path: shown(path), place: None, message }
}

/// The newest logs at a path.
fn newest_logs(location: &Location) -> Vec<PathBuf> {
    match location {
        Location::Path(path) => workspace::logs(path).into_iter().take(NEWEST_LOGS).collect(),
        Location::Stdin | Location::Url(_) => Vec::new(),
    }
}
