//! One project: what holds for all of its documents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalog::SparkVersion;
use crate::conf::{EffectiveConf, Layer};
use crate::rules::{Environment, MeasuredRun, RuleSettings, Vendor};
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
    /// Where.
    pub span: Span,
    /// What.
    pub message: String,
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
    /// Linked runs, newest first.
    pub runs: Vec<Arc<MeasuredRun>>,
    /// What is wrong in the settings files.
    pub problems: Vec<Problem>,
}

impl Project {
    /// Reads the settings of the project at `root`. Runs are loaded apart, see [`Project::with_run`].
    pub fn open(root: &Path) -> Self {
        let version = SparkVersion::new(4, 3, 0);
        Self {
            root: root.to_owned(),
            environment: Environment {
                version,
                version_known: false,
                vendor: Vendor::Oss,
                local: false,
                rules: RuleSettings::default(),
            },
            version_source: VersionSource::Newest,
            run_paths: Vec::new(),
            exclude: Vec::new(),
            layers: Vec::new(),
            runs: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The project with one more linked run; the newest run may decide the Spark version.
    pub fn with_run(&self, run: Arc<MeasuredRun>) -> Self {
        let mut project = self.clone();
        project.runs.push(run);
        project
    }

    /// The effective configuration of a job made of the project's settings file and the settings of one document.
    pub fn conf(&self, document: &[Layer]) -> EffectiveConf {
        EffectiveConf::new(self.environment.version, self.layers.iter().chain(document).cloned().collect())
    }
}
