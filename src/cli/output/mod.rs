//! What `check` found, and the forms it is printed in: one file per form.

pub(super) mod github;
pub(super) mod json;
pub(super) mod junit;
pub(super) mod place;
pub(super) mod sarif;
pub(super) mod snippet;
pub(super) mod text;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::analysis::Analysis;
use crate::catalog::SparkVersion;
use crate::rules::{Edit, Finding, MeasuredRun, Severity};
use crate::text::{Cell, Document, Encoding, Position, Span};
use crate::workspace::Notebook;

/// What one analysis of the inputs came to.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Files of which there is something to say, in path order.
    pub files: Vec<FileOutcome>,
    /// How many files were analysed.
    pub checked: usize,
    /// What can't be read or used, in the order in which it was met.
    pub errors: Vec<InputError>,
    /// Linked runs, newest first.
    pub runs: Vec<Arc<MeasuredRun>>,
    /// The Spark version whose facts were applied; `None` if the inputs belong to several.
    pub version: Option<SparkVersion>,
    /// How long it took.
    pub elapsed: Duration,
}

/// One file and what was found in it.
#[derive(Debug)]
pub(super) struct FileOutcome {
    /// As the user would name it.
    pub path: PathBuf,
    /// As it is opened.
    pub file: PathBuf,
    /// Its project's root.
    pub root: PathBuf,
    /// The analysed text: of a notebook, that of its cells.
    pub document: Document,
    /// The notebook's file, if it is one.
    pub in_file: Option<InFile>,
    /// What was found, filtered as asked.
    pub analysis: Analysis,
}

/// A notebook's file and the way into it.
#[derive(Debug)]
pub(super) struct InFile {
    notebook: Arc<Notebook>,
    document: Document,
}

impl InFile {
    pub(super) fn new(notebook: Arc<Notebook>) -> Self {
        let document = Document::new(0, &notebook.file);
        Self { notebook, document }
    }
}

impl FileOutcome {
    /// The text of the file itself.
    pub(super) fn file_text(&self) -> &Arc<str> {
        self.in_file.as_ref().map_or_else(|| self.document.text(), |in_file| &in_file.notebook.file)
    }

    /// The number of the cell that a span begins in, from 1, if the file is a notebook.
    pub(super) fn cell(&self, span: Span) -> Option<u32> {
        self.cell_at(span).map(|cell| cell.number)
    }

    fn cell_at(&self, span: Span) -> Option<&Cell> {
        let cells = &self.in_file.as_ref()?.notebook.joined.cells;
        cells.all().get(cells.at(span.start as usize)?)
    }

    /// Where a span starts and ends, in the file or, of a notebook, in the cell that it begins in.
    pub(super) fn range(&self, span: Span) -> (Place, Place) {
        let (mut start, mut end) = Place::range(&self.document, span);
        if let Some(cell) = self.cell_at(span) {
            start.line = start.line.saturating_sub(cell.first_line);
            end.line = end.line.saturating_sub(cell.first_line);
        }
        (start, end)
    }

    /// Where a span starts and ends in the file itself, for those who know nothing of cells.
    pub(super) fn range_in_file(&self, span: Span) -> (Place, Place) {
        match &self.in_file {
            Some(in_file) => Place::range(&in_file.document, in_file.notebook.span_of_file(span)),
            None => Place::range(&self.document, span),
        }
    }

    /// Where an edit is made in the file itself, and its text there.
    pub(super) fn edit_in_file(&self, edit: &Edit) -> ((Place, Place), String) {
        let in_file = self.in_file.as_ref().and_then(|in_file| {
            let edit = in_file.notebook.edit_of_file(edit)?;
            Some((Place::range(&in_file.document, edit.span), edit.text))
        });
        in_file.unwrap_or_else(|| (Place::range(&self.document, edit.span), edit.text.clone()))
    }

    /// `jobs/orders.py`, or `orders.ipynb:cell 3`: what a line and a column are told behind.
    pub(super) fn shown(&self, span: Span) -> String {
        let cell = self.cell(span).map(|number| format!(":cell {number}")).unwrap_or_default();
        format!("{}{cell}", self.path.display())
    }
}

/// An input that can't be read, or a setting of ours that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InputError {
    /// As the user would name it.
    pub path: PathBuf,
    /// Where in it, if a place is known.
    pub place: Option<Place>,
    /// Why, without the path.
    pub message: String,
}

/// A line and a column from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(super) struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    /// The place of a byte offset.
    pub(super) fn of(document: &Document, offset: u32) -> Self {
        let Position { line, column } = document.position(offset as usize, Encoding::Utf32);
        Self { line: line + 1, column: column + 1 }
    }

    /// Where a span starts and ends.
    pub(super) fn range(document: &Document, span: Span) -> (Self, Self) {
        (Self::of(document, span.start), Self::of(document, span.end))
    }
}

impl Outcome {
    /// Every finding with its file, in path order.
    pub(super) fn findings(&self) -> impl Iterator<Item = (&FileOutcome, &Finding)> {
        self.files.iter().flat_map(|file| file.analysis.findings.iter().map(move |finding| (file, finding)))
    }

    /// The worst severity found.
    pub(super) fn worst(&self) -> Option<Severity> {
        self.findings().map(|(_, finding)| finding.severity).max()
    }
}
