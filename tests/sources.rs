//! Logs that are no files on disk: standard input, web servers, History Servers; and what is said when they don't come.
//! Real servers are in `tests/sources/run`.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use sparkls::eventlog::{self, Location, Which};
use sparkls::run::Run;

const SKEWED: &str = "app-20261129223116-0005";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/eventlogs").join(name)
}

fn named(application: &str) -> Which {
    Which::Named { application: application.to_owned(), attempt: None }
}

/// Reads the one log there; the error as it is told.
fn read(location: &str, which: &Which) -> Result<Run, String> {
    let location: Location = location.parse().unwrap();
    let found = eventlog::find(&location, which).map_err(|error| error.to_string())?;
    assert_eq!(found.len(), 1, "{location}");
    found[0].read(&mut |_| true).map_err(|error| error.to_string())
}

fn read_newest(location: &str) -> Result<Run, String> {
    read(location, &Which::Newest)
}

/// The same run, whatever is noted on where it came from.
#[track_caller]
fn assert_same(run: &Run, file: &str) {
    let on_disk = eventlog::read(&fixture(file), &mut |_| true).unwrap();
    assert_eq!(run.application.id, on_disk.application.id);
    assert_eq!(run.coverage.bytes, on_disk.coverage.bytes);
    assert_eq!(format!("{:?}", run.stages), format!("{:?}", on_disk.stages));
}

/// An answer of HTTP.
fn answer(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
    [head.as_bytes(), b"Connection: close\r\n\r\n", body].concat()
}

fn json(body: &str) -> Vec<u8> {
    answer("200 OK", "application/json", body.as_bytes())
}

/// A web server on loopback that answers by path; its address, and the heads of all requests.
fn serve(respond: impl Fn(&str) -> Vec<u8> + Send + 'static) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let head = head_of(&mut connection);
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            seen.lock().unwrap().push(head);
            // A client that has seen enough hangs up.
            let _ = connection.write_all(&respond(&path));
        }
    });
    (address, requests)
}

fn head_of(connection: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A free port that nothing listens on.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn sparkls(args: &[&str], stdin: Stdio, variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparkls"));
    let output = command.args(args).stdin(stdin).envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn standard_input_in_any_codec() {
    for name in ["skewed-groupby.zstd", "killed.lz4"] {
        let file = fs::File::open(fixture(name)).unwrap();
        let (code, piped, error) = sparkls(&["report", "-"], file.into(), &[]);
        let (_, named, _) = sparkls(&["report", fixture(name).to_str().unwrap()], Stdio::null(), &[]);
        assert_eq!((code, error.as_str()), (Some(0), ""));
        assert_eq!(piped, named);
    }
    let (code, _, error) = sparkls(&["report", "-"], Stdio::null(), &[]);
    assert_eq!((code, error.as_str()), (Some(2), "sparkls: standard input: is empty\n"));
}

#[test]
fn standard_input_must_hold_what_is_asked_for() {
    let report = |application: &str| {
        let file = fs::File::open(fixture("skewed-groupby.zstd")).unwrap();
        let (code, _, error) = sparkls(&["report", "-", "--application", application], file.into(), &[]);
        (code, error)
    };
    assert_eq!(report("skewed-groupby").0, Some(0));
    let error = format!("sparkls: standard input: holds no application other; it holds {SKEWED}\n");
    assert_eq!(report("other"), (Some(2), error));
}

#[test]
fn a_run_from_standard_input_is_linked() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.py"), "from pyspark.sql import SparkSession\n").unwrap();
    let args = ["check", folder.path().to_str().unwrap(), "--run", "-"];
    let file = fs::File::open(fixture("skewed-groupby.zstd")).unwrap();
    let (_, _, error) = sparkls(&args, file.into(), &[]);
    assert_eq!(error, "");
    let (code, _, error) = sparkls(&args, Stdio::null(), &[]);
    assert!(code == Some(2) && error.contains("standard input: error: is empty"), "{error}");
}

#[test]
fn a_folder_of_many() {
    let folder = fixture("");
    let run = read(folder.to_str().unwrap(), &named("skewed-groupby")).unwrap();
    assert_same(&run, "skewed-groupby.zstd");
    let all = eventlog::find(&Location::Path(folder), &Which::All).unwrap();
    let read: Vec<_> = all.iter().map(|log| log.read(&mut |_| true)).collect();
    assert_eq!(read.iter().filter(|read| read.is_ok()).count(), 8);
}

#[test]
fn a_log_on_a_web_server() {
    let log = fs::read(fixture("skewed-groupby.zstd")).unwrap();
    let short = log.clone();
    let (base, _) = serve(move |path| match path {
        "/logs/a.zstd?signature=s3cr3t" => answer("200 OK", "application/octet-stream", &log),
        // The connection ends before the file does.
        "/logs/cut.zstd" => {
            let whole = answer("200 OK", "application/octet-stream", &short);
            whole[..whole.len() - 5000].to_vec()
        }
        "/logs/login" => answer("200 OK", "text/html; charset=utf-8", b"<!doctype html><p>Log in"),
        "/logs/page" => answer("200 OK", "application/octet-stream", b"<!DOCTYPE html><p>Log in"),
        "/logs/401" => answer("401 Unauthorized", "text/html", b"<p>no"),
        "/logs/403" => answer("403 Forbidden", "text/plain", b"not you"),
        "/logs/503" => answer("503 Service Unavailable", "text/plain", b"come back later"),
        _ => answer("404 Not Found", "text/plain", b""),
    });
    assert_same(&read_newest(&format!("{base}/logs/a.zstd?signature=s3cr3t")).unwrap(), "skewed-groupby.zstd");
    let refused = |path: &str| read_newest(&format!("{base}/logs/{path}")).unwrap_err().replace(&base, "");
    assert!(!refused("cut.zstd?signature=s3cr3t").contains("s3cr3t"));
    assert_eq!(refused("none"), "/logs/none: not found (404)");
    assert_eq!(refused("401"), "/logs/401: access refused (401): it asks for credentials");
    assert_eq!(refused("403"), "/logs/403: access refused (403): these credentials may not read it: not you");
    assert_eq!(refused("503"), "/logs/503: the server answers with status 503: come back later");
    assert!(refused("login").starts_with("/logs/login: a web page (HTML), not an event log"));
    assert_eq!(refused("page"), "/logs/page: a web page (HTML), not an event log");
    let cut = refused("cut.zstd");
    assert!(cut.starts_with("/logs/cut.zstd: ") && !cut.contains('\n'), "{cut}");
    let down = closed();
    let error = read_newest(&format!("{down}/logs/a")).unwrap_err();
    assert_eq!(error, format!("{down}/logs/a: connection refused: nothing listens there"));
}

#[test]
fn addresses_that_are_none_of_a_log() {
    let error = read_newest("http://me:s3cr3t@localhost:1/log").unwrap_err();
    assert!(error.starts_with("http://localhost:1/log: credentials do not belong in an address"), "{error}");
    let error = read_newest("hdfs://host/logs").unwrap_err();
    assert!(error.contains("addresses of logs start with s3://"), "{error}");
}

/// A zip archive with one stored file.
fn zip(name: &str, data: &[u8]) -> Vec<u8> {
    let size = u32::try_from(data.len()).unwrap().to_le_bytes();
    let length = u16::try_from(name.len()).unwrap().to_le_bytes();
    let sizes = [size, size].concat();
    let local =
        [b"PK\x03\x04\x14\0\0\0\0\0".as_slice(), &[0; 8], &sizes, &length, &[0; 2], name.as_bytes(), data].concat();
    let list =
        [b"PK\x01\x02\x14\0\x14\0\0\0\0\0".as_slice(), &[0; 8], &sizes, &length, &[0; 16], name.as_bytes()].concat();
    let ends = [list.len(), local.len()].map(|size| u32::try_from(size).unwrap().to_le_bytes()).concat();
    [&local, &list, b"PK\x05\x06".as_slice(), &[0; 8], &ends, &[0; 2]].concat()
}

const APPLICATIONS: &str = r#"[
  {"id": "app-1", "name": "nightly", "attempts": [
    {"attemptId": "2", "startTimeEpoch": 20, "lastUpdatedEpoch": 25},
    {"attemptId": "1", "startTimeEpoch": 10, "lastUpdatedEpoch": 15}]},
  {"id": "app-2", "name": "weekly", "attempts": [{"startTimeEpoch": 5, "lastUpdatedEpoch": 30}]}
]"#;

#[test]
fn a_history_server() {
    let log = zip("app", &fs::read(fixture("skewed-groupby.zstd")).unwrap());
    let (base, requests) = serve(move |path| match path.trim_start_matches("/gateway/api/v1/applications") {
        "" => json(APPLICATIONS),
        "/app-1" => json(r#"{"id": "app-1", "name": "nightly", "attempts": [{"attemptId": "1"}, {"attemptId": "2"}]}"#),
        "/app-1/1/logs" | "/app-1/2/logs" => answer("200 OK", "application/octet-stream", &log),
        "/app-2/logs" => answer("503 Service Unavailable", "text/plain", b"Event logs are only available elsewhere."),
        _ => answer("404 Not Found", "application/json", b"unknown app"),
    });
    let server = format!("{base}/gateway/");
    let asked = || {
        let heads: Vec<String> = requests.lock().unwrap().drain(..).collect();
        heads.last().and_then(|head| head.split(' ').nth(1)).unwrap_or_default().to_owned()
    };
    let run = read(&server, &named("nightly")).unwrap();
    assert_same(&run, "skewed-groupby.zstd");
    assert_eq!(run.coverage.notes, ["2 attempts of the application; this is the last"]);
    assert_eq!(asked(), "/gateway/api/v1/applications/app-1/2/logs");
    read_newest(&format!("{server}history/app-1/1/jobs/")).unwrap();
    assert_eq!(asked(), "/gateway/api/v1/applications/app-1/1/logs");

    let refused = |location: &str, which: &Which| read(location, which).unwrap_err().replace(&base, "");
    let newest = refused(&server, &Which::Newest);
    assert!(newest.starts_with("/gateway/history/app-2: the server does not hand out the event log: "), "{newest}");
    assert!(newest.contains("status 503: Event logs are only available elsewhere."), "{newest}");
    assert!(newest.ends_with("; nor a summary of it: not found (404): unknown app"), "{newest}");
    let none = refused(&server, &named("none"));
    assert_eq!(none, "/gateway: there is no application none on this server; it has app-2, app-1");
    let none = refused(&format!("{server}history/app-9"), &Which::Newest);
    assert_eq!(none, "/gateway: there is no application app-9 on this server");
    let which = Which::Named { application: "app-1".to_owned(), attempt: Some("7".to_owned()) };
    assert_eq!(refused(&server, &which), "/gateway: there is no attempt 7 of app-1 on this server");

    let all = eventlog::find(&server.parse().unwrap(), &Which::All).unwrap();
    let names: Vec<_> = all.iter().map(|log| log.name().replace(&base, "")).collect();
    assert_eq!(names, ["/gateway/history/app-2", "/gateway/history/app-1/1", "/gateway/history/app-1/2"]);
}

#[test]
fn a_server_that_is_no_history_server() {
    let (base, _) = serve(|path| match path {
        "/page/api/v1/applications" => answer("200 OK", "text/html", b"<p>Log in"),
        "/json/api/v1/applications" => json(r#"{"error": "no"}"#),
        "/empty/api/v1/applications" => json("[]"),
        "/secret/api/v1/applications" => answer("401 Unauthorized", "text/html", b"<p>no"),
        _ => answer("404 Not Found", "text/html", b""),
    });
    let refused = |path: &str| read_newest(&format!("{base}{path}")).unwrap_err().replace(&base, "");
    assert!(refused("/page/").starts_with("/page: no History Server: it answers with a web page (HTML)"));
    assert!(refused("/json/").starts_with("/json: no History Server: its answer is not that of Spark's API"));
    assert_eq!(refused("/empty/"), "/empty: this server has no application");
    assert!(refused("/secret/").starts_with("/secret: access refused (401): it asks for credentials"));
    assert_eq!(refused("/none/"), "/none: not found (404)");
}

#[test]
fn credentials_of_a_history_server_go_to_its_api_only() {
    let log = fs::read(fixture("skewed-groupby.zstd")).unwrap();
    let (base, requests) = serve(move |path| match path {
        "/log.zstd" => answer("200 OK", "application/octet-stream", &log),
        _ => answer("404 Not Found", "text/html", b""),
    });
    let variables = [("SPARKLS_HISTORY_TOKEN", "t0ken")];
    let (code, _, _) = sparkls(&["report", &format!("{base}/log.zstd")], Stdio::null(), &variables);
    assert_eq!(code, Some(0));
    let (_, _, error) = sparkls(&["report", &format!("{base}/")], Stdio::null(), &variables);
    assert!(!error.contains("t0ken"), "{error}");
    let requests: Vec<String> = requests.lock().unwrap().iter().map(|head| head.to_ascii_lowercase()).collect();
    assert!(requests[0].starts_with("get /log.zstd") && !requests[0].contains("authorization"));
    assert!(requests[1].contains("authorization: bearer t0ken"));
}

#[test]
fn a_server_that_is_down_is_not_stormed() {
    let (base, requests) = serve(|path| match path {
        path if path.contains("refused") => answer("403 Forbidden", "application/xml", b"<Error/>"),
        _ => answer("503 Service Unavailable", "text/plain", b"later"),
    });
    let asked = || requests.lock().unwrap().drain(..).count();
    read_newest(&format!("{base}/log.zstd")).unwrap_err();
    assert_eq!(asked(), 1);
    read_newest(&format!("{base}/")).unwrap_err();
    assert_eq!(asked(), 1, "a History Server");
    let variables = [
        ("AWS_ENDPOINT_URL", base.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_REGION", "us-east-1"),
    ];
    let (code, _, error) = sparkls(&["report", "s3://bucket/refused/log"], Stdio::null(), &variables);
    assert!(code == Some(2) && error.contains("access refused (403)"), "{error}");
    let refused = asked();
    assert!((1..=2).contains(&refused), "{refused} requests for what is refused");
    let (code, _, error) = sparkls(&["report", "s3://bucket/log"], Stdio::null(), &variables);
    assert!(code == Some(2) && error.lines().count() == 1, "{error}");
    let down = asked();
    assert!((1..=6).contains(&down), "{down} requests of a server that is down");
}

/// Answers of a History Server's API that were recorded for the skewed run; `None` for other calls.
fn recorded(path: &str) -> Option<Vec<u8>> {
    let call = path.strip_prefix(&format!("/api/v1/applications/{SKEWED}"))?;
    let (call, _) = call.split_once('?').unwrap_or((call, ""));
    let parts: Vec<&str> = call.split('/').filter(|part| !part.is_empty()).collect();
    let name = match parts.as_slice() {
        [] => "application".to_owned(),
        ["stages", stage, attempt, "taskList"] => format!("tasks-{stage}-{attempt}"),
        [what] => (*what).to_owned(),
        _ => return None,
    };
    let file = fixture("").with_file_name("rest").join("skewed-groupby").join(name).with_extension("json");
    fs::read_to_string(file).ok().map(|body| json(&body))
}

/// A server that hands out no log: it answers so for one, and as recorded for everything else.
fn without_log(
    logs: Vec<u8>,
    other: impl Fn(&str) -> Option<Vec<u8>> + Send + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    serve(move |path| {
        let other = other(path).or_else(|| path.ends_with("/logs").then(|| logs.clone())).or_else(|| recorded(path));
        other.unwrap_or_else(|| answer("404 Not Found", "text/plain", b""))
    })
}

#[test]
fn where_no_log_is_handed_out_the_api_tells_and_the_report_says_so() {
    let empty_zip = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    let on_disk = eventlog::read(&fixture("skewed-groupby.zstd"), &mut |_| true).unwrap();
    for (logs, why) in [
        (answer("403 Forbidden", "text/plain", b"no downloads"), "may not read it: no downloads"),
        (answer("401 Unauthorized", "text/html", b"<p>no"), "access refused (401): it asks for credentials"),
        (answer("404 Not Found", "text/html", b"<p>none"), "not found (404)"),
        (answer("501 Not Implemented", "text/plain", b""), "the server answers with status 501"),
        (answer("503 Service Unavailable", "text/plain", b"elsewhere"), "with status 503: elsewhere"),
        (answer("200 OK", "text/html", b"<p>Log in"), "a web page (HTML) comes instead of it"),
        (answer("200 OK", "application/octet-stream", b"no zip at all"), "what comes instead of it is no archive"),
        (answer("200 OK", "application/octet-stream", &empty_zip), "its archive is empty"),
    ] {
        let (base, requests) = without_log(logs, |_| None);
        let run = read_newest(&format!("{base}/history/{SKEWED}")).unwrap();
        assert!(run.coverage.summary.is_some() && !run.coverage.complete, "{why}");
        let note = &run.coverage.notes[0];
        assert!(note.starts_with("Not the event log: ") && note.ends_with(why), "{note} does not end in {why}");
        let tasks = |run: &Run| -> Vec<_> { run.stages.iter().map(|(key, one)| (*key, one.tasks.len())).collect() };
        assert_eq!(tasks(&run), tasks(&on_disk));
        let asked = requests.lock().unwrap();
        let logs = asked.iter().position(|head| head.contains("/logs ")).unwrap();
        let summary = asked.iter().position(|head| head.contains("/stages")).unwrap();
        assert!(logs < summary, "the log is tried first");
        assert_eq!(asked.iter().filter(|head| head.contains("/logs ")).count(), 1, "and once");
    }
}

#[test]
fn a_report_of_a_summary_is_labelled_for_people_and_machines() {
    let (base, _) = without_log(answer("403 Forbidden", "text/plain", b"no downloads"), |_| None);
    let page = format!("{base}/history/{SKEWED}");
    let (code, text, error) = sparkls(&["report", &page], Stdio::null(), &[]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let head: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(head[1], "REST summary, not the log", "{text}");
    assert!(head[2].starts_with("Not the event log: what the server tells through its REST API."), "{text}");
    let json = |log: &str| -> serde_json::Value {
        let (_, text, _) = sparkls(&["report", "--format", "json", log], Stdio::null(), &[]);
        serde_json::from_str(&text).unwrap()
    };
    let (told, logged) = (json(&page), json(fixture("skewed-groupby.zstd").to_str().unwrap()));
    assert_eq!((&told["coverage"]["kind"], &logged["coverage"]["kind"]), (&"rest".into(), &"log".into()));
    assert_eq!(told["coverage"]["complete"], false);
    assert_eq!(told["stages"], logged["stages"], "numbers of all stages are those of the log");
    let fired = |report: &serde_json::Value| -> Vec<(String, String)> {
        let fired = report["findings"].as_array().unwrap().iter().filter(|one| one["state"] == "fired");
        let named = fired.filter(|one| one["rule"] != "log-coverage");
        named.map(|one| (one["rule"].to_string(), format!("{} {}", one["stage"], one["host"]))).collect()
    };
    let in_log = fired(&logged);
    assert!(!fired(&told).is_empty() && fired(&told).iter().all(|finding| in_log.contains(finding)));
}

#[test]
fn a_summary_is_neither_recorded_nor_a_verdict() {
    let (base, _) = without_log(answer("403 Forbidden", "text/plain", b"no downloads"), |_| None);
    let page = format!("{base}/history/{SKEWED}");
    let (code, _, error) = sparkls(&["record", "--format", "json", &page], Stdio::null(), &[]);
    assert!(code == Some(2), "{error}");
    let log = fixture("skewed-groupby.zstd");
    let (code, text, _) = sparkls(&["compare", log.to_str().unwrap(), &page], Stdio::null(), &[]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("candidate: it is only what a server tells through its REST API"), "{text}");
}

#[test]
fn an_api_that_refuses_is_one_sentence_and_few_requests() {
    for (status, sentence) in [
        ("401 Unauthorized", "access refused (401): it asks for credentials"),
        ("403 Forbidden", "access refused (403): these credentials may not read it"),
        ("500 Internal Server Error", "the server answers with status 500"),
    ] {
        // The application is told, nothing about it is.
        let refuse = move |path: &str| {
            let is_told = path.ends_with(SKEWED);
            (!is_told).then(|| answer(status, "text/plain", b""))
        };
        let (base, requests) = without_log(Vec::new(), refuse);
        let error = read_newest(&format!("{base}/history/{SKEWED}")).unwrap_err().replace(&base, "");
        let expected = format!("the server hands out neither the event log nor a summary of it: {sentence}");
        assert_eq!(error, format!("/history/{SKEWED}: {expected}"));
        assert!(requests.lock().unwrap().len() <= 4, "{:?}", requests.lock().unwrap());
    }
}

#[test]
fn a_log_that_breaks_off_is_an_error_and_not_a_summary() {
    let whole = answer("200 OK", "application/octet-stream", &zip("app", &vec![b'x'; 100_000]));
    let (base, requests) = without_log(whole[..whole.len() - 50_000].to_vec(), |_| None);
    read_newest(&format!("{base}/history/{SKEWED}")).unwrap_err();
    assert!(requests.lock().unwrap().iter().all(|head| !head.contains("/stages")));
}
