//! What the log can tell at all.

use super::words::{count, grouped};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Subject, Verdict};
use crate::run::model::Coverage;
use crate::run::summary::Summary;

declare_rule! {
    /// How much of the run is in its log.
    ///
    /// ## Why
    /// Every other finding rests on what the log holds. A log that was cut, lost a file or was compacted still tells
    /// much, but the absence of a finding in it means nothing. This rule comes first and says what is missing.
    ///
    /// ## Silent when
    /// The application ended in the log, every announced task is there and every line is an event.
    ///
    /// ## Example
    /// ```text
    /// the log ends at byte 201,985 in the middle of a line: 412 of 600 tasks are in it
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// log complete, 600 of 600 tasks
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/monitoring.html>
    pub LOG_COVERAGE = {
        name: "log-coverage", group: Run, severity: Information, confidence: Measured,
        since: "0.1.0",
        options: [
            ("stage-coverage", 0.9, "share of a stage's tasks that must be in the log for a verdict on it"),
            ("stage-share", 0.005, "stages shorter than this share of the run are skipped"),
            ("paint-seconds", 5.0, "findings that cost less than this (in seconds) are not shown on lines"),
            ("paint-share", 0.01, "findings that cost less than this share of the run are not shown on lines"),
        ],
        check: Run(check),
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let coverage = &context.run.coverage;
    let gaps = gaps(coverage);
    let tasks = format!("{} of {}", grouped(coverage.tasks_seen), count(coverage.tasks_expected, "task"));
    let mut verdict = if gaps.is_empty() {
        Verdict {
            message: format!("log complete, {tasks}"),
            ..Verdict::quiet(context.rule, State::NotFired, Vec::new())
        }
    } else {
        let mut verdict = Verdict::fired(context.rule, Subject::Run, Vec::new());
        verdict.message = format!("{}; {tasks} are in it", gaps.join("; "));
        verdict.short = if coverage.summary.is_some() { Summary::NAME } else { "log incomplete" }.to_owned();
        verdict
    };
    verdict.severity = Severity::Information;
    if coverage.summary.is_none() {
        verdict.prove("events", grouped(coverage.events), None, None);
        verdict.confounders.clone_from(&coverage.notes);
    }
    verdict.prove("tasks", tasks, None, None);
    for (name, number) in &coverage.unknown_events {
        verdict.prove("unknown event", format!("{name} x {}", grouped(*number)), None, None);
    }
    vec![verdict]
}

/// What is missing, one phrase each.
fn gaps(coverage: &Coverage) -> Vec<String> {
    let mut gaps = Vec::new();
    if let Some(summary) = &coverage.summary {
        gaps.push("not the event log, but what the server tells through its REST API".to_owned());
        gaps.extend(summary.gaps());
        return gaps;
    }
    if let Some(offset) = coverage.cut_at {
        gaps.push(format!("the log ends at byte {} in the middle of a line", grouped(offset)));
    }
    if coverage.bad_lines > 0 {
        let offsets: Vec<String> = coverage.bad_offsets.iter().map(|&offset| grouped(offset)).collect();
        gaps.push(format!("{} no event (at byte {})", bad_lines(coverage.bad_lines), offsets.join(", ")));
    }
    if !coverage.missing_files.is_empty() {
        let files: Vec<String> = coverage.missing_files.iter().map(u64::to_string).collect();
        gaps.push(format!("file {} of the rolled log is missing", files.join(", ")));
    }
    if coverage.compacted {
        gaps.push("early events were compacted away".to_owned());
    }
    if gaps.is_empty() && !coverage.complete {
        gaps.push("the log has no end of the application".to_owned());
    }
    gaps
}

fn bad_lines(number: u64) -> String {
    if number == 1 { "1 line is".to_owned() } else { format!("{} lines are", grouped(number)) }
}
