//! Completion: keys and values of settings wherever they can stand, and those of sparkls itself.

mod carrier;
mod keys;
mod place;
mod sparkls;
mod values;

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::document::Snapshot;
use super::hover::setting_documentation;
use super::session::Session;
use super::{convert, work};
use crate::workspace::Kind;
use place::{Place, Spot};

pub(super) use sparkls::explanation;

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
    let offset = snapshot.document.offset(convert::position(position), features.encoding);
    let version = snapshot.project.environment.version;
    let (kind, spot, (offers, is_incomplete)) = match snapshot.kind {
        Kind::Sparkls => {
            let (spot, offers) = sparkls::offers(&snapshot.path, snapshot.document.text(), offset)?;
            (CompletionItemKind::PROPERTY, spot, (offers, false))
        }
        _ => {
            let spot = spot(snapshot, offset)?;
            let (kind, offers) = match &spot.place {
                Place::Key(typed) => (CompletionItemKind::PROPERTY, keys::matching(&spot.under, typed, version)),
                Place::Value { key, .. } => (CompletionItemKind::VALUE, (values::of(key, version), false)),
                Place::Flag(_) => (CompletionItemKind::FIELD, (keys::flags(), false)),
            };
            (kind, spot, offers)
        }
    };
    let range = convert::range(&snapshot.document, spot.span, features.encoding);
    let items = offers
        .into_iter()
        .enumerate()
        .map(|(rank, offer)| {
            let snippet = offer.snippet.filter(|_| features.snippets);
            let plain = offer.insert.unwrap_or_else(|| offer.label.clone());
            let format = snippet.is_some().then_some(InsertTextFormat::SNIPPET);
            let text = snippet.unwrap_or(plain);
            let new_text = if spot.needs_quotes { format!("\"{text}\"") } else { text };
            CompletionItem {
                text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text })),
                insert_text_format: format,
                filter_text: Some(offer.label.clone()),
                sort_text: Some(format!("{rank:04}")),
                kind: Some(kind),
                detail: offer.detail,
                tags: (offer.deprecated && features.completion_deprecated).then(|| vec![CompletionItemTag::DEPRECATED]),
                data: offer.key.map(|key| serde_json::json!({ "key": key, "version": version.to_string() })),
                label: offer.label,
                ..CompletionItem::default()
            }
        })
        .collect();
    Some(CompletionResponse::List(CompletionList { is_incomplete, items }))
}

/// What is being typed at an offset.
fn spot(snapshot: &Snapshot, offset: usize) -> Option<Spot> {
    let text = snapshot.document.text();
    let before = || {
        let line = snapshot.document.line(snapshot.document.position(offset, Default::default()).line);
        text.get(line.start as usize..offset)
    };
    match snapshot.kind {
        Kind::Properties => place::in_properties(before()?)?.at(text, offset),
        Kind::Python => place::in_python(before()?)?.at(text, offset),
        Kind::Carrier(kind) => carrier::spot(kind, text, snapshot.facts().settings(), offset),
        Kind::Sql => place::in_sql(before()?)?.at(text, offset),
        Kind::Sparkls | Kind::Other => None,
    }
}

/// Something to offer.
struct Offer {
    label: String,
    /// What is inserted, where it is not the label.
    insert: Option<String>,
    /// The same with a place to fill in, for clients that can.
    snippet: Option<String>,
    detail: Option<String>,
    deprecated: bool,
    /// The setting whose documentation belongs to it.
    key: Option<&'static str>,
}

impl Offer {
    fn new(label: String) -> Self {
        Self { label, insert: None, snippet: None, detail: None, deprecated: false, key: None }
    }
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
