//! `--format junit`: a test report as Jenkins, GitLab and most other CI servers read it.

use std::fmt::Write as _;

use super::{FileOutcome, InputError, Outcome};
use crate::cli::words;
use crate::rules::{Finding, Severity};

/// One suite for each file with findings, one for inputs that can't be read. What makes `check` exit with 1, by `fails`, is
/// a failure; other findings are passed tests that say what was found.
pub(in crate::cli) fn render(outcome: &Outcome, fails: impl Fn(Severity) -> bool) -> String {
    let mut suites: Vec<Suite> = outcome.files.iter().filter_map(|file| Suite::of_findings(file, &fails)).collect();
    suites.extend(Suite::of_errors(&outcome.errors));
    if suites.is_empty() {
        suites.push(Suite::of_silence(outcome.checked));
    }
    let total = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(
        text,
        "<testsuites name=\"sparkls\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">",
        total(Suite::tests),
        total(Suite::failures),
        total(Suite::errors),
        outcome.elapsed.as_secs_f64(),
    );
    for suite in &suites {
        suite.draw(&mut text);
    }
    text.push_str("</testsuites>\n");
    text
}

/// What became of a test.
#[derive(PartialEq)]
enum State {
    Passed,
    Failed,
    Unreadable,
}

struct Case {
    name: String,
    state: State,
    /// `warning[rule]`, or what else is short.
    kind: String,
    message: String,
    details: String,
}

struct Suite {
    /// The path of the file, or what it is about.
    name: String,
    /// Whether the name is a path. The schema has a place for it here, and none at the test.
    is_file: bool,
    cases: Vec<Case>,
}

impl Suite {
    fn of_findings(file: &FileOutcome, fails: impl Fn(Severity) -> bool) -> Option<Self> {
        let cases: Vec<Case> = file.analysis.findings.iter().map(|found| Case::of(file, found, &fails)).collect();
        (!cases.is_empty()).then(|| Self { name: file.path.to_string_lossy().into_owned(), is_file: true, cases })
    }

    fn of_errors(errors: &[InputError]) -> Option<Self> {
        let cases: Vec<Case> = errors.iter().map(Case::of_error).collect();
        (!cases.is_empty()).then(|| Self { name: "inputs".to_owned(), is_file: false, cases })
    }

    /// A report without any test is an error for some who read it.
    fn of_silence(checked: usize) -> Self {
        let case = Case {
            name: format!("no findings in {}", words::count(checked, "file")),
            state: State::Passed,
            kind: String::new(),
            message: String::new(),
            details: String::new(),
        };
        Self { name: "sparkls".to_owned(), is_file: false, cases: vec![case] }
    }

    fn tests(&self) -> usize {
        self.cases.len()
    }

    fn failures(&self) -> usize {
        self.cases.iter().filter(|case| case.state == State::Failed).count()
    }

    fn errors(&self) -> usize {
        self.cases.iter().filter(|case| case.state == State::Unreadable).count()
    }

    fn draw(&self, text: &mut String) {
        let name = attribute(&self.name);
        let file = if self.is_file { format!(" file=\"{name}\"") } else { String::new() };
        let _ = writeln!(
            text,
            "  <testsuite name=\"{name}\"{file} tests=\"{}\" failures=\"{}\" errors=\"{}\">",
            self.tests(),
            self.failures(),
            self.errors(),
        );
        for case in &self.cases {
            case.draw(&self.name, text);
        }
        text.push_str("  </testsuite>\n");
    }
}

impl Case {
    fn of(file: &FileOutcome, finding: &Finding, fails: impl Fn(Severity) -> bool) -> Self {
        let (start, _) = file.range(finding.span);
        let cell = file.cell(finding.span).map(|number| format!("cell {number}, ")).unwrap_or_default();
        let place = format!("{}:{}:{}", file.shown(finding.span), start.line, start.column);
        let kind = format!("{}[{}]", words::severity(finding.severity), finding.rule);
        let fix = finding.fixes.first().map(|fix| format!("\nfix: {}", fix.title)).unwrap_or_default();
        Self {
            name: format!("{} at {cell}line {}, column {}", finding.rule, start.line, start.column),
            state: if fails(finding.severity) { State::Failed } else { State::Passed },
            details: format!("{place}: {kind} {}{fix}", finding.message),
            kind,
            message: finding.message.clone(),
        }
    }

    fn of_error(error: &InputError) -> Self {
        let path = error.path.to_string_lossy().into_owned();
        let place = error.place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
        Self {
            name: format!("{path}{place}"),
            state: State::Unreadable,
            kind: "unreadable".to_owned(),
            message: error.message.clone(),
            details: format!("{path}{place}: {}", error.message),
        }
    }

    fn draw(&self, class: &str, text: &mut String) {
        let _ = write!(text, "    <testcase classname=\"{}\" name=\"{}\"", attribute(class), attribute(&self.name));
        let element = match self.state {
            State::Passed if self.details.is_empty() => {
                text.push_str("/>\n");
                return;
            }
            State::Passed => "system-out",
            State::Failed => "failure",
            State::Unreadable => "error",
        };
        let told = match self.state {
            State::Passed => String::new(),
            _ => format!(" type=\"{}\" message=\"{}\"", attribute(&self.kind), attribute(&self.message)),
        };
        let _ = writeln!(text, ">\n      <{element}{told}>{}</{element}>\n    </testcase>", content(&self.details));
    }
}

/// Text between tags. XML has no way to write most control characters, not even as references.
fn content(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\n' | '\t' => escaped.push(character),
            '\r' => escaped.push_str("&#13;"),
            '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Text in double quotes, where line ends are kept only as references.
fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::{attribute, content};

    #[test]
    fn text_can_not_leave_its_place() {
        assert_eq!(content("a < b && c ]]> d"), "a &lt; b &amp;&amp; c ]]&gt; d");
        assert_eq!(attribute("\"x\"\r\n\ty"), "&quot;x&quot;&#13;&#10;&#9;y");
    }

    #[test]
    fn what_xml_can_not_hold_is_replaced() {
        assert_eq!(content("a\u{1b}[1m\0\u{ffff}é🙂"), "a\u{fffd}[1m\u{fffd}\u{fffd}é🙂");
    }
}
