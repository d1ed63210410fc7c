//! What another physical plan does differently.

use std::collections::BTreeMap;

use super::align;
use crate::run::Run;
use crate::run::keys;
use crate::run::model::PlanNode;

/// A difference between the plans of two executions that do the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChange {
    /// Another strategy for a join.
    Join {
        /// Its columns on the left side; empty if the plan doesn't say.
        keys: String,
        /// Before, e.g. `SortMergeJoin`.
        base: String,
        /// After, e.g. `BroadcastHashJoin`.
        candidate: String,
    },
    /// Adaptive execution did something else.
    Adaptive {
        /// What.
        what: Adaptive,
        /// In so many shuffle reads, before.
        base: u32,
        /// In so many shuffle reads, after.
        candidate: u32,
    },
    /// Another number of an operator.
    Operator {
        /// Its name, e.g. `Exchange`.
        name: String,
        /// Before.
        base: u32,
        /// After.
        candidate: u32,
    },
}

/// What adaptive execution does to the partitions of a shuffle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Adaptive {
    /// Skewed ones were split.
    Split,
    /// Small ones were merged.
    Merged,
    /// They were read where they had been written.
    Local,
}

/// What the operators of an execution are, as far as plans are told apart by them.
#[derive(Default)]
struct Operators<'a> {
    joins: Vec<(&'a str, String)>,
    others: BTreeMap<&'a str, u32>,
    adaptive: BTreeMap<Adaptive, u32>,
}

/// What changed in the plans of executions that were paired.
pub(super) fn changes(base: (&Run, &[i64]), candidate: (&Run, &[i64])) -> Vec<PlanChange> {
    let (mut before, mut after) = (Operators::of(base.0, base.1), Operators::of(candidate.0, candidate.1));
    let mut changes = Vec::new();
    let same_keys = |i: usize, j: usize| {
        let ((_, a), (_, b)) = (&before.joins[i], &after.joins[j]);
        f64::from(u8::from(a == b))
    };
    let pairs = align::in_order(before.joins.len(), after.joins.len(), same_keys);
    for &(i, j) in pairs.iter().rev() {
        let ((old, keys), (new, _)) = (before.joins.remove(i), after.joins.remove(j));
        if old != new {
            changes.push(PlanChange::Join { keys, base: old.to_owned(), candidate: new.to_owned() });
        }
    }
    changes.reverse();
    let differing = |name: &_, counts: &BTreeMap<_, u32>| counts.get(name).copied().unwrap_or(0);
    for what in [Adaptive::Split, Adaptive::Merged, Adaptive::Local] {
        let (base, candidate) = (differing(&what, &before.adaptive), differing(&what, &after.adaptive));
        if base != candidate {
            changes.push(PlanChange::Adaptive { what, base, candidate });
        }
    }
    before.count_joins();
    after.count_joins();
    let mut names: Vec<&str> = before.others.keys().chain(after.others.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let count = |counts: &BTreeMap<&str, u32>| counts.get(name).copied().unwrap_or(0);
        let (base, candidate) = (count(&before.others), count(&after.others));
        if base != candidate {
            changes.push(PlanChange::Operator { name: name.to_owned(), base, candidate });
        }
    }
    changes
}

impl<'a> Operators<'a> {
    fn of(run: &'a Run, executions: &[i64]) -> Self {
        let mut operators = Self::default();
        let plans = executions.iter().filter_map(|id| run.executions.get(id)).map(|execution| &execution.plan);
        for step in plans.flat_map(PlanNode::walk) {
            operators.add(step.node);
        }
        operators
    }

    fn add(&mut self, node: &'a PlanNode) {
        let name = node.name.split('(').next().unwrap_or_default().trim();
        if matches!(name, "AQEShuffleRead" | "CustomShuffleReader") {
            let done = [("skewed", Adaptive::Split), ("coalesced", Adaptive::Merged), ("local", Adaptive::Local)];
            for (_, what) in done.into_iter().filter(|(word, _)| node.text.contains(word)) {
                *self.adaptive.entry(what).or_default() += 1;
            }
        } else if name.contains("Join") || name == "CartesianProduct" {
            self.joins.push((name, join_keys(&node.text)));
        } else if !name.is_empty() && !keys::is_wrapper(name) && !matches!(name, "Project" | "Filter" | "WriteFiles") {
            *self.others.entry(name).or_default() += 1;
        }
    }

    fn count_joins(&mut self) {
        for (name, _) in self.joins.drain(..) {
            *self.others.entry(name).or_default() += 1;
        }
    }
}

/// `customer_id` of `SortMergeJoin [customer_id#12L], [customer_id#40L], Inner`.
fn join_keys(text: &str) -> String {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(keys, _)| keys);
    keys::stable(inside).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::model::SqlExecution;

    fn node(name: &str, text: &str, children: Vec<PlanNode>) -> PlanNode {
        PlanNode { name: name.into(), text: text.to_owned(), children, ..PlanNode::default() }
    }

    fn run(plan: PlanNode) -> Run {
        let mut run = Run::default();
        run.executions.insert(0, SqlExecution { plan, ..SqlExecution::default() });
        run
    }

    #[test]
    fn a_join_that_became_a_broadcast_and_a_shuffle_that_was_split() {
        let read = |text: &str| node("AQEShuffleRead", text, vec![node("Exchange", "Exchange", vec![])]);
        let scan = || node("Scan parquet ", "FileScan parquet", vec![]);
        let inner = |text: &str| {
            node(
                "SortMergeJoin(skew=true)",
                "SortMergeJoin [id#1L], [id#2L], Inner",
                vec![read(text), read("AQEShuffleRead coalesced")],
            )
        };
        let base = run(node(
            "SortMergeJoin",
            "SortMergeJoin [sku#3], [sku#4], Inner",
            vec![inner("AQEShuffleRead coalesced"), node("Exchange", "", vec![scan()])],
        ));
        let candidate = run(node(
            "BroadcastHashJoin",
            "BroadcastHashJoin [sku#13], [sku#14], Inner, BuildRight",
            vec![inner("AQEShuffleRead coalesced and skewed"), node("BroadcastExchange", "", vec![scan()])],
        ));
        let operator = |name: &str, base, candidate| PlanChange::Operator { name: name.to_owned(), base, candidate };
        let expected = [
            PlanChange::Join {
                keys: "sku".to_owned(),
                base: "SortMergeJoin".to_owned(),
                candidate: "BroadcastHashJoin".to_owned(),
            },
            PlanChange::Adaptive { what: Adaptive::Split, base: 0, candidate: 1 },
            operator("BroadcastExchange", 0, 1),
            operator("Exchange", 3, 2),
        ];
        assert_eq!(changes((&base, &[0]), (&candidate, &[0])), expected);
        assert_eq!(changes((&base, &[0]), (&base, &[0])), []);
    }
}
