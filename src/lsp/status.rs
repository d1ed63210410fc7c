//! `sparkls/status`: what a report of a bug needs.

use std::sync::Arc;

use serde_json::{Value, json};

use super::session::Session;
use crate::workspace::{Project, VersionSource};

/// Everything of the session that decides what is said about a file.
pub(super) fn of(session: &Arc<Session>) -> Value {
    let features = session.features();
    let documents: Vec<Value> = session
        .snapshots()
        .iter()
        .map(|snapshot| {
            json!({
                "uri": snapshot.uri.as_str(),
                "version": snapshot.document.version(),
                "kind": format!("{:?}", snapshot.kind).to_lowercase(),
                "analysed": snapshot.is_analysed(),
                "bytes": snapshot.document.len(),
            })
        })
        .collect();
    let projects = session.projects();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ready": *session.ready.borrow(),
        "encoding": format!("{:?}", features.encoding).to_lowercase(),
        "diagnostics": if features.pull { "pull" } else { "push" },
        "projects": projects.iter().map(|project| of_project(project)).collect::<Vec<_>>(),
        "documents": documents,
        "lastPanic": *session.last_panic.lock(),
    })
}

fn of_project(project: &Project) -> Value {
    let problems = project.problems.iter().map(|problem| format!("{}: {}", problem.path.display(), problem.message));
    json!({
        "root": project.root,
        "sparkVersion": project.environment.version.to_string(),
        "sparkVersionFrom": match &project.version_source {
            VersionSource::Setting => "setting".to_owned(),
            VersionSource::Run(label) => format!("run {label}"),
            VersionSource::Requirement(path) | VersionSource::Installed(path) => path.display().to_string(),
            VersionSource::Newest => "nothing names one; the newest known".to_owned(),
        },
        "vendor": project.environment.vendor,
        "local": project.environment.local,
        "defaults": project.defaults_path,
        "sources": project.sources.len(),
        "runs": project.runs.iter().map(|run| json!({ "label": run.label, "source": run.source })).collect::<Vec<_>>(),
        "exclude": project.exclude,
        "problems": problems.collect::<Vec<_>>(),
    })
}
