//! What a rule on a run reports.

use std::borrow::Cow;

use super::{Confidence, Evidence, Rule, Severity};
use crate::run::Run;
use crate::run::model::StageKey;
use crate::run::summary::Summary;

/// What a verdict is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The whole run.
    Run,
    /// A stage attempt.
    Stage(StageKey),
    /// A host, in one stage or over several.
    Host(String),
    /// A SQL execution.
    Execution(i64),
}

/// The four states of a check; the last two never read as "no problem".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The formula holds.
    Fired,
    /// It was evaluated and does not hold.
    NotFired,
    /// It could not be applied, and why.
    NotApplicable(String),
    /// A field that it needs is not in the log.
    NotRecorded(String),
}

/// A rule's word on one subject of a run.
///
/// Verdicts that did not fire are one for all stages with the same state: their subject is the run, their stages are
/// in [`Verdict::stages`].
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The rule's slug.
    pub rule: &'static str,
    /// Fired or not.
    pub state: State,
    /// What it is about.
    pub subject: Subject,
    /// Stages it touches, most costly first (a host's stages; one for a stage).
    pub stages: Vec<StageKey>,
    /// How bad; meaningful when fired.
    pub severity: Severity,
    /// Where the knowledge comes from.
    pub confidence: Confidence,
    /// Seconds that the stage (or run) would have ended earlier.
    pub impact_s: Option<f64>,
    /// One line for the end of a code line: `max 40 x median · not split by AQE`.
    pub short: String,
    /// What is there and what it costs, with numbers; one line.
    pub message: String,
    /// What to do, best first; imperative, one thought each.
    pub advice: Vec<String>,
    /// What could explain it otherwise, in the order of the specification.
    pub confounders: Vec<String>,
    /// The numbers of the formula, with thresholds.
    pub evidence: Vec<Evidence>,
    /// May be painted on a line of code (a verbatim slow-host hit with a confounder may not).
    pub paintable: bool,
}

impl Verdict {
    /// A verdict that fired, with the rule's own severity; not paintable until its impact says so.
    pub fn fired(rule: &'static Rule, subject: Subject, stages: Vec<StageKey>) -> Self {
        Self {
            rule: rule.name,
            state: State::Fired,
            subject,
            stages,
            severity: rule.severity,
            confidence: rule.confidence,
            impact_s: None,
            short: String::new(),
            message: String::new(),
            advice: Vec::new(),
            confounders: Vec::new(),
            evidence: Vec::new(),
            paintable: false,
        }
    }

    /// The same state for all these stages.
    pub fn quiet(rule: &'static Rule, state: State, stages: Vec<StageKey>) -> Self {
        Self { state, severity: Severity::Hint, ..Self::fired(rule, Subject::Run, stages) }
    }

    /// Whether the formula holds.
    pub fn is_fired(&self) -> bool {
        self.state == State::Fired
    }

    /// Gives back the room for more text, advice and evidence.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.advice.shrink_to_fit();
        self.confounders.shrink_to_fit();
        self.evidence.shrink_to_fit();
        let texts =
            [&mut self.short, &mut self.message].into_iter().chain(&mut self.advice).chain(&mut self.confounders);
        let numbers = self
            .evidence
            .iter_mut()
            .flat_map(|one| std::iter::once(&mut one.value).chain(one.threshold.as_mut()).chain(one.source.as_mut()));
        texts.chain(numbers).for_each(String::shrink_to_fit);
    }

    /// Adds a number that the verdict rests on.
    pub(crate) fn prove(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: String,
        threshold: Option<String>,
        source: Option<String>,
    ) {
        self.evidence.push(Evidence { name: name.into(), value, threshold, source });
    }
}

/// A run with the word of every rule on it.
#[derive(Debug, Clone, Default)]
pub struct MeasuredRun {
    /// What people call it: application id, else the file's name.
    pub label: String,
    /// Where it was read from, as given by the user.
    pub source: String,
    /// The run.
    pub run: Run,
    /// All verdicts, fired ones by impact first.
    pub verdicts: Vec<Verdict>,
}

impl MeasuredRun {
    /// `app-20261129-0007 (Spark 3.5.9)`, and that it is no log if it is none.
    pub fn words(&self) -> String {
        let version = self.run.application.version.map(|version| format!("Spark {version}"));
        let summary = self.run.coverage.summary.as_ref().map(|_| Summary::NAME.to_owned());
        let about: Vec<String> = version.into_iter().chain(summary).collect();
        if about.is_empty() { self.label.clone() } else { format!("{} ({})", self.label, about.join(", ")) }
    }
}
