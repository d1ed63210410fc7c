//! EMR's classifications, in both letter cases: a map with a name and properties, and further ones inside.

use super::Shapes;
use crate::conf::Carrier;
use crate::conf::carriers::tree::Node;

/// The classifications that become `spark-defaults.conf`.
const SPARK_DEFAULTS: [&str; 1] = ["spark-defaults"];

impl Shapes<'_, '_> {
    /// The properties of a `spark-defaults` classification; says which settings they are.
    pub(super) fn classification(&mut self, node: &Node<'_>) -> Vec<usize> {
        let name = node.scalar(&["Classification", "classification"]).map(|name| name.as_str());
        let properties = node.get(&[
            "Properties",
            "properties",
            "ConfigurationProperties",
            "configurationProperties",
            "configuration_properties",
        ]);
        match (name, properties) {
            (Some(name), Some(properties)) if SPARK_DEFAULTS.contains(&name) => self.all(properties, Carrier::Cluster),
            _ => Vec::new(),
        }
    }

    /// The settings of the classifications that one job brings.
    pub(super) fn classified(&mut self, overrides: &Node<'_>) -> Vec<usize> {
        let names = ["applicationConfiguration", "application_configuration", "ApplicationConfiguration"];
        match overrides.get(&names) {
            Some(Node::List(nodes)) => nodes.iter().flat_map(|node| self.classification(node)).collect(),
            _ => Vec::new(),
        }
    }
}
