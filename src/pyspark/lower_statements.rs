//! Statements, functions and classes of the lowering.

use tree_sitter::TreeCursor;

use super::ir::{
    Block, Case, Class, ClassId, ExprId, Function, FunctionId, Imported, Param, ParamKind, Stmt, StmtNode,
};
use super::kinds::{Field, Kind, field, kind};
use super::lower::{Lowering, operator};
use crate::text::Span;

impl Lowering<'_> {
    /// Lowers the cursor's node as a statement into `block`.
    pub(super) fn statement(&mut self, cursor: &mut TreeCursor<'_>, block: &mut Block) {
        let stmt = match kind(cursor) {
            Kind::Comment => return,
            Kind::ExpressionStatement => return self.expression_statement(cursor, block),
            Kind::Assignment | Kind::Augmented => self.assignment(cursor),
            Kind::Return => Stmt::Return(self.exprs(cursor).first().copied()),
            Kind::Raise => Stmt::Raise(self.exprs(cursor)),
            Kind::Break => Stmt::Break,
            Kind::Continue => Stmt::Continue,
            Kind::If => self.if_statement(cursor),
            Kind::For => self.for_statement(cursor),
            Kind::While => self.while_statement(cursor),
            Kind::Try => self.try_statement(cursor),
            Kind::With => self.with_statement(cursor),
            Kind::Match => self.match_statement(cursor),
            Kind::Function => Stmt::Function(self.function(cursor, Box::default())),
            Kind::Class => Stmt::Class(self.class(cursor)),
            Kind::Decorated => self.decorated(cursor),
            Kind::Import | Kind::ImportFrom => self.import(cursor),
            Kind::Delete => self.delete(cursor),
            Kind::Global | Kind::Nonlocal => {
                let nonlocal = kind(cursor) == Kind::Nonlocal;
                let mut names = Vec::new();
                self.children(cursor, |this, cursor| {
                    if kind(cursor) == Kind::Identifier {
                        names.push(this.span(cursor));
                    }
                });
                Stmt::Outer(names.into(), nonlocal)
            }
            Kind::FutureImport => Stmt::Import(Box::default()),
            Kind::Pass => Stmt::Nothing,
            Kind::Error => Stmt::Broken(self.broken(cursor)),
            Kind::Block => Stmt::Broken(self.block(cursor)),
            _ => Stmt::Expr(self.expr(cursor)),
        };
        let node = self.statement_node(cursor, stmt);
        block.push(node);
    }

    fn expression_statement(&mut self, cursor: &mut TreeCursor<'_>, block: &mut Block) {
        let span = self.span(cursor);
        self.children(cursor, |this, cursor| {
            if !cursor.node().is_named() || kind(cursor) == Kind::Comment {
                return;
            }
            let stmt = match kind(cursor) {
                Kind::Assignment | Kind::Augmented => this.assignment(cursor),
                Kind::Error => Stmt::Broken(this.broken(cursor)),
                _ => Stmt::Expr(this.expr(cursor)),
            };
            block.push(StmtNode { span, stmt });
        });
    }

    /// What can be read in a part that is no Python: statements, and `name = value` without its end.
    fn broken(&mut self, cursor: &mut TreeCursor<'_>) -> Block {
        let mut block = Block::new();
        let mut assigns = false;
        self.deeper(|this| {
            this.children(cursor, |this, cursor| {
                if cursor.node().is_named() {
                    let before = block.len();
                    this.statement(cursor, &mut block);
                    if std::mem::take(&mut assigns) && block.len() == before + 1 {
                        join_assignment(&mut block);
                    }
                } else {
                    assigns = this.text_of(cursor) == "=";
                }
            });
        });
        block
    }

    fn assignment(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let (mut targets, mut annotation, mut value, mut augmented) = (Vec::new(), None, None, None);
        let mut levels = 0;
        // `a = b = c` nests to the right; the loop keeps the stack flat.
        'levels: loop {
            if !cursor.goto_first_child() {
                break;
            }
            levels += 1;
            loop {
                match (field(cursor), kind(cursor)) {
                    (Field::Right, Kind::Assignment) => continue 'levels,
                    (Field::Right, _) => value = Some(self.expr(cursor)),
                    (Field::Left, _) => targets.push(self.expr(cursor)),
                    (Field::Type, _) => annotation = Some(self.span(cursor)),
                    (Field::Operator, _) => augmented = Some(operator(self.text_of(cursor))),
                    _ => {}
                }
                if !cursor.goto_next_sibling() {
                    break 'levels;
                }
            }
        }
        for _ in 0..levels {
            cursor.goto_parent();
        }
        match (augmented, targets.first(), value) {
            (Some(operator), Some(&target), Some(value)) => Stmt::Augment { target, operator, value },
            _ => Stmt::Assign { targets: targets.into(), annotation, value },
        }
    }

    fn if_statement(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let (mut branches, mut otherwise) = (Vec::new(), None);
        let mut test = None;
        self.children(cursor, |this, cursor| match (field(cursor), kind(cursor)) {
            (Field::Condition, _) => test = Some(this.expr(cursor)),
            (Field::Consequence, _) => {
                let body = this.block(cursor);
                branches.extend(test.take().map(|test| (test, body)));
            }
            (_, Kind::Elif) => branches.extend(this.elif(cursor)),
            (_, Kind::Else) => otherwise = Some(this.clause_body(cursor)),
            _ => {}
        });
        Stmt::If { branches, otherwise }
    }

    fn elif(&mut self, cursor: &mut TreeCursor<'_>) -> Option<(ExprId, Block)> {
        let (mut test, mut body) = (None, Block::new());
        self.children(cursor, |this, cursor| match field(cursor) {
            Field::Condition => test = Some(this.expr(cursor)),
            Field::Consequence => body = this.block(cursor),
            _ => {}
        });
        Some((test?, body))
    }

    /// The block of `else`, `except`, `finally`, `case`.
    fn clause_body(&mut self, cursor: &mut TreeCursor<'_>) -> Block {
        let mut body = Block::new();
        self.children(cursor, |this, cursor| {
            if kind(cursor) == Kind::Block {
                body = this.block(cursor);
            }
        });
        body
    }

    /// From the loop's keyword to its colon.
    fn header(&mut self, cursor: &mut TreeCursor<'_>) -> Span {
        let start = cursor.node().start_byte();
        let mut end = start;
        self.children(cursor, |_, cursor| {
            if field(cursor) != Field::Body && kind(cursor) != Kind::Else && kind(cursor) != Kind::Comment {
                end = end.max(cursor.node().end_byte());
            }
        });
        self.between(start, end)
    }

    fn for_statement(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let header = self.header(cursor);
        let (mut target, mut iterable, mut body, mut otherwise) = (None, None, Block::new(), Block::new());
        self.children(cursor, |this, cursor| match (field(cursor), kind(cursor)) {
            (Field::Left, _) => target = Some(this.expr(cursor)),
            (Field::Right, _) => iterable = Some(this.expr(cursor)),
            (Field::Body, _) => body = this.block(cursor),
            (_, Kind::Else) => otherwise = this.clause_body(cursor),
            _ => {}
        });
        match (target, iterable) {
            (Some(target), Some(iterable)) => Stmt::For { header, target, iterable, body, otherwise },
            _ => Stmt::Broken(body),
        }
    }

    fn while_statement(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let header = self.header(cursor);
        let (mut test, mut body, mut otherwise) = (None, Block::new(), Block::new());
        self.children(cursor, |this, cursor| match (field(cursor), kind(cursor)) {
            (Field::Condition, _) => test = Some(this.expr(cursor)),
            (Field::Body, _) => body = this.block(cursor),
            (_, Kind::Else) => otherwise = this.clause_body(cursor),
            _ => {}
        });
        match test {
            Some(test) => Stmt::While { header, test, body, otherwise },
            None => Stmt::Broken(body),
        }
    }

    fn try_statement(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let (mut body, mut handlers, mut otherwise, mut finally) =
            (Block::new(), Vec::new(), Block::new(), Block::new());
        self.children(cursor, |this, cursor| match (field(cursor), kind(cursor)) {
            (Field::Body, _) => body = this.block(cursor),
            (_, Kind::Except) => handlers.push(this.clause_body(cursor)),
            (_, Kind::Else) => otherwise = this.clause_body(cursor),
            (_, Kind::Finally) => finally = this.clause_body(cursor),
            _ => {}
        });
        Stmt::Try { body, handlers, otherwise, finally }
    }

    fn with_statement(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let (mut items, mut body) = (Vec::new(), Block::new());
        self.children(cursor, |this, cursor| match (field(cursor), kind(cursor)) {
            (Field::Body, _) => body = this.block(cursor),
            (_, Kind::WithClause) => this.children(cursor, |this, cursor| {
                if kind(cursor) == Kind::WithItem {
                    this.children(cursor, |this, cursor| {
                        if field(cursor) == Field::Value {
                            items.extend(this.with_item(cursor));
                        }
                    });
                }
            }),
            _ => {}
        });
        Stmt::With { items: items.into(), body }
    }

    fn with_item(&mut self, cursor: &mut TreeCursor<'_>) -> Option<(ExprId, Option<ExprId>)> {
        if kind(cursor) != Kind::AsPattern {
            return Some((self.expr(cursor), None));
        }
        let (mut value, mut alias) = (None, None);
        self.children(cursor, |this, cursor| {
            if field(cursor) == Field::Alias {
                alias = Some(this.expr(cursor));
            } else if cursor.node().is_named() {
                value = Some(this.expr(cursor));
            }
        });
        Some((value?, alias))
    }

    fn match_statement(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let (mut subject, mut cases) = (None, Vec::new());
        self.children(cursor, |this, cursor| match field(cursor) {
            Field::Subject => subject = Some(this.expr(cursor)),
            Field::Body => this.children(cursor, |this, cursor| {
                if kind(cursor) == Kind::Case {
                    cases.push(this.case(cursor));
                }
            }),
            _ => {}
        });
        Stmt::Match { subject, cases }
    }

    fn case(&mut self, cursor: &mut TreeCursor<'_>) -> Case {
        let (mut names, mut whole, mut body) = (Vec::new(), None, Block::new());
        self.children(cursor, |this, cursor| match kind(cursor) {
            Kind::CasePattern => {
                let before = names.len();
                this.pattern_names(cursor, &mut names);
                // A lone name, or the one behind `as`, is the subject itself.
                let pattern = this.text_of(cursor).trim();
                let last = pattern.rsplit_once(" as ").map_or(pattern, |(_, name)| name.trim());
                let is_whole = |name: &&Span| name.end as usize + this.base() == cursor.node().end_byte();
                whole = names[before..].last().filter(is_whole).filter(|name| name.len() == last.len()).copied();
            }
            Kind::Block => body = this.block(cursor),
            _ => {}
        });
        Case { names: names.into(), whole, body }
    }

    /// Names that a pattern binds: those without a dot that are no class and no keyword.
    fn pattern_names(&mut self, cursor: &mut TreeCursor<'_>, names: &mut Vec<Span>) {
        self.deeper(|this| {
            let parent = kind(cursor);
            let mut first = true;
            this.children(cursor, |this, cursor| {
                let is_first = std::mem::take(&mut first);
                match kind(cursor) {
                    Kind::DottedName | Kind::Identifier => {
                        let is_label = is_first && matches!(parent, Kind::ClassPattern | Kind::KeywordPattern);
                        let text = this.text_of(cursor);
                        if !is_label && !text.contains('.') && text != "_" {
                            names.push(this.span(cursor));
                        }
                    }
                    Kind::Block | Kind::Comment => {}
                    _ => this.pattern_names(cursor, names),
                }
            });
        });
    }

    fn decorated(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let (mut decorators, mut stmt) = (Vec::new(), Stmt::Nothing);
        self.children(cursor, |this, cursor| match kind(cursor) {
            Kind::Decorator => decorators.extend(this.exprs(cursor)),
            Kind::Function => stmt = Stmt::Function(this.function(cursor, std::mem::take(&mut decorators).into())),
            Kind::Class => stmt = Stmt::Class(this.class(cursor)),
            _ => {}
        });
        stmt
    }

    fn function(&mut self, cursor: &mut TreeCursor<'_>, decorators: Box<[ExprId]>) -> FunctionId {
        let first = self.top.exprs.len() as u32;
        let mut function = Function {
            name: Span::default(),
            span: self.span(cursor),
            params: Vec::new(),
            returns: None,
            decorators,
            body: Block::new(),
            value: None,
            exprs: (first, first),
        };
        self.children(cursor, |this, cursor| match field(cursor) {
            Field::Name => function.name = this.span(cursor),
            Field::Parameters => function.params = this.parameters(cursor),
            Field::ReturnType => function.returns = Some(this.span(cursor)),
            Field::Body => function.body = this.block(cursor),
            _ => {}
        });
        self.push_function(function)
    }

    pub(super) fn lambda(&mut self, cursor: &mut TreeCursor<'_>) -> Option<FunctionId> {
        let first = self.top.exprs.len() as u32;
        let span = self.span(cursor);
        let (mut params, mut value) = (Vec::new(), None);
        self.children(cursor, |this, cursor| match field(cursor) {
            Field::Parameters => params = this.parameters(cursor),
            Field::Body => value = Some(this.expr(cursor)),
            _ => {}
        });
        Some(self.push_function(Function {
            name: Span { start: span.start, end: span.start },
            span,
            params,
            returns: None,
            decorators: Box::default(),
            body: Block::new(),
            value: Some(value?),
            exprs: (first, first),
        }))
    }

    fn push_function(&mut self, mut function: Function) -> FunctionId {
        function.exprs.1 = self.top.exprs.len() as u32;
        self.top.functions.push(function);
        FunctionId(self.top.functions.len() as u32 - 1)
    }

    fn parameters(&mut self, cursor: &mut TreeCursor<'_>) -> Vec<Param> {
        let mut params = Vec::new();
        let mut plain = ParamKind::Plain;
        self.children(cursor, |this, cursor| {
            let kind = kind(cursor);
            let mut param = Param { name: this.span(cursor), annotation: None, default: None, kind: plain };
            match kind {
                Kind::Identifier => {}
                Kind::KeywordSeparator => {
                    plain = ParamKind::KeywordOnly;
                    return;
                }
                Kind::ListSplatPattern | Kind::DictionarySplatPattern => this.splat_parameter(cursor, &mut param),
                Kind::Typed | Kind::DefaultParameter | Kind::TypedDefault => {
                    this.children(cursor, |this, cursor| match (field(cursor), super::kinds::kind(cursor)) {
                        (Field::Type, _) => param.annotation = Some(this.span(cursor)),
                        (Field::Value, _) => param.default = Some(this.expr(cursor)),
                        (_, Kind::Identifier) => param.name = this.span(cursor),
                        (_, Kind::ListSplatPattern | Kind::DictionarySplatPattern) => {
                            this.splat_parameter(cursor, &mut param)
                        }
                        _ => {}
                    });
                }
                _ => return,
            }
            if param.kind == ParamKind::Star {
                plain = ParamKind::KeywordOnly;
            }
            params.push(param);
        });
        params
    }

    fn splat_parameter(&mut self, cursor: &mut TreeCursor<'_>, param: &mut Param) {
        param.kind = if kind(cursor) == Kind::ListSplatPattern { ParamKind::Star } else { ParamKind::DoubleStar };
        self.children(cursor, |this, cursor| {
            if kind(cursor) == Kind::Identifier {
                param.name = this.span(cursor);
            }
        });
    }

    fn class(&mut self, cursor: &mut TreeCursor<'_>) -> ClassId {
        let (mut name, mut bases, mut body) = (Span::default(), Box::default(), Block::new());
        self.children(cursor, |this, cursor| match field(cursor) {
            Field::Name => name = this.span(cursor),
            Field::Superclasses => bases = this.exprs(cursor),
            Field::Body => body = this.block(cursor),
            _ => {}
        });
        self.top.classes.push(Class { name, bases, body });
        ClassId(self.top.classes.len() as u32 - 1)
    }

    fn import(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let (mut from, mut names) = (None, Vec::new());
        self.children(cursor, |this, cursor| match (field(cursor), kind(cursor)) {
            (Field::ModuleName, _) => from = Some(this.span(cursor)),
            (_, Kind::Wildcard) => names.push(Imported { from: None, name: this.span(cursor), alias: None }),
            (Field::Name, Kind::AliasedImport) => {
                let (mut name, mut alias) = (Span::default(), None);
                this.children(cursor, |this, cursor| match field(cursor) {
                    Field::Name => name = this.span(cursor),
                    Field::Alias => alias = Some(this.span(cursor)),
                    _ => {}
                });
                names.push(Imported { from: None, name, alias });
            }
            (Field::Name, _) => names.push(Imported { from: None, name: this.span(cursor), alias: None }),
            _ => {}
        });
        for name in &mut names {
            name.from = from;
        }
        Stmt::Import(names.into())
    }

    fn delete(&mut self, cursor: &mut TreeCursor<'_>) -> Stmt {
        let mut targets = Vec::new();
        self.children(cursor, |this, cursor| match kind(cursor) {
            Kind::ExpressionList => targets.extend(this.exprs(cursor)),
            _ if cursor.node().is_named() => targets.push(this.expr(cursor)),
            _ => {}
        });
        Stmt::Delete(targets.into())
    }
}

/// Makes one assignment of a block's last two expressions.
fn join_assignment(block: &mut Block) {
    if let [.., StmtNode { stmt: Stmt::Expr(target), span: first }, StmtNode { stmt: Stmt::Expr(value), span: last }] =
        &block[..]
    {
        let stmt = Stmt::Assign { targets: [*target].into(), annotation: None, value: Some(*value) };
        let span = first.cover(*last);
        block.truncate(block.len() - 2);
        block.push(StmtNode { span, stmt });
    }
}
