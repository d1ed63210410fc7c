//! Logs of real runs, damaged in every way that a disk, a network, a vendor or a hand can damage them.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use sparkls::eventlog::{self, ReadError};
use sparkls::rules::RuleSettings;
use sparkls::rules::run::verdicts;
use sparkls::run::Run;
use sparkls::run::model::Coverage;
use sparkls::run::slots::{Replay, stage_slots, tail};
use sparkls::run::stats::{Distribution, by_host, coverage, pick, population};

/// Peak memory of this process while it reads damaged logs of less than a MiB, in MiB.
const PEAK: u64 = 512;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

/// The lines of a packed fixture; of its tasks the first so many.
fn lines_of(name: &str, tasks: usize) -> Vec<Vec<u8>> {
    let text = zstd::decode_all(fixture(name).as_slice()).unwrap();
    let mut left = tasks;
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).filter(|line| {
        let is_task = line.starts_with(b"{\"Event\":\"SparkListenerTask");
        left = left.saturating_sub(usize::from(is_task));
        !is_task || left > 0
    });
    lines.map(<[u8]>::to_vec).collect()
}

fn joined(lines: &[Vec<u8>], end: &[u8]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_slice(), end].concat()).collect()
}

fn read(bytes: &[u8]) -> Result<Run, ReadError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    eventlog::read(file.path(), &mut |_| true)
}

/// All that a run holds but how complete its log is.
fn shown(mut run: Run) -> String {
    run.coverage = Coverage::default();
    format!("{run:#?}")
}

/// Asks of a run what rules and reports ask.
fn ask(run: &Run) {
    for (&key, stage) in &run.stages {
        let tasks = &stage.tasks;
        let chosen = population(tasks);
        assert!(chosen.len() <= tasks.len());
        let _ = Distribution::of(&pick(&tasks.duration, &chosen)).map(|of| assert!(of.min <= of.max));
        let _ = (by_host(tasks, &chosen), coverage(stage), run.plan_nodes_of(key));
        let slots = stage_slots(run, key);
        let _ = (tail(tasks, &chosen, slots), Replay::new(tasks, slots));
    }
    for execution in run.executions.values() {
        assert!(execution.plan.walk().count() < 1_000_000);
    }
    assert!(run.coverage.bad_offsets.len() <= 3);
    let _ = verdicts(run, &RuleSettings::default());
}

/// Every line that is not blank is an event, a bad line, or the cut last one.
fn all_lines_are_accounted_for(bytes: &[u8], run: &Run) {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count() as u64;
    let coverage = &run.coverage;
    assert_eq!(coverage.events + coverage.bad_lines + u64::from(coverage.cut_at.is_some()), lines);
    assert!(!coverage.complete || (coverage.bad_lines == 0 && coverage.cut_at.is_none()));
}

/// The peak of this process in MiB, where the system tells it.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? >> 10)
}

fn memory_is_bounded() {
    let peak = peak();
    assert!(peak.is_none_or(|peak| peak < PEAK), "{peak:?} MiB");
}

/// Lines that are no event, each in another way.
fn no_events() -> Vec<Vec<u8>> {
    let deep = 20_000;
    let mut lines: Vec<Vec<u8>> = [
        "rubbish",
        "{",
        "{}",
        "[]",
        "null",
        "\"Event\"",
        "{\"Event\":1}",
        "{\"Event\":null}",
        "{\"Event\":\"SparkListenerTaskEnd\"}",
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":[],\"Task End Reason\":7,\"Task Info\":\"x\"}",
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":1e999,\"Task Info\":{}}",
        "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":\"",
        "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":{}}",
        "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":[[]]}",
        "{\"Event\":\"SparkListenerExecutorAdded\",\"Executor ID\":null}",
        "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd\"}",
        "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate\",\"executionId\":x}",
    ]
    .map(|line| line.as_bytes().to_vec())
    .to_vec();
    lines.push(b"\xff\xfe\x00\x80".to_vec());
    lines.push([b"{\"Event\":\"SparkListener\xc3".as_slice(), b"\x28"].concat());
    lines.push(vec![0; 5000]);
    lines.push(b"{".repeat(deep));
    lines.push("{\"x\":".repeat(deep).into_bytes());
    for (open, close) in [("[", "]"), ("{\"x\":", "}")] {
        let nested = open.repeat(deep) + "1" + &close.repeat(deep);
        lines.push(format!("{{\"Event\":\"SparkListenerTaskEnd\",\"Task Info\":{nested}}}").into_bytes());
        lines.push(format!("{{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{nested}}}").into_bytes());
    }
    lines
}

#[test]
fn lines_that_are_no_event_take_nothing_with_them() {
    for name in ["eventlogs/skewed-groupby.zstd", "runs/skewed_join-aqe_split-4.3.zst"] {
        let good = lines_of(name, usize::MAX);
        let whole = read(&joined(&good, b"\n")).unwrap();
        let expected = shown(whole.clone());
        let bad = no_events();
        let mut mixed = Vec::new();
        let between = good.len() / bad.len();
        for (at, line) in good.iter().enumerate() {
            mixed.push(line.clone());
            mixed.extend(bad.get(at / between).filter(|_| at % between == 0).cloned());
        }
        mixed.extend([good.last().unwrap()[..10].to_vec(), Vec::new(), b"  ".to_vec()]);
        for (end, mark) in [(&b"\n"[..], &b""[..]), (b"\r\n", b"\xef\xbb\xbf"), (b"\n\n \t\n", b"")] {
            let bytes = [mark, &joined(&mixed, end)].concat();
            let run = read(&bytes).unwrap();
            assert_eq!(run.coverage.events, whole.coverage.events, "{name}");
            assert_eq!(run.coverage.bad_lines, bad.len() as u64 + 1, "{name}");
            all_lines_are_accounted_for(&bytes, &run);
            ask(&run);
            similar_asserts::assert_eq!(shown(run), expected, "{name}");
        }
    }
    memory_is_bounded();
}

#[test]
fn a_packed_log_cut_anywhere_keeps_what_stands_before() {
    let whole = read(&fixture("eventlogs/killed.lz4")).unwrap().coverage.events;
    for name in ["killed.inprogress.zstd", "killed.lz4", "killed.snappy", "killed.lzf"] {
        let bytes = fixture(&format!("eventlogs/{name}"));
        let mut before = 0;
        for end in (0..=bytes.len()).step_by(bytes.len() / 60) {
            match read(&bytes[..end]) {
                Ok(run) => {
                    assert!(run.coverage.events >= before && run.coverage.bad_lines == 0, "{name}: {end}");
                    assert!(!run.coverage.complete);
                    before = run.coverage.events;
                    ask(&run);
                }
                Err(error) => assert!(before == 0 && !error.to_string().contains('\n'), "{name}: {end}: {error}"),
            }
        }
        assert!(before + 20 >= whole, "{name}: {before} of {whole}");
    }
}

#[test]
fn numbers_as_large_as_they_can_be_written() {
    let lines = lines_of("eventlogs/skewed-groupby.zstd", usize::MAX);
    let text = String::from_utf8(joined(&lines, b"\n")).unwrap();
    for number in ["9223372036854775807", "-9223372036854775808", "18446744073709551616", "4294967295", "1e308", "-1"] {
        for key in
            ["Number of Tasks", "Index", "Launch Time", "Finish Time", "Bytes Read", "Total Cores", "Submission Time"]
        {
            let mut changed = String::with_capacity(text.len());
            for (at, part) in text.split(&format!("\"{key}\":")).enumerate() {
                let rest =
                    if at == 0 { part } else { part.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit()) };
                if at > 0 {
                    write!(changed, "\"{key}\":{number}").unwrap();
                }
                changed.push_str(rest);
            }
            let run = read(changed.as_bytes()).unwrap();
            all_lines_are_accounted_for(changed.as_bytes(), &run);
            ask(&run);
        }
    }
    memory_is_bounded();
}

/// One damage, at a line and a place in it.
#[derive(Debug, Clone)]
enum Damage {
    /// The rest of the line is gone, its end stays.
    Cut,
    /// A byte is another one.
    Flip(u8),
    /// A bit is another one.
    FlipBit(u8),
    /// The middle of another line stands there.
    Splice(Index),
    /// The line comes again.
    Again,
    /// The line is gone.
    Gone,
    /// The line comes at another place, too.
    Elsewhere(Index),
    /// A number is another one.
    Number(&'static str),
    /// A value is of another type.
    Value(&'static str),
    /// An object or a list in a list in a list …
    Deep(u16),
    /// Bytes that are no text.
    NoText,
    /// The line ends in the middle.
    Break,
    /// Two lines are one.
    NoBreak,
}

fn damage() -> impl Strategy<Value = Damage> {
    let number =
        || prop::sample::select(vec!["-1", "0", "4294967296", "9223372036854775808", "1e400", "1.5", "00", "-"]);
    let value =
        || prop::sample::select(vec!["null", "[]", "{}", "\"\"", "true", "[[1]]", "{\"ID\":{}}", "\"\\ud800\"", ""]);
    prop_oneof![
        Just(Damage::Cut),
        any::<u8>().prop_map(Damage::Flip),
        (0..8u8).prop_map(Damage::FlipBit),
        any::<Index>().prop_map(Damage::Splice),
        Just(Damage::Again),
        Just(Damage::Gone),
        any::<Index>().prop_map(Damage::Elsewhere),
        number().prop_map(Damage::Number),
        value().prop_map(Damage::Value),
        any::<u16>().prop_map(Damage::Deep),
        Just(Damage::NoText),
        Just(Damage::Break),
        Just(Damage::NoBreak),
    ]
}

/// Where a value starts and ends: from a colon behind `from` to the next comma or bracket.
fn value_at(line: &[u8], from: usize) -> Option<(usize, usize)> {
    let start = from + line.get(from..)?.windows(2).position(|pair| pair == b"\":")? + 2;
    let end = start + line.get(start..)?.iter().position(|byte| b",}]".contains(byte))?;
    Some((start, end))
}

fn replaced(line: &mut Vec<u8>, from: usize, with: &[u8]) {
    if let Some((start, end)) = value_at(line, from) {
        line.splice(start..end, with.iter().copied());
    }
}

fn apply(damage: &Damage, lines: &mut Vec<Vec<u8>>, number: usize, place: Index) {
    let at = place.index(lines[number].len().max(1)).min(lines[number].len());
    let other = |index: &Index| index.index(lines.len());
    match damage {
        Damage::Again => lines.insert(number, lines[number].clone()),
        Damage::Gone => lines[number].clear(),
        Damage::Elsewhere(index) => lines.insert(other(index), lines[number].clone()),
        Damage::Splice(index) => {
            let from = &lines[other(index)];
            let piece = from[from.len() / 3..from.len() * 2 / 3].to_vec();
            lines[number].splice(at..at, piece);
        }
        Damage::NoBreak => {
            let next = lines[(number + 1) % lines.len()].clone();
            lines[number].extend(next);
        }
        Damage::Cut => lines[number].truncate(at),
        Damage::Flip(byte) => lines[number].get_mut(at).into_iter().for_each(|old| *old = *byte),
        Damage::FlipBit(bit) => lines[number].get_mut(at).into_iter().for_each(|old| *old ^= 1 << bit),
        Damage::Number(text) | Damage::Value(text) => replaced(&mut lines[number], at, text.as_bytes()),
        Damage::Deep(depth) => {
            let depth = usize::from(*depth);
            replaced(&mut lines[number], at, ("[".repeat(depth) + &"]".repeat(depth)).as_bytes());
        }
        Damage::NoText => {
            lines[number].splice(at..at, *b"\xff\xc3\x28\xed\xa0\x80");
        }
        Damage::Break => lines[number].insert(at, b'\n'),
    }
}

fn ended_tasks(run: &Run) -> usize {
    run.stages.values().map(|stage| stage.tasks.len()).sum()
}

fn is_start(line: &[u8]) -> bool {
    line.windows(21).any(|part| part == b"ListenerApplicationSt")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_event_that_is_not_damaged_is_kept(
        damages in prop::collection::vec((damage(), any::<Index>(), any::<Index>()), 1..12),
        ends in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut lines = lines_of("eventlogs/slow-host.zstd", 60);
        let whole = ended_tasks(&read(&joined(&lines, b"\n")).unwrap());
        for (damage, line, place) in &damages {
            let number = line.index(lines.len());
            // Another start is another attempt, of which only the last is kept.
            if !is_start(&lines[number]) {
                apply(damage, &mut lines, number, *place);
            }
        }
        prop_assume!(lines.iter().filter(|line| is_start(line)).count() == 1);
        let bytes = joined(&lines, ends.as_bytes());
        let run = read(&bytes).unwrap();
        all_lines_are_accounted_for(&bytes, &run);
        ask(&run);
        prop_assert!(ended_tasks(&run) + damages.len() >= whole, "{} of {whole}", ended_tasks(&run));
        memory_is_bounded();
    }

    #[test]
    fn packed_bytes_that_are_damaged_are_read_or_refused(
        name in prop::sample::select(vec!["killed.inprogress.zstd", "killed.lz4", "killed.snappy", "killed.lzf"]),
        flips in prop::collection::vec((any::<Index>(), any::<u8>()), 1..8),
        cut in any::<Index>(),
    ) {
        let mut bytes = fixture(&format!("eventlogs/{name}"));
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let removed = cut.index(bytes.len());
        bytes.drain(removed..(removed + 100).min(bytes.len()));
        match read(&bytes) {
            Ok(run) => ask(&run),
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
        memory_is_bounded();
    }
}
