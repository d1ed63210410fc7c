//! One file of the inputs, read once: its text and what it says.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::string::FromUtf8Error;
use std::sync::Arc;

use super::shown;
use crate::analysis::Facts;
use crate::cli::output::InputError;
use crate::conf::carriers::{CarrierKind, may_hold_settings};
use crate::pyspark::{Imports, may_use_spark};
use crate::text::plainly;
use crate::workspace::{self, Kind, Notebook, holds_spark_keys};

/// A larger file is data, not a job or a list of settings.
const LARGEST: u64 = 64 << 20;
/// A larger script, manifest or template is data, unless the user names it.
const LARGEST_CARRIER: u64 = 2 << 20;

/// How packed files begin.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const GZIP: &[u8] = &[0x1f, 0x8b];
/// How texts begin that PowerShell writes.
const UTF16: [&[u8]; 2] = [&[0xff, 0xfe], &[0xfe, 0xff]];
/// What to do with a log that is named as if it were code.
const GOES_TO_RUN: &str = "an event log is given with --run, or to `sparkls report`";

/// A text and what was read out of it.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) text: Arc<str>,
    pub(super) facts: Facts,
    /// Its cells, if it is a notebook: then `facts` are about the file, for the settings that others see.
    pub(super) notebook: Option<Arc<Notebook>>,
}

/// Whether a path that the user named is there and may be looked into.
pub(super) fn reachable(path: &Path) -> Result<(), InputError> {
    let looked =
        fs::metadata(path).and_then(|found| if found.is_dir() { fs::read_dir(path).map(drop) } else { Ok(()) });
    looked.map_err(|error| match path.to_str() {
        Some("./-") => failed(path, "for standard input say which file it is: --stdin-filename jobs/orders.py"),
        _ => failed(path, plainly(&error)),
    })
}

/// The text of a file; `None` if it has none that can be about Spark. What was found by walking and may as well have
/// nothing to do with Spark is never an error.
pub(super) fn read(path: &Path, is_named: bool) -> Result<Option<Arc<str>>, InputError> {
    let is_expected = is_named || matches!(Kind::of(path), Kind::Python | Kind::Properties);
    let bytes = match bytes(path, if is_expected { LARGEST } else { LARGEST_CARRIER }) {
        Ok(bytes) => bytes,
        Err(message) => return if is_expected { Err(failed(path, message)) } else { Ok(None) },
    };
    if is_named && is_binary(&bytes) {
        return Err(failed(path, format!("a binary file; {GOES_TO_RUN}")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(Arc::from(text))),
        Err(error) => {
            let message = no_text(&error);
            let text = String::from_utf8_lossy(error.as_bytes());
            let understand = || understand(path, &Arc::from(&*text), false, &Imports::default());
            let is_spark = || Ok(may_hold_settings(&text) && understand()?.is_some());
            if is_expected || is_spark()? { Err(failed(path, message)) } else { Ok(None) }
        }
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    let is_utf16 = UTF16.iter().any(|mark| bytes.starts_with(mark));
    [ZSTD, GZIP].iter().any(|magic| bytes.starts_with(magic)) || bytes.contains(&0) && !is_utf16
}

/// Why bytes are no text that can be analysed, and what helps.
fn no_text(error: &FromUtf8Error) -> String {
    let valid = error.utf8_error().valid_up_to();
    let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
    format!("not UTF-8 at byte {valid}, in line {line}: save it as UTF-8")
}

/// The bytes of a regular file of at most `largest` bytes, or why there are none.
fn bytes(path: &Path, largest: u64) -> Result<Vec<u8>, String> {
    let metadata = fs::metadata(path).map_err(|error| plainly(&error))?;
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    if metadata.len() > largest {
        return Err(format!("larger than {} MiB, not analysed", largest >> 20));
    }
    fs::read(path).map_err(|error| plainly(&error))
}

/// What a text says as the file at `path`, which may import modules of its project; `None` if that is nothing of Spark. A
/// panic is an error of this file alone.
pub(super) fn understand(
    path: &Path,
    text: &Arc<str>,
    is_named: bool,
    imports: &Imports,
) -> Result<Option<Reading>, InputError> {
    if is_named && text.starts_with("{\"Event\":\"SparkListener") {
        return Err(failed(path, GOES_TO_RUN));
    }
    let kind = match Kind::of_file(path, text) {
        // Named on the command line, whatever its name: `--properties-file` takes any.
        Kind::Other if is_named && holds_spark_keys(text) => Kind::Properties,
        Kind::Other if is_named => return Err(failed(path, "neither Python nor settings of Spark")),
        Kind::Other => return Ok(None),
        kind => kind,
    };
    // What fails by its imports is read without them.
    let facts = guarded(path, || workspace::facts_in(kind, text, imports))
        .or_else(|_| guarded(path, || workspace::facts(kind, text)))?;
    let says_nothing = facts.settings().is_empty() && facts.submits().is_empty() && facts.problems().is_empty();
    let notebook = match kind {
        Kind::Carrier(CarrierKind::Notebook) if may_use_spark(text) => guarded(path, || Notebook::read(text))?,
        _ => None,
    };
    let notebook = notebook.filter(|notebook| !matches!(notebook.facts, Facts::Nothing)).map(Arc::new);
    let is_idle = match kind {
        Kind::Carrier(_) => says_nothing && notebook.is_none(),
        Kind::Sql => matches!(facts, Facts::Nothing),
        _ => false,
    };
    Ok((!is_idle).then(|| Reading { text: Arc::clone(text), facts, notebook }))
}

/// Runs what may fail on one file by our own mistake; then the others are still analysed.
pub(super) fn guarded<T>(path: &Path, run: impl FnOnce() -> T) -> Result<T, InputError> {
    catch_unwind(AssertUnwindSafe(run))
        .map_err(|_| failed(path, "sparkls failed on this file; this is a mistake of sparkls, please report it"))
}

pub(super) fn failed(path: &Path, message: impl Into<String>) -> InputError {
    InputError { path: shown(path), place: None, message: message.into() }
}
