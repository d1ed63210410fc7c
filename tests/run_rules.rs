//! The rules on runs: each on a log that fires it and on one that does not, and at the edges of its formula.

#![allow(clippy::unwrap_used)]

mod run_builder;

use std::collections::BTreeSet;

use run_builder::judged::{LOGS, evidence, fired, judge, path, read, stages, state};
use run_builder::{MIB, RunBuilder, join_plan, task};
use sparkls::rules::run::{stage_details, verdicts};
use sparkls::rules::{RuleSettings, Severity, State, Verdict};
use sparkls::run::Run;
use sparkls::run::model::{StageKey, TaskFlags};

// What holds for all rules and logs.

#[test]
fn every_rule_says_one_thing_of_every_stage() {
    // Their subject is the run, its actions or its plans, not a stage.
    let whole_run = ["log-coverage", "lost-work", "idle-executors", "driver-gap", "small-files", "broadcast-oversized"];
    for log in LOGS {
        let run = read(log);
        let verdicts = judge(&run);
        for rule in sparkls::rules::run::RULES.iter().filter(|rule| !whole_run.contains(&rule.name)) {
            for key in &sparkls::run::stats::evaluated_stages(&run) {
                let states: Vec<&State> = verdicts
                    .iter()
                    .filter(|verdict| verdict.rule == rule.name && verdict.stages.contains(key))
                    .map(|verdict| &verdict.state)
                    .collect();
                assert!(!states.is_empty(), "{log}: {} says nothing of {key:?}", rule.name);
                assert!(states.iter().all(|state| *state == states[0]), "{log}: {} {key:?} {states:?}", rule.name);
            }
        }
    }
}

#[test]
fn coverage_comes_first_then_warnings_and_of_equal_ones_the_costliest() {
    for log in LOGS {
        let verdicts = judge(&read(log));
        assert_eq!(verdicts[0].rule, "log-coverage");
        let fired = verdicts[1..].iter().filter(|verdict| verdict.is_fired());
        let ranks: Vec<(Severity, f64)> = fired.map(|one| (one.severity, one.impact_s.unwrap_or(0.0))).collect();
        assert!(ranks.is_sorted_by(|a, b| a >= b), "{log}: {ranks:?}");
    }
}

#[test]
fn a_healthy_run_paints_nothing() {
    for log in ["healthy-3.5", "healthy-4.3"] {
        let painted: Vec<Verdict> = judge(&read(log)).into_iter().filter(|verdict| verdict.paintable).collect();
        assert!(painted.is_empty(), "{log}: {painted:#?}");
    }
}

#[test]
fn what_is_painted_costs_five_seconds_and_a_percent_of_the_run() {
    for log in LOGS {
        let run = read(log);
        let run_s = (run.application.end - run.application.start) as f64 / 1000.0;
        for verdict in judge(&run).iter().filter(|verdict| verdict.paintable && verdict.rule != "result-size") {
            let impact = verdict.impact_s.unwrap();
            assert!(impact >= 5.0 && impact >= 0.01 * run_s, "{log}: {verdict:#?}");
            assert!(!verdict.short.is_empty() && !verdict.message.contains('\n') && !verdict.advice.is_empty());
        }
    }
}

#[test]
fn levels_switch_rules_off_and_set_severities() {
    let run = read("coalesce_write-3.5");
    let mut settings = RuleSettings::default();
    settings.levels.insert("too-few-partitions".to_owned(), sparkls::rules::Level::Off);
    assert!(verdicts(&run, &settings).iter().all(|verdict| verdict.rule != "too-few-partitions"));
    settings.levels.insert("too-few-partitions".to_owned(), sparkls::rules::Level::Fixed(Severity::Hint));
    let fixed: Vec<Verdict> =
        verdicts(&run, &settings).into_iter().filter(|v| v.rule == "too-few-partitions" && v.is_fired()).collect();
    assert!(!fixed.is_empty() && fixed.iter().all(|verdict| verdict.severity == Severity::Hint));
}

#[test]
fn a_threshold_is_an_option_of_its_rule() {
    let run = read("skewed_join-4.3");
    let mut settings = RuleSettings::default();
    settings.options.insert(("skewed-stage".to_owned(), "ratio".to_owned()), 14.0);
    let found: Vec<Verdict> =
        verdicts(&run, &settings).into_iter().filter(|v| v.rule == "skewed-stage" && v.is_fired()).collect();
    assert_eq!(stages(&found), [4]);
}

// log-coverage

#[test]
fn a_complete_log_is_said_to_be_complete() {
    let verdicts = judge(&read("healthy-3.5"));
    assert_eq!(verdicts[0].state, State::NotFired);
    assert_eq!(verdicts[0].message, "log complete, 45 of 45 tasks");
}

#[test]
fn what_a_log_lacks_is_said() {
    let mut run = read("healthy-3.5");
    run.coverage.complete = false;
    run.coverage.cut_at = Some(201_985);
    run.coverage.bad_lines = 2;
    run.coverage.bad_offsets = vec![17, 4_242];
    run.coverage.missing_files = vec![3];
    let coverage = &judge(&run)[0];
    assert!(coverage.is_fired());
    assert_eq!(
        coverage.message,
        "the log ends at byte 201,985 in the middle of a line; 2 lines are no event (at byte 17, 4,242); \
         file 3 of the rolled log is missing; 45 of 45 tasks are in it"
    );
}

#[test]
fn a_stage_of_which_tasks_are_missing_is_not_judged() {
    let mut builder = RunBuilder::new(2, 1, 100);
    builder.stage(0, (0..9).map(|index| task(index, 1_000)).collect());
    builder.run.stages.get_mut(&StageKey { stage: 0, attempt: 0 }).unwrap().task_count = 10;
    assert_eq!(state(&builder.run, "spill", 0), State::NotFired);
    builder.run.stages.get_mut(&StageKey { stage: 0, attempt: 0 }).unwrap().task_count = 11;
    assert!(matches!(state(&builder.run, "spill", 0), State::NotApplicable(why) if why.contains("90 %")));
}

// skewed-stage and straggler

#[test]
fn a_skewed_join_is_skewed() {
    let found = fired(&read("skewed_join-4.3"), "skewed-stage");
    assert_eq!(stages(&found), [4, 9]);
    let worst = &found[0];
    assert_eq!(worst.stages, [StageKey { stage: 4, attempt: 0 }]);
    assert_eq!(evidence(worst, "slowest task over the median"), "14 x (107.6 s / 7.5 s)");
    assert_eq!(evidence(worst, "bytes read by it"), "5.3 MiB (23 x), median 241 KiB");
    assert_eq!(evidence(worst, "rows read by it"), "415,093 (28 x), median 15,094");
    assert_eq!(worst.short, "max 14 x median · not split by AQE");
    assert!(
        worst.message.starts_with("one task read 80 % of the rows of this join: 8 tasks, median 7.5 s, max 107.6 s")
    );
    assert_eq!(worst.severity, Severity::Information, "8 tasks are below 10");
    assert!(worst.paintable);
    assert!(worst.advice[0].starts_with("Broadcast the right side"), "{:?}", worst.advice);
    assert!(worst.advice.last().unwrap().contains("will not help"));
}

#[test]
fn a_healthy_run_has_no_skew_and_no_straggler_but_start_up() {
    for log in ["healthy-3.5", "healthy-4.3"] {
        let run = read(log);
        assert!(fired(&run, "skewed-stage").is_empty());
        for straggler in fired(&run, "straggler") {
            assert!(straggler.message.contains("executor was starting up"), "{straggler:#?}");
            assert!(!straggler.paintable);
        }
    }
}

/// Eleven tasks on 4 slots: ten of 2 s and one of `long_ms` that reads `bytes` and `records`; the others 1 MiB and 1,000.
fn one_long_task(long_ms: u32, bytes: u64, records: u64, run_s: i64) -> Run {
    let mut builder = RunBuilder::new(4, 1, run_s);
    let mut tasks: Vec<_> = (0..10).map(|index| task(index, 2_000)).collect();
    for even in &mut tasks {
        (even.read_bytes, even.read_records) = (MIB, 1_000);
    }
    let mut long = task(10, long_ms);
    (long.read_bytes, long.read_records) = (bytes, records);
    tasks.push(long);
    builder.stage(0, tasks);
    builder.run
}

#[test]
fn the_bounds_of_skew_are_inclusive() {
    let both = |long_ms, run_s| one_long_task(long_ms, 3 * MIB, 0, run_s);
    assert_eq!(state(&both(6_000, 100), "skewed-stage", 0), State::Fired);
    assert_eq!(state(&both(5_999, 100), "skewed-stage", 0), State::NotFired);
    // 4 s above the median: exactly 2 % of 200 s.
    assert_eq!(state(&both(6_000, 200), "skewed-stage", 0), State::Fired);
    assert_eq!(state(&both(6_000, 201), "skewed-stage", 0), State::NotFired);
}

#[test]
fn a_stage_saves_no_more_than_it_took() {
    let mut run = one_long_task(60_000, 200 * MIB, 5_000, 100);
    let saved = |run: &Run| {
        let verdicts = judge(run);
        verdicts.iter().find(|verdict| verdict.rule == "skewed-stage" && verdict.is_fired()).unwrap().impact_s.unwrap()
    };
    assert!(saved(&run) > 20.0);
    // Its times do not go together with those of its tasks.
    let stage = run.stages.get_mut(&StageKey { stage: 0, attempt: 0 }).unwrap();
    stage.completed = stage.submitted.map(|submitted| submitted + 9_000);
    assert_eq!(saved(&run), 9.0);
}

#[test]
fn skew_needs_bytes_or_records_and_their_floors_count() {
    assert_eq!(state(&one_long_task(9_000, 3 * MIB, 1_000, 100), "skewed-stage", 0), State::Fired);
    assert_eq!(state(&one_long_task(9_000, MIB, 3_000, 100), "skewed-stage", 0), State::Fired);
    let even = one_long_task(9_000, 3 * MIB - 1, 2_999, 100);
    assert_eq!(state(&even, "skewed-stage", 0), State::NotFired);
    assert_eq!(state(&even, "straggler", 0), State::Fired);
    // 40 times the median, but 1.4 MiB: a straggler that says what it read.
    let small = &fired(&read("skewed_groupby-4.3"), "straggler");
    let aggregate = small.iter().find(|verdict| verdict.stages[0].stage == 2).unwrap();
    assert!(aggregate.message.contains("1.3 MiB (41 x the median)"), "{}", aggregate.message);
}

#[test]
fn four_tasks_are_too_few_to_call_skew() {
    let of = |count: u32| {
        let mut builder = RunBuilder::new(4, 1, 100);
        let mut tasks: Vec<_> = (0..count).map(|index| task(index, 2_000)).collect();
        (tasks[0].duration, tasks[0].read_bytes) = (20_000, 100 * MIB);
        builder.stage(0, tasks);
        builder.run
    };
    assert_eq!(state(&of(4), "skewed-stage", 0), State::NotApplicable("fewer than 5 tasks".to_owned()));
    let five = fired(&of(5), "skewed-stage");
    assert_eq!(five[0].severity, Severity::Information);
    assert_eq!(fired(&of(10), "skewed-stage")[0].severity, Severity::Warning);
}

#[test]
fn without_metrics_the_read_is_not_recorded_and_never_zero() {
    let mut builder = RunBuilder::new(4, 1, 100);
    let mut tasks: Vec<_> = (0..10).map(|index| task(index, 2_000)).collect();
    tasks[3].duration = 20_000;
    tasks[3].flags.metrics = false;
    builder.stage(0, tasks);
    assert_eq!(state(&builder.run, "skewed-stage", 0), State::NotRecorded("Task Metrics".to_owned()));
    assert!(matches!(state(&builder.run, "spill", 0), State::NotRecorded(_)));
    assert!(matches!(state(&builder.run, "oversized-partitions", 0), State::NotRecorded(_)));
    let tasks = &mut builder.run.stages.get_mut(&StageKey { stage: 0, attempt: 0 }).unwrap().tasks;
    tasks.flags[3] = TaskFlags { metrics: true, ..TaskFlags::default() }.into();
    assert_eq!(state(&builder.run, "spill", 0), State::NotFired);
    let tasks = &mut builder.run.stages.get_mut(&StageKey { stage: 0, attempt: 0 }).unwrap().tasks;
    tasks.not_recorded.insert("Disk Bytes Spilled");
    tasks.flags[3] = TaskFlags::default().into();
    assert_eq!(state(&builder.run, "spill", 0), State::NotRecorded("Disk Bytes Spilled".to_owned()));
    assert!(stage_details(&builder.run, StageKey { stage: 0, attempt: 0 }).contains("not recorded"));
}

#[test]
fn a_straggler_names_its_cause() {
    let with = |change: fn(&mut sparkls::run::model::Task)| {
        let mut run = one_long_task(20_000, MIB, 1_000, 100);
        let tasks = &mut run.stages.get_mut(&StageKey { stage: 0, attempt: 0 }).unwrap().tasks;
        let mut long = task(10, 20_000);
        change(&mut long);
        tasks.gc_time.set(10, long.gc_time.into());
        tasks.fetch_wait.set(10, long.fetch_wait.into());
        let found = fired(&run, "straggler");
        found[0].short.clone()
    };
    assert_eq!(with(|_| ()), "max 10 x median · cause not in the log");
    assert_eq!(with(|long| long.gc_time = 4_000), "max 10 x median · garbage collection");
    assert_eq!(with(|long| long.fetch_wait = 4_000), "max 10 x median · waits for shuffle blocks");
}

#[test]
fn speculation_advice_spells_the_versions_defaults_out_and_is_silent_where_it_cannot_help() {
    let slow = fired(&read("slow_host-3.5"), "straggler");
    let stage = slow.iter().find(|verdict| verdict.stages[0].stage == 7).unwrap();
    assert!(stage.advice[0].contains("more than 1.5 x the median gets a copy once 75 %"), "{:?}", stage.advice);
    let one_host = fired(&read("partitions-3.5"), "straggler");
    assert_eq!(one_host[0].advice, ["Speculation cannot help here: all executors are on one host"]);
}

// aqe-skew-gates

fn gates_message(log: &str, stage: u32) -> String {
    let found = fired(&read(log), "aqe-skew-gates");
    found.iter().find(|verdict| verdict.stages[0].stage == stage).unwrap().message.clone()
}

#[test]
fn aqe_says_why_it_left_a_partition_whole() {
    assert_eq!(
        gates_message("skewed_join-4.3", 4),
        "AQE left it whole: 23 x the median, but 5.3 MiB is not above 256 MiB"
    );
    assert!(
        gates_message("skewed_join-aqe_off-3.5", 2).contains("spark.sql.adaptive.enabled is false (set in this run)")
    );
    assert!(fired(&read("skewed_join-aqe_split-4.3"), "aqe-skew-gates").is_empty(), "AQE split it");
    assert!(fired(&read("healthy-3.5"), "aqe-skew-gates").is_empty());
}

/// A join of ten tasks: nine read 10 MiB from shuffles, one reads `bytes`.
fn joined(bytes: u64, kind: &str) -> Run {
    let mut builder = RunBuilder::new(4, 1, 100);
    let mut tasks: Vec<_> = (0..10).map(|index| task(index, 2_000)).collect();
    for even in &mut tasks {
        (even.read_bytes, even.shuffle_read_bytes) = (10 * MIB, 10 * MIB);
    }
    (tasks[0].duration, tasks[0].read_bytes, tasks[0].shuffle_read_bytes) = (30_000, bytes, bytes);
    builder.stage(0, tasks);
    join_plan(&mut builder.run, 0, kind);
    builder.run
}

#[test]
fn both_gates_are_strict() {
    let message = |bytes, kind| fired(&joined(bytes, kind), "aqe-skew-gates")[0].message.clone();
    assert!(message(50 * MIB, "Inner").contains("5.0 x the median is not above 5 x, and 50 MiB is not above 256 MiB"));
    assert!(message(256 * MIB, "Inner").contains("26 x the median, but 256 MiB is not above 256 MiB"));
    assert!(message(256 * MIB + 1, "Inner").contains("both gates pass"));
    assert!(message(300 * MIB, "LeftOuter").contains("a LeftOuter join is split on its left side only"));
    assert!(message(300 * MIB, "FullOuter").contains("neither side of a FullOuter join"));
}

#[test]
fn a_lower_threshold_is_advised_only_where_it_would_split() {
    let advice = |bytes| fired(&joined(bytes, "Inner"), "aqe-skew-gates")[0].advice.clone();
    assert_eq!(
        advice(190 * MIB),
        ["Lower spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes to 128m (now 256MB, default of Spark 3.5)"]
    );
    assert!(advice(52 * MIB)[0].contains("advisoryPartitionSizeInBytes to 16m"), "{:?}", advice(52 * MIB));
}

// Partitions, spill, results

#[test]
fn one_task_by_the_users_hand_is_too_few() {
    let run = read("coalesce_write-3.5");
    let found = fired(&run, "too-few-partitions");
    assert_eq!(stages(&found), [0, 3]);
    assert_eq!(found[0].short, "1 task · coalesce(1)");
    assert!(found[0].advice[0].starts_with("Replace coalesce(1)"));
    assert_eq!(found[1].short, "1 task · repartition(1)");
    for log in ["healthy-3.5", "healthy-4.3", "spill-3.5"] {
        assert!(fired(&read(log), "too-few-partitions").is_empty(), "{log}");
    }
}

#[test]
fn a_limit_is_one_task_by_its_nature() {
    let why = State::NotApplicable("a limit, a head or a global aggregate".to_owned());
    assert_eq!(state(&read("partitions-3.5"), "too-few-partitions", 5), why);
    assert_eq!(state(&read("collect_large-4.3"), "too-few-partitions", 2), why);
}

#[test]
fn too_few_partitions_has_three_forms() {
    let few = |cores: u32, durations: &[u32]| {
        let mut builder = RunBuilder::new(cores, 1, 600);
        builder.stage(0, durations.iter().zip(0..).map(|(&ms, index)| task(index, ms)).collect());
        state(&builder.run, "too-few-partitions", 0)
    };
    // 7 tasks on 4 cores, 10 s a core, 37 % idle.
    assert_eq!(few(4, &[4_000, 4_000, 4_000, 4_000, 12_000, 6_000, 6_000]), State::Fired);
    assert_eq!(few(4, &[4_000, 4_000, 4_000, 4_000, 12_000, 6_000, 5_999]), State::NotFired);
    // Fewer tasks than cores and a minute of work.
    assert_eq!(few(8, &[15_000; 4]), State::Fired);
    assert_eq!(few(8, &[14_999; 4]), State::NotFired);
    // Exactly one task.
    assert_eq!(few(8, &[30_000]), State::Fired);
    assert_eq!(few(8, &[29_999]), State::NotFired);
    assert_eq!(few(1, &[30_000]), State::NotFired);
}

#[test]
fn unknown_cores_are_not_applicable() {
    let mut builder = RunBuilder::new(8, 1, 600);
    builder.stage(0, vec![task(0, 300_000)]);
    builder.run.executors[0].cores = None;
    assert!(
        matches!(state(&builder.run, "too-few-partitions", 0), State::NotApplicable(why) if why.contains("not known"))
    );
}

#[test]
fn tiny_partitions_are_many_small_and_mostly_overhead() {
    let tiny = |count: u32, ms: u32, run_time: u32| {
        let mut builder = RunBuilder::new(8, 1, 60);
        let small = |index| sparkls::run::model::Task { run_time, ..task(index, ms) };
        builder.stage(0, (0..count).map(small).collect());
        builder.run
    };
    let found = fired(&tiny(1_000, 100, 70), "tiny-partitions");
    assert_eq!(found[0].message, "1,000 tasks for 8 cores, median 100 ms and 0 B: 30 % of task time is overhead");
    assert_eq!(state(&tiny(999, 100, 70), "tiny-partitions", 0), State::NotFired);
    assert_eq!(state(&tiny(1_000, 100, 71), "tiny-partitions", 0), State::NotFired);
    assert!(fired(&read("partitions-3.5"), "tiny-partitions").is_empty(), "200 tasks are few");
}

#[test]
fn oversized_partitions_by_median_read() {
    let of = |bytes: u64, spill: u64| {
        let mut builder = RunBuilder::new(2, 1, 100);
        let large = |index| sparkls::run::model::Task { read_bytes: bytes, spill_disk: spill, ..task(index, 5_000) };
        builder.stage(0, (0..8).map(large).collect());
        builder.run
    };
    assert_eq!(state(&of(200 * MIB, 0), "oversized-partitions", 0), State::NotFired);
    assert_eq!(fired(&of(200 * MIB + 1, 0), "oversized-partitions")[0].severity, Severity::Information);
    assert_eq!(fired(&of(1024 * MIB, 0), "oversized-partitions")[0].severity, Severity::Warning);
    let severe = fired(&of(3072 * MIB, MIB), "oversized-partitions");
    assert_eq!(severe[0].message, "the median task reads 3 GiB and the stage spills 8 MiB: 8 tasks");
}

#[test]
fn spill_is_measured_against_what_the_stage_reads() {
    let found = fired(&read("spill-3.5"), "spill");
    assert_eq!(stages(&found), [3, 4]);
    let sort = found.iter().find(|verdict| verdict.stages[0].stage == 3).unwrap();
    assert!(sort.message.starts_with("35.9 MiB spilled to disk, 105 % of what the stage reads"), "{}", sort.message);
    assert!(sort.message.ends_with("in 2 of 2 tasks; the stage is 28 % of the run"), "{}", sort.message);
    assert_eq!(sort.severity, Severity::Warning);
    assert!(fired(&read("healthy-3.5"), "spill").is_empty());
    let of = |spill: u64| {
        let mut builder = RunBuilder::new(2, 1, 100);
        let spilling = |index| sparkls::run::model::Task { read_bytes: 100, spill_disk: spill, ..task(index, 5_000) };
        builder.stage(0, (0..8).map(spilling).collect());
        fired(&builder.run, "spill")[0].severity
    };
    assert_eq!((of(10), of(9)), (Severity::Warning, Severity::Information));
}

#[test]
fn results_are_measured_against_the_limit() {
    let found = fired(&read("collect_large-4.3"), "result-size");
    assert_eq!(stages(&found), [3]);
    assert!(found[0].message.starts_with("the job was aborted"), "{}", found[0].message);
    assert_eq!(found[0].severity, Severity::Error);
    assert!(fired(&read("healthy-3.5"), "result-size").is_empty());
    let of = |bytes: u64, limit: &str| {
        let mut builder = RunBuilder::new(2, 1, 100);
        builder.run.conf.insert("spark.driver.maxResultSize".to_owned(), limit.to_owned());
        builder.stage(0, vec![sparkls::run::model::Task { result_bytes: bytes, ..task(0, 5_000) }]);
        state(&builder.run, "result-size", 0)
    };
    assert_eq!(of(50 * MIB, "100m"), State::Fired);
    assert_eq!(of(50 * MIB - 1, "100m"), State::NotFired);
    assert!(matches!(of(50 * MIB, "0"), State::NotApplicable(_)));
}

// The hover and the report

#[test]
fn the_hover_of_a_skewed_join() {
    let text = stage_details(&read("skewed_join-aqe_off-3.5"), StageKey { stage: 2, attempt: 0 });
    let expected = "\
**Stage 2** · 8 tasks on 4 hosts · 61.8 s of the run's 2 min 33 s (40 %)

```text
duration   min 4.9 s  median 19.9 s  p75 37.5 s  p95 61.6 s  max 61.6 s    ▁▄█▁▁▁▁▁▁▁▁▁▁▄▄▄▁▁▁▁▁▁▁▄
read       min 232 KiB  median 241 KiB  p75 242 KiB  p95 5.3 MiB  max 5.3 MiB
AQE gates  23 x median > 5 x ✓    5.3 MiB > 256 MiB ✗    → not split: spark.sql.adaptive.enabled is false
hosts      127.0.0.2 21.6 s · 127.0.0.3 6.5 s · 127.0.0.4 22.5 s · 127.0.0.5 61.6 s (holds the longest task)
```

Not a slow host: the only task of 127.0.0.5 read 23 x the median.";
    assert_eq!(text, expected);
    assert_eq!(stage_details(&Run::default(), StageKey { stage: 0, attempt: 0 }), "");
}

fn report(log: &str, format: sparkls::cli::report::Format, all: bool) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("report");
    let options = sparkls::cli::report::Options {
        log: sparkls::eventlog::Location::Path(path(log)),
        choice: Default::default(),
        code: Vec::new(),
        format,
        output: Some(output.clone()),
        all,
        redact: false,
        history: None,
    };
    sparkls::cli::report::run(&options).unwrap();
    std::fs::read_to_string(output).unwrap()
}

#[test]
fn the_report_fits_a_hundred_columns() {
    use sparkls::cli::report::Format;
    for log in LOGS {
        for all in [false, true] {
            let text = report(log, Format::Text, all);
            for line in text.lines() {
                assert!(unicode_width::UnicodeWidthStr::width(line) <= 100, "{log}: {line}");
            }
            assert!(text.contains("log complete"), "{log}: {text}");
            assert!(text.contains("Checked and not found:"), "{log}: {text}");
        }
    }
}

#[test]
fn the_report_says_where_the_time_went() {
    let text = report("coalesce_write-3.5", sparkls::cli::report::Format::Text, false);
    let first: Vec<&str> = text.lines().take(6).collect();
    assert_eq!(first[0], "coalesce-write  local-1795991664991  Spark 3.5.9  87.7 s  2 cores on 1 host");
    assert!(first[4].starts_with(" 1  stage 0     write      27.3 s  1 task · coalesce(1)"), "{text}");
    assert!(first[4].trim_end().ends_with("-13.9 s"), "{text}");
}

#[test]
fn the_json_report_keeps_its_contract() {
    let text = report("skewed_join-4.3", sparkls::cli::report::Format::Json, false);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["application"]["spark_version"], "4.3.0");
    let stage = json["stages"].as_array().unwrap().iter().find(|stage| stage["stage"] == 4).unwrap();
    assert_eq!(stage["duration_ms"]["median"], 7531.5);
    assert_eq!(stage["duration_ms"]["max"], 107_599);
    assert_eq!(stage["read_bytes"]["max"], 5_573_935);
    let finding = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["rule"] == "skewed-stage" && finding["state"] == "fired")
        .unwrap();
    for field in
        ["rule", "state", "stage", "attempt", "severity", "confidence", "impact_s", "message", "evidence", "links"]
    {
        assert!(finding.get(field).is_some(), "{field}");
    }
    let states: BTreeSet<&str> =
        json["findings"].as_array().unwrap().iter().map(|finding| finding["state"].as_str().unwrap()).collect();
    assert_eq!(states, BTreeSet::from(["fired", "not applicable", "not fired"]));
}
