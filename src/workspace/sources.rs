//! Everything in a project that holds settings of Spark or starts a job.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::document::{Kind, facts, layers};
use super::files::files;
use crate::analysis::Facts;
use crate::conf::carriers::{Submit, Text, may_hold_settings};
use crate::conf::{Carrier, Layer, Setting, Value};
use crate::pyspark::{ModulePath, Modules};

/// A larger file is data.
const LARGEST: u64 = 2 << 20;
/// A project with more files that name Spark keeps the first ones; they are sorted by path.
const MOST: usize = 4_000;

/// A document with its settings and the jobs that it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The file.
    pub path: Arc<PathBuf>,
    /// Its text, that the spans are about.
    pub text: Arc<str>,
    /// Its settings in source order.
    pub settings: Vec<Setting>,
    /// The same as layers of a configuration, one for each setting whose key is known.
    pub layers: Vec<Layer>,
    /// What it starts, with indices into `settings`.
    pub submits: Vec<Submit>,
}

/// The sources of a project by path, and its scripts, which submit commands may name and, in Python, other files import.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sources {
    by_path: BTreeMap<PathBuf, Arc<Source>>,
    scripts: Arc<Scripts>,
    modules: Modules,
}

/// The Python files of a project by their names, in path order: every job is looked up in them.
#[derive(Debug, Clone, Default, PartialEq)]
struct Scripts {
    by_name: FxHashMap<OsString, Vec<PathBuf>>,
}

impl Scripts {
    fn add(&mut self, path: &Path) {
        let Some(name) = path.file_name() else { return };
        self.by_name.entry(name.to_owned()).or_default().push(path.to_owned());
    }

    fn named(&self, name: &OsStr) -> &[PathBuf] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    fn holds(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| self.named(name).iter().any(|script| script == path))
    }

    fn holds_below(&self, folder: &Path) -> bool {
        self.by_name.values().flatten().any(|script| script.starts_with(folder))
    }

    fn remove_below(&mut self, folder: &Path) {
        self.by_name.retain(|_, scripts| {
            scripts.retain(|script| !script.starts_with(folder));
            !scripts.is_empty()
        });
    }
}

impl FromIterator<PathBuf> for Scripts {
    fn from_iter<T: IntoIterator<Item = PathBuf>>(paths: T) -> Self {
        let mut scripts = Self::default();
        paths.into_iter().for_each(|path| scripts.add(&path));
        scripts
    }
}

impl Source {
    /// What a document says, if it says anything of settings or jobs.
    pub fn of(path: &Path, text: &Arc<str>, facts: &Facts) -> Option<Self> {
        let (settings, submits) = (facts.settings(), facts.submits());
        if settings.is_empty() && submits.is_empty() {
            return None;
        }
        Some(Self {
            path: Arc::new(path.to_owned()),
            text: Arc::clone(text),
            settings: settings.to_vec(),
            layers: layers(path, text, settings),
            submits: submits.to_vec(),
        })
    }

    /// Reads a file; `None` if it can't be read, is too large, or says nothing.
    pub fn read(path: &Path) -> Option<Self> {
        let text = read(path)?;
        if !may_hold_settings(&text) {
            return None;
        }
        Self::of(path, &text, &facts(Kind::of_file(path, &text), &text))
    }

    /// Whether another reading of the document sets the same values and starts the same jobs, wherever they stand in it.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let settings = |source: &Self| -> Vec<(String, Value, Carrier)> {
            source
                .settings
                .iter()
                .map(|setting| (setting.key.clone(), setting.value.clone(), setting.carrier))
                .collect()
        };
        let jobs = |source: &Self| -> Vec<(Option<String>, Option<String>, Vec<usize>)> {
            let name = |text: &Option<Text>| text.as_ref().map(|text| text.text.clone());
            let job =
                |submit: &Submit| (name(&submit.application), name(&submit.properties_file), submit.settings.clone());
            source.submits.iter().map(job).collect()
        };
        settings(self) == settings(other) && jobs(self) == jobs(other)
    }
}

impl Sources {
    /// Reads the files at and below `root` that name Spark; what can't be read is left out.
    pub fn scan(root: &Path, exclude: &[String]) -> Self {
        let paths: Vec<PathBuf> = files(&[root.to_owned()], exclude).collect();
        Self::of_scripts(root, &paths, &HashMap::new()).filled(paths, &HashMap::new())
    }

    /// The scripts among the files of a project, in their order, for its imports and its commands; what they say of
    /// settings is not known yet. Of some of them the text was read already.
    pub fn of_scripts(root: &Path, paths: &[PathBuf], read: &HashMap<&Path, Arc<str>>) -> Self {
        let scripts: Vec<&PathBuf> = paths.iter().filter(|path| Kind::of(path).is_script()).collect();
        let module = |path: &&PathBuf| module(root, path, read.get(path.as_path()));
        let modules: Vec<_> = scripts.par_iter().take(MOST).filter_map(module).collect();
        let scripts = Arc::new(scripts.into_iter().cloned().collect());
        Self { by_path: BTreeMap::new(), scripts, modules: Modules::new(modules) }
    }

    /// With the sources among the files of the project. Of some of them it is known already what they say.
    pub fn filled(self, paths: Vec<PathBuf>, known: &HashMap<&Path, Option<Arc<Source>>>) -> Self {
        let source = |path: &PathBuf| match known.get(path.as_path()) {
            Some(known) => known.clone(),
            None => Source::read(path).map(Arc::new),
        };
        let found: Vec<Option<Arc<Source>>> = paths.par_iter().map(source).collect();
        let found = paths.into_iter().zip(found).filter_map(|(path, source)| Some((path, source?)));
        Self { by_path: found.take(MOST).collect(), ..self }
    }

    /// The sources with what the document at `path` says now, which may be nothing.
    pub fn with(&self, path: &Path, source: Option<Source>) -> Self {
        let mut sources = self.clone();
        match source {
            Some(source) => sources.by_path.insert(path.to_owned(), Arc::new(source)),
            None => sources.by_path.remove(path),
        };
        if Kind::of(path).is_script() && !sources.scripts.holds(path) {
            Arc::make_mut(&mut sources.scripts).add(path);
        }
        sources
    }

    /// Whether something at or below `path` is among them, as it is when a folder goes.
    pub fn holds_below(&self, path: &Path) -> bool {
        let next = self.by_path.range::<Path, _>((Bound::Included(path), Bound::Unbounded)).next();
        next.is_some_and(|(known, _)| known.starts_with(path)) || self.scripts.holds_below(path)
    }

    /// The sources without the file or folder at `path`, which is gone; `None` if nothing of it is among them.
    pub fn without(&self, path: &Path) -> Option<Self> {
        let mut sources = self.clone();
        sources.by_path.retain(|known, _| !known.starts_with(path));
        let had_scripts = self.scripts.holds_below(path);
        if had_scripts {
            Arc::make_mut(&mut sources.scripts).remove_below(path);
        }
        (had_scripts || sources.by_path.len() != self.by_path.len()).then_some(sources)
    }

    /// How many documents say something.
    pub fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Whether no document says anything.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Whether the document at `path` says something, or is a script that a command may name.
    pub fn holds(&self, path: &Path) -> bool {
        self.by_path.contains_key(path) || self.scripts.holds(path)
    }

    /// The sources with what a Python file says now to those that import it.
    pub fn with_module(&self, module: &ModulePath, text: &Arc<str>) -> Self {
        Self { modules: self.modules.with(module, text), ..self.clone() }
    }

    /// The sources without the modules at or below a path from the root; `None` if there are none.
    pub(super) fn without_modules(&self, relative: &Path) -> Option<Self> {
        Some(Self { modules: self.modules.without(relative)?, ..self.clone() })
    }

    /// The project's Python files, for imports.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// What the document at `path` says.
    pub fn at(&self, path: &Path) -> Option<&Arc<Source>> {
        self.by_path.get(path)
    }

    /// Every document that says something, by path.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Source>> {
        self.by_path.values()
    }

    /// The Python file of the project that a submit command names: the one that shares the longest end of its path
    /// (`s3://bucket/jobs/daily.py` is `src/jobs/daily.py`); `None` if there is none, or more than one as good.
    pub fn script(&self, application: &str) -> Option<&Path> {
        match self.scripts_like(application)[..] {
            [script] => Some(script),
            _ => None,
        }
    }

    /// The Python files of the project that share the longest end of their path with what a submit command names.
    pub fn scripts_like(&self, application: &str) -> Vec<&Path> {
        let wanted = parts(application);
        let name = wanted.last().copied().unwrap_or_default();
        let shared = |script: &Path| {
            let names = script.components().rev().map(|part| part.as_os_str().to_string_lossy());
            wanted.iter().rev().zip(names).take_while(|(wanted, name)| **wanted == *name).count()
        };
        let (mut longest, mut best) = (1, Vec::new());
        for script in self.scripts.named(OsStr::new(name)).iter().map(PathBuf::as_path) {
            let shared = shared(script);
            if shared > longest {
                (longest, best) = (shared, Vec::new());
            }
            if shared == longest {
                best.push(script);
            }
        }
        best
    }
}

/// A Python file as those that import it see it; `text` if it was read already.
fn module(root: &Path, path: &Path, text: Option<&Arc<str>>) -> Option<(ModulePath, Arc<str>)> {
    let module = path.strip_prefix(root).ok().and_then(ModulePath::of)?;
    Some((module, text.cloned().or_else(|| read(path))?))
}

/// The text of a regular file of ordinary size.
pub(super) fn read(path: &Path) -> Option<Arc<str>> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return None;
    }
    Some(std::fs::read_to_string(path).ok()?.into())
}

/// The names of a path as a command writes it, without what is filled in.
fn parts(application: &str) -> Vec<&str> {
    application.rsplit("://").next().unwrap_or(application).split(['/', '\\']).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(scripts: &[&str], application: &str) -> Option<String> {
        let scripts = Arc::new(scripts.iter().map(PathBuf::from).collect());
        let sources = Sources { scripts, ..Sources::default() };
        sources.script(application).map(|path| path.display().to_string())
    }

    #[test]
    fn a_command_names_the_script_with_the_longest_common_end() {
        let scripts = ["src/jobs/daily.py", "src/old/daily.py", "src/jobs/hourly.py"];
        assert_eq!(script(&scripts, "s3://bucket/v1/jobs/daily.py").as_deref(), Some("src/jobs/daily.py"));
        assert_eq!(script(&scripts, "local:///opt/hourly.py").as_deref(), Some("src/jobs/hourly.py"));
        assert_eq!(script(&scripts, "${JOBS}/old/daily.py").as_deref(), Some("src/old/daily.py"));
        assert_eq!(script(&scripts, "/opt/app/daily.py"), None, "either could be meant");
        assert_eq!(script(&scripts, "etl.jar"), None);
    }

    #[test]
    fn scripts_that_could_be_meant_are_told() {
        let scripts = ["src/jobs/daily.py", "src/old/daily.py", "src/jobs/hourly.py"];
        let sources = Sources { scripts: Arc::new(scripts.iter().map(PathBuf::from).collect()), ..Sources::default() };
        assert_eq!(sources.scripts_like("/opt/app/daily.py"), [Path::new(scripts[0]), Path::new(scripts[1])]);
        assert_eq!(sources.scripts_like("etl.jar"), Vec::<&Path>::new());
    }
}
