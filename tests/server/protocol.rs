//! What the protocol asks of a server whatever it serves.

use serde_json::{Value, json};

use crate::client::{Client, at, folder, job};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_messages_are_answered_and_survived() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.send_bytes(b"Content-Length: 26\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":").await;
    let answer = client.wait(|message| message.get("error").is_some()).await;
    assert_eq!((answer["error"]["code"].clone(), answer["id"].clone()), (json!(-32700), Value::Null));
    client.send_bytes(b"content-LENGTH: 17\r\nContent-Type: x; charset=latin-1\r\n\r\n{\"jsonrpc\":\"1.0\"}").await;
    assert_eq!(client.wait(|message| message.get("error").is_some()).await["error"]["code"], -32600);
    client.open(&uri, &job("alive")).await;
    client.diagnostic(&uri, "alive").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_requests_get_the_codes_of_the_specification() {
    let (root, uri) = folder("job.py");
    let mut client = Client::silent();
    assert_eq!(client.request("textDocument/hover", at(&uri, 0, 0)).await.unwrap_err()["code"], -32002);
    let greeting = json!({ "capabilities": {}, "rootUri": crate::client::uri(root.path()) });
    client.request("initialize", greeting.clone()).await.unwrap();
    client.notify("initialized", json!({})).await;
    assert_eq!(client.request("initialize", greeting).await.unwrap_err()["code"], -32600);
    assert_eq!(client.request("no/such", json!({})).await.unwrap_err()["code"], -32601);
    assert_eq!(client.request("textDocument/hover", json!({ "x": 1 })).await.unwrap_err()["code"], -32602);
    client.request("shutdown", Value::Null).await.unwrap();
    assert_eq!(client.request("textDocument/hover", at(&uri, 0, 0)).await.unwrap_err()["code"], -32600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_may_come_with_anything_as_parameters() {
    for params in [json!({}), Value::Null] {
        let (root, _) = folder("job.py");
        let mut client = Client::start(json!({}), root.path()).await;
        client.request("shutdown", params).await.unwrap();
        client.send(json!({ "method": "exit", "params": {} })).await;
        assert_eq!(client.ended().await, 0);
    }
    let (root, _) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.send(json!({ "id": 7, "method": "shutdown" })).await;
    client.wait(|message| message["id"] == 7).await;
    client.send(json!({ "method": "exit" })).await;
    assert_eq!(client.ended().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_without_shutdown_is_an_error() {
    let (root, _) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.notify("exit", Value::Null).await;
    assert_eq!(client.ended().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_can_nothing_is_asked_nothing() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, &job("bare")).await;
    client.diagnostic(&uri, "bare").await;
    assert!(!client.hears(|message| message.get("id").is_some() && message.get("method").is_some()).await);
    assert_eq!(client.asked, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn optional_notifications_are_accepted() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.notify("$/setTrace", json!({ "value": "verbose" })).await;
    client.notify("$/unknown", json!({})).await;
    client.notify("no/such", json!({})).await;
    client.open(&uri, &job("alive")).await;
    client.diagnostic(&uri, "alive").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_names_what_decides() {
    let (root, uri) = folder("job.py");
    std::fs::write(root.path().join("requirements.txt"), "pyspark==3.5.1\n").unwrap();
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, &job("x")).await;
    client.diagnostic(&uri, "x").await;
    let status = client.request("sparkls/status", Value::Null).await.unwrap();
    assert_eq!(status["projects"][0]["sparkVersion"], "3.5.1");
    assert!(status["projects"][0]["sparkVersionFrom"].as_str().unwrap().ends_with("requirements.txt"));
    assert_eq!(status["documents"][0]["uri"], json!(uri));
    assert_eq!(status["diagnostics"], "push");
}
