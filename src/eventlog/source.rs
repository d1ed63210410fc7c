//! Which files make up the log at a path, in reading order.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::archive::{self, Entry};
use super::{ReadError, codec, sniff};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    /// Which file in the archive at `path`, if it is one.
    pub(super) entry: Option<Entry>,
    /// Files before this one are missing.
    pub(super) after_hole: bool,
}

impl Part {
    pub(super) fn file(path: &Path) -> Self {
        Self { path: path.to_owned(), entry: None, after_hole: false }
    }

    /// Bytes on disk; 0 if the file is gone.
    pub(super) fn size(&self) -> u64 {
        match &self.entry {
            Some(entry) => entry.size,
            None => fs::metadata(&self.path).map_or(0, |metadata| metadata.len()),
        }
    }

    fn name(&self) -> &str {
        match &self.entry {
            Some(entry) => entry.name.rsplit('/').next().unwrap_or(""),
            None => name_of(&self.path),
        }
    }
}

impl Source {
    fn of(part: Part) -> Self {
        Self { parts: vec![part], ..Self::default() }
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
    if metadata.is_file() && codec::is_zip(&path)? {
        return zip(&path);
    }
    Ok(Source::of(Part::file(&path)))
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
    let files: Vec<Part> =
        entries.iter().filter(|(_, metadata)| metadata.is_file()).map(|(path, _)| Part::file(path)).collect();
    if let Some(rolled) = rolled(path, &files) {
        return rolled;
    }
    if files.iter().any(|file| file.name() == "eventlog") {
        return Ok(databricks(files));
    }
    let mut logs = Vec::new();
    for (entry, metadata) in entries.iter().take(MAX_CANDIDATES) {
        let is_log = if metadata.is_dir() {
            name_of(entry).starts_with("eventlog_v2_")
        } else {
            metadata.is_file() && sniff::file(entry)
        };
        if is_log {
            logs.push((name_of(entry), entry));
        }
    }
    let (log, note) = one_of(path, logs)?;
    let mut source = if log.is_dir() { folder(log)? } else { Source::of(Part::file(log)) };
    source.notes.extend(note);
    Ok(source)
}

/// The log in an archive: a file, or a folder of a rolled one.
fn zip(path: &Path) -> Result<Source, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut file = fs::File::open(path).map_err(io)?;
    let mut folders: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for entry in archive::entries(&mut file).map_err(io)?.into_iter().take(MAX_ENTRIES) {
        let folder = entry.name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let part = Part { path: path.to_owned(), entry: Some(entry), after_hole: false };
        folders.entry(folder).or_default().push(part);
    }
    let mut logs: Vec<(&str, Vec<Part>)> = Vec::new();
    for (folder, files) in &folders {
        if files.iter().any(|file| Rolled::new(file).is_some()) {
            logs.push((folder.rsplit('/').next().unwrap_or(""), files.clone()));
        } else {
            let whole = files.iter().filter(|file| !file.name().starts_with("appstatus_"));
            logs.extend(whole.map(|file| (file.name(), vec![file.clone()])));
        }
    }
    let (files, note) = one_of(path, logs)?;
    let mut source = match rolled(path, &files) {
        Some(source) => source?,
        None => Source { parts: files, ..Source::default() },
    };
    source.notes.extend(note);
    Ok(source)
}

/// `events_<index>_<application>[.<codec>][.compact]`.
struct Rolled<'a> {
    index: u64,
    application: &'a str,
    compact: bool,
    part: &'a Part,
}

impl<'a> Rolled<'a> {
    fn new(part: &'a Part) -> Option<Self> {
        let (index, name) = part.name().strip_prefix("events_")?.split_once('_')?;
        let plain = name.strip_suffix(".compact");
        let compact = plain.is_some();
        let name = plain.unwrap_or(name);
        Some(Self { index: index.parse().ok()?, application: without_codec(name), compact, part })
    }
}

/// The rolled log that these files are, if they are one.
fn rolled(path: &Path, files: &[Part]) -> Option<Result<Source, ReadError>> {
    let events: Vec<Rolled<'_>> = files.iter().filter_map(Rolled::new).collect();
    let has_status = files.iter().any(|file| file.name().starts_with("appstatus_"));
    match (events.is_empty(), has_status) {
        (false, _) => Some(roll(path, events, has_status)),
        (true, true) => {
            let reason = "a rolled log with only its marker file: no events were written, or they were deleted";
            Some(Err(refuse(path, reason)))
        }
        (true, false) => None,
    }
}

fn roll(folder: &Path, files: Vec<Rolled<'_>>, has_status: bool) -> Result<Source, ReadError> {
    let mut source = Source::default();
    let mut applications: BTreeMap<&str, Vec<Rolled<'_>>> = BTreeMap::new();
    for file in files {
        applications.entry(file.application).or_default().push(file);
    }
    let (mut files, note) = one_of(folder, applications.into_iter().collect())?;
    source.notes.extend(note);
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
        // A file name is not trusted to list billions of holes.
        source.missing.extend((expected..file.index).take(1000));
        source.parts.push(Part { after_hole: file.index > expected, ..file.part.clone() });
        expected = file.index.saturating_add(1);
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

/// The only log of these, or the last attempt of the only application, with a note that it is; by name.
fn one_of<T>(path: &Path, logs: Vec<(&str, T)>) -> Result<(T, Option<String>), ReadError> {
    let mut names: Vec<&str> = logs.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let mut attempts: Vec<((&str, u32), T)> = logs
        .into_iter()
        .map(|(name, log)| {
            let name = without_codec(name.trim_end_matches(".inprogress"));
            (attempt(name.trim_start_matches("eventlog_v2_")), log)
        })
        .collect();
    attempts.sort_by_key(|(identity, _)| *identity);
    let same = attempts.windows(2).all(|pair| pair[0].0.0 == pair[1].0.0 && pair[0].0.1 != pair[1].0.1);
    if !same {
        let shown = names.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > 3 { ", …" } else { "" };
        return Err(refuse(path, format!("holds {} event logs ({shown}{more}); name one of them", names.len())));
    }
    let note = (names.len() > 1).then(|| format!("{} attempts of the application; this is the last", names.len()));
    attempts.pop().map(|(_, log)| (log, note)).ok_or_else(|| refuse(path, "holds no event log"))
}

/// `eventlog-<time>.gz`, oldest first, and `eventlog` last.
fn databricks(files: Vec<Part>) -> Source {
    let (last, mut parts): (Vec<Part>, Vec<Part>) = files
        .into_iter()
        .filter(|file| file.name() == "eventlog" || file.name().starts_with("eventlog-"))
        .partition(|file| file.name() == "eventlog");
    parts.extend(last);
    Source { parts, ..Source::default() }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
