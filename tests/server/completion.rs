//! Completion: what depends on the client, on encodings and line ends; and in the settings of sparkls itself.

use serde_json::{Value, json};

use crate::client::{Client, at, folder};

async fn offers(client: &mut Client, uri: &str, line: u32, character: u32) -> Vec<Value> {
    let list = client.request("textDocument/completion", at(uri, line, character)).await.unwrap();
    list["items"].as_array().cloned().unwrap_or_default()
}

fn labels(offers: &[Value]) -> Vec<&str> {
    offers.iter().map(|offer| offer["label"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_behind_an_emoji_and_lines_with_carriage_returns() {
    for encoding in ["utf-8", "utf-16"] {
        let (root, uri) = folder("run.sh");
        let capabilities = json!({ "general": { "positionEncodings": [encoding] } });
        let mut client = Client::start(capabilities, root.path()).await;
        let line = "echo 😀漢; spark-submit --conf spark.sql.adaptive.ena x.py";
        client.open_as(&uri, "shellscript", &format!("#!/bin/sh\r\n{line}\r\nexit 0\r\n")).await;
        let units = |text: &str| if encoding == "utf-8" { text.len() } else { text.encode_utf16().count() } as u32;
        let (start, end) = (line.find("spark.sql").unwrap(), line.find(" x.py").unwrap());
        let found = offers(&mut client, &uri, 1, units(&line[..end])).await;
        assert_eq!(labels(&found)[0], "spark.sql.adaptive.enabled", "{encoding}");
        let range = json!({
            "start": { "line": 1, "character": units(&line[..start]) },
            "end": { "line": 1, "character": units(&line[..end]) },
        });
        assert_eq!(found[0]["textEdit"]["range"], range, "{encoding}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_free_name_has_a_place_to_fill_in_where_the_client_knows_them() {
    for snippets in [true, false] {
        let (root, uri) = folder("run.sh");
        let item = json!({ "completionItem": { "snippetSupport": snippets } });
        let mut client = Client::start(json!({ "textDocument": { "completion": item } }), root.path()).await;
        client.open_as(&uri, "shellscript", "spark-submit --conf spark.executorEnv x.py\n").await;
        let found = offers(&mut client, &uri, 0, 37).await;
        let free = found.iter().find(|offer| offer["label"] == "spark.executorEnv.NAME").unwrap();
        let (text, format) = (&free["textEdit"]["newText"], &free["insertTextFormat"]);
        if snippets {
            assert_eq!((text, format), (&json!("spark.executorEnv.${1:NAME}"), &json!(2)));
        } else {
            assert_eq!((text, format), (&json!("spark.executorEnv."), &Value::Null));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flags_are_offered_and_explained() {
    let (root, uri) = folder("run.sh");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open_as(&uri, "shellscript", "spark-submit --executor-me x.py\n").await;
    let found = offers(&mut client, &uri, 0, 26).await;
    let flag = found.iter().find(|offer| offer["label"] == "--executor-memory").unwrap().clone();
    assert_eq!(flag["detail"], "spark.executor.memory");
    let resolved = client.request("completionItem/resolve", flag).await.unwrap();
    assert!(resolved["documentation"]["value"].as_str().unwrap().contains("**spark.executor.memory**"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn internal_keys_come_last_and_old_ones_are_marked() {
    let (root, uri) = folder("spark-defaults.conf");
    let item = json!({ "completionItem": { "tagSupport": { "valueSet": [1] } } });
    let mut client = Client::start(json!({ "textDocument": { "completion": item } }), root.path()).await;
    client.open_as(&uri, "properties", "spark.sql.execution.arrow.").await;
    let found = offers(&mut client, &uri, 0, 26).await;
    let is_internal = |offer: &Value| offer["detail"].as_str().is_some_and(|detail| detail.ends_with("internal"));
    assert!(is_internal(found.last().unwrap()) && !is_internal(&found[0]));
    let old = found.iter().find(|offer| offer["label"] == "spark.sql.execution.arrow.enabled").unwrap();
    assert_eq!(old["tags"], json!([1]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_own_settings_are_completed_explained_and_judged_as_they_are_typed() {
    let (root, uri) = folder("sparkls.toml");
    std::fs::write(root.path().join("sparkls.toml"), "vendor = \"emt\"\n").unwrap();
    let mut client = Client::start(json!({}), root.path()).await;
    assert_eq!(client.published(&uri).await["diagnostics"].as_array().unwrap().len(), 1);
    client.open_as(&uri, "toml", "\nvendor = \"em\"\n").await;
    let wrong = client.diagnostic(&uri, "\"em\"").await;
    assert_eq!(wrong["range"]["start"], json!({ "line": 1, "character": 9 }));
    assert!(labels(&offers(&mut client, &uri, 1, 12).await).contains(&"emr"));
    assert!(client.hover(&uri, 1, 2).await.contains("Whose Spark"));
    client.change(&uri, 2, json!([{ "text": "vendor = \"emr\"\n" }])).await;
    while !client.published(&uri).await["diagnostics"].as_array().unwrap().is_empty() {}
    // Closed without a save, what is on disk counts again.
    client.close(&uri).await;
    client.diagnostic(&uri, "emt").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_without_spark_are_left_alone() {
    let (root, uri) = folder("package.json");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open_as(&uri, "json", "{ \"name\": \"x\", \"scripts\": { \"\" } }").await;
    assert_eq!(client.published(&uri).await["diagnostics"], json!([]));
    assert_eq!(offers(&mut client, &uri, 0, 30).await, [Value::Null; 0]);
    assert_eq!(client.hover(&uri, 0, 5).await, "");
}
