//! Columns where Python wants a truth value, counts that are only compared with zero, built-ins that a star import
//! replaced.

use super::Interpreter;
use super::call::Call;
use crate::pyspark::ir::{Expr, ExprId};
use crate::pyspark::plan::{Emptiness, Misuse, MisusedColumn, RowUse, RowUseKind, ShadowedBuiltin};
use crate::pyspark::value::{Code, Value};
use crate::text::Span;

impl<'a> Interpreter<'a> {
    fn misused(&mut self, misuse: Misuse, span: Span, operator: Span) {
        self.plan.misused.push(MisusedColumn { span, operator, misuse });
    }

    /// `a and b`, `a or b`. A name alone may hold nothing yet: `cond or F.lit(True)`.
    pub(super) fn check_either(&mut self, code: Code<'a>, id: ExprId, left: &Value<'a>, right: &Value<'a>) {
        let Expr::Either(first, second) = &code.top.expr(id).expr else { return };
        let is_name = |id: ExprId| code.top.expr(id).expr == Expr::Name;
        if matches!((left, right), (Value::Column(_), Value::Column(_))) && !(is_name(*first) && is_name(*second)) {
            let between = Span { start: self.span_of(code, *first).end, end: self.span_of(code, *second).start };
            if !is_name(*first) {
                self.misused(Misuse::BooleanOperator, self.span_of(code, id), self.word_in(between));
            }
        }
    }

    /// `not column`.
    pub(super) fn check_not(&mut self, code: Code<'a>, id: ExprId, operand: ExprId, value: &Value<'a>) {
        let span = self.span_of(code, id);
        match value {
            Value::Column(_) if code.top.expr(operand).expr != Expr::Name => {
                self.misused(Misuse::Not, span, Span { start: span.start, end: span.start + 3 });
            }
            Value::Result(index) => {
                let by_name = code.top.expr(operand).expr == Expr::Name;
                self.tests_result(*index, Emptiness { span, if_empty: true }, by_name);
            }
            _ => {}
        }
    }

    /// The test of an `if` or `while`.
    pub(super) fn check_condition(&mut self, code: Code<'a>, test: ExprId, value: &Value<'a>) {
        let span = self.span_of(code, test);
        let is_name = code.top.expr(test).expr == Expr::Name;
        match value {
            Value::Column(_) if !is_name && !matches!(code.top.expr(test).expr, Expr::Either(..) | Expr::Not(_)) => {
                self.misused(Misuse::Condition, span, span);
            }
            Value::Result(index) => self.tests_result(*index, Emptiness { span, if_empty: false }, is_name),
            _ => {}
        }
    }

    /// A comparison: with `None`, of three, or of a count with zero.
    pub(super) fn check_comparison(&mut self, code: Code<'a>, id: ExprId, operands: &[ExprId], values: &[Value<'a>]) {
        let span = self.span_of(code, id);
        let is_column = |value: &Value<'a>| matches!(value, Value::Column(_));
        if operands.len() > 2 && values.iter().any(is_column) {
            return self.misused(Misuse::Chained, span, span);
        }
        let ([left_id, right_id], [left, right]) = (operands, values) else { return };
        let between = Span { start: self.span_of(code, *left_id).end, end: self.span_of(code, *right_id).start };
        let operator = self.word_in(between);
        let is_name = |id: ExprId| code.top.expr(id).expr == Expr::Name;
        match (left, right, self.text_at(operator)) {
            // What another module hands over may be `None` for this once.
            (Value::Column(column), Value::None, "==" | "!=")
                if !column.constant && (!self.outside.is_read() || code.top.expr(*right_id).expr == Expr::None) =>
            {
                self.misused(Misuse::EqualsNone, span, operator);
            }
            (Value::Column(_), Value::None, word) if word.starts_with("is") && !is_name(*left_id) => {
                self.misused(Misuse::IsNone, span, operator);
            }
            (Value::Result(index), Value::Integer(number), word) => {
                if let Some(if_empty) = tests_emptiness(word, *number) {
                    self.tests_result(*index, Emptiness { span, if_empty }, is_name(*left_id));
                }
            }
            (Value::Integer(number), Value::Result(index), word) => {
                if let Some(if_empty) = tests_emptiness(mirrored(word), *number) {
                    self.tests_result(*index, Emptiness { span, if_empty }, is_name(*right_id));
                }
            }
            _ => {}
        }
    }

    /// Whether the operands are compared by `is` or `in`.
    pub(super) fn gives_truth(&self, code: Code<'a>, operands: &[ExprId]) -> bool {
        operands.windows(2).any(|pair| {
            let between = Span { start: self.span_of(code, pair[0]).end, end: self.span_of(code, pair[1]).start };
            let word = self.text_at(self.word_in(between));
            ["is", "in", "not"].iter().any(|start| word.starts_with(start))
        })
    }

    fn word_in(&self, span: Span) -> Span {
        let text = self.text_at(span);
        let start = span.start as usize + (text.len() - text.trim_start_matches([' ', '\n', '\t', '\\', ')']).len());
        let word = text.trim_matches([' ', '\n', '\t', '\\', '(', ')']);
        Span::new(start, start + word.len())
    }

    /// `sum([…])` where `sum` came with a star import.
    pub(super) fn check_shadowed(&mut self, name: &str, call: &Call<'a>) {
        let bare = call.receiver.is_empty() && self.text_at(call.method) == name;
        let is_replaced = matches!(name, "sum" | "max" | "min" | "abs" | "round" | "filter" | "hash" | "pow" | "slice");
        let takes_python = |value: &Value<'a>| match value {
            Value::List(_)
            | Value::Tuple(_)
            | Value::Dict(_)
            | Value::Rows(_)
            | Value::Integer(_)
            | Value::Float(_) => true,
            Value::Many(element) => !matches!(**element, Value::Column(_)),
            _ => false,
        };
        if bare && is_replaced && call.values.first().is_some_and(takes_python) {
            self.plan.shadowed.push(ShadowedBuiltin { name: name.to_owned(), span: call.method });
        }
    }

    /// A text of SQL that runs with collected rows in an `IN (…)`.
    pub(super) fn uses_text(&mut self, value: &Value<'a>) {
        if let Value::Template(template) = value
            && let Some((node, span)) = template.listed
            && !span.is_empty()
        {
            self.plan.row_uses.push(RowUse { node, span, kind: RowUseKind::InText });
        }
    }

    /// Collected rows handed to a call.
    pub(super) fn uses_rows(&mut self, kind: RowUseKind, value: &Value<'a>, span: Span) {
        let node = match value {
            Value::Rows(node) => Some(*node),
            Value::Many(element) => match **element {
                Value::Cell(node) => Some(node),
                _ => None,
            },
            _ => None,
        };
        if let Some(node) = node {
            self.plan.row_uses.push(RowUse { node, span, kind });
        }
    }
}

/// Whether `count <operator> number` asks only if there are rows, and if it holds where there are none.
fn tests_emptiness(operator: &str, number: i64) -> Option<bool> {
    match (operator, number) {
        ("==" | "<=", 0) | ("<", 1) => Some(true),
        ("!=" | ">", 0) | (">=", 1) => Some(false),
        _ => None,
    }
}

fn mirrored(operator: &str) -> &str {
    match operator {
        "<" => ">",
        ">" => "<",
        "<=" => ">=",
        ">=" => "<=",
        other => other,
    }
}
