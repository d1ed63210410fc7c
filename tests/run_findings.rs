//! The rules on what a run lost, waited for, read again or could have done otherwise: each on a log that fires it, on the
//! healthy control, and at the edges of its formula.

#![allow(clippy::unwrap_used)]

mod run_builder;

use run_builder::judged::{evidence, fired, fired_with, judge, read, run_state, stages, state};
use run_builder::{MIB, RunBuilder, execute, join_plan, plan_node, task};
use sparkls::rules::{Severity, State, Subject, Verdict};
use sparkls::run::Run;
use sparkls::run::model::{
    Executor, Job, Outcome, PlanMetric, PlanNode, SqlExecution, Stage, StageKey, Task, TaskFailure, TaskFlags,
};

fn key(stage: u32) -> StageKey {
    StageKey { stage, attempt: 0 }
}

#[test]
fn healthy_runs_fire_none_of_these() {
    let rules = [
        "gc-pressure",
        "lost-work",
        "idle-executors",
        "driver-gap",
        "recomputed-source",
        "small-files",
        "broadcast-candidate",
        "broadcast-oversized",
        "speculation-potential",
    ];
    for log in ["healthy-3.5", "healthy-4.3"] {
        let run = read(log);
        for rule in rules {
            assert!(fired(&run, rule).is_empty(), "{log}: {:#?}", fired(&run, rule));
        }
    }
}

// gc-pressure

/// Two tasks of `run_ms` each, of which `gc_ms` are garbage collection, on two cores.
fn collecting(run_ms: u32, gc_ms: u32) -> Run {
    let mut builder = RunBuilder::new(2, 1, 300);
    builder.stage(0, (0..2).map(|index| Task { gc_time: gc_ms, ..task(index, run_ms) }).collect());
    builder.run
}

#[test]
fn gc_pressure_is_a_tenth_of_a_minute_or_more() {
    assert_eq!(state(&collecting(30_000, 3_000), "gc-pressure", 0), State::Fired);
    assert_eq!(state(&collecting(30_000, 2_999), "gc-pressure", 0), State::NotFired);
    assert_eq!(state(&collecting(29_999, 9_000), "gc-pressure", 0), State::NotFired);
    let mild = &fired(&collecting(30_000, 5_999), "gc-pressure")[0];
    assert!(!mild.message.contains("severe"), "{}", mild.message);
    let severe = &fired(&collecting(30_000, 6_000), "gc-pressure")[0];
    assert_eq!(severe.message, "20 % of run time went into garbage collection (12.0 s of 60.0 s), severe");
    assert_eq!(severe.impact_s, Some(6.0));
    assert!(severe.advice.last().unwrap().starts_with("Raise spark.executor.memory (now 1g, default of Spark 3.5)"));
}

#[test]
fn gc_that_was_not_recorded_is_not_zero() {
    let mut run = collecting(30_000, 0);
    run.stages.get_mut(&key(0)).unwrap().tasks.not_recorded.insert("JVM GC Time");
    assert_eq!(state(&run, "gc-pressure", 0), State::NotRecorded("JVM GC Time".to_owned()));
}

#[test]
fn a_heap_that_is_too_small_collects_garbage() {
    let found = fired(&read("gc_pressure-3.5"), "gc-pressure");
    assert!(!found.is_empty());
    assert!(found[0].message.ends_with(", severe"), "{}", found[0].message);
    assert!(found[0].advice.iter().any(|advice| advice.contains("collect_list holds all rows of a key in the heap")));
    assert!(found[0].advice.iter().any(|advice| advice.contains("spark.driver.memory (now 700m, set in this run)")));
    // A skewed stage that collects garbage is told to lose its skew, not to get memory.
    let skewed = fired(&read("skewed_join-4.3"), "gc-pressure");
    assert_eq!(skewed[0].advice.len(), 1);
    assert!(skewed[0].advice[0].starts_with("Remove the skew first"), "{:?}", skewed[0].advice);
}

// lost-work

/// Ten tasks of 1.9 s that succeed and one that ends otherwise after `ms`.
fn with_an_end(outcome: Outcome, ms: u32) -> Run {
    let mut builder = RunBuilder::new(2, 1, 300);
    let mut tasks: Vec<Task> = (0..10).map(|index| task(index, 1_900)).collect();
    tasks.push(Task { flags: TaskFlags { outcome, ..TaskFlags::default() }, ..task(3, ms) });
    builder.stage(0, tasks);
    let stage = builder.run.stages.get_mut(&key(0)).unwrap();
    stage.task_count = 10;
    stage.failures = vec![TaskFailure { class: "java.io.IOException".into(), message: "disk full".into(), tasks: 1 }];
    builder.run
}

#[test]
fn lost_work_is_five_percent_of_all_task_time() {
    // The builder's first stage ran 1 ms.
    assert_eq!(run_state(&with_an_end(Outcome::Failed, 1_001), "lost-work"), State::Fired);
    assert_eq!(run_state(&with_an_end(Outcome::Failed, 999), "lost-work"), State::NotFired);
    assert_eq!(run_state(&with_an_end(Outcome::Killed, 1_001), "lost-work"), State::Fired);
    let found = &fired(&with_an_end(Outcome::Failed, 2_000), "lost-work")[0];
    assert_eq!(
        found.message,
        "2.0 s of task time was lost, 10 % of all: 1 task failed; IOException: disk full (1 task)"
    );
    assert_eq!(found.stages, [key(0)]);
}

#[test]
fn losers_of_speculation_are_not_lost_work() {
    let mut run = with_an_end(Outcome::Killed, 9_000);
    let tasks = &mut run.stages.get_mut(&key(0)).unwrap().tasks;
    tasks.flags[10] = TaskFlags { outcome: Outcome::Killed, speculative: true, ..TaskFlags::default() }.into();
    assert_eq!(run_state(&run, "lost-work"), State::NotFired);
}

#[test]
fn a_stage_that_ran_again_for_half_a_minute_is_lost_work() {
    let again = |ms: u32| {
        let mut builder = RunBuilder::new(2, 1, 3_000);
        builder.stage(0, (0..8).map(|index| task(index, 300_000)).collect());
        builder.stage(1, vec![task(0, ms)]);
        let retry = builder.run.stages.remove(&key(1)).unwrap();
        builder.run.stages.insert(StageKey { stage: 0, attempt: 1 }, retry);
        builder.run
    };
    assert_eq!(run_state(&again(29_999), "lost-work"), State::NotFired);
    let found = fired(&again(30_000), "lost-work");
    assert!(found[0].message.contains("1 stage ran again"), "{}", found[0].message);
    assert_eq!(found[0].stages, [StageKey { stage: 0, attempt: 1 }]);
}

#[test]
fn failures_of_a_real_run_are_told_by_their_own_words() {
    let found = fired(&read("lost_work-3.5"), "lost-work");
    assert_eq!(found.len(), 1);
    let message = &found[0].message;
    assert!(message.contains("failed") && message.contains("ran again"), "{message}");
    let errors: Vec<&str> =
        found[0].evidence.iter().filter(|one| one.name == "error").map(|one| one.value.as_str()).collect();
    assert!(errors.iter().any(|error| error.contains("ValueError: the service refused partition")), "{errors:?}");
    assert!(errors.iter().any(|error| error.starts_with("FetchFailed")), "{errors:?}");
}

// idle-executors and driver-gap

/// Two cores for `run_s`, busy for `busy_ms` each.
fn half_busy(run_s: i64, busy_ms: u32) -> Run {
    let mut builder = RunBuilder::new(2, 1, run_s);
    builder.stage(0, (0..2).map(|index| task(index, busy_ms)).collect());
    builder.run.stages.remove(&key(1_000_000));
    builder.run
}

#[test]
fn executors_are_idle_below_two_fifths_over_five_minutes() {
    assert_eq!(run_state(&half_busy(300, 120_000), "idle-executors"), State::NotFired);
    let found = fired(&half_busy(300, 119_999), "idle-executors");
    assert_eq!(found[0].subject, Subject::Run);
    assert!(found[0].message.starts_with("slots were busy 40 % of the time: 4 min 0 s of task time on 2.0 slots"));
    assert_eq!(run_state(&half_busy(299, 1_000), "idle-executors"), State::NotFired);
    let mut unknown = half_busy(300, 1_000);
    unknown.executors[0].cores = None;
    assert!(matches!(run_state(&unknown, "idle-executors"), State::NotApplicable(_)));
    // An executor that came for the last minute counts for a minute.
    let mut late = half_busy(300, 120_000);
    late.executors.push(Executor { cores: Some(2), added: Some(240_000), ..Executor::default() });
    assert_eq!(run_state(&late, "idle-executors"), State::Fired);
}

#[test]
fn advice_on_idle_executors_goes_by_what_is_in_force() {
    let mut run = half_busy(300, 1_000);
    let advice = |run: &Run| fired(run, "idle-executors")[0].advice.join("\n");
    assert!(!advice(&run).contains("dynamicAllocation"), "it is off");
    run.conf.insert("spark.dynamicAllocation.enabled".to_owned(), "true".to_owned());
    assert!(advice(&run).contains("spark.dynamicAllocation.executorIdleTimeout (now 60s, default of Spark 3.5)"));
    run.conf.insert("spark.master".to_owned(), "local[2]".to_owned());
    assert!(advice(&run).contains("nothing to release in local mode"));
}

/// Two jobs of a second, with `gap_ms` between them.
fn two_actions(gap_ms: u32) -> Run {
    let mut builder = RunBuilder::new(1, 1, 1_000);
    builder.stage(0, vec![task(0, 1_000), task(1, gap_ms), task(2, 1_000)]);
    let mut run = builder.run;
    let tasks = run.stages[&key(0)].tasks.clone();
    let part = |row: usize| {
        let mut stage = Stage { task_count: 1, ..Stage::default() };
        stage.tasks.push(Task { launch: tasks.launch.get(row) as u32, ..task(0, 1_000) });
        stage
    };
    run.stages.insert(key(0), part(0));
    run.stages.insert(key(1), part(2));
    for (id, row, site) in [(0, 0, "collect at /srv/jobs/a b.py:14"), (1, 2, "count at /srv/jobs/a b.py:16")] {
        let start = tasks.launch.get(row) as i64;
        let execution = SqlExecution {
            root: Some(id),
            description: site.to_owned(),
            start,
            end: Some(start + 1_000),
            ..SqlExecution::default()
        };
        run.executions.insert(id, execution);
        run.jobs.insert(id as u32, Job { stages: vec![id as u32], execution: Some(id), ..Job::default() });
    }
    run
}

#[test]
fn a_driver_gap_is_a_minute_between_two_actions() {
    let found = fired(&two_actions(60_000), "driver-gap");
    assert_eq!(found.len(), 1, "the long end after the last action is none");
    assert_eq!(found[0].message, "no task ran for 60.0 s between collect at a b.py:14 and count at a b.py:16");
    assert_eq!((&found[0].subject, found[0].impact_s), (&Subject::Execution(1), Some(60.0)));
    assert_eq!(run_state(&two_actions(59_999), "driver-gap"), State::NotFired);
    let mut holes = two_actions(60_000);
    holes.coverage.missing_files = vec![2];
    assert!(matches!(run_state(&holes, "driver-gap"), State::NotApplicable(_)));
}

#[test]
fn a_gap_in_an_action_is_said_to_be_in_it() {
    let mut run = two_actions(60_000);
    run.executions.get_mut(&0).unwrap().end = Some(60_500);
    assert!(fired(&run, "driver-gap")[0].message.ends_with("inside collect at a b.py:14"));
}

#[test]
fn a_driver_that_sleeps_leaves_its_executors_idle() {
    let run = read("driver_sleep-4.3");
    let gaps = fired(&run, "driver-gap");
    assert_eq!(gaps.len(), 2, "{gaps:#?}");
    assert!(gaps[0].impact_s.unwrap() > gaps[1].impact_s.unwrap());
    assert!(gaps.iter().all(|gap| gap.message.contains("between collect at driver_sleep.py:")), "{gaps:#?}");
    let idle = fired(&run, "idle-executors");
    assert_eq!((idle.len(), idle[0].severity), (1, Severity::Information));
    assert_eq!(run_state(&read("healthy-4.3"), "idle-executors"), State::NotFired);
}

// recomputed-source and small-files

/// A scan of this place with these filters; accumulator 1 + `base` counts its rows.
fn scan(base: i64, location: &str, filters: &str) -> PlanNode {
    let metrics =
        [("number of output rows", base + 1), ("number of files read", base + 2), ("size of files read", base + 3)];
    let mut node = plan_node("Scan parquet ", "FileScan parquet [id#1L]", &metrics, Vec::new());
    node.metadata.insert("Location".to_owned(), format!("InMemoryFileIndex(1 paths)[{location}]"));
    node.metadata.insert("PushedFilters".to_owned(), filters.to_owned());
    node
}

/// Two executions whose stages of 10 s and 8 s run these plans; accumulators of the second start at 100.
fn two_plans(first: PlanNode, second: PlanNode) -> Run {
    let mut builder = RunBuilder::new(2, 1, 100);
    builder.stage(0, (0..2).map(|index| task(index, 10_000)).collect());
    builder.stage(1, (0..2).map(|index| task(index, 8_000)).collect());
    execute(&mut builder.run, 0, first, &[(0, &[1])]);
    execute(&mut builder.run, 1, second, &[(1, &[101])]);
    builder.run
}

#[test]
fn a_source_that_two_executions_scan_is_read_again() {
    let orders = "s3://lake/orders";
    let project = |text: &str, scan| plan_node("Project", text, &[], vec![scan]);
    let run = two_plans(
        project("Project [sha2(id#7L) AS h#9]", scan(0, orders, "[IsNotNull(id)]")),
        project("Project [sha2(id#17L) AS h#19]", scan(100, orders, "[IsNotNull(id)]")),
    );
    let found = fired(&run, "recomputed-source");
    assert_eq!(found[0].message, "orders was read by 2 executions: 8.0 s spent again");
    assert_eq!((&found[0].stages[..], found[0].severity), (&[key(0), key(1)][..], Severity::Warning));
    assert_eq!(found[0].subject, Subject::Stage(key(0)));
    assert!(fired_with(&run, "recomputed-source", "seconds", 8.1).is_empty());
    // Other columns of the same rows: only the time of the scans is spent again.
    let mut other_work = two_plans(scan(0, orders, "[]"), scan(100, orders, "[]"));
    for (execution, ms) in [(0, 20_000), (1, 12_000)] {
        let measured = other_work.executions.get_mut(&execution).unwrap();
        measured.plan.metrics.push(PlanMetric { name: "scan time".into(), accumulator: 7, kind: "timing".into() });
        measured.driver_metrics.insert(7, ms);
    }
    assert_eq!(fired(&other_work, "recomputed-source")[0].impact_s, Some(6.0), "12 s on two slots");
    let other_filter = two_plans(scan(0, orders, "[IsNotNull(id)]"), scan(100, orders, "[]"));
    assert_eq!(state(&other_filter, "recomputed-source", 0), State::NotFired);
    let other_place = two_plans(scan(0, orders, "[]"), scan(100, "s3://lake/stores", "[]"));
    assert_eq!(state(&other_place, "recomputed-source", 1), State::NotFired);
}

#[test]
fn rows_from_a_cache_are_not_read_again() {
    let orders = "s3://lake/orders";
    let cached = |base| {
        let relation = plan_node("InMemoryRelation", "", &[], vec![scan(base, orders, "[]")]);
        plan_node("InMemoryTableScan", "", &[], vec![relation])
    };
    assert!(fired(&two_plans(cached(0), cached(100)), "recomputed-source").is_empty());
    // The second execution skipped the stage: none of its tasks updated the scan's metrics.
    let mut reused = two_plans(scan(0, orders, "[]"), scan(100, orders, "[]"));
    reused.stages.get_mut(&key(1)).unwrap().accumulables.clear();
    assert!(fired(&reused, "recomputed-source").is_empty());
}

#[test]
fn micro_batches_read_other_rows_each_time() {
    let mut run = two_plans(scan(0, "s3://in", "[]"), scan(100, "s3://in", "[]"));
    for execution in run.executions.values_mut() {
        execution.description = "orders\nid = 1\nrunId = 2\nbatch = 7".to_owned();
    }
    assert!(fired(&run, "recomputed-source").is_empty());
}

#[test]
fn three_actions_on_one_source_read_it_three_times() {
    let found = fired(&read("sources-3.5"), "recomputed-source");
    assert_eq!(found.len(), 1, "the cached read is none: {found:#?}");
    assert!(found[0].message.starts_with("orders was read by 3 executions: "), "{}", found[0].message);
    assert!(evidence(&found[0], "pushed filters").contains("GreaterThan(amount,0.1)"));
}

/// A stage that read so many files of so many bytes altogether.
fn reading(files: i64, bytes: i64) -> Run {
    let mut builder = RunBuilder::new(2, 1, 100);
    builder.stage(0, (0..2).map(|index| task(index, 10_000)).collect());
    execute(&mut builder.run, 0, scan(0, "s3://lake/orders", "[]"), &[(0, &[1])]);
    builder.run.executions.get_mut(&0).unwrap().driver_metrics.extend([(2, files), (3, bytes)]);
    builder.run
}

#[test]
fn small_files_are_more_than_a_hundred_below_three_mebibytes() {
    let mib = MIB as i64;
    let found = fired(&reading(101, 101 * 3 * mib - 1), "small-files");
    assert_eq!(found[0].message, "101 files of 3 MiB on average were read from orders");
    assert_eq!(run_state(&reading(101, 101 * 3 * mib), "small-files"), State::NotFired);
    assert_eq!(run_state(&reading(100, mib), "small-files"), State::NotFired);
    // Two stages' worth of opening files cannot be saved in a stage of 10 s.
    assert_eq!(fired(&reading(2_000, mib), "small-files")[0].impact_s, Some(10.0));
    let mut unknown = reading(101, 0);
    unknown.executions.get_mut(&0).unwrap().driver_metrics.remove(&3);
    assert!(matches!(run_state(&unknown, "small-files"), State::NotRecorded(_)));
    let mut none = reading(101, 0);
    none.executions.clear();
    assert!(matches!(run_state(&none, "small-files"), State::NotApplicable(_)));
}

#[test]
fn a_table_of_small_files_is_one_finding_and_its_write_another() {
    let found = fired(&read("sources-3.5"), "small-files");
    let messages: Vec<&str> = found.iter().map(|verdict| verdict.message.as_str()).collect();
    assert!(messages.iter().any(|text| text.starts_with("240 files of ") && text.contains("written")), "{messages:?}");
    assert!(messages.iter().any(|text| text.contains("read from orders, 3 times")), "{messages:?}");
    // Three times 240 files at 20 ms each on two slots are 7.2 s; written once they are below the floor of 5 s.
    let (read, written): (Vec<_>, Vec<_>) = found.iter().partition(|verdict| verdict.message.contains("3 times"));
    assert_eq!((read.len(), read[0].severity, read[0].paintable), (1, Severity::Warning, true));
    assert!((read[0].impact_s.unwrap() - 7.2).abs() < 0.1, "{:?}", read[0].impact_s);
    assert!(written.iter().all(|verdict| verdict.severity == Severity::Information && !verdict.paintable));
}

// Broadcasts

/// A sort-merge join whose sides have these bytes.
fn sides(kind: &str, left: i64, right: i64) -> Run {
    let mut builder = RunBuilder::new(4, 1, 100);
    builder.stage(0, (0..10).map(|index| task(index, 2_000)).collect());
    join_plan(&mut builder.run, 0, kind);
    let execution = builder.run.executions.get_mut(&0).unwrap();
    for (child, bytes) in [(0, left), (1, right)] {
        let id = 10 + child as i64;
        let metric = PlanMetric { name: "data size".into(), accumulator: id, kind: "size".into() };
        execution.plan.children[child].metrics.push(metric);
        execution.driver_metrics.insert(id, bytes);
    }
    builder.run
}

#[test]
fn a_side_below_the_threshold_or_ten_mebibytes_is_a_candidate() {
    let (ten, large) = (10 * MIB as i64, 900 * MIB as i64);
    let fires = |run: &Run| state(run, "broadcast-candidate", 0);
    assert_eq!(fires(&sides("Inner", large, ten - 1)), State::Fired);
    assert_eq!(fires(&sides("Inner", large, ten)), State::NotFired);
    assert_eq!(fires(&sides("Inner", ten - 1, large)), State::Fired);
    assert_eq!(fires(&sides("LeftOuter", large, ten - 1)), State::Fired);
    assert_eq!(fires(&sides("LeftOuter", ten - 1, large)), State::NotFired, "the kept side cannot be broadcast");
    assert_eq!(fires(&sides("FullOuter", large, 1)), State::NotFired);
    let mut raised = sides("Inner", large, 2 * ten);
    raised.conf.insert("spark.sql.autoBroadcastJoinThreshold".to_owned(), "30m".to_owned());
    assert_eq!(fires(&raised), State::Fired);
    let mut unmeasured = sides("Inner", large, 1);
    unmeasured.executions.get_mut(&0).unwrap().driver_metrics.remove(&11);
    assert_eq!(fires(&unmeasured), State::NotRecorded("data size of the shuffles".to_owned()));
}

#[test]
fn a_small_side_and_a_large_broadcast_of_a_real_run() {
    let run = read("join_sides-3.5");
    let candidate = fired(&run, "broadcast-candidate");
    assert!(candidate[0].message.contains("side of this sort-merge join was"), "{}", candidate[0].message);
    assert!(candidate[0].advice[0].contains("autoBroadcastJoinThreshold is -1 (set at run time)"), "{candidate:#?}");
    assert!(fired(&run, "broadcast-oversized").is_empty());
    // A gibibyte is too much for a small log: with a lower limit the same broadcast is too large.
    let oversized = fired_with(&run, "broadcast-oversized", "gib", 0.01);
    assert_eq!(oversized.len(), 1);
    assert!(oversized[0].message.contains("to collect, build and send it"), "{}", oversized[0].message);
    assert!(fired(&read("broadcast_join-4.3"), "broadcast-oversized").is_empty());
}

#[test]
fn a_broadcast_is_oversized_above_a_gibibyte() {
    let of = |bytes: i64| {
        let metrics = [("data size", 1), ("time to build", 2), ("time to collect", 3)];
        let mut builder = RunBuilder::new(2, 1, 100);
        builder.stage(0, vec![task(0, 1_000)]);
        execute(&mut builder.run, 0, plan_node("BroadcastExchange", "", &metrics, Vec::new()), &[(0, &[])]);
        builder.run.executions.get_mut(&0).unwrap().driver_metrics.extend([(1, bytes), (2, 4_000), (3, 6_000)]);
        builder.run
    };
    assert_eq!(run_state(&of(1 << 30), "broadcast-oversized"), State::NotFired);
    let found = fired(&of((1 << 30) + 1), "broadcast-oversized");
    assert_eq!(found[0].message, "a broadcast of 1 GiB: 10.0 s to collect, build and send it");
    assert_eq!((&found[0].subject, found[0].impact_s), (&Subject::Execution(0), Some(10.0)));
    assert!(found[0].paintable);
}

// python-udf-cost

#[test]
fn python_functions_are_named_with_their_time() {
    let found = fired(&read("python_udf-4.3"), "python-udf-cost");
    assert_eq!(found.len(), 2, "the built-in function is none: {found:#?}");
    assert!(found.iter().any(|one| one.message.starts_with("the Python UDF shout ran ")), "{found:#?}");
    assert!(found.iter().any(|one| one.message.starts_with("the Python UDF shout_pandas ran ")), "{found:#?}");
    // Spark 3.5 does not say how long the workers ran.
    let older = fired(&read("slow_host-3.5"), "python-udf-cost");
    assert!(older[0].message.ends_with("how much of it is Python is not recorded"), "{}", older[0].message);
    assert!(!older[0].paintable);
    assert!(older[0].advice[1].starts_with("Set spark.sql.execution.pythonUDF.arrow.enabled=true"), "{older:#?}");
}

// speculation-potential

/// Ten tasks on ten hosts: nine of 10 s, the last of `ms`.
fn last_of_ten(version: &str, ms: u32, records: [u64; 2]) -> Run {
    let mut builder = RunBuilder::new(1, 10, 1_000);
    builder.run.application.version = version.parse().ok();
    builder.stage_on_hosts(0, &[1; 10], |host| if host == 9 { ms } else { 10_000 });
    let tasks = &mut builder.run.stages.get_mut(&key(0)).unwrap().tasks;
    (0..10).for_each(|row| tasks.read_records.set(row, records[usize::from(row == 9)]));
    builder.run
}

#[test]
fn a_task_beyond_the_multiplier_would_have_been_copied() {
    // 75 % of ten tasks end at 10 s; the threshold is 15 s; the copy ends at 25 s.
    let found = fired(&last_of_ten("3.3.4", 60_000, [0, 0]), "speculation-potential");
    assert_eq!(
        found[0].message,
        "speculation would have copied 1 of 10 tasks, from 15.0 s after the stage's start on, and saved 35.0 s at most"
    );
    assert!(evidence(&found[0], "tasks that qualify").starts_with("9 (60.0 s on worker-9)"));
    assert!(found[0].advice[0].starts_with("Set spark.speculation=true"));
    // A copy that would end no earlier is no gain.
    assert!(fired(&last_of_ten("3.3.4", 25_000, [0, 0]), "speculation-potential").is_empty());
    assert!(!fired(&last_of_ten("3.3.4", 26_000, [0, 0]), "speculation-potential").is_empty());
    // Spark 4 has other defaults: 90 % and 3 x.
    let newer = fired(&last_of_ten("4.0.1", 60_000, [0, 0]), "speculation-potential");
    assert!(newer[0].message.contains("from 30.0 s after the stage's start on, and saved 20.0 s"), "{newer:#?}");
}

#[test]
fn the_quantile_must_have_ended_first() {
    let mut run = last_of_ten("3.3.4", 60_000, [0, 0]);
    run.conf.insert("spark.speculation.quantile".to_owned(), "1.0".to_owned());
    assert!(fired(&run, "speculation-potential").is_empty());
    run.conf.insert("spark.speculation.quantile".to_owned(), "0.5".to_owned());
    run.conf.insert("spark.speculation.minTaskRuntime".to_owned(), "70s".to_owned());
    assert!(fired(&run, "speculation-potential").is_empty());
}

#[test]
fn from_spark_3_4_on_a_task_must_lag() {
    // As many rows a second as the others: copied only beyond twice the threshold. So few rows are no skew.
    let steady = [100, 600];
    assert!(fired(&last_of_ten("3.3.4", 60_000, steady), "speculation-potential")[0].message.contains("from 15.0 s"));
    assert!(fired(&last_of_ten("3.5.9", 60_000, steady), "speculation-potential")[0].message.contains("from 30.0 s"));
    // Below three quarters of their rate: copied at the threshold.
    let lagging = [100, 449];
    assert!(fired(&last_of_ten("3.5.9", 60_000, lagging), "speculation-potential")[0].message.contains("from 15.0 s"));
    let mut off = last_of_ten("3.5.9", 60_000, steady);
    off.conf.insert("spark.speculation.efficiency.enabled".to_owned(), "false".to_owned());
    assert!(fired(&off, "speculation-potential")[0].message.contains("from 15.0 s"));
}

#[test]
fn speculation_is_not_proposed_where_it_is_on_or_cannot_help() {
    let mut run = last_of_ten("3.5.9", 60_000, [0, 0]);
    run.conf.insert("spark.speculation".to_owned(), "true".to_owned());
    assert_eq!(state(&run, "speculation-potential", 0), State::NotApplicable("speculation is on".to_owned()));
    let one_host = State::NotApplicable("all its tasks ran on one host".to_owned());
    assert_eq!(state(&read("partitions-3.5"), "speculation-potential", 11), one_host);
    let skewed = read("skewed_join-aqe_off-3.5");
    assert_eq!(state(&skewed, "speculation-potential", 2), State::NotApplicable("skewed-stage fires on it".to_owned()));
}

#[test]
fn a_task_that_hangs_on_its_host_would_have_been_copied() {
    let found = fired(&read("stuck_task-4.3"), "speculation-potential");
    assert_eq!(stages(&found), [1]);
    assert!(found[0].impact_s.unwrap() > 20.0, "{found:#?}");
    assert!(evidence(&found[0], "tasks that qualify").starts_with("9 ("));
}

// Streaming

#[test]
fn micro_batches_of_a_query_are_one_finding() {
    let mut builder = RunBuilder::new(2, 1, 300);
    for stage in 0..3 {
        let spilling = |index| Task { read_bytes: 100, spill_disk: 50 + u64::from(stage), ..task(index, 5_000) };
        builder.stage(stage, (0..2).map(spilling).collect());
        let description = format!("orders\nid = 5f-1\nrunId = 22-0\nbatch = {stage}");
        let job = Job { stages: vec![stage], description: Some(description), ..Job::default() };
        builder.run.jobs.insert(stage, job);
    }
    let found = fired(&builder.run, "spill");
    assert_eq!((found.len(), stages(&found)), (1, vec![0, 1, 2]));
    assert!(found[0].message.starts_with("streaming query orders, 3 micro-batches, the costliest: "), "{found:#?}");
    builder.run.jobs.values_mut().for_each(|job| job.description = None);
    assert_eq!(fired(&builder.run, "spill").len(), 3);
}

#[test]
fn a_real_streaming_run_is_not_a_heap_of_findings() {
    let run = read("streaming-3.5");
    let found: Vec<Verdict> = judge(&run).into_iter().filter(Verdict::is_fired).collect();
    let rules: Vec<&str> = found.iter().map(|verdict| verdict.rule).collect();
    let mut once = rules.clone();
    once.dedup();
    assert_eq!(rules, once);
    assert!(matches!(run_state(&run, "driver-gap"), State::NotApplicable(_)));
}
