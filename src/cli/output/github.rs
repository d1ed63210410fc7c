//! `--format github`: workflow commands, which GitHub shows at the lines of a pull request.

use std::fmt::Write as _;

use super::{FileOutcome, InputError, Outcome};
use crate::rules::{Finding, Severity};

/// One command a line: findings, then inputs that can't be read.
pub(in crate::cli) fn render(outcome: &Outcome) -> String {
    let mut text = String::new();
    for (file, finding) in outcome.findings() {
        command(&mut text, file, finding);
    }
    for error in &outcome.errors {
        unreadable(&mut text, error);
    }
    text
}

fn command(text: &mut String, file: &FileOutcome, finding: &Finding) {
    let (start, end) = file.range_in_file(finding.span);
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "notice",
    };
    let columns = if start.line == end.line {
        // GitHub takes columns only for commands on one line; the end column is inclusive.
        format!(",col={},endColumn={}", start.column, end.column.saturating_sub(1).max(start.column))
    } else {
        String::new()
    };
    let _ = writeln!(
        text,
        "::{level} file={},line={},endLine={}{columns},title={}::{}",
        property(&file.path.to_string_lossy()),
        start.line,
        end.line,
        property(&format!("sparkls[{}]", finding.rule)),
        data(&message(file, finding)),
    );
}

/// The message and the first fix, since GitHub shows nothing else.
fn message(file: &FileOutcome, finding: &Finding) -> String {
    let cell = file.cell(finding.span).map(|number| format!("Cell {number}: ")).unwrap_or_default();
    match finding.fixes.first() {
        Some(fix) => format!("{cell}{}\nFix: {}", finding.message, fix.title),
        None => format!("{cell}{}", finding.message),
    }
}

fn unreadable(text: &mut String, error: &InputError) {
    let line = error.place.map(|place| format!(",line={},col={}", place.line, place.column)).unwrap_or_default();
    let path = property(&error.path.to_string_lossy());
    let _ = writeln!(text, "::error file={path}{line},title=sparkls::{}", data(&error.message));
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn text_can_not_end_a_command_or_a_property() {
        assert_eq!(data("71 % read\r\n::error::x"), "71 %25 read%0D%0A::error::x");
        assert_eq!(property("C:\\a,b.py"), "C%3A\\a%2Cb.py");
    }
}
