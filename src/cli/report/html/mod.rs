//! The report as one page for a browser or an editor's web view: it loads nothing and runs no script.

mod findings;
mod plans;
mod stages;
mod svg;
mod timeline;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::summary::Summary;
use crate::rules::run::words::{count, duration};

const STYLE: &str = include_str!("report.css");

/// Nothing may be fetched, whatever a log holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The whole page.
pub(super) fn render(summary: &Summary<'_>) -> String {
    let title = summary.head.first().map_or("A Spark run", String::as_str);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) " · sparkls" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p.facts { @for part in summary.head.iter().skip(1) { span { (part) } } }
                    @for note in summary.notes { p.note { (note) } }
                }
                main {
                    (costs(summary))
                    (timeline::render(summary))
                    (findings::render(summary))
                    (stages::render(summary))
                    (plans::render(summary))
                    (unspoken(summary))
                }
                footer { "sparkls " (env!("CARGO_PKG_VERSION")) ", from " (summary.measured.source) }
            }
        }
    };
    page.into_string()
}

/// Where the time went: the same table as in the other forms.
fn costs(summary: &Summary<'_>) -> Markup {
    html! {
        @if !summary.rows.is_empty() {
            section {
                h2 { "Where the time went" }
                div.wide {
                    table {
                        thead { tr { th { "Stage" } th { "What" } th.number { "Time" } th { "Why" } th.number { "If fixed" } } }
                        tbody {
                            @for row in &summary.rows {
                                tr {
                                    td { a href={ "#stage-" (row.stage.stage) } { (row.stage.stage) } }
                                    td { (row.what) }
                                    td.number { (duration(row.wall_ms)) }
                                    td { (row.short) }
                                    td.number { (row.saving().unwrap_or_default()) }
                                }
                            }
                        }
                    }
                }
                @if summary.more_rows > 0 { p.note { "and " (count(summary.more_rows as u64, "stage")) " more" } }
            }
        }
    }
}

fn unspoken(summary: &Summary<'_>) -> Markup {
    html! {
        @if !summary.unspoken.is_empty() {
            section {
                h2 { "What else was checked" }
                ul { @for sentence in &summary.unspoken { li { (sentence) } } }
            }
        }
    }
}
