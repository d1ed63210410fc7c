//! What `check` found, and the forms it is printed in: one file per form.

pub(super) mod github;
pub(super) mod json;
pub(super) mod place;
pub(super) mod sarif;
pub(super) mod snippet;
pub(super) mod text;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::analysis::Analysis;
use crate::catalog::SparkVersion;
use crate::rules::{Finding, MeasuredRun, Severity};
use crate::text::{Document, Encoding, Position, Span};

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
    /// The analysed text.
    pub document: Document,
    /// What was found, filtered as asked.
    pub analysis: Analysis,
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
