//! The outline: settings of a properties file; functions, frames and actions of a job.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::document::Snapshot;
use super::session::Session;
use super::{convert, work};
use crate::analysis::Facts;
use crate::pyspark::StaticPlan;
use crate::text::Span;

/// The answer to `textDocument/documentSymbol`.
pub(super) async fn answer(session: &Arc<Session>, snapshot: Arc<Snapshot>) -> Result<Option<DocumentSymbolResponse>> {
    if !snapshot.is_analysed() {
        return Ok(None);
    }
    let features = session.features().clone();
    work::fresh(session, "textDocument/documentSymbol", snapshot, move |snapshot| respond(snapshot, &features))
        .await
        .map(Some)
}

/// A symbol before it has a place in the client's columns.
struct Symbol {
    name: String,
    detail: Option<String>,
    kind: SymbolKind,
    span: Span,
    name_span: Span,
}

fn respond(snapshot: &Snapshot, features: &Features) -> DocumentSymbolResponse {
    let symbols = match snapshot.facts() {
        Facts::Properties(_) | Facts::Carrier(..) | Facts::Sql(_) | Facts::Nothing => settings(snapshot),
        Facts::Python(plan) => python(plan, snapshot.document.text()),
        Facts::Notebook(notebook) => python(&notebook.plan, snapshot.document.text()),
    };
    if features.hierarchical_symbols {
        DocumentSymbolResponse::Nested(nest(symbols, snapshot, features))
    } else {
        DocumentSymbolResponse::Flat(symbols.into_iter().map(|symbol| flat(symbol, snapshot, features)).collect())
    }
}

fn settings(snapshot: &Snapshot) -> Vec<Symbol> {
    let facts = snapshot.facts();
    facts
        .settings()
        .iter()
        .filter(|setting| !setting.key.is_empty())
        .map(|setting| Symbol {
            name: setting.key.clone(),
            detail: setting.value.literal().map(str::to_owned),
            kind: SymbolKind::PROPERTY,
            span: setting.span.cover(setting.key_span),
            name_span: setting.key_span,
        })
        .collect()
}

/// Functions, names bound to frames, and actions, outermost first.
fn python(plan: &StaticPlan, text: &str) -> Vec<Symbol> {
    let functions = plan.scopes.iter().skip(1).filter(|scope| scope.name != "<lambda>").map(|scope| Symbol {
        name: scope.name.clone(),
        detail: None,
        kind: SymbolKind::FUNCTION,
        span: scope.span,
        name_span: first_line(scope.span, text),
    });
    let frames = plan.bindings.iter().map(|binding| Symbol {
        name: binding.name.clone(),
        detail: Some("DataFrame".to_owned()),
        kind: SymbolKind::VARIABLE,
        span: binding.span,
        name_span: binding.span,
    });
    let actions = plan.actions.iter().map(|action| Symbol {
        name: format!("{}()", action.method),
        detail: Some("action".to_owned()),
        kind: SymbolKind::EVENT,
        span: action.site.method,
        name_span: action.site.method,
    });
    let mut symbols: Vec<Symbol> =
        functions.chain(frames).chain(actions).filter(|symbol| !symbol.name.is_empty()).collect();
    symbols.sort_by_key(|symbol| (symbol.span.start, std::cmp::Reverse(symbol.span.end)));
    symbols.dedup_by(|later, earlier| later.name == earlier.name && later.span == earlier.span);
    symbols
}

fn first_line(span: Span, text: &str) -> Span {
    let length = span.of(text).find(['\n', '\r']).unwrap_or(span.len());
    Span::new(span.start as usize, span.start as usize + length)
}

/// Puts symbols into the functions that hold them; deeper ones than this stay beside their parents.
const DEEPEST: usize = 16;

fn nest(symbols: Vec<Symbol>, snapshot: &Snapshot, features: &Features) -> Vec<DocumentSymbol> {
    let mut roots: Vec<DocumentSymbol> = Vec::new();
    let mut open: Vec<(Span, DocumentSymbol)> = Vec::new();
    for symbol in symbols {
        while open.last().is_some_and(|(span, _)| !span.contains(symbol.span)) {
            close(&mut open, &mut roots);
        }
        let span = symbol.span;
        let holds_others = symbol.kind == SymbolKind::FUNCTION && open.len() < DEEPEST;
        let nested = nested(symbol, snapshot, features);
        if holds_others {
            open.push((span, nested));
        } else {
            siblings(&mut open, &mut roots).push(nested);
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut roots);
    }
    roots
}

fn close(open: &mut Vec<(Span, DocumentSymbol)>, roots: &mut Vec<DocumentSymbol>) {
    if let Some((_, done)) = open.pop() {
        siblings(open, roots).push(done);
    }
}

fn siblings<'v>(
    open: &'v mut [(Span, DocumentSymbol)],
    roots: &'v mut Vec<DocumentSymbol>,
) -> &'v mut Vec<DocumentSymbol> {
    match open.last_mut() {
        Some((_, parent)) => parent.children.get_or_insert_default(),
        None => roots,
    }
}

#[allow(deprecated, reason = "the type has no other way to be made")]
fn nested(symbol: Symbol, snapshot: &Snapshot, features: &Features) -> DocumentSymbol {
    DocumentSymbol {
        name: symbol.name,
        detail: symbol.detail,
        kind: symbol.kind,
        tags: None,
        deprecated: None,
        range: convert::range(&snapshot.document, symbol.span, features.encoding),
        selection_range: convert::range(&snapshot.document, symbol.name_span, features.encoding),
        children: None,
    }
}

#[allow(deprecated, reason = "the type has no other way to be made")]
fn flat(symbol: Symbol, snapshot: &Snapshot, features: &Features) -> SymbolInformation {
    SymbolInformation {
        name: symbol.name,
        kind: symbol.kind,
        tags: None,
        deprecated: None,
        location: Location {
            uri: snapshot.uri.clone(),
            range: convert::range(&snapshot.document, symbol.span, features.encoding),
        },
        container_name: None,
    }
}
