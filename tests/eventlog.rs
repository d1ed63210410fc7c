//! Event logs of real runs, read whole.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use sparkls::eventlog::{self, ReadError};
use sparkls::run::Run;
use sparkls::run::model::StageKey;
use sparkls::run::plan::PlanIndex;
use sparkls::run::slots::{peak_slots, run_time, stage_cores, stage_slots, stage_wall};
use sparkls::run::stats::{Distribution, by_host, coverage, first_ends, is_warm_up, mean, pick, population};

fn read(path: &Path) -> Result<Run, ReadError> {
    eventlog::read(path, &mut |_| true)
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/eventlogs").join(name)
}

fn run_of(name: &str) -> Run {
    read(&fixture(name)).unwrap()
}

fn key(stage: u32) -> StageKey {
    StageKey { stage, attempt: 0 }
}

/// Minimum, median, 75th and 95th percentile, maximum of the durations of a stage.
fn durations(run: &Run, stage: u32) -> (u64, f64, u64, u64, u64) {
    let tasks = &run.stages[&key(stage)].tasks;
    let of = Distribution::of(&pick(&tasks.duration, &population(tasks))).unwrap();
    (of.min, of.median, of.p75, of.p95, of.max)
}

/// Tasks, mean and median duration by host.
fn hosts(run: &Run, stage: u32) -> Vec<(&str, usize, f64, f64)> {
    let tasks = &run.stages[&key(stage)].tasks;
    let mut hosts: Vec<_> = by_host(tasks, &population(tasks))
        .into_iter()
        .map(|(host, chosen)| {
            let durations = pick(&tasks.duration, &chosen);
            let mean = (mean(&durations).unwrap() * 10.0).round() / 10.0;
            let median = Distribution::of(&durations).unwrap().median;
            (run.hosts[usize::from(host)].as_str(), chosen.len(), mean, median)
        })
        .collect();
    hosts.sort_by(|a, b| a.0.cmp(b.0));
    hosts
}

#[test]
fn a_skewed_group_by_on_a_cluster() {
    let run = run_of("skewed-groupby.zstd");
    assert_eq!(run.application.version.unwrap().to_string(), "3.5.9");
    assert!(run.coverage.complete && !run.application.estimated);
    assert_eq!((run.coverage.tasks_seen, run.coverage.tasks_expected), (19, 19));
    assert_eq!(run.coverage.bytes, 360_875);
    assert_eq!(run_time(&run), Some(141_395));
    assert_eq!(run.stages.keys().copied().collect::<Vec<_>>(), [0, 2, 3, 5, 8].map(key));
    assert_eq!(durations(&run, 0), (2856, 18_189.5, 32_575, 40_779, 40_779));
    assert_eq!(durations(&run, 3), (589, 2198.0, 3648, 3913, 3913));
    let read = |stage: u32| run.stages[&key(stage)].tasks.read_bytes.iter().sum::<u64>();
    assert_eq!([2, 5, 8].map(read), [1_640_732, 14_087, 59]);
    assert_eq!(stage_wall(&run, &run.stages[&key(0)]), Some(83_410));
    assert_eq!(coverage(&run.stages[&key(0)]), Some(1.0));
    assert_eq!(
        hosts(&run, 0),
        [
            ("127.0.0.2", 3, 12_465.7, 2862.0),
            ("127.0.0.3", 1, 36_753.0, 36_753.0),
            ("127.0.0.4", 3, 13_405.0, 4700.0),
            ("127.0.0.5", 1, 40_779.0, 40_779.0)
        ]
    );
}

#[test]
fn warm_up_and_slots_of_a_cluster_of_four_cores() {
    let run = run_of("slow-host.zstd");
    let tasks = &run.stages[&key(0)].tasks;
    let ends = first_ends(&run);
    assert_eq!(population(tasks).iter().filter(|&task| is_warm_up(&ends, tasks, task)).count(), 7);
    // Two tasks more than there are cores: slots are handed on before ends are noted.
    assert_eq!((peak_slots(tasks), stage_slots(&run, key(1))), (6, 4));
    assert_eq!(stage_cores(&run, key(1)), Some(4.0));
    assert_eq!(durations(&run, 7), (981, 1413.0, 2232, 10_516, 14_952));
    assert_eq!(hosts(&run, 7)[2], ("127.0.0.4", 2, 9371.0, 9371.0));
}

#[test]
fn stages_lead_to_their_plan_nodes() {
    let run = run_of("skewed-groupby.zstd");
    let index = PlanIndex::new(&run);
    let names = |stage: u32| -> Vec<&str> {
        index.nodes_of(key(stage)).into_iter().map(|place| run.plan_node(place).unwrap().name.as_str()).collect()
    };
    assert_eq!(names(0), ["Exchange", "ObjectHashAggregate", "WholeStageCodegen (1)", "Range"]);
    assert_eq!(names(2), ["Execute InsertIntoHadoopFsRelationCommand", "ObjectHashAggregate", "Exchange"]);
    let execution = index.execution_of(key(0)).unwrap();
    let measured = &run.executions[&execution];
    let range = measured.plan.walk().find(|step| step.node.name == "Range").unwrap().node;
    assert_eq!(measured.node_metric(&run, range, "number of output rows"), Some(400_000));
}

#[test]
fn a_killed_application_keeps_what_it_wrote() {
    let run = run_of("killed.inprogress.zstd");
    assert_eq!(run.coverage.cut_at, Some(200_704));
    assert_eq!((run.coverage.complete, run.application.estimated, run.coverage.bad_lines), (false, true, 0));
    assert_eq!((run.coverage.tasks_seen, run.coverage.tasks_expected), (6, 45));
    let open = &run.stages[&key(3)];
    assert_eq!((open.completed, coverage(open)), (None, Some(0.025)));
    // Its accumulators come from its tasks, as its own list never came.
    assert!(!run.plan_nodes_of(key(3)).is_empty());
    assert!(!run.executions.values().last().unwrap().plan.name.is_empty());
}

#[test]
fn every_codec_of_spark_holds_the_same_run() {
    let zstd = run_of("killed.inprogress.zstd");
    for name in ["killed.lz4", "killed.snappy", "killed.lzf"] {
        let run = run_of(name);
        assert_eq!(format!("{run:?}"), format!("{zstd:?}"), "{name}");
    }
}

#[test]
fn a_rolled_log_of_several_frames() {
    let rolled = run_of("rolled/eventlog_v2_local-1795992298815");
    assert_eq!((rolled.coverage.bytes, rolled.coverage.cut_at, rolled.coverage.complete), (207_000, None, false));
    assert_eq!(durations(&rolled, 0), (987, 2050.0, 2882, 4229, 4229));
    let by_parent = run_of("rolled");
    assert_eq!(by_parent.coverage.events, rolled.coverage.events);
}

#[test]
fn secrets_stay_hidden() {
    let run = run_of("rolled-secrets");
    assert_eq!(run.conf["spark.hadoop.fs.s3a.secret.key"], "*********(redacted)");
}

/// Logs that are not part of this repository, if they are there.
fn shared_logs() -> Option<PathBuf> {
    let shared = std::env::var_os("SPARKLS_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let logs = shared.join("data/eventlogs");
    logs.is_dir().then_some(logs)
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() && !name.starts_with("eventlog_v2_") {
            walk(&entry, found);
        } else if !name.ends_with(".py") && !name.ends_with(".md") && !name.ends_with(".json") && name != "README" {
            found.push(entry);
        }
    }
}

#[test]
fn every_log_at_hand_is_read_or_refused_in_one_sentence() {
    let Some(logs) = shared_logs() else {
        println!("skipped: no shared logs");
        return;
    };
    let mut paths = Vec::new();
    walk(&logs, &mut paths);
    println!("{:<80} events stages tasks hosts execs bad cut complete version", "log");
    for path in paths {
        let shown = path.strip_prefix(&logs).unwrap().display().to_string();
        match read(&path) {
            Ok(run) => {
                let tasks: usize = run.stages.values().map(|stage| stage.tasks.len()).sum();
                let coverage = &run.coverage;
                println!(
                    "{shown:<80} {} {} {tasks} {} {} {} {:?} {} {:?} {}/{} {:?} {:?}",
                    coverage.events,
                    run.stages.len(),
                    run.hosts.len(),
                    run.executions.len(),
                    coverage.bad_lines,
                    coverage.cut_at,
                    coverage.complete,
                    run.application.version.map(|version| version.to_string()),
                    coverage.tasks_seen,
                    coverage.tasks_expected,
                    coverage.unknown_events,
                    coverage.notes,
                );
                assert!(coverage.events > 0, "{shown}");
            }
            Err(error) => {
                let sentence = error.to_string();
                println!("{sentence}");
                assert!(!sentence.contains('\n') && sentence.len() < 400, "{sentence}");
            }
        }
    }
}
