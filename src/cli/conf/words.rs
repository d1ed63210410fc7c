//! Places, values and reasons in words.

use std::path::Path;

use super::job::{Application, Shown, Start, path_of};
use crate::catalog::{self, Default, SparkVersion};
use crate::cli::explain::setting;
use crate::cli::inputs::{InputFile, shown};
use crate::conf::carriers::Tool;
use crate::conf::{Carrier, Layer, Origin, Setting};
use crate::workspace::{Project, VersionSource, line_of};

/// What knows how settings are written.
pub(super) struct Names<'a> {
    pub(super) project: &'a Project,
    pub(super) file: &'a InputFile,
}

impl Names<'_> {
    /// The value as it can be shown: the text as written where something fills it in later.
    pub(super) fn value(&self, layer: &Layer) -> Shown {
        match (layer.value.literal(), &layer.origin) {
            (Some(text), _) => Shown::Literal(text.to_owned()),
            (None, Origin::Launches(_)) => Shown::Differs,
            (None, origin) => {
                let written = self.written(origin, &layer.key);
                let text = written.and_then(|(text, setting)| text.get(setting.value_span.range()));
                Shown::Template(text.unwrap_or_default().to_owned())
            }
        }
    }

    /// `--conf in deploy/run.sh:12`.
    pub(super) fn place(&self, origin: &Origin, key: &str) -> String {
        let Origin::Written { carrier, path, line } = origin else { return elsewhere(origin) };
        let at = format!("{}:{line}", path_of(path));
        let how = match carrier {
            Carrier::Properties => return at,
            Carrier::Builder => "SparkSession.builder",
            Carrier::SparkConf => "SparkConf",
            Carrier::RuntimeSet => "spark.conf.set",
            Carrier::SqlSet => "SET",
            Carrier::Cluster => "the cluster's settings",
            Carrier::SubmitConf => "--conf",
            Carrier::Job => "the job's settings",
            Carrier::SubmitFlag | Carrier::JobField => {
                let written = self.written(origin, key);
                let name = written.and_then(|(text, setting)| text.get(setting.key_span.range()));
                return format!("{} in {at}", name.unwrap_or("a flag"));
            }
        };
        format!("{how} in {at}")
    }

    /// The setting of a place, and the text that it stands in.
    fn written(&self, origin: &Origin, key: &str) -> Option<(&str, &Setting)> {
        let Origin::Written { path, line, .. } = origin else { return None };
        if **path == self.file.path {
            let here = |setting: &&Setting| {
                setting.key == key && line_of(&self.file.text, setting.key_span.start as usize) == *line
            };
            return self.file.facts.settings().iter().find(here).map(|setting| (&*self.file.text, setting));
        }
        let source = self.project.sources.at(path)?;
        let mut settings = source.settings.iter();
        let setting =
            settings.find(|one| one.key == key && line_of(&source.text, one.key_span.start as usize) == *line)?;
        Some((&source.text, setting))
    }
}

fn elsewhere(origin: &Origin) -> String {
    match origin {
        Origin::Run(label) => format!("recorded in run {label}"),
        Origin::Default(version) => format!("default of Spark {}", minor(*version)),
        Origin::Launches(_) => "set differently by what starts it".to_owned(),
        Origin::Written { .. } => String::new(),
    }
}

/// Why the winner of a key beats another layer.
pub(super) fn why(winner: &Layer, loser: &Layer) -> String {
    if winner.key != loser.key {
        return format!("an older name, read only where {} is not set", winner.key);
    }
    let Origin::Written { carrier, line, .. } = &winner.origin else {
        return "what starts it wins".to_owned();
    };
    let Origin::Written { carrier: other, .. } = &loser.origin else {
        return "code wins over how the job is started".to_owned();
    };
    let file = if *other == Carrier::Cluster { "the cluster's settings" } else { "a settings file" };
    match carrier {
        _ if carrier.rank() == other.rank() && carrier.at_run_time() => format!("until line {line} sets it again"),
        _ if carrier.rank() == other.rank() => "the last one wins".to_owned(),
        _ if carrier.at_run_time() => format!("until line {line} sets it at run time"),
        _ if carrier.is_code() => "code wins over how the job is started".to_owned(),
        Carrier::SubmitFlag if *other == Carrier::SubmitConf => "a flag wins over --conf".to_owned(),
        Carrier::SubmitFlag => format!("a flag wins over {file}"),
        Carrier::JobField if matches!(other, Carrier::Job | Carrier::SubmitConf) => {
            "a field of its own wins over the list of settings".to_owned()
        }
        Carrier::SubmitConf => format!("--conf wins over {file}"),
        _ => format!("the job's settings win over {file}"),
    }
}

/// What starts a job, as a user would call it.
pub(super) fn tool(tool: Tool) -> &'static str {
    match tool {
        Tool::SparkSubmit => "spark-submit",
        Tool::PySpark => "pyspark",
        Tool::SparkShell => "spark-shell",
        Tool::SparkSql => "spark-sql",
        Tool::SparkR => "sparkR",
        Tool::PySparkSubmitArgs => "PYSPARK_SUBMIT_ARGS",
        Tool::Definition => "a definition",
    }
}

/// `spark-submit in run.sh:8`.
pub(super) fn start(start: &Start) -> String {
    format!("{} in {}:{}", tool(start.tool), start.path.display(), start.line)
}

/// What is not known of what a command starts; `None` where it is known, or no Python.
pub(super) fn ambiguity(application: &Application) -> Option<String> {
    let text = application.text.as_deref()?;
    match application.scripts.as_slice() {
        [_] => None,
        [] if application.is_template => {
            Some(format!("{text} is filled in when it runs: what its code sets is not known here"))
        }
        [] if text.ends_with(".py") => {
            Some(format!("no script of the project is {text}: what its code sets is not known here"))
        }
        [] => None,
        several => {
            let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            Some(format!("{text} may be {}: what their code sets is left out", names.join(" or ")))
        }
    }
}

/// `3.5` of `3.5.9`.
pub(super) fn minor(version: SparkVersion) -> String {
    format!("{}.{}", version.major, version.minor)
}

/// Which answer to "which Spark?" came first. `asked` tells that the command line gave it.
pub(super) fn version_source(project: &Project, asked: bool) -> String {
    let file = |path: &Path| shown(path).display().to_string();
    match &project.version_source {
        VersionSource::Setting if asked => "--spark-version".to_owned(),
        VersionSource::Setting => "spark-version in the settings".to_owned(),
        VersionSource::Run(label) => format!("run {label}"),
        VersionSource::Requirement(path) => file(path),
        VersionSource::Installed(path) => format!("installed in {}", file(path)),
        VersionSource::Newest => "the newest known; nothing here names one".to_owned(),
    }
}

/// `0.75 (Spark 3.0-3.5), 0.9 (4.0-4.3)`; empty for what no Spark declares.
pub(super) fn history(key: &str) -> String {
    let history = catalog::setting(key).map(catalog::SettingFacts::history).unwrap_or_default();
    let one = |(index, (releases, value)): (usize, &(catalog::Releases, Default))| {
        let spark = if index == 0 { "Spark " } else { "" };
        format!("{} ({spark}{releases})", setting::default_words(*value))
    };
    history.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}

/// The place of one of several layers that differ.
pub(super) fn layer_place(layer: &Layer) -> String {
    match &layer.origin {
        Origin::Written { path, line, .. } => format!("{}:{line}", path_of(path)),
        other => elsewhere(other),
    }
}
