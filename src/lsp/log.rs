//! The server's own log: standard error, at a level that the editor may change, and a file if the editor names one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use parking_lot::Mutex;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::configuration::Editor;

/// A log file of this size becomes `<name>.1`, in place of an older one.
const LARGEST_BYTES: u64 = 5 << 20;
/// What is logged if neither the environment nor the editor says more.
const QUIET: &str = "warn";

/// The log of this process.
static LOG: OnceLock<Log> = OnceLock::new();

struct Log {
    /// What the environment asked for.
    started_with: String,
    set_filter: Box<dyn Fn(EnvFilter) + Send + Sync>,
    file: Mutex<Option<LogFile>>,
}

/// Begins to log: warnings and errors, more if `SPARKLS_LOG` says so.
pub(super) fn begin() {
    let started_with = std::env::var("SPARKLS_LOG").unwrap_or_else(|_| QUIET.to_owned());
    let filter = EnvFilter::try_new(&started_with).unwrap_or_else(|_| EnvFilter::new(QUIET));
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(Tee).with_filter_reloading();
    let handle = builder.reload_handle();
    let set_filter = Box::new(move |filter| drop(handle.reload(filter)));
    if LOG.set(Log { started_with, set_filter, file: Mutex::default() }).is_ok() {
        let _ = builder.try_init();
    }
}

/// Logs as the editor's settings say from now on; a log file that can't be written is a sentence for the user.
pub(super) fn follow(editor: &Editor) -> Option<String> {
    let log = LOG.get()?;
    let wanted = editor.log_level.as_deref().unwrap_or(&log.started_with);
    (log.set_filter)(EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new(QUIET)));
    let mut file = log.file.lock();
    if file.as_ref().map(|file| &file.path) == editor.log_file.as_ref() {
        return None;
    }
    let opened = editor.log_file.as_deref().map(LogFile::open).transpose();
    let problem = opened.as_ref().err().map(ToString::to_string);
    *file = opened.unwrap_or_default();
    let path = editor.log_file.as_deref().unwrap_or(Path::new("")).display();
    problem.map(|problem| format!("The log file {path} can't be written: {problem}"))
}

/// A log file, and how long it is.
struct LogFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl LogFile {
    /// Opens a file to append to it. Opening a pipe would wait for a reader, so nothing but a regular file is opened.
    fn open(path: &Path) -> io::Result<Self> {
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other("it is no regular file"));
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        if self.bytes > 0 && self.bytes + text.len() as u64 > LARGEST_BYTES {
            let mut kept = self.path.clone().into_os_string();
            kept.push(".1");
            std::fs::rename(&self.path, kept)?;
            *self = Self::open(&self.path)?;
        }
        self.file.write_all(text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }
}

/// Writes to standard error, and to the log file if there is one.
struct Tee;

impl<'a> MakeWriter<'a> for Tee {
    type Writer = Tee;

    fn make_writer(&'a self) -> Tee {
        Tee
    }
}

impl Write for Tee {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if let Some(log) = LOG.get() {
            // A full disk must not stop the log on standard error.
            let _ = log.file.lock().as_mut().map(|file| file.append(text));
        }
        io::stderr().write_all(text)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_file_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparkls.log");
        let mut file = LogFile::open(&path).unwrap();
        let line = vec![b'x'; 1 << 20];
        for _ in 0..6 {
            file.append(&line).unwrap();
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 1 << 20, "the newest");
        assert_eq!(std::fs::metadata(folder.path().join("sparkls.log.1")).unwrap().len(), 5 << 20, "those before");
        let again = LogFile::open(&path).unwrap();
        assert_eq!(again.bytes, 1 << 20, "appended to, not emptied");
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let problem = LogFile::open(folder.path()).err().unwrap();
        assert_eq!(problem.to_string(), "it is no regular file");
    }
}
