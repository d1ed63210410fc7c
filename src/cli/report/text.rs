//! The report for people: at most 100 columns, the first screen first.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::places::Places;
use crate::link::Measured;
use crate::rules::run::view::{Floors, StageView};
use crate::rules::run::words::{count, duration, percent, ranges};
use crate::rules::{self, MeasuredRun, Severity, State, Subject, Verdict};
use crate::run::Run;
use crate::run::model::StageKey;
use crate::run::slots::run_time;

const WIDTH: usize = 100;
/// Stages in the table of where the time went.
const ROWS: usize = 10;
/// A stage without a finding is in that table from this share of the run on.
const ROW_SHARE: f64 = 0.05;
/// What a row of that table needs besides its two texts: rank, stage, time, impact and the gaps.
const COLUMNS: usize = 42;

/// The whole report; `all` also shows what is below the display floor.
pub(super) fn render(measured: &MeasuredRun, places: &Places, floors: &Floors, all: bool) -> String {
    let mut text = header(measured);
    text.push_str(&table(measured, places));
    let fired: Vec<&Verdict> = measured.verdicts.iter().filter(|verdict| verdict.is_fired()).collect();
    let (shown, hidden): (Vec<&Verdict>, Vec<&Verdict>) =
        fired.into_iter().partition(|verdict| all || is_shown(verdict, &measured.run, floors));
    for (index, verdict) in shown.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|index| shown.get(index));
        if previous.is_some_and(|previous| !all && same_hint(previous, verdict)) {
            wrap(&mut text, "    ", &verdict.message);
        } else {
            text.push_str(&block(verdict, &measured.run, places, all));
        }
    }
    text.push('\n');
    if !hidden.is_empty() {
        let below = count(hidden.len() as u64, "finding");
        let floor = format!("{} s and {} of the run", floors.paint_seconds, percent(floors.paint_share));
        wrap(&mut text, "", &format!("{below} below {floor}: --all shows what they are."));
    }
    text.push_str(&quiet(measured));
    text
}

/// Hints of one rule on one stage with the same explanation, e.g. several hosts at once.
fn same_hint(a: &Verdict, b: &Verdict) -> bool {
    let hints = a.severity == Severity::Hint && b.severity == Severity::Hint;
    hints && a.rule == b.rule && a.stages == b.stages && a.confounders == b.confounders
}

/// Above the floor, or without a cost of its own to compare. The reason of AQE stands in `skewed-stage` already.
fn is_shown(verdict: &Verdict, run: &Run, floors: &Floors) -> bool {
    let run_s = run_ms(run) / 1000.0;
    match verdict.impact_s {
        Some(impact) => verdict.paintable || (impact >= floors.paint_seconds && impact >= floors.paint_share * run_s),
        None => verdict.paintable || verdict.subject == Subject::Run,
    }
}

fn run_ms(run: &Run) -> f64 {
    run_time(run).unwrap_or(1) as f64
}

/// `nightly-orders  app-20261129-0007  Spark 3.5.9  61.0 s  16 cores on 4 hosts   log complete, 1,204 of 1,204 tasks`.
fn header(measured: &MeasuredRun) -> String {
    let run = &measured.run;
    let application = &run.application;
    let mut parts: Vec<String> = application.name.iter().cloned().collect();
    parts.push(match &application.attempt {
        Some(attempt) => format!("{} attempt {attempt}", measured.label),
        None => measured.label.clone(),
    });
    parts.push(match application.version {
        Some(version) => format!("Spark {version}"),
        None => "Spark version not recorded".to_owned(),
    });
    parts.push(match run_time(run) {
        Some(ms) if application.estimated => format!("{} (estimated)", duration(ms as f64)),
        Some(ms) => duration(ms as f64),
        None => "duration not recorded".to_owned(),
    });
    parts.push(cluster(run));
    if let Some(verdict) = measured.verdicts.iter().find(|verdict| verdict.rule == "log-coverage") {
        parts.push(match verdict.state {
            State::Fired => "log incomplete".to_owned(),
            _ => verdict.message.clone(),
        });
    }
    let mut text = String::new();
    let mut line = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !line.is_empty() && line.width() + 2 + part.width() > WIDTH {
            push_line(&mut text, &line);
            line.clear();
        }
        if !line.is_empty() {
            line.push_str("  ");
        }
        line.push_str(part);
    }
    push_line(&mut text, &line);
    for note in &run.coverage.notes {
        wrap(&mut text, "", note);
    }
    text
}

/// `16 cores on 4 hosts`: what the executors had together at most.
fn cluster(run: &Run) -> String {
    let hosts = count(run.hosts.len() as u64, "host");
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for executor in &run.executors {
        let Some(cores) = executor.cores else { return hosts };
        changes.push((executor.added.unwrap_or(i64::MIN), i64::from(cores)));
        changes.push((executor.removed.unwrap_or(i64::MAX), -i64::from(cores)));
    }
    changes.sort_unstable();
    let mut now = 0;
    let peak = changes.into_iter().map(|(_, change)| {
        now += change;
        now
    });
    match peak.max() {
        Some(cores) if cores > 0 => format!("{} on {hosts}", count(cores as u64, "core")),
        _ => hosts,
    }
}

/// One line of the table.
struct Row {
    stage: StageKey,
    wall_ms: f64,
    what: String,
    short: String,
    impact_s: Option<f64>,
}

/// The stages that cost most, those with a finding first by what fixing it would save.
fn table(measured: &MeasuredRun, places: &Places) -> String {
    let run = &measured.run;
    let mut rows: Vec<Row> = StageView::all(run).iter().map(|view| row(measured, places, view)).collect();
    rows.retain(|row| row.impact_s.is_some() || row.wall_ms >= ROW_SHARE * run_ms(run));
    rows.sort_by(|a, b| {
        let impact = |row: &Row| row.impact_s.unwrap_or(0.0);
        impact(b).total_cmp(&impact(a)).then(b.wall_ms.total_cmp(&a.wall_ms))
    });
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    let mut text = String::new();
    if rows.is_empty() {
        return text;
    }
    let widest = |of: fn(&Row) -> &str, least: usize, most: usize| {
        rows.iter().map(|row| of(row).width()).max().unwrap_or(0).clamp(least, most)
    };
    let what_width = widest(|row| &row.what, 5, 34);
    let short_width = widest(|row| &row.short, 5, WIDTH - COLUMNS - what_width);
    push_line(&mut text, "");
    push_line(
        &mut text,
        &format!("{:<width$}  if fixed", "Where the time went", width = 30 + what_width + short_width),
    );
    for (index, row) in rows.iter().enumerate() {
        let impact = row.impact_s.map_or_else(String::new, |s| format!("-{}", duration(s * 1000.0)));
        let line = format!(
            "{:>2}  {:<10}  {}  {:>10}  {}  {impact}",
            index + 1,
            format!("stage {}", row.stage.stage),
            padded(&row.what, what_width),
            duration(row.wall_ms),
            padded(&row.short, short_width),
        );
        push_line(&mut text, line.trim_end());
    }
    if more > 0 {
        push_line(&mut text, &format!("    and {} more", count(more as u64, "stage")));
    }
    text
}

fn row(measured: &MeasuredRun, places: &Places, view: &StageView<'_>) -> Row {
    let on_it = measured.verdicts.iter().filter(|verdict| verdict.is_fired() && verdict.stages.contains(&view.key));
    let worth = |verdict: &&Verdict| (verdict.paintable, verdict.impact_s.unwrap_or(0.0));
    let top = on_it
        .filter(|verdict| verdict.severity > Severity::Hint || verdict.paintable)
        .max_by(|a, b| worth(a).0.cmp(&worth(b).0).then(worth(a).1.total_cmp(&worth(b).1)));
    let noun = rules::run::stage_noun(view);
    let what = match places.best(Measured::Stage(view.key)) {
        Some(place) if noun == "stage" => place.short(),
        Some(place) => format!("{noun} of {}", place.short()),
        None if noun == "stage" => String::new(),
        None => noun.to_owned(),
    };
    Row {
        stage: view.key,
        wall_ms: view.wall_ms,
        what,
        short: top.map_or_else(String::new, |verdict| verdict.short.clone()),
        // What a finding on several stages is worth stands once, at the first of them.
        impact_s: top
            .filter(|verdict| verdict.paintable && verdict.stages.first() == Some(&view.key))
            .and_then(|verdict| verdict.impact_s),
    }
}

/// One finding with its numbers and what to do; a hint only with what speaks against it, unless `all`.
fn block(verdict: &Verdict, run: &Run, places: &Places, all: bool) -> String {
    let mut text = String::from("\n");
    let mut title = format!("{}[{}]", severity(verdict.severity), verdict.rule);
    if let [stage] = verdict.stages.as_slice() {
        let _ = write!(title, " stage {}", stage.stage);
        let view = StageView::new(run, *stage);
        if let Some(noun) = view.as_ref().map(rules::run::stage_noun).filter(|noun| *noun != "stage") {
            let _ = write!(title, ", {noun}");
        }
        if let Some(place) = places.best(Measured::Stage(*stage)) {
            let _ = write!(title, " of {} ({})", place.short(), place.certainty);
        }
    }
    if let Some(impact) = verdict.impact_s.filter(|_| verdict.paintable) {
        let _ = write!(title, ": -{} if fixed", duration(impact * 1000.0));
    }
    wrap(&mut text, "", &title);
    wrap(&mut text, "    ", &verdict.message);
    if verdict.severity == Severity::Hint && !all {
        if !verdict.confounders.is_empty() {
            wrap(&mut text, "    = but: ", &verdict.confounders.join("; "));
        }
        return text;
    }
    for evidence in &verdict.evidence {
        let threshold = evidence.threshold.as_ref().map(|bound| format!(", {bound}")).unwrap_or_default();
        let source = evidence.source.as_ref().map(|source| format!("  [{source}]")).unwrap_or_default();
        wrap(&mut text, "    = ", &format!("{}: {}{threshold}{source}", evidence.name, evidence.value));
    }
    for confounder in &verdict.confounders {
        wrap(&mut text, "    = but: ", confounder);
    }
    for advice in &verdict.advice {
        wrap(&mut text, "    = fix: ", advice);
    }
    text
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Hint => "hint",
        Severity::Information => "information",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// What was checked and not found, what could not be applied and what was not recorded.
fn quiet(measured: &MeasuredRun) -> String {
    let mut text = String::new();
    let fired: Vec<&str> = measured.verdicts.iter().filter(|v| v.is_fired()).map(|v| v.rule).collect();
    let mut clean: Vec<&str> = measured
        .verdicts
        .iter()
        .filter(|verdict| verdict.state == State::NotFired && !fired.contains(&verdict.rule))
        .filter(|verdict| verdict.rule != "log-coverage")
        .map(|verdict| verdict.rule)
        .collect();
    clean.dedup();
    if !clean.is_empty() {
        wrap(&mut text, "", &format!("Checked and not found: {}.", clean.join(", ")));
    }
    let mut reasons: BTreeMap<(&str, &str, &[StageKey]), Vec<&str>> = BTreeMap::new();
    for verdict in &measured.verdicts {
        let (kind, why) = match &verdict.state {
            State::NotApplicable(why) => ("Not applicable", why),
            State::NotRecorded(field) => ("Not recorded", field),
            State::Fired | State::NotFired => continue,
        };
        reasons.entry((kind, why, &verdict.stages)).or_default().push(verdict.rule);
    }
    for ((kind, why, stages), rules) in reasons {
        let ids: Vec<u32> = stages.iter().map(|key| key.stage).collect();
        let place = match ids.len() {
            0 => String::new(),
            1 => format!(" in stage {}", ranges(&ids)),
            _ => format!(" in stages {}", ranges(&ids)),
        };
        wrap(&mut text, "", &format!("{kind}: {}{place} ({why}).", rules.join(", ")));
    }
    let coverage = &measured.run.coverage;
    let unknown: u64 = coverage.unknown_events.values().sum();
    if unknown > 0 {
        wrap(&mut text, "", &format!("{} of kinds that sparkls does not read.", count(unknown, "event")));
    }
    if coverage.bad_lines > 0 {
        wrap(&mut text, "", &format!("{} skipped.", count(coverage.bad_lines, "bad line")));
    }
    text
}

/// The text in lines of at most [`WIDTH`] columns, the first with `lead`, the others indented by its width.
fn wrap(out: &mut String, lead: &str, text: &str) {
    let indent = " ".repeat(if lead.is_empty() { 4 } else { lead.width() });
    let mut line = lead.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.width() + 1 + word.width() > WIDTH {
            push_line(out, &line);
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    push_line(out, &line);
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// Cut or filled to a width.
fn padded(text: &str, width: usize) -> String {
    let mut cut = String::new();
    for c in text.chars() {
        if cut.width() + 1 > width || (cut.width() + 1 == width && text.width() > width) {
            cut.push('…');
            break;
        }
        cut.push(c);
    }
    let fill = width.saturating_sub(cut.width());
    cut + &" ".repeat(fill)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_report() {
        let mut text = String::new();
        wrap(&mut text, "    = fix: ", &"salt the key ".repeat(30));
        assert!(text.lines().count() > 3);
        assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("           ")), "{text}");
    }

    #[test]
    fn cells_are_cut_and_filled() {
        assert_eq!(padded("join", 6), "join  ");
        assert_eq!(padded("aggregate", 6), "aggre…");
        assert_eq!(padded("write", 5), "write");
    }
}
