//! What a document is, and what was read out of it.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::conf::Setting;
use crate::conf::carriers::{CarrierKind, Extract, Problem, Submit};
use crate::conf::properties::PropertiesFile;
use crate::pyspark::StaticPlan;

/// What a document is, and what was read out of it.
#[derive(Debug, Clone)]
pub enum Facts {
    /// A properties file.
    Properties(Arc<PropertiesFile>),
    /// A Python file.
    Python(Arc<StaticPlan>),
    /// A script, a manifest, a template: settings among other things.
    Carrier(CarrierKind, Arc<Extract>),
    /// Nothing of Spark.
    Nothing,
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
            Self::Python(plan) => &plan.settings,
            Self::Carrier(_, extract) => &extract.settings,
            Self::Nothing => &[],
        }
    }

    /// The format, if the document is neither Python nor a properties file.
    pub fn format(&self) -> Option<CarrierKind> {
        match self {
            Self::Carrier(kind, _) => Some(*kind),
            Self::Properties(_) | Self::Python(_) | Self::Nothing => None,
        }
    }

    /// The properties file, if the document is one.
    pub fn properties(&self) -> Option<&PropertiesFile> {
        match self {
            Self::Properties(file) => Some(file),
            Self::Python(_) | Self::Carrier(..) | Self::Nothing => None,
        }
    }

    /// The static plan of a Python document.
    pub fn plan(&self) -> Option<&StaticPlan> {
        match self {
            Self::Python(plan) => Some(plan),
            Self::Properties(_) | Self::Carrier(..) | Self::Nothing => None,
        }
    }

    /// The commands and definitions that start jobs, in source order.
    pub fn submits(&self) -> &[Submit] {
        match self {
            Self::Python(plan) => &plan.submits,
            Self::Carrier(_, extract) => &extract.submits,
            Self::Properties(_) | Self::Nothing => &[],
        }
    }

    /// What a carrier reads otherwise than it looks.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Python(plan) => &plan.problems,
            Self::Carrier(_, extract) => &extract.problems,
            Self::Properties(_) | Self::Nothing => &[],
        }
    }

    /// The configurations that the document's settings belong to. The first is its own: that of a properties file, or of
    /// a Python file's code. The others are started by it, or stand together in it.
    pub fn jobs(&self) -> Vec<Job<'_>> {
        match self {
            Self::Properties(file) => vec![Job { submit: None, settings: Cow::Borrowed(&file.settings) }],
            Self::Python(plan) if plan.submits.is_empty() && plan.groups.is_empty() => {
                vec![Job { submit: None, settings: Cow::Borrowed(&plan.settings) }]
            }
            Self::Python(plan) => {
                let is_own = |setting: &&Setting| setting.carrier.is_code();
                let own: Vec<Setting> = plan.settings.iter().filter(is_own).cloned().collect();
                let own = Job { submit: None, settings: Cow::Owned(own) };
                std::iter::once(own).chain(started(&plan.settings, &plan.submits, &plan.groups)).collect()
            }
            Self::Carrier(_, extract) => started(&extract.settings, &extract.submits, &extract.groups),
            Self::Nothing => Vec::new(),
        }
    }
}

/// Each job with its settings, then the settings that stand together without one, then each of the rest alone.
fn started<'a>(settings: &[Setting], submits: &'a [Submit], groups: &[Vec<usize>]) -> Vec<Job<'a>> {
    let mut told = vec![false; settings.len()];
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
