//! Names that stand for one value in the whole file.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::pyspark::ir::{Clause, Expr, ExprId, ParamKind, Stmt, StmtNode};
use crate::pyspark::value::Code;
use crate::text::Span;

/// Where a name gets its one value; `None` if it gets several, or one that the file doesn't tell.
type Bound<'a> = Option<(Code<'a>, ExprId)>;

/// The names of a file with the values that they are bound to, read when somebody asks for the first one: few files
/// hand names to the jobs that they start.
pub(super) struct Names<'a, 's> {
    text: &'a str,
    statements: &'s [Code<'a>],
    read: OnceCell<Read<'a>>,
}

impl<'a, 's> Names<'a, 's> {
    /// Every name that is bound somewhere in these statements.
    pub(super) fn of(text: &'a str, statements: &'s [Code<'a>]) -> Self {
        Self { text, statements, read: OnceCell::new() }
    }

    /// The one value of a name.
    pub(super) fn value(&self, name: &str) -> Bound<'a> {
        let read = self.read.get_or_init(|| Read::of(self.text, self.statements));
        read.by_name.get(name).copied().flatten()
    }
}

struct Read<'a> {
    text: &'a str,
    by_name: FxHashMap<&'a str, Bound<'a>>,
}

impl<'a> Read<'a> {
    fn of(text: &'a str, tops: &[Code<'a>]) -> Self {
        let mut names = Self { text, by_name: FxHashMap::default() };
        for code in tops {
            names.block(*code, &code.top.body);
            for function in &code.top.functions {
                function.params.iter().for_each(|param| names.parameter(*code, param.name, param.kind));
                names.block(*code, &function.body);
            }
            code.top.classes.iter().for_each(|class| names.block(*code, &class.body));
            for node in &code.top.exprs {
                if let Expr::Comprehension(comprehension) = &node.expr {
                    for clause in &comprehension.clauses {
                        if let Clause::For { target, .. } = clause {
                            names.target(*code, *target);
                        }
                    }
                }
            }
        }
        names
    }

    fn bind(&mut self, code: Code<'a>, name: Span, value: Option<ExprId>) {
        let value = value.map(|value| (code, value));
        self.by_name.entry(code.span(name).of(self.text)).and_modify(|known| *known = None).or_insert(value);
    }

    fn parameter(&mut self, code: Code<'a>, name: Span, kind: ParamKind) {
        if matches!(kind, ParamKind::Plain | ParamKind::KeywordOnly) {
            self.bind(code, name, None);
        }
    }

    /// A target that gets values in turn.
    fn target(&mut self, code: Code<'a>, id: ExprId) {
        let node = code.top.expr(id);
        match &node.expr {
            Expr::Name => self.bind(code, node.span, None),
            Expr::Tuple(targets) | Expr::List(targets) => targets.iter().for_each(|id| {
                let node = code.top.expr(*id);
                if node.expr == Expr::Name {
                    self.bind(code, node.span, None);
                }
            }),
            _ => {}
        }
    }

    fn block(&mut self, code: Code<'a>, block: &'a [StmtNode]) {
        for node in block {
            match &node.stmt {
                Stmt::Assign { targets, value: Some(value), .. } => match targets[..] {
                    [target] if code.top.expr(target).expr == Expr::Name => {
                        self.bind(code, code.top.expr(target).span, Some(*value));
                    }
                    _ => targets.iter().for_each(|target| self.target(code, *target)),
                },
                Stmt::Augment { target, .. } => {
                    // What is added to is no longer what was assigned.
                    self.target(code, *target);
                    self.target(code, *target);
                }
                Stmt::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.block(code, body));
                    otherwise.iter().for_each(|body| self.block(code, body));
                }
                Stmt::For { target, body, otherwise, .. } => {
                    self.target(code, *target);
                    self.block(code, body);
                    self.block(code, otherwise);
                }
                Stmt::While { body, otherwise, .. } => {
                    self.block(code, body);
                    self.block(code, otherwise);
                }
                Stmt::Try { body, handlers, otherwise, finally } => {
                    let blocks = [body, otherwise, finally].into_iter().chain(handlers);
                    blocks.for_each(|body| self.block(code, body));
                }
                Stmt::With { items, body } => {
                    items.iter().filter_map(|(_, target)| *target).for_each(|target| self.target(code, target));
                    self.block(code, body);
                }
                Stmt::Match { cases, .. } => cases.iter().for_each(|case| self.block(code, &case.body)),
                Stmt::Broken(body) => self.block(code, body),
                _ => {}
            }
        }
    }
}
