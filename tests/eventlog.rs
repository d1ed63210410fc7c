//! Event logs of real runs, read whole.

use std::path::{Path, PathBuf};

use sparkls::eventlog::{self, ReadError};
use sparkls::run::Run;

fn read(path: &Path) -> Result<Run, ReadError> {
    eventlog::read(path, &mut |_| true)
}

/// Logs that are not part of this repository, if they are there.
fn shared_logs() -> Option<PathBuf> {
    let shared = std::env::var_os("SPARKLS_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let logs = shared.join("data/eventlogs");
    logs.is_dir().then_some(logs)
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() && !name.starts_with("eventlog_v2_") {
            walk(&entry, found);
        } else if !name.ends_with(".py") && !name.ends_with(".md") && !name.ends_with(".json") && name != "README" {
            found.push(entry);
        }
    }
}

#[test]
fn every_log_at_hand_is_read_or_refused_in_one_sentence() {
    let Some(logs) = shared_logs() else {
        println!("skipped: no shared logs");
        return;
    };
    let mut paths = Vec::new();
    walk(&logs, &mut paths);
    println!("{:<80} events stages tasks hosts execs bad cut complete version", "log");
    for path in paths {
        let shown = path.strip_prefix(&logs).unwrap().display().to_string();
        match read(&path) {
            Ok(run) => {
                let tasks: usize = run.stages.values().map(|stage| stage.tasks.len()).sum();
                let coverage = &run.coverage;
                println!(
                    "{shown:<80} {} {} {tasks} {} {} {} {:?} {} {:?} {}/{} {:?} {:?}",
                    coverage.events,
                    run.stages.len(),
                    run.hosts.len(),
                    run.executions.len(),
                    coverage.bad_lines,
                    coverage.cut_at,
                    coverage.complete,
                    run.application.version.map(|version| version.to_string()),
                    coverage.tasks_seen,
                    coverage.tasks_expected,
                    coverage.unknown_events,
                    coverage.notes,
                );
                assert!(coverage.events > 0, "{shown}");
            }
            Err(error) => {
                let sentence = error.to_string();
                println!("{sentence}");
                assert!(!sentence.contains('\n') && sentence.len() < 400, "{sentence}");
            }
        }
    }
}
