//! What a linked run changes in the findings on code: numbers raise, lower or silence them.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use sparkls::analysis::{self, Facts, Input};
use sparkls::catalog::SparkVersion;
use sparkls::conf::EffectiveConf;
use sparkls::link::{Certainty, Link, Links, Measured};
use sparkls::pyspark::plan::{NodeId, Operator};
use sparkls::pyspark::{PythonFile, StaticPlan};
use sparkls::rules::{
    Confidence, Environment, Finding, MeasuredRun, RuleSettings, RunView, Severity, Subject, Vendor, Verdict,
};
use sparkls::run::Run;
use sparkls::run::model::{Job, SqlExecution, Stage, StageKey, Task, TaskFlags};

const MIB: u64 = 1 << 20;

/// One execution of an action: how long, and what each task sent to the driver.
struct Ran {
    /// Which action of the file, from 0.
    action: usize,
    seconds: i64,
    result_bytes: Vec<u64>,
    certainty: Certainty,
}

fn ran(action: usize, seconds: i64, result_bytes: &[u64]) -> Ran {
    Ran { action, seconds, result_bytes: result_bytes.to_vec(), certainty: Certainty::Exact }
}

fn findings(code: &str, executions: &[Ran]) -> Vec<Finding> {
    findings_of(code, |plan| {
        let measured = MeasuredRun { label: "app-7".to_owned(), run: run(executions), ..MeasuredRun::default() };
        (measured, links(plan, executions))
    })
}

/// The findings on a file with a run that is linked to it.
fn findings_of(code: &str, measure: impl FnOnce(&StaticPlan) -> (MeasuredRun, Links)) -> Vec<Finding> {
    let head = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n";
    let text: Arc<str> = format!("{head}{code}").into();
    let plan = PythonFile::parse(&text).plan().clone();
    let (measured, links) = measure(&plan);
    let version = SparkVersion::new(3, 5, 9);
    let environment =
        Environment { version, version_known: true, vendor: Vendor::Oss, local: false, rules: RuleSettings::default() };
    analysis::analyse(&Input {
        path: Path::new("jobs/job.py"),
        text: &text,
        facts: &Facts::Python(plan),
        environment: &environment,
        confs: &[EffectiveConf::new(version, Vec::new())],
        runs: &[RunView { measured: &measured, links: &links }],
    })
    .findings
}

fn run(executions: &[Ran]) -> Run {
    let mut run = Run::default();
    for (id, ran) in executions.iter().enumerate() {
        let (start, end) = (id as i64 * 1_000_000, id as i64 * 1_000_000 + ran.seconds * 1000);
        let execution = SqlExecution { start, end: Some(end), ..SqlExecution::default() };
        run.executions.insert(id as i64, execution);
        run.jobs.insert(id as u32, Job { stages: vec![id as u32], execution: Some(id as i64), ..Job::default() });
        run.stages.insert(StageKey { stage: id as u32, attempt: 0 }, stage(start, end, &ran.result_bytes));
    }
    run
}

fn stage(start: i64, end: i64, result_bytes: &[u64]) -> Stage {
    let task_count = result_bytes.len() as u32;
    let mut stage = Stage { submitted: Some(start), completed: Some(end), task_count, ..Stage::default() };
    for (index, &result_bytes) in result_bytes.iter().enumerate() {
        let flags = TaskFlags { metrics: true, ..TaskFlags::default() };
        stage.tasks.push(Task { index: index as u32, flags, result_bytes, ..Task::default() });
    }
    stage
}

fn links(plan: &StaticPlan, executions: &[Ran]) -> Links {
    let link = |(id, ran): (usize, &Ran)| Link {
        measured: Measured::Execution(id as i64),
        span: plan.actions[ran.action].site.method,
        node: None,
        action: Some(ran.action),
        certainty: ran.certainty,
        reason: "call site in the log".to_owned(),
    };
    Links { links: executions.iter().enumerate().map(link).collect(), unlinked: Vec::new() }
}

fn of<'a>(findings: &'a [Finding], rule: &str) -> Option<&'a Finding> {
    findings.iter().find(|finding| finding.rule == rule)
}

const COLLECT: &str = "rows = spark.table('orders').collect()\n";

#[test]
fn a_collect_that_brought_a_few_rows_is_silent() {
    let findings = findings(COLLECT, &[ran(0, 2, &[2_000, 2_100, 1_900])]);
    assert!(of(&findings, "collect-unbounded").is_none(), "{findings:#?}");
}

#[test]
fn a_collect_that_brought_much_says_how_much() {
    let findings = findings(COLLECT, &[ran(0, 48, &[450 * MIB, 450 * MIB])]);
    let finding = of(&findings, "collect-unbounded").expect("900 MiB are worth a warning");
    assert_eq!((finding.severity, finding.confidence), (Severity::Warning, Confidence::Measured));
    assert!(finding.message.contains("900 MiB") && finding.message.contains("app-7"), "{}", finding.message);
}

#[test]
fn a_measured_collect_of_an_unknown_frame_is_a_warning_too() {
    let code = "from pyspark.sql import DataFrame\ndef f(df: DataFrame):\n    return df.collect()\n";
    let findings = findings(code, &[ran(0, 48, &[900 * MIB])]);
    assert_eq!(of(&findings, "collect-unbounded").map(|finding| finding.severity), Some(Severity::Warning));
}

#[test]
fn many_groups_are_a_warning_once_they_were_seen() {
    let code = "rows = spark.table('orders').groupBy('k').count().collect()\n";
    assert!(of(&findings(code, &[ran(0, 9, &[20 * MIB])]), "collect-unbounded").is_none());
    let found = findings(code, &[ran(0, 48, &[900 * MIB])]);
    assert_eq!(of(&found, "collect-unbounded").map(|finding| finding.severity), Some(Severity::Warning));
}

#[test]
fn a_guess_about_the_line_changes_nothing() {
    let guess = Ran { certainty: Certainty::Candidate, ..ran(0, 2, &[2_000]) };
    let findings = findings(COLLECT, &[guess]);
    let finding = of(&findings, "collect-unbounded").expect("the code alone is worth a warning");
    assert_eq!((finding.severity, finding.confidence), (Severity::Warning, Confidence::Documented));
}

const COALESCE: &str = "spark.table('orders').coalesce(1).write.csv('out')\n";

#[test]
fn one_task_of_a_few_seconds_is_silent() {
    let findings = findings(COALESCE, &[ran(0, 3, &[2_000])]);
    assert!(of(&findings, "single-partition-write").is_none(), "{findings:#?}");
}

#[test]
fn one_task_of_forty_minutes_is_an_error() {
    let findings = findings(COALESCE, &[ran(0, 2400, &[2_000])]);
    let finding = of(&findings, "single-partition-write").expect("40 minutes in one task");
    assert_eq!(finding.severity, Severity::Error);
    assert!(finding.message.contains("40 min"), "{}", finding.message);
}

#[test]
fn a_reused_frame_says_what_the_repetition_took() {
    let code = "j = spark.table('a').join(spark.table('b'), 'k')\nn = j.count()\nj.write.parquet('out')\n";
    let findings = findings(code, &[ran(0, 40, &[2_000]), ran(1, 52, &[2_000])]);
    let finding = of(&findings, "reuse-without-cache").expect("the join runs twice");
    assert_eq!(finding.confidence, Confidence::Measured);
    assert!(finding.message.contains("40.0 s"), "{}", finding.message);
}

#[test]
fn a_count_for_a_log_says_what_it_took() {
    let code = "j = spark.table('a').join(spark.table('b'), 'k')\nprint(j.count())\nj.write.parquet('out')\n";
    let findings = findings(code, &[ran(0, 40, &[2_000]), ran(1, 52, &[2_000])]);
    let finding = of(&findings, "count-for-logging").expect("the join runs twice");
    assert_eq!(finding.confidence, Confidence::Measured);
    assert!(finding.message.contains("40.0 s"), "{}", finding.message);
}

#[test]
fn an_action_in_a_loop_says_how_often_it_ran() {
    let code = "for key in keys:\n    spark.table('a').filter('a > 1').count()\n";
    let findings = findings(code, &[ran(0, 10, &[2_000]), ran(0, 20, &[2_000]), ran(0, 30, &[2_000])]);
    let finding = of(&findings, "action-in-loop").expect("a job a turn");
    assert!(finding.message.contains("3 times") && finding.message.contains("60.0 s"), "{}", finding.message);
}

/// A run in which one stage of the file's join was lopsided, linked as surely as this.
fn lopsided_join(plan: &StaticPlan, certainty: Certainty) -> (MeasuredRun, Links) {
    let join = plan.nodes.iter().position(|node| matches!(node.operator, Operator::Join(_))).unwrap();
    let key = StageKey { stage: 3, attempt: 0 };
    let rule = sparkls::rules::find("skewed-stage").unwrap();
    let verdict =
        Verdict { short: "max 40 x median".to_owned(), ..Verdict::fired(rule, Subject::Stage(key), vec![key]) };
    let link = Link {
        measured: Measured::Stage(key),
        span: plan.nodes[join].site.as_ref().unwrap().method,
        node: Some(NodeId(join as u32)),
        action: None,
        certainty,
        reason: "the only join".to_owned(),
    };
    let measured = MeasuredRun { label: "app-7".to_owned(), verdicts: vec![verdict], ..MeasuredRun::default() };
    (measured, Links { links: vec![link], unlinked: Vec::new() })
}

const JOIN: &str = "c = spark.table('orders').fillna({'k': ''}).join(spark.table('users'), 'k')\n";

#[test]
fn a_measured_skew_makes_a_filled_key_a_warning() {
    let findings = findings_of(JOIN, |plan| lopsided_join(plan, Certainty::Likely));
    let finding = of(&findings, "skew-prone-key").expect("the skew was measured");
    assert_eq!((finding.severity, finding.confidence), (Severity::Warning, Confidence::Measured));
    assert!(finding.message.contains("max 40 x median") && finding.message.contains("app-7"), "{}", finding.message);
}

#[test]
fn a_guessed_skew_leaves_a_hint() {
    let findings = findings_of(JOIN, |plan| lopsided_join(plan, Certainty::Candidate));
    assert_eq!(of(&findings, "skew-prone-key").map(|finding| finding.severity), Some(Severity::Hint));
}
