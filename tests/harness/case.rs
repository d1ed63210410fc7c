//! A test case: the documents of one heading, and what holds for them.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use sparkls::analysis::{Analysis, Facts};
use sparkls::catalog::SparkVersion;
use sparkls::conf::carriers::CarrierKind;
use sparkls::rules::{self, Environment, Fix, Level, RuleSettings, Severity, Vendor};
use sparkls::text::Span;
use sparkls::workspace::{self, Kind, Project, Settings, Source};

use super::markdown::{self, Piece};
use super::marker::{self, Expected};

/// The documents under one heading.
pub(crate) struct Case {
    /// `collect-unbounded.md: A bound through a variable`.
    pub(crate) name: String,
    pub(crate) environment: Environment,
    pub(crate) documents: Vec<Document>,
}

/// What a block is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    Sql,
    Properties,
    Carrier(CarrierKind),
}

/// A block to be analysed.
pub(crate) struct Document {
    pub(crate) language: Language,
    /// The file's name, for the guards on tests.
    pub(crate) path: String,
    /// Without markers.
    pub(crate) text: String,
    pub(crate) expected: Vec<Expected>,
    /// The line of the fixture where the block starts.
    pub(crate) line: usize,
    /// Blocks that show the text after a fix.
    pub(crate) fixed: Vec<Fixed>,
}

impl Document {
    /// An empty document of a language under its usual name.
    pub(crate) fn new(language: Language) -> Self {
        let path = language.default_path();
        Self { language, path, text: String::new(), expected: Vec::new(), line: 0, fixed: Vec::new() }
    }
}

/// The text after a fix.
pub(crate) struct Fixed {
    pub(crate) title: String,
    /// For a refactoring: the code at which it is offered.
    pub(crate) at: Option<String>,
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The cases of a fixture; a heading starts a new one.
pub(crate) fn read(file: &str, text: &str) -> Vec<Case> {
    let mut cases = vec![Case::new(file)];
    for piece in markdown::pieces(text) {
        let Piece::Block { info, text, line } = piece else {
            let Piece::Heading(_, name) = piece else { continue };
            cases.push(Case::new(&format!("{file}: {name}")));
            continue;
        };
        let case = cases.last_mut().expect("there is one");
        case.add(&info, &text, line);
    }
    cases.retain(|case| !case.documents.is_empty());
    cases
}

impl Case {
    /// A case under the newest patch of Spark 3.5 without settings of its own.
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), environment: environment(""), documents: Vec::new() }
    }

    fn add(&mut self, info: &str, text: &str, line: usize) {
        let name = info.split_whitespace().next();
        let language = match name {
            Some("toml") => return self.environment = environment(text),
            Some("fixed") => {
                let title = markdown::attribute(info, "title").unwrap_or_default().to_owned();
                let document = self.documents.last_mut().expect("a `fixed` block follows the block that it fixes");
                let at = markdown::attribute(info, "at").map(str::to_owned);
                return document.fixed.push(Fixed { title, at, text: marker::split(text).0, line });
            }
            _ => name.and_then(Language::of).unwrap_or_else(|| {
                panic!("{}: line {line}: a block of {name:?}; see tests/rules/README.md", self.name)
            }),
        };
        let (text, expected) = marker::split(text);
        let path = markdown::attribute(info, "path").map_or_else(|| language.default_path(), str::to_owned);
        self.documents.push(Document { path, text, expected, line, ..Document::new(language) });
    }

    /// Analyses a text as if it stood in the place of one of the documents.
    pub(crate) fn analyse(&self, document: &Document, text: &str) -> Analysis {
        let text = Arc::from(text);
        let facts = facts(document.language, &text);
        let path = Path::new(&document.path);
        workspace::analyse(&self.project(document, &text, &facts), path, &text, &facts, &[])
    }

    /// What is offered at a place of one of the documents, besides fixes.
    pub(crate) fn refactorings(&self, document: &Document, at: Span) -> Vec<Fix> {
        let text = Arc::from(document.text.as_str());
        let facts = facts(document.language, &text);
        let Some(plan) = facts.plan() else { return Vec::new() };
        let project = self.project(document, &text, &facts);
        let confs = workspace::confs(&project, Path::new(&document.path), &text, &facts, &[]);
        rules::refactorings(plan, &text, &confs[0], at)
    }

    /// The project that the documents make up, with this text in the place of one of them.
    fn project(&self, document: &Document, text: &Arc<str>, facts: &Facts) -> Project {
        let mut project = Project::without_folder(&Settings::default());
        project.environment = self.environment.clone();
        let add = |project: Project, path: &str, text: &Arc<str>, facts: &Facts| {
            project.with_source(Path::new(path), Source::of(Path::new(path), text, facts))
        };
        let others = self.documents.iter().filter(|other| !std::ptr::eq(*other, document));
        let project = others.fold(project, |project, other| {
            let text = Arc::from(other.text.as_str());
            add(project, &other.path, &text, &self::facts(other.language, &text))
        });
        add(project, &document.path, text, facts)
    }
}

impl Language {
    /// The language of a block, by the first word of its info string.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "py" | "python" => Self::Python,
            "sql" => Self::Sql,
            "conf" | "properties" => Self::Properties,
            "sh" => Self::Carrier(CarrierKind::Shell),
            "makefile" => Self::Carrier(CarrierKind::Makefile),
            "dockerfile" => Self::Carrier(CarrierKind::Dockerfile),
            "yaml" => Self::Carrier(CarrierKind::Yaml),
            "json" => Self::Carrier(CarrierKind::Json),
            "ipynb" => Self::Carrier(CarrierKind::Notebook),
            "hcl" => Self::Carrier(CarrierKind::Hcl),
            "hocon" => Self::Carrier(CarrierKind::Hocon),
            _ => return None,
        })
    }

    pub(crate) fn default_path(self) -> String {
        let path = match self {
            Self::Python => "jobs/job.py",
            Self::Sql => "job.sql",
            Self::Properties => "conf/spark-defaults.conf",
            Self::Carrier(kind) => match kind {
                CarrierKind::Shell => "run.sh",
                CarrierKind::Makefile => "Makefile",
                CarrierKind::Dockerfile => "Dockerfile",
                CarrierKind::Yaml => "job.yaml",
                CarrierKind::Json => "job.json",
                CarrierKind::Notebook => "notebook.ipynb",
                CarrierKind::Hcl => "main.tf",
                CarrierKind::Hocon => "application.conf",
            },
        };
        path.to_owned()
    }

    /// Whether a line that starts with `#` may be put before the first.
    pub(crate) fn has_comments(self) -> bool {
        !matches!(self, Self::Sql | Self::Carrier(CarrierKind::Json | CarrierKind::Notebook))
    }
}

/// What is read out of a text.
pub(crate) fn facts(language: Language, text: &Arc<str>) -> Facts {
    workspace::facts(
        match language {
            Language::Python => Kind::Python,
            Language::Sql => Kind::Sql,
            Language::Properties => Kind::Properties,
            Language::Carrier(kind) => Kind::Carrier(kind),
        },
        text,
    )
}

/// What a `toml` block sets, in the form of `sparkls.toml`.
pub(crate) fn environment(text: &str) -> Environment {
    let table: toml::Table = text.parse().expect("a toml block is TOML");
    let version: Option<SparkVersion> =
        table.get("spark-version").map(|version| version.as_str().expect("a text").parse().expect("a Spark version"));
    let vendor = table.get("vendor").map(|vendor| Vendor::deserialize(vendor.clone()).expect("a vendor"));
    let mut rules = RuleSettings::default();
    for (rule, setting) in table.get("rules").and_then(toml::Value::as_table).into_iter().flatten() {
        match setting {
            toml::Value::Table(options) => {
                for (option, value) in options {
                    match value {
                        toml::Value::String(text) => drop(rules.levels.insert(rule.clone(), level(text))),
                        number => drop(rules.options.insert((rule.clone(), option.clone()), as_number(number))),
                    }
                }
            }
            text => drop(rules.levels.insert(rule.clone(), level(text.as_str().expect("a level")))),
        }
    }
    Environment {
        version: version.unwrap_or(SparkVersion::new(3, 5, 9)),
        version_known: version.is_some() || text.is_empty(),
        vendor: vendor.unwrap_or_default(),
        local: table.get("local").and_then(toml::Value::as_bool).unwrap_or(false),
        rules,
    }
}

fn level(text: &str) -> Level {
    match text {
        "off" => Level::Off,
        "on" => Level::On,
        severity => Level::Fixed(Severity::deserialize(toml::Value::from(severity)).expect("a severity")),
    }
}

fn as_number(value: &toml::Value) -> f64 {
    value.as_float().or_else(|| value.as_integer().map(|number| number as f64)).expect("options are numbers")
}
