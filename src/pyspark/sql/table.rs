//! Tables of a `FROM` list: names, subqueries, functions, samples, pivots.

use sqlparser::ast::{ObjectName, TableAlias, TableFactor, TableSampleKind, TableSampleUnit};
use sqlparser::keywords::Keyword;

use super::expr::{argument, name_of, number};
use super::query::{Lowering, Tables};
use super::{Place, has_hole, literal};
use crate::pyspark::api;
use crate::pyspark::plan::{Literal, Operator, Source};
use crate::text::Span;

/// Whether a table may look at the ones before it.
pub(super) fn is_lateral(table: &TableFactor) -> bool {
    matches!(
        table,
        TableFactor::Derived { lateral: true, .. }
            | TableFactor::Function { .. }
            | TableFactor::TableFunction { .. }
            | TableFactor::UNNEST { .. }
            | TableFactor::Table { args: Some(_), .. }
    )
}

impl Lowering<'_, '_> {
    /// The rows of a table, and the names that it goes by.
    pub(super) fn table(&mut self, table: &TableFactor, tables: &Tables<'_>) -> Option<(usize, Vec<String>)> {
        let (mut root, mut names, alias, sample) = match table {
            TableFactor::Table { name, alias, args, sample, .. } => {
                let root = match args {
                    Some(args) => {
                        let arguments: Vec<_> = args.args.iter().filter_map(argument).collect();
                        let numbers: Vec<_> = arguments.iter().filter_map(|argument| number(argument)).collect();
                        self.table_function(name, &numbers)
                    }
                    None => self.named(name)?,
                };
                let own = name.0.last().and_then(|part| part.as_ident()).map(|name| name.value.to_ascii_lowercase());
                (root, own.into_iter().collect(), alias.as_ref(), sample.as_ref())
            }
            TableFactor::Function { name, args, alias, .. } => {
                let numbers: Vec<_> = args.iter().filter_map(argument).filter_map(number).collect();
                (self.table_function(name, &numbers), Vec::new(), alias.as_ref(), None)
            }
            TableFactor::Derived { subquery, alias, sample, .. } => {
                (self.query(subquery)?, Vec::new(), alias.as_ref(), sample.as_ref())
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let inner = Tables { depth: tables.depth + 1, hints: tables.hints.clone(), ..*tables };
                let (root, names) = self.joined(table_with_joins, &inner)?;
                (root, names, alias.as_ref(), None)
            }
            TableFactor::Pivot { table, alias, .. } => {
                let (input, _) = self.table(table, tables)?;
                let place = self.operator_place(Keyword::PIVOT, tables.depth);
                let operator = Operator::Aggregate { keys: Vec::new(), grouped: true, pivot: Some(true) };
                (self.step(operator, &[input], place), Vec::new(), alias.as_ref(), None)
            }
            TableFactor::Unpivot { table, alias, .. } => {
                let (input, _) = self.table(table, tables)?;
                let place = self.operator_place(Keyword::UNPIVOT, tables.depth);
                (self.step(Operator::Other("unpivot".to_owned()), &[input], place), Vec::new(), alias.as_ref(), None)
            }
            _ => {
                let place = self.word(self.cursor, self.cursor);
                (self.step(Operator::Other("table".to_owned()), &[], place), Vec::new(), None, None)
            }
        };
        if let Some(sample) = sample {
            root = self.sampled(sample, root, tables.depth);
        }
        if let Some(TableAlias { name, .. }) = alias {
            if has_hole(&name.value) {
                // `FROM orders {clauses}`: what the file doesn't tell may be a condition, or a limit.
                let at = self.marks.at(name.span.start).unwrap_or(self.cursor);
                let place = self.word(at, at);
                root = self.step(Operator::Filter { key_equality: true }, &[root], place);
            }
            names = vec![name.value.to_ascii_lowercase()];
        }
        let root = self.join_hints(&tables.hints, &names, root);
        Some((root, names))
    }

    /// A place at an operator behind a table.
    fn operator_place(&mut self, keyword: Keyword, depth: u32) -> Place {
        let Some(at) = self.seek(depth, &[keyword]) else { return self.word(self.cursor, self.cursor) };
        let close = self.marks.closing(at + 1).unwrap_or(at);
        let whole = self.marks.range(at, close);
        Place { word: self.marks.range(at, at), inside: self.marks.range(close.min(at + 1), close), clause: whole }
    }

    /// A table by its name: a common table expression, files, or a table.
    fn named(&mut self, name: &ObjectName) -> Option<usize> {
        let parts: Vec<&str> = name.0.iter().filter_map(|part| part.as_ident()).map(|part| &*part.value).collect();
        let first = name.0.first()?.as_ident()?;
        let at = self.marks.at(first.span.start).unwrap_or(self.cursor);
        self.cursor = self.cursor.max(at);
        if let [only] = parts[..]
            && let Some((_, root)) = self.ctes.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(only))
        {
            return Some(*root);
        }
        let last = name.0.last()?.as_ident().and_then(|part| self.marks.at(part.span.start)).unwrap_or(at);
        let place = self.word(at, last);
        let source = match parts[..] {
            [format, path] if is_path(format, path) => Source::Read {
                open: false,
                format: Some(format.to_ascii_lowercase()),
                location: vec![literal(path)],
                options: Vec::new(),
                has_schema: false,
                streaming: false,
                chain: Span::default(),
            },
            _ => Source::Table(literal(&parts.join("."))),
        };
        Some(self.step(Operator::Source(source), &[], place))
    }

    fn table_function(&mut self, name: &ObjectName, numbers: &[Literal]) -> usize {
        let first = name.0.first().and_then(|part| part.as_ident());
        let at = first.and_then(|name| self.marks.at(name.span.start)).unwrap_or(self.cursor);
        self.cursor = self.cursor.max(at);
        let name = name_of(name).unwrap_or_default();
        let close = self.marks.closing(at + 1).unwrap_or(at);
        let inside = if close > at { self.marks.range(at + 1, close) } else { self.marks.range(at, at) };
        let place = Place { word: self.marks.range(at, at), clause: self.marks.range(at, close), inside };
        let operator = match (name.as_str(), numbers) {
            ("range", [Literal::Integer(end)]) => Operator::Source(Source::Range(u64::try_from(*end).ok())),
            ("range", [Literal::Integer(start), Literal::Integer(end)]) => {
                Operator::Source(Source::Range(end.checked_sub(*start).and_then(|rows| u64::try_from(rows).ok())))
            }
            ("range", _) => Operator::Source(Source::Range(None)),
            (name, _) if api::is_generator(name) => Operator::Other("explode".to_owned()),
            _ => Operator::Other(name),
        };
        self.step(operator, &[], place)
    }

    fn sampled(&mut self, sample: &TableSampleKind, input: usize, depth: u32) -> usize {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) = sample;
        let place = self.operator_place(Keyword::TABLESAMPLE, depth);
        let rows = sample.quantity.as_ref().filter(|quantity| quantity.unit == Some(TableSampleUnit::Rows));
        let operator = match rows.map(|quantity| number(&quantity.value)) {
            Some(Some(Literal::Integer(rows))) => Operator::Limit(u64::try_from(rows).ok()),
            Some(_) => Operator::Limit(None),
            None => Operator::Sample { seeded: sample.seed.is_some() },
        };
        self.step(operator, &[input], place)
    }
}

/// `parquet.`/data/x``: files read in place.
fn is_path(format: &str, path: &str) -> bool {
    let format = format.to_ascii_lowercase();
    path.contains('/')
        && matches!(
            format.as_str(),
            "parquet" | "delta" | "json" | "csv" | "text" | "orc" | "avro" | "binaryfile" | "iceberg"
        )
}
