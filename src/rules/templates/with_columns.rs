//! Calls that add a column each, in one call.

use super::edits::{indentation, quick_fix, replace};
use crate::catalog::SparkVersion;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{CallSite, Loop, LoopId, NodeId};
use crate::rules::Fix;
use crate::text::Span;

/// A chain of `withColumn` calls in one expression to one call of `withColumns`.
pub fn merge_columns(text: &str, version: SparkVersion, calls: &[&CallSite]) -> Option<Fix> {
    let (first, last) = (calls.first()?, calls.last()?);
    let follows = |pair: &[&CallSite]| pair[1].receiver.end == pair[0].call.end;
    let column = |call: &&CallSite| match &call.args[..] {
        [name, column] => Some(format!("{}: {}", name.span.of(text), column.span.of(text))),
        _ => None,
    };
    let columns: Vec<String> = calls.iter().map(column).collect::<Option<_>>()?;
    let replaced = Span { start: first.method.start, end: last.call.end };
    let is_one = version.at_least(3, 3)
        && !first.receiver.is_empty()
        && calls.windows(2).all(follows)
        && !replaced.of(text).contains('#');
    let edit = replace(replaced, format!("withColumns({{{}}})", columns.join(", ")));
    is_one.then(|| quick_fix("Replace the chain by one call of withColumns", vec![edit]))
}

/// A loop whose body is one `df = df.withColumn(name, expression)`, perhaps under an `if`, to one call of `withColumns`, and the
/// like; `reduce` over such a lambda, too.
pub fn with_columns(plan: &StaticPlan, text: &str, version: SparkVersion, id: NodeId, inside: LoopId) -> Option<Fix> {
    let site = plan.node(id).site.as_ref()?;
    let looped = plan.loop_(inside);
    let turns = match looped.comprehension {
        true => Turns::of_reduce(text, site, looped)?,
        false => Turns::of_loop(text, site, looped)?,
    };
    let one = turns.one_call(text, site, version)?;
    let title = format!("Replace the loop by one call of {}", one.split('(').next().unwrap_or_default());
    let assigned = if looped.comprehension { String::new() } else { format!("{} = ", turns.frame) };
    let indent = if turns.comments.is_empty() { "" } else { indentation(text, looped.span)? };
    let comments: String = turns.comments.iter().map(|comment| format!("{comment}\n{indent}")).collect();
    Some(quick_fix(title, vec![replace(looped.span, format!("{comments}{assigned}{}.{one}", turns.frame))]))
}

/// The turns of a loop that does nothing but to grow one frame.
struct Turns<'a> {
    /// The frame before the loop.
    frame: &'a str,
    /// What a turn's value is called: `name`, `old, new`.
    target: &'a str,
    /// What the loop runs over.
    over: &'a str,
    /// The condition of a turn.
    condition: Option<&'a str>,
    /// What is written beside the code.
    comments: Vec<&'a str>,
}

impl<'a> Turns<'a> {
    /// `for TARGET in OVER:` with `FRAME = FRAME.call(...)`, perhaps under one `if`.
    fn of_loop(text: &'a str, site: &CallSite, looped: &Loop) -> Option<Self> {
        let statement = site.statement.of(text);
        let frame = site.receiver.of(text);
        let header = looped.header.of(text).trim().strip_prefix("for ")?.strip_suffix(':')?;
        let (target, over) = header.split_once(" in ")?;
        let before = Span { start: looped.header.end, end: site.statement.start }.of(text);
        let after = Span { start: site.statement.end, end: looped.span.end.max(site.statement.end) }.of(text);
        let mut condition = None;
        let mut comments = Vec::new();
        for line in before.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.strip_prefix("if ").and_then(|test| test.strip_suffix(':')) {
                _ if line.starts_with('#') => comments.push(line),
                Some(test) if condition.is_none() && !test.contains('#') => condition = Some(test.trim()),
                _ => return None,
            }
        }
        for line in after.lines().map(str::trim).filter(|line| !line.is_empty()) {
            comments.push(Some(line).filter(|line| line.starts_with('#'))?);
        }
        let (assigned, value) = statement.split_once('=')?;
        let grows = assigned.trim() == frame && value.trim() == site.call.of(text);
        grows.then_some(Self { frame, target: target.trim(), over: over.trim(), condition, comments })
    }

    /// `reduce(lambda frame, TARGET: frame.call(...), OVER, FRAME)`.
    fn of_reduce(text: &'a str, site: &CallSite, looped: &Loop) -> Option<Self> {
        let before = Span { start: looped.span.start, end: site.call.start }.of(text);
        let after = Span { start: site.call.end, end: looped.span.end }.of(text);
        let lambda = before.trim_end().strip_suffix(':')?.split_once("lambda ")?;
        let is_reduce = matches!(lambda.0.trim(), "reduce(" | "functools.reduce(");
        let (grown, target) = lambda.1.split_once(',')?;
        let rest = after.trim().strip_prefix(',')?.strip_suffix(')')?.trim().trim_end_matches(',');
        let (over, frame) = rest.rsplit_once(',')?;
        let (over, frame, grown) = (over.trim(), frame.trim(), grown.trim());
        let stays = site.args.iter().all(|argument| !names(argument.span.of(text), grown));
        let is_plain = super::edits::is_name(frame) && is_balanced(over) && site.receiver.of(text) == grown;
        (is_reduce && stays && is_plain).then_some(Self {
            frame,
            target: target.trim(),
            over,
            condition: None,
            comments: Vec::new(),
        })
    }

    fn one_call(&self, text: &str, site: &CallSite, version: SparkVersion) -> Option<String> {
        let Self { frame, target, over, condition, .. } = self;
        let test = condition.map(|test| format!(" if {test}")).unwrap_or_default();
        let turns = format!("for {target} in {over}{test}");
        let depends = |name: &str| target.split(',').any(|target| names(name, target.trim()));
        let written = |position: usize, keyword: &str| Some(site.argument(position, keyword)?.span.of(text));
        match (site.method.of(text), site.args.len()) {
            ("withColumn", 2) => {
                let (name, column) = (written(0, "colName")?, written(1, "col")?);
                let all_columns = *over == format!("{frame}.columns") && name == *target;
                if version.at_least(3, 3) {
                    depends(name).then(|| format!("withColumns({{{name}: {column} {turns}}})"))
                } else {
                    let aliased = format!("{}.alias({name})", as_operand(column));
                    let kept =
                        condition.map_or_else(|| aliased.clone(), |test| format!("{aliased} if {test} else {name}"));
                    all_columns.then(|| format!("select(*[{kept} for {target} in {over}])"))
                }
            }
            ("withColumnRenamed", 2) => {
                let (old, new) = (written(0, "existing")?, written(1, "new")?);
                if version.at_least(3, 4) {
                    return depends(old).then(|| format!("withColumnsRenamed({{{old}: {new} {turns}}})"));
                }
                let renames = over.strip_suffix(".items()").filter(|_| condition.is_none())?;
                let of_dict = super::edits::is_name(renames) && *target == format!("{old}, {new}");
                of_dict.then(|| format!("select(*[{frame}[c].alias({renames}.get(c, c)) for c in {frame}.columns])"))
            }
            ("drop", 1) => {
                let name = site.args.first().filter(|argument| argument.keyword.is_none())?.span.of(text);
                depends(name).then(|| format!("drop(*[{name} {turns}])"))
            }
            _ => None,
        }
    }
}

/// Whether an expression names a variable.
fn names(expression: &str, variable: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !variable.is_empty()
        && expression.match_indices(variable).any(|(at, found)| {
            let (before, after) = (&expression[..at], &expression[at + found.len()..]);
            !before.ends_with(is_word) && !before.ends_with('.') && !after.starts_with(is_word)
        })
}

/// Whether parentheses of an expression close in it, none before it opens.
fn is_balanced(expression: &str) -> bool {
    let mut depth = 0_i32;
    for c in expression.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// An expression that a method may be called on: one call stays, the rest gets parentheses.
fn as_operand(expression: &str) -> String {
    let function = expression.split('(').next().unwrap_or_default();
    let arguments = expression
        .strip_prefix(function)
        .and_then(|rest| rest.strip_prefix('('))
        .and_then(|rest| rest.strip_suffix(')'));
    let is_call = super::edits::is_name(function) && arguments.is_some_and(is_balanced);
    if is_call { expression.to_owned() } else { format!("({expression})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_whole_call_needs_no_parentheses() {
        assert_eq!(as_operand("F.trim(F.col(c))"), "F.trim(F.col(c))");
        assert_eq!(as_operand("F.a(c) + F.b(c)"), "(F.a(c) + F.b(c))");
        assert_eq!(as_operand("df[c]"), "(df[c])");
    }

    #[test]
    fn a_variable_is_a_whole_word() {
        assert!(names("F.col(name)", "name") && names("name + '_x'", "name"));
        assert!(!names("F.col(rename)", "name") && !names("row.name", "name"));
    }
}
