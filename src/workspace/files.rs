//! Which files of a folder are analysed.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ignore::gitignore::Gitignore;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder};

use super::Kind;
use crate::conf::carriers;

/// The files at and below `paths` that may be about Spark by their names, or by their first line where the name has no
/// ending; sorted within each. What git ignores, hidden folders but those of CI services, and what matches a glob of
/// `exclude` (relative to each path) are left out. A file that is named itself is always there.
pub fn files(paths: &[PathBuf], exclude: &[String]) -> impl Iterator<Item = PathBuf> {
    paths.iter().flat_map(|path| -> Box<dyn Iterator<Item = PathBuf>> {
        if path.is_dir() { Box::new(below(path, exclude)) } else { Box::new(std::iter::once(path.clone())) }
    })
}

fn below(folder: &Path, exclude: &[String]) -> impl Iterator<Item = PathBuf> + use<> {
    WalkBuilder::new(folder)
        .overrides(excluded(folder, exclude))
        .require_git(false)
        .hidden(false)
        .filter_entry(|entry| !is_hidden(entry) && !is_environment(entry.path()))
        .sort_by_file_path(Path::cmp)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(DirEntry::into_path)
        .filter(|path| Kind::is_possible(path) || is_script(path))
}

/// Bytes of a file's beginning that hold the line that says what runs it.
const FIRST_LINE: usize = 128;

/// Whether a file without an ending starts as a shell script does.
fn is_script(path: &Path) -> bool {
    if path.extension().is_some() {
        return false;
    }
    let mut head = [0; FIRST_LINE];
    let read = File::open(path).and_then(|mut file| file.read(&mut head)).unwrap_or_default();
    let head = &head[..read];
    head.starts_with(b"#!") && carriers::kind_of(path, &String::from_utf8_lossy(head), None).is_some()
}

/// Whether [`files`] would meet this file below `root`, if it is there: what changes one by one need not be walked for.
pub(super) fn is_met(root: &Path, path: &Path) -> bool {
    let Ok(relative) = path.strip_prefix(root) else { return false };
    let hidden = |part: &std::ffi::OsStr| {
        let name = part.to_string_lossy();
        name.starts_with('.') && !CI.contains(&name.as_ref())
    };
    if !(Kind::is_possible(path) || is_script(path)) || relative.iter().any(hidden) {
        return false;
    }
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    folders.into_iter().all(|folder| {
        let ignored = Gitignore::new(folder.join(".gitignore")).0.matched_path_or_any_parents(path, false).is_ignore();
        !ignored && (folder == root || !is_environment(folder))
    })
}

/// Where CI services keep what they run.
const CI: [&str; 5] = [".github", ".gitlab-ci.yml", ".gitlab", ".circleci", ".buildkite"];

/// Hidden, and not read by a CI service. The folder that was asked for is never hidden.
fn is_hidden(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.depth() > 0 && name.starts_with('.') && !CI.contains(&name.as_ref())
}

/// A virtual environment: its packages are not the project's code.
fn is_environment(path: &Path) -> bool {
    path.join("pyvenv.cfg").is_file()
}

/// `exclude` as the walker takes it: `!glob` leaves out; a glob that is none leaves nothing out.
fn excluded(folder: &Path, exclude: &[String]) -> Override {
    let mut builder = OverrideBuilder::new(folder);
    for glob in exclude {
        let _ = builder.add(&format!("!{glob}"));
    }
    builder.build().unwrap_or_else(|_| Override::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_spark_is_walked() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("job.py", "");
        write("conf/spark-defaults.conf", "");
        write("readme.md", "");
        write("nginx.conf", "");
        write("old/job.py", "");
        write("build/job.py", "");
        write(".github/workflows/nightly.yml", "");
        write(".cache/job.py", "");
        write("sparkls.toml", "");
        write("bin/nightly", "#!/usr/bin/env bash\n");
        write("bin/tool", "#!/usr/bin/env python3\n");
        write("LICENSE", "bash\n");
        write(".gitignore", "build/\n");
        write("venv/pyvenv.cfg", "");
        write("venv/lib/six.py", "");
        let found: Vec<_> = files(&[folder.path().to_owned()], &["old/**".to_owned()])
            .map(|path| path.strip_prefix(folder.path()).unwrap().to_string_lossy().replace('\\', "/"))
            .collect();
        for (path, met) in [
            ("job.py", true),
            ("bin/nightly", true),
            ("bin/tool", false),
            ("build/job.py", false),
            (".cache/job.py", false),
            ("venv/lib/six.py", false),
        ] {
            assert_eq!(is_met(folder.path(), &folder.path().join(path)), met, "{path}");
        }
        let wanted =
            [".github/workflows/nightly.yml", "bin/nightly", "conf/spark-defaults.conf", "job.py", "nginx.conf"];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_file_that_is_named_is_there() {
        let named = PathBuf::from("some/where.properties");
        assert_eq!(files(std::slice::from_ref(&named), &[]).collect::<Vec<_>>(), [named]);
    }
}
