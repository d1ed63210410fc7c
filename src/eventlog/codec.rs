//! What a file is written in: its first bytes decide, never its name.

use std::cell::Cell;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::{DeflateDecoder, MultiGzDecoder};

use super::ReadError;
use super::blocks::{Blocks, Format};
use super::place::Opened;

/// How much is read from disk at once.
const BLOCK: usize = 256 << 10;

/// What passed below the decoder.
#[derive(Default)]
pub(super) struct Passed {
    /// Bytes as they are stored.
    pub(super) bytes: Cell<u64>,
    /// Why no more came, if a disk or the network failed. What a decoder makes of this looks like a log that was cut.
    pub(super) failed: Cell<Option<io::Error>>,
}

struct Counted {
    inner: Box<dyn Read>,
    passed: Rc<Passed>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(read) => {
                self.passed.bytes.set(self.passed.bytes.get() + read as u64);
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let copy = io::Error::new(error.kind(), error.to_string());
                self.passed.failed.set(Some(error));
                Err(copy)
            }
        }
    }
}

/// The decoded bytes of a file.
pub(super) fn decode(path: &Path, opened: Opened, passed: Rc<Passed>) -> Result<Box<dyn Read>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let refuse = |reason: &str| ReadError::NotALog { path: path.to_owned(), reason: reason.to_owned() };
    let counted = Counted { inner: opened.reader, passed };
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

/// The bytes of a file that is not packed.
pub(super) fn plain(opened: Opened, passed: Rc<Passed>) -> impl Read {
    Counted { inner: opened.reader, passed }
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(BLOCK, reader)
}
