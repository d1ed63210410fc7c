//! Options by which a JDBC read has more than one task.

use super::edits::{insert, quick_fix};
use super::named_columns::keys_later;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{NodeId, Operator, Source};
use crate::rules::Fix;

/// Connections at a time: a database takes some, not hundreds.
const PARTITIONS: u32 = 8;

/// The four options of a partitioned read, with a column that the code uses as a key, and bounds to be filled in.
pub fn jdbc_partitions(plan: &StaticPlan, text: &str, read: NodeId) -> Option<Fix> {
    let node = plan.node(read);
    let Operator::Source(Source::Read { format, options, open: false, .. }) = &node.operator else { return None };
    let site = node.site.as_ref().filter(|site| format.as_deref() == Some("jdbc") && !site.receiver.is_empty())?;
    let is_given = |name: &str| options.iter().any(|(option, _)| option.eq_ignore_ascii_case(name));
    let unpacked = site.args.iter().any(|argument| matches!(argument.keyword.as_deref(), Some("*" | "**")));
    if unpacked || ["partitioncolumn", "column", "predicates", "query"].iter().any(|name| is_given(name)) {
        return None;
    }
    let keys = keys_later(plan, read);
    let column = keys.iter().find(|key| is_id(key)).or(keys.first()).map_or("id", String::as_str);
    let by_arguments = site.method.of(text) == "jdbc";
    let values = [
        (if by_arguments { "column" } else { "partitionColumn" }, format!("\"{column}\"")),
        ("lowerBound", "0".to_owned()),
        ("upperBound", "1000000".to_owned()),
        ("numPartitions", PARTITIONS.to_string()),
    ];
    let missing = values.iter().filter(|(name, _)| !is_given(name));
    let edit = if by_arguments {
        // Behind the address and the table everything has to be named.
        let last = site.args.last().filter(|_| site.args.iter().skip(2).all(|argument| argument.keyword.is_some()))?;
        let named: String = missing.map(|(name, value)| format!(", {name}={value}")).collect();
        insert(last.span.end as usize, named)
    } else {
        let chained: String = missing.map(|(name, value)| format!(".option(\"{name}\", {value})")).collect();
        insert(site.receiver.end as usize, chained)
    };
    Some(quick_fix(format!("Read in {PARTITIONS} partitions (fill in the column and its bounds)"), vec![edit]))
}

fn is_id(key: &str) -> bool {
    key == "id" || key.ends_with("_id") || key.ends_with("Id")
}
