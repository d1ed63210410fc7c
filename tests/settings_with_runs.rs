//! What a linked run changes in the findings on settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sparkls::analysis::{self, Facts, Input};
use sparkls::catalog::SparkVersion;
use sparkls::conf::{EffectiveConf, Layer, Origin, Setting, properties};
use sparkls::link::{Certainty, Link, Links, Measured};
use sparkls::pyspark::PythonFile;
use sparkls::rules::{
    self, Confidence, Environment, Finding, MeasuredRun, RuleSettings, RunView, Severity, State, Subject, Vendor,
    Verdict,
};
use sparkls::text::Span;

fn fired(rule: &str, message: &str) -> Verdict {
    let rule = rules::find(rule).expect("a rule on runs");
    let verdict = Verdict::fired(rule, Subject::Run, Vec::new());
    Verdict { state: State::Fired, message: message.to_owned(), ..verdict }
}

fn run(verdicts: Vec<Verdict>, conf: &[(&str, &str)], command: &str) -> MeasuredRun {
    let mut measured = MeasuredRun { label: "app-7".to_owned(), verdicts, ..MeasuredRun::default() };
    measured.run.conf = conf.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    measured.run.application.command = Some(command.to_owned());
    measured
}

fn findings(path: &str, text: &str, measured: &MeasuredRun) -> Vec<Finding> {
    let facts = match path.ends_with(".py") {
        true => Facts::Python(PythonFile::parse(&Arc::from(text)).plan().clone()),
        false => Facts::Properties(Arc::new(properties::read(text))),
    };
    let shared_path = Arc::new(PathBuf::from(path));
    let layer = |setting: &Setting| Layer {
        key: setting.key.clone(),
        value: setting.value.clone(),
        origin: Origin::Written { carrier: setting.carrier, path: Arc::clone(&shared_path), line: 1 },
    };
    let version = SparkVersion::new(3, 5, 9);
    let conf = EffectiveConf::new(version, facts.settings().iter().map(layer).collect());
    let environment =
        Environment { version, version_known: true, vendor: Vendor::Oss, local: false, rules: RuleSettings::default() };
    let link = Link {
        measured: Measured::Job(0),
        span: Span::at(0),
        node: None,
        action: None,
        certainty: Certainty::Exact,
        reason: "call site in the log".to_owned(),
    };
    let links = Links { links: vec![link], unlinked: Vec::new() };
    analysis::analyse(&Input {
        path: Path::new(path),
        text,
        facts: &facts,
        environment: &environment,
        confs: std::slice::from_ref(&conf),
        runs: &[RunView { measured, links: &links }],
    })
    .findings
}

fn of<'a>(findings: &'a [Finding], rule: &str) -> Option<&'a Finding> {
    findings.iter().find(|finding| finding.rule == rule)
}

const DEFAULTS: &str = "conf/spark-defaults.conf";
const SKEW: &str = "In stage 12 one task of 200 took 40 x the median.";

#[test]
fn more_memory_for_a_skewed_stage_is_named() {
    let measured = run(vec![fired("skewed-stage", SKEW)], &[("spark.executor.memory", "4g")], "");
    let findings = findings(DEFAULTS, "spark.executor.memory 16g\nspark.executor.instances 10\n", &measured);
    let finding = of(&findings, "memory-reflex").expect("16g is more than the run had");
    assert_eq!((finding.severity, finding.confidence), (Severity::Information, Confidence::Measured));
    for part in ["4g in that run", SKEW, "rows per partition", "heaviest keys"] {
        assert!(finding.message.contains(part), "{part:?} is not in {}", finding.message);
    }
}

#[test]
fn as_much_memory_as_the_run_had_is_no_reflex() {
    let measured = run(vec![fired("skewed-stage", SKEW)], &[("spark.executor.memory", "16g")], "");
    assert!(of(&findings(DEFAULTS, "spark.executor.memory 16384m\n", &measured), "memory-reflex").is_none());
}

#[test]
fn more_memory_for_a_job_without_skew_is_no_reflex() {
    let measured = run(vec![fired("spill", "It spilled.")], &[("spark.executor.memory", "4g")], "");
    assert!(of(&findings(DEFAULTS, "spark.executor.memory 16g\n", &measured), "memory-reflex").is_none());
}

#[test]
fn parallelism_first_is_named_when_tasks_were_tiny() {
    let measured = run(vec![fired("tiny-partitions", "Stage 3 ran 2,000 tasks of 20 ms.")], &[], "");
    let text = "spark.sql.adaptive.coalescePartitions.parallelismFirst true\n";
    let findings = findings(DEFAULTS, text, &measured);
    let finding = of(&findings, "partition-coalescing").expect("the run shows what it costs");
    assert!(finding.message.contains("2,000 tasks"), "{}", finding.message);
}

const BUILDER: &str = "from pyspark.sql import SparkSession\n\
                       spark = SparkSession.builder.config('spark.driver.memory', '8g').getOrCreate()\n";

#[test]
fn the_drivers_memory_comes_too_late_under_spark_submit() {
    let measured = run(Vec::new(), &[], "org.apache.spark.deploy.SparkSubmit --master yarn jobs/job.py");
    let findings = findings("jobs/job.py", BUILDER, &measured);
    let finding = of(&findings, "setting-too-late").expect("the JVM ran before the builder");
    assert!(finding.message.contains("app-7"), "{}", finding.message);
}

#[test]
fn a_plain_python_job_launches_its_jvm_with_the_drivers_memory() {
    let measured =
        run(Vec::new(), &[], "org.apache.spark.deploy.SparkSubmit --conf spark.driver.memory=8g pyspark-shell");
    assert!(of(&findings("jobs/job.py", BUILDER, &measured), "setting-too-late").is_none());
}
