//! Operators of columns in the place of Python's.

use super::edits::{insert, quick_fix, replace};
use super::udf::is_operand;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Misuse, MisusedColumn};
use crate::rules::Fix;
use crate::text::Span;

/// `and`, `or`, `not` to `&`, `|`, `~` with parentheses.
pub fn column_operator(text: &str, misused: &MisusedColumn) -> Option<Fix> {
    let (left, right) = operands(text, misused)?;
    let (code, symbol) = match (misused.misuse, misused.operator.of(text)) {
        (Misuse::Not, _) => (format!("~{}", parenthesised(right)), "~"),
        (_, "and") => (format!("{} & {}", parenthesised(left), parenthesised(right)), "&"),
        (_, "or") => (format!("{} | {}", parenthesised(left), parenthesised(right)), "|"),
        _ => return None,
    };
    Some(quick_fix(format!("Use {symbol}"), vec![replace(misused.span, code)]))
}

/// `== None`, `is None` to `isNull()`, their opposites to `isNotNull()`.
pub fn null_test(text: &str, misused: &MisusedColumn) -> Option<Fix> {
    let (left, right) = operands(text, misused)?;
    let word = misused.operator.of(text);
    let method = if word.contains("not") || word == "!=" { "isNotNull" } else { "isNull" };
    if right.trim_matches([' ', '(', ')']) != "None" {
        return None;
    }
    let code = format!("{}.{method}()", parenthesised(left));
    Some(quick_fix(format!("Use {method}()"), vec![replace(misused.span, code)]))
}

fn operands<'a>(text: &'a str, misused: &MisusedColumn) -> Option<(&'a str, &'a str)> {
    let (span, operator) = (misused.span, misused.operator);
    if operator.is_empty() || operator == span || !span.contains(operator) {
        return None;
    }
    let left = Span { start: span.start, end: operator.start }.of(text).trim();
    let right = Span { start: operator.end, end: span.end }.of(text).trim();
    let balanced = |code: &str| code.matches('(').count() == code.matches(')').count();
    (balanced(left) && balanced(right) && !left.contains('#') && !right.contains('#')).then_some((left, right))
}

fn parenthesised(code: &str) -> String {
    let is_whole = code.starts_with('(') && code.ends_with(')') && is_operand(code) && closes_at_end(code);
    if is_whole || is_operand(code) && !code.starts_with('(') { code.to_owned() } else { format!("({code})") }
}

/// Whether the first parenthesis is closed by the last character.
fn closes_at_end(code: &str) -> bool {
    let mut depth = 0_i32;
    for (at, character) in code.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == code.len();
        }
    }
    false
}

/// `sum` to `builtins.sum`, with the import.
pub fn builtins(plan: &StaticPlan, text: &str, name: &str, call: Span) -> Fix {
    let mut edits = vec![replace(call, format!("builtins.{name}"))];
    if !text.lines().any(|line| line.trim() == "import builtins") {
        edits.insert(0, insert(plan.uses.import_offset as usize, "import builtins\n"));
    }
    quick_fix(format!("Call builtins.{name}"), edits)
}

/// `union` to `unionByName`.
pub fn union_by_name(method: Span) -> Fix {
    quick_fix("Replace it by unionByName", vec![replace(method, "unionByName")])
}
