//! Progress on stderr for what takes longer than a second; silent where stderr is no terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::eventlog::Read;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far reading one log is.
pub(crate) struct ReadProgress {
    label: String,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl ReadProgress {
    /// Nothing is shown yet; `label` names the log.
    pub(crate) fn new(label: &str) -> Self {
        Self { label: label.to_owned(), started: Instant::now(), bar: None }
    }

    /// Shows how far reading is, once it takes long enough.
    pub(crate) fn update(&mut self, read: Read) {
        if self.bar.is_none() && self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(read.total).with_message(format!("reading {}", self.label));
            // What is streamed does not always say its length.
            let shape = match read.total {
                0 => "{msg} {spinner} {bytes}",
                _ => "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left",
            };
            match ProgressStyle::with_template(shape) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        bar.set_position(read.done);
    }
}

impl Drop for ReadProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
