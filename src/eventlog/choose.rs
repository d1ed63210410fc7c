//! Which of many logs is meant.

use std::path::Path;

use super::source::{Group, HOLDS_NONE, Kind, Source, refuse, stem_of};
use super::{ReadError, Which, sniff};

/// Files whose first bytes are looked at to tell logs from other files, or to find an application by its name.
const MAX_LOOKED_AT: usize = 1000;

/// A log that was chosen.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) group: Group,
    /// What to say of the choice.
    pub(super) notes: Vec<String>,
}

impl Chosen {
    fn of(group: Group) -> Self {
        Self { group, notes: Vec::new() }
    }
}

/// The logs of `groups` that are meant; at least one. `place` is where they are.
pub(super) fn choose(mut groups: Vec<Group>, which: &Which, place: &Path) -> Result<Vec<Chosen>, ReadError> {
    if groups.is_empty() {
        return Err(refuse(place, HOLDS_NONE));
    }
    match which {
        Which::All => Ok(groups.into_iter().map(Chosen::of).collect()),
        Which::Newest if groups.len() == 1 => Ok(groups.into_iter().map(Chosen::of).collect()),
        Which::Newest => {
            newest_first(&mut groups);
            newest(keep_logs(groups), place).map(|chosen| vec![chosen])
        }
        Which::Named { application, attempt } => {
            newest_first(&mut groups);
            named(groups, application, attempt.as_deref(), place).map(|chosen| vec![chosen])
        }
    }
}

/// The only log of these, or the last attempt of the only application.
pub(super) fn only(groups: Vec<Group>, place: &Path) -> Result<Source, ReadError> {
    let mut chosen = choose(groups, &Which::Newest, place)?;
    let chosen = chosen.pop().ok_or_else(|| refuse(place, HOLDS_NONE))?;
    let mut source = chosen.group.source()?;
    source.notes.extend(chosen.notes);
    Ok(source)
}

/// Application ids hold the time of their start: where files are as old as each other, names decide.
fn newest_first(groups: &mut [Group]) {
    groups.sort_by(|a, b| (b.modified(), &b.name).cmp(&(a.modified(), &a.name)));
}

/// Drops files that are no logs, the newest first. Over the network only until the first log is found.
fn keep_logs(groups: Vec<Group>) -> Vec<Group> {
    let mut kept = Vec::new();
    let mut looked_at = 0;
    for group in groups {
        let is_settled = group.kind != Kind::Whole || looked_at >= MAX_LOOKED_AT;
        let is_far = group.files.iter().any(super::place::Item::is_far);
        if is_settled || is_far && !kept.is_empty() {
            kept.push(group);
            continue;
        }
        looked_at += 1;
        if group.files.iter().all(|file| sniff::is_log(file) || file.is_zip().unwrap_or(false)) {
            kept.push(group);
        }
    }
    kept
}

/// The last attempt of the application that was written to last, out of logs sorted so.
fn newest(groups: Vec<Group>, place: &Path) -> Result<Chosen, ReadError> {
    let Some(first) = groups.first() else { return Err(refuse(place, HOLDS_NONE)) };
    let application = first.application.clone();
    let mut others: Vec<&str> = Vec::new();
    for group in groups.iter().filter(|group| group.application != application) {
        if !others.contains(&group.application.as_str()) {
            others.push(&group.application);
        }
    }
    let mut note = None;
    if !others.is_empty() {
        if groups.iter().any(|group| group.modified().is_none()) {
            let mut names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
            names.sort_unstable();
            let reason = format!("holds {} event logs ({}); name one of them", names.len(), shown(&names));
            return Err(refuse(place, reason));
        }
        note = Some(newest_note(others.len() + 1));
    }
    let own = groups.into_iter().filter(|group| group.application == application).collect();
    let mut chosen = last_attempt(own, place)?;
    chosen.notes.splice(0..0, note);
    Ok(chosen)
}

/// What to say of the newest application of many. It names none: a report that hides names shows this as well.
pub(super) fn newest_note(applications: usize) -> String {
    format!("the newest of {applications} applications here; --application chooses another")
}

/// The last attempt of one application.
fn last_attempt(mut groups: Vec<Group>, place: &Path) -> Result<Chosen, ReadError> {
    // The newest is first, and stays the last one of those that name no attempt.
    groups.reverse();
    groups.sort_by_key(|group| group.attempt);
    let mut attempts: Vec<u32> = groups.iter().map(|group| group.attempt).collect();
    attempts.dedup();
    let count = attempts.len();
    let group = groups.pop().ok_or_else(|| refuse(place, HOLDS_NONE))?;
    let notes = (count > 1).then(|| format!("{count} attempts of the application; this is the last"));
    Ok(Chosen { group, notes: notes.into_iter().collect() })
}

/// The log of an application by its id, its file's name, or the name in the log.
fn named(groups: Vec<Group>, wanted: &str, attempt: Option<&str>, place: &Path) -> Result<Chosen, ReadError> {
    let is_named = |group: &Group| {
        let own = group.name.rsplit('/').next().unwrap_or(&group.name);
        group.name == wanted || own == wanted || stem_of(own) == wanted
    };
    if let Some(group) = groups.iter().find(|group| is_named(group))
        && group.application != wanted
    {
        return attempt_of(vec![group.clone()], wanted, attempt, place);
    }
    let of_id: Vec<Group> = groups.iter().filter(|group| group.application == wanted).cloned().collect();
    if !of_id.is_empty() {
        return attempt_of(of_id, wanted, attempt, place);
    }
    let says_so = |group: &&Group| says(group, wanted).is_some();
    let Some(found) = groups.iter().take(MAX_LOOKED_AT).find(says_so) else {
        let mut names: Vec<&str> = groups.iter().map(|group| group.application.as_str()).collect();
        names.dedup();
        return Err(refuse(place, format!("holds no application {wanted}; it holds {}", shown(&names))));
    };
    let own = groups.iter().filter(|group| group.application == found.application).cloned().collect();
    attempt_of(own, wanted, attempt, place)
}

/// The attempt in the log itself, if the log is of this application.
fn says(group: &Group, wanted: &str) -> Option<Option<String>> {
    let source = group.source().ok()?;
    source.parts.first().filter(|part| part.item.is_lasting()).and_then(|part| sniff::application(&part.item, wanted))
}

/// The attempt of an application that is meant: the last if none is named.
fn attempt_of(groups: Vec<Group>, wanted: &str, attempt: Option<&str>, place: &Path) -> Result<Chosen, ReadError> {
    let Some(attempt) = attempt else { return last_attempt(groups, place) };
    let by_name = groups.iter().find(|group| group.attempt.to_string() == attempt);
    let in_log = || groups.iter().find(|group| sniffed_attempt(group, wanted).as_deref() == Some(attempt));
    match by_name.or_else(in_log) {
        Some(group) => Ok(Chosen::of(group.clone())),
        None => Err(refuse(place, format!("holds no attempt {attempt} of {wanted}"))),
    }
}

fn sniffed_attempt(group: &Group, wanted: &str) -> Option<String> {
    says(group, wanted).or_else(|| says(group, &group.application)).flatten()
}

/// The first three names.
pub(super) fn shown(names: &[&str]) -> String {
    let more = if names.len() > 3 { ", …" } else { "" };
    format!("{}{more}", names.iter().take(3).copied().collect::<Vec<_>>().join(", "))
}
