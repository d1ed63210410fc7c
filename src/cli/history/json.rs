//! The history for machines.

use serde_json::{Value, json};

use super::jobs::Job;
use crate::history::{Change, Row, Trend, median};

/// The jobs; with all their runs and stages if `details`, or of one stage.
pub(super) fn render(jobs: &[Job], details: bool, stage: Option<&str>) -> String {
    let jobs: Vec<Value> = jobs.iter().map(|job| of_job(job, details, stage)).collect();
    format!("{:#}\n", json!({ "version": 1, "jobs": jobs }))
}

fn of_job(job: &Job, details: bool, stage: Option<&str>) -> Value {
    let times: Vec<f64> = job.times().into_iter().flatten().collect();
    let mut value = json!({
        "job": job.name,
        "runs": job.runs.len(),
        "last_application": job.last().map(|row| &row.application),
        "last_started_ms": job.last().map(|row| row.run_started_ms),
        "last_wall_ms": job.last().and_then(|row| row.run_wall_ms),
        "median_wall_ms": median(&times),
        "state": state(&job.trend),
        "regressions": regressions(job),
    });
    if let Some(fields) = value.as_object_mut().filter(|_| details) {
        let rows = |row: &&Row| stage.is_none_or(|stage| row.stage_key == stage);
        let rows: Vec<&Row> = job.runs.iter().flatten().filter(rows).collect();
        fields.insert("rows".to_owned(), json!(rows));
    }
    value
}

/// Of the last run as a whole.
fn state(trend: &Trend) -> &'static str {
    match trend {
        Trend::Slower(_) => "slower",
        Trend::Steady(_) => "steady",
        Trend::TooFew(_) => "too few runs",
        Trend::Unknown(_) => "unknown",
    }
}

fn regressions(job: &Job) -> Vec<Value> {
    let run = job.trend.slower().map(|change| regression(None, change));
    run.into_iter().chain(job.slower.iter().map(|(row, change)| regression(Some(row), change))).collect()
}

fn regression(stage: Option<&Row>, change: &Change) -> Value {
    json!({
        "stage_key": stage.map(|row| &row.stage_key),
        "stage_label": stage.map(|row| &row.stage_label),
        "stage": stage.map(|row| row.stage),
        "wall_ms": change.now,
        "median_ms": change.median,
        "mad_ms": change.mad,
        "limit_ms": change.limit,
        "earlier_runs": change.earlier.len(),
    })
}
