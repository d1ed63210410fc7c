//! Findings against markers, on the text as written and on texts that must not make a difference.

use super::case::{Case, Document, Language};
use super::marker::{Expected, Found};

/// A way to write the same document differently.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) change: fn(&str) -> String,
    /// Lines that were put before the first.
    pub(crate) lines_before: usize,
    /// In which languages the text means the same then.
    pub(crate) holds_for: fn(Language) -> bool,
}

pub(crate) const AS_WRITTEN: Variant =
    Variant { name: "as written", change: str::to_owned, lines_before: 0, holds_for: |_| true };
pub(crate) const CRLF: Variant =
    Variant { name: "with CRLF", change: |text| text.replace('\n', "\r\n"), lines_before: 0, holds_for: |_| true };
/// In a properties file a byte order mark belongs to the first key.
pub(crate) const BOM: Variant = Variant {
    name: "with a BOM",
    change: |text| format!("\u{feff}{text}"),
    lines_before: 0,
    holds_for: |language| language != Language::Properties,
};
pub(crate) const EMOJI: Variant = Variant {
    name: "behind an emoji comment",
    change: |text| format!("# \u{1f680} \u{1f469}\u{200d}\u{1f4bb}\n{text}"),
    lines_before: 1,
    holds_for: Language::has_comments,
};

/// What is wrong with the findings on a document, ready to read; `None` if nothing is.
pub(crate) fn findings(case: &Case, document: &Document, variant: &Variant) -> Option<String> {
    if !(variant.holds_for)(document.language) {
        return None;
    }
    let text = (variant.change)(&document.text);
    let analysis = case.analyse(document, &text);
    let mut found: Vec<Found> = analysis.findings.iter().map(|finding| Found::new(&text, finding)).collect();
    found.iter_mut().for_each(|found| found.place.line -= variant.lines_before.min(found.place.line));
    let missing = take_matches(&document.expected, &mut found);
    if missing.is_empty() && found.is_empty() {
        return None;
    }
    let heading = format!("{} ({}), block of line {}", case.name, variant.name, document.line);
    Some(format!("{heading}\n{}", diff(&document.text, &missing, &found)))
}

/// Takes out of `found` what is expected; returns what is missing.
fn take_matches<'a>(expected: &'a [Expected], found: &mut Vec<Found>) -> Vec<&'a Expected> {
    expected
        .iter()
        .filter(|expected| match found.iter().position(|found| found.meets(expected)) {
            Some(at) => {
                found.swap_remove(at);
                false
            }
            None => true,
        })
        .collect()
}

fn diff(text: &str, missing: &[&Expected], unexpected: &[Found]) -> String {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        lines.push(format!("    {line}"));
        let missing = missing.iter().filter(|expected| expected.place.line == number);
        lines.extend(missing.map(|expected| format!("  - {}", expected.marker())));
        let unexpected = unexpected.iter().filter(|found| found.place.line == number);
        lines.extend(unexpected.map(|found| format!("  + {}", found.marker())));
    }
    lines.join("\n")
}
