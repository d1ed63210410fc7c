//! What all logs are advised: nothing that contradicts itself on a stage, that is in effect already, or that does not help.

#![allow(clippy::unwrap_used)]

mod run_builder;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use run_builder::judged::judge;
use sparkls::catalog::{Default, setting};
use sparkls::rules::Verdict;
use sparkls::run::Run;
use sparkls::run::model::StageKey;

/// Every log of the tests, and those beside the repository where they are.
fn logs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = std::env::var_os("SPARKLS_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let mut logs = Vec::new();
    for folder in
        [root.join("tests/fixtures/runs"), root.join("tests/fixtures/eventlogs"), beside.join("data/eventlogs")]
    {
        if !folder.is_dir() {
            let _ = writeln!(std::io::stderr(), "skipped: no {}", folder.display());
        }
        let mut open = vec![folder];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                let rolled = path.file_name().unwrap().to_string_lossy().starts_with("eventlog_v2_");
                if path.is_dir() && !rolled { open.push(path) } else { logs.push(path) }
            }
        }
    }
    logs.sort();
    logs
}

/// What is no log is refused elsewhere.
fn runs() -> impl Iterator<Item = (String, Run)> {
    logs().into_iter().filter_map(|path| {
        let run = sparkls::eventlog::read(&path, &mut |_| true).ok()?;
        Some((path.display().to_string(), run))
    })
}

/// What a piece of advice does to a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Raise,
    Lower,
    Set(String),
}

/// The changes of settings in an advice: `Lower KEY to 128m (now …) and KEY to 16m`, `Set KEY=true with KEY=true`.
fn changes(advice: &str) -> Vec<(String, Change)> {
    let verb = advice.split(' ').next().unwrap_or_default();
    let mut found = Vec::new();
    for word in advice.split([' ', ',', ':', ';']).filter(|word| word.starts_with("spark.")) {
        match (verb, word.split_once('=')) {
            ("Set", Some((key, value))) => found.push((key.to_owned(), Change::Set(value.to_owned()))),
            ("Raise", None) => found.push((word.to_owned(), Change::Raise)),
            ("Lower", None) => found.push((word.to_owned(), Change::Lower)),
            _ => {}
        }
    }
    found
}

/// Each piece of advice of the fired findings, by the stage that it is about; `None` for the run.
fn by_stage(verdicts: &[Verdict]) -> BTreeMap<Option<StageKey>, Vec<(&'static str, &str)>> {
    let mut stages: BTreeMap<Option<StageKey>, Vec<(&str, &str)>> = BTreeMap::new();
    for verdict in verdicts.iter().filter(|verdict| verdict.is_fired()) {
        let keys: Vec<Option<StageKey>> = match verdict.stages.as_slice() {
            [] => vec![None],
            keys => keys.iter().copied().map(Some).collect(),
        };
        for key in keys {
            stages.entry(key).or_default().extend(verdict.advice.iter().map(|text| (verdict.rule, text.as_str())));
        }
    }
    stages
}

fn execution(run: &Run, stage: Option<StageKey>) -> Option<i64> {
    let stage = stage?;
    run.jobs.values().find(|job| job.stages.contains(&stage.stage))?.execution
}

/// A setting as it was in force for a stage.
fn effective(run: &Run, stage: Option<StageKey>, key: &str) -> Option<String> {
    let of_execution = execution(run, stage).and_then(|id| run.executions.get(&id)?.modified_configs.get(key));
    let set = of_execution.or_else(|| run.conf.get(key)).cloned();
    set.or_else(|| match setting(key)?.default(run.application.version?) {
        Default::Value(text) => Some(text.to_owned()),
        _ => None,
    })
}

/// Which way an advice moves the number of tasks: 1 for more, -1 for fewer.
fn tasks(key: &str, change: &Change) -> Option<i32> {
    let by_number = ["spark.sql.shuffle.partitions", "spark.sql.adaptive.coalescePartitions.initialPartitionNum"];
    let by_size = ["spark.sql.adaptive.advisoryPartitionSizeInBytes", "spark.sql.files.maxPartitionBytes"];
    match change {
        Change::Raise if by_number.contains(&key) => Some(1),
        Change::Lower if by_number.contains(&key) => Some(-1),
        Change::Raise if by_size.contains(&key) => Some(-1),
        Change::Lower if by_size.contains(&key) => Some(1),
        _ => None,
    }
}

#[test]
fn advice_is_read_as_it_is_written() {
    let change = |key: &str, change| (key.to_owned(), change);
    assert_eq!(changes("Lower spark.a (now 1m, set in this run): so"), [change("spark.a", Change::Lower)]);
    assert_eq!(
        changes("Set spark.a=true with spark.b=2: so"),
        [change("spark.a", Change::Set("true".to_owned())), change("spark.b", Change::Set("2".to_owned()))]
    );
    assert!(changes("Broadcast the left side; spark.a is -1 (set in this run)").is_empty());
    let more = change("spark.sql.shuffle.partitions", Change::Raise);
    assert_eq!((tasks(&more.0, &more.1), tasks("spark.a", &Change::Raise)), (Some(1), None));
}

#[test]
fn no_stage_is_advised_one_thing_and_its_opposite() {
    let mut advised = 0;
    for (log, run) in runs() {
        let verdicts = judge(&run);
        for (stage, advice) in by_stage(&verdicts) {
            let mut wanted: BTreeMap<String, BTreeSet<Change>> = BTreeMap::new();
            let mut directions: BTreeSet<i32> = BTreeSet::new();
            for (key, change) in advice.iter().flat_map(|(_, text)| changes(text)) {
                directions.extend(tasks(&key, &change));
                wanted.entry(key).or_default().insert(change);
                advised += 1;
            }
            for (key, changes) in wanted {
                assert!(changes.len() == 1, "{log} {stage:?}: {key} {changes:?} {advice:#?}");
            }
            assert!(directions.len() <= 1, "{log} {stage:?}: more tasks and fewer: {advice:#?}");
            let unknown = |text: &str| text.contains("the cause is not in the log");
            let explained = ["gc-pressure", "spill", "skewed-stage", "oversized-partitions", "too-few-partitions"];
            let fired: Vec<&Verdict> = verdicts
                .iter()
                .filter(|verdict| verdict.is_fired() && stage.is_some_and(|key| verdict.stages.contains(&key)))
                .collect();
            if fired.iter().any(|verdict| verdict.rule == "slow-stage" && unknown(&verdict.message)) {
                let cause = fired
                    .iter()
                    .find(|one| one.severity >= sparkls::rules::Severity::Warning && explained.contains(&one.rule));
                assert!(cause.is_none(), "{log} {stage:?}: no cause is known, but {cause:#?}");
            }
        }
    }
    assert!(advised > 10, "only {advised} pieces of advice on settings");
}

#[test]
fn nothing_is_advised_that_is_in_effect() {
    for (log, run) in runs() {
        for (stage, advice) in by_stage(&judge(&run)) {
            for (rule, text) in advice {
                for (key, change) in changes(text) {
                    let now = effective(&run, stage, &key);
                    match change {
                        Change::Set(value) => {
                            assert_ne!(now.as_deref(), Some(value.as_str()), "{log} {stage:?} {rule}: {text}");
                        }
                        Change::Raise | Change::Lower => {
                            assert_ne!(now.as_deref(), Some("0"), "{log} {stage:?} {rule}: {text}");
                        }
                    }
                    if key.starts_with("spark.dynamicAllocation.") {
                        let on = effective(&run, stage, "spark.dynamicAllocation.enabled");
                        assert_eq!(on.as_deref(), Some("true"), "{log} {rule}: {text}");
                    }
                    if key == "spark.sql.shuffle.partitions" {
                        let initial = "spark.sql.adaptive.coalescePartitions.initialPartitionNum";
                        assert_eq!(effective(&run, stage, initial), None, "{log} {stage:?} {rule}: {text}");
                        let read = &run.stages[&stage.unwrap()].tasks.shuffle_read_bytes;
                        assert!(read.iter().any(|bytes| bytes > 0), "{log} {stage:?} reads no shuffle: {text}");
                    }
                    if key.starts_with("spark.sql.") {
                        let sql = stage.is_none() || execution(&run, stage).is_some();
                        assert!(sql, "{log} {stage:?} {rule} is no SQL: {text}");
                    }
                }
                assert!(!text.contains("spark.default.parallelism") && !text.contains("Kryo"), "{log} {rule}: {text}");
            }
        }
    }
}

#[test]
fn a_skewed_stage_gets_no_advice_to_buy_or_to_add_partitions() {
    let mut skewed = 0;
    for (log, run) in runs() {
        let verdicts = judge(&run);
        let of_skew = |key: &StageKey| {
            let names = |verdict: &&Verdict| verdict.rule == "skewed-stage" && verdict.is_fired();
            verdicts.iter().filter(names).any(|verdict| verdict.stages.contains(key))
        };
        for verdict in verdicts.iter().filter(|verdict| verdict.is_fired() && verdict.stages.iter().any(of_skew)) {
            skewed += 1;
            for advice in &verdict.advice {
                let moves = changes(advice);
                let more = moves.iter().any(|(key, change)| {
                    key.ends_with(".memory")
                        || key.contains("memoryOverhead")
                        || tasks(key, change) == Some(1) && !advice.starts_with("Lower spark.sql.adaptive.skewJoin")
                });
                let buys = ["executor.memory", "driver.memory", "executors", "nodes", "larger heap"]
                    .iter()
                    .any(|word| advice.contains(word));
                let denied = advice.contains("will not help") || advice.contains("leaves the hot key in one task");
                assert!(!more && (!buys || denied), "{log}: {}: {advice}", verdict.rule);
                assert!(!advice.contains("more shuffle partitions"), "{log}: {}: {advice}", verdict.rule);
            }
        }
    }
    assert!(skewed > 3, "only {skewed} findings on skewed stages");
}

#[test]
fn no_finding_saves_more_than_the_run_took() {
    for (log, run) in runs() {
        let Some(took_ms) = sparkls::run::slots::run_time(&run) else { continue };
        for verdict in judge(&run) {
            let saved_ms = verdict.impact_s.unwrap_or(0.0) * 1000.0;
            assert!(saved_ms <= took_ms as f64 + 0.5, "{log}: {} saves {saved_ms} of {took_ms} ms", verdict.rule);
        }
    }
}
