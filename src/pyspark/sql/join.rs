//! Joins: how they match rows, by their own condition or by the filter behind them.

use sqlparser::ast::{BinaryOperator, Expr, Join as SqlJoin, JoinConstraint, JoinOperator, TableWithJoins};
use sqlparser::keywords::Keyword;

use super::Place;
use super::expr::{Facts, columns, is_constant, is_hole, operands, qualifiers, relation};
use super::query::{Lowering, Tables};
use crate::pyspark::plan::{Join, JoinCondition, Operator};
use crate::pyspark::value::Relation;

/// Where a join's condition ends, besides.
const JOINS: [Keyword; 9] = [
    Keyword::JOIN,
    Keyword::INNER,
    Keyword::LEFT,
    Keyword::RIGHT,
    Keyword::FULL,
    Keyword::CROSS,
    Keyword::NATURAL,
    Keyword::SEMI,
    Keyword::ANTI,
];

impl Lowering<'_, '_> {
    /// A table and what is joined to it, with the names of all of them.
    pub(super) fn joined(&mut self, table: &TableWithJoins, tables: &Tables<'_>) -> Option<(usize, Vec<String>)> {
        let (mut root, mut names) = self.table(&table.relation, tables)?;
        for join in &table.joins {
            let at = self.seek(tables.depth, &[Keyword::JOIN]).unwrap_or(self.cursor);
            self.cursor = at + 1;
            let (right, right_names) = self.table(&join.relation, tables)?;
            root = self.join(join, root, right, &right_names, at, tables);
            names.extend(right_names);
        }
        Some((root, names))
    }

    fn join(
        &mut self,
        join: &SqlJoin,
        left: usize,
        right: usize,
        names: &[String],
        at: usize,
        tables: &Tables<'_>,
    ) -> usize {
        let (kind, constraint) = kind(&join.join_operator);
        let is_cross = kind == Some("cross");
        let open = if is_cross { JoinCondition::Cross } else { JoinCondition::Missing };
        let condition = match constraint {
            _ if super::table::is_lateral(&join.relation) => JoinCondition::Unknown,
            Some(JoinConstraint::On(condition)) => {
                self.note(condition, &[], &mut Facts::default());
                on(condition)
            }
            Some(JoinConstraint::Using(columns) | JoinConstraint::UsingAlias(columns, _)) => JoinCondition::Using(
                columns.iter().filter_map(|column| column.0.last()?.as_ident()).map(|it| it.value.clone()).collect(),
            ),
            Some(JoinConstraint::Natural) => JoinCondition::Using(Vec::new()),
            Some(JoinConstraint::None) if matches!(kind, Some("inner" | "cross")) => {
                self.by_filter(tables.condition, names, open)
            }
            Some(JoinConstraint::None) => open,
            None => JoinCondition::Unknown,
        };
        let kind = if is_cross && condition != JoinCondition::Cross { Some("inner") } else { kind };
        let place = self.join_place(at, tables.depth);
        self.step(
            Operator::Join(Join { condition, kind: kind.map(str::to_owned), terms: Vec::new() }),
            &[left, right],
            place,
        )
    }

    /// `LEFT OUTER JOIN t ON …`, with the words before `JOIN`.
    fn join_place(&self, at: usize, depth: u32) -> Place {
        let kinds = |at: &usize| {
            let Some(mark) = self.marks.marks.get(*at) else { return false };
            JOINS.iter().chain(&[Keyword::OUTER]).any(|keyword| mark.is(*keyword)) && mark.depth == depth
        };
        let first = (0..at).rev().take_while(kinds).last().unwrap_or(at);
        self.place(first, at - first + 1, depth, &JOINS)
    }

    /// What a filter behind a join without condition makes of it.
    pub(super) fn by_filter(&self, filter: Option<&Expr>, names: &[String], open: JoinCondition) -> JoinCondition {
        let Some(filter) = filter else { return open };
        let side = |(tables, bare): (Vec<String>, bool)| {
            let here = bare || tables.iter().any(|table| names.contains(table));
            let there = bare || tables.iter().any(|table| !names.contains(table));
            (here, there)
        };
        let mut found = open.clone();
        for conjunct in operands(filter, &BinaryOperator::And) {
            match conjunct {
                Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::Spaceship, right }
                    if !is_constant(left) && !is_constant(right) =>
                {
                    let (left, right) = (side(qualifiers(left)), side(qualifiers(right)));
                    if left.0 && right.1 || left.1 && right.0 {
                        return JoinCondition::Equality;
                    }
                }
                Expr::BinaryOp { op: BinaryOperator::Or, .. } => found = JoinCondition::Unknown,
                _ if is_hole(conjunct) => found = JoinCondition::Unknown,
                _ if found == open && columns(conjunct) > 1 && side(qualifiers(conjunct)) == (true, true) => {
                    found = JoinCondition::NoEquality;
                }
                _ => {}
            }
        }
        found
    }
}

fn on(condition: &Expr) -> JoinCondition {
    let has_hole = operands(condition, &BinaryOperator::And).into_iter().any(is_hole);
    match relation(condition) {
        Relation::Equality => JoinCondition::Equality,
        _ if has_hole => JoinCondition::Unknown,
        _ if is_constant(condition) => JoinCondition::Cross,
        other => other.condition(),
    }
}

/// A join's type in the plan's words, and what it joins on.
fn kind(operator: &JoinOperator) -> (Option<&'static str>, Option<&JoinConstraint>) {
    match operator {
        JoinOperator::Join(on) | JoinOperator::Inner(on) => (Some("inner"), Some(on)),
        JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (Some("left"), Some(on)),
        JoinOperator::Right(on) | JoinOperator::RightOuter(on) => (Some("right"), Some(on)),
        JoinOperator::FullOuter(on) => (Some("full"), Some(on)),
        JoinOperator::CrossJoin(on) => (Some("cross"), Some(on)),
        JoinOperator::Semi(on) | JoinOperator::LeftSemi(on) => (Some("left_semi"), Some(on)),
        JoinOperator::Anti(on) | JoinOperator::LeftAnti(on) => (Some("left_anti"), Some(on)),
        _ => (None, None),
    }
}
