//! What a rule sees. Everything is borrowed from immutable snapshots.

use std::collections::BTreeMap;

use super::run::view::{Floors, StageView};
use super::{Finding, MeasuredRun, Rule, Severity};
use crate::catalog::SparkVersion;
use crate::conf::carriers::{CarrierKind, Problem, Submit};
use crate::conf::properties::PropertiesFile;
use crate::conf::{EffectiveConf, Setting};
use crate::history::Past;
use crate::link::Links;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{VersionBranch, Versions};
use crate::run::Run;
use crate::text::Span;

/// Whose Spark it is; vendors keep settings that Apache Spark retired and add their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Vendor {
    #[default]
    Oss,
    Databricks,
    Emr,
    Glue,
    Dataproc,
    Fabric,
}

/// What the user set for rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleSettings {
    /// By slug: off, or another severity.
    pub levels: BTreeMap<String, Level>,
    /// By slug and option.
    pub options: BTreeMap<(String, String), f64>,
}

/// What the user set for one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Never reported.
    Off,
    /// On, with the rule's own severities.
    On,
    /// Reported with this severity at most... and at least: always this one.
    Fixed(Severity),
}

impl RuleSettings {
    /// An option's value, or its default.
    pub fn option(&self, rule: &Rule, name: &str) -> f64 {
        self.options.get(&(rule.name.to_owned(), name.to_owned())).copied().unwrap_or_else(|| {
            rule.options.iter().find(|option| option.name == name).map_or(f64::NAN, |option| option.default)
        })
    }
}

/// What holds for the whole project that a document belongs to.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The Spark version whose facts apply.
    pub version: SparkVersion,
    /// Whether that version is known, or just the newest we know.
    pub version_known: bool,
    /// Whose Spark.
    pub vendor: Vendor,
    /// The jobs run with `master local`, by setting.
    pub local: bool,
    /// Rule settings.
    pub rules: RuleSettings,
}

/// A run and where it touches the document at hand.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    /// The run with its verdicts.
    pub measured: &'a MeasuredRun,
    /// Its links into this document.
    pub links: &'a Links,
}

/// What all rules on a document share.
pub struct Shared<'a> {
    /// The rule that runs.
    pub rule: &'static Rule,
    /// The document's text.
    pub text: &'a str,
    /// The document's format, if it is neither Python nor a properties file.
    pub format: Option<CarrierKind>,
    /// The document is a test (`test_*.py`, `conftest.py`, under `tests/`).
    pub is_test: bool,
    /// Code of the document that runs with some versions of Spark only.
    pub version_branches: &'a [VersionBranch],
    /// The project.
    pub environment: &'a Environment,
    /// The job's effective configuration.
    pub conf: &'a EffectiveConf,
    /// Linked runs, newest first.
    pub runs: &'a [RunView<'a>],
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Shared<'_> {
    /// The Spark version whose facts apply.
    pub fn version(&self) -> SparkVersion {
        self.environment.version
    }

    /// The versions of Spark that the code at a place is for, at most; `None` where it asks for none.
    pub fn versions_at(&self, place: Span) -> Option<Versions> {
        let around = self.version_branches.iter().filter(|branch| branch.span.contains(place));
        around.map(|branch| branch.versions.clone()).reduce(|all, inner| all.and(&inner))
    }

    /// Whether a place is in a branch that the project's Spark doesn't take.
    pub fn is_for_other_versions(&self, place: Span) -> bool {
        self.versions_at(place).is_some_and(|versions| !versions.holds(self.version()))
    }

    /// The newest linked run.
    pub fn run(&self) -> Option<&Run> {
        self.runs.first().map(|view| &view.measured.run)
    }

    /// An option of the running rule.
    pub fn option(&self, name: &str) -> f64 {
        self.environment.rules.option(self.rule, name)
    }

    /// Reports a finding of the running rule.
    pub fn report(&mut self, finding: Finding) {
        debug_assert_eq!(finding.rule, self.rule.name);
        self.findings.push(finding);
    }
}

/// For rules on settings.
pub struct SettingsContext<'a> {
    /// Shared.
    pub shared: Shared<'a>,
    /// The settings of one job in this document in source order.
    pub settings: &'a [Setting],
    /// The properties file, if the document is one.
    pub properties: Option<&'a PropertiesFile>,
    /// The static plan, if the settings are those of a Python file's own code.
    pub plan: Option<&'a StaticPlan>,
    /// What starts the job, if the document tells.
    pub submit: Option<&'a Submit>,
    /// What the document's format reads otherwise than it looks; given to one job of a document only.
    pub problems: &'a [Problem],
}

/// For rules on code.
pub struct CodeContext<'a> {
    /// Shared.
    pub shared: Shared<'a>,
    /// The static plan.
    pub plan: &'a StaticPlan,
}

/// For rules on runs.
pub struct RunContext<'a> {
    /// The rule that runs.
    pub rule: &'static Rule,
    /// The run.
    pub run: &'a Run,
    /// The evaluated attempt of each stage, by stage id.
    pub stages: &'a [StageView<'a>],
    /// When each executor ended its first task, see [`stats::first_ends`](crate::run::stats::first_ends).
    pub first_ends: &'a [Option<u64>],
    /// Thresholds that all rules on runs share.
    pub floors: Floors,
    /// Rule settings (thresholds are options of their rule).
    pub rules: &'a RuleSettings,
    /// Earlier runs of the job, where a history was given.
    pub past: Option<&'a Past>,
}

impl RunContext<'_> {
    /// An option of the running rule.
    pub fn option(&self, name: &str) -> f64 {
        self.rules.option(self.rule, name)
    }
}
