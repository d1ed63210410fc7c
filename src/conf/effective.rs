//! Which of the places that set a key wins.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Carrier, Value};
use crate::catalog::SparkVersion;

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
    /// Recorded in the environment of a linked run (its label).
    Run(String),
    /// The default of this Spark version.
    Default(SparkVersion),
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

/// The effective configuration of one job: an immutable snapshot.
#[derive(Debug, Clone)]
pub struct EffectiveConf {
    version: SparkVersion,
    /// Sorted so that the winner of a key comes first.
    layers: Vec<Layer>,
}

impl EffectiveConf {
    /// The configuration that these layers make up under this Spark version; later layers of one rank win.
    pub fn new(version: SparkVersion, layers: Vec<Layer>) -> Self {
        Self { version, layers }
    }

    /// The Spark version whose defaults apply.
    pub fn version(&self) -> SparkVersion {
        self.version
    }

    /// The value in force for `key`, through aliases of the key, else the version's default.
    pub fn get(&self, key: &str) -> Effective {
        let _ = (key, &self.layers);
        Effective { value: None, template: false, origin: None, overridden: Vec::new() }
    }

    /// The value in force as a boolean; `None` if unset, unknown or not a boolean.
    pub fn boolean(&self, key: &str) -> Option<bool> {
        self.get(key).value?.trim().to_ascii_lowercase().parse().ok()
    }
}
