//! `sparkls conf`: which settings a job gets and who sets them, a project at a glance, and what an upgrade changes.

mod job;
mod json;
mod key;
mod overview;
pub(super) mod page;
mod text;
pub(super) mod upgrade;
mod words;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;

use super::Exit;
use super::inputs::{Inputs, Options, root_of};
use super::output;
use crate::catalog::{self, SparkVersion};
use job::Job;

/// Show the settings that a job gets and who sets them, or what an upgrade of Spark changes.
///
/// For a folder: its Spark version, its jobs and where settings are. For a script, a command, or a settings file: every
/// setting with its place, and what it overrides. With a KEY: who sets it, in each job or in the one at PATH.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files and folders, and at most one key of Spark; the current directory if there is no path.
    #[arg(value_name = "PATH|KEY")]
    subjects: Vec<String>,

    /// List what changes for these settings between two Spark versions: 3.5..4.0, or ..4.1 from the project's own.
    #[arg(long, value_name = "FROM..TO")]
    upgrade: Option<Range>,

    /// With --upgrade: internal settings as well.
    #[arg(long, requires = "upgrade")]
    all: bool,

    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// The Spark version whose defaults apply, such as 3.5 or 4.1.0.
    #[arg(long, value_name = "VERSION")]
    spark_version: Option<SparkVersion>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people; fits 100 columns.
    Text,
    /// One object, stable; see docs/json.md.
    Json,
}

/// Two Spark versions; the project's own where the first is left out.
#[derive(Debug, Clone, Copy)]
struct Range {
    from: Option<SparkVersion>,
    to: SparkVersion,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) =
            text.split_once("..").ok_or("write it as 3.5..4.0, or ..4.0 from the project's own version")?;
        let version = |text: &str| text.parse::<SparkVersion>().map_err(|error| error.to_string());
        let from = if from.is_empty() { None } else { Some(version(from)?) };
        let to = version(to)?;
        match from {
            Some(from) if from > to => Err(format!("{to} is older than {from}")),
            from => Ok(Self { from, to }),
        }
    }
}

/// What the arguments name.
struct Subjects {
    paths: Vec<PathBuf>,
    key: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let Subjects { mut paths, key } = subjects(&args.subjects)?;
    let is_here = paths.is_empty();
    if is_here {
        paths.push(root_of(Path::new(".")));
    }
    let options = Options { version: args.spark_version, ..Options::default() };
    let inputs = Inputs::open(&paths, &options);
    let mut stderr = anstream::stderr();
    for error in &inputs.errors {
        writeln!(stderr, "{}", output::text::error(error))?;
    }
    for note in &inputs.notes {
        writeln!(stderr, "{note}")?;
    }
    let page = match (&key, args.upgrade) {
        (_, Some(range)) => upgrade::page(&inputs, key.as_deref(), range, args)?,
        (Some(key), None) => {
            let chosen =
                if paths.iter().all(|path| path.is_file()) { job::all(&inputs) } else { job::distinct(&inputs) };
            key::page(&inputs, &chosen, key, args)?
        }
        (None, None) if paths.iter().any(|path| path.is_dir()) => overview::page(&inputs, args),
        (None, None) => {
            let jobs = job::all(&inputs);
            match args.format {
                Format::Text => text::jobs(&jobs, args.spark_version.is_some()),
                Format::Json => json::jobs(&jobs),
            }
        }
    };
    super::print(&page)?;
    Ok(if inputs.errors.is_empty() { Exit::Clean } else { Exit::Unreadable })
}

/// Tells paths and the key apart: what exists is a path; what begins with `spark.` or is known as a setting is a key.
fn subjects(words: &[String]) -> anyhow::Result<Subjects> {
    let mut subjects = Subjects { paths: Vec::new(), key: None };
    for word in words {
        if Path::new(word).exists() {
            subjects.paths.push(PathBuf::from(word));
        } else if word.starts_with("spark.") || catalog::setting(word).is_some() || catalog::family(word).is_some() {
            if let Some(first) = subjects.key.replace(word.clone()) {
                anyhow::bail!("one key at a time: `{first}` or `{word}`");
            }
        } else {
            let near = catalog::similar(word).first().map(|facts| format!(", did you mean `{}`?", facts.name()));
            anyhow::bail!("there is no file and no setting `{word}`{}", near.unwrap_or_default());
        }
    }
    Ok(subjects)
}

/// Whether somebody sets the key in a job, or an older name of it.
fn has(job: &Job<'_>, key: &str) -> bool {
    job.rows.iter().any(|row| row.key == key) || job.older_row(key).is_some()
}
