//! Row bounds of all nodes at once.

use super::api::{self, Class, Rows};
use super::plan::{Literal, Node, Operator, RowBound, Source};

/// The bound of every node. Loops are cut at [`Operator::LoopCarried`]: its bound starts as the one before the loop and may
/// only grow; what keeps growing is unknown, because no one knows how often the loop turns.
pub(super) fn bounds(nodes: &[Node]) -> Vec<RowBound> {
    let mut bounds = vec![RowBound::Unknown; nodes.len()];
    let mut growth = vec![0_u8; nodes.len()];
    pass(nodes, &mut bounds, &growth, true);
    while grow(nodes, &mut bounds, &mut growth) {
        pass(nodes, &mut bounds, &growth, false);
    }
    bounds
}

/// Lets loop variables grow to what their loop's end holds; whether any did.
fn grow(nodes: &[Node], bounds: &mut [RowBound], growth: &mut [u8]) -> bool {
    let mut changed = false;
    for (index, node) in nodes.iter().enumerate() {
        if !matches!(node.operator, Operator::LoopCarried(_)) {
            continue;
        }
        let worst = worst(node, bounds);
        if worst > bounds[index] {
            growth[index] = growth[index].saturating_add(1);
            bounds[index] = if growth[index] > 1 { worst.max(RowBound::Unknown) } else { worst };
            changed = true;
        }
    }
    changed
}

/// One pass in the order of the nodes. Loop variables keep what they have, but for the first pass.
fn pass(nodes: &[Node], bounds: &mut [RowBound], growth: &[u8], first: bool) {
    for (index, node) in nodes.iter().enumerate() {
        let is_loop = matches!(node.operator, Operator::LoopCarried(_));
        if is_loop && (!first || growth[index] > 0) {
            continue;
        }
        bounds[index] = if is_loop { input(node, bounds, 0) } else { bound(node, bounds) };
    }
}

fn input(node: &Node, bounds: &[RowBound], at: usize) -> RowBound {
    node.inputs.get(at).and_then(|id| bounds.get(id.0 as usize)).copied().unwrap_or(RowBound::Unknown)
}

fn worst(node: &Node, bounds: &[RowBound]) -> RowBound {
    (0..node.inputs.len()).map(|at| input(node, bounds, at)).max().unwrap_or(RowBound::Unknown)
}

fn bound(node: &Node, bounds: &[RowBound]) -> RowBound {
    let first = input(node, bounds, 0);
    match &node.operator {
        Operator::Source(Source::Read { .. }) if !node.inputs.is_empty() => first,
        Operator::Source(source) => source_bound(source),
        Operator::Filter { key_equality: true } => first.min(RowBound::Unknown),
        Operator::Project { only_aggregates: true, .. } => RowBound::Exactly(1),
        Operator::Project { explodes: true, .. } => unless_known(first),
        Operator::Aggregate { grouped: false, .. } => RowBound::Exactly(1),
        Operator::Aggregate { grouped: true, .. } | Operator::Distinct => first.min(RowBound::ByGroups),
        Operator::Limit(Some(rows)) => first.min(RowBound::Exactly(*rows)).min_rows(*rows),
        Operator::Limit(None) => first.min(RowBound::Small),
        Operator::Summary => RowBound::Small,
        Operator::Union { open } => {
            let sum = (1..node.inputs.len()).fold(first, |sum, at| sum.plus(input(node, bounds, at)));
            if *open { unless_known(sum) } else { sum }
        }
        Operator::Join(join) => {
            let right = input(node, bounds, 1);
            match join.kind.as_deref() {
                Some("left_semi" | "left_anti") => first,
                _ => first.times(right),
            }
        }
        Operator::Merge | Operator::LoopCarried(_) => worst(node, bounds),
        Operator::Udf | Operator::Other(_) if node.inputs.is_empty() => RowBound::Unknown,
        Operator::Other(name) => match api::entry(Class::DataFrame, name).and_then(|entry| entry.rows) {
            Some(Rows::Multiplies) => unless_known(first),
            Some(Rows::One | Rows::Small) => RowBound::Small,
            _ => first,
        },
        _ => first,
    }
}

fn source_bound(source: &Source) -> RowBound {
    match source {
        // What describes tables has a row for each of them or of their columns.
        Source::Table(Literal::Text(name)) if name.to_ascii_lowercase().contains("information_schema.") => {
            RowBound::Small
        }
        Source::Read { .. } | Source::Table(_) => RowBound::Unbounded,
        Source::Range(Some(rows)) | Source::Local(Some(rows)) => RowBound::Exactly(*rows),
        Source::Range(None) | Source::Local(None) | Source::Given => RowBound::Unknown,
        Source::Sql { bound, .. } => *bound,
    }
}

/// A number that is multiplied by an unknown one is no number any more.
fn unless_known(bound: RowBound) -> RowBound {
    match bound {
        RowBound::Exactly(_) => RowBound::Small,
        other => other,
    }
}

impl RowBound {
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exactly(a), Self::Exactly(b)) => Self::Exactly(a.saturating_add(b)),
            (a, b) => a.max(b),
        }
    }

    /// The bound of a product: only two numbers make a number.
    fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exactly(a), Self::Exactly(b)) => Self::Exactly(a.saturating_mul(b)),
            (a, b) => a.max(b),
        }
    }

    fn min_rows(self, rows: u64) -> Self {
        match self {
            Self::Exactly(known) => Self::Exactly(known.min(rows)),
            other => other,
        }
    }
}
