//! What real Spark says to a few hundred settings, and what we say.
//!
//! `tests/fixtures/conf/oracle.tsv` holds Spark's answers, so the comparison runs everywhere. To ask Spark again, give the
//! Python of an environment with pyspark, and its version: `SPARKLS_SPARK_ORACLE=3.5.9:venv/bin/python cargo test --test
//! oracle`. With `SPARKLS_BLESS=1` the answers are written to the fixture.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use sparkls::analysis::{self, Facts, Input};
use sparkls::catalog::{self, Kind, SettingFacts, SparkVersion};
use sparkls::conf::{Carrier, EffectiveConf, Layer, Origin, properties};
use sparkls::rules::{Environment, RuleSettings, Severity, Vendor};

/// The releases that were asked.
const ASKED: [SparkVersion; 2] = [SparkVersion::new(3, 5, 9), SparkVersion::new(4, 3, 0)];

/// What Spark's own checks refuse in combination: key, value, other settings.
const COMBINATIONS: &[(&str, &str, &str)] = &[
    ("spark.memory.fraction", "1.5", ""),
    ("spark.memory.fraction", "-0.1", ""),
    ("spark.memory.fraction", "1.0", ""),
    ("spark.memory.fraction", "0", ""),
    ("spark.memory.storageFraction", "-0.1", ""),
    ("spark.memory.storageFraction", "1.0", ""),
    ("spark.memory.storageFraction", "0.99", ""),
    ("spark.executor.extraJavaOptions", "-Xmx4g", ""),
    ("spark.executor.extraJavaOptions", "-XX:+UseG1GC -Xmx4g", ""),
    ("spark.executor.extraJavaOptions", "-Xms1g", ""),
    ("spark.executor.extraJavaOptions", "-Xmn1g", ""),
    ("spark.executor.extraJavaOptions", "-Dspark.foo=1", ""),
    ("spark.executor.extraJavaOptions", "-Dsparkle=1", ""),
    ("spark.executor.extraJavaOptions", "-Dapp.spark=1", ""),
    ("spark.executor.defaultJavaOptions", "-Xmx4g", ""),
    ("spark.executor.defaultJavaOptions", "-Dspark.foo=1", ""),
    ("spark.driver.extraJavaOptions", "-Dspark.foo=1", ""),
    ("spark.submit.deployMode", "foo", ""),
    ("spark.submit.deployMode", "CLIENT", ""),
    ("spark.submit.deployMode", "cluster", ""),
    ("spark.network.timeout", "10s", "spark.executor.heartbeatInterval=20s"),
    ("spark.network.timeout", "20s", "spark.executor.heartbeatInterval=20s"),
    ("spark.network.timeout", "20", "spark.executor.heartbeatInterval=20"),
    ("spark.network.timeout", "20", "spark.executor.heartbeatInterval=20s"),
    ("spark.network.timeout", "21s", "spark.executor.heartbeatInterval=20s"),
    ("spark.network.timeout", "5s", ""),
    ("spark.network.timeout", "10s", ""),
    ("spark.executor.heartbeatInterval", "3min", ""),
    ("spark.executor.heartbeatInterval", "110s", ""),
    ("spark.executor.heartbeatInterval", "120s", ""),
    ("spark.network.crypto.enabled", "true", "spark.authenticate=false"),
    ("spark.network.crypto.enabled", "true", ""),
    ("spark.network.crypto.enabled", "true", "spark.authenticate=true"),
    ("spark.authenticate.enableSaslEncryption", "true", ""),
    ("spark.authenticate.enableSaslEncryption", "true", "spark.authenticate=true"),
    ("spark.io.encryption.enabled", "true", ""),
    ("spark.executor.cores", "3", "spark.cores.max=4"),
    ("spark.executor.cores", "1", "spark.task.cpus=2;spark.master=local-cluster[1,1,1024]"),
    ("spark.executor.cores", "4", "spark.task.cpus=2;spark.master=local-cluster[1,4,1024]"),
    ("spark.task.cpus", "2", "spark.master=local-cluster[1,1,1024]"),
    ("spark.dynamicAllocation.enabled", "true", "spark.master=local-cluster[1,1,1024]"),
    (
        "spark.dynamicAllocation.enabled",
        "true",
        "spark.dynamicAllocation.shuffleTracking.enabled=false;spark.master=local-cluster[1,1,1024]",
    ),
    (
        "spark.dynamicAllocation.maxExecutors",
        "2",
        "spark.dynamicAllocation.minExecutors=3;spark.dynamicAllocation.enabled=true;spark.master=local-cluster[1,1,1024]",
    ),
    ("spark.dynamicAllocation.maxExecutors", "2", "spark.dynamicAllocation.minExecutors=3"),
    ("spark.memory.offHeap.enabled", "true", ""),
    ("spark.memory.offHeap.enabled", "true", "spark.memory.offHeap.size=64m"),
    ("spark.memory.fraction", "0.01", ""),
    ("spark.network.timeout", "30s", "spark.network.timeoutInterval=20s"),
    ("spark.network.timeout", "60s", ""),
    ("spark.storage.blockManagerHeartbeatTimeoutMs", "30s", ""),
    ("spark.executor.heartbeatInterval", "0", ""),
    ("spark.executor.heartbeatInterval", "-1", ""),
    ("spark.executor.memory", "64mib", ""),
    ("spark.storage.blockManagerHeartbeatTimeoutMs", "100us", ""),
    ("spark.executor.memory", "449m", ""),
    ("spark.executor.memory", "450m", ""),
    ("spark.io.compression.codec", "nope", ""),
    ("spark.io.compression.codec", "ZSTD", ""),
    ("spark.scheduler.mode", "fair", ""),
    ("spark.scheduler.mode", "weird", ""),
    ("spark.shuffle.manager", "hash", ""),
    ("spark.shuffle.manager", "tungsten-sort", ""),
    ("spark.task.cpus", "0", ""),
    ("spark.task.cpus", "0.5", ""),
    ("spark.executor.memory", "100", ""),
    ("spark.locality.wait.process", "x", ""),
];

/// A question and, once asked, Spark's word on it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Question {
    how: &'static str,
    key: String,
    value: String,
    others: String,
}

impl Question {
    fn line(&self) -> String {
        format!("{}\t{}\t{}\t{}", self.how, self.key, self.value, self.others)
    }

    /// The settings as a properties file.
    fn properties(&self) -> String {
        let mut text = format!("{}={}\n", self.key, self.value);
        for other in self.others.split(';').filter(|other| !other.is_empty()) {
            text.push_str(other);
            text.push('\n');
        }
        text
    }
}

/// Every third public setting, with texts of its kind, good and bad, and the combinations.
fn questions() -> Vec<Question> {
    let asked =
        |facts: &&SettingFacts| ASKED.iter().all(|version| facts.registered_in(*version)) && facts.public(ASKED[0]);
    let mut questions = Vec::new();
    for (index, facts) in catalog::settings().filter(asked).enumerate().filter(|(index, _)| index % 3 == 0) {
        for value in values(facts, index) {
            let question =
                |how| Question { how, key: facts.name().to_owned(), value: value.clone(), others: String::new() };
            questions.push(question("parse"));
            if questions.len() % 8 == 0 && may_start(facts.name()) {
                questions.push(question("start"));
            }
        }
    }
    for (how, (key, value, others)) in [("parse", COMBINATIONS), ("start", COMBINATIONS)]
        .into_iter()
        .flat_map(|(how, all)| all.iter().map(move |combination| (how, *combination)))
    {
        if how == "parse" || may_start(key) || others.contains("spark.master") {
            questions.push(Question { how, key: key.to_owned(), value: value.to_owned(), others: others.to_owned() });
        }
    }
    questions.dedup();
    questions
}

/// Settings that a local session takes whatever they are, or that would need more than one machine: only their parser is
/// asked.
fn may_start(key: &str) -> bool {
    const READ: [&str; 14] = [
        "spark.dynamicAllocation.",
        "spark.io.compression.codec",
        "spark.scheduler.mode",
        "spark.shuffle.manager",
        "spark.storage.blockManagerHeartbeatTimeoutMs",
        "spark.sql.",
        "spark.memory.",
        "spark.network.",
        "spark.executor.heartbeatInterval",
        "spark.executor.memory",
        "spark.driver.maxResultSize",
        "spark.speculation",
        "spark.authenticate",
        "spark.executor.extraJavaOptions",
    ];
    READ.iter().any(|prefix| key.starts_with(prefix)) && !key.contains("hive") && !key.starts_with("spark.sql.catalog")
}

/// Three texts of the setting's kind, others for each setting, and what lies just outside its bounds.
fn values(facts: &SettingFacts, index: usize) -> Vec<String> {
    let version = ASKED[0];
    let allowed = facts.allowed(version);
    let texts: &[&str] = match facts.kind(version) {
        Kind::Boolean => &["true", "FALSE", "yes", "1", "on", "t", "off", "0"],
        Kind::Int | Kind::Long => &["4", "+4", "4.0", "1e3", "abc", "0", "-1", "1_000", "99999999999999999999"],
        Kind::Double => &["0.5", ".5", "60%", "0,6", "2", "-1", "1d", "1 x"],
        Kind::Bytes(_) => &["64m", "64MB", "64mib", "1.5g", "-1", "0", "1e", "1k", "64", "10bytes", "64 m"],
        Kind::Time(_) => &["10s", "10", "1.5s", "10sec", "100us", "-1", "5min", "1h", "2hours", "10 s"],
        Kind::Regex => &["(", "a|b"],
        Kind::String | Kind::Enum if !allowed.is_empty() => {
            let first = allowed[index % allowed.len()];
            return vec![first.to_owned(), first.to_lowercase(), first.to_uppercase(), "nope".to_owned()];
        }
        _ => return Vec::new(),
    };
    let mut values: Vec<String> = (0..3).map(|turn| texts[(index * 3 + turn) % texts.len()].to_owned()).collect();
    if let Some(bounds) = facts.bounds(version) {
        let ends = [bounds.min.map(|min| min.value - 1.0), bounds.max.map(|max| max.value + 1.0)];
        values.extend(ends.into_iter().flatten().filter(|end| end.abs() < 1e9).map(|end| end.to_string()));
    }
    values
}

/// Whether we say that Spark refuses the first setting of the question, alone or with the others.
fn refused(question: &Question, version: SparkVersion) -> bool {
    let text = question.properties();
    let file = properties::read(&text);
    let path = Arc::new(PathBuf::from("spark-defaults.conf"));
    let layer = |setting: &sparkls::conf::Setting| Layer {
        key: setting.key.clone(),
        value: setting.value.clone(),
        origin: Origin::Written { carrier: Carrier::Properties, path: Arc::clone(&path), line: 1 },
    };
    let layers = file.settings.iter().map(layer).collect();
    let environment =
        Environment { version, version_known: true, vendor: Vendor::Oss, local: false, rules: RuleSettings::default() };
    let analysis = analysis::analyse(&Input {
        path: &path,
        text: &text,
        facts: &Facts::Properties(Arc::new(file)),
        environment: &environment,
        confs: &[EffectiveConf::new(version, layers)],
        runs: &[],
    });
    analysis.findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// Spark's answers by question, one column a release.
fn recorded() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(fixture()).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let (question, answers) = line.rsplit_once("\t=> ")?;
            Some((question.to_owned(), answers.split(' ').map(str::to_owned).collect()))
        })
        .collect()
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/conf/oracle.tsv")
}

#[test]
fn what_spark_refuses_is_what_we_refuse() {
    let recorded = recorded();
    let (mut asked, mut disagreements) = (0, String::new());
    for question in questions() {
        let Some(answers) = recorded.get(&question.line()) else {
            panic!("no answer of Spark to {:?}: ask it again, see the head of this file", question.line());
        };
        for (column, version) in ASKED.into_iter().enumerate().filter(|(column, _)| answers[*column] != "unknown") {
            asked += 1;
            let ours = refused(&question, version);
            // A local session does not read every setting, and a parser does not see what is checked later.
            let both = ["parse", "start"].map(|how| recorded.get(&Question { how, ..question.clone() }.line()));
            let answer = both
                .into_iter()
                .flatten()
                .map(|answers| answers[column].as_str())
                .find(|answer| !matches!(*answer, "ok" | "unknown"));
            let answer = answer.unwrap_or("ok");
            if ours != (answer != "ok") {
                let ours = if ours { "refused" } else { "ok" };
                writeln!(disagreements, "{version}  {:60} Spark: {answer:7} here: {ours}", question.line()).unwrap();
            }
        }
    }
    println!("{} of {asked} answers agree\n{disagreements}", asked - disagreements.lines().count());
    assert!(asked >= 600, "only {asked} answers were compared");
    assert!(disagreements.is_empty(), "{disagreements}");
}

/// Asks the Spark that the environment names, and holds its answers against the recorded ones.
#[test]
fn real_spark_still_answers_as_recorded() {
    let Ok(oracle) = std::env::var("SPARKLS_SPARK_ORACLE") else {
        println!("skipped: SPARKLS_SPARK_ORACLE names no version and Python of an environment with pyspark");
        return;
    };
    let (version, python) = oracle.split_once(':').expect("VERSION:PYTHON");
    let column =
        ASKED.iter().position(|asked| asked.to_string() == version).expect("one of the releases that are asked");
    let questions = questions();
    let answers = ask(python, &questions);
    let mut table = recorded();
    let known: std::collections::BTreeSet<String> = questions.iter().map(Question::line).collect();
    table.retain(|question, _| known.contains(question));
    let mut changed = Vec::new();
    for (question, answer) in answers {
        let row = table.entry(question.clone()).or_insert_with(|| vec!["unknown".to_owned(); ASKED.len()]);
        if row[column] != answer {
            changed.push(format!("{question}: {} was recorded, now {answer}", row[column]));
            row[column] = answer;
        }
    }
    if std::env::var_os("SPARKLS_BLESS").is_some() {
        let mut text = "# how, key, value, others => what Spark says\n".to_owned();
        table.iter().for_each(|(question, answers)| writeln!(text, "{question}\t=> {}", answers.join(" ")).unwrap());
        std::fs::write(fixture(), text).unwrap();
    } else {
        assert!(changed.is_empty(), "{}", changed.join("\n"));
    }
}

fn ask(python: &str, questions: &[Question]) -> Vec<(String, String)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spark/oracle.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the Python of the environment starts");
    let lines: String = questions.iter().map(|question| question.line() + "\n").collect();
    let mut stdin = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads all questions");
    let answers = String::from_utf8(output.stdout).expect("UTF-8");
    let answers: Vec<(String, String)> = answers
        .lines()
        .filter_map(|line| line.rsplit_once('\t'))
        .map(|(question, answer)| (question.to_owned(), answer.to_owned()))
        .collect();
    assert_eq!(answers.len(), questions.len(), "one answer a question");
    answers
}
