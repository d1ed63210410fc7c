//! `sparkls compare BASE CANDIDATE…`: what a change did, and whether it is more than noise.

mod json;
mod markdown;
mod redact;
mod summary;
mod text;
mod words;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use super::Exit;
use super::logs::{self, Choice, ReadRun};
use crate::catalog::{ByteUnit, TimeUnit, VersionIndex};
use crate::compare::{self, Budgets, Comparison, Outcome, Thresholds};
use crate::conf::value;
use crate::eventlog::{Location, Which};

/// How a comparison is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people; fits 100 columns.
    #[default]
    Text,
    /// For machines; documented and kept stable.
    Json,
    /// For a comment on a pull request.
    #[value(name = "md", alias = "markdown")]
    Markdown,
}

/// Say what changed from one run to another: time, work, plans, settings, defaults; and whether it is more than noise.
///
/// SQL executions are aligned in order, then their stages by call site and plan. Several candidates are each compared
/// with the base, and the best is named.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Options {
    /// The event log to compare with: a file, a rolled directory, a folder of logs.
    #[arg(value_name = "BASE")]
    pub base: Location,

    /// The event logs to compare with it.
    #[arg(value_name = "CANDIDATE", required = true)]
    pub candidates: Vec<Location>,

    /// Which application, where a log holds many.
    #[command(flatten)]
    pub choice: Choice,

    /// Application id or name in BASE, where it is another one than in the candidates.
    #[arg(long, value_name = "ID|NAME")]
    pub base_application: Option<String>,

    /// Least difference of two runs that is more than noise, as a share of the shorter one ...
    #[arg(long, value_name = "PERCENT", default_value = "20%", value_parser = share)]
    pub noise: f64,

    /// ... and as a time; both have to be passed.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub noise_time: f64,

    /// How the comparison is written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,

    /// Where to write, instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Show small changes as well, and all defaults that changed with the Spark version. JSON always holds them.
    #[arg(long)]
    pub all: bool,

    /// Replace the names of the application, hosts and users, and all paths, so that the comparison can be shown to others.
    #[arg(long)]
    pub redact: bool,

    /// Limits that the candidates have to keep.
    #[command(flatten)]
    pub budgets: BudgetOptions,
}

/// Limits that the candidates have to keep.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
#[command(next_help_heading = "Budgets")]
pub struct BudgetOptions {
    /// Longest time of the run, e.g. 10m.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub max_runtime: Option<f64>,

    /// Largest ratio of the longest task to the median in a stage of at least 5 tasks. Stages under 0.5 % of the run, and
    /// tasks that take less than 1 s and 2 % of the run above the median, don't count.
    #[arg(long, value_name = "RATIO", value_parser = number)]
    pub max_skew: Option<f64>,

    /// Most bytes spilled to disk by the run, e.g. 2g.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_spill: Option<f64>,

    /// Largest share of failed tasks, e.g. 1%.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub max_failed_task_rate: Option<f64>,

    /// How much longer than the base a run may take, e.g. 20%; less than --noise-time never counts.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub max_regression: Option<f64>,
}

impl From<BudgetOptions> for Budgets {
    fn from(options: BudgetOptions) -> Self {
        Self {
            runtime_ms: options.max_runtime,
            skew: options.max_skew,
            spill_bytes: options.max_spill,
            failed_task_share: options.max_failed_task_rate,
            regression_share: options.max_regression,
        }
    }
}

const AFTER_HELP: &str = "\
Exit codes:
  0  the budgets are met; without budgets: not slower, beyond noise
  1  a budget is violated; without budgets: slower, beyond noise
  2  wrong usage, or a log that can't be read (it is named, and the others are
     still compared)
  3  inconclusive: a log is incomplete, a run failed, nothing of one run has its
     like in the other, or another amount of data explains the difference; never
     taken for a pass";

fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').ok_or("write it with a percent sign, e.g. 20%")?;
    self::number(number.trim_end()).map(|percent| percent / 100.0)
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().map_err(|error| error.to_string())?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("it must be a number from 0 up".to_owned()) }
}

fn time(text: &str) -> Result<f64, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("write it with its unit, e.g. 90s, 10m, 2h".to_owned());
    }
    let time = value::time(text, TimeUnit::Milliseconds).map_err(|refusal| refusal.message)?;
    Ok(time as f64)
}

fn size(text: &str) -> Result<f64, String> {
    let newest = VersionIndex::NEWEST;
    value::bytes(text, ByteUnit::Byte, newest).map(|bytes| bytes as f64).map_err(|refusal| refusal.message)
}

/// A run that is compared with the base.
struct Compared {
    read: ReadRun,
    comparison: Comparison,
}

/// All that a form of the comparison shows.
struct Page {
    base: ReadRun,
    candidates: Vec<Compared>,
    thresholds: Thresholds,
    /// The best candidate of several, by its index.
    best: Option<usize>,
    /// Candidates that can't be read, in words.
    errors: Vec<String>,
    all: bool,
}

/// Compares the runs. A base that can't be read is an error; a candidate that can't be is named on stderr.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let mut page = page(options)?;
    for error in &page.errors {
        writeln!(anstream::stderr(), "error: {error}")?;
    }
    if options.redact {
        page.redact();
    }
    let written = match options.format {
        Format::Text => text::render(&page),
        Format::Json => json::render(&page),
        Format::Markdown => markdown::render(&page),
    };
    match &options.output {
        Some(path) => {
            let plain = anstream::adapter::strip_str(&written).to_string();
            std::fs::write(path, plain).with_context(|| path.display().to_string())?;
        }
        None => super::print(&written)?,
    }
    Ok(exit(&page).into())
}

fn page(options: &Options) -> anyhow::Result<Page> {
    let thresholds = Thresholds { noise_share: options.noise, noise_ms: options.noise_time, ..Thresholds::default() };
    let which = options.choice.which();
    let which_base = match &options.base_application {
        Some(application) => Which::Named { application: application.clone(), attempt: None },
        None => which.clone(),
    };
    let base = logs::read(&options.base, &which_base)?;
    let mut errors = Vec::new();
    let mut candidates = Vec::new();
    for location in &options.candidates {
        match logs::read(location, &which) {
            Ok(read) => {
                let comparison = compare::compare(&base.run, &read.run, &thresholds, &options.budgets.into());
                candidates.push(Compared { read, comparison });
            }
            Err(error) => errors.push(format!("{error:#}")),
        }
    }
    let best = if candidates.len() > 1 { compare::best(candidates.iter().map(|c| &c.comparison)) } else { None };
    Ok(Page { base, candidates, thresholds, best, errors, all: options.all })
}

fn exit(page: &Page) -> Exit {
    let worst = page.candidates.iter().map(|compared| compared.comparison.outcome()).max();
    match worst {
        _ if !page.errors.is_empty() => Exit::Unreadable,
        Some(Outcome::Failed) => Exit::Findings,
        Some(Outcome::Inconclusive) => Exit::Inconclusive,
        Some(Outcome::Passed) | None => Exit::Clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_as_in_spark() {
        assert_eq!(time("10m"), Ok(600_000.0));
        assert_eq!(size("2g"), Ok(2.0 * 1024.0 * 1024.0 * 1024.0));
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(number("5"), Ok(5.0));
        for refused in [time("10"), time("soon"), size("much"), share("0.2"), share("-1%"), number("NaN")] {
            assert!(refused.is_err());
        }
    }
}
