//! Notebooks: cells come, change, move and go, and every answer is about the cell that was asked about.

use serde_json::{Value, json};

use crate::client::{Client, at, folder, range};

const READ: &str = "from pyspark.sql import SparkSession\n\
                    spark = SparkSession.builder.getOrCreate()\n\
                    df = spark.read.parquet(\"orders\")";
const COLLECT: &str = "name = \"😀\"; rows = df.collect()\nfor row in rows:\n    print(row)\n";

/// A client with one open notebook.
struct Notebook {
    client: Client,
    uri: String,
    version: i32,
    _root: tempfile::TempDir,
}

impl Notebook {
    async fn open(capabilities: Value, cells: &[(&str, &str)]) -> Self {
        let (root, uri) = folder("orders.ipynb");
        let mut capabilities = capabilities;
        capabilities["notebookDocument"] = json!({ "synchronization": {} });
        let client = Client::start(capabilities, root.path()).await;
        let mut notebook = Self { client, uri, version: 1, _root: root };
        let listed: Vec<Value> = cells.iter().map(|(name, _)| notebook.cell(name)).collect();
        let texts: Vec<Value> = cells.iter().map(|(name, text)| notebook.item(name, text)).collect();
        let document =
            json!({ "uri": notebook.uri, "notebookType": "jupyter-notebook", "version": 1, "cells": listed });
        let params = json!({ "notebookDocument": document, "cellTextDocuments": texts });
        notebook.client.notify("notebookDocument/didOpen", params).await;
        notebook
    }

    fn of(&self, name: &str) -> String {
        format!("{}#{name}", self.uri.replace("file://", "vscode-notebook-cell://"))
    }

    fn cell(&self, name: &str) -> Value {
        json!({ "kind": 2, "document": self.of(name) })
    }

    fn item(&self, name: &str, text: &str) -> Value {
        json!({ "uri": self.of(name), "languageId": "python", "version": 1, "text": text })
    }

    async fn change(&mut self, cells: Value) {
        self.version += 1;
        let document = json!({ "uri": self.uri, "version": self.version });
        let params = json!({ "notebookDocument": document, "change": { "cells": cells } });
        self.client.notify("notebookDocument/didChange", params).await;
    }

    async fn edit(&mut self, name: &str, changes: Value) {
        let document = json!({ "uri": self.of(name), "version": self.version + 1 });
        self.change(json!({ "textContent": [{ "document": document, "changes": changes }] })).await;
    }

    /// The diagnostics of a cell, by line, column and code, once they are what is waited for.
    async fn shows(&mut self, name: &str, wanted: &[(u64, u64, &str)]) {
        let uri = self.of(name);
        loop {
            let publication = self.client.published(&uri).await;
            let told: Vec<(u64, u64, String)> =
                publication["diagnostics"].as_array().unwrap().iter().map(place).collect();
            if told.iter().map(|(line, column, code)| (*line, *column, code.as_str())).eq(wanted.iter().copied()) {
                return;
            }
        }
    }

    async fn pull(&mut self, name: &str) -> Vec<(u64, u64, String)> {
        let params = json!({ "textDocument": { "uri": self.of(name) } });
        let report = self.client.request("textDocument/diagnostic", params).await.unwrap();
        report["items"].as_array().unwrap().iter().map(place).collect()
    }
}

fn place(diagnostic: &Value) -> (u64, u64, String) {
    let start = &diagnostic["range"]["start"];
    let number = |field: &str| start[field].as_u64().unwrap();
    (number("line"), number("character"), diagnostic["code"].as_str().unwrap_or_default().to_owned())
}

/// Where the finding of [`COLLECT`] stands, in UTF-16.
const FOUND: (u64, u64, &str) = (0, 23, "collect-unbounded");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_of_one_cell_is_known_in_the_next() {
    let mut notebook = Notebook::open(json!({}), &[("a", READ), ("b", COLLECT)]).await;
    notebook.shows("a", &[]).await;
    notebook.shows("b", &[FOUND]).await;
    // The frame is bounded now: what is found in the second cell changes with the first.
    notebook.edit("a", json!([{ "range": range(2, 33, 33), "text": ".limit(5)" }])).await;
    notebook.shows("b", &[]).await;
    notebook.edit("a", json!([{ "range": range(2, 33, 42), "text": "" }])).await;
    notebook.shows("b", &[FOUND]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cells_move_split_empty_and_go() {
    let mut notebook = Notebook::open(json!({}), &[("a", READ), ("b", COLLECT)]).await;
    notebook.shows("b", &[FOUND]).await;
    // Swapped: the frame is made behind its use.
    let swapped = json!([notebook.cell("b"), notebook.cell("a")]);
    notebook.change(json!({ "structure": { "array": { "start": 0, "deleteCount": 2, "cells": swapped } } })).await;
    notebook.shows("b", &[]).await;
    let back = json!([notebook.cell("a"), notebook.cell("b")]);
    notebook.change(json!({ "structure": { "array": { "start": 0, "deleteCount": 2, "cells": back } } })).await;
    notebook.shows("b", &[FOUND]).await;
    // Split before the finding: a new cell gets the rest of the second.
    let added = json!({ "start": 2, "deleteCount": 0, "cells": [notebook.cell("c")] });
    let opened = json!([notebook.item("c", "rows = df.collect()\nprint(rows, name)")]);
    let text = json!({ "document": { "uri": notebook.of("b"), "version": 2 }, "changes": [{ "text": "name = 1" }] });
    notebook.change(json!({ "structure": { "array": added, "didOpen": opened }, "textContent": [text] })).await;
    notebook.shows("b", &[]).await;
    notebook.shows("c", &[(0, 10, "collect-unbounded")]).await;
    notebook.edit("c", json!([{ "text": "" }])).await;
    notebook.shows("c", &[]).await;
    notebook.edit("c", json!([{ "text": "rows = df.collect()\nprint(rows)" }])).await;
    notebook.shows("c", &[(0, 10, "collect-unbounded")]).await;
    // Deleted: its diagnostics go with it.
    let gone = json!([{ "uri": notebook.of("c") }]);
    let array = json!({ "start": 2, "deleteCount": 1 });
    notebook.change(json!({ "structure": { "array": array, "didClose": gone } })).await;
    notebook.shows("c", &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn impossible_changes_do_no_harm() {
    let mut notebook = Notebook::open(json!({}), &[("a", READ), ("b", COLLECT)]).await;
    notebook.shows("b", &[FOUND]).await;
    let unknown = json!([notebook.cell("nowhere")]);
    notebook.change(json!({ "structure": { "array": { "start": 70, "deleteCount": 9, "cells": unknown } } })).await;
    notebook.edit("elsewhere", json!([{ "text": "x" }])).await;
    notebook.edit("b", json!([{ "range": range(900, 900, 900), "text": "\n" }])).await;
    let markup = json!({ "kind": 1, "document": notebook.of("b") });
    notebook.change(json!({ "data": [markup] })).await;
    notebook.shows("b", &[]).await;
    let code = notebook.cell("b");
    notebook.change(json!({ "data": [code] })).await;
    notebook.shows("b", &[FOUND]).await;
    let uri = notebook.uri.clone();
    notebook.client.close(&uri).await;
    assert!(notebook.client.hover(&uri, 0, 0).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_a_notebook_clears_its_cells() {
    let mut notebook = Notebook::open(json!({}), &[("a", READ), ("b", COLLECT)]).await;
    notebook.shows("b", &[FOUND]).await;
    let cells = json!([{ "uri": notebook.of("a") }, { "uri": notebook.of("b") }]);
    let params = json!({ "notebookDocument": { "uri": notebook.uri }, "cellTextDocuments": cells });
    notebook.client.notify("notebookDocument/didClose", params).await;
    notebook.shows("b", &[]).await;
    let cell = notebook.of("b");
    assert!(notebook.client.request("textDocument/hover", at(&cell, 0, 24)).await.unwrap().is_null());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cells_are_pulled_one_by_one() {
    let capabilities = crate::client::pulling();
    let cells = [("a", READ), ("m", "%pip install x\n!ls\n%%sql"), ("b", COLLECT)];
    let mut notebook = Notebook::open(capabilities, &cells).await;
    let found = notebook.pull("b").await;
    assert_eq!(found, [(FOUND.0, FOUND.1, FOUND.2.to_owned())]);
    assert_eq!(notebook.pull("a").await, []);
    assert_eq!(notebook.pull("m").await, []);
    assert_eq!(notebook.pull("unknown").await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_and_edits_are_about_the_cell() {
    let capabilities = json!({ "workspace": { "workspaceEdit": { "documentChanges": true } } });
    let set = "spark.conf.set(\"spark.sql.shuffle.partitions\", \"many\")\n";
    let magic = "%%sql\nSELECT 1";
    let mut notebook = Notebook::open(capabilities, &[("a", READ), ("m", magic), ("b", COLLECT), ("c", set)]).await;
    let (b, c) = (notebook.of("b"), notebook.of("c"));
    let hover = notebook.client.request("textDocument/hover", at(&b, 0, 24)).await.unwrap();
    assert_eq!(hover["range"]["start"], json!({ "line": 0, "character": 23 }), "{hover}");
    let runs = hover["contents"]["value"].as_str().unwrap();
    assert!(runs.contains("line 3 of cell 1: `parquet`"), "{runs}");
    assert!(notebook.client.hover(&c, 0, 20).await.contains("spark.sql.shuffle.partitions"));
    let place = at(&c, 0, 30);
    let definition = notebook.client.request("textDocument/definition", place).await.unwrap();
    assert_eq!(definition[0]["uri"], json!(c), "{definition}");
    assert_eq!(definition[0]["range"]["start"]["line"], json!(0));
    let completion = notebook.client.request("textDocument/completion", at(&c, 0, 26)).await.unwrap();
    let edit = &completion["items"][0]["textEdit"];
    assert_eq!(edit["range"]["start"], json!({ "line": 0, "character": 16 }), "{completion}");
    let symbols = json!({ "textDocument": { "uri": b } });
    let symbols = notebook.client.request("textDocument/documentSymbol", symbols).await.unwrap();
    assert_eq!(symbols[0]["location"]["uri"], json!(b), "{symbols}");
    let asked = json!({
        "textDocument": { "uri": b }, "range": range(0, 24, 24), "context": { "diagnostics": [] },
    });
    let actions = notebook.client.request("textDocument/codeAction", asked).await.unwrap();
    let actions = actions.as_array().unwrap();
    assert!(!actions.is_empty());
    for action in actions {
        for change in action["edit"]["documentChanges"].as_array().unwrap() {
            assert!(change["textDocument"]["uri"].as_str().unwrap().starts_with("vscode-notebook-cell://"), "{action}");
            assert!(change["edits"][0]["range"]["start"]["line"].as_u64().unwrap() < 4, "{action}");
        }
        if let Some(diagnostic) = action["diagnostics"].get(0) {
            assert_eq!(diagnostic["range"]["start"]["line"], json!(0));
        }
    }
    let ignore = actions.iter().find(|action| action["title"] == "Ignore collect-unbounded here").unwrap();
    let change = &ignore["edit"]["documentChanges"][0];
    assert_eq!((&change["textDocument"]["uri"], &change["textDocument"]["version"]), (&json!(b), &json!(1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cell_configures_the_session_of_the_others() {
    let configure = "%%configure -f\n{\"conf\": {\"spark.sql.shuffle.partitions\": \"many\"}}";
    let mut notebook = Notebook::open(json!({}), &[("a", configure), ("b", "spark.table(\"t\").count()")]).await;
    notebook.shows("a", &[(1, 43, "invalid-value")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_clients_with_notebooks_are_offered_them() {
    let (root, _) = folder("job.py");
    let greeting = |capabilities: Value| {
        let params = json!({ "capabilities": capabilities, "rootUri": crate::client::uri(root.path()) });
        async { Client::start_with(params).await.1 }
    };
    let offered = greeting(json!({ "notebookDocument": { "synchronization": {} } })).await;
    let selector = json!({ "notebook": "*" });
    assert_eq!(offered["capabilities"]["notebookDocumentSync"]["notebookSelector"], json!([selector]));
    assert!(greeting(json!({})).await["capabilities"].get("notebookDocumentSync").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cell_that_is_opened_as_a_document_is_one() {
    let (root, _) = folder("orders.ipynb");
    let mut client = Client::start(json!({}), root.path()).await;
    let cell = format!("vscode-notebook-cell://{}/orders.ipynb#W0sZmlsZQ%3D%3D", root.path().display());
    client.open(&cell, &format!("%pip install x\n!ls\n{READ}\nrows = df.collect()\nprint(rows)\n")).await;
    let found = client.diagnostic(&cell, "collect").await;
    assert_eq!(found["range"]["start"]["line"], json!(5));
    client.change(&cell, 2, json!([{ "text": "%%sql\nselect 1" }])).await;
    assert_eq!(client.published(&cell).await["diagnostics"], json!([]));
    client.close(&cell).await;
}

/// What cells are made of: frames, their uses, what the kernel runs, text that is not finished.
const PIECES: [&str; 10] = [
    READ,
    COLLECT,
    "df = df.limit(3)\n",
    "%%sql\nSELECT 'it''s'\n",
    "!ls\n%time rows = df.collect()",
    "text = \"\"\"\n%%sql\n",
    "é = df.toPandas()  # 日本\r\nprint(é)",
    "",
    "rows = (df\n  .collect()\n",
    "df = spark.table(\"t\")",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_any_changes_a_notebook_is_as_if_it_was_opened_now() {
    let capabilities = || crate::client::pulling();
    let mut seed = 7_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut notebook = Notebook::open(capabilities(), &[("c0", READ), ("c1", COLLECT)]).await;
    let mut cells = vec![("c0".to_owned(), READ.to_owned()), ("c1".to_owned(), COLLECT.to_owned())];
    for step in 2..120 {
        let piece = PIECES[random(PIECES.len())];
        let at = random(cells.len() + 1);
        match random(5) {
            0 if cells.len() < 8 => {
                let name = format!("c{step}");
                let array = json!({ "start": at, "deleteCount": 0, "cells": [notebook.cell(&name)] });
                let opened = json!([notebook.item(&name, piece)]);
                notebook.change(json!({ "structure": { "array": array, "didOpen": opened } })).await;
                cells.insert(at, (name, piece.to_owned()));
            }
            1 if cells.len() > 2 => {
                let at = at.min(cells.len() - 1);
                let gone = json!([{ "uri": notebook.of(&cells.remove(at).0) }]);
                let array = json!({ "start": at, "deleteCount": 1 });
                notebook.change(json!({ "structure": { "array": array, "didClose": gone } })).await;
            }
            2 => {
                cells.rotate_left(1);
                let listed: Vec<Value> = cells.iter().map(|(name, _)| notebook.cell(name)).collect();
                let array = json!({ "start": 0, "deleteCount": cells.len(), "cells": listed });
                notebook.change(json!({ "structure": { "array": array } })).await;
            }
            3 => {
                // At the beginning of a line, where columns are the same in every encoding.
                let at = at.min(cells.len() - 1);
                let line = random(cells[at].1.split('\n').count());
                let offset = cells[at].1.match_indices('\n').nth(line.wrapping_sub(1)).map_or(0, |(end, _)| end + 1);
                cells[at].1.insert_str(offset, piece);
                let name = cells[at].0.clone();
                notebook.edit(&name, json!([{ "range": range(line as u32, 0, 0), "text": piece }])).await;
            }
            _ => {
                let at = at.min(cells.len() - 1);
                cells[at].1 = piece.to_owned();
                let name = cells[at].0.clone();
                notebook.edit(&name, json!([{ "text": piece }])).await;
            }
        }
        if step % 10 == 0 {
            let listed: Vec<(&str, &str)> = cells.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            let mut fresh = Notebook::open(capabilities(), &listed).await;
            for (name, _) in &cells {
                assert_eq!(notebook.pull(name).await, fresh.pull(name).await, "after step {step}: {cells:#?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cells_of_sql_read_the_views_of_the_others() {
    const VIEW: &str = "from pyspark.sql import SparkSession\n\
                        spark = SparkSession.builder.getOrCreate()\n\
                        spark.table(\"raw\").createOrReplaceTempView(\"v\")";
    const PAIRS: &str = "%%sql\nINSERT INTO pairs\nSELECT '😀', v.id FROM v CROSS JOIN targets t";
    let crossed = (2, 25, "cartesian-join");
    let mut notebook = Notebook::open(json!({}), &[("a", VIEW), ("b", PAIRS)]).await;
    notebook.shows("b", &[crossed]).await;
    // The view has few rows now.
    notebook.edit("a", json!([{ "range": range(2, 18, 18), "text": ".limit(5)" }])).await;
    notebook.shows("b", &[]).await;
    notebook.edit("a", json!([{ "range": range(2, 18, 27), "text": "" }])).await;
    notebook.shows("b", &[crossed]).await;
    // An edit of the SQL alone changes nothing of the Python.
    notebook.edit("b", json!([{ "range": range(2, 45, 45), "text": " WHERE v.id = t.id" }])).await;
    notebook.shows("b", &[]).await;
    notebook.edit("b", json!([{ "text": PAIRS }])).await;
    notebook.shows("b", &[crossed]).await;
    notebook.edit("b", json!([{ "text": PAIRS.replace("%%sql", "%%sqlite") }])).await;
    notebook.shows("b", &[]).await;
}
