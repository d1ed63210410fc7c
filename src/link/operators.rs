//! From a stage to the operator that caused it, inside what an action runs.
//!
//! A stage holds the plan nodes whose metrics it updates. A reduce stage belongs to the operator above the exchange that it
//! reads, a map stage to its scan or to the Python function that it runs.

use super::physical::{self, Physical};
use super::written::tail;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{JoinCondition, Literal, NodeId, Operator, Source};
use crate::run::model::{PlanNode, StageKey};
use crate::run::plan::{PlanIndex, Step};

/// A physical plan as a list, parents before children, with what each node is.
pub(super) struct Flat<'a> {
    execution: i64,
    nodes: Vec<FlatNode<'a>>,
}

struct FlatNode<'a> {
    step: Step<'a>,
    kind: Option<Physical>,
}

/// Where a stage's work is written.
pub(super) struct Place {
    pub(super) node: NodeId,
    /// One operator of the code fits, not several.
    pub(super) sure: bool,
    pub(super) reason: String,
}

impl<'a> Flat<'a> {
    pub(super) fn new(execution: i64, root: &'a PlanNode) -> Self {
        let nodes = root.walk().map(|step| FlatNode { kind: physical::classify(step.node), step }).collect();
        Self { execution, nodes }
    }

    /// The nodes that a stage works on, parents first.
    fn of_stage(&self, index: &PlanIndex<'_>, stage: StageKey) -> Vec<usize> {
        let places = index.nodes_of(stage).into_iter().filter(|place| place.execution == self.execution);
        places.filter_map(|place| self.at(&place.path)).collect()
    }

    /// The node at a path; parents come before children, so paths are sorted.
    fn at(&self, path: &[usize]) -> Option<usize> {
        self.nodes.binary_search_by(|node| node.step.path.as_slice().cmp(path)).ok()
    }

    /// The nodes above one, nearest first.
    fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        let path = &self.nodes[index].step.path;
        (0..path.len()).rev().filter_map(|depth| self.at(&path[..depth]))
    }

    /// The physical operator that a stage belongs to.
    fn main_operator(&self, plan: &PlanIndex<'_>, stage: StageKey) -> Option<usize> {
        let nodes = self.of_stage(plan, stage);
        if let Some(coalesce) = self.coalesce_above(&nodes) {
            return Some(coalesce);
        }
        let is_exchange = |index: usize| self.nodes[index].step.node.name.trim() == "Exchange";
        // An exchange is read by the stage if the stage also works on something above it.
        let read = nodes
            .iter()
            .copied()
            .filter(|&index| is_exchange(index))
            .rfind(|&index| self.ancestors(index).any(|above| nodes.contains(&above)));
        if let Some(exchange) = read {
            if matches!(self.nodes[exchange].kind, Some(Physical::Repartition { .. } | Physical::GlobalSort)) {
                return Some(exchange);
            }
            return self.ancestors(exchange).take_while(|&above| !is_exchange(above)).find(|&above| {
                matches!(
                    self.nodes[above].kind,
                    Some(Physical::Join { .. } | Physical::Aggregate { .. } | Physical::Window)
                )
            });
        }
        let first = |wanted: fn(&Physical) -> bool| {
            nodes.iter().copied().find(|&index| self.nodes[index].kind.as_ref().is_some_and(wanted))
        };
        first(|kind| matches!(kind, Physical::PythonUdf { .. }))
            .or_else(|| first(|kind| matches!(kind, Physical::Scan { .. } | Physical::Range { .. })))
            .or_else(|| first(|kind| matches!(kind, Physical::Join { .. } | Physical::Aggregate { .. })))
    }

    /// A `coalesce(n)` in the same stage: it decides how many tasks there are, and has no metrics of its own.
    fn coalesce_above(&self, nodes: &[usize]) -> Option<usize> {
        let top = *nodes.first()?;
        let is = |index: usize, wanted: fn(&FlatNode<'_>) -> bool| wanted(&self.nodes[index]);
        let exchange = |node: &FlatNode<'_>| node.step.node.name.trim() == "Exchange";
        let coalesce = |node: &FlatNode<'_>| matches!(node.kind, Some(Physical::Coalesce { .. }));
        let within = nodes.iter().flat_map(|&index| self.ancestors(index).take_while(move |&above| above >= top));
        let above = self.ancestors(top).take_while(|&above| !is(above, exchange));
        within.chain(above).find(|&index| is(index, coalesce))
    }

    /// How many nodes like `index` lie above it: its place among its kind, from the top.
    fn rank(&self, index: usize) -> usize {
        let like = |other: &Physical| {
            self.nodes[index]
                .kind
                .as_ref()
                .is_some_and(|kind| std::mem::discriminant(kind) == std::mem::discriminant(other))
        };
        self.nodes[..index].iter().filter(|node| node.kind.as_ref().is_some_and(like)).count()
    }
}

/// The operator of the static plan that a stage belongs to, among what `input` is computed from.
pub(super) fn place(
    flat: &Flat<'_>,
    stages: &PlanIndex<'_>,
    stage: StageKey,
    (plan, text): (&StaticPlan, &str),
    input: NodeId,
) -> Option<Place> {
    let index = flat.main_operator(stages, stage)?;
    let kind = flat.nodes[index].kind.as_ref()?;
    let upstream = plan.upstream(input);
    let fitting = |fits: &dyn Fn(&Operator, &str) -> bool| -> Vec<NodeId> {
        let fits_node = |&id: &NodeId| {
            let node = plan.node(id);
            let call = node.site.as_ref().map(|site| site.call.of(text)).unwrap_or_default();
            node.site.is_some() && fits(&node.operator, call)
        };
        upstream.iter().copied().filter(fits_node).collect()
    };
    let (candidates, what): (Vec<NodeId>, String) = match kind {
        Physical::Join { left, right } => (
            fitting(&|operator, call| is_join_on(operator, call, left, right)),
            format!("join keys {}", left.join(", ")),
        ),
        Physical::Aggregate { keys, .. } => (
            fitting(&|operator, call| is_aggregate_by(operator, call, keys)),
            format!("grouping keys {}", keys.join(", ")),
        ),
        Physical::Window => (fitting(&|operator, _| matches!(operator, Operator::Window)), "window".to_owned()),
        Physical::Repartition { count } => (
            fitting(&|operator, _| {
                matches!(operator, Operator::Repartition { count: written, .. }
                    if written.is_none() || count.is_none() || written == count)
            }),
            "repartition".to_owned(),
        ),
        Physical::GlobalSort => {
            (fitting(&|operator, _| matches!(operator, Operator::Sort { global: true })), "sort".to_owned())
        }
        Physical::Scan { locations } => (
            fitting(&|operator, _| reads(operator, locations)),
            format!(
                "source {}",
                locations.first().map(String::as_str).map(physical::last_component).unwrap_or_default()
            ),
        ),
        Physical::Range { rows } => (
            fitting(
                &|operator, _| matches!(operator, Operator::Source(Source::Range(written)) if written.is_some() && written == rows),
            ),
            "range".to_owned(),
        ),
        Physical::PythonUdf { names } => (
            fitting(&|operator, call| {
                !matches!(operator, Operator::Source(_)) && names.iter().any(|name| calls(call, name))
            }),
            format!("Python function {}", names.join(", ")),
        ),
        Physical::Coalesce { count } => (
            fitting(
                &|operator, _| matches!(operator, Operator::Coalesce { count: written } if written.is_none() || written == count),
            ),
            "coalesce".to_owned(),
        ),
        Physical::Write { .. } | Physical::Limit { .. } => return None,
    };
    narrow(flat, index, plan, candidates, what)
}

/// One candidate is sure; several are told apart by their order only if the plan has as many.
fn narrow(flat: &Flat<'_>, index: usize, plan: &StaticPlan, candidates: Vec<NodeId>, what: String) -> Option<Place> {
    match distinct_calls(plan, candidates).as_slice() {
        [] => None,
        [only] => Some(Place { node: *only, sure: true, reason: what }),
        several => {
            let alike = flat.nodes.iter().filter(|node| node.kind == flat.nodes[index].kind).count();
            let above = flat.nodes[..index].iter().filter(|node| node.kind == flat.nodes[index].kind).count();
            let by_order = several.len() == alike;
            let at = if by_order { above } else { flat.rank(index).min(several.len() - 1) };
            Some(Place { node: several[at], sure: by_order, reason: format!("{what}, by order") })
        }
    }
}

/// One node a call: a function that is read for several callers leaves one at each reading.
fn distinct_calls(plan: &StaticPlan, candidates: Vec<NodeId>) -> Vec<NodeId> {
    let call = |id: NodeId| plan.node(id).site.as_ref().map(|site| site.method);
    let mut seen = rustc_hash::FxHashSet::default();
    candidates.into_iter().filter(|&id| seen.insert(call(id))).collect()
}

fn is_join_on(operator: &Operator, call: &str, left: &[String], right: &[String]) -> bool {
    let Operator::Join(join) = operator else { return false };
    match &join.condition {
        JoinCondition::Using(keys) if !left.is_empty() => {
            keys.iter().all(|key| left.contains(key) || right.contains(key))
        }
        JoinCondition::Equality if !left.is_empty() => left.iter().chain(right).all(|key| mentions(call, key)),
        JoinCondition::Missing | JoinCondition::Cross | JoinCondition::NoEquality => left.is_empty(),
        _ => true,
    }
}

fn is_aggregate_by(operator: &Operator, call: &str, keys: &[String]) -> bool {
    match operator {
        Operator::Aggregate { keys: written, grouped, .. } => {
            if keys.is_empty() {
                return !grouped;
            }
            *grouped
                && written.iter().all(|key| key.as_ref().is_none_or(|key| keys.contains(key)))
                && (written.len() <= keys.len() || written.is_empty())
                && keys.iter().any(|key| written.iter().flatten().any(|name| name == key) || mentions(call, key))
        }
        Operator::Distinct => !keys.is_empty(),
        _ => false,
    }
}

fn reads(operator: &Operator, locations: &[String]) -> bool {
    let written: Vec<&Literal> = match operator {
        Operator::Source(Source::Read { location, .. }) => location.iter().collect(),
        Operator::Source(Source::Table(name)) => vec![name],
        _ => return false,
    };
    written
        .iter()
        .filter_map(|literal| tail(literal))
        .any(|tail| locations.iter().any(|location| physical::last_component(location) == tail))
}

/// Whether the code holds `name` as a whole word.
fn mentions(code: &str, name: &str) -> bool {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

/// Whether the last call of the chain passes or calls the function `name`; earlier calls of the chain don't count.
fn calls(call: &str, name: &str) -> bool {
    let arguments = call.rfind(')').map_or(call, |end| &call[last_open(call, end)..end]);
    mentions(arguments, name)
}

/// The parenthesis that the one at `end` closes.
fn last_open(code: &str, end: usize) -> usize {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().take(end + 1).collect::<Vec<_>>().into_iter().rev() {
        match byte {
            b')' => depth += 1,
            b'(' if depth == 1 => return at,
            b'(' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    0
}
