//! What a file is written in: its first bytes decide, never its name.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;
use std::rc::Rc;

use super::ReadError;
use super::blocks::{Blocks, Format};

/// How much is read from disk at once.
const BLOCK: usize = 1 << 20;

/// A file open for reading, up to the size that it had when it was opened.
pub(super) struct Opened {
    file: File,
    /// Size at opening.
    pub(super) size: u64,
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
    Ok(Opened { file, size: metadata.len() })
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
    let Opened { mut file, size } = opened;
    let mut magic = Vec::with_capacity(16);
    file.by_ref().take(16).read_to_end(&mut magic).map_err(io)?;
    file.seek(SeekFrom::Start(0)).map_err(io)?;
    let raw = Counted { inner: file.take(size), count };
    match magic.as_slice() {
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            let buffered = BufReader::with_capacity(BLOCK, raw);
            Ok(Box::new(zstd::stream::read::Decoder::with_buffer(buffered).map_err(io)?))
        }
        [0x1f, 0x8b, ..] => Ok(Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(BLOCK, raw)))),
        [b'L', b'Z', b'4', b'B', b'l', b'o', b'c', b'k', ..] => Ok(blocks(raw, Format::Lz4)),
        [0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0, ..] => Ok(blocks(raw, Format::Snappy)),
        [b'Z', b'V', 0 | 1, ..] => Ok(blocks(raw, Format::Lzf)),
        [0x04, 0x22, 0x4d, 0x18, ..] => {
            Err(refuse("an lz4 file of the lz4 command, which Spark does not write; unpack it first"))
        }
        [b'P', b'K', 3, 4, ..] => Err(refuse("a zip archive; unpack it and name the log inside")),
        [b'P', b'A', b'R', b'1', ..] => Err(refuse("a Parquet file, not an event log")),
        _ => Ok(Box::new(raw)),
    }
}

fn blocks(raw: Counted, format: Format) -> Box<dyn Read> {
    Box::new(Blocks::new(BufReader::with_capacity(BLOCK, raw), format))
}
