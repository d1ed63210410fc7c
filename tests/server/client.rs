//! A client that says what it is told to and remembers what it hears.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

/// Nothing that is right takes this long.
const PATIENCE: Duration = Duration::from_secs(30);
/// Long enough for a message that must not come.
pub(crate) const QUIET: Duration = Duration::from_millis(300);

/// A job whose only finding is the value of one setting.
pub(crate) fn job(value: &str) -> String {
    format!(
        "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n\
         spark.conf.set(\"spark.sql.shuffle.partitions\", \"{value}\")\n"
    )
}

pub(crate) struct Client {
    input: DuplexStream,
    output: UnboundedReceiver<Value>,
    /// Heard, and not asked for yet.
    heard: VecDeque<Value>,
    server: JoinHandle<u8>,
    next_id: i64,
    /// The answer to `workspace/configuration`; `None` leaves every request of the server without one.
    pub(crate) configuration: Option<Value>,
    /// Methods of the server's requests, in order.
    pub(crate) asked: Vec<String>,
}

impl Client {
    /// A server that has heard nothing yet.
    pub(crate) fn silent() -> Self {
        let (input, server_input) = tokio::io::duplex(1 << 20);
        let (server_output, output) = tokio::io::duplex(1 << 20);
        let server = tokio::spawn(sparkls::lsp::run(server_input, server_output));
        let (sender, receiver) = unbounded_channel();
        tokio::spawn(async move {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output).await {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            input,
            output: receiver,
            heard: VecDeque::new(),
            server,
            next_id: 0,
            configuration: Some(Value::Null),
            asked: Vec::new(),
        }
    }

    /// A server that was greeted by a client with these capabilities, for the folder.
    pub(crate) async fn start(capabilities: Value, root: &Path) -> Self {
        Self::start_with(json!({ "capabilities": capabilities, "rootUri": uri(root) })).await.0
    }

    /// A server that was greeted with these parameters, and its answer.
    pub(crate) async fn start_with(params: Value) -> (Self, Value) {
        let mut client = Self::silent();
        let answer = client.request("initialize", params).await.expect("initialize is answered");
        client.notify("initialized", json!({})).await;
        (client, answer)
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let body = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params })).await;
    }

    /// Sends a request and does not wait for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        self.send(json!({ "id": self.next_id, "method": method, "params": params })).await;
        self.next_id
    }

    /// Sends a request; its result, or its error.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// The answer to a request.
    pub(crate) async fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let message = self.wait(|message| message["id"] == json!(id) && message.get("method").is_none()).await;
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    /// The next message that is wanted.
    pub(crate) async fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        tokio::time::timeout(PATIENCE, self.next(wanted)).await.expect("the server says it")
    }

    /// Whether a message comes that should not.
    pub(crate) async fn hears(&mut self, wanted: impl Fn(&Value) -> bool) -> bool {
        tokio::time::timeout(QUIET, self.next(wanted)).await.is_ok()
    }

    async fn next(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.heard.iter().position(&wanted) {
            return self.heard.remove(index).unwrap();
        }
        loop {
            let message = self.output.recv().await.expect("the server is there");
            if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
                self.asked.push(method.to_owned());
                if let Some(configuration) = &self.configuration {
                    let result = if method == "workspace/configuration" { json!([configuration]) } else { Value::Null };
                    self.send(json!({ "id": id, "result": result })).await;
                }
            }
            if wanted(&message) {
                return message;
            }
            self.heard.push_back(message);
        }
    }

    pub(crate) async fn open(&mut self, uri: &str, text: &str) {
        self.open_as(uri, "python", text).await;
    }

    pub(crate) async fn open_as(&mut self, uri: &str, language: &str, text: &str) {
        let item = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item })).await;
    }

    pub(crate) async fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes })).await;
    }

    pub(crate) async fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
    }

    /// The next publication for a document, whatever is in it.
    pub(crate) async fn published(&mut self, uri: &str) -> Value {
        let published = |message: &Value| {
            message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == json!(uri)
        };
        self.wait(published).await["params"].clone()
    }

    /// The first published diagnostic of a document whose message holds a word; earlier publications are passed over.
    pub(crate) async fn diagnostic(&mut self, uri: &str, word: &str) -> Value {
        loop {
            let publication = self.published(uri).await;
            let found = publication["diagnostics"]
                .as_array()
                .unwrap()
                .iter()
                .find(|diagnostic| diagnostic["message"].as_str().unwrap().contains(word));
            if let Some(found) = found {
                return found.clone();
            }
        }
    }

    /// The text of a hover; empty if there is none.
    pub(crate) async fn hover(&mut self, uri: &str, line: u32, character: u32) -> String {
        let params = at(uri, line, character);
        let hover = self.request("textDocument/hover", params).await.unwrap();
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// Ends the session as the protocol wants it; the exit code.
    pub(crate) async fn end(mut self) -> u8 {
        self.request("shutdown", Value::Null).await.unwrap();
        self.notify("exit", Value::Null).await;
        self.ended().await
    }

    /// The exit code, once the server ends.
    pub(crate) async fn ended(self) -> u8 {
        tokio::time::timeout(PATIENCE, self.server).await.expect("the server ends").unwrap()
    }
}

async fn read(output: &mut BufReader<DuplexStream>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).await.ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}

/// The capabilities of a client that asks for diagnostics.
pub(crate) fn pulling() -> Value {
    json!({ "textDocument": { "diagnostic": {} }, "workspace": { "diagnostics": { "refreshSupport": true } } })
}

/// The address of a path.
pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// The parameters of a request at a position.
pub(crate) fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

/// A range within one line.
pub(crate) fn range(line: u32, start: u32, end: u32) -> Value {
    json!({ "start": { "line": line, "character": start }, "end": { "line": line, "character": end } })
}

/// An empty folder, and the address of a file in it.
pub(crate) fn folder(file: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let uri = uri(&folder.path().join(file));
    (folder, uri)
}
