//! Definition, references and highlights of a setting across a project, and what follows when one of its files changes.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, QUIET, at, uri};

const DEFAULTS: &str = "# of the cluster\nspark.executor.memory 2g\nspark.sql.shuffle.partitions 300\n";
const RUN: &str = "spark-submit --conf spark.sql.shuffle.partitions=400 \\\n  --executor-memory 8g jobs/daily.py\n";
const JOB: &str = "from pyspark.sql import SparkSession\n\
    spark = SparkSession.builder.config(\"spark.sql.shuffle.partitions\", \"500\").getOrCreate()\n\
    spark.read.parquet(\"x\").groupBy(\"a\").count().write.parquet(\"y\")\n";

fn write(root: &Path, name: &str, text: &str) -> String {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    uri(&path)
}

/// A folder with a job, what starts it, and the cluster's defaults: their addresses.
fn project() -> (tempfile::TempDir, [String; 3]) {
    let root = tempfile::tempdir().unwrap();
    let files = [("conf/spark-defaults.conf", DEFAULTS), ("run.sh", RUN), ("jobs/daily.py", JOB)];
    let uris = files.map(|(name, text)| write(root.path(), name, text));
    (root, uris)
}

/// Waits until the folder's files are read.
async fn scanned(client: &mut Client, sources: u64) {
    loop {
        let status = client.request("sparkls/status", Value::Null).await.unwrap();
        if status["projects"][0]["sources"] == sources {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

/// `file:line:column` of each place, in order.
async fn places(client: &mut Client, method: &str, uri: &str, line: u32, character: u32) -> Vec<String> {
    let mut params = at(uri, line, character);
    params["context"] = json!({ "includeDeclaration": true });
    let found = client.request(method, params).await.unwrap();
    let shown = |place: &Value| {
        let start = &place["range"]["start"];
        let file = place["uri"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        format!("{file}:{}:{}", start["line"], start["character"])
    };
    found.as_array().map(|found| found.iter().map(shown).collect()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definition_goes_to_the_winner_and_from_there_to_the_losers() {
    let (root, [defaults, run, job]) = project();
    let mut client = Client::start(json!({}), root.path()).await;
    client.open_as(&run, "shellscript", RUN).await;
    client.open_as(&defaults, "properties", DEFAULTS).await;
    client.open(&job, JOB).await;
    scanned(&mut client, 3).await;
    let definition = "textDocument/definition";
    // The code decides, so the script leads there; the winner leads to those that it overrides.
    assert_eq!(places(&mut client, definition, &run, 0, 25).await, ["daily.py:1:37"]);
    assert_eq!(places(&mut client, definition, &job, 1, 45).await, ["run.sh:0:20", "spark-defaults.conf:2:0"]);
    assert_eq!(places(&mut client, definition, &run, 1, 6).await, ["spark-defaults.conf:1:0"]);
    let all = ["run.sh:0:20", "spark-defaults.conf:2:0", "daily.py:1:37"];
    let mut references = places(&mut client, "textDocument/references", &job, 1, 45).await;
    references.sort_by_key(|place| all.iter().position(|known| known == place));
    assert_eq!(references, all);
    assert_eq!(places(&mut client, "textDocument/documentHighlight", &run, 1, 6).await, [":1:2"]);
    assert_eq!(places(&mut client, "textDocument/references", &job, 2, 3).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_not_open_are_found_where_they_are_on_disk() {
    let (root, [_, _, job]) = project();
    write(root.path(), "old/run.sh", "# 😀\necho 😀; spark-submit --conf spark.sql.shuffle.partitions=7 x.py\n");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&job, JOB).await;
    scanned(&mut client, 4).await;
    let references = places(&mut client, "textDocument/references", &job, 1, 45).await;
    assert!(references.contains(&"run.sh:1:29".to_owned()), "{references:?}");
    assert_eq!(references.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_in_a_script_reaches_the_job_that_it_starts_and_back_on_save() {
    let (root, [_, run, job]) = project();
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&job, &format!("{JOB}rows = spark.read.parquet(\"z\").collect()\n")).await;
    client.open_as(&run, "shellscript", RUN).await;
    scanned(&mut client, 3).await;
    client.diagnostic(&job, "1g").await;
    let text = RUN.replace("--executor-memory 8g", "--conf spark.driver.maxResultSize=3g");
    client.change(&run, 2, json!([{ "text": text }])).await;
    client.diagnostic(&job, "3g").await;
    // What the code sets is taken over when it is saved.
    let code = JOB.replace("\"500\"", "\"600\"");
    client.change(&job, 2, json!([{ "text": code }])).await;
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": job } })).await;
    loop {
        let hover = client.hover(&run, 0, 25).await;
        if hover.contains("`600`") {
            assert!(hover.contains("overrides `400` from line 1"), "{hover}");
            break;
        }
        assert!(hover.contains("`500`"), "{hover}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changes_on_disk_is_read_again_and_no_other() {
    let (root, [_, run, job]) = project();
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&job, &format!("{JOB}rows = spark.read.parquet(\"z\").collect()\n")).await;
    scanned(&mut client, 3).await;
    client.diagnostic(&job, "1g").await;
    write(root.path(), "run.sh", "spark-submit --conf spark.driver.maxResultSize=5g jobs/daily.py\n");
    // Not told of: it must not be found by reading everything again.
    write(root.path(), "other.sh", "spark-submit --conf spark.executor.cores=9 other.py\n");
    let change = |uri: &str, kind: u32| json!({ "changes": [{ "uri": uri, "type": kind }] });
    client.notify("workspace/didChangeWatchedFiles", change(&run, 2)).await;
    client.diagnostic(&job, "5g").await;
    scanned(&mut client, 3).await;
    std::fs::remove_file(root.path().join("run.sh")).unwrap();
    client.notify("workspace/didChangeWatchedFiles", change(&run, 3)).await;
    client.diagnostic(&job, "1g").await;
    scanned(&mut client, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_says_nothing_new_publishes_nothing_elsewhere() {
    let (root, [_, run, job]) = project();
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&job, JOB).await;
    client.open_as(&run, "shellscript", RUN).await;
    scanned(&mut client, 3).await;
    tokio::time::sleep(QUIET).await;
    while client.hears(|message| message["method"] == "textDocument/publishDiagnostics").await {}
    client.change(&run, 2, json!([{ "text": format!("# a note\n{RUN}") }])).await;
    let other = |message: &Value| {
        message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == json!(job)
    };
    assert!(!client.hears(other).await);
    // The places are those of the text as it is now.
    assert_eq!(places(&mut client, "textDocument/definition", &job, 1, 45).await[0], "run.sh:1:20");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launches_that_differ_are_told_apart() {
    let (root, [_, _, job]) = project();
    write(root.path(), "run.sh", "spark-submit --executor-memory 8g jobs/daily.py\n");
    write(root.path(), "small.sh", "\nspark-submit --executor-memory 1g jobs/daily.py\n");
    let mut client = Client::start(json!({}), root.path()).await;
    let text = format!("{JOB}# spark.executor.memory\n");
    client.open(&job, &text).await;
    scanned(&mut client, 4).await;
    let hover = client.hover(&job, 3, 8).await;
    assert!(hover.contains("- started by run.sh:1: `8g`, from run.sh:1"), "{hover}");
    assert!(hover.contains("- started by small.sh:2: `1g`, from small.sh:2"), "{hover}");
    let both = places(&mut client, "textDocument/definition", &job, 3, 8).await;
    assert_eq!(both, ["run.sh:0:13", "small.sh:1:13"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_default_that_changed_is_a_range_while_no_version_is_known() {
    let (root, [_, _, job]) = project();
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&job, &format!("{JOB}# spark.speculation.quantile, spark.speculation.interval\n")).await;
    let hover = client.hover(&job, 3, 8).await;
    assert!(hover.contains("no Spark version is known: the default is `0.75` in 3.0-3.5, `0.9` in 4.0-"), "{hover}");
    let same = client.hover(&job, 3, 40).await;
    assert!(same.contains("Effective here: `100ms`"), "{same}");
}
