//! A project at a glance: its Spark version, its jobs, and where its settings are.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::job::{Application, Start, application_of, start_of, start_of_submit};
use super::page::{beside, bold, dim, wrap};
use super::{Args, Format, json as form, words};
use crate::analysis::Facts;
use crate::cli::inputs::{InputFile, Inputs, settings_files, shown};
use crate::cli::words::count;
use crate::workspace::{Project, VersionSource};

/// What one file brings.
struct Entry {
    path: PathBuf,
    settings: usize,
    /// What starts it.
    launches: Vec<Start>,
    /// What it starts.
    starts: Vec<(Start, Application)>,
}

/// The files of a project by what they are.
#[derive(Default)]
struct Overview {
    scripts: Vec<Entry>,
    files: Vec<Entry>,
    others: Vec<Entry>,
}

impl Overview {
    fn of(project: &Project, inputs: &Inputs) -> Self {
        let mut overview = Self::default();
        for (_, file) in inputs.files().filter(|(other, _)| other.root == project.root) {
            let entry = Entry::of(project, file);
            let is_told = entry.settings > 0 || !entry.launches.is_empty() || !entry.starts.is_empty();
            match &file.facts {
                Facts::Python(plan) if is_told || plan.uses.builds_session => overview.scripts.push(entry),
                Facts::Sql(_) if is_told => overview.scripts.push(entry),
                Facts::Properties(_) => overview.files.push(entry),
                Facts::Carrier(..) if is_told => overview.others.push(entry),
                Facts::Python(_) | Facts::Sql(_) | Facts::Notebook(_) | Facts::Carrier(..) | Facts::Nothing => {}
            }
        }
        overview
    }
}

impl Entry {
    fn of(project: &Project, file: &InputFile) -> Self {
        let starts = file.facts.submits().iter();
        Self {
            path: shown(&file.path),
            settings: file.facts.settings().len(),
            launches: project.launches(&file.path).iter().map(start_of).collect(),
            starts: starts.map(|submit| (start_of_submit(file, submit), application_of(project, submit))).collect(),
        }
    }
}

pub(super) fn page(inputs: &Inputs, args: &Args) -> String {
    let asked = args.spark_version.is_some();
    match args.format {
        Format::Text => inputs.projects().map(|project| text(project, inputs, asked)).collect::<Vec<_>>().join("\n"),
        Format::Json => {
            let projects: Vec<Value> = inputs.projects().map(|project| json(project, inputs)).collect();
            format!("{:#}\n", json!({ "version": 1, "projects": projects }))
        }
    }
}

fn text(project: &Project, inputs: &Inputs, asked: bool) -> String {
    const COLUMN: usize = 30;
    let mut page = String::new();
    wrap(&mut page, bold(), 0, &format!("Project {}", shown(&project.root).display()));
    let version = format!("Spark {}", project.environment.version);
    beside(&mut page, 2, &version, COLUMN, &words::version_source(project, asked));
    let own = settings_files(&project.root);
    let own = if own.is_empty() { "none".to_owned() } else { names(&own) };
    beside(&mut page, 2, "Settings of sparkls", COLUMN, &own);
    let defaults = project.defaults_path.as_deref().map(|path| shown(path).display().to_string());
    beside(&mut page, 2, "Settings file of Spark", COLUMN, defaults.as_deref().unwrap_or("none"));
    let Overview { scripts, files, others } = Overview::of(project, inputs);
    for (title, entries) in [("Jobs", scripts), ("Settings files", files), ("Other places", others)] {
        if entries.is_empty() {
            continue;
        }
        page.push('\n');
        wrap(&mut page, bold(), 0, title);
        let widths = entries.iter().map(|entry| entry.path.display().to_string().chars().count());
        let column = widths.max().unwrap_or_default().min(60) + 4;
        for entry in &entries {
            let path = entry.path.display().to_string();
            beside(&mut page, 2, &path, column, &count(entry.settings, "setting"));
            for start in &entry.launches {
                wrap(&mut page, dim(), 6, &format!("started by {}", words::start(start)));
            }
            for (start, application) in &entry.starts {
                starts(&mut page, start, application);
            }
        }
    }
    page
}

fn starts(page: &mut String, start: &Start, application: &Application) {
    let name = application.text.as_deref().unwrap_or("a shell");
    let script = match application.scripts.as_slice() {
        [script] => format!(" ({})", script.display()),
        _ => String::new(),
    };
    wrap(page, dim(), 6, &format!("line {}, {}: {name}{script}", start.line, words::tool(start.tool)));
    if let Some(ambiguity) = words::ambiguity(application) {
        wrap(page, dim(), 8, &ambiguity);
    }
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| shown(path).display().to_string()).collect::<Vec<_>>().join(", ")
}

fn json(project: &Project, inputs: &Inputs) -> Value {
    let name = |path: &Path| shown(path).to_string_lossy().into_owned();
    let (source, named) = match &project.version_source {
        VersionSource::Setting => ("setting", None),
        VersionSource::Run(label) => ("run", Some(label.clone())),
        VersionSource::Requirement(path) => ("requirement", Some(name(path))),
        VersionSource::Installed(path) => ("installed", Some(name(path))),
        VersionSource::Newest => ("newest", None),
    };
    let entry = |entry: &Entry| {
        let starts = entry.starts.iter().map(|(start, application)| {
            let mut object = form::start(start);
            object["application"] = form::application(application);
            object
        });
        json!({
            "path": entry.path.to_string_lossy(),
            "settings": entry.settings,
            "started_by": entry.launches.iter().map(form::start).collect::<Vec<_>>(),
            "starts": starts.collect::<Vec<_>>(),
        })
    };
    let list = |entries: &[Entry]| entries.iter().map(entry).collect::<Vec<_>>();
    let overview = Overview::of(project, inputs);
    json!({
        "root": name(&project.root),
        "spark_version": project.environment.version.to_string(),
        "spark_version_from": { "kind": source, "name": named },
        "settings_of_sparkls": settings_files(&project.root).iter().map(|path| name(path)).collect::<Vec<_>>(),
        "defaults_file": project.defaults_path.as_deref().map(name),
        "scripts": list(&overview.scripts),
        "settings_files": list(&overview.files),
        "other_places": list(&overview.others),
    })
}
