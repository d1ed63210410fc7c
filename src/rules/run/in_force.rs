//! What a setting was in a run, and who said so.

use std::borrow::Cow;

use crate::catalog::{self, Default, SparkVersion, VersionIndex};
use crate::conf::value::{self, Parsed};
use crate::run::Run;

/// A value that was in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InForce {
    key: String,
    version: SparkVersion,
    /// As written.
    pub value: String,
    /// `set at run time`, `set in this run`, `default of Spark 3.5`.
    pub origin: String,
}

impl InForce {
    /// As a boolean.
    pub(crate) fn boolean(&self) -> Option<bool> {
        value::boolean(&self.value).ok()
    }

    /// As a number.
    pub(crate) fn number(&self) -> Option<f64> {
        value::double(&self.value).ok()
    }

    /// As bytes, as Spark reads the setting's text.
    pub(crate) fn bytes(&self) -> Option<f64> {
        self.parsed()?.bytes().map(|bytes| bytes.0 as f64)
    }

    /// As milliseconds, as Spark reads the setting's text.
    pub(crate) fn milliseconds(&self) -> Option<f64> {
        self.parsed()?.millis().map(|millis| millis.0 as f64)
    }

    fn parsed(&self) -> Option<Parsed> {
        value::parse(catalog::setting(&self.key)?, self.version, &self.value).ok()
    }
}

/// The value of `key` for one SQL execution of the run (its own settings first), else for the run, else the default of
/// the run's Spark version. `None` if nobody set it and the default is not known.
pub(crate) fn in_force(run: &Run, execution: Option<i64>, key: &str) -> Option<InForce> {
    let version = run.application.version;
    let found = |value: &str, origin: String| InForce {
        key: key.to_owned(),
        version: version.unwrap_or(VersionIndex::NEWEST.version()),
        value: value.to_owned(),
        origin,
    };
    let of_execution = execution.and_then(|id| run.executions.get(&id)?.modified_configs.get(key));
    if let Some(value) = of_execution {
        return Some(found(value, "set at run time".to_owned()));
    }
    if let Some(value) = run.conf.get(key) {
        return Some(found(value, "set in this run".to_owned()));
    }
    let version = version?;
    let value = in_seconds(default(version, key)?);
    Some(found(&value, format!("default of Spark {}.{}", version.major, version.minor)))
}

/// Spark spells defaults of whole seconds in milliseconds, where its documentation says `60s`.
fn in_seconds(default: &str) -> Cow<'_, str> {
    match default.strip_suffix("000ms") {
        Some(seconds) if !seconds.is_empty() && seconds.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{seconds}s").into()
        }
        _ => default.into(),
    }
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
        let idle = in_force(&run("3.5.9"), None, "spark.dynamicAllocation.executorIdleTimeout").unwrap();
        assert_eq!((idle.value.as_str(), idle.milliseconds()), ("60s", Some(60_000.0)));
        assert_eq!((&*in_seconds("200ms"), &*in_seconds("000ms")), ("200ms", "000ms"));
        assert_eq!(in_force(&run("2.4.8"), None, "spark.sql.adaptive.enabled"), None);
        assert_eq!(in_force(&Run::default(), None, advisory), None);
    }
}
