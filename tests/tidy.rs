//! The tree keeps its own rules: directions of imports, places of I/O and of LSP types, tidy text, complete rules.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// One broken rule of the house: where, and what.
type Broken = Vec<String>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files that git would track, relative to the root, sorted.
fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ignore::WalkBuilder::new(root())
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(|entry| entry.path().strip_prefix(root()).expect("below the root").to_owned())
        .collect();
    files.sort();
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Rust files below `src`, with their room (`None` for `lib.rs` and `main.rs`).
fn sources() -> Vec<(PathBuf, Option<String>)> {
    files()
        .into_iter()
        .filter(|path| path.starts_with("src") && path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let below = path.strip_prefix("src").expect("filtered above");
            let first = below.components().next().expect("a file has a name").as_os_str().to_string_lossy();
            let room = first.trim_end_matches(".rs").to_owned();
            let room = (room != "lib" && room != "main").then_some(room);
            (path, room)
        })
        .collect()
}

/// The lines of a source file that ship: without comments and without its test module. Line numbers from 1.
fn shipped(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines
        .windows(2)
        .position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{'));
    let end = tests.unwrap_or(lines.len());
    lines
        .into_iter()
        .take(end)
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn is_test_file(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "tests" || stem.to_string_lossy().ends_with("_tests"))
        || path.components().any(|part| part.as_os_str() == "tests")
}

fn assert_none(broken: &Broken) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// The rooms in the order of the table in `src/lib.rs`.
fn rooms() -> Vec<String> {
    read(Path::new("src/lib.rs"))
        .lines()
        .filter_map(|line| line.strip_prefix("//! | [`"))
        .filter_map(|rest| rest.split('`').next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_table_of_rooms_is_complete() {
    let table = rooms();
    let broken: Broken = sources()
        .iter()
        .filter_map(|(path, room)| room.as_ref().map(|room| (path, room)))
        .filter(|(_, room)| !table.contains(room))
        .map(|(path, room)| format!("{}: room `{room}` is not in the table of src/lib.rs", path.display()))
        .collect();
    assert_none(&broken);
    assert!(table.len() > 5, "the table of rooms in src/lib.rs can't be read: {table:?}");
}

#[test]
fn imports_only_point_up_the_table() {
    let table = rooms();
    let place = |room: &str| table.iter().position(|other| other == room);
    let mut broken = Broken::new();
    for (path, room) in sources() {
        let Some(own) = room.as_deref().and_then(place) else { continue };
        if is_test_file(&path) {
            continue;
        }
        let text = read(&path);
        for (line, code) in shipped(&text) {
            for used in code.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if place(&used).is_some_and(|other| other > own) {
                    broken.push(format!("{}:{line}: `{}` may not use `{used}`", path.display(), table[own]));
                }
            }
        }
    }
    assert_none(&broken);
}

/// Asserts that none of `words` is in the shipped lines of the rooms that `allowed` refuses.
fn assert_words_stay(words: &[&str], allowed: impl Fn(&str) -> bool, why: &str) {
    let mut broken = Broken::new();
    for (path, room) in sources() {
        if is_test_file(&path) || room.as_deref().is_some_and(&allowed) {
            continue;
        }
        let text = read(&path);
        for (line, code) in shipped(&text) {
            for word in words.iter().filter(|word| code.contains(*word)) {
                broken.push(format!("{}:{line}: `{word}`: {why}", path.display()));
            }
        }
    }
    assert_none(&broken);
}

#[test]
fn lsp_types_stay_in_the_server() {
    assert_words_stay(&["tower_lsp_server"], |room| room == "lsp", "LSP types live in src/lsp");
}

#[test]
fn input_and_output_stay_at_the_edges() {
    assert_words_stay(
        &["std::fs", "std::net", "std::process::Command", "tokio::", "File::open"],
        |room| ["eventlog", "history", "workspace", "lsp", "cli"].contains(&room),
        "the analysis is a pure function; files are read in eventlog, history, workspace, lsp and cli",
    );
}

#[test]
fn only_the_command_line_prints() {
    assert_words_stay(
        &["println!(", "eprintln!(", " print!(", " eprint!("],
        |room| room == "cli",
        "stdout belongs to the protocol; print in src/cli",
    );
}

#[test]
fn every_source_file_says_what_it_is() {
    let broken: Broken = sources()
        .iter()
        .filter(|(path, _)| !read(path).starts_with("//! "))
        .map(|(path, _)| format!("{}: the first line must be a `//!` comment", path.display()))
        .collect();
    assert_none(&broken);
}

#[test]
fn no_source_file_is_too_long() {
    const LIMIT: usize = 700;
    let broken: Broken = sources()
        .iter()
        .map(|(path, _)| (path, read(path).lines().count()))
        .filter(|(_, lines)| *lines > LIMIT)
        .map(|(path, lines)| format!("{}: {lines} lines, at most {LIMIT}: split it by subject", path.display()))
        .collect();
    assert_none(&broken);
}

/// Text that people write; generated facts and fixtures may hold any bytes.
fn is_prose_or_code(path: &Path) -> bool {
    const KINDS: &[&str] = &["rs", "toml", "md", "py", "lua", "json", "scm", "conf", "sh", "yml", "yaml", "vim", ""];
    let kind = path.extension().map(|extension| extension.to_string_lossy().into_owned()).unwrap_or_default();
    let is_input = ["tests/fixtures", "tests/carriers", "data"].iter().any(|folder| path.starts_with(folder));
    KINDS.contains(&kind.as_str()) && !is_input
}

#[test]
fn text_is_tidy() {
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()];
    let mut broken = Broken::new();
    for path in files().iter().filter(|path| is_prose_or_code(path)) {
        let Ok(text) = fs::read_to_string(root().join(path)) else { continue };
        for (index, line) in text.lines().enumerate() {
            let at = format!("{}:{}", path.display(), index + 1);
            if line.contains('\t') && !path.starts_with("tests/rules") {
                broken.push(format!("{at}: a tab"));
            }
            if line.ends_with(' ') && !path.starts_with("tests/rules") {
                broken.push(format!("{at}: blanks at the end"));
            }
            for mark in marks.iter().filter(|mark| has_word(line, mark)) {
                broken.push(format!("{at}: `{mark}`: do it, or leave it out"));
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            broken.push(format!("{}: no line end at the end", path.display()));
        }
    }
    assert_none(&broken);
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '"') && !after.is_some_and(char::is_alphanumeric)
    })
}

#[test]
fn no_path_of_a_machine_is_committed() {
    let starts: Vec<String> = ["work", "root", "home"].iter().map(|folder| format!("/{folder}/")).collect();
    // Neutral names that documentation and fixtures may use.
    let neutral = ["/home/me", "/home/user", "/home/spark", "/home/hadoop", "/home/etl"];
    let mut broken = Broken::new();
    for path in files() {
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        for (index, line) in text.lines().enumerate() {
            for start in &starts {
                for (at, _) in line.match_indices(start.as_str()) {
                    let absolute = !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-}*$".contains(c));
                    if absolute && !neutral.iter().any(|name| line[at..].starts_with(name)) {
                        broken.push(format!("{}:{}: `{start}...`", path.display(), index + 1));
                    }
                }
            }
        }
    }
    assert_none(&broken);
}

#[test]
fn every_rule_is_listed_and_tested() {
    let tests: Vec<String> = files()
        .iter()
        .filter(|path| path.starts_with("tests") && path.extension().is_some_and(|kind| kind == "rs"))
        .map(|path| read(path))
        .collect();
    let mut broken = Broken::new();
    for (path, _) in sources().iter().filter(|(path, _)| path.starts_with("src/rules")) {
        let text = read(path);
        let is_rule =
            text.lines().any(|line| line.trim() == "declare_rule! {" || line.trim() == "crate::declare_rule! {");
        if !is_rule || path == Path::new("src/rules/declare.rs") {
            continue;
        }
        let stem = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let slug = stem.replace('_', "-");
        let list = read(&path.with_file_name("mod.rs"));
        if !list.contains(&format!("{stem}::")) {
            broken.push(format!("{}: `{stem}` is missing in the list of its folder's mod.rs", path.display()));
        }
        if !text.contains(&format!("\"{slug}\"")) {
            broken.push(format!("{}: the rule's name must be its file's: `{slug}`", path.display()));
        }
        let has_fixture = root().join("tests/rules").join(format!("{slug}.md")).is_file();
        let of_a_run = path.starts_with("src/rules/run");
        let has_test =
            text.contains("#[test]") || tests.iter().any(|test| test.contains(&slug) || test.contains(&stem));
        if !(has_fixture || of_a_run && has_test) {
            broken.push(format!("{}: no fixture tests/rules/{slug}.md", path.display()));
        }
    }
    assert_none(&broken);
}
