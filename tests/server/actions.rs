//! Code actions: for the place that is meant, on the text that was meant.

use serde_json::{Value, json};

use crate::client::{Client, folder, job, range};

/// Two values that Spark refuses, on one line.
const TWO: &str = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n\
    spark.conf.set(\"spark.sql.adaptive.enabled\", \"yes\"); spark.conf.set(\"spark.sql.ansi.enabled\", \"no\")\n";

fn capabilities(resolve: bool, document_changes: bool) -> Value {
    let mut action =
        json!({ "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } }, "isPreferredSupport": true });
    if resolve {
        action["dataSupport"] = json!(true);
        action["resolveSupport"] = json!({ "properties": ["edit"] });
    }
    json!({
        "textDocument": { "codeAction": action },
        "workspace": { "workspaceEdit": { "documentChanges": document_changes } },
    })
}

async fn actions(client: &mut Client, uri: &str, range: Value, context: Value) -> Vec<Value> {
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
    client.request("textDocument/codeAction", params).await.unwrap().as_array().cloned().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_range_says_which_finding_is_meant() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(capabilities(false, true), root.path()).await;
    client.open(&uri, TWO).await;
    let first = client.diagnostic(&uri, "yes").await;
    let line = TWO.lines().nth(2).unwrap();
    let second = line.find("\"no\"").unwrap() as u32 + 2;
    // Like editors that send all diagnostics of the line along.
    let context = json!({ "diagnostics": [first] });
    let found = actions(&mut client, &uri, range(2, second, second), context).await;
    assert!(!found.is_empty());
    for action in &found {
        let about = &action["diagnostics"][0]["message"];
        assert!(about.as_str().is_none_or(|message| message.contains("`no`")), "{about}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_name_their_version_where_the_client_can_check_it() {
    for document_changes in [true, false] {
        let (root, uri) = folder("job.py");
        let mut client = Client::start(capabilities(false, document_changes), root.path()).await;
        client.open(&uri, TWO).await;
        client.diagnostic(&uri, "yes").await;
        let column = TWO.lines().nth(2).unwrap().find("\"yes\"").unwrap() as u32 + 2;
        let found = actions(&mut client, &uri, range(2, column, column), json!({ "diagnostics": [] })).await;
        let edit = &found[0]["edit"];
        if document_changes {
            assert_eq!(edit["documentChanges"][0]["textDocument"], json!({ "uri": uri, "version": 1 }));
            assert!(edit.get("changes").is_none());
        } else {
            assert!(edit["changes"][&uri].is_array());
            assert!(edit.get("documentChanges").is_none());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_is_not_resolved_on_another_text() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(capabilities(true, true), root.path()).await;
    client.open(&uri, TWO).await;
    client.diagnostic(&uri, "yes").await;
    let column = TWO.lines().nth(2).unwrap().find("\"yes\"").unwrap() as u32 + 2;
    let found = actions(&mut client, &uri, range(2, column, column), json!({ "diagnostics": [] })).await;
    let action = found[0].clone();
    assert!(action.get("edit").is_none());
    let resolved = client.request("codeAction/resolve", action.clone()).await.unwrap();
    assert!(resolved["edit"]["documentChanges"].is_array());
    client.change(&uri, 2, json!([{ "range": range(0, 0, 0), "text": "\n" }])).await;
    assert_eq!(client.request("codeAction/resolve", action).await.unwrap_err()["code"], -32801);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kinds_that_were_not_asked_for_are_not_offered() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(capabilities(false, true), root.path()).await;
    client.open(&uri, TWO).await;
    client.diagnostic(&uri, "yes").await;
    let everywhere = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 3, "character": 0 } });
    let only = |kind: &str| json!({ "diagnostics": [], "only": [kind] });
    let quick = actions(&mut client, &uri, everywhere.clone(), only("quickfix")).await;
    assert!(!quick.is_empty() && quick.iter().all(|action| action["kind"] == "quickfix"));
    let all = actions(&mut client, &uri, everywhere.clone(), only("source.fixAll")).await;
    assert!(all.iter().all(|action| action["kind"] == "source.fixAll.sparkls"));
    assert!(actions(&mut client, &uri, everywhere, only("source.organizeImports")).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_keep_the_line_ends_of_the_file() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(capabilities(false, false), root.path()).await;
    let text = format!("{}rows = spark.read.parquet(\"x\").collect()\n", job("200")).replace('\n', "\r\n");
    client.open(&uri, &text).await;
    client.diagnostic(&uri, "collect").await;
    let column = "rows = spark.read.parquet(\"x\").co".len() as u32;
    let found = actions(&mut client, &uri, range(3, column, column), json!({ "diagnostics": [] })).await;
    let new_texts = found.iter().filter_map(|action| action["edit"]["changes"][&uri].as_array()).flatten();
    for edit in new_texts {
        let new_text = edit["newText"].as_str().unwrap();
        assert_eq!(new_text.matches('\n').count(), new_text.matches("\r\n").count(), "{new_text:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_settings_file_is_offered_the_blocks_that_it_lacks() {
    let (root, uri) = folder("spark-defaults.conf");
    std::fs::write(root.path().join("sparkls.toml"), "spark-version = \"3.5.9\"\n").unwrap();
    let mut client = Client::start(capabilities(false, true), root.path()).await;
    client.open_as(&uri, "spark-conf", "spark.speculation yes\nspark.speculation.quantile 0.9\n").await;
    client.diagnostic(&uri, "yes").await;
    let found = actions(&mut client, &uri, range(1, 3, 3), json!({ "diagnostics": [] })).await;
    let inserted = |title: &str| {
        let action =
            found.iter().find(|action| action["title"] == title).unwrap_or_else(|| panic!("{title}: {found:?}"));
        action["edit"]["documentChanges"][0]["edits"][0]["newText"].as_str().unwrap().to_owned()
    };
    let adaptive = inserted("Insert the adaptive execution block");
    assert!(adaptive.contains("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes 256MB\n"), "{adaptive}");
    let speculation = inserted("Insert the speculation block");
    assert!(speculation.contains("spark.speculation.multiplier 1.5\n"), "{speculation}");
    assert!(speculation.contains("spark.locality.wait 3s\n"), "{speculation}");
    assert!(!speculation.contains("spark.speculation.quantile"), "the file has it: {speculation}");
}
