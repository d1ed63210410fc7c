//! Which files make up the log at a path, in reading order.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ReadError, sniff};

/// Entries of a folder that are looked at; a folder of more is no folder of one log.
const MAX_ENTRIES: usize = 10_000;

/// Candidates of a folder whose first bytes are looked at.
const MAX_CANDIDATES: usize = 200;

/// The files of one log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// In reading order.
    pub(super) parts: Vec<Part>,
    /// Indices of a rolled log that are missing.
    pub(super) missing: Vec<u64>,
    /// The first part is what compaction left of earlier ones.
    pub(super) compacted: bool,
    /// Things worth a word.
    pub(super) notes: Vec<String>,
}

/// One file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    /// Files before this one are missing.
    pub(super) after_hole: bool,
}

impl Source {
    fn of_file(path: PathBuf) -> Self {
        Self { parts: vec![Part { path, after_hole: false }], ..Self::default() }
    }
}

/// Finds the log at `path`.
pub(super) fn resolve(path: &Path) -> Result<Source, ReadError> {
    let (path, metadata) = match fs::metadata(path) {
        Ok(metadata) => (path.to_owned(), metadata),
        Err(error) => renamed(path).ok_or_else(|| ReadError::Io { path: path.to_owned(), source: error })?,
    };
    if metadata.is_dir() {
        return folder(&path);
    }
    if name_of(&path).starts_with("appstatus_") {
        return Err(refuse(&path, "the marker of a rolled log, it holds no events; name its folder"));
    }
    Ok(Source::of_file(path))
}

/// Spark drops `.inprogress` from a log's name when the application ends, perhaps just now.
fn renamed(path: &Path) -> Option<(PathBuf, fs::Metadata)> {
    let path = path.to_str()?.strip_suffix(".inprogress").map(PathBuf::from)?;
    let metadata = fs::metadata(&path).ok()?;
    Some((path, metadata))
}

fn refuse(path: &Path, reason: impl Into<String>) -> ReadError {
    ReadError::NotALog { path: path.to_owned(), reason: reason.into() }
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or("")
}

/// Files and folders in a folder, without hidden ones and checksums, by name.
fn entries(path: &Path) -> Result<Vec<(PathBuf, fs::Metadata)>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(io)?.take(MAX_ENTRIES) {
        let entry = entry.map_err(io)?.path();
        let name = name_of(&entry);
        if name.is_empty() || name.starts_with('.') || name.ends_with(".crc") {
            continue;
        }
        // An entry that vanishes meanwhile is not there.
        if let Ok(metadata) = fs::metadata(&entry) {
            found.push((entry, metadata));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn folder(path: &Path) -> Result<Source, ReadError> {
    let entries = entries(path)?;
    let files: Vec<&Path> = entries.iter().filter(|(_, meta)| meta.is_file()).map(|(path, _)| path.as_path()).collect();
    let rolled: Vec<Rolled<'_>> = files.iter().filter_map(|path| Rolled::new(path)).collect();
    let has_status = files.iter().any(|path| name_of(path).starts_with("appstatus_"));
    if !rolled.is_empty() {
        return roll(path, rolled, has_status);
    }
    if has_status {
        return Err(refuse(
            path,
            "a rolled log with only its marker file: no events were written, or they were deleted",
        ));
    }
    if files.iter().any(|path| name_of(path) == "eventlog") {
        return Ok(databricks(&files));
    }
    one_of_many(path, &entries)
}

/// `events_<index>_<application>[.<codec>][.compact]`.
struct Rolled<'a> {
    index: u64,
    application: &'a str,
    compact: bool,
    path: &'a Path,
}

impl<'a> Rolled<'a> {
    fn new(path: &'a Path) -> Option<Self> {
        let (index, name) = name_of(path).strip_prefix("events_")?.split_once('_')?;
        let plain = name.strip_suffix(".compact");
        let compact = plain.is_some();
        let name = plain.unwrap_or(name);
        Some(Self { index: index.parse().ok()?, application: without_codec(name), compact, path })
    }
}

fn roll(folder: &Path, mut files: Vec<Rolled<'_>>, has_status: bool) -> Result<Source, ReadError> {
    let mut source = Source::default();
    let mut applications: Vec<&str> = files.iter().map(|file| file.application).collect();
    applications.sort_by_key(|name| attempt(name));
    applications.dedup();
    if let [.., last] = applications.as_slice()
        && applications.len() > 1
    {
        let stem = attempt(last).0;
        if applications.iter().any(|name| attempt(name).0 != stem) {
            return Err(several(folder, &applications));
        }
        source.notes.push(attempts_note(applications.len()));
        let last = (*last).to_owned();
        files.retain(|file| file.application == last);
    }
    files.sort_by_key(|file| (file.index, !file.compact));
    if let Some(newest) = files.iter().rposition(|file| file.compact) {
        // The compacted file stands for its own index and all before it.
        let index = files[newest].index;
        files.retain(|file| file.index > index || (file.index == index && file.compact));
        source.compacted = true;
    }
    files.dedup_by_key(|file| file.index);
    if !has_status {
        source.notes.push("the rolled log has no appstatus file".to_owned());
    }
    let mut expected = if source.compacted { files.first().map_or(1, |file| file.index) } else { 1 };
    for file in &files {
        let after_hole = file.index > expected;
        // A file name is not trusted to list billions of holes.
        source.missing.extend((expected..file.index).take(1000));
        expected = file.index.saturating_add(1);
        source.parts.push(Part { path: file.path.to_owned(), after_hole });
    }
    Ok(source)
}

fn without_codec(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, "zstd" | "zst" | "gz" | "lz4" | "lzf" | "snappy")) => stem,
        _ => name,
    }
}

/// An application's name and its attempt, as Spark writes `<application>_<attempt>`.
fn attempt(name: &str) -> (&str, u32) {
    let parsed = name.rsplit_once('_').and_then(|(stem, number)| {
        // `application_1516285256255_0012` ends in its own number, not in an attempt's.
        let number: u32 = if number.len() <= 3 { number.parse().ok()? } else { return None };
        Some((stem, number))
    });
    parsed.unwrap_or((name, 0))
}

fn attempts_note(count: usize) -> String {
    format!("{count} attempts of the application; this is the last")
}

fn several(folder: &Path, names: &[&str]) -> ReadError {
    let shown = names.iter().take(3).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 3 { ", …" } else { "" };
    refuse(folder, format!("holds {} event logs ({shown}{more}); name one of them", names.len()))
}

/// `eventlog-<time>.gz`, oldest first, and `eventlog` last.
fn databricks(files: &[&Path]) -> Source {
    let mut parts: Vec<&Path> = files.iter().copied().filter(|path| name_of(path).starts_with("eventlog-")).collect();
    parts.extend(files.iter().copied().filter(|path| name_of(path) == "eventlog"));
    let parts = parts.into_iter().map(|path| Part { path: path.to_owned(), after_hole: false }).collect();
    Source { parts, ..Source::default() }
}

/// A folder that holds one log, or the attempts of one application.
fn one_of_many(path: &Path, entries: &[(PathBuf, fs::Metadata)]) -> Result<Source, ReadError> {
    let mut by_application: BTreeMap<&str, Vec<(u32, &Path)>> = BTreeMap::new();
    for (entry, metadata) in entries.iter().take(MAX_CANDIDATES) {
        let name = name_of(entry);
        let is_log =
            if metadata.is_dir() { name.starts_with("eventlog_v2_") } else { metadata.is_file() && sniff::file(entry) };
        if is_log {
            let name = without_codec(name.trim_end_matches(".inprogress"));
            let (application, attempt) = attempt(name.trim_start_matches("eventlog_v2_"));
            by_application.entry(application).or_default().push((attempt, entry));
        }
    }
    let names: Vec<&str> = by_application.values().flatten().map(|(_, path)| name_of(path)).collect();
    let Some((_, mut attempts)) = by_application.pop_first() else {
        return Err(refuse(path, "a folder without an event log"));
    };
    attempts.sort();
    let distinct = attempts.windows(2).all(|pair| pair[0].0 != pair[1].0);
    let Some(&(_, last)) = attempts.last() else { return Err(refuse(path, "a folder without an event log")) };
    if !by_application.is_empty() || !distinct {
        return Err(several(path, &names));
    }
    let mut source = if last.is_dir() { folder(last)? } else { Source::of_file(last.to_owned()) };
    if attempts.len() > 1 {
        source.notes.push(attempts_note(attempts.len()));
    }
    Ok(source)
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
