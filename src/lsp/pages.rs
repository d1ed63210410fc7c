//! Pages of rules on this machine: where the codes of findings lead without a network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tower_lsp_server::ls_types::Uri;

use crate::rules;

/// Pages by rule; `None` where one can't be kept.
static PAGES: Mutex<BTreeMap<&'static str, Option<Uri>>> = Mutex::new(BTreeMap::new());

/// The page of a rule in the user's cache folder, written when it is first asked for.
pub(super) fn local(rule: &str) -> Option<Uri> {
    let rule = rules::find(rule)?;
    let mut pages = PAGES.lock().ok()?;
    let write = || write(&cache()?.join("rules"), rule.name, &rule.page());
    pages.entry(rule.name).or_insert_with(write).clone()
}

/// The folder of this version in the cache of the user.
fn cache() -> Option<PathBuf> {
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let cache = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Caches"))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    };
    Some(cache?.join("sparkls").join(env!("CARGO_PKG_VERSION")))
}

/// Writes a page unless it is there; another server may write the same at the same time.
fn write(folder: &Path, name: &str, page: &str) -> Option<Uri> {
    let path = folder.join(format!("{name}.md"));
    if std::fs::read_to_string(&path).is_ok_and(|there| there == page) {
        return Uri::from_file_path(&path);
    }
    let unfinished = folder.join(format!(".{name}.{}", std::process::id()));
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&unfinished, page)).ok()?;
    std::fs::rename(&unfinished, &path).ok()?;
    Uri::from_file_path(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_written_once_and_again_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a b");
        for page in ["one", "one", "two"] {
            let uri = write(&below, "spill", page).unwrap();
            assert!(uri.as_str().ends_with("/a%20b/spill.md"), "{uri:?}");
            assert_eq!(std::fs::read_to_string(below.join("spill.md")).unwrap(), page);
        }
        assert_eq!(std::fs::read_dir(&below).unwrap().count(), 1);
    }

    #[test]
    fn where_nothing_can_be_written_there_is_no_page() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(write(file.path(), "spill", "one"), None);
        assert_eq!(local("no-such-rule"), None);
    }
}
