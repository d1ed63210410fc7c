//! Names of the model's values as people and machines read them.

use crate::rules::{Check, Confidence, FixKind, Group, Severity};

pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Hint => "hint",
        Severity::Information => "information",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

pub(super) fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Experimental => "experimental",
        Confidence::Reasoned => "reasoned",
        Confidence::Measured => "measured",
        Confidence::Documented => "documented",
        Confidence::Validated => "validated",
    }
}

pub(super) fn group(group: Group) -> &'static str {
    match group {
        Group::Settings => "settings",
        Group::Carriers => "carriers",
        Group::Driver => "driver",
        Group::Plan => "plan",
        Group::Cache => "cache",
        Group::Joins => "joins",
        Group::Partitions => "partitions",
        Group::Reads => "reads",
        Group::Udfs => "udfs",
        Group::Windows => "windows",
        Group::Streaming => "streaming",
        Group::Correctness => "correctness",
        Group::Run => "run",
    }
}

/// What a rule looks at.
pub(super) fn check(check: Check) -> &'static str {
    match check {
        Check::Settings(_) => "settings",
        Check::Code(_) => "code",
        Check::Run(_) => "run",
    }
}

pub(super) fn fix_kind(kind: FixKind) -> &'static str {
    match kind {
        FixKind::QuickFix => "quickfix",
        FixKind::Refactor => "refactor",
        FixKind::Source => "source",
    }
}

/// `1 file`, `2 files`.
pub(super) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
