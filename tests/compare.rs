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
