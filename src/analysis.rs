//! The one pipeline: (document facts, effective configuration, catalogue, linked runs) to findings and line notes.
//!
//! A pure function of immutable snapshots. The server and the command line call the same one.

mod facts;
mod measured;
mod suppression;

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::path::Path;
use std::sync::LazyLock;

pub use facts::{Facts, Job, Notebook};
use regex::Regex;
use suppression::{Comments, Syntax};

use crate::conf::EffectiveConf;
use crate::pyspark::plan::Language;
use crate::pyspark::{StaticPlan, is_databricks_notebook};
use crate::rules::{
    self, Check, CodeContext, Confidence, Environment, Finding, Level, Rule, RuleSettings, RunView, SettingsContext,
    Severity, Shared, Vendor,
};
use crate::text::Span;

/// Everything that one document's analysis reads.
pub struct Input<'a> {
    /// The document's path, for the guards on tests and for messages; may not exist.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// What was read out of it.
    pub facts: &'a Facts,
    /// The project.
    pub environment: &'a Environment,
    /// The effective configuration of each of [`Facts::jobs`], in their order.
    pub confs: &'a [EffectiveConf],
    /// Linked runs, newest first, with their links into this document.
    pub runs: &'a [RunView<'a>],
}

/// A measured line: what stands at its end, and the hover's text.
#[derive(Debug, Clone, PartialEq)]
pub struct LineNote {
    /// The call that it belongs to.
    pub span: Span,
    /// `stage 12 · max 40 x median · not split by AQE`.
    pub short: String,
    /// Markdown for the hover.
    pub details: String,
    /// How bad the worst verdict on it is.
    pub severity: Option<Severity>,
}

/// What one document's analysis found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Analysis {
    /// Findings in source order; suppressed and switched-off ones are gone.
    pub findings: Vec<Finding>,
    /// Measured lines in source order.
    pub notes: Vec<LineNote>,
    /// What the linked runs say that has no line here, one sentence each.
    pub summary: Vec<String>,
}

/// Findings of one document that are kept; a file with more needs another tool than a list of findings.
const MAX_FINDINGS: usize = 128;

/// Analyses one document.
pub fn analyse(input: &Input<'_>) -> Analysis {
    let mut analysis = Analysis::default();
    let Some(syntax) = Syntax::of(input.facts) else { return analysis };
    // Most texts have no finding: then nobody reads their comments.
    let comments = LazyCell::new(|| match input.facts {
        Facts::Notebook(notebook) => Comments::read_notebook(input.text, notebook),
        _ => Comments::read(input.text, syntax),
    });
    analysis.findings = static_findings(input, &comments);
    measured::measure(input, &mut analysis);
    let speaks_to_us = memchr::memmem::find(input.text.as_bytes(), b"sparkls:").is_some();
    if !analysis.findings.is_empty() || speaks_to_us {
        keep(&mut analysis.findings, input, &comments);
    }
    analysis
}

impl Syntax {
    fn of(facts: &Facts) -> Option<Self> {
        match facts {
            Facts::Properties(_) => Some(Self::Properties),
            Facts::Python(_) | Facts::Notebook(_) => Some(Self::Python),
            Facts::Sql(_) => Some(Self::Sql),
            Facts::Carrier(kind, _) => Some(Self::Carrier(*kind)),
            Facts::Nothing => None,
        }
    }
}

/// What the rules on settings and code find, with the guards that hold for all of them.
fn static_findings<'a>(
    input: &Input<'a>,
    comments: &LazyCell<Comments<'a>, impl FnOnce() -> Comments<'a>>,
) -> Vec<Finding> {
    let is_test = is_test(input.path);
    let environment = &of_document(input);
    let jobs = input.facts.jobs();
    let jobs: Vec<(&Job<'a>, &'a EffectiveConf)> = jobs.iter().zip(input.confs).collect();
    let mut findings = Vec::new();
    for rule in rules::all().filter(|rule| is_on(rule, &input.environment.rules)) {
        let shared = |conf| Shared {
            rule,
            text: input.text,
            format: input.facts.format(),
            is_test,
            version_branches: input.facts.plan().map_or(&[], |plan| &plan.version_branches),
            environment,
            conf,
            runs: input.runs,
            findings: Vec::new(),
        };
        match (rule.check, input.facts.plan()) {
            (Check::Settings(check), plan) => {
                for (index, (job, conf)) in jobs.iter().enumerate() {
                    let mut cx = SettingsContext {
                        shared: shared(conf),
                        settings: &job.settings,
                        properties: input.facts.properties(),
                        plan: plan.filter(|_| index == 0),
                        submit: job.submit,
                        problems: if index == 0 { input.facts.problems() } else { &[] },
                    };
                    check(&mut cx);
                    findings.append(&mut cx.shared.findings);
                }
            }
            (Check::Code(check), Some(plan)) => {
                let Some((_, conf)) = jobs.first() else { continue };
                let mut cx = CodeContext { shared: shared(conf), plan };
                check(&mut cx);
                cx.shared.findings.iter_mut().for_each(|finding| {
                    lower(finding, input, plan, comments, is_test);
                    keep_python_out_of_sql(finding, plan);
                });
                findings.append(&mut cx.shared.findings);
            }
            (Check::Code(_), None) | (Check::Run(_), _) => {}
        }
    }
    findings
}

/// The project's environment, with the platform that a document is written for, where nobody said another.
fn of_document(input: &Input<'_>) -> Environment {
    let mut environment = input.environment.clone();
    if environment.vendor == Vendor::Oss {
        environment.vendor = match input.facts.format() {
            Some(_) => platform(input.text),
            None if is_of_databricks(input.text) => Vendor::Databricks,
            None => Vendor::Oss,
        };
    }
    environment
}

/// Whether code can run on Databricks alone: it uses what only their clusters have.
fn is_of_databricks(text: &str) -> bool {
    static MARK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new("dbutils\\.|cloudFiles|import dlt\n|DatabricksSession").ok());
    is_databricks_notebook(text) || MARK.as_ref().is_some_and(|mark| mark.is_match(text))
}

/// Whose Spark a script, a manifest or a template is for, by the names of its platform's resources and commands.
fn platform(text: &str) -> Vendor {
    const NAMES: [(Vendor, &[&str]); 4] = [
        (Vendor::Databricks, &["databricks", "spark_env_vars", "new_cluster"]),
        (Vendor::Dataproc, &["dataproc", "softwareConfig"]),
        (Vendor::Glue, &["AWS::Glue", "aws_glue", "glueetl", "aws glue"]),
        (Vendor::Emr, &["AWS::EMR", "Classification", "aws_emr", "aws emr", "command-runner.jar", "spark-defaults\""]),
    ];
    let named = NAMES.iter().find(|(_, names)| names.iter().any(|name| text.contains(name)));
    named.map_or(Vendor::Oss, |(vendor, _)| *vendor)
}

fn is_on(rule: &Rule, settings: &RuleSettings) -> bool {
    match settings.levels.get(rule.name) {
        Some(Level::Off) => false,
        Some(Level::On | Level::Fixed(_)) => true,
        None => !rule.off,
    }
}

/// Takes away fixes that would write Python into a text of SQL: rules on calls meet clauses, too.
fn keep_python_out_of_sql(finding: &mut Finding, plan: &StaticPlan) {
    let is_inside = |span: Span| plan.sql.iter().any(|text| text.contains(span));
    if finding.fixes.is_empty() || !is_inside(finding.span) {
        return;
    }
    let sites = plan.nodes.iter().filter_map(|node| node.site.as_ref());
    let sites = sites.chain(plan.actions.iter().map(|action| &action.site));
    let sites = sites.chain(plan.windows.iter().map(|window| &window.site));
    let words = sites.filter(|site| site.is_sql()).map(|site| site.method);
    let calls = plan.functions.iter().filter(|call| call.language == Language::Sql).map(|call| call.method);
    if words.chain(calls).any(|word| word.intersects(finding.span)) {
        finding.fixes.retain(|fix| !fix.edits.iter().any(|edit| is_inside(edit.span)));
    }
}

/// Lowers what code costs less than usual: in tests, on one machine, in notebooks, and where a reason stands beside it.
/// Measured findings keep their severity: the cost was seen.
fn lower(finding: &mut Finding, input: &Input<'_>, plan: &StaticPlan, comments: &Comments<'_>, is_test: bool) {
    if finding.confidence == Confidence::Measured || finding.severity == Severity::Error {
        return;
    }
    if is_test || in_test_function(plan, finding.span) {
        finding.severity = Severity::Hint;
    } else if input.environment.local
        || plan.uses.local_master
        || is_notebook(input)
        || may_be_of_another_database(input)
        || comments.gives_reason(finding.span)
    {
        finding.severity = finding.severity.min(Severity::Information);
    }
}

/// A script in SQL in which nothing is Spark's alone.
fn may_be_of_another_database(input: &Input<'_>) -> bool {
    matches!(input.facts, Facts::Sql(plan) if !plan.uses.is_spark)
}

/// A test by its name or folder, as pytest finds them.
fn is_test(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let by_name =
        name == "conftest.py" || name.ends_with(".py") && name.starts_with("test_") || name.ends_with("_test.py");
    by_name || path.parent().is_some_and(|folder| folder.iter().any(|part| part == "tests" || part == "test"))
}

fn in_test_function(plan: &StaticPlan, span: Span) -> bool {
    plan.scopes.iter().any(|scope| scope.is_test && scope.span.contains(span))
}

fn is_notebook(input: &Input<'_>) -> bool {
    matches!(input.facts, Facts::Notebook(_))
        || input.path.extension().is_some_and(|extension| extension == "ipynb")
        || is_databricks_notebook(input.text)
}

/// Applies the user's levels and suppressions, offers to suppress, sorts and caps.
fn keep(findings: &mut Vec<Finding>, input: &Input<'_>, comments: &Comments<'_>) {
    let settings = &input.environment.rules;
    let is_kept = |finding: &mut Finding| {
        match settings.levels.get(finding.rule) {
            Some(Level::Off) => return false,
            Some(Level::Fixed(severity)) => finding.severity = *severity,
            Some(Level::On) | None => {}
        }
        !comments.suppress(finding.rule, finding.span)
    };
    findings.retain_mut(is_kept);
    for finding in findings.iter_mut() {
        finding.fixes.extend(comments.suppress_fix(finding.rule, finding.span));
    }
    // What is ignored is known now.
    let mut unused = comments.unused(settings, !input.runs.is_empty());
    unused.retain_mut(is_kept);
    findings.append(&mut unused);
    if findings.len() > MAX_FINDINGS {
        findings.sort_by_key(|finding| Reverse(finding.severity));
        findings.truncate(MAX_FINDINGS);
    }
    findings.sort_by_key(|finding| (finding.span, Reverse(finding.severity), finding.rule));
    findings.dedup_by(|later, earlier| (later.rule, later.span) == (earlier.rule, earlier.span));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::SparkVersion;
    use crate::rules::Vendor;

    fn findings(code: &str) -> Vec<Finding> {
        let text: std::sync::Arc<str> =
            format!("from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n{code}").into();
        let version = SparkVersion::new(3, 5, 9);
        analyse(&Input {
            path: Path::new("jobs/job.py"),
            text: &text,
            facts: &Facts::Python(crate::pyspark::PythonFile::parse(&text).plan().clone()),
            environment: &Environment {
                version,
                version_known: true,
                vendor: Vendor::Oss,
                local: false,
                rules: RuleSettings::default(),
            },
            confs: &[EffectiveConf::new(version, Vec::new())],
            runs: &[],
        })
        .findings
    }

    #[test]
    fn a_file_keeps_its_worst_findings_in_source_order() {
        let hints = "spark.read.csv('a')\n".repeat(100);
        let warnings = "spark.table('a').collect()\n".repeat(100);
        let findings = findings(&format!("{hints}{warnings}"));
        assert_eq!(findings.len(), MAX_FINDINGS);
        assert_eq!(findings.iter().filter(|finding| finding.severity == Severity::Warning).count(), 100);
        assert!(findings.is_sorted_by_key(|finding| finding.span));
    }

    #[test]
    fn every_finding_offers_to_be_ignored_last() {
        let findings = findings("spark.table('a').collect()\n");
        let last = findings[0].fixes.last().expect("there are fixes");
        assert_eq!(last.title, "Ignore collect-unbounded here");
        assert!(!last.safe);
    }
}
