//! How the jobs of a project are started, and the configuration that each of them gets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Project;
use super::document::{Kind, Lines, layers, layers_at};
use super::sources::Source;
use crate::analysis::{Facts, Job};
use crate::conf::carriers::{Submit, Tool};
use crate::conf::{Carrier, EffectiveConf, Layer, Origin, Setting, Start, Value};

/// One way in which a script is started.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// The document that starts it.
    pub path: Arc<PathBuf>,
    /// Where in it, line from 1.
    pub line: u32,
    /// What starts it.
    pub tool: Tool,
    /// What the settings file and the command or definition set, weakest first.
    pub layers: Vec<Layer>,
}

/// The documents whose configuration a change touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Affected {
    /// Any of the project.
    All,
    /// These.
    Only(BTreeSet<PathBuf>),
}

impl Affected {
    /// Whether the document at `path` is among them.
    pub fn holds(&self, path: &Path) -> bool {
        match self {
            Self::All => true,
            Self::Only(paths) => paths.contains(path),
        }
    }
}

impl Project {
    /// The project with what one of its documents says now (`None`: nothing), and the documents that see it: the script
    /// that a command starts, the commands that start a script. `None` if nothing changed at all.
    pub fn taking_over(&self, path: &Path, source: Option<Source>) -> Option<(Self, Affected)> {
        let known = self.sources.at(path).map(|known| &**known);
        let is_new_script = Kind::of(path).is_script() && !self.sources.holds(path);
        if known == source.as_ref() && !is_new_script {
            return None;
        }
        let affected = match (known, &source) {
            _ if is_new_script => Affected::All,
            (Some(known), Some(source)) if known.says_the_same(source) => Affected::Only(BTreeSet::new()),
            (known, source) if known.into_iter().chain(source).any(is_read_by_commands) => Affected::All,
            (known, source) => self.seeing(path, [known, source.as_ref()]),
        };
        Some((self.with_source(path, source), affected))
    }

    fn seeing(&self, path: &Path, sources: [Option<&Source>; 2]) -> Affected {
        let named = |submit: &Submit| {
            let application = submit.application.as_ref()?;
            self.sources.script(&application.text)
        };
        let submits = sources.into_iter().flatten().flat_map(|source| &source.submits);
        let started = submits.filter_map(named).map(Path::to_owned);
        let starts = |source: &&Arc<Source>| source.submits.iter().any(|submit| named(submit) == Some(path));
        let starting = self.sources.all().filter(starts).map(|source| source.path.to_path_buf());
        Affected::Only(started.chain(starting).chain([path.to_owned()]).collect())
    }

    /// Every way in which the project starts the script at `path`, by path and line.
    pub fn launches(&self, path: &Path) -> Vec<Launch> {
        let starts = |submit: &&Submit| {
            submit.application.as_ref().is_some_and(|application| self.sources.script(&application.text) == Some(path))
        };
        let of_source = |source: &Arc<Source>| {
            let submits = source.submits.iter().filter(starts);
            submits.map(|submit| self.launch(source, submit)).collect::<Vec<_>>()
        };
        self.sources.all().flat_map(of_source).collect()
    }

    fn launch(&self, source: &Source, submit: &Submit) -> Launch {
        let before = source.text.get(..submit.span.start as usize).unwrap_or_default();
        let own: Vec<Setting> =
            submit.settings.iter().filter_map(|index| source.settings.get(*index)).cloned().collect();
        let own = layers(&source.path, &source.text, &own);
        Launch {
            path: Arc::clone(&source.path),
            line: before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1,
            tool: submit.tool,
            layers: self.below(&source.path, submit).into_iter().chain(own).collect(),
        }
    }

    /// The properties that a command reads: the file that it names, in place of `spark-defaults.conf`. What a platform
    /// starts by its own definition knows nothing of the project's file.
    fn below(&self, path: &Path, submit: &Submit) -> Vec<Layer> {
        match (&submit.properties_file, submit.tool) {
            (Some(named), _) => {
                self.properties_file(path, &named.text).map(|file| file.layers.clone()).unwrap_or_default()
            }
            (None, Tool::Definition) => Vec::new(),
            (None, _) => self.layers.clone(),
        }
    }

    /// The properties file that a command in the document at `path` names.
    fn properties_file(&self, path: &Path, named: &str) -> Option<&Arc<Source>> {
        let beside = path.parent().map(|folder| folder.join(named)).and_then(|path| self.sources.at(&path));
        let named = Path::new(named.rsplit("://").next().unwrap_or(named).trim_start_matches(['/', '.']));
        beside.or_else(|| {
            let mut ending = self.sources.all().filter(|source| source.path.ends_with(named));
            let first = ending.next()?;
            ending.next().is_none().then_some(first)
        })
    }

    /// The effective configuration of each of the jobs of a document (see [`Facts::jobs`]), in their order.
    pub(super) fn confs_of(&self, path: &Path, text: &str, facts: &Facts) -> Vec<EffectiveConf> {
        let (shared_path, lines) = (Arc::new(path.to_owned()), Lines::new(text));
        let own = |job: &Job<'_>| layers_at(&shared_path, &lines, &job.settings);
        let jobs = facts.jobs();
        jobs.iter().enumerate().map(|(index, job)| self.conf_of(path, facts, job, own(job), index == 0)).collect()
    }

    fn conf_of(&self, path: &Path, facts: &Facts, job: &Job<'_>, own: Vec<Layer>, is_first: bool) -> EffectiveConf {
        match facts {
            Facts::Python(_) | Facts::Sql(_) | Facts::Notebook(_) if is_first => self.conf_of_script(path, own),
            // A properties file stands in for `spark-defaults.conf`, as with `--properties-file`.
            Facts::Properties(_) => EffectiveConf::new(self.environment.version, own),
            Facts::Python(_) | Facts::Sql(_) | Facts::Notebook(_) | Facts::Carrier(..) | Facts::Nothing => {
                let below = job.submit.map(|submit| self.below(path, submit)).unwrap_or_default();
                let code = job.submit.map(|submit| self.code_of(submit)).unwrap_or_default();
                EffectiveConf::new(self.environment.version, [below, own, code].concat())
            }
        }
    }

    /// What the code of a script adds that a command starts. What it sets at run time holds from its line on, not for
    /// the job as it is started.
    fn code_of(&self, submit: &Submit) -> Vec<Layer> {
        let script = submit.application.as_ref().and_then(|application| self.sources.script(&application.text));
        let Some(source) = script.and_then(|script| self.sources.at(script)) else { return Vec::new() };
        let at_start = |layer: &&Layer| match layer.origin {
            Origin::Written { carrier, .. } => carrier.is_code() && !carrier.at_run_time(),
            _ => false,
        };
        source.layers.iter().filter(at_start).cloned().collect()
    }

    fn conf_of_script(&self, path: &Path, code: Vec<Layer>) -> EffectiveConf {
        let version = self.environment.version;
        let launches = self.launches(path);
        let started = match launches.as_slice() {
            [] => self.layers.clone(),
            [one] => one.layers.clone(),
            several => common(several, |layers| EffectiveConf::new(version, layers)),
        };
        EffectiveConf::new(version, started.into_iter().chain(code).collect()).with_submit(submitted(&launches))
    }
}

/// The first of the commands that start a script, if all of them are `spark-submit`.
fn submitted(launches: &[Launch]) -> Option<Start> {
    let first = launches.first().filter(|_| launches.iter().all(|launch| launch.tool == Tool::SparkSubmit))?;
    Some(Start { path: Arc::clone(&first.path), line: first.line })
}

/// Whether it holds properties, which commands read by name or as the default.
fn is_read_by_commands(source: &Source) -> bool {
    source.settings.iter().any(|setting| setting.carrier == Carrier::Properties)
}

/// What several ways to start a job have in common; where they differ, all that they say.
fn common(launches: &[Launch], conf: impl Fn(Vec<Layer>) -> EffectiveConf) -> Vec<Layer> {
    let confs: Vec<EffectiveConf> = launches.iter().map(|launch| conf(launch.layers.clone())).collect();
    let keys: BTreeSet<&str> =
        launches.iter().flat_map(|launch| launch.layers.iter().map(|layer| layer.key.as_str())).collect();
    let mut layers = Vec::new();
    for key in keys {
        let each: Vec<Layer> = confs
            .iter()
            .filter_map(|conf| {
                let effective = conf.get(key);
                let value = effective.value.map_or(Value::Unknown, Value::Literal);
                Some(Layer { key: key.to_owned(), value, origin: effective.origin? })
            })
            .collect();
        let agree = each.len() == confs.len() && each.windows(2).all(|pair| pair[0].value == pair[1].value);
        layers.push(match each.first().filter(|first| agree && first.value.literal().is_some()) {
            Some(first) => first.clone(),
            None => Layer { key: key.to_owned(), value: Value::Unknown, origin: Origin::Launches(each.into()) },
        });
    }
    layers
}

/// The job among those of a document that a place in it belongs to: the one with a setting there, else the one whose
/// command it stands in, else the document's own.
pub fn job_at(facts: &Facts, offset: usize) -> usize {
    let jobs = facts.jobs();
    let written = |job: &Job<'_>| job.settings.iter().any(|setting| setting.span.touches(offset));
    let inside = |job: &Job<'_>| job.submit.is_some_and(|submit| submit.span.touches(offset));
    jobs.iter().position(written).or_else(|| jobs.iter().position(inside)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::sources::Sources;

    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let project = Project::open(folder.path());
        let sources = Sources::scan(folder.path(), &[]);
        (folder, project.with_sources(sources))
    }

    fn conf(project: &Project, path: &str) -> EffectiveConf {
        let path = project.root.join(path);
        let text: Arc<str> = std::fs::read_to_string(&path).unwrap().into();
        let facts = super::super::facts(super::super::Kind::of_file(&path, &text), &text);
        project.confs_of(&path, &text, &facts).swap_remove(0)
    }

    const CODE: &str = "from pyspark.sql import SparkSession\n\
                        spark = SparkSession.builder.config('spark.executor.cores', '2').getOrCreate()\n";

    #[test]
    fn a_command_stands_between_file_and_code() {
        let (_folder, project) = project(&[
            ("conf/spark-defaults.conf", "spark.executor.memory 2g\nspark.executor.cores 1\nspark.speculation true\n"),
            ("run.sh", "spark-submit --conf spark.executor.cores=4 --executor-memory 8g jobs/daily.py\n"),
            ("jobs/daily.py", CODE),
        ]);
        let conf = conf(&project, "jobs/daily.py");
        let value = |key: &str| conf.get(key).value;
        assert_eq!(value("spark.executor.memory").as_deref(), Some("8g"));
        assert_eq!(value("spark.executor.cores").as_deref(), Some("2"));
        assert_eq!(value("spark.speculation").as_deref(), Some("true"));
        assert_eq!(conf.get("spark.executor.cores").overridden.len(), 2);
    }

    #[test]
    fn two_commands_agree_or_are_both_named() {
        let (_folder, project) = project(&[
            ("a.sh", "spark-submit --executor-memory 8g --executor-cores 3 jobs/daily.py\n"),
            ("b.sh", "spark-submit --executor-memory 4g --executor-cores 3 jobs/daily.py\n"),
            ("jobs/daily.py", "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"),
        ]);
        let conf = conf(&project, "jobs/daily.py");
        assert_eq!(conf.get("spark.executor.cores").value.as_deref(), Some("3"));
        let memory = conf.get("spark.executor.memory");
        assert!(memory.value.is_none() && memory.template);
        assert!(matches!(memory.origin, Some(Origin::Launches(each)) if each.len() == 2));
    }

    #[test]
    fn a_properties_file_that_is_named_replaces_the_defaults() {
        let (_folder, project) = project(&[
            ("conf/spark-defaults.conf", "spark.executor.memory 2g\nspark.speculation true\n"),
            ("conf/prod.properties", "spark.executor.memory 16g\n"),
            ("run.sh", "spark-submit --properties-file conf/prod.properties jobs/daily.py\n"),
            ("jobs/daily.py", CODE),
        ]);
        let conf = conf(&project, "jobs/daily.py");
        assert_eq!(conf.get("spark.executor.memory").value.as_deref(), Some("16g"));
        assert_eq!(conf.get("spark.speculation").value.as_deref(), Some("false"));
    }

    #[test]
    fn what_the_code_says_is_seen_where_the_job_is_started() {
        let (_folder, project) = project(&[
            ("run.sh", "spark-submit --conf spark.executor.cores=4 jobs/daily.py\n"),
            ("jobs/daily.py", CODE),
        ]);
        assert_eq!(conf(&project, "run.sh").get("spark.executor.cores").value.as_deref(), Some("2"));
    }
}
