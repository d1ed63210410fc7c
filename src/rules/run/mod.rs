//! Rules on runs.
//!
//! Each looks at the evaluated attempt of every stage ([`view::StageView`]) and says for each one of four states.

use std::cmp::Reverse;

use super::{Check, Level, RuleSettings, RunContext, Severity, State, Verdict};
use crate::history::Past;
use crate::run::Run;
use crate::run::model::StageKey;
use crate::run::slots::run_time;
use crate::run::stats::first_ends;

mod advice;
mod details;
mod evidence;
mod host_score;
mod host_storage;
mod in_force;
mod micro_batches;
mod sources;
mod stage_plan;
pub mod view;
pub(crate) mod words;

pub use details::{stage_details, stage_noun};
pub use regression::thresholds as regression_thresholds;

crate::rules::rules! {
    log_coverage::LOG_COVERAGE,
    skewed_stage::SKEWED_STAGE,
    straggler::STRAGGLER,
    aqe_skew_gates::AQE_SKEW_GATES,
    slow_host::SLOW_HOST,
    slow_host_median::SLOW_HOST_MEDIAN,
    slow_stage::SLOW_STAGE,
    spill::SPILL,
    too_few_partitions::TOO_FEW_PARTITIONS,
    tiny_partitions::TINY_PARTITIONS,
    oversized_partitions::OVERSIZED_PARTITIONS,
    result_size::RESULT_SIZE,
    gc_pressure::GC_PRESSURE,
    lost_work::LOST_WORK,
    idle_executors::IDLE_EXECUTORS,
    driver_gap::DRIVER_GAP,
    recomputed_source::RECOMPUTED_SOURCE,
    small_files::SMALL_FILES,
    broadcast_candidate::BROADCAST_CANDIDATE,
    broadcast_oversized::BROADCAST_OVERSIZED,
    python_udf_cost::PYTHON_UDF_COST,
    speculation_potential::SPECULATION_POTENTIAL,
    regression::REGRESSION,
}

/// The word of every rule on a run: `log-coverage` first, then what fired by severity and impact, then the rest in the rules' order.
pub fn verdicts(run: &Run, rules: &RuleSettings) -> Vec<Verdict> {
    verdicts_with_past(run, rules, None)
}

/// As [`verdicts`], with what is known of earlier runs of the job.
pub fn verdicts_with_past(run: &Run, rules: &RuleSettings, past: Option<&Past>) -> Vec<Verdict> {
    let stages = view::StageView::all(run);
    let first_ends = first_ends(run);
    let floors = view::Floors::new(rules);
    let mut verdicts = Vec::new();
    for rule in RULES {
        let level = rules.levels.get(rule.name).copied();
        if level == Some(Level::Off) || (rule.off && level.is_none()) {
            continue;
        }
        let Check::Run(check) = rule.check else { continue };
        let lacking = evidence::lacking(rule, run, &stages);
        let context = RunContext { rule, run, stages: &stages, first_ends: &first_ends, floors, rules, past };
        let mut found = lacking.unwrap_or_else(|| check(&context));
        // A large run has thousands.
        found.iter_mut().for_each(Verdict::shrink_to_fit);
        if let Some(Level::Fixed(severity)) = level {
            found.iter_mut().filter(|verdict| verdict.is_fired()).for_each(|verdict| verdict.severity = severity);
        }
        verdicts.append(&mut found);
    }
    let mut verdicts = micro_batches::group(run, verdicts);
    // Stages that ran side by side save less together than each alone.
    let longest = run_time(run).map_or(f64::INFINITY, |ms| ms as f64 / 1000.0);
    verdicts.iter_mut().for_each(|verdict| verdict.impact_s = verdict.impact_s.map(|seconds| seconds.min(longest)));
    verdicts.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| impact(b).total_cmp(&impact(a))));
    verdicts
}

/// What needs a decision comes before what is only good to know, however long that took.
fn order(verdict: &Verdict) -> (u8, Reverse<Severity>) {
    match (verdict.rule, &verdict.state) {
        (name, _) if name == log_coverage::LOG_COVERAGE.name => (0, Reverse(Severity::Error)),
        (_, State::Fired) => (1, Reverse(verdict.severity)),
        _ => (2, Reverse(Severity::Error)),
    }
}

fn impact(verdict: &Verdict) -> f64 {
    verdict.impact_s.unwrap_or(0.0)
}

/// Judges each stage; states other than fired are gathered into one verdict for all stages that share them.
fn per_stage(context: &RunContext<'_>, judge: impl Fn(&view::StageView<'_>) -> Result<Verdict, State>) -> Vec<Verdict> {
    per_stage_many(context, |view| judge(view).map(|verdict| vec![verdict]))
}

/// As [`per_stage`], where one stage may have several verdicts.
fn per_stage_many(
    context: &RunContext<'_>,
    judge: impl Fn(&view::StageView<'_>) -> Result<Vec<Verdict>, State>,
) -> Vec<Verdict> {
    let mut fired = Vec::new();
    let mut quiet: Vec<(State, Vec<StageKey>)> = Vec::new();
    for view in context.stages {
        match judge(view) {
            Ok(verdicts) => fired.extend(verdicts),
            Err(state) => match quiet.iter_mut().find(|(known, _)| *known == state) {
                Some((_, stages)) => stages.push(view.key),
                None => quiet.push((state, vec![view.key])),
            },
        }
    }
    fired.extend(quiet.into_iter().map(|(state, stages)| Verdict::quiet(context.rule, state, stages)));
    fired
}

/// A verdict on one stage with what all of them say: the stage, its coverage, its impact and whether that is worth a
/// decoration in an editor.
fn on_stage(context: &RunContext<'_>, view: &view::StageView<'_>, impact_s: Option<f64>) -> Verdict {
    let mut verdict = Verdict::fired(context.rule, super::Subject::Stage(view.key), vec![view.key]);
    verdict.impact_s = impact_s;
    verdict.paintable = worth_painting(context, impact_s);
    verdict.prove(
        "tasks",
        format!("{} of {}", words::grouped(view.count() as u64), words::grouped(u64::from(view.stage.task_count))),
        Some(format!(">= {}", words::percent(context.floors.coverage))),
        context.run.application.id.as_ref().map(|id| match view.key.attempt {
            0 => format!("{id}, stage {}", view.key.stage),
            attempt => format!("{id}, stage {} attempt {attempt}", view.key.stage),
        }),
    );
    verdict
}

/// Whether an impact is above the floor of what editors show.
fn worth_painting(context: &RunContext<'_>, impact_s: Option<f64>) -> bool {
    let run_s = (context.run.application.end - context.run.application.start).max(1) as f64 / 1000.0;
    impact_s.is_some_and(|s| s >= context.floors.paint_seconds && s >= context.floors.paint_share * run_s)
}
