//! EMR's classifications, in both letter cases: a map with a name and properties, and further ones inside.

use super::Shapes;
use crate::conf::Carrier;
use crate::conf::carriers::tree::Node;

/// The classifications that become `spark-defaults.conf`.
const SPARK_DEFAULTS: [&str; 1] = ["spark-defaults"];

impl Shapes<'_, '_> {
    /// The properties of a `spark-defaults` classification.
    pub(super) fn classification(&mut self, node: &Node<'_>) {
        let Some(name) = node.scalar(&["Classification", "classification"]) else { return };
        let properties = node.get(&[
            "Properties",
            "properties",
            "ConfigurationProperties",
            "configurationProperties",
            "configuration_properties",
        ]);
        if let Some(properties) = properties.filter(|_| SPARK_DEFAULTS.contains(&name.as_str())) {
            self.all(properties, Carrier::Cluster);
        }
    }
}
