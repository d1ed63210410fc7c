//! From a place that a user names to the logs there.

use std::fs;
use std::io::{self, Cursor, ErrorKind, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use super::choose::{Chosen, choose};
use super::history::{self, Served};
use super::place::{self, At, Item, Stream};
use super::source::{Group, groups, refuse};
use super::store::{self, Found};
use super::{Given, Location, Progress, ReadError, Which, web};

/// A log that was found and can be read.
#[derive(Debug)]
pub struct Log {
    name: String,
    content: Content,
    /// What was asked for where only reading tells whether it is that.
    unchecked: Option<(String, Option<String>)>,
}

#[derive(Debug)]
enum Content {
    Files(Chosen),
    Server(Served),
}

impl Log {
    /// Its path or address, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn given(&self, progress: Progress<'_>) -> Result<Given, ReadError> {
        match &self.content {
            Content::Server(served) => served.given(progress),
            Content::Files(chosen) => {
                let mut source = chosen.group.source()?;
                source.notes.splice(0..0, chosen.notes.iter().cloned());
                Ok(Given::Log(source))
            }
        }
    }

    pub(super) fn unchecked(&self) -> Option<(&str, Option<&str>)> {
        self.unchecked.as_ref().map(|(application, attempt)| (application.as_str(), attempt.as_deref()))
    }
}

/// The logs at `location` that `which` names: at least one unless all are asked for, and then each only when it is read. A
/// place of many is listed, and only the heads of its files are read.
pub fn find(location: &Location, which: &Which) -> Result<Vec<Log>, ReadError> {
    match location {
        Location::Path(path) => on_disk(path, which),
        Location::Stdin if io::stdin().is_terminal() => {
            Err(refuse(Path::new("standard input"), "a terminal; send a log into it"))
        }
        Location::Stdin => once(Path::new("standard input"), 0, Box::new(io::stdin()), which),
        Location::Url(address) => at_address(address, which),
    }
}

fn on_disk(path: &Path, which: &Which) -> Result<Vec<Log>, ReadError> {
    let (path, metadata) = match fs::metadata(path) {
        Ok(metadata) => (path.to_owned(), metadata),
        Err(error) => renamed(path).ok_or_else(|| ReadError::Io { path: path.to_owned(), source: error })?,
    };
    if metadata.is_dir() {
        return logs(groups(place::files_of(&path)?), which, &path);
    }
    file(Item::file(&path), which)
}

/// Spark drops `.inprogress` from a log's name when the application ends, perhaps just now.
fn renamed(path: &Path) -> Option<(PathBuf, fs::Metadata)> {
    let path = path.to_str()?.strip_suffix(".inprogress").map(PathBuf::from)?;
    let metadata = fs::metadata(&path).ok()?;
    Some((path, metadata))
}

/// The logs in one file: itself, or those in the archive that it is.
fn file(item: Item, which: &Which) -> Result<Vec<Log>, ReadError> {
    let path = item.path.clone();
    if item.is_zip()? {
        return logs(groups(item.unpack()?), which, &path);
    }
    logs(vec![Group::whole(item)], which, &path)
}

fn logs(groups: Vec<Group>, which: &Which, place: &Path) -> Result<Vec<Log>, ReadError> {
    let log = |chosen: Chosen| {
        let path = chosen.group.path();
        let is_packed = chosen.group.files.iter().any(|file| matches!(file.at, At::Archive(..)));
        let path = if is_packed && matches!(which, Which::All) { path.join(&chosen.group.name) } else { path };
        Log { name: path.display().to_string(), content: Content::Files(chosen), unchecked: None }
    };
    Ok(choose(groups, which, place)?.into_iter().map(log).collect())
}

/// What can be read only once.
fn once(path: &Path, size: u64, mut reader: Box<dyn Read + Send>, which: &Which) -> Result<Vec<Log>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut magic = Vec::with_capacity(4);
    reader.by_ref().take(4).read_to_end(&mut magic).map_err(io)?;
    let is_zip = place::is_zip(&magic);
    let reader = Cursor::new(magic).chain(reader);
    if is_zip {
        return logs(groups(place::archived(path, place::spool(reader).map_err(io)?)?), which, path);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let at = At::Once(Stream::new(Box::new(reader)));
    let group = Group::whole(Item { path: path.to_owned(), name, size, modified: None, at });
    let unchecked = match which {
        Which::Named { application, attempt } => Some((application.clone(), attempt.clone())),
        _ => None,
    };
    let mut found = logs(vec![group], &Which::Newest, path)?;
    found.iter_mut().for_each(|log| log.unchecked.clone_from(&unchecked));
    Ok(found)
}

fn at_address(address: &str, which: &Which) -> Result<Vec<Log>, ReadError> {
    let path = web::shown(address);
    let io = |source| ReadError::Io { path: path.clone(), source };
    let scheme = address.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    if store::is_bucket(&scheme) {
        return match store::find(address)? {
            Found::File(item) => file(item, which),
            Found::Folder(files) => logs(groups(files), which, &path),
        };
    }
    if scheme != "http" && scheme != "https" {
        let known = "addresses of logs start with s3://, gs://, abfss://, http:// or https://";
        return Err(refuse(&path, known));
    }
    let url = web::parse(address).map_err(io)?;
    if let Some(server) = history::Address::of(&url, which) {
        let served = history::find(&server, which)?.into_iter();
        let log = |served: Served| Log { name: served.name(), content: Content::Server(served), unchecked: None };
        return Ok(served.map(log).collect());
    }
    let answer = web::client().and_then(|client| web::send(client.get(url))).map_err(io)?;
    if web::is_page(&answer) {
        let page =
            "a web page (HTML), not an event log; the address of a History Server ends in / or names an application";
        return Err(io(io::Error::new(ErrorKind::InvalidData, page)));
    }
    let size = answer.content_length().unwrap_or(0);
    once(&path, size, Box::new(web::stream(answer).map_err(io)?), which)
}
