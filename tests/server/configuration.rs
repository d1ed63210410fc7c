//! Settings: of the project's files, of the editor, and while they are half typed.

use serde_json::{Value, json};

use crate::client::{Client, folder, job};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pushed_settings_are_taken_at_once() {
    let (root, uri) = folder("job.py");
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, &job("pushed")).await;
    client.diagnostic(&uri, "pushed").await;
    let off = json!({ "settings": { "sparkls": { "rules": { "invalid-value": "off" } } } });
    client.notify("workspace/didChangeConfiguration", off).await;
    assert_eq!(client.published(&uri).await["diagnostics"], json!([]));
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "sparkls": {} } })).await;
    client.diagnostic(&uri, "pushed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_are_asked_for_where_the_client_can_be_asked() {
    let (root, uri) = folder("job.py");
    let greeting = json!({
        "capabilities": { "workspace": { "configuration": true } }, "rootUri": crate::client::uri(root.path()),
    });
    let mut client = Client::silent();
    client.configuration = Some(json!({ "rules": { "invalid-value": "off" } }));
    client.request("initialize", greeting).await.unwrap();
    client.notify("initialized", json!({})).await;
    client.open(&uri, &job("asked")).await;
    assert_eq!(client.published(&uri).await["diagnostics"], json!([]));
    client.configuration = Some(json!({}));
    client.notify("workspace/didChangeConfiguration", json!({ "settings": Value::Null })).await;
    client.diagnostic(&uri, "asked").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_half_typed_settings_file_keeps_what_it_said_and_says_what_is_wrong() {
    let (root, uri) = folder("job.py");
    let settings = root.path().join("sparkls.toml");
    let settings_uri = crate::client::uri(&settings);
    std::fs::write(&settings, "[rules]\ninvalid-value = \"off\"\n").unwrap();
    let mut client = Client::start(json!({}), root.path()).await;
    client.open(&uri, &job("typed")).await;
    assert_eq!(client.published(&uri).await["diagnostics"], json!([]));
    std::fs::write(&settings, "[rules]\ninvalid-value = \"of").unwrap();
    let saved = json!({ "textDocument": { "uri": settings_uri } });
    client.notify("textDocument/didSave", saved.clone()).await;
    let problems = client.published(&settings_uri).await;
    assert_eq!(problems["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(problems["diagnostics"][0]["range"]["start"]["line"], 1);
    let told = client.wait(|message| message["method"] == "window/showMessage").await;
    assert!(told["params"]["message"].as_str().unwrap().starts_with("sparkls.toml: "));
    assert_eq!(client.published(&uri).await["diagnostics"], json!([]));
    std::fs::write(&settings, "").unwrap();
    client.notify("textDocument/didSave", saved).await;
    assert_eq!(client.published(&settings_uri).await["diagnostics"], json!([]));
    client.diagnostic(&uri, "typed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_longest_folder_that_holds_a_file_decides() {
    let (outer, outer_uri) = folder("job.py");
    let inner = outer.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(outer.path().join("sparkls.toml"), "rules.invalid-value = \"off\"\n").unwrap();
    std::fs::write(inner.join("sparkls.toml"), "[rules]\ninvalid-value = \"hint\"\n").unwrap();
    let inner_uri = crate::client::uri(&inner.join("job.py"));
    let folder = |path: &std::path::Path| json!({ "uri": crate::client::uri(path), "name": "x" });
    let (mut client, _) = Client::start_with(json!({
        "capabilities": {}, "workspaceFolders": [folder(outer.path()), folder(&inner)],
    }))
    .await;
    client.open(&outer_uri, &job("outer")).await;
    assert_eq!(client.published(&outer_uri).await["diagnostics"], json!([]));
    client.open(&inner_uri, &job("inner")).await;
    assert_eq!(client.diagnostic(&inner_uri, "inner").await["severity"], 4);
    let removed = json!({ "event": { "added": [], "removed": [folder(&inner)] } });
    client.notify("workspace/didChangeWorkspaceFolders", removed).await;
    while !client.published(&inner_uri).await["diagnostics"].as_array().unwrap().is_empty() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watchers_are_registered_only_where_the_client_can_watch() {
    let (root, uri) = folder("job.py");
    let capabilities = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut client = Client::start(capabilities, root.path()).await;
    let registration = client.wait(|message| message["method"] == "client/registerCapability").await;
    assert_eq!(registration["params"]["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    client.open(&uri, &job("watched")).await;
    client.diagnostic(&uri, "watched").await;
    std::fs::write(root.path().join("sparkls.toml"), "rules.invalid-value = \"off\"\n").unwrap();
    let changed = json!({ "changes": [{ "uri": crate::client::uri(&root.path().join("sparkls.toml")), "type": 1 }] });
    client.notify("workspace/didChangeWatchedFiles", changed).await;
    while !client.published(&uri).await["diagnostics"].as_array().unwrap().is_empty() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_line_of_the_version_says_what_a_newer_spark_changes() {
    for (file, language, text, column) in [
        ("sparkls.toml", "toml", "local = true\nspark-version = \"3.5\"\n", 17),
        ("requirements.txt", "pip-requirements", "# jobs\npyspark==3.5.1\n", 9),
    ] {
        let (root, uri) = folder(file);
        std::fs::write(root.path().join(file), text).unwrap();
        let run = "spark-submit --conf spark.speculation=true --conf spark.speculation.quantile=0.75 job.py\n";
        std::fs::write(root.path().join("run.sh"), run).unwrap();
        let mut client = Client::start(json!({}), root.path()).await;
        client.open_as(&uri, language, text).await;
        let document = json!({ "textDocument": { "uri": uri } });
        let lens = loop {
            let lenses = client.request("textDocument/codeLens", document.clone()).await.unwrap();
            if lenses.is_array() {
                break lenses[0].clone();
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        };
        assert_eq!(lens["range"]["start"], json!({ "line": 1, "character": column }), "{file}");
        let title = lens["command"]["title"].as_str().unwrap();
        assert!(title.contains("change until Spark 4."), "{title}");
        let told = json!({ "command": lens["command"]["command"], "arguments": lens["command"]["arguments"] });
        let told = client.request("workspace/executeCommand", told).await.unwrap();
        let told = told.as_str().unwrap();
        assert!(told.contains("- `spark.speculation.quantile`: its default goes from `0.75` to `0.9`"), "{told}");
        assert!(told.contains("  - run.sh:1 `0.75`"), "{told}");
        assert!(told.contains("- `spark.speculation.multiplier`: `1.5` → `3"), "{told}");
    }
}
