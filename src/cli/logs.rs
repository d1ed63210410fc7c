//! Logs that a command names, read with progress.

use anyhow::{anyhow, bail};

use super::progress::ReadProgress;
use crate::eventlog::{self, Location, Log, ReadError, Which};
use crate::run::Run;
use crate::workspace::Kind;

/// What addresses name a log, and where credentials come from; for the help of commands that read logs.
pub(super) const ADDRESSES: &str = "\
Where a log can be:
  -                       standard input
  s3://BUCKET/PATH        an object or a prefix; AWS_ACCESS_KEY_ID,
                          AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
                          AWS_REGION, AWS_ENDPOINT_URL, AWS_ALLOW_HTTP,
                          AWS_SKIP_SIGNATURE
  gs://BUCKET/PATH        the same; GOOGLE_SERVICE_ACCOUNT, or what gcloud
                          set up
  abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH
                          the same; AZURE_STORAGE_ACCOUNT_KEY,
                          AZURE_STORAGE_SAS_TOKEN, AZURE_CLIENT_ID,
                          AZURE_STORAGE_ENDPOINT
  http://HOST:18080       a History Server, or the page of one of its
                          applications (.../history/ID), or the UI of one
                          that runs (http://DRIVER:4040/); where no log
                          comes, what its REST API tells;
                          SPARKLS_HISTORY_TOKEN, or SPARKLS_HISTORY_USER and
                          SPARKLS_HISTORY_PASSWORD
  https://HOST/FILE       a log on a web server
Credentials are taken from the environment only. Where there are logs of many
applications the newest is read. Spark writes its event logs into
spark.eventLog.dir if spark.eventLog.enabled is true.";

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
    // The error says its cause itself: as a chain it would say it twice.
    let told = |error: ReadError| anyhow!("{error}{}", instead(location, &error));
    let found = eventlog::find(location, which).map_err(told)?;
    let [log] = found.as_slice() else { bail!("{location}: holds {} event logs; name one of them", found.len()) };
    read_log(log).map_err(told)
}

/// What to do with a file that is no log but code or settings.
fn instead(location: &Location, error: &ReadError) -> String {
    match (location, error) {
        (Location::Path(path), ReadError::NotALog { .. })
            if matches!(Kind::of(path), Kind::Python | Kind::Sql | Kind::Properties) =>
        {
            format!("; `sparkls check {}` looks at code and settings", path.display())
        }
        _ => String::new(),
    }
}

/// Reads every log that `location` and `which` name when it is asked for, with its name for people. A log that can't be read
/// is an error, and the others follow; a location that can't be looked into is one error under its own name.
pub fn read_all(
    location: &Location,
    which: &Which,
) -> impl Iterator<Item = (String, Result<ReadRun, ReadError>)> + use<> {
    let (found, refused) = match eventlog::find(location, which) {
        Ok(found) => (found, None),
        Err(error) => (Vec::new(), Some((location.to_string(), Err(error)))),
    };
    found.into_iter().map(|log| (log.name().to_owned(), read_log(&log))).chain(refused)
}

fn read_log(log: &Log) -> Result<ReadRun, ReadError> {
    let mut progress = ReadProgress::new(log.name());
    let run = log.read(&mut |read| {
        progress.update(read);
        true
    })?;
    Ok(ReadRun { source: log.name().to_owned(), run })
}
