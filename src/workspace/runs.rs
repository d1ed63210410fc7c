//! Where a project's event logs are, and reading them.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Project;
use crate::eventlog::{self, Follower, Progress, ReadError};
use crate::rules::{MeasuredRun, run::verdicts};
use crate::run::Run;

/// How many logs a folder or a glob in the settings stands for: the newest ones.
const NEWEST: usize = 4;
/// Folders deeper than this below a glob's fixed part are not searched.
const DEEPEST: usize = 8;

/// The event logs that `path` stands for: itself if it is a file or the folder of one rolled log, else the logs in the
/// folder, newest first.
pub fn logs(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() || is_rolled_log(path) {
        return vec![path.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let found = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| may_be_log(path));
    newest_first(found.collect())
}

/// Resolves the `runs` of the settings against the project's folder.
pub(super) fn resolve(root: &Path, runs: &[String]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for run in runs {
        let found = if run.contains(['*', '?', '[', '{']) { matching(root, run) } else { logs(&root.join(run)) };
        for path in found.into_iter().take(NEWEST) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

/// Logs that match a glob, newest first.
fn matching(root: &Path, glob: &str) -> Vec<PathBuf> {
    let full = root.join(glob).to_string_lossy().into_owned();
    let Ok(matcher) = globset::GlobBuilder::new(&full).literal_separator(true).build().map(|g| g.compile_matcher())
    else {
        return Vec::new();
    };
    let fixed: PathBuf = Path::new(&full)
        .components()
        .take_while(|c| !c.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']))
        .collect();
    let walk = ignore::WalkBuilder::new(fixed).standard_filters(false).max_depth(Some(DEEPEST)).build();
    let found = walk.filter_map(Result::ok).map(ignore::DirEntry::into_path).filter(|path| matcher.is_match(path));
    newest_first(found.flat_map(|path| logs(&path)).collect())
}

fn newest_first(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort_by_cached_key(|path| (std::cmp::Reverse(modified(path)), path.clone()));
    paths.dedup();
    paths
}

fn modified(path: &Path) -> SystemTime {
    std::fs::metadata(path).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// A rolled log is a folder of `events_*` files.
fn is_rolled_log(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("eventlog_v2_"))
        || std::fs::read_dir(folder).is_ok_and(|entries| {
            entries.filter_map(Result::ok).any(|entry| entry.file_name().to_string_lossy().starts_with("events_"))
        })
}

/// Whether a folder's entry can be a log: no hidden file, and no file of another known kind.
fn may_be_log(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.starts_with('.') || name.starts_with('_') {
        return false;
    }
    if path.is_dir() {
        return is_rolled_log(path);
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let foreign = ["py", "md", "txt", "toml", "yaml", "yml", "csv", "crc", "html", "conf", "properties", "ipynb", "sh"];
    !extension.is_some_and(|extension| foreign.contains(&extension.as_str()))
}

/// How files stand at one moment; another stamp means that they are worth reading again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl Stamp {
    /// The sizes and times of a file, or of a folder and the files in it. Reads no contents.
    pub fn of(path: &Path) -> Self {
        let mut stamp = Self::default();
        stamp.add(path.to_owned());
        if let Ok(entries) = std::fs::read_dir(path) {
            entries.filter_map(Result::ok).for_each(|entry| stamp.add(entry.path()));
            stamp.0.sort();
        }
        stamp
    }

    /// The sizes and times of these files, whether they are there or not.
    pub(super) fn of_files(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut stamp = Self::default();
        paths.into_iter().for_each(|path| stamp.add(path));
        stamp
    }

    fn add(&mut self, path: PathBuf) {
        let metadata = std::fs::metadata(&path).ok();
        let bytes = metadata.as_ref().map_or(0, std::fs::Metadata::len);
        self.0.push((path, bytes, metadata.and_then(|metadata| metadata.modified().ok())));
    }
}

fn refuse_devices(path: &Path) -> Result<(), ReadError> {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            Err(ReadError::NotALog { path: path.to_owned(), reason: "not a regular file".to_owned() })
        }
        // Spark may just have given the log its last name.
        _ => Ok(()),
    }
}

impl Project {
    /// Reads the log at `path` and asks every rule about it. Only regular files and folders are read: a pipe or a
    /// device would never end.
    pub fn load_run(&self, path: &Path, progress: Progress<'_>) -> Result<MeasuredRun, ReadError> {
        refuse_devices(path)?;
        let run = eventlog::read(path, progress)?;
        Ok(self.judge_run(path.display().to_string(), run))
    }

    /// As [`Project::load_run`], for a log that may grow: `follower` reads on where it stopped the last time.
    pub fn follow_run(
        &self,
        path: &Path,
        follower: &mut Follower,
        progress: Progress<'_>,
    ) -> Result<MeasuredRun, ReadError> {
        refuse_devices(path)?;
        let run = follower.read(path, progress)?;
        Ok(self.judge_run(path.display().to_string(), run))
    }

    /// Asks every rule about a run that was read from `source`.
    pub fn judge_run(&self, source: String, run: Run) -> MeasuredRun {
        let verdicts = verdicts(&run, &self.environment.rules);
        let file_name = || source.rsplit(['/', '\\']).next().unwrap_or(&source).to_owned();
        MeasuredRun { label: run.application.id.clone().unwrap_or_else(file_name), source, run, verdicts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eventlog::Read;

    #[test]
    fn a_rolled_log_is_one_log_and_a_folder_many() {
        let folder = tempfile::tempdir().unwrap();
        let rolled = folder.path().join("eventlog_v2_app-1");
        std::fs::create_dir(&rolled).unwrap();
        std::fs::write(rolled.join("events_1_app-1"), "").unwrap();
        std::fs::write(folder.path().join("app-2"), "").unwrap();
        std::fs::write(folder.path().join("notes.md"), "").unwrap();
        assert_eq!(logs(&rolled), std::slice::from_ref(&rolled));
        let mut found = logs(folder.path());
        found.sort();
        assert_eq!(found, [folder.path().join("app-2"), rolled]);
    }

    #[test]
    fn globs_find_logs_below_the_root() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("runs/nightly")).unwrap();
        std::fs::write(folder.path().join("runs/nightly/app-1.zstd"), "").unwrap();
        let found = resolve(folder.path(), &["runs/*/*.zstd".to_owned()]);
        assert_eq!(found, [folder.path().join("runs/nightly/app-1.zstd")]);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_refused_and_not_read() {
        let project = Project::open(Path::new("."));
        let error = project.load_run(Path::new("/dev/zero"), &mut |_: Read| true).unwrap_err();
        assert_eq!(error.to_string(), "/dev/zero: not a regular file");
    }
}
