//! `--format sarif`: SARIF 2.1.0, for code scanning.

use std::path::Path;

use serde_json::{Value, json};

use super::place::Others;
use super::{FileOutcome, InputError, Outcome, Place};
use crate::cli::words;
use crate::rules::{self, Finding, Fix, Related, Rule, Severity};

/// One SARIF log with one run.
pub(in crate::cli) fn render(outcome: &Outcome) -> String {
    let rules: Vec<&Rule> = rules::all().collect();
    let others = Others::default();
    let results: Vec<Value> = outcome.findings().map(|(file, found)| result(file, found, &rules, &others)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "sparkls",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": outcome.errors.is_empty(),
                "toolExecutionNotifications": outcome.errors.iter().map(notification).collect::<Vec<_>>(),
            }],
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn descriptor(rule: &Rule) -> Value {
    let summary = rule.summary().replace('`', "");
    let mut descriptor = json!({
        "id": rule.name,
        "shortDescription": { "text": summary },
        "fullDescription": { "text": summary },
        "help": { "text": rule.docs, "markdown": rule.page() },
        "defaultConfiguration": { "enabled": !rule.off, "level": level(rule.severity) },
        "properties": {
            "tags": [words::group(rule.group)],
            "confidence": words::confidence(rule.confidence),
        },
    });
    if let Some(address) = rule.published() {
        descriptor["helpUri"] = json!(address);
    }
    descriptor
}

fn result(file: &FileOutcome, finding: &Finding, rules: &[&Rule], others: &Others) -> Value {
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.severity),
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": artifact(&file.path),
            "region": region(file.range_in_file(finding.span)),
        }}],
        "properties": {
            "severity": words::severity(finding.severity),
            "confidence": words::confidence(finding.confidence),
            "evidence": finding.evidence,
        },
    });
    if let Some(index) = rules.iter().position(|rule| rule.name == finding.rule) {
        result["ruleIndex"] = json!(index);
    }
    if let Some(cell) = file.cell(finding.span) {
        result["locations"][0]["logicalLocations"] = json!([{ "name": format!("cell {cell}"), "kind": "module" }]);
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter().enumerate().map(|(id, other)| location(file, other, id, others));
        result["relatedLocations"] = related.collect();
    }
    if !finding.fixes.is_empty() {
        result["fixes"] =
            finding.fixes.iter().filter(|fix| !fix.edits.is_empty()).map(|fix| change(file, fix)).collect();
    }
    result
}

fn location(file: &FileOutcome, related: &Related, id: usize, others: &Others) -> Value {
    let place = others.place(file, related);
    let mut physical = json!({ "artifactLocation": artifact(&place.path) });
    let in_file = place.cell.map(|_| file.range_in_file(related.span));
    if let Some(range) = in_file.or(place.range) {
        physical["region"] = region(range);
    }
    json!({ "id": id, "physicalLocation": physical, "message": { "text": related.message } })
}

fn change(file: &FileOutcome, fix: &Fix) -> Value {
    let replacements: Vec<Value> = fix
        .edits
        .iter()
        .map(|edit| {
            let (range, text) = file.edit_in_file(edit);
            json!({ "deletedRegion": region(range), "insertedContent": { "text": text } })
        })
        .collect();
    json!({
        "description": { "text": fix.title },
        "artifactChanges": [{ "artifactLocation": artifact(&file.path), "replacements": replacements }],
    })
}

fn notification(error: &InputError) -> Value {
    let mut physical = json!({ "artifactLocation": artifact(&error.path) });
    if let Some(place) = error.place {
        physical["region"] = json!({ "startLine": place.line, "startColumn": place.column });
    }
    json!({
        "level": "error",
        "message": { "text": error.message },
        "locations": [{ "physicalLocation": physical }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "note",
    }
}

fn region((start, end): (Place, Place)) -> Value {
    json!({
        "startLine": start.line, "startColumn": start.column,
        "endLine": end.line, "endColumn": end.column,
    })
}

/// A relative path stays relative, as code scanning wants it; an absolute one becomes a `file:` URI.
fn artifact(path: &Path) -> Value {
    let text = path.to_string_lossy().replace('\\', "/");
    let text = text.strip_prefix("./").unwrap_or(&text);
    let encoded = percent_encoded(text);
    let uri = if path.is_absolute() { format!("file://{encoded}") } else { encoded };
    json!({ "uri": uri })
}

/// Encodes all but what RFC 3986 allows in a path.
fn percent_encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::artifact;

    #[test]
    fn paths_become_uris() {
        let uri = |path: &str| artifact(Path::new(path))["uri"].as_str().map(str::to_owned);
        assert_eq!(uri("./jobs/a b.py").as_deref(), Some("jobs/a%20b.py"));
        assert_eq!(uri("jobs/zé#1.py").as_deref(), Some("jobs/z%C3%A9%231.py"));
        assert_eq!(uri("/srv/job.py").as_deref(), Some("file:///srv/job.py"));
    }
}
