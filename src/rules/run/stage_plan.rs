//! The part of a physical plan that one stage ran, found through the accumulators that plan nodes and tasks share.

use super::evidence;
use crate::run::Run;
use crate::run::model::{PlanNode, StageKey};

/// What a stage is for, as far as advice differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operator {
    /// A join behind shuffles; AQE can split skewed partitions of it.
    Join {
        /// `Inner`, `LeftOuter`, …
        kind: String,
        /// Columns of the left side.
        keys: Vec<String>,
    },
    /// A grouping, a `distinct` or a global aggregate.
    Aggregate {
        /// Grouping columns; empty for a global aggregate.
        keys: Vec<String>,
    },
    /// A window function.
    Window {
        /// No `partitionBy`: all rows go through one task.
        global: bool,
    },
    /// A global sort.
    Sort,
    /// A write without a join, aggregate or window in the same stage.
    Write,
    /// Reads a source.
    Scan,
    /// Not told by the log (RDDs, streaming sources, plans that are cut).
    Unknown,
}

impl Operator {
    /// `join`, `aggregate`, …
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Join { .. } => "join",
            Self::Aggregate { .. } => "aggregate",
            Self::Window { .. } => "window",
            Self::Sort => "sort",
            Self::Write => "write",
            Self::Scan => "scan",
            Self::Unknown => "stage",
        }
    }

    /// Its keys for a sentence: `customer_id`, or `the key`.
    pub(crate) fn key_text(&self) -> String {
        match self {
            Self::Join { keys, .. } | Self::Aggregate { keys } if !keys.is_empty() => keys.join(", "),
            _ => "the key".to_owned(),
        }
    }
}

/// The nodes of one stage.
#[derive(Debug, Clone, Default)]
pub(crate) struct StagePlan<'a> {
    /// The SQL execution, if the stage belongs to one.
    pub execution: Option<i64>,
    /// Nodes between the exchanges that it reads and the one that it writes, root first.
    pub nodes: Vec<&'a PlanNode>,
    /// Exchanges that it reads.
    pub reads: Vec<&'a PlanNode>,
    /// The exchange that it writes.
    pub writes: Option<&'a PlanNode>,
    /// It may have a plan, but what was read tells none: no node says nothing then.
    pub untold: bool,
}

/// A node of a flattened plan.
struct Flat<'a> {
    node: &'a PlanNode,
    /// The stage-like component above its exchanges that the node belongs to.
    component: usize,
    /// For exchanges: the component that writes it.
    producer: Option<usize>,
}

fn is_exchange(node: &PlanNode) -> bool {
    node.name.contains("Exchange") || node.name == "CollectLimit" || node.name == "TakeOrderedAndProject"
}

/// The plan in pre-order, cut into components at its exchanges. Plans may be deep: no recursion.
fn flatten(root: &PlanNode) -> Vec<Flat<'_>> {
    let mut flat = Vec::new();
    let mut components = 1;
    let mut open = vec![(root, 0)];
    while let Some((node, component)) = open.pop() {
        let mut inner = component;
        let mut producer = None;
        if is_exchange(node) {
            inner = components;
            components += 1;
            producer = Some(inner);
        }
        flat.push(Flat { node, component, producer });
        open.extend(node.children.iter().rev().map(|child| (child, inner)));
    }
    flat
}

fn reads_shuffle(metric: &str) -> bool {
    metric.contains("read") || metric.starts_with("fetch wait") || metric.starts_with("remote reqs")
}

impl<'a> StagePlan<'a> {
    /// The part of the execution's plan that the stage ran; empty where the log doesn't tell.
    pub(crate) fn of(run: &'a Run, key: StageKey, execution: Option<i64>) -> Self {
        let untold = evidence::lacks_plan(run, key, execution);
        let mut found = Self { execution, untold, ..Self::default() };
        let plan = execution.and_then(|id| run.executions.get(&id)).map(|execution| &execution.plan);
        let (Some(plan), Some(stage)) = (plan, run.stages.get(&key)) else {
            return found;
        };
        let flat = flatten(plan);
        let mut votes: Vec<u32> = vec![0; flat.len() + 1];
        for entry in &flat {
            for metric in entry.node.metrics.iter().filter(|m| stage.accumulables.binary_search(&m.accumulator).is_ok())
            {
                let component = match entry.producer {
                    Some(producer) if !reads_shuffle(&metric.name) => producer,
                    _ => entry.component,
                };
                votes[component] += 1;
            }
        }
        let Some((component, _)) =
            votes.iter().enumerate().filter(|(_, votes)| **votes > 0).max_by_key(|&(index, votes)| (*votes, index))
        else {
            return found;
        };
        for entry in &flat {
            match entry.producer {
                Some(producer) if producer == component => found.writes = Some(entry.node),
                Some(_) if entry.component == component => found.reads.push(entry.node),
                None if entry.component == component => found.nodes.push(entry.node),
                _ => {}
            }
        }
        found
    }

    /// Whether a node of this name (or a name that starts with it) is in the stage.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.nodes.iter().any(|node| node.name.starts_with(name))
    }

    /// Whether rows pass through Python workers here.
    pub(crate) fn python(&self) -> Option<&'a str> {
        let python = ["BatchEvalPython", "ArrowEvalPython", "MapInPandas", "MapInArrow", "PythonMapInArrow"];
        let is_python =
            |node: &&&PlanNode| python.iter().any(|name| node.name.starts_with(name)) || node.name.contains("InPandas");
        self.nodes.iter().find(is_python).map(|node| node.name.as_str())
    }

    /// Whether AQE split skewed partitions of this stage's join.
    pub(crate) fn split_by_aqe(&self) -> bool {
        self.nodes.iter().any(|node| node.name.contains("skew=true") || is_shuffle_read(node, "skewed"))
    }

    /// Whether AQE merged small partitions for this stage.
    pub(crate) fn coalesced_by_aqe(&self) -> bool {
        self.nodes.iter().any(|node| is_shuffle_read(node, "coalesced"))
    }

    /// Partitions of the shuffles that it reads before AQE touched them, the largest.
    pub(crate) fn partitions_before_aqe(&self) -> Option<u64> {
        self.reads.iter().filter_map(|node| partition_count(&node.text)).max()
    }

    /// The number in a user's `repartition(n)` that sized this stage, or in `coalesce(n)`.
    pub(crate) fn user_partitions(&self) -> Option<UserPartitions> {
        if let Some(node) = self.nodes.iter().find(|node| node.name == "Coalesce") {
            let count = node.text.trim().rsplit(' ').next().and_then(|text| text.parse().ok());
            return Some(UserPartitions::Coalesce(count));
        }
        let by_number = self.reads.iter().find(|node| node.text.contains("REPARTITION_BY_NUM"))?;
        let count = if by_number.text.contains("SinglePartition") { Some(1) } else { partition_count(&by_number.text) };
        Some(UserPartitions::Repartition(count))
    }

    /// A stage that Spark makes one task of by its nature: limits, heads and global aggregates.
    pub(crate) fn single_by_nature(&self) -> bool {
        let limit = self.nodes.iter().chain(&self.reads).any(|node| {
            node.name.contains("Limit") && !node.name.starts_with("WindowGroupLimit")
                || node.name == "TakeOrderedAndProject"
        });
        let one_needed = self
            .reads
            .iter()
            .any(|node| node.text.contains("SinglePartition") && !node.text.contains("REPARTITION_BY"));
        limit || (one_needed && !self.has("Window"))
    }

    /// What the stage is for: the operator that is nearest to the data it reads.
    pub(crate) fn operator(&self) -> Operator {
        let shuffled = !self.reads.is_empty();
        for node in self.nodes.iter().rev() {
            let name = node.name.as_str();
            let partial = node.text.contains("partial_");
            if shuffled && (name.starts_with("SortMergeJoin") || name.starts_with("ShuffledHashJoin")) {
                return join(node);
            } else if name == "Window" || name.starts_with("WindowInPandas") || name == "ArrowWindowPython" {
                let global = self.reads.iter().any(|read| read.text.contains("SinglePartition"));
                return Operator::Window { global };
            } else if shuffled && !partial && name.contains("Aggregate") {
                return Operator::Aggregate { keys: bracketed(&node.text, "keys=[") };
            } else if shuffled && name == "Sort" && node.text.contains("], true,") {
                return Operator::Sort;
            }
        }
        if self.nodes.iter().any(|node| is_write(node)) {
            return Operator::Write;
        }
        if !shuffled && self.nodes.iter().any(|node| node.name.contains("Scan")) {
            Operator::Scan
        } else {
            Operator::Unknown
        }
    }
}

/// What in the code fixed a stage's number of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserPartitions {
    /// `repartition(n)`.
    Repartition(Option<u64>),
    /// `coalesce(n)`.
    Coalesce(Option<u64>),
}

impl std::fmt::Display for UserPartitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, count) = match self {
            Self::Repartition(count) => ("repartition", count),
            Self::Coalesce(count) => ("coalesce", count),
        };
        match count {
            Some(count) => write!(f, "{name}({count})"),
            None => write!(f, "{name}"),
        }
    }
}

fn is_write(node: &PlanNode) -> bool {
    node.name.starts_with("Execute ")
        || node.name == "WriteFiles"
        || node.name.starts_with("AppendData")
        || node.name.starts_with("Overwrite")
}

fn is_shuffle_read(node: &PlanNode, word: &str) -> bool {
    (node.name.contains("AQEShuffleRead") || node.name.contains("CustomShuffleReader")) && node.text.contains(word)
}

/// `SortMergeJoin [a#1L], [b#2L], Inner` to its kind and left keys.
fn join(node: &PlanNode) -> Operator {
    let keys = bracketed(&node.text, "[");
    let after = node.text.split("], ").nth(2).unwrap_or_default();
    let kind = after.split([',', ' ', '\n']).next().unwrap_or_default().to_owned();
    Operator::Join { kind, keys }
}

/// The names between `open` and the next `]`, without expression ids.
fn bracketed(text: &str, open: &str) -> Vec<String> {
    let Some((_, rest)) = text.split_once(open) else { return Vec::new() };
    let inner = rest.split(']').next().unwrap_or_default();
    let name = |part: &str| part.trim().split('#').next().unwrap_or_default().to_owned();
    inner.split(", ").map(name).filter(|name| !name.is_empty() && name.len() <= 64).take(8).collect()
}

/// `200` of `Exchange hashpartitioning(k#1L, 200), …` and of `RoundRobinPartitioning(200)`.
fn partition_count(text: &str) -> Option<u64> {
    if text.contains("SinglePartition") {
        return Some(1);
    }
    let at = text.find("artitioning(")?;
    let close = text[at..].find("), ").map_or(text.len(), |end| at + end);
    text.get(at..close)?.rsplit(['(', ' ']).next()?.trim_end_matches(')').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partition_counts_are_read_from_exchanges() {
        assert_eq!(
            partition_count("Exchange hashpartitioning(k#494L, 200), ENSURE_REQUIREMENTS, [plan_id=1]"),
            Some(200)
        );
        assert_eq!(partition_count("Exchange RoundRobinPartitioning(20), REPARTITION_BY_NUM, [plan_id=1]"), Some(20));
        assert_eq!(partition_count("Exchange rangepartitioning(h#1 ASC NULLS FIRST, 2), ENSURE"), Some(2));
        assert_eq!(partition_count("Exchange SinglePartition, ENSURE_REQUIREMENTS"), Some(1));
    }

    #[test]
    fn a_join_names_its_kind_and_keys() {
        let node = PlanNode {
            name: "SortMergeJoin".into(),
            text: "SortMergeJoin [customer_id#1173L, day#3], [customer_id#1176L, day#9], LeftOuter".into(),
            ..PlanNode::default()
        };
        let expected = Operator::Join { kind: "LeftOuter".into(), keys: vec!["customer_id".into(), "day".into()] };
        assert_eq!(join(&node), expected);
    }

    #[test]
    fn a_plan_of_any_depth_is_walked() {
        let mut node = PlanNode::default();
        for _ in 0..20_000 {
            node = PlanNode { name: "Project".into(), children: vec![node], ..PlanNode::default() };
        }
        assert_eq!(flatten(&node).len(), 20_001);
        // Dropping the tree is the model's business; take it apart here so that the test needs no deep stack.
        let mut open = vec![node];
        while let Some(mut node) = open.pop() {
            open.append(&mut node.children);
        }
    }
}
