//! A task's line that is scanned says what the same line says that is parsed, if its keys are where Spark writes them.
#![no_main]

/// The keys that the scan relies on: the object that they are in, and their name, in the order in which Spark writes them.
const WRITTEN: [(&str, &str); 31] = [
    ("", "Stage ID"),
    ("", "Stage Attempt ID"),
    ("", "Task End Reason"),
    ("", "Task Info"),
    ("Task Info", "Index"),
    ("Task Info", "Launch Time"),
    ("Task Info", "Executor ID"),
    ("Task Info", "Host"),
    ("Task Info", "Locality"),
    ("Task Info", "Speculative"),
    ("Task Info", "Finish Time"),
    ("", "Task Metrics"),
    ("Task Metrics", "Executor Deserialize Time"),
    ("Task Metrics", "Executor Run Time"),
    ("Task Metrics", "Result Size"),
    ("Task Metrics", "JVM GC Time"),
    ("Task Metrics", "Memory Bytes Spilled"),
    ("Task Metrics", "Disk Bytes Spilled"),
    ("Task Metrics", "Shuffle Read Metrics"),
    ("Shuffle Read Metrics", "Fetch Wait Time"),
    ("Shuffle Read Metrics", "Remote Bytes Read"),
    ("Shuffle Read Metrics", "Local Bytes Read"),
    ("Shuffle Read Metrics", "Total Records Read"),
    ("Task Metrics", "Shuffle Write Metrics"),
    ("Shuffle Write Metrics", "Shuffle Bytes Written"),
    ("Task Metrics", "Input Metrics"),
    ("Input Metrics", "Bytes Read"),
    ("Input Metrics", "Records Read"),
    ("Task Metrics", "Output Metrics"),
    ("Output Metrics", "Bytes Written"),
    ("Output Metrics", "Records Written"),
];

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    if std::str::from_utf8(line).is_ok_and(is_written_by_spark) {
        assert!(sparkls::eventlog::scan_agrees_with_parse(line.as_ref()));
    }
});

/// Whether each of the keys is there once, in its place.
fn is_written_by_spark(line: &str) -> bool {
    let known = keys(line).filter(|(_, key)| WRITTEN.iter().any(|(_, written)| written == key));
    known.eq(WRITTEN)
}

/// All keys with the key of the object or list that they are in.
fn keys(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut open: Vec<&str> = Vec::new();
    let (mut rest, mut last) = (line, "");
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find(['"', '{', '}', '[', ']'])?..];
            let (mark, after) = rest.split_at(1);
            rest = after;
            match mark {
                "{" | "[" => {
                    let within = std::mem::take(&mut last);
                    open.push(if within.is_empty() && !open.is_empty() { "[]" } else { within });
                }
                "}" | "]" => drop(open.pop()),
                _ => {
                    let mut escaped = false;
                    let end = rest.find(|c| {
                        c == '"' && !escaped || {
                            escaped = c == '\\' && !escaped;
                            false
                        }
                    })?;
                    let text = &rest[..end];
                    rest = &rest[end + 1..];
                    if rest.starts_with(':') {
                        last = text;
                        return Some((open.last().copied().unwrap_or_default(), text));
                    }
                }
            }
        }
    })
}
