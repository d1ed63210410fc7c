//! Scripts and cells of SQL on the command line: which files are Spark's, and where their findings stand.

use serde_json::{Value, json};

use super::folder::{Answer, Folder};

const PAIRS: &str = "INSERT INTO mart.pairs\nSELECT s.id, t.id FROM raw.sales s, raw.targets t;\n";
const JOB: &str = "from pyspark.sql import SparkSession\n";

/// `path:line:column rule` of every finding; the line of a notebook with its cell.
fn places(answer: &Answer) -> Vec<String> {
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    let place = |finding: &Value| {
        let start = &finding["start"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let cell = finding["cell"].as_u64().map(|cell| format!("{cell}:")).unwrap_or_default();
        format!("{}:{cell}{}:{} {}", text(&finding["path"]), start["line"], start["column"], text(&finding["rule"]))
    };
    answer["findings"].as_array().unwrap().iter().map(place).collect()
}

const JSON: [&str; 5] = ["check", "--format", "json", "--min-severity", "information"];

#[test]
fn scripts_beside_code_of_spark_are_read() {
    let folder = Folder::with(&[("job.py", JOB), ("sql/pairs.sql", PAIRS), ("pyproject.toml", "")]);
    assert_eq!(places(&folder.run(&JSON)), ["sql/pairs.sql:2:35 cartesian-join"]);
    let of_folder = folder.run(&[&JSON[..], &["sql"]].concat());
    assert_eq!(places(&of_folder), ["sql/pairs.sql:2:35 cartesian-join"]);
}

#[test]
fn scripts_elsewhere_are_read_when_they_are_named() {
    let folder = Folder::with(&[("app.py", "import flask\n"), ("pairs.sql", PAIRS), ("pyproject.toml", "")]);
    assert_eq!(places(&folder.run(&JSON)), [""; 0]);
    let named = folder.run(&[&JSON[..], &["pairs.sql"]].concat());
    assert_eq!(places(&named), ["pairs.sql:2:35 cartesian-join"]);
    folder.write("sparkls.toml", "");
    assert_eq!(places(&folder.run(&JSON)), [""; 0], "settings that say nothing");
    folder.write("sparkls.toml", "spark-version = \"3.5\"\n");
    assert_eq!(places(&folder.run(&JSON)), ["pairs.sql:2:35 cartesian-join"]);
}

#[test]
fn scripts_of_other_databases_are_left_alone() {
    let postgres = format!("CREATE TABLE t (id BIGSERIAL PRIMARY KEY);\n{PAIRS}");
    let model = format!("{{{{ config(materialized='table') }}}}\n{PAIRS}");
    let folder = Folder::with(&[("job.py", JOB), ("migrations/1.sql", &postgres), ("models/pairs.sql", &model)]);
    let answer = folder.run(&JSON);
    assert_eq!((places(&answer).len(), answer.stderr.as_str()), (0, ""), "{}", answer.stdout);
    let named = folder.run(&[&JSON[..], &["migrations/1.sql"]].concat());
    assert_eq!((places(&named).len(), named.code), (0, 0), "{}", named.stdout);
}

#[test]
fn a_command_names_the_script_that_it_runs() {
    let run = "#!/bin/sh\nspark-sql --conf spark.sql.ansi.enabled=maybe -f sql/pairs.sql\n";
    let folder = Folder::with(&[("run.sh", run), ("sql/pairs.sql", PAIRS), ("pyproject.toml", "")]);
    let answer = folder.run(&["conf", "sql/pairs.sql"]);
    assert!(answer.stdout.contains("run.sh"), "{}", answer.stdout);
}

/// A notebook of cells: their language and their text.
fn notebook(cells: &[(&str, &str)]) -> String {
    let cell = |(language, source): &(&str, &str)| {
        let metadata = if *language == "python" { json!({}) } else { json!({ "vscode": { "languageId": language } }) };
        json!({ "cell_type": "code", "metadata": metadata, "outputs": [], "source": source.split_inclusive('\n').collect::<Vec<_>>() })
    };
    let cells: Vec<Value> = cells.iter().map(cell).collect();
    json!({ "cells": cells, "metadata": { "language_info": { "name": "python" } }, "nbformat": 4 }).to_string()
}

const START: &str = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n\
                     spark.table('raw.sales').createOrReplaceTempView('sales')\n";

#[test]
fn cells_of_sql_and_of_python_share_their_views() {
    let cells = [
        ("python", START),
        ("python", "%%sql\nCREATE OR REPLACE TEMP VIEW pairs AS\nSELECT s.id, '🙂' FROM sales s, raw.targets t"),
        ("sql", "INSERT INTO mart.pairs\nSELECT a.id FROM sales a CROSS JOIN sales b"),
        ("python", "%%sql -o rows\nSET spark.sql.shuffle.partitions = many"),
        ("python", "rows = spark.table('pairs').collect()\nprint(rows)"),
    ];
    let folder = Folder::with(&[("pairs.ipynb", &notebook(&cells))]);
    let wanted = [
        "pairs.ipynb:2:3:30 cartesian-join",
        "pairs.ipynb:3:2:26 cartesian-join",
        "pairs.ipynb:4:2:36 invalid-value",
        "pairs.ipynb:5:1:29 collect-unbounded",
    ];
    let answer = folder.run(&JSON);
    assert_eq!(places(&answer), wanted, "{}", answer.stdout);
}

#[test]
fn comments_of_a_cell_of_sql_suppress_and_are_offered() {
    let cells = [
        ("python", START),
        (
            "python",
            "%%sql\nINSERT INTO mart.pairs\nSELECT s.id FROM sales s, raw.targets t -- sparkls: ignore[cartesian-join] small\n",
        ),
        ("python", "%%sql\n-- sparkls: ignore[cartesian-join]\nSELECT 1"),
    ];
    let folder = Folder::with(&[("pairs.ipynb", &notebook(&cells))]);
    let answer = folder.run(&["check", "--format", "json", "--min-severity", "hint"]);
    assert_eq!(places(&answer), ["pairs.ipynb:3:2:20 unused-suppression"], "{}", answer.stdout);
}

#[test]
fn cells_for_other_databases_are_left_alone() {
    let pairs = "SELECT s.id FROM sales s, targets t";
    let loaded = [("python", START), ("python", "%load_ext sql"), ("python", &format!("%%sql\n{PAIRS}"))];
    let named = [("python", START), ("python", &format!("%%sql postgresql://host/db\n{PAIRS}"))];
    let plain = [("python", "import pandas as pd"), ("python", &format!("%%sql\n{pairs}"))];
    let folder = Folder::with(&[
        ("loaded.ipynb", &notebook(&loaded)),
        ("named.ipynb", &notebook(&named)),
        ("plain.ipynb", &notebook(&plain)),
    ]);
    let answer = folder.run(&JSON);
    assert_eq!(places(&answer), [""; 0], "{}", answer.stdout);
}
