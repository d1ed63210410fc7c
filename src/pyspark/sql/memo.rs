//! Statements that were lowered before, by their text: an edit elsewhere in a file doesn't parse its queries again.

use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::{Lowered, statement};

/// As many statements as this are kept twice over: those of the last round, and those of the one before it.
const ROUND: usize = 1024;

#[derive(Default)]
struct Memo {
    young: FxHashMap<Arc<str>, Option<Arc<Lowered>>>,
    old: FxHashMap<Arc<str>, Option<Arc<Lowered>>>,
}

static MEMO: LazyLock<Mutex<Memo>> = LazyLock::new(Mutex::default);

/// A statement as steps; `None` if it is no query, holds none, or can't be read.
pub(in crate::pyspark) fn lowered(text: &str) -> Option<Arc<Lowered>> {
    let known = {
        let mut memo = MEMO.lock();
        let known = memo.young.get(text).cloned();
        known.or_else(|| memo.old.remove_entry(text).map(|(text, known)| memo.keep(text, known)))
    };
    known.unwrap_or_else(|| {
        let lowered = statement::lower(text).map(Arc::new);
        MEMO.lock().keep(text.into(), lowered)
    })
}

impl Memo {
    fn keep(&mut self, text: Arc<str>, lowered: Option<Arc<Lowered>>) -> Option<Arc<Lowered>> {
        if self.young.len() >= ROUND {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(text, lowered.clone());
        lowered
    }
}
