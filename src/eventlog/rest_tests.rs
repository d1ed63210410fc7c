//! Answers that were recorded from servers, in `tests/fixtures/rest`.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use super::*;
use crate::run::model::{Outcome, StageKey};
use crate::run::stats::population;

const SKEWED: &str = "app-20261129223116-0005";

fn fixture(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

/// The file that holds the answer to a call.
fn file_of(call: &str) -> String {
    let (path, query) = call.split_once('?').unwrap_or((call, ""));
    let first_page = !query.contains("offset=") || query.contains("offset=0&");
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [_] => "application".to_owned(),
        [_, "stages", stage, attempt, "taskList"] if first_page => format!("tasks-{stage}-{attempt}"),
        [_, what] => (*what).to_owned(),
        _ => "none".to_owned(),
    }
}

fn recorded(server: &str, call: &str) -> io::Result<Vec<u8>> {
    fs::read(fixture("rest").join(server).join(file_of(call)).with_extension("json"))
}

fn run_of(ask: Ask<'_>) -> io::Result<Run> {
    read(Address { id: "app", attempt: None }, ask, "not found (404)", &mut |_| true)
}

fn told(server: &str) -> Run {
    run_of(&|call| recorded(server, call)).unwrap()
}

/// As recorded, but for the answer to one kind of call.
fn but(file: &str, answer: io::Result<&str>) -> io::Result<Run> {
    let answer = answer.map(|text| text.as_bytes().to_vec());
    run_of(&|call| match &answer {
        _ if file_of(call) != file => recorded("skewed-groupby", call),
        Ok(answer) => Ok(answer.clone()),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    })
}

#[test]
fn tasks_stages_and_jobs_are_those_of_the_log() {
    let told = told("skewed-groupby");
    let log = crate::eventlog::read(&fixture("eventlogs/skewed-groupby.zstd"), &mut |_| true).unwrap();
    assert_eq!(told.application.id.as_deref(), Some(SKEWED));
    assert_eq!((told.application.start, told.application.end), (log.application.start, log.application.end));
    assert_eq!((told.application.version, &told.application.name), (log.application.version, &log.application.name));
    assert_eq!(told.stages.keys().collect::<Vec<_>>(), log.stages.keys().collect::<Vec<_>>());
    for (key, stage) in &told.stages {
        let logged = &log.stages[key];
        assert_eq!((&stage.name, &stage.details), (&logged.name, &logged.details));
        assert_eq!((stage.submitted, stage.completed), (logged.submitted, logged.completed));
        assert_eq!((stage.task_count, &stage.call_site), (logged.task_count, &logged.call_site));
        assert_eq!(rows(&told, *key), rows(&log, *key), "{key:?}");
        assert!(stage.tasks.not_recorded.is_empty());
    }
    let jobs = |run: &Run| -> Vec<_> {
        let job = |job: &crate::run::model::Job| {
            let mut stages = job.stages.clone();
            stages.sort_unstable();
            (stages, job.submitted, job.completed, job.execution, job.call_site.clone(), job.failure.clone())
        };
        run.jobs.values().map(job).collect()
    };
    assert_eq!(jobs(&told), jobs(&log));
    let executions = |run: &Run| -> Vec<_> {
        run.executions.iter().map(|(id, one)| (*id, one.description.clone(), one.start, one.end)).collect()
    };
    assert_eq!(executions(&told), executions(&log));
    let executors = |run: &Run| -> Vec<_> {
        let named =
            |one: &crate::run::model::Executor| (one.id.clone(), one.cores, run.hosts[usize::from(one.host)].clone());
        let mut all: Vec<_> = run.executors.iter().map(named).collect();
        all.sort();
        all
    };
    assert_eq!(executors(&told), executors(&log));
}

/// All tasks of a stage with all that is kept of them, by partition.
fn rows(run: &Run, key: StageKey) -> Vec<String> {
    let tasks = &run.stages[&key].tasks;
    let row = |row: usize| {
        let flags = tasks.flags[row];
        let columns = [
            &tasks.index,
            &tasks.launch,
            &tasks.duration,
            &tasks.run_time,
            &tasks.gc_time,
            &tasks.deserialize_time,
            &tasks.fetch_wait,
            &tasks.read_bytes,
            &tasks.shuffle_read_bytes,
            &tasks.read_records,
            &tasks.shuffle_write_bytes,
            &tasks.spill_disk,
            &tasks.spill_memory,
            &tasks.result_bytes,
            &tasks.output_bytes,
        ];
        let numbers: Vec<u64> = columns.iter().map(|column| column.get(row)).collect();
        let host = &run.hosts[usize::from(tasks.host_of(row))];
        let executor = &run.executors[usize::from(tasks.executor_of(row))].id;
        format!("{numbers:?} {host} {executor} {:?} {:?}", flags.outcome(), flags.locality())
    };
    let mut rows: Vec<String> = (0..tasks.len()).map(row).collect();
    rows.sort();
    rows
}

#[test]
fn it_says_first_what_it_is() {
    let run = told("skewed-groupby");
    let coverage = &run.coverage;
    assert!(!coverage.complete && coverage.events == 0 && coverage.bytes > 10_000);
    assert_eq!((coverage.tasks_seen, coverage.tasks_expected), (19, 19));
    let whole = Summary { executions_missing: Some(0), ..Summary::default() };
    assert_eq!(
        coverage.summary,
        Some(whole),
        "its executions count from 7 on, as an earlier application ran in its JVM"
    );
    let [first, second] = coverage.notes.as_slice() else { panic!("{:?}", coverage.notes) };
    assert!(first.starts_with("Not the event log: ") && first.ends_with("not handed out: not found (404)"), "{first}");
    assert!(second.contains("no SQL plans") || second.contains("tells no SQL plans"), "{second}");
    assert!(run.executions.values().all(|execution| execution.plan.name.is_empty()));
}

#[test]
fn what_a_live_ui_forgot_is_missing_and_not_nothing() {
    let run = told("live");
    let summary = run.coverage.summary.clone().unwrap();
    assert_eq!(summary, Summary { jobs_missing: 1, stages_missing: 1, tasks_missing: 6, executions_missing: Some(0) });
    assert!(!summary.has_all_work() && !summary.has_all_executions());
    let notes = run.coverage.notes.join("\n");
    for word in ["jobs missing: 1", "stages missing: 1", "spark.ui.retainedStages", "stage 3 has 6 of 8 that ended"] {
        assert!(notes.contains(word), "{word} is not in {notes}");
    }
    let of = |stage| StageKey { stage, attempt: 0 };
    assert_eq!((run.stages[&of(3)].tasks.len(), run.stages[&of(3)].task_count), (6, 8));
    assert!(run.application.estimated && run.coverage.tasks_seen < run.coverage.tasks_expected);
}

#[test]
fn failed_tasks_say_what_failed() {
    let run = told("live");
    let stage = &run.stages[&StageKey { stage: 6, attempt: 0 }];
    assert!(population(&stage.tasks).is_empty());
    assert!(stage.tasks.flags.iter().all(|flags| flags.outcome() == Outcome::Failed));
    let [failure] = stage.failures.as_slice() else { panic!("{:?}", stage.failures) };
    assert_eq!(failure.class, "org.apache.spark.api.python.PythonException");
    assert_eq!((failure.message.as_str(), failure.tasks), ("ZeroDivisionError: integer division or modulo by zero", 2));
    assert!(stage.failure.as_deref().unwrap().starts_with("Job aborted due to stage failure: Task "));
    assert_eq!(run.jobs[&5].failure.as_deref(), Some("the server does not tell why"));
}

#[test]
fn reasons_are_read_out_of_what_spark_makes_of_them() {
    let tasks = r#"[
        {"index": 0, "launchTime": "2026-11-29T22:31:16.000GMT", "duration": 5, "executorId": "0", "host": "a", "status": "FAILED",
         "errorMessage": "FetchFailed(BlockManagerId(1, b, 1, None), shuffleId=0, mapIndex=0, mapId=0, reduceId=0, message=\norg.apache.spark.shuffle.FetchFailedException: gone\n)"},
        {"index": 1, "launchTime": "2026-11-29T22:31:16.000GMT", "duration": 5, "executorId": "0", "host": "a", "status": "FAILED",
         "errorMessage": "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command exited with code 137"},
        {"index": 2, "launchTime": "2026-11-29T22:31:16.000GMT", "duration": 5, "executorId": "0", "host": "a", "status": "KILLED",
         "errorMessage": "another attempt succeeded"},
        {"index": 3, "launchTime": "2026-11-29T22:31:16.000GMT", "duration": 5, "executorId": "0", "host": "a", "status": "FAILED"},
        {"index": 4, "launchTime": "2026-11-29T22:31:16.000GMT", "duration": 5, "executorId": "0", "host": "a", "status": "RUNNING"},
        {"index": 5, "launchTime": "2026-11-29T22:31:16.000GMT", "executorId": "0", "host": "a", "status": "SUCCESS"}
    ]"#;
    let run = but("tasks-2-0", Ok(tasks)).unwrap();
    let stage = &run.stages[&StageKey { stage: 2, attempt: 0 }];
    let outcomes: Vec<Outcome> = stage.tasks.flags.iter().map(|flags| flags.outcome()).collect();
    assert_eq!(outcomes, [Outcome::FetchFailed, Outcome::Failed, Outcome::Killed, Outcome::Failed]);
    let said: Vec<_> = stage.failures.iter().map(|one| (one.class.as_str(), one.message.as_str())).collect();
    assert_eq!(
        said,
        [
            ("FetchFailed", "org.apache.spark.shuffle.FetchFailedException: gone"),
            ("ExecutorLostFailure", "Command exited with code 137"),
            ("TaskKilled", "another attempt succeeded"),
            ("UnknownReason", ""),
        ]
    );
    // Without metrics there is nothing that says 0.
    assert!(stage.tasks.flags.iter().all(|flags| !flags.metrics()));
}

#[test]
fn a_metric_that_is_not_told_is_not_recorded() {
    let tasks = r#"[{"index": 0, "launchTime": "2026-11-29T22:32:41.000GMT", "duration": 5, "executorId": "0", "host": "a",
        "status": "SUCCESS", "taskMetrics": {"executorRunTime": 4, "inputMetrics": {"bytesRead": 7}}}]"#;
    let run = but("tasks-2-0", Ok(tasks)).unwrap();
    let missing = &run.stages[&StageKey { stage: 2, attempt: 0 }].tasks.not_recorded;
    assert!(missing.contains("Disk Bytes Spilled") && missing.contains("Input Metrics: Records Read"), "{missing:?}");
    assert!(!missing.contains("Executor Run Time") && !missing.contains("Input Metrics: Bytes Read"), "{missing:?}");
}

#[test]
fn a_server_that_does_not_know_of_sql_leaves_it_unknown() {
    let run = but("sql", Err(ErrorKind::NotFound.into())).unwrap();
    assert_eq!(run.coverage.summary.as_ref().unwrap().executions_missing, None);
    assert!(run.executions.is_empty() && run.jobs.values().all(|job| job.execution.is_none()));
    assert!(run.coverage.notes.iter().any(|note| note.starts_with("SQL executions are not told")));
}

#[test]
fn an_execution_that_runs_has_no_end() {
    let sql = r#"[{"id": 7, "status": "COMPLETED", "submissionTime": "2026-11-29T22:31:20.000GMT", "duration": 99999999,
        "successJobIds": [0]}, {"id": 8, "status": "RUNNING", "submissionTime": "2026-11-29T22:31:20.000GMT", "duration": 5}]"#;
    let mut running = recorded("skewed-groupby", "app").unwrap();
    running = String::from_utf8(running).unwrap().replace("\"completed\": true", "\"completed\": false").into_bytes();
    let run = run_of(&|call| match file_of(call).as_str() {
        "sql" => Ok(sql.as_bytes().to_vec()),
        "application" => Ok(running.clone()),
        _ => recorded("skewed-groupby", call),
    });
    let run = run.unwrap();
    assert!(run.executions.values().all(|execution| execution.end.is_none()));
    assert!(run.application.estimated && run.application.end < 1_795_991_616_414, "{}", run.application.end);
}

#[test]
fn spark_4_tells_more_of_an_execution() {
    let sql = r#"[{"id": 7, "status": "FAILED", "submissionTime": "2026-11-29T22:31:20.000GMT", "duration": 5, "failedJobIds": [0],
        "rootExecutionId": 6, "errorMessage": "[OUT] of luck\n at x", "modifiedConfigs": {"spark.sql.shuffle.partitions": "8"}},
        {"id": 8, "status": "FAILED", "submissionTime": "2026-11-29T22:31:20.000GMT", "duration": 5, "errorMessage": ""}]"#;
    let run = but("sql", Ok(sql)).unwrap();
    let execution = &run.executions[&7];
    assert_eq!((execution.root, execution.error.as_deref()), (Some(6), Some("[OUT] of luck")));
    assert_eq!(execution.modified_configs["spark.sql.shuffle.partitions"], "8");
    assert_eq!(run.jobs[&0].execution, Some(7));
    assert_eq!(run.executions[&8].error.as_deref(), Some("the server does not tell why"));
}

#[test]
fn a_job_that_python_named_has_its_line() {
    let run = told("live");
    assert_eq!(run.jobs[&3].call_site.as_deref(), Some("sum at /srv/jobs/live.py:23"));
    let log = crate::eventlog::read(&fixture("eventlogs/slow-host.zstd"), &mut |_| true).unwrap();
    assert_eq!(log.jobs[&4].call_site.as_deref(), Some("sum at /srv/jobs/slow_host/job.py:23"), "as in a log");
}

#[test]
fn what_is_no_answer_of_the_api_is_an_error() {
    for (file, answer) in
        [("jobs", "{\"error\": 1}"), ("stages", "[1]"), ("application", "<p>Log in"), ("environment", "")]
    {
        let error = but(file, Ok(answer)).unwrap_err().to_string();
        assert!(error.starts_with("no History Server: "), "{file}: {error}");
    }
    let error = but("stages", Err(io::Error::new(ErrorKind::PermissionDenied, "access refused (403)"))).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::PermissionDenied, "access refused (403)"));
    // No answer of any shape is a panic.
    for file in ["application", "environment", "allexecutors", "jobs", "stages", "sql", "tasks-0-0"] {
        for answer in
            ["[]", "{}", "[{}]", "[[]]", "null", "[null]", "{\"attempts\": [{}]}", "[{\"stageId\": -1, \"jobId\": []}]"]
        {
            let _ = but(file, Ok(answer));
        }
    }
}

#[test]
fn many_tasks_come_page_by_page_and_reading_can_stop() {
    let page = |offset: usize, length: usize| {
        let task = |index: usize| {
            format!(
                r#"{{"index": {index}, "launchTime": "2026-11-29T22:32:41.000GMT", "duration": 5, "executorId": "0", "host": "a", "status": "SUCCESS"}}"#
            )
        };
        let tasks: Vec<String> = (offset..(offset + length).min(TASKS * 2 + 1)).map(task).collect();
        format!("[{}]", tasks.join(",")).into_bytes()
    };
    let calls = RefCell::new(Vec::new());
    let ask = |call: &str| {
        if !call.contains("stages/2/0/taskList") {
            return recorded("skewed-groupby", call);
        }
        calls.borrow_mut().push(call.to_owned());
        let offset = call.split_once("offset=").unwrap().1.split('&').next().unwrap().parse().unwrap();
        Ok(page(offset, TASKS))
    };
    let run = run_of(&ask).unwrap();
    assert_eq!(run.stages[&StageKey { stage: 2, attempt: 0 }].tasks.len(), TASKS * 2 + 1);
    assert_eq!(calls.borrow().len(), 3);
    let mut reports = 0;
    let stopped = read(Address { id: "app", attempt: None }, &ask, "", &mut |read| {
        reports += 1;
        assert!(read.done > 0);
        reports < 4
    });
    assert_eq!((stopped.unwrap_err().kind(), reports), (ErrorKind::Interrupted, 4));
}
