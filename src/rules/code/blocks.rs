//! Which of two statements run together, told by indentation and the keywords between them.

use crate::text::Span;

/// How sure it is that one run of the code executes two statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Together {
    /// Never: branches that exclude each other, or a `return` between.
    Never,
    /// Only if a condition holds.
    Maybe,
    /// Always.
    Always,
}

/// Whether two statements of one function, the first one before the second, run together.
pub(super) fn together(text: &str, first: Span, second: Span) -> Together {
    let (Some(from), Some(to)) = (indent(text, first), indent(text, second)) else { return Together::Maybe };
    let between = text.get(first.end as usize..(second.start as usize).max(first.end as usize)).unwrap_or_default();
    let lines = between.lines().skip(1).filter(|line| !line.trim().is_empty());
    let mut block = from;
    // `if df.count() > 0:` and `df.write...` in its body: the check is there to let the body run.
    let mut in_body = is_condition(text, first) && from < to;
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        let word = line.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if indent < block && matches!(word, "else" | "elif" | "except" | "case") {
            return Together::Never;
        }
        if indent == block && matches!(word, "return" | "raise" | "continue" | "break") {
            return Together::Never;
        }
        block = block.min(indent);
        in_body &= indent > from;
    }
    if starts_with_word(first.of(text), "return") {
        return Together::Never;
    }
    if in_body || from == to && block >= to { Together::Always } else { Together::Maybe }
}

/// Whether the span is the condition of an `if` or `while`.
fn is_condition(text: &str, span: Span) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    ["if", "while"].contains(&line.trim())
}

fn starts_with_word(statement: &str, word: &str) -> bool {
    statement.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn indent(text: &str, statement: Span) -> Option<usize> {
    let before = text.get(..statement.start as usize)?;
    let line = before.rsplit(['\n', '\r']).next()?.trim_start_matches('\u{feff}');
    Some(line.len() - line.trim_start().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Together {
        let statement = |name: &str| {
            let at = text.find(name).expect("the statement is there");
            Span::new(at, at + name.len())
        };
        together(text, statement("a()"), statement("b()"))
    }

    #[test]
    fn statements_of_one_block_run_together() {
        assert_eq!(check("a()\nb()\n"), Together::Always);
        assert_eq!(check("if x:\n    a()\n    y()\n\n    b()\n"), Together::Always);
        assert_eq!(check("a()\nif x:\n    return\nb()\n"), Together::Always);
    }

    #[test]
    fn a_condition_runs_with_its_body() {
        assert_eq!(check("if a():\n    x()\n    b()\n"), Together::Always);
        assert_eq!(check("if a():\n    x()\nelse:\n    b()\n"), Together::Maybe);
    }

    #[test]
    fn statements_under_a_condition_may() {
        assert_eq!(check("if x:\n    a()\nb()\n"), Together::Maybe);
        assert_eq!(check("a()\nif x:\n    b()\n"), Together::Maybe);
        assert_eq!(check("if x:\n    a()\nif y:\n    b()\n"), Together::Maybe);
    }

    #[test]
    fn branches_and_returns_exclude_each_other() {
        assert_eq!(check("if x:\n    a()\nelse:\n    b()\n"), Together::Never);
        assert_eq!(check("try:\n    a()\nexcept E:\n    b()\n"), Together::Never);
        assert_eq!(check("if x:\n    a()\n    return\nb()\n"), Together::Never);
        assert_eq!(check("if x:\n    return a()\nb()\n"), Together::Maybe, "the statement is `a()` here");
    }
}
