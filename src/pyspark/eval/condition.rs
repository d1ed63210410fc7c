//! What is known of a test before it runs.

use super::{Interpreter, Usage};
use crate::pyspark::ir::{Expr, ExprId};
use crate::pyspark::value::{Code, EnvId, Value};

/// A name that may hold something else for a while: its namespace, and what it holds otherwise.
pub(super) type Doubted<'a> = (EnvId, &'a str, Value<'a>);

impl<'a> Interpreter<'a> {
    /// Whether a test always holds or never does, as far as literals and constants tell.
    pub(super) fn truth(&mut self, code: Code<'a>, test: ExprId) -> Option<bool> {
        match &code.top.expr(test).expr {
            Expr::Not(inner) => self.truth(code, *inner).map(|truth| !truth),
            Expr::Compare { operands, .. } => {
                let source = self.source_of(code, test);
                let [left, right] = **operands else { return None };
                if source.starts_with("__name__") && source.contains("==") {
                    return Some(self.is_read_in_full(code));
                }
                let between = code.span(crate::text::Span {
                    start: code.top.expr(left).span.end,
                    end: code.top.expr(right).span.start,
                });
                let operator = self.text_at(between).trim_matches([' ', '(', ')']);
                let left = self.constant(code, left)?;
                let right = self.constant(code, right)?;
                match operator {
                    "==" => Some(left.same(&right)),
                    "!=" => Some(!left.same(&right)),
                    _ => None,
                }
            }
            _ => match self.constant(code, test)? {
                Value::Bool(truth) => Some(truth),
                Value::Integer(number) => Some(number != 0),
                _ => None,
            },
        }
    }

    /// Whether a test for `None` holds, of a name that certainly holds `None`: what the other branch says of it is void.
    pub(super) fn tests_none(&mut self, code: Code<'a>, test: ExprId) -> Option<bool> {
        match &code.top.expr(test).expr {
            Expr::Not(inner) => self.is_none(code, *inner).then_some(true),
            Expr::Name | Expr::Attribute { .. } => self.is_none(code, test).then_some(false),
            Expr::Compare { operands, .. } => {
                let [left, right] = **operands else { return None };
                if code.top.expr(right).expr != Expr::None || !self.is_none(code, left) {
                    return None;
                }
                let between =
                    crate::text::Span { start: code.top.expr(left).span.end, end: code.top.expr(right).span.start };
                let operator = code.str(between);
                Some(operator.trim_matches([' ', '(', ')']) == "is" || operator.contains("=="))
            }
            _ => None,
        }
    }

    /// `if isinstance(param, DataFrame):` says that the parameter may be anything: under it, it holds the frames of the
    /// callers that the file shows, or another one. Returns what [`Interpreter::believe`] gives back to the name.
    pub(super) fn doubt(&mut self, code: Code<'a>, test: ExprId) -> Option<Doubted<'a>> {
        let Expr::Call { function, args, .. } = &code.top.expr(test).expr else { return None };
        let [tested, class] = &args[..] else { return None };
        let name = self.source_of(code, tested.value);
        if self.source_of(code, *function) != "isinstance" || !self.source_of(code, class.value).contains("DataFrame") {
            return None;
        }
        let running = self.calls.last().map(|(_, function)| code.top.function(*function))?;
        if !running.params.iter().any(|param| self.str(code, param.name) == name) {
            return None;
        }
        let env = self.frame.env;
        let Some(Value::Frame(frame)) = self.own(env, name) else { return None };
        let other = self.given();
        let either = self.merged_node(frame, other);
        self.set(env, name, Some(Value::Frame(either)));
        Some((env, name, Value::Frame(frame)))
    }

    /// Ends what [`Interpreter::doubt`] began.
    pub(super) fn believe(&mut self, doubted: Option<Doubted<'a>>) {
        if let Some((env, name, value)) = doubted {
            self.set(env, name, Some(value));
        }
    }

    fn is_none(&mut self, code: Code<'a>, id: ExprId) -> bool {
        let is_place = matches!(code.top.expr(id).expr, Expr::Name | Expr::Attribute { .. });
        is_place && matches!(self.object_of(code, id), Value::None)
    }

    fn constant(&mut self, code: Code<'a>, id: ExprId) -> Option<Value<'a>> {
        match &code.top.expr(id).expr {
            Expr::True | Expr::False | Expr::Integer => Some(self.eval(code, id, Usage::Used)),
            Expr::Text(_) | Expr::Name => Some(self.object_of(code, id))
                .filter(|value| matches!(value, Value::Bool(_) | Value::Integer(_) | Value::Text(_))),
            _ => None,
        }
    }
}
