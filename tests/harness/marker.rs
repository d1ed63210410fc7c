//! Marker comments: the expectation under the line that it speaks of.

use std::sync::LazyLock;

use regex::Regex;
use sparkls::rules::{Finding, Severity};

/// A place as a reader of the fixture counts it: line and columns from 0, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) start: usize,
    /// One past the last column; a span over several lines counts to the end of its first, an empty one is one wide.
    pub(crate) end: usize,
}

/// What a marker asks for.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub(crate) place: Place,
    pub(crate) severity: String,
    pub(crate) rule: String,
    /// A part of the message.
    pub(crate) message: String,
}

/// What the analysis said.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) severity: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) message: String,
}

impl Found {
    /// The finding at its place in `text`, whose lines may end in `\n`, `\r\n` or `\r`.
    pub(crate) fn new(text: &str, finding: &Finding) -> Self {
        let start = finding.span.start as usize;
        let line_start = text[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let before = &text[..line_start];
        let line = before.matches('\n').count() + before.replace("\r\n", "").matches('\r').count();
        let on_line = finding.span.of(text).split(['\n', '\r']).next().unwrap_or_default().chars().count();
        let column = text[line_start..start].trim_start_matches('\u{feff}').chars().count();
        let severity = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        };
        let place = Place { line, start: column, end: column + on_line.max(1) };
        Self { place, severity, rule: finding.rule, message: finding.message.clone() }
    }

    pub(crate) fn meets(&self, expected: &Expected) -> bool {
        self.place == expected.place
            && self.severity == expected.severity
            && self.rule == expected.rule
            && self.message.contains(&expected.message)
    }

    /// The line to paste.
    pub(crate) fn marker(&self) -> String {
        marker(self.place, self.severity, self.rule, &self.message)
    }
}

impl Expected {
    pub(crate) fn marker(&self) -> String {
        marker(self.place, &self.severity, &self.rule, &self.message)
    }
}

fn marker(place: Place, severity: &str, rule: &str, message: &str) -> String {
    let width = place.end - place.start;
    let carets = match place.start {
        0 => format!("#{}", "^".repeat(width - 1)),
        start => format!("#{}{}", " ".repeat(start - 1), "^".repeat(width)),
    };
    let message = if message.is_empty() { String::new() } else { format!(": {message}") };
    format!("{carets} {severity}[{rule}]{message}")
}

/// Parts a block into its text without markers and what the markers ask for.
pub(crate) fn split(block: &str) -> (String, Vec<Expected>) {
    static MARKER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*#( *)(\^+) *(error|warning|information|hint)\[([a-z0-9-]+)\](?:: *(.*))?$").expect("a regex")
    });
    let mut text = String::new();
    let mut expected = Vec::new();
    let mut lines = 0;
    for line in block.lines() {
        let Some(found) = MARKER.captures(line) else {
            text.push_str(line);
            text.push('\n');
            lines += 1;
            continue;
        };
        let carets = found.get(2).expect("the group always takes part");
        let hash_is_caret = found[1].is_empty();
        let start = line[..carets.start()].chars().count() - usize::from(hash_is_caret);
        let end = line[..carets.end()].chars().count();
        expected.push(Expected {
            place: Place { line: lines.max(1) - 1, start, end },
            severity: found[3].to_owned(),
            rule: found[4].to_owned(),
            message: found.get(5).map_or(String::new(), |message| message.as_str().trim_end().to_owned()),
        });
    }
    (text, expected)
}
