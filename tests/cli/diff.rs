//! `check --diff`: a patch that the real git takes.

use super::folder::Folder;

const CONF: &str = "# 日本 🙂\nspark.executor.memory  2g\nspark.executor.memory  4g\nspark.executor.cores  4\n";
const FIXED: &str = "# 日本 🙂\nspark.executor.memory  4g\nspark.executor.cores  4\n";

/// Writes files, applies what `check --diff` prints in `below`, and asserts that every file holds its `FIXED`.
fn patched(below: &str, files: &[(&str, &str, &str)]) {
    let folder = Folder::with(&[]);
    for (path, text, _) in files {
        folder.write(path, text);
    }
    folder.git(&["init", "--quiet"]);
    let answer = folder.run_in(below, &["check", "--diff"]);
    for (path, text, _) in files {
        assert_eq!(folder.read(path), *text, "a diff changes nothing");
    }
    let patch = format!("{below}/fix.patch");
    folder.write(&patch, &answer.stdout);
    folder.git_in(below, &["apply", "--whitespace=nowarn", "fix.patch"]);
    for (path, _, fixed) in files {
        assert_eq!(folder.read(path), *fixed, "{path} after\n{}", answer.stdout);
    }
}

#[test]
fn several_files_and_folders() {
    patched(".", &[("spark-defaults.conf", CONF, FIXED), ("conf/prod/spark-defaults.conf", CONF, FIXED)]);
}

#[test]
fn carriage_returns_stay() {
    let (before, after) = (CONF.replace('\n', "\r\n"), FIXED.replace('\n', "\r\n"));
    patched(".", &[("conf/spark-defaults.conf", &before, &after)]);
}

#[test]
fn a_missing_line_end_at_the_end_stays_missing() {
    patched(".", &[("spark-defaults.conf", CONF.trim_end(), FIXED.trim_end())]);
    let (before, after) = (CONF.replace('\n', "\r\n"), FIXED.replace('\n', "\r\n"));
    patched(".", &[("spark-defaults.conf", before.trim_end(), after.trim_end())]);
}

#[test]
fn a_byte_order_mark_stays() {
    patched(".", &[("spark-defaults.conf", &format!("\u{feff}{CONF}"), &format!("\u{feff}{FIXED}"))]);
}

#[test]
fn names_with_blanks_and_foreign_letters() {
    patched(".", &[("my conf/spark-défauts 🙂.conf", CONF, FIXED)]);
}

#[cfg(unix)]
#[test]
fn names_with_quotes_and_tabs() {
    patched(".", &[("a \"b\"\t\\c/spark-defaults.conf", CONF, FIXED)]);
}

#[test]
fn in_a_folder_below_the_repository_s() {
    patched("jobs", &[("jobs/conf/spark-defaults.conf", CONF, FIXED), ("jobs/spark-defaults.conf", CONF, FIXED)]);
}

#[test]
fn an_absolute_path_is_told_from_here() {
    let folder = Folder::with(&[("conf/spark-defaults.conf", CONF)]);
    let here = folder.absolute("conf");
    let answer = folder.run(&["check", "--diff", &here]);
    assert!(answer.stdout.starts_with("--- a/conf/spark-defaults.conf\n"), "{}", answer.stdout);
}

#[test]
fn a_text_of_stdin_is_patched_as_its_file() {
    let folder = Folder::with(&[("spark-defaults.conf", CONF)]);
    folder.git(&["init", "--quiet"]);
    let answer = folder.run_with(&["check", "--diff", "--stdin-filename", "spark-defaults.conf"], CONF);
    folder.write("fix.patch", &answer.stdout);
    folder.git(&["apply", "fix.patch"]);
    assert_eq!(folder.read("spark-defaults.conf"), FIXED);
}

#[test]
fn nothing_to_fix_is_an_empty_patch() {
    let folder = Folder::with(&[("spark-defaults.conf", FIXED)]);
    let answer = folder.run(&["check", "--diff"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (0, ""), "{}", answer.stderr);
}
