//! What real sessions said to settings at run time, and what we say: `tests/fixtures/conf/runtime-cases.*.txt` are the
//! answers of PySpark 3.5 and 4.3.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sparkls::analysis::{self, Facts, Input};
use sparkls::catalog::SparkVersion;
use sparkls::conf::{EffectiveConf, Layer, Origin, Setting, properties};
use sparkls::pyspark::PythonFile;
use sparkls::rules::{Environment, Finding, RuleSettings, Severity, Vendor};

/// Where we knowingly say something else than that one session did, and why.
const EXPLAINED: &[(&str, &str)] = &[
    ("conf.set(spark.sql.session.timeZone, \"Mars/Base\")", "which time zones exist is up to the JVM's data"),
    ("SET spark.sql.shuffle.partitions=${spark.sql.adaptive.enabled}", "a reference: its value is not known here"),
    ("start session with spark.serializer=NoSuch", "whether a class exists is not known here"),
    ("start session with spark.locality.wait=3x", "a local session never reads it; a cluster does"),
    ("start session with spark.driver.memory=lots", "the JVM ran already; a submit command refuses it"),
];

/// A row of the fixture: what was done, and whether Spark refused it.
struct Row {
    done: String,
    refused: bool,
}

fn rows(release: &str) -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/conf/runtime-cases.{release}.txt"));
    let text = std::fs::read_to_string(path).expect("the fixture is there");
    let row = |line: &str| {
        let (done, answer) = line.split_once('\t')?;
        Some(Row { done: done.to_owned(), refused: answer.starts_with("ERR") })
    };
    text.lines().filter_map(row).collect()
}

/// The same as a document: a session, and the line that was tried; settings at start as a settings file.
fn document(done: &str) -> Option<(PathBuf, String)> {
    let session = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n";
    if let Some(arguments) = done.strip_prefix("conf.set(").and_then(|rest| rest.strip_suffix(')')) {
        let (key, value) = arguments.split_once(", ")?;
        return Some(("jobs/job.py".into(), format!("{session}spark.conf.set(\"{key}\", {value})\n")));
    }
    if let Some(sql) = done.strip_prefix("sql: ").filter(|sql| sql.starts_with("SET ") && sql.contains('=')) {
        return Some(("jobs/job.py".into(), format!("{session}spark.sql(\"{sql}\")\n")));
    }
    if let Some(rest) = done.strip_prefix("start session with ") {
        let setting = rest.strip_suffix(" then group-by query")?;
        return Some(("conf/spark-defaults.conf".into(), format!("{setting}\n")));
    }
    None
}

fn findings(path: &Path, text: &str, version: SparkVersion) -> Vec<Finding> {
    let facts = match path.extension().and_then(|extension| extension.to_str()) {
        Some("py") => Facts::Python(PythonFile::parse(&Arc::from(text)).plan().clone()),
        _ => Facts::Properties(Arc::new(properties::read(text))),
    };
    let shared_path = Arc::new(path.to_owned());
    let layer = |setting: &Setting| Layer {
        key: setting.key.clone(),
        value: setting.value.clone(),
        origin: Origin::Written { carrier: setting.carrier, path: Arc::clone(&shared_path), line: 1 },
    };
    let conf = EffectiveConf::new(version, facts.settings().iter().map(layer).collect());
    let environment =
        Environment { version, version_known: true, vendor: Vendor::Oss, local: false, rules: RuleSettings::default() };
    analysis::analyse(&Input {
        path,
        text,
        facts: &facts,
        environment: &environment,
        confs: std::slice::from_ref(&conf),
        runs: &[],
    })
    .findings
}

fn we_refuse(path: &Path, text: &str, version: SparkVersion) -> bool {
    const RULES: [&str; 4] = ["invalid-combination", "invalid-value", "retired-key", "setting-too-late"];
    findings(path, text, version)
        .iter()
        .any(|finding| RULES.contains(&finding.rule) && finding.severity == Severity::Error)
}

fn compare(release: &str, version: SparkVersion) {
    let (mut compared, mut explained, mut wrong) = (0, String::new(), String::new());
    for row in rows(release) {
        let Some((path, text)) = document(&row.done) else { continue };
        compared += 1;
        if we_refuse(&path, &text, version) == row.refused {
            continue;
        }
        let spark = if row.refused { "refuses it" } else { "takes it" };
        match EXPLAINED.iter().find(|(done, _)| row.done.contains(done)) {
            Some((_, why)) => writeln!(explained, "  {:90} Spark {spark}: {why}", row.done).unwrap(),
            None => writeln!(wrong, "  {:90} Spark {spark}", row.done).unwrap(),
        }
    }
    let agreed = compared - explained.lines().count() - wrong.lines().count();
    println!("Spark {release}: {agreed} of {compared} rows agree; explained:\n{explained}unexplained:\n{wrong}");
    assert!(compared >= 120, "only {compared} rows were read");
    assert!(wrong.is_empty(), "unexplained disagreements with Spark {release}:\n{wrong}");
}

#[test]
fn a_session_of_3_5_refuses_what_we_refuse() {
    compare("3.5", SparkVersion::new(3, 5, 9));
}

#[test]
fn a_session_of_4_3_refuses_what_we_refuse() {
    compare("4.3", SparkVersion::new(4, 3, 0));
}

/// A builder on a session that runs: static and core settings are lost, runtime settings of SQL arrive.
#[test]
fn a_builder_on_a_live_session() {
    let lost = |key: &str, value: &str| {
        let text = format!(
            "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n\
             again = SparkSession.builder.config(\"{key}\", \"{value}\").getOrCreate()\n"
        );
        findings(Path::new("jobs/job.py"), &text, SparkVersion::new(3, 5, 9))
            .iter()
            .any(|finding| finding.rule == "setting-too-late" && finding.severity == Severity::Warning)
    };
    assert!(lost("spark.sql.warehouse.dir", "/x"));
    assert!(lost("spark.executor.memory", "9g"));
    assert!(!lost("spark.sql.shuffle.partitions", "33"));
}
