//! `--format text`: for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

use super::place::Others;
use super::snippet::{Snippet, snippet};
use super::{FileOutcome, InputError, Outcome, Place};
use crate::cli::words;
use crate::rules::{Evidence, Finding, Fix, Severity};
use crate::text::Span;

/// Findings with their source, what the runs say besides, and a closing line. Holds ANSI styles.
pub(in crate::cli) fn render(outcome: &Outcome, width: usize, statistics: bool) -> String {
    let others = Others::default();
    let mut text = String::new();
    for (file, finding) in outcome.findings() {
        one(&mut text, file, finding, &others, width);
        text.push('\n');
    }
    measured(&mut text, outcome);
    summary(&mut text, outcome);
    if statistics {
        table(&mut text, outcome);
    }
    let _ = writeln!(text, "{}", closing(outcome));
    text
}

/// One unreadable input, for stderr.
pub(in crate::cli) fn error(error: &InputError) -> String {
    let style = style(Severity::Error);
    let place = error.place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
    format!("{}{place}: {style}error{style:#}: {}", error.path.display(), error.message)
}

fn one(text: &mut String, file: &FileOutcome, finding: &Finding, others: &Others, width: usize) {
    let bold = Style::new().bold();
    let (style, frame) = (style(finding.severity), frame());
    let (Place { line, column }, _) = file.range(finding.span);
    let _ = writeln!(
        text,
        "{bold}{}:{line}:{column}{bold:#}: {style}{}[{}]{style:#} {}",
        file.shown(finding.span),
        words::severity(finding.severity),
        finding.rule,
        finding.message
    );
    let margin = line.to_string().len();
    let Snippet { source, indent, carets, .. } =
        snippet(&file.document, finding.span, width.saturating_sub(margin + 3).max(20));
    let blank = " ".repeat(margin);
    let _ = writeln!(text, "{blank} {frame}|{frame:#}");
    let _ = writeln!(text, "{frame}{line} |{frame:#} {source}");
    let measured = measured_here(file, finding).map(|short| format!(" {short}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "{blank} {frame}|{frame:#} {}{style}{}{measured}{style:#}",
        " ".repeat(indent),
        "^".repeat(carets)
    );
    let notes = notes(file, finding, others);
    if !notes.is_empty() {
        let _ = writeln!(text, "{blank} {frame}|{frame:#}");
    }
    for note in notes {
        note.draw(text, &blank, width);
    }
}

/// A line below the source: `= label: text`.
struct Note {
    label: String,
    text: String,
    is_fix: bool,
}

impl Note {
    fn new(label: &str, text: String) -> Self {
        Self { label: label.to_owned(), text, is_fix: label == "fix" || label == "or" }
    }

    /// Draws the note in at most `width` columns where words allow it; the label is not broken.
    fn draw(&self, text: &mut String, blank: &str, width: usize) {
        let frame = frame();
        let style = if self.is_fix { Style::new().fg_color(Some(AnsiColor::Green.into())) } else { Style::new() };
        let _ = write!(text, "{blank} {frame}={frame:#} {style}{}{style:#}:", self.label);
        let indent = blank.width() + 3;
        let mut column = indent + self.label.width() + 1;
        for word in self.text.split_whitespace() {
            if column + 1 + word.width() > width && column > indent + 2 {
                let _ = write!(text, "\n{}", " ".repeat(indent + 1));
                column = indent + 1;
            }
            let _ = write!(text, " {word}");
            column += 1 + word.width();
        }
        text.push('\n');
    }
}

/// What a run measured on the call that a finding is about.
fn measured_here<'a>(file: &'a FileOutcome, finding: &Finding) -> Option<&'a str> {
    file.analysis.notes.iter().find(|note| note.span == finding.span).map(|note| note.short.as_str())
}

/// Evidence, other places, and fixes, best first; where it was measured comes last.
fn notes(file: &FileOutcome, finding: &Finding, others: &Others) -> Vec<Note> {
    let (origin, evidence): (Vec<_>, Vec<_>) = finding.evidence.iter().partition(|item| item.name == "measured in");
    let mut notes: Vec<Note> = evidence.into_iter().map(note).collect();
    for related in &finding.related {
        let place = others.place(file, related);
        let cell = place.cell.map(|number| format!(":cell {number}")).unwrap_or_default();
        let at = place.range.map(|(start, _)| format!(":{}:{}", start.line, start.column)).unwrap_or_default();
        notes.push(Note::new("see", format!("{}{cell}{at}: {}", place.path.display(), related.message)));
    }
    let changes = finding.fixes.iter().filter(|fix| !silences(finding, fix));
    for (index, fix) in changes.enumerate() {
        let how = if fix.safe { " (--fix)" } else { "" };
        notes.push(Note::new(if index == 0 { "fix" } else { "or" }, format!("{}{how}", fix.title)));
    }
    notes.extend(origin.into_iter().map(note));
    notes
}

/// Whether a fix only writes a comment that switches the rule off: of use in an editor, not in a list of findings.
fn silences(finding: &Finding, fix: &Fix) -> bool {
    fix.title == format!("Ignore {} here", finding.rule)
}

fn note(evidence: &Evidence) -> Note {
    let mut text = evidence.value.clone();
    if let Some(threshold) = &evidence.threshold {
        let _ = write!(text, ", {threshold}");
    }
    if let Some(source) = &evidence.source {
        let _ = write!(text, " [{source}]");
    }
    Note::new(&evidence.name, text)
}

/// Measured lines that no finding spoke of.
fn measured(text: &mut String, outcome: &Outcome) {
    let dim = frame();
    let mut is_first = true;
    for file in &outcome.files {
        let spoken: Vec<Span> = file.analysis.findings.iter().map(|finding| finding.span).collect();
        for note in file.analysis.notes.iter().filter(|note| !spoken.contains(&note.span)) {
            if std::mem::take(&mut is_first) {
                let bold = Style::new().bold();
                let _ = writeln!(text, "{bold}Measured{bold:#}");
            }
            let (Place { line, column }, _) = file.range(note.span);
            let _ = writeln!(text, "  {}:{line}:{column}: {dim}{}{dim:#}", file.shown(note.span), note.short);
        }
    }
    if !is_first {
        text.push('\n');
    }
}

/// Sentences of a run that are printed; JSON has all of them.
const SENTENCES: usize = 8;

/// What the runs say that has no line, each sentence once; findings come before what is merely not tied to a line.
fn summary(text: &mut String, outcome: &Outcome) {
    let bold = Style::new().bold();
    let mut said = BTreeSet::new();
    let mut rest: Vec<&str> =
        outcome.files.iter().flat_map(|file| &file.analysis.summary).map(String::as_str).collect();
    rest.retain(|sentence| said.insert(*sentence));
    for run in &outcome.runs {
        let of_this_run = format!("{}: ", run.label);
        let (here, others) = rest.iter().partition::<Vec<&str>, _>(|sentence| sentence.starts_with(&of_this_run));
        rest = others;
        if here.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{bold}Run {}, without a line of code{bold:#}", run.words());
        for sentence in here.iter().take(SENTENCES) {
            let _ = writeln!(text, "  {}", sentence.trim_start_matches(&of_this_run));
        }
        if here.len() > SENTENCES {
            let dim = frame();
            let _ = writeln!(text, "  {dim}and {} more, see --format json{dim:#}", here.len() - SENTENCES);
        }
        text.push('\n');
    }
}

/// `--statistics`: how often each rule spoke.
fn table(text: &mut String, outcome: &Outcome) {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (_, finding) in outcome.findings() {
        let (all, fixable) = counts.entry(finding.rule).or_default();
        *all += 1;
        *fixable += usize::from(finding.fixes.iter().any(|fix| fix.safe));
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|(rule, (all, _))| (std::cmp::Reverse(*all), *rule));
    for (rule, (all, fixable)) in rows {
        let how = if fixable > 0 { format!("  ({fixable} with a safe fix)") } else { String::new() };
        let _ = writeln!(text, "{all:6}  {rule}{how}");
    }
    if outcome.findings().next().is_some() {
        text.push('\n');
    }
}

/// `5 findings (1 error, 3 warnings, 1 information) in 2 files, 1 run linked, 38 ms`.
fn closing(outcome: &Outcome) -> String {
    let mut line = words::count(outcome.findings().count(), "finding");
    let levels: Vec<String> = [Severity::Error, Severity::Warning, Severity::Information, Severity::Hint]
        .into_iter()
        .filter_map(|severity| level(outcome, severity))
        .collect();
    if !levels.is_empty() {
        let _ = write!(line, " ({})", levels.join(", "));
    }
    let hit = outcome.files.iter().filter(|file| !file.analysis.findings.is_empty()).count();
    let of = if hit == 0 || hit == outcome.checked { String::new() } else { format!("{hit} of ") };
    let _ = write!(line, " in {of}{}", words::count(outcome.checked, "file"));
    if !outcome.runs.is_empty() {
        let _ = write!(line, ", {} linked", words::count(outcome.runs.len(), "run"));
    }
    if !outcome.errors.is_empty() {
        let _ = write!(line, ", {}", words::count(outcome.errors.len(), "unreadable input"));
    }
    let _ = write!(line, ", {} ms", outcome.elapsed.as_millis());
    line
}

fn level(outcome: &Outcome, severity: Severity) -> Option<String> {
    let number = outcome.findings().filter(|(_, finding)| finding.severity == severity).count();
    let name = words::severity(severity);
    match (number, severity) {
        (0, _) => None,
        (_, Severity::Information) => Some(format!("{number} {name}")),
        _ => Some(words::count(number, name)),
    }
}

fn style(severity: Severity) -> Style {
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Information => AnsiColor::Blue,
        Severity::Hint => AnsiColor::Cyan,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}

fn frame() -> Style {
    Style::new().dimmed()
}
