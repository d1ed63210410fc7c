//! Our own one-sentence explanations of settings that people tune.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// KEY, a tab, what it does, and for some a tab and when to touch it.
const NOTES: &str = include_str!("../../data/notes.tsv");

struct Note {
    explanation: &'static str,
    tuning: Option<&'static str>,
}

/// What the setting does, in a sentence or two; `None` for settings without a note.
pub fn note(key: &str) -> Option<&'static str> {
    table().get(key).map(|note| note.explanation)
}

/// When to touch the setting, or what to watch when it changes; `None` where there is nothing more to say.
pub fn tuning(key: &str) -> Option<&'static str> {
    table().get(key).and_then(|note| note.tuning)
}

fn table() -> &'static FxHashMap<&'static str, Note> {
    static BY_KEY: OnceLock<FxHashMap<&str, Note>> = OnceLock::new();
    BY_KEY.get_or_init(|| NOTES.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect())
}

fn row(line: &'static str) -> Option<(&'static str, Note)> {
    let mut fields = line.split('\t');
    let (key, explanation) = (fields.next()?, fields.next()?);
    Some((key, Note { explanation, tuning: fields.next() }))
}

#[cfg(test)]
mod tests {
    use super::{note, tuning};

    #[test]
    fn a_note_explains_and_may_advise() {
        assert!(note("spark.sql.ansi.enabled").is_some_and(|text| text.starts_with("Errors instead of nulls")));
        assert!(tuning("spark.sql.ansi.enabled").is_some_and(|text| text.contains("try_cast")));
        assert_eq!(tuning("spark.sql.streaming.metricsEnabled"), None);
        assert_eq!(note("spark.no.such.setting"), None);
    }
}
