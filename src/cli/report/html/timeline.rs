//! The run over time: how many tasks ran at once, and from when to when its stages took.

use maud::{Markup, html};

use super::svg::round;
use crate::cli::report::summary::Summary;
use crate::rules::Severity;
use crate::rules::run::view::StageView;
use crate::rules::run::words::{count, duration};
use crate::run::Run;
use crate::run::model::StageKey;
use crate::run::slots::{run_time, stage_span};
use crate::run::stats::finish;

/// Width of the chart in its own units.
const WIDTH: f64 = 1000.0;
/// Height of the curve of busy slots.
const CURVE: f64 = 90.0;
/// Steps of that curve.
const STEPS: usize = 250;
/// Height of a lane of stages.
const LANE: f64 = 18.0;
/// Lanes that are drawn; what runs beside more than these is left out, and said.
const LANES: usize = 24;
/// Stages shorter than this share of the run are left out.
const LEAST_SHARE: f64 = 0.002;

/// A stage as a bar.
struct Bar {
    stage: StageKey,
    from_ms: f64,
    to_ms: f64,
    label: String,
    severity: Option<Severity>,
}

/// The chart; nothing where the run's time is not known.
pub(super) fn render(summary: &Summary<'_>) -> Markup {
    let run = &summary.measured.run;
    let Some(total) = run_time(run).map(|time| time as f64) else { return html! {} };
    let (lanes, left_out) = lanes(bars(summary, total));
    let busy = busy_slots(run, total);
    let peak = busy.iter().copied().fold(1.0, f64::max);
    let lanes_height = LANE * lanes.len() as f64;
    let height = CURVE + 8.0 + lanes_height + 18.0;
    let x = |ms: f64| round((ms / total).clamp(0.0, 1.0) * WIDTH);
    html! {
        section {
            h2 { "The run over time" }
            div.wide {
                svg.timeline viewBox={ "0 0 " (WIDTH) " " (height) } role="img" {
                    path.busy d=(curve(&busy, peak)) { title { "tasks running at once, at most " (peak.round()) } }
                    text.label x="2" y="10" { "up to " (count(peak.round() as u64, "task")) " at once" }
                    @for (lane, bars) in lanes.iter().enumerate() {
                        @for bar in bars {
                            @let y = CURVE + 8.0 + lane as f64 * LANE;
                            @let width = (x(bar.to_ms) - x(bar.from_ms)).max(1.0);
                            g class={ "stage " (class(bar.severity)) } {
                                title { (bar.label) }
                                rect x=(x(bar.from_ms)) y=(round(y)) width=(round(width)) height=(LANE - 3.0) rx="2" {}
                                @if width > 34.0 {
                                    text x=(round(x(bar.from_ms) + 4.0)) y=(round(y + 11.5)) { (bar.stage.stage) }
                                }
                            }
                        }
                    }
                    @for tick in ticks(total) {
                        line.grid x1=(x(tick)) x2=(x(tick)) y1="0" y2=(height - 16.0) {}
                        text.label x=(x(tick)) y=(height - 4.0) text-anchor=(if tick == 0.0 { "start" } else { "middle" }) {
                            (duration(tick))
                        }
                    }
                }
            }
            @if left_out > 0 { p.note { (count(left_out as u64, "stage")) " that ran beside these are not drawn" } }
        }
    }
}

fn bars(summary: &Summary<'_>, total: f64) -> Vec<Bar> {
    let run = &summary.measured.run;
    let mut bars: Vec<Bar> = StageView::every_attempt(run)
        .filter(|view| view.wall_ms >= LEAST_SHARE * total)
        .filter_map(|view| {
            let (from, to) = stage_span(run, view.stage)?;
            let on_it = summary.shown.iter().filter(|verdict| verdict.stages.contains(&view.key));
            let attempt = if view.key.attempt > 0 { format!(" attempt {}", view.key.attempt) } else { String::new() };
            let tasks = count(u64::from(view.stage.task_count), "task");
            Some(Bar {
                stage: view.key,
                from_ms: from.saturating_sub(run.application.start) as f64,
                to_ms: to.saturating_sub(run.application.start) as f64,
                label: format!("stage {}{attempt}: {}, {tasks}", view.key.stage, duration(view.wall_ms)),
                severity: on_it.map(|verdict| verdict.severity).max(),
            })
        })
        .collect();
    bars.sort_by(|a, b| a.from_ms.total_cmp(&b.from_ms).then(a.stage.cmp(&b.stage)));
    bars
}

/// Bars on as few lanes as they fit on without touching, and how many did not fit.
fn lanes(bars: Vec<Bar>) -> (Vec<Vec<Bar>>, usize) {
    let mut lanes: Vec<Vec<Bar>> = Vec::new();
    let mut left_out = 0;
    for bar in bars {
        let free = lanes.iter().position(|lane| lane.last().is_none_or(|last| last.to_ms <= bar.from_ms));
        match free {
            Some(lane) => lanes[lane].push(bar),
            None if lanes.len() < LANES => lanes.push(vec![bar]),
            None => left_out += 1,
        }
    }
    (lanes, left_out)
}

/// Tasks that ran at once, on average over each step of the run.
fn busy_slots(run: &Run, total: f64) -> Vec<f64> {
    let mut busy = vec![0.0; STEPS];
    let step = total / STEPS as f64;
    for stage in run.stages.values() {
        for task in 0..stage.tasks.len() {
            let (from, to) = (stage.tasks.launch.get(task) as f64, finish(&stage.tasks, task) as f64);
            let first = ((from / step) as usize).min(STEPS - 1);
            let last = ((to / step) as usize).min(STEPS - 1);
            for (index, slots) in busy.iter_mut().enumerate().take(last + 1).skip(first) {
                let (start, end) = (index as f64 * step, (index + 1) as f64 * step);
                *slots += (to.min(end) - from.max(start)).max(0.0) / step;
            }
        }
    }
    busy
}

fn curve(busy: &[f64], peak: f64) -> String {
    let step = WIDTH / busy.len().max(1) as f64;
    let mut path = format!("M0 {CURVE}");
    for (index, slots) in busy.iter().enumerate() {
        let y = round(CURVE - slots / peak * (CURVE - 14.0));
        path.push_str(&format!("L{} {y}L{} {y}", round(index as f64 * step), round((index + 1) as f64 * step)));
    }
    path.push_str(&format!("L{WIDTH} {CURVE}Z"));
    path
}

/// Round times along the axis, four to eight of them, in ms.
fn ticks(total: f64) -> Vec<f64> {
    const ROUND: [f64; 18] = [
        1.0, 10.0, 100.0, 500.0, 1e3, 2e3, 5e3, 10e3, 30e3, 60e3, 120e3, 300e3, 600e3, 1.8e6, 3.6e6, 7.2e6, 2.16e7,
        8.64e7,
    ];
    let step = ROUND.into_iter().find(|step| total / step <= 8.0).unwrap_or(total / 6.0);
    (0..).map(|index| f64::from(index) * step).take_while(|tick| *tick <= total * 0.97).collect()
}

fn class(severity: Option<Severity>) -> &'static str {
    match severity {
        Some(Severity::Error | Severity::Warning) => "bad",
        Some(Severity::Information) => "noted",
        Some(Severity::Hint) | None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(from_ms: f64, to_ms: f64) -> Bar {
        Bar { stage: StageKey { stage: 0, attempt: 0 }, from_ms, to_ms, label: String::new(), severity: None }
    }

    #[test]
    fn stages_that_overlap_are_on_lanes_of_their_own() {
        let (lanes, left_out) = lanes(vec![bar(0.0, 10.0), bar(5.0, 20.0), bar(10.0, 30.0)]);
        assert_eq!(lanes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(left_out, 0);
    }

    #[test]
    fn the_axis_has_round_times() {
        assert_eq!(ticks(61_000.0), [0.0, 10e3, 20e3, 30e3, 40e3, 50e3]);
        assert!(ticks(1.0).len() <= 8 && ticks(1e12).len() <= 8);
    }
}
