//! What a setting was in a run, and who said so.

use crate::catalog::{self, Default, SparkVersion};
use crate::run::Run;

/// A value that was in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InForce {
    /// As written.
    pub value: String,
    /// `set at run time`, `set in this run`, `default of Spark 3.5`.
    pub origin: String,
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

    /// As milliseconds; plain numbers are milliseconds.
    pub(crate) fn milliseconds(&self) -> Option<f64> {
        let text = self.value.trim().to_ascii_lowercase();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = match unit {
            "" | "ms" => 1.0,
            "us" => 1e-3,
            "s" => 1e3,
            "m" | "min" => 60e3,
            "h" => 3600e3,
            "d" => 86_400e3,
            _ => return None,
        };
        Some(number.parse::<f64>().ok()? * factor)
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
        return Some(InForce { value: value.clone(), origin: "set at run time".to_owned() });
    }
    if let Some(value) = run.conf.get(key) {
        return Some(InForce { value: value.clone(), origin: "set in this run".to_owned() });
    }
    let version = run.application.version?;
    let value = default(version, key)?.to_owned();
    let origin = format!("default of Spark {}.{}", version.major, version.minor);
    Some(InForce { value, origin })
}

/// The default of a setting in this version. Versions before 3.0 are not in the catalogue: what is known of 3.0 holds for
/// them too, but for adaptive execution, which was another one.
fn default(version: SparkVersion, key: &str) -> Option<&'static str> {
    if !version.at_least(3, 0) && key.starts_with("spark.sql.adaptive.") {
        return None;
    }
    match catalog::setting(key)?.default(version) {
        Default::Value(text) => Some(text),
        Default::Fallback(other) => match catalog::setting(other)?.default(version) {
            Default::Value(text) => Some(text),
            _ => None,
        },
        Default::Unset | Default::Symbolic(_) | Default::Unknown | Default::Absent => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::model::SqlExecution;

    fn run(version: &str) -> Run {
        let mut run = Run::default();
        run.application.version = version.parse().ok();
        run
    }

    fn value(run: &Run, execution: Option<i64>, key: &str) -> Option<(String, String)> {
        in_force(run, execution, key).map(|found| (found.value, found.origin))
    }

    #[test]
    fn the_execution_wins_over_the_run_and_the_run_over_the_default() {
        let key = "spark.sql.shuffle.partitions";
        let mut run = run("3.5.9");
        let of = |value: &str, origin: &str| Some((value.to_owned(), origin.to_owned()));
        assert_eq!(value(&run, Some(7), key), of("200", "default of Spark 3.5"));
        run.conf.insert(key.to_owned(), "400".to_owned());
        assert_eq!(value(&run, Some(7), key), of("400", "set in this run"));
        let mut execution = SqlExecution::default();
        execution.modified_configs.insert(key.to_owned(), "8".to_owned());
        run.executions.insert(7, execution);
        assert_eq!(value(&run, Some(7), key), of("8", "set at run time"));
        assert_eq!(value(&run, Some(8), key), of("400", "set in this run"));
    }

    #[test]
    fn defaults_are_those_of_the_version() {
        let quantile = |version: &str| in_force(&run(version), None, "spark.speculation.quantile").map(|q| q.value);
        assert_eq!(quantile("3.5.9").as_deref(), Some("0.75"));
        assert_eq!(quantile("4.0.1").as_deref(), Some("0.9"));
        let advisory = "spark.sql.adaptive.advisoryPartitionSizeInBytes";
        assert_eq!(in_force(&run("4.3.0"), None, advisory).and_then(|a| a.bytes()), Some(64.0 * 1024.0 * 1024.0));
        assert_eq!(in_force(&run("2.4.8"), None, "spark.sql.adaptive.enabled"), None);
        assert_eq!(in_force(&Run::default(), None, advisory), None);
    }
}
