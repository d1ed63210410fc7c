//! Tests of Spark's version, and the branches that they choose.

use std::rc::Rc;

use super::Interpreter;
use crate::pyspark::ir::{Expr, ExprId, Stmt, StmtNode};
use crate::pyspark::value::{Code, SparkVersionValue, Value};
use crate::pyspark::versions::{VersionBranch, Versions};
use crate::text::Span;

/// How deep a literal is looked for in `parse("3.4")`, `tuple(map(int, ("3", "4")))`.
const LITERAL_DEPTH: usize = 4;

impl<'a> Interpreter<'a> {
    /// A name or attribute of which nothing is known but that it is called Spark's version.
    pub(super) fn named_version(&self, name: &str) -> Option<Value<'a>> {
        let folded = name.trim_start_matches('_').to_ascii_lowercase().replace('_', "");
        let is_version = matches!(folded.as_str(), "sparkversion" | "pysparkversion") && self.plan.uses.is_spark;
        is_version.then_some(Value::Version(SparkVersionValue::Whole))
    }

    /// What a call makes of a version among its arguments: `parse(v)`, `tuple(map(int, v.split(".")))`, `is_old(v)`.
    pub(super) fn version_of_call(values: &[Value<'a>]) -> Option<Value<'a>> {
        let is_plain = |value: &Value<'a>| matches!(value, Value::Version(_) | Value::Builtin(_)) || value.is_scalar();
        let version = values.iter().find(|value| matches!(value, Value::Version(_)))?;
        values.iter().all(is_plain).then(|| version.clone())
    }

    /// Whether an [`Expr::Either`] is `and`.
    pub(super) fn is_and(&self, code: Code<'a>, id: ExprId) -> bool {
        let Expr::Either(first, second) = &code.top.expr(id).expr else { return false };
        let between = Span { start: code.top.expr(*first).span.end, end: code.top.expr(*second).span.start };
        code.str(between).split_whitespace().any(|word| word.trim_matches(['(', ')']) == "and")
    }

    /// A method of a version or of its parts.
    pub(super) fn version_method(
        &self,
        version: &SparkVersionValue,
        name: &str,
        first: Option<&Value<'a>>,
    ) -> Value<'a> {
        let test = match (version, name, first.and_then(Value::as_text)) {
            (SparkVersionValue::Whole, "startswith", Some(start)) => Versions::of_line(start.trim_end_matches('.')),
            _ if matches!(name, "startswith" | "endswith" | "isdigit") => None,
            _ => return Value::Version(version.clone()),
        };
        Value::Version(SparkVersionValue::exact(test))
    }

    /// An attribute of a version: `parse(v).major`.
    pub(super) fn version_attribute(&self, version: &SparkVersionValue, name: &str) -> Value<'a> {
        Value::Version(match (version, name) {
            (SparkVersionValue::Whole, "major") => SparkVersionValue::Major,
            (_, "minor" | "micro" | "patch") => SparkVersionValue::Part,
            _ => version.clone(),
        })
    }

    /// `v.split(".")[0]`, `v[:3]`.
    pub(super) fn version_item(&self, version: &SparkVersionValue, key: &Value<'a>, slice: bool) -> Value<'a> {
        Value::Version(match (version, key) {
            (SparkVersionValue::Whole, _) if slice => SparkVersionValue::Whole,
            (SparkVersionValue::Whole, Value::Integer(0)) => SparkVersionValue::Major,
            (SparkVersionValue::Major, Value::Integer(0)) => SparkVersionValue::Major,
            _ => SparkVersionValue::Part,
        })
    }

    /// A comparison with Spark's version, if it is one.
    pub(super) fn version_comparison(
        &mut self,
        code: Code<'a>,
        operands: &[ExprId],
        values: &[Value<'a>],
    ) -> Option<Value<'a>> {
        let at = values.iter().position(|value| matches!(value, Value::Version(_)))?;
        let Value::Version(version) = &values[at] else { return None };
        let test = match (operands, version) {
            ([left, right], SparkVersionValue::Whole | SparkVersionValue::Major) => {
                let between = Span { start: code.top.expr(*left).span.end, end: code.top.expr(*right).span.start };
                let operator = code.str(between).trim_matches([' ', '(', ')', '\n', '\\']);
                let operator = if at == 0 { operator } else { flipped(operator) };
                let other = if at == 0 { *right } else { *left };
                self.version_literal(code, other, 0).and_then(|with| match version {
                    SparkVersionValue::Major => {
                        let major = with.split('.').next().unwrap_or_default();
                        Versions::compared(operator, major)
                    }
                    _ => Versions::compared(operator, &with),
                })
            }
            _ => None,
        };
        Some(Value::Version(SparkVersionValue::exact(test)))
    }

    /// The version that an expression writes down: `"3.4"`, `(3, 4)`, `3.4`, `Version("3.4")`, a constant.
    fn version_literal(&mut self, code: Code<'a>, id: ExprId, depth: usize) -> Option<String> {
        if depth > LITERAL_DEPTH {
            return None;
        }
        match &code.top.expr(id).expr {
            Expr::Call { args, .. } => self.version_literal(code, args.last()?.value, depth + 1),
            Expr::Float => Some(self.source_of(code, id).to_owned()),
            Expr::Tuple(parts) | Expr::List(parts) => {
                let parts: Option<Vec<String>> =
                    parts.iter().map(|part| self.version_literal(code, *part, depth + 1)).collect();
                parts.map(|parts| parts.join("."))
            }
            _ => match self.object_of(code, id) {
                Value::Text(text) => Some(text.text.clone()),
                Value::Integer(number) => Some(number.to_string()),
                _ => None,
            },
        }
    }

    /// `and` and `or` of tests of which one asks for Spark's version.
    pub(super) fn either_version(&self, is_and: bool, left: &Value<'a>, right: &Value<'a>) -> Option<Value<'a>> {
        let sides: [Option<(Versions, Versions)>; 2] = [left, right].map(|side| match side {
            Value::Version(version) => Some(version.branches()),
            _ => None,
        });
        let all = || (Versions::all(), Versions::all());
        let (left, right) = match sides {
            [None, None] => return None,
            [left, right] => (left.unwrap_or_else(all), right.unwrap_or_else(all)),
        };
        let (then, otherwise) = match is_and {
            true => (left.0.and(&right.0), left.1.or(&right.1)),
            false => (left.0.or(&right.0), left.1.and(&right.1)),
        };
        Some(Value::Version(SparkVersionValue::Test(Rc::new((then, otherwise)))))
    }

    /// Notes that these statements run with some versions of Spark only.
    pub(super) fn note_versions(&mut self, code: Code<'a>, block: &'a [StmtNode], versions: &Versions) {
        let (Some(first), Some(last)) = (block.first(), block.last()) else { return };
        let span = code.span(Span { start: first.span.start, end: last.span.end });
        self.note_version_span(span, versions);
    }

    pub(super) fn note_version_span(&mut self, span: Span, versions: &Versions) {
        let known = |branch: &VersionBranch| branch.span == span;
        if !self.plan.version_branches.iter().any(known) {
            self.plan.version_branches.push(VersionBranch { span, versions: versions.clone() });
        }
    }

    /// Whether a handler is for a Spark that lacks what the body imports or calls.
    pub(super) fn is_fallback(
        &self,
        code: Code<'a>,
        body: &'a [StmtNode],
        before: u32,
        handler: &'a [StmtNode],
    ) -> bool {
        let Some(first) = handler.first().filter(|first| before < first.span.start) else { return false };
        let header = code.str(Span { start: before, end: first.span.start });
        let Some((_, header)) = header.rsplit_once("except") else { return false };
        let imports = header.contains("ImportError") || header.contains("ModuleNotFoundError");
        imports && self.imports_spark(code, body) || header.contains("AttributeError")
    }

    fn imports_spark(&self, code: Code<'a>, body: &'a [StmtNode]) -> bool {
        body.iter().any(|node| match &node.stmt {
            Stmt::Import(names) => names.iter().any(|name| {
                let path = self.str(code, name.from.unwrap_or(name.name));
                path == "pyspark" || path.starts_with("pyspark.")
            }),
            _ => false,
        })
    }
}

/// Where a block ends.
pub(super) fn end_of(block: &[StmtNode]) -> Option<u32> {
    block.last().map(|last| last.span.end)
}

/// The operator as seen from the other side.
fn flipped(operator: &str) -> &str {
    match operator {
        ">=" => "<=",
        "<=" => ">=",
        ">" => "<",
        "<" => ">",
        same => same,
    }
}
