//! `--format json`, see docs/json.md: kept stable under `"version": 1`.

use serde_json::{Value, json};

use super::place::Others;
use super::{FileOutcome, InputError, Outcome};
use crate::cli::words;
use crate::rules::{Edit, Finding, Fix, Related};

/// The whole answer as one object.
pub(in crate::cli) fn render(outcome: &Outcome) -> String {
    let others = Others::default();
    let findings: Vec<Value> = outcome.findings().map(|(file, found)| finding(file, found, &others)).collect();
    let measured: Vec<Value> = outcome.files.iter().flat_map(measured).collect();
    let summary: Vec<Value> = outcome.files.iter().flat_map(summary).collect();
    let answer = json!({
        "version": 1,
        "spark_version": outcome.version.map(|version| version.to_string()),
        "findings": findings,
        "measured": measured,
        "summary": summary,
        "errors": outcome.errors.iter().map(error).collect::<Vec<_>>(),
    });
    format!("{answer:#}\n")
}

/// The same as one object a line, each with its `kind`.
pub(in crate::cli) fn lines(outcome: &Outcome) -> String {
    let others = Others::default();
    let findings = outcome.findings().map(|(file, found)| ("finding", finding(file, found, &others)));
    let measured = outcome.files.iter().flat_map(measured).map(|told| ("measured", told));
    let summary = outcome.files.iter().flat_map(summary).map(|told| ("summary", told));
    let errors = outcome.errors.iter().map(|told| ("error", error(told)));
    let mut text = String::new();
    for (kind, mut told) in findings.chain(measured).chain(summary).chain(errors) {
        let mut line = serde_json::Map::from_iter([("version".to_owned(), json!(1)), ("kind".to_owned(), json!(kind))]);
        line.append(told.as_object_mut().unwrap_or(&mut serde_json::Map::new()));
        text.push_str(&Value::Object(line).to_string());
        text.push('\n');
    }
    text
}

fn finding(file: &FileOutcome, finding: &Finding, others: &Others) -> Value {
    let (start, end) = file.range(finding.span);
    let told = json!({
        "rule": finding.rule,
        "severity": words::severity(finding.severity),
        "confidence": words::confidence(finding.confidence),
        "message": finding.message,
        "path": file.path.to_string_lossy(),
        "start": start,
        "end": end,
        "evidence": finding.evidence,
        "related": finding.related.iter().map(|other| related(file, other, others)).collect::<Vec<_>>(),
        "fixes": finding.fixes.iter().map(|change| fix(file, change)).collect::<Vec<_>>(),
    });
    with_cell(told, file.cell(finding.span))
}

/// Adds the number of the cell that the lines are told in, of what stands in a notebook.
fn with_cell(mut told: Value, cell: Option<u32>) -> Value {
    if let Some(cell) = cell {
        told["cell"] = json!(cell);
    }
    told
}

fn related(file: &FileOutcome, related: &Related, others: &Others) -> Value {
    let place = others.place(file, related);
    let told = json!({
        "path": place.path.to_string_lossy(),
        "start": place.range.map(|(start, _)| start),
        "end": place.range.map(|(_, end)| end),
        "message": related.message,
    });
    with_cell(told, place.cell)
}

fn fix(file: &FileOutcome, fix: &Fix) -> Value {
    json!({
        "title": fix.title,
        "kind": words::fix_kind(fix.kind),
        "safe": fix.safe,
        "edits": fix.edits.iter().map(|change| edit(file, change)).collect::<Vec<_>>(),
    })
}

fn edit(file: &FileOutcome, edit: &Edit) -> Value {
    let (start, end) = file.range(edit.span);
    with_cell(json!({ "start": start, "end": end, "text": edit.text }), file.cell(edit.span))
}

fn measured(file: &FileOutcome) -> impl Iterator<Item = Value> {
    file.analysis.notes.iter().map(|note| {
        let (start, end) = file.range(note.span);
        let told = json!({
            "path": file.path.to_string_lossy(),
            "start": start,
            "end": end,
            "severity": note.severity.map(words::severity),
            "message": note.short,
        });
        with_cell(told, file.cell(note.span))
    })
}

fn summary(file: &FileOutcome) -> impl Iterator<Item = Value> {
    let path = file.path.to_string_lossy();
    file.analysis.summary.iter().map(move |sentence| json!({ "path": path, "message": sentence }))
}

fn error(error: &InputError) -> Value {
    json!({ "path": error.path.to_string_lossy(), "start": error.place, "message": error.message })
}
