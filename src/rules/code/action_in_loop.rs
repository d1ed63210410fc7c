//! A job a turn.

use super::debug_action::shows_on_purpose;
use super::evidence::{self, measured};
use super::lineage::{is_given, is_lookup, recomputed, sources};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, Literal, Loop, LoopId, LoopOver, NodeId, Operator, Source};
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
    /// - the loop counts epochs, attempts or batches, or iterates over what is cached or checkpointed;
    /// - a notebook, a demo or a function that is there for it shows rows;
    /// - no job reads data: `SHOW`, `DESCRIBE`, `EXPLAIN`;
    /// - each turn has a frame of its own from elsewhere (`for df in frames`), or a query whose whole text isn't known.
    ///
    /// Writes of a file or table a turn, another source each turn, iterations until something converges, and actions under an `if` are
    /// information.
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
    let plan = cx.plan;
    for (index, action) in plan.actions.iter().enumerate().filter(|(_, action)| starts_a_job(plan, action)) {
        let turns = action.loops.iter().filter_map(|&id| repeats(cx, id, action));
        let Some(repeated) = turns.max_by_key(|it| it.severity) else { continue };
        let fix = match action.loops[..] {
            [inside] => templates::grouped_counts(cx.plan, cx.shared.text, action, inside),
            _ => None,
        };
        let finding = judge(cx, index, action, &repeated).with_fixes(fix);
        cx.shared.report(finding);
    }
}

/// Actions of the frame itself; commands such as `DROP TABLE` through `spark.sql` are one a turn by nature.
fn starts_a_job(plan: &StaticPlan, action: &Action) -> bool {
    !matches!(action.kind, ActionKind::Other(_)) && !action.input.is_some_and(|input| is_lookup(plan, input))
}

/// A loop that repeats an action.
struct Repeated<'a> {
    looped: &'a Loop,
    severity: Severity,
    instead: Instead,
}

/// What to do in place of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instead {
    /// One query for all keys.
    Grouped,
    /// One aggregation over all columns.
    Aggregated,
    /// One group by each column's name and value.
    Unpivoted,
    /// One frame of all sources.
    ReadTogether,
    /// One write.
    Written,
}

/// The loop, if it repeats the action often, and how bad that is.
fn repeats<'a>(cx: &CodeContext<'a>, id: LoopId, action: &Action) -> Option<Repeated<'a>> {
    let looped = cx.plan.loop_(id);
    let shown = action.kind == ActionKind::Show && shows_on_purpose(cx, action);
    let by_design =
        shown || looped.runs_once || looped.retries || looped.targets.iter().any(|target| counts_tries(target));
    let steps = counts_steps(looped.header.of(cx.shared.text));
    let severity = match looped.over {
        _ if by_design => return None,
        LoopOver::Literal(turns) if turns as f64 <= cx.shared.option("max-turns") => return None,
        LoopOver::CollectedRows(_) => Severity::Warning,
        LoopOver::Endless | LoopOver::Condition => Severity::Information,
        LoopOver::Unknown if steps => Severity::Information,
        LoopOver::Literal(_) | LoopOver::Unknown if action.conditional => Severity::Information,
        LoopOver::Literal(_) | LoopOver::Unknown => match action.kind {
            ActionKind::Write(_) | ActionKind::Show | ActionKind::Foreach => Severity::Information,
            _ => Severity::Warning,
        },
    };
    let instead = instead(cx, id, action);
    let Some(input) = action.input else { return Some(Repeated { looped, severity, instead }) };
    let iterates = steps || matches!(looped.over, LoopOver::Endless | LoopOver::Condition);
    let has_own = |frame: &NodeId| is_given(cx.plan, *frame) && cx.plan.upstream(input).contains(frame);
    let is_target = looped.targets.iter().any(|target| target == action.site.receiver.of(cx.shared.text));
    let has_own = is_target || looped.frames.iter().any(has_own);
    if iterates && is_kept(cx, input) || has_own || asks_anything(cx, id, action, input) {
        return None;
    }
    let severity = if instead == Instead::ReadTogether { severity.min(Severity::Information) } else { severity };
    Some(Repeated { looped, severity, instead })
}

/// Whether computing a frame starts from what is cached or checkpointed, without another step that costs.
fn is_kept(cx: &CodeContext<'_>, input: NodeId) -> bool {
    let cheap = |&id: &NodeId| {
        let operator = &cx.plan.node(id).operator;
        matches!(operator, Operator::Filter { .. } | Operator::Project { .. } | Operator::WithColumns | Operator::Udf)
            || matches!(operator, Operator::Rdd | Operator::Merge | Operator::LoopCarried(_))
    };
    recomputed(cx.plan, input).iter().all(cheap)
}

/// Whether an operator is made anew in each turn.
fn is_of_turn(cx: &CodeContext<'_>, id: LoopId, action: &Action, node: NodeId) -> bool {
    let node = cx.plan.node(node);
    let calls_here = || !cx.plan.scope(action.scope).span.contains(cx.plan.loop_(id).span);
    node.loops.contains(&id) || node.scope == action.scope && calls_here()
}

/// Whether each turn runs a query of which the file tells nothing: no two of them can be joined into one.
fn asks_anything(cx: &CodeContext<'_>, id: LoopId, action: &Action, input: NodeId) -> bool {
    let is_open = |source: &Source| match source {
        Source::Sql { text: Literal::Template(parts), .. } => parts.iter().all(Option::is_none),
        Source::Sql { text, .. } => !matches!(text, Literal::Text(_)),
        _ => false,
    };
    sources(cx.plan, input).any(|(node, source)| is_open(source) && is_of_turn(cx, id, action, node))
}

/// Whether each turn reads other files or another table.
fn reads_another(cx: &CodeContext<'_>, id: LoopId, action: &Action, input: NodeId) -> bool {
    let is_open = |source: &Source| match source {
        Source::Read { location, .. } => !location.iter().all(|path| matches!(path, Literal::Text(_))),
        Source::Table(name) => !matches!(name, Literal::Text(_)),
        _ => false,
    };
    let mut sources = sources(cx.plan, input).peekable();
    sources.peek().is_some() && sources.all(|(node, source)| is_open(source) && is_of_turn(cx, id, action, node))
}

fn instead(cx: &CodeContext<'_>, id: LoopId, action: &Action) -> Instead {
    let looped = cx.plan.loop_(id);
    let header = looped.header.of(cx.shared.text);
    match action.input {
        Some(input) if reads_another(cx, id, action, input) => Instead::ReadTogether,
        _ if matches!(action.kind, ActionKind::Write(_)) => Instead::Written,
        _ if matches!(looped.over, LoopOver::CollectedRows(_)) || !names_columns(header) => Instead::Grouped,
        Some(input) if is_grouped_here(cx, input) => Instead::Unpivoted,
        _ => Instead::Aggregated,
    }
}

fn is_grouped_here(cx: &CodeContext<'_>, input: NodeId) -> bool {
    let groups = |&id: &NodeId| {
        matches!(cx.plan.node(id).operator, Operator::Aggregate { grouped: true, .. } | Operator::Distinct)
    };
    recomputed(cx.plan, input).iter().any(groups)
}

/// `for field in df.schema.fields`, `for col_name in names`: the turns are columns.
fn names_columns(header: &str) -> bool {
    const WORDS: [&str; 8] = ["col", "cols", "column", "columns", "field", "fields", "dtypes", "schema"];
    let mut words = header.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// `epoch`, `attempt`, `_retry`, `batch`: the turns are steps, not keys.
fn counts_tries(target: &str) -> bool {
    let target = target.to_ascii_lowercase();
    ["epoch", "attempt", "retry", "retries", "iteration", "batch", "chunk"].iter().any(|word| target.contains(word))
}

/// `for i in range(steps)`: an iteration, where `range(len(keys))` goes through keys.
fn counts_steps(header: &str) -> bool {
    header.contains(" in range(") && !header.contains("len(")
}

fn judge(cx: &CodeContext<'_>, index: usize, action: &Action, repeated: &Repeated<'_>) -> Finding {
    let Repeated { looped, severity, instead } = *repeated;
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
    message.push_str(match instead {
        Instead::ReadTogether if !matches!(action.kind, ActionKind::Write(_)) => {
            " Read all sources as one frame (a list of paths, a union), or start the turns from a few threads."
        }
        Instead::ReadTogether | Instead::Written => " Union the frames, or write once with partitionBy.",
        Instead::Aggregated => " One agg with an expression for each column answers for all of them in one job.",
        Instead::Unpivoted => " Unpivot the columns and group once by name and value: one job answers for all of them.",
        Instead::Grouped => " Ask for all keys in one query: groupBy, a join or isin, and one action behind the loop.",
    });
    Finding::new(cx.shared.rule, severity, action.site.method, message)
        .with_measured(evidence)
        .with_related(looped.header, "the loop")
}
