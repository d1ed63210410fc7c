//! A frame cached again and again, and never released.

use super::caches::{Cached, cached, downstream, keeps};
use super::lineage::name_of;
use crate::declare_rule;
use crate::pyspark::plan::{Action, LoopOver, ScopeId};
use crate::rules::{CodeContext, Finding, Severity, templates};
use crate::text::Span;

declare_rule! {
    /// `cache` or `persist` in a loop or a `foreachBatch` function without `unpersist`.
    ///
    /// ## Why
    /// Spark keeps a cached frame until someone releases it or the application ends, also when Python has forgotten its name. Each
    /// turn adds one; when memory is full, rows are evicted that would still be needed, and execution has less memory for its own.
    ///
    /// ## Silent when
    /// - the loop or the function releases a frame, or clears all of them;
    /// - the frame is returned, kept in an attribute or a collection, or handed to other code;
    /// - the loop runs at most 10 times, or leaves in its first turn;
    /// - it is a script that ends, unless the option `scripts` is 1: then every cache without release is reported;
    /// - the file is a test.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// for day in spark.conf.get("job.days").split(","):
    ///     orders = spark.table("shop.orders").filter(f"day = '{day}'").cache()  # finding
    ///     orders.groupBy("country").count().write.mode("append").parquet("s3a://lake/countries")
    ///     orders.groupBy("shop").count().write.mode("append").parquet("s3a://lake/shops")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// for day in spark.conf.get("job.days").split(","):
    ///     orders = spark.table("shop.orders").filter(f"day = '{day}'").cache()
    ///     orders.groupBy("country").count().write.mode("append").parquet("s3a://lake/countries")
    ///     orders.groupBy("shop").count().write.mode("append").parquet("s3a://lake/shops")
    ///     orders.unpersist()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/rdd-programming-guide.html#removing-data>
    pub CACHE_NEVER_RELEASED = {
        name: "cache-never-released", group: Cache, severity: Information, confidence: Documented,
        since: "0.1.0",
        options: [
            ("max-turns", 10.0, "loops over at most this many literal items are left alone"),
            ("scripts", 0.0, "1 reports caches of scripts, too, which end soon and release everything"),
        ],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for cached in cached(cx.plan) {
        if let Some(finding) = judge(cx, &cached) {
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, cached: &Cached<'_>) -> Option<Finding> {
    let node = cx.plan.node(cached.node);
    let (region, when) = repeated(cx, cached)?;
    let computed = downstream(cx.plan, cached);
    let escapes = cx.plan.escapes.iter().any(|id| keeps(cx.plan, cached, *id));
    let is_read = cx.plan.actions.iter().any(|action| action.input.is_some_and(|id| computed.contains(&id)));
    if escapes || !is_read || cx.plan.scope(node.scope).is_test {
        return None;
    }
    if releases(cx, region) {
        return None;
    }
    let name = cached.site.method.of(cx.shared.text);
    let message = format!(
        "{name}() keeps one more frame in memory {when}, and nothing here releases it. Call unpersist() behind its last action."
    );
    let reads = |action: &&Action| action.input.is_some_and(|id| computed.contains(&id));
    let last = cx.plan.actions.iter().filter(reads).max_by_key(|action| action.site.call)?;
    let fix = name_of(cx.plan, cached.node, last)
        .and_then(|name| templates::release_after(cx.shared.text, name, cached.site, last));
    Some(Finding::new(cx.shared.rule, Severity::Information, cached.site.method, message).with_fixes(fix))
}

/// The code that runs again and again around a call, and when.
fn repeated(cx: &CodeContext<'_>, cached: &Cached<'_>) -> Option<(Span, &'static str)> {
    let node = cx.plan.node(cached.node);
    let max_turns = cx.shared.option("max-turns");
    let turns = node.loops.iter().map(|&id| cx.plan.loop_(id)).find(|looped| {
        let is_short = matches!(looped.over, LoopOver::Literal(turns) if turns as f64 <= max_turns);
        !is_short && !looped.runs_once && !looped.retries
    });
    if let Some(looped) = turns {
        return Some((looped.span, "in each turn of this loop"));
    }
    let batches = cx.plan.streams.iter().filter_map(|stream| cx.plan.python.get(stream.batch?));
    let mut functions = batches.filter_map(|python| python.function.as_ref());
    let is_here = |scope: ScopeId| scope == node.scope;
    if let Some(batch) = functions.find(|function| is_here(function.scope)) {
        return Some((batch.span, "for each batch"));
    }
    (cx.shared.option("scripts") >= 1.0).then(|| (Span::new(0, cx.shared.text.len()), "until the application ends"))
}

/// Whether the code releases a frame, whichever: a name may stand for the one of the turn before.
fn releases(cx: &CodeContext<'_>, region: Span) -> bool {
    let code = region.of(cx.shared.text);
    // Also of names that the plan knows nothing of.
    ["unpersist(", "clearCache(", "uncacheTable("].iter().any(|call| code.contains(call))
}
