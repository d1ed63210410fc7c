//! Events, line by line, and the run they make.

use super::*;
use crate::catalog::SparkVersion;
use crate::run::Column;

/// A run of these lines, all of them good.
fn run(lines: &[&str]) -> Run {
    let mut builder = Builder::default();
    for line in lines {
        assert_eq!(builder.line(line.as_bytes()), Ok(()), "{line}");
    }
    builder.finish()
}

fn app_start(id: &str, attempt: &str, time: i64) -> String {
    format!(
        r#"{{"Event":"SparkListenerApplicationStart","App Name":"job","App ID":"{id}","App Attempt ID":"{attempt}","Timestamp":{time}}}"#
    )
}

fn task(stage: u32, index: u32, host: &str, launch: i64, finish: i64) -> String {
    format!(
        r#"{{"Event":"SparkListenerTaskEnd","Stage ID":{stage},"Stage Attempt ID":0,"Task End Reason":{{"Reason":"Success"}},"Task Info":{{"Index":{index},"Launch Time":{launch},"Executor ID":"1","Host":"{host}","Finish Time":{finish}}},"Task Metrics":{{"Executor Run Time":7}}}}"#
    )
}

fn stage(event: &str, id: u32, tasks: u32, more: &str) -> String {
    format!(
        r#"{{"Event":"SparkListenerStage{event}","Stage Info":{{"Stage ID":{id},"Stage Attempt ID":0,"Stage Name":"n","Number of Tasks":{tasks},"RDD Info":[{{"Name":"R","Scope":"{{\"id\":\"1\",\"name\":\"Exchange\"}}","Callsite":"c","Number of Partitions":3}}],"Parent IDs":[4],"Details":"d","Submission Time":1000{more}}}}}"#
    )
}

fn plan(accumulator: i64) -> String {
    format!(
        r#"{{"nodeName":"Scan","simpleString":"s","children":[],"metadata":{{}},"metrics":[{{"name":"rows","accumulatorId":{accumulator},"metricType":"sum"}}]}}"#
    )
}

fn values(column: &Column) -> Vec<u64> {
    column.iter().collect()
}

const KEY: StageKey = StageKey { stage: 0, attempt: 0 };

#[test]
fn application_and_environment() {
    let run = run(&[
        r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}"#,
        r#"{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.app.name":"job","spark.my.secret":"x"},"System Properties":{"sun.java.command":"SparkSubmit job.py","user.name":"u"}}"#,
        &app_start("app-1", "1", 1000),
        r#"{"Event":"SparkListenerApplicationEnd","Timestamp":9000}"#,
    ]);
    let application = &run.application;
    assert_eq!((application.id.as_deref(), application.attempt.as_deref()), (Some("app-1"), Some("1")));
    assert_eq!(application.version, Some(SparkVersion::new(3, 5, 9)));
    assert_eq!((application.start, application.end, application.estimated), (1000, 9000, false));
    assert_eq!(application.command.as_deref(), Some("SparkSubmit job.py"));
    assert_eq!(run.conf["spark.my.secret"], names::REDACTED);
    assert!(run.coverage.complete);
}

#[test]
fn times_are_estimated_without_start_and_end() {
    let run = run(&[&task(0, 0, "h", 5000, 6000), &task(0, 1, "h", 4000, 8000)]);
    assert_eq!((run.application.start, run.application.end, run.application.estimated), (4000, 8000, true));
    let tasks = &run.stages[&KEY].tasks;
    assert_eq!((values(&tasks.launch), values(&tasks.duration)), (vec![1000, 0], vec![1000, 4000]));
    assert!(!run.coverage.complete);
}

#[test]
fn jobs_and_executions_without_an_end_stay_open() {
    let execution = format!(
        r#"{{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":3,"description":"d","physicalPlanDescription":"","sparkPlanInfo":{},"time":1500}}"#,
        plan(1)
    );
    let run = run(&[
        &app_start("a", "1", 1000),
        &execution,
        r#"{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":2000,"Stage IDs":[0],"Properties":{"spark.sql.execution.id":"3"}}"#,
        &task(0, 0, "h", 2000, 7000),
    ]);
    assert_eq!((run.jobs[&0].submitted, run.jobs[&0].completed), (Some(2000), None));
    assert_eq!((run.executions[&3].start, run.executions[&3].end), (1500, None));
    // The last event stands in for the end, and is said to.
    assert_eq!((run.application.end, run.application.estimated, run.coverage.complete), (7000, true, false));
}

#[test]
fn an_executor_years_off_does_not_make_the_run_long() {
    let executor = |event: &str, time: i64| {
        format!(
            r#"{{"Event":"SparkListenerExecutor{event}","Timestamp":{time},"Executor ID":"1","Executor Info":{{"Host":"h","Total Cores":4}}}}"#
        )
    };
    let day = 24 * HOUR;
    let (added, removed) = (executor("Added", 900 * day), executor("Removed", 901 * day));
    let span = |lines: &[&str]| {
        let application = run(lines).application;
        assert!(application.estimated);
        (application.start, application.end)
    };
    assert_eq!(
        span(&[&added, &app_start("a", "1", day), &task(0, 0, "h", day + 5, day + 9), &removed]),
        (day, day + 9)
    );
    assert_eq!(span(&[&added, &task(0, 0, "h", day + 5, day + 9)]), (day + 5, day + 9));
    assert_eq!(span(&[&added, &removed]), (900 * day, 901 * day), "nothing else has a time");
}

#[test]
fn times_of_zero_and_less_are_not_recorded() {
    let run = run(&[
        &app_start("a", "1", 0),
        &task(0, 0, "h", 5000, 6000),
        &task(0, 1, "h", -1, 0),
        r#"{"Event":"SparkListenerJobStart","Job ID":3,"Submission Time":-1,"Stage IDs":[0]}"#,
        r#"{"Event":"SparkListenerApplicationEnd","Timestamp":0}"#,
    ]);
    assert_eq!((run.application.start, run.application.end, run.application.estimated), (5000, 6000, true));
    assert_eq!(run.jobs[&3].submitted, None);
}

#[test]
fn a_run_without_any_time_has_no_duration() {
    let run = run(&[&app_start("a", "1", 0), r#"{"Event":"SparkListenerApplicationEnd"}"#]);
    assert_eq!((crate::run::slots::run_time(&run), run.application.estimated), (None, true));
    assert!(run.coverage.complete);
}

#[test]
fn launches_count_from_the_first_instant() {
    let launches = |lines: &[&str]| {
        let run = run(lines);
        (run.application.start, values(&run.stages[&KEY].tasks.launch))
    };
    let day = 24 * HOUR;
    let start = app_start("a", "1", 90 * day);
    let at = |time: i64| task(0, 0, "h", time, time + 1);
    // A clock two seconds behind, a clock at its epoch, a launch that was not recorded.
    assert_eq!(
        launches(&[&start, &at(90 * day + 50), &at(90 * day - 2000), &at(7), &at(0)]),
        (90 * day - 2000, vec![2050, 0, 0, 0])
    );
    let falling: Vec<String> = (0..20_000).rev().map(|step| at(day + step)).collect();
    let falling: Vec<&str> = falling.iter().map(String::as_str).collect();
    let (start, launches) = launches(&falling);
    assert_eq!((start, launches[0], launches[19_999]), (day, 19_999, 0));
}

#[test]
fn a_stage_its_tasks_and_its_call_site() {
    let run = run(&[
        &app_start("a", "1", 500),
        r#"{"Event":"SparkListenerJobStart","Job ID":3,"Submission Time":900,"Stage IDs":[0,7],"Properties":{"spark.sql.execution.id":"12","callSite.short":"count at job.py:3","spark.job.description":"d","spark.jobGroup.id":"g"}}"#,
        &stage("Submitted", 0, 2, ""),
        &task(0, 1, "H:7337", 1100, 1600),
        &task(0, 0, "h", 1100, 0),
        &stage("Completed", 0, 2, r#","Completion Time":2000,"Accumulables":[]"#),
        // A task that ends after its stage: the loser of a race, or an event that came late.
        &task(0, 1, "h", 1200, 2100),
        r#"{"Event":"SparkListenerJobEnd","Job ID":3,"Completion Time":2000,"Job Result":{"Result":"JobFailed","Exception":{"Message":"boom\nmore"}}}"#,
    ]);
    let stage = &run.stages[&KEY];
    assert_eq!((stage.task_count, stage.submitted, stage.completed), (2, Some(1000), Some(2000)));
    assert_eq!(stage.call_site.as_deref(), Some("count at job.py:3"));
    assert_eq!(stage.rdds[0].scope.as_deref(), Some("Exchange"));
    assert_eq!(stage.tasks.len(), 3);
    assert_eq!(values(&stage.tasks.duration), [500, 7, 900], "without a finish the run time counts");
    assert_eq!(run.hosts, ["h"]);
    assert!(
        stage.tasks.not_recorded.contains("JVM GC Time") && !stage.tasks.not_recorded.contains("Executor Run Time")
    );
    assert!(!run.stages.contains_key(&StageKey { stage: 7, attempt: 0 }), "a skipped stage did not run");
    let job = &run.jobs[&3];
    assert_eq!((job.execution, job.group.as_deref(), job.failure.as_deref()), (Some(12), Some("g"), Some("boom")));
    assert_eq!((run.coverage.tasks_seen, run.coverage.tasks_expected), (2, 2));
}

#[test]
fn the_last_plan_of_an_execution_and_its_metrics() {
    let start = format!(
        r#"{{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":41,"rootExecutionId":40,"description":"count","details":"d","physicalPlanDescription":"\"sparkPlanInfo\":{{}}","sparkPlanInfo":{},"time":1000,"modifiedConfigs":{{"spark.sql.shuffle.partitions":"8","spark.token":"x"}}}}"#,
        plan(1)
    );
    let update = |accumulator| {
        format!(
            r#"{{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate","executionId":41,"physicalPlanDescription":"p","sparkPlanInfo":{}}}"#,
            plan(accumulator)
        )
    };
    let accumulables = r#","Completion Time":2000,"Accumulables":[{"ID":3,"Name":"rows","Value":"12"},{"ID":2,"Name":"rows","Value":"5"},{"ID":9,"Name":"mine","Value":{"a":[]}},{"ID":8,"Name":"internal.metrics.x","Value":1}]"#;
    let run = run(&[
        &start,
        &update(2),
        &update(3),
        &stage("Completed", 0, 0, accumulables),
        r#"{"Event":"org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates","executionId":41,"accumUpdates":[[3,30],[4,"40"],[5]]}"#,
        r#"{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd","executionId":41,"time":3000,"errorMessage":"bad\nworse"}"#,
    ]);
    let execution = &run.executions[&41];
    assert_eq!((execution.root, execution.start, execution.end), (Some(40), 1000, Some(3000)));
    assert_eq!(execution.plan.metrics[0].accumulator, 3);
    assert_eq!(execution.modified_configs["spark.sql.shuffle.partitions"], "8");
    assert_eq!(execution.modified_configs["spark.token"], names::REDACTED);
    assert_eq!(execution.error.as_deref(), Some("bad"));
    assert_eq!(execution.driver_metrics.iter().collect::<Vec<_>>(), [(&3, &30), (&4, &40)]);
    assert_eq!(run.stages[&KEY].accumulables, [3]);
    assert_eq!(run.metric_totals.iter().collect::<Vec<_>>(), [(&3, &12)]);
}

#[test]
fn executors_known_and_unknown() {
    let run = run(&[
        r#"{"Event":"SparkListenerExecutorAdded","Timestamp":100,"Executor ID":"7","Executor Info":{"Host":"[FE80::1]:1","Total Cores":4}}"#,
        &task(0, 0, "fe80::1", 200, 300),
        r#"{"Event":"SparkListenerExecutorRemoved","Timestamp":900,"Executor ID":"7","Removed Reason":"idle"}"#,
        r#"{"Event":"SparkListenerExecutorRemoved","Timestamp":900,"Executor ID":"99","Removed Reason":"never seen"}"#,
    ]);
    let [added, unknown] = run.executors.as_slice() else { panic!("{:?}", run.executors) };
    assert_eq!((added.id.as_str(), added.cores, added.added, added.removed), ("7", Some(4), Some(100), Some(900)));
    assert_eq!((unknown.id.as_str(), unknown.cores, unknown.added), ("1", None, None));
    assert_eq!(run.hosts, ["fe80::1"]);
}

#[test]
fn of_several_attempts_the_last_is_the_run() {
    let added = |id: &str| {
        format!(
            r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":60,"Executor ID":"{id}","Executor Info":{{"Host":"h{id}","Total Cores":4}}}}"#
        )
    };
    let start = r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}"#;
    let run = run(&[
        start,
        &added("0"),
        &app_start("a", "1", 50),
        &app_start("a", "1", 50),
        &task(0, 0, "old", 55, 58),
        start,
        &added("1"),
        &app_start("a", "2", 70),
        &task(5, 0, "h1", 80, 90),
    ]);
    assert_eq!(run.application.attempt.as_deref(), Some("2"));
    assert_eq!(run.stages.keys().map(|key| key.stage).collect::<Vec<_>>(), [5]);
    assert_eq!(run.executors.iter().map(|executor| executor.id.as_str()).collect::<Vec<_>>(), ["1"]);
    assert_eq!(run.hosts, ["h1"]);
    assert_eq!(run.coverage.notes, ["2 attempts in the log; this is the last"]);
}

#[test]
fn holes_make_open_stages_partial() {
    let mut builder = Builder::default();
    for line in
        [stage("Submitted", 0, 2, ""), stage("Completed", 1, 1, r#","Completion Time":9"#), task(0, 0, "h", 1, 2)]
    {
        builder.line(line.as_bytes()).unwrap();
    }
    builder.hole();
    for line in [task(2, 0, "h", 3, 4), stage("Submitted", 3, 1, ""), task(3, 0, "h", 5, 6)] {
        builder.line(line.as_bytes()).unwrap();
    }
    let run = builder.finish();
    let partial: Vec<u32> = run.stages.iter().filter(|(_, stage)| stage.partial).map(|(key, _)| key.stage).collect();
    assert_eq!(partial, [0, 2]);
}

#[test]
fn failed_tasks_say_why_once() {
    let failed = |message: &str| {
        task(0, 0, "h", 1, 2).replace(
            r#""Reason":"Success""#,
            &format!(r#""Reason":"ExceptionFailure","Class Name":"X","Description":"{message}""#),
        )
    };
    let run = run(&[&failed("a\\nb"), &failed("a"), &failed("c")]);
    let failures: Vec<_> = run.stages[&KEY].failures.iter().map(|one| (one.message.as_str(), one.tasks)).collect();
    assert_eq!(failures, [("a", 2), ("c", 1)]);
}

fn block_manager(executor: &str, bytes: &str) -> String {
    format!(
        r#"{{"Event":"SparkListenerBlockManagerAdded","Block Manager ID":{{"Executor ID":"{executor}","Host":"h","Port":1}},"Maximum Memory":{bytes},"Timestamp":5,"Maximum Onheap Memory":{bytes},"Maximum Offheap Memory":0}}"#
    )
}

fn peaks(executor: &str, heap: u64, on_heap: u64, off_heap: u64) -> String {
    format!(
        r#"{{"Event":"SparkListenerStageExecutorMetrics","Executor ID":"{executor}","Stage ID":0,"Stage Attempt ID":0,"Executor Metrics":{{"JVMHeapMemory":{heap},"OnHeapStorageMemory":{on_heap},"OffHeapStorageMemory":{off_heap}}}}}"#
    )
}

#[test]
fn storage_memory_is_what_there_is_and_what_was_used_at_the_peak() {
    let run = run(&[
        &app_start("a", "1", 1000),
        // The driver has a block manager and peaks, and is no executor; the executor is not known yet.
        &block_manager("driver", "7"),
        &block_manager("1", "400"),
        &task(0, 0, "h", 2000, 3000),
        &peaks("driver", 9, 9, 0),
        &peaks("1", 9, 100, 20),
    ]);
    assert_eq!(run.executors.iter().map(|one| one.storage_memory).collect::<Vec<_>>(), [Some(400)]);
    assert_eq!(run.stages[&KEY].storage_peaks, [StoragePeak { executor: 0, bytes: 120 }]);
    // It says nothing of when the application ran.
    assert_eq!((run.application.start, run.application.end), (1000, 3000));
}

#[test]
fn storage_memory_that_was_not_measured_is_not_recorded() {
    let without_peak = |line: &str| {
        let run = run(&[&task(0, 0, "h", 2000, 3000), line]);
        assert_eq!(run.stages.len(), 1);
        assert!(run.stages[&KEY].storage_peaks.is_empty(), "{line}");
        run.executors[0].storage_memory
    };
    // Nothing was looked at while the stage ran: Spark then writes zeros.
    assert_eq!(without_peak(&peaks("1", 0, 0, 0)), None);
    assert_eq!(without_peak(&peaks("2", 9, 1, 1)), None, "an executor that ran nothing");
    for metrics in ["{}", "null", "[]", r#"{"JVMHeapMemory":9}"#, r#"{"JVMHeapMemory":9,"OnHeapStorageMemory":"much"}"#]
    {
        let line = format!(
            r#"{{"Event":"SparkListenerStageExecutorMetrics","Executor ID":"1","Stage ID":0,"Executor Metrics":{metrics}}}"#
        );
        assert_eq!(without_peak(&line), None);
    }
    assert_eq!(without_peak(&block_manager("1", "null")), None);
    assert_eq!(without_peak(&block_manager("1", "-1")), Some(0));
    let other_stage = peaks("1", 9, 1, 1).replace("\"Stage ID\":0", "\"Stage ID\":3");
    assert_eq!(without_peak(&other_stage), None, "a stage that is not in the log");
}

#[test]
fn unknown_events_are_counted_and_bad_lines_are_told() {
    let mut builder = Builder::default();
    for line in [r#"{"Event":"com.vendor.Thing","x":1}"#, r#"{"x":1,"Event":"com.vendor.Thing"}"#] {
        assert_eq!(builder.line(line.as_bytes()), Ok(()));
    }
    for line in [r#"{"Event":"SparkListenerTaskEnd"}"#, r#"{"Event":"SparkListenerJobStart","Job ID":"#, "[]", "{}"] {
        assert_eq!(builder.line(line.as_bytes()), Err(BadLine), "{line}");
    }
    assert_eq!(builder.finish().coverage.unknown_events["Thing"], 2);
}

#[test]
fn text_that_is_not_utf8_is_read_as_far_as_it_goes() {
    let mut builder = Builder::default();
    let line =
        [b"{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"caf\xe9\",\"Timestamp\":5}".as_slice()].concat();
    assert_eq!(builder.line(&line), Ok(()));
    assert_eq!(builder.finish().application.name.as_deref(), Some("caf\u{fffd}"));
}

#[test]
fn retried_stages_are_told_apart_and_may_lack_their_first_attempt() {
    let again = |line: String| line.replace(r#""Stage Attempt ID":0"#, r#""Stage Attempt ID":1"#);
    let run = run(&[
        &stage("Submitted", 0, 1, ""),
        &task(0, 0, "h", 1100, 1600),
        &stage("Completed", 0, 1, r#","Completion Time":1700,"Failure Reason":"FetchFailed\nmore""#),
        &again(stage("Submitted", 0, 1, "")),
        &again(task(0, 0, "h", 1800, 1900)),
        &again(stage("Submitted", 6, 1, "")),
    ]);
    let tasks: Vec<_> = run.stages.iter().map(|(key, stage)| (key.stage, key.attempt, stage.tasks.len())).collect();
    assert_eq!(tasks, [(0, 0, 1), (0, 1, 1), (6, 1, 0)]);
    assert_eq!(run.stages[&KEY].failure.as_deref(), Some("FetchFailed"));
}

#[test]
fn properties_of_jobs_are_not_kept() {
    let run = run(&[
        r#"{"Event":"SparkListenerJobStart","Job ID":3,"Stage IDs":[0],"Properties":{"spark.hadoop.fs.s3a.secret.key":"hunter2","my.word":"hunter2"}}"#,
        r#"{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":0},"Properties":{"my.word":"hunter2"}}"#,
    ]);
    assert_eq!((run.jobs[&3].submitted, run.jobs[&3].completed), (None, None), "not recorded");
    assert!(!format!("{run:?}").contains("hunter2"));
}
