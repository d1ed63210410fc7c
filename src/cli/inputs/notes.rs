//! What a user should know though nothing failed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Inputs, Options, shown};
use crate::catalog::{SparkVersion, VERSIONS, VersionIndex};
use crate::workspace::Project;

/// Of a file that the user named.
pub(super) fn idle(path: &Path) -> String {
    format!("{}: note: nothing in it sets something of Spark or starts a job", shown(path).display())
}

impl Inputs {
    /// Notes what lies behind an answer that may surprise: nothing to look at, a Spark that nobody knows, no logs.
    pub(super) fn note(&mut self, paths: &[PathBuf], options: &Options) {
        if self.files.is_empty() && self.errors.is_empty() && self.notes.is_empty() {
            self.notes.extend(paths.iter().map(|path| nothing_in(path)));
        }
        let projects = || self.projects.values();
        let versions: BTreeSet<SparkVersion> = projects().map(|project| project.environment.version).collect();
        let unknown = versions.into_iter().filter_map(unknown);
        let without_logs = projects().filter(|_| options.runs.is_empty()).filter_map(without_logs);
        let notes: Vec<String> = unknown.chain(without_logs).collect();
        self.notes.extend(notes);
    }
}

fn nothing_in(path: &Path) -> String {
    format!(
        "{}: note: nothing to look at: no Python, no settings of Spark, nothing that starts a job; what git ignores is \
         left out",
        path.display()
    )
}

fn unknown(version: SparkVersion) -> Option<String> {
    let minor = |version: SparkVersion| (version.major, version.minor);
    let used = VersionIndex::from(version).version();
    let ends = (VERSIONS.first()?, VERSIONS.last()?);
    (minor(used) != minor(version)).then(|| {
        format!(
            "note: the facts of Spark {}.{} stand in for those of {version}; known are {}.{} to {}.{}",
            used.major, used.minor, ends.0.major, ends.0.minor, ends.1.major, ends.1.minor
        )
    })
}

fn without_logs(project: &Project) -> Option<String> {
    let runs = project.settings.runs.as_ref().filter(|runs| !runs.is_empty() && project.run_paths.is_empty())?;
    let root = shown(&project.root);
    Some(format!("{}: note: `runs` of the settings finds no event log: {}", root.display(), runs.join(", ")))
}
