//! What a rule reports: plain data, in bytes of one document version.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use super::Rule;
use crate::text::Span;

/// How bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Offered, not asked for.
    Hint,
    /// Worth knowing.
    Information,
    /// Costs time or money in a proven case.
    Warning,
    /// The application will not start, or the value is refused.
    Error,
}

/// Where the knowledge comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A heuristic that has not been validated.
    Experimental,
    /// Follows from how settings relate; no documented rule.
    Reasoned,
    /// Numbers of a real run.
    Measured,
    /// Spark's documentation or code.
    Documented,
    /// Checked on labelled runs.
    Validated,
}

/// A number that a finding rests on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Evidence {
    /// What was looked at, e.g. `median task duration`.
    pub name: Cow<'static, str>,
    /// What it is, with its unit, e.g. `1.2 s`.
    pub value: String,
    /// The threshold it was held against, e.g. `>= 3 x median`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<String>,
    /// Where it comes from: a setting with its origin, a run, a version's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Another place that belongs to the finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The document; `None` for the finding's own.
    pub path: Option<Arc<PathBuf>>,
    /// Where.
    pub span: Span,
    /// What is there.
    pub message: String,
}

/// What an editor offers a fix as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FixKind {
    /// Removes the finding.
    QuickFix,
    /// Rewrites code that is not proven wrong, or inserts a diagnostic query.
    Refactor,
    /// For the whole file.
    Source,
}

/// A replacement of bytes. Edits of one fix never overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// The new text, with `\n` as line end; whoever applies it uses the document's own.
    pub text: String,
}

/// A change that is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an imperative: `Replace collect() by take(100)`.
    pub title: String,
    /// How it is offered.
    pub kind: FixKind,
    /// Keeps the job's result; only safe fixes are applied without being asked (`--fix`, fixAll).
    pub safe: bool,
    /// The change.
    pub edits: Vec<Edit>,
}

/// One thing worth a word.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule's slug.
    pub rule: &'static str,
    /// How bad.
    pub severity: Severity,
    /// Where the knowledge comes from.
    pub confidence: Confidence,
    /// What is there, what it costs, what to do: one or two sentences.
    pub message: String,
    /// The smallest thing to change.
    pub span: Span,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// Other places.
    pub related: Vec<Related>,
    /// What can be done, best first.
    pub fixes: Vec<Fix>,
    /// The text under the span has no effect (shown faded).
    pub unnecessary: bool,
    /// The text under the span is deprecated (shown struck through).
    pub deprecated: bool,
}

impl Finding {
    /// A finding of a rule with the rule's own confidence, and nothing but its message.
    pub fn new(rule: &Rule, severity: Severity, span: Span, message: impl Into<String>) -> Self {
        Self {
            rule: rule.name,
            severity,
            confidence: rule.confidence,
            message: message.into(),
            span,
            evidence: Vec::new(),
            related: Vec::new(),
            fixes: Vec::new(),
            unnecessary: false,
            deprecated: false,
        }
    }

    /// The finding with what was measured, and with the confidence of it; unchanged if nothing was.
    pub fn with_measured(mut self, evidence: Option<Evidence>) -> Self {
        if evidence.is_some() {
            self.confidence = Confidence::Measured;
        }
        self.evidence.extend(evidence);
        self
    }

    /// The finding with what can be done.
    pub fn with_fixes(mut self, fixes: impl IntoIterator<Item = Fix>) -> Self {
        self.fixes.extend(fixes);
        self
    }

    /// The finding with another place of the same document.
    pub fn with_related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related { path: None, span, message: message.into() });
        self
    }
}
