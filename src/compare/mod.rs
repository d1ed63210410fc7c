//! What a change did: two runs of one job, side by side.
//!
//! Actions (SQL executions, and jobs outside of SQL) are aligned in order, by call site and plan; then stages inside of
//! them, by what [`crate::run::keys`] says stays the same, then by structure. A verdict on the run needs a difference
//! outside of the noise band and evidence that is complete: what is missing makes it inconclusive, never a pass.

mod actions;
mod align;
pub mod budgets;
mod figures;
mod judge;
mod pairs;
mod plans;
mod settings;

pub use actions::ActionId;
pub use budgets::{Budget, BudgetResult, BudgetState, Budgets};
pub use figures::Figures;
pub use judge::{Judgement, speed};
pub use plans::{Adaptive, PlanChange};
pub use settings::{Held, SettingChange, UsedDefault};

use crate::conf::upgrade::Upgrade;
use crate::run::Run;
use crate::run::model::StageKey;
use crate::run::slots::{peak_cores, run_time};
use crate::run::stats::Distribution;

/// When a difference is more than noise, and when a log holds enough to say so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// A run is slower or faster from this share of the shorter run on …
    pub noise_share: f64,
    /// … if it is this many milliseconds, too.
    pub noise_ms: f64,
    /// Least share of the tasks that a log must hold.
    pub coverage: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { noise_share: 0.2, noise_ms: 10_000.0, coverage: 0.9 }
    }
}

impl Thresholds {
    /// Whether the candidate took longer than the base, by more than noise of at least `least_ms`.
    pub fn slower(&self, base_ms: f64, candidate_ms: f64, least_ms: f64) -> bool {
        candidate_ms - base_ms >= least_ms && candidate_ms > base_ms * (1.0 + self.noise_share)
    }
}

/// Two runs compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What the run took before.
    pub base: RunFigures,
    /// What it took after.
    pub candidate: RunFigures,
    /// Whether it got slower or faster.
    pub judgement: Judgement,
    /// Why nothing can be said; empty unless inconclusive.
    pub gaps: Vec<String>,
    /// Rows, else bytes, read from sources, candidate over base; `None` where too few were read or it is not recorded.
    pub data: Option<f64>,
    /// Actions in the order of the runs, paired or alone.
    pub actions: Vec<ActionChange>,
    /// Settings that somebody set differently.
    pub settings: Vec<SettingChange>,
    /// What another Spark version changes; `None` for one version.
    pub upgrade: Option<Upgrade>,
    /// Defaults that changed with the Spark version and that the plans rely on; they are not among those of `upgrade`.
    pub used_defaults: Vec<UsedDefault>,
    /// The budgets that were asked for.
    pub budgets: Vec<BudgetResult>,
}

/// A run in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunFigures {
    /// Its sums; the time is that of the application.
    pub sums: Figures,
    /// Most cores that its executors had together. `None` if that is not recorded.
    pub cores: Option<u64>,
}

/// An action of both runs, or of one.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionChange {
    /// In the base.
    pub base: Option<ActionFigures>,
    /// In the candidate.
    pub candidate: Option<ActionFigures>,
    /// Its stages, paired or alone; by the ids of the base, then of the candidate.
    pub stages: Vec<StageChange>,
    /// How the plans differ.
    pub plan: Vec<PlanChange>,
}

/// An action of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionFigures {
    /// Which.
    pub id: ActionId,
    /// Description or call site, as logged.
    pub site: String,
    /// Its sums.
    pub sums: Figures,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// A stage of both runs, or of one.
#[derive(Debug, Clone, PartialEq)]
pub struct StageChange {
    /// In the base.
    pub base: Option<StageFigures>,
    /// In the candidate.
    pub candidate: Option<StageFigures>,
    /// How they were paired; `None` for one alone.
    pub paired_by: Option<PairedBy>,
}

/// What says that two stages do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedBy {
    /// Call site and plan are the same.
    Key,
    /// The operators are alike.
    Structure,
}

/// A stage of one run, in its evaluated attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct StageFigures {
    /// Which.
    pub key: StageKey,
    /// Call site and operators, for people.
    pub label: String,
    /// Its sums.
    pub sums: Figures,
    /// Durations of its tasks in ms; `None` without tasks.
    pub durations: Option<Distribution>,
}

/// What a comparison means to whoever waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// All budgets are met; without budgets: it is not slower.
    Passed,
    /// The evidence does not suffice.
    Inconclusive,
    /// A budget is violated; without budgets: it is slower.
    Failed,
}

impl Comparison {
    /// What it means: budgets decide where there are any, else the judgement; without evidence nothing passes.
    pub fn outcome(&self) -> Outcome {
        let violated = self.budgets.iter().any(|budget| budget.state == BudgetState::Violated);
        let open = self.budgets.iter().any(|budget| matches!(budget.state, BudgetState::NotEvaluated(_)));
        match self.judgement {
            _ if violated => Outcome::Failed,
            Judgement::Inconclusive => Outcome::Inconclusive,
            _ if open => Outcome::Inconclusive,
            Judgement::Slower if self.budgets.is_empty() => Outcome::Failed,
            Judgement::Slower | Judgement::Faster | Judgement::NoChange => Outcome::Passed,
        }
    }

    /// `2.1 x slower at 1.0 x the data`; `None` if a duration is not recorded.
    pub fn speed(&self) -> Option<String> {
        speed(self.base.sums.wall_ms?, self.candidate.sums.wall_ms?, self.data)
    }
}

/// The fastest of several candidates that passed, by its index. `None` if none passed.
pub fn best<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Option<usize> {
    let passed = comparisons.into_iter().enumerate().filter(|(_, compared)| compared.outcome() == Outcome::Passed);
    let time = |compared: &Comparison| compared.candidate.sums.wall_ms.unwrap_or(f64::INFINITY);
    passed.min_by(|(_, a), (_, b)| time(a).total_cmp(&time(b))).map(|(index, _)| index)
}

/// Compares a run with an earlier one of the same job.
pub fn compare(base: &Run, candidate: &Run, thresholds: &Thresholds, budgets: &Budgets) -> Comparison {
    let (before, after) = (actions::actions(base), actions::actions(candidate));
    let pairs = pairs::pair(&before, &after);
    let actions = pairs::changes((base, &before), (candidate, &after), &pairs);
    let executions: Vec<(i64, i64)> = pairs
        .iter()
        .flat_map(|&(i, j)| before[i].executions.iter().copied().zip(after[j].executions.iter().copied()))
        .collect();
    let (base_figures, candidate_figures) = (run_figures(base), run_figures(candidate));
    let evidence = judge::Evidence {
        base: judge::gaps_of(base, &before, thresholds),
        candidate: judge::gaps_of(candidate, &after, thresholds),
        same_sources: pairs.iter().all(|&(i, j)| before[i].scans == after[j].scans),
        actions: &actions,
        data: base_figures.sums.input_ratio(&candidate_figures.sums),
    };
    let (judgement, gaps) = judge::judge(&base_figures, &candidate_figures, &evidence, thresholds);
    let mut upgrade = settings::of_versions(base, candidate);
    let used_defaults =
        upgrade.as_mut().map(|upgrade| settings::take_used(upgrade, [base, candidate])).unwrap_or_default();
    let measured = budgets::Measured {
        base: &base_figures,
        candidate: &candidate_figures,
        run: candidate,
        gaps: &evidence.candidate,
        comparison_gaps: &gaps,
        thresholds,
    };
    Comparison {
        budgets: budgets::evaluate(budgets, &measured),
        base: base_figures,
        candidate: candidate_figures,
        judgement,
        gaps,
        data: evidence.data,
        settings: settings::changes(base, candidate, &executions),
        upgrade,
        used_defaults,
        actions,
    }
}

fn run_figures(run: &Run) -> RunFigures {
    let ended = figures::ended_tasks(run);
    let start = Figures { wall_ms: run_time(run).map(|ms| ms as f64), ..Figures::NOTHING };
    let sums = crate::rules::run::view::StageView::all(run).iter().fold(start, |sums, view| {
        sums + Figures::of_stage(view, ended.get(&view.key.stage).copied().unwrap_or_default())
    });
    RunFigures { sums, cores: peak_cores(run) }
}
