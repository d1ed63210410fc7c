//! Logs that a command names, read with progress.

use std::path::PathBuf;

use anyhow::bail;

use super::progress::ReadProgress;
use crate::eventlog::{self, Location, Which};
use crate::run::Run;

/// Which application is meant where a LOG holds many.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Choice {
    /// Application id or name, where LOG holds many; the newest otherwise.
    #[arg(long, value_name = "ID|NAME")]
    pub application: Option<String>,

    /// Attempt of the application; the last otherwise.
    #[arg(long, value_name = "N", requires = "application")]
    pub attempt: Option<String>,
}

impl Choice {
    /// As the event log's reader takes it.
    pub(super) fn which(&self) -> Which {
        match &self.application {
            Some(application) => Which::Named { application: application.clone(), attempt: self.attempt.clone() },
            None => Which::Newest,
        }
    }
}

/// A run and where it was read from.
#[derive(Debug)]
pub(super) struct ReadRun {
    /// For people, e.g. the path.
    pub(super) source: String,
    /// The run.
    pub(super) run: Run,
}

/// Reads the one log that `location` and `which` name.
pub(super) fn read(location: &Location, which: &Which) -> anyhow::Result<ReadRun> {
    let _ = which;
    let Location::Path(path) = location else { bail!("{location}: only files and folders are read") };
    let run = read_path(path)?;
    Ok(ReadRun { source: location.to_string(), run })
}

fn read_path(path: &PathBuf) -> anyhow::Result<Run> {
    let mut progress = ReadProgress::new(&path.display().to_string());
    Ok(eventlog::read(path, &mut |read| {
        progress.update(read);
        true
    })?)
}
