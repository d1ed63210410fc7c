//! Values by the type of the setting.

use super::Offer;
use crate::catalog::{self, Default, Kind, SettingFacts, SparkVersion};
use crate::conf::value::Parsed;
use crate::conf::{Bytes, Millis, value};

/// The short names of the codecs that Spark brings for its own blocks; a class name is taken as well.
const CODECS: [&str; 4] = ["lz4", "lzf", "snappy", "zstd"];

/// Units of a size and of a duration, largest first, in bytes and milliseconds.
const SIZES: [(&str, i64); 5] = [("t", 1 << 40), ("g", 1 << 30), ("m", 1 << 20), ("k", 1 << 10), ("b", 1)];
const DURATIONS: [(&str, i64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)];

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
        Kind::Bytes(_) | Kind::Time(_) => around(facts, version, default),
        _ if key.ends_with("io.compression.codec") || key.ends_with("eventLog.compression.codec") => {
            CODECS.map(str::to_owned).to_vec()
        }
        _ => facts.allowed(version).iter().map(|word| (*word).to_owned()).collect(),
    });
    let mut offered: Vec<Offer> = Vec::new();
    for label in values {
        if !offered.iter().any(|offer| offer.label.eq_ignore_ascii_case(&label)) {
            let is_default = Some(label.as_str()) == default;
            let detail = is_default.then(|| format!("default of Spark {version}"));
            offered.push(Offer { detail, ..Offer::new(label) });
        }
    }
    offered
}

/// A quarter to four times the default; where there is none, or none that scales, some of each unit.
fn around(facts: &SettingFacts, version: SparkVersion, default: Option<&str>) -> Vec<String> {
    let parsed = default.and_then(|default| value::parse(facts, version, default).ok());
    let amount = match parsed.as_ref().and_then(Parsed::bytes) {
        Some(Bytes(bytes)) => Some(bytes),
        None => parsed.as_ref().and_then(Parsed::millis).map(|Millis(millis)| millis),
    };
    let is_size = matches!(facts.kind(version), Kind::Bytes(_));
    match amount.filter(|amount| *amount > 0) {
        Some(default) => {
            let scaled = [default / 4, default / 2, default, default.saturating_mul(2), default.saturating_mul(4)];
            let units = if is_size { &SIZES } else { &DURATIONS };
            scaled.into_iter().filter(|amount| *amount > 0).map(|amount| spelled(amount, units)).collect()
        }
        None if is_size => ["1g", "512m", "64k"].map(str::to_owned).to_vec(),
        None => ["1h", "1min", "30s", "100ms"].map(str::to_owned).to_vec(),
    }
}

/// An amount in the largest unit that divides it.
fn spelled(amount: i64, units: &[(&str, i64)]) -> String {
    let unit = units.iter().find(|(_, size)| amount % size == 0);
    unit.map_or_else(|| amount.to_string(), |(suffix, size)| format!("{}{suffix}", amount / size))
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
        assert_eq!(labels("spark.network.timeout"), ["120s", "30s", "1min", "2min", "4min", "8min"]);
        assert_eq!(labels("spark.kubernetes.executor.memoryOverhead"), [""; 0]);
        assert_eq!(labels("spark.executor.memoryOverhead"), ["1g", "512m", "64k"]);
        assert_eq!(labels("spark.io.compression.codec"), ["lz4", "lzf", "snappy", "zstd"]);
        assert!(labels("spark.sql.sources.partitionOverwriteMode").contains(&"DYNAMIC".to_owned()));
        assert_eq!(labels("spark.sql.shuffle.partitions"), ["200"]);
        assert_eq!(labels("spark.no.such.key"), [""; 0]);
    }
}
