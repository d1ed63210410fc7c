//! Whether bytes are an event log at all, told from their first 64 KiB.

use std::borrow::Cow;
use std::io::{self, Read};
use std::rc::Rc;

use super::codec;
use super::place::Item;

/// How much is looked at, decoded.
pub(super) const HEAD: usize = 64 << 10;

#[derive(serde::Deserialize)]
struct AnyEvent<'a> {
    #[serde(rename = "Event", borrow)]
    _event: Cow<'a, str>,
}

/// The head of a file.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) bytes: Vec<u8>,
    /// Why there is no more of it, if decoding failed; what it gave before is kept.
    pub(super) broken: Option<io::Error>,
}

/// Reads the head of a log, about this long.
pub(super) fn head(reader: &mut dyn Read, length: usize) -> Head {
    let mut head = Head::default();
    let mut block = [0; 8 << 10];
    while head.bytes.len() < length {
        match reader.read(&mut block) {
            Ok(0) => break,
            Ok(read) => head.bytes.extend_from_slice(&block[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                head.broken = Some(error);
                break;
            }
        }
    }
    head
}

/// Why these bytes are no event log; `None` if they are one.
pub(super) fn refusal(head: &[u8]) -> Option<&'static str> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if text.is_empty() {
        return Some(if head.is_empty() { "is empty" } else { "holds only blanks" });
    }
    let mut lines = text.split(|&byte| byte == b'\n');
    if text.starts_with(b"{\"Event\":\"") || lines.any(|line| serde_json::from_slice::<AnyEvent<'_>>(line).is_ok()) {
        return None;
    }
    let names_events = memchr::memmem::find(text, b"\"Event\"").is_some();
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    if names_events && (first.len() <= 2 || text.starts_with(b"[")) {
        return Some(
            "event log JSON spread over several lines or in a list; Spark writes one event a line, e.g. `jq -c .`",
        );
    }
    if names_events && first.starts_with(b"{") {
        return None;
    }
    let start = text.get(..text.len().min(14)).unwrap_or_default().to_ascii_lowercase();
    if start.starts_with(b"<!doctype html") || start.starts_with(b"<html") {
        return Some("a web page (HTML), not an event log");
    }
    if text.contains(&0) {
        return Some("not an event log but a binary file");
    }
    if first.starts_with(b"{") {
        return Some("JSON, but no Spark events");
    }
    let is_text_log = text.split(|&byte| byte == b'\n').take(TEXT_LOG_WITHIN).any(is_of_a_text_log);
    Some(if is_text_log { TEXT_LOG } else { OTHER_TEXT })
}

/// Lines in which a text log shows itself: its start may be an exception or what a script printed.
const TEXT_LOG_WITHIN: usize = 50;
const TEXT_LOG: &str = "\
    the text log of a driver or an executor, not an event log; that is a file in spark.eventLog.dir, where Spark writes \
    it if spark.eventLog.enabled is true";
const OTHER_TEXT: &str = "\
    not an event log but some other text; event logs are in spark.eventLog.dir, where Spark writes them if \
    spark.eventLog.enabled is true";

/// Whether a line begins as log4j writes it: `26/11/30 13:00:01 INFO SparkContext: ...`.
fn is_of_a_text_log(line: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == b' ');
    let is_date = |word: &[u8]| word.first().is_some_and(u8::is_ascii_digit) && word.iter().any(|b| b"/-".contains(b));
    let is_time = |word: &[u8]| word.first().is_some_and(u8::is_ascii_digit) && word.contains(&b':');
    words.next().is_some_and(is_date)
        && words.next().is_some_and(is_time)
        && words.take(2).any(|word| [&b"INFO"[..], b"WARN", b"ERROR", b"DEBUG"].contains(&word))
}

/// Whether the file looks like an event log.
pub(super) fn is_log(item: &Item) -> bool {
    let reader = item.open().and_then(|opened| codec::decode(&item.path, opened, Rc::default()));
    reader.is_ok_and(|mut reader| refusal(&head(reader.as_mut(), HEAD).bytes).is_none())
}

/// How far into a log the application's start is looked for, decoded: the class path stands before it.
const START_WITHIN: usize = 2 << 20;

/// What a log says of its application at its start.
#[derive(Debug, Default, serde::Deserialize)]
pub(super) struct Start<'a> {
    #[serde(rename = "App ID", borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(rename = "App Name", borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(rename = "App Attempt ID", borrow)]
    attempt: Option<Cow<'a, str>>,
}

/// Whether the log in this file is of an application with this id or name, and the id of its attempt; `None` if not.
pub(super) fn application(item: &Item, wanted: &str) -> Option<Option<String>> {
    let opened = item.open().ok()?;
    let mut reader = codec::decode(&item.path, opened, Rc::default()).ok()?;
    let head = head(reader.as_mut(), START_WITHIN);
    let mut lines = head.bytes.split(|&byte| byte == b'\n');
    let line = lines.find(|line| memchr::memmem::find(line, b"SparkListenerApplicationStart").is_some())?;
    let start: Start<'_> = serde_json::from_slice(line.trim_ascii()).ok()?;
    let is_wanted = start.id.as_deref() == Some(wanted) || start.name.as_deref() == Some(wanted);
    is_wanted.then(|| start.attempt.map(Cow::into_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_and_others() {
        let refused = |text: &str| refusal(text.as_bytes());
        assert_eq!(refused("{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.0\"}\n"), None);
        assert_eq!(refused("\u{feff}{\"Event\":\"SparkListenerLogStart\"}\r\n"), None);
        assert_eq!(refused("{\"Timestamp\":1,\"Event\":\"SparkListenerApplicationEnd\"}"), None);
        assert_eq!(refused("rubbish\n{\"Event\":\"SparkListenerLogStart\"}\n"), None);
        assert_eq!(refused(""), Some("is empty"));
        assert!(refused("{\n  \"Event\": \"SparkListenerLogStart\"\n}\n").unwrap().contains("one event a line"));
        assert!(refused("[{\"Event\":\"a\"}]").unwrap().contains("one event a line"));
        assert_eq!(refused("{\"a\":1}\n"), Some("JSON, but no Spark events"));
        assert_eq!(refused("a,b\n1,2\n"), Some(OTHER_TEXT));
        assert_eq!(refused("26/11/30 13:00:01 INFO SparkContext: Running Spark version 3.5.1\n"), Some(TEXT_LOG));
        assert_eq!(refused("Picked up _JAVA_OPTIONS\n2026-11-30 13:00:01,120 WARN Utils: x\n"), Some(TEXT_LOG));
        assert_eq!(refusal(b"\x89PNG\r\n\0\0\0"), Some("not an event log but a binary file"));
    }
}
