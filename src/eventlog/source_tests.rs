//! Folders, and the log in them.

use std::fs;

use super::*;
use crate::eventlog::{Given, Location, Which, find};

const LOG: &str = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.0\"}\n";

/// A folder with these files; a name that ends in `/` is a folder.
fn folder_of(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if name.starts_with("appstatus") { "" } else { LOG }).unwrap();
        }
    }
    folder
}

fn resolve(path: &Path) -> Result<Source, ReadError> {
    found(path, &Which::Newest)
}

fn found(path: &Path, which: &Which) -> Result<Source, ReadError> {
    match find(&Location::Path(path.to_owned()), which)?[0].given(&mut |_| true)? {
        Given::Log(source) => Ok(source),
        Given::Told(run) => panic!("{run:?}"),
    }
}

/// Names of the parts, with `!` before those that follow a hole.
fn parts(source: &Source) -> Vec<String> {
    let shown = |part: &Part| format!("{}{}", if part.after_hole { "!" } else { "" }, part.item.file_name());
    source.parts.iter().map(shown).collect()
}

fn refusal(names: &[&str]) -> String {
    let folder = folder_of(names);
    resolve(folder.path()).unwrap_err().to_string()
}

#[test]
fn indices_are_numbers() {
    let folder = folder_of(&["appstatus_a", "events_10_a", "events_9_a", "events_8_a.zstd", ".events_8_a.zstd.crc"]);
    let source = resolve(folder.path()).unwrap();
    assert_eq!(parts(&source), ["!events_8_a.zstd", "events_9_a", "events_10_a"]);
    assert_eq!(source.missing, (1..8).collect::<Vec<_>>());
    assert!(source.notes.is_empty() && !source.compacted);
}

#[test]
fn missing_files_are_named() {
    let folder = folder_of(&["events_1_a", "events_4_a"]);
    let source = resolve(folder.path()).unwrap();
    assert_eq!(parts(&source), ["events_1_a", "!events_4_a"]);
    assert_eq!(source.missing, [2, 3]);
    assert_eq!(source.notes, ["the rolled log has no appstatus file"]);
}

#[test]
fn the_newest_compacted_file_stands_for_all_before_it() {
    let folder = folder_of(&[
        "appstatus_a",
        "events_1_a.compact",
        "events_2_a",
        "events_3_a.zstd",
        "events_3_a.zstd.compact",
        "events_4_a",
    ]);
    let source = resolve(folder.path()).unwrap();
    assert_eq!(parts(&source), ["events_3_a.zstd.compact", "events_4_a"]);
    assert!(source.compacted && source.missing.is_empty());
}

#[test]
fn attempts_of_one_application() {
    let folder = folder_of(&["appstatus_app_1", "events_1_app_1", "events_1_app_2", "events_2_app_2"]);
    let source = resolve(folder.path()).unwrap();
    assert_eq!(parts(&source), ["events_1_app_2", "events_2_app_2"]);
    assert_eq!(source.notes, ["2 attempts of the application; this is the last"]);

    let folder =
        folder_of(&["application_1516285256255_0012_1", "application_1516285256255_0012_2.zstd", "notes.txt/"]);
    let source = resolve(folder.path()).unwrap();
    assert_eq!(parts(&source), ["application_1516285256255_0012_2.zstd"]);
    assert_eq!(source.notes, ["2 attempts of the application; this is the last"]);
}

#[test]
fn a_folder_with_one_log() {
    let folder = folder_of(&["local-1.inprogress", ".hidden", "local-1.inprogress.crc"]);
    fs::write(folder.path().join("README"), "text").unwrap();
    assert_eq!(parts(&resolve(folder.path()).unwrap()), ["local-1.inprogress"]);

    let folder = folder_of(&["eventlog_v2_local-1/events_1_local-1"]);
    assert_eq!(parts(&resolve(folder.path()).unwrap()), ["events_1_local-1"]);
}

#[test]
fn a_log_of_databricks() {
    let folder = folder_of(&["eventlog", "eventlog-2024-01-02--10-00.gz", "eventlog-2024-01-02--09-00.gz"]);
    let source = resolve(folder.path()).unwrap();
    assert_eq!(parts(&source), ["eventlog-2024-01-02--09-00.gz", "eventlog-2024-01-02--10-00.gz", "eventlog"]);
}

#[test]
fn refusals_are_one_sentence() {
    assert!(refusal(&["appstatus_a"]).contains("only its marker file"));
    assert!(refusal(&[]).contains("holds no event log"));
    let folder = folder_of(&["appstatus_a"]);
    assert!(resolve(&folder.path().join("appstatus_a")).unwrap_err().to_string().contains("name its folder"));
    assert!(resolve(&folder.path().join("none")).is_err());
}

#[test]
fn a_log_that_lost_its_ending_meanwhile() {
    let folder = folder_of(&["local-1"]);
    assert_eq!(parts(&resolve(&folder.path().join("local-1.inprogress")).unwrap()), ["local-1"]);
}

/// Makes `name` as old as these seconds.
fn age(folder: &tempfile::TempDir, name: &str, seconds: u64) {
    let file = fs::File::options().append(true).open(folder.path().join(name)).unwrap();
    file.set_modified(SystemTime::now() - std::time::Duration::from_secs(seconds)).unwrap();
}

fn named(folder: &tempfile::TempDir, application: &str, attempt: Option<&str>) -> Result<Source, ReadError> {
    let which = Which::Named { application: application.to_owned(), attempt: attempt.map(str::to_owned) };
    found(folder.path(), &which)
}

#[test]
fn the_newest_of_many_is_read_and_named() {
    let folder = folder_of(&["app-1", "app-2.zstd", "eventlog_v2_app-3/events_1_app-3", "app-4.inprogress", "notes"]);
    fs::write(folder.path().join("notes"), "text").unwrap();
    for (name, seconds) in
        [("app-1", 40), ("app-2.zstd", 30), ("eventlog_v2_app-3/events_1_app-3", 10), ("app-4.inprogress", 20)]
    {
        age(&folder, name, seconds);
    }
    let source = resolve(folder.path()).unwrap();
    assert_eq!(parts(&source), ["events_1_app-3"]);
    assert_eq!(source.notes[0], "the newest of 4 applications here; --application chooses another");

    let folder = folder_of(&["events_1_a", "events_1_b"]);
    age(&folder, "events_1_b", 10);
    assert_eq!(parts(&resolve(folder.path()).unwrap()), ["events_1_a"]);
}

#[test]
fn one_of_many_by_id_by_file_and_by_the_name_in_the_log() {
    let folder = folder_of(&["app-1", "app-2_1.zstd", "app-2_2.zstd", "odd"]);
    let start = |id: &str, name: &str, attempt: &str| {
        format!(
            "{LOG}{{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"{name}\",\"App ID\":\"{id}\",\
             \"App Attempt ID\":\"{attempt}\"}}\n"
        )
    };
    fs::write(folder.path().join("odd"), start("app-3", "nightly orders", "7")).unwrap();
    let of = |application: &str, attempt: Option<&str>| match named(&folder, application, attempt) {
        Ok(source) => parts(&source).join(" "),
        Err(error) => error.to_string().replace(&folder.path().display().to_string(), "."),
    };
    assert_eq!(of("app-1", None), "app-1");
    assert_eq!(of("app-2", None), "app-2_2.zstd");
    assert_eq!(of("app-2", Some("1")), "app-2_1.zstd");
    assert_eq!(of("app-2_1.zstd", None), "app-2_1.zstd");
    assert_eq!(of("app-3", None), "odd");
    assert_eq!(of("nightly orders", Some("7")), "odd");
    assert_eq!(of("nightly orders", Some("1")), ".: holds no attempt 1 of nightly orders");
    assert!(of("app-9", None).starts_with(".: holds no application app-9; it holds "));
}

#[test]
fn all_of_many_in_folders_below() {
    let folder =
        folder_of(&["a/app-1", "a/b/eventlog", "a/b/eventlog-2024-01-02--10-00.gz", ".trash/app-2", "x/appstatus_x"]);
    let found = find(&Location::Path(folder.path().to_owned()), &Which::All).unwrap();
    let names: Vec<_> =
        found.iter().map(|log| Path::new(log.name()).strip_prefix(folder.path()).unwrap().to_owned()).collect();
    assert_eq!(names, ["a/app-1", "a/b", "x"].map(PathBuf::from));
    assert!(found[2].read(&mut |_| true).unwrap_err().to_string().contains("only its marker file"));
}
