//! What is computed from a cached frame.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{CallSite, NodeId, Operator};
use crate::text::Span;

/// A `cache` or `persist` call.
pub(super) struct Cached<'a> {
    /// The operator that the call added.
    pub(super) node: NodeId,
    /// The call.
    pub(super) site: &'a CallSite,
}

/// Calls of `cache` and `persist`; not those in a function that was read for several callers.
pub(super) fn cached(plan: &StaticPlan) -> Vec<Cached<'_>> {
    let nodes = (0..plan.nodes.len() as u32).map(NodeId);
    let caches = nodes.filter(|&id| plan.node(id).operator == Operator::Cache);
    let calls: Vec<Cached<'_>> =
        caches.filter_map(|node| Some(Cached { node, site: plan.node(node).site.as_ref()? })).collect();
    let mut times: FxHashMap<Span, u32> = FxHashMap::default();
    calls.iter().for_each(|cached| *times.entry(cached.site.call).or_default() += 1);
    calls.into_iter().filter(|cached| times.get(&cached.site.call) == Some(&1)).collect()
}

/// Whether rows of a frame are kept: the cached frame and the one that was cached, which Spark knows by its plan.
pub(super) fn keeps(plan: &StaticPlan, cached: &Cached<'_>, id: NodeId) -> bool {
    id == cached.node || plan.node(cached.node).inputs.contains(&id)
}

/// Everything that is computed from what a call caches, the frame itself included.
pub(super) fn downstream(plan: &StaticPlan, cached: &Cached<'_>) -> FxHashSet<NodeId> {
    let mut found: FxHashSet<NodeId> = FxHashSet::default();
    let mut open: Vec<NodeId> = plan.node(cached.node).inputs.to_vec();
    open.push(cached.node);
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(plan.consumers.get(id.0 as usize).into_iter().flatten());
        }
    }
    found
}

/// Whether the name of a call stands behind a place.
pub(super) fn is_behind(site: &CallSite, place: Span) -> bool {
    site.method.start >= place.end
}
