//! `sparkls history [JOB] --from FILE`: a job's runs and stages over time, what became slower first.

mod jobs;
mod json;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use super::Exit;
use crate::history;
use crate::rules::run::regression_thresholds;
use crate::workspace::Project;
use jobs::Job;

/// How the history is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    /// For people; fits 100 columns.
    #[default]
    Text,
    /// For machines; documented and kept stable.
    Json,
}

/// Show jobs over time: what became slower, the runs, and the stages from run to run.
///
/// Thresholds of what counts as slower are those of the rule `regression` in the sparkls.toml of the current directory.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The job, as the list without JOB names it, or a part of its name.
    #[arg(value_name = "JOB")]
    job: Option<String>,

    /// A file that `sparkls record` writes.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,

    /// One stage of the job from run to run: its key, or a part of its name.
    #[arg(long, value_name = "STAGE", requires = "job")]
    stage: Option<String>,

    /// How the history is written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Show all runs and stages, not only the latest and the longest. JSON always holds them.
    #[arg(long)]
    all: bool,

    /// Exit with 1 if the last run of a job, or a stage of it, became slower, and with 3 if there are too few runs to tell.
    #[arg(long)]
    fail_on_regression: bool,
}

/// Shows the history. A file that can't be read, and a name that fits no job or stage, are errors.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let rules = Project::open(&std::env::current_dir()?).environment.rules;
    let rows = history::read(&args.from)?;
    let mut jobs = Job::all(rows, &regression_thresholds(&rules));
    if let Some(name) = &args.job {
        jobs = vec![jobs::take(jobs, name)?];
    }
    let stage = match (&args.stage, jobs.first()) {
        (Some(name), Some(job)) => Some(job.stage(name)?),
        _ => None,
    };
    let shown = match (args.format, &args.job, &stage) {
        (Format::Json, ..) => json::render(&jobs, args.job.is_some(), stage.as_deref()),
        (Format::Text, Some(_), Some(stage)) => text::stage(&jobs[0], stage, args.all),
        (Format::Text, Some(_), None) => text::job(&jobs[0], args.all),
        (Format::Text, None, _) => text::jobs(&args.from, &jobs),
    };
    super::print(&shown)?;
    Ok(if args.fail_on_regression { verdict(&jobs) } else { Exit::Clean.into() })
}

fn verdict(jobs: &[Job]) -> ExitCode {
    if jobs.iter().any(Job::is_slower) {
        Exit::Findings.into()
    } else if jobs.is_empty() || jobs.iter().any(|job| !job.can_tell()) {
        Exit::Inconclusive.into()
    } else {
        Exit::Clean.into()
    }
}
