//! Zip archives, as the History Server hands out logs (`/applications/{id}/logs`).

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

/// Where the list of entries is looked for: the end record and the longest comment behind it.
const TAIL: u64 = 22 + 65_535;

/// Longest list of entries that is read.
const MAX_LIST: u64 = 64 << 20;

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its path there.
    pub(super) name: String,
    /// Bytes it takes in the archive.
    pub(super) size: u64,
    header: u64,
    deflated: bool,
}

/// Little-endian fields, one after another.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(broken)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> io::Result<u64> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }
}

fn broken() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a broken zip archive")
}

fn read_at(mut file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The files of the archive, in the order of its list.
pub(super) fn entries(file: &File) -> io::Result<Vec<Entry>> {
    let size = file.metadata()?.len();
    let tail_at = size.saturating_sub(TAIL);
    let tail = read_at(file, tail_at, TAIL)?;
    let end = memchr::memmem::rfind(&tail, b"PK\x05\x06").ok_or_else(broken)?;
    let mut record = Fields(&tail[end..]);
    record.take(12)?;
    let (mut length, mut start) = (record.number(4)?, record.number(4)?);
    if start == u64::from(u32::MAX) || length == u64::from(u32::MAX) {
        (length, start) = large_list(file, &tail[..end])?;
    }
    if length > MAX_LIST {
        return Err(broken());
    }
    let list = read_at(file, start, length)?;
    let mut fields = Fields(&list);
    let mut entries = Vec::new();
    while fields.0.starts_with(b"PK\x01\x02") {
        entries.extend(entry(&mut fields)?);
    }
    Ok(entries)
}

/// Length and start of the list in an archive beyond 4 GiB, from the locator before the end record.
fn large_list(file: &File, before_end: &[u8]) -> io::Result<(u64, u64)> {
    let at = before_end.len().checked_sub(20).ok_or_else(broken)?;
    let mut locator = Fields(&before_end[at..]);
    if locator.take(8)? != b"PK\x06\x07\0\0\0\0" {
        return Err(broken());
    }
    let record = read_at(file, locator.number(8)?, 56)?;
    let mut record = Fields(&record);
    if record.take(4)? != b"PK\x06\x06" {
        return Err(broken());
    }
    record.take(36)?;
    Ok((record.number(8)?, record.number(8)?))
}

/// The next file of the list; `None` for a folder and for what is packed or encrypted in a way that is not read.
fn entry(fields: &mut Fields<'_>) -> io::Result<Option<Entry>> {
    fields.take(8)?;
    let flags = fields.number(2)?;
    let method = fields.number(2)?;
    fields.take(8)?;
    let mut size = fields.number(4)?;
    let unpacked = fields.number(4)?;
    let lengths = [fields.number(2)?, fields.number(2)?, fields.number(2)?].map(|length| length as usize);
    fields.take(8)?;
    let mut header = fields.number(4)?;
    let name = String::from_utf8_lossy(fields.take(lengths[0])?).into_owned();
    let mut extra = Fields(fields.take(lengths[1])?);
    fields.take(lengths[2])?;
    let large = u64::from(u32::MAX);
    while !extra.0.is_empty() && (size == large || header == large) {
        let (tag, length) = (extra.number(2)?, extra.number(2)?);
        let mut field = Fields(extra.take(length as usize)?);
        if tag == 1 {
            if unpacked == large {
                field.number(8)?;
            }
            if size == large {
                size = field.number(8)?;
            }
            if header == large {
                header = field.number(8)?;
            }
        }
    }
    let readable = matches!(method, 0 | 8) && flags & 1 == 0 && !name.ends_with('/');
    Ok(readable.then_some(Entry { name, size, header, deflated: method == 8 }))
}

/// Moves the file to the entry's data; whether it is deflated.
pub(super) fn seek(mut file: &File, entry: &Entry) -> io::Result<bool> {
    let header = read_at(file, entry.header, 30)?;
    let mut fields = Fields(&header);
    if fields.take(4)? != b"PK\x03\x04" {
        return Err(broken());
    }
    fields.take(22)?;
    let (name, extra) = (fields.number(2)?, fields.number(2)?);
    file.seek(SeekFrom::Start(entry.header + 30 + name + extra))?;
    Ok(entry.deflated)
}
