//! Documents under every address and in every state.

use serde_json::json;

use crate::client::{Client, at, folder, job, range};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_address_gets_its_diagnostics_under_its_own_spelling() {
    let (root, _) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    for uri in ["untitled:Untitled-1", "file:///c%3A/jobs/a%20b/x%2By.py", "file:///elsewhere/job.py"] {
        client.open(uri, &job("anywhere")).await;
        client.diagnostic(uri, "anywhere").await;
    }
    // Another spelling of an open file is the same file, and it is still published as it was opened.
    client.change("file:///C:/jobs/a%20b/x+y.py", 2, json!([{ "text": job("respelled") }])).await;
    client.diagnostic("file:///c%3A/jobs/a%20b/x%2By.py", "respelled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_documents_get_empty_answers() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.change(&uri, 2, json!([{ "text": "x" }])).await;
    client.close(&uri).await;
    let document = json!({ "uri": uri });
    for method in ["textDocument/hover", "textDocument/completion"] {
        assert!(client.request(method, at(&uri, 0, 0)).await.unwrap().is_null(), "{method}");
    }
    for method in ["textDocument/documentSymbol", "textDocument/codeLens"] {
        assert!(client.request(method, json!({ "textDocument": document })).await.unwrap().is_null(), "{method}");
    }
    let hints = json!({ "textDocument": document, "range": range(0, 0, 9) });
    assert!(client.request("textDocument/inlayHint", hints).await.unwrap().is_null());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_open_replaces_the_first() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, &job("first")).await;
    client.open(&uri, &job("second")).await;
    client.diagnostic(&uri, "second").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn impossible_ranges_do_no_harm() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, "x = \"😀\"\n").await;
    let inverted = json!({ "start": { "line": 1, "character": 2 }, "end": { "line": 0, "character": 1 } });
    client.change(&uri, 2, json!([{ "range": inverted, "text": "y" }])).await;
    client.change(&uri, 3, json!([{ "range": range(0, 6, 6), "text": "z" }])).await;
    client.change(&uri, 4, json!([{ "range": range(900, 900, 900), "text": "w" }])).await;
    client.change(&uri, 5, json!([{ "text": job("survived") }])).await;
    client.diagnostic(&uri, "survived").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_language_or_the_name_says_what_a_document_is() {
    let (root, _) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    let file = |name: &str| crate::client::uri(&root.path().join(name));
    let setting = "spark.sql.shuffle.partitions many\n";
    for (name, language) in
        [("conf/spark-defaults.conf", "plaintext"), ("a.conf", "spark-conf"), ("job.properties", "properties")]
    {
        client.open_as(&file(name), language, setting).await;
        client.diagnostic(&file(name), "many").await;
    }
    client.open_as(&file("app.properties"), "properties", "server.port many\n").await;
    let publication = client.published(&file("app.properties")).await;
    assert_eq!(publication["diagnostics"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deep_and_long_texts_hold_nobody_back() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    let deep = format!("import pyspark\nx = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000));
    client.open(&crate::client::uri(&root.path().join("deep.py")), &deep).await;
    let long = format!("import pyspark\nx = [{}]\n", "1, ".repeat(100_000));
    client.open(&crate::client::uri(&root.path().join("long.py")), &long).await;
    client.open(&uri, &job("beside")).await;
    client.diagnostic(&uri, "beside").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_saved_module_is_seen_by_those_that_import_it() {
    let (root, uri) = folder("daily.py");
    let common = root.path().join("common.py");
    std::fs::write(&common, "def load(spark):\n    return spark.table('t').limit(2)\n").unwrap();
    let common_uri = crate::client::uri(&common);
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, "from common import load\nrows = load(spark).collect()\n").await;
    let longer = "def load(spark):\n    return spark.table('t')\n";
    client.open(&common_uri, longer).await;
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": common_uri } })).await;
    client.diagnostic(&uri, "collect() brings").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_that_changes_on_disk_is_seen_by_those_that_import_it() {
    let (root, uri) = folder("daily.py");
    let common = root.path().join("common.py");
    let bounded = "def load(spark):\n    return spark.table('t').limit(2)\n";
    std::fs::write(&common, bounded).unwrap();
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, "from common import load\nrows = load(spark).collect()\n").await;
    let changed = |kind: u8| json!({ "changes": [{ "uri": crate::client::uri(&common), "type": kind }] });
    std::fs::write(&common, "def load(spark):\n    return spark.table('t')\n").unwrap();
    client.notify("workspace/didChangeWatchedFiles", changed(2)).await;
    client.diagnostic(&uri, "collect() brings").await;
    std::fs::remove_file(&common).unwrap();
    client.notify("workspace/didChangeWatchedFiles", changed(3)).await;
    while client.published(&uri).await["diagnostics"] != json!([]) {}
}
