//! Answers of Spark's REST API, with the fields that a run keeps. All of them may be missing.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::lenient::{Flag, Number, Text};

/// `/applications/{id}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Application<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) attempts: Vec<Attempt<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attempt<'a> {
    #[serde(borrow)]
    pub(super) attempt_id: Text<'a>,
    #[serde(borrow)]
    pub(super) start_time: Text<'a>,
    #[serde(borrow)]
    pub(super) end_time: Text<'a>,
    #[serde(borrow)]
    pub(super) spark_user: Text<'a>,
    #[serde(borrow)]
    pub(super) app_spark_version: Text<'a>,
    pub(super) completed: Flag,
}

/// `/environment`; Spark has redacted it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Environment<'a> {
    #[serde(borrow)]
    pub(super) spark_properties: Vec<Vec<Text<'a>>>,
    #[serde(borrow)]
    pub(super) system_properties: Vec<Vec<Text<'a>>>,
}

/// One of `/allexecutors`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Executor<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) host_port: Text<'a>,
    pub(super) total_cores: Number,
    #[serde(borrow)]
    pub(super) add_time: Text<'a>,
    #[serde(borrow)]
    pub(super) remove_time: Text<'a>,
    #[serde(borrow)]
    pub(super) remove_reason: Text<'a>,
}

/// One of `/jobs`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Job<'a> {
    pub(super) job_id: Number,
    /// The call site of its last stage.
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) description: Text<'a>,
    #[serde(borrow)]
    pub(super) job_group: Text<'a>,
    #[serde(borrow)]
    pub(super) submission_time: Text<'a>,
    #[serde(borrow)]
    pub(super) completion_time: Text<'a>,
    pub(super) stage_ids: Vec<Number>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
}

/// One of `/stages`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Stage<'a> {
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    pub(super) stage_id: Number,
    pub(super) attempt_id: Number,
    pub(super) num_tasks: Number,
    pub(super) num_complete_tasks: Number,
    pub(super) num_failed_tasks: Number,
    pub(super) num_killed_tasks: Number,
    #[serde(borrow)]
    pub(super) submission_time: Text<'a>,
    #[serde(borrow)]
    pub(super) completion_time: Text<'a>,
    #[serde(borrow)]
    pub(super) failure_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) details: Text<'a>,
}

impl Stage<'_> {
    /// Whether it ran at all: a log has no event of one that was skipped or still waits.
    pub(super) fn ran(&self) -> bool {
        !matches!(self.status.0.as_deref(), Some("SKIPPED" | "PENDING"))
    }

    /// Tasks that ended, as the server counted them.
    pub(super) fn ended(&self) -> u64 {
        let counts = [self.num_complete_tasks, self.num_failed_tasks, self.num_killed_tasks];
        counts.into_iter().filter_map(Number::clamped).map(u64::from).sum()
    }
}

/// One of `/stages/{id}/{attempt}/taskList`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Task<'a> {
    pub(super) index: Number,
    #[serde(borrow)]
    pub(super) launch_time: Text<'a>,
    pub(super) duration: Number,
    #[serde(borrow)]
    pub(super) executor_id: Text<'a>,
    #[serde(borrow)]
    pub(super) host: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) task_locality: Text<'a>,
    pub(super) speculative: Flag,
    #[serde(borrow)]
    pub(super) error_message: Text<'a>,
    pub(super) task_metrics: Option<TaskMetrics>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TaskMetrics {
    pub(super) executor_deserialize_time: Number,
    pub(super) executor_run_time: Number,
    pub(super) result_size: Number,
    pub(super) jvm_gc_time: Number,
    pub(super) memory_bytes_spilled: Number,
    pub(super) disk_bytes_spilled: Number,
    pub(super) shuffle_read_metrics: ShuffleRead,
    pub(super) shuffle_write_metrics: Written,
    pub(super) input_metrics: Input,
    pub(super) output_metrics: Written,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ShuffleRead {
    pub(super) fetch_wait_time: Number,
    pub(super) remote_bytes_read: Number,
    pub(super) local_bytes_read: Number,
    pub(super) records_read: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Input {
    pub(super) bytes_read: Number,
    pub(super) records_read: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Written {
    pub(super) bytes_written: Number,
}

/// One of `/sql`. Its metrics are texts for people, rounded: they are not read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Execution<'a> {
    pub(super) id: Number,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) description: Text<'a>,
    #[serde(borrow)]
    pub(super) submission_time: Text<'a>,
    /// Until now while it runs.
    pub(super) duration: Number,
    pub(super) running_job_ids: Vec<Number>,
    pub(super) success_job_ids: Vec<Number>,
    pub(super) failed_job_ids: Vec<Number>,
    /// From Spark 4.0 on, as the next two.
    #[serde(borrow)]
    pub(super) error_message: Text<'a>,
    pub(super) root_execution_id: Number,
    #[serde(borrow)]
    pub(super) modified_configs: BTreeMap<String, Text<'a>>,
}

/// Milliseconds since the epoch of a time as the API writes it, `2026-11-29T22:22:59.134GMT`; `None` for one that was not
/// recorded, which it writes as the last millisecond before the epoch.
pub(super) fn millis(written: &Text<'_>) -> Option<i64> {
    let text = written.0.as_deref()?;
    let text = text.strip_suffix("GMT").or_else(|| text.strip_suffix('Z'))?;
    let (date, time) = text.split_once('T')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let (year, month, day) = three(date, '-')?;
    let (hour, minute, second) = three(clock, ':')?;
    let fraction: i64 = fraction.parse().ok().filter(|fraction| (0..1000).contains(fraction))?;
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000 + fraction).filter(|&time| time > 0)
}

fn three(text: &str, between: char) -> Option<(i64, i64, i64)> {
    let mut numbers = text.split(between).map(|number| number.parse::<u16>().ok().map(i64::from));
    let three = (numbers.next()??, numbers.next()??, numbers.next()??);
    numbers.next().is_none().then_some(three)
}

/// Days from the epoch to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the day that some have more is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_clock() {
        let of = |text: &'static str| millis(&Text(Some(text.into())));
        assert_eq!(of("2026-11-29T22:21:27.278GMT"), Some(1_795_990_887_278));
        assert_eq!(of("1970-01-01T00:00:00.001GMT"), Some(1));
        assert_eq!(of("2000-02-29T12:00:00.000GMT"), Some(951_825_600_000));
        assert_eq!(of("2000-03-01T00:00:00Z"), Some(951_868_800_000));
        for unknown in
            ["1969-12-31T23:59:59.999GMT", "", "yesterday", "2026-11-29T22:21:27.278+01:00", "2026-13-01T0:0:0.0GMT"]
        {
            assert_eq!(of(unknown), None, "{unknown}");
        }
        assert_eq!(millis(&Text(None)), None);
    }
}
