//! Limits that a run has to keep.

use super::{RunFigures, Thresholds};
use crate::rules::run::view::StageView;
use crate::run::Run;
use crate::run::model::StageKey;

/// A stage with fewer tasks has no skew to speak of.
const LEAST_TASKS: usize = 5;
/// A stage shorter than this share of the run does not matter.
const LEAST_STAGE_SHARE: f64 = 0.005;
/// A longest task that is less than this above the median does not matter, in ms …
const LEAST_EXCESS_MS: f64 = 1_000.0;
/// … nor one that is less than this share of the run above it.
const LEAST_EXCESS_SHARE: f64 = 0.02;

/// Limits that were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Budgets {
    /// Of the run, in milliseconds.
    pub runtime_ms: Option<f64>,
    /// Longest task over the median of any stage that matters.
    pub skew: Option<f64>,
    /// Bytes spilled to disk by the run.
    pub spill_bytes: Option<f64>,
    /// Failed tasks over ended tasks.
    pub failed_task_share: Option<f64>,
    /// How much longer than the base, as a share of the base.
    pub regression_share: Option<f64>,
}

/// What a budget limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// The time of the run, in milliseconds.
    Runtime,
    /// The longest task of a stage over its median.
    Skew,
    /// Bytes spilled to disk.
    Spill,
    /// Share of the tasks that failed.
    FailedTaskRate,
    /// Time more than the base, as a share of it.
    Regression,
}

/// How a budget stands.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetResult {
    /// Which.
    pub budget: Budget,
    /// The limit, in the budget's unit.
    pub limit: f64,
    /// What the candidate has; `None` if that is not known.
    pub measured: Option<f64>,
    /// The stage that has it.
    pub stage: Option<StageKey>,
    /// Whether it is kept.
    pub state: BudgetState,
}

/// Whether a budget is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetState {
    /// It is.
    Met,
    /// It is not.
    Violated,
    /// That can't be told, and why.
    NotEvaluated(String),
}

/// What budgets are held against.
pub(super) struct Measured<'a> {
    pub(super) base: &'a RunFigures,
    pub(super) candidate: &'a RunFigures,
    /// The candidate.
    pub(super) run: &'a Run,
    /// What the candidate lacks.
    pub(super) gaps: &'a [String],
    /// What the comparison lacks.
    pub(super) comparison_gaps: &'a [String],
    pub(super) thresholds: &'a Thresholds,
}

/// Every budget that was asked for.
pub(super) fn evaluate(budgets: &Budgets, measured: &Measured<'_>) -> Vec<BudgetResult> {
    let mut results = Vec::new();
    results.extend(budgets.runtime_ms.map(|limit| runtime(limit, measured)));
    results.extend(budgets.skew.map(|limit| skew(limit, measured)));
    results.extend(budgets.spill_bytes.map(|limit| spill(limit, measured)));
    results.extend(budgets.failed_task_share.map(|limit| failed_tasks(limit, measured)));
    results.extend(budgets.regression_share.map(|limit| regression(limit, measured)));
    results
}

/// A value that only grows as more of the run is seen: above the limit it is, whatever is missing.
fn growing(budget: Budget, limit: f64, value: Option<f64>, gaps: &[String]) -> BudgetResult {
    let state = match value {
        Some(value) if value > limit => BudgetState::Violated,
        _ if !gaps.is_empty() => BudgetState::NotEvaluated(gaps.join("; ")),
        Some(_) => BudgetState::Met,
        None => BudgetState::NotEvaluated("it is not recorded".to_owned()),
    };
    BudgetResult { budget, limit, measured: value, stage: None, state }
}

fn runtime(limit: f64, measured: &Measured<'_>) -> BudgetResult {
    growing(Budget::Runtime, limit, measured.candidate.sums.wall_ms, measured.gaps)
}

fn spill(limit: f64, measured: &Measured<'_>) -> BudgetResult {
    growing(Budget::Spill, limit, measured.candidate.sums.spill_bytes, measured.gaps)
}

fn failed_tasks(limit: f64, measured: &Measured<'_>) -> BudgetResult {
    let value = measured.candidate.sums.failed_share();
    let state = match value {
        _ if !measured.gaps.is_empty() => BudgetState::NotEvaluated(measured.gaps.join("; ")),
        Some(value) if value > limit => BudgetState::Violated,
        Some(_) => BudgetState::Met,
        None => BudgetState::NotEvaluated("no task ended".to_owned()),
    };
    BudgetResult { budget: Budget::FailedTaskRate, limit, measured: value, stage: None, state }
}

/// The stage with the largest ratio, of those that the log holds well enough.
fn skew(limit: f64, measured: &Measured<'_>) -> BudgetResult {
    let judged = |view: &StageView<'_>| view.coverage() >= measured.thresholds.coverage;
    let worst = StageView::all(measured.run)
        .into_iter()
        .filter(|view| judged(view) && matters(view))
        .map(|view| (view.max_ms() / view.median_ms().max(1.0), view.key))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let value = worst.map(|(ratio, _)| ratio);
    // Without a stage that matters, the longest tasks are as long as the others.
    let mut result = growing(Budget::Skew, limit, Some(value.unwrap_or(1.0)), measured.gaps);
    (result.measured, result.stage) = (value, worst.map(|(_, key)| key));
    result
}

fn matters(view: &StageView<'_>) -> bool {
    let excess = view.max_ms() - view.median_ms();
    view.count() >= LEAST_TASKS
        && view.wall_ms >= LEAST_STAGE_SHARE * view.run_ms
        && excess >= LEAST_EXCESS_MS.max(LEAST_EXCESS_SHARE * view.run_ms)
}

/// Within the noise in milliseconds nothing is a regression.
fn regression(limit: f64, measured: &Measured<'_>) -> BudgetResult {
    let times = measured.base.sums.wall_ms.zip(measured.candidate.sums.wall_ms);
    let value = times.map(|(base, candidate)| (candidate - base) / base);
    let state = match times.zip(value) {
        _ if !measured.comparison_gaps.is_empty() => BudgetState::NotEvaluated(measured.comparison_gaps.join("; ")),
        Some(((base, candidate), value)) => {
            let beyond_noise = candidate - base >= measured.thresholds.noise_ms;
            if value > limit && beyond_noise { BudgetState::Violated } else { BudgetState::Met }
        }
        None => BudgetState::NotEvaluated("a duration is not recorded".to_owned()),
    };
    BudgetResult { budget: Budget::Regression, limit, measured: value, stage: None, state }
}
