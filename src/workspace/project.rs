//! One project: what holds for all of its documents.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::per_path::{self, PerPath};
use super::runs::{self, Stamp};
use super::settings::{self, Settings, SettingsFile};
use super::sources::{self, Source, Sources};
use super::{document, version};
use crate::catalog::SparkVersion;
use crate::conf::{Layer, properties};
use crate::pyspark::{Imports, ModulePath, SqlDialect, sql_dialect};
use crate::rules::{Environment, Level, MeasuredRun};
use crate::text::Span;

/// Which answer to "which Spark?" came first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionSource {
    /// `spark-version` in the settings, the editor or on the command line.
    Setting,
    /// The newest linked run (its label).
    Run(String),
    /// `pyspark==` in this file.
    Requirement(PathBuf),
    /// The workspace's environment or `$SPARK_HOME`.
    Installed(PathBuf),
    /// Nothing: the newest version we know.
    Newest,
}

/// Something wrong in `sparkls.toml` or `pyproject.toml`; the rest of the settings stay in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The settings file.
    pub path: PathBuf,
    /// Where, in bytes of `text`.
    pub span: Span,
    /// What.
    pub message: String,
    /// The file as it was read.
    pub text: Arc<str>,
}

/// A project: an immutable snapshot. Changes make a new one.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its folder.
    pub root: PathBuf,
    /// Version, vendor, rule settings.
    pub environment: Environment,
    /// Where the version comes from.
    pub version_source: VersionSource,
    /// Logs named in the settings: paths (globs resolved).
    pub run_paths: Vec<PathBuf>,
    /// Paths that are not analysed (globs).
    pub exclude: Vec<String>,
    /// Settings of the project's `spark-defaults.conf`, for the effective configuration of its jobs.
    pub layers: Vec<Layer>,
    /// Every document that holds settings or starts a job. Loaded apart, see [`Project::with_sources`].
    pub sources: Sources,
    /// Linked runs, newest first.
    pub runs: Vec<Arc<MeasuredRun>>,
    /// What is wrong in the settings files.
    pub problems: Vec<Problem>,
    /// The project's `spark-defaults.conf`, whose settings are `layers`.
    pub defaults_path: Option<PathBuf>,
    /// The settings in force, of the files and of the editor.
    pub settings: Settings,
    /// What the files alone say, to fall back on while one of them is half typed.
    file_settings: Settings,
    per_path: PerPath,
    /// The version that the files pin or that is installed, for when no setting and no run tells.
    found_version: Option<(SparkVersion, VersionSource)>,
}

/// The newest Spark version whose facts we know.
const NEWEST: SparkVersion = SparkVersion::new(4, 3, 0);
/// A larger properties file is none.
const LARGEST_DEFAULTS: u64 = 4 << 20;

impl Project {
    /// Reads the settings of the project at `root`. Runs are loaded apart, see [`Project::with_run`].
    pub fn open(root: &Path) -> Self {
        Self::open_with(root, &Settings::default(), None)
    }

    /// Reads the project at `root` under settings that are stronger than its files (the editor's, the command line's).
    /// While a settings file is broken, what `previous` read of it stays in force. Runs are not taken over.
    pub fn open_with(root: &Path, stronger: &Settings, previous: Option<&Project>) -> Self {
        let SettingsFile { settings: mut file_settings, problems, broken } = read_settings(root);
        if let Some(previous) = previous.filter(|_| broken) {
            file_settings = file_settings.or(&previous.file_settings);
        }
        let settings = stronger.clone().or(&file_settings);
        let defaults_path = find_defaults(root);
        let layers = defaults_path.as_deref().map(read_defaults).unwrap_or_default();
        let mut project = Self {
            root: root.to_owned(),
            environment: Environment {
                version: NEWEST,
                version_known: false,
                vendor: settings.vendor.unwrap_or_default(),
                local: settings.local.unwrap_or_default(),
                rules: settings.rules.clone(),
            },
            version_source: VersionSource::Newest,
            run_paths: runs::resolve(root, settings.runs.as_deref().unwrap_or_default()),
            exclude: settings.exclude.clone().unwrap_or_default(),
            layers,
            sources: Sources::default(),
            runs: Vec::new(),
            problems,
            defaults_path,
            per_path: PerPath::new(&settings.per_path),
            settings,
            file_settings,
            found_version: version::detect(root),
        };
        project.choose_version();
        project
    }

    /// A project of no folder, for documents outside every one: the editor's settings and nothing else.
    pub fn without_folder(settings: &Settings) -> Self {
        let mut project = Self {
            root: PathBuf::new(),
            environment: Environment {
                version: NEWEST,
                version_known: false,
                vendor: settings.vendor.unwrap_or_default(),
                local: settings.local.unwrap_or_default(),
                rules: settings.rules.clone(),
            },
            version_source: VersionSource::Newest,
            run_paths: Vec::new(),
            exclude: Vec::new(),
            layers: Vec::new(),
            sources: Sources::default(),
            runs: Vec::new(),
            problems: Vec::new(),
            defaults_path: None,
            settings: settings.clone(),
            file_settings: Settings::default(),
            per_path: PerPath::new(&settings.per_path),
            found_version: None,
        };
        project.choose_version();
        project
    }

    /// The project with one more linked run, or with a newer reading of one; the newest run may decide the Spark version.
    pub fn with_run(&self, run: Arc<MeasuredRun>) -> Self {
        let mut project = self.clone();
        project.runs.retain(|known| known.source != run.source);
        project.runs.push(run);
        project.runs.sort_by_key(|run| std::cmp::Reverse(run.run.application.start));
        project.choose_version();
        project
    }

    /// The project with the runs that are linked to `other`; asked again if the settings of rules differ.
    pub fn with_runs_of(&self, other: &Project) -> Self {
        let same_rules = self.environment.rules == other.environment.rules;
        other.runs.iter().fold(self.clone(), |project, run| {
            let run = if same_rules { Arc::clone(run) } else { Arc::new(self.judged_again(run)) };
            project.with_run(run)
        })
    }

    fn judged_again(&self, run: &MeasuredRun) -> MeasuredRun {
        let mut run = run.clone();
        run.verdicts = crate::rules::run::verdicts(&run.run, &self.environment.rules);
        run
    }

    /// The project without the run that was read from `source`.
    pub fn without_run(&self, source: &str) -> Self {
        let mut project = self.clone();
        project.runs.retain(|run| run.source != source);
        project.choose_version();
        project
    }

    /// Whether this is the project's `spark-defaults.conf`, or would be if it were saved.
    pub fn is_defaults(&self, path: &Path) -> bool {
        match &self.defaults_path {
            Some(defaults) => defaults == path,
            None => defaults_candidates(&self.root).iter().any(|candidate| candidate == path),
        }
    }

    /// Whether a file of the project is left out of the analysis by `exclude`.
    pub fn excludes(&self, path: &Path) -> bool {
        let Ok(relative) = path.strip_prefix(&self.root) else { return false };
        self.exclude.iter().any(|glob| per_path::is_match(&per_path::globs(glob), relative))
    }

    /// The environment of one of its files: the levels and options of rules may be others there.
    pub fn environment_of(&self, path: &Path) -> Cow<'_, Environment> {
        self.per_path.environment(&self.environment, path.strip_prefix(&self.root).unwrap_or(path))
    }

    /// Switches a rule off in all files, whatever the settings say of some of them.
    pub fn switch_off(&mut self, rule: &str) {
        self.environment.rules.levels.insert(rule.to_owned(), Level::Off);
        self.per_path.switch_off(rule);
    }

    /// How the files that the settings were read from stand now. Reads no contents.
    pub fn settings_stamp(&self) -> Stamp {
        let settings = ["sparkls.toml", "pyproject.toml"].map(|name| self.root.join(name));
        let pins = version::requirement_files(&self.root);
        Stamp::of_files(settings.into_iter().chain(defaults_candidates(&self.root)).chain(pins))
    }

    /// The project with these documents in place of those that were read before.
    pub fn with_sources(&self, sources: Sources) -> Self {
        Self { sources, ..self.clone() }
    }

    /// The project with what one of its documents says now; `None` if it says nothing of settings or jobs.
    pub fn with_source(&self, path: &Path, source: Option<Source>) -> Self {
        let layers = match (self.is_defaults(path), &source) {
            (true, Some(source)) => source.layers.clone(),
            (true, None) => Vec::new(),
            (false, _) => self.layers.clone(),
        };
        Self { sources: self.sources.with(path, source), layers, ..self.clone() }
    }

    /// Whether a file of the project counts among its sources when it is there.
    pub fn reads(&self, path: &Path) -> bool {
        super::files::is_met(&self.root, path) && !self.excludes(path)
    }

    /// The project with the text that one of its Python files has now; `None` if its modules stay as they are.
    pub fn with_module(&self, path: &Path, text: &Arc<str>) -> Option<Self> {
        let module = path.strip_prefix(&self.root).ok().and_then(ModulePath::of)?;
        let sources = self.sources.with_module(&module, text);
        (!sources.modules().is(self.sources.modules())).then(|| Self { sources, ..self.clone() })
    }

    /// The project with what one of its Python files holds on disk; `None` if its modules stay as they are.
    pub fn with_module_read(&self, path: &Path) -> Option<Self> {
        if document::Kind::of(path) != document::Kind::Python || !self.reads(path) {
            return None;
        }
        self.with_module(path, &sources::read(path)?)
    }

    /// The project without the file or folder at `path`, which is gone; `None` if nothing of it was known.
    pub fn without(&self, path: &Path) -> Option<Self> {
        let sources = self.sources.without(path);
        let left = sources.as_ref().unwrap_or(&self.sources);
        let without_modules = path.strip_prefix(&self.root).ok().and_then(|relative| left.without_modules(relative));
        Some(Self { sources: without_modules.or(sources)?, ..self.clone() })
    }

    /// What the Python file at `path` may import of the project.
    pub fn imports(&self, path: &Path) -> Imports {
        let path = path.strip_prefix(&self.root).ok().and_then(ModulePath::of);
        match path {
            Some(path) => Imports { modules: self.sources.modules().clone(), path },
            None => Imports::default(),
        }
    }

    /// Whether a script in SQL may be one of Spark's: it says so itself, or it lies among code or settings of Spark and
    /// is nobody else's as far as it tells.
    pub fn may_run_sql(&self, text: &str) -> bool {
        match sql_dialect(text) {
            SqlDialect::Spark => true,
            SqlDialect::Any => self.is_about_spark(),
            SqlDialect::Other => false,
        }
    }

    /// Whether something in the project is about Spark: its settings, what it pins, its code.
    pub fn is_about_spark(&self) -> bool {
        self.defaults_path.is_some()
            || self.found_version.is_some()
            || self.file_settings != Settings::default()
            || self.sources.modules().use_spark()
    }

    fn choose_version(&mut self) {
        let run = self.runs.iter().find_map(|run| Some((run.run.application.version?, run.label.clone())));
        let setting = self.settings.spark_version.map(|version| (version, VersionSource::Setting));
        let chosen = setting
            .or_else(|| run.map(|(version, label)| (version, VersionSource::Run(label))))
            .or_else(|| self.found_version.clone());
        self.environment.version_known = chosen.is_some();
        (self.environment.version, self.version_source) = chosen.unwrap_or((NEWEST, VersionSource::Newest));
    }
}

/// `sparkls.toml`, and `[tool.sparkls]` where that says nothing.
fn read_settings(root: &Path) -> SettingsFile {
    let read = |name: &str, reader: fn(&Path, &Arc<str>) -> SettingsFile| {
        let path = root.join(name);
        read_text(&path, LARGEST_DEFAULTS).map(|text| reader(&path, &Arc::from(text))).unwrap_or_default()
    };
    let mut own = read("sparkls.toml", settings::read_sparkls);
    let shared = read("pyproject.toml", settings::read_pyproject);
    own.settings = own.settings.or(&shared.settings);
    own.problems.extend(shared.problems);
    own.broken |= shared.broken;
    own
}

/// Where a project keeps its `spark-defaults.conf`; the first that exists is taken.
fn defaults_candidates(root: &Path) -> Vec<PathBuf> {
    let mut candidates = vec![root.join("spark-defaults.conf"), root.join("conf").join("spark-defaults.conf")];
    if let Some(folder) = std::env::var_os("SPARK_CONF_DIR").map(PathBuf::from)
        && folder.starts_with(root)
    {
        candidates.push(folder.join("spark-defaults.conf"));
    }
    candidates
}

fn find_defaults(root: &Path) -> Option<PathBuf> {
    defaults_candidates(root).into_iter().find(|path| path.is_file())
}

fn read_defaults(path: &Path) -> Vec<Layer> {
    let Some(text) = read_text(path, LARGEST_DEFAULTS) else { return Vec::new() };
    document::layers(path, &text, &properties::read(&text).settings)
}

/// The text of a regular file of at most `largest` bytes; bytes that are no UTF-8 are replaced.
fn read_text(path: &Path, largest: u64) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > largest {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pyspark::plan::RowBound;
    use crate::run::Run;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn run(label: &str, version: SparkVersion, start: i64) -> Arc<MeasuredRun> {
        let mut run = Run::default();
        run.application.version = Some(version);
        run.application.start = start;
        Arc::new(MeasuredRun { label: label.into(), source: label.into(), run, verdicts: Vec::new() })
    }

    #[test]
    fn a_setting_beats_a_run_and_a_run_beats_a_requirement() {
        let pinned = folder(&[("requirements.txt", "pyspark==3.3.0")]);
        let project = Project::open(pinned.path());
        assert_eq!(project.environment.version, SparkVersion::new(3, 3, 0));
        let linked = project.with_run(run("app-1", SparkVersion::new(3, 5, 0), 1));
        assert_eq!(linked.version_source, VersionSource::Run("app-1".into()));
        assert_eq!(linked.without_run("app-1").environment.version, SparkVersion::new(3, 3, 0));
        let set = Settings { spark_version: Some(SparkVersion::new(4, 0, 0)), ..Settings::default() };
        let project =
            Project::open_with(pinned.path(), &set, None).with_run(run("app-1", SparkVersion::new(3, 5, 0), 1));
        assert_eq!(
            (project.environment.version, project.version_source),
            (SparkVersion::new(4, 0, 0), VersionSource::Setting)
        );
    }

    #[test]
    fn the_newest_run_comes_first() {
        let empty = folder(&[]);
        let project = Project::open(empty.path()).with_run(run("old", SparkVersion::new(3, 4, 0), 1)).with_run(run(
            "new",
            SparkVersion::new(3, 5, 0),
            2,
        ));
        assert_eq!(project.runs[0].label, "new");
        assert_eq!(project.environment.version, SparkVersion::new(3, 5, 0));
    }

    #[test]
    fn a_broken_file_keeps_what_it_said_before() {
        let project_folder = folder(&[("sparkls.toml", "local = true\nexclude = [\"old\"]\n")]);
        let before = Project::open(project_folder.path());
        std::fs::write(project_folder.path().join("sparkls.toml"), "local = \nexclude = [\"ol").unwrap();
        let broken = Project::open_with(project_folder.path(), &Settings::default(), Some(&before));
        assert!(broken.environment.local);
        assert_eq!(broken.problems.len(), 1);
    }

    #[test]
    fn a_file_sees_through_what_it_imports() {
        let project_folder = folder(&[
            ("src/jobs/__init__.py", ""),
            ("src/jobs/common.py", "def load(spark):\n    return spark.table('t')\n"),
            ("src/jobs/daily.py", "from jobs.common import load\nload(spark).collect()\n"),
        ]);
        let sources = Sources::scan(project_folder.path(), &[]);
        let project = Project::open(project_folder.path()).with_sources(sources);
        let path = project_folder.path().join("src/jobs/daily.py");
        let text: Arc<str> = std::fs::read_to_string(&path).unwrap().into();
        let bound = |project: &Project| {
            let facts = super::super::facts_in(super::super::Kind::Python, &text, &project.imports(&path));
            let plan = facts.plan().unwrap().clone();
            plan.actions[0].input.map(|input| plan.bound(input))
        };
        assert_eq!(bound(&project), Some(RowBound::Unbounded));
        let common = project_folder.path().join("src/jobs/common.py");
        let shorter: Arc<str> = "def load(spark):\n    return spark.table('t').limit(2)\n".into();
        let changed = project.with_module(&common, &shorter).unwrap();
        assert_eq!(bound(&changed), Some(RowBound::Exactly(2)));
        assert!(changed.with_module(&common, &shorter).is_none(), "nothing changed");
    }

    #[test]
    fn excluded_folders_and_files_are_known() {
        let project_folder = folder(&[("sparkls.toml", "exclude = [\"old\", \"*_pb2.py\"]\n")]);
        let project = Project::open(project_folder.path());
        let excludes = |path: &str| project.excludes(&project_folder.path().join(path));
        assert!(excludes("old/a.py") && excludes("x/y_pb2.py"));
        assert!(!excludes("older/a.py"));
    }
}
