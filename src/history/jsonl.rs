//! Rows as lines of JSON, in a file that only grows.
//!
//! A run is appended in one piece while a lock on the file is held. Each line says which of how many lines of its run it
//! is, so that a piece that was cut by a crash is known and left out; of several pieces of one run the last counts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{HistoryError, Recorded, Row, differences, outcome};

/// The version of the form of a line; fields are only added to it.
const VERSION: u32 = 1;

/// What every line begins with; one that was cut may end within.
const START: &str = r#"{"version":1,"run_row":"#;

/// A row and its place in its run.
#[derive(Debug, Serialize, Deserialize)]
struct Line<R> {
    version: u32,
    /// From 1.
    run_row: usize,
    /// How many rows the run has.
    run_rows: usize,
    #[serde(flatten)]
    row: R,
}

/// A file to append to.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: File,
    /// What was read of it so far.
    known: Pieces,
    /// Up to where.
    end: u64,
    /// The last byte read ends a line.
    at_line_start: bool,
}

impl Lines {
    /// Opens the file, or makes it.
    pub(super) fn open(path: &Path) -> Result<Self, HistoryError> {
        let opened = File::options().read(true).append(true).create(true).open(path);
        let file = opened.map_err(|reason| HistoryError::Io { path: path.to_owned(), reason })?;
        let known = Pieces::default();
        let mut lines = Self { path: path.to_owned(), file, known, end: 0, at_line_start: true };
        lines.locked(Self::catch_up)?;
        Ok(lines)
    }

    pub(super) fn record(&mut self, rows: &[Row]) -> Result<Recorded, HistoryError> {
        self.locked(|lines| {
            lines.catch_up()?;
            lines.append(rows)
        })
    }

    /// Does something while no other process reads or writes the file.
    fn locked<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, HistoryError>) -> Result<T, HistoryError> {
        self.file.lock().map_err(|reason| self.failed(reason))?;
        let done = work(self);
        self.file.unlock().map_err(|reason| self.failed(reason))?;
        done
    }

    /// Reads what was appended since the last time.
    fn catch_up(&mut self) -> Result<(), HistoryError> {
        let appended = self.appended().map_err(|reason| self.failed(reason))?;
        self.end += appended.len() as u64;
        self.at_line_start = appended.last().map_or(self.at_line_start, |&last| last == b'\n');
        self.known.add(&self.path, &String::from_utf8_lossy(&appended))
    }

    fn appended(&mut self) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn append(&mut self, rows: &[Row]) -> Result<Recorded, HistoryError> {
        let Some(first) = rows.first() else { return Ok(Recorded::Unchanged) };
        let known = self.known.runs.get(&run_key(first)).map_or(&[][..], Vec::as_slice);
        if let Some(outcome) = outcome(known, rows) {
            return Ok(outcome);
        }
        let recorded =
            if known.is_empty() { Recorded::New(rows.len()) } else { Recorded::Updated(differences(known, rows)) };
        let mut piece = String::from(if self.at_line_start { "" } else { "\n" });
        for (run_row, row) in (1..).zip(rows) {
            let line = Line { version: VERSION, run_row, run_rows: rows.len(), row };
            piece.push_str(&serde_json::to_string(&line).map_err(|error| self.failed(error.into()))?);
            piece.push('\n');
        }
        let written = self.file.write_all(piece.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|reason| self.failed(reason))?;
        self.catch_up()?;
        Ok(recorded)
    }

    fn failed(&self, reason: io::Error) -> HistoryError {
        HistoryError::Io { path: self.path.clone(), reason }
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<Row>, HistoryError> {
    let bytes = std::fs::read(path).map_err(|reason| HistoryError::Io { path: path.to_owned(), reason })?;
    let mut pieces = Pieces::default();
    pieces.add(path, &String::from_utf8_lossy(&bytes))?;
    Ok(pieces.runs.into_values().flatten().collect())
}

type RunKey = (String, Option<String>);

fn run_key(row: &Row) -> RunKey {
    (row.application.clone(), row.application_attempt.clone())
}

/// The rows of each run: of its last piece that is whole.
#[derive(Debug, Default)]
struct Pieces {
    runs: BTreeMap<RunKey, Vec<Row>>,
    /// The piece being read.
    piece: Vec<Row>,
    /// A line of ours was seen, or the beginning of one.
    ours: bool,
}

impl Pieces {
    fn add(&mut self, path: &Path, text: &str) -> Result<(), HistoryError> {
        let refused = |reason: String| HistoryError::NotAHistory { path: path.to_owned(), reason };
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str::<Line<Row>>(line) {
                Ok(line) if line.version > VERSION => {
                    let versions = format!("version {}, this sparkls knows version {VERSION}", line.version);
                    return Err(refused(format!("has lines of {versions}: use a newer one")));
                }
                Ok(line) => self.line(line),
                Err(_) => {
                    self.piece.clear();
                    self.ours |= line.starts_with(START) || START.starts_with(line);
                }
            }
        }
        let is_other = !self.ours && text.contains('\n') && !text.trim().is_empty();
        if is_other { Err(refused("is not a file of recorded runs".to_owned())) } else { Ok(()) }
    }

    fn line(&mut self, line: Line<Row>) {
        self.ours = true;
        if line.run_row == 1 || self.piece.first().is_some_and(|first| first.run() != line.row.run()) {
            self.piece.clear();
        }
        if line.run_row != self.piece.len() + 1 {
            self.piece.clear();
            return;
        }
        self.piece.push(line.row);
        if self.piece.len() == line.run_rows {
            let piece = std::mem::take(&mut self.piece);
            self.runs.extend(piece.first().map(run_key).map(|run| (run, piece)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Store, read};

    fn row(application: &str, stage: u32, wall_ms: u64) -> Row {
        Row {
            application: application.to_owned(),
            stage_key: stage.to_string(),
            stage,
            wall_ms: Some(wall_ms),
            duration_median_ms: Some(0.1 + 0.2),
            ..Row::default()
        }
    }

    fn run(application: &str, wall_ms: u64) -> Vec<Row> {
        (0..3).map(|stage| row(application, stage, wall_ms)).collect()
    }

    #[test]
    fn runs_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.jsonl");
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.record(&run("a", 1)).unwrap(), Recorded::New(3));
        assert_eq!(store.record(&run("b", 2)).unwrap(), Recorded::New(3));
        let before = std::fs::read(&path).unwrap();
        assert_eq!(Store::open(&path).unwrap().record(&run("a", 1)).unwrap(), Recorded::Unchanged);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(read(&path).unwrap(), [run("a", 1), run("b", 2)].concat());
    }

    #[test]
    fn a_cut_piece_is_left_out_and_what_follows_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.jsonl");
        Store::open(&path).unwrap().record(&run("a", 1)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        Store::open(&path).unwrap().record(&run("b", 2)).unwrap();
        let both = std::fs::read(&path).unwrap();
        for end in 1..whole.len() - 1 {
            std::fs::write(&path, [&whole[..end], b"\n"].concat()).unwrap();
            assert_eq!(read(&path).unwrap(), [], "cut at {end}");
        }
        for end in whole.len() + 1..both.len() - 1 {
            std::fs::write(&path, &both[..end]).unwrap();
            assert_eq!(read(&path).unwrap(), run("a", 1), "cut at {end}");
        }
        for end in (whole.len() + 1..both.len() - 1).step_by(17) {
            std::fs::write(&path, &both[..end]).unwrap();
            assert_eq!(Store::open(&path).unwrap().record(&run("c", 3)).unwrap(), Recorded::New(3));
            assert_eq!(Store::open(&path).unwrap().record(&run("b", 2)).unwrap(), Recorded::New(3));
            assert_eq!(read(&path).unwrap(), [run("a", 1), run("b", 2), run("c", 3)].concat(), "cut at {end}");
        }
    }

    #[test]
    fn a_fuller_log_replaces_and_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.jsonl");
        let mut store = Store::open(&path).unwrap();
        store.record(&run("a", 1)).unwrap();
        let fuller: Vec<Row> = run("a", 2).into_iter().take(2).map(|row| Row { log_events: 9, ..row }).collect();
        assert_eq!(store.record(&fuller).unwrap(), Recorded::Updated(3));
        assert_eq!(store.record(&run("a", 1)).unwrap(), Recorded::Kept);
        assert_eq!(read(&path).unwrap(), fuller);
    }

    #[test]
    fn another_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.jsonl");
        std::fs::write(&path, "{\"Event\":\"SparkListenerLogStart\"}\n").unwrap();
        let error = Store::open(&path).unwrap_err();
        assert!(error.to_string().ends_with("other.jsonl: is not a file of recorded runs"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"{\"Event\":\"SparkListenerLogStart\"}\n");
    }
}
