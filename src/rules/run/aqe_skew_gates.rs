//! Why AQE did or did not split a skewed partition.

use super::in_force::{InForce, in_force};
use super::skewed_stage::is_skewed;
use super::stage_plan::{Operator, StagePlan};
use super::view::StageView;
use super::words::{bytes, ratio};
use super::{advice, on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Verdict};

declare_rule! {
    /// Why adaptive execution left a skewed partition whole, with the run's own settings.
    ///
    /// ## Why
    /// AQE splits a partition of a shuffled join only if it is larger than a factor times the median partition and also
    /// larger than a number of bytes. Both bounds are strict. A partition of 21 times the median that stays below the
    /// bytes is left alone and can still hold the stage up.
    ///
    /// The log has no partition sizes, so what each task read from shuffles stands for them: for a join it is the sum of
    /// both sides.
    ///
    /// ## Silent when
    /// The stage is not skewed, reads no shuffle, or does not belong to a SQL execution.
    ///
    /// ## Example
    /// ```text
    /// AQE left it: 31 x the median, but 190 MiB is not above 256 MiB
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes  128m
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#optimizing-skew-join>
    pub AQE_SKEW_GATES = {
        name: "aqe-skew-gates", group: Run, severity: Information, confidence: Documented,
        since: "0.1.0",
        check: Run(check),
    }
}

/// Whether and why AQE acted on a stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// The plan says that it split.
    Split,
    /// AQE or its skew join handling is off.
    Off(&'static str),
    /// Not a shuffled join: AQE does not split there.
    NotAJoin(&'static str),
    /// The join type forbids it.
    Forbidden(String),
    /// Large enough against the median, but too few bytes.
    SizeGate,
    /// Many bytes, but the others are large too.
    RatioGate,
    /// Neither.
    BothGates,
    /// Both gates pass, and it did not split.
    PassedButWhole,
}

/// Both gates with the numbers that went in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Gates {
    pub(super) outcome: Outcome,
    /// Largest shuffle read of a task, in bytes.
    pub(super) largest: f64,
    /// Median shuffle read of the tasks, in bytes.
    pub(super) median: f64,
    pub(super) factor: InForce,
    pub(super) threshold: InForce,
    /// Above `factor` times the median.
    pub(super) ratio_passes: bool,
    /// Above the threshold.
    pub(super) size_passes: bool,
    enabled: InForce,
    skew_join: InForce,
}

const ENABLED: &str = "spark.sql.adaptive.enabled";
const SKEW_JOIN: &str = "spark.sql.adaptive.skewJoin.enabled";
const FACTOR: &str = "spark.sql.adaptive.skewJoin.skewedPartitionFactor";
pub(super) const THRESHOLD: &str = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes";

/// The gates of a stage that reads shuffles in a SQL execution, whether it is skewed or not; `None` where they mean
/// nothing or where a setting is not known.
pub(super) fn gates(view: &StageView<'_>, plan: &StagePlan<'_>) -> Option<Gates> {
    plan.execution.filter(|_| !plan.untold)?;
    let reads = view.distribution(&view.tasks().shuffle_read_bytes)?;
    let (largest, median) = (reads.max as f64, reads.median);
    if largest == 0.0 {
        return None;
    }
    let setting = |key| in_force(view.run, plan.execution, key);
    let (enabled, skew_join) = (setting(ENABLED)?, setting(SKEW_JOIN)?);
    let (factor, threshold) = (setting(FACTOR)?, setting(THRESHOLD)?);
    let ratio_passes = largest > factor.number()? * median;
    let size_passes = largest > threshold.bytes()?;
    let outcome = outcome(plan, &enabled, &skew_join, (ratio_passes, size_passes));
    Some(Gates { outcome, largest, median, factor, threshold, ratio_passes, size_passes, enabled, skew_join })
}

fn outcome(plan: &StagePlan<'_>, enabled: &InForce, skew_join: &InForce, passes: (bool, bool)) -> Outcome {
    if plan.split_by_aqe() {
        return Outcome::Split;
    }
    let kind = match plan.operator() {
        Operator::Join { kind, .. } => kind,
        other => return Outcome::NotAJoin(other.noun()),
    };
    if enabled.boolean() == Some(false) {
        return Outcome::Off(ENABLED);
    }
    if skew_join.boolean() == Some(false) {
        return Outcome::Off(SKEW_JOIN);
    }
    if kind == "FullOuter" {
        return Outcome::Forbidden(kind);
    }
    match passes {
        (true, true) => Outcome::PassedButWhole,
        (true, false) => Outcome::SizeGate,
        (false, true) => Outcome::RatioGate,
        (false, false) => Outcome::BothGates,
    }
}

/// Sides of a join type that AQE can split.
fn splittable(kind: &str) -> Option<&'static str> {
    match kind {
        "LeftOuter" | "LeftSemi" | "LeftAnti" => Some("left"),
        "RightOuter" => Some("right"),
        _ => None,
    }
}

impl Gates {
    /// For the end of a line.
    pub(super) fn short(&self) -> String {
        match &self.outcome {
            Outcome::Split => "split by AQE".to_owned(),
            Outcome::Off(ENABLED) => "AQE is off".to_owned(),
            Outcome::Off(_) => "AQE skew join is off".to_owned(),
            Outcome::NotAJoin(noun) => format!("AQE does not split this {noun}"),
            _ => "not split by AQE".to_owned(),
        }
    }

    /// Largest over median.
    pub(super) fn ratio(&self) -> f64 {
        self.largest / self.median.max(1.0)
    }

    /// Why AQE split the stage or not.
    pub(super) fn why(&self, plan: &StagePlan<'_>) -> String {
        let (largest, threshold) = (bytes(self.largest), self.threshold_text());
        let times = ratio(self.ratio());
        match &self.outcome {
            Outcome::Split => "the plan says so".to_owned(),
            Outcome::Off(key) => {
                let origin = if *key == ENABLED { &self.enabled.origin } else { &self.skew_join.origin };
                let still =
                    if self.ratio_passes && self.size_passes { "" } else { "; its gates would have left it whole too" };
                format!("{key} is false ({origin}){still}")
            }
            Outcome::NotAJoin(noun) => format!("it splits shuffled joins only, and this is not one ({noun})"),
            Outcome::Forbidden(kind) => format!("neither side of a {kind} join can be split"),
            Outcome::SizeGate => format!("{times} the median, but {largest} is not above {threshold}"),
            Outcome::RatioGate => format!(
                "{largest} is above {threshold}, but only {times} the median ({}): all partitions are large",
                bytes(self.median)
            ),
            Outcome::BothGates => format!(
                "{times} the median is not above {}, and {largest} is not above {threshold}",
                self.factor_text()
            ),
            Outcome::PassedButWhole => format!("both gates pass ({times}, {largest}), {}", passed_but_whole(plan)),
        }
    }

    /// The settings that decided, with their origins.
    pub(super) fn settings(&self) -> String {
        let factor = format!("{FACTOR} {} ({})", self.factor.value, self.factor.origin);
        let threshold = format!("{THRESHOLD} {} ({})", self.threshold_text(), self.threshold.origin);
        match self.outcome {
            Outcome::Off(key) => key.to_owned(),
            Outcome::SizeGate => threshold,
            Outcome::RatioGate => factor,
            _ => format!("{factor}, {threshold}"),
        }
    }

    /// `256 MiB`.
    pub(super) fn threshold_text(&self) -> String {
        self.threshold.bytes().map_or_else(|| self.threshold.value.clone(), bytes)
    }

    /// `5 x`.
    pub(super) fn factor_text(&self) -> String {
        self.factor.number().map_or_else(|| self.factor.value.clone(), |factor| format!("{factor} x"))
    }
}

/// Both gates pass and the plan is whole: what the join type says about it.
fn passed_but_whole(plan: &StagePlan<'_>) -> String {
    let one_side = match plan.operator() {
        Operator::Join { kind, .. } => {
            splittable(&kind).map(|side| format!("but a {kind} join is split on its {side} side only"))
        }
        _ => None,
    };
    one_side.unwrap_or_else(|| {
        "but splitting would have needed another shuffle, or each side alone is below them; the log does not tell"
            .to_owned()
    })
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        if let Some(state) = view.skipped(&context.floors) {
            return Err(state);
        }
        let plan = view.plan();
        if plan.execution.is_none() {
            return Err(State::NotApplicable("no SQL execution: AQE has no part in it".to_owned()));
        }
        if !is_skewed(context, view) {
            return Err(State::NotFired);
        }
        if !view.measured() {
            return Err(State::NotRecorded("Shuffle Read Metrics".to_owned()));
        }
        if context.run.application.version.is_none() {
            return Err(State::NotRecorded("Spark version, for its defaults".to_owned()));
        }
        let gates = gates(view, plan)
            .ok_or_else(|| State::NotApplicable("it reads no shuffle, or its settings are not known".to_owned()))?;
        if gates.outcome == Outcome::Split { Err(State::NotFired) } else { Ok(describe(context, view, plan, &gates)) }
    })
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, plan: &StagePlan<'_>, gates: &Gates) -> Verdict {
    let mut verdict = on_stage(context, view, None);
    verdict.severity = Severity::Information;
    verdict.message = format!("AQE left it whole: {}", gates.why(plan));
    verdict.short = gates.short();
    verdict.prove(
        "largest shuffle read of a task over the median",
        format!("{} ({} / {})", ratio(gates.ratio()), bytes(gates.largest), bytes(gates.median)),
        Some(format!("> {}", gates.factor_text())),
        Some(format!("{FACTOR}, {}", gates.factor.origin)),
    );
    verdict.prove(
        "largest shuffle read of a task",
        bytes(gates.largest),
        Some(format!("> {}", gates.threshold_text())),
        Some(format!("{THRESHOLD}, {}", gates.threshold.origin)),
    );
    verdict.prove(ENABLED, gates.enabled.value.clone(), None, Some(gates.enabled.origin.clone()));
    verdict.prove(SKEW_JOIN, gates.skew_join.value.clone(), None, Some(gates.skew_join.origin.clone()));
    verdict
        .confounders
        .push("tasks' shuffle reads stand for partition sizes; for a join they sum both sides".to_owned());
    if plan.coalesced_by_aqe()
        && let Some(before) = plan.partitions_before_aqe()
    {
        verdict.confounders.push(format!("AQE merged {before} partitions into {} tasks first", view.count()));
    }
    verdict.advice = advice::for_gates(context.run, plan, gates);
    verdict
}
