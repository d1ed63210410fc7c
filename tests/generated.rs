//! What is made from the rule declarations is current: `docs/rules/`, the groups in README.md, `sparkls.schema.json`, the
//! settings of the VS Code extension.
//!
//! `SPARKLS_BLESS=1 cargo test --test generated` makes it anew.

#![allow(clippy::unwrap_used)]

#[path = "generated/vscode.rs"]
mod vscode;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sparkls::rules::{self, Check, Group, Rule};

const BEGIN: &str = "<!-- rules: generated from the declarations -->";
const END: &str = "<!-- end of the rules -->";
const EXAMPLE_BEGIN: &str = "<!-- example: what the first command prints -->";
const EXAMPLE_END: &str = "<!-- end of the example -->";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every generated file and what must be in it.
fn generated() -> BTreeMap<PathBuf, String> {
    let mut files: BTreeMap<PathBuf, String> = rules::all().map(|rule| (page_path(rule), page(rule))).collect();
    files.insert(PathBuf::from("docs/rules/README.md"), index());
    files.insert(PathBuf::from("README.md"), readme());
    files.insert(PathBuf::from("sparkls.schema.json"), format!("{:#}\n", schema()));
    let manifest = fs::read_to_string(root().join(vscode::MANIFEST)).expect("the manifest is there");
    files.insert(PathBuf::from(vscode::MANIFEST), vscode::manifest(&manifest, &schema()));
    files
}

fn page_path(rule: &Rule) -> PathBuf {
    PathBuf::from(format!("docs/rules/{}.md", rule.name))
}

#[test]
fn generated_files_are_current() {
    let bless = std::env::var_os("SPARKLS_BLESS").is_some();
    let files = generated();
    let mut stale = Vec::new();
    for (path, wanted) in &files {
        let full = root().join(path);
        let found = fs::read_to_string(&full).unwrap_or_default();
        if found == *wanted {
            continue;
        }
        if bless {
            fs::write(&full, wanted).unwrap_or_else(|error| panic!("{}: {error}", full.display()));
        } else {
            stale.push(path.display().to_string());
        }
    }
    for path in pages_of_no_rule(&files) {
        if bless {
            fs::remove_file(&path).expect("a page can be removed");
        } else {
            stale.push(path.display().to_string());
        }
    }
    assert!(
        stale.is_empty(),
        "stale: {}\nmake them anew with: SPARKLS_BLESS=1 cargo test --test generated",
        stale.join(", ")
    );
}

fn pages_of_no_rule(files: &BTreeMap<PathBuf, String>) -> Vec<PathBuf> {
    let pages = fs::read_dir(root().join("docs/rules")).expect("docs/rules is there");
    pages
        .map(|entry| entry.expect("docs/rules can be read").path())
        .filter(|path| !files.contains_key(path.strip_prefix(root()).expect("below the root")))
        .collect()
}

#[test]
fn every_rule_has_its_documentation() {
    for rule in rules::all() {
        let headings: Vec<&str> = rule.docs.lines().filter_map(|line| line.trim().strip_prefix("## ")).collect();
        let wanted = match rule.check {
            Check::Settings(_) | Check::Code(_) => {
                vec!["Why", "Silent when", "Example", "Use instead", "Sources"]
            }
            Check::Run(_) => vec!["Why", "Silent when", "Sources"],
        };
        let mut rest = headings.iter();
        let missing: Vec<_> = wanted.iter().filter(|heading| !rest.any(|found| found == *heading)).collect();
        assert!(missing.is_empty(), "{}: no {missing:?} (in this order) in {headings:?}", rule.file);
        assert!(!rule.summary().starts_with('#'), "{}: the first line must be a summary", rule.file);
    }
}

fn page(rule: &Rule) -> String {
    format!("<!-- generated from {} -->\n{}", rule.file.replace('\\', "/"), rule.page())
}

/// The rules, sorted by group and name, under their groups.
fn by_group() -> BTreeMap<Group, Vec<&'static Rule>> {
    let mut groups: BTreeMap<Group, Vec<&Rule>> = BTreeMap::new();
    rules::all().for_each(|rule| groups.entry(rule.group).or_default().push(rule));
    groups.values_mut().for_each(|rules| rules.sort_by_key(|rule| rule.name));
    groups
}

/// The list of all rules: a table a group.
fn index() -> String {
    let mut index = String::from("<!-- generated from the rule declarations -->\n# Rules\n\n");
    index.push_str(
        "`sparkls rules` prints this list, `sparkls explain RULE` one page of it. A finding may be milder or more\n",
    );
    index
        .push_str("severe than its rule says here: by what the code tells, by a linked run, in tests and notebooks.\n");
    for (group, rules) in by_group() {
        let _ = write!(index, "\n## {}\n\n{}.\n\n", group.name(), capitalised(group.about()));
        index.push_str("| rule | finds | severity |\n| --- | --- | --- |\n");
        for rule in rules {
            let _ = writeln!(
                index,
                "| [`{name}`]({name}.md) | {} | {} |",
                cell(rule.summary()),
                level(rule),
                name = rule.name
            );
        }
    }
    index
}

fn capitalised(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

/// The groups, with where their rules are listed.
fn groups() -> String {
    let mut table = String::from("| group | rules | what they look at |\n| --- | --- | --- |\n");
    for (group, rules) in by_group() {
        let name = group.name();
        let _ = writeln!(table, "| [{name}](docs/rules/README.md#{name}) | {} | {} |", rules.len(), group.about());
    }
    table
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn level(rule: &Rule) -> String {
    if rule.off { "off".to_owned() } else { lower(rule.severity) }
}

fn lower(value: impl std::fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}

/// README.md with what the example prints and the groups of rules between their marks.
fn readme() -> String {
    let text = fs::read_to_string(root().join("README.md")).expect("README.md is there");
    let text = between(&text, EXAMPLE_BEGIN, EXAMPLE_END, &format!("```text\n{}```\n", example()));
    between(&text, BEGIN, END, &groups())
}

fn between(text: &str, begin: &str, end: &str, content: &str) -> String {
    let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("README.md has no mark `{begin}`"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("README.md has no mark `{end}`"));
    format!("{before}{begin}\n\n{content}\n{end}{after}")
}

/// One finding on settings, one on code, the measured skew and the slow host, as `sparkls check` prints them for the
/// example, and its last line without the time, which is never the same.
fn example() -> String {
    const SHOWN: [&str; 4] = ["unknown-key", "slow-host-median", "skewed-stage", "single-partition-write"];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sparkls"))
        .args(["check", "examples/nightly-orders"])
        .current_dir(root())
        .env_remove("SPARK_HOME")
        .output()
        .expect("sparkls starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let blocks: Vec<&str> = text.trim_end().split("\n\n").collect();
    let block =
        |rule| blocks.iter().find(|block| block.contains(&format!("[{rule}] "))).expect("a finding of the rule");
    let (closing, time) = blocks.last().and_then(|last| last.rsplit_once(", ")).expect("a closing line with the time");
    assert!(time.ends_with(" ms"), "{time}");
    let shown: String = SHOWN.iter().map(|rule| format!("{}\n\n...\n\n", block(rule))).collect();
    format!("{shown}{closing}\n")
}

/// The JSON schema of `sparkls.toml` and of `[tool.sparkls]`.
fn schema() -> Value {
    let mut rules: Map<String, Value> = rules::all().map(|rule| (rule.name.to_owned(), rule_schema(rule))).collect();
    let known = |rule: &Rule| json!({ "$ref": format!("#/properties/rules/properties/{}", rule.name) });
    let known: Map<String, Value> = rules::all().map(|rule| (rule.name.to_owned(), known(rule))).collect();
    rules.insert(
        "per-path".to_owned(),
        json!({
            "description": "The same for some files only: by globs of files, names or folders, relative to this file. Of several that match, the last wins.",
            "type": "object",
            "additionalProperties": { "type": "object", "additionalProperties": false, "properties": known }
        }),
    );
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "sparkls.toml",
        "description": "Settings of sparkls for one project, in sparkls.toml or under [tool.sparkls] in pyproject.toml.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "spark-version": {
                "description": "The Spark version whose defaults and thresholds apply. Without it: the newest linked run, a pinned pyspark, the installed one, the newest known.",
                "type": "string",
                "pattern": "^[0-9]+\\.[0-9]+([.+_-].*)?$",
                "examples": ["3.5", "4.1.0"]
            },
            "runs": {
                "description": "Event logs of runs of these jobs: paths, folders of logs and globs, relative to this file. The newest four of a folder or glob are read.",
                "type": ["array", "string"],
                "items": { "type": "string" },
                "examples": [["runs/*.zstd"]]
            },
            "exclude": {
                "description": "Files and folders that are not analysed: globs relative to this file.",
                "type": ["array", "string"],
                "items": { "type": "string" },
                "examples": [["vendored/**"]]
            },
            "vendor": {
                "description": "Whose Spark it is; vendors keep settings that Apache Spark retired, and add their own.",
                "type": "string",
                "enum": ["oss", "databricks", "emr", "glue", "dataproc", "fabric"],
                "default": "oss"
            },
            "local": {
                "description": "The jobs run with `master local`: what only costs on a cluster is reported as a hint.",
                "type": "boolean",
                "default": false
            },
            "rules": {
                "description": "Severity and options of rules, by name.",
                "type": "object",
                "additionalProperties": false,
                "properties": rules
            }
        }
    })
}

fn rule_schema(rule: &Rule) -> Value {
    let level = json!({ "enum": ["off", "on", "hint", "information", "warning", "error", true, false] });
    let mut options = Map::new();
    options.insert("severity".to_owned(), level.clone());
    for option in rule.options {
        options.insert(
            option.name.to_owned(),
            json!({ "description": option.help, "type": "number", "default": option.default }),
        );
    }
    json!({
        "description": rule.summary(),
        "anyOf": [
            level,
            { "type": "object", "additionalProperties": false, "properties": options },
        ]
    })
}
