//! `--format json`, see docs/json.md: kept stable under `"version": 1`.

use serde_json::{Value, json};

use super::job::{About, Application, Job, Loser, Row, Shown, Start};
use super::words;
use crate::catalog;
use crate::cli::inputs::shown;
use crate::conf::{Carrier, Origin};

pub(super) fn jobs(jobs: &[Job<'_>]) -> String {
    let answer = json!({ "version": 1, "jobs": jobs.iter().map(job).collect::<Vec<_>>() });
    format!("{answer:#}\n")
}

pub(super) fn job(job: &Job<'_>) -> Value {
    let (kind, line, starts, application) = about(&job.about);
    json!({
        "path": job.path.to_string_lossy(),
        "line": line,
        "kind": kind,
        "started_by": starts.iter().map(|start| self::start(start)).collect::<Vec<_>>(),
        "application": application.map(self::application),
        "spark_version": job.conf.version().to_string(),
        "settings": job.rows.iter().map(row).collect::<Vec<_>>(),
        "recorded": job.recorded.iter().map(row).collect::<Vec<_>>(),
    })
}

fn about(about: &About) -> (&'static str, Option<u32>, Vec<&Start>, Option<&Application>) {
    match about {
        About::SettingsFile => ("settings-file", None, Vec::new(), None),
        About::Script(start) => ("script", None, start.iter().collect(), None),
        About::Common(starts) => ("script", None, starts.iter().collect(), None),
        About::Launch(start) => ("launch", None, vec![start], None),
        About::Command(start, application) => ("command", Some(start.line), vec![start], Some(application)),
        About::Together(line) => ("settings", Some(*line), Vec::new(), None),
    }
}

pub(super) fn start(start: &Start) -> Value {
    json!({ "path": start.path.to_string_lossy(), "line": start.line, "tool": words::tool(start.tool) })
}

pub(super) fn application(application: &Application) -> Value {
    json!({
        "text": application.text,
        "template": application.is_template,
        "scripts": application.scripts.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
    })
}

pub(super) fn row(row: &Row) -> Value {
    let (value, state) = value(&row.value);
    json!({
        "key": row.key,
        "value": value,
        "state": state,
        "from": origin(&row.origin, &row.place),
        "overrides": row.losers.iter().map(loser).collect::<Vec<_>>(),
        "last_run": row.last_run,
    })
}

fn loser(loser: &Loser) -> Value {
    let (value, state) = value(&loser.value);
    json!({
        "key": loser.key,
        "value": value,
        "state": state,
        "from": origin(&loser.origin, &loser.place),
        "reason": loser.why,
    })
}

fn value(value: &Shown) -> (Option<&str>, &'static str) {
    match value {
        Shown::Literal(text) => (Some(text), "literal"),
        Shown::Template(text) if text.is_empty() => (None, "unknown"),
        Shown::Template(text) => (Some(text), "template"),
        Shown::Differs => (None, "differs"),
    }
}

pub(super) fn origin(origin: &Origin, words: &str) -> Value {
    match origin {
        Origin::Written { carrier, path, line } => {
            json!({ "carrier": carrier_name(*carrier), "path": shown(path).to_string_lossy(), "line": line, "words": words })
        }
        Origin::Launches(_) => json!({ "carrier": "launches", "path": null, "line": null, "words": words }),
        Origin::Run(_) => json!({ "carrier": "run", "path": null, "line": null, "words": words }),
        Origin::Default(_) => json!({ "carrier": "default", "path": null, "line": null, "words": words }),
    }
}

fn carrier_name(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Properties => "properties",
        Carrier::Builder => "builder",
        Carrier::SparkConf => "spark-conf",
        Carrier::RuntimeSet => "runtime-set",
        Carrier::SqlSet => "sql-set",
        Carrier::Cluster => "cluster",
        Carrier::SubmitConf => "submit-conf",
        Carrier::SubmitFlag => "submit-flag",
        Carrier::Job => "job",
        Carrier::JobField => "job-field",
    }
}

/// A default: its text where it has one, and what kind of default it is.
pub(super) fn default(default: catalog::Default) -> Value {
    use catalog::Default;
    let (kind, text) = match default {
        Default::Value(text) => ("value", Some(text)),
        Default::Unset => ("unset", None),
        Default::Symbolic(text) => ("symbolic", Some(text)),
        Default::Fallback(key) => ("fallback", Some(key)),
        Default::Unknown => ("undeclared", None),
        Default::Absent => ("absent", None),
    };
    json!({ "kind": kind, "text": text })
}
