//! Where a key is set: who wins, who loses, and everything that sets it.

use std::path::Path;
use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;

use super::capabilities::Features;
use super::document::Snapshot;
use super::hover::key_at;
use super::session::Session;
use super::{convert, uri, work};
use crate::catalog;
use crate::conf::{Origin, Setting};
use crate::text::{Document, Span};
use crate::workspace::Source;

/// The answer to `textDocument/definition`: the places whose value is in force for the job at the cursor; on one of them,
/// those that it overrides.
pub(super) async fn definition(
    session: &Arc<Session>,
    snapshot: Arc<Snapshot>,
    position: Position,
) -> Result<Option<Vec<Location>>> {
    let places = Places::of(session, &snapshot);
    let found = work::fresh(session, "textDocument/definition", snapshot, move |snapshot| {
        places.deciding(snapshot, snapshot.document.offset(convert::position(position), places.features.encoding))
    });
    found.await
}

/// The answer to `textDocument/references`: every place in the project that sets the key, by whichever of its names.
pub(super) async fn references(
    session: &Arc<Session>,
    snapshot: Arc<Snapshot>,
    position: Position,
) -> Result<Option<Vec<Location>>> {
    let places = Places::of(session, &snapshot);
    work::fresh(session, "textDocument/references", snapshot, move |snapshot| {
        places
            .setting_the_key(snapshot, snapshot.document.offset(convert::position(position), places.features.encoding))
    })
    .await
}

/// The answer to `textDocument/documentHighlight`: the places in the document itself.
pub(super) async fn highlights(
    session: &Arc<Session>,
    snapshot: Arc<Snapshot>,
    position: Position,
) -> Result<Option<Vec<DocumentHighlight>>> {
    let encoding = session.features().encoding;
    work::fresh(session, "textDocument/documentHighlight", snapshot, move |snapshot| {
        let (key, _) = key_at(snapshot, snapshot.document.offset(convert::position(position), encoding))?;
        let highlight = |setting: &Setting| DocumentHighlight {
            range: convert::range(&snapshot.document, setting.key_span, encoding),
            kind: Some(DocumentHighlightKind::WRITE),
        };
        Some(setting_of(snapshot.facts().settings(), &key).map(highlight).collect())
    })
    .await
}

/// The documents in which places are looked for: what is open as it is in the editor, the rest as it was read last.
struct Places {
    open: Vec<Arc<Snapshot>>,
    features: Features,
}

/// A document with settings, open or not.
enum Written<'a> {
    Open(&'a Snapshot),
    Read(&'a Source),
}

impl Places {
    fn of(session: &Session, snapshot: &Snapshot) -> Self {
        let mut open = session.snapshots();
        open.retain(|other| other.project.root == snapshot.project.root && other.is_analysed());
        Self { open, features: session.features().clone() }
    }

    fn deciding(&self, snapshot: &Snapshot, offset: usize) -> Option<Vec<Location>> {
        let (key, span) = key_at(snapshot, offset)?;
        let effective = snapshot.conf_at(offset).get(&key);
        let winners = origins(effective.origin.as_ref()?);
        let is_here =
            |origin: &&Origin| self.place(snapshot, origin, &key).is_some_and(|found| found.is_at(snapshot, span));
        let losers: Vec<&Origin> = effective.overridden.iter().flat_map(|layer| origins(&layer.origin)).collect();
        let told = if winners.iter().any(is_here) && !losers.is_empty() { losers } else { winners };
        let mut locations: Vec<Location> = Vec::new();
        for found in told.into_iter().filter_map(|origin| self.place(snapshot, origin, &key)) {
            if let Some(location) = found.location(&self.features).filter(|location| !locations.contains(location)) {
                locations.push(location);
            }
        }
        (!locations.is_empty()).then_some(locations)
    }

    /// The setting that an origin names.
    fn place<'a>(&'a self, snapshot: &'a Snapshot, origin: &Origin, key: &str) -> Option<Place<'a>> {
        let Origin::Written { path, line, .. } = origin else { return None };
        let document = self.document(snapshot, path)?;
        let setting = setting_of(document.settings(), key).find(|setting| document.line(setting) == *line)?.key_span;
        Some(Place { document, setting })
    }

    fn document<'a>(&'a self, snapshot: &'a Snapshot, path: &Path) -> Option<Written<'a>> {
        if snapshot.path == *path {
            return Some(Written::Open(snapshot));
        }
        let open = self.open.iter().find(|open| open.path == *path).map(|open| Written::Open(open));
        open.or_else(|| snapshot.project.sources.at(path).map(|source| Written::Read(source)))
    }

    fn setting_the_key(&self, snapshot: &Snapshot, offset: usize) -> Option<Vec<Location>> {
        let (key, _) = key_at(snapshot, offset)?;
        let is_open = |source: &&Arc<Source>| !self.open.iter().any(|open| open.path == **source.path);
        let mut documents: Vec<Written<'_>> = self.open.iter().map(|open| Written::Open(open)).collect();
        documents.extend(snapshot.project.sources.all().filter(is_open).map(|source| Written::Read(source)));
        documents.sort_by(|a, b| a.path().cmp(b.path()));
        Some(documents.iter().flat_map(|document| document.locations(&key, &self.features)).collect())
    }
}

/// A setting in a document.
struct Place<'a> {
    document: Written<'a>,
    setting: Span,
}

impl Place<'_> {
    fn is_at(&self, snapshot: &Snapshot, span: Span) -> bool {
        self.document.path() == snapshot.path && span.contains(self.setting)
    }

    fn location(&self, features: &Features) -> Option<Location> {
        self.document.to_locations(&[self.setting], features).pop()
    }
}

impl Written<'_> {
    fn path(&self) -> &Path {
        match self {
            Self::Open(snapshot) => &snapshot.path,
            Self::Read(source) => &source.path,
        }
    }

    fn settings(&self) -> &[Setting] {
        match self {
            Self::Open(snapshot) => snapshot.facts().settings(),
            Self::Read(source) => &source.settings,
        }
    }

    /// The line of a setting, from 1, as origins count it.
    fn line(&self, setting: &Setting) -> u32 {
        let text = match self {
            Self::Open(snapshot) => snapshot.document.text(),
            Self::Read(source) => &source.text,
        };
        crate::workspace::line_of(text, setting.key_span.start as usize)
    }

    fn locations(&self, key: &str, features: &Features) -> Vec<Location> {
        let spans: Vec<Span> = setting_of(self.settings(), key).map(|setting| setting.key_span).collect();
        self.to_locations(&spans, features)
    }

    fn to_locations(&self, spans: &[Span], features: &Features) -> Vec<Location> {
        if spans.is_empty() {
            return Vec::new();
        }
        let in_document = |document: &Document, uri: Uri| {
            let range = |span: &Span| convert::range(document, *span, features.encoding);
            spans.iter().map(|span| Location { uri: uri.clone(), range: range(span) }).collect()
        };
        match self {
            Self::Open(snapshot) => in_document(&snapshot.document, snapshot.uri.clone()),
            Self::Read(source) => uri::of_path(&source.path)
                .map(|uri| in_document(&Document::new(0, &source.text), uri))
                .unwrap_or_default(),
        }
    }
}

/// The places that an origin stands for; none for defaults and runs.
fn origins(origin: &Origin) -> Vec<&Origin> {
    match origin {
        Origin::Launches(layers) => layers.iter().map(|layer| &layer.origin).collect(),
        Origin::Written { .. } => vec![origin],
        Origin::Run(_) | Origin::Default(_) => Vec::new(),
    }
}

/// The settings that set a key, by whichever of its names.
fn setting_of<'s>(settings: &'s [Setting], key: &str) -> impl Iterator<Item = &'s Setting> {
    let wanted = newest_name(key).to_owned();
    settings.iter().filter(move |setting| !setting.key_is_prefix && newest_name(&setting.key) == wanted)
}

fn newest_name(key: &str) -> &str {
    catalog::setting(key).and_then(|facts| facts.alternative_of()).map_or(key, |main| main.key)
}
