//! `sparkls.toml`, `[tool.sparkls]` in `pyproject.toml`, and the same settings as an editor sends them.

use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;
use super::per_path::PathRules;
use crate::catalog::SparkVersion;
use crate::rules::{self, Level, RuleSettings, Severity, Vendor};
use crate::text::Span;

/// What a user may set. A field that is not set leaves the word to a weaker source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// `spark-version`.
    pub spark_version: Option<SparkVersion>,
    /// `runs`: paths and globs of event logs, relative to the project's folder.
    pub runs: Option<Vec<String>>,
    /// `rules.<slug>`.
    pub rules: RuleSettings,
    /// `rules.per-path.<glob>`: what holds for the rules in some files; what stands later wins.
    pub per_path: Vec<PathRules>,
    /// `exclude`: globs of files that are not analysed.
    pub exclude: Option<Vec<String>>,
    /// `vendor`.
    pub vendor: Option<Vendor>,
    /// `local`: the jobs run with `master local`.
    pub local: Option<bool>,
}

impl Settings {
    /// These settings, and those of `weaker` where these say nothing.
    pub fn or(mut self, weaker: &Settings) -> Settings {
        self.spark_version = self.spark_version.or(weaker.spark_version);
        self.runs = self.runs.or_else(|| weaker.runs.clone());
        self.exclude = self.exclude.or_else(|| weaker.exclude.clone());
        self.vendor = self.vendor.or(weaker.vendor);
        self.local = self.local.or(weaker.local);
        for (slug, level) in &weaker.rules.levels {
            self.rules.levels.entry(slug.clone()).or_insert(*level);
        }
        for (option, value) in &weaker.rules.options {
            self.rules.options.entry(option.clone()).or_insert(*value);
        }
        self.per_path.splice(0..0, weaker.per_path.iter().cloned());
        self
    }

    /// The settings that an editor sends as its `sparkls` section; keys in kebab or camel case. What is not a setting
    /// of the project (the editor's own switches) and what has the wrong type is passed over.
    pub fn from_json(json: &serde_json::Value) -> Settings {
        let mut reader = Reader { place: None, problems: Vec::new() };
        match Item::from_json(json) {
            Item::Table(entries) => reader.settings(entries),
            _ => Settings::default(),
        }
    }
}

/// One settings file as it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct SettingsFile {
    /// What is set.
    pub(super) settings: Settings,
    /// What is wrong, in the order of the file.
    pub(super) problems: Vec<Problem>,
    /// The file is no TOML; what could be read of it is in `settings`.
    pub(super) broken: bool,
}

/// What is wrong in a settings file of this name, as its text stands.
pub fn problems(path: &Path, text: &Arc<str>) -> Vec<Problem> {
    let is_shared = path.file_name().is_some_and(|name| name == "pyproject.toml");
    let read = if is_shared { read_pyproject(path, text) } else { read_sparkls(path, text) };
    read.problems
}

/// Reads `sparkls.toml`.
pub(super) fn read_sparkls(path: &Path, text: &Arc<str>) -> SettingsFile {
    read(path, text, |root| Some(Item::from_table(root)))
}

/// Reads `[tool.sparkls]` of a `pyproject.toml`. What else is wrong in that file is other tools' business.
pub(super) fn read_pyproject(path: &Path, text: &Arc<str>) -> SettingsFile {
    if !text.contains("tool.sparkls") && !text.contains("sparkls]") {
        return SettingsFile::default();
    }
    read(path, text, |root| {
        let tool = root.get("tool")?.get_ref().as_table()?;
        Some(Item::from_table(tool.get("sparkls")?.get_ref().as_table()?))
    })
}

fn read<'t>(path: &Path, text: &'t Arc<str>, select: impl FnOnce(&DeTable<'t>) -> Option<Vec<Entry>>) -> SettingsFile {
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { place: Some((path, text)), problems: Vec::new() };
    let settings = select(root.get_ref()).map(|entries| reader.settings(entries)).unwrap_or_default();
    // One mistake makes several errors behind it, and values that were not meant: the first error says where to look.
    if let Some(error) = errors.first() {
        reader.problems.clear();
        let range = error.span().unwrap_or(0..0);
        reader.problem(on_characters(text, range), first_line(error.message()).to_owned());
    }
    SettingsFile { settings, problems: reader.problems, broken: !errors.is_empty() }
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or(message)
}

/// The range on the text's character boundaries and inside it.
fn on_characters(text: &str, range: std::ops::Range<usize>) -> Span {
    let floor = |offset: usize| text.floor_char_boundary(offset.min(text.len()));
    let start = floor(range.start);
    Span::new(start, floor(range.end).max(start))
}

/// A key with its value.
struct Entry {
    key: String,
    key_span: Span,
    value_span: Span,
    value: Item,
}

/// A value, whichever language it was written in.
enum Item {
    Text(String),
    Number(f64),
    Bool(bool),
    List(Vec<(Span, Item)>),
    Table(Vec<Entry>),
    Other,
}

impl Item {
    fn from_table(table: &DeTable<'_>) -> Vec<Entry> {
        table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref().to_string(),
                key_span: span(key),
                value_span: span(value),
                value: Item::from_toml(value.get_ref()),
            })
            .collect()
    }

    fn from_toml(value: &DeValue<'_>) -> Item {
        match value {
            DeValue::String(text) => Item::Text(text.to_string()),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).map_or(Item::Other, |n| Item::Number(n as f64))
            }
            DeValue::Float(number) => number.as_str().parse().map_or(Item::Other, Item::Number),
            DeValue::Boolean(yes) => Item::Bool(*yes),
            DeValue::Array(items) => {
                Item::List(items.iter().map(|item| (span(item), Item::from_toml(item.get_ref()))).collect())
            }
            DeValue::Table(table) => Item::Table(Item::from_table(table)),
            DeValue::Datetime(_) => Item::Other,
        }
    }

    fn from_json(value: &serde_json::Value) -> Item {
        use serde_json::Value;
        match value {
            Value::String(text) => Item::Text(text.clone()),
            Value::Number(number) => number.as_f64().map_or(Item::Other, Item::Number),
            Value::Bool(yes) => Item::Bool(*yes),
            Value::Array(items) => {
                Item::List(items.iter().map(|item| (Span::default(), Item::from_json(item))).collect())
            }
            Value::Object(fields) => Item::Table(
                fields
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| Entry {
                        key: kebab_case(key),
                        key_span: Span::default(),
                        value_span: Span::default(),
                        value: Item::from_json(value),
                    })
                    .collect(),
            ),
            Value::Null => Item::Other,
        }
    }

    /// What the value is, for messages.
    fn kind(&self) -> &'static str {
        match self {
            Item::Text(_) => "a string",
            Item::Number(_) => "a number",
            Item::Bool(_) => "a boolean",
            Item::List(_) => "a list",
            Item::Table(_) => "a table",
            Item::Other => "a date or a number that is too large",
        }
    }
}

fn span<T>(spanned: &Spanned<T>) -> Span {
    let range = spanned.span();
    Span::new(range.start, range.end.max(range.start))
}

/// `sparkVersion` as `spark-version`; a glob stays as it is.
fn kebab_case(key: &str) -> String {
    if !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return key.to_owned();
    }
    let mut kebab = String::with_capacity(key.len() + 4);
    for character in key.chars() {
        if character.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(character.to_ascii_lowercase());
    }
    kebab
}

/// Reads settings and notes what is wrong; an editor's settings have no place to note it at.
struct Reader<'a> {
    place: Option<(&'a Path, &'a Arc<str>)>,
    problems: Vec<Problem>,
}

/// The table among the rules that is none.
const PER_PATH: &str = "per-path";
/// The keys of a settings file.
const KEYS: [&str; 6] = ["spark-version", "runs", "rules", "exclude", "vendor", "local"];

impl Reader<'_> {
    fn problem(&mut self, span: Span, message: String) {
        if let Some((path, text)) = self.place {
            self.problems.push(Problem { path: path.to_owned(), span, message, text: Arc::clone(text) });
        }
    }

    fn settings(&mut self, entries: Vec<Entry>) -> Settings {
        let mut settings = Settings::default();
        for entry in entries {
            match entry.key.as_str() {
                "spark-version" => settings.spark_version = self.version(&entry),
                "runs" => settings.runs = self.texts(entry),
                "exclude" => settings.exclude = self.globs(entry),
                "vendor" => settings.vendor = self.vendor(&entry),
                "local" => settings.local = self.boolean(&entry),
                "rules" => self.rules(entry, &mut settings),
                unknown => self.problem(entry.key_span, unknown_name("setting", unknown, KEYS)),
            }
        }
        settings
    }

    fn wrong_type(&mut self, entry_key: &str, span: Span, value: &Item, expected: &str) {
        self.problem(span, format!("`{entry_key}` is {expected}, not {}", value.kind()));
    }

    fn version(&mut self, entry: &Entry) -> Option<SparkVersion> {
        let Item::Text(text) = &entry.value else {
            self.wrong_type(&entry.key, entry.value_span, &entry.value, "a version in quotes, such as \"3.5\"");
            return None;
        };
        text.parse().map_err(|error| self.problem(entry.value_span, format!("{error}"))).ok()
    }

    fn vendor(&mut self, entry: &Entry) -> Option<Vendor> {
        const NAMES: &str = "one of \"oss\", \"databricks\", \"emr\", \"glue\", \"dataproc\", \"fabric\"";
        let Item::Text(text) = &entry.value else {
            self.wrong_type(&entry.key, entry.value_span, &entry.value, NAMES);
            return None;
        };
        let vendor = serde_json::from_value(serde_json::Value::String(text.clone())).ok();
        if vendor.is_none() {
            self.problem(entry.value_span, format!("`vendor` is {NAMES}, not \"{text}\""));
        }
        vendor
    }

    fn boolean(&mut self, entry: &Entry) -> Option<bool> {
        if let Item::Bool(yes) = entry.value {
            return Some(yes);
        }
        self.wrong_type(&entry.key, entry.value_span, &entry.value, "true or false");
        None
    }

    fn texts(&mut self, entry: Entry) -> Option<Vec<String>> {
        Some(self.spanned_texts(entry)?.into_iter().map(|(_, text)| text).collect())
    }

    fn globs(&mut self, entry: Entry) -> Option<Vec<String>> {
        let mut globs = Vec::new();
        for (span, text) in self.spanned_texts(entry)? {
            match globset::Glob::new(&text) {
                Ok(_) => globs.push(text),
                Err(error) => self.problem(span, format!("`{text}` is no glob: {}", error.kind())),
            }
        }
        Some(globs)
    }

    fn spanned_texts(&mut self, entry: Entry) -> Option<Vec<(Span, String)>> {
        let items = match entry.value {
            Item::List(items) => items,
            Item::Text(text) => vec![(entry.value_span, Item::Text(text))],
            other => {
                self.wrong_type(&entry.key, entry.value_span, &other, "a list of strings");
                return None;
            }
        };
        let mut texts = Vec::new();
        for (span, item) in items {
            match item {
                Item::Text(text) => texts.push((span, text)),
                other => self.wrong_type(&entry.key, span, &other, "a list of strings"),
            }
        }
        Some(texts)
    }

    fn rules(&mut self, entry: Entry, settings: &mut Settings) {
        let Item::Table(mut entries) = entry.value else {
            self.wrong_type("rules", entry.value_span, &entry.value, "a table of rule names");
            return;
        };
        for entry in entries.extract_if(.., |entry| entry.key == PER_PATH) {
            self.per_path(entry, &mut settings.per_path);
        }
        self.levels_and_options(entries, &mut settings.rules);
    }

    fn per_path(&mut self, entry: Entry, per_path: &mut Vec<PathRules>) {
        let Item::Table(mut entries) = entry.value else {
            self.wrong_type(PER_PATH, entry.value_span, &entry.value, "a table of globs");
            return;
        };
        entries.sort_by_key(|entry| entry.key_span.start);
        for entry in entries {
            if let Err(error) = globset::Glob::new(&entry.key) {
                self.problem(entry.key_span, format!("`{}` is no glob: {}", entry.key, error.kind()));
                continue;
            }
            let Item::Table(entries) = entry.value else {
                self.wrong_type(&entry.key, entry.value_span, &entry.value, "a table of rule names");
                continue;
            };
            let mut rules = RuleSettings::default();
            self.levels_and_options(entries, &mut rules);
            per_path.push((entry.key, rules));
        }
    }

    fn levels_and_options(&mut self, entries: Vec<Entry>, settings: &mut RuleSettings) {
        for entry in entries {
            let Some(rule) = rules::find(&entry.key) else {
                let names = rules::all().map(|rule| rule.name).chain([PER_PATH]);
                self.problem(entry.key_span, unknown_name("rule", &entry.key, names));
                continue;
            };
            match entry.value {
                Item::Table(options) => {
                    for option in options {
                        self.rule_option(rule, option, settings);
                    }
                }
                value => {
                    if let Some(level) = self.level(&entry.key, entry.value_span, &value) {
                        settings.levels.insert(entry.key, level);
                    }
                }
            }
        }
    }

    fn rule_option(&mut self, rule: &rules::Rule, entry: Entry, settings: &mut RuleSettings) {
        if matches!(entry.key.as_str(), "severity" | "level") {
            if let Some(level) = self.level(rule.name, entry.value_span, &entry.value) {
                settings.levels.insert(rule.name.to_owned(), level);
            }
            return;
        }
        if !rule.options.iter().any(|option| option.name == entry.key) {
            let names = rule.options.iter().map(|option| option.name).chain(["severity"]);
            self.problem(entry.key_span, unknown_name("option", &entry.key, names));
            return;
        }
        match entry.value {
            Item::Number(number) => {
                settings.options.insert((rule.name.to_owned(), entry.key), number);
            }
            other => self.wrong_type(&entry.key, entry.value_span, &other, "a number"),
        }
    }

    fn level(&mut self, rule: &str, span: Span, value: &Item) -> Option<Level> {
        let level = match value {
            Item::Bool(true) => Some(Level::On),
            Item::Bool(false) => Some(Level::Off),
            Item::Text(text) => match text.as_str() {
                "off" => Some(Level::Off),
                "on" => Some(Level::On),
                "hint" => Some(Level::Fixed(Severity::Hint)),
                "information" => Some(Level::Fixed(Severity::Information)),
                "warning" => Some(Level::Fixed(Severity::Warning)),
                "error" => Some(Level::Fixed(Severity::Error)),
                _ => None,
            },
            _ => None,
        };
        if level.is_none() {
            let expected =
                "\"off\", \"on\", \"hint\", \"information\", \"warning\" or \"error\", or a table of options";
            self.problem(span, format!("`{rule}` is {expected}"));
        }
        level
    }
}

/// There is no such name; perhaps another one was meant.
fn unknown_name<'n>(what: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let nearest = known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .min()
        .filter(|(distance, _)| *distance <= 1 + name.len() / 4);
    match nearest {
        Some((_, candidate)) => format!("there is no {what} `{name}`; did you mean `{candidate}`?"),
        None => format!("there is no {what} `{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparkls(text: &str) -> (Settings, Vec<(String, String)>, bool) {
        let text: Arc<str> = Arc::from(text);
        let file = read_sparkls(Path::new("sparkls.toml"), &text);
        let problems = file.problems.iter().map(|p| (p.span.of(&text).to_owned(), p.message.clone())).collect();
        (file.settings, problems, file.broken)
    }

    #[test]
    fn every_key_is_read() {
        let (settings, problems, broken) = sparkls(
            "spark-version = \"3.5\"\nruns = [\"runs/nightly\"]\nexclude = [\"old/**\"]\nvendor = \"emr\"\nlocal = true\n",
        );
        assert_eq!(problems, []);
        assert!(!broken);
        assert_eq!(settings.spark_version, Some(SparkVersion::new(3, 5, 0)));
        assert_eq!(settings.runs.as_deref(), Some(&["runs/nightly".to_owned()][..]));
        assert_eq!(settings.exclude.as_deref(), Some(&["old/**".to_owned()][..]));
        assert_eq!((settings.vendor, settings.local), (Some(Vendor::Emr), Some(true)));
    }

    #[test]
    fn a_wrong_value_is_named_at_its_place_and_the_rest_holds() {
        let (settings, problems, broken) = sparkls("spark-version = 3.5\nlocal = true\nvendor = \"emt\"\n");
        assert!(!broken);
        assert_eq!(settings.local, Some(true));
        assert_eq!(problems.len(), 2);
        assert_eq!(problems[0].0, "3.5");
        assert_eq!(problems[1].0, "\"emt\"");
    }

    #[test]
    fn rules_of_some_paths_are_read_in_their_order() {
        let (settings, problems, _) = sparkls(
            "[rules]\ncollect-unbounded = \"error\"\n[rules.per-path.\"tests/**\"]\ncollect-unbounded = \"off\"\n\
             [rules.per-path.\"*.ipynb\"]\nslow-host = { severity = \"hint\" }\nno-rule = true\n\
             [rules.per-path.\"a[\"]\n",
        );
        let globs: Vec<&str> = settings.per_path.iter().map(|(glob, _)| glob.as_str()).collect();
        assert_eq!(globs, ["tests/**", "*.ipynb"]);
        assert_eq!(settings.per_path[0].1.levels["collect-unbounded"], Level::Off);
        assert_eq!(settings.per_path[1].1.levels["slow-host"], Level::Fixed(Severity::Hint));
        let places: Vec<&str> = problems.iter().map(|(place, _)| place.as_str()).collect();
        assert_eq!(places, ["no-rule", "\"a[\""]);
    }

    #[test]
    fn an_unknown_key_says_what_was_meant() {
        let (_, problems, _) = sparkls("spark_version = \"3.5\"\n");
        let message = "there is no setting `spark_version`; did you mean `spark-version`?";
        assert_eq!(problems, [("spark_version".to_owned(), message.to_owned())]);
    }

    #[test]
    fn what_stands_around_a_syntax_error_is_read() {
        let (settings, problems, broken) = sparkls("local = true\nruns = [\"a\nvendor = \"glue\"\n");
        assert!(broken);
        assert_eq!(problems.len(), 1);
        assert_eq!(settings.local, Some(true));
    }

    #[test]
    fn pyproject_is_read_only_for_its_table() {
        let text: Arc<str> = Arc::from("[project]\nname = \"x\"\n[tool.sparkls]\nlocal = true\n");
        let file = read_pyproject(Path::new("pyproject.toml"), &text);
        assert_eq!(file.settings.local, Some(true));
        let broken: Arc<str> = Arc::from("[project\nname = x");
        assert!(read_pyproject(Path::new("pyproject.toml"), &broken).problems.is_empty());
    }

    #[test]
    fn an_editor_may_write_camel_case() {
        let json = serde_json::json!({ "sparkVersion": "4.0", "measured": "hints", "local": null });
        assert_eq!(Settings::from_json(&json).spark_version, Some(SparkVersion::new(4, 0, 0)));
    }

    #[test]
    fn stronger_settings_win_key_by_key() {
        let strong = Settings { local: Some(false), ..Settings::default() };
        let weak = Settings { local: Some(true), vendor: Some(Vendor::Glue), ..Settings::default() };
        let merged = strong.or(&weak);
        assert_eq!((merged.local, merged.vendor), (Some(false), Some(Vendor::Glue)));
    }
}
