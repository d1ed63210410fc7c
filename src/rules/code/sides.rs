//! What the code tells of the sides of a join.

use super::lineage::is_generated;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Literal, Node, NodeId, Operator, RowBound, Source};

/// Whether a side has at most `few` rows by the code, or is broadcast: then its author thought of it.
pub(super) fn is_small(plan: &StaticPlan, side: NodeId, few: f64) -> bool {
    let bounded = match plan.bound(side) {
        RowBound::Exactly(rows) => rows as f64 <= few,
        RowBound::Small => true,
        RowBound::ByGroups | RowBound::Unknown | RowBound::Unbounded => false,
    };
    bounded || is_generated(plan, side) || hint(plan, side).is_some_and(|(_, name)| is_broadcast(name))
}

/// The hint that reaches a join from this side: Spark carries it through operators of one input.
pub(super) fn hint(plan: &StaticPlan, side: NodeId) -> Option<(NodeId, &str)> {
    let mut at = side;
    for _ in 0..plan.nodes.len() {
        let node = plan.node(at);
        match &node.operator {
            Operator::Hint(name) => return Some((at, name)),
            _ if node.inputs.len() != 1 => return None,
            Operator::Cache | Operator::Checkpoint | Operator::Rdd | Operator::Merge | Operator::LoopCarried(_) => {
                return None;
            }
            _ => at = *node.inputs.first()?,
        }
    }
    None
}

/// Spark's names for the hint that broadcasts.
pub(super) fn is_broadcast(hint: &str) -> bool {
    matches!(hint, "broadcast" | "broadcastjoin" | "mapjoin")
}

/// Whether a filter right behind the join holds an equality: `a.join(b).where(a.k == b.k)` is an inner join.
pub(super) fn has_condition_later(plan: &StaticPlan, text: &str, join: NodeId) -> bool {
    plan.nodes.iter().any(|node| {
        let is_filter = matches!(node.operator, Operator::Filter { .. }) && node.inputs.contains(&join);
        // The condition of a join in SQL has its filter in it.
        let site = node.site.as_ref().filter(|site| !site.is_sql());
        let condition = site.map(|site| site.arguments.of(text)).unwrap_or_default();
        is_filter && condition.contains('=') && !condition.contains("!=")
    })
}

/// The name of a table or the last part of a path, if the file tells it.
pub(super) fn source_name(node: &Node) -> Option<&str> {
    let location = match &node.operator {
        Operator::Source(Source::Table(name)) => name,
        Operator::Source(Source::Read { format, location, options, .. }) if format.as_deref() == Some("jdbc") => {
            let option = options.iter().find(|(name, _)| name == "dbtable").map(|(_, value)| value);
            option.or(location.get(1))?
        }
        Operator::Source(Source::Read { location, .. }) if location.len() == 1 => location.first()?,
        _ => return None,
    };
    let Literal::Text(text) = location else { return None };
    text.trim_end_matches(['/', '*']).rsplit(['/', '.']).find(|part| !is_format(part))
}

/// The end of a file's name: `orders.parquet`.
fn is_format(part: &str) -> bool {
    matches!(part, "" | "parquet" | "csv" | "json" | "orc" | "avro" | "delta" | "gz" | "txt")
}

/// The words of a name: `fact_sales`, `FactSales`, `fact-sales`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut after_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
        } else {
            if words.is_empty() || letter.is_uppercase() && after_lower {
                words.push(String::new());
            }
            words.last_mut().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        }
        after_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_have_words() {
        assert_eq!(words("fact_sales"), ["fact", "sales"]);
        assert_eq!(words("FactSales2"), ["fact", "sales2"]);
        assert_eq!(words("DIM-x"), ["dim", "x"]);
        assert!(words("__").is_empty());
    }
}
