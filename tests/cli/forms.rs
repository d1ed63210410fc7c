//! Forms of output for machines. `tests/packaging` holds SARIF and JUnit against their official schemas.

use super::folder::{Answer, Folder};
use crate::project;
use serde_json::Value;

fn lines(answer: &Answer) -> Vec<Value> {
    answer.stdout.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect()
}

#[test]
fn json_lines_hold_what_json_holds() {
    let folder = project();
    let whole: Value = serde_json::from_str(&folder.run(&["check", "--format", "json"]).stdout).expect("JSON");
    let answer = folder.run(&["check", "nowhere", ".", "--format", "jsonl"]);
    assert_eq!(answer.code, 2);
    let lines = lines(&answer);
    let of_kind = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).cloned().collect::<Vec<_>>();
    let findings: Vec<Value> = of_kind("finding")
        .into_iter()
        .map(|mut line| {
            let object = line.as_object_mut().expect("an object");
            assert_eq!(object.remove("version"), Some(1.into()));
            object.remove("kind");
            line
        })
        .collect();
    assert_eq!(Value::Array(findings), whole["findings"]);
    assert_eq!(of_kind("error")[0]["path"], "nowhere");
}

#[test]
fn a_test_fails_where_the_exit_code_does() {
    let folder = project();
    let count = |text: &str, word: &str| text.matches(word).count();
    let strict = folder.run(&["check", "--format", "junit", "--fail-on", "hint"]).stdout;
    let lax = folder.run(&["check", "--format", "junit", "--fail-on", "error"]).stdout;
    let never = folder.run(&["check", "--format", "junit", "--fail-on", "never"]);
    let all = count(&strict, "<testcase ");
    assert!(all >= 3, "{strict}");
    assert_eq!(count(&strict, "<failure "), all);
    assert_eq!((count(&lax, "<testcase "), count(&lax, "<failure ")), (all, 1), "{lax}");
    assert_eq!((never.code, count(&never.stdout, "<failure "), count(&never.stdout, "<system-out>")), (0, 0, all));
    assert!(lax.contains("failures=\"1\" errors=\"0\""), "{lax}");
    assert!(lax.contains("<testsuite name=\"conf/spark-defaults.conf\" file=\"conf/spark-defaults.conf\" "), "{lax}");
    assert!(lax.contains("name=\"invalid-value at line 4, column 31\""), "{lax}");
}

#[test]
fn an_unreadable_input_is_an_error_of_the_tests() {
    let answer = Folder::with(&[]).run(&["check", "a&b<c>\"d\".py", "--format", "junit"]);
    assert_eq!(answer.code, 2);
    assert!(answer.stdout.contains("errors=\"1\""), "{}", answer.stdout);
    assert!(answer.stdout.contains("name=\"a&amp;b&lt;c&gt;&quot;d&quot;.py\""), "{}", answer.stdout);
}

#[test]
fn nothing_found_is_a_passed_test() {
    let folder = Folder::with(&[("job.py", "print('no Spark here')\n")]);
    let answer = folder.run(&["check", "--format", "junit"]);
    assert_eq!(answer.code, 0);
    assert!(answer.stdout.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{}", answer.stdout);
    assert!(answer.stdout.contains("name=\"no findings in 1 file\"/>"), "{}", answer.stdout);
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = Folder::with(&[]);
    let page = folder.run(&["man"]);
    let title = concat!(".TH sparkls 1  \"sparkls ", env!("CARGO_PKG_VERSION"), "\"");
    assert!(page.code == 0 && page.stdout.contains(title), "{}", page.stdout);
    assert!(page.stdout.contains("sparkls\\-check(1)") && !page.stdout.contains("sparkls\\-man(1)"), "{}", page.stdout);
    assert_eq!(folder.run(&["man", "--to", "man1"]).code, 0);
    let check = folder.read("man1/sparkls-check.1");
    assert!(check.contains(&title.replacen("sparkls", "sparkls-check", 1)) && check.contains("fail\\-on"), "{check}");
}
