//! Which of the places that set a key wins.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::value::{self, Parsed};
use super::{Bytes, Carrier, Millis, Value};
use crate::catalog::{self, Default, SparkVersion};

/// Where an effective value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Written in a document.
    Written {
        /// How.
        carrier: Carrier,
        /// The document.
        path: Arc<PathBuf>,
        /// Line, from 1.
        line: u32,
    },
    /// The job is started in several ways that differ here: what holds in each of them.
    Launches(Arc<[Layer]>),
    /// Recorded in the environment of a linked run (its label).
    Run(String),
    /// The default of this Spark version.
    Default(SparkVersion),
}

impl Origin {
    /// Who wins: a higher rank overrides a lower one. What a run recorded overrides what was written for its start,
    /// and is itself overridden by what the code sets at run time.
    fn rank(&self) -> u8 {
        match self {
            Self::Default(_) => 0,
            Self::Written { carrier, .. } => 2 * carrier.rank(),
            Self::Launches(_) => 2 * Carrier::SubmitFlag.rank(),
            Self::Run(_) => 2 * Carrier::SparkConf.rank() + 1,
        }
    }
}

/// A setting of one of the documents that make up a job, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Where.
    pub origin: Origin,
}

impl Layer {
    /// Whether Spark takes it: from a properties file it drops keys without `spark.`.
    fn is_kept(&self) -> bool {
        let from_properties = matches!(self.origin, Origin::Written { carrier: Carrier::Properties, .. });
        !from_properties || self.key.starts_with("spark.")
    }
}

/// The value in force for a key, and what it overrides, nearest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// The value; `None` for an optional setting that nobody set, or for a value that isn't known (`template`).
    pub value: Option<String>,
    /// The winner is written as a template or an expression that the file doesn't tell.
    pub template: bool,
    /// Who set it; `None` if the key is unknown and nobody set it.
    pub origin: Option<Origin>,
    /// Who lost, nearest first.
    pub overridden: Vec<Layer>,
}

/// A command that starts a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The document that it stands in.
    pub path: Arc<PathBuf>,
    /// Line, from 1.
    pub line: u32,
}

/// The effective configuration of one job: an immutable snapshot.
#[derive(Debug, Clone)]
pub struct EffectiveConf {
    version: SparkVersion,
    submitted: Option<Start>,
    /// Sorted by key, and so that the winner of a key comes first.
    layers: Vec<Layer>,
}

/// Who lost behind so many is of no interest to anybody.
const MOST_OVERRIDDEN: usize = 32;

/// Fallback keys lead to fallback keys, but never far.
const LONGEST_FALLBACK: usize = 8;

impl EffectiveConf {
    /// The configuration that these layers make up under this Spark version; later layers of one rank win.
    pub fn new(version: SparkVersion, mut layers: Vec<Layer>) -> Self {
        layers.retain(Layer::is_kept);
        layers.reverse();
        layers.sort_by(|a, b| (&a.key, Reverse(a.origin.rank())).cmp(&(&b.key, Reverse(b.origin.rank()))));
        Self { version, submitted: None, layers }
    }

    /// The same configuration with what a run recorded in its environment (key to value). It overrides what is written
    /// for the job's start, where both differ. Of several runs the one given last wins.
    pub fn with_run(self, label: &str, environment: &BTreeMap<String, String>) -> Self {
        let recorded = environment.iter().map(|(key, value)| Layer {
            key: key.clone(),
            value: Value::Literal(value.clone()),
            origin: Origin::Run(label.to_owned()),
        });
        let written = self.layers.into_iter().rev();
        Self::new(self.version, written.chain(recorded).collect()).with_submit(self.submitted)
    }

    /// The same configuration of a job that this `spark-submit` starts, whose JVM runs before the job's code.
    pub fn with_submit(self, submitted: Option<Start>) -> Self {
        Self { submitted, ..self }
    }

    /// The `spark-submit` that is known to start the job; one of them, if it is started in several ways.
    pub fn submitted(&self) -> Option<&Start> {
        self.submitted.as_ref()
    }

    /// The Spark version whose defaults apply.
    pub fn version(&self) -> SparkVersion {
        self.version
    }

    /// The value in force for `key`, through aliases of the key, else the version's default.
    pub fn get(&self, key: &str) -> Effective {
        self.written(key).unwrap_or_else(|| self.fallback(key, LONGEST_FALLBACK))
    }

    /// Every key that some layer sets, sorted, with its value in force.
    pub fn winners(&self) -> impl Iterator<Item = (&str, Effective)> {
        let keys = self.layers.chunk_by(|a, b| a.key == b.key);
        keys.filter_map(|layers| Some((layers.first()?.key.as_str(), self.in_force(layers)?)))
    }

    /// The value in force as a boolean; `None` if unset, unknown or not a boolean.
    pub fn boolean(&self, key: &str) -> Option<bool> {
        value::boolean(self.get(key).value?.trim()).ok()
    }

    /// The value in force as a whole number; `None` if unset, unknown or no such number.
    pub fn integer(&self, key: &str) -> Option<i64> {
        value::integer(self.get(key).value?.trim(), i64::MIN, i64::MAX).ok()
    }

    /// The value in force as a number; `None` if unset, unknown or no number.
    pub fn double(&self, key: &str) -> Option<f64> {
        value::double(&self.get(key).value?).ok()
    }

    /// The value in force as a size, in the unit of the setting where it is a bare number; `None` if unset, unknown or
    /// no size.
    pub fn bytes(&self, key: &str) -> Option<Bytes> {
        self.parsed(key)?.bytes()
    }

    /// The value in force as a duration, in the unit of the setting where it is a bare number; `None` if unset, unknown
    /// or no duration.
    pub fn millis(&self, key: &str) -> Option<Millis> {
        self.parsed(key)?.millis()
    }

    fn parsed(&self, key: &str) -> Option<Parsed> {
        value::parse(catalog::setting(key)?, self.version, &self.get(key).value?).ok()
    }

    fn layers_of(&self, key: &str) -> &[Layer] {
        let first = self.layers.partition_point(|layer| layer.key.as_str() < key);
        let layers = &self.layers[first..];
        &layers[..layers.partition_point(|layer| layer.key == key)]
    }

    /// The value that some layer sets under the key, else under an older name of it.
    fn written(&self, key: &str) -> Option<Effective> {
        let facts = catalog::setting(key);
        let older = || facts.into_iter().flat_map(|facts| facts.older_names(self.version));
        let mut found = self.in_force(self.layers_of(key));
        for facts in older() {
            let layers = self.layers_of(facts.name());
            match &mut found {
                Some(found) => found.overridden.extend_from_slice(layers),
                None => {
                    found = self.in_force(layers);
                    // Spark converts the value of such a name; what comes out is not told here.
                    let translates = facts.alternative_of().is_some_and(|main| main.translates);
                    if let Some(found) = found.as_mut().filter(|_| translates) {
                        (found.value, found.template) = (None, true);
                    }
                }
            }
        }
        found
    }

    /// The winner among the layers of one key. Where a run recorded what is written, the place that says so is named.
    fn in_force(&self, layers: &[Layer]) -> Option<Effective> {
        let first = layers.first()?;
        let is_run = |layer: &Layer| matches!(layer.origin, Origin::Run(_));
        let written = layers.iter().find(|layer| !is_run(layer)).filter(|layer| self.agree(first, layer));
        let winner = written.unwrap_or(first);
        let says_so = |layer: &Layer| std::ptr::eq(layer, winner) || (is_run(layer) && self.agree(layer, winner));
        Some(Effective {
            value: winner.value.literal().map(str::to_owned),
            template: winner.value.literal().is_none(),
            origin: Some(winner.origin.clone()),
            overridden: layers.iter().filter(|layer| !says_so(layer)).take(MOST_OVERRIDDEN).cloned().collect(),
        })
    }

    fn agree(&self, a: &Layer, b: &Layer) -> bool {
        let (Some(left), Some(right)) = (a.value.literal(), b.value.literal()) else { return false };
        let same = |facts| value::same_value(facts, self.version, left, right);
        catalog::setting(&a.key).map_or(left == right, same)
    }

    /// The value of a key that nobody sets: the version's default, or the value of the key that it falls back to.
    fn fallback(&self, key: &str, left: usize) -> Effective {
        let default = |value: Option<&str>| Effective {
            value: value.map(str::to_owned),
            template: false,
            origin: Some(Origin::Default(self.version)),
            overridden: Vec::new(),
        };
        if let Some(value) = pyspark_default(key, self.version) {
            return default(Some(value));
        }
        match catalog::setting(key).map(|facts| facts.default(self.version)) {
            Some(Default::Value(value)) => default(Some(value)),
            Some(Default::Fallback(other)) if left > 0 => {
                self.written(other).unwrap_or_else(|| self.fallback(other, left - 1))
            }
            Some(Default::Unset | Default::Symbolic(_) | Default::Unknown | Default::Fallback(_)) => default(None),
            Some(Default::Absent) | None => Effective { origin: None, ..default(None) },
        }
    }
}

/// Defaults that PySpark sets in place of the JVM's.
fn pyspark_default(key: &str, version: SparkVersion) -> Option<&'static str> {
    match key {
        "spark.rdd.compress" => Some("true"),
        "spark.sql.artifact.isolation.enabled" if version.at_least(4, 0) => Some("false"),
        _ => None,
    }
}
