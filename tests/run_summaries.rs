//! What the rules say of a run that is only what a server tells through REST: never more than of its log.

#![allow(clippy::unwrap_used)]

mod run_builder;

use run_builder::judged::{LOGS, fired, judge, read, run_state, state};
use run_builder::{RunBuilder, join_plan, task};
use sparkls::rules::{MeasuredRun, State, Verdict};
use sparkls::run::Run;
use sparkls::run::model::{Job, PlanNode, StageKey, Task};
use sparkls::run::summary::Summary;

/// Tells of all jobs, stages, tasks and SQL executions.
fn whole() -> Summary {
    Summary { executions_missing: Some(0), ..Summary::default() }
}

/// The run as REST tells it.
fn told(mut run: Run, summary: Summary) -> Run {
    run.coverage.complete = false;
    run.coverage.summary = Some(summary);
    run.metric_totals.clear();
    for execution in run.executions.values_mut() {
        execution.plan = PlanNode::default();
        execution.modified_configs.clear();
        execution.driver_metrics.clear();
        execution.details = sparkls::run::Shared::default();
        execution.root = None;
    }
    for stage in run.stages.values_mut() {
        stage.accumulables.clear();
        stage.rdds.clear();
        stage.parents.clear();
    }
    run.jobs.values_mut().for_each(|job| job.call_stack = None);
    run
}

fn firing(run: &Run) -> Vec<Verdict> {
    judge(run).into_iter().filter(|verdict| verdict.is_fired() && verdict.rule != "log-coverage").collect()
}

#[test]
fn no_log_has_fewer_findings_than_its_summary() {
    let mut same = 0;
    for log in LOGS {
        let run = read(log);
        let of_log = firing(&run);
        for verdict in firing(&told(run, whole())) {
            let is_it = |other: &&Verdict| {
                (other.rule, &other.subject, &other.stages) == (verdict.rule, &verdict.subject, &verdict.stages)
            };
            let in_log = of_log.iter().find(is_it).unwrap_or_else(|| panic!("{log}: not in the log: {verdict:#?}"));
            assert_eq!(in_log.impact_s, verdict.impact_s, "{log}: {}", verdict.rule);
            assert_eq!(in_log.severity, verdict.severity, "{log}: {}", verdict.rule);
            same += 1;
        }
    }
    assert!(same > 20, "{same} findings need no plan");
}

#[test]
fn what_only_the_plan_tells_is_not_claimed() {
    // Advice on what stands in the plan, and how a stage that may read a shuffle is said to read files or an RDD.
    let of_plans = [
        "where the RDD is made",
        "without a shuffle",
        "where the rows are made",
        "largest input file",
        "spark.sql.shuffle.partitions",
        "merged the partitions",
        "columnar files",
        "AQE splits",
        "it splits shuffled joins only",
    ];
    for log in LOGS {
        let run = told(read(log), whole());
        let in_sql =
            |key: &StageKey| run.jobs.values().any(|job| job.execution.is_some() && job.stages.contains(&key.stage));
        for verdict in firing(&run).iter().filter(|verdict| verdict.stages.iter().any(in_sql)) {
            let said = format!("{verdict:?}");
            for words in of_plans {
                assert!(!said.contains(words), "{log}: {words}: {said}");
            }
        }
    }
}

#[test]
fn rules_on_plans_say_that_none_is_told() {
    let not_told = State::NotRecorded("SQL plan".to_owned());
    let mut builder = RunBuilder::new(4, 1, 100);
    builder.stage(1, (0..8).map(|index| task(index, if index == 0 { 30_000 } else { 1_000 })).collect());
    join_plan(&mut builder.run, 1, "Inner");
    let run = told(builder.run, whole());
    for rule in ["aqe-skew-gates", "broadcast-candidate", "python-udf-cost", "recomputed-source", "too-few-partitions"]
    {
        assert_eq!(state(&run, rule, 1), not_told, "{rule}");
    }
    for rule in ["small-files", "broadcast-oversized"] {
        assert_eq!(run_state(&run, rule), not_told, "{rule}");
    }
}

#[test]
fn one_task_of_an_rdd_is_one_task_unless_executions_are_missing() {
    let mut builder = RunBuilder::new(4, 1, 100);
    builder.stage(1, vec![task(0, 60_000)]);
    let of_no_job = told(builder.run.clone(), whole());
    assert_eq!(state(&of_no_job, "too-few-partitions", 1), State::NotRecorded("SQL plan".to_owned()));
    builder.run.jobs.insert(0, Job { stages: vec![1], ..Job::default() });
    assert_eq!(fired(&told(builder.run.clone(), whole()), "too-few-partitions").len(), 1);
    for lacking in [
        Summary { executions_missing: Some(1), ..whole() },
        Summary { executions_missing: None, ..whole() },
        Summary { jobs_missing: 1, ..whole() },
    ] {
        let run = told(builder.run.clone(), lacking);
        assert_eq!(state(&run, "too-few-partitions", 1), State::NotRecorded("SQL plan".to_owned()));
    }
}

#[test]
fn where_work_is_missing_nothing_is_said_of_the_whole_run() {
    for (log, rule) in [("driver_sleep-4.3", "driver-gap"), ("lost_work-3.5", "lost-work")] {
        let run = read(log);
        assert!(!fired(&told(run.clone(), whole()), rule).is_empty(), "{rule}");
        for lacking in [
            Summary { stages_missing: 1, ..whole() },
            Summary { tasks_missing: 1, ..whole() },
            Summary { jobs_missing: 1, ..whole() },
        ] {
            let why = State::NotRecorded("all jobs, stages and tasks".to_owned());
            assert_eq!(run_state(&told(run.clone(), lacking), rule), why, "{rule}");
        }
    }
}

#[test]
fn a_late_task_is_no_start_up_if_its_executor_may_have_run_more() {
    let mut builder = RunBuilder::new(4, 2, 100);
    let late = |index| Task { launch: 0, ..task(index, if index == 0 { 40_000 } else { 1_000 }) };
    builder.stage_on_hosts(1, &[8, 8], |_| 1_000);
    let stage = builder.run.stages.get_mut(&StageKey { stage: 1, attempt: 0 }).unwrap();
    let mut tasks = sparkls::run::model::Tasks::default();
    (0..16)
        .for_each(|index| tasks.push(Task { executor: (index % 2) as u16, host: (index % 2) as u16, ..late(index) }));
    stage.tasks = tasks;
    stage.completed = Some(40_000);
    let all = told(builder.run.clone(), whole());
    assert!(fired(&all, "straggler").iter().all(|verdict| !verdict.paintable));
    let run = told(builder.run, Summary { stages_missing: 3, ..whole() });
    let why = State::NotRecorded("whether its executor had ended a task before".to_owned());
    let is_unknown = state(&run, "straggler", 1) == why;
    assert_eq!(is_unknown, fired(&all, "straggler").iter().any(|verdict| verdict.message.contains("starting up")));
    assert!(is_unknown);
}

#[test]
fn coverage_says_that_it_is_no_log() {
    let run = told(read("healthy-3.5"), Summary { tasks_missing: 2, stages_missing: 1, ..whole() });
    let first = &judge(&run)[0];
    assert_eq!(first.rule, "log-coverage");
    assert!(first.is_fired() && first.short == "REST summary, not the log");
    let begin =
        "not the event log, but what the server tells through its REST API; 1 stage is missing; 2 tasks are missing; ";
    assert!(first.message.starts_with(begin), "{}", first.message);
    assert!(first.evidence.iter().all(|evidence| evidence.name != "events"));
    let measured = MeasuredRun { label: "app-1".to_owned(), run, ..MeasuredRun::default() };
    assert_eq!(measured.words(), "app-1 (Spark 3.5.9, REST summary, not the log)");
}
