//! `sparkls conf`: who sets what, who wins, and what an upgrade changes.

use super::folder::Folder;
use serde_json::Value;

const JOB: &str = "\
from pyspark.sql import SparkSession
spark = SparkSession.builder.appName(\"daily\").config(\"spark.executor.cores\", \"4\").getOrCreate()
spark.conf.set(\"spark.sql.shuffle.partitions\", \"500\")
spark.conf.set(\"spark.executor.memory\", \"32g\")
";
const DEFAULTS: &str = "spark.executor.memory 2g\nspark.executor.cores 1\nspark.sql.shuffle.partitions 48\n";
const RUN: &str = "\
#!/bin/sh
spark-submit --conf spark.sql.shuffle.partitions=96 \\
  --executor-memory 8g --conf spark.driver.memory=${MEM} jobs/daily.py
";

fn project(more: &[(&str, &str)]) -> Folder {
    let files = [
        ("conf/spark-defaults.conf", DEFAULTS),
        ("run.sh", RUN),
        ("jobs/daily.py", JOB),
        ("requirements.txt", "pyspark==3.5.1\n"),
    ];
    Folder::with(&[&files, more].concat())
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    let answer = folder.run(&[args, &["--format", "json"]].concat());
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    serde_json::from_str(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {}", answer.stdout))
}

/// The keys in a list of objects.
fn keys(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter().map(|one| one["key"].as_str().expect("a key")).collect()
}

#[test]
fn a_folder_is_seen_at_a_glance() {
    let folder = project(&[
        ("more.sh", "spark-submit twice.py\nspark-submit $JOB\n"),
        ("a/twice.py", JOB),
        ("b/twice.py", JOB),
        ("values.yaml", "replicas: 2\n"),
    ]);
    let page = folder.run(&["conf"]).stdout;
    for line in [
        "  Spark 3.5.1                 requirements.txt\n",
        "  Settings file of Spark      conf/spark-defaults.conf\n",
        "      started by spark-submit in run.sh:2\n",
        "  conf/spark-defaults.conf  3 settings\n",
        "      line 2, spark-submit: jobs/daily.py (jobs/daily.py)\n",
        "        twice.py may be a/twice.py or b/twice.py: what their code sets is left out\n",
        "        $JOB is filled in when it runs: what its code sets is not known here\n",
    ] {
        assert!(page.contains(line), "{line}\nis not in\n{page}");
    }
    assert!(!page.contains("values.yaml"), "{page}");
}

#[test]
fn a_job_shows_winners_and_losers_with_their_places() {
    let page = project(&[]).run(&["conf", "jobs/daily.py"]).stdout;
    assert_eq!(
        page,
        "\
Spark 3.5.1  requirements.txt

jobs/daily.py, started by spark-submit in run.sh:2
  spark.app.name = daily                                 SparkSession.builder in jobs/daily.py:2
  spark.driver.memory = ${MEM} (filled in when it runs)  --conf in run.sh:3
  spark.executor.cores = 4                               SparkSession.builder in jobs/daily.py:2
      over 1, conf/spark-defaults.conf:2: code wins over how the job is started
  spark.executor.memory = 8g                             --executor-memory in run.sh:3
      over 32g, spark.conf.set in jobs/daily.py:4: a session that runs does not take it
      over 2g, conf/spark-defaults.conf:1: a flag wins over a settings file
  spark.sql.shuffle.partitions = 500                     spark.conf.set in jobs/daily.py:3
      over 96, --conf in run.sh:2: until line 3 sets it at run time
      over 48, conf/spark-defaults.conf:3: until line 3 sets it at run time

"
    );
}

#[test]
fn several_commands_show_what_they_share_and_what_each_adds() {
    let folder = project(&[("late.sh", "spark-submit --executor-memory 4g jobs/daily.py\n")]);
    let jobs = json(&folder, &["conf", "jobs/daily.py"])["jobs"].take();
    let kinds: Vec<&str> = jobs.as_array().unwrap().iter().map(|job| job["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["script", "launch", "launch"]);
    assert_eq!(keys(&jobs[0]["settings"]), ["spark.app.name", "spark.executor.cores"]);
    assert_eq!(jobs[1]["started_by"][0]["path"], "late.sh");
    assert_eq!(keys(&jobs[1]["settings"]), ["spark.executor.memory", "spark.sql.shuffle.partitions"]);
    assert_eq!(jobs[1]["settings"][0]["value"], "4g");
    assert_eq!(jobs[2]["settings"][1]["value"], "8g");
}

#[test]
fn json_names_carriers_places_and_reasons() {
    let jobs = json(&project(&[]), &["conf", "run.sh"])["jobs"].take();
    assert_eq!(jobs[0]["kind"], "command");
    assert_eq!(jobs[0]["application"]["scripts"][0], "jobs/daily.py");
    let memory = jobs[0]["settings"].as_array().unwrap().iter().find(|row| row["key"] == "spark.executor.memory");
    let memory = memory.expect("it is set");
    assert_eq!(memory["from"]["carrier"], "submit-flag");
    assert_eq!((&memory["from"]["path"], &memory["from"]["line"]), (&"run.sh".into(), &3.into()));
    assert_eq!(memory["overrides"][0]["reason"], "a flag wins over a settings file");
    let template = jobs[0]["settings"].as_array().unwrap().iter().find(|row| row["state"] == "template");
    assert_eq!(template.expect("one is filled in")["value"], "${MEM}");
}

#[test]
fn a_key_is_asked_for_in_a_job_or_in_all() {
    let folder = project(&[]);
    let page = folder.run(&["conf", "jobs/daily.py", "spark.executor.memory"]).stdout;
    assert!(page.contains("Default: 1g (Spark 3.0-4.3)\n"), "{page}");
    assert!(page.contains("  spark.executor.memory = 8g  --executor-memory in run.sh:3\n"), "{page}");
    let everywhere = json(&folder, &["conf", "spark.executor.memory"]);
    assert_eq!(everywhere["jobs"].as_array().unwrap().len(), 1, "{everywhere}");
}

#[test]
fn a_key_that_nobody_sets_has_a_default_and_a_history() {
    let page = project(&[]).run(&["conf", "spark.speculation.quantile"]).stdout;
    assert!(page.contains("Default: 0.75 (Spark 3.0-3.5), 0.9 (4.0-4.3)\n"), "{page}");
    assert!(page.contains("Nobody sets it here: 0.75, the default of Spark 3.5.\n"), "{page}");
    let unpinned = Folder::with(&[("spark-defaults.conf", "spark.executor.memory 2g\n")]);
    let page = unpinned.run(&["conf", "spark.speculation.quantile"]).stdout;
    let range = "Nobody sets it here, and nothing says which Spark runs: 0.75 (Spark 3.0-3.5), 0.9 (4.0-4.3).\n";
    assert!(page.contains(range), "{page}");
}

#[test]
fn a_key_that_falls_back_shows_the_other() {
    let folder = Folder::with(&[("spark-defaults.conf", "spark.locality.wait 5s\n")]);
    let page = folder.run(&["conf", "spark.locality.wait.node"]).stdout;
    let wanted = ["it has the value of spark.locality.wait", "  spark.locality.wait = 5s  spark-defaults.conf:1\n"];
    assert!(wanted.iter().all(|line| page.contains(line)), "{page}");
}

#[test]
fn words_that_are_nothing_are_wrong_usage() {
    let folder = project(&[]);
    for (args, wanted) in [
        (vec!["conf", "spark.sql.shufle.partitions"], "did you mean `spark.sql.shuffle.partitions`?"),
        (vec!["conf", "nowhere.py"], "there is no file and no setting `nowhere.py`"),
        (vec!["conf", "spark.executor.memory", "spark.executor.cores"], "one key at a time"),
        (vec!["conf", "--upgrade", "4.0..3.5"], "3.5.0 is older than 4.0.0"),
        (vec!["conf", "--upgrade", "4.0"], "write it as 3.5..4.0"),
        (vec!["conf", "--upgrade", "..3.0"], "the project runs on Spark 3.5.1"),
    ] {
        let answer = folder.run(&args);
        assert_eq!(answer.code, 2, "{args:?}: {}", answer.stdout);
        assert!(answer.stderr.contains(wanted), "{args:?}: {}", answer.stderr);
    }
}

#[test]
fn an_upgrade_lists_exactly_what_changes() {
    let conf = "\
spark.speculation true
spark.sql.adaptive.enabled true
spark.sql.adaptive.skewJoin.enabled true
spark.sql.adaptive.skewJoin.skewedPartitionFactor 4
";
    let folder = Folder::with(&[("conf/spark-defaults.conf", conf)]);
    let answer = json(&folder, &["conf", "--upgrade", "3.5..4.0"])["projects"][0].take();
    assert_eq!(answer["written"], Value::Array(Vec::new()));
    let relied_on: Vec<(&str, &str, &str)> = answer["relied_on"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let text = |value: &'static str| one[value]["text"].as_str().unwrap();
            (one["key"].as_str().unwrap(), text("old"), text("new"))
        })
        .collect();
    assert_eq!(
        relied_on,
        [("spark.speculation.multiplier", "1.5", "3.0"), ("spark.speculation.quantile", "0.75", "0.9")]
    );
    assert!(keys(&answer["others"]).contains(&"spark.sql.ansi.enabled"), "{answer}");
    let page = folder.run(&["conf", "--upgrade", "3.5..4.0"]).stdout;
    assert!(page.contains("  spark.speculation.quantile    0.75 -> 0.9, as spark.speculation is set\n"), "{page}");
}

#[test]
fn an_upgrade_holds_written_values_against_both_versions() {
    let conf = "\
spark.speculation.quantile 0.75
spark.mesos.coarse true
spark.sql.adaptive.enabled false
spark.sql.legacy.timeParserPolicy LEGACY
";
    let folder = Folder::with(&[("spark-defaults.conf", conf), ("requirements.txt", "pyspark==3.1.2\n")]);
    let answer = json(&folder, &["conf", "--upgrade", "..4.0", "spark-defaults.conf"])["projects"][0].take();
    assert_eq!(answer["from"], "3.1.2");
    let found: Vec<(&str, &str, &str)> = answer["written"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let (change, place) = (&one["changes"][0]["change"], &one["places"][0]["standing"]);
            (one["key"].as_str().unwrap(), change.as_str().unwrap(), place.as_str().unwrap())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("spark.mesos.coarse", "not-read", "own"),
            ("spark.speculation.quantile", "default", "old-default"),
            ("spark.sql.adaptive.enabled", "default", "old-default"),
            ("spark.sql.legacy.timeParserPolicy", "default", "own"),
        ]
    );
}

/// Every default that changes, by the facts that were read from Spark apart from the table that sparkls carries.
#[test]
fn the_defaults_that_change_are_those_of_spark() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("SPARKLS_SHARED").map_or_else(|| root.join("../shared"), Into::into);
    let Ok(text) = std::fs::read_to_string(shared.join("data/settings/settings.json")) else {
        eprintln!("skipped: no facts beside the repository");
        return;
    };
    let facts: serde_json::Map<String, Value> = serde_json::from_str(&text).expect("facts are JSON");
    let folder = Folder::with(&[("sparkls.toml", "")]);
    for (range, from, to) in [("3.5..4.0", "3.5.9", "4.0.5"), ("3.0..4.3", "3.0.3", "4.3.0")] {
        let answer = json(&folder, &["conf", "--all", "--upgrade", range])["projects"][0].take();
        let differs = |old: &Value, new: &Value| match (old.as_str(), new.as_str()) {
            (Some(old), Some(new)) => {
                let number = |text: &str| text.parse::<f64>().ok();
                !old.eq_ignore_ascii_case(new) && (number(old).is_none() || number(old) != number(new))
            }
            _ => old != new,
        };
        let changed = |setting: &Value| {
            let default = |version: &str| setting["versions"].get(version);
            default(from).zip(default(to)).is_some_and(|(old, new)| differs(old, new))
        };
        let mut wanted: Vec<&str> = facts.iter().filter(|(_, one)| changed(one)).map(|(key, _)| key.as_str()).collect();
        wanted.sort_unstable();
        assert_eq!(keys(&answer["others"]), wanted, "{range}");
    }
}
