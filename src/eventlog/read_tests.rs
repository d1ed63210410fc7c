//! Logs of every shape, written here, and random bytes.

use std::fs;
use std::io::Write as _;

use proptest::prelude::*;

use super::*;

const START: &str = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.0\"}\n";
const APPLICATION: &str = "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"Timestamp\":5}\n";
const END: &str = "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":9}\n";

fn read_bytes(bytes: &[u8]) -> Result<Run, ReadError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    read(file.path(), &mut |_| true)
}

fn whole() -> String {
    [START, APPLICATION, END].concat()
}

fn zstd_frames(parts: &[&str]) -> Vec<u8> {
    parts.iter().flat_map(|part| zstd::encode_all(part.as_bytes(), 1).unwrap()).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap()
}

#[test]
fn plain_gzip_and_zstd_are_told_by_their_bytes() {
    for bytes in [whole().into_bytes(), gzip(&whole()), zstd_frames(&[START, APPLICATION, END])] {
        let run = read_bytes(&bytes).unwrap();
        assert_eq!((run.coverage.events, run.coverage.complete), (3, true));
        assert_eq!(run.coverage.bytes, whole().len() as u64);
    }
}

#[test]
fn thousands_of_small_frames() {
    let mut bytes = zstd_frames(&[START]);
    for _ in 0..5000 {
        bytes.extend(zstd_frames(&["{\"Event\":\"SparkListenerBlock", "ManagerAdded\"}\n"]));
    }
    assert_eq!(read_bytes(&bytes).unwrap().coverage.events, 5001);
}

#[test]
fn a_cut_last_line_is_told_and_the_rest_kept() {
    let text = format!("{START}{APPLICATION}{}", &END[..30]);
    let at = (START.len() + APPLICATION.len()) as u64;
    for bytes in [text.clone().into_bytes(), gzip(&text), zstd_frames(&[&text])] {
        let run = read_bytes(&bytes).unwrap();
        assert_eq!((run.coverage.cut_at, run.coverage.bad_lines, run.coverage.events), (Some(at), 0, 2));
        assert!(!run.coverage.complete && run.application.estimated);
    }
    // A last line that only lacks its line feed is whole.
    let run = read_bytes(whole().trim_end().as_bytes()).unwrap();
    assert_eq!((run.coverage.cut_at, run.coverage.complete), (None, true));
}

#[test]
fn an_open_last_frame_is_a_cut_log() {
    let mut bytes = zstd_frames(&[START, APPLICATION]);
    let open = zstd_frames(&[END]);
    bytes.extend(&open[..open.len() - 4]);
    let run = read_bytes(&bytes).unwrap();
    assert!(run.coverage.cut_at.is_some() && run.coverage.events >= 2 && !run.coverage.complete);
    let cut = gzip(&whole());
    assert!(read_bytes(&cut[..cut.len() - 4]).unwrap().coverage.cut_at.is_some());
}

#[test]
fn bad_lines_in_the_middle_are_skipped_with_their_offsets() {
    let text = format!("{START}rubbish\n\n{APPLICATION}{{\"Event\":1}}\nx\ny\n{END}");
    let run = read_bytes(text.as_bytes()).unwrap();
    let first = START.len() as u64;
    let second = first + 9 + APPLICATION.len() as u64;
    assert_eq!((run.coverage.bad_lines, run.coverage.events), (4, 3));
    assert_eq!(run.coverage.bad_offsets, [first, second, second + 12]);
    assert!(!run.coverage.complete && !run.application.estimated);
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark() {
    let text = format!("\u{feff}{}", whole().replace('\n', "\r\n"));
    let run = read_bytes(text.as_bytes()).unwrap();
    assert_eq!((run.coverage.events, run.coverage.bad_lines), (3, 0));
}

#[test]
fn lines_over_the_limit_are_skipped() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let long = format!("{{\"Event\":\"X\",\"x\":\"{}\"}}\n", "x".repeat(4 << 20));
    fs::write(file.path(), format!("{START}{long}{END}")).unwrap();
    let run = read_lines_up_to(1 << 20, file.path(), &mut |_| true).unwrap();
    assert_eq!((run.coverage.events, run.coverage.bad_lines), (2, 1));
    assert_eq!(run.coverage.notes, ["a line longer than 1 MiB was skipped"]);
}

#[test]
fn other_files_are_refused_in_one_sentence() {
    let reason = |bytes: &[u8]| match read_bytes(bytes) {
        Err(ReadError::NotALog { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(b""), "is empty");
    assert_eq!(reason(&gzip("")), "is empty");
    assert!(reason(&gzip(&whole())[..6]).starts_with("can't be decoded: "));
    assert!(reason(b"{\n  \"Event\": \"SparkListenerLogStart\"\n}").contains("one event a line"));
    let text_log = "24/01/01 10:00:00 INFO SparkContext: up\n".repeat(9000);
    assert!(reason(text_log.as_bytes()).starts_with("the text log of a driver or an executor, not an event log"));
    assert!(reason(&gzip("a,b\n")).starts_with("not an event log but some other text; event logs are in "));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(read(&pipe, &mut |_| true).unwrap_err().to_string().ends_with("not a regular file"));
    assert!(read(Path::new("/dev/zero"), &mut |_| true).is_err());
}

#[test]
fn a_rolled_log_with_a_hole() {
    let folder = tempfile::tempdir().unwrap();
    let submitted =
        "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":1,\"Number of Tasks\":1}}\n";
    fs::write(folder.path().join("events_1_a"), format!("{START}{APPLICATION}{submitted}")).unwrap();
    fs::write(folder.path().join("events_3_a"), END).unwrap();
    fs::write(folder.path().join("events_4_a"), "").unwrap();
    fs::write(folder.path().join("appstatus_a"), "").unwrap();
    let run = read(folder.path(), &mut |_| true).unwrap();
    assert_eq!((run.coverage.events, run.coverage.complete), (4, false));
    assert_eq!(run.coverage.missing_files, [2]);
    assert!(run.stages.values().all(|stage| stage.partial));
}

#[test]
fn what_compaction_dropped_is_not_zero_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let completed = "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":1,\"Number of Tasks\":4,\"Completion Time\":7}}\n";
    fs::write(folder.path().join("events_2_a.compact"), format!("{START}{APPLICATION}{completed}")).unwrap();
    fs::write(folder.path().join("events_3_a"), END).unwrap();
    fs::write(folder.path().join("appstatus_a"), "").unwrap();
    let run = read(folder.path(), &mut |_| true).unwrap();
    assert!(run.coverage.compacted && !run.coverage.complete && run.coverage.missing_files.is_empty());
    assert!(run.stages.values().all(|stage| stage.compacted && stage.tasks.is_empty()));
}

#[test]
fn reading_stops_when_it_is_told_to() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let filler = format!("{{\"Event\":\"SparkListenerBlockUpdated\",\"x\":\"{}\"}}\n", "x".repeat(1000));
    fs::write(file.path(), START.to_owned() + &filler.repeat(12_000)).unwrap();
    let mut seen = Vec::new();
    let stopped = read(file.path(), &mut |read| {
        seen.push(read);
        false
    });
    assert!(matches!(stopped, Err(ReadError::Io { source, .. }) if source.kind() == io::ErrorKind::Interrupted));
    assert_eq!(seen.len(), 1);
    assert!(seen[0].done >= PROGRESS_STEP && seen[0].total > 12_000_000);
}

#[test]
fn a_cut_block_is_a_cut_log() {
    let raw = |text: &str| {
        let length = u32::try_from(text.len()).unwrap().to_le_bytes();
        [b"LZ4Block\x15".as_slice(), &length, &length, &[0; 4], text.as_bytes()].concat()
    };
    let bytes = [raw(START), raw(APPLICATION), raw(END)].concat();
    assert!(read_bytes(&bytes).unwrap().coverage.complete);
    let run = read_bytes(&bytes[..bytes.len() - 3]).unwrap();
    assert_eq!((run.coverage.events, run.coverage.complete), (2, false));
    assert_eq!(run.coverage.cut_at, Some((START.len() + APPLICATION.len()) as u64));
}

/// A zip archive as a writer makes it that streams: sizes stand only in the list at the end.
fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut data, mut list) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut deflater = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        deflater.write_all(text.as_bytes()).unwrap();
        let packed = deflater.finish().unwrap();
        let number = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
        let name_length = [u8::try_from(name.len()).unwrap(), 0];
        let start = number(data.len());
        data.extend(
            [b"PK\x03\x04\x14\0\x08\0\x08\0".as_slice(), &[0; 16], &name_length, &[0; 2], name.as_bytes()].concat(),
        );
        data.extend(&packed);
        data.extend([b"PK\x07\x08".as_slice(), &[0; 4], &number(packed.len()), &number(text.len())].concat());
        list.extend([b"PK\x01\x02\x14\0\x14\0\x08\0\x08\0".as_slice(), &[0; 8], &number(packed.len())].concat());
        list.extend([number(text.len()).as_slice(), &name_length, &[0; 12], &start, name.as_bytes()].concat());
    }
    let sizes = [list.len(), data.len()].map(|size| u32::try_from(size).unwrap().to_le_bytes());
    let end = [b"PK\x05\x06".as_slice(), &[0; 8], &sizes[0], &sizes[1], &[0; 2]].concat();
    [data, list, end].concat()
}

#[test]
fn archives_of_the_history_server() {
    let run = read_bytes(&zip(&[("local-1", &whole())])).unwrap();
    assert_eq!((run.coverage.events, run.coverage.complete), (3, true));

    let first = format!("{START}{APPLICATION}");
    let rolled = [
        ("eventlog_v2_a/appstatus_a", ""),
        ("eventlog_v2_a/events_2_a", END),
        ("eventlog_v2_a/events_1_a", first.as_str()),
    ];
    let run = read_bytes(&zip(&rolled)).unwrap();
    assert_eq!((run.coverage.events, run.coverage.complete), (3, true));
    assert!(run.coverage.notes.is_empty());

    let attempts = [("app-1_1", START), ("app-1_2", &whole())];
    let run = read_bytes(&zip(&attempts)).unwrap();
    assert_eq!(run.coverage.notes, ["2 attempts of the application; this is the last"]);

    let refused = |bytes: &[u8]| read_bytes(bytes).unwrap_err().to_string();
    assert!(refused(&zip(&[("a", START), ("b", START)])).ends_with("holds 2 event logs (a, b); name one of them"));
    assert!(refused(&zip(&[])).ends_with("not an event log but a binary file"));
    assert!(refused(&zip(&[("x", "text")])).contains("not an event log but some other text"));
    assert!(refused(b"PK\x03\x04rest").ends_with("a broken zip archive"));
}

#[test]
fn a_log_of_databricks_is_read_from_its_oldest_file() {
    let folder = tempfile::tempdir().unwrap();
    let vendor = "{\"Event\":\"com.databricks.backend.Thing\",\"x\":1}\n";
    let task = |time: i64| {
        format!(
            "{{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task End Reason\":{{\"Reason\":\"FetchFailed\"}},\"Task Info\":{{\"Index\":0,\"Launch Time\":{time},\"Finish Time\":{time}}}}}\n"
        )
    };
    fs::write(folder.path().join("eventlog-2024-01-01--10-00.gz"), gzip(&(APPLICATION.to_owned() + &task(6)))).unwrap();
    fs::write(folder.path().join("eventlog-2024-01-01--11-00.gz"), gzip(&(vendor.to_owned() + &task(7)))).unwrap();
    fs::write(folder.path().join("eventlog"), task(8) + END).unwrap();
    let run = read(folder.path(), &mut |_| true).unwrap();
    let tasks = &run.stages.values().next().unwrap().tasks;
    assert_eq!(tasks.launch.iter().collect::<Vec<_>>(), [1, 2, 3]);
    assert!(tasks.flags.iter().all(|flags| !flags.metrics()), "a failed fetch has no metrics: not recorded");
    assert_eq!((run.coverage.unknown_events["Thing"], run.application.version), (1, None));
}

#[test]
fn the_first_bytes_tell_the_codec_and_not_the_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("a.lz4", zstd_frames(&[&whole()])), ("a.zstd", whole().into_bytes()), ("a", gzip(&whole()))]
    {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert!(read(&path, &mut |_| true).unwrap().coverage.complete, "{name}");
    }
}

#[test]
fn a_plan_description_of_tens_of_mebibytes_and_many_accumulables() {
    let description = "\\n+- Project [\\\"x\\\"]".repeat(1 << 20);
    let plan = format!(
        "{{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart\",\"executionId\":7,\"physicalPlanDescription\":\"{description}\",\"sparkPlanInfo\":{{\"nodeName\":\"A\",\"metrics\":[{{\"name\":\"m\",\"accumulatorId\":12000,\"metricType\":\"sum\"}}]}},\"time\":6}}\n"
    );
    let many: Vec<String> = (0..20_000).map(|id| format!("{{\"ID\":{id},\"Name\":\"n\",\"Value\":-{id}}}")).collect();
    let completed = format!(
        "{{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{{\"Stage ID\":1,\"Accumulables\":[{}]}}}}\n",
        many.join(",")
    );
    let run = read_bytes(format!("{START}{APPLICATION}{plan}{completed}{END}").as_bytes()).unwrap();
    assert_eq!((run.coverage.events, run.coverage.bad_lines), (5, 0));
    assert_eq!(run.metric_totals.into_iter().collect::<Vec<_>>(), [(12_000, -12_000)]);
    assert_eq!(run.executions[&7].end, None, "no end was recorded");
}

#[test]
fn a_log_that_grows_while_it_is_read_is_read_to_the_size_seen() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let filler = format!("{{\"Event\":\"SparkListenerBlockUpdated\",\"x\":\"{}\"}}\n", "x".repeat(1000));
    fs::write(file.path(), START.to_owned() + &filler.repeat(6000)).unwrap();
    let mut log = fs::OpenOptions::new().append(true).open(file.path()).unwrap();
    let run = read(file.path(), &mut |_| log.write_all(filler.as_bytes()).is_ok()).unwrap();
    assert_eq!((run.coverage.events, run.coverage.cut_at), (6001, None));
}

/// A small log with an event of every kind that is read.
fn small_log() -> Vec<u8> {
    let lines = [
        r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}"#,
        r#"{"Event":"SparkListenerExecutorAdded","Timestamp":3,"Executor ID":"1","Executor Info":{"Host":"h","Total Cores":2}}"#,
        r#"{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.task.cpus":"1"},"System Properties":{"sun.java.command":"x"}}"#,
        r#"{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"b","Timestamp":5}"#,
        r#"{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":0,"description":"d","details":"e","physicalPlanDescription":"p","sparkPlanInfo":{"nodeName":"A","simpleString":"s","children":[{"nodeName":"B","simpleString":"t","children":[],"metadata":{},"metrics":[{"name":"m","accumulatorId":1,"metricType":"sum"}]}],"metadata":{},"metrics":[]},"time":6,"modifiedConfigs":{}}"#,
        r#"{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":7,"Stage IDs":[0],"Properties":{"spark.sql.execution.id":"0"}}"#,
        r#"{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":0,"Stage Attempt ID":0,"Stage Name":"n","Number of Tasks":1,"RDD Info":[],"Parent IDs":[],"Details":"d","Submission Time":8}}"#,
        r#"{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task End Reason":{"Reason":"Success"},"Task Info":{"Index":0,"Launch Time":9,"Executor ID":"1","Host":"h","Locality":"ANY","Speculative":false,"Finish Time":12,"Accumulables":[{"ID":1,"Name":"m","Update":"1","Value":"1"}]},"Task Metrics":{"Executor Deserialize Time":1,"Executor Run Time":1,"Result Size":1,"JVM GC Time":0,"Memory Bytes Spilled":0,"Disk Bytes Spilled":0,"Shuffle Read Metrics":{"Fetch Wait Time":0,"Remote Bytes Read":0,"Local Bytes Read":0,"Total Records Read":0},"Shuffle Write Metrics":{"Shuffle Bytes Written":0},"Input Metrics":{"Bytes Read":1,"Records Read":1},"Output Metrics":{"Bytes Written":0}}}"#,
        r#"{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":0,"Stage Attempt ID":0,"Stage Name":"n","Number of Tasks":1,"RDD Info":[],"Parent IDs":[],"Details":"d","Submission Time":8,"Completion Time":13,"Accumulables":[{"ID":1,"Name":"m","Value":"1"}]}}"#,
        r#"{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":14,"Job Result":{"Result":"JobSucceeded"}}"#,
        r#"{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd","executionId":0,"time":15}"#,
        r#"{"Event":"SparkListenerApplicationEnd","Timestamp":16}"#,
    ];
    (lines.join("\n") + "\n").into_bytes()
}

/// Reads, and asks everything that is asked of a run.
fn survive(bytes: &[u8]) {
    let Ok(run) = read_bytes(bytes) else { return };
    for (&key, stage) in &run.stages {
        let slots = crate::run::slots::stage_slots(&run, key);
        crate::run::slots::tail(&stage.tasks, &crate::run::stats::population(&stage.tasks), slots);
        crate::run::slots::Replay::new(&stage.tasks, slots);
        crate::run::stats::coverage(stage);
        run.plan_nodes_of(key);
    }
}

#[test]
fn a_log_cut_anywhere_is_read_or_refused() {
    let log = small_log();
    assert!(read_bytes(&log).unwrap().coverage.complete);
    for end in (0..log.len()).step_by(7) {
        survive(&log[..end]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        packed in 0..4,
        end in any::<prop::sample::Index>(),
    ) {
        let log = small_log();
        let mut bytes = match packed {
            0 => log,
            1 => zstd::encode_all(log.as_slice(), 1).unwrap(),
            2 => zip(&[("app", &String::from_utf8(log).unwrap())]),
            _ => gzip(&String::from_utf8(log).unwrap()),
        };
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - end.index(bytes.len()) / 4);
        survive(&bytes);
    }
}
