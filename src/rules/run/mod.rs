//! Rules on runs.

use super::{Check, RuleSettings, RunContext, Verdict};
use crate::run::Run;

crate::rules::rules! {}

/// The word of every rule on a run: fired ones by impact first.
pub fn verdicts(run: &Run, rules: &RuleSettings) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for rule in RULES {
        if let Check::Run(check) = rule.check {
            verdicts.extend(check(&RunContext { rule, run, rules }));
        }
    }
    verdicts
}
