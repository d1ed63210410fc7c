//! What stays the same from one run of a job to the next: of the application, of a stage, of the settings.
//!
//! A key never holds Spark's ids, which count what came before, nor numbers, dates or generated names in plans and paths,
//! which change with the data.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::Run;
use super::model::{PlanNode, Stage, StageKey};
use super::plan::PlanIndex;

/// What a stage is, whatever number Spark gave it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StageIdentity {
    /// 16 hexadecimal digits; equal for the same stage of two runs.
    pub key: String,
    /// For people: where it was called from and what it runs, e.g. `save at orders.py: Exchange, SortMergeJoin`.
    pub label: String,
}

/// The identity of every stage attempt; attempts of one stage share theirs. Stages of one shape and call site (a loop) are
/// told apart by their order.
pub fn stage_identities(run: &Run) -> BTreeMap<StageKey, StageIdentity> {
    let index = PlanIndex::new(run);
    let mut seen: FxHashMap<String, u32> = FxHashMap::default();
    let mut by_stage: BTreeMap<u32, StageIdentity> = BTreeMap::new();
    let mut identities = BTreeMap::new();
    for (&key, stage) in &run.stages {
        let identity = by_stage.entry(key.stage).or_insert_with(|| {
            let nodes: Vec<&PlanNode> =
                index.nodes_of(key).into_iter().filter_map(|place| run.plan_node(place)).collect();
            let site = site(run, &index, key, stage);
            let shape = shape(&nodes, stage);
            let turn = seen.entry(format!("{site}\n{shape}")).and_modify(|turn| *turn += 1).or_insert(1);
            let mut label = format!("{site}: {}", operators(&nodes, stage));
            if *turn > 1 {
                let _ = write!(label, " ({turn})");
            }
            StageIdentity { key: fingerprint([site.as_str(), &shape, &turn.to_string()]), label }
        });
        identities.insert(key, identity.clone());
    }
    identities
}

/// The name of the job that a run is one of: the application's name without its numbers, else the script's.
pub fn job_key(run: &Run) -> Option<String> {
    let script = || {
        let command = run.application.command.as_deref()?;
        let script = command.split_whitespace().find(|word| word.ends_with(".py") || word.ends_with(".jar"))?;
        script.rsplit(['/', '\\']).next()
    };
    let name = run.application.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    name.or_else(script).map(|name| stable(name).into_owned())
}

/// 16 hexadecimal digits that change when a Spark property of the run does; addresses, ids and times of the run are not in it.
pub fn conf_key(run: &Run) -> String {
    let lasting = run.conf.iter().filter(|(key, _)| !is_of_one_run(key));
    fingerprint(lasting.flat_map(|(key, value)| [key.as_str(), value.as_str()]))
}

/// Properties that Spark makes anew for each run.
pub fn is_of_one_run(key: &str) -> bool {
    const OF_ONE_RUN: [&str; 13] = [
        "spark.app.attempt.id",
        "spark.app.id",
        "spark.app.startTime",
        "spark.app.submitTime",
        "spark.driver.appUIAddress",
        "spark.driver.host",
        "spark.driver.port",
        "spark.executor.id",
        "spark.externalBlockStore.folderName",
        "spark.repl.class.outputDir",
        "spark.repl.class.uri",
        "spark.ui.filters",
        "spark.yarn.app.container.log.dir",
    ];
    OF_ONE_RUN.contains(&key)
        || key.starts_with("spark.app.initial.")
        || key.starts_with("spark.org.apache.hadoop.yarn.server.webproxy")
        || key.starts_with("spark.eventLog.")
}

/// Where the stage was called from: function and file, not the line, which moves when the file is edited.
fn site(run: &Run, index: &PlanIndex<'_>, key: StageKey, stage: &Stage) -> String {
    let job = index.job_of(key).and_then(|job| run.jobs.get(&job));
    let execution = job.and_then(|job| run.executions.get(&job.execution?));
    let sites = [
        stage.call_site.as_deref(),
        job.and_then(|job| job.call_site.as_deref()),
        execution.map(|execution| execution.description.as_str()),
        Some(stage.name.as_str()),
    ];
    let python = sites.iter().flatten().copied().find(|site| names_python(site));
    let site = python.or_else(|| sites.into_iter().flatten().find(|site| !site.is_empty())).unwrap_or("");
    lasting_site(site)
}

/// A call site without what moves when the file is edited or the JVM is another: function and Python file, or the
/// function alone.
pub(crate) fn lasting_site(site: &str) -> String {
    let Some((function, place)) = site.split_once(" at ") else { return stable(site).into_owned() };
    let path = place.rsplit_once(':').map_or(place, |(path, _)| path);
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    // What the JVM logs for a call from Python differs between JDKs and after some calls.
    if file.ends_with(".py") { format!("{function} at {file}") } else { function.to_owned() }
}

/// Whether a call site names a line of a Python file.
pub(crate) fn names_python(site: &str) -> bool {
    site.rsplit_once(':').is_some_and(|(path, _)| path.ends_with(".py"))
}

/// Wrappers that come and go with AQE and code generation.
pub(crate) fn is_wrapper(name: &str) -> bool {
    name.starts_with("WholeStageCodegen")
        || matches!(
            name,
            "AdaptiveSparkPlan"
                | "AQEShuffleRead"
                | "CustomShuffleReader"
                | "InputAdapter"
                | "ColumnarToRow"
                | "RowToColumnar"
                | "ShuffleQueryStage"
                | "BroadcastQueryStage"
                | "ResultQueryStage"
        )
}

fn shape(nodes: &[&PlanNode], stage: &Stage) -> String {
    let mut shape = String::new();
    for node in nodes.iter().filter(|node| !is_wrapper(node.name.trim())) {
        shape.push_str(&stable(&node.text));
        shape.push('\n');
    }
    if shape.is_empty() {
        for rdd in &stage.rdds {
            shape.push_str(&stable(&rdd.name));
            shape.push('\n');
        }
    }
    shape
}

fn operators(nodes: &[&PlanNode], stage: &Stage) -> String {
    let mut names: Vec<&str> = nodes.iter().map(|node| node.name.trim()).filter(|name| !is_wrapper(name)).collect();
    if names.is_empty() {
        names = stage.rdds.iter().map(|rdd| rdd.name.as_str()).collect();
    }
    names.dedup();
    names.iter().take(5).map(|name| stable(name)).collect::<Vec<_>>().join(", ")
}

/// A text without what changes from run to run: expression ids (`price#12L`), plan ids, numbers, generated names.
pub(crate) fn stable(text: &str) -> std::borrow::Cow<'_, str> {
    use std::sync::OnceLock;
    static CHANGING: OnceLock<Option<regex::Regex>> = OnceLock::new();
    let changing = CHANGING.get_or_init(|| {
        let words = r"#\d+L?|\[?plan_id=\d+\]?|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\d+";
        regex::Regex::new(words).ok()
    });
    match changing {
        Some(changing) => changing.replace_all(text, |found: &regex::Captures<'_>| match found[0].as_bytes() {
            [b'0'..=b'9', ..] if found[0].len() < 36 => "0",
            _ => "",
        }),
        None => text.into(),
    }
}

/// FNV-1a over the parts, with a mark between them: the same on every machine and in every version.
fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.into_iter().flat_map(|part| part.bytes().chain([0xff])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::model::{Job, PlanMetric, SqlExecution};

    /// A join saved from `orders.py`; ids, partition number and date differ from run to run.
    fn run(first_id: i64, date: &str, partitions: u32, line: u32) -> Run {
        let node = |name: &str, text: String, accumulator: i64| PlanNode {
            name: name.into(),
            text,
            metrics: vec![PlanMetric { accumulator, ..PlanMetric::default() }],
            ..PlanNode::default()
        };
        let mut plan =
            node("SortMergeJoin", format!("SortMergeJoin [id#{first_id}L], [id#{}L], Inner", first_id + 1), 1);
        plan.children = vec![node("AQEShuffleRead", "AQEShuffleRead coalesced".to_owned(), 2)];
        plan.children.push(node("Exchange", format!("Exchange hashpartitioning(id#{first_id}L, {partitions})"), 3));
        plan.children.push(node("Scan parquet ", format!("FileScan parquet [id#{first_id}L] /data/day={date}"), 4));
        let mut run = Run::default();
        run.application.name = Some(format!("orders {date}"));
        run.executions.insert(3, SqlExecution { plan, ..SqlExecution::default() });
        let stage = first_id as u32;
        run.jobs.insert(0, Job { stages: vec![stage], execution: Some(3), ..Job::default() });
        let measured = Stage {
            call_site: Some(format!("collect at /srv/jobs/orders.py:{line}")),
            accumulables: vec![1, 2, 3, 4],
            ..Stage::default()
        };
        run.stages.insert(StageKey { stage, attempt: 0 }, measured);
        run
    }

    fn only(run: &Run) -> StageIdentity {
        stage_identities(run).into_values().next().unwrap()
    }

    #[test]
    fn a_stage_is_the_same_in_the_next_run() {
        let (one, other) = (run(7, "2026-01-02", 200, 57), run(900, "2026-11-30", 64, 61));
        assert_eq!(only(&one), only(&other));
        assert_eq!(only(&one).label, "collect at orders.py: SortMergeJoin, Exchange, Scan parquet");
        assert_eq!(job_key(&one), job_key(&other));
    }

    #[test]
    fn another_key_is_another_stage_and_turns_of_a_loop_are_told_apart() {
        let mut renamed = run(7, "2026-01-02", 200, 57);
        renamed.executions.get_mut(&3).unwrap().plan.text = "SortMergeJoin [sku#7], [sku#8], Inner".to_owned();
        assert_ne!(only(&renamed).key, only(&run(7, "2026-01-02", 200, 57)).key);

        let mut twice = run(7, "2026-01-02", 200, 57);
        let again = twice.stages[&StageKey { stage: 7, attempt: 0 }].clone();
        twice.stages.insert(StageKey { stage: 8, attempt: 0 }, again.clone());
        twice.stages.insert(StageKey { stage: 8, attempt: 1 }, again);
        twice.jobs.get_mut(&0).unwrap().stages.push(8);
        let identities = stage_identities(&twice);
        let key = |stage, attempt| identities[&StageKey { stage, attempt }].key.clone();
        assert_ne!(key(7, 0), key(8, 0));
        assert_eq!(key(8, 0), key(8, 1));
    }

    #[test]
    fn the_settings_have_a_key_without_what_belongs_to_one_run() {
        let mut run = Run::default();
        run.conf.insert("spark.app.id".to_owned(), "app-1".to_owned());
        run.conf.insert("spark.sql.shuffle.partitions".to_owned(), "200".to_owned());
        let before = conf_key(&run);
        run.conf.insert("spark.app.id".to_owned(), "app-2".to_owned());
        assert_eq!(conf_key(&run), before);
        run.conf.insert("spark.sql.shuffle.partitions".to_owned(), "64".to_owned());
        assert_ne!(conf_key(&run), before);
    }
}
