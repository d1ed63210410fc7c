//! Where new lines go, and under which name a function of Spark is known.

use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{LoopId, ScopeId};
use crate::rules::{Edit, Fix, FixKind};
use crate::text::Span;

/// A fix that removes its finding and changes what the job does, so that a person has to choose it.
pub(crate) fn quick_fix(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
    Fix { title: title.into(), kind: FixKind::QuickFix, safe: false, edits }
}

/// A change to code that is not proven wrong.
pub(super) fn refactor(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
    Fix { title: title.into(), kind: FixKind::Refactor, safe: false, edits }
}

pub(super) fn insert(at: usize, text: impl Into<String>) -> Edit {
    Edit { span: Span::at(at), text: text.into() }
}

pub(super) fn replace(span: Span, text: impl Into<String>) -> Edit {
    Edit { span, text: text.into() }
}

fn line_start(text: &str, offset: usize) -> usize {
    let start = text.get(..offset).and_then(|before| before.rfind(['\n', '\r'])).map_or(0, |at| at + 1);
    if start == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8().min(offset) } else { start }
}

fn line_end(text: &str, offset: usize) -> usize {
    text.get(offset..).and_then(|after| after.find(['\n', '\r'])).map_or(text.len(), |at| offset + at)
}

/// The lines that a span touches, without the last line's end.
pub(super) fn line_of(text: &str, span: Span) -> Span {
    Span::new(line_start(text, span.start as usize), line_end(text, span.end as usize))
}

/// The blanks in front of a statement; `None` if other code stands there on its line.
pub(super) fn indentation(text: &str, statement: Span) -> Option<&str> {
    let start = line_start(text, statement.start as usize);
    let indent = text.get(start..statement.start as usize)?;
    indent.chars().all(|c| c == ' ' || c == '\t').then_some(indent)
}

/// Puts lines before a statement, indented like it; before the `if`, `while` or `with` of a condition.
pub(super) fn lines_before(text: &str, statement: Span, lines: &[String]) -> Option<Edit> {
    let at = line_start(text, statement.start as usize);
    let before = text.get(at..statement.start as usize)?;
    let word = before.trim();
    if !["", "if", "while", "with"].contains(&word) {
        return None;
    }
    let indent = &before[..before.len() - before.trim_start().len()];
    Some(insert(at, lines.iter().map(|line| format!("{indent}{line}\n")).collect::<String>()))
}

/// Puts a line after a statement, indented like it.
pub(super) fn line_after(text: &str, statement: Span, line: &str) -> Option<Edit> {
    let indent = indentation(text, statement)?;
    Some(insert(line_end(text, statement.end as usize), format!("\n{indent}{line}")))
}

/// Removes a statement that has its lines for itself.
pub(super) fn without_statement(text: &str, statement: Span) -> Option<Edit> {
    indentation(text, statement)?;
    let start = line_start(text, statement.start as usize);
    let end = line_end(text, statement.end as usize);
    let alone = text.get(statement.end as usize..end)?.trim().is_empty();
    let line_end = if text.get(end..)?.starts_with("\r\n") { 2 } else { 1 };
    alone.then(|| replace(Span::new(start, (end + line_end).min(text.len())), ""))
}

/// Puts an import behind the imports of a file.
pub(super) fn import_line(plan: &StaticPlan, text: &str, import: &str) -> Edit {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let at = (plan.uses.import_offset as usize).clamp(bom, text.len().max(bom));
    let starts_a_line = at == bom || text.get(..at).is_some_and(|before| before.ends_with(['\n', '\r']));
    insert(at, format!("{}{import}\n", if starts_a_line { "" } else { "\n" }))
}

/// How a file calls `pyspark.sql.functions`.
pub(super) struct Functions<'a> {
    plan: &'a StaticPlan,
    text: &'a str,
    alias: &'a str,
    import: Option<Edit>,
}

impl<'a> Functions<'a> {
    pub(super) fn of(plan: &'a StaticPlan, text: &'a str) -> Self {
        if let Some(alias) = &plan.uses.functions_alias {
            return Self { plan, text, alias, import: None };
        }
        Self { plan, text, alias: "F", import: Some(import_line(plan, text, "from pyspark.sql import functions as F")) }
    }

    /// `F.broadcast`, or the name under which the function was imported here.
    pub(super) fn call(&self, name: &str) -> String {
        let imported = self.plan.uses.imported_functions.iter().find(|(there, _)| there == name);
        match imported {
            Some((_, here)) => here.clone(),
            None if self.import.is_some() && self.has_by_star(name) => name.to_owned(),
            None => format!("{}.{name}", self.alias),
        }
    }

    /// Whether the name is Spark's by a star import, and nothing here takes it for something else.
    fn has_by_star(&self, name: &str) -> bool {
        let takes = |line: &str| {
            let line = line.trim_start().trim_start_matches("def ");
            line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', '(', ':', ',']))
        };
        let has_star = self.plan.uses.imported_functions.iter().any(|(there, _)| there == "*");
        has_star && !self.text.lines().any(takes)
    }

    /// The edits with the import before them, if what they call needs one.
    pub(super) fn with_import(self, edits: Vec<Edit>) -> Vec<Edit> {
        let needed = |edit: &&Edit| edit.text.contains(&format!("{}.", self.alias));
        match self.import {
            Some(import) if edits.iter().any(|edit| needed(&edit)) => std::iter::once(import).chain(edits).collect(),
            _ => edits,
        }
    }
}

/// The session as code of a scope can name it: under its own name, or as an attribute of `self`.
pub(super) fn session(plan: &StaticPlan, text: &str, scope: ScopeId) -> Option<String> {
    // A session that is handed over has no call here that would tell its name.
    let name = plan.uses.session.as_deref().filter(|name| is_name(name)).unwrap_or("spark");
    let code = plan.scope(scope).span.of(text);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let is_named = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            let behind = code[at + name.len()..].chars().next();
            !code[..at].ends_with(is_part) && !behind.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    };
    let at_top = || {
        !name.contains('.')
            && text.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('=')))
    };
    if is_named(name) || at_top() {
        return Some(name.to_owned());
    }
    let attribute = format!("self.{name}");
    is_named(&attribute).then_some(attribute)
}

/// Whether what a call reads is known before its statement: it doesn't stand in a comprehension or a lambda of it.
pub(super) fn can_move_before(plan: &StaticPlan, statement: Span, loops: &[LoopId], scope: ScopeId) -> bool {
    let scope = plan.scope(scope);
    let is_inner = |span: Span| statement.contains(span) && span != statement;
    let in_comprehension = loops.iter().map(|&id| plan.loop_(id)).any(|it| it.comprehension && is_inner(it.span));
    let in_lambda = scope.name == "<lambda>" && is_inner(scope.span);
    !in_comprehension && !in_lambda
}

/// An expression as the receiver of a method: names, calls on one line and parentheses stay, the rest is wrapped.
pub(super) fn as_receiver(expression: &str) -> String {
    let expression = expression.trim().trim_end_matches('\\').trim_end();
    if expression.contains(['\n', '\r']) || expression.contains(" if ") {
        format!("({expression})")
    } else {
        expression.to_owned()
    }
}

/// Whether an expression is a name such as `orders` or `self.orders`.
pub(super) fn is_name(expression: &str) -> bool {
    !expression.is_empty()
        && expression.split('.').all(|part| {
            part.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_alphanumeric() || c == '_')
        })
}
