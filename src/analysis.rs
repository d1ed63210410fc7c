//! The one pipeline: (document facts, effective configuration, catalogue, linked runs) to findings and line notes.
//!
//! A pure function of immutable snapshots. The server and the command line call the same one.

mod measured;

use std::path::Path;

use crate::conf::{EffectiveConf, Setting};
use crate::pyspark::StaticPlan;
use crate::rules::{Environment, Finding, RunView, Severity};
use crate::text::Span;

/// What a document is, and what was read out of it.
#[derive(Debug, Clone)]
pub enum Facts {
    /// A properties file: its settings, and the findings of its reader (malformed escapes, dropped keys).
    Properties {
        /// Settings in source order.
        settings: Vec<Setting>,
    },
    /// A Python file.
    Python(std::sync::Arc<StaticPlan>),
    /// Nothing of Spark.
    Nothing,
}

impl Facts {
    /// The settings written in the document.
    pub fn settings(&self) -> &[Setting] {
        match self {
            Self::Properties { settings } => settings,
            Self::Python(plan) => &plan.settings,
            Self::Nothing => &[],
        }
    }

    /// The static plan of a Python document.
    pub fn plan(&self) -> Option<&StaticPlan> {
        match self {
            Self::Python(plan) => Some(plan),
            Self::Properties { .. } | Self::Nothing => None,
        }
    }
}

/// Everything that one document's analysis reads.
pub struct Input<'a> {
    /// The document's path, for the guards on tests and for messages; may not exist.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// What was read out of it.
    pub facts: &'a Facts,
    /// The project.
    pub environment: &'a Environment,
    /// The effective configuration of the job that the document belongs to.
    pub conf: &'a EffectiveConf,
    /// Linked runs, newest first, with their links into this document.
    pub runs: &'a [RunView<'a>],
}

/// A measured line: what stands at its end, and the hover's text.
#[derive(Debug, Clone, PartialEq)]
pub struct LineNote {
    /// The call that it belongs to.
    pub span: Span,
    /// `stage 12 · max 40 x median · not split by AQE`.
    pub short: String,
    /// Markdown for the hover.
    pub details: String,
    /// How bad the worst verdict on it is.
    pub severity: Option<Severity>,
}

/// What one document's analysis found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Analysis {
    /// Findings in source order; suppressed and switched-off ones are gone.
    pub findings: Vec<Finding>,
    /// Measured lines in source order.
    pub notes: Vec<LineNote>,
    /// What the linked runs say that has no line here, one sentence each.
    pub summary: Vec<String>,
}

/// Analyses one document.
pub fn analyse(input: &Input<'_>) -> Analysis {
    let mut analysis = Analysis::default();
    measured::measure(input, &mut analysis);
    analysis
}
