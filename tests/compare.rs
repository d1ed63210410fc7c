//! Two runs side by side: what is aligned, what is judged, which budgets hold; and the command, on logs of real runs.

#![allow(clippy::unwrap_used)]

mod run_builder;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use run_builder::{MIB, RunBuilder, task};
use serde_json::Value;
use sparkls::compare::{BudgetState, Budgets, Comparison, Judgement, Outcome, PairedBy, Thresholds, compare};
use sparkls::run::Run;
use sparkls::run::model::{Job, Outcome as TaskOutcome, PlanNode, SqlExecution, StageKey, Task, TaskFlags};

/// A run of 100 s whose only job has one stage with these tasks.
fn run_of(tasks: Vec<Task>) -> Run {
    let mut builder = RunBuilder::new(4, 1, 100);
    builder.stage(0, tasks);
    let mut run = builder.run;
    let call_site = Some("count at /srv/jobs/orders.py:12".to_owned());
    run.jobs
        .insert(0, Job { stages: vec![0], call_site, submitted: Some(1), completed: Some(90_000), ..Job::default() });
    run
}

fn seconds(run: &mut Run, seconds: i64) {
    run.application.end = run.application.start + 1_000 * seconds;
}

fn compared(base: &Run, candidate: &Run, budgets: &Budgets) -> Comparison {
    compare(base, candidate, &Thresholds::default(), budgets)
}

fn even(count: u32) -> Vec<Task> {
    (0..count).map(|index| task(index, 2_000)).collect()
}

#[test]
fn a_run_is_as_fast_as_itself() {
    let run = run_of(even(8));
    let found = compared(&run, &run, &Budgets::default());
    assert_eq!((found.judgement, found.outcome()), (Judgement::NoChange, Outcome::Passed));
    assert_eq!(found.actions.len(), 1);
    assert_eq!(found.actions[0].stages[0].paired_by, Some(PairedBy::Key));
    assert!(found.gaps.is_empty() && found.settings.is_empty() && found.actions[0].plan.is_empty());
}

#[test]
fn slower_is_a_failure_and_a_budget_can_allow_it() {
    let base = run_of(even(8));
    let mut candidate = base.clone();
    seconds(&mut candidate, 150);
    let found = compared(&base, &candidate, &Budgets::default());
    assert_eq!((found.judgement, found.outcome()), (Judgement::Slower, Outcome::Failed));
    assert_eq!(found.speed().unwrap(), "1.5 x slower");
    let allowed = Budgets { regression_share: Some(0.5), ..Budgets::default() };
    assert_eq!(compared(&base, &candidate, &allowed).outcome(), Outcome::Passed);
    let forbidden = Budgets { regression_share: Some(0.49), ..Budgets::default() };
    assert_eq!(compared(&base, &candidate, &forbidden).outcome(), Outcome::Failed);
    assert_eq!(compared(&candidate, &base, &forbidden).judgement, Judgement::Faster);
}

#[test]
fn a_regression_within_the_noise_violates_nothing() {
    let mut base = run_of(even(8));
    seconds(&mut base, 20);
    let mut candidate = base.clone();
    seconds(&mut candidate, 29);
    let budgets = Budgets { regression_share: Some(0.1), ..Budgets::default() };
    let found = compared(&base, &candidate, &budgets);
    assert_eq!((found.judgement, found.outcome()), (Judgement::NoChange, Outcome::Passed));
}

/// The state of the only budget on a run compared with itself.
fn state(run: &Run, budgets: Budgets) -> BudgetState {
    compared(run, run, &budgets).budgets.into_iter().next().unwrap().state
}

#[test]
fn skew_counts_in_stages_of_five_tasks_whose_longest_matters() {
    let skew = |count: u32, longest: u32| {
        let mut tasks = even(count - 1);
        tasks.push(task(count - 1, longest));
        state(&run_of(tasks), Budgets { skew: Some(5.0), ..Budgets::default() })
    };
    assert_eq!(skew(5, 10_000), BudgetState::Met);
    assert_eq!(skew(5, 10_001), BudgetState::Violated);
    assert_eq!(skew(4, 10_001), BudgetState::Met);
    // 40 times the median, and less than 2 % of the run.
    let short = (0..8).map(|index| task(index, if index == 0 { 1_900 } else { 45 })).collect();
    assert_eq!(state(&run_of(short), Budgets { skew: Some(5.0), ..Budgets::default() }), BudgetState::Met);
}

#[test]
fn runtime_spill_and_failed_tasks() {
    let mut tasks = even(99);
    tasks[0].spill_disk = 2 * MIB;
    let failed = TaskFlags { outcome: TaskOutcome::Failed, metrics: true, ..TaskFlags::default() };
    tasks.push(Task { flags: failed, ..task(0, 10) });
    let run = run_of(tasks);
    let spill = |limit| state(&run, Budgets { spill_bytes: Some(limit), ..Budgets::default() });
    let spilled = 2.0 * MIB as f64;
    assert_eq!((spill(spilled), spill(spilled - 1.0)), (BudgetState::Met, BudgetState::Violated));
    let rate = |limit| state(&run, Budgets { failed_task_share: Some(limit), ..Budgets::default() });
    // One of 101: the builder's warm-up task is a task as well.
    assert_eq!((rate(0.01), rate(0.009)), (BudgetState::Met, BudgetState::Violated));
    let runtime = |limit| state(&run, Budgets { runtime_ms: Some(limit), ..Budgets::default() });
    assert_eq!((runtime(100_000.0), runtime(99_999.0)), (BudgetState::Met, BudgetState::Violated));
}

#[test]
fn an_incomplete_log_passes_nothing_and_can_still_fail() {
    let whole = run_of(even(8));
    let mut cut = whole.clone();
    (cut.coverage.complete, cut.coverage.cut_at) = (false, Some(4096));
    let budgets = |runtime| Budgets { runtime_ms: Some(runtime), ..Budgets::default() };
    let found = compared(&whole, &cut, &budgets(200_000.0));
    assert_eq!((found.judgement, found.outcome()), (Judgement::Inconclusive, Outcome::Inconclusive));
    assert!(matches!(found.budgets[0].state, BudgetState::NotEvaluated(_)));
    assert_eq!(compared(&whole, &cut, &budgets(50_000.0)).outcome(), Outcome::Failed);
    assert_eq!(compared(&cut, &whole, &Budgets::default()).outcome(), Outcome::Inconclusive);
    let mut thin = whole.clone();
    (thin.coverage.tasks_seen, thin.coverage.tasks_expected) = (89, 100);
    assert_eq!(compared(&whole, &thin, &Budgets::default()).outcome(), Outcome::Inconclusive);
    thin.coverage.tasks_seen = 90;
    assert_eq!(compared(&whole, &thin, &Budgets::default()).outcome(), Outcome::Passed);
}

#[test]
fn a_failed_run_is_no_measure() {
    let whole = run_of(even(8));
    let mut failed = whole.clone();
    failed.jobs.get_mut(&0).unwrap().failure = Some("Job aborted".to_owned());
    seconds(&mut failed, 10);
    let found = compared(&whole, &failed, &Budgets::default());
    assert_eq!(found.outcome(), Outcome::Inconclusive);
    assert!(found.gaps.iter().any(|gap| gap.contains("Job aborted")), "{:?}", found.gaps);
}

/// A run of SQL executions, one a minute, each with a plan of these operators.
fn executions(all: &[(&str, &[&str])]) -> Run {
    let mut run = RunBuilder::new(1, 1, 600).run;
    for (id, (description, operators)) in (0i64..).zip(all) {
        let mut plan = PlanNode::default();
        for name in operators.iter().rev() {
            let text = format!("{name} of {description}");
            let children = if plan.name.is_empty() { vec![] } else { vec![plan] };
            plan = PlanNode { name: (*name).into(), text, children, ..PlanNode::default() };
        }
        let start = id * 60_000;
        let description = (*description).to_owned();
        run.executions.insert(
            id,
            SqlExecution { description, plan, start, end: Some(start + 50_000), ..SqlExecution::default() },
        );
    }
    run
}

fn aligned(base: &Run, candidate: &Run) -> Vec<(Option<String>, Option<String>)> {
    let found = compared(base, candidate, &Budgets::default());
    let id = |side: Option<sparkls::compare::ActionFigures>| side.map(|figures| format!("{:?}", figures.id));
    found.actions.into_iter().map(|action| (id(action.base), id(action.candidate))).collect()
}

#[test]
fn executions_that_are_new_or_gone_leave_the_others_aligned() {
    let join: &[&str] = &["HashAggregate", "SortMergeJoin", "Scan parquet "];
    let window: &[&str] = &["Window", "Scan parquet "];
    let broadcast: &[&str] = &["HashAggregate", "BroadcastHashJoin", "Scan parquet "];
    let write: &[&str] = &["Execute InsertIntoHadoopFsRelationCommand", "Scan parquet "];
    let base = executions(&[
        ("count at NativeMethodAccessorImpl.java:0", join),
        ("collect at /srv/jobs/orders.py:12", window),
        ("parquet at NativeMethodAccessorImpl.java:0", write),
    ]);
    // Lines moved, a count is new, the collect is gone, and the join became a broadcast.
    let candidate = executions(&[
        ("count at <unknown>:0", broadcast),
        ("count at <unknown>:0", window),
        ("parquet at NativeMethodAccessorImpl.java:0", write),
    ]);
    let pair = |base: Option<i64>, candidate: Option<i64>| {
        let name = |id: Option<i64>| id.map(|id| format!("Execution({id})"));
        (name(base), name(candidate))
    };
    let expected = [pair(Some(0), Some(0)), pair(Some(1), None), pair(None, Some(1)), pair(Some(2), Some(2))];
    assert_eq!(aligned(&base, &candidate), expected);
}

#[test]
fn a_long_loop_is_aligned_by_turn() {
    let turn: (&str, &[&str]) = ("count at /srv/jobs/loop.py:7", &["HashAggregate", "Scan parquet "]);
    let (base, candidate) = (executions(&vec![turn; 3_000]), executions(&vec![turn; 3_001]));
    let pairs = aligned(&base, &candidate);
    assert_eq!(pairs.iter().filter(|(base, candidate)| base == candidate).count(), 3_000);
    assert_eq!(pairs.last().unwrap().0, None);
}

#[test]
fn another_job_is_not_compared() {
    let base = executions(&[("count at /srv/jobs/a.py:1", &["HashAggregate", "Scan parquet "])]);
    let other = executions(&[("toPandas at /srv/jobs/b.py:1", &["Window", "Scan csv "])]);
    let found = compared(&base, &other, &Budgets::default());
    assert_eq!(found.outcome(), Outcome::Inconclusive);
    assert_eq!(compared(&base, &Run::default(), &Budgets::default()).outcome(), Outcome::Inconclusive);
}

#[test]
fn stages_find_each_other_by_structure_where_the_plan_changed() {
    let (mut base, mut candidate) = (run_of(even(8)), run_of(even(6)));
    for (run, rdds) in [(&mut base, ["a", "b", "c"]), (&mut candidate, ["a", "b", "d"])] {
        let stage = run.stages.get_mut(&StageKey { stage: 0, attempt: 0 }).unwrap();
        stage.rdds = rdds.map(|name| sparkls::run::model::Rdd { name: name.into(), ..Default::default() }).to_vec();
    }
    let found = compared(&base, &candidate, &Budgets::default());
    assert_eq!(found.actions[0].stages.len(), 1);
    assert_eq!(found.actions[0].stages[0].paired_by, Some(PairedBy::Structure));
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn sparkls(args: &[&str]) -> Output {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    Command::new(env!("CARGO_BIN_EXE_sparkls")).arg("compare").args(args).current_dir(fixtures).output().unwrap()
}

fn text(args: &[&str]) -> (String, i32) {
    let output = sparkls(args);
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

const AQE_OFF: &str = "runs/skewed_join-aqe_off-3.5.zst";
const AQE_SPLIT: &str = "runs/skewed_join-aqe_split-4.3.zst";

#[test]
fn adaptive_execution_splits_a_skewed_join() {
    let (text, code) = text(&[AQE_OFF, AQE_SPLIT]);
    assert_eq!(code, 0, "{text}");
    for expected in [
        "faster: 2 min 33 s -> 39.7 s, 3.9 x faster at 1.0 x the data",
        "2 actions aligned",
        "plan: AQE splits skewed partitions in 0 -> 1 shuffle reads",
        "showString (execution 12 -> 1)",
        "median 19.9 s -> 818 ms",
        "false -> true (default)",
    ] {
        // Long lines are wrapped.
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(expected), "no `{expected}` in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn the_other_way_round_it_is_slower_and_fails() {
    let (text, code) = text(&[AQE_SPLIT, AQE_OFF]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("slower: 39.7 s -> 2 min 33 s, 3.9 x slower"), "{text}");
    assert_eq!(self::text(&[AQE_SPLIT, AQE_OFF, "--max-runtime", "10m"]).1, 0);
    assert_eq!(self::text(&[AQE_SPLIT, AQE_OFF, "--max-runtime", "2m"]).1, 1);
    assert_eq!(self::text(&[AQE_SPLIT, AQE_OFF, "--noise-time", "10m"]).1, 0);
}

#[test]
fn a_new_spark_version_changes_defaults() {
    let (text, code) = text(&["runs/healthy-3.5.zst", "runs/healthy-4.3.zst"]);
    assert_eq!(code, 0, "{text}");
    for expected in [
        "no change: 2 min 21 s -> 2 min 10 s, 1.08 x faster at 1.0 x the data",
        "plan: ArrowEvalPython 0 -> 1, BatchEvalPython 1 -> 0",
        "Spark 3.5 -> 4.3: what changes for these runs",
        "spark.sql.execution.pythonUDF.arrow.enabled  false -> true, used by ArrowEvalPython",
    ] {
        assert!(text.contains(expected), "no `{expected}` in\n{text}");
    }
}

#[test]
fn a_log_against_itself_has_no_change() {
    for log in ["healthy-3.5", "rdd_api-3.5", "action_in_loop-4.3", "job_groups-4.3", "partitions-3.5"] {
        let log = format!("runs/{log}.zst");
        let (text, code) = text(&[&log, &log]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("no change:") && text.contains("nothing beyond noise"), "{text}");
        assert!(!text.contains("alone") && !text.contains("Settings"), "{text}");
    }
}

#[test]
fn a_killed_run_is_inconclusive() {
    let killed = "eventlogs/killed.lz4";
    let (text, code) = text(&["eventlogs/slow-host.zstd", killed]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("inconclusive:") && text.contains("= candidate: its log is incomplete: it is cut"), "{text}");
    let (text, code) = self::text(&[killed, killed, "--max-spill", "2g"]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("not evaluated  spill"), "{text}");
}

#[test]
fn several_candidates_have_a_best_one_and_an_unreadable_one_is_named() {
    let args = [AQE_OFF, AQE_OFF, "runs/none.zst", AQE_SPLIT];
    let output = sparkls(&args);
    let (text, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("runs/none.zst"), "{errors}");
    assert!(text.contains("Best: candidate 2, runs/skewed_join-aqe_split-4.3.zst"), "{text}");
    assert!(text.contains("Candidate 1, runs/skewed_join-aqe_off-3.5.zst"), "{text}");
}

#[test]
fn json_holds_everything() {
    let (text, _) = text(&[AQE_OFF, AQE_SPLIT, "--format", "json", "--max-regression", "20%"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["version"], 1);
    assert_eq!(answer["best"], Value::Null);
    let compared = &answer["comparisons"][0];
    assert_eq!((&compared["verdict"], &compared["outcome"]), (&"faster".into(), &"passed".into()));
    assert_eq!(answer["base"]["figures"]["tasks"], 48);
    assert_eq!(compared["budgets"][0]["budget"], "max-regression");
    assert_eq!(compared["budgets"][0]["state"], "met");
    assert_eq!(compared["actions"][1]["base"]["execution"], 12);
    assert_eq!(compared["actions"][1]["candidate"]["execution"], 1);
    assert_eq!(compared["actions"][1]["plan"][0]["what"], "split");
    let stage = &compared["actions"][0]["stages"][0];
    assert_eq!(stage["base"]["duration_ms"]["max"], 25_899);
}

#[test]
fn a_comment_folds_its_details() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("comment.md");
    let output = sparkls(&[AQE_OFF, AQE_SPLIT, "--format", "md", "-o", file.to_str().unwrap()]);
    assert!(output.status.success() && output.stdout.is_empty());
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.starts_with("### faster\n\n2 min 33 s -> 39.7 s"), "{text}");
    assert!(text.contains("<details><summary>Settings that differ (6)</summary>"), "{text}");
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
}

#[test]
fn limits_without_a_unit_are_refused() {
    let log = fixture("runs/healthy-3.5.zst");
    let log = log.to_str().unwrap();
    for args in [["--max-runtime", "10"], ["--max-failed-task-rate", "0.01"], ["--max-spill", "much"]] {
        assert_eq!(sparkls(&[&[log, log], args.as_slice()].concat()).status.code(), Some(2));
    }
}

/// What must not be seen by others: in the logs below, and in the names of their files.
const SECRETS: [&str; 9] = ["acme", "lovelace", "hopper", "hush", "rders", "/srv", "s3a://", "app-2026", "missing"];

/// A run of 100 s, or more, with a SQL execution and a job that says all there is to redact.
fn log_with_secrets(number: u32, user: &str, task_ms: u32, failure: &str) -> String {
    let site = format!("collect at /srv/acme jobs {number}/orders.py:5{number}");
    let host = |task: u32| format!("worker-{}.acme.example", (task + number) % 3);
    let end = 1_000 + 10 * i64::from(task_ms);
    let plan = format!(
        r#"{{"nodeName":"Scan parquet /srv/{user}/hush","simpleString":"FileScan parquet [k#{number}L] Location: [s3a://acme/{user}]","children":[],"metadata":{{}},"metrics":[{{"name":"rows","accumulatorId":7,"metricType":"sum"}}]}}"#
    );
    let mut lines = vec![
        r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}"#.to_owned(),
        format!(
            r#"{{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{{"spark.app.name":"Orders of acme-{number}","spark.executor.memory":"{number}g","spark.brokers":"broker-{number}.acme.example:9092","spark.hadoop.fs.s3a.bucket.acme-hush.endpoint":"s3-{number}.acme.example","spark.yarn.dist.files":"s3a://hush/{user}-{number}.json","spark.driver.host":"worker-1.acme.example"}},"System Properties":{{"sun.java.command":"SparkSubmit /srv/orders.py","user.name":"{user}"}}}}"#
        ),
        format!(
            r#"{{"Event":"SparkListenerApplicationStart","App Name":"Orders of acme-{number}","App ID":"app-2026-{number}","Timestamp":1000,"User":"{user}"}}"#
        ),
        format!(
            r#"{{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":0,"description":"{site}","details":"","physicalPlanDescription":"","sparkPlanInfo":{plan},"time":1500}}"#
        ),
        format!(
            r#"{{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1500,"Stage IDs":[0],"Properties":{{"spark.sql.execution.id":"0","callSite.short":"{site}"}}}}"#
        ),
        format!(
            r#"{{"Event":"SparkListenerJobStart","Job ID":1,"Submission Time":1500,"Stage IDs":[1],"Properties":{{"callSite.short":"{site}"}}}}"#
        ),
    ];
    for stage in [0, 1] {
        let info = format!(
            r#""Stage ID":{stage},"Stage Attempt ID":0,"Stage Name":"{site}","Number of Tasks":8,"RDD Info":[{{"Name":"/srv/{user}/hush/part-{number}","Callsite":"{site}","Number of Partitions":8}}],"Parent IDs":[],"Details":"","Submission Time":1500"#
        );
        lines.push(format!(r#"{{"Event":"SparkListenerStageSubmitted","Stage Info":{{{info}}}}}"#));
        for task in 0..8 {
            lines.push(format!(
                r#"{{"Event":"SparkListenerTaskEnd","Stage ID":{stage},"Stage Attempt ID":0,"Task End Reason":{{"Reason":"Success"}},"Task Info":{{"Index":{task},"Launch Time":1500,"Executor ID":"{task}","Host":"{}","Finish Time":{}}},"Task Metrics":{{"Executor Run Time":{task_ms},"JVM GC Time":{}}}}}"#,
                host(task),
                1_500 + task_ms,
                task_ms / 10,
            ));
        }
        let ended = 1_500 + i64::from(task_ms);
        lines.push(format!(
            r#"{{"Event":"SparkListenerStageCompleted","Stage Info":{{{info},"Completion Time":{ended},"Accumulables":[{{"ID":{},"Name":"rows","Value":1}}]}}}}"#,
            if stage == 0 { 7 } else { 8 },
        ));
    }
    let result = match failure {
        "" => r#"{"Result":"JobSucceeded"}"#.to_owned(),
        _ => format!(r#"{{"Result":"JobFailed","Exception":{{"Message":"{failure}","Stack Trace":[]}}}}"#),
    };
    lines.push(format!(
        r#"{{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd","executionId":0,"time":{}}}"#,
        end - 200
    ));
    for job in [0, 1] {
        let time = end - 100;
        lines.push(format!(
            r#"{{"Event":"SparkListenerJobEnd","Job ID":{job},"Completion Time":{time},"Job Result":{result}}}"#
        ));
    }
    lines.push(format!(r#"{{"Event":"SparkListenerApplicationEnd","Timestamp":{end}}}"#));
    lines.join("\n") + "\n"
}

/// All numbers and no texts.
fn without_texts(value: &mut Value) {
    match value {
        Value::String(text) => text.clear(),
        Value::Array(items) => items.iter_mut().for_each(without_texts),
        Value::Object(fields) => fields.values_mut().for_each(without_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Numbers as words of their own: times, counts, ratios.
fn numbers(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|word| word.parse::<f64>().is_ok()).collect()
}

#[test]
fn a_redacted_comparison_can_be_shown_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let failure = "/srv/acme jobs 2/orders.py of hopper on worker-2.acme.example: broker-2.acme.example refused";
    for (name, log) in [
        ("orders-1", log_with_secrets(1, "lovelace", 10_000, "")),
        ("orders-2", log_with_secrets(2, "hopper", 20_000, failure)),
        ("orders-3", log_with_secrets(3, "lovelace", 9_000, "")),
    ] {
        std::fs::write(folder.path().join(name), log).unwrap();
    }
    let compare = |more: &[&str]| {
        let logs = ["orders-1", "orders-2", "missing", "orders-3"];
        let args = [&["compare", "--all", "--max-runtime", "1h"], more, &logs].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_sparkls")).args(args).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for format in ["text", "json", "md"] {
        let (shown, redacted) = (compare(&["--format", format]), compare(&["--format", format, "--redact"]));
        for secret in SECRETS {
            assert!(!redacted.contains(secret), "{secret} in {format}:\n{redacted}");
            // A file that can't be read is named on stderr, too; in the text form only there.
            let told = shown.contains(secret) || (secret, format) == ("missing", "text");
            assert!(told, "{secret} could not be seen in {format}:\n{shown}");
        }
        assert!(redacted.contains("path-") && redacted.contains("host-"), "{format}:\n{redacted}");
        assert_eq!(numbers(&shown), numbers(&redacted), "{format}:\n{shown}\n{redacted}");
    }
    let [mut shown, mut redacted] = [&["--format", "json"][..], &["--format", "json", "--redact"]]
        .map(|more| serde_json::from_str::<Value>(&compare(more)).unwrap());
    without_texts(&mut shown);
    without_texts(&mut redacted);
    assert_eq!(shown, redacted);
}
