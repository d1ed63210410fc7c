//! Logs that a command names, read with progress.

use anyhow::bail;

use super::progress::ReadProgress;
use crate::eventlog::{self, Location, Log, ReadError, Which};
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
pub struct ReadRun {
    /// For people, e.g. the path.
    pub source: String,
    /// The run.
    pub run: Run,
}

/// Reads the one log that `location` and `which` name.
pub(super) fn read(location: &Location, which: &Which) -> anyhow::Result<ReadRun> {
    let found = eventlog::find(location, which)?;
    let [log] = found.as_slice() else { bail!("{location}: holds {} event logs; name one of them", found.len()) };
    Ok(read_log(log)?)
}

/// Reads every log that `location` and `which` name, one after another, and hands out each with its name for people as soon
/// as it is read. A log that can't be read is handed out as an error, and the others follow; a location that can't be looked
/// into is one error under its own name.
pub fn read_all(location: &Location, which: &Which, mut each: impl FnMut(&str, Result<ReadRun, ReadError>)) {
    match eventlog::find(location, which) {
        Ok(found) => found.iter().for_each(|log| each(log.name(), read_log(log))),
        Err(error) => each(&location.to_string(), Err(error)),
    }
}

fn read_log(log: &Log) -> Result<ReadRun, ReadError> {
    let mut progress = ReadProgress::new(log.name());
    let run = log.read(&mut |read| {
        progress.update(read);
        true
    })?;
    Ok(ReadRun { source: log.name().to_owned(), run })
}
