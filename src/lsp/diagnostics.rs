//! Findings as diagnostics, and the answer to a client that asks for them.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::cells::View;
use super::configuration::Editor;
use super::document::Snapshot;
use super::session::Session;
use super::uri::Key;
use super::{convert, uri, work};
use crate::rules::{Finding, Related};
use crate::text::Span;
use crate::workspace::{self, Kind, Problem};

/// The name that diagnostics go under.
pub(super) const SOURCE: &str = "sparkls";

/// The diagnostics of a document. For workers.
pub(super) fn of(snapshot: &Snapshot, features: &Features, editor: &Editor) -> Vec<Diagnostic> {
    if snapshot.too_large && snapshot.kind != Kind::Other {
        return vec![too_large(snapshot, features, editor)];
    }
    if snapshot.kind == Kind::Sparkls {
        let problems = workspace::settings_problems(&snapshot.path, snapshot.document.text());
        return problems.iter().map(|problem| of_problem(problem, features)).collect();
    }
    let analysis = snapshot.analysis();
    analysis.findings.iter().map(|finding| diagnostic(snapshot, finding, features, editor)).collect()
}

/// The diagnostics of a notebook by its cells, with the address and the version of each; every cell is there.
pub(super) fn by_cell(snapshot: &Snapshot, found: Vec<Diagnostic>) -> Vec<(Uri, i32, Vec<Diagnostic>)> {
    let Some(cells) = &snapshot.cells else { return Vec::new() };
    let documents = cells.documents.iter().map(|(uri, version)| (uri.clone(), *version, Vec::new()));
    let mut by_cell: Vec<(Uri, i32, Vec<Diagnostic>)> = documents.collect();
    for mut diagnostic in found {
        let Some(location) = cells.location(diagnostic.range) else { continue };
        diagnostic.range = location.range;
        diagnostic.related_information = diagnostic.related_information.map(|all| {
            let told = |mut related: DiagnosticRelatedInformation| {
                related.location = snapshot.told(related.location)?;
                Some(related)
            };
            all.into_iter().filter_map(told).collect()
        });
        if let Some((_, _, own)) = by_cell.iter_mut().find(|(uri, _, _)| *uri == location.uri) {
            own.push(diagnostic);
        }
    }
    by_cell
}

/// One finding as the client shows it.
pub(super) fn diagnostic(snapshot: &Snapshot, finding: &Finding, features: &Features, editor: &Editor) -> Diagnostic {
    let mut tags = Vec::new();
    if finding.unnecessary {
        tags.push(DiagnosticTag::UNNECESSARY);
    }
    if finding.deprecated {
        tags.push(DiagnosticTag::DEPRECATED);
    }
    tags.retain(|tag| features.tags.contains(tag));
    let related = || finding.related.iter().filter_map(|related| related_information(snapshot, related, features));
    Diagnostic {
        range: convert::range(&snapshot.document, finding.span, features.encoding),
        severity: Some(convert::severity(finding.severity)),
        code: Some(NumberOrString::String(finding.rule.to_owned())),
        code_description: features.code_description.then(|| editor.rule_page(finding.rule)).flatten(),
        source: Some(SOURCE.to_owned()),
        message: finding.message.clone(),
        related_information: features
            .related_information
            .then(|| related().collect())
            .filter(|all: &Vec<_>| !all.is_empty()),
        tags: Some(tags).filter(|tags| !tags.is_empty()),
        data: features.data.then(|| serde_json::json!({ "rule": finding.rule, "confidence": finding.confidence })),
    }
}

/// Places in other documents are not shown: their text, and so their lines, is not at hand.
fn related_information(
    snapshot: &Snapshot,
    related: &Related,
    features: &Features,
) -> Option<DiagnosticRelatedInformation> {
    let own = related.path.as_ref().is_none_or(|path| **path == snapshot.path);
    own.then(|| DiagnosticRelatedInformation {
        location: Location {
            uri: snapshot.uri.clone(),
            range: convert::range(&snapshot.document, related.span, features.encoding),
        },
        message: related.message.clone(),
    })
}

fn too_large(snapshot: &Snapshot, features: &Features, editor: &Editor) -> Diagnostic {
    let limit = editor.max_file_bytes / 1024;
    Diagnostic {
        range: convert::range(&snapshot.document, Span::at(0), features.encoding),
        severity: Some(DiagnosticSeverity::HINT),
        source: Some(SOURCE.to_owned()),
        message: format!("Not analysed: the file is larger than {limit} KiB (`sparkls.maxFileSize`)."),
        ..Diagnostic::default()
    }
}

/// Something wrong in a settings file.
pub(super) fn of_problem(problem: &Problem, features: &Features) -> Diagnostic {
    let document = crate::text::Document::new(0, &problem.text);
    Diagnostic {
        range: convert::range(&document, problem.span, features.encoding),
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some(SOURCE.to_owned()),
        message: problem.message.clone(),
        ..Diagnostic::default()
    }
}

/// The answer to `textDocument/diagnostic`.
pub(super) async fn pull(
    session: Arc<Session>,
    view: Option<View>,
    params: DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult> {
    let Some(snapshot) = view.map(|view| view.snapshot) else { return Ok(report(None, Vec::new())) };
    let snapshot = work::settled(&session, snapshot).await;
    let is_cell = snapshot.cells.is_some();
    let uri = params.text_document.uri;
    let result_id = format!("{}-{}", snapshot.revision, snapshot.generation);
    if params.previous_result_id.as_ref() == Some(&result_id) {
        return Ok(DocumentDiagnosticReportResult::Report(DocumentDiagnosticReport::Unchanged(
            RelatedUnchangedDocumentDiagnosticReport {
                related_documents: None,
                unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
            },
        )));
    }
    let features = session.features().clone();
    let editor = session.editor();
    let found = work::run(&session, "textDocument/diagnostic", snapshot, move |snapshot| {
        let mut found = of(snapshot, &features, &editor);
        if is_cell {
            let key = Key::of(&uri);
            let own = by_cell(snapshot, found).into_iter().find(|(cell, _, _)| Key::of(cell) == key);
            found = own.map(|(_, _, found)| found).unwrap_or_default();
        }
        found
    });
    Ok(report(Some(result_id), found.await?))
}

fn report(result_id: Option<String>, items: Vec<Diagnostic>) -> DocumentDiagnosticReportResult {
    DocumentDiagnosticReportResult::Report(DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id, items },
    }))
}

/// Publishes what is wrong in the settings files that are not open and takes back what no longer is; an open one is
/// judged as every document, by its text in the editor.
pub(super) async fn publish_problems(session: &Arc<Session>) {
    let features = session.features();
    let projects = session.projects();
    let mut by_file: Vec<(Uri, Vec<Diagnostic>)> = Vec::new();
    for problem in projects.iter().flat_map(|project| &project.problems) {
        let Some(uri) = uri::of_path(&problem.path).filter(|uri| session.snapshot(uri).is_none()) else { continue };
        let diagnostic = of_problem(problem, features);
        match by_file.iter_mut().find(|(known, _)| *known == uri) {
            Some((_, diagnostics)) => diagnostics.push(diagnostic),
            None => by_file.push((uri, vec![diagnostic])),
        }
    }
    let now: Vec<Uri> = by_file.iter().map(|(uri, _)| uri.clone()).collect();
    let before = std::mem::replace(&mut *session.published_problems.lock(), now.clone());
    for (uri, diagnostics) in by_file {
        session.client.publish_diagnostics(uri, diagnostics, None).await;
    }
    let is_gone = |uri: &Uri| !now.contains(uri) && (features.pull || session.snapshot(uri).is_none());
    for uri in before.into_iter().filter(is_gone) {
        session.client.publish_diagnostics(uri, Vec::new(), None).await;
    }
}
