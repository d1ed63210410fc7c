//! What was found, with its numbers.

use maud::{Markup, html};

use crate::cli::report::summary::{Summary, Title};
use crate::cli::words::confidence;
use crate::rules::Verdict;

/// All findings that are shown, in order.
pub(super) fn render(summary: &Summary<'_>) -> Markup {
    html! {
        section {
            h2 { "Findings" }
            @if summary.shown.is_empty() { p { "Nothing that costs enough to be worth a word." } }
            @for verdict in &summary.shown { (finding(summary, verdict)) }
        }
    }
}

fn finding(summary: &Summary<'_>, verdict: &Verdict) -> Markup {
    let Title { severity, place, saving } = summary.title(verdict);
    html! {
        article class={ "finding " (severity) } {
            h3 {
                span.severity { (severity) } " " code { (verdict.rule) }
                @if !place.is_empty() {
                    " "
                    @match verdict.stages.as_slice() {
                        [stage] => a href={ "#stage-" (stage.stage) } { (place) },
                        _ => span { (place) },
                    }
                }
                @if let Some(saving) = saving { span.saving { (saving) " if fixed" } }
            }
            p { (verdict.message) }
            @if !verdict.advice.is_empty() {
                ul.advice { @for advice in &verdict.advice { li { (advice) } } }
            }
            @if !verdict.confounders.is_empty() {
                ul.confounders { @for confounder in &verdict.confounders { li { (confounder) } } }
            }
            details {
                summary { "Evidence, " (confidence(verdict.confidence)) }
                div.wide {
                    table {
                        thead { tr { th { "" } th { "Measured" } th { "Threshold" } th { "From" } } }
                        tbody {
                            @for evidence in &verdict.evidence {
                                tr {
                                    th scope="row" { (evidence.name) }
                                    td { (evidence.value) }
                                    td { (evidence.threshold.as_deref().unwrap_or("")) }
                                    td { (evidence.source.as_deref().unwrap_or("")) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
