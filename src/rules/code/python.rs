//! What rules on Python functions have in common.

use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{FunctionCall, PythonFunction, RowBound, Runs};
use crate::text::Span;

/// The calls of a UDF on columns.
pub(super) fn calls_of(plan: &StaticPlan, index: usize) -> impl Iterator<Item = &FunctionCall> {
    plan.functions.iter().filter(move |call| call.udf == Some(index))
}

/// The smallest piece of code that names a Python function: its name, `lambda`, or where it is handed over.
pub(super) fn name_of(text: &str, python: &PythonFunction) -> Span {
    let Some(function) = &python.function else { return python.site };
    let written = function.span.of(text);
    if function.name == "<lambda>" {
        let word = written.find("lambda").unwrap_or(0);
        return Span::new(function.span.start as usize + word, function.span.start as usize + word + "lambda".len());
    }
    match written.find(&format!("def {}", function.name)) {
        Some(at) => {
            let start = function.span.start as usize + at + "def ".len();
            Span::new(start, start + function.name.len())
        }
        None => python.site,
    }
}

/// How messages speak of a Python function.
pub(super) fn words(python: &PythonFunction) -> String {
    match python.function.as_ref().map(|function| function.name.as_str()) {
        Some("<lambda>") | None => "this function".to_owned(),
        Some(name) => format!("{name}()"),
    }
}

/// A Python function of a row, whose values are pickled one by one.
pub(super) fn is_row_udf(python: &PythonFunction) -> bool {
    python.runs == Runs::RowUdf
}

/// Whether all frames that a call is used on have few rows.
pub(super) fn on_few_rows(plan: &StaticPlan, call: &FunctionCall) -> bool {
    let few = |&id| matches!(plan.bound(id), RowBound::Exactly(..=10_000) | RowBound::Small);
    !call.used_in.is_empty() && call.used_in.iter().all(few)
}

/// The arguments of a call by their spans: split at commas outside brackets and quotes; `None` for keywords and stars.
pub(super) fn arguments<'a>(text: &'a str, call: &FunctionCall) -> Option<Vec<&'a str>> {
    let inner = call.arguments.of(text).strip_prefix('(')?.strip_suffix(')')?;
    let mut parts = Vec::new();
    let (mut depth, mut quote, mut start) = (0_u32, None, 0);
    for (at, character) in inner.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            (None, '#') => return None,
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let parts: Vec<&str> = parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    let plain = |part: &&str| !part.starts_with('*') && !is_keyword(part);
    parts.iter().all(plain).then_some(parts)
}

fn is_keyword(part: &str) -> bool {
    let name = part.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start();
    name.starts_with('=') && !name.starts_with("==")
}
