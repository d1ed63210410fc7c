//! `SparkListenerTaskEnd`, nine lines out of ten of a large log.
//!
//! [`scan`] walks the raw line from key to key in the order in which Spark writes them. A raw `"Key":` can't stand inside a
//! JSON string, whose quotes are escaped, so a hit is the key. On any miss the line is left to [`parse`].

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;

use super::lenient::{Flag, Number, Text, clamp_u32, clamp_u64};
use crate::run::model::{Locality, Outcome, StageKey};

/// An ended task as its log line tells it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TaskEnd<'a> {
    pub(super) stage: StageKey,
    pub(super) outcome: Outcome,
    pub(super) index: u32,
    pub(super) launch: i64,
    /// 0 if not recorded.
    pub(super) finish: i64,
    pub(super) executor: Cow<'a, str>,
    pub(super) host: Cow<'a, str>,
    pub(super) locality: Locality,
    pub(super) speculative: bool,
    pub(super) metrics: Option<Metrics>,
    /// Class and first line of the message, for tasks that did not succeed.
    pub(super) failure: Option<(String, String)>,
}

/// The part of `Task Metrics` that a run keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Metrics {
    pub(super) deserialize_time: u32,
    pub(super) run_time: u32,
    pub(super) result_bytes: u64,
    pub(super) gc_time: u32,
    pub(super) spill_memory: u64,
    pub(super) spill_disk: u64,
    pub(super) fetch_wait: u32,
    pub(super) remote_read: u64,
    pub(super) local_read: u64,
    pub(super) shuffle_records: u64,
    pub(super) shuffle_write: u64,
    pub(super) input_bytes: u64,
    pub(super) input_records: u64,
    pub(super) output_bytes: u64,
    /// Bit `i` is set if field `i` of [`FIELDS`] was not recorded.
    pub(super) missing: u16,
}

/// Spark's names of the metrics kept, by their bit in [`Metrics::missing`].
pub(super) const FIELDS: [&str; 14] = [
    "Executor Deserialize Time",
    "Executor Run Time",
    "Result Size",
    "JVM GC Time",
    "Memory Bytes Spilled",
    "Disk Bytes Spilled",
    "Fetch Wait Time",
    "Remote Bytes Read",
    "Local Bytes Read",
    "Total Records Read",
    "Shuffle Bytes Written",
    "Input Metrics: Bytes Read",
    "Input Metrics: Records Read",
    "Output Metrics: Bytes Written",
];

struct Keys {
    stage: Finder<'static>,
    attempt: Finder<'static>,
    success: Finder<'static>,
    info: Finder<'static>,
    index: Finder<'static>,
    launch: Finder<'static>,
    executor: Finder<'static>,
    host: Finder<'static>,
    locality: Finder<'static>,
    speculative: Finder<'static>,
    finish: Finder<'static>,
    accumulables: Finder<'static>,
    metrics: Finder<'static>,
    deserialize: Finder<'static>,
    run: Finder<'static>,
    result: Finder<'static>,
    gc: Finder<'static>,
    spill_memory: Finder<'static>,
    spill_disk: Finder<'static>,
    fetch_wait: Finder<'static>,
    remote: Finder<'static>,
    local: Finder<'static>,
    shuffle_records: Finder<'static>,
    shuffle_write: Finder<'static>,
    input: Finder<'static>,
    input_records: Finder<'static>,
    output: Finder<'static>,
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| Keys {
    stage: Finder::new(b"\"Stage ID\":"),
    attempt: Finder::new(b"\"Stage Attempt ID\":"),
    success: Finder::new(b"\"Task End Reason\":{\"Reason\":\"Success\"}"),
    info: Finder::new(b"\"Task Info\":{"),
    index: Finder::new(b"\"Index\":"),
    launch: Finder::new(b"\"Launch Time\":"),
    executor: Finder::new(b"\"Executor ID\":\""),
    host: Finder::new(b"\"Host\":\""),
    locality: Finder::new(b"\"Locality\":\""),
    speculative: Finder::new(b"\"Speculative\":"),
    finish: Finder::new(b"\"Finish Time\":"),
    accumulables: Finder::new(b"\"Accumulables\":"),
    metrics: Finder::new(b"\"Task Metrics\":{"),
    deserialize: Finder::new(b"\"Executor Deserialize Time\":"),
    run: Finder::new(b"\"Executor Run Time\":"),
    result: Finder::new(b"\"Result Size\":"),
    gc: Finder::new(b"\"JVM GC Time\":"),
    spill_memory: Finder::new(b"\"Memory Bytes Spilled\":"),
    spill_disk: Finder::new(b"\"Disk Bytes Spilled\":"),
    fetch_wait: Finder::new(b"\"Fetch Wait Time\":"),
    remote: Finder::new(b"\"Remote Bytes Read\":"),
    local: Finder::new(b"\"Local Bytes Read\":"),
    shuffle_records: Finder::new(b"\"Total Records Read\":"),
    shuffle_write: Finder::new(b"\"Shuffle Bytes Written\":"),
    input: Finder::new(b"\"Input Metrics\":{\"Bytes Read\":"),
    input_records: Finder::new(b"\"Records Read\":"),
    output: Finder::new(b"\"Output Metrics\":{\"Bytes Written\":"),
});

/// Digits of a number that any `i64` holds.
const MAX_DIGITS: usize = 18;

/// Bytes at a line's end that hold a usual task's metrics.
const LAST: usize = 1536;

/// Walks forward over one line.
struct Walk<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    fn to(&mut self, key: &Finder<'_>) -> Option<()> {
        let rest = self.line.get(self.at..)?;
        let needle = key.needle();
        // Behind the comma, if no field that is passed over stands between.
        let next = rest.get(1..).is_some_and(|rest| rest.starts_with(needle));
        self.at += needle.len() + if next { 1 } else { key.find(rest)? };
        Some(())
    }

    /// As [`Self::to`], for a key behind all that can be long.
    fn near_end(&mut self, key: &Finder<'_>) -> Option<()> {
        let from = self.line.len().saturating_sub(LAST).max(self.at);
        match key.find(self.line.get(from..)?) {
            Some(found) => self.at = from + found + key.needle().len(),
            None => self.to(key)?,
        }
        Some(())
    }

    /// The whole number behind `key`; `None` also if something else stands there.
    fn number(&mut self, key: &Finder<'_>) -> Option<i64> {
        self.to(key)?;
        let rest = self.line.get(self.at..)?;
        let (negative, digits) = match rest.strip_prefix(b"-") {
            Some(digits) => (true, digits),
            None => (false, rest),
        };
        let mut value: i64 = 0;
        let mut length = 0;
        while let Some(digit) = digits.get(length).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
            length += 1;
        }
        let ends = matches!(digits.get(length), Some(b',' | b'}'));
        self.at += usize::from(negative) + length;
        ((1..=MAX_DIGITS).contains(&length) && ends).then(|| if negative { -value } else { value })
    }

    fn time(&mut self, key: &Finder<'_>) -> Option<u32> {
        self.number(key).map(clamp_u32)
    }

    fn size(&mut self, key: &Finder<'_>) -> Option<u64> {
        self.number(key).map(clamp_u64)
    }

    /// `true` or `false`, which stands here.
    fn flag(&self) -> Option<bool> {
        let rest = self.line.get(self.at..)?;
        if rest.starts_with(b"false") { Some(false) } else { rest.starts_with(b"true").then_some(true) }
    }

    /// The text behind `key`, if it holds no escape.
    fn text(&mut self, key: &Finder<'_>) -> Option<&'a str> {
        self.to(key)?;
        let rest = self.line.get(self.at..)?;
        let end = memchr::memchr2(b'"', b'\\', rest)?;
        (rest[end] == b'"').then_some(())?;
        self.at += end + 1;
        std::str::from_utf8(&rest[..end]).ok()
    }
}

/// Reads the line of a task that succeeded, if it is written as Spark 2.1 and later write it.
pub(super) fn scan(line: &[u8]) -> Option<TaskEnd<'_>> {
    let keys = &*KEYS;
    let mut walk = Walk { line, at: 0 };
    line.ends_with(b"}").then_some(())?;
    let stage = walk.time(&keys.stage)?;
    let attempt = walk.time(&keys.attempt)?;
    walk.to(&keys.success)?;
    walk.to(&keys.info)?;
    let index = walk.time(&keys.index)?;
    let launch = walk.number(&keys.launch)?;
    let executor = walk.text(&keys.executor)?;
    let host = walk.text(&keys.host)?;
    let locality = locality(walk.text(&keys.locality)?);
    walk.to(&keys.speculative)?;
    let speculative = walk.flag()?;
    let finish = walk.number(&keys.finish)?;
    walk.near_end(&keys.metrics)?;
    let metrics = Metrics {
        deserialize_time: walk.time(&keys.deserialize)?,
        run_time: walk.time(&keys.run)?,
        result_bytes: walk.size(&keys.result)?,
        gc_time: walk.time(&keys.gc)?,
        spill_memory: walk.size(&keys.spill_memory)?,
        spill_disk: walk.size(&keys.spill_disk)?,
        fetch_wait: walk.time(&keys.fetch_wait)?,
        remote_read: walk.size(&keys.remote)?,
        local_read: walk.size(&keys.local)?,
        shuffle_records: walk.size(&keys.shuffle_records)?,
        shuffle_write: walk.size(&keys.shuffle_write)?,
        input_bytes: walk.size(&keys.input)?,
        input_records: walk.size(&keys.input_records)?,
        output_bytes: walk.size(&keys.output)?,
        missing: 0,
    };
    Some(TaskEnd {
        stage: StageKey { stage, attempt },
        outcome: Outcome::Success,
        index,
        launch,
        finish,
        executor: Cow::Borrowed(executor),
        host: Cow::Borrowed(host),
        locality,
        speculative,
        metrics: Some(metrics),
        failure: None,
    })
}

fn locality(text: &str) -> Locality {
    match text {
        "PROCESS_LOCAL" => Locality::Process,
        "NODE_LOCAL" => Locality::Node,
        "RACK_LOCAL" => Locality::Rack,
        "ANY" => Locality::Any,
        _ => Locality::NoPreference,
    }
}

#[derive(Deserialize)]
struct RawTaskEnd<'a> {
    #[serde(rename = "Stage ID")]
    stage: Number,
    #[serde(rename = "Stage Attempt ID", default)]
    attempt: Number,
    #[serde(rename = "Task End Reason", borrow)]
    reason: RawReason<'a>,
    #[serde(rename = "Task Info", borrow)]
    info: RawInfo<'a>,
    #[serde(rename = "Task Metrics", default)]
    metrics: Option<RawMetrics>,
}

#[derive(Deserialize)]
struct RawReason<'a> {
    #[serde(rename = "Reason", borrow, default)]
    reason: Text<'a>,
    #[serde(rename = "Class Name", borrow, default)]
    class: Text<'a>,
    #[serde(rename = "Description", borrow, default)]
    description: Text<'a>,
    #[serde(rename = "Message", borrow, default)]
    message: Text<'a>,
    #[serde(rename = "Kill Reason", borrow, default)]
    kill_reason: Text<'a>,
    #[serde(rename = "Loss Reason", borrow, default)]
    loss_reason: Text<'a>,
}

#[derive(Deserialize)]
struct RawInfo<'a> {
    #[serde(rename = "Index")]
    index: Number,
    #[serde(rename = "Launch Time", default)]
    launch: Number,
    #[serde(rename = "Executor ID", borrow, default)]
    executor: Text<'a>,
    #[serde(rename = "Host", borrow, default)]
    host: Text<'a>,
    #[serde(rename = "Locality", borrow, default)]
    locality: Text<'a>,
    #[serde(rename = "Speculative", default)]
    speculative: Flag,
    #[serde(rename = "Finish Time", default)]
    finish: Number,
}

#[derive(Deserialize)]
struct RawMetrics {
    #[serde(rename = "Executor Deserialize Time", default)]
    deserialize_time: Number,
    #[serde(rename = "Executor Run Time", default)]
    run_time: Number,
    #[serde(rename = "Result Size", default)]
    result: Number,
    #[serde(rename = "JVM GC Time", default)]
    gc_time: Number,
    #[serde(rename = "Memory Bytes Spilled", default)]
    spill_memory: Number,
    #[serde(rename = "Disk Bytes Spilled", default)]
    spill_disk: Number,
    #[serde(rename = "Shuffle Read Metrics", default)]
    shuffle_read: Option<RawShuffleRead>,
    #[serde(rename = "Shuffle Write Metrics", default)]
    shuffle_write: Option<RawShuffleWrite>,
    #[serde(rename = "Input Metrics", default)]
    input: Option<RawInput>,
    #[serde(rename = "Output Metrics", default)]
    output: Option<RawOutput>,
}

#[derive(Deserialize)]
struct RawShuffleRead {
    #[serde(rename = "Fetch Wait Time", default)]
    fetch_wait: Number,
    #[serde(rename = "Remote Bytes Read", default)]
    remote: Number,
    #[serde(rename = "Local Bytes Read", default)]
    local: Number,
    #[serde(rename = "Total Records Read", default)]
    records: Number,
}

#[derive(Deserialize)]
struct RawShuffleWrite {
    #[serde(rename = "Shuffle Bytes Written", default)]
    bytes: Number,
}

#[derive(Deserialize)]
struct RawInput {
    #[serde(rename = "Bytes Read", default)]
    bytes: Number,
    #[serde(rename = "Records Read", default)]
    records: Number,
}

#[derive(Deserialize)]
struct RawOutput {
    #[serde(rename = "Bytes Written", default)]
    bytes: Number,
}

/// Reads any `SparkListenerTaskEnd` line, whatever its order and age; `None` if it names no stage or no task.
pub(super) fn parse(line: &[u8]) -> Option<TaskEnd<'_>> {
    let raw: RawTaskEnd<'_> = serde_json::from_slice(line).ok()?;
    let reason = raw.reason;
    let kind = reason.reason.or_empty();
    let outcome = match kind.as_str() {
        "Success" => Outcome::Success,
        "TaskKilled" => Outcome::Killed,
        "FetchFailed" => Outcome::FetchFailed,
        "Resubmitted" => Outcome::Resubmitted,
        _ => Outcome::Failed,
    };
    let failure = (outcome != Outcome::Success).then(|| {
        let said = [reason.description, reason.message, reason.kill_reason, reason.loss_reason];
        let message = said.into_iter().find_map(|text| text.0).unwrap_or_default();
        (reason.class.owned().unwrap_or(kind), telling_line(&message).to_owned())
    });
    Some(TaskEnd {
        stage: StageKey { stage: raw.stage.clamped()?, attempt: raw.attempt.clamped().unwrap_or(0) },
        outcome,
        index: raw.info.index.clamped()?,
        launch: raw.info.launch.0.unwrap_or(0),
        finish: raw.info.finish.0.unwrap_or(0),
        executor: raw.info.executor.0.unwrap_or_default(),
        host: raw.info.host.0.unwrap_or_default(),
        locality: raw.info.locality.0.as_deref().map_or(Locality::NoPreference, locality),
        speculative: raw.info.speculative.0,
        metrics: raw.metrics.map(metrics),
        failure,
    })
}

/// The line of a message that says what happened, at most 1 KiB: the first, but of a Python traceback the one after the frames.
fn telling_line(message: &str) -> &str {
    let first = first_line(message);
    if !first.starts_with("Traceback (most recent call last)") {
        return first;
    }
    let after = message.trim_start().lines().skip(1).find(|line| !line.is_empty() && !line.starts_with([' ', '\t']));
    after.map_or(first, first_line)
}

/// The first line of a message, at most 1 KiB.
pub(super) fn first_line(message: &str) -> &str {
    let line = message.trim_start().lines().next().unwrap_or("").trim_end();
    &line[..line.floor_char_boundary(1024)]
}

/// Before Spark 2.1 a task that read or wrote nothing had no such group: that is 0. A field missing from a group that is
/// there was not recorded.
fn metrics(raw: RawMetrics) -> Metrics {
    let mut missing = 0u16;
    let mut field = |bit: u16, number: Number| {
        if number.0.is_none() {
            missing |= 1 << bit;
        }
        number.0.unwrap_or(0)
    };
    let mut read = Metrics {
        deserialize_time: clamp_u32(field(0, raw.deserialize_time)),
        run_time: clamp_u32(field(1, raw.run_time)),
        result_bytes: clamp_u64(field(2, raw.result)),
        gc_time: clamp_u32(field(3, raw.gc_time)),
        spill_memory: clamp_u64(field(4, raw.spill_memory)),
        spill_disk: clamp_u64(field(5, raw.spill_disk)),
        ..Metrics::default()
    };
    if let Some(shuffle) = raw.shuffle_read {
        read.fetch_wait = clamp_u32(field(6, shuffle.fetch_wait));
        read.remote_read = clamp_u64(field(7, shuffle.remote));
        read.local_read = clamp_u64(field(8, shuffle.local));
        read.shuffle_records = clamp_u64(field(9, shuffle.records));
    }
    if let Some(shuffle) = raw.shuffle_write {
        read.shuffle_write = clamp_u64(field(10, shuffle.bytes));
    }
    if let Some(input) = raw.input {
        read.input_bytes = clamp_u64(field(11, input.bytes));
        read.input_records = clamp_u64(field(12, input.records));
    }
    if let Some(output) = raw.output {
        read.output_bytes = clamp_u64(field(13, output.bytes));
    }
    read.missing = missing;
    read
}

/// An accumulable of a stage or a task.
#[derive(Deserialize)]
pub(super) struct Accumulable<'a> {
    #[serde(rename = "ID", default)]
    id: Number,
    #[serde(rename = "Name", borrow, default)]
    name: Text<'a>,
    #[serde(rename = "Value", default)]
    value: Number,
}

impl Accumulable<'_> {
    /// Id and total, unless it is one of Spark's own task metrics, which no plan names.
    pub(super) fn for_plan(&self) -> Option<(i64, Option<i64>)> {
        let internal = self.name.0.as_deref().is_some_and(|name| name.starts_with("internal.metrics."));
        if internal { None } else { Some((self.id.0?, self.value.0)) }
    }
}

/// The accumulables of a task that a plan may name: id and the total at that time.
pub(super) fn accumulables(line: &[u8]) -> Vec<(i64, Option<i64>)> {
    let Some(at) = KEYS.accumulables.find(line) else { return Vec::new() };
    let list = &line[at + KEYS.accumulables.needle().len()..];
    let list = serde_json::Deserializer::from_slice(list).into_iter::<Vec<Accumulable<'_>>>().next();
    list.and_then(Result::ok).map(|list| list.iter().filter_map(Accumulable::for_plan).collect()).unwrap_or_default()
}

/// Whether the scan, where it reads a line at all, reads it as the parser does.
#[cfg(any(test, fuzzing))]
pub(super) fn scan_agrees_with_parse(line: &[u8]) -> bool {
    scan(line).is_none_or(|scanned| parse(line).is_none_or(|parsed| parsed == scanned))
}

#[cfg(test)]
#[path = "task_end_tests.rs"]
mod tests;
