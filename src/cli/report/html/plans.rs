//! The final physical plans of the executions that took the time, with the nodes that cost marked.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use crate::cli::report::summary::Summary;
use crate::link::Measured;
use crate::rules::run::words::{bytes, duration, grouped};
use crate::run::Run;
use crate::run::model::{PlanMetric, PlanNode, SqlExecution, StageKey};
use crate::run::plan::{PlanIndex, PlanPlace};
use crate::run::slots::stage_wall;

/// Executions that are shown: the longest ones with a stage in the table of costs.
const EXECUTIONS: usize = 8;
/// Nodes of a plan that are shown.
const NODES: usize = 400;
/// Steps of indentation; deeper nodes stand below one another.
const DEEPEST: usize = 24;
/// Metrics of a node that are shown.
const METRICS: usize = 5;
/// Characters of a node's text that are shown; the whole is in its tooltip.
const TEXT: usize = 120;

/// The plans.
pub(super) fn render(summary: &Summary<'_>) -> Markup {
    let run = &summary.measured.run;
    let index = PlanIndex::new(run);
    let costly: BTreeSet<StageKey> = summary.rows.iter().map(|row| row.stage).collect();
    let mut executions: Vec<i64> = costly.iter().filter_map(|&stage| index.execution_of(stage)).collect();
    let length = |id: &i64| run.executions.get(id).and_then(|one| Some(one.end? - one.start)).unwrap_or(0);
    executions.sort_by_key(|id| (std::cmp::Reverse(length(id)), *id));
    executions.dedup();
    executions.truncate(EXECUTIONS);
    let marks = marks(&index, &costly);
    html! {
        @if !executions.is_empty() {
            section {
                h2 { "Plans" }
                @for (id, execution) in executions.iter().filter_map(|id| Some((*id, run.executions.get(id)?))) {
                    details open[executions.len() == 1] {
                        summary {
                            "SQL execution " (id) ": " (execution.description.lines().next().unwrap_or(""))
                            @if let Some(place) = summary.places.best(Measured::Execution(id)) { " (" (place.short()) ")" }
                            " · " (duration(length(&id) as f64))
                        }
                        (plan(run, id, execution, &marks))
                    }
                }
            }
        }
    }
}

/// The costly stages that each node ran in.
fn marks(index: &PlanIndex<'_>, costly: &BTreeSet<StageKey>) -> BTreeMap<PlanPlace, Vec<StageKey>> {
    let mut marks: BTreeMap<PlanPlace, Vec<StageKey>> = BTreeMap::new();
    for &stage in costly {
        for place in index.nodes_of(stage) {
            marks.entry(place.clone()).or_default().push(stage);
        }
    }
    marks
}

fn plan(run: &Run, id: i64, execution: &SqlExecution, marks: &BTreeMap<PlanPlace, Vec<StageKey>>) -> Markup {
    let steps: Vec<_> = execution.plan.walk().take(NODES + 1).collect();
    html! {
        div.wide {
            ul.plan {
                @for step in steps.iter().take(NODES) {
                    @let stages = marks.get(&PlanPlace { execution: id, path: step.path.clone() });
                    li class=[stages.map(|_| "costly")] style={ "--depth:" (step.path.len().min(DEEPEST)) } title=(step.node.text) {
                        b { (step.node.name.trim()) } " "
                        span.text { (cut(step.node)) }
                        @for stage in stages.into_iter().flatten() {
                            a.badge href={ "#stage-" (stage.stage) } { "stage " (stage.stage) " · " (wall(run, *stage)) }
                        }
                        span.metrics { (metrics(run, execution, step.node)) }
                    }
                }
            }
        }
        @if steps.len() > NODES { p.note { "longer than " (NODES) " nodes; the rest is not shown" } }
    }
}

fn wall(run: &Run, stage: StageKey) -> String {
    run.stages.get(&stage).and_then(|stage| stage_wall(run, stage)).map_or_else(String::new, |ms| duration(ms as f64))
}

/// A node's text without its name, cut.
fn cut(node: &PlanNode) -> String {
    let text = node.text.trim();
    let text = text.strip_prefix(node.name.trim()).unwrap_or(text).trim();
    let mut cut: String = text.chars().take(TEXT).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// `12,000 rows · 6.1 MiB · …`: what was measured and is not nothing.
fn metrics(run: &Run, execution: &SqlExecution, node: &PlanNode) -> String {
    let values = node.metrics.iter().filter_map(|metric| {
        let value = execution.metric_value(run, metric).filter(|&value| value > 0)?;
        Some(measure(metric, value))
    });
    values.take(METRICS).collect::<Vec<_>>().join(" · ")
}

fn measure(metric: &PlanMetric, value: i64) -> String {
    let number = value as f64;
    let value = match metric.kind.as_str() {
        "size" => bytes(number),
        "timing" => duration(number),
        "nsTiming" => duration(number / 1e6),
        _ => grouped(value.unsigned_abs()),
    };
    format!("{} {value}", metric.name)
}
