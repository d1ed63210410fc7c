//! Pushed diagnostics: per document one run at a time, the latest version wins, a stale result is dropped.

use std::sync::Arc;

use parking_lot::Mutex;
use tower_lsp_server::ls_types::{Diagnostic, Uri};

use super::document::Snapshot;
use super::session::Session;
use super::uri::Key;
use super::{diagnostics, work};
use crate::workspace::Kind;

/// One run at a time of something that is asked for again and again.
#[derive(Debug, Default)]
pub(super) struct Schedule(Mutex<Wanted>);

#[derive(Debug, Default)]
struct Wanted {
    running: bool,
    again: bool,
}

impl Schedule {
    /// Asks for a run. `true` if the caller has to begin one; else one is under way and another follows it.
    pub(super) fn ask(&self) -> bool {
        let mut wanted = self.0.lock();
        wanted.again = wanted.running;
        !std::mem::replace(&mut wanted.running, true)
    }

    /// Ends a run. `true` if another was asked for meanwhile.
    pub(super) fn again(&self) -> bool {
        let mut wanted = self.0.lock();
        wanted.running = std::mem::take(&mut wanted.again);
        wanted.running
    }
}

/// Has a document's diagnostics published as soon as may be, unless the client asks for them itself.
pub(super) fn schedule(session: &Arc<Session>, uri: &Uri) {
    if session.features().pull || !*session.ready.borrow() {
        return;
    }
    let Some((_, schedule)) = session.scheduled(uri) else { return };
    if !schedule.ask() {
        return;
    }
    let session = Arc::clone(session);
    let uri = uri.clone();
    tokio::spawn(async move {
        loop {
            publish(&session, &uri).await;
            if !schedule.again() {
                break;
            }
        }
    });
}

/// Publishes the diagnostics of a document as it is now.
async fn publish(session: &Arc<Session>, uri: &Uri) {
    let Some(snapshot) = session.snapshot(uri) else { return };
    let features = session.features().clone();
    let editor = session.editor();
    let found = work::run(session, "publishDiagnostics", Arc::clone(&snapshot), move |snapshot| {
        diagnostics::of(snapshot, &features, &editor)
    });
    let Ok(found) = found.await else { return };
    let _one = session.publishing.lock().await;
    if session.is_current(&snapshot) && snapshot.cells.is_some() {
        publish_cells(session, &snapshot, found).await;
    } else if session.is_current(&snapshot) {
        let version = session.features().version.then(|| snapshot.document.version());
        session.client.publish_diagnostics(snapshot.uri.clone(), found, version).await;
    }
}

/// Publishes the diagnostics of those cells of a notebook where they are others than before.
async fn publish_cells(session: &Arc<Session>, snapshot: &Snapshot, found: Vec<Diagnostic>) {
    for (uri, version, own) in diagnostics::by_cell(snapshot, found) {
        let said = (Key::of(&uri), (version, own.clone()));
        let is_said = session
            .published_cells
            .lock()
            .get(&said.0)
            .is_some_and(|(before, known)| *known == said.1.1 && (*before == version || known.is_empty()));
        if !is_said {
            session.published_cells.lock().insert(said.0, said.1);
            let version = session.features().version.then_some(version);
            session.client.publish_diagnostics(uri, own, version).await;
        }
    }
}

/// Takes the diagnostics of cells away that are gone, or that are no code any more.
pub(super) fn clear_cells(session: &Arc<Session>, cells: Vec<Uri>) {
    if session.features().pull || cells.is_empty() {
        return;
    }
    let session = Arc::clone(session);
    tokio::spawn(async move {
        let _one = session.publishing.lock().await;
        for uri in cells {
            let known = session.published_cells.lock().remove(&Key::of(&uri)).is_some();
            if known && session.view(&uri).is_none() {
                session.client.publish_diagnostics(uri, Vec::new(), None).await;
            }
        }
    });
}

/// Takes a closed document's diagnostics away. A settings file of sparkls is judged by what is on disk from then on.
pub(super) fn clear(session: &Arc<Session>, closed: &Snapshot) {
    let session = Arc::clone(session);
    let (uri, kind) = (closed.uri.clone(), closed.kind);
    tokio::spawn(async move {
        if !session.features().pull {
            let _one = session.publishing.lock().await;
            if session.snapshot(&uri).is_none() {
                session.client.publish_diagnostics(uri, Vec::new(), None).await;
            }
        }
        if kind == Kind::Sparkls {
            diagnostics::publish_problems(&session).await;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_at_a_time_and_one_more_for_all_that_came_meanwhile() {
        let schedule = Schedule::default();
        assert!(schedule.ask());
        assert!(!schedule.ask());
        assert!(!schedule.ask());
        assert!(schedule.again());
        assert!(!schedule.again());
        assert!(schedule.ask());
    }
}
