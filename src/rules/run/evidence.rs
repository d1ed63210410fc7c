//! What rules need that a run lacks which was not read from an event log.

use super::view::StageView;
use super::{
    aqe_skew_gates, broadcast_candidate, broadcast_oversized, driver_gap, idle_executors, lost_work, python_udf_cost,
    recomputed_source, small_files,
};
use crate::rules::{Rule, State, Verdict};
use crate::run::Run;
use crate::run::model::StageKey;

/// Whether a stage may have run a plan that was not told: one of a SQL execution, or one that may be of one not known.
pub(super) fn lacks_plan(run: &Run, key: StageKey, execution: Option<i64>) -> bool {
    let of_a_job = || run.jobs.values().any(|job| job.stages.contains(&key.stage));
    let summary = run.coverage.summary.as_ref();
    summary.is_some_and(|summary| execution.is_some() || !summary.has_all_executions() || !of_a_job())
}

/// Whether executors may have run more than what was told.
pub(super) fn lacks_work(run: &Run) -> bool {
    run.coverage.summary.as_ref().is_some_and(|summary| !summary.has_all_work())
}

/// The word of a rule that can't be applied to a run because all of it rests on what the run lacks.
pub(super) fn lacking(rule: &'static Rule, run: &Run, stages: &[StageView<'_>]) -> Option<Vec<Verdict>> {
    run.coverage.summary.as_ref()?;
    let on_plans = [
        &aqe_skew_gates::AQE_SKEW_GATES,
        &broadcast_candidate::BROADCAST_CANDIDATE,
        &broadcast_oversized::BROADCAST_OVERSIZED,
        &python_udf_cost::PYTHON_UDF_COST,
        &recomputed_source::RECOMPUTED_SOURCE,
        &small_files::SMALL_FILES,
    ];
    let on_all_work = [&driver_gap::DRIVER_GAP, &idle_executors::IDLE_EXECUTORS, &lost_work::LOST_WORK];
    let is_among = |rules: &[&'static Rule]| rules.iter().any(|one| one.name == rule.name);
    let quiet = |field: &str, stages| Some(vec![Verdict::quiet(rule, State::NotRecorded(field.to_owned()), stages)]);
    if is_among(&on_plans) {
        quiet(PLAN, stages.iter().map(|view| view.key).collect())
    } else if is_among(&on_all_work) && lacks_work(run) {
        quiet("all jobs, stages and tasks", Vec::new())
    } else {
        None
    }
}

/// The field that is not recorded where [`lacks_plan`].
pub(super) const PLAN: &str = "SQL plan";
