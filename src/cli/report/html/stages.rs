//! The stages that matter: how their tasks spread, and what each host did.

use maud::{Markup, html};

use super::svg::{Mark, histogram};
use crate::cli::report::summary::Summary;
use crate::rules::run::stage_noun;
use crate::rules::run::view::StageView;
use crate::rules::run::words::{bytes, count, duration, percent};
use crate::run::stats::{Distribution, mean, median, pick};
use crate::run::{Column, Rows};

/// Hosts of a stage that are listed; the slowest ones.
const HOSTS: usize = 20;

/// A section for each stage of the table of costs.
pub(super) fn render(summary: &Summary<'_>) -> Markup {
    let views = summary.rows.iter().filter_map(|row| Some((row, StageView::new(&summary.measured.run, row.stage)?)));
    html! {
        @if !summary.rows.is_empty() {
            section {
                h2 { "The stages that matter" }
                @for (row, view) in views {
                    article.stage id={ "stage-" (row.stage.stage) } {
                        h3 { "Stage " (row.stage.stage) span.what { (if row.what.is_empty() { stage_noun(view.run, view.key) } else { &row.what }) } }
                        p.facts {
                            span { (duration(view.wall_ms)) " of the run's " (duration(view.run_ms)) }
                            span { (count(view.count() as u64, "task")) }
                            @if let Some(cores) = view.cores { span { (count(cores.round() as u64, "core")) } }
                        }
                        div.charts {
                            (durations(&view))
                            (reads(&view))
                        }
                        (hosts(&view))
                    }
                }
            }
        }
    }
}

fn durations(view: &StageView<'_>) -> Markup {
    let values = view.durations();
    chart("Task duration", &values, duration)
}

fn reads(view: &StageView<'_>) -> Markup {
    match view.column(&view.tasks().read_bytes) {
        Some(values) => chart("Read by a task", &values, bytes),
        None => html! { figure { figcaption { b { "Read by a task" } span { "not recorded" } } } },
    }
}

fn chart(title: &str, values: &[u64], unit: impl Fn(f64) -> String + Copy) -> Markup {
    let Some(spread) = Distribution::of(values).filter(|spread| spread.max > 0) else {
        return html! { figure { figcaption { b { (title) } span { "nothing" } } } };
    };
    let marks = [
        Mark { at: spread.median, label: format!("median {}", unit(spread.median)) },
        Mark { at: spread.p95 as f64, label: format!("95 % within {}", unit(spread.p95 as f64)) },
    ];
    html! {
        figure {
            figcaption {
                b { (title) }
                span { "median " (unit(spread.median)) }
                span { "p75 " (unit(spread.p75 as f64)) }
                span { "p95 " (unit(spread.p95 as f64)) }
                span { "max " (unit(spread.max as f64)) }
            }
            (histogram(values, &marks, unit))
        }
    }
}

/// What a host did in a stage.
struct Host<'a> {
    name: &'a str,
    tasks: usize,
    median_ms: f64,
    mean_ms: f64,
    time_ms: u64,
    read: Option<f64>,
    gc_share: Option<f64>,
}

fn hosts(view: &StageView<'_>) -> Markup {
    let mut hosts: Vec<Host<'_>> = view.by_host().into_values().map(|rows| host(view, &rows)).collect();
    if hosts.len() < 2 {
        return html! {};
    }
    hosts.sort_by(|a, b| b.median_ms.total_cmp(&a.median_ms).then(a.name.cmp(b.name)));
    let more = hosts.len().saturating_sub(HOSTS);
    let all: u64 = hosts.iter().map(|host| host.time_ms).sum::<u64>().max(1);
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "not recorded".to_owned());
    html! {
        div.wide {
            table {
                thead {
                    tr {
                        th { "Host" } th.number { "Tasks" } th.number { "Median" } th.number { "Mean" }
                        th.number { "Share of time" } th.number { "Median read" } th.number { "GC" }
                    }
                }
                tbody {
                    @for host in hosts.iter().take(HOSTS) {
                        tr {
                            td { (host.name) }
                            td.number { (host.tasks) }
                            td.number { (duration(host.median_ms)) }
                            td.number { (duration(host.mean_ms)) }
                            td.number { (percent(host.time_ms as f64 / all as f64)) }
                            td.number { (or_unknown(host.read.map(bytes))) }
                            td.number { (or_unknown(host.gc_share.map(percent))) }
                        }
                    }
                }
            }
        }
        @if more > 0 { p.note { "and " (count(more as u64, "host")) " more" } }
    }
}

fn host<'a>(view: &StageView<'a>, rows: &Rows) -> Host<'a> {
    let tasks = view.tasks();
    let durations = pick(&tasks.duration, rows);
    let measured = |column: &Column| view.measured().then(|| pick(column, rows));
    let sum = |values: Vec<u64>| values.into_iter().fold(0, u64::saturating_add) as f64;
    let gc = measured(&tasks.gc_time).map(sum);
    let run_time = measured(&tasks.run_time).map(sum);
    Host {
        name: rows.first().map_or("", |row| view.host(row)),
        tasks: rows.len(),
        median_ms: median(&durations).unwrap_or(0.0),
        mean_ms: mean(&durations).unwrap_or(0.0),
        time_ms: durations.iter().sum(),
        read: measured(&tasks.read_bytes).and_then(|values| median(&values)),
        gc_share: gc.zip(run_time).map(|(gc, time)| gc / time.max(1.0)),
    }
}
