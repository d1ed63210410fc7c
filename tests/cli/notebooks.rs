//! Jupyter notebooks on the command line: findings in the right cell, fixes inside the file's strings.

use serde_json::{Value, json};

use super::folder::{Answer, Folder};

/// Twelve cells as a notebook's file has them: outputs with a picture, Markdown, cells for the kernel.
const ORDERS: &str = include_str!("../fixtures/notebooks/orders.ipynb");

fn folder() -> Folder {
    Folder::with(&[("notebooks/orders.ipynb", ORDERS)])
}

fn findings(answer: &Answer) -> Vec<Value> {
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    answer["findings"].as_array().unwrap().clone()
}

/// `cell:line:column rule` of every finding.
fn places(answer: &Answer) -> Vec<String> {
    let place = |finding: &Value| {
        let start = &finding["start"];
        format!("{}:{}:{} {}", finding["cell"], start["line"], start["column"], finding["rule"].as_str().unwrap())
    };
    findings(answer).iter().map(place).collect()
}

#[test]
fn findings_name_their_cells() {
    let answer = folder().run(&["check", "--format", "json", "--min-severity", "information"]);
    let wanted = ["2:5:50 invalid-value", "6:4:49 invalid-value", "9:2:28 collect-unbounded"];
    assert_eq!(places(&answer), wanted, "{}", answer.stdout);
    let severity = findings(&answer)[2]["severity"].clone();
    assert_eq!(severity, json!("information"), "a notebook is no nightly job");
}

#[test]
fn people_see_the_cell_and_its_line() {
    let answer = folder().run(&["check", "--min-severity", "information"]);
    let shown = "notebooks/orders.ipynb:cell 9:2:28: information[collect-unbounded]";
    assert!(answer.stdout.contains(shown), "{}", answer.stdout);
    assert!(answer.stdout.contains("2 | label = \"😀\"; rows = orders.collect()"), "{}", answer.stdout);
}

#[test]
fn machines_see_the_line_of_the_file() {
    let line = ORDERS.lines().position(|line| line.contains("orders.collect()")).unwrap() + 1;
    let answer = folder().run(&["check", "--format", "github", "--min-severity", "information"]);
    assert!(answer.stdout.contains(&format!("line={line},endLine={line},")), "{}", answer.stdout);
    assert!(answer.stdout.contains("::Cell 9: "), "{}", answer.stdout);
    let answer = folder().run(&["check", "--format", "sarif", "--min-severity", "information"]);
    let log: Value = serde_json::from_str(&answer.stdout).unwrap();
    let location = &log["runs"][0]["results"][2]["locations"][0];
    assert_eq!(location["physicalLocation"]["region"]["startLine"], json!(line));
    assert_eq!(location["logicalLocations"][0]["name"], json!("cell 9"));
}

#[test]
fn fixes_are_made_inside_of_the_files_strings() {
    let folder = folder();
    let diff = folder.run(&["check", "--diff", "--select", "unused-suppression,collect-unbounded"]).stdout;
    assert!(diff.contains("-    \"    by_shop.take(5)  # sparkls: ignore[collect-unbounded]\\n\",\n"), "{diff}");
    assert!(diff.contains("+    \"    by_shop.take(5)\\n\",\n"), "{diff}");
    let answer = folder.run(&["check", "--fix", "--select", "unused-suppression,collect-unbounded"]);
    assert!(answer.stderr.contains("1 fix applied"), "{}", answer.stderr);
    let fixed: Value = serde_json::from_str(&folder.read("notebooks/orders.ipynb")).unwrap();
    let mut wanted: Value = serde_json::from_str(ORDERS).unwrap();
    wanted["cells"][9]["source"][2] = json!("    by_shop.take(5)\n");
    assert_eq!(fixed, wanted, "nothing else of the file changed");
    let again = folder.run(&["check", "--fix", "--select", "unused-suppression,collect-unbounded"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""), "{}", again.stdout);
}

#[test]
fn broken_and_foreign_notebooks_do_no_harm() {
    let half = &ORDERS[..ORDERS.find("orders.collect").unwrap()];
    let scala = ORDERS
        .replace("\"language\": \"python\"", "\"language\": \"scala\"")
        .replace("\"name\": \"python\"", "\"name\": \"scala\"");
    let folder = Folder::with(&[("half.ipynb", half), ("scala.ipynb", &scala), ("empty.ipynb", "{\"cells\": []}")]);
    let answer = folder.run(&["check", "--format", "json", "--min-severity", "information"]);
    let of_scala = |finding: &&Value| finding["path"] == "scala.ipynb";
    let rules: Vec<Value> = findings(&answer).iter().filter(of_scala).map(|finding| finding["rule"].clone()).collect();
    assert_eq!(rules, [json!("invalid-value")], "`%%configure` holds for every kernel: {}", answer.stdout);
}
