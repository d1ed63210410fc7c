//! Which files make up a log, in reading order; and which logs files make up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::place::{At, Item};
use super::{ReadError, choose};

/// The files of one log.
#[derive(Debug, Default)]
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
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) item: Item,
    /// Files before this one are missing.
    pub(super) after_hole: bool,
}

impl Part {
    fn of(item: Item) -> Self {
        Self { item, after_hole: false }
    }
}

/// How the files of a log belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One file.
    Whole,
    /// `events_*` beside an `appstatus_*`.
    Rolled,
    /// Only the `appstatus_*` of a rolled one.
    Marker,
    /// `eventlog-<time>.gz` and `eventlog`.
    Databricks,
}

/// The files of one attempt of one application, as their names tell it.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The file's or the folder's path below the place.
    pub(super) name: String,
    /// The application's id.
    pub(super) application: String,
    /// 0 where the name tells none.
    pub(super) attempt: u32,
    pub(super) kind: Kind,
    pub(super) files: Vec<Item>,
}

impl Group {
    fn new(name: &str, identity: &str, kind: Kind, files: Vec<Item>) -> Self {
        let stem = stem_of(identity);
        let (application, attempt) = attempt(stem);
        Self { name: name.to_owned(), application: application.to_owned(), attempt, kind, files }
    }

    /// A file that makes up a log by itself.
    pub(super) fn whole(item: Item) -> Self {
        let (name, own) = (item.name.clone(), item.file_name().to_owned());
        Self::new(&name, &own, Kind::Whole, vec![item])
    }

    /// When it was last written to.
    pub(super) fn modified(&self) -> Option<SystemTime> {
        self.files.iter().filter_map(|file| file.modified).max()
    }

    /// Its path or address for people: the file's, or that of the folder of its files.
    pub(super) fn path(&self) -> PathBuf {
        let Some(first) = self.files.first() else { return PathBuf::new() };
        match (self.kind, &first.at) {
            (Kind::Whole, _) | (_, At::Archive(..)) => first.path.clone(),
            _ => first.path.parent().unwrap_or(&first.path).to_owned(),
        }
    }

    /// Its files in reading order.
    pub(super) fn source(&self) -> Result<Source, ReadError> {
        match self.kind {
            Kind::Marker => Err(refuse(
                &self.path(),
                "a rolled log with only its marker file: no events were written, or they were deleted",
            )),
            Kind::Rolled => Ok(roll(&self.files)),
            Kind::Databricks => Ok(databricks(&self.files)),
            Kind::Whole => match self.files.first() {
                Some(item) if item.file_name().starts_with("appstatus_") => {
                    Err(refuse(&item.path, "the marker of a rolled log, it holds no events; name its folder"))
                }
                Some(item) if item.is_zip()? => choose::only(groups(item.unpack()?), &item.path),
                Some(item) => Ok(Source { parts: vec![Part::of(item.clone())], ..Source::default() }),
                None => Ok(Source::default()),
            },
        }
    }
}

/// Of a folder, a bucket or an archive.
pub(super) const HOLDS_NONE: &str = "\
    holds no event log; Spark writes them into spark.eventLog.dir if spark.eventLog.enabled is true";

pub(super) fn refuse(path: &Path, reason: impl Into<String>) -> ReadError {
    ReadError::NotALog { path: path.to_owned(), reason: reason.into() }
}

/// The logs that these files make up, by name.
pub(super) fn groups(files: Vec<Item>) -> Vec<Group> {
    let mut folders: BTreeMap<String, Vec<Item>> = BTreeMap::new();
    for file in files {
        folders.entry(file.folder().to_owned()).or_default().push(file);
    }
    folders.into_iter().flat_map(|(folder, files)| groups_of(&folder, files)).collect()
}

/// The logs in one folder.
fn groups_of(folder: &str, files: Vec<Item>) -> Vec<Group> {
    let mut rolled: BTreeMap<String, Vec<Item>> = BTreeMap::new();
    for file in &files {
        if let Some(rolled_file) = Rolled::new(file) {
            rolled.entry(rolled_file.application.to_owned()).or_default().push(file.clone());
        }
    }
    let markers: Vec<Item> = files.iter().filter(|file| file.file_name().starts_with("appstatus_")).cloned().collect();
    let own = folder.rsplit('/').next().unwrap_or(folder);
    if rolled.is_empty() && !markers.is_empty() && files.len() == markers.len() {
        return vec![Group::new(folder, own, Kind::Marker, markers)];
    }
    if !rolled.is_empty() {
        let alone = rolled.len() == 1;
        let group = |(application, mut events): (String, Vec<Item>)| {
            events.extend(markers.iter().cloned());
            let name = if alone && !folder.is_empty() { folder } else { &application };
            Group::new(name, &application, Kind::Rolled, events)
        };
        return rolled.into_iter().map(group).collect();
    }
    if files.iter().any(|file| file.file_name() == "eventlog") {
        return vec![Group::new(folder, own, Kind::Databricks, files)];
    }
    files.into_iter().filter(|file| !file.file_name().starts_with("appstatus_")).map(Group::whole).collect()
}

/// `events_<index>_<application>[.<codec>][.compact]`.
struct Rolled<'a> {
    index: u64,
    application: &'a str,
    compact: bool,
    item: &'a Item,
}

impl<'a> Rolled<'a> {
    fn new(item: &'a Item) -> Option<Self> {
        let (index, name) = item.file_name().strip_prefix("events_")?.split_once('_')?;
        let plain = name.strip_suffix(".compact");
        let compact = plain.is_some();
        let name = plain.unwrap_or(name);
        Some(Self { index: index.parse().ok()?, application: without_codec(name), compact, item })
    }
}

fn roll(files: &[Item]) -> Source {
    let mut source = Source::default();
    let has_status = files.iter().any(|file| file.file_name().starts_with("appstatus_"));
    let mut files: Vec<Rolled<'_>> = files.iter().filter_map(Rolled::new).collect();
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
        source.parts.push(Part { item: file.item.clone(), after_hole: file.index > expected });
        expected = file.index.saturating_add(1);
    }
    source
}

/// The name of a log's file or folder without its codec, its state and what Spark puts before it.
pub(super) fn stem_of(name: &str) -> &str {
    without_codec(name.trim_end_matches(".inprogress")).trim_start_matches("eventlog_v2_")
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

/// `eventlog-<time>.gz`, oldest first, and `eventlog` last.
fn databricks(files: &[Item]) -> Source {
    let of_log =
        files.iter().filter(|file| file.file_name() == "eventlog" || file.file_name().starts_with("eventlog-"));
    let (last, mut parts): (Vec<Part>, Vec<Part>) =
        of_log.cloned().map(Part::of).partition(|part| part.item.file_name() == "eventlog");
    parts.sort_by(|a, b| a.item.name.cmp(&b.item.name));
    parts.extend(last);
    Source { parts, ..Source::default() }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
