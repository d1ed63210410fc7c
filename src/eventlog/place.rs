//! Files wherever they are: on disk, in an archive, in a bucket, or a stream that comes once.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;

use super::ReadError;
use super::archive::{self, Entry};
use super::store::{Bucket, Key};

/// Files of one place that are looked at; a history of more is cut, and a note says so.
pub(super) const MAX_FILES: usize = 100_000;

/// Folders deeper than this below the place are not looked into.
const DEEPEST: usize = 3;

/// A file.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Its path or address, for people.
    pub(super) path: PathBuf,
    /// Its path below the place that was listed, with `/` between folders.
    pub(super) name: String,
    /// Bytes; 0 if that is not known.
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    pub(super) at: At,
}

/// How a file is reached.
#[derive(Debug, Clone)]
pub(super) enum At {
    /// At the item's path.
    Disk,
    /// In a zip archive, which is read by one reader at a time.
    Archive(Arc<File>, Entry),
    /// In a bucket.
    Bucket(Arc<Bucket>, Key),
    /// What standard input or a server sends; it can be opened once.
    Once(Stream),
}

/// Bytes that come once.
#[derive(Clone)]
pub(super) struct Stream(Arc<Mutex<Option<Box<dyn Read + Send>>>>);

impl Stream {
    pub(super) fn new(reader: Box<dyn Read + Send>) -> Self {
        Self(Arc::new(Mutex::new(Some(reader))))
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}

/// A file open for reading, up to the size that it had when it was opened.
pub(super) struct Opened {
    /// Stands where the data begin.
    pub(super) reader: Box<dyn Read>,
    /// Packed by the archive that it is in.
    pub(super) deflated: bool,
}

impl Item {
    /// A file on disk, listed by itself.
    pub(super) fn file(path: &Path) -> Self {
        let metadata = fs::metadata(path).ok();
        Self {
            path: path.to_owned(),
            name: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            size: metadata.as_ref().map_or(0, fs::Metadata::len),
            modified: metadata.and_then(|metadata| metadata.modified().ok()),
            at: At::Disk,
        }
    }

    /// The last part of its name.
    pub(super) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The folder that it is in, below the place.
    pub(super) fn folder(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Whether it can be opened twice, so that its head may be looked at before it is read.
    pub(super) fn is_lasting(&self) -> bool {
        !matches!(self.at, At::Once(_))
    }

    /// Whether opening it costs a round trip over the network.
    pub(super) fn is_far(&self) -> bool {
        matches!(self.at, At::Bucket(..) | At::Once(_))
    }

    /// Whether it is a file on disk, not one in an archive.
    pub(super) fn is_on_disk(&self) -> bool {
        matches!(self.at, At::Disk)
    }

    /// Opens a file on disk behind its first bytes.
    pub(super) fn open_behind(&self, offset: u64) -> Result<Opened, ReadError> {
        open_regular(&self.path, offset)
    }

    /// Opens it.
    pub(super) fn open(&self) -> Result<Opened, ReadError> {
        let io = |source| ReadError::Io { path: self.path.clone(), source };
        match &self.at {
            At::Disk => open_regular(&self.path, 0),
            At::Archive(file, entry) => {
                let deflated = archive::seek(file, entry).map_err(io)?;
                let reader = Shared(Arc::clone(file)).take(entry.size);
                Ok(Opened { reader: Box::new(reader), deflated })
            }
            At::Bucket(bucket, key) => {
                let reader = bucket.read(key).map_err(io)?;
                Ok(Opened { reader: Box::new(reader), deflated: false })
            }
            At::Once(stream) => {
                let reader = stream.0.lock().take().ok_or_else(|| io(io::Error::other("can be read only once")))?;
                Ok(Opened { reader, deflated: false })
            }
        }
    }

    /// Whether it is a zip archive; what comes once was looked at before.
    pub(super) fn is_zip(&self) -> Result<bool, ReadError> {
        if !self.is_lasting() || matches!(self.at, At::Archive(..)) {
            return Ok(false);
        }
        let io = |source| ReadError::Io { path: self.path.clone(), source };
        let mut magic = Vec::with_capacity(4);
        self.open()?.reader.take(4).read_to_end(&mut magic).map_err(io)?;
        Ok(is_zip(&magic))
    }

    /// The files of this zip archive.
    pub(super) fn unpack(&self) -> Result<Vec<Self>, ReadError> {
        let io = |source| ReadError::Io { path: self.path.clone(), source };
        let file = match self.at {
            At::Disk => File::open(&self.path).map_err(io)?,
            _ => spool(self.open()?.reader).map_err(io)?,
        };
        archived(&self.path, file)
    }
}

/// Whether a file that starts so is a zip archive.
pub(super) fn is_zip(magic: &[u8]) -> bool {
    magic.starts_with(b"PK\x03\x04")
}

/// The files of a zip archive; `path` names it.
pub(super) fn archived(path: &Path, file: File) -> Result<Vec<Item>, ReadError> {
    let entries = archive::entries(&file).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let file = Arc::new(file);
    let item = |entry: Entry| Item {
        path: path.to_owned(),
        name: entry.name.clone(),
        size: entry.size,
        modified: None,
        at: At::Archive(Arc::clone(&file), entry),
    };
    Ok(entries.into_iter().take(MAX_FILES).map(item).collect())
}

/// Writes what comes once to a temporary file without a name, where it can be sought in.
pub(super) fn spool(mut reader: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut reader, &mut file)?;
    Ok(file)
}

/// A file that several readers hold, one of which reads.
struct Shared(Arc<File>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

/// Opens a regular file; anything else is refused before it is opened, because opening a pipe would wait for its writer.
fn open_regular(path: &Path, offset: u64) -> Result<Opened, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let no_file = || ReadError::NotALog { path: path.to_owned(), reason: "not a regular file".to_owned() };
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(no_file());
    }
    let mut file = File::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(no_file());
    }
    file.seek(SeekFrom::Start(offset)).map_err(io)?;
    Ok(Opened { reader: Box::new(file.take(metadata.len().saturating_sub(offset))), deflated: false })
}

/// Whether a file or folder of this name holds no events: hidden ones, checksums, Hadoop's markers and what ends as no log
/// does.
pub(super) fn is_foreign(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let foreign = ["crc", "py", "md", "txt", "toml", "yaml", "yml", "csv", "html", "conf", "properties", "ipynb", "sh"];
    name.starts_with(['.', '_']) || foreign.iter().any(|foreign| ending.eq_ignore_ascii_case(foreign))
}

/// Whether a file below a place may be one of a log: none of its folders is foreign, and it is not too deep.
pub(super) fn may_be_log(name: &str) -> bool {
    name.split('/').count() <= DEEPEST + 1 && !name.split('/').any(|part| part.is_empty() || is_foreign(part))
}

/// The files in a folder on disk and in those below it, by name.
pub(super) fn files_of(folder: &Path) -> Result<Vec<Item>, ReadError> {
    let mut found = Vec::new();
    list(folder, "", &mut found).map_err(|source| ReadError::Io { path: folder.to_owned(), source })?;
    let mut level = folders_of(folder, "");
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for (path, name) in level {
            // A folder that can't be looked into hides its own files, not those of the others.
            if list(&path, &name, &mut found).is_ok() {
                next.extend(folders_of(&path, &name));
            }
        }
        level = next;
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn list(folder: &Path, name: &str, found: &mut Vec<Item>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        if found.len() >= MAX_FILES {
            break;
        }
        let path = entry?.path();
        let mut item = Item::file(&path);
        if !is_foreign(&item.name) && path.is_file() {
            item.name = below(name, &item.name);
            found.push(item);
        }
    }
    Ok(())
}

fn folders_of(folder: &Path, name: &str) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let folders = entries.filter_map(Result::ok).filter_map(|entry| {
        let own = entry.file_name().to_string_lossy().into_owned();
        // A link to a folder above would lead in circles: `file_type` does not follow links.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        (is_folder && !is_foreign(&own)).then(|| (entry.path(), below(name, &own)))
    });
    folders.collect()
}
