//! Completion: keys and values of settings, in properties files and in the strings of half-written code.

mod keys;
mod place;
mod values;

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::document::Snapshot;
use super::hover::setting_documentation;
use super::session::Session;
use super::{convert, work};
use crate::text::Span;
use crate::workspace::Kind;
use place::Place;

/// The answer to `textDocument/completion`.
pub(super) async fn answer(
    session: &Arc<Session>,
    snapshot: Arc<Snapshot>,
    position: Position,
) -> Result<Option<CompletionResponse>> {
    if !snapshot.is_analysed() {
        return Ok(None);
    }
    let features = session.features().clone();
    work::run(session, "textDocument/completion", snapshot, move |snapshot| complete(snapshot, position, &features))
        .await
}

fn complete(snapshot: &Snapshot, position: Position, features: &Features) -> Option<CompletionResponse> {
    let at = convert::position(position);
    let offset = snapshot.document.offset(at, features.encoding);
    let line = snapshot.document.line(at.line);
    let text = snapshot.document.text();
    let start = line.start as usize;
    let (before, behind) = line.of(text).split_at_checked(offset.checked_sub(start)?)?;
    let place = match snapshot.kind {
        Kind::Properties => place::in_properties(before)?,
        Kind::Python => place::in_python(before)?,
        Kind::Carrier(_) | Kind::Sparkls | Kind::Other => return None,
    };
    let version = snapshot.project.environment.version;
    let typed = place.typed();
    let rest = behind.bytes().take_while(|byte| place.continues(*byte)).count();
    let range = convert::range(&snapshot.document, Span::new(offset - typed.len(), offset + rest), features.encoding);
    let (items, is_incomplete) = match &place {
        Place::Key(typed) => keys::matching(typed, version),
        Place::Value { key, .. } => (values::of(key, version), false),
    };
    let items = items
        .into_iter()
        .enumerate()
        .map(|(rank, item)| CompletionItem {
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: item.label.clone() })),
            filter_text: Some(item.label.clone()),
            sort_text: Some(format!("{rank:04}")),
            kind: Some(if matches!(place, Place::Key(_)) {
                CompletionItemKind::PROPERTY
            } else {
                CompletionItemKind::VALUE
            }),
            detail: item.detail,
            tags: (item.deprecated && features.completion_deprecated).then(|| vec![CompletionItemTag::DEPRECATED]),
            data: item.key.map(|key| serde_json::json!({ "key": key, "version": version.to_string() })),
            label: item.label,
            ..CompletionItem::default()
        })
        .collect();
    Some(CompletionResponse::List(CompletionList { is_incomplete, items }))
}

/// Something to offer.
struct Offer {
    label: String,
    detail: Option<String>,
    deprecated: bool,
    /// The setting whose documentation belongs to it.
    key: Option<&'static str>,
}

/// Adds the documentation of a key.
pub(super) fn resolve(session: &Session, mut item: CompletionItem) -> CompletionItem {
    let field = |name: &str| item.data.as_ref().and_then(|data| data.get(name)?.as_str());
    let documentation = field("key")
        .zip(field("version").and_then(|version| version.parse().ok()))
        .and_then(|(key, version)| setting_documentation(key, version));
    item.documentation = documentation.map(|documentation| {
        Documentation::MarkupContent(convert::markup(documentation, session.features().completion_markdown))
    });
    item
}
