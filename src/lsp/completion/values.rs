//! Values by the type of the setting.

use super::Offer;
use crate::catalog::{self, Default, Kind, SettingFacts, SparkVersion};
use crate::conf::{Bytes, value};

/// Values worth offering for a key: all there are, or the default and what lies around it.
pub(super) fn of(key: &str, version: SparkVersion) -> Vec<Offer> {
    let Some(facts) = catalog::setting(key) else { return Vec::new() };
    let default = match facts.default(version) {
        Default::Value(default) if !default.is_empty() => Some(default),
        _ => None,
    };
    let mut values: Vec<String> = default.map(str::to_owned).into_iter().collect();
    values.extend(match facts.kind(version) {
        Kind::Boolean => vec!["true".to_owned(), "false".to_owned()],
        Kind::Bytes(_) => sizes_around(facts, version, default),
        _ => facts.allowed(version).iter().map(|word| (*word).to_owned()).collect(),
    });
    let mut offered: Vec<Offer> = Vec::new();
    for label in values {
        if !offered.iter().any(|offer| offer.label.eq_ignore_ascii_case(&label)) {
            let is_default = Some(label.as_str()) == default;
            let detail = is_default.then(|| format!("default of Spark {version}"));
            offered.push(Offer { label, detail, deprecated: false, key: None });
        }
    }
    offered
}

/// A quarter to four times the default, in the largest unit that divides it.
fn sizes_around(facts: &SettingFacts, version: SparkVersion, default: Option<&str>) -> Vec<String> {
    let parsed = default.and_then(|default| value::parse(facts, version, default).ok()?.bytes());
    let Some(Bytes(default)) = parsed.filter(|bytes| bytes.0 > 0) else { return Vec::new() };
    let around = [default / 4, default / 2, default, default.saturating_mul(2), default.saturating_mul(4)];
    around.into_iter().filter(|bytes| *bytes > 0).map(spelled).collect()
}

fn spelled(bytes: i64) -> String {
    let units = [("g", 1i64 << 30), ("m", 1 << 20), ("k", 1 << 10)];
    let unit = units.iter().find(|(_, size)| bytes % size == 0);
    unit.map_or_else(|| format!("{bytes}b"), |(suffix, size)| format!("{}{suffix}", bytes / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(key: &str) -> Vec<String> {
        of(key, SparkVersion::new(3, 5, 0)).into_iter().map(|offer| offer.label).collect()
    }

    #[test]
    fn the_type_says_what_is_offered() {
        assert_eq!(labels("spark.sql.adaptive.enabled"), ["true", "false"]);
        assert_eq!(labels("spark.sql.files.maxPartitionBytes"), ["128MB", "32m", "64m", "128m", "256m", "512m"]);
        assert!(labels("spark.sql.sources.partitionOverwriteMode").contains(&"DYNAMIC".to_owned()));
        assert_eq!(labels("spark.sql.shuffle.partitions"), ["200"]);
        assert_eq!(labels("spark.no.such.key"), [""; 0]);
    }
}
