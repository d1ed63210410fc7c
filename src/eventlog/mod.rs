//! Bytes of an event log to a [`Run`]: place (disk, bucket, History Server), source (file, rolled log), codec, events.
//!
//! Promises: every good event before, between and behind bad ones is kept; what is missing is said in the run's coverage;
//! memory grows with tasks (at most 36 bytes each, on average over the stages of a usual job) and plans, not with the log;
//! no panic on any bytes.

mod archive;
mod attempts;
mod blocks;
mod build;
mod choose;
mod codec;
mod events;
mod find;
mod finish;
mod follow;
mod history;
mod lenient;
mod lines;
mod location;
mod names;
mod place;
mod plan_info;
mod plans;
mod remote;
mod rest;
mod rest_answers;
mod rest_events;
mod sniff;
mod source;
mod store;
mod task_end;
mod web;

use std::io::{self, Cursor, Read as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::run::Run;
use crate::text::plainly;

pub use find::{Log, find};
pub use follow::Follower;
pub use location::{Location, Which};

/// Why a log can't be read: one sentence that names the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Opening or reading failed.
    #[error("{path}: {}", plainly(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not an event log.
    #[error("{path}: {reason}")]
    NotALog {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as that can be told.
        reason: String,
    },
}

/// How far reading is; called every few MiB. Reading stops with an `Interrupted` error when it answers `false`.
pub type Progress<'a> = &'a mut dyn FnMut(Read) -> bool;

/// Bytes read so far, of how many stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Read {
    /// Bytes of the files read.
    pub done: u64,
    /// Bytes of all files; 0 if that is not known.
    pub total: u64,
}

/// A longer line is skipped and counted as bad: no event that a run needs is that long.
const MAX_LINE: usize = 512 << 20;

/// Reads the log at `path`: a file (plain, `.inprogress`, zstd, gzip, Spark's lz4, snappy, lzf), a rolled
/// directory, a directory of logs, of which the newest is read, or the History Server's zip of one. Of several attempts in
/// one log the last is read. The coverage says what was chosen.
pub fn read(path: &Path, progress: Progress<'_>) -> Result<Run, ReadError> {
    read_lines_up_to(MAX_LINE, path, progress)
}

fn read_lines_up_to(limit: usize, path: &Path, progress: Progress<'_>) -> Result<Run, ReadError> {
    let found = find(&Location::Path(path.to_owned()), &Which::Newest)?;
    let Some(log) = found.first() else { return Err(source::refuse(path, source::HOLDS_NONE)) };
    read_given(limit, path, log.given(progress)?, progress)
}

/// What there is to read of a run.
enum Given {
    /// The files of an event log.
    Log(source::Source),
    /// No log, but what a server told.
    Told(Box<Run>),
}

impl Log {
    /// Reads it. Standard input and what a web server sends can be read once.
    pub fn read(&self, progress: Progress<'_>) -> Result<Run, ReadError> {
        let path = Path::new(self.name());
        let run = read_given(MAX_LINE, path, self.given(progress)?, progress)?;
        if let Some((wanted, attempt)) = self.unchecked() {
            let application = &run.application;
            let names = [application.id.as_deref(), application.name.as_deref()];
            if !names.contains(&Some(wanted)) {
                let held = names.into_iter().flatten().next().unwrap_or("another");
                return Err(source::refuse(path, format!("holds no application {wanted}; it holds {held}")));
            }
            if attempt.is_some() && application.attempt.as_deref() != attempt {
                return Err(source::refuse(path, format!("holds another attempt of {wanted}")));
            }
        }
        Ok(run)
    }
}

fn read_given(limit: usize, path: &Path, given: Given, progress: Progress<'_>) -> Result<Run, ReadError> {
    let source = match given {
        Given::Log(source) => source,
        Given::Told(run) => return Ok(*run),
    };
    let mut reading = Reading::new(limit, &source);
    reading.parts(path, &source, 0, progress)?;
    Ok(reading.finish(source, progress))
}

/// A log being read, over all its files.
struct Reading {
    builder: build::Builder,
    limit: usize,
    /// Bytes of all files as they are stored; 0 if that is not known.
    total: u64,
    passed: Rc<codec::Passed>,
    /// Decoded bytes before those that are read now.
    decoded: u64,
    rest: follow::Rest,
}

/// Bytes on disk between two calls of the progress.
const PROGRESS_STEP: u64 = 4 << 20;

impl Reading {
    fn new(limit: usize, source: &source::Source) -> Self {
        Self {
            builder: build::Builder::default(),
            limit,
            total: source.parts.iter().map(|part| part.item.size).sum(),
            passed: Rc::default(),
            decoded: 0,
            rest: follow::Rest::default(),
        }
    }

    /// Reads the files from this one on.
    fn parts(
        &mut self,
        path: &Path,
        source: &source::Source,
        from: usize,
        progress: Progress<'_>,
    ) -> Result<(), ReadError> {
        let mut started = from > 0;
        let count = source.parts.len();
        for (number, part) in source.parts.iter().enumerate().skip(from) {
            if part.after_hole {
                self.builder.hole();
            }
            started |= self.part(part, !started, number + 1 == count, progress)?;
        }
        if started { Ok(()) } else { Err(source::refuse(path, "is empty")) }
    }

    fn finish(mut self, source: source::Source, progress: Progress<'_>) -> Run {
        let done = self.passed.bytes.get();
        progress(Read { done, total: done });
        let coverage = &mut self.builder.run.coverage;
        coverage.bytes = self.decoded;
        coverage.missing_files = source.missing;
        coverage.compacted = source.compacted;
        coverage.notes.extend(source.notes);
        self.builder.finish()
    }

    /// Reads one file; whether it held anything.
    fn part(
        &mut self,
        part: &source::Part,
        first: bool,
        last: bool,
        progress: Progress<'_>,
    ) -> Result<bool, ReadError> {
        let path = &part.item.path;
        let mut reader = codec::decode(path, part.item.open()?, Rc::clone(&self.passed))?;
        let head = sniff::head(reader.as_mut(), sniff::HEAD);
        self.still_comes(path)?;
        if head.bytes.is_empty() && head.broken.is_none() {
            return Ok(false);
        }
        if first && let Some(reason) = sniff::refusal(&head.bytes) {
            let reason = match &head.broken {
                Some(error) if head.bytes.is_empty() => format!("can't be decoded: {error}"),
                _ => reason.to_owned(),
            };
            return Err(ReadError::NotALog { path: path.clone(), reason });
        }
        // A decoder that failed once is not asked again.
        let rest = if head.broken.is_some() { Box::new(io::empty()) } else { reader };
        let mut lines = lines::Lines::new(Cursor::new(head.bytes).chain(rest), self.limit);
        self.lines(path, &mut lines, 0, last, progress)?;
        if let Some(error) = head.broken.or_else(|| lines.broken()) {
            self.broken(&error, last);
        }
        Ok(true)
    }

    /// Takes the lines of a file, the first of which stands `from` bytes behind its start.
    fn lines<R: io::Read>(
        &mut self,
        path: &Path,
        lines: &mut lines::Lines<R>,
        from: u64,
        last: bool,
        progress: Progress<'_>,
    ) -> Result<(), ReadError> {
        let mut reported = self.passed.bytes.get();
        while let Some(line) = lines.next() {
            match line {
                lines::Line::Last { offset, .. } if last => {
                    self.rest.keep(&self.builder, from + offset, self.decoded + offset);
                }
                lines::Line::TooLong { .. } if last => self.rest.lost(),
                _ => {}
            }
            self.line(line, last);
            let done = self.passed.bytes.get();
            if done - reported >= PROGRESS_STEP {
                reported = done;
                if !progress(Read { done, total: self.total }) {
                    let source = io::Error::from(io::ErrorKind::Interrupted);
                    return Err(ReadError::Io { path: path.to_owned(), source });
                }
            }
        }
        self.still_comes(path)?;
        let read = lines.offset();
        if last {
            self.rest.keep(&self.builder, from + read, self.decoded + read);
        }
        self.decoded += read;
        Ok(())
    }

    /// A disk or a network that failed must not pass for a log that ends early.
    fn still_comes(&self, path: &Path) -> Result<(), ReadError> {
        match self.passed.failed.take() {
            Some(source) => Err(ReadError::Io { path: path.to_owned(), source }),
            None => Ok(()),
        }
    }

    fn line(&mut self, line: lines::Line<'_>, last: bool) {
        match line {
            lines::Line::Whole { offset, bytes } => {
                let bytes = trim(bytes, self.decoded + offset);
                if !bytes.is_empty() && self.builder.line(bytes).is_err() {
                    self.bad(offset);
                }
            }
            lines::Line::Last { offset, bytes } => {
                let bytes = trim(bytes, self.decoded + offset);
                if !bytes.is_empty() && (!is_json(bytes) || self.builder.line(bytes).is_err()) {
                    if last {
                        self.builder.run.coverage.cut_at = Some(self.decoded + offset);
                    } else {
                        self.bad(offset);
                        self.builder.hole();
                    }
                }
            }
            lines::Line::TooLong { offset } => {
                self.bad(offset);
                let note = format!("a line longer than {} MiB was skipped", self.limit >> 20);
                if !self.builder.run.coverage.notes.contains(&note) {
                    self.builder.run.coverage.notes.push(note);
                }
            }
        }
    }

    fn bad(&mut self, offset: u64) {
        let coverage = &mut self.builder.run.coverage;
        coverage.bad_lines += 1;
        if coverage.bad_offsets.len() < 3 {
            coverage.bad_offsets.push(self.decoded + offset);
        }
    }

    /// Decoding stopped before the end of the file: what an application leaves that is killed while it writes.
    fn broken(&mut self, error: &io::Error, last: bool) {
        let coverage = &mut self.builder.run.coverage;
        if last {
            coverage.cut_at = coverage.cut_at.or(Some(self.decoded));
        } else {
            coverage.notes.push(format!("a file of the rolled log can't be read to its end: {error}"));
            self.builder.hole();
        }
    }
}

/// A line without the blanks around it and, at the log's start, the byte order mark.
fn trim(line: &[u8], offset: u64) -> &[u8] {
    let line = if offset == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    line.trim_ascii()
}

/// The fast ways do not look at all of a line; the last one may end anywhere.
fn is_json(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok()
}

/// For `fuzz/`: whether a task's line that is scanned says what the same line says that is parsed.
#[cfg(fuzzing)]
pub fn scan_agrees_with_parse(line: &[u8]) -> bool {
    task_end::scan_agrees_with_parse(line)
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
