//! One key in the jobs of the inputs: who sets it, or what holds when nobody does.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::job::{Job, Row};
use super::page::{bold, dim, wrap};
use super::{Args, Format, has, json as form, text, words};
use crate::catalog::{self, Default, Family, SettingFacts};
use crate::cli::explain::setting;
use crate::cli::inputs::Inputs;

/// Fallback keys lead to fallback keys, but never far.
const LONGEST_FALLBACK: usize = 8;

/// The page of a key; an error if no Spark knows it and nobody sets it.
pub(super) fn page(inputs: &Inputs, jobs: &[Job<'_>], key: &str, args: &Args) -> anyhow::Result<String> {
    let setters: Vec<&Job<'_>> = jobs.iter().filter(|job| has(job, key)).collect();
    let is_free = catalog::family(key).is_some_and(|family| family != Family::Application);
    if setters.is_empty() && catalog::setting(key).is_none() && catalog::retired(key).is_none() && !is_free {
        let near = catalog::similar(key).first().map(|facts| facts.name().to_owned());
        let near = near.or_else(|| catalog::family_name_near(key));
        let hint = near.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default();
        anyhow::bail!("no Spark knows `{key}` and nothing here sets it{hint}");
    }
    Ok(match args.format {
        Format::Text => text(inputs, jobs, &setters, key, args),
        Format::Json => json(inputs, jobs, &setters, key),
    })
}

/// The row of the key in a job, or of an older name of it.
fn row<'a>(job: &'a Job<'_>, key: &str) -> Option<&'a Row> {
    job.rows.iter().find(|row| row.key == key).or_else(|| job.older_row(key))
}

fn text(inputs: &Inputs, jobs: &[Job<'_>], setters: &[&Job<'_>], key: &str, args: &Args) -> String {
    let mut page = String::new();
    let (bold, dim) = (bold(), dim());
    let _ = writeln!(page, "{bold}{key}{bold:#}  {dim}{}{dim:#}", nature(key));
    let history = words::history(key);
    if !history.is_empty() {
        wrap(&mut page, anstyle::Style::new(), 0, &format!("Default: {history}"));
    }
    names(&mut page, key);
    page.push('\n');
    let mut told: Vec<&Row> = Vec::new();
    for job in setters {
        let Some(found) = row(job, key).filter(|row| !told.contains(row)) else { continue };
        told.push(found);
        for same in setters.iter().filter(|other| row(other, key) == Some(found)) {
            let (title, notes) = text::title(same);
            wrap(&mut page, bold, 0, &title);
            let ambiguous = notes.iter().filter(|note| note.contains("code sets"));
            ambiguous.for_each(|note| wrap(&mut page, dim, 2, note));
        }
        text::row(&mut page, found, 0, text::full(&found.value));
        if found.key != key {
            wrap(&mut page, dim, 6, &format!("{} is an older name of {key}", found.key));
        }
        page.push('\n');
    }
    if setters.is_empty() {
        unset(&mut page, inputs, jobs, key, args.spark_version.is_some());
    }
    page
}

fn nature(key: &str) -> String {
    match (catalog::setting(key), catalog::family(key)) {
        (Some(facts), _) => setting::nature(facts, setting::newest(facts)),
        (None, Some(Family::Vendor(vendor))) => format!("a setting of {vendor}"),
        (None, Some(Family::Hadoop)) => "a setting of Hadoop".to_owned(),
        (None, Some(Family::Hive)) => "a setting of Hive".to_owned(),
        (None, Some(Family::Application) | None) => match catalog::retired(key) {
            Some(retired) => format!("not read since Spark {}", retired.since),
            None => "no setting of Spark".to_owned(),
        },
        (None, Some(_)) => "a name of an open family of Spark's settings".to_owned(),
    }
}

fn names(page: &mut String, key: &str) {
    let Some(facts) = catalog::setting(key) else { return };
    if let Some(main) = facts.alternative_of() {
        wrap(page, dim(), 0, &format!("An older name of {}, which wins where it is set.", main.key));
    }
    let older = facts.alternatives(setting::newest(facts));
    if !older.is_empty() {
        wrap(page, dim(), 0, &format!("Older names that are read where it is not set: {}.", older.join(", ")));
    }
}

/// What holds when nobody sets the key.
fn unset(page: &mut String, inputs: &Inputs, jobs: &[Job<'_>], key: &str, asked: bool) {
    for project in inputs.projects() {
        let version = project.environment.version;
        let spark = words::minor(version);
        let sentence = match catalog::setting(key).map(|facts| (facts, facts.default(version))) {
            None => "Nobody sets it here.".to_owned(),
            Some((facts, _)) if !project.environment.version_known && changes(facts) => {
                format!("Nobody sets it here, and nothing says which Spark runs: {}.", words::history(key))
            }
            Some((_, Default::Absent)) => format!("Nobody sets it here, and Spark {spark} has no such setting."),
            Some((_, Default::Unknown)) => format!("Nobody sets it here; Spark {spark} declares no default."),
            Some((_, Default::Unset)) => format!("Nobody sets it here: unset, the default of Spark {spark}."),
            Some((_, Default::Fallback(other))) => format!("Nobody sets it here: it has the value of {other}."),
            Some((_, default)) => {
                format!("Nobody sets it here: {}, the default of Spark {spark}.", setting::default_words(default))
            }
        };
        wrap(page, anstyle::Style::new(), 0, &sentence);
        let known = format!("Spark {version}: {}", words::version_source(project, asked));
        wrap(page, dim(), 2, &known);
        let of_project = jobs.iter().filter(|job| job.project.root == project.root);
        for (job, row) in of_project.filter_map(|job| Some((job, fallback(job, key)?))) {
            page.push('\n');
            wrap(page, bold(), 0, &text::title(job).0);
            text::row(page, row, 0, text::full(&row.value));
        }
    }
}

fn changes(facts: &SettingFacts) -> bool {
    facts.history().windows(2).any(|pair| pair[0].1 != pair[1].1)
}

/// The row of the key that this one falls back to in a job.
fn fallback<'a>(job: &'a Job<'_>, key: &str) -> Option<&'a Row> {
    let mut key = key;
    for _ in 0..LONGEST_FALLBACK {
        let Default::Fallback(other) = catalog::setting(key)?.default(job.conf.version()) else { return None };
        if let Some(row) = row(job, other) {
            return Some(row);
        }
        key = other;
    }
    None
}

fn json(inputs: &Inputs, jobs: &[Job<'_>], setters: &[&Job<'_>], key: &str) -> String {
    let facts = catalog::setting(key);
    let history: Vec<Value> = facts
        .map(SettingFacts::history)
        .unwrap_or_default()
        .iter()
        .map(|(releases, value)| json!({ "releases": releases.to_string(), "default": form::default(*value) }))
        .collect();
    let of_job = |job: &Job<'_>, row: &Row| {
        let mut object = form::job(job);
        object["settings"] = Value::Array(vec![form::row(row)]);
        object["recorded"] = Value::Array(Vec::new());
        object
    };
    let found = setters.iter().filter_map(|job| Some(of_job(job, row(job, key)?)));
    let fallbacks = jobs.iter().filter_map(|job| Some(of_job(job, fallback(job, key)?)));
    let defaults: Vec<Value> = inputs
        .projects()
        .map(|project| {
            let version = project.environment.version;
            json!({
                "root": crate::cli::inputs::shown(&project.root).to_string_lossy(),
                "spark_version": version.to_string(),
                "spark_version_known": project.environment.version_known,
                "default": facts.map(|facts| form::default(facts.default(version))),
            })
        })
        .collect();
    let answer = json!({
        "version": 1,
        "key": key,
        "kind": nature(key),
        "history": history,
        "jobs": if setters.is_empty() { Vec::new() } else { found.collect() },
        "fallbacks": if setters.is_empty() { fallbacks.collect() } else { Vec::new() },
        "projects": defaults,
    });
    format!("{answer:#}\n")
}
