//! Which project a path belongs to.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// The project roots of folders, looked up once each.
#[derive(Default)]
pub(super) struct Roots {
    known: HashMap<PathBuf, PathBuf>,
}

impl Roots {
    /// The folder whose settings hold for `path`: the nearest one at or above it that has settings of ours, else the
    /// nearest that looks like a project, else the file's own folder.
    pub(super) fn of(&mut self, path: &Path) -> PathBuf {
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

/// The project that a path belongs to.
pub(in crate::cli) fn root_of(path: &Path) -> PathBuf {
    Roots::default().of(&beside(path))
}

/// The files in which a project has settings of ours, the strongest first.
pub(in crate::cli) fn settings_files(root: &Path) -> Vec<PathBuf> {
    let (own, shared) = (root.join("sparkls.toml"), root.join("pyproject.toml"));
    let is_shared = std::fs::read_to_string(&shared).is_ok_and(|text| text.contains("[tool.sparkls"));
    own.is_file().then_some(own).into_iter().chain(is_shared.then_some(shared)).collect()
}

fn has_settings(folder: &Path) -> bool {
    !settings_files(folder).is_empty()
}

/// A folder of many things is no project for what lies in it by chance: the root, the temporary folder, a home folder
/// with a repository of its settings.
fn is_shared(folder: &Path) -> bool {
    folder.parent().is_none()
        || folder == std::env::temp_dir()
        || std::env::home_dir().is_some_and(|home| folder == home)
}

fn looks_like_a_project(folder: &Path) -> bool {
    // The folder `conf` is a part of a project, whatever is in it.
    !folder.ends_with("conf")
        && !is_shared(folder)
        && ["spark-defaults.conf", "conf/spark-defaults.conf", "pyproject.toml", "requirements.txt", ".git"]
            .iter()
            .any(|mark| folder.join(mark).exists())
}

/// A path as it is opened: relative to the current directory (`./...`) where it lies below it, else as given.
pub(super) fn beside(path: &Path) -> PathBuf {
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
