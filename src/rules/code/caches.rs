//! What is computed from a cached frame.

use rustc_hash::FxHashSet;

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
    let is_single =
        |cached: &&Cached<'_>| calls.iter().filter(|other| other.site.call == cached.site.call).count() == 1;
    calls.iter().filter(is_single).map(|cached| Cached { ..*cached }).collect()
}

/// Whether rows of a frame are kept: the cached frame and the one that was cached, which Spark knows by its plan.
pub(super) fn keeps(plan: &StaticPlan, cached: &Cached<'_>, id: NodeId) -> bool {
    id == cached.node || plan.node(cached.node).inputs.contains(&id)
}

/// Everything that is computed from what a call caches, the frame itself included.
pub(super) fn downstream(plan: &StaticPlan, cached: &Cached<'_>) -> FxHashSet<NodeId> {
    let mut found: FxHashSet<NodeId> = FxHashSet::default();
    found.insert(cached.node);
    found.extend(plan.node(cached.node).inputs.iter().copied());
    // Inputs stand before the nodes that read them, but for loop variables.
    for _ in 0..2 {
        for (index, node) in plan.nodes.iter().enumerate() {
            if node.inputs.iter().any(|input| found.contains(input)) {
                found.insert(NodeId(index as u32));
            }
        }
    }
    found
}

/// Whether the name of a call stands behind a place.
pub(super) fn is_behind(site: &CallSite, place: Span) -> bool {
    site.method.start >= place.end
}
