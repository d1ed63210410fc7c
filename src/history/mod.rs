//! Runs over time: a row for each evaluated stage of each run, kept in a file, and what has become slower.
//!
//! Promises: recording a run that is there already changes nothing; the file holds whole runs only, whatever ends the
//! process that writes, and however many write at once.

mod jsonl;
mod row;
mod sqlite;
mod trend;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::text::plainly;

pub use row::{Row, rows_of};
pub use trend::{Change, Past, Thresholds, Trend, median};

/// Why a history can't be read or written: one sentence that names the file.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// Opening, reading, writing or locking failed.
    #[error("{path}: {}", plainly(reason))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// SQLite refused.
    #[error("{path}: {}", said(reason))]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: rusqlite::Error,
    },
    /// The file holds something else.
    #[error("{path}: {reason}")]
    NotAHistory {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as that can be told.
        reason: String,
    },
}

/// SQLite's words name the file again, and not what may be wrong with it.
fn said(reason: &rusqlite::Error) -> String {
    match reason.sqlite_error_code() {
        Some(rusqlite::ErrorCode::CannotOpen) => {
            "can't be opened or made; is its folder there, and may you write into it?".to_owned()
        }
        _ => reason.to_string(),
    }
}

/// What recording a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// The run is new, with so many rows.
    New(usize),
    /// The run was there with other rows, e.g. of a log that was not at its end: so many were added, changed or removed.
    Updated(usize),
    /// The run was there with the same rows.
    Unchanged,
    /// The run was there from a log that held more of it, and stays.
    Kept,
}

/// A file of rows: SQLite, or JSON lines where its name ends in `.jsonl`.
#[derive(Debug)]
pub enum Store {
    /// A table in a SQLite file.
    Sqlite(sqlite::Table),
    /// A row a line.
    Jsonl(jsonl::Lines),
}

impl Store {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        if is_jsonl(path) {
            jsonl::Lines::open(path).map(Self::Jsonl)
        } else {
            sqlite::Table::open(path).map(Self::Sqlite)
        }
    }

    /// Writes the rows of one run: all of them, or none.
    pub fn record(&mut self, rows: &[Row]) -> Result<Recorded, HistoryError> {
        match self {
            Self::Sqlite(table) => table.record(rows),
            Self::Jsonl(lines) => lines.record(rows),
        }
    }
}

/// All rows of a file that is there, by start of the run, then by stage.
pub fn read(path: &Path) -> Result<Vec<Row>, HistoryError> {
    let mut rows = if is_jsonl(path) { jsonl::read(path)? } else { sqlite::read(path)? };
    rows.sort_by(|a, b| (a.run_started_ms, a.run(), a.stage).cmp(&(b.run_started_ms, b.run(), b.stage)));
    Ok(rows)
}

fn is_jsonl(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"))
}

/// What becomes of a run whose rows are `known`: `None` if these rows are to be written.
fn outcome(known: &[Row], rows: &[Row]) -> Option<Recorded> {
    let (known_first, first) = (known.first()?, rows.first()?);
    if known_first.fullness() > first.fullness() {
        return Some(Recorded::Kept);
    }
    (differences(known, rows) == 0).then_some(Recorded::Unchanged)
}

/// How many rows were added, changed or removed.
fn differences(known: &[Row], rows: &[Row]) -> usize {
    let (old, new) = (by_stage(known), by_stage(rows));
    let written = new.iter().filter(|(key, row)| old.get(key) != Some(row)).count();
    written + old.keys().filter(|key| !new.contains_key(key)).count()
}

/// The rows of one run by what they are in it.
fn by_stage(rows: &[Row]) -> BTreeMap<(&str, u32), &Row> {
    rows.iter().map(|row| ((row.stage_key.as_str(), row.stage_attempt), row)).collect()
}
