//! `sparkls record` and `sparkls history`: whole runs only, whatever happens, and once each.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use sparkls::history::{self, Recorded, Row, Store};
use sparkls::rules::run::verdicts_with_past;
use sparkls::rules::{RuleSettings, Severity, State, Subject};

fn logs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut logs: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|kind| kind == "zst")).collect();
    logs.sort();
    logs
}

fn log(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/runs/{name}.zst"))
}

fn sparkls() -> Command {
    Command::new(env!("CARGO_BIN_EXE_sparkls"))
}

fn record(logs: &[PathBuf], to: &Path) -> Output {
    sparkls().arg("record").args(logs).arg("--to").arg(to).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// How many rows each run has in a file.
fn rows_by_run(file: &Path) -> BTreeMap<String, usize> {
    let mut runs = BTreeMap::new();
    for row in history::read(file).unwrap() {
        *runs.entry(row.application).or_default() += 1;
    }
    runs
}

/// Names of files of both kinds in a new folder.
fn files(folder: &tempfile::TempDir) -> [PathBuf; 2] {
    ["runs.db", "runs.jsonl"].map(|name| folder.path().join(name))
}

#[test]
fn recording_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let some = &logs()[..4];
    let [sqlite, jsonl] = files(&folder);
    for file in [&sqlite, &jsonl] {
        let first = record(some, file);
        assert!(first.status.success(), "{}", stderr(&first));
        assert!(stderr(&first).contains(": 4 runs recorded ("), "{}", stderr(&first));
        let before = std::fs::read(file).unwrap();
        let again = record(some, file);
        assert!(stderr(&again).ends_with(": 4 runs there already\n"), "{}", stderr(&again));
        assert_eq!(std::fs::read(file).unwrap(), before);
    }
    assert_eq!(history::read(&sqlite).unwrap(), history::read(&jsonl).unwrap());
}

#[test]
fn a_bad_log_is_named_and_the_others_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("notes.txt");
    std::fs::write(&bad, "no log\n").unwrap();
    let [file, _] = files(&folder);
    let output = record(&[log("healthy-3.5"), bad.clone(), folder.path().join("gone"), log("spill-3.5")], &file);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("notes.txt: ") && said.contains("gone: "), "{said}");
    assert!(said.contains("2 runs recorded (") && said.contains("2 logs can't be read"), "{said}");
    assert_eq!(rows_by_run(&file).len(), 2);

    let lines = sparkls().args(["record", "--format", "json"]).arg(log("healthy-3.5")).arg(&bad).output().unwrap();
    let lines: Vec<serde_json::Value> =
        stdout(&lines).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0]["error"].is_null() && lines[0]["recorded"].is_null());
    let rows: Vec<Row> = serde_json::from_value(lines[0]["rows"].clone()).unwrap();
    assert!(!rows.is_empty() && rows[0].spark_version.as_deref() == Some("3.5.9"));
    assert!(lines[1]["rows"].as_array().unwrap().is_empty() && lines[1]["error"].is_string());
}

#[test]
fn all_runs_of_a_folder_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let many = folder.path().join("spark-events");
    std::fs::create_dir(&many).unwrap();
    for name in ["healthy-3.5", "spill-3.5"] {
        std::fs::copy(log(name), many.join(format!("{name}.zst"))).unwrap();
    }
    std::fs::write(many.join("README.md"), "the logs of the cluster\n").unwrap();
    let [file, _] = files(&folder);
    let output = record(std::slice::from_ref(&many), &file);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains(": 2 runs recorded ("), "{}", stderr(&output));
    assert_eq!(rows_by_run(&file).len(), 2);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.db");
    std::fs::write(&other, "something else, for long enough to be no empty file ".repeat(40)).unwrap();
    let output = record(&[log("healthy-3.5")], &other);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).ends_with("other.db: is not a SQLite file\n"), "{}", stderr(&output));
    let nowhere = sparkls().arg("record").arg(log("healthy-3.5")).output().unwrap();
    assert!(nowhere.status.code() == Some(2) && stderr(&nowhere).contains("--to FILE"), "{}", stderr(&nowhere));
}

#[test]
fn two_writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let all = logs();
    let expected = folder.path().join("one.jsonl");
    record(&all, &expected);
    for file in files(&folder) {
        let backwards: Vec<&PathBuf> = all.iter().rev().collect();
        let writer = |logs: &[&PathBuf]| {
            let mut command = sparkls();
            command.arg("record").args(logs).arg("--to").arg(&file).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let writers = [writer(&all.iter().collect::<Vec<_>>()), writer(&backwards), writer(&backwards)];
        for writer in writers {
            let output = writer.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", stderr(&output));
        }
        assert_eq!(history::read(&file).unwrap(), history::read(&expected).unwrap(), "{}", file.display());
    }
}

#[test]
fn a_killed_writer_leaves_whole_runs() {
    let folder = tempfile::tempdir().unwrap();
    let all = logs();
    let whole = folder.path().join("whole.jsonl");
    record(&all, &whole);
    let whole = rows_by_run(&whole);
    for file in files(&folder) {
        for round in 0..8 {
            let mut writer = sparkls();
            let mut writer =
                writer.arg("record").args(&all).arg("--to").arg(&file).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(40 + 60 * round));
            writer.kill().unwrap();
            writer.wait().unwrap();
            if file.exists() {
                for (run, rows) in rows_by_run(&file) {
                    assert_eq!(rows, whole[&run], "{}: {run} after round {round}", file.display());
                }
            }
        }
        let output = record(&all, &file);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(rows_by_run(&file), whole);
    }
}

/// So many rows that SQLite writes some of them to the file before they are committed.
fn large_run(application: &str) -> Vec<Row> {
    let row = |stage: u32| Row {
        application: application.to_owned(),
        stage_key: format!("{stage:016}"),
        stage_label: "save at orders.py ".repeat(20),
        stage,
        ..Row::default()
    };
    (0..20_000).map(row).collect()
}

/// Not a test: the process that the next test kills while it writes. The trigger of that test's file takes days for the
/// last row.
#[test]
#[ignore = "runs in a process of its own"]
fn writes_until_it_is_killed() {
    let Some(file) = std::env::var_os("SPARKLS_TEST_FILE") else { return };
    let _ = Store::open(Path::new(&file)).unwrap().record(&large_run("second"));
}

#[test]
fn a_writer_killed_within_a_transaction_leaves_no_part_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs.db");
    let first: Vec<Row> = large_run("first").into_iter().take(10).collect();
    assert_eq!(Store::open(&file).unwrap().record(&first).unwrap(), Recorded::New(10));
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute_batch(
            "CREATE TRIGGER stop AFTER INSERT ON stages WHEN new.stage = 19999 BEGIN
                SELECT count(*) FROM stages a, stages b, stages c WHERE a.stage > b.stage + c.stage;
            END",
        )
        .unwrap();
    drop(connection);
    let size = std::fs::metadata(&file).unwrap().len();
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writes_until_it_is_killed", "--ignored"])
        .env("SPARKLS_TEST_FILE", &file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let journal = folder.path().join("runs.db-journal");
    let is_within = || journal.exists() && std::fs::metadata(&file).unwrap().len() > size + 100_000;
    let waited = (0..600).find(|_| {
        std::thread::sleep(Duration::from_millis(50));
        is_within()
    });
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert!(waited.is_some(), "no row reached the file before the end of the transaction: nothing is tested");
    assert!(is_within(), "a hot journal is left");

    assert_eq!(history::read(&file).unwrap(), first);
    rusqlite::Connection::open(&file).unwrap().execute_batch("DROP TRIGGER stop").unwrap();
    assert_eq!(Store::open(&file).unwrap().record(&large_run("second")).unwrap(), Recorded::New(20_000));
}

/// The rows of a log as those of runs `factor`s times as long, a day apart, before it.
fn earlier(rows: &[Row], factors: &[f64]) -> Vec<Row> {
    let longer = |time: Option<u64>, factor: f64| time.map(|time| (time as f64 * factor) as u64);
    let run = |(number, &factor): (i64, &f64)| {
        rows.iter().cloned().map(move |row| Row {
            application: format!("earlier-{number}"),
            run_started_ms: row.run_started_ms - 86_400_000 * (100 - number),
            run_wall_ms: longer(row.run_wall_ms, factor),
            wall_ms: longer(row.wall_ms, factor),
            ..row
        })
    };
    (0..).zip(factors).flat_map(run).collect()
}

fn run(name: &str) -> sparkls::run::Run {
    sparkls::eventlog::read(&log(name), &mut |_| true).unwrap()
}

#[test]
fn regression_fires_on_a_slower_run_and_on_its_slow_stages() {
    let run = run("healthy-3.5");
    let rows = history::rows_of(&run);
    let judged = |factors: &[f64]| {
        let past = history::Past::new(&run, earlier(&rows, factors));
        let verdicts = verdicts_with_past(&run, &RuleSettings::default(), Some(&past));
        verdicts.into_iter().filter(|verdict| verdict.rule == "regression").collect::<Vec<_>>()
    };
    let slower = judged(&[0.5, 0.5, 0.5]);
    let fired: Vec<_> = slower.iter().filter(|verdict| verdict.is_fired()).collect();
    assert!(fired.iter().any(|verdict| verdict.subject == Subject::Run), "{slower:#?}");
    // Stage 0 took 70.9 s and stage 1 more than 20 s; the others less, so that half of it is no 10 s.
    let long: Vec<u32> =
        rows.iter().filter(|row| row.wall_ms.is_some_and(|wall| wall / 2 >= 10_000)).map(|row| row.stage).collect();
    let stages: Vec<u32> = fired.iter().flat_map(|verdict| &verdict.stages).map(|key| key.stage).collect();
    assert!(!long.is_empty() && long.iter().all(|stage| stages.contains(stage)), "{long:?} {stages:?}");
    let whole = fired.iter().find(|verdict| verdict.subject == Subject::Run).unwrap();
    assert_eq!(whole.severity, Severity::Warning);
    assert_eq!(whole.message, "the run is 2.0 x slower than before: 2 min 21 s, median of 3 earlier runs 70.4 s");
    let stage = fired.iter().find(|verdict| verdict.stages.first().is_some_and(|key| key.stage == 0)).unwrap();
    assert!(stage.message.starts_with("2.0 x slower than before: 70.9 s, median of 3 earlier runs 35.4 s"));

    // The healthy control, noise of its own size, too few runs, and no history.
    assert!(judged(&[1.0, 1.0, 1.0]).iter().all(|verdict| verdict.state == State::NotFired));
    assert!(judged(&[0.3, 1.1, 0.9, 1.7, 0.5]).iter().all(|verdict| !verdict.is_fired()));
    let few = State::NotApplicable("2 earlier runs of it, 3 needed".to_owned());
    assert!(judged(&[0.5, 0.5]).iter().all(|verdict| verdict.state == few));
    let without = sparkls::rules::run::verdicts(&run, &RuleSettings::default());
    let without = without.iter().find(|verdict| verdict.rule == "regression").unwrap();
    assert_eq!(without.state, State::NotApplicable("no history given".to_owned()));
    assert_eq!(without.stages.len(), sparkls::run::stats::evaluated_stages(&run).len());
}

/// A file with three earlier runs of `healthy-3.5`, half as long, and the run itself.
fn slower_job(folder: &tempfile::TempDir) -> PathBuf {
    let file = folder.path().join("runs.db");
    let rows = history::rows_of(&run("healthy-3.5"));
    let mut store = Store::open(&file).unwrap();
    for run in earlier(&rows, &[0.5, 0.5, 0.5]).chunks(rows.len()) {
        store.record(run).unwrap();
    }
    store.record(&rows).unwrap();
    file
}

#[test]
fn a_report_with_a_history_says_what_became_slower() {
    let folder = tempfile::tempdir().unwrap();
    let file = slower_job(&folder);
    for more in [&[][..], &["--redact"]] {
        let mut report = sparkls();
        let output =
            report.arg("report").arg(log("healthy-3.5")).arg("--history").arg(&file).args(more).output().unwrap();
        let said = stdout(&output);
        assert!(said.contains("warning[regression]") && said.contains("2.0 x slower than before"), "{said}");
    }
    let gone = folder.path().join("gone.db");
    let output = sparkls().arg("report").arg(log("healthy-3.5")).arg("--history").arg(&gone).output().unwrap();
    assert!(output.status.code() == Some(2) && stderr(&output).contains("gone.db"), "{}", stderr(&output));
}

#[test]
fn history_shows_what_became_slower_first() {
    let folder = tempfile::tempdir().unwrap();
    let file = slower_job(&folder);
    let history = |args: &[&str]| sparkls().args(["history", "--from"]).arg(&file).args(args).output().unwrap();

    let jobs = stdout(&history(&[]));
    assert!(
        jobs.contains(": 4 runs of 1 job\n\nSlower than before\n  healthy\n    the run: 2 min 21 s, 2.0 x"),
        "{jobs}"
    );
    assert!(jobs.contains("▄▄▄█"), "{jobs}");

    let job = stdout(&history(&["healthy"]));
    assert!(job.contains("Slower than before\n  the run: ") && job.contains("earlier-0"), "{job}");
    assert!(job.lines().all(|line| line.chars().count() <= 100), "{job}");

    let key = history::read(&file).unwrap()[0].stage_key.clone();
    let stage = stdout(&history(&["healthy", "--stage", &key]));
    assert!(stage.contains(&key) && stage.contains("70.9 s") && stage.contains("max/med"), "{stage}");
    assert!(stage.lines().all(|line| line.chars().count() <= 100), "{stage}");

    let json: serde_json::Value = serde_json::from_str(&stdout(&history(&["heal", "--format", "json"]))).unwrap();
    let job = &json["jobs"][0];
    assert_eq!((job["job"].as_str(), job["state"].as_str()), (Some("healthy"), Some("slower")));
    assert_eq!(job["regressions"][0]["earlier_runs"], 3);
    assert_eq!(job["rows"].as_array().unwrap().len(), history::read(&file).unwrap().len());

    let unknown = history(&["nightly"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("no job `nightly`; there are:\n  healthy"), "{}", stderr(&unknown));
}

#[test]
fn a_regression_can_fail_a_pipeline() {
    let folder = tempfile::tempdir().unwrap();
    let slower = slower_job(&folder);
    let few = folder.path().join("few.db");
    record(&[log("healthy-3.5")], &few);
    let steady = folder.path().join("steady.jsonl");
    let rows = history::rows_of(&run("healthy-3.5"));
    let mut store = Store::open(&steady).unwrap();
    for run in earlier(&rows, &[1.0, 1.0, 1.0]).chunks(rows.len()) {
        store.record(run).unwrap();
    }
    store.record(&rows).unwrap();
    for (file, expected) in [(slower, 1), (few, 3), (steady, 0)] {
        let mut history = sparkls();
        let status = history.args(["history", "--fail-on-regression", "--from"]).arg(&file).output().unwrap().status;
        assert_eq!(status.code(), Some(expected), "{}", file.display());
    }
}
