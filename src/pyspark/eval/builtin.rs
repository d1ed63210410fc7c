//! Python functions as expressions of `pyspark.sql.functions`, where each of their steps has one.

use super::Interpreter;
use super::builtin_terms::{Kind, Term, number, quoted};
use crate::pyspark::ir::{Expr, ExprId, Function, Operator, Stmt, StmtNode};
use crate::pyspark::value::Code;
use crate::text::Span;

/// Deeper expressions and longer bodies are left alone: nobody reads them as one expression.
const MOST_STEPS: usize = 60;

/// What is read of one function.
pub(super) struct Body<'i, 'a> {
    pub(super) interpreter: &'i Interpreter<'a>,
    pub(super) code: Code<'a>,
    /// Parameters and local names, by what they stand for.
    names: Vec<(&'a str, Term)>,
    /// What the declared type of the result tells of operands that nothing else tells of.
    returns: Kind,
    steps: usize,
}

/// The same as a function's result as an expression of built-in functions, with `{0}` for the column that its first
/// parameter gets; other braces are doubled. `declared` is the text that holds the type of the result.
pub(super) fn expression<'a>(
    interpreter: &Interpreter<'a>,
    code: Code<'a>,
    function: &'a Function,
    declared: &str,
) -> Option<String> {
    let mut names = Vec::new();
    for (index, param) in function.params.iter().enumerate() {
        let kind = match param.annotation {
            // Objects of other classes have operators of their own.
            Some(span) => Kind::of_annotation(interpreter.str(code, span)),
            None => Some(Kind::Any),
        };
        let column = kind.map(|kind| Term::column(format!("{{{index}}}"), kind));
        names.extend(column.map(|column| (interpreter.str(code, param.name), column)));
    }
    let returns = match function.returns {
        Some(span) => Kind::of_annotation(interpreter.str(code, span)).unwrap_or(Kind::Any),
        None => Kind::of_type(declared),
    };
    let mut body = Body { interpreter, code, names, returns, steps: 0 };
    let result = match function.value {
        Some(value) => body.term(value)?,
        None => body.block(&function.body)?,
    };
    // A parameter or a constant alone is no work.
    let is_param = result.code.strip_prefix('{').and_then(|code| code.strip_suffix('}'));
    let works = is_param.is_none_or(|index| index.parse::<usize>().is_err());
    (!result.literal && works).then_some(result.code)
}

impl<'a> Body<'_, 'a> {
    /// `if …: return …`, assignments of local names, and a `return`.
    fn block(&mut self, block: &'a [StmtNode]) -> Option<Term> {
        self.step()?;
        // A function that ends without `return` returns nothing.
        let Some((first, rest)) = block.split_first() else { return Some(Term::none()) };
        let is_text = |id: &ExprId| matches!(self.code.top.expr(*id).expr, Expr::Text(_));
        match &first.stmt {
            Stmt::Nothing => self.block(rest),
            Stmt::Expr(id) if is_text(id) => self.block(rest),
            Stmt::Return(Some(value)) => self.term(*value),
            Stmt::Return(None) => Some(Term::none()),
            Stmt::Assign { targets, value: Some(value), .. } => {
                let [target] = &**targets else { return None };
                if self.code.top.expr(*target).expr != Expr::Name {
                    return None;
                }
                let term = self.term(*value)?;
                let name = self.text(*target);
                self.names.retain(|(known, _)| *known != name);
                self.names.push((name, term));
                self.block(rest)
            }
            Stmt::If { branches, otherwise } => {
                let names = self.names.clone();
                let mut cases = Vec::new();
                for (test, then) in branches {
                    let returns = matches!(then.last().map(|last| &last.stmt), Some(Stmt::Return(_)));
                    let test = self.test(*test)?;
                    let then = if returns { self.block(then)? } else { return None };
                    self.names.clone_from(&names);
                    cases.push((test, then));
                }
                let last = match otherwise {
                    Some(block) if rest.is_empty() => self.block(block)?,
                    Some(_) => return None,
                    None => self.block(rest)?,
                };
                cases.into_iter().rev().try_fold(last, |last, (test, then)| choice(test, then, last))
            }
            _ => None,
        }
    }

    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= MOST_STEPS).then_some(())
    }

    pub(super) fn text(&self, id: ExprId) -> &'a str {
        self.interpreter.source_of(self.code, id)
    }

    /// The content of a plain string literal.
    pub(super) fn plain_text(&self, id: ExprId) -> Option<&'a str> {
        match &self.code.top.expr(id).expr {
            Expr::Text(text) if !text.bytes && !text.format => {
                let content = self.interpreter.str(self.code, text.content);
                (text.raw || !content.contains('\\')).then_some(content)
            }
            _ => None,
        }
    }

    /// An expression as a column or a literal.
    pub(super) fn term(&mut self, id: ExprId) -> Option<Term> {
        self.step()?;
        match &self.code.top.expr(id).expr {
            Expr::Name => {
                let name = self.text(id);
                self.names.iter().find(|(known, _)| *known == name).map(|(_, term)| term.clone())
            }
            Expr::Text(_) => self.plain_text(id).and_then(quoted).map(|code| Term::literal(code, Kind::Text)),
            Expr::Integer | Expr::Float => Some(Term::literal(self.text(id).to_owned(), Kind::Number)),
            Expr::True => Some(Term::literal("True".to_owned(), Kind::Bool)),
            Expr::False => Some(Term::literal("False".to_owned(), Kind::Bool)),
            Expr::None => Some(Term::none()),
            Expr::Template(parts) => self.template(parts),
            Expr::Binary { operator, left, right } => self.binary(*operator, *left, *right),
            Expr::Compare { operands, .. } => self.comparison(operands),
            Expr::Not(operand) => self.test(*operand).map(|test| test.negated()),
            Expr::Either(left, right) => self.either(*left, *right),
            Expr::Unary { minus: true, operand } => {
                let term = self.term(*operand)?;
                let kind = if term.literal { term.kind } else { Kind::Number };
                Some(Term {
                    code: format!("-{}", term.operand()),
                    kind,
                    literal: term.literal,
                    atom: false,
                    choice: false,
                })
            }
            Expr::Conditional { test, then, otherwise } => {
                let test = self.test(*test)?;
                let (then, otherwise) = (self.term(*then)?, self.term(*otherwise)?);
                choice(test, then, otherwise)
            }
            Expr::Subscript { object, index } => match &**index {
                [index] => self.subscript(*object, *index),
                _ => None,
            },
            Expr::Call { .. } => self.call(id),
            _ => None,
        }
    }

    /// An expression as a condition.
    fn test(&mut self, id: ExprId) -> Option<Term> {
        let term = self.term(id)?;
        match term.kind {
            Kind::Bool if !term.literal => Some(term),
            Kind::Text if !term.literal => Some(Term::condition(format!("{} != \"\"", term.operand()))),
            Kind::Number if !term.literal => Some(Term::condition(format!("{} != 0", term.operand()))),
            // `if s:` of a column whose type isn't told: it is there.
            Kind::Any if !term.literal => Some(Term { atom: true, ..Term::condition(term.is_there()) }),
            _ => None,
        }
    }

    fn either(&mut self, left: ExprId, right: ExprId) -> Option<Term> {
        let is_and = self.interpreter.text_at(self.between(left, right)).contains("and");
        let first = self.term(left)?;
        let second = self.term(right)?;
        match (first.kind, second.kind) {
            (Kind::Bool, Kind::Bool) if !first.literal && !second.literal => {
                let operator = if is_and { "&" } else { "|" };
                Some(Term::condition(format!("{} {operator} {}", first.operand(), second.operand())))
            }
            // `s and s.lower()`: nothing stays nothing.
            (Kind::Any | Kind::Text, _) if is_and && second.passes_null() && second.kind != Kind::Bool => Some(second),
            // `s or "unknown"`.
            (Kind::Any | Kind::Text, _) if !is_and && !first.literal => {
                Some(Term::column(format!("F.coalesce({}, {})", first.code, second.as_column()), second.kind))
            }
            _ => None,
        }
    }

    fn template(&mut self, parts: &'a [ExprId]) -> Option<Term> {
        let mut columns = Vec::new();
        for &part in parts {
            if let Expr::Text(text) = &self.code.top.expr(part).expr {
                let content = self.interpreter.str(self.code, text.content);
                if content.contains(['\\', '{', '}']) {
                    return None;
                }
                if !content.is_empty() {
                    columns.push(format!("F.lit({})", quoted(content)?));
                }
                continue;
            }
            // `{x:.2f}` and `{x!r}` have a format of their own.
            if !self.code.behind(self.code.top.expr(part).span).trim_start().starts_with('}') {
                return None;
            }
            columns.push(self.term(part)?.as_column());
        }
        (columns.len() > 1).then(|| Term::column(format!("F.concat({})", columns.join(", ")), Kind::Text))
    }

    fn binary(&mut self, operator: Operator, left: ExprId, right: ExprId) -> Option<Term> {
        let (first, second) = (self.term(left)?, self.term(right)?);
        if first.literal && second.literal {
            return None;
        }
        let word = self.interpreter.text_at(self.between(left, right)).trim_matches([' ', '(', ')', '\n', '\\']);
        let is = |kind| first.kind == kind || second.kind == kind;
        let unknown = first.kind == Kind::Any && second.kind == Kind::Any;
        let text = is(Kind::Text) || unknown && self.returns == Kind::Text && operator == Operator::Add;
        if is(Kind::Array) || is(Kind::Bool) || is(Kind::Time) {
            return None;
        }
        if text {
            let columns = format!("F.concat({}, {})", first.as_column(), second.as_column());
            return (operator == Operator::Add).then(|| Term::column(columns, Kind::Text));
        }
        if unknown && operator == Operator::Add && self.returns != Kind::Number {
            return None;
        }
        let (a, b) = (first.operand(), second.operand());
        Some(match (operator, word) {
            (Operator::Power, _) => Term::column(format!("F.pow({}, {})", first.code, second.code), Kind::Number),
            (_, "//") => Term::column(format!("F.floor({a} / {b})"), Kind::Number),
            (_, "+" | "-" | "*" | "/" | "%") => {
                Term { code: format!("{a} {word} {b}"), kind: Kind::Number, literal: false, atom: false, choice: false }
            }
            _ => return None,
        })
    }

    fn comparison(&mut self, operands: &'a [ExprId]) -> Option<Term> {
        let mut conditions = Vec::new();
        for pair in operands.windows(2) {
            let [left, right] = pair else { return None };
            conditions.push(self.compared(*left, *right)?);
        }
        match &conditions[..] {
            [only] => Some(only.clone()),
            [first, rest @ ..] => {
                let all = rest.iter().fold(first.operand(), |all, next| format!("{all} & {}", next.operand()));
                Some(Term::condition(all))
            }
            [] => None,
        }
    }

    fn compared(&mut self, left: ExprId, right: ExprId) -> Option<Term> {
        let word = self.interpreter.text_at(self.between(left, right)).trim_matches([' ', '(', ')', '\n', '\\']);
        let word = word.split_whitespace().collect::<Vec<_>>().join(" ");
        if matches!(word.as_str(), "in" | "not in") {
            let is_in = self.contained(left, right)?;
            return Some(if word == "in" { is_in } else { is_in.negated() });
        }
        let (first, second) = (self.term(left)?, self.term(right)?);
        if second.code == "None" && !first.literal {
            let none = format!("{}.isNull()", first.receiver());
            let there = format!("{}.isNotNull()", first.receiver());
            return match word.as_str() {
                "is" | "==" => Some(Term { atom: true, ..Term::condition(none) }),
                "is not" | "!=" => Some(Term { atom: true, ..Term::condition(there) }),
                _ => None,
            };
        }
        let known = matches!(word.as_str(), "==" | "!=" | "<" | ">" | "<=" | ">=");
        (known && !(first.literal && second.literal))
            .then(|| Term::condition(format!("{} {word} {}", first.operand(), second.operand())))
    }

    fn contained(&mut self, left: ExprId, right: ExprId) -> Option<Term> {
        let within = match &self.code.top.expr(right).expr {
            Expr::List(items) | Expr::Tuple(items) => {
                let column = self.term(left)?;
                let items: Option<Vec<Term>> = items.iter().map(|item| self.term(*item)).collect();
                let items = items.filter(|items| items.iter().all(|item| item.literal && item.code != "None"))?;
                let items: Vec<String> = items.into_iter().map(|item| item.code).collect();
                if column.literal {
                    return None;
                }
                format!("{}.isin({})", column.receiver(), items.join(", "))
            }
            _ => {
                let (part, whole) = (self.term(left)?, self.term(right)?);
                match whole.kind {
                    Kind::Array if !whole.literal => format!("F.array_contains({}, {})", whole.code, part.code),
                    Kind::Text | Kind::Any if !whole.literal && part.kind == Kind::Text => {
                        format!("{}.contains({})", whole.receiver(), part.code)
                    }
                    _ => return None,
                }
            }
        };
        Some(Term { atom: true, ..Term::condition(within) })
    }

    fn subscript(&mut self, object: ExprId, index: ExprId) -> Option<Term> {
        if let Some(json) = self.json_path(object, index) {
            return Some(json);
        }
        let column = self.term(object)?;
        if column.literal {
            return None;
        }
        let written = self.text(index);
        if self.code.top.expr(index).expr == Expr::Slice {
            return match column.kind {
                Kind::Text => slice(&column, written),
                Kind::Any if self.returns != Kind::Array => slice(&column, written),
                _ => None,
            };
        }
        let at = number(written);
        match (column.kind, at) {
            (Kind::Array, Some(at)) if at >= 0 => Some(Term::column(format!("{}[{at}]", column.receiver()), Kind::Any)),
            (Kind::Array, Some(at)) => Some(Term::column(format!("F.element_at({}, {at})", column.code), Kind::Any)),
            (Kind::Text, Some(at)) => {
                let first = if at >= 0 { at + 1 } else { at };
                Some(Term::column(format!("F.substring({}, {first}, 1)", column.code), Kind::Text))
            }
            _ => None,
        }
        .map(|term| {
            if column.kind == Kind::Array && column.code.starts_with("F.split(") {
                Term { kind: Kind::Text, ..term }
            } else {
                term
            }
        })
    }

    /// What stands between two operands.
    fn between(&self, left: ExprId, right: ExprId) -> Span {
        Span {
            start: self.interpreter.span_of(self.code, left).end,
            end: self.interpreter.span_of(self.code, right).start,
        }
    }
}

/// `then` where `test` holds, else `otherwise`.
fn choice(test: Term, then: Term, otherwise: Term) -> Option<Term> {
    // `if s is None: return None` before functions that make nothing of nothing.
    if then.code == "None" && test.code.ends_with(".isNull()") && otherwise.passes_null() {
        return Some(otherwise);
    }
    if then.code == "None"
        && test.code.ends_with(".isNotNull())")
        && test.code.starts_with("~(")
        && otherwise.passes_null()
    {
        return Some(otherwise);
    }
    if otherwise.code == "None" && test.code.ends_with(".isNotNull()") && then.passes_null() {
        return Some(then);
    }
    let kind = if then.code == "None" { otherwise.kind } else { then.kind };
    let rest = match otherwise.code.strip_prefix("F.when(") {
        Some(cases) if otherwise.choice => format!(".when({cases}"),
        _ if otherwise.code == "None" => String::new(),
        _ => format!(".otherwise({})", otherwise.code),
    };
    let code = format!("F.when({}, {}){rest}", test.code, then.code);
    Some(Term { choice: true, ..Term::column(code, kind) })
}

/// `s[:3]`, `s[2:5]`, `s[-4:]`, `s[2:]`.
fn slice(column: &Term, written: &str) -> Option<Term> {
    let (from, to) = written.split_once(':')?;
    let bound = |text: &str| if text.trim().is_empty() { Some(None) } else { number(text).map(Some) };
    let column_code = &column.code;
    let code = match (bound(from)?, bound(to)?) {
        (None | Some(0), Some(to)) if to > 0 => format!("F.substring({column_code}, 1, {to})"),
        (Some(from), Some(to)) if from > 0 && to > from => {
            format!("F.substring({column_code}, {}, {})", from + 1, to - from)
        }
        (Some(from), None) if from < 0 => format!("F.substring({column_code}, {from}, {})", -from),
        (Some(from), None) if from > 0 => {
            format!("{}.substr(F.lit({}), F.length({column_code}))", column.receiver(), from + 1)
        }
        _ => return None,
    };
    Some(Term::column(code, Kind::Text))
}
