//! A cache released before it is read.

use super::blocks::{Together, together};
use super::caches::{Cached, cached, is_behind, keeps};
use super::lineage::name_of;
use crate::declare_rule;
use crate::pyspark::plan::{Action, ActionKind, CallSite, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// `unpersist()` before an action that still reads the frame.
    ///
    /// ## Why
    /// `cache()` and the steps behind it run nothing: rows arrive in the cache with the first action. A frame that is released before
    /// that action never was cached; a frame that is released before the last one is computed again from its sources.
    ///
    /// ## Silent when
    /// - no action that reads the frame follows in the same block;
    /// - what follows reads rows that were kept on the way: a checkpoint, or another cache that an action had filled by then;
    /// - the frame is cached again, with another storage level;
    /// - the call stands in a loop, where it releases the frame of the turn before;
    /// - the file is a test.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// base = spark.table("shop.orders").join(spark.table("shop.countries"), "country").cache()
    /// large = base.filter("amount > 100")
    /// small = base.filter("amount <= 100")
    /// base.unpersist()  # finding
    /// large.write.mode("overwrite").parquet("s3a://lake/large")
    /// small.write.mode("overwrite").parquet("s3a://lake/small")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// base = spark.table("shop.orders").join(spark.table("shop.countries"), "country").cache()
    /// large = base.filter("amount > 100")
    /// small = base.filter("amount <= 100")
    /// large.write.mode("overwrite").parquet("s3a://lake/large")
    /// small.write.mode("overwrite").parquet("s3a://lake/small")
    /// base.unpersist()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/rdd-programming-guide.html#rdd-persistence>
    pub CACHE_RELEASED_EARLY = {
        name: "cache-released-early", group: Cache, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let caches = cached(cx.plan);
    for (released, site) in &cx.plan.unpersists {
        let of_this =
            |cached: &&Cached<'_>| keeps(cx.plan, cached, *released) && cached.site.call.start < site.method.start;
        let is_kept_again =
            caches.iter().any(|cached| keeps(cx.plan, cached, *released) && is_behind(cached.site, site.method));
        let Some(cached) = caches.iter().rfind(of_this).filter(|_| !is_kept_again) else { continue };
        if let Some(finding) = judge(cx, &caches, cached, site) {
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, caches: &[Cached<'_>], cached: &Cached<'_>, site: &CallSite) -> Option<Finding> {
    let node = cx.plan.node(cached.node);
    if !node.loops.is_empty() || cx.plan.scope(node.scope).is_test {
        return None;
    }
    let actions = cx.plan.actions.iter().filter(|action| action.scope == node.scope && action.loops.is_empty());
    let later: Vec<&Action> = actions
        .filter(|action| is_behind(&action.site, site.method) && runs(action))
        .filter(|action| together(cx.shared.text, site.statement, action.site.statement) == Together::Always)
        .filter(|action| action.input.is_some_and(|input| reads(cx, caches, cached, site, input)))
        .collect();
    let (first, last) = (later.first()?, later.last()?);
    let filled = cx.plan.actions.iter().any(|action| fills(cx, cached, action, site));
    let name = name(cx, cached, first).unwrap_or("The frame");
    let what = match filled {
        true => format!("{name} is computed again from its sources by {}, behind this release.", first.method),
        false => format!(
            "{name} is released before any action fills its cache: {} computes it as if it never was cached.",
            first.method
        ),
    };
    let message = format!("{what} Release it behind the last action that reads it.");
    let fix = templates::release_behind(cx.shared.text, site, last);
    let finding = Finding::new(cx.shared.rule, Severity::Information, site.method, message);
    Some(finding.with_related(first.site.method, "still reads it").with_fixes(fix))
}

/// The name of the cached frame, or of the one that was cached.
fn name<'a>(cx: &CodeContext<'a>, cached: &Cached<'_>, action: &Action) -> Option<&'a str> {
    let frames = std::iter::once(&cached.node).chain(&cx.plan.node(cached.node).inputs);
    frames.into_iter().find_map(|&frame| name_of(cx.plan, frame, action))
}

fn runs(action: &Action) -> bool {
    !matches!(action.kind, ActionKind::Other(_))
}

/// Whether an action before the release computes what a call caches.
fn fills(cx: &CodeContext<'_>, cached: &Cached<'_>, action: &Action, release: &CallSite) -> bool {
    let reads = |input| cx.plan.upstream(input).iter().any(|&id| keeps(cx.plan, cached, id));
    let is_between = is_behind(&action.site, cached.site.method) && action.site.method.start < release.method.start;
    is_between && runs(action) && action.input.is_some_and(reads)
}

/// Whether a frame is computed through the released one, and nothing on the way keeps rows by then.
fn reads(cx: &CodeContext<'_>, caches: &[Cached<'_>], cached: &Cached<'_>, site: &CallSite, from: NodeId) -> bool {
    let is_filled = |id: NodeId| {
        let by = caches.iter().filter(|other| other.node != cached.node && keeps(cx.plan, other, id));
        by.into_iter().any(|other| cx.plan.actions.iter().any(|action| fills(cx, other, action, site)))
    };
    let mut seen = vec![false; cx.plan.nodes.len()];
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        let Some(seen) = seen.get_mut(id.0 as usize).filter(|seen| !**seen) else { continue };
        *seen = true;
        let node = cx.plan.node(id);
        if keeps(cx.plan, cached, id) {
            return true;
        }
        if node.operator != Operator::Checkpoint && !is_filled(id) {
            open.extend(node.inputs.iter().copied());
        }
    }
    false
}
