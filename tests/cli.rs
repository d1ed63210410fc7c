//! The command line as a user meets it: forms of output, exit codes, fixes.

#![allow(clippy::unwrap_used)]

mod cli {
    mod beginner;
    mod carriers;
    mod conf;
    mod diff;
    pub(crate) mod folder;
    mod forms;
    mod modules;
    mod notebooks;
    mod per_path;
    mod sql;
}

use cli::folder::{Answer, Folder};
use serde_json::Value;

/// One setting twice, and one that Spark refuses, behind wide characters in a comment.
const CONF: &str =
    "# 日本 🙂\nspark.executor.memory  2g\nspark.executor.memory  4g\nspark.sql.shuffle.partitions  many\n";
const JOB: &str = "\
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
note = \"🙂\"; rows = spark.read.parquet(\"/data/orders\").collect()
";

fn project() -> Folder {
    Folder::with(&[("conf/spark-defaults.conf", CONF), ("jobs/orders.py", JOB)])
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {}", answer.stdout))
}

/// `path:line:column rule` of every finding.
fn places(answer: &Value) -> Vec<String> {
    let findings = answer["findings"].as_array().expect("findings is a list");
    findings
        .iter()
        .map(|finding| {
            let start = &finding["start"];
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            format!("{}:{}:{} {}", text(&finding["path"]), start["line"], start["column"], text(&finding["rule"]))
        })
        .collect()
}

#[test]
fn nothing_to_say_is_exit_code_0() {
    let folder = Folder::with(&[("job.py", "print('no Spark here')\n")]);
    let answer = folder.run(&["check"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
    assert!(answer.stdout.starts_with("0 findings in 1 file, "), "{}", answer.stdout);
}

#[test]
fn findings_are_exit_code_1_and_only_from_fail_on() {
    let folder = project();
    assert_eq!(folder.run(&["check", "."]).code, 1);
    assert_eq!(folder.run(&["check", ".", "--fail-on", "never"]).code, 0);
    assert_eq!(folder.run(&["check", "jobs", "--fail-on", "error"]).code, 0);
}

#[test]
fn an_unreadable_input_is_named_and_the_others_are_analysed() {
    let folder = project();
    folder.write_bytes("jobs/latin.py", b"import pyspark\nname = 'caf\xe9'\n");
    let answer = folder.run(&["check", "nowhere", "jobs", "conf"]);
    assert_eq!(answer.code, 2);
    assert!(answer.stderr.contains("nowhere: error: "), "{}", answer.stderr);
    assert!(
        answer.stderr.contains("jobs/latin.py: error: not UTF-8 at byte 26, in line 2: save it as UTF-8"),
        "{}",
        answer.stderr
    );
    assert!(answer.stdout.contains("jobs/orders.py:4:"), "{}", answer.stdout);
    assert!(answer.stdout.contains("2 unreadable inputs"), "{}", answer.stdout);
}

#[test]
fn a_log_that_is_none_is_named() {
    let folder = project();
    let answer = folder.run(&["check", "jobs", "--run", "jobs/orders.py", "--format", "json"]);
    assert_eq!(answer.code, 2);
    assert_eq!(json(&answer)["errors"][0]["path"], "jobs/orders.py");
}

#[test]
fn a_mistake_in_the_settings_is_named_at_its_place_and_the_rest_holds() {
    let folder = project();
    folder.write("sparkls.toml", "spark-version = \"3.3\"\nvendr = \"emr\"\n");
    let answer = folder.run(&["check", "--format", "json"]);
    let answer = (answer.code, json(&answer));
    assert_eq!(answer.0, 2);
    assert_eq!(answer.1["spark_version"], "3.3.0");
    assert_eq!(answer.1["errors"][0]["path"], "sparkls.toml");
    assert_eq!(answer.1["errors"][0]["start"]["line"], 2);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let folder = project();
    assert_eq!(folder.run(&["check", "--format", "yaml"]).code, 2);
    let answer = folder.run(&["check", "--select", "duplicate-kye"]);
    assert_eq!(answer.code, 2);
    assert!(answer.stderr.contains("did you mean `duplicate-key`?"), "{}", answer.stderr);
    assert_eq!(folder.run(&["check", "--spark-version", "three"]).code, 2);
}

#[test]
fn columns_count_characters_from_1() {
    let answer = json(&project().run(&["check", "--format", "json"]));
    let places = places(&answer);
    assert!(places.contains(&"conf/spark-defaults.conf:4:31 invalid-value".to_owned()), "{places:?}");
    assert!(places.contains(&"jobs/orders.py:4:55 collect-unbounded".to_owned()), "{places:?}");
}

#[test]
fn json_holds_what_it_promises() {
    let answer = json(&project().run(&["check", "--format", "json"]));
    assert_eq!(answer["version"], 1);
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&answer), ["version", "spark_version", "findings", "measured", "summary", "errors"]);
    for finding in answer["findings"].as_array().expect("a list") {
        assert_eq!(
            keys(finding),
            ["rule", "severity", "confidence", "message", "path", "start", "end", "evidence", "related", "fixes"]
        );
        for fix in finding["fixes"].as_array().expect("a list") {
            assert_eq!(keys(fix), ["title", "kind", "safe", "edits"]);
        }
    }
}

#[test]
fn two_runs_say_the_same() {
    let folder = Folder::with(&[]);
    for number in 0..20 {
        folder.write(&format!("jobs/job_{number}.py"), JOB);
    }
    let first = folder.run(&["check", "--format", "json"]).stdout;
    assert_eq!(first, folder.run(&["check", "--format", "json"]).stdout);
    let places = places(&serde_json::from_str(&first).expect("JSON"));
    assert!(places.len() >= 20 && places.is_sorted(), "{places:?}");
}

#[test]
fn text_shows_the_line_the_evidence_and_the_fix() {
    let answer = project().run(&["check", "conf", "--select", "duplicate-key"]);
    let shown: Vec<&str> = answer.stdout.lines().take(4).collect();
    assert!(shown[0].starts_with("conf/spark-defaults.conf:2:1: "), "{}", answer.stdout);
    assert_eq!(shown[1..], ["  |", "2 | spark.executor.memory  2g", "  | ^^^^^^^^^^^^^^^^^^^^^"], "{}", answer.stdout);
    assert!(answer.stdout.contains("  = fix: "), "{}", answer.stdout);
    assert!(!answer.stdout.contains('\u{1b}'), "a pipe gets no colours");
    let coloured = project().run(&["check", "conf", "--color", "always"]);
    assert!(coloured.stdout.contains('\u{1b}'));
}

#[test]
fn selection_and_severity_filter() {
    let folder = project();
    let rules = |args: &[&str]| -> Vec<String> {
        let all = [&["check", "--format", "json"], args].concat();
        let mut rules: Vec<String> = places(&json(&folder.run(&all)))
            .into_iter()
            .filter_map(|place| place.rsplit_once(' ').map(|(_, rule)| rule.to_owned()))
            .collect();
        rules.sort();
        rules.dedup();
        rules
    };
    assert_eq!(rules(&["--select", "invalid-value"]), ["invalid-value"]);
    assert_eq!(rules(&["--select", "driver"]), ["collect-unbounded"]);
    assert!(!rules(&["--ignore", "invalid-value,duplicate-key"]).contains(&"invalid-value".to_owned()));
    assert_eq!(rules(&["--min-severity", "error"]), ["invalid-value"]);
}

#[test]
fn statistics_count_by_rule() {
    let answer = project().run(&["check", "--statistics", "--select", "invalid-value"]);
    assert!(answer.stdout.contains("     1  invalid-value\n"), "{}", answer.stdout);
}

#[test]
fn fix_applies_safe_fixes_and_keeps_line_ends_and_byte_order_mark() {
    let folder = Folder::with(&[("spark-defaults.conf", &CONF.replace('\n', "\r\n"))]);
    let answer = folder.run(&["check", "--fix"]);
    assert!(answer.stderr.contains("spark-defaults.conf: 1 fix applied"), "{}", answer.stderr);
    let wanted = CONF.replace("spark.executor.memory  2g\n", "").replace('\n', "\r\n");
    assert_eq!(folder.read("spark-defaults.conf"), wanted);
    assert_eq!(answer.code, 1, "what can't be fixed is still reported");
    let again = folder.run(&["check", "--fix"]);
    assert_eq!((again.stderr.as_str(), folder.read("spark-defaults.conf")), ("", wanted));
}

#[test]
fn stdin_is_analysed_as_the_file_that_it_is_named() {
    let folder = Folder::with(&[]);
    let answer = folder.run_with(&["check", "--stdin-filename", "jobs/new.py", "--format", "json"], JOB);
    assert_eq!(places(&json(&answer)), ["jobs/new.py:4:55 collect-unbounded"]);
}

#[test]
fn sarif_points_at_rules_and_regions() {
    let log = json(&project().run(&["check", "--format", "sarif"]));
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert!(results.len() >= 3);
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let location = &result["locations"][0]["physicalLocation"];
        assert!(!location["artifactLocation"]["uri"].as_str().expect("a URI").starts_with("file:"));
        let region = &location["region"];
        assert!(region["startLine"].as_u64() <= region["endLine"].as_u64());
    }
}

#[test]
fn github_gets_one_command_a_finding() {
    let answer = project().run(&["check", "--format", "github"]);
    assert!(answer.stdout.lines().all(|line| line.starts_with("::")), "{}", answer.stdout);
    let value = answer.stdout.lines().find(|line| line.contains("invalid-value")).expect("the finding");
    assert!(
        value.starts_with(
            "::error file=conf/spark-defaults.conf,line=4,endLine=4,col=31,endColumn=34,title=sparkls[invalid-value]::"
        ),
        "{value}"
    );
}

#[test]
fn nested_projects_have_their_own_settings() {
    let folder = Folder::with(&[
        ("a/sparkls.toml", "[rules]\ncollect-unbounded = \"off\"\n"),
        ("a/job.py", JOB),
        ("b/sparkls.toml", "exclude = [\"old\"]\n"),
        ("b/job.py", JOB),
        ("b/old/job.py", JOB),
    ]);
    let answer = json(&folder.run(&["check", "--format", "json", "--select", "collect-unbounded"]));
    assert_eq!(places(&answer), ["a/job.py:4:55 collect-unbounded", "b/job.py:4:55 collect-unbounded"]);
    let answer = json(&folder.run(&["check", "--format", "json"]));
    assert_eq!(places(&answer), ["b/job.py:4:55 collect-unbounded"]);
}

#[test]
fn deep_nesting_is_no_reason_to_fall_over() {
    let deep = format!("import pyspark\nx = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000));
    let folder = Folder::with(&[("deep.py", &deep), ("orders.py", JOB)]);
    let answer = json(&folder.run(&["check", "--format", "json"]));
    assert_eq!(places(&answer), ["orders.py:4:55 collect-unbounded"]);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = Folder::with(&[]);
    for number in 0..50 {
        folder.write(&format!("job_{number}.py"), JOB);
    }
    let answer = folder.run_and_close(&["check", "--format", "json"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
}

#[test]
fn rules_are_listed_and_explained() {
    let folder = Folder::with(&[]);
    let listed = json(&folder.run(&["rules", "--format", "json"]));
    assert_eq!(listed["version"], 1);
    let text = folder.run(&["rules"]).stdout;
    for rule in listed["rules"].as_array().expect("rules") {
        let name = rule["rule"].as_str().expect("a name");
        assert!(text.contains(&format!("  {name} ")), "{name}");
        let page = folder.run(&["explain", name]);
        assert_eq!(page.code, 0);
        assert!(page.stdout.starts_with(name) && page.stdout.contains("\nWhy\n"), "{}", page.stdout);
    }
}

#[test]
fn settings_are_explained() {
    let folder = Folder::with(&[]);
    let page = folder.run(&["explain", "spark.sql.adaptive.enabled"]);
    assert!(page.stdout.contains("Spark 3.2-4.3   true"), "{}", page.stdout);
    let page = folder.run(&["explain", "spark.speculation.quantile"]);
    assert!(page.stdout.contains("  Spark 3.0-3.5   0.75\n  Spark 4.0-4.3   0.9\n"), "{}", page.stdout);
    let flag = folder.run(&["explain", "--executor-memory"]);
    assert!(flag.stdout.starts_with("spark.executor.memory  size"), "{}", flag.stdout);
    let wrong = folder.run(&["explain", "spark.sql.adaptive.enable"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("did you mean `spark.sql.adaptive.enabled`?"), "{}", wrong.stderr);
}

#[test]
fn shells_get_their_completions() {
    let folder = Folder::with(&[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let answer = folder.run(&["completions", shell]);
        assert!(answer.code == 0 && answer.stdout.contains("fail-on"), "{shell}");
    }
}
