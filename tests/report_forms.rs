//! The report for a pull request and for a browser: complete, and safe whatever a log holds.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn log(name: &str) -> PathBuf {
    root().join(format!("tests/fixtures/runs/{name}.zst"))
}

fn report(log: &Path, format: &str) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_sparkls")).args(["report", "--format", format]).arg(log).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A log whose names try to leave the text that they stand in.
fn hostile(folder: &Path) -> PathBuf {
    let lines = [
        r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}"#,
        r#"{"Event":"SparkListenerApplicationStart","App Name":"<script>alert(1)</script> | `x` @all","App ID":"app-1","Timestamp":1000,"User":"u"}"#,
        r#"{"Event":"SparkListenerApplicationEnd","Timestamp":61000}"#,
    ];
    let path = folder.join("app-1");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

#[test]
fn a_page_shows_the_stages_the_hosts_and_the_plan() {
    let page = report(&log("skewed_join-aqe_off-3.5"), "html");
    for expected in [
        "Where the time went",
        "The run over time",
        "skewed-stage",
        "Task duration",
        "127.0.0.",
        "SortMergeJoin",
        "costly",
    ] {
        assert!(page.contains(expected), "no {expected} in the page");
    }
}

#[test]
fn a_page_loads_nothing_and_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for page in [report(&log("healthy-4.3"), "html"), report(&hostile(folder.path()), "html")] {
        assert!(page.contains("default-src 'none'"));
        for forbidden in ["<script", " src=", "<link", "@import", "url(", "javascript:", "<iframe"] {
            assert!(!page.contains(forbidden), "{forbidden} in the page");
        }
    }
}

/// A run of so many stages at once, in each of which one task of ten spills 4 GiB and takes a minute.
fn wide_run(folder: &Path, stages: u64) -> PathBuf {
    let mut lines = vec![
        r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}"#.to_owned(),
        r#"{"Event":"SparkListenerApplicationStart","App Name":"wide","App ID":"app-wide","Timestamp":1000,"User":"u"}"#
            .to_owned(),
    ];
    for stage in 0..stages {
        let (from, to) = (1000, 61_000);
        for index in 0..10 {
            let (end, spilled) = if index == 0 { (to, 4u64 << 30) } else { (from + 1000, 0) };
            lines.push(format!(
                r#"{{"Event":"SparkListenerTaskEnd","Stage ID":{stage},"Stage Attempt ID":0,"Task End Reason":{{"Reason":"Success"}},"Task Info":{{"Index":{index},"Launch Time":{from},"Executor ID":"1","Host":"worker-1","Locality":"ANY","Speculative":false,"Finish Time":{end}}},"Task Metrics":{{"Executor Deserialize Time":1,"Executor Run Time":{},"Result Size":1,"JVM GC Time":0,"Memory Bytes Spilled":{spilled},"Disk Bytes Spilled":{spilled}}}}}"#,
                end - from
            ));
        }
        lines.push(format!(
            r#"{{"Event":"SparkListenerStageCompleted","Stage Info":{{"Stage ID":{stage},"Stage Attempt ID":0,"Stage Name":"n","Number of Tasks":10,"Submission Time":{from},"Completion Time":{to}}}}}"#
        ));
    }
    lines.push(r#"{"Event":"SparkListenerApplicationEnd","Timestamp":62000}"#.to_owned());
    let path = folder.join("app-wide");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

#[test]
fn a_report_for_people_ends_where_nobody_reads_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = wide_run(folder.path(), 60);
    let text = report(&log, "text");
    assert!(text.lines().count() < 400, "{text}");
    assert!(text.contains("findings more ("), "{text}");
    let told: serde_json::Value = serde_json::from_str(&report(&log, "json")).unwrap();
    let fired = |finding: &&serde_json::Value| finding["state"] == "fired";
    assert!(told["findings"].as_array().unwrap().iter().filter(fired).count() > 60);
}

#[test]
fn a_comment_folds_what_is_not_needed_at_once() {
    let text = report(&log("skewed_join-4.3"), "md");
    assert!(text.starts_with("### skewed-join\n"), "{text}");
    assert!(text.contains("| 4 | join |"), "{text}");
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
}

#[test]
fn a_comment_takes_names_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let text = report(&hostile(folder.path()), "md");
    assert!(text.starts_with("### &lt;script>alert(1)&lt;/script> \\| \\`x\\` \\@all\n"), "{text}");
}

/// No name and no path of the log is left in a redacted report of any form, and it still says what was found.
#[test]
fn a_redacted_report_can_be_shown_to_others() {
    let log = log("skewed_join-aqe_off-3.5");
    for format in ["text", "json", "md", "html"] {
        let args = ["report", "--redact", "--all", "--format", format];
        let output = Command::new(env!("CARGO_BIN_EXE_sparkls")).args(args).arg(&log).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("skewed-stage") && text.contains("host-1"), "{format}: {text}");
        for secret in ["127.0.0.", "/opt/", "app-2026", "local-17", "skewed-join", "tests/fixtures"] {
            assert!(!text.contains(secret), "{secret} in {format}: {text}");
        }
    }
}
