//! `sparkls conf --upgrade FROM..TO`: what changes for the settings of the workspace.

use serde_json::{Value, json};

use super::page::{beside, bold, cut, dim, wrap};
use super::{Args, Format, Range, json as form, words};
use crate::analysis::Facts;
use crate::catalog::{self, SparkVersion};
use crate::cli::explain::setting;
use crate::cli::inputs::{Inputs, shown};
use crate::cli::words::count;
use crate::conf::upgrade::{self, Change, Fate, NewDefault, Place, Reliance, Standing, Upgrade, Written};
use crate::conf::{self, Layer};
use crate::workspace::{self, Project};

/// The page of every project; of one key if one is named. An error if nothing says which Spark it is now.
pub(super) fn page(inputs: &Inputs, key: Option<&str>, range: Range, args: &Args) -> anyhow::Result<String> {
    let mut upgrades = Vec::new();
    for project in inputs.projects() {
        let from = match range.from {
            Some(from) => from,
            None if project.environment.version_known => project.environment.version,
            None => {
                anyhow::bail!("nothing says which Spark the project runs on now; write --upgrade FROM..{}", range.to)
            }
        };
        if from > range.to {
            anyhow::bail!("the project runs on Spark {from}, which is newer than {}", range.to);
        }
        let mut upgrade = upgrade::changes(from, range.to, &layers(inputs, project));
        if let Some(key) = key {
            upgrade.written.retain(|written| written.key == key);
            upgrade.relied_on.retain(|default| default.key == key);
            upgrade.others.retain(|default| default.key == key);
        }
        upgrade.others.retain(|default| default.public || args.all || key.is_some());
        upgrades.push((project, upgrade));
    }
    Ok(match args.format {
        Format::Text => {
            let is_one = upgrades.len() == 1;
            let pages = upgrades.iter().map(|(project, upgrade)| text(project, upgrade, is_one));
            pages.collect::<Vec<_>>().join("\n")
        }
        Format::Json => {
            let projects: Vec<Value> = upgrades.iter().map(|(project, upgrade)| json(project, upgrade)).collect();
            format!("{:#}\n", json!({ "version": 1, "projects": projects }))
        }
    })
}

/// What is written in the files of a project, and what their scripts are started with.
fn layers(inputs: &Inputs, project: &Project) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut add = |found: Vec<Layer>| {
        for layer in found {
            if !layers.contains(&layer) {
                layers.push(layer);
            }
        }
    };
    for (_, file) in inputs.files().filter(|(other, _)| other.root == project.root) {
        add(workspace::layers(&file.path, &file.text, file.facts.settings()));
        if matches!(file.facts, Facts::Python(_) | Facts::Sql(_)) {
            let launches = project.launches(&file.path);
            if launches.is_empty() {
                add(project.layers.clone());
            }
            launches.into_iter().for_each(|launch| add(launch.layers));
        }
    }
    layers
}

fn text(project: &Project, upgrade: &Upgrade, is_one: bool) -> String {
    let mut page = String::new();
    let (from, to) = (words::minor(upgrade.from), words::minor(upgrade.to));
    let root = if is_one { String::new() } else { format!("{}: ", shown(&project.root).display()) };
    wrap(&mut page, bold(), 0, &format!("{root}Spark {from} to {to}"));
    for note in notes(upgrade) {
        wrap(&mut page, dim(), 0, &note);
    }
    section(&mut page, "Settings that are written here and change", upgrade.written.is_empty());
    for written in &upgrade.written {
        self::written(&mut page, written, upgrade);
    }
    section(&mut page, "Defaults that they rely on and that change", upgrade.relied_on.is_empty());
    defaults(&mut page, &upgrade.relied_on);
    section(&mut page, "Other defaults that change", upgrade.others.is_empty());
    defaults(&mut page, &upgrade.others);
    page.push('\n');
    wrap(&mut page, anstyle::Style::new(), 0, &closing(upgrade));
    page
}

fn closing(upgrade: &Upgrade) -> String {
    let (written, relied_on) = (upgrade.written.len(), upgrade.relied_on.len());
    let change = if written == 1 { "changes" } else { "change" };
    format!(
        "{} {change}, {} that they rely on, {} that change besides",
        count(written, "written setting"),
        count(relied_on, "default"),
        count(upgrade.others.len(), "default"),
    )
}

/// What the facts don't reach.
fn notes(upgrade: &Upgrade) -> Vec<String> {
    let mut notes = Vec::new();
    let minor = |version: SparkVersion| (version.major, version.minor);
    let (first, last) = (catalog::VERSIONS[0], catalog::VersionIndex::NEWEST.version());
    if minor(upgrade.from) < minor(first) {
        notes.push(format!("The facts begin with Spark {}.", words::minor(first)));
    }
    if minor(upgrade.to) > minor(last) {
        notes.push(format!("The facts end with Spark {}.", words::minor(last)));
    }
    if minor(upgrade.from) == minor(upgrade.to) {
        notes.push("Two patches of one minor version have the same settings.".to_owned());
    }
    notes
}

fn section(page: &mut String, title: &str, is_empty: bool) {
    page.push('\n');
    wrap(page, bold(), 0, title);
    if is_empty {
        wrap(page, dim(), 2, "none");
    }
}

fn written(page: &mut String, written: &Written, upgrade: &Upgrade) {
    wrap(page, anstyle::Style::new(), 2, &written.key);
    for change in &written.changes {
        wrap(page, anstyle::Style::new(), 6, &change_words(change, upgrade));
    }
    for place in &written.places {
        let value = cut(&value(&place.layer), 40);
        let verdict = verdict(place).map(|verdict| format!(": {verdict}")).unwrap_or_default();
        wrap(page, dim(), 6, &format!("{}  {value}{verdict}", words::layer_place(&place.layer)));
    }
}

fn value(layer: &Layer) -> String {
    match &layer.value {
        conf::Value::Literal(text) if text.is_empty() => "(empty)".to_owned(),
        conf::Value::Literal(text) => text.clone(),
        conf::Value::Template | conf::Value::Unknown => "(filled in when it runs)".to_owned(),
    }
}

/// What a place has to know.
fn verdict(place: &Place) -> Option<String> {
    match (&place.fate, place.standing) {
        (Fate::Refused(why), _) => Some(format!("refused from then on: {}", why.trim_end_matches('.'))),
        (Fate::Accepted, _) => Some("refused before, accepted from then on".to_owned()),
        (Fate::Same, Standing::OldDefault) => Some("the old default, so the old behaviour stays".to_owned()),
        (Fate::Same, Standing::NewDefault) => Some("the new default, so it can be left out".to_owned()),
        (Fate::Same, Standing::Own) => None,
    }
}

fn change_words(change: &Change, upgrade: &Upgrade) -> String {
    let to = words::minor(upgrade.to);
    match change {
        Change::Default { old, new } => format!("default: {}", arrow(*old, *new)),
        Change::Kind { old, new } => format!("type: {} -> {}", setting::kind(*old), setting::kind(*new)),
        Change::Scope { old, new } => {
            format!("in force: {} -> {}", setting::scope_words(*old), setting::scope_words(*new))
        }
        Change::Renamed { to, translates: false } => format!("renamed to {to}; the old name is still read"),
        Change::Renamed { to, translates: true } => {
            format!("renamed to {to}, which counts in another unit; the old name is still read")
        }
        Change::Deprecated { since } => format!("deprecated since Spark {since}"),
        Change::Removed { since, accepted } => {
            format!("removed in Spark {since}: any value but {accepted} is refused")
        }
        Change::NotRead { instead, why } => {
            let instead = instead.map(|key| format!("; set {key} instead")).unwrap_or_default();
            let why = if why.is_empty() { String::new() } else { format!(" ({})", why.trim_end_matches('.')) };
            format!("Spark {to} does not read it any more{why}{instead}")
        }
        Change::Read => format!("not read before: it begins to have an effect with Spark {to}"),
    }
}

fn arrow(old: catalog::Default, new: catalog::Default) -> String {
    format!("{} -> {}", setting::default_words(old), setting::default_words(new))
}

fn defaults(page: &mut String, defaults: &[NewDefault]) {
    const WIDEST_KEY: usize = 52;
    let widths = defaults.iter().map(|default| default.key.len()).filter(|width| *width <= WIDEST_KEY);
    let width = widths.max().unwrap_or_default();
    for default in defaults {
        let change = arrow(default.old, default.new);
        let reason = default.reason.as_ref().map(|reason| format!(", {}", reliance(reason))).unwrap_or_default();
        beside(page, 2, default.key, width + 4, &format!("{change}{reason}"));
    }
}

fn reliance(reliance: &Reliance) -> String {
    match reliance {
        Reliance::Feature { key, .. } => format!("as {key} is set"),
        Reliance::FallsBack { key } => format!("one of them is the value of {key}, which is set"),
    }
}

fn json(project: &Project, upgrade: &Upgrade) -> Value {
    let counts = upgrade.counts();
    json!({
        "root": shown(&project.root).to_string_lossy(),
        "from": upgrade.from.to_string(),
        "to": upgrade.to.to_string(),
        "counts": { "written": counts.written, "relied_on": counts.relied_on, "others": counts.others },
        "written": upgrade.written.iter().map(written_json).collect::<Vec<_>>(),
        "relied_on": upgrade.relied_on.iter().map(default_json).collect::<Vec<_>>(),
        "others": upgrade.others.iter().map(default_json).collect::<Vec<_>>(),
    })
}

fn written_json(written: &Written) -> Value {
    json!({
        "key": written.key,
        "changes": written.changes.iter().map(change_json).collect::<Vec<_>>(),
        "places": written.places.iter().map(place_json).collect::<Vec<_>>(),
    })
}

pub(in crate::cli) fn change_json(change: &Change) -> Value {
    match change {
        Change::Default { old, new } => {
            json!({ "change": "default", "old": form::default(*old), "new": form::default(*new) })
        }
        Change::Kind { old, new } => {
            json!({ "change": "type", "old": setting::kind(*old), "new": setting::kind(*new) })
        }
        Change::Scope { old, new } => {
            json!({ "change": "scope", "old": setting::scope_words(*old), "new": setting::scope_words(*new) })
        }
        Change::Renamed { to, translates } => json!({ "change": "renamed", "to": to, "translates": translates }),
        Change::Deprecated { since } => json!({ "change": "deprecated", "since": since }),
        Change::Removed { since, accepted } => json!({ "change": "removed", "since": since, "accepted": accepted }),
        Change::NotRead { instead, why } => json!({ "change": "not-read", "instead": instead, "why": why }),
        Change::Read => json!({ "change": "read" }),
    }
}

fn place_json(place: &Place) -> Value {
    let (fate, why) = match &place.fate {
        Fate::Same => ("same", None),
        Fate::Refused(why) => ("refused", Some(why)),
        Fate::Accepted => ("accepted", None),
    };
    let standing = match place.standing {
        Standing::OldDefault => "old-default",
        Standing::NewDefault => "new-default",
        Standing::Own => "own",
    };
    json!({
        "value": place.layer.value.literal(),
        "from": form::origin(&place.layer.origin, &words::layer_place(&place.layer)),
        "standing": standing,
        "value_becomes": fate,
        "why": why,
    })
}

pub(in crate::cli) fn default_json(default: &NewDefault) -> Value {
    let reason = match &default.reason {
        Some(Reliance::Feature { prefix, key }) => json!({ "kind": "feature", "prefix": prefix, "key": key }),
        Some(Reliance::FallsBack { key }) => json!({ "kind": "falls-back", "prefix": null, "key": key }),
        None => Value::Null,
    };
    json!({
        "key": default.key,
        "old": form::default(default.old),
        "new": form::default(default.new),
        "public": default.public,
        "reason": reason,
    })
}
