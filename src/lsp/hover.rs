//! Hover: what a setting does and who decides it, what a call runs, what it cost.

mod api;
mod attribution;
mod code;
mod setting;

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::document::Snapshot;
use super::session::Session;
use super::{completion, convert, work};
use crate::analysis::Facts;
use crate::rules::Finding;
use crate::text::Span;
use crate::workspace::Kind;

pub(super) use setting::{documentation as setting_documentation, key_at, kind as setting_kind, shown_default};

/// The answer to `textDocument/hover`.
pub(super) async fn answer(
    session: &Arc<Session>,
    snapshot: Arc<Snapshot>,
    position: Position,
) -> Result<Option<Hover>> {
    if !snapshot.is_analysed() {
        return Ok(None);
    }
    let features = session.features().clone();
    work::run(session, "textDocument/hover", snapshot, move |snapshot| hover(snapshot, position, &features)).await
}

fn hover(snapshot: &Snapshot, position: Position, features: &Features) -> Option<Hover> {
    let offset = snapshot.document.offset(convert::position(position), features.encoding);
    if snapshot.kind == Kind::Sparkls {
        let (span, explanation) = completion::explanation(&snapshot.path, snapshot.document.text(), offset)?;
        let contents = HoverContents::Markup(convert::markup(explanation, features.markdown));
        return Some(Hover { contents, range: Some(convert::range(&snapshot.document, span, features.encoding)) });
    }
    let (span, mut sections) = setting::sections(snapshot, offset).or_else(|| match snapshot.facts() {
        Facts::Python(plan) | Facts::Sql(plan) => code::sections(snapshot, plan, offset),
        Facts::Notebook(notebook) => code::sections(snapshot, &notebook.plan, offset),
        Facts::Properties(_) | Facts::Carrier(..) | Facts::Nothing => None,
    })?;
    sections.extend(
        snapshot.analysis().findings.iter().filter(|finding| finding.span.touches(offset)).filter_map(evidence),
    );
    let contents = convert::markup(sections.join("\n\n"), features.markdown);
    let range = Some(convert::range(&snapshot.document, span, features.encoding));
    Some(Hover { contents: HoverContents::Markup(contents), range })
}

/// The numbers that a finding rests on; its message is shown by the editor.
fn evidence(finding: &Finding) -> Option<String> {
    let lines: Vec<String> = finding
        .evidence
        .iter()
        .map(|evidence| {
            let threshold = evidence.threshold.as_ref().map(|threshold| format!(" ({threshold})")).unwrap_or_default();
            let source = evidence.source.as_ref().map(|source| format!(", {source}")).unwrap_or_default();
            format!("- {}: {}{threshold}{source}", evidence.name, evidence.value)
        })
        .collect();
    (!lines.is_empty()).then(|| format!("`{}` rests on\n{}", finding.rule, lines.join("\n")))
}

/// The word of these characters around an offset.
fn word(text: &str, offset: usize, belongs: impl Fn(u8) -> bool) -> Span {
    let bytes = text.as_bytes();
    let offset = offset.min(bytes.len());
    let before = bytes[..offset].iter().rev().take_while(|byte| belongs(**byte)).count();
    let behind = bytes[offset..].iter().take_while(|byte| belongs(**byte)).count();
    Span::new(offset - before, offset + behind)
}
