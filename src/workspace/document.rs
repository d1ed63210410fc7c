//! One document of a project: what it is, what is read out of it, and its analysis.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Project;
use crate::analysis::{self, Analysis, Facts, Input};
use crate::conf::carriers::{self, CarrierKind, may_hold_settings};
use crate::conf::{EffectiveConf, Layer, Origin, Setting, properties};
use crate::link::{self, Links};
use crate::pyspark::{self, Imports, SqlDialect, sql_dialect, sql_script};
use crate::rules::{MeasuredRun, RunView};

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A Python file.
    Python,
    /// A script in SQL, which may be another database's.
    Sql,
    /// A properties file of Spark.
    Properties,
    /// A script, a manifest or a template that may hold settings.
    Carrier(CarrierKind),
    /// The settings of sparkls itself, in a file of their own or in `pyproject.toml`.
    Sparkls,
    /// Nothing that is analysed.
    Other,
}

impl Kind {
    /// What a file of this name is.
    pub fn of(path: &Path) -> Kind {
        Self::by_name(path).or_else(|| carriers::kind_of(path, "", None).map(Kind::Carrier)).unwrap_or(Kind::Other)
    }

    fn by_name(path: &Path) -> Option<Kind> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        match extension {
            Some("py" | "pyw") => Some(Kind::Python),
            Some("sql") => Some(Kind::Sql),
            Some("toml") if matches!(name.as_str(), "sparkls.toml" | "pyproject.toml") => Some(Kind::Sparkls),
            Some("conf" | "properties" | "template") if name.contains("spark") && !name.contains("log4j") => {
                Some(Kind::Properties)
            }
            _ => None,
        }
    }

    /// Whether it is a script that a command may start.
    pub fn is_script(self) -> bool {
        matches!(self, Self::Python | Self::Sql)
    }

    /// Whether a file of this name may be about Spark; its text tells.
    pub fn is_possible(path: &Path) -> bool {
        !matches!(Self::of(path), Self::Other | Self::Sparkls)
            || path.extension().is_some_and(|extension| extension == "conf" || extension == "properties")
    }

    /// What a file is when its name and its text are known: a properties file of any name is Spark's if it holds a key
    /// that starts with `spark.`, and a script may be known by its first line.
    pub fn of_file(path: &Path, text: &str) -> Kind {
        let properties = path.extension().is_some_and(|extension| extension == "conf" || extension == "properties");
        Self::by_name(path)
            .or_else(|| carriers::kind_of(path, head(text), None).map(Kind::Carrier))
            .or_else(|| (properties && holds_spark_keys(text)).then_some(Kind::Properties))
            .unwrap_or(Kind::Other)
    }

    /// What a document is that an editor calls by this language.
    pub fn of_language(language: &str, path: &Path, text: &str) -> Kind {
        match language {
            "python" => Kind::Python,
            "sql" | "spark-sql" | "sparksql" => Kind::Sql,
            "spark-conf" | "spark-properties" | "spark-defaults" => Kind::Properties,
            "properties" | "java-properties" | "ini" | "conf" | "cfg" => match Kind::of_file(path, text) {
                Kind::Other if holds_spark_keys(text) => Kind::Properties,
                kind => kind,
            },
            _ => match Kind::of_file(path, text) {
                Kind::Other => carriers::kind_of(path, head(text), Some(language)).map_or(Kind::Other, Kind::Carrier),
                kind => kind,
            },
        }
    }
}

/// The beginning of a text, as far as a kind can be told from it.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(1024)]
}

/// Whether a line starts with `spark.`, as the settings of a properties file do.
pub fn holds_spark_keys(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("spark."))
}

/// What is read out of a lone text of this kind. A Python file that cannot be about Spark is not parsed.
pub fn facts(kind: Kind, text: &Arc<str>) -> Facts {
    facts_in(kind, text, &Imports::default())
}

/// The same of a file of a project, whose modules it may import (see [`Project::imports`]).
pub fn facts_in(kind: Kind, text: &Arc<str>, imports: &Imports) -> Facts {
    match kind {
        Kind::Python if imports.may_use_spark(text) => Facts::Python(pyspark::plan_in(text, imports)),
        Kind::Sql if sql_dialect(text) != SqlDialect::Other => Facts::Sql(Arc::new(sql_script(text))),
        Kind::Properties => Facts::Properties(Arc::new(properties::read(text))),
        Kind::Carrier(kind) if may_hold_settings(text) => Facts::Carrier(kind, Arc::new(carriers::extract(kind, text))),
        Kind::Python | Kind::Sql | Kind::Carrier(_) | Kind::Sparkls | Kind::Other => Facts::Nothing,
    }
}

/// The settings of a document as layers of a job's configuration.
pub fn layers(path: &Path, text: &str, settings: &[Setting]) -> Vec<Layer> {
    layers_at(&Arc::new(path.to_owned()), &Lines::new(text), settings)
}

/// The same for one of several jobs of a document, whose lines are known.
pub(super) fn layers_at(path: &Arc<PathBuf>, lines: &Lines, settings: &[Setting]) -> Vec<Layer> {
    settings
        .iter()
        .filter(|setting| !setting.key_is_prefix)
        .map(|setting| Layer {
            key: setting.key.clone(),
            value: setting.value.clone(),
            origin: Origin::Written {
                carrier: setting.carrier,
                path: Arc::clone(path),
                line: lines.line(setting.key_span.start as usize),
            },
        })
        .collect()
}

/// The line of an offset, from 1, as layers count it.
pub fn line_of(text: &str, offset: usize) -> u32 {
    Lines::new(text).line(offset)
}

/// Where the lines of a text end.
pub(super) struct Lines {
    ends: Vec<u32>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
            .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'))
            .map(|at| at as u32);
        Self { ends: ends.collect() }
    }

    /// The line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        self.ends.partition_point(|end| (*end as usize) < offset) as u32 + 1
    }
}

/// The links of the project's runs into a document, one for each run. Costs time with the run: keep them.
pub fn link_runs(project: &Project, path: &Path, text: &str, facts: &Facts) -> Vec<Links> {
    let Some(plan) = facts.plan() else { return project.runs.iter().map(|_| Links::default()).collect() };
    project.runs.iter().map(|run| link::link(&run.run, plan, text, path)).collect()
}

/// The configuration of each of the jobs of a document (see [`Facts::jobs`]); what no file of the project sets is as the
/// newest linked run recorded it. What is written wins over the run, because it is what the next run gets.
pub fn confs(project: &Project, path: &Path, text: &str, facts: &Facts, links: &[Links]) -> Vec<EffectiveConf> {
    let newest = belonging(project, facts, links).map(|(run, _)| run).next();
    confs_with_run(project, path, text, facts, newest)
}

fn confs_with_run(
    project: &Project,
    path: &Path,
    text: &str,
    facts: &Facts,
    run: Option<&MeasuredRun>,
) -> Vec<EffectiveConf> {
    let written = project.confs_of(path, text, facts);
    let Some(run) = run else { return written };
    let recorded = |written: EffectiveConf| {
        let mut recorded = run.run.conf.clone();
        for (key, _) in written.winners() {
            recorded.remove(key);
        }
        written.with_run(&run.label, &recorded)
    };
    // A run of the document's own job says nothing of the other jobs in it.
    let mut confs = written.into_iter();
    confs.next().map(recorded).into_iter().chain(confs).collect()
}

/// The runs that belong to a document: to a Python file those of which something was found there, to a settings file
/// all of its project.
fn belonging<'a>(
    project: &'a Project,
    facts: &Facts,
    links: &'a [Links],
) -> impl Iterator<Item = (&'a MeasuredRun, &'a Links)> {
    let about_settings = matches!(facts, Facts::Properties(_));
    let runs = project.runs.iter().map(|run| &**run).zip(links);
    runs.filter(move |(_, links)| about_settings || !links.links.is_empty())
}

/// Analyses one document of a project, with the links of [`link_runs`].
pub fn analyse(project: &Project, path: &Path, text: &str, facts: &Facts, links: &[Links]) -> Analysis {
    if matches!(facts, Facts::Nothing) {
        return Analysis::default();
    }
    let runs: Vec<RunView<'_>> =
        belonging(project, facts, links).map(|(measured, links)| RunView { measured, links }).collect();
    let confs = confs_with_run(project, path, text, facts, runs.first().map(|view| view.measured));
    let relative = path.strip_prefix(&project.root).unwrap_or(path);
    analysis::analyse(&Input {
        path: relative,
        text,
        facts,
        environment: &project.environment_of(path),
        confs: &confs,
        runs: &runs,
    })
}

/// Analyses one file of a project: everything in one call, for the command line.
pub fn analyse_file(project: &Project, path: &Path, text: &Arc<str>) -> Analysis {
    let facts = facts_in(Kind::of_file(path, text), text, &project.imports(path));
    let links = link_runs(project, path, text, &facts);
    analyse(project, path, text, &facts, &links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_file_is() {
        let kind = |name: &str| Kind::of(Path::new(name));
        assert_eq!(kind("jobs/a.py"), Kind::Python);
        assert_eq!(kind("conf/spark-defaults.conf"), Kind::Properties);
        assert_eq!(kind("conf/spark-defaults.conf.template"), Kind::Properties);
        assert_eq!(kind("spark-log4j.properties"), Kind::Other);
        assert_eq!(kind("nginx.conf"), Kind::Other);
        assert_eq!(kind("py"), Kind::Other);
    }

    #[test]
    fn lines_are_counted_with_every_line_end() {
        let lines = Lines::new("a\nb\r\nc\rd");
        assert_eq!([lines.line(0), lines.line(2), lines.line(5), lines.line(7), lines.line(2)], [1, 2, 3, 4, 2]);
    }
}
