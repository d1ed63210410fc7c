//! A cache that one action reads.

use rustc_hash::{FxHashMap, FxHashSet};

use super::caches::{Cached, cached, downstream, is_behind};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, Captured, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Severity, templates};

declare_rule! {
    /// A cached frame that a single action reads.
    ///
    /// ## Why
    /// Caching writes every row of the frame into the memory of the executors, and onto their disks where that is short. The first
    /// action pays for it, and only a second one gains.
    ///
    /// ## Silent when
    /// - more than one action, or more than one branch of a query, reads it;
    /// - the one action is a `count()`: to fill the cache, or to measure;
    /// - an action in a loop reads it, or the loop carries it on;
    /// - the frame is returned, kept in an attribute or a collection, registered as a view, or handed to other code;
    /// - another function than the one that caches it reads it;
    /// - the file is a test.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// totals = spark.table("shop.orders").groupBy("country").sum("amount").cache()  # finding
    /// totals.write.mode("overwrite").parquet("s3a://lake/totals")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// totals = spark.table("shop.orders").groupBy("country").sum("amount")
    /// totals.write.mode("overwrite").parquet("s3a://lake/totals")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/rdd-programming-guide.html#rdd-persistence>
    pub CACHE_USED_ONCE = {
        name: "cache-used-once", group: Cache, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    let mut readers: Readers<'_> = FxHashMap::default();
    for action in &cx.plan.actions {
        readers.entry(action.input).or_default().push(action);
    }
    for cached in cached(cx.plan) {
        if let Some(finding) = judge(cx, &readers, &cached) {
            cx.shared.report(finding);
        }
    }
}

/// The actions by the frame that they run.
type Readers<'a> = FxHashMap<Option<NodeId>, Vec<&'a Action>>;

fn judge(cx: &CodeContext<'_>, readers: &Readers<'_>, cached: &Cached<'_>) -> Option<Finding> {
    let plan = cx.plan;
    let node = plan.node(cached.node);
    let computed = downstream(plan, cached);
    // They are in order; what is computed from one cache is little beside all that escapes.
    let escapes = computed.iter().any(|id| plan.escapes.binary_search(id).is_ok());
    let carried =
        computed.iter().any(|&id| matches!(plan.node(id).operator, Operator::LoopCarried(_) | Operator::Merge));
    let streams = plan.streams.iter().any(|stream| computed.contains(&stream.input));
    let runs = plan.python.iter().any(|python| {
        python
            .function
            .iter()
            .flat_map(|function| &function.captures)
            .any(|capture| matches!(capture.what, Captured::Frame(id) if computed.contains(&id)))
    });
    if escapes || carried || streams || runs || plan.scope(node.scope).is_test {
        return None;
    }
    let readers: Vec<_> = computed.iter().filter_map(|id| readers.get(&Some(*id))).flatten().copied().collect();
    // Views and commands read a frame whenever someone asks.
    if readers.iter().any(|action| matches!(action.kind, ActionKind::Other(_))) {
        return None;
    }
    let later: Vec<_> = readers.into_iter().filter(|action| is_behind(&action.site, cached.site.method)).collect();
    let [reader] = later[..] else { return None };
    let is_plain = reader.scope == node.scope && reader.loops == node.loops && !reader.on_rdd;
    if !is_plain || reader.kind == ActionKind::Count || branches(cx.plan, cached, &computed) {
        return None;
    }
    let name = cached.site.method.of(cx.shared.text);
    let message = format!(
        "{name}() keeps the rows in the executors' memory for {} alone, the only action that reads them here: caching pays from the second one on. Remove it.",
        reader.method,
    );
    let fixes = [templates::without_call(cx.shared.text, cached.site)
        .filter(|_| cached.site.statement != cached.site.call)
        .or_else(|| templates::without_line(cx.shared.text, cached.site))];
    let finding = Finding::new(cx.shared.rule, Severity::Information, cached.site.method, message);
    Some(
        finding
            .with_related(reader.site.method, "the only action that reads it")
            .with_fixes(fixes.into_iter().flatten()),
    )
}

/// Whether one query reads the frame twice: an operator behind the call has more than one reader.
fn branches(plan: &StaticPlan, cached: &Cached<'_>, computed: &FxHashSet<NodeId>) -> bool {
    let readers = |id: &NodeId| plan.consumers.get(id.0 as usize).into_iter().flatten();
    computed.iter().any(|id| readers(id).filter(|reader| **reader != cached.node).count() > 1)
}
