//! The jobs of the inputs, each with its settings, who wins and who loses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::words;
use crate::analysis::Facts;
use crate::catalog::{self, Scope};
use crate::cli::inputs::{InputFile, Inputs, shown};
use crate::conf::carriers::{Submit, Tool};
use crate::conf::{Carrier, EffectiveConf, Layer, Origin, Value, value};
use crate::rules::MeasuredRun;
use crate::workspace::{self, Launch, Project};

/// One configuration.
pub(super) struct Job<'a> {
    pub(super) project: &'a Project,
    /// The document that it is about, as the user would name it.
    pub(super) path: PathBuf,
    pub(super) about: About,
    pub(super) conf: EffectiveConf,
    /// By key.
    pub(super) rows: Vec<Row>,
    /// What the newest linked run had and no file here sets, by key.
    pub(super) recorded: Vec<Row>,
}

/// What a configuration belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum About {
    /// A settings file by itself.
    SettingsFile,
    /// A script and what starts it: nothing that is known, or one command.
    Script(Option<Start>),
    /// What the commands that start a script have in common.
    Common(Vec<Start>),
    /// What one of several commands that start a script adds.
    Launch(Start),
    /// A command or definition, by itself.
    Command(Start, Application),
    /// Settings that stand together in a document, at this line.
    Together(u32),
}

/// What starts a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Start {
    pub(super) tool: Tool,
    /// As the user would name it.
    pub(super) path: PathBuf,
    /// From 1.
    pub(super) line: u32,
}

/// What a command starts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Application {
    /// As written; `None` for a shell.
    pub(super) text: Option<String>,
    /// It is filled in when the command runs.
    pub(super) is_template: bool,
    /// The scripts of the project that it may be, as the user would name them.
    pub(super) scripts: Vec<PathBuf>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) key: String,
    pub(super) value: Shown,
    pub(super) origin: Origin,
    /// Where the value comes from, in words.
    pub(super) place: String,
    /// Nearest first.
    pub(super) losers: Vec<Loser>,
    /// The value in the newest linked run, where that had another one.
    pub(super) last_run: Option<String>,
}

/// A value as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    Literal(String),
    /// The text as written, with what is filled in later; empty if it can't be told.
    Template(String),
    /// Each way to start the job has another value.
    Differs,
}

/// A value that is overridden.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Loser {
    pub(super) key: String,
    pub(super) value: Shown,
    pub(super) origin: Origin,
    pub(super) place: String,
    /// Why it lost.
    pub(super) why: String,
}

impl Job<'_> {
    /// The row of an older name that stands for the key.
    pub(super) fn older_row(&self, key: &str) -> Option<&Row> {
        let facts = catalog::setting(key)?;
        facts.older_names(self.conf.version()).find_map(|older| self.rows.iter().find(|row| row.key == older.name()))
    }
}

/// Every job of the files.
pub(super) fn all(inputs: &Inputs) -> Vec<Job<'_>> {
    inputs.files().flat_map(|(project, file)| of_file(project, file)).collect()
}

/// Every job once: what a command starts is told with the script, a settings file with the jobs that read it.
pub(super) fn distinct(inputs: &Inputs) -> Vec<Job<'_>> {
    let mut jobs = all(inputs);
    let is_told =
        |job: &Job<'_>| matches!(&job.about, About::Command(_, application) if application.scripts.len() == 1);
    let read: Vec<Arc<PathBuf>> = jobs
        .iter()
        .filter(|job| job.about != About::SettingsFile)
        .flat_map(|job| &job.rows)
        .flat_map(|row| std::iter::once(&row.origin).chain(row.losers.iter().map(|loser| &loser.origin)))
        .filter_map(|origin| match origin {
            Origin::Written { path, carrier: Carrier::Properties, .. } => Some(Arc::clone(path)),
            _ => None,
        })
        .collect();
    let is_read = |job: &Job<'_>| job.about == About::SettingsFile && read.iter().any(|path| shown(path) == job.path);
    jobs.retain(|job| !is_told(job) && !is_read(job));
    jobs
}

fn of_file<'a>(project: &'a Project, file: &InputFile) -> Vec<Job<'a>> {
    let links = workspace::link_runs(project, &file.path, &file.text, &file.facts);
    let is_about_settings = matches!(file.facts, Facts::Properties(_));
    let run = project.runs.iter().zip(&links).find(|(_, links)| is_about_settings || !links.links.is_empty());
    let run = run.map(|(run, _)| &**run);
    let confs = workspace::confs(project, &file.path, &file.text, &file.facts, &links);
    let mut jobs = Vec::new();
    for (index, (job, conf)) in file.facts.jobs().iter().zip(confs).enumerate() {
        let make = |about, conf| Job::new(project, file, about, conf, run.filter(|_| index == 0));
        match (&file.facts, job.submit) {
            (_, Some(submit)) => {
                jobs.push(make(About::Command(start_of_submit(file, submit), application_of(project, submit)), conf))
            }
            (Facts::Python(_) | Facts::Sql(_) | Facts::Notebook(_), None) if index == 0 => {
                jobs.extend(of_script(project, file, conf, run))
            }
            (Facts::Properties(_), None) => jobs.push(make(About::SettingsFile, conf)),
            (_, None) => {
                let start = job.settings.iter().map(|setting| setting.key_span.start).min().unwrap_or_default();
                jobs.push(make(About::Together(workspace::line_of(&file.text, start as usize)), conf));
            }
        }
    }
    jobs
}

/// One configuration for a script that is started in one way; for several, what they share and what each adds.
fn of_script<'a>(
    project: &'a Project,
    file: &InputFile,
    conf: EffectiveConf,
    run: Option<&MeasuredRun>,
) -> Vec<Job<'a>> {
    let code: Vec<_> = file.facts.settings().iter().filter(|setting| setting.carrier.is_code()).cloned().collect();
    let launches = project.launches(&file.path);
    let [_, _, ..] = launches.as_slice() else {
        let is_job =
            !launches.is_empty() || !code.is_empty() || file.facts.plan().is_some_and(|plan| plan.uses.builds_session);
        let about = About::Script(launches.first().map(start_of));
        return is_job.then(|| Job::new(project, file, about, conf, run)).into_iter().collect();
    };
    let code = workspace::layers(&file.path, &file.text, &code);
    let each: Vec<Job<'a>> = launches
        .iter()
        .map(|launch| {
            let layers = launch.layers.iter().chain(&code).cloned().collect();
            let conf = EffectiveConf::new(project.environment.version, layers);
            Job::new(project, file, About::Launch(start_of(launch)), conf, run)
        })
        .collect();
    let about = About::Common(launches.iter().map(start_of).collect());
    let mut common = Job::new(project, file, about, conf, run);
    let is_shared = |row: &Row| each.iter().all(|job| job.rows.contains(row));
    common.rows.retain(is_shared);
    let shared = common.rows.clone();
    let own = each.into_iter().map(|mut job| {
        job.rows.retain(|row| !shared.contains(row));
        job
    });
    std::iter::once(common).chain(own).collect()
}

/// What starts a script.
pub(super) fn start_of(launch: &Launch) -> Start {
    Start { tool: launch.tool, path: shown(&launch.path), line: launch.line }
}

/// A command or definition as what starts something.
pub(super) fn start_of_submit(file: &InputFile, submit: &Submit) -> Start {
    Start {
        tool: submit.tool,
        path: shown(&file.path),
        line: workspace::line_of(&file.text, submit.span.start as usize),
    }
}

/// What a command starts, with the scripts that it may be.
pub(super) fn application_of(project: &Project, submit: &Submit) -> Application {
    let named = submit.application.as_ref();
    let scripts = named.map(|named| project.sources.scripts_like(&named.text)).unwrap_or_default();
    Application {
        text: named.map(|named| named.text.clone()),
        is_template: named.is_some_and(|named| named.is_template),
        scripts: scripts.into_iter().map(shown).collect(),
    }
}

impl<'a> Job<'a> {
    fn new(
        project: &'a Project,
        file: &InputFile,
        about: About,
        conf: EffectiveConf,
        run: Option<&MeasuredRun>,
    ) -> Self {
        let rows = conf.winners().filter_map(|(key, effective)| {
            let winner = Layer {
                key: key.to_owned(),
                value: effective.value.map_or(Value::Unknown, Value::Literal),
                origin: effective.origin?,
            };
            Some(row(project, file, &conf, winner, effective.overridden, run))
        });
        let (recorded, rows) = rows.flatten().partition(|row| matches!(row.origin, Origin::Run(_)));
        Self { project, path: shown(&file.path), about, rows, recorded, conf }
    }
}

/// The row of a key; `None` if all that sets it comes too late to have an effect.
fn row(
    project: &Project,
    file: &InputFile,
    conf: &EffectiveConf,
    winner: Layer,
    overridden: Vec<Layer>,
    run: Option<&MeasuredRun>,
) -> Option<Row> {
    let (late, mut layers): (Vec<Layer>, Vec<Layer>) =
        std::iter::once(winner).chain(overridden).partition(|layer| is_too_late(layer, conf));
    let names = words::Names { project, file };
    let (winner, rest) = if layers.is_empty() {
        (default_of(&late.first()?.key, conf), Vec::new())
    } else {
        let winner = layers.remove(0);
        (winner, layers)
    };
    let lost = |layer: Layer, why: String| Loser {
        value: names.value(&layer),
        place: names.place(&layer.origin, &layer.key),
        key: layer.key,
        origin: layer.origin,
        why,
    };
    let mut losers: Vec<Loser> = Vec::new();
    for layer in late {
        losers.push(lost(layer, "a session that runs does not take it".to_owned()));
    }
    for layer in rest.into_iter().filter(|layer| !matches!(layer.origin, Origin::Run(_))) {
        let why = words::why(&winner, &layer);
        losers.push(lost(layer, why));
    }
    let last_run = run.and_then(|run| run.run.conf.get(&winner.key)).filter(|recorded| {
        let same = |text: &str| match catalog::setting(&winner.key) {
            Some(facts) => value::same_value(facts, conf.version(), text, recorded),
            None => text == recorded.as_str(),
        };
        winner.value.literal().is_some_and(|text| !same(text)) && !matches!(winner.origin, Origin::Run(_))
    });
    Some(Row {
        value: names.value(&winner),
        place: names.place(&winner.origin, &winner.key),
        losers,
        last_run: last_run.cloned(),
        key: winner.key,
        origin: winner.origin,
    })
}

/// Whether code sets at run time what is fixed when the application or its first session starts.
fn is_too_late(layer: &Layer, conf: &EffectiveConf) -> bool {
    let Origin::Written { carrier, .. } = layer.origin else { return false };
    let scope = catalog::setting(&layer.key).and_then(|facts| facts.scope(conf.version()));
    carrier.at_run_time() && matches!(scope, Some(Scope::Core | Scope::SqlStatic))
}

/// What holds when nobody sets the key in time.
fn default_of(key: &str, conf: &EffectiveConf) -> Layer {
    let value = catalog::setting(key).map(|facts| facts.default(conf.version()));
    let text = match value {
        Some(catalog::Default::Value(text)) => text.to_owned(),
        Some(catalog::Default::Fallback(other)) => format!("the value of {other}"),
        Some(catalog::Default::Symbolic(how)) => how.to_owned(),
        _ => "unset".to_owned(),
    };
    Layer { key: key.to_owned(), value: Value::Literal(text), origin: Origin::Default(conf.version()) }
}

/// A path of a layer, as the user would name it.
pub(super) fn path_of(path: &Path) -> String {
    shown(path).display().to_string()
}
