//! A job a turn.

use super::evidence::{self, measured};
use crate::declare_rule;
use crate::pyspark::plan::{Action, ActionKind, Loop, LoopOver};
use crate::rules::run::words::duration;
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// An action in a loop: one Spark job a turn.
    ///
    /// ## Why
    /// Each turn plans, schedules and runs a job of its own, one after the other, and computes the frame's whole lineage again. A
    /// thousand keys are a thousand scans of the same table while most of the cluster waits.
    ///
    /// ## Silent when
    /// - the loop runs over at most 10 literal items, leaves in its first turn, or is a retry;
    /// - the loop only builds plans and the action stands behind it;
    /// - the loop counts epochs or attempts.
    ///
    /// Writes of a file or table a turn, iterations until something converges, and actions under an `if` are information.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// for row in spark.table("shop.countries").select("code").limit(300).collect():
    ///     print(row.code, orders.filter(F.col("country") == row.code).count())  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// for row in orders.groupBy("country").count().collect():
    ///     print(row["country"], row["count"])
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/rdd-programming-guide.html#actions>
    /// - <https://spark.apache.org/docs/latest/job-scheduling.html#scheduling-within-an-application>
    pub ACTION_IN_LOOP = {
        name: "action-in-loop", group: Driver, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("max-turns", 10.0, "loops over at most this many literal items are left alone")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, action) in cx.plan.actions.iter().enumerate().filter(|(_, action)| starts_a_job(&action.kind)) {
        let loops = action.loops.iter().map(|&id| cx.plan.loop_(id));
        let Some((looped, severity)) = loops.filter_map(|looped| repeats(cx, looped, action)).max_by_key(|it| it.1)
        else {
            continue;
        };
        let fix = match action.loops[..] {
            [inside] => templates::grouped_counts(cx.plan, cx.shared.text, action, inside),
            _ => None,
        };
        let finding = judge(cx, index, action, looped, severity).with_fixes(fix);
        cx.shared.report(finding);
    }
}

/// Actions of the frame itself; commands such as `DROP TABLE` through `spark.sql` are one a turn by nature.
fn starts_a_job(kind: &ActionKind) -> bool {
    !matches!(kind, ActionKind::Other(_))
}

/// The loop, if it repeats the action often, and how bad that is.
fn repeats<'a>(cx: &CodeContext<'_>, looped: &'a Loop, action: &Action) -> Option<(&'a Loop, Severity)> {
    let by_design = looped.runs_once || looped.retries || looped.targets.iter().any(|target| counts_tries(target));
    let severity = match looped.over {
        _ if by_design => return None,
        LoopOver::Literal(turns) if turns as f64 <= cx.shared.option("max-turns") => return None,
        LoopOver::CollectedRows(_) => Severity::Warning,
        LoopOver::Endless | LoopOver::Condition => Severity::Information,
        LoopOver::Unknown if counts_steps(looped.header.of(cx.shared.text)) => Severity::Information,
        LoopOver::Literal(_) | LoopOver::Unknown if action.conditional => Severity::Information,
        LoopOver::Literal(_) | LoopOver::Unknown => match action.kind {
            ActionKind::Write(_) | ActionKind::Show | ActionKind::Foreach => Severity::Information,
            _ => Severity::Warning,
        },
    };
    Some((looped, severity))
}

/// `epoch`, `attempt`, `_retry`: the turns are steps, not keys.
fn counts_tries(target: &str) -> bool {
    let target = target.to_ascii_lowercase();
    ["epoch", "attempt", "retry", "retries", "iteration"].iter().any(|word| target.contains(word))
}

/// `for i in range(steps)`: an iteration, where `range(len(keys))` goes through keys.
fn counts_steps(header: &str) -> bool {
    header.contains(" in range(") && !header.contains("len(")
}

fn judge(cx: &CodeContext<'_>, index: usize, action: &Action, looped: &Loop, severity: Severity) -> Finding {
    let turns = match looped.over {
        LoopOver::Literal(turns) => format!("in each of {turns} turns"),
        LoopOver::CollectedRows(_) => "for each collected row".to_owned(),
        _ => "in each turn".to_owned(),
    };
    let cost = evidence::cost(&cx.shared, index).filter(|cost| cost.times > 1);
    let mut message = format!(
        "{} starts a Spark job {turns} of this loop, one after the other, and computes its frame again each time.",
        action.method
    );
    let mut evidence = None;
    if let Some(cost) = &cost {
        let total = format!("{} jobs, {}", cost.times, duration(cost.total_ms));
        message = format!(
            "{} ran {} times in run {}: {} in all.",
            action.method,
            cost.times,
            cost.label,
            duration(cost.total_ms)
        );
        evidence = Some(measured("all turns", total, &cost.label));
    }
    message.push_str(match action.kind {
        ActionKind::Write(_) => " Union the frames, or write once with partitionBy.",
        _ => " Ask for all keys in one query: groupBy, a join or isin, and one action behind the loop.",
    });
    Finding::new(cx.shared.rule, severity, action.site.method, message)
        .with_measured(evidence)
        .with_related(looped.header, "the loop")
}
