//! Jobs and their settings for people.

use super::job::{About, Job, Loser, Row, Shown};
use super::page::{WIDTH, beside, bold, cut, dim, wrap};
use super::words;

/// The widest `key = value` whose place stands beside it.
const WIDEST: usize = 64;

/// Every job as a block.
pub(super) fn jobs(jobs: &[Job<'_>], asked: bool) -> String {
    let mut page = String::new();
    let mut last = None;
    for job in jobs {
        if last.replace(&job.project.root) != Some(&job.project.root) {
            version(&mut page, job, asked);
        }
        heading(&mut page, job);
        block(&mut page, job);
        page.push('\n');
    }
    if jobs.is_empty() {
        page.push_str("Nothing sets something of Spark here or starts a job.\n");
    }
    page
}

fn version(page: &mut String, job: &Job<'_>, asked: bool) {
    let (bold, dim) = (bold(), dim());
    let version = job.project.environment.version;
    let source = words::version_source(job.project, asked);
    page.push_str(&format!("Spark {bold}{version}{bold:#}  {dim}{source}{dim:#}\n\n"));
}

/// What the settings belong to, and what is not known of it.
pub(super) fn heading(page: &mut String, job: &Job<'_>) {
    let (title, notes) = title(job);
    wrap(page, bold(), 0, &title);
    for note in notes {
        wrap(page, dim(), 2, &note);
    }
}

/// The name of a job, and notes on it.
pub(super) fn title(job: &Job<'_>) -> (String, Vec<String>) {
    let path = job.path.display();
    match &job.about {
        About::SettingsFile => (path.to_string(), Vec::new()),
        About::Together(line) => (format!("{path}:{line}"), Vec::new()),
        About::Script(None) => (path.to_string(), vec!["no command or definition here starts it".to_owned()]),
        About::Script(Some(start)) => (format!("{path}, started by {}", words::start(start)), Vec::new()),
        About::Common(starts) => {
            let names: Vec<String> = starts.iter().map(words::start).collect();
            (format!("{path}, started in {} ways", starts.len()), vec![names.join(", "), "In all of them:".to_owned()])
        }
        About::Launch(start) => (format!("{path}, started by {}", words::start(start)), Vec::new()),
        About::Command(start, application) => {
            let text = application.text.as_deref().unwrap_or_default();
            let name = format!("{}:{}, {} {text}", start.path.display(), start.line, words::tool(start.tool));
            let script = match application.scripts.as_slice() {
                [script] => Some(format!("the script is {}", script.display())),
                _ => words::ambiguity(application),
            };
            (name.trim_end().to_owned(), script.into_iter().collect())
        }
    }
}

fn block(page: &mut String, job: &Job<'_>) {
    let names = job.rows.iter().map(|row| 2 + format!("{} = {}", row.key, short(&row.value)).chars().count());
    let column = names.filter(|width| *width <= WIDEST).max().unwrap_or_default() + 2;
    for row in &job.rows {
        self::row(page, row, column, short(&row.value));
    }
    if job.rows.is_empty() {
        let nothing = match job.about {
            About::Launch(_) => "nothing of its own",
            About::Common(_) => "nothing",
            _ => "nothing is set",
        };
        wrap(page, dim(), 2, nothing);
    }
    recorded(page, job);
}

/// What the last run had besides.
fn recorded(page: &mut String, job: &Job<'_>) {
    let Some(first) = job.recorded.first() else { return };
    let names: Vec<String> = job.recorded.iter().map(|row| format!("{} = {}", row.key, short(&row.value))).collect();
    wrap(page, dim(), 2, &format!("Set by no file here, {}:", first.place));
    for name in names {
        wrap(page, dim(), 4, &cut(&name, WIDTH - 4));
    }
}

/// A setting, and beneath it what it overrides.
pub(super) fn row(page: &mut String, row: &Row, column: usize, value: String) {
    beside(page, 2, &format!("{} = {value}", row.key), column, &row.place);
    for loser in &row.losers {
        wrap(page, dim(), 6, &lost(row, loser));
    }
    if let crate::conf::Origin::Launches(each) = &row.origin {
        for layer in each.iter() {
            let value = layer.value.literal().unwrap_or("not known");
            wrap(page, dim(), 6, &format!("{value}: {}", words::layer_place(layer)));
        }
    }
    if let Some(recorded) = &row.last_run {
        wrap(page, dim(), 6, &format!("the last linked run had {recorded}"));
    }
}

/// `over 2g, conf/spark-defaults.conf:1: a flag wins over a settings file`.
pub(super) fn lost(row: &Row, loser: &Loser) -> String {
    let key = if loser.key == row.key { String::new() } else { format!("{} = ", loser.key) };
    format!("over {key}{}, {}: {}", short(&loser.value), loser.place, loser.why)
}

/// The value on one line.
pub(super) fn short(value: &Shown) -> String {
    match value {
        Shown::Template(text) if !text.is_empty() => format!("{} {FILLED_IN}", cut(text, 60)),
        value => cut(&full(value), 60),
    }
}

const FILLED_IN: &str = "(filled in when it runs)";

/// The whole value.
pub(super) fn full(value: &Shown) -> String {
    match value {
        Shown::Literal(text) if text.is_empty() => "(empty)".to_owned(),
        Shown::Literal(text) => text.clone(),
        Shown::Template(text) if text.is_empty() => "(not known before it runs)".to_owned(),
        Shown::Template(text) => format!("{text} {FILLED_IN}"),
        Shown::Differs => "(differs)".to_owned(),
    }
}
