//! A count for a log line, of a frame that is computed anyway.

use super::blocks::Together;
use super::debug_action::shows_on_purpose;
use super::evidence::{self, measured};
use super::lineage::{costly, is_generated, is_given, name_of, recomputed};
use super::results::{Again, also_computed_by, is_full, is_read_only_at, is_streaming};
use crate::declare_rule;
use crate::pyspark::plan::{Action, ActionKind, NodeId, Operator, RowBound, Source};
use crate::rules::run::words::duration;
use crate::rules::{CodeContext, Finding, Level, Severity, templates};

declare_rule! {
    /// `count()` for a log line, or `show()`, of a frame that another action computes as well.
    ///
    /// ## Why
    /// `count()` is a job of its own: it computes the frame from its sources and throws the rows away, and the write computes them
    /// again. Everything before the write runs twice for one number in a log, which Spark can count while it writes. `show()` computes
    /// first rows only, but behind a join, an aggregation or a sort all that comes before them.
    ///
    /// ## Silent when
    /// - the frame is cached or checkpointed: then the count fills the cache;
    /// - the number is used for anything else than a `print` or a logger, a test for zero included;
    /// - what was written is read back and counted: no step runs again;
    /// - the count is cheap: a columnar file or a table as it is, literal data, a few rows;
    /// - rows are shown in a notebook, under a condition, or by a function that is there to show them; or there is no shuffle before them;
    /// - the actions exclude each other, or compute frames of their own;
    /// - the file is a test.
    ///
    /// A scan with filters, a count under a condition, and `show()` are information; a frame from elsewhere, of which nothing is known, is a hint.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// joined = spark.table("shop.orders").join(spark.table("shop.countries"), "country")
    /// print(f"writing {joined.count()} rows")  # finding
    /// joined.write.mode("overwrite").parquet("s3a://lake/joined")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import Observation, SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// joined = spark.table("shop.orders").join(spark.table("shop.countries"), "country")
    /// written = Observation()
    /// joined = joined.observe(written, F.count(F.lit(1)).alias("rows"))
    /// joined.write.mode("overwrite").parquet("s3a://lake/joined")
    /// print(f"wrote {written.get['rows']} rows")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/rdd-programming-guide.html#rdd-persistence>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.Observation.html>
    pub COUNT_FOR_LOGGING = {
        name: "count-for-logging", group: Driver, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for index in 0..cx.plan.actions.len() {
        if let Some(finding) = judge(cx, index) {
            cx.shared.report(finding);
        }
    }
}

/// Whether this rule reports a count: then others need not speak of it.
pub(super) fn reports(cx: &CodeContext<'_>, index: usize) -> bool {
    let level = cx.shared.environment.rules.levels.get(COUNT_FOR_LOGGING.name);
    level != Some(&Level::Off) && !cx.shared.is_test && judge(cx, index).is_some()
}

/// Whether a count is for a `print` or a logger and for nothing else, or rows are shown where nobody asked for it.
fn is_for_log(cx: &CodeContext<'_>, action: &Action) -> bool {
    let uses = &action.uses;
    if action.kind == ActionKind::Show {
        return !action.conditional && !shows_on_purpose(cx, action);
    }
    action.kind == ActionKind::Count
        && !action.on_rdd
        && uses.other == 0
        && uses.emptiness.is_empty()
        && is_read_only_at(cx, action, &uses.logged)
}

fn judge(cx: &CodeContext<'_>, index: usize) -> Option<Finding> {
    let count = &cx.plan.actions[index];
    let frame = count.input?;
    if !is_for_log(cx, count) || cx.plan.scope(count.scope).is_test {
        return None;
    }
    let computing = also_computed_by(cx, index, frame);
    let again = computing.iter().find(|again| writes_rows(cx, again))?;
    let severity = cost_of_count(cx, frame)?;
    let shows = count.kind == ActionKind::Show;
    let severity = match severity {
        // Rows of a scan come from its first partitions.
        _ if shows && !recomputed(cx.plan, frame).iter().any(|&id| shuffles_rows(&cx.plan.node(id).operator)) => {
            return None;
        }
        severity if shows => severity.min(Severity::Information),
        severity => severity,
    };
    let severity = if again.together == Together::Maybe { severity.min(Severity::Information) } else { severity };
    let other = &cx.plan.actions[again.index];
    let name = name_of(cx.plan, frame, count);
    let subject = name.unwrap_or("this frame");
    let step = recomputed(cx.plan, frame).iter().find_map(|&id| costly(cx.plan.node(id)));
    let twice = step.map_or_else(|| "its source is read twice".to_owned(), |step| format!("its {step} runs twice"));
    let cost = evidence::cost(&cx.shared, index);
    let spent =
        cost.as_ref().map(|cost| format!(" (in run {} the count took {})", cost.label, duration(cost.total_ms)));
    let can_observe = !shows && matches!(other.kind, ActionKind::Write(_)) && cx.shared.version().at_least(3, 3);
    let instead = match can_observe {
        true => "Count while writing, with df.observe(Observation(), …), or cache",
        false if shows => "Show what was written, or cache",
        false => "Count what was written, or cache",
    };
    let what = if shows { "shows some rows" } else { "is only for a log line" };
    let message = format!(
        "{}() {what}, and {} computes {subject} as well: {twice}{}. {instead} {subject} around both.",
        count.method,
        other.method,
        spent.unwrap_or_default(),
    );
    let readers = || computing.iter().map(|again| &cx.plan.actions[again.index]).chain([count]);
    let first = readers().min_by_key(|action| action.site.call).unwrap_or(count);
    let last = readers().max_by_key(|action| action.site.call).unwrap_or(other);
    let fixes = [
        templates::observe(cx.plan, cx.shared.text, cx.shared.version(), count, other).filter(|_| !shows),
        name.and_then(|name| templates::cache_between(cx.shared.text, name, first, last)),
    ];
    let evidence = cost.map(|cost| measured("the count", duration(cost.total_ms), &cost.label));
    let finding = Finding::new(cx.shared.rule, severity, count.site.method, message).with_measured(evidence);
    Some(
        finding
            .with_related(other.site.method, format!("computes {subject} as well"))
            .with_fixes(fixes.into_iter().flatten()),
    )
}

/// Whether all rows are computed before the first one comes out.
fn shuffles_rows(operator: &Operator) -> bool {
    matches!(operator, Operator::Join(_) | Operator::Aggregate { .. } | Operator::Distinct | Operator::Window)
        || matches!(operator, Operator::Sort { global: true } | Operator::Repartition { .. })
}

/// Other counts are for logs themselves, or wanted.
fn writes_rows(cx: &CodeContext<'_>, again: &Again) -> bool {
    let kind = &cx.plan.actions[again.index].kind;
    is_full(kind) && *kind != ActionKind::Count
}

/// How bad it is to compute a frame once more for its count; `None` is cheap.
fn cost_of_count(cx: &CodeContext<'_>, frame: NodeId) -> Option<Severity> {
    let plan = cx.plan;
    let steps = recomputed(plan, frame);
    let is_few = matches!(plan.bound(frame), RowBound::Exactly(_) | RowBound::Small)
        && !steps.iter().any(|&id| costly(plan.node(id)).is_some());
    if steps.is_empty() || is_few || is_generated(plan, frame) || is_streaming(cx, frame) {
        return None;
    }
    if steps.iter().any(|&id| costly(plan.node(id)).is_some()) {
        // The steps stand here, whoever made what they start from.
        return Some(Severity::Warning);
    }
    if is_given(plan, frame) {
        return Some(Severity::Hint);
    }
    steps.iter().any(|&id| reads_rows(&plan.node(id).operator)).then_some(Severity::Information)
}

/// Whether a count has to read rows for it: the number of rows of a columnar file stands in its footer.
fn reads_rows(operator: &Operator) -> bool {
    match operator {
        Operator::Filter { .. } | Operator::Project { explodes: true, .. } | Operator::Sample { .. } => true,
        Operator::Source(Source::Read { format: Some(format), .. }) => {
            ["csv", "json", "text", "xml", "avro"].contains(&format.as_str())
        }
        _ => false,
    }
}
