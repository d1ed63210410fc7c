//! What a document is, and what was read out of it.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::conf::Setting;
use crate::conf::carriers::{CarrierKind, Extract, Problem, Submit, Tool};
use crate::conf::properties::PropertiesFile;
use crate::pyspark::StaticPlan;
use crate::text::Span;

/// What a document is, and what was read out of it.
#[derive(Debug, Clone)]
pub enum Facts {
    /// A properties file.
    Properties(Arc<PropertiesFile>),
    /// A Python file.
    Python(Arc<StaticPlan>),
    /// A script in SQL.
    Sql(Arc<StaticPlan>),
    /// The cells of a notebook as one text.
    Notebook(Arc<Notebook>),
    /// A script, a manifest, a template: settings among other things.
    Carrier(CarrierKind, Arc<Extract>),
    /// Nothing of Spark.
    Nothing,
}

/// What was read out of the cells of a notebook.
#[derive(Debug)]
pub struct Notebook {
    /// The cells' Python: as long as the text, with blanks for what the kernel runs itself.
    pub code: Arc<str>,
    /// What the code does, and what cells for the kernel set and start (`%%configure`, `!spark-submit`).
    pub plan: Arc<StaticPlan>,
    /// Where cells hold SQL, in source order.
    pub sql: Vec<Span>,
}

/// Settings of a document that make up one configuration.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// What starts it, if the document tells.
    pub submit: Option<&'a Submit>,
    /// Its settings in this document, weakest first where two of them have one key and rank.
    pub settings: Cow<'a, [Setting]>,
}

impl Facts {
    /// The settings written in the document.
    pub fn settings(&self) -> &[Setting] {
        match self {
            Self::Properties(file) => &file.settings,
            Self::Python(plan) | Self::Sql(plan) => &plan.settings,
            Self::Notebook(notebook) => &notebook.plan.settings,
            Self::Carrier(_, extract) => &extract.settings,
            Self::Nothing => &[],
        }
    }

    /// The format, if the document is neither code nor a properties file.
    pub fn format(&self) -> Option<CarrierKind> {
        match self {
            Self::Carrier(kind, _) => Some(*kind),
            Self::Properties(_) | Self::Python(_) | Self::Sql(_) | Self::Notebook(_) | Self::Nothing => None,
        }
    }

    /// The properties file, if the document is one.
    pub fn properties(&self) -> Option<&PropertiesFile> {
        match self {
            Self::Properties(file) => Some(file),
            Self::Python(_) | Self::Sql(_) | Self::Notebook(_) | Self::Carrier(..) | Self::Nothing => None,
        }
    }

    /// The static plan of Python and SQL.
    pub fn plan(&self) -> Option<&StaticPlan> {
        match self {
            Self::Python(plan) | Self::Sql(plan) => Some(plan),
            Self::Notebook(notebook) => Some(&notebook.plan),
            Self::Properties(_) | Self::Carrier(..) | Self::Nothing => None,
        }
    }

    /// The commands and definitions that start jobs, in source order.
    pub fn submits(&self) -> &[Submit] {
        match self {
            Self::Python(plan) | Self::Sql(plan) => &plan.submits,
            Self::Notebook(notebook) => &notebook.plan.submits,
            Self::Carrier(_, extract) => &extract.submits,
            Self::Properties(_) | Self::Nothing => &[],
        }
    }

    /// What a carrier reads otherwise than it looks.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Python(plan) | Self::Sql(plan) => &plan.problems,
            Self::Notebook(notebook) => &notebook.plan.problems,
            Self::Carrier(_, extract) => &extract.problems,
            Self::Properties(_) | Self::Nothing => &[],
        }
    }

    /// The configurations that the document's settings belong to. The first is its own: that of a properties file, or of
    /// a Python file's code. The others are started by it, or stand together in it.
    pub fn jobs(&self) -> Vec<Job<'_>> {
        match self {
            Self::Properties(file) => vec![Job { submit: None, settings: Cow::Borrowed(&file.settings) }],
            Self::Python(plan) | Self::Sql(plan) => of_code(plan, |_| false),
            // `%%configure` is the configuration of the session that the cells run in.
            Self::Notebook(notebook) => of_code(&notebook.plan, |submit| {
                submit.tool == Tool::Definition && submit.span.of(&notebook.code).trim().is_empty()
            }),
            Self::Carrier(_, extract) => {
                let submits: Vec<&Submit> = extract.submits.iter().collect();
                started(&extract.settings, &submits, &extract.groups, &FxHashSet::default())
            }
            Self::Nothing => Vec::new(),
        }
    }
}

/// The job of a program's own code, with the submits that are about it, then the jobs that it starts.
fn of_code(plan: &StaticPlan, is_own: impl Fn(&Submit) -> bool) -> Vec<Job<'_>> {
    if plan.submits.is_empty() && plan.groups.is_empty() {
        return vec![Job { submit: None, settings: Cow::Borrowed(&plan.settings) }];
    }
    let (own, others): (Vec<&Submit>, Vec<&Submit>) = plan.submits.iter().partition(|submit| is_own(submit));
    let own: FxHashSet<usize> = own.into_iter().flat_map(|submit| submit.settings.iter().copied()).collect();
    let is_own = |(index, setting): &(usize, &Setting)| own.contains(index) || setting.carrier.is_code();
    let settings = plan.settings.iter().enumerate().filter(is_own).map(|(_, setting)| setting.clone()).collect();
    let mut jobs = vec![Job { submit: None, settings: Cow::Owned(settings) }];
    jobs.extend(started(&plan.settings, &others, &plan.groups, &own));
    jobs
}

/// Each job with its settings, then the settings that stand together without one, then each of the rest alone.
fn started<'a>(
    settings: &[Setting],
    submits: &[&'a Submit],
    groups: &[Vec<usize>],
    already: &FxHashSet<usize>,
) -> Vec<Job<'a>> {
    let mut told: Vec<bool> = (0..settings.len()).map(|index| already.contains(&index)).collect();
    let mut job = |submit: Option<&'a Submit>, indices: &[usize]| {
        let settings = indices.iter().filter_map(|index| {
            *told.get_mut(*index)? = true;
            settings.get(*index).cloned()
        });
        Job { submit, settings: Cow::Owned(settings.collect()) }
    };
    let mut jobs: Vec<Job<'a>> = submits.iter().map(|submit| job(Some(submit), &submit.settings)).collect();
    let in_a_job: FxHashSet<usize> = submits.iter().flat_map(|submit| submit.settings.iter().copied()).collect();
    let alone = groups.iter().filter(|group| !group.iter().any(|index| in_a_job.contains(index)));
    jobs.extend(alone.map(|group| job(None, group)));
    let rest: Vec<usize> = (0..told.len()).filter(|index| !told[*index]).collect();
    jobs.extend(
        rest.into_iter()
            .filter(|index| !settings[*index].carrier.is_code())
            .map(|index| Job { submit: None, settings: Cow::Owned(vec![settings[index].clone()]) }),
    );
    jobs
}
