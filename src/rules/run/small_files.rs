//! Many files of little size.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::sources::{identity, is_scan, name, stages_by_accumulator, stages_of};
use super::words::{MIB, bytes, count, grouped};
use super::worth_painting;
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Subject, Verdict};
use crate::run::model::{PlanNode, SqlExecution, StageKey};
use crate::run::slots::{stage_slots, stage_wall};

declare_rule! {
    /// More than 100 files of less than 3 MiB on average were read or written.
    ///
    /// ## Why
    /// Each file is listed, opened, planned and closed, whatever its size, and on object stores each of that is a request.
    /// Who writes small files makes every later reader pay. Files of about 128 MiB are read well.
    ///
    /// The log has no time for opening files: what they cost is estimated from the option `ms-per-file`, spread over the
    /// stage's slots.
    ///
    /// ## Silent when
    /// There are 100 files or fewer, or they hold 3 MiB or more on average.
    ///
    /// ## Example
    /// ```text
    /// 1,204 files of 310 KiB on average were read from orders
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// df.repartition(8).write.parquet(path)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#other-configuration-options>
    pub SMALL_FILES = {
        name: "small-files", group: Run, severity: Warning, confidence: Measured,
        since: "0.1.0",
        options: [
            ("files", 100.0, "more files than this"),
            ("mean-mib", 3.0, "and less than this a file on average (MiB)"),
            ("ms-per-file", 20.0, "what a file costs by itself in ms, for the estimate"),
        ],
        check: Run(check),
    }
}

/// Bytes of a file that is read well, for the advice.
const GOOD_FILE: f64 = 128.0 * MIB;

/// Files of one plan node.
struct Files<'a> {
    execution: i64,
    node: &'a PlanNode,
    written: bool,
    number: f64,
    bytes: f64,
}

impl Files<'_> {
    /// The same for each time that one table is read, so that it is one finding.
    fn table(&self) -> String {
        match identity(self.node) {
            Some(source) if !self.written => source,
            _ => format!("{} {}", self.execution, self.node.text),
        }
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let run = context.run;
    let by_accumulator = stages_by_accumulator(run);
    let (mut seen, mut unrecorded) = (false, false);
    let mut small: BTreeMap<String, Vec<Files<'_>>> = BTreeMap::new();
    for (&id, execution) in &run.executions {
        for step in execution.plan.walk() {
            match files(context, id, execution, step.node) {
                Ok(None) => {}
                Ok(Some(files)) => {
                    seen = true;
                    if files.number > context.option("files")
                        && files.bytes < context.option("mean-mib") * MIB * files.number
                    {
                        small.entry(files.table()).or_default().push(files);
                    }
                }
                Err(()) => unrecorded = true,
            }
        }
    }
    if !small.is_empty() {
        return small.values().map(|files| describe(context, files, &by_accumulator)).collect();
    }
    let state = match (seen, unrecorded) {
        (_, true) => State::NotRecorded("size of files read".to_owned()),
        (true, false) => State::NotFired,
        (false, false) => State::NotApplicable("no plan reads or writes files".to_owned()),
    };
    vec![Verdict::quiet(context.rule, state, Vec::new())]
}

/// The files of a node that reads or writes some; an error if it read many whose size was not recorded.
fn files<'a>(
    context: &RunContext<'_>,
    id: i64,
    execution: &SqlExecution,
    node: &'a PlanNode,
) -> Result<Option<Files<'a>>, ()> {
    let metric = |names: &[&str]| {
        let value = names.iter().find_map(|name| execution.node_metric(context.run, node, name));
        value.filter(|&value| value >= 0).map(|value| value as f64)
    };
    let (number, size, written) = if is_scan(node) {
        (metric(&["number of files read", "number of files"]), metric(&["size of files read", "size of files"]), false)
    } else {
        (metric(&["number of written files"]), metric(&["written output", "bytes of written output"]), true)
    };
    match (number.filter(|&number| number > 0.0), size) {
        (None, _) => Ok(None),
        (Some(number), Some(bytes)) => Ok(Some(Files { execution: id, node, written, number, bytes })),
        (Some(number), None) if number > context.option("files") => Err(()),
        (Some(_), None) => Ok(None),
    }
}

/// One finding for all times that a table was read; `times` is never empty.
fn describe(context: &RunContext<'_>, times: &[Files<'_>], by_accumulator: &FxHashMap<i64, Vec<StageKey>>) -> Verdict {
    let run = context.run;
    let mut stages: Vec<StageKey> = times.iter().flat_map(|files| stages_of(files.node, by_accumulator)).collect();
    stages.sort_unstable();
    stages.dedup();
    let files = &times[0];
    let subject = match stages.first() {
        Some(&key) if !files.written => Subject::Stage(key),
        _ => Subject::Execution(files.execution),
    };
    let slots = stages.iter().map(|&key| stage_slots(run, key)).max().unwrap_or(1);
    // What is assumed is held against what was measured: no stage saves more than it took.
    let walls = stages.iter().filter_map(|key| stage_wall(run, run.stages.get(key)?)).sum::<u64>() as f64 / 1000.0;
    let mut verdict = Verdict::fired(context.rule, subject, stages);
    // The files that a good size would leave cost something, too.
    let left = (files.bytes / GOOD_FILE).ceil().max(1.0);
    let each = (files.number - left) * context.option("ms-per-file") / slots as f64 / 1000.0;
    let saved = each * times.len() as f64;
    let saved = if walls > 0.0 { saved.min(walls) } else { saved };
    verdict.impact_s = Some(saved);
    verdict.paintable = worth_painting(context, Some(saved));
    if !verdict.paintable {
        verdict.severity = Severity::Information;
    }
    let mean = files.bytes / files.number;
    let number = count(files.number as u64, "file");
    let (verb, place) =
        if files.written { ("written", String::new()) } else { ("read", format!(" from {}", name(files.node))) };
    let often = if times.len() > 1 { format!(", {} times", times.len()) } else { String::new() };
    verdict.message = format!("{number} of {} on average were {verb}{place}{often}", bytes(mean));
    verdict.short = format!("{number} of {}", bytes(mean));
    verdict.prove(
        "files",
        grouped(files.number as u64),
        Some(format!("> {}", context.option("files"))),
        run.application.id.clone(),
    );
    let threshold = format!("< {}", bytes(context.option("mean-mib") * MIB));
    verdict.prove("mean", format!("{} ({} in all)", bytes(mean), bytes(files.bytes)), Some(threshold), None);
    verdict.prove("cost of a file", format!("{} ms", context.option("ms-per-file")), Some("assumed".to_owned()), None);
    verdict.advice = if files.written {
        let partitioned = files.node.text.contains("partitionBy") || files.node.text.contains("partitionColumnNames=[");
        let how = if partitioned { " by the columns of its partitionBy" } else { "" };
        vec![format!(
            "Repartition{how} right before the write, to about {} of 128 MiB, or compact the table afterwards",
            count(left as u64, "file")
        )]
    } else {
        vec![format!(
            "Compact {} where it is written, to about {} of 128 MiB",
            name(files.node),
            count(left as u64, "file")
        )]
    };
    verdict
}
