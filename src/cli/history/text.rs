//! The history for people: at most 100 columns, what became slower first.

use std::fmt::Write as _;
use std::path::Path;

use unicode_width::UnicodeWidthStr as _;

use super::super::words::count;
use super::jobs::Job;
use crate::history::{Change, Row, Trend, median};
use crate::rules::run::words::{bytes, duration, ratio};

/// How many runs and stages are shown unless all are asked for.
const FEW: usize = 15;
/// Runs in a line of bars.
const BARS: usize = 24;

/// All jobs.
pub(super) fn jobs(file: &Path, jobs: &[Job]) -> String {
    let runs: usize = jobs.iter().map(|job| job.runs.len()).sum();
    let mut text = format!("{}: {} of {}\n", file.display(), count(runs, "run"), count(jobs.len(), "job"));
    let slower: Vec<&Job> = jobs.iter().filter(|job| job.is_slower()).collect();
    if !slower.is_empty() {
        text.push_str("\nSlower than before\n");
        for job in &slower {
            let _ = writeln!(text, "  {}", job.name);
            text.push_str(&changes(job, "    "));
        }
    }
    let mut table = Table::new(&["job", "runs", "last started", "took", "median", "over time"], &[1, 3, 4]);
    for job in jobs {
        let times = job.times();
        table.row(vec![
            cut(&job.name, 34),
            job.runs.len().to_string(),
            job.last().map(|row| date(row.run_started_ms)).unwrap_or_default(),
            times.last().copied().flatten().map(duration).unwrap_or_default(),
            median(&known(&times)).map(duration).unwrap_or_default(),
            bars(&times),
        ]);
    }
    text.push('\n');
    text + &table.text()
}

/// One job: its runs, then its stages.
pub(super) fn job(job: &Job, all: bool) -> String {
    let mut text = head(job);
    let mut table = Table::new(&["started", "application", "took", "stages", "Spark", "settings", ""], &[2, 3]);
    for (index, run) in latest(&job.runs, all) {
        let Some(row) = run.first() else { continue };
        let before = index.checked_sub(1).and_then(|before| job.runs.get(before)?.first());
        table.row(vec![
            date(row.run_started_ms),
            cut(&application(row), 34),
            row.run_wall_ms.map(|time| duration(time as f64)).unwrap_or_default(),
            run.len().to_string(),
            row.spark_version.clone().unwrap_or_default(),
            settings(row, before),
            if row.log_complete { "" } else { "log incomplete" }.to_owned(),
        ]);
    }
    let _ = write!(text, "\nRuns {}\n{}", bars(&job.times()), table.text());
    text.push_str(&left_out(job.runs.len(), all, "earlier run"));

    let stages = job.stages();
    let mut table = Table::new(&["stage", "key", "runs", "last", "median", "over time"], &[2, 3, 4]);
    for key in stages.iter().take(if all { usize::MAX } else { FEW }) {
        let rows = job.over_runs(key);
        let times = times(&rows);
        let label = rows.iter().flatten().next_back().map_or("", |row| &row.stage_label);
        table.row(vec![
            cut(label, 32),
            key.clone(),
            rows.iter().flatten().count().to_string(),
            times.iter().rev().flatten().next().copied().map(duration).unwrap_or_default(),
            median(&known(&times)).map(duration).unwrap_or_default(),
            bars(&times),
        ]);
    }
    let _ = write!(text, "\nStages, the longest of the last run first\n{}", table.text());
    text.push_str(&left_out(stages.len(), all, "shorter stage"));
    text
}

/// One stage from run to run.
pub(super) fn stage(job: &Job, key: &str, all: bool) -> String {
    let rows = job.over_runs(key);
    let label = rows.iter().flatten().next_back().map_or("", |row| &row.stage_label);
    let mut text = format!("{}: {label} ({key})\n", job.name);
    if let Some((_, change)) = job.slower.iter().find(|(row, _)| row.stage_key == key) {
        let _ = writeln!(text, "  {}", change_words(change));
    }
    let header = ["started", "took", "tasks", "median", "max", "max/med", "read", "spill", "GC", "cores"];
    let mut table = Table::new(&header, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (_, row) in latest(&rows, all) {
        let Some(row) = row else { continue };
        let ms = |time: Option<u64>| time.map(|time| duration(time as f64)).unwrap_or_else(unknown);
        let size = |size: Option<u64>| size.map(|size| bytes(size as f64)).unwrap_or_else(unknown);
        table.row(vec![
            date(row.run_started_ms),
            ms(row.wall_ms),
            row.tasks_succeeded.to_string(),
            row.duration_median_ms.map(duration).unwrap_or_else(unknown),
            ms(row.duration_max_ms),
            row.max_to_median.map(ratio).unwrap_or_else(unknown),
            size(row.read_bytes),
            size(row.spill_disk_bytes),
            ms(row.gc_ms),
            row.cores.map(|cores| format!("{cores:.0}")).unwrap_or_else(unknown),
        ]);
    }
    let _ = write!(text, "\nRuns {}\n{}", bars(&times(&rows)), table.text());
    text.push_str(&left_out(rows.len(), all, "earlier run"));
    text
}

/// The job, since when it is known, and what became slower.
fn head(job: &Job) -> String {
    let first = job.runs.first().and_then(|run| run.first()).map(|row| date(row.run_started_ms)).unwrap_or_default();
    let last = job.last().map(|row| date(row.run_started_ms)).unwrap_or_default();
    let mut text = format!("{}: {}, {first} to {last}\n", job.name, count(job.runs.len(), "run"));
    if job.is_slower() {
        text.push_str("\nSlower than before\n");
        text.push_str(&changes(job, "  "));
    }
    match &job.trend {
        Trend::TooFew(runs) => {
            let _ = writeln!(text, "Too few runs to tell a change: {} before the last", count(*runs, "complete run"));
        }
        Trend::Unknown(why) => {
            let _ = writeln!(text, "Whether the last run as a whole is slower can't be told: {why}");
        }
        Trend::Steady(_) if !job.is_slower() => text.push_str("The last run is not slower than the runs before it\n"),
        Trend::Slower(_) | Trend::Steady(_) => {}
    }
    text
}

fn changes(job: &Job, lead: &str) -> String {
    let mut text = String::new();
    if let Some(change) = job.trend.slower() {
        let _ = writeln!(text, "{lead}the run: {}", change_words(change));
    }
    for (row, change) in &job.slower {
        let name = format!("stage {} {}", row.stage, row.stage_label);
        let words = change_words(change);
        let _ = writeln!(text, "{lead}{}: {words}", cut(&name, 98 - lead.width() - words.width()));
    }
    text
}

/// `48.0 s, 2.1 x the 22.9 s of 12 runs before`.
fn change_words(change: &Change) -> String {
    let times = ratio(change.now / change.median.max(1.0));
    let runs = count(change.earlier.len(), "run");
    format!("{}, {times} the median {} of {runs} before", duration(change.now), duration(change.median))
}

fn application(row: &Row) -> String {
    match &row.application_attempt {
        Some(attempt) => format!("{} attempt {attempt}", row.application),
        None => row.application.clone(),
    }
}

/// A short form of the settings' key, and whether it is another one than in the run before.
fn settings(row: &Row, before: Option<&Row>) -> String {
    let Some(conf) = &row.conf else { return String::new() };
    let short: String = conf.chars().take(6).collect();
    let changed = before.is_some_and(|before| before.conf.is_some() && before.conf != row.conf);
    if changed { format!("{short} changed") } else { short }
}

fn unknown() -> String {
    "?".to_owned()
}

fn times(rows: &[Option<&Row>]) -> Vec<Option<f64>> {
    rows.iter().map(|row| row.as_ref()?.wall_ms.map(|time| time as f64)).collect()
}

fn known(times: &[Option<f64>]) -> Vec<f64> {
    times.iter().flatten().copied().collect()
}

/// The last ones with their places, or all.
fn latest<T>(items: &[T], all: bool) -> impl Iterator<Item = (usize, &T)> {
    let from = if all { 0 } else { items.len().saturating_sub(FEW) };
    items.iter().enumerate().skip(from)
}

fn left_out(items: usize, all: bool, noun: &str) -> String {
    match items.saturating_sub(FEW) {
        more if more > 0 && !all => format!("  and {} (--all)\n", count(more, noun)),
        _ => String::new(),
    }
}

/// The latest times as bars from 0 to the longest, oldest first; a gap where a run has none: `▂▂▃ ▂█`.
fn bars(times: &[Option<f64>]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let times = &times[times.len().saturating_sub(BARS)..];
    let longest = times.iter().flatten().copied().fold(0.0, f64::max).max(1.0);
    let bar = |time: &Option<f64>| time.map_or(' ', |time| HEIGHTS[((time / longest * 7.0).round() as usize).min(7)]);
    times.iter().map(bar).collect()
}

/// An instant to the minute, in UTC.
fn date(ms: i64) -> String {
    let (days, minutes) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000) / 60_000);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minutes / 60, minutes % 60)
}

/// Year, month and day of a number of days since 1970-01-01, in eras of 400 years that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(719_468);
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let (month, day) = ((from_march + 2) % 12 + 1, of_year - (153 * from_march + 2) / 5 + 1);
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// At most so many columns wide.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        short.push(c);
        if short.width() >= width {
            short.pop();
            break;
        }
    }
    short + "…"
}

/// Columns as wide as they need, two blanks between them.
struct Table {
    rows: Vec<Vec<String>>,
    /// Columns of numbers.
    right: &'static [usize],
}

impl Table {
    fn new(header: &[&str], right: &'static [usize]) -> Self {
        Self { rows: vec![header.iter().map(|&cell| cell.to_owned()).collect()], right }
    }

    fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    fn text(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widest = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
        let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::from(" ");
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let fill = " ".repeat(width - cell.width());
                line.push(' ');
                line.push_str(&if self.right.contains(&column) { fill + cell } else { format!("{cell}{fill}") });
                line.push(' ');
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_dates() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(1_795_997_571_798), "2026-11-30 00:12");
        assert_eq!(date(951_782_400_000), "2000-02-29 00:00");
        assert_eq!(date(-1), "1969-12-31 23:59");
        date(i64::MAX);
        date(i64::MIN);
    }

    #[test]
    fn bars_start_at_zero_and_have_gaps() {
        assert_eq!(bars(&[Some(0.0), Some(50.0), None, Some(100.0)]), "▁▅ █");
        assert_eq!(bars(&[]), "");
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["a", "n"], &[1]);
        table.row(vec!["long".to_owned(), "10".to_owned()]);
        assert_eq!(table.text(), "  a      n\n  long  10\n");
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
