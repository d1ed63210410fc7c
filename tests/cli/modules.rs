//! Helpers and the jobs that call them: findings stand where the call is written, once.

use serde_json::Value;

use super::folder::{Answer, Folder};

const HELPERS: &str = "\
def load(session, name):
    return session.read.parquet(name)


def rows(df):
    return df.collect()


def few(df):
    return df.limit(3).collect()


def save(batch, number):
    batch.write.format(\"delta\").mode(\"append\").option(\"txnAppId\", \"a\").option(\"txnVersion\", number).save(\"a\")
    batch.write.format(\"delta\").mode(\"append\").option(\"txnAppId\", \"b\").option(\"txnVersion\", number).save(\"b\")
";

const JOB: &str = "\
from pyspark.sql import SparkSession

import helpers
from helpers import few, load, save


def main():
    spark = SparkSession.builder.getOrCreate()
    orders = load(spark, \"orders\")
    few(orders)
    helpers.rows(orders)
    stream = spark.readStream.table(\"events\").writeStream.option(\"checkpointLocation\", \"s3a://lake/c\")
    stream.foreachBatch(save).trigger(availableNow=True).start().awaitTermination()


if __name__ == \"__main__\":
    main()
";

/// `path:line severity rule` of every finding.
fn places(answer: &Answer) -> Vec<String> {
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let place = |finding: &Value| {
        let line = &finding["start"]["line"];
        format!("{}:{line} {} {}", text(&finding["path"]), text(&finding["severity"]), text(&finding["rule"]))
    };
    answer["findings"].as_array().unwrap().iter().map(place).collect()
}

fn check(files: &[(&str, &str)]) -> Vec<String> {
    let folder = Folder::with(files);
    let rules = "collect-unbounded,foreach-batch-without-persist";
    places(&folder.run(&["check", ".", "--format", "json", "--min-severity", "hint", "--select", rules]))
}

#[test]
fn a_helper_is_judged_by_its_callers() {
    let wanted = ["helpers.py:6 warning collect-unbounded", "helpers.py:14 warning foreach-batch-without-persist"];
    assert_eq!(check(&[("helpers.py", HELPERS), ("job.py", JOB)]), wanted);
}

#[test]
fn a_helper_that_nobody_calls_with_a_known_frame_is_left_alone() {
    let other =
        "from pyspark.sql import SparkSession\nfrom helpers import rows\n\n\ndef run(frames):\n    rows(frames[0])\n";
    assert_eq!(check(&[("helpers.py", HELPERS), ("other.py", other)]), [""; 0]);
    let test = "from helpers import rows\n\n\ndef test_rows(spark):\n    rows(spark.table(\"t\"))\n";
    assert_eq!(check(&[("helpers.py", HELPERS), ("tests/test_helpers.py", test)]), [""; 0]);
}

#[test]
fn one_caller_that_bounds_the_rows_does_not_speak_for_the_others() {
    let bounded = JOB.replace("helpers.rows(orders)", "helpers.rows(orders.limit(5))").replace("(save)", "(print)");
    assert_eq!(check(&[("helpers.py", HELPERS), ("job.py", &bounded)]), [""; 0]);
    let both = [("helpers.py", HELPERS), ("job.py", JOB), ("small.py", &bounded)];
    assert_eq!(check(&both).len(), 2);
}
