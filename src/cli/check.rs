//! `sparkls check`.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::inputs::{Inputs, Options, Selection};
use super::output::{self, FileOutcome, Outcome};
use super::{Exit, fixes, terminal};
use crate::catalog::SparkVersion;
use crate::eventlog::Location;
use crate::rules::Severity;

/// Columns of output that goes to no terminal.
const WIDTH: usize = 120;

/// Find what is slow or will fail in settings and PySpark jobs.
///
/// Reads Python files, spark-defaults.conf (any *spark*.conf or *spark*.properties), and the scripts, Makefiles,
/// Dockerfiles, notebooks, YAML, JSON, HCL and HOCON files that set something of Spark or start a job, at and below the
/// paths, as git sees them. Settings come from the nearest sparkls.toml or [tool.sparkls] in pyproject.toml.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files and folders; the current directory if none is given.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// An event log of a run of the job: a file, a rolled directory, a folder of logs, `-`, an address in a bucket or of
    /// a History Server, as for `sparkls report`. Its measures are shown on the lines that caused them. Repeatable;
    /// stands in for `runs` of the settings.
    #[arg(long = "run", value_name = "LOG")]
    runs: Vec<Location>,

    /// The Spark version whose defaults and thresholds apply, such as 3.5 or 4.1.0.
    #[arg(long, value_name = "VERSION")]
    spark_version: Option<SparkVersion>,

    /// How to print the findings.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Only these rules or groups (comma-separated); turns on rules that are off. `sparkls rules` lists them.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    select: Vec<String>,

    /// Without these rules or groups (comma-separated).
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    ignore: Vec<String>,

    /// Leave out findings below this severity.
    #[arg(long, value_name = "SEVERITY", default_value = "hint", value_parser = severity(&[]))]
    min_severity: Least,

    /// Exit with 1 if a finding is at least this severe.
    #[arg(long, value_name = "SEVERITY", default_value = "warning", value_parser = severity(&["never"]))]
    fail_on: Least,

    /// Apply fixes that keep the job's result, until none is left; then report what remains.
    #[arg(long, conflicts_with = "diff")]
    fix: bool,

    /// Print what --fix would change, as a unified diff, and change nothing.
    #[arg(long)]
    diff: bool,

    /// Read the text from stdin and analyse it as this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fix", "paths"])]
    stdin_filename: Option<PathBuf>,

    /// Count the findings by rule.
    #[arg(long)]
    statistics: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: the source line, the evidence, the fix.
    Text,
    /// One object, stable; see docs/json.md.
    Json,
    /// One object a line, for streams; see docs/json.md.
    Jsonl,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// A test report for CI servers; findings from --fail-on up are failures.
    Junit,
}

/// The least severity that counts; `None` if no severity does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Least(Option<Severity>);

impl Least {
    fn admits(self, severity: Severity) -> bool {
        self.0.is_some_and(|least| severity >= least)
    }
}

const SEVERITIES: [(&str, Severity); 4] = [
    ("hint", Severity::Hint),
    ("information", Severity::Information),
    ("warning", Severity::Warning),
    ("error", Severity::Error),
];

/// Reads a severity, or one of `others`, which stand for none.
fn severity(others: &'static [&'static str]) -> impl TypedValueParser<Value = Least> {
    let names = SEVERITIES.iter().map(|(name, _)| *name).chain(others.iter().copied());
    PossibleValuesParser::new(names)
        .map(|text| Least(SEVERITIES.iter().find(|(name, _)| *name == text).map(|(_, severity)| *severity)))
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let started = Instant::now();
    if args.stdin_filename.is_some() && args.runs.contains(&Location::Stdin) {
        anyhow::bail!("--stdin-filename and --run - both read standard input");
    }
    let options = Options {
        version: args.spark_version,
        runs: args.runs.clone(),
        selection: Selection::new(&args.select, &args.ignore)?,
    };
    let mut inputs = match &args.stdin_filename {
        Some(name) => Inputs::of_text(name, &read_stdin()?, &options),
        None if args.paths.is_empty() => Inputs::open(&[PathBuf::from(".")], &options),
        None => Inputs::open(&args.paths, &options),
    };
    let analyse = |inputs: &mut Inputs| {
        let (mut files, checked) = inputs.analyse();
        for file in &mut files {
            file.analysis.findings.retain(|finding| args.min_severity.admits(finding.severity));
        }
        (files, checked)
    };
    let (mut files, checked) = analyse(&mut inputs);
    if args.diff || args.fix {
        let changes = changes(&inputs, &files, args.min_severity);
        if args.diff {
            print_diff(&files, &changes)?;
            if changes.is_empty() {
                inputs.notes.push(NOTHING_TO_CHANGE.to_owned());
            }
        } else if write(&files, &changes)? > 0 {
            inputs.rewritten(changes.iter().filter_map(|(index, text, _)| Some((&*files.get(*index)?.file, text))));
            (files, _) = analyse(&mut inputs);
        }
    }
    let outcome = Outcome {
        files,
        checked,
        errors: std::mem::take(&mut inputs.errors),
        runs: inputs.runs(),
        version: inputs.version(),
        elapsed: started.elapsed(),
    };
    print(args, &outcome, &inputs.notes)?;
    Ok(exit(args, &outcome))
}

/// For who expects a patch.
const NOTHING_TO_CHANGE: &str = "note: nothing to change: no finding has a fix that keeps the job's result";
/// For who expects more of --fix, below the findings that are left.
const LEFT_TO_CHOOSE: &str =
    "--fix makes only changes that keep the job's result, marked (--fix); the rest is your choice\n";

fn read_stdin() -> anyhow::Result<Arc<str>> {
    terminal::tell_that_input_is_read("reading the text from standard input, up to Ctrl-D");
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| anyhow::anyhow!("stdin: not UTF-8 at byte {}", error.utf8_error().valid_up_to()))?;
    Ok(Arc::from(text))
}

/// The new text of each file, by its place in `files`, and the number of fixes.
type Changes = Vec<(usize, Arc<str>, usize)>;

fn changes(inputs: &Inputs, files: &[FileOutcome], least: Least) -> Changes {
    let analyse = |file: &FileOutcome, text: &Arc<str>| {
        let mut findings = inputs.findings(&file.file, &file.root, text).unwrap_or_default();
        findings.retain(|finding| least.admits(finding.severity));
        findings
    };
    files
        .iter()
        .enumerate()
        .filter_map(|(index, file)| {
            let (text, applied) = fixes::fixed(file.file_text(), |text| analyse(file, text))?;
            Some((index, text, applied))
        })
        .collect()
}

fn print_diff(files: &[FileOutcome], changes: &Changes) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for (index, text, _) in changes {
        let Some(file) = files.get(*index) else { continue };
        out.write_all(fixes::diff(&file.path, file.file_text(), text).as_bytes())?;
    }
    Ok(out.flush()?)
}

/// Writes the changed files and says so on stderr; the number of fixes.
fn write(files: &[FileOutcome], changes: &Changes) -> anyhow::Result<usize> {
    let mut total = 0;
    for (index, text, applied) in changes {
        let Some(file) = files.get(*index) else { continue };
        std::fs::write(&file.file, text.as_bytes()).with_context(|| file.path.display().to_string())?;
        let fixes = if *applied == 1 { "1 fix".to_owned() } else { format!("{applied} fixes") };
        writeln!(anstream::stderr(), "{}: {fixes} applied", file.path.display())?;
        total += applied;
    }
    Ok(total)
}

fn print(args: &Args, outcome: &Outcome, notes: &[String]) -> anyhow::Result<()> {
    if matches!(args.format, Format::Text) || args.diff {
        let mut stderr = anstream::stderr();
        for error in &outcome.errors {
            writeln!(stderr, "{}", output::text::error(error))?;
        }
        for note in notes {
            writeln!(stderr, "{note}")?;
        }
    }
    if args.diff {
        return Ok(());
    }
    let text = match args.format {
        Format::Text => {
            let mut text = output::text::render(outcome, terminal::columns().unwrap_or(WIDTH), args.statistics);
            if args.fix && outcome.findings().any(|(_, finding)| !finding.fixes.is_empty()) {
                text.push_str(LEFT_TO_CHOOSE);
            }
            text
        }
        Format::Json => output::json::render(outcome),
        Format::Jsonl => output::json::lines(outcome),
        Format::Sarif => output::sarif::render(outcome),
        Format::Github => output::github::render(outcome),
        Format::Junit => output::junit::render(outcome, |severity| args.fail_on.admits(severity)),
    };
    Ok(super::print(&text)?)
}

fn exit(args: &Args, outcome: &Outcome) -> Exit {
    if !outcome.errors.is_empty() {
        Exit::Unreadable
    } else if outcome.worst().is_some_and(|worst| args.fail_on.admits(worst)) {
        Exit::Findings
    } else {
        Exit::Clean
    }
}
