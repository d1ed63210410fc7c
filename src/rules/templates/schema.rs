//! A schema to be filled in, in the place of one that Spark has to find out.

use super::edits::{insert, quick_fix};
use super::named_columns::named_later;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{NodeId, Operator, Source};
use crate::rules::Fix;

/// `.schema("...")` in front of the loading call, with the columns that the file names later.
pub fn schema_skeleton(plan: &StaticPlan, text: &str, read: NodeId) -> Option<Fix> {
    let node = plan.node(read);
    let Operator::Source(Source::Read { format, has_schema: false, .. }) = &node.operator else { return None };
    let site = node.site.as_ref().filter(|site| !site.receiver.is_empty())?;
    if !matches!(format.as_deref(), Some("csv" | "json")) {
        return None;
    }
    let mut columns = named_later(plan, text, read);
    if columns.is_empty() {
        columns = vec!["id".to_owned(), "name".to_owned()];
    }
    let columns: Vec<String> = columns.iter().map(|column| format!("{column} STRING")).collect();
    let edit = insert(site.receiver.end as usize, format!(".schema(\"{}\")", columns.join(", ")));
    Some(quick_fix("Declare the schema (fill in the columns and their types)", vec![edit]))
}
