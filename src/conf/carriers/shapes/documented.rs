//! Which settings a document only speaks of: the examples in a catalogue of rules, a knowledge base, an API's description.
//!
//! A map with keys of Spark is handed to Spark if the key above it says so (`sparkConf`, `conf`, `properties`), or if
//! nothing around it is an article: a map with a sentence among its values that names no application to run.

use crate::conf::carriers::tree::{Entry, Node};

/// Keys of maps that services hand to Spark, beside all names with `spark` in them.
const HANDED: [&str; 7] = [
    "conf",
    "properties",
    "Properties",
    "configuration",
    "ConfigurationProperties",
    "configurationProperties",
    "server_side_parameters",
];

/// What the files of an application end in.
const APPLICATIONS: [&str; 8] = [".py", ".jar", ".ipynb", ".sql", ".scala", ".R", ".zip", ".whl"];

/// How many words a sentence has that is no name or title any more.
const SENTENCE: usize = 6;

/// Whether a key says that the map below it is for Spark.
pub(super) fn is_handed_to_spark(name: &str) -> bool {
    HANDED.contains(&name) || name.to_ascii_lowercase().contains("spark")
}

/// Whether a map is an article: it explains something, and runs nothing.
pub(super) fn explains(entries: &[Entry<'_>]) -> bool {
    let texts = || {
        entries.iter().filter_map(|entry| match &entry.value {
            Node::Scalar(scalar) => Some(scalar.as_str()),
            _ => None,
        })
    };
    let runs = |text: &str| APPLICATIONS.iter().any(|ending| text.trim_end().ends_with(ending));
    texts().any(is_sentence) && !texts().any(runs)
}

/// Whether a text is written for people: some words, and no options of a command.
fn is_sentence(text: &str) -> bool {
    let words =
        text.split_whitespace().filter(|word| word.chars().all(|c| c.is_alphabetic() || ".,;:'()-".contains(c)));
    text.starts_with(char::is_alphabetic) && !text.contains("--") && words.count() >= SENTENCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_told_from_names_and_commands() {
        assert!(is_sentence("Broadcasting the smaller side eliminates the shuffle entirely."));
        assert!(!is_sentence("Nightly load of orders"));
        assert!(!is_sentence("spark-submit --conf spark.x=1 and some other words of it"));
        assert!(!is_sentence("s3://lake/jobs/a.py"));
    }

    #[test]
    fn names_say_what_is_for_spark() {
        assert!(is_handed_to_spark("sparkConf") && is_handed_to_spark("properties") && is_handed_to_spark("spark"));
        assert!(!is_handed_to_spark("config") && !is_handed_to_spark("config_changes"));
    }
}
