//! `sparkls check` on what is neither Python nor a settings file.

use super::folder::Folder;

/// A value that Spark refuses, and a fix for it.
const RUN: &str = "#!/bin/bash\nspark-submit --conf spark.executor.memory=4gib jobs/daily.py\n";

#[test]
fn files_without_spark_are_neither_counted_nor_complained_of() {
    let folder = Folder::with(&[
        ("run.sh", RUN),
        ("values.yaml", "replicas: 2\n"),
        ("package.json", "{\"name\": \"x\"}\n"),
        ("nginx.conf", "worker_processes 1;\n"),
    ]);
    folder.write_bytes("latin.yaml", b"name: caf\xe9\n");
    let answer = folder.run(&["check", "--spark-version", "3.5"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (1, ""));
    assert!(answer.stdout.contains(" in 1 file, "), "{}", answer.stdout);
}

#[test]
fn a_carrier_of_unreadable_bytes_is_named() {
    let folder = Folder::with(&[]);
    folder.write_bytes("run.sh", b"# caf\xe9\nspark-submit --executor-memory 4g jobs/daily.py\n");
    let answer = folder.run(&["check"]);
    assert_eq!(answer.code, 2);
    assert!(answer.stderr.contains("run.sh: error: not UTF-8 at byte 5"), "{}", answer.stderr);
}

#[test]
fn a_named_file_without_spark_is_told_and_is_no_failure() {
    let folder = Folder::with(&[("values.yaml", "replicas: 2\n"), ("notes.txt", "Spark is fine\n")]);
    let answer = folder.run(&["check", "values.yaml"]);
    assert_eq!(answer.code, 0);
    assert_eq!(answer.stderr, "values.yaml: note: nothing in it sets something of Spark or starts a job\n");
    let answer = folder.run(&["check", "notes.txt"]);
    assert_eq!(answer.code, 2);
    assert!(answer.stderr.contains("notes.txt: error: neither Python nor settings of Spark"), "{}", answer.stderr);
}

#[test]
fn a_script_without_an_ending_is_known_by_its_first_line() {
    let folder = Folder::with(&[("bin/nightly", RUN), ("bin/README", RUN.trim_start_matches("#!/bin/bash\n"))]);
    let answer = folder.run(&["check", "--spark-version", "3.5"]);
    assert!(answer.stdout.contains("bin/nightly:2:43: error[invalid-value]"), "{}", answer.stdout);
    assert!(answer.stdout.contains(" in 1 file, "), "{}", answer.stdout);
}

#[test]
fn large_data_is_left_alone_unless_it_is_named() {
    let rows = "  - {a: 1, b: 2, c: 3, d: 4}\n".repeat(100_000);
    let text = format!("sparkConf:\n  spark.executor.memory: 4gib\nrows:\n{rows}");
    let folder = Folder::with(&[("data.yaml", text.as_str())]);
    let answer = folder.run(&["check", "--spark-version", "3.5"]);
    assert!(answer.stdout.contains("0 findings in 0 files"), "{}", answer.stdout);
}

#[test]
fn fixes_reach_carriers_and_what_depends_on_them() {
    let folder = Folder::with(&[("run.sh", RUN)]);
    let diff = folder.run(&["check", "--spark-version", "3.5", "--diff"]);
    let stdin = folder.run_with(&["check", "--spark-version", "3.5", "--stdin-filename", "run.sh"], RUN);
    assert!(stdin.stdout.contains("run.sh:2:43: error[invalid-value]"), "{}", stdin.stdout);
    let fixed = folder.run(&["check", "--spark-version", "3.5", "--fix"]);
    let text = folder.read("run.sh");
    assert_eq!(diff.stdout.contains("+spark-submit"), text != RUN, "{}", diff.stdout);
    assert_eq!(fixed.stderr.contains("run.sh: "), text != RUN, "{}", fixed.stderr);
}
