//! Which settings two runs had differently, by hand or by their Spark version.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{self, Default, SparkVersion, VersionIndex};
use crate::conf::upgrade::{self, Change, NewDefault, Upgrade};
use crate::conf::value::same_value;
use crate::conf::{Layer, Origin, Value};
use crate::run::Run;
use crate::run::keys::is_of_one_run;

/// A setting that two runs had differently because somebody set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// The key.
    pub key: String,
    /// In the base.
    pub base: Held,
    /// In the candidate.
    pub candidate: Held,
    /// Set at run time, so that it held in this many of the paired executions; `None` if it held in the whole run.
    pub executions: Option<usize>,
}

/// What a run had for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// Somebody set it.
    Set(String),
    /// Nobody set it: the default of the run's Spark version.
    Default(&'static str),
    /// Nobody set it, and it has no default, or the default is not known.
    Unset,
}

impl Held {
    /// The value in force, where there is one.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::Set(value) => Some(value),
            Self::Default(value) => Some(value),
            Self::Unset => None,
        }
    }
}

/// The settings that differ in what they mean: a default that is written out is no difference.
pub(super) fn changes(base: &Run, candidate: &Run, pairs: &[(i64, i64)]) -> Vec<SettingChange> {
    let keys: BTreeSet<&String> = base.conf.keys().chain(candidate.conf.keys()).collect();
    let mut changes: Vec<SettingChange> = keys
        .into_iter()
        .filter(|key| !is_of_one_run(key) && base.conf.get(*key) != candidate.conf.get(*key))
        .filter_map(|key| change(key, held(base, None, key), held(candidate, None, key), candidate))
        .collect();
    changes.extend(at_run_time(base, candidate, pairs));
    changes
}

fn at_run_time(base: &Run, candidate: &Run, pairs: &[(i64, i64)]) -> Vec<SettingChange> {
    let mut found: BTreeMap<String, Vec<SettingChange>> = BTreeMap::new();
    for &(left, right) in pairs {
        let modified = |run: &Run, id: i64| -> Vec<String> {
            run.executions
                .get(&id)
                .into_iter()
                .flat_map(|execution| execution.modified_configs.keys().cloned())
                .collect()
        };
        let keys: BTreeSet<String> = modified(base, left).into_iter().chain(modified(candidate, right)).collect();
        for key in keys {
            let (before, after) = (held(base, Some(left), &key), held(candidate, Some(right), &key));
            let Some(change) = change(&key, before, after, candidate) else { continue };
            let known = found.entry(key).or_default();
            match known.iter_mut().find(|known| known.base == change.base && known.candidate == change.candidate) {
                Some(SettingChange { executions: Some(count), .. }) => *count += 1,
                _ => known.push(SettingChange { executions: Some(1), ..change }),
            }
        }
    }
    found.into_values().flatten().collect()
}

fn change(key: &str, base: Held, candidate: Held, run: &Run) -> Option<SettingChange> {
    let version = run.application.version.unwrap_or(VersionIndex::NEWEST.version());
    let same = match (base.value(), candidate.value()) {
        (Some(a), Some(b)) => a == b || catalog::setting(key).is_some_and(|facts| same_value(facts, version, a, b)),
        (None, None) => true,
        _ => false,
    };
    (!same).then(|| SettingChange { key: key.to_owned(), base, candidate, executions: None })
}

fn held(run: &Run, execution: Option<i64>, key: &str) -> Held {
    let of_execution = execution.and_then(|id| run.executions.get(&id)?.modified_configs.get(key));
    if let Some(value) = of_execution.or_else(|| run.conf.get(key)) {
        return Held::Set(value.clone());
    }
    let default = run.application.version.and_then(|version| default(version, key));
    default.map_or(Held::Unset, Held::Default)
}

fn default(version: SparkVersion, key: &str) -> Option<&'static str> {
    match catalog::setting(key)?.default(version) {
        Default::Value(text) => Some(text),
        _ => None,
    }
}

/// What the other Spark version changes for what the runs had set, and for what nobody set. `None` if both have one minor
/// version, or a version is not known.
pub(super) fn of_versions(base: &Run, candidate: &Run) -> Option<Upgrade> {
    let (from, to) = (base.application.version?, candidate.application.version?);
    if (from.major, from.minor) == (to.major, to.minor) {
        return None;
    }
    let run = |run: &Run| {
        let modified = run.executions.values().flat_map(|execution| execution.modified_configs.clone());
        run.conf.clone().into_iter().chain(modified).collect::<BTreeMap<_, _>>()
    };
    let mut set = run(base);
    set.extend(run(candidate));
    let layers: Vec<Layer> = set
        .into_iter()
        .filter(|(key, _)| !is_of_one_run(key))
        .map(|(key, value)| Layer { key, value: Value::Literal(value), origin: Origin::Run("the runs".to_owned()) })
        .collect();
    let mut upgrade = upgrade::changes(from, to, &layers);
    upgrade.others.retain(|default| default.public);
    for written in &mut upgrade.written {
        // What one run did not set can't have changed for it.
        let (before, after) = (base.conf.contains_key(&written.key), candidate.conf.contains_key(&written.key));
        written.changes.retain(|change| match change {
            Change::Read => before,
            Change::NotRead { .. } | Change::Removed { .. } => after,
            _ => true,
        });
    }
    upgrade.written.retain(|written| !written.changes.is_empty());
    Some(upgrade)
}

/// A default that changed, and who relies on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedDefault {
    /// The setting.
    pub default: NewDefault,
    /// An operator of a plan, e.g. `BatchEvalPython`, or `SQL` if any does.
    pub used_by: String,
}

/// Settings, by the start of their names, that operators rely on, by a part of theirs; any operator relies on the last.
const USERS: [(&str, &[&str]); 11] = [
    ("EvalPythonUDTF", &["spark.sql.execution.pythonUDTF."]),
    ("EvalPython", &["spark.sql.execution.pythonUDF."]),
    ("Exchange", &["spark.sql.adaptive.", "spark.sql.shuffle.", "spark.shuffle.file.", "spark.shuffle.compress"]),
    ("Join", &["spark.sql.join.", "spark.sql.autoBroadcastJoinThreshold"]),
    ("Scan parquet", &["spark.sql.parquet.", "spark.sql.files."]),
    ("Scan orc", &["spark.sql.orc.", "spark.sql.files."]),
    ("BatchScan", &["spark.sql.sources.v2."]),
    ("InMemoryTableScan", &["spark.sql.inMemoryColumnarStorage.", "spark.rdd.compress"]),
    ("Window", &["spark.sql.window"]),
    ("StateStore", &["spark.sql.streaming."]),
    ("", &["spark.sql.ansi.enabled"]),
];

/// Takes the defaults that operators of the runs rely on out of the others.
pub(super) fn take_used(upgrade: &mut Upgrade, runs: [&Run; 2]) -> Vec<UsedDefault> {
    let mut operators: BTreeSet<&str> = BTreeSet::new();
    for execution in runs.into_iter().flat_map(|run| run.executions.values()) {
        operators.extend(execution.plan.walk().map(|step| step.node.name.trim()).filter(|name| !name.is_empty()));
    }
    let used_by = |key: &str| {
        let users = USERS.iter().filter(|(_, keys)| keys.iter().any(|start| key.starts_with(start)));
        users.copied().find_map(|(part, _)| {
            let operator = operators.iter().find(|name| name.contains(part))?;
            Some(if part.is_empty() { "SQL".to_owned() } else { (*operator).to_owned() })
        })
    };
    let (used, others) = std::mem::take(&mut upgrade.others)
        .into_iter()
        .map(|default| (used_by(default.key), default))
        .partition::<Vec<_>, _>(|(used_by, _)| used_by.is_some());
    upgrade.others = others.into_iter().map(|(_, default)| default).collect();
    let used = used.into_iter().filter_map(|(used_by, default)| Some(UsedDefault { default, used_by: used_by? }));
    used.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::model::SqlExecution;

    fn run(version: &str, conf: &[(&str, &str)]) -> Run {
        let mut run = Run::default();
        run.application.version = version.parse().ok();
        run.conf = conf.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        run
    }

    fn set(value: &str) -> Held {
        Held::Set(value.to_owned())
    }

    #[test]
    fn only_what_means_something_else_differs() {
        let base = run("3.5.9", &[("spark.app.id", "app-1"), ("spark.executor.memory", "4096m"), ("spark.mine", "1")]);
        let other = [
            ("spark.app.id", "app-2"),
            ("spark.executor.memory", "4g"),
            ("spark.sql.shuffle.partitions", "200"),
            ("spark.sql.adaptive.enabled", "false"),
        ];
        let found = changes(&base, &run("3.5.9", &other), &[]);
        let change =
            |key: &str, base, candidate| SettingChange { key: key.to_owned(), base, candidate, executions: None };
        let expected = [
            change("spark.mine", set("1"), Held::Unset),
            change("spark.sql.adaptive.enabled", Held::Default("true"), set("false")),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_was_set_at_run_time_is_told_by_execution() {
        let mut base = run("3.5.9", &[]);
        let mut candidate = base.clone();
        for id in [0, 1] {
            base.executions.insert(id, SqlExecution::default());
            let mut execution = SqlExecution::default();
            execution.modified_configs.insert("spark.sql.shuffle.partitions".to_owned(), "8".to_owned());
            candidate.executions.insert(id + 5, execution);
        }
        let found = changes(&base, &candidate, &[(0, 5), (1, 6)]);
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0].candidate, found[0].executions), (&set("8"), Some(2)));
    }

    #[test]
    fn a_new_version_changes_defaults_and_a_patch_does_not() {
        let base = run("3.5.9", &[("spark.speculation", "true")]);
        assert!(of_versions(&base, &run("3.5.1", &[])).is_none());
        let upgrade = of_versions(&base, &run("4.0.1", &[])).unwrap();
        let relied_on: Vec<&str> = upgrade.relied_on.iter().map(|default| default.key).collect();
        assert!(relied_on.contains(&"spark.speculation.quantile"), "{relied_on:?}");
        assert!(of_versions(&base, &Run::default()).is_none());
    }

    #[test]
    fn a_plan_says_which_defaults_it_relies_on() {
        let (mut base, candidate) = (run("3.5.9", &[]), run("4.3.0", &[]));
        let key = "spark.sql.execution.pythonUDF.arrow.enabled";
        let used = |base: &Run| {
            let mut upgrade = of_versions(base, &candidate).unwrap();
            let used = take_used(&mut upgrade, [base, &candidate]);
            assert_eq!(upgrade.others.iter().any(|default| default.key == key), used.is_empty());
            used.into_iter().map(|used| (used.default.key, used.used_by)).collect::<Vec<_>>()
        };
        assert_eq!(used(&base), []);
        let mut execution = SqlExecution::default();
        execution.plan.name = "BatchEvalPython".into();
        base.executions.insert(0, execution);
        let expected = [("spark.sql.ansi.enabled", "SQL".to_owned()), (key, "BatchEvalPython".to_owned())];
        assert_eq!(used(&base), expected);
    }
}
