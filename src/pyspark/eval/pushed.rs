//! Queries that a database runs: what their text tells of the rows that come back.

use super::Interpreter;
use super::template_text;
use crate::pyspark::plan::{Literal, NodeId, Operator, RowBound};
use crate::pyspark::sql;

impl<'a> Interpreter<'a> {
    /// A read of a database with the bound that its query has, if it has one.
    pub(super) fn bounded_by_query(&mut self, read: NodeId, table: Option<&Literal>) -> NodeId {
        let Some(text) = table.and_then(query_text) else { return read };
        match bound_of(&text) {
            Some(RowBound::Exactly(rows)) => self.node(Operator::Limit(Some(rows)), &[read], None),
            Some(RowBound::Small) => self.node(Operator::Limit(None), &[read], None),
            _ => read,
        }
    }
}

/// The query in the place of a table: `(select max(id) from orders) t`.
fn query_text(table: &Literal) -> Option<String> {
    let text = match table {
        Literal::Template(parts) => parts.iter().map(|part| part.as_deref().unwrap_or(sql::HOLE)).collect::<String>(),
        literal => template_text(literal)?,
    };
    let text = text.trim();
    let inner = match text.strip_prefix('(') {
        Some(inside) => &inside[..inside.rfind(')')?],
        None => text,
    };
    inner.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select")).then(|| inner.to_owned())
}

/// How many rows a query brings, if it is certain that they are few.
fn bound_of(query: &str) -> Option<RowBound> {
    let lower = query.to_ascii_lowercase();
    if CATALOGS.iter().any(|name| lower.contains(name)) {
        return Some(RowBound::Small);
    }
    let lowered = sql::lowered(query)?;
    let mut at = lowered.root?;
    loop {
        let step = lowered.steps.get(at)?;
        match step.operator {
            Operator::Limit(Some(rows)) => return Some(RowBound::Exactly(rows)),
            Operator::Aggregate { grouped: false, .. } | Operator::Project { only_aggregates: true, .. } => {
                return Some(RowBound::Exactly(1));
            }
            // Of few columns; more would be no key of anything.
            Operator::Distinct if lower.split("from").next().is_some_and(|list| list.matches(',').count() <= 1) => {
                return Some(RowBound::Small);
            }
            Operator::Sort { .. } | Operator::Project { explodes: false, .. } => at = *step.inputs.first()?,
            _ => return None,
        }
    }
}

/// What databases call the tables that describe their tables.
const CATALOGS: [&str; 6] =
    ["information_schema.", "pg_tables", "pg_catalog.", "sys.tables", "sys.columns", "all_tab_columns"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_tells_how_few_rows_come() {
        let bound = |table: &str| query_text(&Literal::Text(table.to_owned())).and_then(|text| bound_of(&text));
        assert_eq!(bound("(select min(id), max(id) from orders) t"), Some(RowBound::Exactly(1)));
        assert_eq!(bound("(SELECT MAX(id) AS id FROM orders) as id"), Some(RowBound::Exactly(1)));
        assert_eq!(bound("(select * from orders order by id limit 5) t"), Some(RowBound::Exactly(5)));
        assert_eq!(bound("(select distinct day from orders order by day) t"), Some(RowBound::Small));
        assert_eq!(bound("(select tablename from pg_tables where schemaname = 'public') t"), Some(RowBound::Small));
        assert_eq!(bound("(select distinct a, b, c from orders) t"), None);
        assert_eq!(bound("(select * from orders) t"), None);
        assert_eq!(bound("orders"), None);
    }
}
