//! Slow hosts and slow stages: the rules at the edges of their formulas, one confounder at a time, and on real clusters.

#![allow(clippy::unwrap_used)]

mod run_builder;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use run_builder::judged::{LOGS, fired, judge, read, stages, state};
use run_builder::{MIB, RunBuilder, task};
use sparkls::rules::run::stage_details;
use sparkls::rules::{Severity, State, Subject, Verdict};
use sparkls::run::Run;
use sparkls::run::model::{Executor, Locality, Outcome, Stage, StageKey, StoragePeak, TaskFlags, Tasks};

// slow-host

fn host_hits(run: &Run, rule: &str) -> BTreeSet<(u32, String)> {
    let host = |verdict: &Verdict| match &verdict.subject {
        Subject::Host(host) => host.clone(),
        other => panic!("{other:?}"),
    };
    fired(run, rule).iter().map(|verdict| (verdict.stages[0].stage, host(verdict))).collect()
}

#[test]
fn the_verbatim_rule_fires_where_its_formula_holds_and_names_what_explains_it() {
    let run = read("slow_host-3.5");
    let expected = [(0, "2"), (0, "3"), (0, "5"), (1, "2"), (1, "3"), (7, "2")];
    let expected: BTreeSet<(u32, String)> =
        expected.iter().map(|(stage, host)| (*stage, format!("127.0.0.{host}"))).collect();
    assert_eq!(host_hits(&run, "slow-host"), expected);
    for verdict in fired(&run, "slow-host").iter().chain(&fired(&read("healthy-3.5"), "slow-host")) {
        assert!(!verdict.confounders.is_empty(), "{verdict:#?}");
        assert_eq!((verdict.severity, verdict.paintable), (Severity::Hint, false));
    }
}

/// Tasks of 1 s each on hosts of one core, back to back; those of host 0 take `slow_ms`.
fn hosts(counts: &[u32], slow_ms: u32) -> Run {
    let mut builder = RunBuilder::new(1, counts.len() as u16, 300);
    builder.stage_on_hosts(0, counts, |host| if host == 0 { slow_ms } else { 1_000 });
    builder.run
}

/// The hit that is expected of [`hosts`].
fn slow_one() -> BTreeSet<(u32, String)> {
    BTreeSet::from([(0, "worker-0".to_owned())])
}

fn stage_mut(run: &mut Run) -> &mut Stage {
    run.stages.get_mut(&StageKey { stage: 0, attempt: 0 }).unwrap()
}

#[test]
fn fifteen_tasks_are_enough_and_fourteen_are_not() {
    assert_eq!(host_hits(&hosts(&[3, 6, 6], 2_000), "slow-host"), slow_one());
    assert_eq!(
        state(&hosts(&[3, 6, 5], 2_000), "slow-host", 0),
        State::NotApplicable("fewer than 15 tasks".to_owned())
    );
}

#[test]
fn three_hosts_are_enough_and_two_are_not() {
    assert_eq!(host_hits(&hosts(&[5, 5, 5], 2_000), "slow-host"), slow_one());
    assert_eq!(state(&hosts(&[7, 8], 2_000), "slow-host", 0), State::NotApplicable("fewer than 3 hosts".to_owned()));
}

#[test]
fn a_mean_of_twice_the_median_is_enough_and_a_little_less_is_not() {
    assert_eq!(host_hits(&hosts(&[5, 5, 5], 2_000), "slow-host"), slow_one());
    assert_eq!(state(&hosts(&[5, 5, 5], 1_990), "slow-host", 0), State::NotFired, "1.99 x");
    assert_eq!(state(&hosts(&[5, 5, 5], 1_999), "slow-host", 0), State::NotFired);
    // It is the mean: two of 500 ms and three of 3,000 ms are 2,000 ms.
    let mut uneven = hosts(&[5, 5, 5], 2_000);
    for (row, ms) in [500, 500, 3_000, 3_000, 3_000].into_iter().enumerate() {
        stage_mut(&mut uneven).tasks.duration.set(row, ms);
    }
    assert_eq!(host_hits(&uneven, "slow-host"), slow_one());
    stage_mut(&mut uneven).tasks.duration.set(4, 2_999);
    assert_eq!(state(&uneven, "slow-host", 0), State::NotFired);
}

#[test]
fn a_fifth_of_the_tasks_is_enough_and_a_little_less_is_not() {
    assert_eq!(host_hits(&hosts(&[200, 400, 400], 2_000), "slow-host"), slow_one());
    assert_eq!(state(&hosts(&[199, 401, 400], 2_000), "slow-host", 0), State::NotFired, "19.9 %");
    // Failed attempts are no tasks of the population: they raise neither the count nor the mean.
    let mut failed = hosts(&[200, 400, 400], 2_000);
    stage_mut(&mut failed).tasks.flags[0] = TaskFlags { outcome: Outcome::Failed, ..TaskFlags::default() }.into();
    assert_eq!(state(&failed, "slow-host", 0), State::NotFired, "199 of 999");
}

// What explains a hit: named, a hint at most, and never another verdict.

/// Hosts of one core with 12, 15, 15 and 15 tasks of 1 s; those of the first host take 4 s. Nothing explains it.
fn clean() -> Run {
    hosts(&[12, 15, 15, 15], 4_000)
}

/// Changes each task of the slow host.
fn on_the_slow_host(run: &mut Run, change: impl Fn(&mut Tasks, usize)) {
    let tasks = &mut stage_mut(run).tasks;
    for row in 0..tasks.len() {
        if tasks.host_of(row) == 0 {
            change(tasks, row);
        }
    }
}

/// The confounders of the slow host, which must be a hint that paints nothing.
fn confounders(run: &Run) -> Vec<String> {
    let found = fired(run, "slow-host");
    let slow = found.iter().find(|verdict| verdict.subject == Subject::Host("worker-0".to_owned())).unwrap();
    assert_eq!((slow.severity, slow.paintable), (Severity::Hint, false), "{slow:#?}");
    assert!(!slow.message.contains("slow machine") && !slow.advice.iter().any(|text| text.contains("Exclude")));
    slow.confounders.clone()
}

#[test]
fn one_task_may_explain_the_mean() {
    let mut run = hosts(&[12, 15, 15, 15], 1_000);
    stage_mut(&mut run).tasks.duration.set(11, 13_000);
    assert_eq!(confounders(&run), ["one task explains it"]);
    // With the data to match, skew is the better name.
    stage_mut(&mut run).tasks.read_bytes.set(11, 100 * MIB);
    assert_eq!(confounders(&run), ["one task explains it: see skewed-stage first"]);
    assert_eq!(stages(&fired(&run, "skewed-stage")), [0]);
}

#[test]
fn two_hosts_are_a_spread() {
    let mut builder = RunBuilder::new(1, 3, 300);
    builder.stage_on_hosts(0, &[12, 12, 30], |host| if host < 2 { 4_000 } else { 1_000 });
    assert_eq!(fired(&builder.run, "slow-host").len(), 2);
    assert_eq!(confounders(&builder.run), ["2 hosts fire: a spread, not a host"]);
}

#[test]
fn more_data_explains_more_time() {
    let with = |bytes: u64| {
        let mut run = clean();
        (0..57).for_each(|row| stage_mut(&mut run).tasks.read_bytes.set(row, 200));
        on_the_slow_host(&mut run, |tasks, row| tasks.read_bytes.set(row, bytes));
        run
    };
    assert_eq!(confounders(&with(300)), ["its tasks read more: more data, not a slow machine"]);
    assert!(fired(&with(299), "slow-host")[0].confounders.is_empty(), "1.495 x");
}

#[test]
fn a_host_that_holds_the_data_gets_the_tasks() {
    let mut run = clean();
    let anywhere = TaskFlags { locality: Locality::Any, metrics: true, ..TaskFlags::default() };
    let local = TaskFlags { locality: Locality::Node, ..anywhere };
    (0..57).for_each(|row| stage_mut(&mut run).tasks.flags[row] = anywhere.into());
    assert!(fired(&run, "slow-host")[0].confounders.is_empty());
    on_the_slow_host(&mut run, |tasks, row| tasks.flags[row] = local.into());
    assert_eq!(confounders(&run), ["it holds the data of its tasks (locality)"]);
    let advice = fired(&run, "slow-host")[0].advice.join("\n");
    assert!(advice.contains("Lower spark.locality.wait (now 3s, default of Spark 3.5)"), "{advice}");
    // Where it is 0 there is nothing to lower.
    run.conf.insert("spark.locality.wait".to_owned(), "0".to_owned());
    assert!(!fired(&run, "slow-host")[0].advice.join("\n").contains("spark.locality.wait"));
}

#[test]
fn a_stage_may_be_pinned_to_a_host() {
    // Half of the tasks are on the host; those of the others are the faster half by far.
    let mut run = hosts(&[15, 15, 15], 1_000);
    let rows: Vec<usize> = (0..45).collect();
    for &row in &rows {
        stage_mut(&mut run).tasks.host.set(row, if row < 23 { 0 } else { 1 + (row as u64 % 2) });
        let ms = if row < 22 { 4_000 } else { 1_000 };
        stage_mut(&mut run).tasks.duration.set(row, ms);
    }
    assert_eq!(confounders(&run), ["the stage is pinned to it: it holds 51 % of the tasks"]);
}

#[test]
fn garbage_collection_at_twice_the_share_of_the_others_explains_it() {
    let with = |gc_ms: u64| {
        let mut run = clean();
        (0..57).for_each(|row| stage_mut(&mut run).tasks.gc_time.set(row, 100));
        on_the_slow_host(&mut run, |tasks, row| tasks.gc_time.set(row, gc_ms));
        run
    };
    assert_eq!(confounders(&with(800)), ["garbage collection: 20 % of its time, 10 % elsewhere"]);
    assert!(fired(&with(799), "slow-host")[0].confounders.is_empty());
}

#[test]
fn on_kubernetes_a_host_is_a_pod() {
    let mut run = clean();
    run.conf.insert("spark.master".to_owned(), "k8s://cluster:443".to_owned());
    assert_eq!(confounders(&run), ["on Kubernetes the host is a pod"]);
}

#[test]
fn the_first_tasks_of_an_executor_are_start_up() {
    // Two slots: the first two tasks of the host take 12 s, those after them 1 s.
    let mut run = hosts(&[12, 15, 15, 15], 1_000);
    let tasks = &mut stage_mut(&mut run).tasks;
    for row in 0..12 {
        tasks.launch.set(row, if row < 2 { 0 } else { 20_000 + row as u64 * 1_000 });
        tasks.duration.set(row, if row < 2 { 12_000 } else { 1_000 });
    }
    assert_eq!(confounders(&run), ["start-up: without the first tasks of each executor it does not fire"]);
}

#[test]
fn a_clean_verbatim_hit_is_a_warning() {
    let found = fired(&hosts(&[12, 15, 15, 15], 4_000), "slow-host");
    assert_eq!(found[0].confounders, Vec::<String>::new());
    assert_eq!((found[0].severity, found[0].paintable), (Severity::Warning, true));
    assert_eq!(
        found[0].message,
        "worker-0 took 4.0 s a task on average, 4.0 x the stage's median of 1.0 s, and holds 21 % of its 57 tasks"
    );
}

#[test]
fn with_many_hosts_the_share_gate_cannot_be_met() {
    let run = hosts(&[5; 8], 4_000);
    assert_eq!(
        state(&run, "slow-host", 0),
        State::NotApplicable("share gate cannot be met: 8 hosts, even share 12 %".to_owned())
    );
    assert_eq!(host_hits(&run, "slow-host-median").len(), 1);
}

// slow-host-median

#[test]
fn the_slow_host_of_a_real_run_is_found_by_medians() {
    let found = fired(&read("slow_host-3.5"), "slow-host-median");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, Subject::Host("127.0.0.4".to_owned()));
    assert_eq!(found[0].severity, Severity::Hint, "one stage, four tasks");
    assert!(found[0].message.starts_with("127.0.0.4 took 2.2 x the time of the other hosts in stage 0 (4 tasks"));
    for log in ["healthy-3.5", "healthy-4.3", "skewed_join-aqe_off-3.5"] {
        assert!(fired(&read(log), "slow-host-median").is_empty(), "{log}");
    }
}

#[test]
fn two_stages_or_eight_tasks_make_a_slow_host_a_warning() {
    // The first task of each host is start-up and does not count.
    let severity = |run: &Run| fired(run, "slow-host-median")[0].severity;
    assert_eq!(severity(&hosts(&[8, 8, 8], 3_000)), Severity::Hint);
    assert_eq!(severity(&hosts(&[9, 8, 8], 3_000)), Severity::Warning);
    let mut builder = RunBuilder::new(1, 3, 300);
    for stage in 0..2 {
        builder.stage_on_hosts(stage, &[5, 6, 6], |host| if host == 0 { 3_000 } else { 1_000 });
    }
    let found = fired(&builder.run, "slow-host-median");
    assert_eq!(found.len(), 1, "one verdict for a host over its stages");
    assert_eq!((found[0].severity, stages(&found)), (Severity::Warning, vec![0, 1]));
}

#[test]
fn the_bounds_of_the_median_rule_are_inclusive() {
    let fires = |run: &Run| !fired(run, "slow-host-median").is_empty();
    assert!(fires(&hosts(&[4, 6, 6], 2_000)));
    assert!(!fires(&hosts(&[4, 6, 6], 1_999)));
    assert!(!fires(&hosts(&[3, 6, 6], 2_000)), "two tasks are left on it without start-up");
    let millis = |slow: u32, fast: u32| {
        let mut builder = RunBuilder::new(1, 3, 5);
        builder.stage_on_hosts(0, &[5, 6, 6], |host| if host == 0 { slow } else { fast });
        builder.run
    };
    assert!(fires(&millis(200, 100)));
    assert!(!fires(&millis(198, 99)), "99 ms more");
}

#[test]
fn a_host_that_reads_more_or_collects_garbage_is_not_slow() {
    let explained = |change: fn(&mut sparkls::run::model::Tasks, usize)| {
        let mut run = hosts(&[9, 8, 8], 3_000);
        let tasks = &mut run.stages.get_mut(&StageKey { stage: 0, attempt: 0 }).unwrap().tasks;
        (0..tasks.len())
            .filter(|&row| tasks.host_of(row) == 0)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|row| change(tasks, row));
        assert!(fired(&run, "slow-host-median").is_empty());
        let all = judge(&run);
        all.into_iter().find(|v| v.rule == "slow-host-median" && !v.confounders.is_empty()).unwrap().confounders
    };
    assert_eq!(explained(|tasks, row| tasks.read_bytes.set(row, MIB)), ["more data on this host"]);
    assert_eq!(explained(|tasks, row| tasks.gc_time.set(row, 1_100)), ["garbage collection or deserialisation"]);
}

// slow-stage

/// Four tasks of `ms` on 4 cores in a run of 600 s.
fn long_stage(ms: u32) -> Run {
    let mut builder = RunBuilder::new(4, 1, 600);
    builder.stage(0, (0..8).map(|index| task(index, ms / 2)).collect());
    builder.run
}

#[test]
fn a_slow_stage_takes_a_minute_and_a_tenth_of_the_run() {
    assert_eq!(state(&long_stage(60_000), "slow-stage", 0), State::Fired);
    assert_eq!(state(&long_stage(59_998), "slow-stage", 0), State::NotFired);
    let mut longer = long_stage(60_000);
    longer.application.end += 1_000;
    assert_eq!(state(&longer, "slow-stage", 0), State::NotFired);
    let found = fired(&long_stage(60_000), "slow-stage");
    assert!(found[0].message.ends_with("10 % of the run: the cause is not in the log"), "{}", found[0].message);
}

#[test]
fn a_slow_stage_is_suppressed_exactly_where_slow_host_fires() {
    let suppressed = State::NotApplicable("slow-host fires on it".to_owned());
    // Tasks of 10 s; the second stage of the run is as slow, and none of its hosts is.
    let of = |slow_ms: u32| {
        let mut builder = RunBuilder::new(1, 3, 300);
        builder.stage_on_hosts(0, &[3, 6, 6], |host| if host == 0 { slow_ms } else { 10_000 });
        builder.stage_on_hosts(1, &[6, 6, 6], |_| 10_000);
        builder.run
    };
    let fires = of(20_000);
    assert_eq!((state(&fires, "slow-host", 0), state(&fires, "slow-stage", 0)), (State::Fired, suppressed.clone()));
    assert_eq!((state(&fires, "slow-host", 1), state(&fires, "slow-stage", 1)), (State::NotFired, State::Fired));
    let fast = of(19_900);
    assert_eq!((state(&fast, "slow-host", 0), state(&fast, "slow-stage", 0)), (State::NotFired, State::Fired));
    // A hit that something explains suppresses it as well.
    let mut pods = fires;
    pods.conf.insert("spark.master".to_owned(), "k8s://cluster:443".to_owned());
    assert_eq!(state(&pods, "slow-stage", 0), suppressed);
}

#[test]
fn no_log_has_a_slow_stage_where_slow_host_fires() {
    let mut suppressed = 0;
    for log in LOGS {
        let run = read(log);
        let (by_host, slow) = (stages(&fired(&run, "slow-host")), stages(&fired(&run, "slow-stage")));
        assert!(slow.iter().all(|stage| !by_host.contains(stage)), "{log}: {by_host:?} {slow:?}");
        let why = State::NotApplicable("slow-host fires on it".to_owned());
        let quiet: Vec<Verdict> =
            judge(&run).into_iter().filter(|verdict| verdict.rule == "slow-stage" && verdict.state == why).collect();
        assert!(stages(&quiet).iter().all(|stage| by_host.contains(stage)), "{log}: {by_host:?} {quiet:?}");
        suppressed += stages(&quiet).len();
    }
    assert!(suppressed > 0, "slow_host-3.5 has one");
}

// How full the storage memory was: beside a hit, and in the hover

/// The clean hit with so many MiB of 100 used at the peak on each host.
fn with_storage(peaks: [u64; 4]) -> Run {
    let mut run = clean();
    for (executor, peak) in (0u16..).zip(peaks) {
        run.executors[usize::from(executor)].storage_memory = Some(100 * MIB);
        stage_mut(&mut run).storage_peaks.push(StoragePeak { executor, bytes: peak * MIB });
    }
    run
}

/// What is said of the storage memory: beside the hit, and in the hover.
fn storage_words(run: &Run) -> (Option<String>, Option<String>) {
    let found = fired(run, "slow-host");
    let beside = found.iter().flat_map(|verdict| &verdict.evidence).find(|one| one.name.contains("storage memory"));
    assert!(beside.is_none_or(|one| one.name.ends_with("(experimental)")));
    let hover = stage_details(run, StageKey { stage: 0, attempt: 0 });
    let hint = hover.lines().find(|line| line.contains("storage memory")).map(str::to_owned);
    (beside.map(|one| one.value.clone()), hint)
}

#[test]
fn the_storage_memory_of_a_slow_host_is_held_against_the_median_host() {
    let beside = "4.0 x (80 % of 100 MiB, the median host 20 %)".to_owned();
    let hover = "Experimental: worker-0 used 4.0 x the storage memory of the median host at its peak: 80 % of 100 MiB, \
                 the median host 20 %.";
    assert_eq!(storage_words(&with_storage([80, 20, 20, 10])), (Some(beside), Some(hover.to_owned())));
    // What does not stand out is told beside a hit, and no word in the hover.
    let beside = Some("0.5 x (10 % of 100 MiB, the median host 20 %)".to_owned());
    assert_eq!(storage_words(&with_storage([10, 20, 20, 20])), (beside, None));
    // Twice of next to nothing is nothing.
    assert_eq!(storage_words(&with_storage([9, 2, 2, 2])).1, None);
    assert!(storage_words(&with_storage([10, 2, 2, 2])).1.is_some());
    assert_eq!(storage_words(&with_storage([39, 20, 20, 20])).1, None, "1.95 x");
}

#[test]
fn the_executors_of_a_host_are_taken_together() {
    let mut run = with_storage([40, 20, 20, 20]);
    // Half of the slow host's tasks ran on another executor there, which used all it had.
    run.executors.push(Executor { id: "9".to_owned(), storage_memory: Some(100 * MIB), ..Executor::default() });
    stage_mut(&mut run).storage_peaks.push(StoragePeak { executor: 4, bytes: 100 * MIB });
    // It ran none of the tasks yet, so that it does not count.
    assert_eq!(storage_words(&run).0.unwrap(), "2.0 x (40 % of 100 MiB, the median host 20 %)");
    (0..6).for_each(|row| stage_mut(&mut run).tasks.executor.set(row, 4));
    assert_eq!(storage_words(&run).0.unwrap(), "3.5 x (70 % of 200 MiB, the median host 20 %)");
}

#[test]
fn nothing_is_said_of_storage_memory_that_is_not_known() {
    let nothing = (None, None);
    let known = [80, 20, 20, 10];
    assert_eq!(storage_words(&clean()), nothing, "no peaks");
    let mut run = with_storage(known);
    stage_mut(&mut run).storage_peaks.pop();
    assert_eq!(storage_words(&run), nothing, "a host without a peak");
    for unknown in [None, Some(0)] {
        let mut run = with_storage(known);
        run.executors[2].storage_memory = unknown;
        assert_eq!(storage_words(&run), nothing, "{unknown:?} bytes on one host");
    }
    assert_eq!(storage_words(&with_storage([80, 0, 0, 0])), nothing, "the median host holds nothing");
    let mut run = with_storage(known);
    let tasks = &mut stage_mut(&mut run).tasks;
    for row in 0..tasks.len() {
        tasks.host.set(row, 0);
        tasks.executor.set(row, 0);
    }
    assert_eq!(storage_words(&run), nothing, "one host");
}

#[test]
fn storage_memory_alone_makes_no_finding() {
    let even = |run: &mut Run| {
        let tasks = &mut stage_mut(run).tasks;
        (0..tasks.len()).for_each(|row| tasks.duration.set(row, 1_000));
    };
    let (mut without, mut with) = (clean(), with_storage([100, 1, 1, 1]));
    even(&mut without);
    even(&mut with);
    assert_eq!(judge(&without), judge(&with));
    assert!(storage_words(&with).1.is_some());
}

#[test]
fn a_cache_that_lies_unevenly_is_seen_in_the_log_of_a_real_cluster() {
    let run = read("cached_host-3.5");
    assert!(run.executors.iter().all(|executor| executor.storage_memory == Some(120 * MIB)));
    let found = fired(&run, "slow-host");
    let found = found.iter().find(|verdict| verdict.subject == Subject::Host("127.0.0.4".to_owned())).unwrap();
    let words = &found.evidence.iter().find(|one| one.name.contains("storage memory")).unwrap().value;
    assert_eq!(words, "8.7 x (35 % of 120 MiB, the median host 4 %)");
    let hint =
        |stage: u32| stage_details(&run, StageKey { stage, attempt: 0 }).contains("127.0.0.4 used 8.7 x the storage");
    // The first stage caches nothing.
    assert_eq!((hint(0), hint(2)), (false, true));
}

// Real clusters

/// All logs of a scenario beside the repository, where they are.
fn shared(scenario: &str) -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("SPARKLS_SHARED").map_or(beside, PathBuf::from);
    let Ok(entries) = std::fs::read_dir(shared.join("data/eventlogs/scenarios").join(scenario)) else {
        let _ = writeln!(std::io::stderr(), "skipped: no logs of {scenario} beside the repository");
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("eventlog-")).collect()
}

#[test]
fn only_the_slow_machine_of_a_cluster_is_slow_by_medians() {
    let slow = shared("slow_host");
    for log in &slow {
        let run = sparkls::eventlog::read(log, &mut |_| true).unwrap();
        let on: BTreeSet<String> = host_hits(&run, "slow-host-median").into_iter().map(|(_, host)| host).collect();
        assert!(on.iter().all(|host| host == "127.0.0.4"), "{}: {on:?}", log.display());
    }
    for log in shared("healthy") {
        let run = sparkls::eventlog::read(&log, &mut |_| true).unwrap();
        let hits = host_hits(&run, "slow-host-median");
        assert!(hits.is_empty(), "{}: {hits:?}", log.display());
    }
}
