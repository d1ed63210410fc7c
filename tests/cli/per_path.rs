//! `[rules.per-path]`: other levels for some files.

use super::folder::Folder;

const JOB: &str = "from pyspark.sql import SparkSession\n\
                   spark = SparkSession.builder.getOrCreate()\n\
                   rows = spark.table(\"shops\").collect()\n";

#[test]
fn levels_hold_for_the_files_of_their_globs() {
    let settings = "[rules.per-path.\"tools/**\"]\ncollect-unbounded = \"off\"\n\
                    [rules.per-path.\"strict_*.py\"]\ncollect-unbounded = \"error\"\n";
    let files = [("sparkls.toml", settings), ("tools/a.py", JOB), ("jobs/strict_b.py", JOB), ("jobs/c.py", JOB)];
    let folder = Folder::with(&files);
    let answer = folder.run(&["check", "--format", "github"]);
    let lines: Vec<&str> = answer.stdout.lines().map(|line| line.split(",line").next().unwrap_or_default()).collect();
    assert_eq!(lines, ["::warning file=jobs/c.py", "::error file=jobs/strict_b.py"], "{}", answer.stdout);
    let ignored = folder.run(&["check", "--ignore", "collect-unbounded"]);
    assert_eq!(ignored.code, 0, "the command line is stronger: {}", ignored.stdout);
    let group = folder.run(&["check", "--select", "driver", "--format", "github"]);
    assert_eq!(group.stdout.lines().count(), 2, "{}", group.stdout);
}

#[test]
fn a_broken_glob_is_named_at_its_place() {
    let folder =
        Folder::with(&[("sparkls.toml", "[rules.per-path.\"a[\"]\ncollect-unbounded = \"off\"\n"), ("a.py", JOB)]);
    let answer = folder.run(&["check"]);
    assert_eq!(answer.code, 2);
    assert!(answer.stderr.contains("sparkls.toml:1:17: error: `a[` is no glob"), "{}", answer.stderr);
}
