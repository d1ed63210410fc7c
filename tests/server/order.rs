//! The order of the wire is the order of the world.

use serde_json::json;

use crate::client::{Client, QUIET, folder, job, pulling, range};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_sees_every_change_sent_before_it() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(pulling(), root.path()).await;
    client.open(&uri, &job("v0x")).await;
    let mut asked = Vec::new();
    for version in 2..202 {
        client.change(&uri, version, json!([{ "text": job(&format!("v{version}x")) }])).await;
        let id = client.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } })).await;
        asked.push((id, version));
    }
    for (id, version) in asked {
        let answer = client.answer(id).await.unwrap();
        let message = answer["items"][0]["message"].as_str().unwrap();
        let seen: i32 = message.split_once('v').unwrap().1.split_once('x').unwrap().0.parse().unwrap();
        assert!(seen >= version, "asked behind version {version}, told of {seen}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_edits_leave_the_text_that_they_make() {
    let (root, uri) = folder("job.py");
    let mut client =
        Client::start(json!({ "textDocument": { "publishDiagnostics": { "versionSupport": true } } }), root.path())
            .await;
    let text = job("start_");
    client.open(&uri, &text).await;
    client.diagnostic(&uri, "start_").await;
    // Into the value, each letter behind the one before; every third edit takes the letter back and sends it again.
    let column = text.lines().nth(2).unwrap().find("start_").unwrap() as u32 + 6;
    let mut expected = "start_".to_owned();
    let mut version = 1;
    for step in 0..100u32 {
        let letter = char::from(b'a' + (step % 26) as u8).to_string();
        let place = column + step;
        version += 1;
        let insert = json!({ "range": range(2, place, place), "text": letter });
        if step % 3 == 0 {
            let back = json!({ "range": range(2, place, place + 1), "text": "" });
            client.change(&uri, version, json!([insert, back])).await;
            version += 1;
        }
        client.change(&uri, version, json!([insert])).await;
        expected.push_str(&letter);
    }
    let mut versions = Vec::new();
    loop {
        let publication = client.published(&uri).await;
        versions.push(publication["version"].as_i64().unwrap());
        if publication["diagnostics"][0]["message"].as_str().is_some_and(|message| message.contains(&expected)) {
            break;
        }
    }
    assert!(versions.is_sorted(), "{versions:?}");
    assert_eq!(*versions.last().unwrap(), i64::from(version));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_requests_are_answered_once() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, &job("x").repeat(300)).await;
    let mut asked = Vec::new();
    for line in 0..50 {
        let id = client.ask("textDocument/hover", crate::client::at(&uri, line, 20)).await;
        client.notify("$/cancelRequest", json!({ "id": id })).await;
        asked.push(id);
    }
    for id in &asked {
        if let Err(error) = client.answer(*id).await {
            assert_eq!(error["code"], -32800);
        }
    }
    assert!(!client.hears(|message| asked.iter().any(|id| message["id"] == json!(id))).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_answers_nothing_is_served_all_the_same() {
    let (root, uri) = folder("job.py");
    let capabilities = json!({
        "workspace": {
            "configuration": true, "inlayHint": { "refreshSupport": true }, "codeLens": { "refreshSupport": true },
            "didChangeWatchedFiles": { "dynamicRegistration": true },
        },
        "window": { "workDoneProgress": true },
    });
    let (mut client, _) =
        Client::start_with(json!({ "capabilities": capabilities, "rootUri": crate::client::uri(root.path()) })).await;
    client.configuration = None;
    client.open(&uri, &job("unanswered")).await;
    let mut asked = Vec::new();
    for _ in 0..200 {
        asked.push(client.ask("textDocument/hover", crate::client::at(&uri, 2, 20)).await);
        client.notify("workspace/didChangeConfiguration", json!({ "settings": {} })).await;
    }
    for id in asked {
        assert!(client.answer(id).await.is_ok());
    }
    client.diagnostic(&uri, "unanswered").await;
    assert_eq!(client.end().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_before_initialized_wait_for_it() {
    let (root, uri) = folder("job.py");
    let mut client = Client::silent();
    client
        .request("initialize", json!({ "capabilities": {}, "rootUri": crate::client::uri(root.path()) }))
        .await
        .unwrap();
    client.open(&uri, &job("early")).await;
    let hover = client.ask("textDocument/hover", crate::client::at(&uri, 2, 20)).await;
    let cancelled = client.ask("textDocument/hover", crate::client::at(&uri, 2, 20)).await;
    client.notify("$/cancelRequest", json!({ "id": cancelled })).await;
    assert_eq!(client.answer(cancelled).await.unwrap_err()["code"], -32800);
    assert!(!client.hears(|message| message["id"] == json!(hover)).await);
    tokio::time::sleep(QUIET).await;
    client.notify("initialized", json!({})).await;
    assert!(client.answer(hover).await.unwrap().is_object());
    client.diagnostic(&uri, "early").await;
}
