//! The events besides `SparkListenerTaskEnd`, with the fields that a run keeps.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::lenient::{Number, Text, clamp_u64};
use super::task_end::Accumulable;

/// Events that Spark writes and a run has no use for.
pub(super) const IGNORED: [&str; 42] = [
    "SparkListenerBlockManagerRemoved",
    "SparkListenerBlockUpdated",
    "SparkListenerExecutorBlacklisted",
    "SparkListenerExecutorBlacklistedForStage",
    "SparkListenerExecutorExcluded",
    "SparkListenerExecutorExcludedForStage",
    "SparkListenerExecutorMetricsUpdate",
    "SparkListenerExecutorUnblacklisted",
    "SparkListenerExecutorUnexcluded",
    "SparkListenerMiscellaneousProcessAdded",
    "SparkListenerNodeBlacklisted",
    "SparkListenerNodeBlacklistedForStage",
    "SparkListenerNodeExcluded",
    "SparkListenerNodeExcludedForStage",
    "SparkListenerNodeUnblacklisted",
    "SparkListenerNodeUnexcluded",
    "SparkListenerResourceProfileAdded",
    "SparkListenerSpeculativeTaskSubmitted",
    "SparkListenerSQLAdaptiveSQLMetricUpdates",
    "SparkListenerTaskGettingResult",
    "SparkListenerUnpersistRDD",
    "SparkListenerUnschedulableTaskSetAdded",
    "SparkListenerUnschedulableTaskSetRemoved",
    "SparkListenerConnectOperationAnalyzed",
    "SparkListenerConnectOperationCanceled",
    "SparkListenerConnectOperationClosed",
    "SparkListenerConnectOperationFailed",
    "SparkListenerConnectOperationFinished",
    "SparkListenerConnectOperationParsed",
    "SparkListenerConnectOperationReadyForExecution",
    "SparkListenerConnectOperationStarted",
    "SparkListenerConnectServiceEnd",
    "SparkListenerConnectServiceStarted",
    "SparkListenerConnectSessionClosed",
    "SparkListenerConnectSessionStarted",
    "SparkListenerThriftServerSessionCreated",
    "SparkListenerThriftServerSessionClosed",
    "StreamingQueryListener$QueryStartedEvent",
    "StreamingQueryListener$QueryProgressEvent",
    "StreamingQueryListener$QueryIdleEvent",
    "StreamingQueryListener$QueryTerminatedEvent",
    "StreamingQueryListener$QueryProgress",
];

#[derive(Deserialize)]
pub(super) struct Named<'a> {
    #[serde(rename = "Event", borrow)]
    pub(super) event: std::borrow::Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct LogStart<'a> {
    #[serde(rename = "Spark Version", borrow, default)]
    pub(super) version: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct ApplicationStart<'a> {
    #[serde(rename = "App Name", borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(rename = "App ID", borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(rename = "User", borrow, default)]
    pub(super) user: Text<'a>,
    #[serde(rename = "App Attempt ID", borrow, default)]
    pub(super) attempt: Text<'a>,
    #[serde(rename = "Timestamp", default)]
    pub(super) time: Number,
}

#[derive(Deserialize)]
pub(super) struct Timed {
    #[serde(rename = "Timestamp", default)]
    pub(super) time: Number,
}

#[derive(Deserialize)]
pub(super) struct EnvironmentUpdate<'a> {
    #[serde(rename = "Spark Properties", borrow, default)]
    pub(super) spark: BTreeMap<String, Text<'a>>,
    #[serde(rename = "System Properties", borrow, default)]
    pub(super) system: SystemProperties<'a>,
}

#[derive(Deserialize, Default)]
pub(super) struct SystemProperties<'a> {
    #[serde(rename = "sun.java.command", borrow, default)]
    pub(super) command: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct ExecutorAdded<'a> {
    #[serde(rename = "Timestamp", default)]
    pub(super) time: Number,
    #[serde(rename = "Executor ID", borrow)]
    pub(super) id: Text<'a>,
    #[serde(rename = "Executor Info", borrow, default)]
    pub(super) info: ExecutorInfo<'a>,
}

#[derive(Deserialize, Default)]
pub(super) struct ExecutorInfo<'a> {
    #[serde(rename = "Host", borrow, default)]
    pub(super) host: Text<'a>,
    #[serde(rename = "Total Cores", default)]
    pub(super) cores: Number,
}

#[derive(Deserialize)]
pub(super) struct ExecutorRemoved<'a> {
    #[serde(rename = "Timestamp", default)]
    pub(super) time: Number,
    #[serde(rename = "Executor ID", borrow)]
    pub(super) id: Text<'a>,
    #[serde(rename = "Removed Reason", borrow, default)]
    pub(super) reason: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct BlockManagerAdded<'a> {
    #[serde(rename = "Block Manager ID", borrow, default)]
    pub(super) id: BlockManagerId<'a>,
    #[serde(rename = "Maximum Memory", default)]
    pub(super) memory: Number,
}

#[derive(Deserialize, Default)]
pub(super) struct BlockManagerId<'a> {
    #[serde(rename = "Executor ID", borrow, default)]
    pub(super) executor: Text<'a>,
}

/// Peaks of one executor in one stage attempt; written with `spark.eventLog.logStageExecutorMetrics` only.
#[derive(Deserialize)]
pub(super) struct StageExecutorMetrics<'a> {
    #[serde(rename = "Executor ID", borrow)]
    pub(super) executor: Text<'a>,
    #[serde(rename = "Stage ID")]
    pub(super) stage: Number,
    #[serde(rename = "Stage Attempt ID", default)]
    pub(super) attempt: Number,
    #[serde(rename = "Executor Metrics", default)]
    pub(super) metrics: Option<ExecutorMetrics>,
}

#[derive(Deserialize, Default)]
pub(super) struct ExecutorMetrics {
    #[serde(rename = "JVMHeapMemory", default)]
    heap: Number,
    #[serde(rename = "OnHeapStorageMemory", default)]
    on_heap: Number,
    #[serde(rename = "OffHeapStorageMemory", default)]
    off_heap: Number,
}

impl ExecutorMetrics {
    /// Bytes of storage memory. `None` where nothing was measured while the stage ran: no heap is empty, so all is 0 then.
    pub(super) fn storage(&self) -> Option<u64> {
        self.heap.0.filter(|&heap| heap > 0)?;
        let on_heap = clamp_u64(self.on_heap.0?);
        Some(on_heap.saturating_add(clamp_u64(self.off_heap.0.unwrap_or(0))))
    }
}

#[derive(Deserialize)]
pub(super) struct JobStart<'a> {
    #[serde(rename = "Job ID")]
    pub(super) job: Number,
    #[serde(rename = "Submission Time", default)]
    pub(super) time: Number,
    #[serde(rename = "Stage IDs", default)]
    pub(super) stages: Vec<Number>,
    #[serde(rename = "Properties", borrow, default)]
    pub(super) properties: Option<Properties<'a>>,
}

/// The few job properties that a run keeps; Spark does not redact the others.
#[derive(Deserialize, Default)]
pub(super) struct Properties<'a> {
    #[serde(rename = "spark.sql.execution.id", default)]
    pub(super) execution: Number,
    #[serde(rename = "callSite.short", borrow, default)]
    pub(super) call_site: Text<'a>,
    #[serde(rename = "callSite.long", borrow, default)]
    pub(super) call_stack: Text<'a>,
    #[serde(rename = "spark.job.description", borrow, default)]
    pub(super) description: Text<'a>,
    #[serde(rename = "spark.jobGroup.id", borrow, default)]
    pub(super) group: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct JobEnd<'a> {
    #[serde(rename = "Job ID")]
    pub(super) job: Number,
    #[serde(rename = "Completion Time", default)]
    pub(super) time: Number,
    #[serde(rename = "Job Result", borrow, default)]
    pub(super) result: Option<JobResult<'a>>,
}

#[derive(Deserialize)]
pub(super) struct JobResult<'a> {
    #[serde(rename = "Result", borrow, default)]
    pub(super) result: Text<'a>,
    #[serde(rename = "Exception", borrow, default)]
    pub(super) exception: Option<Exception<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Exception<'a> {
    #[serde(rename = "Message", borrow, default)]
    pub(super) message: Text<'a>,
}

/// `SparkListenerStageSubmitted` and `SparkListenerStageCompleted`.
#[derive(Deserialize)]
pub(super) struct StageEvent<'a> {
    #[serde(rename = "Stage Info", borrow)]
    pub(super) info: StageInfo<'a>,
    #[serde(rename = "Properties", borrow, default)]
    pub(super) properties: Option<Properties<'a>>,
}

#[derive(Deserialize)]
pub(super) struct StageInfo<'a> {
    #[serde(rename = "Stage ID")]
    pub(super) stage: Number,
    #[serde(rename = "Stage Attempt ID", default)]
    pub(super) attempt: Number,
    #[serde(rename = "Stage Name", borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(rename = "Number of Tasks", default)]
    pub(super) tasks: Number,
    #[serde(rename = "RDD Info", borrow, default)]
    pub(super) rdds: Vec<RddInfo<'a>>,
    #[serde(rename = "Parent IDs", default)]
    pub(super) parents: Vec<Number>,
    #[serde(rename = "Details", borrow, default)]
    pub(super) details: Text<'a>,
    #[serde(rename = "Submission Time", default)]
    pub(super) submitted: Number,
    #[serde(rename = "Completion Time", default)]
    pub(super) completed: Number,
    #[serde(rename = "Failure Reason", borrow, default)]
    pub(super) failure: Text<'a>,
    #[serde(rename = "Accumulables", borrow, default)]
    pub(super) accumulables: Vec<Accumulable<'a>>,
}

#[derive(Deserialize)]
pub(super) struct RddInfo<'a> {
    #[serde(rename = "Name", borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(rename = "Scope", borrow, default)]
    pub(super) scope: Text<'a>,
    #[serde(rename = "Callsite", borrow, default)]
    pub(super) call_site: Text<'a>,
    #[serde(rename = "Number of Partitions", default)]
    pub(super) partitions: Number,
}

/// An RDD's `Scope`, which is JSON in a string.
#[derive(Deserialize)]
pub(super) struct Scope {
    pub(super) name: String,
}

/// `SparkListenerSQLExecutionStart`; the plan is read on its own and its textual description never.
#[derive(Deserialize)]
pub(super) struct ExecutionStart<'a> {
    #[serde(rename = "executionId")]
    pub(super) execution: Number,
    #[serde(rename = "rootExecutionId", default)]
    pub(super) root: Number,
    #[serde(borrow, default)]
    pub(super) description: Text<'a>,
    #[serde(borrow, default)]
    pub(super) details: Text<'a>,
    #[serde(default)]
    pub(super) time: Number,
    #[serde(rename = "modifiedConfigs", borrow, default)]
    pub(super) modified_configs: Option<BTreeMap<String, Text<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct ExecutionId {
    #[serde(rename = "executionId")]
    pub(super) execution: Number,
}

#[derive(Deserialize)]
pub(super) struct ExecutionEnd<'a> {
    #[serde(rename = "executionId")]
    pub(super) execution: Number,
    #[serde(default)]
    pub(super) time: Number,
    #[serde(rename = "errorMessage", borrow, default)]
    pub(super) error: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct DriverAccumUpdates {
    #[serde(rename = "executionId")]
    pub(super) execution: Number,
    #[serde(rename = "accumUpdates", default)]
    pub(super) updates: Vec<Vec<Number>>,
}
