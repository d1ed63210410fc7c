//! A schema to be filled in, in the place of one that Spark has to find out.

use super::edits::{insert, quick_fix};
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Join, JoinCondition, NodeId, Operator, Source};
use crate::rules::Fix;

/// `.schema("...")` in front of the loading call, with the columns that the file names as keys.
pub fn schema_skeleton(plan: &StaticPlan, read: NodeId) -> Option<Fix> {
    let node = plan.node(read);
    let Operator::Source(Source::Read { format, has_schema: false, .. }) = &node.operator else { return None };
    let site = node.site.as_ref().filter(|site| !site.receiver.is_empty())?;
    if !matches!(format.as_deref(), Some("csv" | "json")) {
        return None;
    }
    let mut columns = key_columns(plan, read);
    if columns.is_empty() {
        columns = vec!["id".to_owned(), "name".to_owned()];
    }
    let columns: Vec<String> = columns.iter().map(|column| format!("{column} STRING")).collect();
    let edit = insert(site.receiver.end as usize, format!(".schema(\"{}\")", columns.join(", ")));
    Some(quick_fix("Declare the schema (fill in the columns and their types)", vec![edit]))
}

/// The columns by which the frame is joined or grouped later on, in source order.
fn key_columns(plan: &StaticPlan, read: NodeId) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    // Inputs stand before the nodes that read them, so one pass finds all that is computed from the frame.
    let mut computed_from_it = vec![false; plan.nodes.len()];
    for (index, node) in plan.nodes.iter().enumerate() {
        let reads_it = |input: &NodeId| computed_from_it.get(input.0 as usize).copied().unwrap_or(false);
        computed_from_it[index] = index == read.0 as usize || node.inputs.iter().any(reads_it);
        let keys: Vec<&String> = match &node.operator {
            _ if !computed_from_it[index] => continue,
            Operator::Join(Join { condition: JoinCondition::Using(keys), .. }) => keys.iter().collect(),
            Operator::Aggregate { keys, .. } => keys.iter().flatten().collect(),
            _ => continue,
        };
        for key in keys.into_iter().filter(|key| is_plain(key)) {
            if !columns.contains(key) {
                columns.push(key.clone());
            }
        }
    }
    columns
}

/// A name that a schema string takes without quoting.
fn is_plain(column: &str) -> bool {
    !column.is_empty() && column.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
