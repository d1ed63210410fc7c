//! Computing off the reader.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types::MessageType;

use super::document::Snapshot;
use super::panics;
use super::session::Session;
use super::status;

/// Computes on a worker. Work that is given up before its turn (the request was cancelled, its future dropped) is never
/// begun. A panic is logged, told to the user once, and is the answer -32603.
pub(super) async fn run<T, F>(
    session: &Arc<Session>,
    method: &'static str,
    snapshot: Arc<Snapshot>,
    work: F,
) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce(&Snapshot) -> T + Send + 'static,
{
    let snapshot = settled(session, snapshot).await;
    let given_up = GivenUp(Arc::default());
    let seen = Arc::clone(&given_up.0);
    let analysed = Arc::clone(&snapshot);
    let Ok(permit) = session.workers.acquire().await else { return Err(Error::internal_error()) };
    let outcome = tokio::task::spawn_blocking(move || {
        if seen.load(Ordering::Relaxed) {
            return Err(None);
        }
        panics::catch(|| work(&snapshot)).map_err(|_| {
            panics::log(method, Some(snapshot.uri.as_str()), Some(snapshot.document.version()));
            Some(format!("{method} on version {} of {}", snapshot.document.version(), snapshot.uri.as_str()))
        })
    })
    .await;
    drop(permit);
    if let Some(what) = analysed.panicked() {
        tell_once(session, what.clone());
    }
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(None)) | Err(_) => Err(Error::request_cancelled()),
        Ok(Err(Some(what))) => {
            tell_once(session, what);
            Err(Error { code: ErrorCode::InternalError, message: panics::ANSWER.into(), data: None })
        }
    }
}

/// The same text in its project, once the projects were read for the first time.
pub(super) async fn settled(session: &Session, snapshot: Arc<Snapshot>) -> Arc<Snapshot> {
    if *session.ready.borrow() {
        return snapshot;
    }
    let mut ready = session.ready.subscribe();
    let _ = ready.wait_for(|ready| *ready).await;
    current(session, snapshot)
}

/// How long an answer waits for the runs at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// As [`settled`], once the runs that the settings name are linked as well, if that does not take too long. For answers to
/// clients that can't be told to ask again.
pub(super) async fn linked(session: &Session, snapshot: Arc<Snapshot>) -> Arc<Snapshot> {
    let snapshot = settled(session, snapshot).await;
    let _ = tokio::time::timeout(PATIENCE, session.logs.read()).await;
    current(session, snapshot)
}

/// The same text in its project as it is now.
fn current(session: &Session, snapshot: Arc<Snapshot>) -> Arc<Snapshot> {
    let now = session.snapshot(&snapshot.uri).filter(|now| now.revision == snapshot.revision);
    now.unwrap_or(snapshot)
}

/// Keeps what panicked for the status, and tells the user the first time.
pub(super) fn tell_once(session: &Arc<Session>, what: String) {
    *session.last_panic.lock() = Some(what);
    status::tell(session);
    if session.told_of_panic.swap(true, Ordering::Relaxed) {
        return;
    }
    let session = Arc::clone(session);
    tokio::spawn(async move {
        let message = "sparkls failed inside while it looked at a file and goes on without that part; \
                       the details are in its log.";
        session.client.show_message(MessageType::ERROR, message).await;
    });
}

/// Says so when it is dropped.
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// [`run`], for answers whose positions are wrong once the text is another: then the answer is -32801.
pub(super) async fn fresh<T, F>(
    session: &Arc<Session>,
    method: &'static str,
    snapshot: Arc<Snapshot>,
    work: F,
) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce(&Snapshot) -> T + Send + 'static,
{
    let answer = run(session, method, Arc::clone(&snapshot), work).await?;
    if session.snapshot(&snapshot.uri).is_some_and(|now| now.revision == snapshot.revision) {
        Ok(answer)
    } else {
        Err(Error::content_modified())
    }
}
