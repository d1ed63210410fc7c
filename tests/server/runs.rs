//! Linked runs: on the lines of the job, and gone when they are taken away.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::{Client, uri};

/// The example's folder, copied, so that nothing is written beside it.
pub(crate) fn example() -> tempfile::TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/nightly-orders");
    let folder = tempfile::tempdir().unwrap();
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        std::fs::create_dir_all(folder.path().join(&relative)).unwrap();
        for entry in std::fs::read_dir(source.join(&relative)).unwrap().map(Result::unwrap) {
            let relative = relative.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(relative);
            } else {
                std::fs::copy(entry.path(), folder.path().join(relative)).unwrap();
            }
        }
    }
    folder
}

pub(crate) fn job(folder: &Path) -> (String, String) {
    let job = std::fs::read_dir(folder.join("jobs")).unwrap().map(|entry| entry.unwrap().path());
    let job = job.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "py")).unwrap();
    (uri(&job), std::fs::read_to_string(&job).unwrap())
}

fn everywhere(uri: &str) -> Value {
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } });
    json!({ "textDocument": { "uri": uri }, "range": range })
}

pub(crate) async fn hints(client: &mut Client, uri: &str) -> Vec<Value> {
    client.request("textDocument/inlayHint", everywhere(uri)).await.unwrap().as_array().cloned().unwrap_or_default()
}

/// Waits until the settings' runs are linked.
pub(crate) async fn linked(client: &mut Client) -> Value {
    loop {
        let status = client.request("sparkls/status", Value::Null).await.unwrap();
        if !status["projects"][0]["runs"].as_array().unwrap().is_empty() {
            return status;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_on_the_lines_of_its_job() {
    let folder = example();
    let (uri, text) = job(folder.path());
    let mut client =
        Client::start(json!({ "textDocument": { "hover": { "contentFormat": ["markdown"] } } }), folder.path()).await;
    client.open(&uri, &text).await;
    let status = linked(&mut client).await;
    let measured = hints(&mut client, &uri).await;
    assert!(!measured.is_empty());
    // A hint stands at the end of its line, and its text is the hover's short form.
    let position = &measured[0]["position"];
    let line = text.lines().nth(position["line"].as_u64().unwrap() as usize).unwrap();
    assert_eq!(position["character"].as_u64().unwrap() as usize, line.encode_utf16().count());
    let source = status["projects"][0]["runs"][0]["source"].clone();
    let unlink = json!({ "command": "sparkls.unlinkRun", "arguments": [source] });
    assert_eq!(client.request("workspace/executeCommand", unlink).await.unwrap(), json!(true));
    assert!(hints(&mut client, &uri).await.is_empty());
    let link = json!({ "command": "sparkls.linkRun", "arguments": [source] });
    let run = client.request("workspace/executeCommand", link).await.unwrap();
    assert_eq!(run["source"], source);
    assert_eq!(hints(&mut client, &uri).await, measured);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_cannot_be_told_to_ask_again_is_answered_with_the_run() {
    let folder = example();
    let (uri, text) = job(folder.path());
    let mut client = Client::start(json!({}), folder.path()).await;
    client.open(&uri, &text).await;
    assert!(!hints(&mut client, &uri).await.is_empty());
    assert!(!client.request("textDocument/codeLens", everywhere(&uri)).await.unwrap().as_array().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn measured_numbers_stand_where_they_are_wanted() {
    let folder = example();
    let (uri, text) = job(folder.path());
    let (mut client, _) = Client::start_with(json!({
        "capabilities": {}, "rootUri": crate::client::uri(folder.path()),
        "initializationOptions": { "measured": "lenses" },
    }))
    .await;
    client.open(&uri, &text).await;
    linked(&mut client).await;
    assert!(hints(&mut client, &uri).await.is_empty());
    let lenses = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } })).await.unwrap();
    assert!(lenses.as_array().unwrap().iter().any(|lens| lens["range"]["start"]["line"] != 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_log_is_named_and_nothing_else_changes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no log\n").unwrap();
    let mut client = Client::start(json!({}), folder.path()).await;
    let link = json!({ "command": "sparkls.linkRun", "arguments": ["notes.txt"] });
    let error = client.request("workspace/executeCommand", link).await.unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("notes.txt"), "{error}");
    let link = json!({ "command": "sparkls.linkRun", "arguments": ["missing"] });
    assert!(client.request("workspace/executeCommand", link).await.is_err());
    let status = client.request("sparkls/status", Value::Null).await.unwrap();
    assert_eq!(status["projects"][0]["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_begun_only_where_it_can_be_shown() {
    let folder = example();
    let mut client = Client::start(json!({}), folder.path()).await;
    linked(&mut client).await;
    assert!(!client.asked.contains(&"window/workDoneProgress/create".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_log_grows_is_measured_again() {
    let folder = example();
    let (uri, text) = job(folder.path());
    let runs = folder.path().join("runs");
    let packed = std::fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let log = zstd::decode_all(std::fs::File::open(&packed).unwrap()).unwrap();
    std::fs::remove_file(packed).unwrap();
    // As much as was written before the first job.
    let begun = log.windows(22).position(|bytes| bytes == b"SparkListenerJobStart\"").unwrap();
    std::fs::write(runs.join("app-1.inprogress"), &log[..begun]).unwrap();
    let mut client = Client::start(json!({}), folder.path()).await;
    client.open(&uri, &text).await;
    let label = linked(&mut client).await["projects"][0]["runs"][0]["label"].clone();
    assert!(hints(&mut client, &uri).await.is_empty());
    // Written just after it was linked, and seen nevertheless.
    std::fs::write(runs.join("app-1.inprogress"), &log).unwrap();
    let grown = async {
        while hints(&mut client, &uri).await.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), grown).await.expect("the log is read again");
    let known = linked(&mut client).await["projects"][0]["runs"].clone();
    assert_eq!(known.as_array().map(Vec::len), Some(1));
    assert_eq!((&known[0]["label"], &known[0]["source"]), (&label, &json!(runs.join("app-1.inprogress"))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_shows_the_status_hears_when_it_changes() {
    let folder = example();
    let is_news = |message: &Value| message["method"] == "sparkls/statusChanged";
    let mut client = Client::start(json!({ "experimental": { "sparklsStatus": true } }), folder.path()).await;
    let status = linked(&mut client).await;
    let run = &status["projects"][0]["runs"][0];
    assert_eq!(run["application"], "nightly-orders");
    client.wait(is_news).await;
    while client.hears(is_news).await {}
    let unlink = json!({ "command": "sparkls.unlinkRun", "arguments": [run["source"]] });
    client.request("workspace/executeCommand", unlink).await.unwrap();
    assert_eq!(client.wait(is_news).await["params"], json!({}));

    let mut other = Client::start(json!({}), folder.path()).await;
    linked(&mut other).await;
    assert!(!other.hears(is_news).await, "nobody asked for it");
}
