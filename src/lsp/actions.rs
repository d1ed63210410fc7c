//! Code actions: fixes of findings, refactorings at the cursor, all safe fixes of a file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::configuration::Editor;
use super::document::{CellDocuments, Snapshot};
use super::session::Session;
use super::{convert, diagnostics, work};
use crate::rules::{self, Edit, Finding, Fix, FixKind};
use crate::text::Span;

/// All safe fixes of a file, for `editor.codeActionsOnSave`.
const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.sparkls");

pub(super) fn kinds() -> Vec<CodeActionKind> {
    vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR, FIX_ALL]
}

/// What an unresolved action stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Data {
    uri: Uri,
    version: i32,
    title: String,
    /// Where the action was offered, in bytes.
    start: u32,
    end: u32,
}

/// The answer to `textDocument/codeAction`.
pub(super) async fn answer(
    session: &Arc<Session>,
    snapshot: Arc<Snapshot>,
    params: CodeActionParams,
) -> Result<Option<CodeActionResponse>> {
    if !snapshot.is_analysed() {
        return Ok(None);
    }
    let features = session.features().clone();
    let editor = session.editor();
    let offer = move |snapshot: &Snapshot| offer(snapshot, &params, &features, &editor);
    work::fresh(session, "textDocument/codeAction", snapshot, offer).await.map(Some)
}

fn offer(snapshot: &Snapshot, params: &CodeActionParams, features: &Features, editor: &Editor) -> CodeActionResponse {
    let asked = convert::span(&snapshot.document, params.range, features.encoding);
    let wanted = |kind: &CodeActionKind| wants(params.context.only.as_deref(), kind);
    let offered = |fix: &Fix| OfferedFix { kind: action_kind(fix.kind), title: fix.title.clone() };
    let mut actions = Vec::new();
    // Some clients send every diagnostic of the line along; only the range says what is meant.
    for finding in snapshot.analysis().findings.iter().filter(|finding| finding.span.intersects(asked)) {
        for (index, fix) in finding.fixes.iter().enumerate().filter(|(_, fix)| wanted(&action_kind(fix.kind))) {
            let Some(mut action) = action(snapshot, offered(fix), &fix.edits, asked, features) else { continue };
            action.diagnostics = Some(vec![diagnostics::diagnostic(snapshot, finding, features, editor)]);
            action.is_preferred = (features.preferred && index == 0 && fix.safe).then_some(true);
            actions.push(action);
        }
    }
    let fixes = snapshot.analysis().findings.iter().filter(|finding| finding.span.intersects(asked));
    let fixes: Vec<&Fix> = fixes.flat_map(|finding| &finding.fixes).collect();
    for fix in refactorings(snapshot, asked).iter().filter(|fix| wanted(&action_kind(fix.kind))) {
        // What a finding's own fix does is not offered a second time.
        if fixes.iter().all(|other| other.edits != fix.edits) {
            actions.extend(action(snapshot, offered(fix), &fix.edits, asked, features));
        }
    }
    // Offered only to those who ask for it by name: it is about the file, not about the place.
    if params.context.only.is_some() && wanted(&FIX_ALL) {
        let edits = all_safe(&snapshot.analysis().findings);
        if !edits.is_empty() {
            let fix = OfferedFix { kind: FIX_ALL, title: FIX_ALL_TITLE.to_owned() };
            actions.extend(action(snapshot, fix, &edits, asked, features));
        }
    }
    actions.into_iter().map(CodeActionOrCommand::CodeAction).collect()
}

const FIX_ALL_TITLE: &str = "Apply all safe fixes of sparkls";

struct OfferedFix {
    kind: CodeActionKind,
    title: String,
}

/// Whether a client that asks for some kinds asks for this one: `source` holds `source.fixAll.sparkls`.
fn wants(only: Option<&[CodeActionKind]>, kind: &CodeActionKind) -> bool {
    only.is_none_or(|only| {
        only.iter().any(|asked| {
            let rest = kind.as_str().strip_prefix(asked.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || asked.as_str().is_empty())
        })
    })
}

fn action_kind(kind: FixKind) -> CodeActionKind {
    match kind {
        FixKind::QuickFix => CodeActionKind::QUICKFIX,
        FixKind::Refactor => CodeActionKind::REFACTOR,
        FixKind::Source => FIX_ALL,
    }
}

/// `None` if the edits can't be made.
fn action(
    snapshot: &Snapshot,
    fix: OfferedFix,
    edits: &[Edit],
    asked: Span,
    features: &Features,
) -> Option<CodeAction> {
    let edit = workspace_edit(snapshot, edits, features)?;
    let data = Data {
        uri: snapshot.uri.clone(),
        version: snapshot.document.version(),
        title: fix.title.clone(),
        start: asked.start,
        end: asked.end,
    };
    Some(CodeAction {
        title: fix.title,
        kind: Some(fix.kind),
        edit: (!features.resolve_edit).then_some(edit),
        data: features.resolve_edit.then(|| serde_json::to_value(data).unwrap_or_default()),
        ..CodeAction::default()
    })
}

/// Edits of the version that they were made for, where the client can check it.
/// `None` in a notebook if one of them would have to go over cells.
fn workspace_edit(snapshot: &Snapshot, edits: &[Edit], features: &Features) -> Option<WorkspaceEdit> {
    let changed = match &snapshot.cells {
        Some(cells) => edits_of_cells(snapshot, cells, edits, features)?,
        None => {
            let edit = |edit: &Edit| convert::text_edit(&snapshot.document, edit, features.encoding);
            vec![(snapshot.uri.clone(), snapshot.document.version(), edits.iter().map(edit).collect())]
        }
    };
    if !features.document_changes {
        let changes = changed.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
        return Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() });
    }
    let changes = changed.into_iter().map(|(uri, version, edits)| TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier { uri, version: Some(version) },
        edits: edits.into_iter().map(OneOf::Left).collect(),
    });
    Some(WorkspaceEdit {
        document_changes: Some(DocumentChanges::Edits(changes.collect())),
        ..WorkspaceEdit::default()
    })
}

/// Edits of a document, with its address and version.
type Changed = (Uri, i32, Vec<TextEdit>);

/// The edits by the cells that they are made in; `None` if one of them would have to go over cells.
fn edits_of_cells(
    snapshot: &Snapshot,
    cells: &CellDocuments,
    edits: &[Edit],
    features: &Features,
) -> Option<Vec<Changed>> {
    let mut changed: Vec<Changed> = Vec::new();
    for edit in edits {
        let (index, span, text) = cells.joined.cells.inside(edit.span, &edit.text)?;
        let mut edit = convert::text_edit(&snapshot.document, &Edit { span, text }, features.encoding);
        let up = cells.joined.cells.all().get(index)?.first_line;
        edit.range.start.line = edit.range.start.line.checked_sub(up)?;
        edit.range.end.line = edit.range.end.line.checked_sub(up)?;
        let (uri, version) = cells.documents.get(index)?;
        match changed.iter_mut().find(|(known, _, _)| known == uri) {
            Some((_, _, edits)) => edits.push(edit),
            None => changed.push((uri.clone(), *version, vec![edit])),
        }
    }
    Some(changed)
}

/// The edits of all safe fixes that don't touch each other; what is left comes with the next save.
fn all_safe(findings: &[Finding]) -> Vec<Edit> {
    let mut taken: Vec<Edit> = Vec::new();
    for finding in findings {
        let Some(fix) = finding.fixes.iter().find(|fix| fix.safe && fix.kind == FixKind::QuickFix) else { continue };
        let apart = |edit: &Edit| taken.iter().all(|other| !other.span.intersects(edit.span));
        if fix.edits.iter().all(apart) {
            taken.extend(fix.edits.iter().cloned());
        }
    }
    taken
}

/// Templates: those of the code at a place, or the blocks that a settings file lacks, wherever the cursor is in it.
fn refactorings(snapshot: &Snapshot, at: Span) -> Vec<Fix> {
    let (facts, text, conf) = (snapshot.facts(), snapshot.document.text(), snapshot.conf_at(at.start as usize));
    match (facts.plan(), facts.properties()) {
        (Some(plan), _) => rules::refactorings(plan, text, &conf, at),
        (None, Some(file)) => rules::conf::blocks::offers(text, &file.settings, conf.version()),
        (None, None) => Vec::new(),
    }
}

/// Adds the edit to an action, unless the text changed since it was offered.
pub(super) async fn resolve(session: &Arc<Session>, mut action: CodeAction) -> Result<CodeAction> {
    let Some(data) = action.data.clone() else { return Ok(action) };
    let data: Data = serde_json::from_value(data).map_err(|error| Error::invalid_params(error.to_string()))?;
    let snapshot = session.snapshot(&data.uri).filter(|snapshot| snapshot.document.version() == data.version);
    let Some(snapshot) = snapshot else { return Err(Error::content_modified()) };
    let features = session.features().clone();
    let edit = work::fresh(session, "codeAction/resolve", snapshot, move |snapshot| {
        edits_of(snapshot, &data).and_then(|edits| workspace_edit(snapshot, &edits, &features))
    });
    action.edit = edit.await?;
    if action.edit.is_none() {
        return Err(Error::content_modified());
    }
    Ok(action)
}

/// The edits that an offered action stands for.
fn edits_of(snapshot: &Snapshot, data: &Data) -> Option<Vec<Edit>> {
    let findings = &snapshot.analysis().findings;
    if data.title == FIX_ALL_TITLE {
        return Some(all_safe(findings)).filter(|edits| !edits.is_empty());
    }
    let asked = Span { start: data.start, end: data.end };
    let fixes = findings.iter().filter(|finding| finding.span.intersects(asked)).flat_map(|finding| &finding.fixes);
    let quick = fixes.filter(|fix| fix.title == data.title).map(|fix| fix.edits.clone()).next();
    quick.or_else(|| refactorings(snapshot, asked).into_iter().find(|fix| fix.title == data.title).map(|fix| fix.edits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_holds_its_subkinds() {
        let wants = |asked: &str| wants(Some(&[CodeActionKind::from(asked.to_owned())]), &FIX_ALL);
        assert!(wants("source") && wants("source.fixAll") && wants("source.fixAll.sparkls") && wants(""));
        assert!(!wants("source.fixAl") && !wants("quickfix") && !wants("source.fixAll.sparkls.more"));
    }
}
