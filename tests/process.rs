//! The real process: exit codes, the end of its client, and nothing but frames on standard output.

#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(30);

struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Result<Value, String>>,
}

impl Server {
    fn start(environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sparkls"))
            .arg("server")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(message) = frame(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, messages }
    }

    fn greeted(environment: &[(&str, &str)], process: Option<u32>) -> Self {
        let mut server = Self::start(environment);
        let params = json!({ "processId": process, "rootUri": null, "capabilities": {} });
        server.send(json!({ "id": 1, "method": "initialize", "params": params }));
        server.wait(|message| message["id"] == 1);
        server.send(json!({ "method": "initialized", "params": {} }));
        server
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let body = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    fn open(&mut self, uri: &str, text: &str) {
        let item = json!({ "uri": uri, "languageId": "python", "version": 1, "text": text });
        self.send(json!({ "method": "textDocument/didOpen", "params": { "textDocument": item } }));
    }

    fn wait(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("the server says it").expect("a frame");
            if wanted(&message) {
                return message;
            }
        }
    }

    /// The exit code; what is left on standard output has to be frames too.
    fn ended(&mut self) -> i32 {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "the server goes on");
            std::thread::sleep(Duration::from_millis(10));
        };
        for message in self.messages.iter() {
            message.expect("only frames on standard output");
        }
        status.code().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next frame, `Err` with what is none, `None` at the end.
fn frame(output: &mut impl BufRead) -> Option<Result<Value, String>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.strip_suffix("\r\n") {
            Some("") => break,
            Some(header) => match header.strip_prefix("Content-Length: ").map(str::parse) {
                Some(Ok(value)) => length = Some(value),
                _ => return Some(Err(line)),
            },
            None => return Some(Err(line)),
        }
    }
    let mut body = vec![0; length?];
    output.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).map_err(|error| error.to_string()))
}

fn job(value: &str) -> String {
    format!(
        "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n\
         spark.conf.set(\"spark.sql.shuffle.partitions\", \"{value}\")\n"
    )
}

fn publishes(message: &Value, word: &str) -> bool {
    message["method"] == "textDocument/publishDiagnostics"
        && message["params"]["diagnostics"].to_string().contains(word)
}

#[test]
fn exit_behind_shutdown_is_zero_though_stdin_stays_open() {
    let mut server = Server::greeted(&[], None);
    server.send(json!({ "id": 2, "method": "shutdown", "params": {} }));
    server.wait(|message| message["id"] == 2);
    server.send(json!({ "method": "exit" }));
    assert_eq!(server.ended(), 0);
}

#[test]
fn exit_without_shutdown_is_one() {
    let mut server = Server::greeted(&[], None);
    server.send(json!({ "method": "exit" }));
    assert_eq!(server.ended(), 1);
}

#[test]
fn the_end_of_the_input_ends_the_server() {
    let mut server = Server::greeted(&[], None);
    server.open("file:///job.py", &job("left"));
    server.stdin = None;
    server.ended();
}

/// However much there is to do: nobody waits for it any more.
#[test]
fn the_server_ends_while_it_computes() {
    let statement = "rows = spark.read.parquet('in').groupBy('a').count().join(spark.table('t'), 'k').collect()\n";
    let text = format!("from pyspark.sql import SparkSession\nspark = SparkSession()\n{}", statement.repeat(40_000));
    for ending in ["exit", "end of the input"] {
        let mut server = Server::greeted(&[], None);
        server.open("file:///job.py", &text);
        server.send(json!({ "id": 2, "method": "textDocument/documentSymbol", "params": { "textDocument": { "uri": "file:///job.py" } } }));
        std::thread::sleep(Duration::from_millis(200));
        let begun = Instant::now();
        match ending {
            "exit" => server.send(json!({ "method": "exit" })),
            _ => server.stdin = None,
        }
        server.ended();
        assert!(begun.elapsed() < Duration::from_secs(5), "{ending}: it took {:?}", begun.elapsed());
    }
}

#[test]
fn malformed_json_and_wild_headers_are_survived() {
    let mut server = Server::greeted(&[], None);
    server.send_bytes(b"Content-Length: 3\r\nContent-Type: text; charset=utf8\r\n\r\n{\"a");
    assert_eq!(server.wait(|message| message.get("error").is_some())["error"]["code"], -32700);
    server.send_bytes(b"noise\r\n\r\n");
    server.open("file:///job.py", &job("alive"));
    server.wait(|message| publishes(message, "alive"));
}

#[cfg(unix)]
#[test]
fn a_dead_parent_ends_the_server_though_the_pipe_stays_open() {
    let mut parent = Command::new("sleep").arg("600").spawn().unwrap();
    let mut server = Server::greeted(&[], Some(parent.id()));
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert_eq!(server.ended(), 1);
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_is_told_once_and_everything_else_goes_on() {
    let mut server = Server::greeted(&[("SPARKLS_PANIC_ON", "# panic here")], None);
    server.open("file:///bad.py", &format!("{}# panic here\n", job("unseen")));
    let told = server.wait(|message| message["method"] == "window/showMessage");
    assert_eq!(told["params"]["type"], 1);
    let position = json!({ "textDocument": { "uri": "file:///bad.py" }, "position": { "line": 2, "character": 25 } });
    server.send(json!({ "id": 2, "method": "textDocument/hover", "params": position }));
    assert!(server.wait(|message| message["id"] == 2)["result"].is_object());
    server.open("file:///good.py", &job("beside"));
    server.wait(|message| publishes(message, "beside"));
    // The next version of the same document is analysed again, and a second panic is not told again.
    let change = json!({ "textDocument": { "uri": "file:///bad.py", "version": 2 }, "contentChanges": [{ "text": job("mended") }] });
    server.send(json!({ "method": "textDocument/didChange", "params": change }));
    server.wait(|message| publishes(message, "mended"));
    server.send(json!({ "id": 3, "method": "sparkls/status" }));
    let status = server.wait(|message| message["id"] == 3 || message["method"] == "window/showMessage");
    assert!(status["result"]["lastPanic"].as_str().unwrap().contains("version 1 of file:///bad.py"));
    server.send(json!({ "method": "exit" }));
    server.ended();
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(log.matches("a test asked for this panic").count(), 1, "{log}");
}

#[test]
fn the_editor_says_what_is_logged_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparkls.log");
    let mut server = Server::start(&[]);
    let root = format!("file://{}", folder.path().display());
    let params = json!({ "processId": null, "rootUri": root, "capabilities": {} });
    server.send(json!({ "id": 1, "method": "initialize", "params": params }));
    server.wait(|message| message["id"] == 1);
    server.send(json!({ "method": "initialized", "params": {} }));
    let logged = |wanted: &str| {
        let begun = Instant::now();
        while !std::fs::read_to_string(&file).is_ok_and(|text| text.contains(wanted)) {
            assert!(begun.elapsed() < PATIENCE, "{wanted} is not logged");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let settings = json!({ "sparkls": { "logLevel": "info", "logFile": file, "sparkVersion": "3.4" } });
    server.send(json!({ "method": "workspace/didChangeConfiguration", "params": { "settings": settings } }));
    logged("Spark 3.4");
    // A place that can't be written is told, and the log on standard error goes on.
    let settings = json!({ "sparkls": { "logLevel": "info", "logFile": folder.path(), "sparkVersion": "3.5" } });
    server.send(json!({ "method": "workspace/didChangeConfiguration", "params": { "settings": settings } }));
    let told = server.wait(|message| message["method"] == "window/showMessage");
    assert!(told["params"]["message"].as_str().unwrap().contains("no regular file"), "{told}");
    for id in 2.. {
        server.send(json!({ "id": id, "method": "sparkls/status" }));
        let status = server.wait(|message| message["id"] == id);
        if status["result"]["projects"][0]["sparkVersion"].as_str().is_some_and(|version| version.starts_with("3.5")) {
            break;
        }
    }
    server.send(json!({ "id": 0, "method": "shutdown" }));
    server.send(json!({ "method": "exit" }));
    server.ended();
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("Spark 3.4") && log.contains("Spark 3.5"), "{log}");
    assert!(!std::fs::read_to_string(&file).unwrap().contains("Spark 3.5"));
}

#[test]
fn typing_writes_nothing_to_the_log() {
    let mut server = Server::greeted(&[], None);
    server.open("file:///job.py", &job("0"));
    for version in 2..500 {
        let text = job(&format!("v{version}x"));
        let document = json!({ "uri": "file:///job.py", "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        server.send(json!({ "method": "textDocument/didChange", "params": params }));
    }
    server.wait(|message| publishes(message, "v499x"));
    server.send(json!({ "method": "exit" }));
    server.ended();
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(log, "");
}

/// A job with `n` functions, the value of a setting last.
#[cfg(target_os = "linux")]
fn long_job(functions: usize, value: &str) -> String {
    let function = |number: usize| {
        format!(
            "\n\ndef step_{number}(orders):\n    kept = orders.where(\"amount > {number}\").groupBy(\"day\").count()\n    \
             rows = kept.limit({number}).collect()\n    return kept.repartition(8).cache(), rows\n"
        )
    };
    let setting = "spark.conf.set(\"spark.sql.shuffle.partitions\", \"";
    let functions: String = (0..functions).map(function).collect();
    let head = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n";
    format!("{head}{setting}{value}\")\n{functions}")
}

/// The resident set of a process in KiB.
#[cfg(target_os = "linux")]
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// The usual growth from one sample to the next, in bytes; samples are in KiB. It is the median: the allocator takes more in
/// steps, when a thread first does what others did before it, and what leaks grows all the time.
#[cfg(target_os = "linux")]
fn usual_growth(samples: &[u64]) -> i64 {
    let mut growth: Vec<i64> = samples.windows(2).map(|pair| (pair[1] as i64 - pair[0] as i64) * 1024).collect();
    growth.sort_unstable();
    growth[growth.len() / 2]
}

/// Typing, undoing, and functions that come and go.
#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_edits_leave_no_memory_behind() {
    let mut server = Server::greeted(&[], None);
    let mut lines: Vec<String> = long_job(12, "v0x").lines().map(str::to_owned).collect();
    server.open("file:///job.py", &lines.join("\n"));
    server.wait(|message| publishes(message, "v0x"));
    let mut samples = Vec::new();
    for edit in 1..=10_000 {
        let mut change = |line: usize, last: usize, new: &[String]| {
            let start = json!({ "line": line, "character": 0 });
            let end = json!({ "line": last, "character": 0 });
            lines.splice(line..last, new.iter().cloned());
            let text: String = new.iter().map(|line| format!("{line}\n")).collect();
            json!({ "range": { "start": start, "end": end }, "text": text })
        };
        let value = format!("spark.conf.set(\"spark.sql.shuffle.partitions\", \"v{edit}x\")");
        let mut changes = vec![change(2, 3, &[value])];
        let added = ["", "def more(df):", "    return df.join(spark.table(\"t\"), \"k\").count()"].map(str::to_owned);
        match edit % 20 {
            5 => changes.push(change(3, 3, &added)),
            15 => changes.push(change(3, 6, &[])),
            _ => {}
        }
        let document = json!({ "uri": "file:///job.py", "version": edit + 1 });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        server.send(json!({ "method": "textDocument/didChange", "params": params }));
        server.wait(|message| publishes(message, &format!("v{edit}x")));
        if edit % 100 == 0 {
            samples.push(resident(server.child.id()));
        }
    }
    let text = lines.join("\n").len() as i64;
    assert!(usual_growth(&samples) < 10 * text, "100 edits of {text} bytes leave more than 10 texts: {samples:?}");
    server.send(json!({ "method": "exit" }));
    server.ended();
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.len() < 4_096, "{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn closed_documents_leave_no_memory_behind() {
    let mut server = Server::greeted(&[], None);
    let text = long_job(150, "first");
    let mut samples = Vec::new();
    for round in 0..160 {
        let uri = format!("file:///job{round}.py");
        server.open(&uri, &text);
        server.wait(|message| publishes(message, "first"));
        let document = json!({ "textDocument": { "uri": uri } });
        server.send(json!({ "method": "textDocument/didClose", "params": document }));
        server.wait(|message| message["params"]["uri"] == json!(uri) && !publishes(message, "first"));
        samples.push(resident(server.child.id()));
    }
    assert!(usual_growth(&samples) < text.len() as i64, "a document leaves more than its text: {samples:?}");
}
