//! `sparkls/status`: what a report of a bug needs.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tower_lsp_server::ls_types::notification::Notification;

use super::session::Session;
use crate::rules::{Level, MeasuredRun};
use crate::workspace::{Project, VersionSource};

/// `sparkls/statusChanged`: what `sparkls/status` answers is another. Sent to clients that say `sparklsStatus` among
/// their experimental capabilities.
enum Changed {}

impl Notification for Changed {
    type Params = Map<String, Value>;
    const METHOD: &'static str = "sparkls/statusChanged";
}

/// Tells a client that shows the status to look at it again.
pub(super) fn tell(session: &Arc<Session>) {
    if session.features().status {
        let session = Arc::clone(session);
        tokio::spawn(async move { session.client.send_notification::<Changed>(Map::new()).await });
    }
}

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
        "rules": rules(project),
        "vendor": project.environment.vendor,
        "local": project.environment.local,
        "defaults": project.defaults_path,
        "sources": project.sources.len(),
        "runs": project.runs.iter().map(|run| of_run(run)).collect::<Vec<_>>(),
        "exclude": project.exclude,
        "problems": problems.collect::<Vec<_>>(),
    })
}

/// What the settings say of rules: severities, and options as `rule.option`.
fn rules(project: &Project) -> Map<String, Value> {
    let rules = &project.environment.rules;
    let level = |level: &Level| match level {
        Level::Off => "off".to_owned(),
        Level::On => "on".to_owned(),
        Level::Fixed(severity) => format!("{severity:?}").to_lowercase(),
    };
    let levels = rules.levels.iter().map(|(rule, set)| (rule.clone(), level(set).into()));
    let options = rules.options.iter().map(|((rule, option), value)| (format!("{rule}.{option}"), (*value).into()));
    levels.chain(options).collect()
}

fn of_run(run: &MeasuredRun) -> Value {
    json!({ "label": run.label, "source": run.source, "application": run.run.application.name })
}
