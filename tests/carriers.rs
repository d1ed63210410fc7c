//! Settings in every carrier, held against what stands beside each input.
//!
//! A case is a folder in `carriers/` with `input.<ending>` (its kind follows from the name) and `expected.txt`, one line
//! for each setting, submit, group (of settings by their lines, from 0) and problem. Places are `line:column-column`, from 1, in characters; a place over several
//! lines is `line:column-line:column`. `CARRIERS=write cargo test --test carriers` writes the expectations anew.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sparkls::conf::carriers::{self, CarrierKind, Extract, Text, kind_of, may_hold_settings};
use sparkls::conf::{Setting, Value};
use sparkls::pyspark::PythonFile;
use sparkls::text::Span;

/// How a document is read.
#[derive(Debug, Clone, Copy)]
enum Reader {
    Carrier(CarrierKind),
    Python,
}

use Reader::{Carrier, Python};

fn extract(reader: Reader, text: &str) -> Extract {
    match reader {
        Carrier(kind) => carriers::extract(kind, text),
        Python => {
            let file = PythonFile::parse(&text.into());
            let plan = file.plan();
            Extract {
                settings: plan.settings.clone(),
                submits: plan.submits.clone(),
                groups: plan.groups.clone(),
                problems: plan.problems.clone(),
            }
        }
    }
}

struct Case {
    name: String,
    kind: Reader,
    text: String,
    expected: PathBuf,
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/carriers");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.iter().map(|folder| case(folder)).collect()
}

fn case(folder: &Path) -> Case {
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let input = files.into_iter().find(|path| !path.ends_with("expected.txt")).unwrap();
    let text = std::fs::read_to_string(&input).unwrap();
    let is_python = input.extension().is_some_and(|ending| ending == "py");
    let kind = if is_python { Some(Python) } else { kind_of(&input, &text, None).map(Carrier) };
    let kind = kind.unwrap_or_else(|| panic!("{name}: no kind"));
    Case { name, kind, text, expected: folder.join("expected.txt") }
}

fn place(text: &str, span: Span) -> String {
    let position = |offset: u32| {
        let before = &text[..offset as usize];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    };
    let (start, end) = (position(span.start), position(span.end));
    let end = if start.0 == end.0 { end.1.to_string() } else { format!("{}:{}", end.0, end.1) };
    format!("{}:{}-{end}", start.0, start.1)
}

fn show_setting(text: &str, setting: &Setting) -> String {
    let key = if setting.key_is_prefix { format!("{}…", setting.key) } else { setting.key.clone() };
    let value = match &setting.value {
        Value::Literal(value) => format!("{value:?}"),
        Value::Template => "template".to_owned(),
        Value::Unknown => "unknown".to_owned(),
    };
    let (key_place, value_place) = (place(text, setting.key_span), place(text, setting.value_span));
    format!("{key_place} {key} = {value} {value_place} (rank {}, {:?})", setting.carrier.rank(), setting.carrier)
}

fn show_text(text: &Text) -> String {
    if text.is_template { format!("template {}", text.text) } else { text.text.clone() }
}

fn show(text: &str, found: &Extract) -> String {
    let mut out = String::new();
    for setting in &found.settings {
        writeln!(out, "{}", show_setting(text, setting)).unwrap();
    }
    for submit in &found.submits {
        write!(out, "submit {} {:?}", place(text, submit.span), submit.tool).unwrap();
        if let Some(application) = &submit.application {
            write!(out, " application={} {}", place(text, application.span), show_text(application)).unwrap();
        }
        for (name, part) in [("class", &submit.class), ("properties-file", &submit.properties_file)] {
            if let Some(part) = part {
                write!(out, " {name}={}", show_text(part)).unwrap();
            }
        }
        let arguments: Vec<String> = submit.arguments.iter().map(show_text).collect();
        let keys: Vec<&str> = submit.settings.iter().map(|&index| found.settings[index].key.as_str()).collect();
        write!(out, " arguments={arguments:?} settings={}", keys.join(" ")).unwrap();
        for lost in &submit.after_application {
            write!(out, " lost={}", place(text, *lost)).unwrap();
        }
        out.push('\n');
    }
    for group in &found.groups {
        let indices: Vec<String> = group.iter().map(usize::to_string).collect();
        writeln!(out, "group {}", indices.join(" ")).unwrap();
    }
    for problem in &found.problems {
        writeln!(out, "problem {} {:?}: {}", place(text, problem.span), problem.kind, problem.message).unwrap();
    }
    out
}

#[test]
fn every_carrier_is_read_as_expected() {
    let mut failed = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 20);
    for case in cases {
        let found = show(&case.text, &extract(case.kind, &case.text));
        if std::env::var("CARRIERS").is_ok_and(|mode| mode == "write") {
            std::fs::write(&case.expected, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&case.expected).unwrap_or_default();
        if found != expected {
            failed.push(case.name.clone());
            similar_asserts::assert_eq!(found, expected, "{}", case.name);
        }
    }
    assert_eq!(failed, [""; 0]);
}

fn check_spans(text: &str, found: &Extract) {
    let fits = |span: Span| text.get(span.range()).is_some();
    for setting in &found.settings {
        assert!(fits(setting.key_span) && fits(setting.value_span) && fits(setting.span), "{setting:?}");
    }
    for submit in &found.submits {
        assert!(fits(submit.span) && submit.after_application.iter().all(|span| fits(*span)), "{submit:?}");
        assert!(submit.settings.iter().all(|&index| index < found.settings.len()));
        assert!(submit.application.iter().chain(&submit.arguments).all(|text| fits(text.span)));
    }
    assert!(found.problems.iter().all(|problem| fits(problem.span)));
}

fn keys_and_values(found: &Extract) -> Vec<(String, Value)> {
    found.settings.iter().map(|setting| (setting.key.clone(), setting.value.clone())).collect()
}

#[test]
fn what_spans_cover_is_what_was_decoded() {
    for case in cases() {
        let found = extract(case.kind, &case.text);
        check_spans(&case.text, &found);
        for setting in found.settings.iter().filter(|setting| !setting.carrier.names_a_field()) {
            let written = setting.key_span.of(&case.text);
            assert!(
                written == setting.key || written.contains(['\\', '"', '\'', '$']),
                "{}: {written:?} is {:?}",
                case.name,
                setting.key
            );
        }
    }
}

#[test]
fn every_setting_belongs_to_one_group_or_to_jobs() {
    for case in cases() {
        let found = extract(case.kind, &case.text);
        let of_jobs: Vec<usize> = found.submits.iter().flat_map(|submit| submit.settings.iter().copied()).collect();
        for (index, setting) in found.settings.iter().enumerate() {
            let groups = found.groups.iter().filter(|group| group.contains(&index)).count();
            let expected = usize::from(!of_jobs.contains(&index) && !setting.carrier.is_code());
            assert_eq!(groups, expected, "{}: {} at {}", case.name, setting.key, place(&case.text, setting.key_span));
        }
    }
}

#[test]
fn python_that_starts_jobs_is_none_itself() {
    for case in cases().iter().filter(|case| ["boto3", "python-commands"].contains(&case.name.as_str())) {
        let file = PythonFile::parse(&case.text.as_str().into());
        assert!(!file.plan().uses.is_spark && file.plan().actions.is_empty(), "{}", case.name);
        assert!(!file.plan().submits.is_empty(), "{}", case.name);
    }
    let prose = "\"\"\"Run `spark-submit --conf spark.executor.memory=4g job.py`, see spark.sql.ansi.enabled.\"\"\"\n\
                 # spark-submit --conf spark.executor.cores=4 job.py\n\
                 print(\"spark-submit --conf spark.executor.cores=4 job.py\")\n\
                 raise SystemExit('set spark.executor.memory, or use --conf spark.executor.memory=4g')\n";
    assert_eq!(extract(Python, prose), Extract::default());
}

#[test]
fn line_ends_and_a_byte_order_mark_change_nothing() {
    for case in cases() {
        let found = keys_and_values(&extract(case.kind, &case.text));
        let crlf = case.text.replace('\n', "\r\n");
        let extracted = extract(case.kind, &crlf);
        check_spans(&crlf, &extracted);
        assert_eq!(keys_and_values(&extracted), found, "{}: CRLF", case.name);
        let marked = format!("\u{feff}{}", case.text);
        assert_eq!(keys_and_values(&extract(case.kind, &marked)), found, "{}: BOM", case.name);
    }
}

#[test]
fn a_setting_can_be_taken_out_alone() {
    for case in cases() {
        let found = extract(case.kind, &case.text);
        if case.name.starts_with("broken") || case.name.ends_with("mistakes") {
            continue;
        }
        for (index, setting) in found.settings.iter().enumerate() {
            let mut text = case.text.clone();
            text.replace_range(setting.span.range(), "");
            let mut left = keys_and_values(&found);
            left.remove(index);
            assert_eq!(keys_and_values(&extract(case.kind, &text)), left, "{}: without {}", case.name, setting.key);
        }
    }
}

#[test]
fn any_beginning_of_a_document_is_read() {
    for case in cases() {
        let step = (case.text.len() / 150).max(1);
        for end in (0..case.text.len()).step_by(step).filter(|&end| case.text.is_char_boundary(end)) {
            let text = &case.text[..end];
            check_spans(text, &extract(case.kind, text));
        }
    }
}

const KINDS: [Reader; 9] = [
    Carrier(CarrierKind::Shell),
    Carrier(CarrierKind::Makefile),
    Carrier(CarrierKind::Dockerfile),
    Carrier(CarrierKind::Yaml),
    Carrier(CarrierKind::Json),
    Carrier(CarrierKind::Notebook),
    Carrier(CarrierKind::Hcl),
    Carrier(CarrierKind::Hocon),
    Python,
];

#[test]
fn a_text_without_spark_is_never_parsed() {
    let yaml = "services:\n  web:\n    image: \"nginx\"\n".repeat(32_000);
    let json = format!("[{}0]", "{\"name\": \"value\", \"list\": [1, 2, 3]},".repeat(30_000));
    for (kind, text) in [(CarrierKind::Yaml, &yaml), (CarrierKind::Json, &json)] {
        assert!(text.len() > 1_000_000);
        assert!(!may_hold_settings(text), "the scan that stands before every parse");
        assert_eq!(extract(Carrier(kind), text), Extract::default());
    }
    let log = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.0.0\"}\n{\"spark.executor.memory\":\"1g\"}\n";
    assert_eq!(extract(Carrier(CarrierKind::Json), log), Extract::default(), "an event log is no configuration");
}

#[test]
fn deep_nesting_is_no_danger() {
    let depth = 20_000;
    for (open, close) in
        [("[", "]"), ("{\"a\":", "}"), ("{a={", "}}"), ("$(", ")"), ("((", "))"), ("- ", ""), ("a {", "}")]
    {
        for closed in [true, false] {
            let end = if closed { close.repeat(depth) } else { String::new() };
            let text = format!("spark: x\na = {}\"spark.executor.memory\"{end}\n", open.repeat(depth));
            for kind in KINDS {
                check_spans(&text, &extract(kind, &text));
            }
        }
    }
    let indented: String = (0..600).map(|level| format!("{}spark:\n", " ".repeat(level))).collect();
    check_spans(&indented, &extract(Carrier(CarrierKind::Yaml), &indented));
}

#[test]
fn repetition_is_no_danger() {
    let parts = [
        "{{ x }} ",
        "${x ",
        "@a@",
        "<% ",
        "\\",
        "spark.a=1 --conf ",
        "\"",
        "'",
        "a: ",
        "{",
        "\n",
        "spark-submit \\\n",
        "$(",
        "<<E ",
        "&a *a ",
        "%%configure {",
        "//",
        "${a.b}",
        "\u{feff}",
        "🌙",
        "`",
    ];
    for part in parts {
        let text = format!("spark {}", part.repeat(3_000));
        for kind in KINDS {
            check_spans(&text, &extract(kind, &text));
        }
    }
}

#[test]
fn variables_in_variables_do_not_multiply() {
    let mut text = "A0=x\n".to_owned();
    for level in 1..6 {
        let references = format!("${{A{}}}", level - 1).repeat(2_000);
        writeln!(text, "A{level}=\"{references}\"").unwrap();
    }
    text.push_str("C=(--conf spark.a=1 --conf spark.b=2)\n");
    text.push_str(&"spark-submit --conf spark.x=$A5 \"${C[@]}\" a.py\n".repeat(200));
    let found = extract(Carrier(CarrierKind::Shell), &text);
    assert_eq!(found.settings.len(), 202);
    check_spans(&text, &found);
}

fn any_text() -> impl proptest::strategy::Strategy<Value = String> {
    let pieces = "(spark-submit|pyspark|--conf|spark\\.a=1|spark\\.b: 2|sparkConf:|\\{\\{ x \\}\\}|\\$\\{x\\}|\\$X|\\{|\\}|\\[|\\]|\\(|\\)|\"|'|\\\\|\n|\r\n|\t|  |=|:|,|#|- |\\||>|<<E|E|🌙|é|@A@|conf|%%configure|!|\"\"\"|//|;){0,40}";
    proptest::string::string_regex(pieces).unwrap()
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in any_text()) {
        let text = format!("spark {text}");
        for kind in KINDS {
            check_spans(&text, &extract(kind, &text));
        }
    }

    #[test]
    fn a_document_with_a_hole_is_read(case in 0..100_usize, from in 0.0..1.0_f64, length in 0..60_usize) {
        let cases = cases();
        let case = &cases[case % cases.len()];
        let chars: Vec<char> = case.text.chars().collect();
        let from = (from * chars.len() as f64) as usize;
        let text: String = chars[..from].iter().chain(&chars[(from + length).min(chars.len())..]).collect();
        check_spans(&text, &extract(case.kind, &text));
    }
}
