//! The lines of code that a run was linked to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::link::{Certainty, Measured};
use crate::pyspark::{self, PythonFile};
use crate::run::Run;
use crate::text::{Document, Encoding};

/// A line of code that something measured belongs to; lines and columns from 1, in characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) end_line: u32,
    pub(super) certainty: &'static str,
    pub(super) reason: String,
    #[serde(skip)]
    rank: Certainty,
}

impl Place {
    /// `orders.py:42`.
    pub(super) fn short(&self) -> String {
        let name =
            Path::new(&self.path).file_name().map_or_else(|| self.path.clone().into(), |name| name.to_string_lossy());
        format!("{name}:{}", self.line)
    }
}

/// Links by what was measured, best first.
#[derive(Debug, Default)]
pub(super) struct Places {
    places: BTreeMap<Measured, Vec<Place>>,
}

impl Places {
    /// Links the run to all Python files below `paths`, keeping the order of links of one certainty; answers one sentence for each path that can't be read.
    pub(super) fn read(&mut self, paths: &[PathBuf], run: &Run) -> Vec<String> {
        let mut problems = Vec::new();
        for path in paths {
            for entry in ignore::WalkBuilder::new(path).build() {
                match entry {
                    Ok(entry) if is_python(&entry) => {
                        if let Err(error) = self.link(entry.path(), run) {
                            problems.push(format!("{}: {error}", entry.path().display()));
                        }
                    }
                    Ok(_) => {}
                    Err(error) => problems.push(error.to_string()),
                }
            }
        }
        for places in self.places.values_mut() {
            places.sort_by_key(|place| std::cmp::Reverse(place.rank));
        }
        problems
    }

    fn link(&mut self, path: &Path, run: &Run) -> std::io::Result<()> {
        let bytes = std::fs::read(path)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "not valid UTF-8"))?;
        if !pyspark::may_use_spark(&text) {
            return Ok(());
        }
        let text: Arc<str> = text.into();
        let file = PythonFile::parse(&text);
        let document = Document::new(0, &text);
        for link in crate::link::link(run, file.plan(), &text, path).links {
            let start = document.position(link.span.range().start, Encoding::Utf32);
            let end = document.position(link.span.range().end, Encoding::Utf32);
            self.places.entry(link.measured).or_default().push(Place {
                path: path.display().to_string(),
                line: start.line + 1,
                column: start.column + 1,
                end_line: end.line + 1,
                certainty: link.certainty.name(),
                reason: link.reason,
                rank: link.certainty,
            });
        }
        Ok(())
    }

    /// Keeps of every path only the file's name.
    pub(super) fn redact(&mut self) {
        for place in self.places.values_mut().flatten() {
            if let Some(name) = Path::new(&place.path).file_name() {
                place.path = name.to_string_lossy().into_owned();
            }
        }
    }

    /// Links of something measured, best first.
    pub(super) fn of(&self, measured: Measured) -> &[Place] {
        self.places.get(&measured).map_or(&[], Vec::as_slice)
    }

    /// The best link that is sure enough to name a line.
    pub(super) fn best(&self, measured: Measured) -> Option<&Place> {
        self.of(measured).iter().find(|place| place.rank >= Certainty::Likely)
    }
}

fn is_python(entry: &ignore::DirEntry) -> bool {
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    is_file && (entry.depth() == 0 || entry.path().extension().is_some_and(|extension| extension == "py"))
}
