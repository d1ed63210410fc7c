//! Hover, completion and symbols.

use serde_json::{Value, json};

use crate::client::{Client, at, folder, job};

fn markdown() -> Value {
    json!({ "textDocument": { "hover": { "contentFormat": ["markdown"] } } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setting_says_who_decides_it() {
    let (root, uri) = folder("job.py");
    std::fs::create_dir(root.path().join("conf")).unwrap();
    let defaults = root.path().join("conf/spark-defaults.conf");
    std::fs::write(&defaults, "\nspark.sql.shuffle.partitions 300\n").unwrap();
    let mut client = Client::start(markdown(), root.path()).await;
    client.open(&uri, &job("400")).await;
    let hover = client.hover(&uri, 2, 30).await;
    assert!(hover.contains("Effective here: `400`, from line 3 on, at run time"), "{hover}");
    assert!(hover.contains("overrides `300` from conf/spark-defaults.conf:2"), "{hover}");
    assert!(hover.contains("Default `200`"), "{hover}");
    assert!(hover.contains("https://spark.apache.org/docs/"), "{hover}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_open_defaults_file_counts_before_the_saved_one() {
    let (root, uri) = folder("job.py");
    let defaults = root.path().join("spark-defaults.conf");
    std::fs::write(&defaults, "spark.driver.maxResultSize 2g\n").unwrap();
    let defaults_uri = crate::client::uri(&defaults);
    let mut client = Client::start(markdown(), root.path()).await;
    client.open(&uri, &format!("{}rows = spark.read.parquet(\"x\").collect()\n", job("200"))).await;
    let column = "rows = spark.read.parquet(\"x\").co".len() as u32;
    client.diagnostic(&uri, "2g").await;
    assert!(client.hover(&uri, 3, column).await.contains("`spark.driver.maxResultSize` = `2g`"));
    client.open_as(&defaults_uri, "properties", "spark.driver.maxResultSize 3g\n").await;
    client.diagnostic(&uri, "3g").await;
    client.close(&defaults_uri).await;
    client.diagnostic(&uri, "2g").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_says_what_it_runs() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(markdown(), root.path()).await;
    let text = "from pyspark.sql import SparkSession\n\
        spark = SparkSession.builder.getOrCreate()\n\
        orders = spark.read.parquet(\"orders\")\n\
        users = spark.read.parquet(\"users\").cache()\n\
        both = orders.join(users, \"id\").groupBy(\"country\").count()\n\
        both.write.parquet(\"out\")\n";
    client.open(&uri, text).await;
    let hover = client.hover(&uri, 5, "both.write.par".len() as u32).await;
    assert!(hover.contains("line 5: `join`"), "{hover}");
    assert!(hover.contains("2 shuffles"), "{hover}");
    assert!(hover.starts_with("`parquet` is an action: the whole frame is computed and written."), "{hover}");
    let join = client.hover(&uri, 4, "both = orders.jo".len() as u32).await;
    assert!(join.contains("`spark.sql.autoBroadcastJoinThreshold` = `"), "{join}");
    assert!(join.starts_with("`join` is a transformation: nothing runs until an action needs the rows."), "{join}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_completed_in_half_written_code_and_explained() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    let text = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.config(\"spark.sql.shuf";
    client.open(&uri, text).await;
    let list = client.request("textDocument/completion", at(&uri, 1, 51)).await.unwrap();
    let first = list["items"][0].clone();
    assert_eq!(first["label"], "spark.sql.shuffle.partitions");
    assert_eq!(first["textEdit"]["range"]["start"], json!({ "line": 1, "character": 37 }));
    let resolved = client.request("completionItem/resolve", first).await.unwrap();
    assert!(resolved["documentation"]["value"].as_str().unwrap().contains("Default"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_are_completed_by_type() {
    let (root, _) = folder("job.py");
    let uri = crate::client::uri(&root.path().join("spark-defaults.conf"));
    let mut client = Client::start(json!({}), root.path()).await;
    client.open_as(&uri, "properties", "spark.sql.adaptive.enabled fa").await;
    let list = client.request("textDocument/completion", at(&uri, 0, 29)).await.unwrap();
    let labels: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| item["label"].clone()).collect();
    assert_eq!(labels, ["true", "false"]);
    assert_eq!(list["items"][0]["textEdit"]["range"]["start"]["character"], 27);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn symbols_are_nested_where_the_client_can_show_it() {
    let text = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n\
        def main():\n    orders = spark.read.parquet(\"x\")\n    orders.count()\nmain()\n";
    for nested in [true, false] {
        let (root, uri) = folder("job.py");
        let symbol = json!({ "hierarchicalDocumentSymbolSupport": nested });
        let mut client = Client::start(json!({ "textDocument": { "documentSymbol": symbol } }), root.path()).await;
        client.open(&uri, text).await;
        let document = json!({ "textDocument": { "uri": uri } });
        let symbols = client.request("textDocument/documentSymbol", document).await.unwrap();
        let names = |symbols: &Value| -> Vec<String> {
            symbols.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap().to_owned()).collect()
        };
        if nested {
            assert_eq!(names(&symbols), ["main"]);
            assert_eq!(names(&symbols[0]["children"]), ["orders", "count()"]);
        } else {
            assert_eq!(names(&symbols), ["main", "orders", "count()"]);
        }
    }
}
