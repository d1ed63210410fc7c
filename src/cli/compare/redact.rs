//! A comparison that can be shown to others.
//!
//! The runs are compared as they are, so that redacting changes no number; then what is shown is redacted.

use std::collections::BTreeMap;

use super::{Compared, Page};
use crate::compare::{ActionChange, ActionFigures, BudgetState, Comparison, Held, PlanChange, StageFigures};
use crate::run::keys::{StageIdentity, stage_identities};
use crate::run::model::StageKey;
use crate::run::redact::{Redactor, redact_key};

type Identities = BTreeMap<StageKey, StageIdentity>;

impl Page {
    /// Replaces names and paths in all that a form shows; one thing has one replacement in all runs.
    pub(super) fn redact(&mut self) {
        let mut runs = vec![&self.base.run];
        runs.extend(self.candidates.iter().map(|compared| &compared.read.run));
        let mut texts = Redactor::of(&runs);
        texts.run(&mut self.base.run);
        "a log".clone_into(&mut self.base.source);
        let base = stage_identities(&self.base.run);
        for Compared { read, comparison } in &mut self.candidates {
            texts.run(&mut read.run);
            "a log".clone_into(&mut read.source);
            let identities = [&base, &stage_identities(&read.run)];
            comparison.actions.iter_mut().for_each(|change| action(change, identities, &mut texts));
            besides_actions(comparison, &mut texts);
        }
        // They name files and addresses.
        for error in &mut self.errors {
            "a candidate can't be read".clone_into(error);
        }
    }
}

fn action(change: &mut ActionChange, [base, candidate]: [&Identities; 2], texts: &mut Redactor) {
    for ActionFigures { site, failure, .. } in change.base.iter_mut().chain(&mut change.candidate) {
        texts.redact_site(site);
        failure.iter_mut().for_each(|failure| texts.redact(failure));
    }
    for stage in &mut change.stages {
        label(&mut stage.base, base);
        label(&mut stage.candidate, candidate);
    }
    for change in &mut change.plan {
        match change {
            PlanChange::Join { keys: name, .. } | PlanChange::Operator { name, .. } => texts.redact(name),
            PlanChange::Adaptive { .. } => {}
        }
    }
}

/// Takes the label from the redacted run: it is made of parts of names and paths, which nothing would find in it.
fn label(stage: &mut Option<StageFigures>, identities: &Identities) {
    if let Some(stage) = stage {
        stage.label = identities.get(&stage.key).map(|identity| identity.label.clone()).unwrap_or_default();
    }
}

fn besides_actions(comparison: &mut Comparison, texts: &mut Redactor) {
    comparison.gaps.iter_mut().for_each(|gap| texts.redact(gap));
    for budget in &mut comparison.budgets {
        if let BudgetState::NotEvaluated(why) = &mut budget.state {
            texts.redact(why);
        }
    }
    for setting in &mut comparison.settings {
        setting.key = redact_key(&setting.key).into_owned();
        for held in [&mut setting.base, &mut setting.candidate] {
            if let Held::Set(value) = held {
                texts.redact(value);
            }
        }
    }
    comparison.used_defaults.iter_mut().for_each(|used| texts.redact(&mut used.used_by));
}
