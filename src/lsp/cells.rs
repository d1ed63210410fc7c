//! Open notebooks: their cells as the client keeps them, and places in one cell as places in all of them.
//!
//! A notebook is analysed as one document, the joined text of its code cells. A line of that text is a line of its cell,
//! so a place in a cell differs from it by a number of lines only; see [`crate::text::Cells`].

use std::collections::HashMap;
use std::sync::Arc;

use tower_lsp_server::ls_types::*;

use super::convert;
use super::document::{CellDocuments, Snapshot};
use super::uri::Key;
use crate::conf::carriers::CellLanguage;
use crate::text::{Cell, Document, Encoding};
use crate::workspace::Joined;

/// The notebooks that are open.
#[derive(Default)]
pub(super) struct Notebooks {
    by_uri: HashMap<Key, Notebook>,
    /// The notebook of each cell.
    of_cells: HashMap<Key, Key>,
}

/// One open notebook.
pub(super) struct Notebook {
    pub(super) uri: Uri,
    /// Counts its changes, whatever versions the client gives them.
    pub(super) revision: i32,
    cells: Vec<NotebookCell>,
    texts: HashMap<Key, CellText>,
}

struct CellText {
    language: String,
    document: Document,
}

impl CellText {
    fn new(item: &TextDocumentItem) -> Self {
        Self { language: item.language_id.clone(), document: Document::new(item.version, &item.text) }
    }
}

impl Notebooks {
    pub(super) fn get(&self, key: &Key) -> Option<&Notebook> {
        self.by_uri.get(key)
    }

    /// The address of the notebook that a document is a cell of.
    pub(super) fn of_cell(&self, key: &Key) -> Option<Uri> {
        let notebook = self.by_uri.get(self.of_cells.get(key)?)?;
        Some(notebook.uri.clone())
    }

    pub(super) fn insert(&mut self, notebook: Notebook) {
        let key = Key::of(&notebook.uri);
        self.remove(&key);
        self.of_cells.extend(notebook.cells.iter().map(|cell| (Key::of(&cell.document), key.clone())));
        self.by_uri.insert(key, notebook);
    }

    pub(super) fn remove(&mut self, key: &Key) {
        self.by_uri.remove(key);
        self.of_cells.retain(|_, notebook| notebook != key);
    }

    /// Applies a change in the order that the protocol tells: the cells, what they are, their texts. Says which cells are
    /// gone; `None` if the notebook is not open.
    pub(super) fn change(
        &mut self,
        key: &Key,
        change: NotebookDocumentChangeEvent,
        encoding: Encoding,
    ) -> Option<Vec<Uri>> {
        let notebook = self.by_uri.get_mut(key)?;
        let before: Vec<Uri> = notebook.cells.iter().map(|cell| cell.document.clone()).collect();
        notebook.apply(change, encoding);
        self.of_cells.retain(|_, notebook| notebook != key);
        self.of_cells.extend(notebook.cells.iter().map(|cell| (Key::of(&cell.document), key.clone())));
        let is_gone = |uri: &Uri| !self.of_cells.contains_key(&Key::of(uri));
        Some(before.into_iter().filter(is_gone).collect())
    }
}

impl Notebook {
    pub(super) fn open(params: DidOpenNotebookDocumentParams) -> Self {
        let texts = params.cell_text_documents.iter().map(|item| (Key::of(&item.uri), CellText::new(item))).collect();
        Self { uri: params.notebook_document.uri, revision: 0, cells: params.notebook_document.cells, texts }
    }

    fn apply(&mut self, change: NotebookDocumentChangeEvent, encoding: Encoding) {
        self.revision += 1;
        let Some(cells) = change.cells else { return };
        if let Some(structure) = cells.structure {
            let opened = structure.did_open.unwrap_or_default();
            self.texts.extend(opened.iter().map(|item| (Key::of(&item.uri), CellText::new(item))));
            let start = (structure.array.start as usize).min(self.cells.len());
            let end = start.saturating_add(structure.array.delete_count as usize).min(self.cells.len());
            self.cells.splice(start..end, structure.array.cells.unwrap_or_default());
            let is_cell = |key: &Key| self.cells.iter().any(|cell| Key::of(&cell.document) == *key);
            let closed = structure.did_close.unwrap_or_default();
            for key in closed.iter().map(|closed| Key::of(&closed.uri)).filter(|key| !is_cell(key)) {
                self.texts.remove(&key);
            }
        }
        for data in cells.data.unwrap_or_default() {
            if let Some(cell) = self.cells.iter_mut().find(|cell| cell.document == data.document) {
                *cell = data;
            }
        }
        for content in cells.text_content.unwrap_or_default() {
            let Some(text) = self.texts.get_mut(&Key::of(&content.document.uri)) else { continue };
            for change in content.changes {
                convert::apply(&mut text.document, content.document.version, &change, encoding);
            }
        }
    }

    /// The cells as they are now.
    pub(super) fn cells(&self) -> CellDocuments {
        let mut documents = Vec::new();
        let mut others = Vec::new();
        let mut joined: Vec<(u32, &str, CellLanguage)> = Vec::new();
        for (cell, number) in self.cells.iter().zip(1..) {
            let text = self.texts.get(&Key::of(&cell.document)).filter(|_| cell.kind == NotebookCellKind::CODE);
            match text {
                Some(text) => {
                    documents.push((cell.document.clone(), text.document.version()));
                    joined.push((number, text.document.text(), CellLanguage::of(&text.language)));
                }
                None => others.push(cell.document.clone()),
            }
        }
        CellDocuments { joined: Joined::new(joined), documents, others }
    }
}

impl CellDocuments {
    /// The address of a cell and its place among the lines of all, by the line of the joined text.
    pub(super) fn at_line(&self, line: u32) -> Option<(&Uri, &Cell)> {
        let index = self.joined.cells.at_line(line)?;
        Some((&self.documents.get(index)?.0, self.joined.cells.all().get(index)?))
    }

    /// A place of the joined text as one of the cell that it begins in.
    pub(super) fn location(&self, range: Range) -> Option<Location> {
        let (uri, cell) = self.at_line(range.start.line)?;
        Some(Location { uri: uri.clone(), range: within(cell, range) })
    }
}

/// A range of the joined text, begun in a cell, as one of this cell.
fn within(cell: &Cell, range: Range) -> Range {
    let up = |position: Position| Position { line: position.line.saturating_sub(cell.first_line), ..position };
    Range { start: up(range.start), end: up(range.end) }
}

/// What a request is about: a document, or one cell of a notebook.
pub(super) struct View {
    pub(super) snapshot: Arc<Snapshot>,
    /// The cell, by its place among the joined ones.
    cell: Option<usize>,
}

impl View {
    pub(super) fn of_document(snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot, cell: None }
    }

    /// A cell of a notebook; `None` if nothing is found in its kind.
    pub(super) fn of_cell(snapshot: Arc<Snapshot>, uri: &Uri) -> Option<Self> {
        let documents = &snapshot.cells.as_ref()?.documents;
        let key = Key::of(uri);
        let cell = documents.iter().position(|(document, _)| Key::of(document) == key)?;
        Some(Self { snapshot, cell: Some(cell) })
    }

    /// What is analysed.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    fn cell(&self) -> Option<&Cell> {
        self.snapshot.cells.as_ref()?.joined.cells.all().get(self.cell?)
    }

    /// A position that the client sent, in the analysed text.
    pub(super) fn position(&self, position: Position) -> Position {
        let Some(cell) = self.cell() else { return position };
        let line = position.line.min(cell.lines.saturating_sub(1)) + cell.first_line;
        // Behind the last line of a cell is its end, as it is in a document.
        let character = if position.line < cell.lines { position.character } else { u32::MAX };
        Position { line, character }
    }

    /// A range that the client sent, in the analysed text.
    pub(super) fn range(&self, range: Range) -> Range {
        Range { start: self.position(range.start), end: self.position(range.end) }
    }

    /// A range of the analysed text as the client counts it; `None` if it begins elsewhere than in the cell.
    pub(super) fn told(&self, range: Range) -> Option<Range> {
        let Some(cell) = self.cell() else { return Some(range) };
        let is_inside = (cell.first_line..cell.first_line + cell.lines).contains(&range.start.line);
        is_inside.then(|| within(cell, range))
    }

    /// An answer's place in the client's own count, if it has one in the cell.
    pub(super) fn each<T>(&self, items: Vec<T>, place: impl Fn(&mut T) -> &mut Range) -> Vec<T> {
        let told = |mut item: T| {
            let range = place(&mut item);
            *range = self.told(*range)?;
            Some(item)
        };
        items.into_iter().filter_map(told).collect()
    }

    /// A hover in the client's own count.
    pub(super) fn hover(&self, mut hover: Hover) -> Hover {
        hover.range = hover.range.and_then(|range| self.told(range));
        hover
    }

    /// Completions in the client's own count.
    pub(super) fn completion(&self, mut response: CompletionResponse) -> CompletionResponse {
        let (CompletionResponse::Array(items) | CompletionResponse::List(CompletionList { items, .. })) = &mut response;
        items.retain_mut(|item| match &mut item.text_edit {
            Some(CompletionTextEdit::Edit(edit)) => self.told(edit.range).map(|range| edit.range = range).is_some(),
            _ => true,
        });
        response
    }

    /// The diagnostics of code actions in the client's own count; their edits name their cells already.
    pub(super) fn actions(&self, mut response: CodeActionResponse) -> CodeActionResponse {
        for action in &mut response {
            if let CodeActionOrCommand::CodeAction(action) = action
                && let Some(diagnostics) = action.diagnostics.take()
            {
                action.diagnostics = Some(self.each(diagnostics, |diagnostic| &mut diagnostic.range));
            }
        }
        response
    }

    /// Inlay hints in the client's own count.
    pub(super) fn hints(&self, hints: Vec<InlayHint>) -> Vec<InlayHint> {
        let told = |mut hint: InlayHint| {
            hint.position = self.told(Range { start: hint.position, end: hint.position })?.start;
            Some(hint)
        };
        hints.into_iter().filter_map(told).collect()
    }

    /// Symbols in the client's own count.
    pub(super) fn symbols(&self, response: DocumentSymbolResponse) -> DocumentSymbolResponse {
        match response {
            DocumentSymbolResponse::Nested(symbols) => DocumentSymbolResponse::Nested(self.nested(symbols)),
            DocumentSymbolResponse::Flat(symbols) => {
                let symbols = symbols.into_iter().filter_map(|mut symbol| {
                    symbol.location = self.snapshot.told(symbol.location)?;
                    Some(symbol)
                });
                let of_cell = symbols.filter(|symbol| {
                    let cells = self.snapshot.cells.as_ref();
                    let own = cells.zip(self.cell).and_then(|(cells, cell)| cells.documents.get(cell));
                    own.is_none_or(|(uri, _)| *uri == symbol.location.uri)
                });
                DocumentSymbolResponse::Flat(of_cell.collect())
            }
        }
    }

    /// What lies in a function lies in the cell of the function; no deeper than symbols are nested.
    fn nested(&self, symbols: Vec<DocumentSymbol>) -> Vec<DocumentSymbol> {
        let told = |mut symbol: DocumentSymbol| {
            symbol.range = self.told(symbol.range)?;
            symbol.selection_range = self.told(symbol.selection_range)?;
            symbol.children = symbol.children.map(|children| self.nested(children));
            Some(symbol)
        };
        symbols.into_iter().filter_map(told).collect()
    }
}

impl Snapshot {
    /// A line of this document, from 1, in words: of a notebook, the line of a cell.
    pub(super) fn line_in_words(&self, line: u32) -> String {
        let cell = self.cells.as_ref().and_then(|cells| cells.at_line(line.checked_sub(1)?));
        match cell {
            Some((_, cell)) => format!("line {} of cell {}", line - cell.first_line, cell.number),
            None => format!("line {line}"),
        }
    }

    /// A place of this document as the client knows it: in a notebook, in one of its cells.
    pub(super) fn told(&self, location: Location) -> Option<Location> {
        match &self.cells {
            Some(cells) if location.uri == self.uri => cells.location(location.range),
            _ => Some(location),
        }
    }
}
