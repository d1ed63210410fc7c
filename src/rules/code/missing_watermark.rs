//! Streaming state that is never dropped.

use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::api::Step;
use crate::pyspark::plan::{CallSite, NodeId, Operator, StreamStart};
use crate::rules::templates::watermark;
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// A streaming aggregation, deduplication or join without a watermark.
    ///
    /// ## Why
    /// Spark keeps a state for each key that it has seen, since late rows may still belong to it. Without a watermark no key is ever too
    /// old: the state grows until executors run out of memory. An aggregation in append mode doesn't even start.
    ///
    /// ## Silent when
    /// - `withWatermark` stands before it;
    /// - the aggregation has no key, so that its state is one row;
    /// - only one side of a join streams;
    /// - the frame is a batch of `foreachBatch`.
    ///
    /// In complete mode the result needs all keys: there it is a hint.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.readStream.table("events")
    /// counts = events.groupBy(F.window("event_time", "5 minutes"), "page").count()  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.readStream.table("events").withWatermark("event_time", "10 minutes")
    /// counts = events.groupBy(F.window("event_time", "5 minutes"), "page").count()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/streaming/apis-on-dataframes-and-datasets.html#handling-late-data-and-watermarking>
    pub MISSING_WATERMARK = {
        name: "missing-watermark", group: Streaming, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let Some(site) = node.site.as_ref().filter(|_| !cx.plan.is_repeat(id)) else { continue };
        if let Some(finding) = judge(cx, id, site) {
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, id: NodeId, site: &CallSite) -> Option<Finding> {
    let (plan, text) = (cx.plan, cx.shared.text);
    let node = plan.node(id);
    let what = match &node.operator {
        Operator::Aggregate { grouped: true, .. } => "aggregation",
        Operator::Distinct => "deduplication",
        Operator::Join(_) => "join of two streams",
        _ => return None,
    };
    let input = node.inputs.first().copied()?;
    let streams = match node.operator {
        Operator::Join(_) => node.inputs.len() == 2 && node.inputs.iter().all(|&side| plan.is_streaming(side)),
        _ => plan.is_streaming(input),
    };
    if !streams || has_watermark(plan, text, id) {
        return None;
    }
    let modes: Vec<Mode> = plan
        .streams
        .iter()
        .filter(|stream| plan.upstream(stream.input).contains(&id))
        .map(|stream| mode(text, stream))
        .collect();
    let aggregates = what == "aggregation";
    let (severity, message) = if aggregates && modes.contains(&Mode::Append) {
        (
            Severity::Error,
            format!(
                "This streaming {what} has no watermark, and in append mode Spark refuses to start such a query. Put withWatermark(\"event time\", \"10 minutes\") before it."
            ),
        )
    } else if aggregates && !modes.is_empty() && modes.iter().all(|&mode| mode == Mode::Complete) {
        (
            Severity::Hint,
            format!(
                "This streaming {what} keeps a state for every key for good, and complete mode writes all of them each time: right for few keys only."
            ),
        )
    } else {
        (
            Severity::Warning,
            format!(
                "This streaming {what} has no watermark: its state holds every key for good and grows until memory is full. Put withWatermark(\"event time\", \"10 minutes\") before it."
            ),
        )
    };
    let fix = match node.operator {
        Operator::Join(_) => None,
        _ if severity == Severity::Hint => None,
        _ => watermark(text, before(text, site)?, &event_time(cx, id)),
    };
    Some(Finding::new(cx.shared.rule, severity, site.method, message).with_fixes(fix))
}

fn has_watermark(plan: &StaticPlan, text: &str, id: NodeId) -> bool {
    let method = |id: NodeId| plan.node(id).site.as_ref().map(|site| site.method.of(text)).unwrap_or_default();
    plan.upstream(id).into_iter().any(|id| {
        matches!(
            method(id),
            "withWatermark" | "dropDuplicatesWithinWatermark" | "transform" | "transformWithStateInPandas"
        )
    })
}

/// The output mode of a query, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Append,
    Complete,
    Other,
}

fn mode(text: &str, stream: &StreamStart) -> Mode {
    let written = stream.write.chain.of(text);
    let whole = written.contains("writeStream") || stream.site.call.of(text).contains("writeStream");
    match stream.write.mode.as_deref() {
        Some("append") => Mode::Append,
        Some("complete") => Mode::Complete,
        None if whole && !stream.site.call.of(text).contains("outputMode") => Mode::Append,
        _ => Mode::Other,
    }
}

/// Where the frame in front of the operator ends.
fn before(text: &str, site: &CallSite) -> Option<usize> {
    let receiver = site.receiver.of(text);
    let grouped = [".groupBy(", ".groupby(", ".rollup(", ".cube("].iter().filter_map(|word| receiver.rfind(word)).max();
    let end = match (grouped, site.step(text)) {
        (Some(at), _) => site.receiver.start as usize + at,
        (None, Some(Step::Distinct)) => site.receiver.end as usize,
        (None, _) => return None,
    };
    Some(
        site.receiver.start as usize
            + text.get(site.receiver.start as usize..end)?.trim_end().trim_end_matches('\\').trim_end().len(),
    )
}

/// The column of the window that the operator groups by, or a name to fill in.
fn event_time(cx: &CodeContext<'_>, id: NodeId) -> String {
    let site = cx.plan.node(id).site.as_ref().map_or(Span::default(), |site| site.call);
    let windows = cx.plan.functions.iter().filter(|call| matches!(call.name.as_str(), "window" | "session_window"));
    let mut within = windows.filter(|call| call.used_in.contains(&id) || site.contains(call.call));
    within.find_map(|call| call.columns.first().cloned()).unwrap_or_else(|| "event_time".to_owned())
}
