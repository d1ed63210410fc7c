//! Diagnostics: pushed or pulled, in the client's columns, and never left behind.

use serde_json::{Value, json};

use crate::client::{Client, folder, job};

fn is_publication(message: &Value) -> bool {
    message["method"] == "textDocument/publishDiagnostics"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_pulls_is_pushed_nothing() {
    let (root, uri) = folder("job.py");
    let mut capabilities = crate::client::pulling();
    capabilities["textDocument"]["publishDiagnostics"] = json!({});
    let (mut client, greeting) =
        Client::start_with(json!({ "capabilities": capabilities, "rootUri": crate::client::uri(root.path()) })).await;
    assert!(greeting["capabilities"]["diagnosticProvider"].is_object());
    client.open(&uri, &job("pulled")).await;
    let document = json!({ "textDocument": { "uri": uri } });
    let report = client.request("textDocument/diagnostic", document).await.unwrap();
    assert_eq!(report["kind"], "full");
    assert!(report["items"][0]["message"].as_str().unwrap().contains("pulled"));
    let again = json!({ "textDocument": { "uri": uri }, "previousResultId": report["resultId"] });
    let report = client.request("textDocument/diagnostic", again.clone()).await.unwrap();
    assert_eq!(report["kind"], "unchanged");
    client.change(&uri, 2, json!([{ "text": job("changed") }])).await;
    let report = client.request("textDocument/diagnostic", again).await.unwrap();
    assert_eq!(report["kind"], "full");
    client.close(&uri).await;
    assert!(!client.hears(is_publication).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_pull_is_not_offered_it() {
    let (root, uri) = folder("job.py");
    let (mut client, greeting) =
        Client::start_with(json!({ "capabilities": {}, "rootUri": crate::client::uri(root.path()) })).await;
    assert!(greeting["capabilities"].get("diagnosticProvider").is_none());
    client.open(&uri, &job("pushed")).await;
    let diagnostic = client.diagnostic(&uri, "pushed").await;
    assert_eq!((diagnostic["source"].clone(), diagnostic["code"].clone()), (json!("sparkls"), json!("invalid-value")));
    for optional in ["relatedInformation", "tags", "codeDescription", "data"] {
        assert!(diagnostic.get(optional).is_none(), "{optional} was not asked for");
    }
}

/// Like Neovim up to 0.11: nothing could tell it that a run was linked, or that a settings file changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_can_not_be_told_to_ask_again_is_pushed_to() {
    let (root, uri) = folder("job.py");
    let capabilities = json!({ "textDocument": { "diagnostic": {}, "publishDiagnostics": {} } });
    let (mut client, greeting) =
        Client::start_with(json!({ "capabilities": capabilities, "rootUri": crate::client::uri(root.path()) })).await;
    assert!(greeting["capabilities"].get("diagnosticProvider").is_none());
    client.open(&uri, &job("pushed")).await;
    client.diagnostic(&uri, "pushed").await;
    client
        .notify(
            "workspace/didChangeConfiguration",
            json!({ "settings": { "sparkls": { "rules": { "invalid-value": "off" } } } }),
        )
        .await;
    assert_eq!(client.published(&uri).await["diagnostics"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_count_what_was_agreed_on() {
    for (offered, expected) in
        [(json!(["utf-8", "utf-16"]), "utf-8"), (json!(["utf-16"]), "utf-16"), (Value::Null, "utf-16")]
    {
        let (root, uri) = folder("job.py");
        let general = if offered.is_null() { json!({}) } else { json!({ "positionEncodings": offered }) };
        let (mut client, greeting) = Client::start_with(json!({
            "capabilities": { "general": general }, "rootUri": crate::client::uri(root.path()),
        }))
        .await;
        assert_eq!(greeting["capabilities"]["positionEncoding"], expected);
        let text = job("wide").replace("spark.conf", "x = \"😀漢\"; spark.conf");
        client.open(&uri, &text).await;
        let diagnostic = client.diagnostic(&uri, "wide").await;
        let before = text.lines().nth(2).unwrap().split_once("wide").unwrap().0;
        let column = if expected == "utf-8" { before.len() } else { before.encode_utf16().count() };
        assert_eq!(diagnostic["range"]["start"], json!({ "line": 2, "character": column }));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_takes_the_diagnostics_away() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, &job("closed")).await;
    client.diagnostic(&uri, "closed").await;
    // Changes that are still under way when the document closes must not come behind the empty publication.
    for version in 2..30 {
        client.change(&uri, version, json!([{ "text": job(&format!("late{version}")) }])).await;
    }
    client.close(&uri).await;
    while !client.published(&uri).await["diagnostics"].as_array().unwrap().is_empty() {}
    assert!(!client.hears(is_publication).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_too_large_says_so() {
    let (root, uri) = folder("job.py");
    let (mut client, _) = Client::start_with(json!({
        "capabilities": {}, "rootUri": crate::client::uri(root.path()), "initializationOptions": { "maxFileSize": 1 },
    }))
    .await;
    client.open(&uri, &job("x").repeat(20)).await;
    let diagnostic = client.diagnostic(&uri, "larger than 1 KiB").await;
    assert_eq!(diagnostic["severity"], 4);
    client.change(&uri, 2, json!([{ "text": job("small") }])).await;
    client.diagnostic(&uri, "small").await;
}
