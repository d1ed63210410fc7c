//! The numbers of the report, held against a second computation from the raw JSON by `tests/golden/summary.py`, and the
//! findings of every log as they stand in `tests/golden/*.txt` (`SPARKLS_BLESS=1` writes them).

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use similar_asserts::assert_eq;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `sparkls report --format json` on a log.
fn report(log: &Path) -> Value {
    let output =
        Command::new(env!("CARGO_BIN_EXE_sparkls")).args(["report", "--format", "json"]).arg(log).output().unwrap();
    assert!(output.status.success(), "{}: {}", log.display(), String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The second opinion on decoded lines.
fn second_opinion(lines: Vec<u8>) -> Vec<Value> {
    let mut python = Command::new("python3")
        .arg(root().join("tests/golden/summary.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 computes the second opinion");
    let mut input = python.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(&lines));
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The decoded lines of a log in plain text, zstd or gzip, or of the files of a rolled one; `None` for other codecs.
fn decoded(log: &Path) -> Option<Vec<u8>> {
    if log.is_dir() {
        let mut parts: Vec<(u64, PathBuf)> = fs::read_dir(log)
            .unwrap()
            .filter_map(|entry| {
                let path = entry.unwrap().path();
                let index = path.file_name()?.to_str()?.strip_prefix("events_")?.split('_').next()?.parse().ok()?;
                Some((index, path))
            })
            .collect();
        parts.sort();
        return parts.iter().map(|(_, path)| decoded(path)).collect::<Option<Vec<_>>>().map(|parts| parts.concat());
    }
    let bytes = fs::read(log).unwrap();
    let mut lines = Vec::new();
    // A cut stream gives what was whole before the cut, as in the product.
    match bytes.get(..4)? {
        [0x28, 0xb5, 0x2f, 0xfd] => drop(zstd::Decoder::new(&*bytes).unwrap().read_to_end(&mut lines)),
        [0x1f, 0x8b, ..] => drop(flate2::read::MultiGzDecoder::new(&*bytes).read_to_end(&mut lines)),
        [b'{', ..] => lines = bytes,
        _ => return None,
    }
    Some(lines)
}

/// Holds the report's stages against the second opinion, to the last digit.
fn compare(log: &Path, report: &Value) {
    let Some(lines) = decoded(log) else { return };
    let ours = report["stages"].as_array().unwrap();
    let theirs = second_opinion(lines);
    assert_eq!(ours.len(), theirs.len(), "{}: stages", log.display());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        for field in ["stage", "attempt", "tasks", "succeeded", "duration_ms", "read_bytes", "spill_bytes"] {
            assert_eq!(number(&ours[field]), number(&theirs[field]), "{}: {field} of {theirs}", log.display());
        }
    }
    let evaluated = |stage: &Value, attempt: &Value| {
        let attempts = theirs.iter().filter(|other| other["stage"] == *stage);
        let best = attempts.max_by_key(|other| (other["succeeded"].as_u64(), other["attempt"].as_u64())).unwrap();
        best["attempt"] == *attempt
    };
    let expected: Vec<_> = theirs
        .iter()
        .filter(|stage| evaluated(&stage["stage"], &stage["attempt"]))
        .flat_map(|stage| {
            stage["slow_hosts"].as_array().unwrap().iter().map(|host| (stage["stage"].clone(), host.clone()))
        })
        .collect();
    let mut fired: Vec<_> = fired(report, "slow-host").map(|one| (one["stage"].clone(), one["host"].clone())).collect();
    fired.sort_by_key(|(stage, host)| (stage.as_u64(), host.to_string()));
    assert_eq!(fired, expected, "{}: slow hosts", log.display());
}

fn fired<'a>(report: &'a Value, rule: &'a str) -> impl Iterator<Item = &'a Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(move |one| one["state"] == "fired" && one["rule"] == rule)
}

/// Whole and broken numbers of one value are one.
fn number(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), number(value))).collect(),
        other => other.clone(),
    }
}

/// The summary of a log for people: its size and what fired where.
fn summary(report: &Value) -> String {
    let mut text = String::new();
    let stages = report["stages"].as_array().unwrap();
    let tasks: u64 = stages.iter().filter_map(|stage| stage["succeeded"].as_u64()).sum();
    let executions = report["executions"].as_array().unwrap().len();
    let complete = if report["coverage"]["complete"] == true { "complete" } else { "incomplete" };
    writeln!(text, "{complete}: {} stage attempts, {tasks} tasks, {executions} SQL executions", stages.len()).unwrap();
    for stage in stages.iter().filter(|stage| stage["succeeded"].as_u64() > Some(1)) {
        let duration = &stage["duration_ms"];
        let (stage, attempt) = (&stage["stage"], &stage["attempt"]);
        let (median, max) = (&duration["median"], &duration["max"]);
        writeln!(text, "stage {stage}.{attempt}: median {median} ms, longest {max} ms").unwrap();
    }
    for finding in report["findings"].as_array().unwrap().iter().filter(|finding| finding["state"] == "fired") {
        let (rule, severity) = (finding["rule"].as_str().unwrap(), finding["severity"].as_str().unwrap());
        let place = match (&finding["stage"], &finding["host"]) {
            (Value::Null, _) => String::new(),
            (stage, Value::String(host)) => format!(" stage {stage} on {host}"),
            (stage, _) => format!(" stage {stage}"),
        };
        writeln!(text, "{severity} {rule}{place}").unwrap();
    }
    text
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut logs: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    logs.retain(|path| path.extension().is_some_and(|extension| extension == "zst"));
    logs.sort();
    logs
}

#[test]
fn reports_agree_with_a_second_computation_and_their_golden_summaries() {
    let mut stale = Vec::new();
    for log in logs(&root().join("tests/fixtures/runs")) {
        let report = report(&log);
        compare(&log, &report);
        let golden = root().join(format!("tests/golden/{}.txt", log.file_stem().unwrap().to_string_lossy()));
        let summary = summary(&report);
        if std::env::var_os("SPARKLS_BLESS").is_some() {
            fs::write(&golden, &summary).unwrap();
        }
        if fs::read_to_string(&golden).unwrap_or_default() != summary {
            stale.push(format!("{}:\n{summary}", golden.display()));
        }
    }
    assert!(stale.is_empty(), "other than in the golden summaries:\n{}", stale.join("\n"));
}

/// The same for all logs beside the repository, public ones too, where they are.
#[test]
fn reports_on_shared_logs_agree_with_a_second_computation() {
    let shared = std::env::var_os("SPARKLS_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let folder = shared.join("data/eventlogs");
    if !folder.is_dir() {
        let _ = writeln!(std::io::stderr(), "skipped: no {}", folder.display());
        return;
    }
    let mut compared = 0;
    for log in shared_logs(&folder) {
        let output = Command::new(env!("CARGO_BIN_EXE_sparkls"))
            .args(["report", "--format", "json"])
            .arg(&log)
            .output()
            .unwrap();
        // What is no log is refused in one sentence, which other tests read.
        if output.status.success() {
            compare(&log, &serde_json::from_slice(&output.stdout).unwrap());
            compared += 1;
        }
    }
    assert!(compared > 40, "only {compared} logs were compared");
}

/// Files and rolled folders below a folder that may be logs.
fn shared_logs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let other = ["py", "md", "json", "txt", "crc"].iter().any(|one| name.ends_with(&format!(".{one}")));
            if path.is_dir() && !name.starts_with("eventlog_v2_") {
                open.push(path);
            } else if path.is_dir() || !(other || name == "README") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
