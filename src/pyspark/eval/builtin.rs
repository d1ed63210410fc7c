//! Python expressions that `pyspark.sql.functions` has a function for.

use super::Interpreter;
use crate::pyspark::ir::{Expr, ExprId, Function};
use crate::pyspark::value::Code;

/// The same as a function's value as an expression of built-in functions, with `{0}` for its first parameter.
pub(super) fn expression<'a>(
    interpreter: &Interpreter<'a>,
    code: Code<'a>,
    function: &'a Function,
    value: ExprId,
) -> Option<String> {
    let Expr::Call { function: callee, args, .. } = &code.top.expr(value).expr else { return None };
    let Expr::Attribute { object, name, .. } = &code.top.expr(*callee).expr else { return None };
    let built_in = match (interpreter.str(code, *name), args.len()) {
        ("lower", 0) => "lower",
        ("upper", 0) => "upper",
        ("strip", 0) => "trim",
        ("lstrip", 0) => "ltrim",
        ("rstrip", 0) => "rtrim",
        _ => return None,
    };
    let subject = interpreter.source_of(code, *object);
    let param = function.params.iter().position(|param| interpreter.str(code, param.name) == subject)?;
    Some(format!("F.{built_in}({{{param}}})"))
}
