//! From paths on the command line to projects, runs and analysed files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::output::{FileOutcome, InputError, Place};
use super::progress::ReadProgress;
use crate::analysis::Analysis;
use crate::catalog::SparkVersion;
use crate::eventlog::ReadError;
use crate::rules::{self, Level, MeasuredRun, Rule};
use crate::text::Document;
use crate::workspace::{self, Kind, Project, Settings, Sources, holds_spark_keys};

/// A larger file is data, not a job or a list of settings.
const LARGEST: u64 = 64 << 20;
/// A folder of logs stands for its newest ones, as it does in `sparkls.toml`.
const NEWEST_LOGS: usize = 4;

/// What the command line says about every project.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Stronger than any other answer to "which Spark?".
    pub version: Option<SparkVersion>,
    /// Event logs, instead of those in the settings.
    pub runs: Vec<PathBuf>,
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
        let levels = &mut project.environment.rules.levels;
        for rule in rules::all() {
            let selected = self.only.as_ref().map(|only| only.contains(rule.name));
            if selected == Some(false) || self.without.contains(rule.name) {
                levels.insert(rule.name.to_owned(), Level::Off);
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

/// The projects of the inputs, opened once each.
pub(super) struct Inputs {
    /// By root.
    projects: BTreeMap<PathBuf, Project>,
    /// Files in path order with their project's root.
    files: Vec<(PathBuf, PathBuf)>,
    /// What can't be read or used.
    pub errors: Vec<InputError>,
}

impl Inputs {
    /// Finds the files below `paths` and opens their projects. Logs are read here.
    pub(super) fn open(paths: &[PathBuf], options: &Options) -> Self {
        let mut inputs = Self { projects: BTreeMap::new(), files: Vec::new(), errors: Vec::new() };
        let mut roots = Roots::default();
        for path in paths.iter().map(|path| beside(path)) {
            if let Err(error) = std::fs::metadata(&path) {
                inputs.errors.push(InputError { path: shown(&path), place: None, message: error.to_string() });
                continue;
            }
            let exclude = inputs.project(&roots.of(&path), options).exclude.clone();
            for file in workspace::files(std::slice::from_ref(&path), &exclude) {
                let root = roots.of(&file);
                let is_named = file == path;
                if is_named || !inputs.project(&root, options).excludes(&file) {
                    inputs.files.push((file, root));
                }
            }
        }
        inputs.files.sort();
        inputs.files.dedup();
        inputs.link(options);
        inputs
    }

    /// The project of a file that need not exist, for text from stdin.
    pub(super) fn for_text(path: &Path, options: &Options) -> Self {
        let mut inputs = Self { projects: BTreeMap::new(), files: Vec::new(), errors: Vec::new() };
        let path = beside(path);
        let root = Roots::default().of(&path);
        inputs.project(&root, options);
        inputs.files.push((path, root));
        inputs.link(options);
        inputs
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

    /// Reads the logs of every project that has files.
    fn link(&mut self, options: &Options) {
        let used: BTreeSet<&PathBuf> = self.files.iter().map(|(_, root)| root).collect();
        self.projects.retain(|root, _| used.contains(root));
        for project in self.projects.values_mut() {
            *project = project.with_sources(Sources::scan(&project.root, &project.exclude));
            let logs: Vec<PathBuf> = if options.runs.is_empty() {
                project.run_paths.clone()
            } else {
                options.runs.iter().flat_map(|path| workspace::logs(path).into_iter().take(NEWEST_LOGS)).collect()
            };
            for log in logs {
                let mut progress = ReadProgress::new(&shown(&log).display().to_string());
                let loaded = project.load_run(&log, &mut |read| {
                    progress.update(read);
                    true
                });
                match loaded {
                    Ok(run) => *project = project.with_run(Arc::new(run)),
                    Err(error) => {
                        let error = unreadable_log(error);
                        if !self.errors.contains(&error) {
                            self.errors.push(error);
                        }
                    }
                }
            }
        }
    }

    /// Analyses all files, in parallel; what can't be read is added to the errors. Files of which nothing is to be said
    /// are only counted.
    pub(super) fn analyse(&mut self) -> (Vec<FileOutcome>, usize) {
        let results: Vec<Result<Option<FileOutcome>, InputError>> = self
            .files
            .par_iter()
            .map(|(path, root)| {
                let text = read(path)?;
                self.one(path, root, &text)
            })
            .collect();
        let mut outcomes = Vec::new();
        for result in results {
            match result {
                Ok(outcome) => outcomes.extend(outcome),
                Err(error) => self.errors.push(error),
            }
        }
        (outcomes, self.files.len())
    }

    /// Analyses text in place of the only file's.
    pub(super) fn analyse_text(&mut self, text: &Arc<str>) -> (Vec<FileOutcome>, usize) {
        let mut outcomes = Vec::new();
        for (path, root) in self.files.clone() {
            match self.one(&path, &root, text) {
                Ok(outcome) => outcomes.extend(outcome),
                Err(error) => self.errors.push(error),
            }
        }
        (outcomes, self.files.len())
    }

    fn one(&self, path: &Path, root: &Path, text: &Arc<str>) -> Result<Option<FileOutcome>, InputError> {
        let analysis = self.analysis(path, root, text)?;
        let is_silent = analysis.findings.is_empty() && analysis.notes.is_empty() && analysis.summary.is_empty();
        Ok((!is_silent).then(|| FileOutcome {
            path: shown(path),
            root: root.to_owned(),
            file: path.to_owned(),
            document: Document::new(0, text),
            analysis,
        }))
    }

    /// Analyses one text as the file at `path`; a panic is an error of this file alone.
    pub(super) fn analysis(&self, path: &Path, root: &Path, text: &Arc<str>) -> Result<Analysis, InputError> {
        let failed = |message: &str| InputError { path: shown(path), place: None, message: message.to_owned() };
        let project = self.projects.get(root).ok_or_else(|| failed("its project is not open"))?;
        let kind = match Kind::of_file(path, text) {
            // Named on the command line, whatever its name: `--properties-file` takes any.
            Kind::Other if holds_spark_keys(text) => Kind::Properties,
            kind => kind,
        };
        if kind == Kind::Other {
            return Err(failed("neither Python nor settings of Spark"));
        }
        catch_unwind(AssertUnwindSafe(|| {
            let facts = workspace::facts_in(kind, text, &project.imports(path));
            let links = workspace::link_runs(project, path, text, &facts);
            workspace::analyse(project, path, text, &facts, &links)
        }))
        .map_err(|_| failed("sparkls failed on this file; this is a mistake of sparkls, please report it"))
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

    /// The Spark version of all projects, if they have one in common.
    pub(super) fn version(&self) -> Option<SparkVersion> {
        let mut versions = self.projects.values().map(|project| project.environment.version);
        let first = versions.next()?;
        versions.all(|version| version == first).then_some(first)
    }
}

/// The project roots of folders, looked up once each.
#[derive(Default)]
struct Roots {
    known: HashMap<PathBuf, PathBuf>,
}

impl Roots {
    /// The folder whose settings hold for `path`: the nearest one at or above it that has settings of ours, else the
    /// nearest that looks like a project, else the file's own folder.
    fn of(&mut self, path: &Path) -> PathBuf {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        if let Some(root) = self.known.get(folder) {
            return root.clone();
        }
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let root = absolute
            .ancestors()
            .find(|folder| has_settings(folder))
            .or_else(|| absolute.ancestors().find(|folder| looks_like_a_project(folder)))
            .unwrap_or(&absolute);
        let root = if folder.is_absolute() { root.to_owned() } else { beside(root) };
        self.known.insert(folder.to_owned(), root.clone());
        root
    }
}

fn has_settings(folder: &Path) -> bool {
    folder.join("sparkls.toml").is_file()
        || std::fs::read_to_string(folder.join("pyproject.toml")).is_ok_and(|text| text.contains("[tool.sparkls"))
}

fn looks_like_a_project(folder: &Path) -> bool {
    // The folder `conf` is a part of a project, whatever is in it.
    !folder.ends_with("conf")
        && ["spark-defaults.conf", "conf/spark-defaults.conf", "pyproject.toml", "requirements.txt", ".git"]
            .iter()
            .any(|mark| folder.join(mark).exists())
}

/// A path as it is opened: relative to the current directory (`./...`) where it lies below it, else as given.
fn beside(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let below = if path.is_absolute() { path.strip_prefix(&here).ok() } else { Some(path) };
    match below {
        Some(below) if below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) => {
            Path::new(".").join(below).components().collect()
        }
        Some(below) if !path.is_absolute() => std::path::absolute(below).unwrap_or_else(|_| below.to_owned()),
        _ => path.to_owned(),
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

/// The text of a file.
pub(super) fn read(path: &Path) -> Result<Arc<str>, InputError> {
    let failed = |message: String| InputError { path: shown(path), place: None, message };
    let metadata = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    if !metadata.is_file() {
        return Err(failed("not a regular file".to_owned()));
    }
    if metadata.len() > LARGEST {
        return Err(failed(format!("larger than {} MiB, not analysed", LARGEST >> 20)));
    }
    let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Arc::from(text)),
        Err(error) => Err(failed(format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to()))),
    }
}

fn unreadable_log(error: ReadError) -> InputError {
    let (path, message) = match error {
        ReadError::Io { path, source } => (path, source.to_string()),
        ReadError::NotALog { path, reason } => (path, reason),
    };
    InputError { path: shown(&path), place: None, message }
}
