//! Folders, and the log in them.

use std::fs;

use super::*;

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

/// Names of the parts, with `!` before those that follow a hole.
fn parts(source: &Source) -> Vec<String> {
    let shown = |part: &Part| format!("{}{}", if part.after_hole { "!" } else { "" }, part.name());
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
    assert!(refusal(&["app-1", "app-2", "app-3", "app-4"]).contains("holds 4 event logs (app-1, app-2, app-3, …)"));
    assert!(refusal(&["events_1_a", "events_1_b"]).contains("holds 2 event logs (a, b)"));
    let folder = folder_of(&["appstatus_a"]);
    assert!(resolve(&folder.path().join("appstatus_a")).unwrap_err().to_string().contains("name its folder"));
    assert!(resolve(&folder.path().join("none")).is_err());
}

#[test]
fn a_log_that_lost_its_ending_meanwhile() {
    let folder = folder_of(&["local-1"]);
    assert_eq!(parts(&resolve(&folder.path().join("local-1.inprogress")).unwrap()), ["local-1"]);
}
