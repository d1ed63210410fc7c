//! Places in documents other than the finding's own, for related spans.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{FileOutcome, Place};
use crate::rules::Related;
use crate::text::Document;

/// Documents that related spans point into, read once each.
#[derive(Default)]
pub(in crate::cli) struct Others {
    read: RefCell<HashMap<PathBuf, Option<Document>>>,
}

/// Where a related span is.
pub(in crate::cli) struct RelatedPlace {
    pub path: PathBuf,
    /// The cell, if it is one of the finding's own notebook.
    pub cell: Option<u32>,
    /// `None` if the other document can't be read any more.
    pub range: Option<(Place, Place)>,
}

impl Others {
    /// Resolves a related span of a finding in `file`.
    pub(in crate::cli) fn place(&self, file: &FileOutcome, related: &Related) -> RelatedPlace {
        let Some(path) = related.path.as_deref().filter(|path| **path != file.path) else {
            return RelatedPlace {
                path: file.path.clone(),
                cell: file.cell(related.span),
                range: Some(file.range(related.span)),
            };
        };
        let mut read = self.read.borrow_mut();
        let document = read.entry(path.clone()).or_insert_with(|| document(path));
        let range = document.as_ref().map(|document| Place::range(document, related.span));
        RelatedPlace { path: crate::cli::inputs::shown(path), cell: None, range }
    }
}

fn document(path: &Path) -> Option<Document> {
    std::fs::read_to_string(path).ok().map(|text| Document::new(0, &text))
}
