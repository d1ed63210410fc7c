//! Linked runs: read beside everything else, with progress, and again when their files grew.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;
use tower_lsp_server::ls_types::*;

use super::projects;
use super::session::Session;
use crate::eventlog::{Follower, Read, ReadError};
use crate::rules::MeasuredRun;
use crate::workspace::Stamp;

/// Progress is told at most this often.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// How the logs of linked runs were read: as they stood, and how far.
#[derive(Default)]
pub(super) struct Logs {
    /// By project and log: its files when reading began.
    begun: Mutex<HashMap<(PathBuf, PathBuf), Stamp>>,
    /// Logs that were not complete.
    stopped: Mutex<HashMap<PathBuf, Follower>>,
    /// How many logs that the settings name are being read.
    awaited: watch::Sender<usize>,
}

impl Logs {
    /// A project begins to read a log. What is written from now on is news.
    fn begin(&self, root: &Path, path: &Path) {
        self.begun.lock().insert((root.to_owned(), path.to_owned()), Stamp::of(path));
    }

    /// The files of the log when the project began to read it the last time.
    pub(super) fn begun(&self, root: &Path, path: &Path) -> Option<Stamp> {
        self.begun.lock().get(&(root.to_owned(), path.to_owned())).cloned()
    }

    /// Reads on where an earlier reading stopped. Who reads the same log meanwhile reads all of it.
    fn follower(&self, path: &Path) -> Follower {
        self.stopped.lock().remove(path).unwrap_or_default()
    }

    fn stopped(&self, path: PathBuf, follower: Follower) {
        if follower.is_waiting() {
            self.stopped.lock().insert(path, follower);
        }
    }

    /// Waits until no log is read that the settings name.
    pub(super) async fn read(&self) {
        let mut awaited = self.awaited.subscribe();
        let _ = awaited.wait_for(|logs| *logs == 0).await;
    }

    fn forget(&self, path: &Path) {
        self.stopped.lock().remove(path);
        self.begun.lock().retain(|(_, log), _| log != path);
    }
}

/// Counts a log as one that is being read, as long as it is there.
struct Awaited(Arc<Session>);

impl Awaited {
    fn new(session: &Arc<Session>) -> Self {
        session.logs.awaited.send_modify(|logs| *logs += 1);
        Self(Arc::clone(session))
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.logs.awaited.send_modify(|logs| *logs -= 1);
    }
}

/// Reads the runs that the settings name and that are not linked yet.
pub(super) fn load_missing(session: &Arc<Session>) {
    for project in session.projects() {
        for path in &project.run_paths {
            let source = path.display().to_string();
            if !project.runs.iter().any(|run| run.source == source) {
                let (session, folder, path) = (Arc::clone(session), project.root.clone(), path.clone());
                let awaited = Awaited::new(&session);
                tokio::spawn(async move {
                    let _awaited = awaited;
                    if let Err(error) = link(&session, &folder, path).await {
                        session.client.show_message(MessageType::WARNING, error).await;
                    }
                });
            }
        }
    }
}

/// Reads a log and links it to a folder's project; the error is a sentence for the user.
pub(super) async fn link(session: &Arc<Session>, folder: &Path, path: PathBuf) -> Result<Arc<MeasuredRun>, String> {
    let Some(project) = session.project_at(folder) else { return Err("no folder is open".to_owned()) };
    let (sender, receiver) = unbounded_channel();
    // The project itself may still be the empty one that stands in until it is read.
    session.logs.begin(folder, &path);
    let mut follower = session.logs.follower(&path);
    let reader = Arc::clone(session);
    let reading = tokio::task::spawn_blocking(move || {
        let mut told = Instant::now();
        let run = project.follow_run(&path, &mut follower, &mut |read| {
            if told.elapsed() >= REPORT_EVERY {
                told = Instant::now();
                let _ = sender.send(read);
            }
            true
        });
        reader.logs.stopped(path, follower);
        run
    });
    let telling = tokio::spawn(tell_progress(Arc::clone(session), receiver));
    let run = reading.await;
    let _ = telling.await;
    let run = match run {
        Ok(Ok(run)) => Arc::new(run),
        Ok(Err(error)) => return Err(sentence(&error)),
        Err(_) => return Err("reading the event log failed inside; the details are in the log".to_owned()),
    };
    tracing::info!("linked {} from {}", run.label, run.source);
    session.change_project(folder, |project| Some(project.with_run(Arc::clone(&run))));
    projects::refresh(session);
    Ok(run)
}

fn sentence(error: &ReadError) -> String {
    format!("The run is not linked: {error}")
}

/// Takes a run away again; `false` if it was not linked.
pub(super) fn unlink(session: &Arc<Session>, folder: &Path, source: &str) -> bool {
    let changed = session.change_project(folder, |project| {
        project.runs.iter().any(|run| run.source == source).then(|| project.without_run(source))
    });
    if changed {
        session.logs.forget(Path::new(source));
        projects::refresh(session);
    }
    changed
}

/// Shows how far a log is read, once it takes long enough to be told, to clients that show such things.
async fn tell_progress(session: Arc<Session>, mut receiver: UnboundedReceiver<Read>) {
    let Some(first) = receiver.recv().await else { return };
    if !session.features().progress {
        return;
    }
    let token = ProgressToken::String("sparkls/run".to_owned());
    if session.client.create_work_done_progress(token.clone()).await.is_err() {
        return;
    }
    let progress = session.client.progress(token, "Reading an event log").with_percentage(percent(first)).begin().await;
    while let Some(read) = receiver.recv().await {
        progress.report(percent(read)).await;
    }
    progress.finish().await;
}

fn percent(read: Read) -> u32 {
    (read.done.saturating_mul(100) / read.total.max(1)).min(100) as u32
}
