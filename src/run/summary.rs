//! What a run lacks that was not read from an event log.

/// A run that a server told through Spark's REST API, which keeps less than an event log: no plan of a SQL execution, and
/// of long runs only the last jobs, stages, tasks and executions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Jobs that the server does not tell of any more.
    pub jobs_missing: u64,
    /// Stages of the jobs told that it does not tell of any more.
    pub stages_missing: u64,
    /// Ended tasks of the stages told that it does not tell of any more.
    pub tasks_missing: u64,
    /// SQL executions that it does not tell of any more; `None` where it tells of none at all.
    pub executions_missing: Option<u64>,
}

impl Summary {
    /// What it is called where it stands for a log.
    pub const NAME: &'static str = "REST summary, not the log";

    /// What is missing, a phrase each.
    pub fn gaps(&self) -> Vec<String> {
        let kinds = [
            (self.jobs_missing, "job"),
            (self.stages_missing, "stage"),
            (self.tasks_missing, "task"),
            (self.executions_missing.unwrap_or(0), "SQL execution"),
        ];
        let phrase = |(missing, kind): (u64, &str)| match missing {
            0 => None,
            1 => Some(format!("1 {kind} is missing")),
            _ => Some(format!("{missing} {kind}s are missing")),
        };
        kinds.into_iter().filter_map(phrase).collect()
    }

    /// Whether it tells of all jobs, stages and tasks.
    pub fn has_all_work(&self) -> bool {
        self.jobs_missing == 0 && self.stages_missing == 0 && self.tasks_missing == 0
    }

    /// Whether a stage of no SQL execution told is of none at all.
    pub fn has_all_executions(&self) -> bool {
        self.executions_missing == Some(0) && self.jobs_missing == 0
    }
}
