//! Column expressions: whether they aggregate, multiply rows, go through Python, and what a condition compares.

use std::borrow::Cow;
use std::rc::Rc;

use smallvec::SmallVec;

use super::Interpreter;
use super::call::Call;
use crate::pyspark::api::{self, Class, Entry, FunctionKind};
use crate::pyspark::ir::Operator;
use crate::pyspark::plan::{FunctionCall, KeySide, KeyTerm, Language, Literal, NodeId, OverWindow, RowUseKind};
use crate::pyspark::value::{Column, Relation, Value};
use crate::text::Span;

/// Either of two columns.
pub(super) fn either(a: &Column, b: &Column) -> Rc<Column> {
    Rc::new(Column {
        name: a.name.clone().filter(|name| b.name.as_ref() == Some(name)),
        aggregate: a.aggregate && b.aggregate,
        explodes: a.explodes || b.explodes,
        windowed: a.windowed || b.windowed,
        window: a.window.or(b.window),
        udf: a.udf || b.udf,
        constant: a.constant && b.constant,
        calls: joined(&a.calls, &b.calls),
        computed: a.computed || b.computed,
        frames: frames(&[a, b]),
        terms: if a.terms == b.terms { a.terms.clone() } else { Vec::new() },
        relation: if a.relation == b.relation { a.relation } else { Relation::Unknown },
    })
}

/// `left op right` where one of them is a column.
pub(super) fn combine<'a>(operator: Operator, left: &Column, right: &Value<'a>) -> Value<'a> {
    let literal = Column { constant: true, ..Column::default() };
    let unknown = Column::default();
    let right: &Column = match right {
        Value::Column(column) => column,
        value if value.is_scalar() => &literal,
        _ => &unknown,
    };
    Value::Column(Rc::new(Column {
        name: None,
        // Literals beside an aggregate leave one row.
        aggregate: (left.aggregate || right.aggregate)
            && [left, right].iter().all(|side| side.aggregate || side.constant),
        explodes: left.explodes || right.explodes,
        windowed: left.windowed || right.windowed,
        window: left.window.or(right.window),
        udf: left.udf || right.udf,
        constant: left.constant && right.constant,
        calls: joined(&left.calls, &right.calls),
        computed: true,
        frames: frames(&[left, right]),
        terms: match operator {
            Operator::And => left.terms.iter().chain(&right.terms).cloned().collect(),
            _ => Vec::new(),
        },
        relation: match operator {
            Operator::And => left.relation.and(right.relation),
            Operator::Or => left.relation.or(right.relation),
            _ => Relation::Unknown,
        },
    }))
}

/// The frames that the columns of any of these are taken from.
fn frames(columns: &[&Column]) -> SmallVec<[NodeId; 2]> {
    let mut all: SmallVec<[NodeId; 2]> = SmallVec::new();
    for frame in columns.iter().flat_map(|column| &column.frames) {
        if all.len() < MOST_CALLS && !all.contains(frame) {
            all.push(*frame);
        }
    }
    all
}

/// What is compared, and where it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comparison<'s> {
    pub(super) equality: bool,
    pub(super) span: Span,
    /// By operand.
    pub(super) spans: &'s [Span],
}

/// A comparison of values of which some may be columns.
pub(super) fn compare<'a>(comparison: Comparison<'_>, operands: &[Value<'a>]) -> Value<'a> {
    let equality = comparison.equality;
    let columns: Vec<&Column> = operands
        .iter()
        .filter_map(|value| if let Value::Column(column) = value { Some(&**column) } else { None })
        .collect();
    if columns.is_empty() {
        return Value::Unknown;
    }
    let plain = columns.iter().filter(|column| !column.constant).count();
    let relation = match (equality, operands.len(), plain) {
        // A Python function of one side runs before the join; one of both sides can't.
        (true, 2, 2) if columns.iter().any(|column| column.udf && column.frames.len() > 1) => Relation::NoEquality,
        (true, 2, 2) if columns.iter().any(|column| column.udf && column.frames.is_empty()) => Relation::Unknown,
        (true, 2, 2) => Relation::Equality,
        (true, 2, 1) if operands.iter().any(|value| matches!(value, Value::Unknown)) => Relation::KeyOrEquality,
        (true, 2, 1) => Relation::Key,
        (true, _, _) => Relation::Unknown,
        (false, _, _) => Relation::NoEquality,
    };
    let calls = columns.iter().fold(SmallVec::new(), |all, column| joined(&all, &column.calls));
    let terms = match (relation, &columns[..], comparison.spans) {
        (Relation::Equality, [left, right], [before, behind]) => {
            let side = |column: &Column, span: &Span| KeySide {
                span: *span,
                name: column.name.clone().filter(|_| !column.computed),
                computed: column.computed,
            };
            vec![KeyTerm { span: comparison.span, sides: [side(left, before), side(right, behind)] }]
        }
        _ => Vec::new(),
    };
    Value::Column(Rc::new(Column {
        relation,
        aggregate: columns.iter().any(|column| column.aggregate) && operands.iter().all(one_value),
        udf: columns.iter().any(|column| column.udf),
        calls,
        computed: true,
        frames: frames(&columns),
        terms,
        ..Column::default()
    }))
}

/// Whether it has one value for all rows: an aggregate or a literal.
fn one_value(value: &Value<'_>) -> bool {
    match value {
        Value::Column(column) => column.aggregate || column.constant,
        value => value.is_scalar(),
    }
}

/// A column with more calls in it is described by its first ones.
pub(super) const MOST_CALLS: usize = 16;

fn joined(a: &[u32], b: &[u32]) -> SmallVec<[u32; 2]> {
    let mut all: SmallVec<[u32; 2]> = SmallVec::from_slice(a);
    for call in b {
        if all.len() < MOST_CALLS && !all.contains(call) {
            all.push(*call);
        }
    }
    all
}

/// The name of a column that an argument is.
pub(super) fn name_of_argument(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Column(column) => column.name.clone(),
        value => value.as_text().map(str::to_owned),
    }
}

/// What an argument of `select`, `filter`, `withColumn` says as a column: texts are names or SQL.
pub(super) fn of_argument<'v>(value: &'v Value<'_>) -> Cow<'v, Column> {
    match value {
        Value::Column(column) => Cow::Borrowed(column),
        Value::Text(text) => Cow::Owned(Column { name: Some(text.text.clone()), ..Column::default() }),
        value if value.is_scalar() => Cow::Owned(Column { constant: true, ..Column::default() }),
        _ => Cow::Owned(Column::default()),
    }
}

impl<'a> Interpreter<'a> {
    /// A call of a function of `pyspark.sql.functions`.
    pub(super) fn call_function(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        let Some(function) = api::function(name) else { return Value::Unknown };
        match function.kind {
            FunctionKind::Broadcast => return self.broadcast(call),
            FunctionKind::Udf => return self.udf(name, call),
            FunctionKind::Column => {
                let name = call.values.first().and_then(Value::as_text).map(str::to_owned);
                return Value::Column(Rc::new(Column { name, ..Column::default() }));
            }
            FunctionKind::Literal => {
                return Value::Column(Rc::new(Column { constant: true, ..Column::default() }));
            }
            FunctionKind::Sql => {
                if let Some(text) = call.value(0, "str") {
                    self.uses_text(&text.clone());
                }
                let column = match call.arg(0, "str") {
                    Some((arg, Value::Text(text))) => self.sql_column(text, self.span_of(call.code, arg.value)),
                    _ => Column::default(),
                };
                return Value::Column(Rc::new(column));
            }
            _ => {}
        }
        self.check_shadowed(name, call);
        let columns: Vec<Cow<'_, Column>> = call.values.iter().map(of_argument).collect();
        let any = |test: fn(&Column) -> bool| columns.iter().any(|column| test(column));
        let nested = any(|column| column.aggregate);
        let rest_constant = columns.iter().all(|column| column.aggregate || column.constant);
        let own = self.function_call(name, None, call);
        let calls = columns.iter().fold(SmallVec::from_slice(&[own]), |all, column| joined(&all, &column.calls));
        Value::Column(Rc::new(Column {
            name: None,
            calls,
            aggregate: function.kind == FunctionKind::Aggregate || nested && rest_constant,
            explodes: function.kind == FunctionKind::Generator || any(|column| column.explodes),
            windowed: any(|column| column.windowed),
            window: columns.iter().find_map(|column| column.window),
            udf: any(|column| column.udf),
            constant: false,
            computed: true,
            frames: frames(&columns.iter().map(|column| &**column).collect::<Vec<_>>()),
            terms: Vec::new(),
            relation: Relation::Unknown,
        }))
    }

    /// A call of a UDF on columns.
    pub(super) fn call_udf(&mut self, udf: Option<usize>, call: &Call<'a>) -> Value<'a> {
        let name = self.text_at(call.method);
        let own = self.function_call(name, udf, call);
        let args: Vec<Cow<'_, Column>> = call.parts().map(of_argument).collect();
        let calls = args.iter().fold(SmallVec::from_slice(&[own]), |all, column| joined(&all, &column.calls));
        let frames = frames(&args.iter().map(|column| &**column).collect::<Vec<_>>());
        let relation = if frames.len() > 1 { Relation::NoEquality } else { Relation::Unknown };
        Value::Column(Rc::new(Column { udf: true, calls, computed: true, frames, relation, ..Column::default() }))
    }

    /// Notes a call that makes a column, each place once.
    fn function_call(&mut self, name: &str, udf: Option<usize>, call: &Call<'a>) -> u32 {
        let next = self.plan.functions.len() as u32;
        let index = *self.functions.entry(call.span).or_insert(next);
        if index == next {
            let args: Vec<Literal> = call.values.iter().map(Value::literal).collect();
            let columns = call.parts().filter_map(name_of_argument).collect();
            self.plan.functions.push(FunctionCall {
                language: Language::Python,
                name: name.to_owned(),
                udf,
                call: call.span,
                method: call.method,
                arguments: call.arguments,
                args,
                columns,
                over: None,
                scope: self.frame.scope,
                used_in: SmallVec::new(),
            });
        }
        index
    }

    /// Notes the operator that columns are used in.
    pub(super) fn used_in(&mut self, node: NodeId, values: &[Value<'a>]) {
        for value in values {
            match value {
                Value::Column(column) => {
                    for index in &column.calls {
                        let Some(function) = self.plan.functions.get_mut(*index as usize) else { continue };
                        if function.used_in.len() < MOST_CALLS && !function.used_in.contains(&node) {
                            function.used_in.push(node);
                        }
                    }
                }
                Value::List(items) | Value::Tuple(items) => {
                    let values: Vec<Value<'a>> = items.iter().map(|item| item.value.clone()).collect();
                    self.used_in(node, &values);
                }
                Value::Many(element) => self.used_in(node, std::slice::from_ref(&**element)),
                Value::Dict(entries) => {
                    let values: Vec<Value<'a>> = entries.iter().map(|entry| entry.value.value.clone()).collect();
                    self.used_in(node, &values);
                }
                _ => {}
            }
        }
    }

    /// A method of a column.
    pub(super) fn column_method(&mut self, column: &Rc<Column>, name: &str, call: &Call<'a>) -> Value<'a> {
        let args = &call.values;
        let of = |relation| {
            let others: Vec<Cow<'_, Column>> = args.iter().map(of_argument).collect();
            let columns = std::iter::once(&**column).chain(others.iter().map(|other| &**other));
            Value::Column(Rc::new(Column {
                relation,
                aggregate: column.aggregate,
                udf: column.udf,
                calls: others.iter().fold(column.calls.clone(), |all, other| joined(&all, &other.calls)),
                computed: true,
                frames: frames(&columns.collect::<Vec<_>>()),
                ..Column::default()
            }))
        };
        if name == "isin"
            && let Some(rows) = args.first()
        {
            self.uses_rows(RowUseKind::IsIn, &rows.clone(), call.span);
        }
        // Others only looked like a column.
        let Some(function) = api::entry(Class::Column, name).and_then(Entry::function) else { return Value::Unknown };
        match function.kind {
            FunctionKind::Over => {
                let window = match args.first() {
                    Some(Value::Window(window)) => {
                        let over = OverWindow {
                            order: window.index,
                            partitioned: window.partitioned,
                            framed: window.framed,
                            call: call.span,
                        };
                        let outermost =
                            column.calls.first().and_then(|index| self.plan.functions.get_mut(*index as usize));
                        if let Some(function) = outermost {
                            function.over = Some(over);
                        }
                        window.index
                    }
                    _ => None,
                };
                Value::Column(Rc::new(Column {
                    aggregate: false,
                    windowed: true,
                    window,
                    name: None,
                    ..(**column).clone()
                }))
            }
            FunctionKind::Name | FunctionKind::Cast | FunctionKind::Order => Value::Column(Rc::new(Column {
                relation: Relation::Unknown,
                computed: column.computed || function.kind == FunctionKind::Cast,
                terms: Vec::new(),
                ..(**column).clone()
            })),
            FunctionKind::Equal => {
                let other = call.args.first().map(|arg| self.span_of(call.code, arg.value)).unwrap_or(call.arguments);
                let spans = [call.receiver, other];
                compare(
                    Comparison { equality: true, span: call.span, spans: &spans },
                    &[Value::Column(column.clone()), args.first().cloned().unwrap_or(Value::Unknown)],
                )
            }
            FunctionKind::Test => of(Relation::NoEquality),
            FunctionKind::Choice => {
                let others = args.iter().map(of_argument).fold((**column).clone(), |all, next| Column {
                    aggregate: all.aggregate || next.aggregate,
                    explodes: all.explodes || next.explodes,
                    windowed: all.windowed || next.windowed,
                    window: all.window.or(next.window),
                    udf: all.udf || next.udf,
                    calls: joined(&all.calls, &next.calls),
                    ..Column::default()
                });
                Value::Column(Rc::new(others))
            }
            _ => of(Relation::Unknown),
        }
    }
}
