//! Values of a comparison as people read them.

use crate::catalog::Default;
use crate::cli::explain::setting::default_words;
use crate::compare::{Adaptive, Budget, BudgetResult, BudgetState, Held, Judgement, PlanChange, SettingChange};
use crate::rules::run::words::{bytes, count, duration, percent, ratio};

pub(super) fn judgement(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Slower => "slower",
        Judgement::Faster => "faster",
        Judgement::NoChange => "no change",
        Judgement::Inconclusive => "inconclusive",
    }
}

pub(super) fn arrow(base: &str, candidate: &str) -> String {
    format!("{base} -> {candidate}")
}

/// `+3.2 s`, `-1 min 53 s`.
pub(super) fn signed(ms: f64) -> String {
    let sign = if ms < 0.0 { '-' } else { '+' };
    format!("{sign}{}", duration(ms.abs()))
}

/// A call site; where the JVM stood says nothing about the code.
pub(super) fn site(logged: &str) -> String {
    match logged.rsplit_once(" at ") {
        Some((function, place)) if place.contains(".java:") || place.contains("<unknown>") => function.to_owned(),
        _ if logged.is_empty() => "an action".to_owned(),
        _ => logged.to_owned(),
    }
}

/// `SortMergeJoin -> BroadcastHashJoin on customer_id`, `Exchange 4 -> 2`.
pub(super) fn plan(change: &PlanChange) -> String {
    let counts = |base: &u32, candidate: &u32| arrow(&base.to_string(), &candidate.to_string());
    match change {
        PlanChange::Join { keys, base, candidate } if keys.is_empty() => arrow(base, candidate),
        PlanChange::Join { keys, base, candidate } => format!("{} on {keys}", arrow(base, candidate)),
        PlanChange::Operator { name, base, candidate } => format!("{name} {}", counts(base, candidate)),
        PlanChange::Adaptive { what, base, candidate } => {
            let what = match what {
                Adaptive::Split => "AQE splits skewed partitions",
                Adaptive::Merged => "AQE merges small partitions",
                Adaptive::Local => "AQE reads them where they were written",
            };
            format!("{what} in {} shuffle reads", counts(base, candidate))
        }
    }
}

/// What a setting was before and after.
pub(super) fn setting(change: &SettingChange) -> String {
    let held = |held: &Held| match held {
        Held::Set(value) if value.is_empty() => "empty".to_owned(),
        Held::Set(value) => value.clone(),
        Held::Default(value) => format!("{value} (default)"),
        Held::Unset => "not set".to_owned(),
    };
    let words = arrow(&held(&change.base), &held(&change.candidate));
    match change.executions {
        Some(executions) => format!("{words}, at run time in {}", count(executions as u64, "execution")),
        None => words,
    }
}

pub(super) fn defaults(old: Default, new: Default) -> String {
    arrow(&default_words(old), &default_words(new))
}

pub(super) fn budget_name(budget: Budget) -> &'static str {
    match budget {
        Budget::Runtime => "run time",
        Budget::Skew => "longest task over the median",
        Budget::Spill => "spill",
        Budget::FailedTaskRate => "failed tasks",
        Budget::Regression => "longer than the base",
    }
}

/// A value of a budget in its unit.
pub(super) fn budget_value(budget: Budget, value: f64) -> String {
    match budget {
        Budget::Runtime => duration(value),
        Budget::Skew => ratio(value),
        Budget::Spill => bytes(value),
        Budget::Regression if value < 0.0 => format!("-{}", percent(-value)),
        Budget::FailedTaskRate | Budget::Regression => percent(value),
    }
}

pub(super) fn budget_state(state: &BudgetState) -> &'static str {
    match state {
        BudgetState::Met => "met",
        BudgetState::Violated => "violated",
        BudgetState::NotEvaluated(_) => "not evaluated",
    }
}

/// What a candidate has of a budget, and where.
pub(super) fn budget_measured(result: &BudgetResult) -> String {
    let words = match (result.measured, result.budget) {
        (Some(value), budget) => budget_value(budget, value),
        (None, Budget::Skew) => "no stage where it matters".to_owned(),
        (None, _) => "not recorded".to_owned(),
    };
    match result.stage {
        Some(key) => format!("{words} in stage {}", key.stage),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_sites_of_the_jvm_are_left_out() {
        assert_eq!(site("count at NativeMethodAccessorImpl.java:0"), "count");
        assert_eq!(site("count at <unknown>:0"), "count");
        assert_eq!(site("collect at /srv/jobs/a at b.py:8"), "collect at /srv/jobs/a at b.py:8");
        assert_eq!(site("load customers from CRM"), "load customers from CRM");
    }
}
