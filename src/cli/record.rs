//! `sparkls record LOG…`: the numbers of each run, beside those of the runs before it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use serde_json::json;

use super::Exit;
use super::logs::{self, Choice};
use super::words::count;
use crate::eventlog::{Location, Which};
use crate::history::{HistoryError, Recorded, Row, Store, rows_of};
use crate::run::Run;

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    /// A summary on standard error.
    #[default]
    Text,
    /// The same, and a line of JSON for each run on standard output, with its rows.
    Json,
}

/// Write what runs measured into a file: a row for each stage of each run, to see a job over time.
///
/// A run that is in the file already is not written again. Any number of processes may write to one file at once, and
/// one that is killed leaves whole runs only. `sparkls history` shows what is in the file.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Event logs: files, rolled directories, folders of many; all applications in them are recorded.
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<Location>,

    /// One application only, where a LOG holds many.
    #[command(flatten)]
    choice: Choice,

    /// The file: JSON lines if its name ends in .jsonl, else SQLite. It is made if it isn't there.
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,

    /// What is printed. With `json`, no FILE is needed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Records every run. A log that can't be read is named, the others are recorded, and the exit code is 2; a file that
/// can't be written is an error.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.to.is_none() && args.format == Format::Text {
        bail!("nowhere to record to: name a file with --to FILE, or print rows with --format json");
    }
    let mut store = args.to.as_deref().map(Store::open).transpose()?;
    let mut tally = Tally::default();
    for location in &args.logs {
        for (log, run) in runs(location, &args.choice) {
            let recorded = run.map(|run| rows_of(&run)).and_then(|rows| {
                let recorded = store.as_mut().filter(|_| !rows.is_empty()).map(|store| store.record(&rows));
                Ok((rows, recorded.transpose()?))
            });
            let recorded = match recorded {
                // What fails is the file, not this log: the next would fail as well.
                Err(error) if error.is::<HistoryError>() => return Err(error),
                recorded => recorded,
            };
            if args.format == Format::Json {
                writeln!(anstream::stdout(), "{}", line(&log, &recorded))?;
            }
            tally.add(&log, &recorded)?;
        }
    }
    writeln!(anstream::stderr(), "{}", tally.summary(args))?;
    Ok(if tally.unreadable > 0 { Exit::Unreadable } else { Exit::Clean }.into())
}

type Outcome = anyhow::Result<(Vec<Row>, Option<Recorded>)>;

/// All runs that a LOG holds, one after the other, each with where it is, or why it can't be read.
fn runs(location: &Location, choice: &Choice) -> impl Iterator<Item = (String, anyhow::Result<Run>)> + use<> {
    let which = if choice.application.is_some() { choice.which() } else { Which::All };
    logs::read_all(location, &which).map(|(log, read)| {
        let run = match read {
            // A stage is told from the others by its plan, and is another one in the file without it.
            Ok(read) if read.run.coverage.summary.is_some() => Err(anyhow!(
                "{log}: only what the server tells through REST comes, not the event log: its stages would not be those \
                 of the other runs"
            )),
            Ok(read) => Ok(read.run),
            // The error says its cause itself: as a chain it would say it twice.
            Err(error) => Err(anyhow!("{error}")),
        };
        (log, run)
    })
}

/// A run for machines.
fn line(log: &str, outcome: &Outcome) -> serde_json::Value {
    let (rows, recorded, error) = match outcome {
        Ok((rows, recorded)) => (rows.as_slice(), recorded.map(word), None),
        Err(error) => (&[][..], None, Some(format!("{error:#}"))),
    };
    let first = rows.first();
    json!({
        "version": 1,
        "log": log,
        "application": first.map(|row| &row.application),
        "application_attempt": first.map(|row| &row.application_attempt),
        "recorded": recorded,
        "rows": rows,
        "error": error,
    })
}

fn word(recorded: Recorded) -> &'static str {
    match recorded {
        Recorded::New(_) => "new",
        Recorded::Updated(_) => "updated",
        Recorded::Unchanged => "unchanged",
        Recorded::Kept => "kept",
    }
}

/// How many runs met which fate.
#[derive(Debug, Default)]
struct Tally {
    new: usize,
    new_rows: usize,
    updated: usize,
    updated_rows: usize,
    unchanged: usize,
    kept: usize,
    printed: usize,
    empty: usize,
    unreadable: usize,
}

impl Tally {
    fn add(&mut self, log: &str, outcome: &Outcome) -> anyhow::Result<()> {
        match outcome {
            Err(error) => {
                self.unreadable += 1;
                writeln!(anstream::stderr(), "error: {error:#}")?;
            }
            Ok((rows, _)) if rows.is_empty() => {
                self.empty += 1;
                writeln!(anstream::stderr(), "{log}: no stage is in it, nothing to record")?;
            }
            Ok((rows, recorded)) => match *recorded {
                Some(Recorded::New(_)) => {
                    self.new += 1;
                    self.new_rows += rows.len();
                }
                Some(Recorded::Updated(changed)) => {
                    self.updated += 1;
                    self.updated_rows += changed;
                }
                Some(Recorded::Unchanged) => self.unchanged += 1,
                Some(Recorded::Kept) => {
                    self.kept += 1;
                    writeln!(anstream::stderr(), "{log}: the run is in the file from a log that held more of it")?;
                }
                None => self.printed += 1,
            },
        }
        Ok(())
    }

    /// `runs.db: 3 runs recorded (41 rows), 1 was there already; 1 log can't be read`.
    fn summary(&self, args: &Args) -> String {
        let mut parts = Vec::new();
        if self.new > 0 {
            parts.push(format!("{} recorded ({})", count(self.new, "run"), count(self.new_rows, "row")));
        }
        if self.updated > 0 {
            parts.push(format!("{} updated ({})", count(self.updated, "run"), count(self.updated_rows, "row")));
        }
        let there = self.unchanged + self.kept;
        if there > 0 {
            parts.push(format!("{} there already", count(there, "run")));
        }
        if self.printed > 0 {
            parts.push(format!("{} read", count(self.printed, "run")));
        }
        if self.empty > 0 {
            parts.push(format!("{} without a stage", count(self.empty, "run")));
        }
        if self.unreadable > 0 {
            parts.push(format!("{} can't be read", count(self.unreadable, "log")));
        }
        let file = args.to.as_ref().map(|path| format!("{}: ", path.display())).unwrap_or_default();
        format!("{file}{}", parts.join(", "))
    }
}
