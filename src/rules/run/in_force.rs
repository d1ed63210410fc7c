//! What a setting was in a run, and who said so.

use crate::catalog::SparkVersion;
use crate::run::Run;

/// A value that was in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InForce {
    /// As written.
    pub value: String,
    /// `set at run time`, `set in this run`, `default of Spark 3.5`.
    pub origin: String,
    /// Nobody set it.
    pub is_default: bool,
}

impl InForce {
    /// As a boolean.
    pub(crate) fn boolean(&self) -> Option<bool> {
        self.value.trim().to_ascii_lowercase().parse().ok()
    }

    /// As a number.
    pub(crate) fn number(&self) -> Option<f64> {
        self.value.trim().parse().ok()
    }

    /// As bytes; plain numbers are bytes.
    pub(crate) fn bytes(&self) -> Option<f64> {
        let text = self.value.trim().to_ascii_lowercase();
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = match unit {
            "" | "b" => 1.0,
            "k" | "kb" => 1024.0,
            "m" | "mb" => 1024.0 * 1024.0,
            "g" | "gb" => 1024.0 * 1024.0 * 1024.0,
            "t" | "tb" => 1024.0f64.powi(4),
            "p" | "pb" => 1024.0f64.powi(5),
            _ => return None,
        };
        Some(number.parse::<f64>().ok()? * factor)
    }
}

/// The value of `key` for one SQL execution of the run (its own settings first), else for the run, else the default of
/// the run's Spark version. `None` if nobody set it and the default is not known.
pub(crate) fn in_force(run: &Run, execution: Option<i64>, key: &str) -> Option<InForce> {
    let of_execution = execution.and_then(|id| run.executions.get(&id)?.modified_configs.get(key));
    if let Some(value) = of_execution {
        return Some(InForce { value: value.clone(), origin: "set at run time".to_owned(), is_default: false });
    }
    if let Some(value) = run.conf.get(key) {
        return Some(InForce { value: value.clone(), origin: "set in this run".to_owned(), is_default: false });
    }
    let version = run.application.version?;
    let value = default(version, key)?.to_owned();
    let origin = format!("default of Spark {}.{}", version.major, version.minor);
    Some(InForce { value, origin, is_default: true })
}

/// Defaults of the settings that the rules on runs speak of.
fn default(version: SparkVersion, key: &str) -> Option<&'static str> {
    let since = |major, minor, value| version.at_least(major, minor).then_some(value);
    match key {
        "spark.sql.adaptive.enabled" => Some(if version.at_least(3, 2) { "true" } else { "false" }),
        "spark.sql.adaptive.skewJoin.enabled" => since(3, 0, "true"),
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor" => since(3, 0, "5"),
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" => since(3, 0, "256MB"),
        "spark.sql.adaptive.advisoryPartitionSizeInBytes" => since(3, 0, "64MB"),
        "spark.sql.adaptive.coalescePartitions.enabled" => since(3, 0, "true"),
        "spark.sql.adaptive.coalescePartitions.parallelismFirst" => since(3, 2, "true"),
        "spark.sql.autoBroadcastJoinThreshold" => Some("10MB"),
        "spark.sql.files.maxPartitionBytes" => Some("128MB"),
        "spark.sql.shuffle.partitions" => Some("200"),
        "spark.driver.maxResultSize" => Some("1g"),
        "spark.locality.wait" => Some("3s"),
        "spark.speculation" => Some("false"),
        "spark.speculation.quantile" => Some(if version.at_least(4, 0) { "0.9" } else { "0.75" }),
        "spark.speculation.multiplier" => Some(if version.at_least(4, 0) { "3" } else { "1.5" }),
        "spark.speculation.minTaskRuntime" => since(3, 2, "100ms"),
        _ => None,
    }
}
