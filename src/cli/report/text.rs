//! The report for people: at most so many columns as are there, the first screen first.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::summary::{Row, Summary, Title};
use crate::rules::run::words::{count, duration};
use crate::rules::{Severity, Verdict};

/// Columns of a report; it is narrower on a terminal that is, down to [`NARROWEST`].
const WIDTH: usize = 100;
const NARROWEST: usize = 60;
/// What a row of the table needs besides its two texts: rank, stage, time, impact and the gaps.
const COLUMNS: usize = 42;

/// The whole report for a terminal of so many columns, if it goes to one; `all` also shows the numbers behind hints.
pub(super) fn render(summary: &Summary<'_>, all: bool, columns: Option<usize>) -> String {
    let width = columns.unwrap_or(WIDTH).clamp(NARROWEST, WIDTH);
    let mut text = head(summary, width);
    text.push_str(&table(summary, width));
    for (index, verdict) in summary.shown.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|index| summary.shown.get(index));
        if previous.is_some_and(|previous| !all && same_hint(previous, verdict)) {
            wrap(&mut text, width, "    ", &verdict.message);
        } else {
            text.push_str(&block(summary, verdict, all, width));
        }
    }
    text.push('\n');
    for sentence in &summary.unspoken {
        wrap(&mut text, width, "", sentence);
    }
    text
}

/// Hints of one rule on one stage with the same explanation, e.g. several hosts at once.
fn same_hint(a: &Verdict, b: &Verdict) -> bool {
    let hints = a.severity == Severity::Hint && b.severity == Severity::Hint;
    hints && a.rule == b.rule && a.stages == b.stages && a.confounders == b.confounders
}

/// The parts of the head on as few lines as they fit on.
fn head(summary: &Summary<'_>, width: usize) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for part in &summary.head {
        if !line.is_empty() && line.width() + 2 + part.width() > width {
            push_line(&mut text, &line);
            line.clear();
        }
        if !line.is_empty() {
            line.push_str("  ");
        }
        line.push_str(part);
    }
    push_line(&mut text, &line);
    for note in summary.notes {
        wrap(&mut text, width, "", note);
    }
    text
}

fn table(summary: &Summary<'_>, width: usize) -> String {
    let rows = &summary.rows;
    let mut text = String::new();
    if rows.is_empty() {
        return text;
    }
    let widest = |of: fn(&Row) -> &str, least: usize, most: usize| {
        rows.iter().map(|row| of(row).width()).max().unwrap_or(0).clamp(least, most)
    };
    let what_width = widest(|row| &row.what, 5, 34.min(width - COLUMNS - 5));
    let short_width = widest(|row| &row.short, 5, width - COLUMNS - what_width);
    push_line(&mut text, "");
    push_line(&mut text, &format!("{:<fill$}  if fixed", "Where the time went", fill = 30 + what_width + short_width));
    for (index, row) in rows.iter().enumerate() {
        let line = format!(
            "{:>2}  {:<10}  {}  {:>10}  {}  {}",
            index + 1,
            format!("stage {}", row.stage.stage),
            padded(&row.what, what_width),
            duration(row.wall_ms),
            padded(&row.short, short_width),
            row.saving().unwrap_or_default(),
        );
        push_line(&mut text, line.trim_end());
    }
    if summary.more_rows > 0 {
        push_line(&mut text, &format!("    and {} more", count(summary.more_rows as u64, "stage")));
    }
    text
}

/// One finding with its numbers and what to do; a hint only with what speaks against it, unless `all`.
fn block(summary: &Summary<'_>, verdict: &Verdict, all: bool, width: usize) -> String {
    let mut text = String::from("\n");
    let Title { severity, place, saving } = summary.title(verdict);
    let mut title = format!("{severity}[{}]", verdict.rule);
    if !place.is_empty() {
        let _ = write!(title, " {place}");
    }
    if let Some(saving) = saving {
        let _ = write!(title, ": {saving} if fixed");
    }
    wrap(&mut text, width, "", &title);
    wrap(&mut text, width, "    ", &verdict.message);
    if verdict.severity == Severity::Hint && !all {
        if !verdict.confounders.is_empty() {
            wrap(&mut text, width, "    = but: ", &verdict.confounders.join("; "));
        }
        return text;
    }
    for evidence in &verdict.evidence {
        let threshold = evidence.threshold.as_ref().map(|bound| format!(", {bound}")).unwrap_or_default();
        let source = evidence.source.as_ref().map(|source| format!("  [{source}]")).unwrap_or_default();
        wrap(&mut text, width, "    = ", &format!("{}: {}{threshold}{source}", evidence.name, evidence.value));
    }
    for confounder in &verdict.confounders {
        wrap(&mut text, width, "    = but: ", confounder);
    }
    for advice in &verdict.advice {
        wrap(&mut text, width, "    = fix: ", advice);
    }
    text
}

/// The text in lines of at most `width` columns, the first with `lead`, the others indented by its width.
fn wrap(out: &mut String, width: usize, lead: &str, text: &str) {
    let indent = " ".repeat(if lead.is_empty() { 4 } else { lead.width() });
    let mut line = lead.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.width() + 1 + word.width() > width {
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
        wrap(&mut text, WIDTH, "    = fix: ", &"salt the key ".repeat(30));
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
