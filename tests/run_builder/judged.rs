//! Logs of real runs, and what the rules say of a run.

use std::path::PathBuf;

use sparkls::rules::run::verdicts;
use sparkls::rules::{RuleSettings, State, Verdict};
use sparkls::run::Run;

/// The logs of `tests/fixtures/runs` that are complete runs, by name.
pub(crate) const LOGS: &[&str] = &[
    "healthy-3.5",
    "healthy-4.3",
    "skewed_join-4.3",
    "skewed_join-aqe_off-3.5",
    "skewed_join-aqe_split-4.3",
    "skewed_groupby-4.3",
    "slow_host-3.5",
    "spill-3.5",
    "coalesce_write-3.5",
    "collect_large-4.3",
    "partitions-3.5",
    "driver_sleep-4.3",
    "gc_pressure-3.5",
    "join_sides-3.5",
    "lost_work-3.5",
    "python_udf-4.3",
    "sources-3.5",
    "streaming-3.5",
    "stuck_task-4.3",
    "cached_host-3.5",
];

pub(crate) fn path(log: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs").join(format!("{log}.zst"))
}

pub(crate) fn read(log: &str) -> Run {
    sparkls::eventlog::read(&path(log), &mut |_| true).unwrap()
}

pub(crate) fn judge(run: &Run) -> Vec<Verdict> {
    verdicts(run, &RuleSettings::default())
}

/// The fired verdicts of a rule.
pub(crate) fn fired(run: &Run, rule: &str) -> Vec<Verdict> {
    judge(run).into_iter().filter(|verdict| verdict.rule == rule && verdict.is_fired()).collect()
}

/// The state of a rule on a stage.
pub(crate) fn state(run: &Run, rule: &str, stage: u32) -> State {
    let found = judge(run)
        .into_iter()
        .find(|verdict| verdict.rule == rule && verdict.stages.iter().any(|key| key.stage == stage));
    found.map(|verdict| verdict.state).unwrap()
}

pub(crate) fn stages(verdicts: &[Verdict]) -> Vec<u32> {
    let mut ids: Vec<u32> = verdicts.iter().flat_map(|verdict| &verdict.stages).map(|key| key.stage).collect();
    ids.sort_unstable();
    ids
}

pub(crate) fn evidence<'a>(verdict: &'a Verdict, name: &str) -> &'a str {
    let found = verdict.evidence.iter().find(|evidence| evidence.name == name);
    found.map_or_else(|| panic!("no evidence {name}: {verdict:#?}"), |evidence| evidence.value.as_str())
}

/// The fired verdicts of a rule with one of its options set otherwise.
pub(crate) fn fired_with(run: &Run, rule: &str, option: &str, value: f64) -> Vec<Verdict> {
    let mut settings = RuleSettings::default();
    settings.options.insert((rule.to_owned(), option.to_owned()), value);
    verdicts(run, &settings).into_iter().filter(|verdict| verdict.rule == rule && verdict.is_fired()).collect()
}

/// The state of a rule that looks at the whole run.
pub(crate) fn run_state(run: &Run, rule: &str) -> State {
    judge(run).into_iter().find(|verdict| verdict.rule == rule).map(|verdict| verdict.state).unwrap()
}
