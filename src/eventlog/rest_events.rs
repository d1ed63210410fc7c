//! What a REST API answers, said again as the events that Spark would have logged: there is one way to build a run.

use serde_json::{Map, Value, json};

use super::lenient::{Number, Text};
use super::rest_answers::{
    Application, Attempt, Environment, Execution, Executor, Job, Stage, Task, TaskMetrics, millis,
};
use crate::run::keys::names_python;

fn text<'a>(text: &'a Text<'_>) -> Option<&'a str> {
    text.0.as_deref()
}

/// A time that is not recorded is left out, as a log does.
fn with(mut event: Value, key: &str, value: Option<impl Into<Value>>) -> Value {
    if let (Some(fields), Some(value)) = (event.as_object_mut(), value) {
        fields.insert(key.to_owned(), value.into());
    }
    event
}

/// The version, the start of the attempt and, if it ended, its end.
pub(super) fn application(application: &Application<'_>, attempt: &Attempt<'_>) -> (Vec<Value>, Option<Value>) {
    let version = text(&attempt.app_spark_version).filter(|version| !version.is_empty());
    let log_start = version.map(|version| json!({"Event": "SparkListenerLogStart", "Spark Version": version}));
    let start = json!({
        "Event": "SparkListenerApplicationStart",
        "App Name": text(&application.name),
        "App ID": text(&application.id),
        "Timestamp": millis(&attempt.start_time),
        "User": text(&attempt.spark_user),
    });
    let start = with(start, "App Attempt ID", text(&attempt.attempt_id));
    let end = attempt
        .completed
        .0
        .then(|| json!({"Event": "SparkListenerApplicationEnd", "Timestamp": millis(&attempt.end_time)}));
    (log_start.into_iter().chain([start]).collect(), end)
}

/// The settings.
pub(super) fn environment(environment: &Environment<'_>) -> Value {
    let pairs = |list: &[Vec<Text<'_>>]| -> Map<String, Value> {
        let pair = |pair: &Vec<Text<'_>>| match pair.as_slice() {
            [key, value] => Some((text(key)?.to_owned(), Value::from(text(value)?))),
            _ => None,
        };
        list.iter().filter_map(pair).collect()
    };
    json!({
        "Event": "SparkListenerEnvironmentUpdate",
        "Spark Properties": pairs(&environment.spark_properties),
        "System Properties": pairs(&environment.system_properties),
    })
}

/// That an executor came and, if it did, that it went. The driver of a cluster is listed among them, without cores.
pub(super) fn executor(executor: &Executor<'_>) -> Vec<Value> {
    let Some(id) = text(&executor.id).filter(|&id| id != "driver" || executor.total_cores.0 > Some(0)) else {
        return Vec::new();
    };
    let host = text(&executor.host_port).map(|address| match address.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => address,
    });
    let added = json!({
        "Event": "SparkListenerExecutorAdded",
        "Timestamp": millis(&executor.add_time),
        "Executor ID": id,
        "Executor Info": {"Host": host, "Total Cores": executor.total_cores.0},
    });
    let removed = millis(&executor.remove_time).map(|time| {
        json!({
            "Event": "SparkListenerExecutorRemoved",
            "Timestamp": time,
            "Executor ID": id,
            "Removed Reason": text(&executor.remove_reason),
        })
    });
    std::iter::once(added).chain(removed).collect()
}

/// The start of a job and, if it ended, its end. Why a job failed is not told.
pub(super) fn job(job: &Job<'_>, execution: Option<i64>) -> Vec<Value> {
    let mut properties = json!({});
    let execution = execution.map(|id| id.to_string());
    // A name that is a line of Python was given by Python; others are made of the JVM's stack, and stand in the stage, too.
    let site = text(&job.name).filter(|name| names_python(name));
    for (key, value) in [
        ("spark.sql.execution.id", execution.as_deref()),
        ("callSite.short", site),
        ("spark.job.description", text(&job.description)),
        ("spark.jobGroup.id", text(&job.job_group)),
    ] {
        properties = with(properties, key, value);
    }
    let start = json!({
        "Event": "SparkListenerJobStart",
        "Job ID": job.job_id.0,
        "Submission Time": millis(&job.submission_time),
        "Stage IDs": job.stage_ids.iter().map(|id| id.0).collect::<Vec<_>>(),
        "Properties": properties,
    });
    let result = match text(&job.status) {
        Some("FAILED") => json!({"Result": "JobFailed", "Exception": {"Message": "the server does not tell why"}}),
        _ => json!({"Result": "JobSucceeded"}),
    };
    let end = millis(&job.completion_time).map(|time| {
        json!({"Event": "SparkListenerJobEnd", "Job ID": job.job_id.0, "Completion Time": time, "Job Result": result})
    });
    std::iter::once(start).chain(end).collect()
}

/// That a stage was submitted, or that it completed.
pub(super) fn stage(stage: &Stage<'_>, event: StageEvent) -> Value {
    let mut info = json!({
        "Stage ID": stage.stage_id.0,
        "Stage Attempt ID": stage.attempt_id.0,
        "Stage Name": text(&stage.name),
        "Number of Tasks": stage.num_tasks.0,
        "Details": text(&stage.details),
    });
    info = with(info, "Submission Time", millis(&stage.submission_time));
    let name = match event {
        StageEvent::Submitted => "SparkListenerStageSubmitted",
        StageEvent::Completed => {
            info = with(info, "Completion Time", millis(&stage.completion_time));
            let failed = text(&stage.status) == Some("FAILED");
            info = with(info, "Failure Reason", text(&stage.failure_reason).or(failed.then_some("not told")));
            "SparkListenerStageCompleted"
        }
    };
    json!({"Event": name, "Stage Info": info})
}

/// Which of a stage's two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StageEvent {
    Submitted,
    Completed,
}

/// When a task ended, as far as that is told.
pub(super) fn finish(task: &Task<'_>) -> Option<i64> {
    millis(&task.launch_time)?.checked_add(task.duration.0?)
}

/// That a task ended; `None` if it runs, or if how long it took is not told.
pub(super) fn task(task: &Task<'_>, stage: &Stage<'_>) -> Option<Value> {
    let message = text(&task.error_message).unwrap_or_default();
    let reason = match text(&task.status)? {
        "SUCCESS" => json!({"Reason": "Success"}),
        "KILLED" => json!({"Reason": "TaskKilled", "Kill Reason": message}),
        "FAILED" => failure(message),
        _ => return None,
    };
    let (launch, finish) = (millis(&task.launch_time)?, finish(task)?);
    let event = json!({
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage.stage_id.0,
        "Stage Attempt ID": stage.attempt_id.0,
        "Task End Reason": reason,
        "Task Info": {
            "Index": task.index.0,
            "Launch Time": launch,
            "Executor ID": text(&task.executor_id),
            "Host": text(&task.host),
            "Locality": text(&task.task_locality),
            "Speculative": task.speculative.0,
            "Finish Time": finish,
            "Accumulables": [],
        },
    });
    Some(with(event, "Task Metrics", task.task_metrics.as_ref().map(metrics)))
}

fn metrics(metrics: &TaskMetrics) -> Value {
    let shuffle = &metrics.shuffle_read_metrics;
    json!({
        "Executor Deserialize Time": metrics.executor_deserialize_time.0,
        "Executor Run Time": metrics.executor_run_time.0,
        "Result Size": metrics.result_size.0,
        "JVM GC Time": metrics.jvm_gc_time.0,
        "Memory Bytes Spilled": metrics.memory_bytes_spilled.0,
        "Disk Bytes Spilled": metrics.disk_bytes_spilled.0,
        "Shuffle Read Metrics": {
            "Fetch Wait Time": shuffle.fetch_wait_time.0,
            "Remote Bytes Read": shuffle.remote_bytes_read.0,
            "Local Bytes Read": shuffle.local_bytes_read.0,
            "Total Records Read": shuffle.records_read.0,
        },
        "Shuffle Write Metrics": {"Shuffle Bytes Written": metrics.shuffle_write_metrics.bytes_written.0},
        "Input Metrics": {
            "Bytes Read": metrics.input_metrics.bytes_read.0,
            "Records Read": metrics.input_metrics.records_read.0,
        },
        "Output Metrics": {"Bytes Written": metrics.output_metrics.bytes_written.0},
    })
}

/// The end reason of a failed task out of the text that Spark made of it.
fn failure(message: &str) -> Value {
    let first = message.lines().next().unwrap_or_default();
    if let Some(rest) = message.strip_prefix("FetchFailed(") {
        let said = rest.split_once("message=").map_or(rest, |(_, said)| said.trim_start());
        return json!({"Reason": "FetchFailed", "Message": said});
    }
    if first.starts_with("ExecutorLostFailure") {
        let said = first.split_once("Reason: ").map_or(first, |(_, said)| said);
        return json!({"Reason": "ExecutorLostFailure", "Loss Reason": said});
    }
    let class = |name: &&str| name.contains('.') && !name.contains(char::is_whitespace);
    match message.split_once(": ").filter(|(name, _)| class(name)) {
        Some((name, said)) => json!({"Reason": "ExceptionFailure", "Class Name": name, "Description": said}),
        // `TaskResultLost (…)`, `Resubmitted (…)`, or a class that says no more.
        None => {
            let kind = first.split([' ', ':']).next().filter(|kind| !kind.is_empty()).unwrap_or("UnknownReason");
            json!({"Reason": kind, "Message": first})
        }
    }
}

/// The start of a SQL execution and, if it ended before `until`, its end: of one that runs the duration is that until now.
pub(super) fn execution(execution: &Execution<'_>, until: i64) -> Vec<Value> {
    let started = millis(&execution.submission_time);
    let start = json!({
        "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
        "executionId": execution.id.0,
        "description": text(&execution.description),
        "time": started,
    });
    let start = with(start, "rootExecutionId", execution.root_execution_id.0);
    let pair = |(key, value): (&String, &Text<'_>)| Some((key.clone(), Value::from(text(value)?)));
    let configs: Map<String, Value> = execution.modified_configs.iter().filter_map(pair).collect();
    let start = with(start, "modifiedConfigs", Some(configs));
    let status = text(&execution.status);
    let ended = started.zip(execution.duration.0).map(|(start, duration)| start.saturating_add(duration));
    let ended = ended.filter(|&time| time <= until && matches!(status, Some("COMPLETED" | "FAILED")));
    let end = ended.map(|time| {
        let end = json!({
            "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd",
            "executionId": execution.id.0,
            "time": time,
        });
        let failed = (status == Some("FAILED")).then_some("the server does not tell why");
        with(end, "errorMessage", text(&execution.error_message).filter(|told| !told.is_empty()).or(failed))
    });
    std::iter::once(start).chain(end).collect()
}

/// The jobs of a SQL execution.
pub(super) fn jobs_of<'a>(execution: &'a Execution<'_>) -> impl Iterator<Item = i64> + 'a {
    let lists = [&execution.success_job_ids, &execution.failed_job_ids, &execution.running_job_ids];
    lists.into_iter().flatten().filter_map(|id: &Number| id.0)
}
