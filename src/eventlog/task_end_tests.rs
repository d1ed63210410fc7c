//! Lines of tasks, scanned and parsed.

use super::*;

/// A line as Spark 4.3 writes it.
const LINE: &str = concat!(
    r#"{"Event":"SparkListenerTaskEnd","Stage ID":3,"Stage Attempt ID":1,"Task Type":"ResultTask","#,
    r#""Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":40,"Index":7,"Attempt":0,"Partition ID":7,"#,
    r#""Launch Time":1000,"Executor ID":"2","Host":"worker1","Locality":"NODE_LOCAL","Speculative":true,"#,
    r#""Getting Result Time":0,"Finish Time":1600,"Failed":false,"Killed":false,"Accumulables":["#,
    r#"{"ID":9,"Name":"number of output rows","Update":"5","Value":"25","Internal":true,"Metadata":"sql"},"#,
    r#"{"ID":11,"Name":"internal.metrics.resultSize","Update":1,"Value":1},"#,
    r#"{"ID":12,"Name":"odd","Update":[],"Value":[{"Block ID":"rdd_0_0","Index":99}]}]},"#,
    r#""Task Executor Metrics":{"MinorGCCount":2},"Task Metrics":{"Executor Deserialize Time":1,"#,
    r#""Executor Deserialize CPU Time":90,"Executor Run Time":500,"Executor CPU Time":91,"Peak Execution Memory":0,"#,
    r#""Result Size":2,"JVM GC Time":3,"Result Serialization Time":92,"Memory Bytes Spilled":4,"Disk Bytes Spilled":5,"#,
    r#""Shuffle Read Metrics":{"Remote Blocks Fetched":93,"Local Blocks Fetched":94,"Fetch Wait Time":6,"#,
    r#""Remote Bytes Read":7,"Remote Bytes Read To Disk":95,"Local Bytes Read":8,"Total Records Read":9,"#,
    r#""Push Based Shuffle":{"Merged Remote Bytes Read":96}},"Shuffle Write Metrics":{"Shuffle Bytes Written":10,"#,
    r#""Shuffle Write Time":97,"Shuffle Records Written":98},"Input Metrics":{"Bytes Read":11,"Records Read":12},"#,
    r#""Output Metrics":{"Bytes Written":13,"Records Written":99},"Updated Blocks":[]}}"#
);

fn expected() -> TaskEnd<'static> {
    TaskEnd {
        stage: StageKey { stage: 3, attempt: 1 },
        outcome: Outcome::Success,
        index: 7,
        launch: 1000,
        finish: 1600,
        executor: "2".into(),
        host: "worker1".into(),
        locality: Locality::Node,
        speculative: true,
        metrics: Some(Metrics {
            deserialize_time: 1,
            run_time: 500,
            result_bytes: 2,
            gc_time: 3,
            spill_memory: 4,
            spill_disk: 5,
            fetch_wait: 6,
            remote_read: 7,
            local_read: 8,
            shuffle_records: 9,
            shuffle_write: 10,
            input_bytes: 11,
            input_records: 12,
            output_bytes: 13,
            missing: 0,
        }),
        failure: None,
    }
}

#[test]
fn scan_and_parse_agree() {
    assert_eq!(scan(LINE.as_bytes()), Some(expected()));
    assert_eq!(parse(LINE.as_bytes()), Some(expected()));
}

#[test]
fn another_order_is_left_to_the_parser() {
    let mut value: serde_json::Map<String, serde_json::Value> = serde_json::from_str(LINE).unwrap();
    let info = value.remove("Task Info").unwrap();
    let mut reordered = serde_json::Map::new();
    reordered.insert("Task Info".to_owned(), info);
    reordered.extend(value);
    let line = serde_json::to_string(&reordered).unwrap();
    assert_eq!(scan(line.as_bytes()), None);
    assert_eq!(parse(line.as_bytes()), Some(expected()));
}

#[test]
fn escapes_odd_numbers_and_cut_lines_are_left_to_the_parser() {
    for (from, to) in [
        ("\"Host\":\"worker1\"", "\"Host\":\"worker\\u0031\""),
        ("\"Result Size\":2", "\"Result Size\":2.0"),
        ("\"Index\":7,\"A", "\"Index\": 7,\"A"),
    ] {
        let line = LINE.replacen(from, to, 1);
        assert_ne!(line, LINE);
        assert_eq!(scan(line.as_bytes()), None, "{to}");
        assert_eq!(parse(line.as_bytes()), Some(expected()), "{to}");
    }
    for end in 0..LINE.len() {
        let cut = &LINE.as_bytes()[..end];
        assert_eq!(parse(cut), None);
        assert!(scan(cut).is_none_or(|found| found == expected()));
    }
}

#[test]
fn keys_inside_strings_are_no_keys() {
    let host = r#""Host":"worker1\",\"Finish Time\":5,\"x\":\"""#;
    let line = LINE.replacen("\"Host\":\"worker1\"", host, 1);
    assert_eq!(scan(line.as_bytes()), None);
    let read = parse(line.as_bytes()).unwrap();
    assert_eq!((read.finish, read.host.as_ref()), (1600, r#"worker1","Finish Time":5,"x":""#));
}

#[test]
fn reasons_other_than_success() {
    let with = |reason: &str| {
        let line = LINE.replacen(r#"{"Reason":"Success"}"#, reason, 1);
        assert_eq!(scan(line.as_bytes()), None, "{reason}");
        let read: TaskEnd<'_> = parse(line.as_bytes()).unwrap();
        (read.outcome, read.failure.unwrap())
    };
    assert_eq!(
        with(r#"{"Reason":"ExceptionFailure","Class Name":"java.lang.OutOfMemoryError","Description":"heap\nmore"}"#),
        (Outcome::Failed, ("java.lang.OutOfMemoryError".to_owned(), "heap".to_owned()))
    );
    assert_eq!(
        with(r#"{"Reason":"FetchFailed","Shuffle ID":1,"Message":"gone"}"#),
        (Outcome::FetchFailed, ("FetchFailed".to_owned(), "gone".to_owned()))
    );
    assert_eq!(with(r#"{"Reason":"TaskKilled","Kill Reason":"another attempt succeeded"}"#).0, Outcome::Killed);
    assert_eq!(with(r#"{"Reason":"Resubmitted"}"#).0, Outcome::Resubmitted);
    assert_eq!(
        with(r#"{"Reason":"ExecutorLostFailure","Executor ID":"9","Loss Reason":"lost"}"#).1,
        ("ExecutorLostFailure".to_owned(), "lost".to_owned())
    );
}

#[test]
fn old_lines_lack_groups_and_fields() {
    // Spark 1.2: no attempt, no shuffle, input without records.
    let line = r#"{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task End Reason":{"Reason":"Success"},
        "Task Info":{"Index":1,"Launch Time":5,"Finish Time":9,"Host":"h"},
        "Task Metrics":{"Executor Run Time":3,"Input Metrics":{"Bytes Read":70}}}"#;
    let read = parse(line.as_bytes()).unwrap();
    assert_eq!(read.stage, StageKey { stage: 0, attempt: 0 });
    let metrics = read.metrics.unwrap();
    assert_eq!((metrics.run_time, metrics.input_bytes), (3, 70));
    let missing: Vec<&str> =
        (0..FIELDS.len()).filter(|bit| metrics.missing & (1 << bit) != 0).map(|bit| FIELDS[bit]).collect();
    assert_eq!(
        missing,
        [
            "Executor Deserialize Time",
            "Result Size",
            "JVM GC Time",
            "Memory Bytes Spilled",
            "Disk Bytes Spilled",
            "Input Metrics: Records Read"
        ]
    );
    let without = r#"{"Stage ID":0,"Task End Reason":{"Reason":"FetchFailed"},"Task Info":{"Index":1}}"#;
    assert_eq!(parse(without.as_bytes()).unwrap().metrics, None);
    assert_eq!(parse(br#"{"Stage ID":0,"Task End Reason":{"Reason":"Success"},"Task Info":{}}"#), None);
}

#[test]
fn a_python_error_is_told_by_its_own_line() {
    let python = "Traceback (most recent call last):\n  File \"job.py\", line 3, in f\n    g()\nValueError: no rows\n\n\tat org.apache";
    assert_eq!(telling_line(python), "ValueError: no rows");
    assert_eq!(telling_line("Executor lost\nsince long"), "Executor lost");
    assert_eq!(telling_line("Traceback (most recent call last):\n  File"), "Traceback (most recent call last):");
}

#[test]
fn accumulables_that_a_plan_may_name() {
    assert_eq!(accumulables(LINE.as_bytes()), [(9, Some(25)), (12, None)]);
    assert_eq!(accumulables(b"{}"), []);
}

/// Every line of a task in the logs at hand, scanned and parsed.
#[test]
fn scan_and_parse_agree_on_every_log_at_hand() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("SPARKLS_SHARED").map_or_else(|| root.join("../shared"), Into::into);
    let mut folders = vec![root.join("tests/fixtures/eventlogs")];
    if shared.is_dir() {
        folders.push(shared.join("data/eventlogs"));
    } else {
        println!("skipped: no shared logs");
    }
    let (mut lines, mut scanned) = (0, 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                let (of_file, by_scan) = compare(&entry);
                lines += of_file;
                scanned += by_scan;
            }
        }
    }
    println!("{lines} lines, {} left to the parser", lines - scanned);
    assert!(scanned > 0 && scanned * 10 >= lines * 9, "the scan hardly reads anything: {scanned} of {lines}");
}

fn compare(path: &std::path::Path) -> (usize, usize) {
    let opened = super::super::place::Item::file(path).open().unwrap();
    let Ok(reader) = super::super::codec::decode(path, opened, std::rc::Rc::default()) else { return (0, 0) };
    let mut lines = super::super::lines::Lines::new(reader, 64 << 20);
    let (mut seen, mut scanned) = (0, 0);
    while let Some(line) = lines.next() {
        let super::super::lines::Line::Whole { bytes, .. } = line else { continue };
        if !bytes.starts_with(b"{\"Event\":\"SparkListenerTaskEnd\"") {
            continue;
        }
        seen += 1;
        if let Some(fast) = scan(bytes) {
            scanned += 1;
            assert_eq!(Some(fast), parse(bytes), "{}: {}", path.display(), String::from_utf8_lossy(bytes));
        }
    }
    (seen, scanned)
}

proptest::proptest! {
    /// Lines that differ from Spark's in a number, a name, a byte or an order; what the scan does not read is the parser's.
    #[test]
    fn scan_and_parse_agree_on_lines_that_are_made(
        numbers in proptest::collection::vec(proptest::num::i64::ANY, 4),
        host in "[a-z\\\\\"é{}:,]{0,12}",
        from in proptest::sample::select(vec![
            "\"Index\":7", "\"Launch Time\":1000", "\"Finish Time\":1600", "\"Executor Run Time\":500", "\"Bytes Read\":11",
            "\"Stage ID\":3", "\"JVM GC Time\":3", "\"Fetch Wait Time\":6",
        ]),
        swapped in proptest::sample::select(vec![("Index", "Attempt"), ("Host", "Executor ID"), ("Remote Bytes Read", "Local Bytes Read"), ("Launch Time", "Finish Time")]),
        swap in proptest::bool::ANY,
    ) {
        let key = from.split_once(':').map_or("", |(key, _)| key);
        let mut line = LINE.replacen(from, &format!("{key}:{}", numbers[0]), 1);
        line = line.replacen("\"Result Size\":2", &format!("\"Result Size\":{}", numbers[1]), 1);
        line = line.replacen("\"Update\":\"5\"", &format!("\"Update\":{{\"Finish Time\":{}}}", numbers[2]), 1);
        line = line.replacen("\"worker1\"", &serde_json::to_string(&host).unwrap(), 1);
        if swap {
            let (one, other) = swapped;
            line = line.replacen(one, "\u{1}", 1).replacen(other, one, 1).replacen('\u{1}', other, 1);
        }
        proptest::prop_assert!(scan_agrees_with_parse(line.as_bytes()), "{line}");
    }
}
