//! Expressions: what they compare, whether they aggregate, and the functions and windows in them.

use smallvec::SmallVec;
use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    InTarget, ObjectName, Query, UnaryOperator, Value, WindowSpec, WindowType,
};
use sqlparser::keywords::Keyword;

use super::query::Lowering;
use super::{FunctionCall, HOLE, Over, Place, Window, has_hole};
use crate::pyspark::api::{self, FunctionKind};
use crate::pyspark::plan::Literal;
use crate::pyspark::value::Relation;

/// The parts of an expression; subqueries are no parts.
pub(super) fn parts(expr: &Expr) -> SmallVec<[&Expr; 4]> {
    let mut found: SmallVec<[&Expr; 4]> = SmallVec::new();
    match expr {
        Expr::IsFalse(one)
        | Expr::IsNotFalse(one)
        | Expr::IsTrue(one)
        | Expr::IsNotTrue(one)
        | Expr::IsNull(one)
        | Expr::IsNotNull(one)
        | Expr::IsUnknown(one)
        | Expr::IsNotUnknown(one)
        | Expr::Nested(one)
        | Expr::UnaryOp { expr: one, .. }
        | Expr::Cast { expr: one, .. }
        | Expr::Convert { expr: one, .. }
        | Expr::Extract { expr: one, .. }
        | Expr::Ceil { expr: one, .. }
        | Expr::Floor { expr: one, .. }
        | Expr::Collate { expr: one, .. }
        | Expr::Named { expr: one, .. }
        | Expr::JsonAccess { value: one, .. }
        | Expr::CompoundFieldAccess { root: one, .. } => found.push(one),
        Expr::IsDistinctFrom(a, b)
        | Expr::IsNotDistinctFrom(a, b)
        | Expr::BinaryOp { left: a, right: b, .. }
        | Expr::Like { expr: a, pattern: b, .. }
        | Expr::ILike { expr: a, pattern: b, .. }
        | Expr::RLike { expr: a, pattern: b, .. }
        | Expr::SimilarTo { expr: a, pattern: b, .. }
        | Expr::Position { expr: a, r#in: b }
        | Expr::AtTimeZone { timestamp: a, time_zone: b } => found.extend([&**a, &**b]),
        Expr::Between { expr, low, high, .. } => found.extend([&**expr, &**low, &**high]),
        Expr::In { expr, target, .. } => {
            found.push(expr);
            if let InTarget::List(items) = target {
                found.extend(items);
            }
        }
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            found.push(expr);
            found.extend(substring_from.as_deref());
            found.extend(substring_for.as_deref());
        }
        Expr::Trim { expr, trim_what, .. } => {
            found.push(expr);
            found.extend(trim_what.as_deref());
        }
        Expr::Case { operand, conditions, else_result, .. } => {
            found.extend(operand.as_deref());
            for when in conditions {
                found.extend([&when.condition, &when.result]);
            }
            found.extend(else_result.as_deref());
        }
        Expr::Function(function) => {
            found.extend(arguments(function));
            found.extend(function.filter.as_deref());
        }
        Expr::Tuple(items) | Expr::Struct { values: items, .. } => found.extend(items),
        Expr::Array(array) => found.extend(&array.elem),
        Expr::Interval(interval) => found.push(&interval.value),
        Expr::Lambda(lambda) => found.push(&lambda.body),
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => found.extend(sets.iter().flatten()),
        _ => {}
    }
    found
}

/// The query that an expression holds.
fn subquery(expr: &Expr) -> Option<&Query> {
    match expr {
        Expr::Exists { subquery, .. } | Expr::Subquery(subquery) => Some(subquery),
        Expr::In { target: InTarget::Subquery(subquery), .. } => Some(subquery),
        Expr::Function(Function { args: FunctionArguments::Subquery(subquery), .. }) => Some(subquery),
        _ => None,
    }
}

fn arguments(function: &Function) -> impl Iterator<Item = &Expr> {
    let list = match &function.args {
        FunctionArguments::List(list) => &list.args[..],
        _ => &[],
    };
    list.iter().filter_map(argument)
}

pub(super) fn argument(argument: &FunctionArg) -> Option<&Expr> {
    let (FunctionArg::Named { arg, .. } | FunctionArg::ExprNamed { arg, .. } | FunctionArg::Unnamed(arg)) = argument;
    match arg {
        FunctionArgExpr::Expr(expr) => Some(expr),
        _ => None,
    }
}

/// An expression and all in it, in the order of the text.
fn all(expr: &Expr) -> impl Iterator<Item = &Expr> {
    let mut stack = vec![expr];
    std::iter::from_fn(move || {
        let next = stack.pop()?;
        stack.extend(parts(next).into_iter().rev());
        Some(next)
    })
}

/// The operands of a chain of one operator.
pub(super) fn operands<'e>(expr: &'e Expr, wanted: &BinaryOperator) -> Vec<&'e Expr> {
    let (mut found, mut stack) = (Vec::new(), vec![expr]);
    while let Some(next) = stack.pop() {
        match next {
            Expr::Nested(inner) => stack.push(inner),
            Expr::BinaryOp { left, op, right } if op == wanted => stack.extend([&**right, &**left]),
            other => found.push(other),
        }
    }
    found
}

pub(super) fn is_hole(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(name) if has_hole(&name.value))
}

/// Whether an expression names no column.
pub(super) fn is_constant(expr: &Expr) -> bool {
    all(expr).all(|part| match part {
        Expr::Identifier(name) => name.value == HOLE,
        Expr::CompoundIdentifier(_) | Expr::CompoundFieldAccess { .. } => false,
        part => subquery(part).is_none(),
    })
}

/// The name of a plain column.
pub(super) fn column(expr: &Expr) -> Option<String> {
    let name = match expr {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(parts) => parts.last()?,
        _ => return None,
    };
    (!has_hole(&name.value)).then(|| name.value.clone())
}

/// The tables that an expression names, and whether it has columns without one.
pub(super) fn qualifiers(expr: &Expr) -> (Vec<String>, bool) {
    let (mut tables, mut bare) = (Vec::new(), false);
    for part in all(expr) {
        match part {
            Expr::Identifier(name) => bare |= name.value != HOLE,
            Expr::CompoundIdentifier(parts) => {
                let table = parts.len().checked_sub(2).and_then(|at| parts.get(at));
                tables.extend(table.map(|table: &Ident| table.value.to_ascii_lowercase()));
            }
            _ => {}
        }
    }
    (tables, bare)
}

/// How many columns an expression names, counting each time.
pub(super) fn columns(expr: &Expr) -> usize {
    all(expr).filter(|part| column(part).is_some()).count()
}

/// What a condition compares.
pub(super) fn relation(expr: &Expr) -> Relation {
    let conjuncts = operands(expr, &BinaryOperator::And);
    conjuncts.into_iter().map(comparison).reduce(Relation::and).unwrap_or_default()
}

fn comparison(expr: &Expr) -> Relation {
    match expr {
        _ if is_hole(expr) => Relation::Unknown,
        Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::Spaceship, right } => {
            match (is_constant(left), is_constant(right)) {
                (true, true) => Relation::NoEquality,
                (false, false) => between_tables(left, right),
                _ => Relation::Key,
            }
        }
        Expr::BinaryOp { op: BinaryOperator::Or, .. } => {
            let either = operands(expr, &BinaryOperator::Or);
            if either.into_iter().any(|one| relation(one) == Relation::Unknown) {
                Relation::Unknown
            } else {
                Relation::NoEquality
            }
        }
        Expr::BinaryOp {
            op:
                BinaryOperator::Lt
                | BinaryOperator::LtEq
                | BinaryOperator::Gt
                | BinaryOperator::GtEq
                | BinaryOperator::NotEq,
            ..
        }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::RLike { .. }
        | Expr::In { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::Value(_) => Relation::NoEquality,
        _ => Relation::Unknown,
    }
}

/// An equality of two columns: of one table it joins nothing.
fn between_tables(left: &Expr, right: &Expr) -> Relation {
    let ((left, left_bare), (right, right_bare)) = (qualifiers(left), qualifiers(right));
    let one_table = !left_bare && !right_bare && left.iter().chain(&right).all(|table| Some(table) == left.first());
    if one_table { Relation::Unknown } else { Relation::Equality }
}

/// What expressions of a select list do.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) aggregate: bool,
    pub(super) explodes: bool,
    /// The first function over a window, as an index into the calls.
    pub(super) windowed: Option<usize>,
    /// All calls that were noted, as a range of the calls.
    pub(super) calls: Vec<usize>,
    /// Windows with an order.
    pub(super) windows: Vec<usize>,
}

impl Lowering<'_, '_> {
    /// Notes the functions, windows and subqueries of an expression.
    pub(super) fn note(&mut self, expr: &Expr, named: &[(String, WindowSpec)], facts: &mut Facts) {
        for part in all(expr) {
            if let Some(query) = subquery(part) {
                self.query(query);
            }
            let Expr::Function(function) = part else { continue };
            let Some(name) = name_of(&function.name) else { continue };
            let is_window = function.over.is_some();
            let known = api::sql_function(&name);
            let is = |kind| known.is_some_and(|function| function.kind == kind);
            facts.aggregate |= !is_window && is(FunctionKind::Aggregate);
            facts.explodes |= is(FunctionKind::Generator);
            let Some(index) = self.call(name, function, named, facts) else { continue };
            facts.calls.push(index);
            if is_window {
                facts.windowed.get_or_insert(index);
            }
        }
    }

    fn call(
        &mut self,
        name: String,
        function: &Function,
        named: &[(String, WindowSpec)],
        facts: &mut Facts,
    ) -> Option<usize> {
        let first = match function.name.0.first()?.as_ident() {
            Some(name) => self.marks.at(name.span.start)?,
            None => return None,
        };
        let depth = self.marks.marks[first].depth;
        let open = first + 1;
        let close = self.marks.closing(open)?;
        let over = function.over.as_ref().and_then(|over| self.over(over, close + 1, depth, named, facts));
        let start = self.marks.marks[first].start;
        let end = over.as_ref().map_or(self.marks.marks[close].end, |over| over.place.end);
        let is_distinct = matches!(&function.args, FunctionArguments::List(list)
            if list.duplicate_treatment == Some(DuplicateTreatment::Distinct));
        self.out.calls.push(FunctionCall {
            name: if is_distinct && name == "count" { "count_distinct".to_owned() } else { name },
            call: start..end,
            method: self.marks.marks[first].range(),
            arguments: self.marks.range(open, close),
            args: literals(function),
            columns: arguments(function).filter_map(column).collect(),
            over,
            used_in: None,
        });
        Some(self.out.calls.len() - 1)
    }

    fn over(
        &mut self,
        window: &WindowType,
        from: usize,
        depth: u32,
        named: &[(String, WindowSpec)],
        facts: &mut Facts,
    ) -> Option<Over> {
        let over = self.marks.find(from, depth, &[Keyword::OVER])?;
        let (spec, last) = match window {
            WindowType::WindowSpec(spec) => (spec, self.marks.closing(over + 1)?),
            WindowType::NamedWindow(name) => {
                let (_, spec) = named.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name.value))?;
                (spec, over + 1)
            }
        };
        // `PARTITION BY {keys}`: what the file doesn't tell may well be columns.
        let partitioned = spec.partition_by.iter().any(|key| !is_constant(key) || all(key).any(is_hole));
        let mut order = None;
        if !spec.order_by.is_empty() {
            let inner = depth + 1;
            // A named window's order stands behind WINDOW; this one's in its parentheses.
            let at = self.marks.find(over + 2, inner, &[Keyword::ORDER]).filter(|at| *at < last);
            let (word, clause) = match at {
                Some(at) => {
                    let end = self.marks.find(at, inner, &[Keyword::ROWS, Keyword::RANGE, Keyword::GROUPS]);
                    let end = end.filter(|end| *end < last).unwrap_or(last) - 1;
                    (self.marks.range(at, at + 1), (at + 2, end))
                }
                None => (self.marks.range(over, last), (last, last)),
            };
            let place =
                Place { word, clause: self.marks.range(over, last), inside: self.marks.range(clause.0, clause.1) };
            self.out.windows.push(Window { place, partitioned, used_on: None });
            order = Some(self.out.windows.len() - 1);
            facts.windows.extend(order);
        }
        Some(Over { order, partitioned, framed: spec.window_frame.is_some(), place: self.marks.range(over, last) })
    }
}

/// A function's name in lower case.
pub(super) fn name_of(name: &ObjectName) -> Option<String> {
    match &name.0[..] {
        [only] => only.as_ident().map(|name| name.value.to_ascii_lowercase()),
        _ => None,
    }
}

/// What the text tells of the arguments, columns by name as PySpark takes them.
fn literals(function: &Function) -> Vec<Literal> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    let literal = |arg: &FunctionArg| match argument(arg) {
        Some(expr) => number(expr).or_else(|| column(expr).map(Literal::Text)).unwrap_or_default(),
        None => Literal::Text("*".to_owned()),
    };
    list.args.iter().map(literal).collect()
}

/// A number, or a truth value.
pub(super) fn number(expr: &Expr) -> Option<Literal> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => match digits.parse() {
                Ok(number) => Some(Literal::Integer(number)),
                Err(_) => digits.parse().ok().map(Literal::Float),
            },
            Value::Boolean(truth) => Some(Literal::Bool(*truth)),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match number(expr)? {
            Literal::Integer(number) => Some(Literal::Integer(number.saturating_neg())),
            _ => None,
        },
        _ => None,
    }
}
