//! What a physical plan says that stands in the code too: paths, keys, numbers, names.

use std::collections::BTreeSet;

use crate::run::model::PlanNode;
use crate::run::plan::Step;

/// What a physical operator is, with what ties it to code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Physical {
    /// A join on these left and right key names.
    Join { left: Vec<String>, right: Vec<String> },
    /// The final or only step of an aggregate, by these keys.
    Aggregate { keys: Vec<String>, partial: bool },
    /// A window function.
    Window,
    /// An exchange that a user's `repartition` asked for.
    Repartition { count: Option<i64> },
    /// A sort over all partitions.
    GlobalSort,
    /// A scan of these locations (paths or table names).
    Scan { locations: Vec<String> },
    /// `spark.range`, with its number of rows.
    Range { rows: Option<u64> },
    /// Python UDFs by name.
    PythonUdf { names: Vec<String> },
    /// A write to this path or table.
    Write { target: Option<String> },
    /// A row limit.
    Limit { rows: Option<u64> },
    /// `coalesce(n)`.
    Coalesce { count: Option<i64> },
}

/// What a plan node is, as far as code can name it.
pub(super) fn classify(node: &PlanNode) -> Option<Physical> {
    let name = node.name.trim();
    let text = node.text.as_str();
    let known = match name {
        "SortMergeJoin" | "ShuffledHashJoin" | "BroadcastHashJoin" => join(text),
        "BroadcastNestedLoopJoin" | "CartesianProduct" => Physical::Join { left: Vec::new(), right: Vec::new() },
        "HashAggregate" | "ObjectHashAggregate" | "SortAggregate" => aggregate(text),
        "Window" | "WindowGroupLimit" | "WindowInPandas" | "ArrowWindowPython" => Physical::Window,
        "Exchange" if text.contains("REPARTITION_BY_") => Physical::Repartition { count: repartition_count(text) },
        "Exchange" if text.contains("rangepartitioning(") => Physical::GlobalSort,
        "Range" => Physical::Range { rows: range_rows(text) },
        "BatchEvalPython" | "ArrowEvalPython" | "FlatMapGroupsInPandas" | "MapInPandas" | "PythonMapInArrow" => {
            Physical::PythonUdf { names: udf_names(text) }
        }
        "CollectLimit" | "GlobalLimit" | "LocalLimit" | "TakeOrderedAndProject" => {
            Physical::Limit { rows: limit(text) }
        }
        "Coalesce" => Physical::Coalesce { count: number_after(text, "Coalesce ") },
        _ if name.starts_with("Scan ") || name.starts_with("FileScan") || name.starts_with("BatchScan") => scan(node),
        _ if name.starts_with("Execute ") || text.starts_with("Execute InsertInto") => {
            Physical::Write { target: write_target(text) }
        }
        _ => return None,
    };
    Some(known)
}

/// Literals and numbers that a plan shares with the code that made it; comparable with the ones of the static plan.
pub(super) fn tokens(root: &PlanNode) -> BTreeSet<String> {
    let mut tokens = BTreeSet::new();
    for Step { node, .. } in root.walk() {
        match classify(node) {
            Some(Physical::Join { left, .. }) => {
                tokens.insert("join".to_owned());
                tokens.extend(left.into_iter().map(|key| format!("key:{key}")));
            }
            Some(Physical::Aggregate { keys, .. }) => {
                tokens.insert("aggregate".to_owned());
                tokens.extend(keys.into_iter().map(|key| format!("key:{key}")));
            }
            Some(Physical::Window) => drop(tokens.insert("window".to_owned())),
            Some(Physical::Repartition { count }) => {
                tokens.insert(format!("repartition:{}", count.unwrap_or(-1)));
            }
            Some(Physical::GlobalSort) => drop(tokens.insert("sort".to_owned())),
            Some(Physical::Scan { locations }) => {
                tokens.extend(locations.iter().map(|location| format!("source:{}", last_component(location))));
            }
            Some(Physical::Range { rows: Some(rows) }) => drop(tokens.insert(format!("range:{rows}"))),
            Some(Physical::PythonUdf { names }) => tokens.extend(names.into_iter().map(|name| format!("udf:{name}"))),
            Some(Physical::Limit { rows: Some(rows) }) => drop(tokens.insert(format!("limit:{rows}"))),
            Some(Physical::Coalesce { count: Some(count) }) => drop(tokens.insert(format!("coalesce:{count}"))),
            _ if node.name.trim() == "Filter" => tokens.extend(filter_literals(&node.text)),
            _ => {}
        }
    }
    tokens
}

/// The write target of a plan, if its root (under AQE's wrappers) is a write.
pub(super) fn target(root: &PlanNode) -> Option<String> {
    root.walk().take(6).find_map(|step| match classify(step.node) {
        Some(Physical::Write { target }) => target,
        _ => None,
    })
}

/// The last component of a path, or of a table name where there is no slash.
pub(super) fn last_component(location: &str) -> &str {
    let location = location.trim_end_matches('/');
    let separator = if location.contains('/') { '/' } else { '.' };
    location.rsplit(separator).next().unwrap_or(location)
}

fn join(text: &str) -> Physical {
    let mut lists = bracketed(text);
    let left = lists.next().map(columns).unwrap_or_default();
    let right = lists.next().map(columns).unwrap_or_default();
    Physical::Join { left, right }
}

fn aggregate(text: &str) -> Physical {
    let keys = text.find("keys=").and_then(|at| bracketed(&text[at..]).next()).map(columns).unwrap_or_default();
    Physical::Aggregate { keys, partial: text.contains("partial_") }
}

/// The contents of top-level `[...]` groups, in order.
fn bracketed(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let open = rest.find('[')?;
        let mut depth = 0usize;
        for (at, byte) in rest.bytes().enumerate().skip(open) {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let inner = &rest[open + 1..at];
                rest = &rest[at + 1..];
                return Some(inner);
            }
        }
        None
    })
}

/// Column names of an expression list: `customer_id#12L` → `customer_id`.
fn columns(list: &str) -> Vec<String> {
    list.split(", ")
        .filter_map(|expression| expression.split_once('#'))
        .map(|(name, _)| name.rsplit(['(', ' ']).next().unwrap_or(name).to_owned())
        .collect()
}

fn repartition_count(text: &str) -> Option<i64> {
    if let Some(count) = number_after(text, "RoundRobinPartitioning(") {
        return Some(count);
    }
    if !text.contains("REPARTITION_BY_NUM") {
        return None;
    }
    let inside = &text[text.find("partitioning(")?..];
    let end = inside.find("), REPARTITION")?;
    inside[..end].rsplit(", ").next()?.trim().parse().ok()
}

fn number_after(text: &str, mark: &str) -> Option<i64> {
    let rest = &text[text.find(mark)? + mark.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn range_rows(text: &str) -> Option<u64> {
    let inside = text.split_once('(')?.1.split_once(')')?.0;
    let mut parts = inside.split(", ");
    let start: i64 = parts.next()?.trim().parse().ok()?;
    let end: i64 = parts.next()?.trim().parse().ok()?;
    let step: i64 = parts.next()?.trim().strip_prefix("step=")?.parse().ok()?;
    (step > 0 && end >= start).then(|| ((end - start) as u64).div_ceil(step as u64))
}

fn udf_names(text: &str) -> Vec<String> {
    bracketed(text)
        .next()
        .into_iter()
        .flat_map(|list| list.split(", "))
        .filter_map(|call| call.split_once('(').map(|(name, _)| name.trim().to_owned()))
        .filter(|name| !name.is_empty())
        .collect()
}

fn limit(text: &str) -> Option<u64> {
    let number = number_after(text, "limit=").or_else(|| {
        let rest = text.split_once(' ')?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    })?;
    u64::try_from(number).ok()
}

fn scan(node: &PlanNode) -> Physical {
    let locations = node
        .metadata
        .get("Location")
        .map(String::as_str)
        .or_else(|| node.text.find("Location: ").map(|at| &node.text[at..]))
        .and_then(|location| bracketed(location).next())
        .map(|list| list.split(", ").map(|path| path.trim().trim_end_matches("...").to_owned()).collect())
        .unwrap_or_else(|| node.name.split_whitespace().skip(1).last().map(str::to_owned).into_iter().collect());
    Physical::Scan { locations }
}

/// `Execute InsertIntoHadoopFsRelationCommand file:/out/daily, false, Parquet, …` → `file:/out/daily`; tables in backquotes.
fn write_target(text: &str) -> Option<String> {
    let rest = text.strip_prefix("Execute ")?.split_once(' ')?.1;
    let first = rest.split([',', ' ']).next()?.trim_matches('`');
    let table = first.replace('`', "");
    (!table.is_empty() && !table.starts_with('[')).then_some(table)
}

fn filter_literals(text: &str) -> Vec<String> {
    text.split(|c: char| c.is_whitespace() || "()[],".contains(c))
        .filter(|word| !word.is_empty() && !word.contains('#') && word.bytes().any(|byte| byte.is_ascii_digit()))
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte)))
        .map(|number| format!("literal:{number}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, text: &str) -> PlanNode {
        PlanNode { name: name.into(), text: text.to_owned(), ..PlanNode::default() }
    }

    #[test]
    fn joins_name_their_keys() {
        let join = node("SortMergeJoin", "SortMergeJoin [customer_id#12L, day#3], [customer_id#17L, day#9], Inner");
        let (left, right) = match classify(&join) {
            Some(Physical::Join { left, right }) => (left, right),
            other => panic!("{other:?}"),
        };
        assert_eq!(left, ["customer_id", "day"]);
        assert_eq!(right, ["customer_id", "day"]);
    }

    #[test]
    fn aggregates_name_their_keys() {
        let partial = node("HashAggregate", "HashAggregate(keys=[name#11], functions=[partial_sum(amount#1)])");
        assert_eq!(classify(&partial), Some(Physical::Aggregate { keys: vec!["name".to_owned()], partial: true }));
        let all = node("HashAggregate", "HashAggregate(keys=[], functions=[count(1)])");
        assert_eq!(classify(&all), Some(Physical::Aggregate { keys: vec![], partial: false }));
    }

    #[test]
    fn writes_name_their_target() {
        let write = node(
            "Execute InsertIntoHadoopFsRelationCommand",
            "Execute InsertIntoHadoopFsRelationCommand file:/srv/out/daily, false, Parquet, [path=/srv/out/daily]",
        );
        assert_eq!(classify(&write), Some(Physical::Write { target: Some("file:/srv/out/daily".to_owned()) }));
    }

    #[test]
    fn repartitions_by_users_are_told_from_sparks_own() {
        let own = node("Exchange", "Exchange hashpartitioning(k#1L, 200), ENSURE_REQUIREMENTS, [plan_id=4]");
        assert_eq!(classify(&own), None);
        let round = node("Exchange", "Exchange RoundRobinPartitioning(7), REPARTITION_BY_NUM, [plan_id=4]");
        assert_eq!(classify(&round), Some(Physical::Repartition { count: Some(7) }));
        let keyed = node("Exchange", "Exchange hashpartitioning(k#1L, 24), REPARTITION_BY_NUM, [plan_id=4]");
        assert_eq!(classify(&keyed), Some(Physical::Repartition { count: Some(24) }));
        let by_column = node("Exchange", "Exchange hashpartitioning(k#1L, 200), REPARTITION_BY_COL, [plan_id=4]");
        assert_eq!(classify(&by_column), Some(Physical::Repartition { count: None }));
    }

    #[test]
    fn ranges_and_limits_have_numbers() {
        assert_eq!(range_rows("Range (0, 500000, step=1, splits=8)"), Some(500_000));
        assert_eq!(range_rows("Range (5, 12, step=2, splits=Some(8))"), Some(4));
        assert_eq!(limit("TakeOrderedAndProject(limit=6, orderBy=[total#1 DESC])"), Some(6));
        assert_eq!(limit("CollectLimit 21"), Some(21));
    }
}
