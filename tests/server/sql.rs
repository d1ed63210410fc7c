//! Scripts in SQL: read where they are Spark's.

use serde_json::json;

use crate::client::{Client, folder, range, uri};

const PAIRS: &str = "INSERT INTO mart.pairs\nSELECT s.id FROM raw.sales s, raw.targets t;\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_beside_code_of_spark_is_read() {
    let (root, _) = folder("job.py");
    std::fs::write(root.path().join("job.py"), "from pyspark.sql import SparkSession\n").unwrap();
    let uri = uri(&root.path().join("pairs.sql"));
    let mut client = Client::start(json!({}), root.path()).await;
    client.open_as(&uri, "sql", PAIRS).await;
    let diagnostic = client.diagnostic(&uri, "comma").await;
    assert_eq!((&diagnostic["code"], &diagnostic["range"]), (&json!("cartesian-join"), &range(1, 28, 29)));
    client.change(&uri, 2, json!([{ "range": range(1, 28, 29), "text": " JOIN" }])).await;
    client.diagnostic(&uri, "JOIN").await;
    client.change(&uri, 3, json!([{ "text": format!("CREATE TABLE t (id SERIAL);\n{PAIRS}") }])).await;
    while client.published(&uri).await["diagnostics"] != json!([]) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_elsewhere_is_read_by_its_own_words() {
    let (root, _) = folder("app.py");
    let mut client = Client::start(json!({}), root.path()).await;
    let unknown = uri(&root.path().join("unknown.sql"));
    client.open_as(&unknown, "sql", PAIRS).await;
    let told = uri(&root.path().join("told.sql"));
    client.open_as(&told, "sql", &PAIRS.replace("INTO", "OVERWRITE")).await;
    client.diagnostic(&told, "comma").await;
    assert_eq!(client.published(&unknown).await["diagnostics"], json!([]));
}
