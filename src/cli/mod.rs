//! The command line: one file per subcommand.

mod check;
pub mod compare;
mod completions;
mod conf;
mod explain;
mod fixes;
mod history;
mod inputs;
pub mod logs;
mod man;
mod output;
pub(crate) mod progress;
mod record;
pub mod report;
mod rules;
mod server;
mod terminal;
mod words;

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, Parser, Subcommand};

use crate::text::plainly;

/// What the process tells its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// Nothing at or above the severity that fails.
    Clean = 0,
    /// Findings at or above it.
    Findings = 1,
    /// Wrong usage, or an input that can't be read.
    Unreadable = 2,
    /// The log doesn't hold what the answer needs.
    Inconclusive = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What is slow or will fail in a Spark job: in its settings, in its code, and in its last run, on the line that caused it.
#[derive(Debug, Parser)]
#[command(name = "sparkls", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

const AFTER_HELP: &str = "\
To begin with:
  sparkls check              what the jobs and settings in this folder get wrong
  sparkls check --run LOG    the same, with what a run of the job measured
  sparkls report LOG         where the time of a run went

Exit codes:
  0  nothing at --fail-on or above
  1  findings at --fail-on or above; a slower run, or a budget that is violated
  2  wrong usage, or an input that can't be read (it is named, and the others
     are still analysed)
  3  inconclusive: the log doesn't hold what the answer needs

`sparkls explain RULE` says what a rule finds, why it costs and when it is
silent; `sparkls explain KEY` does the same for a Spark setting.";

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Report(report::Options),
    Compare(compare::Options),
    Record(record::Args),
    History(history::Args),
    Conf(conf::Args),
    Rules(rules::Args),
    Explain(explain::Args),
    Server(server::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Man(man::Args),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| with_tip(error).exit());
    colour(cli.color).write_global();
    let result = match &cli.command {
        Command::Check(args) => check::run(args).map(ExitCode::from),
        Command::Report(options) => report::run(options),
        Command::Compare(options) => compare::run(options),
        Command::Record(args) => record::run(args),
        Command::History(args) => history::run(args),
        Command::Conf(args) => conf::run(args).map(ExitCode::from),
        Command::Rules(args) => rules::run(args).map(ExitCode::from),
        Command::Explain(args) => explain::run(args).map(ExitCode::from),
        Command::Server(args) => return server::run(args),
        Command::Completions(args) => completions::run(args).map(ExitCode::from),
        Command::Man(args) => man::run(args).map(ExitCode::from),
    };
    result.unwrap_or_else(|error| failed(&error))
}

/// A file in the place of a command is meant to be checked, a key to be explained.
fn with_tip(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let command = match word {
        _ if error.kind() != ErrorKind::InvalidSubcommand || error.get(ContextKind::SuggestedSubcommand).is_some() => {
            return error;
        }
        path if Path::new(path).exists() => "check",
        key if key.starts_with("spark.") || crate::rules::find(key).is_some() => "explain",
        _ => return error,
    };
    let tip = StyledStr::from(format!("try `sparkls {command} {word}`"));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    error
}

/// Says why the command failed; a reader that has gone away (`| head`) is no failure.
fn failed(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe);
    if broken_pipe {
        return ExitCode::SUCCESS;
    }
    // Nobody is left to tell if stderr is closed as well.
    let causes =
        error.chain().map(|cause| cause.downcast_ref::<io::Error>().map_or_else(|| cause.to_string(), plainly));
    let _ = writeln!(anstream::stderr(), "sparkls: {}", causes.collect::<Vec<_>>().join(": "));
    Exit::Unreadable.into()
}

/// Writes a page to stdout in one piece; what is taken out between its colours would make a system call of each of them.
fn print(page: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout();
    match stdout.current_choice() {
        anstream::ColorChoice::Never => {
            stdout.as_inner().lock().write_all(anstream::adapter::strip_str(page).to_string().as_bytes())?;
        }
        _ => stdout.write_all(page.as_bytes())?,
    }
    stdout.flush()
}

fn colour(choice: ColorChoice) -> anstream::ColorChoice {
    match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
