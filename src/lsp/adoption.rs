//! Taking over what single files and documents say: one at a time, once they rest, and never the whole workspace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::document::Snapshot;
use super::projects;
use super::publish::Schedule;
use super::session::Session;
use super::uri;
use crate::workspace::{Affected, Kind, Project, Source};

/// What is typed on is waited for this long: the jobs beside a script need not follow each key.
const REST: Duration = Duration::from_millis(100);
/// More files at once are those of another branch: then the folder is read again.
const MOST: usize = 64;

/// Files and documents whose settings are to be taken over.
#[derive(Debug, Default)]
pub(super) struct Adoption {
    schedule: Schedule,
    wanted: Mutex<BTreeSet<PathBuf>>,
}

/// The text of an open document is another: the jobs beside it see the new settings. Code is looked at when it is saved:
/// what it sets matters to others less often than it is typed at.
pub(super) fn edited(session: &Arc<Session>, snapshot: &Snapshot) {
    if snapshot.is_analysed() && !matches!(snapshot.kind, Kind::Python | Kind::Sparkls) {
        changed(session, [snapshot.path.clone()]);
    }
}

/// These files are others now, on disk or in the editor: what they say is taken over soon. What is open counts as it is
/// in the editor, the rest as it is on disk.
pub(super) fn changed(session: &Arc<Session>, paths: impl IntoIterator<Item = PathBuf>) {
    session.adoption.wanted.lock().extend(paths);
    if !session.adoption.schedule.ask() {
        return;
    }
    let session = Arc::clone(session);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(REST).await;
            let wanted = std::mem::take(&mut *session.adoption.wanted.lock());
            adopt(&session, wanted).await;
            if !session.adoption.schedule.again() {
                break;
            }
        }
    });
}

async fn adopt(session: &Arc<Session>, paths: BTreeSet<PathBuf>) {
    let adopting = Arc::clone(session);
    let adopted = tokio::task::spawn_blocking(move || {
        let counting: Vec<PathBuf> = paths.into_iter().filter(|path| counts(&adopting, path)).collect();
        let few = counting.len() <= MOST;
        few.then(|| counting.iter().filter_map(|path| adopt_one(&adopting, path)).collect::<Vec<_>>())
    });
    match adopted.await {
        Ok(Some(affected)) => {
            projects::refresh_where(session, |path| affected.iter().any(|affected| affected.holds(path)));
        }
        Ok(None) => session.folders().into_iter().for_each(|folder| projects::scan_soon(session, folder)),
        Err(_) => {}
    }
}

/// Whether a file is one of a project's, or was: builds write a thousand others.
fn counts(session: &Session, path: &Path) -> bool {
    let (project, _) = session.project(path);
    open(session, path).is_some() || project.sources.holds_below(path) || project.reads(path)
}

fn open(session: &Session, path: &Path) -> Option<Arc<Snapshot>> {
    uri::of_path(path).and_then(|uri| session.snapshot(&uri)).filter(|open| open.is_analysed())
}

/// Takes over what one file says now; who sees it, if anything changed.
fn adopt_one(session: &Session, path: &Path) -> Option<Affected> {
    let folder = session.folders().into_iter().find(|folder| path.starts_with(folder))?;
    let source = match open(session, path) {
        Some(open) => projects::source(&open),
        None if path.exists() => {
            // Those that import it see what it does now.
            let read = |project: &Project| Some((project.with_module_read(path)?, Affected::All));
            let imported = session.change_project_for(&folder, read);
            let source = Source::read(path);
            let taken = session.change_project_for(&folder, |project| project.taking_over(path, source.clone()));
            return imported.or(taken);
        }
        None => return session.change_project_for(&folder, |project| Some((project.without(path)?, Affected::All))),
    };
    session.change_project_for(&folder, |project| project.taking_over(path, source.clone()))
}
