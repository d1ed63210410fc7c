//! `sparkls report LOG`: where a run's time went, what is behind it, and what could not be told.

mod html;
mod json;
pub(super) mod markdown;
mod places;
mod summary;
mod text;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use super::Exit;
use super::logs::{self, Choice, ReadRun};
use super::terminal;
use crate::eventlog::Location;
use crate::history::{self, Past, Row};
use crate::rules::run::view::Floors;
use crate::rules::{MeasuredRun, RuleSettings};
use crate::workspace::Project;
use places::Places;
use summary::Summary;

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people; fits the terminal, or 100 columns.
    #[default]
    Text,
    /// For machines; documented and kept stable.
    Json,
    /// For a comment on a pull request.
    #[value(name = "md", alias = "markdown")]
    Markdown,
    /// One page for a browser, with charts; it loads nothing.
    Html,
}

/// Say where the time of a run went, what is behind it, and what could not be told.
///
/// Thresholds are those of the sparkls.toml in the current directory. With --code, measures are tied to lines.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = logs::ADDRESSES)]
pub struct Options {
    /// The event log: a file, a rolled directory, a folder of logs, `-`, or an address (below).
    #[arg(value_name = "LOG")]
    pub log: Location,

    /// Which application, where the log holds many.
    #[command(flatten)]
    pub choice: Choice,

    /// Files and folders of code to link the run to.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub code: Vec<PathBuf>,

    /// A file that `sparkls record` writes: the run is compared with earlier runs of the job.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,

    /// How the report is written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,

    /// Where to write, instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Show all findings, those of little impact as well. JSON always holds them.
    #[arg(long)]
    pub all: bool,

    /// Replace the names of the application, hosts and users, and all paths, so that the report can be shown to others.
    #[arg(long)]
    pub redact: bool,
}

/// Reports on one log. A log that can't be read is an error; code that can't be read is named on stderr, the rest is
/// still linked, and the exit code is 2.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let rules = Project::open(&std::env::current_dir()?).environment.rules;
    let read = logs::read(&options.log, &options.choice.which())?;
    let mut places = Places::default();
    let mut unreadable = false;
    for problem in places.read(&options.code, &read.run) {
        unreadable = true;
        writeln!(anstream::stderr(), "error: {problem}")?;
    }
    let recorded = options.history.as_deref().map(history::read).transpose()?;
    let measured = measure(read, options.redact, &rules, recorded);
    if options.redact {
        places.redact();
    }
    let floors = Floors::new(&rules);
    let summary = || Summary::new(&measured, &places, &floors, options.all);
    let columns = terminal::columns().filter(|_| options.output.is_none());
    let page = match options.format {
        Format::Text => Some(text::render(&summary(), options.all, columns)),
        Format::Markdown => Some(markdown::render(&summary())),
        Format::Html => Some(html::render(&summary())),
        // Written piece by piece: of a large run it is longer than all that is known of it.
        Format::Json => None,
    };
    let json = |to: &mut dyn Write| json::write(&measured, &places, to);
    match (&options.output, page) {
        (Some(path), Some(page)) => std::fs::write(path, page).with_context(|| path.display().to_string())?,
        (Some(path), None) => {
            let written = File::create(path).and_then(|file| buffered(file, json));
            written.with_context(|| path.display().to_string())?;
        }
        (None, page) => match page.map_or_else(|| buffered(io::stdout().lock(), json), |page| super::print(&page)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            result => result?,
        },
    }
    Ok(if unreadable { Exit::Unreadable } else { Exit::Clean }.into())
}

fn buffered(to: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut to = BufWriter::with_capacity(1 << 16, to);
    write(&mut to)?;
    to.flush()
}

/// Judges a run with the thresholds of the project in the current folder.
fn measure(read: ReadRun, redact: bool, rules: &RuleSettings, recorded: Option<Vec<Row>>) -> MeasuredRun {
    let ReadRun { mut source, mut run } = read;
    // Redacted names would match no row.
    let past = recorded.map(|rows| Past::new(&run, rows));
    if redact {
        crate::run::redact::redact(&mut run);
        "a log".clone_into(&mut source);
    }
    let file_name = || source.rsplit(['/', '\\']).next().unwrap_or(&source).to_owned();
    MeasuredRun {
        label: run.application.id.clone().unwrap_or_else(file_name),
        verdicts: crate::rules::run::verdicts_with_past(&run, rules, past.as_ref()),
        source,
        run,
    }
}
