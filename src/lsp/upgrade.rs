//! What a newer Spark changes for the settings of a project: a lens on the line that names the version, and the list.

use tower_lsp_server::ls_types::*;

use super::commands::SHOW_UPGRADE;
use super::document::Snapshot;
use super::hover::shown_default;
use crate::catalog::{Scope, SparkVersion, VERSIONS};
use crate::conf::upgrade::{Change, Fate, NewDefault, Place, Reliance, Upgrade, Written, changes};
use crate::conf::{Layer, Origin};
use crate::text::Span;
use crate::workspace::{Project, VersionSource, pinned_at, version_set_at};

/// The place in a document that names the project's Spark version, and what to say there; `None` if nothing changes.
pub(super) fn lens(snapshot: &Snapshot) -> Option<(Span, Command)> {
    let (project, text) = (&snapshot.project, snapshot.document.text());
    let place = match &project.version_source {
        VersionSource::Setting => version_set_at(&snapshot.path, text)?,
        VersionSource::Requirement(path) if *path == snapshot.path => pinned_at(text)?,
        _ => return None,
    };
    let upgrade = of(project)?;
    let count = upgrade.counts().written + upgrade.counts().relied_on;
    let title = match count {
        0 => return None,
        1 => format!("1 setting changes until Spark {}", release(upgrade.to)),
        many => format!("{many} settings change until Spark {}", release(upgrade.to)),
    };
    let arguments = Some(vec![project.root.display().to_string().into()]);
    Some((place, Command { title, command: SHOW_UPGRADE.to_owned(), arguments }))
}

/// What changes for a project until the newest Spark, as a text; `None` if it uses the newest.
pub(super) fn text(project: &Project) -> Option<String> {
    let upgrade = of(project)?;
    let mut lines = vec![format!("# From Spark {} to {}", release(upgrade.from), release(upgrade.to))];
    lines.push(format!("\n## Settings that are written: {}\n", upgrade.written.len()));
    lines.extend(upgrade.written.iter().flat_map(|written| of_written(project, written)));
    lines.push(format!("\n## Defaults that they rely on: {}\n", upgrade.relied_on.len()));
    lines.extend(upgrade.relied_on.iter().map(of_default));
    let others: Vec<String> = upgrade.others.iter().filter(|default| default.public).map(of_default).collect();
    lines.push(format!("\n## Other defaults: {}\n", others.len()));
    lines.extend(others);
    Some(lines.join("\n") + "\n")
}

fn of(project: &Project) -> Option<Upgrade> {
    let newest = *VERSIONS.last()?;
    let from = project.environment.version;
    if !project.environment.version_known || from.at_least(newest.major, newest.minor) {
        return None;
    }
    let layers: Vec<Layer> = project.sources.all().flat_map(|source| source.layers.iter().cloned()).collect();
    Some(changes(from, newest, &layers))
}

fn release(version: SparkVersion) -> String {
    format!("{}.{}", version.major, version.minor)
}

fn of_written(project: &Project, written: &Written) -> Vec<String> {
    let changes: Vec<String> = written.changes.iter().map(of_change).collect();
    let heading = format!("- `{}`: {}", written.key, changes.join("; "));
    let heading = heading.trim_end_matches([':', ' ']).to_owned();
    std::iter::once(heading).chain(written.places.iter().map(|place| of_place(project, place))).collect()
}

fn of_change(change: &Change) -> String {
    match change {
        Change::Default { old, new } => match (shown_default(*old), shown_default(*new)) {
            (Some(old), Some(new)) => format!("its default goes from {old} to {new}"),
            _ => "its default changes".to_owned(),
        },
        Change::Kind { .. } => "its values are parsed otherwise".to_owned(),
        Change::Scope { new: Scope::Core, .. } => "it is fixed when the application starts".to_owned(),
        Change::Scope { new: Scope::SqlRuntime, .. } => "it may change at run time".to_owned(),
        Change::Scope { new: Scope::SqlStatic, .. } => "it is fixed once the first session starts".to_owned(),
        Change::Renamed { to, translates: false } => format!("it is now called `{to}`, and still read"),
        Change::Renamed { to, translates: true } => format!("it is now called `{to}`, which counts in another unit"),
        Change::Deprecated { since } => format!("deprecated since {since}"),
        Change::Removed { since, accepted } => format!("removed in {since}; only `{accepted}` is accepted"),
        Change::NotRead { instead: Some(instead), .. } => format!("not read any more; set `{instead}`"),
        Change::NotRead { instead: None, .. } => "not read any more".to_owned(),
        Change::Read => "it begins to have an effect".to_owned(),
    }
}

fn of_place(project: &Project, place: &Place) -> String {
    let written = match &place.layer.origin {
        Origin::Written { path, line, .. } => {
            let path = path.strip_prefix(&project.root).unwrap_or(path).display().to_string().replace('\\', "/");
            format!("{path}:{line}")
        }
        _ => "elsewhere".to_owned(),
    };
    let value = place.layer.value.literal().map(|value| format!(" `{value}`")).unwrap_or_default();
    format!("  - {written}{value}{}", fate(&place.fate))
}

fn of_default(default: &NewDefault) -> String {
    let shown = |value| shown_default(value).unwrap_or_else(|| "unset".to_owned());
    let why = match &default.reason {
        Some(Reliance::Feature { key, .. }) => format!(", a feature that `{key}` is part of"),
        Some(Reliance::FallsBack { key }) => format!(", the value of `{key}`"),
        None => String::new(),
    };
    format!("- `{}`: {} → {}{why}", default.key, shown(default.old), shown(default.new))
}

fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Same => String::new(),
        Fate::Refused(why) => format!(": refused from then on: {why}"),
        Fate::Accepted => ": accepted from then on".to_owned(),
    }
}
