//! What users of language servers report, where no other test is about it; README.md has the whole list.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, folder, job, uri};

fn is_for(message: &Value, uri: &str) -> bool {
    message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == json!(uri)
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workspace_behind_a_link_is_published_under_the_name_that_it_was_opened_by() {
    let (root, _) = folder("job.py");
    let (real, link) = (root.path().join("real"), root.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    std::fs::write(real.join("sparkls.toml"), "[rules]\ninvalid-value = \"hint\"\n").unwrap();
    let mut client = Client::start(json!({}), &link).await;
    let opened = uri(&link.join("job.py"));
    client.open(&opened, &job("linked")).await;
    assert_eq!(client.diagnostic(&opened, "linked").await["severity"], 4, "its settings hold behind the link");
    let real = uri(&real.join("job.py"));
    assert!(!client.hears(|message| is_for(message, &real)).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_settings_of_one_folder_change_nothing_in_another() {
    let (left, left_uri) = folder("job.py");
    let (right, right_uri) = folder("job.py");
    std::fs::write(left.path().join("sparkls.toml"), "[rules\n").unwrap();
    std::fs::write(right.path().join("sparkls.toml"), "[rules]\ninvalid-value = \"hint\"\n").unwrap();
    let folders = [&left, &right].map(|folder| json!({ "uri": uri(folder.path()), "name": "x" }));
    let (mut client, _) = Client::start_with(json!({ "capabilities": {}, "workspaceFolders": folders })).await;
    client.open(&left_uri, &job("left")).await;
    client.open(&right_uri, &job("right")).await;
    assert_eq!(client.diagnostic(&left_uri, "left").await["severity"], 1);
    assert_eq!(client.diagnostic(&right_uri, "right").await["severity"], 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_settings_file_that_is_deleted_takes_its_diagnostics_along() {
    let (root, uri_of_job) = folder("job.py");
    let settings = root.path().join("sparkls.toml");
    std::fs::write(&settings, "[rules\n").unwrap();
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri_of_job, &job("x")).await;
    assert_ne!(client.published(&uri(&settings)).await["diagnostics"], json!([]));
    std::fs::remove_file(&settings).unwrap();
    let deleted = json!({ "changes": [{ "uri": uri(&settings), "type": 3 }] });
    client.notify("workspace/didChangeWatchedFiles", deleted).await;
    while client.published(&uri(&settings)).await["diagnostics"] != json!([]) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renamed_document_leaves_nothing_under_its_old_name() {
    let (root, old) = folder("old.py");
    let new = uri(&root.path().join("new.py"));
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&old, &job("renamed")).await;
    client.diagnostic(&old, "renamed").await;
    client.close(&old).await;
    client.open(&new, &job("renamed")).await;
    assert_eq!(client.published(&old).await["diagnostics"], json!([]));
    client.diagnostic(&new, "renamed").await;
    assert!(!client.hears(|message| is_for(message, &old)).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_can_not_watch_is_no_reason_to_miss_a_change() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, &job("watched")).await;
    client.diagnostic(&uri, "watched").await;
    // The first look at the folder says what is new at the next.
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    std::fs::write(root.path().join("sparkls.toml"), "rules.invalid-value = \"off\"\n").unwrap();
    while client.published(&uri).await["diagnostics"] != json!([]) {}
}

/// The plain text of the example's log.
fn log() -> Vec<u8> {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/nightly-orders/runs");
    let log = std::fs::read_dir(runs).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
    zstd::decode_all(std::fs::File::open(log).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_grows_is_read_again_and_a_half_written_line_waits() {
    let folder = crate::runs::example();
    std::fs::remove_file(folder.path().join("sparkls.toml")).unwrap();
    let log = log();
    let path = folder.path().join("app-1.inprogress");
    // Up to the middle of an event.
    let half = log.len() / 3;
    std::fs::write(&path, &log[..half]).unwrap();
    let (uri, text) = crate::runs::job(folder.path());
    let mut client = Client::start(json!({}), folder.path()).await;
    client.open(&uri, &text).await;
    let link = json!({ "command": "sparkls.linkRun", "arguments": [path] });
    client.request("workspace/executeCommand", link).await.unwrap();
    let before = crate::runs::hints(&mut client, &uri).await;
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    std::fs::write(&path, &log).unwrap();
    for _ in 0..300 {
        if crate::runs::hints(&mut client, &uri).await.len() > before.len() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("still the hints of the first third: {before:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hints_stay_and_move_while_the_syntax_is_broken() {
    let folder = crate::runs::example();
    let (uri, text) = crate::runs::job(folder.path());
    let mut client = Client::start(json!({}), folder.path()).await;
    client.open(&uri, &text).await;
    crate::runs::linked(&mut client).await;
    let lines =
        |hints: &[Value]| -> Vec<u64> { hints.iter().filter_map(|hint| hint["position"]["line"].as_u64()).collect() };
    let before = lines(&crate::runs::hints(&mut client, &uri).await);
    assert!(before.len() > 3, "{before:?}");
    let place = json!({ "start": { "line": 11, "character": 0 }, "end": { "line": 11, "character": 0 } });
    client.change(&uri, 2, json!([{ "range": place, "text": "x = spark.table(\n" }])).await;
    let after = lines(&crate::runs::hints(&mut client, &uri).await);
    assert_eq!(after, before.iter().map(|line| line + 1).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sum_of_twenty_thousand_terms_is_no_reason_to_fall_over() {
    let (root, uri_of_job) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    let sum = format!("from pyspark.sql import functions as F\nx = {}F.lit(1)\n", "F.lit(1) + ".repeat(20_000));
    let calls = format!("import pyspark\nx = spark{}\n", ".distinct()".repeat(20_000));
    client.open(&uri(&root.path().join("sum.py")), &sum).await;
    client.open(&uri(&root.path().join("calls.py")), &calls).await;
    client.open(&uri_of_job, &job("beside")).await;
    client.diagnostic(&uri_of_job, "beside").await;
    assert!(client.request("sparkls/status", Value::Null).await.unwrap()["lastPanic"].is_null());
}
