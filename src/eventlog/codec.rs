//! What a file is written in: its first bytes decide, never its name.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Take};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::{DeflateDecoder, MultiGzDecoder};

use super::blocks::{Blocks, Format};
use super::source::Part;
use super::{ReadError, archive};

/// How much is read from disk at once.
const BLOCK: usize = 1 << 20;

/// A file open for reading, up to the size that it had when it was opened.
pub(super) struct Opened {
    /// Stands where the data begin.
    file: File,
    /// Bytes of data on disk.
    pub(super) size: u64,
    /// Packed by the archive that it is in.
    deflated: bool,
}

/// Opens a regular file; anything else is refused before it is opened, because opening a pipe would wait for its writer.
pub(super) fn open(path: &Path) -> Result<Opened, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let no_file = || ReadError::NotALog { path: path.to_owned(), reason: "not a regular file".to_owned() };
    if !std::fs::metadata(path).map_err(io)?.is_file() {
        return Err(no_file());
    }
    let file = File::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(no_file());
    }
    Ok(Opened { file, size: metadata.len(), deflated: false })
}

/// Opens a file of a log, in an archive or not.
pub(super) fn open_part(part: &Part) -> Result<Opened, ReadError> {
    let mut opened = open(&part.path)?;
    if let Some(entry) = &part.entry {
        let io = |source| ReadError::Io { path: part.path.clone(), source };
        opened.deflated = archive::seek(&mut opened.file, entry).map_err(io)?;
        opened.size = entry.size;
    }
    Ok(opened)
}

/// Whether the file is a zip archive.
pub(super) fn is_zip(path: &Path) -> Result<bool, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut magic = Vec::with_capacity(4);
    open(path)?.file.take(4).read_to_end(&mut magic).map_err(io)?;
    Ok(magic == b"PK\x03\x04")
}

/// Counts the bytes that pass.
struct Counted {
    inner: Take<File>,
    count: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// The decoded bytes of a file. `count` grows by the bytes read from disk.
pub(super) fn decode(path: &Path, opened: Opened, count: Rc<Cell<u64>>) -> Result<Box<dyn Read>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let refuse = |reason: &str| ReadError::NotALog { path: path.to_owned(), reason: reason.to_owned() };
    let counted = Counted { inner: opened.file.take(opened.size), count };
    let mut raw: Box<dyn Read> =
        if opened.deflated { Box::new(DeflateDecoder::new(buffered(counted))) } else { Box::new(counted) };
    let mut magic = Vec::with_capacity(16);
    raw.by_ref().take(16).read_to_end(&mut magic).map_err(io)?;
    let raw = Cursor::new(magic.clone()).chain(raw);
    match magic.as_slice() {
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            Ok(Box::new(zstd::stream::read::Decoder::with_buffer(buffered(raw)).map_err(io)?))
        }
        [0x1f, 0x8b, ..] => Ok(Box::new(MultiGzDecoder::new(buffered(raw)))),
        [b'L', b'Z', b'4', b'B', b'l', b'o', b'c', b'k', ..] => Ok(Box::new(Blocks::new(buffered(raw), Format::Lz4))),
        [0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0, ..] => Ok(Box::new(Blocks::new(buffered(raw), Format::Snappy))),
        [b'Z', b'V', 0 | 1, ..] => Ok(Box::new(Blocks::new(buffered(raw), Format::Lzf))),
        [0x04, 0x22, 0x4d, 0x18, ..] => {
            Err(refuse("an lz4 file of the lz4 command, which Spark does not write; unpack it first"))
        }
        [b'P', b'K', 3, 4, ..] => Err(refuse("a zip archive in another; unpack it")),
        [b'P', b'A', b'R', b'1', ..] => Err(refuse("a Parquet file, not an event log")),
        _ => Ok(Box::new(raw)),
    }
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(BLOCK, reader)
}
