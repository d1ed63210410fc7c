//! A log that still grows, read again: only what was appended since.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use super::build::Builder;
use super::lines::Lines;
use super::source::{HOLDS_NONE, Part, Source, refuse};
use super::{Given, Location, MAX_LINE, Progress, ReadError, Reading, Which, codec, find};
use crate::run::Run;

/// Bytes before the place where reading stopped that must still stand there.
const TAIL: u64 = 4096;

/// Remembers of a log that was not complete where reading it stopped, and reads on from there.
///
/// Only plain text on disk is read on. What is packed, was replaced or was compacted is read again from its start.
#[derive(Default)]
pub struct Follower {
    kept: Option<Kept>,
}

/// A log up to the last whole line that it had.
struct Kept {
    stop: Stop,
    /// Names and sizes of the files that were read to their end.
    read: Vec<(String, u64)>,
    /// The file in which reading stopped.
    name: String,
    /// What stands before that place.
    tail: Vec<u8>,
}

/// The state behind a whole line.
struct Stop {
    builder: Builder,
    /// Bytes of the last file up to there.
    offset: u64,
    /// Decoded bytes of all files up to there.
    decoded: u64,
}

/// Where to read on later.
#[derive(Default)]
pub(super) struct Rest {
    /// Nobody will, if not.
    wanted: bool,
    stop: Option<Stop>,
}

impl Rest {
    /// Reading stands behind a whole line: keeps the state, unless the application has ended.
    pub(super) fn keep(&mut self, builder: &Builder, offset: u64, decoded: u64) {
        if self.wanted && self.stop.is_none() && !builder.end_seen {
            self.stop = Some(Stop { builder: builder.clone(), offset, decoded });
        }
    }

    /// A line of unknown length was skipped: where it ends may not have been written yet.
    pub(super) fn lost(&mut self) {
        self.wanted = false;
    }
}

impl Follower {
    /// As [`super::read`]; of a log that it has read before, only what is new is read.
    pub fn read(&mut self, path: &Path, progress: Progress<'_>) -> Result<Run, ReadError> {
        let found = find(&Location::Path(path.to_owned()), &Which::Newest)?;
        let Some(log) = found.first() else { return Err(refuse(path, HOLDS_NONE)) };
        let source = match log.given(progress)? {
            Given::Log(source) => source,
            Given::Told(run) => return Ok(*run),
        };
        let mut reading = Reading::new(MAX_LINE, &source);
        reading.rest.wanted = source.parts.last().is_some_and(is_text);
        match self.kept.take().filter(|kept| kept.begins(&source)) {
            Some(kept) => reading.read_on(kept, &source, progress)?,
            None => reading.parts(path, &source, 0, progress)?,
        }
        self.kept = reading.rest.stop.take().and_then(|stop| Kept::of(stop, &source));
        Ok(reading.finish(source, progress))
    }

    /// Whether there may be more to read later.
    pub fn is_waiting(&self) -> bool {
        self.kept.is_some()
    }
}

impl Reading {
    /// Reads what stands behind the place where an earlier reading stopped.
    fn read_on(&mut self, kept: Kept, source: &Source, progress: Progress<'_>) -> Result<(), ReadError> {
        let number = kept.read.len();
        let Some(part) = source.parts.get(number) else { return Ok(()) };
        let Stop { builder, offset, decoded } = kept.stop;
        (self.builder, self.decoded) = (builder, decoded);
        self.passed.bytes.set(kept.read.iter().map(|(_, size)| size).sum::<u64>() + offset);
        let reader = codec::plain(part.item.open_behind(offset)?, Rc::clone(&self.passed));
        let mut lines = Lines::new(reader, self.limit);
        self.lines(&part.item.path, &mut lines, offset, number + 1 == source.parts.len(), progress)?;
        self.parts(&part.item.path, source, number + 1, progress)
    }
}

impl Kept {
    fn of(stop: Stop, source: &Source) -> Option<Self> {
        let (last, before) = source.parts.split_last()?;
        let tail = tail(last, stop.offset).ok()?;
        let read = before.iter().map(|part| (name(part), part.item.size)).collect();
        Some(Self { stop, read, name: name(last), tail })
    }

    /// Whether these files begin with what was read.
    fn begins(&self, source: &Source) -> bool {
        let number = self.read.len();
        let (Some(before), Some(part)) = (source.parts.get(..number), source.parts.get(number)) else { return false };
        let same = |(part, (known, size)): (&Part, &(String, u64))| name(part) == *known && part.item.size == *size;
        before.iter().zip(&self.read).all(same)
            && name(part) == self.name
            && tail(part, self.stop.offset).is_ok_and(|tail| tail == self.tail)
    }
}

/// Spark drops `.inprogress` from the name when the application ends.
fn name(part: &Part) -> String {
    part.item.name.trim_end_matches(".inprogress").to_owned()
}

/// Whether a file on disk begins as a line of a log that is not packed.
fn is_text(part: &Part) -> bool {
    let mut first = [0];
    part.item.is_on_disk()
        && File::open(&part.item.path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && matches!(first, [b'{' | 0xef])
}

/// The bytes of a file before this place.
fn tail(part: &Part, offset: u64) -> io::Result<Vec<u8>> {
    let length = offset.min(TAIL);
    let mut file = File::open(&part.item.path)?;
    file.seek(SeekFrom::Start(offset - length))?;
    let mut tail = Vec::new();
    file.take(length).read_to_end(&mut tail)?;
    let whole = tail.len() as u64 == length;
    if whole { Ok(tail) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
