//! Our own one-sentence explanations of settings that people tune.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// KEY, a tab, what it does.
const NOTES: &str = include_str!("../../data/notes.tsv");

/// What the setting does, in one or two sentences; `None` for settings without a note.
pub fn note(key: &str) -> Option<&'static str> {
    static BY_KEY: OnceLock<FxHashMap<&str, &str>> = OnceLock::new();
    let notes = BY_KEY.get_or_init(|| NOTES.lines().filter_map(|line| line.split_once('\t')).collect());
    notes.get(key).copied()
}
