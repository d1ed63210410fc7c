//! Broadcasts that are too large.

use super::in_force::in_force;
use super::sources::{stages_by_accumulator, stages_of};
use super::words::{GIB, bytes, count, duration};
use super::worth_painting;
use crate::declare_rule;
use crate::rules::{RunContext, State, Subject, Verdict};
use crate::run::model::{PlanNode, SqlExecution, StageKey};

declare_rule! {
    /// A join side of more than 1 GiB was broadcast.
    ///
    /// ## Why
    /// A broadcast side is collected on the driver, made into a hash table there, and sent to every executor, which holds
    /// it as long as the query runs. Beyond a gibibyte that takes longer than the shuffle it saves, and it fails at 8 GiB.
    ///
    /// What it costs is what the log has: the time to collect, to build and to send it, during which the join waits.
    ///
    /// ## Silent when
    /// Every broadcast is 1 GiB or less.
    ///
    /// ## Example
    /// ```text
    /// a broadcast of 2.4 GiB: 41.0 s to collect, build and send it
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// clicks.join(people.select("id", "name").filter("active"), "id")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#other-configuration-options>
    pub BROADCAST_OVERSIZED = {
        name: "broadcast-oversized", group: Run, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("gib", 1.0, "broadcasts larger than this (GiB)")],
        check: Run(check),
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let run = context.run;
    let by_accumulator = stages_by_accumulator(run);
    let (mut found, mut seen, mut recorded) = (Vec::new(), false, false);
    for (&id, execution) in &run.executions {
        for step in execution.plan.walk().filter(|step| step.node.name == "BroadcastExchange") {
            seen = true;
            let Some(size) = execution.node_metric(run, step.node, "data size") else { continue };
            recorded = true;
            if size as f64 > context.option("gib") * GIB {
                found.push(describe(
                    context,
                    (id, execution),
                    step.node,
                    size as f64,
                    feeding(step.node, &by_accumulator),
                ));
            }
        }
    }
    if !found.is_empty() {
        return found;
    }
    let state = match (seen, recorded) {
        (false, _) => State::NotApplicable("no plan broadcasts a side".to_owned()),
        (true, false) => State::NotRecorded("data size of the broadcasts".to_owned()),
        (true, true) => State::NotFired,
    };
    vec![Verdict::quiet(context.rule, state, Vec::new())]
}

/// The stages that computed what was broadcast: those of the nodes below it, down to the next exchanges.
fn feeding(exchange: &PlanNode, by_accumulator: &rustc_hash::FxHashMap<i64, Vec<StageKey>>) -> Vec<StageKey> {
    let mut stages = Vec::new();
    let mut open: Vec<&PlanNode> = exchange.children.iter().collect();
    while let Some(node) = open.pop() {
        if !node.name.contains("Exchange") {
            stages.extend(stages_of(node, by_accumulator));
            open.extend(&node.children);
        }
    }
    stages.sort_unstable();
    stages.dedup();
    stages
}

fn describe(
    context: &RunContext<'_>,
    (id, execution): (i64, &SqlExecution),
    node: &PlanNode,
    size: f64,
    stages: Vec<StageKey>,
) -> Verdict {
    let run = context.run;
    let subject = stages.first().map_or(Subject::Execution(id), |&key| Subject::Stage(key));
    let mut verdict = Verdict::fired(context.rule, subject, stages);
    let steps = ["time to collect", "time to build", "time to broadcast"];
    let times: Vec<Option<i64>> = steps.iter().map(|name| execution.node_metric(run, node, name)).collect();
    let known = times.iter().any(Option::is_some);
    let spent_ms: i64 = times.iter().flatten().sum();
    verdict.impact_s = known.then_some(spent_ms as f64 / 1000.0);
    verdict.paintable = worth_painting(context, verdict.impact_s);
    let spent =
        if known { format!(": {} to collect, build and send it", duration(spent_ms as f64)) } else { String::new() };
    verdict.message = format!("a broadcast of {}{spent}", bytes(size));
    verdict.short = format!("broadcast of {}", bytes(size));
    let limit = format!("> {}", bytes(context.option("gib") * GIB));
    verdict.prove("data size", bytes(size), Some(limit), run.application.id.clone());
    if let Some(rows) =
        execution.node_metric(run, node, "number of output rows").and_then(|rows| u64::try_from(rows).ok())
    {
        verdict.prove("rows", count(rows, "row"), None, None);
    }
    for (name, time) in steps.iter().zip(times) {
        verdict.prove(*name, time.map_or("not recorded".to_owned(), |ms| duration(ms as f64)), None, None);
    }
    verdict.advice = advise(context, id);
    verdict
}

fn advise(context: &RunContext<'_>, execution: i64) -> Vec<String> {
    let mut advice =
        vec!["Filter the side and select its columns before the join, so that less is broadcast".to_owned()];
    let key = "spark.sql.autoBroadcastJoinThreshold";
    let threshold = in_force(context.run, Some(execution), key);
    match threshold.and_then(|now| Some((now.bytes()?, now))) {
        // Spark's own decision goes by an estimate, which may be far below what the side turns out to be.
        Some((limit, now)) if limit > 10.0 * 1024.0 * 1024.0 => {
            advice.push(format!(
                "Lower {key} (now {}, {}), or take the broadcast hint off this join",
                now.value, now.origin
            ));
        }
        _ => advice.push("Take the broadcast hint off this join: it then shuffles both sides instead".to_owned()),
    }
    advice
}
