//! What linked runs say about a document: findings on lines, notes at their ends, a summary for the rest.

use std::collections::BTreeMap;

use super::{Analysis, Input, LineNote};
use crate::link::{Certainty, Link, Links, Measured};
use crate::rules::{Evidence, Finding, MeasuredRun, RunView, State, Subject, Verdict};
use crate::run::Run;
use crate::run::model::StageKey;
use crate::text::Span;

/// Adds what the linked runs say to an analysis.
pub(super) fn measure(input: &Input<'_>, analysis: &mut Analysis) {
    for view in input.runs {
        let mut lines = Lines::default();
        for verdict in view.measured.verdicts.iter().filter(|verdict| verdict.state == State::Fired) {
            match place(verdict, view.links) {
                Some(link) if verdict.paintable => lines.add(link, verdict),
                Some(_) => {}
                None => analysis.summary.extend(unlinked(verdict, view)),
            }
        }
        analysis.findings.extend(lines.findings(view.measured));
        analysis.notes.extend(notes(view, &lines));
        analysis.summary.extend(view.links.unlinked.iter().filter(|(measured, _)| is_costly(view, *measured)).map(
            |(measured, reason)| {
                format!("{}: {} is not tied to a line: {reason}", view.measured.label, name(*measured))
            },
        ));
    }
    analysis.notes.sort_by_key(|note| note.span);
}

/// Fired verdicts by the call that they belong to.
#[derive(Default)]
struct Lines<'a> {
    by_span: BTreeMap<Span, Vec<(&'a Link, &'a Verdict)>>,
}

impl<'a> Lines<'a> {
    fn add(&mut self, link: &'a Link, verdict: &'a Verdict) {
        self.by_span.entry(link.span).or_default().push((link, verdict));
    }

    /// One finding a rule and call: that of the costliest stage.
    fn findings(&self, run: &MeasuredRun) -> Vec<Finding> {
        let mut findings = Vec::new();
        for verdicts in self.by_span.values() {
            let mut by_rule: BTreeMap<&str, Vec<&(&Link, &Verdict)>> = BTreeMap::new();
            for pair in verdicts {
                by_rule.entry(pair.1.rule).or_default().push(pair);
            }
            if by_rule.contains_key("slow-host-median") {
                // A straggler on a line with a slow host is that host's.
                by_rule.remove("straggler");
            }
            findings.extend(by_rule.values().filter_map(|pairs| finding(run, pairs)));
        }
        findings
    }
}

/// The finding of one rule on one call, from its costliest verdict.
fn finding(run: &MeasuredRun, pairs: &[&(&Link, &Verdict)]) -> Option<Finding> {
    let impact = |verdict: &Verdict| verdict.impact_s.unwrap_or(0.0);
    let &&(link, verdict) = pairs.iter().max_by(|one, other| impact(one.1).total_cmp(&impact(other.1)))?;
    let mut evidence = verdict.evidence.clone();
    evidence.extend(verdict.confounders.iter().map(|text| plain("could also be", text)));
    evidence.extend(verdict.advice.iter().map(|text| plain("fix", text)));
    if pairs.len() > 1 {
        evidence.push(plain("also", &format!("{} more stages of this call", pairs.len() - 1)));
    }
    evidence.push(plain("measured in", &provenance(run, link)));
    Some(Finding {
        rule: verdict.rule,
        severity: verdict.severity,
        confidence: verdict.confidence,
        message: verdict.message.clone(),
        span: link.span,
        evidence,
        related: Vec::new(),
        fixes: Vec::new(),
        unnecessary: false,
        deprecated: false,
    })
}

fn plain(name: &str, value: &str) -> Evidence {
    Evidence { name: name.to_owned().into(), value: value.to_owned(), threshold: None, source: None }
}

/// `app-20261129-0007 (Spark 3.5.9), linked by join keys merchant_id (unique)`.
fn provenance(run: &MeasuredRun, link: &Link) -> String {
    format!("{}, linked by {} ({})", run.words(), link.reason, link.certainty.name())
}

/// The call that a verdict belongs to, if that is at least likely.
fn place<'a>(verdict: &Verdict, links: &'a Links) -> Option<&'a Link> {
    let measured: Vec<Measured> = match &verdict.subject {
        Subject::Execution(id) => vec![Measured::Execution(*id)],
        Subject::Stage(_) | Subject::Host(_) => verdict.stages.iter().copied().map(Measured::Stage).collect(),
        Subject::Run => Vec::new(),
    };
    measured.into_iter().filter_map(|measured| links.best(measured)).find(|link| link.certainty >= Certainty::Likely)
}

/// A verdict that has no line here, if the run is this file's at all.
fn unlinked(verdict: &Verdict, view: &RunView<'_>) -> Option<String> {
    let of_this_file = !view.links.links.is_empty() || !view.links.unlinked.is_empty();
    (of_this_file && verdict.paintable).then(|| format!("{}: {}", view.measured.label, verdict.message))
}

/// At least one percent of the run's time.
fn is_costly(view: &RunView<'_>, measured: Measured) -> bool {
    let run = &view.measured.run;
    elapsed(run, measured).is_some_and(|ms| 100 * ms >= run.application.end - run.application.start)
}

fn name(measured: Measured) -> String {
    match measured {
        Measured::Execution(id) => format!("SQL execution {id}"),
        Measured::Job(id) => format!("job {id}"),
        Measured::Stage(key) => format!("stage {}", key.stage),
    }
}

/// What stands at the ends of lines: verdicts on operators, the cost of actions.
fn notes(view: &RunView<'_>, lines: &Lines<'_>) -> Vec<LineNote> {
    let mut notes: Vec<LineNote> =
        lines.by_span.iter().map(|(&span, pairs)| operator_note(view, span, pairs)).collect();
    for (span, cost) in action_costs(view) {
        match notes.iter_mut().find(|note| note.span == span) {
            Some(note) => note.details = format!("{}\n\n{}", cost.details(view), note.details),
            None => notes.push(LineNote { span, short: cost.short(), details: cost.details(view), severity: None }),
        }
    }
    notes
}

fn operator_note(view: &RunView<'_>, span: Span, pairs: &[(&Link, &Verdict)]) -> LineNote {
    let (_, worst) = pairs[0];
    let stage = worst.stages.first().map(|key| format!("stage {} · ", key.stage)).unwrap_or_default();
    let mut stages: Vec<StageKey> = pairs.iter().flat_map(|(_, verdict)| verdict.stages.first().copied()).collect();
    stages.sort_unstable();
    stages.dedup();
    let details: Vec<String> =
        stages.iter().map(|&key| crate::rules::run::stage_details(&view.measured.run, key)).collect();
    LineNote {
        span,
        short: format!("{stage}{}", worst.short),
        details: details.join("\n\n"),
        severity: pairs.iter().map(|(_, verdict)| verdict.severity).max(),
    }
}

/// What the executions of one action cost together.
struct ActionCost {
    executions: usize,
    total_ms: i64,
    longest_ms: i64,
    share: f64,
}

impl ActionCost {
    fn short(&self) -> String {
        let times =
            if self.executions > 1 { format!(" in {} runs of the line", self.executions) } else { String::new() };
        format!("ran {}{times} · {:.0} % of the run", seconds(self.total_ms), 100.0 * self.share)
    }

    fn details(&self, view: &RunView<'_>) -> String {
        let longest = match self.executions {
            1 => String::new(),
            _ => format!(", {} executions, longest {}", self.executions, seconds(self.longest_ms)),
        };
        format!("Ran {}{longest}: {:.0} % of run {}", seconds(self.total_ms), 100.0 * self.share, view.measured.label)
    }
}

/// Costs by the span of the action, for actions above half a percent of the run.
fn action_costs(view: &RunView<'_>) -> BTreeMap<Span, ActionCost> {
    let run = &view.measured.run;
    let whole = (run.application.end - run.application.start).max(1) as f64;
    let mut costs: BTreeMap<Span, ActionCost> = BTreeMap::new();
    for link in view.links.links.iter().filter(|link| link.certainty >= Certainty::Likely) {
        let Some(ms) = elapsed(run, link.measured) else { continue };
        let cost =
            costs.entry(link.span).or_insert(ActionCost { executions: 0, total_ms: 0, longest_ms: 0, share: 0.0 });
        cost.executions += 1;
        cost.total_ms += ms;
        cost.longest_ms = cost.longest_ms.max(ms);
        cost.share = cost.total_ms as f64 / whole;
    }
    costs.retain(|_, cost| cost.share >= 0.005);
    costs
}

/// Wall time of an execution or of a job outside SQL; nested executions count with their root.
fn elapsed(run: &Run, measured: Measured) -> Option<i64> {
    match measured {
        Measured::Execution(id) => {
            let execution = run.executions.get(&id)?;
            let nested = execution.root.is_some_and(|root| root != id && run.executions.contains_key(&root));
            (!nested).then_some((execution.end? - execution.start).max(0))
        }
        Measured::Job(id) => {
            let job = run.jobs.get(&id)?;
            Some((job.completed? - job.submitted?).max(0))
        }
        Measured::Stage(_) => None,
    }
}

fn seconds(ms: i64) -> String {
    format!("{:.1} s", ms as f64 / 1000.0)
}
