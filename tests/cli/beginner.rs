//! The first mistakes: what was typed, and the line that says what to do instead.

use super::folder::{Answer, Folder};

const JOB: &str = "\
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
rows = spark.read.parquet(\"orders\").collect()
";
const TEXT_LOG: &str = "26/11/30 13:00:01 INFO SparkContext: Running Spark version 3.5.1\n";
const EVENTS: &str = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n";

fn folder() -> Folder {
    let folder = Folder::with(&[
        ("jobs/orders.py", JOB),
        ("notes/today.txt", "call Anna\n"),
        ("driver.log", TEXT_LOG),
        ("app-1", EVENTS),
        ("rows.csv", "a,b\n1,2\n"),
    ]);
    folder.write_bytes("rows.parquet", b"PAR1\x15\x04\x00\x00PAR1");
    folder.write_bytes("app-2.zstd", &[0x28, 0xb5, 0x2f, 0xfd, 1, 2, 0xff]);
    folder
}

fn assert_says(answer: &Answer, code: i32, expected: &str) {
    assert_eq!(answer.code, code, "{}{}", answer.stdout, answer.stderr);
    assert!(answer.stderr.contains(expected), "{expected}\n is not in:\n{}", answer.stderr);
}

#[test]
fn mistakes_are_answered_with_what_to_do() {
    let folder = folder();
    // What was typed, the exit code, and what is said.
    let mistakes: &[(&[&str], i32, &str)] = &[
        (&["jobs"], 2, "tip: try `sparkls check jobs`"),
        (&["spark.sql.shuffle.partitions"], 2, "tip: try `sparkls explain spark.sql.shuffle.partitions`"),
        (&["chek", "jobs"], 2, "tip: a similar subcommand exists: 'check'"),
        (&["check", "jbos"], 2, "jbos: error: No such file or directory\n"),
        (&["check", "-"], 2, "-: error: for standard input say which file it is: --stdin-filename jobs/orders.py\n"),
        (
            &["check", "notes"],
            0,
            "notes: note: nothing to look at: no Python, no settings of Spark, nothing that starts",
        ),
        (&["check", "notes/today.txt"], 2, "notes/today.txt: error: neither Python nor settings of Spark\n"),
        (
            &["check", "rows.parquet"],
            2,
            "rows.parquet: error: a binary file; an event log is given with --run, or to `sparkls report`\n",
        ),
        (&["check", "app-1"], 2, "app-1: error: an event log is given with --run, or to `sparkls report`\n"),
        (&["check", "app-2.zstd"], 2, "app-2.zstd: error: a binary file; an event log is given with --run"),
        (
            &["check", "jobs", "--spark-version", "9.9"],
            1,
            "note: the facts of Spark 4.3 stand in for those of 9.9.0; known are 3.0 to 4.3\n",
        ),
        (&["check", "jobs", "--spark-version", "2.4"], 1, "note: the facts of Spark 3.0 stand in for those of 2.4.0;"),
        (&["report", "app-3"], 2, "sparkls: app-3: No such file or directory\n"),
        (
            &["report", "jobs/orders.py"],
            2,
            "if spark.eventLog.enabled is true; `sparkls check jobs/orders.py` looks at code and settings\n",
        ),
        (
            &["report", "driver.log"],
            2,
            "driver.log: the text log of a driver or an executor, not an event log; that is",
        ),
        (
            &["report", "rows.csv"],
            2,
            "rows.csv: not an event log but some other text; event logs are in spark.eventLog",
        ),
        (
            &["report", "notes"],
            2,
            "notes: holds no event log; Spark writes them into spark.eventLog.dir if spark.event",
        ),
        (&["report", "app-1", "--output", "nowhere/r.html"], 2, "sparkls: nowhere/r.html: No such file or directory\n"),
        (&["report", "app-1", "--output", "notes"], 2, "sparkls: notes: Is a directory\n"),
        (&["explain", "shuffle.partitions"], 2, "`shuffle.partitions`, did you mean `spark.sql.shuffle.partitions`?\n"),
        (&["explain", "nonsense"], 2, "there is no rule and no setting `nonsense`; `sparkls rules` lists the rules\n"),
        (&["conf", "notes"], 0, "notes: note: nothing to look at: no Python"),
        (&["history", "--from", "none.db"], 2, "sparkls: none.db: No such file or directory\n"),
        (
            &["record", "app-1", "--to", "nowhere/runs.db"],
            2,
            "sparkls: nowhere/runs.db: can't be opened or made; is its folder there, and may you write into it?\n",
        ),
    ];
    for (typed, code, expected) in mistakes {
        assert_says(&folder.run(typed), *code, expected);
    }
}

#[test]
fn settings_that_find_no_log_say_so() {
    let folder = folder();
    folder.write("jobs/sparkls.toml", "runs = [\"runs/*.zstd\"]\n");
    let answer = folder.run(&["check", "jobs"]);
    assert_says(&answer, 1, "jobs: note: `runs` of the settings finds no event log: runs/*.zstd\n");
    let answer = folder.run(&["check", "jobs", "--run", "app-1"]);
    assert_eq!(answer.stderr, "");
}

#[test]
fn fix_says_what_it_leaves() {
    let answer = folder().run(&["check", "jobs", "--fix"]);
    assert!(
        answer.stdout.ends_with(
            "--fix makes only changes that keep the job's result, marked (--fix); the rest is your choice\n"
        ),
        "{}",
        answer.stdout
    );
}

#[test]
fn notes_are_for_people_only() {
    let folder = folder();
    let answer = folder.run(&["check", "notes", "--format", "json"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
}

#[test]
fn a_server_that_nobody_speaks_to_says_so() {
    let answer = folder().run_with(&["server"], "");
    assert_says(&answer, 1, "standard input ended before an editor said anything");
    assert_eq!(answer.stdout, "");
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::with(&[("locked/orders.py", JOB)]);
    let locked = folder.absolute("locked");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    let is_readable = std::fs::read_dir(&locked).is_ok();
    let answer = folder.run(&["check", "locked"]);
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
    if is_readable {
        eprintln!("skipped: this user may read everything");
        return;
    }
    assert_says(&answer, 2, "locked: error: Permission denied\n");
}

#[test]
fn what_help_breaks_by_hand_fits_80_columns() {
    let folder = folder();
    let pages: [(&[&str], &str); 3] = [
        (&["--help"], "To begin with:"),
        (&["report", "--help"], "Where a log can be:"),
        (&["compare", "--help"], "Exit codes:"),
    ];
    for (typed, from) in pages {
        let help = folder.run(typed).stdout;
        let (_, by_hand) = help.split_once(from).unwrap();
        assert!(by_hand.lines().all(|line| line.chars().count() <= 80), "{by_hand}");
    }
}
