//! The editor's settings: at the start, pushed, or asked for.

use std::path::PathBuf;

use serde_json::Value;
use tower_lsp_server::ls_types::CodeDescription;

use super::pages;
use crate::rules;
use crate::workspace::Settings;

/// Where measured numbers stand in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Measured {
    /// At the ends of lines; the run's summary above the first.
    #[default]
    Hints,
    /// Above the lines.
    Lenses,
    /// Nowhere; the hover still tells.
    Off,
}

/// A larger document is not analysed, unless the editor says otherwise.
const MAX_FILE_BYTES: usize = 8 << 20;

/// What may be logged, least first.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What the editor set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Editor {
    /// Stronger than the project's files.
    pub(super) settings: Settings,
    pub(super) measured: Measured,
    pub(super) max_file_bytes: usize,
    /// What is logged; the environment's word without it.
    pub(super) log_level: Option<String>,
    /// Where the log goes beside standard error.
    pub(super) log_file: Option<PathBuf>,
    /// The address below which each rule has a page.
    docs_base: Option<String>,
}

impl Default for Editor {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            measured: Measured::default(),
            max_file_bytes: MAX_FILE_BYTES,
            log_level: None,
            log_file: None,
            docs_base: None,
        }
    }
}

impl Editor {
    /// Reads what clients send in several shapes: the `sparkls` section itself, or an object that holds it as `sparkls`
    /// or below `settings`.
    pub(super) fn read(json: &Value) -> Self {
        let section = ["settings", "sparkls"].iter().fold(json, |json, name| json.get(name).unwrap_or(json));
        let field = |camel: &str, kebab: &str| section.get(camel).or_else(|| section.get(kebab));
        let text = |camel: &str, kebab: &str| field(camel, kebab).and_then(Value::as_str).map(str::to_owned);
        let measured = match field("measured", "measured").and_then(Value::as_str) {
            Some("lenses") => Measured::Lenses,
            Some("off") => Measured::Off,
            _ => Measured::Hints,
        };
        let kib = field("maxFileSize", "max-file-size").and_then(Value::as_u64);
        Self {
            settings: Settings::from_json(section),
            measured,
            max_file_bytes: kib
                .map_or(MAX_FILE_BYTES, |kib| usize::try_from(kib.saturating_mul(1024)).unwrap_or(usize::MAX)),
            log_level: text("logLevel", "log-level").filter(|level| LEVELS.contains(&level.as_str())),
            log_file: text("logFile", "log-file").filter(|path| !path.is_empty()).map(PathBuf::from),
            docs_base: text("docsBase", "docs-base"),
        }
    }

    /// The page of a rule: below the configured base, where it is published, or a copy on this machine.
    pub(super) fn rule_page(&self, rule: &str) -> Option<CodeDescription> {
        let below = |base: &str| format!("{}/rules/{rule}.md", base.trim_end_matches('/'));
        let published = || rules::find(rule).and_then(rules::Rule::published);
        let href = match self.docs_base.as_deref().map(below).or_else(published) {
            Some(address) => address.parse().ok(),
            None => pages::local(rule),
        };
        href.map(|href| CodeDescription { href })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_section_is_found_in_every_shape() {
        let section = json!({ "measured": "lenses", "local": true });
        for shape in [section.clone(), json!({ "sparkls": section }), json!({ "settings": { "sparkls": section } })] {
            let editor = Editor::read(&shape);
            assert_eq!((editor.measured, editor.settings.local), (Measured::Lenses, Some(true)), "{shape}");
        }
    }

    #[test]
    fn nothing_and_nonsense_are_the_defaults() {
        for shape in [Value::Null, json!([]), json!({ "sparkls": null }), json!("x"), json!({ "measured": 7 })] {
            assert_eq!(Editor::read(&shape), Editor::default(), "{shape}");
        }
    }

    #[test]
    fn the_page_of_a_rule_is_below_the_base() {
        assert_eq!(Editor::default().rule_page("x"), None, "no rule has this name");
        let page = Editor::read(&json!({ "docsBase": "https://example.org/docs/" })).rule_page("invalid-value");
        assert_eq!(page.unwrap().href.as_str(), "https://example.org/docs/rules/invalid-value.md");
    }
}
