//! From the syntax tree to [`super::ir`]. Depth is capped and the left spine of chains is walked in a loop, so that no text
//! can overflow the stack.

use smallvec::SmallVec;
use tree_sitter::TreeCursor;

use super::ir::{
    Arg, ArgName, Block, Clause, Comprehension, Expr, ExprId, ExprNode, Operator, Pair, Stmt, StmtNode, Text, Top,
};
use super::jobs;
use super::kinds::{Field, Kind, field, kind, kind_of};
use crate::text::Span;

/// Expressions and statements nested deeper than this are unknown.
const DEPTH: usize = 100;

/// Lowers the statement under the cursor; `text` is the whole text. `room` is the same for all statements of a text: expressions
/// grow there, and each statement keeps no more memory than it needs.
pub(super) fn lower(cursor: &mut TreeCursor<'_>, text: &str, room: &mut Vec<ExprNode>) -> Top {
    let node = cursor.node();
    let mut lowering = Lowering {
        text,
        base: node.start_byte(),
        top: Top {
            len: (node.end_byte() - node.start_byte()) as u32,
            may_start_jobs: text.get(node.byte_range()).is_some_and(jobs::may_start_jobs),
            exprs: std::mem::take(room),
            ..Top::default()
        },
        depth: 0,
    };
    let mut body = Vec::new();
    lowering.statement(cursor, &mut body);
    let mut exprs = std::mem::take(&mut lowering.top.exprs);
    let top = Top { body, exprs: exprs.drain(..).collect(), ..lowering.top };
    *room = exprs;
    top
}

pub(super) struct Lowering<'t> {
    pub(super) text: &'t str,
    base: usize,
    pub(super) top: Top,
    depth: usize,
}

impl<'t> Lowering<'t> {
    /// The span of the cursor's node.
    pub(super) fn span(&self, cursor: &TreeCursor<'_>) -> Span {
        let node = cursor.node();
        self.between(node.start_byte(), node.end_byte())
    }

    /// Where the lowered statement starts.
    pub(super) fn base(&self) -> usize {
        self.base
    }

    pub(super) fn between(&self, start: usize, end: usize) -> Span {
        Span::new(start.saturating_sub(self.base), end.max(start).saturating_sub(self.base))
    }

    pub(super) fn text_of(&self, cursor: &TreeCursor<'_>) -> &'t str {
        self.text.get(cursor.node().byte_range()).unwrap_or_default()
    }

    pub(super) fn push(&mut self, span: Span, expr: Expr) -> ExprId {
        self.top.exprs.push(ExprNode { span, expr });
        ExprId(self.top.exprs.len() as u32 - 1)
    }

    /// Calls `visit` on each child.
    pub(super) fn children(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        mut visit: impl FnMut(&mut Self, &mut TreeCursor<'_>),
    ) {
        if cursor.goto_first_child() {
            loop {
                visit(self, cursor);
                if !cursor.goto_next_sibling() {
                    break;
                }
            }
            cursor.goto_parent();
        }
    }

    /// Runs `work` one level deeper, or not at all where the text is nested too deep.
    pub(super) fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        Some(result)
    }

    /// The expressions among the children.
    pub(super) fn exprs(&mut self, cursor: &mut TreeCursor<'_>) -> Box<[ExprId]> {
        let mut found = Vec::new();
        self.children(cursor, |this, cursor| {
            let node = cursor.node();
            if node.is_named() && kind_of(node) != Kind::Comment {
                found.push(this.expr(cursor));
            }
        });
        found.into()
    }

    /// The cursor's node as an expression.
    pub(super) fn expr(&mut self, cursor: &mut TreeCursor<'_>) -> ExprId {
        let node = cursor.node();
        let (kind, span) = (kind_of(node), self.between(node.start_byte(), node.end_byte()));
        self.deeper(|this| if is_spine(kind) { this.spine(cursor) } else { this.single(cursor, kind, span) })
            .unwrap_or_else(|| self.push(span, Expr::Unknown(Box::default())))
    }

    /// A chain `a.b(c)[d] + e`: down to its first operand, then up again, level by level.
    fn spine(&mut self, cursor: &mut TreeCursor<'_>) -> ExprId {
        let mut levels: SmallVec<[Kind; 16]> = SmallVec::new();
        loop {
            let kind = kind(cursor);
            if !is_spine(kind) || !cursor.goto_first_child() {
                break;
            }
            levels.push(kind);
        }
        let mut left_span = self.span(cursor);
        let mut left = self.single(cursor, kind(cursor), left_span);
        while let Some(kind) = levels.pop() {
            let level = if kind == Kind::Attribute { self.attribute(cursor) } else { self.level(cursor) };
            let span = self.span(cursor);
            left = self.push_level(kind, span, left, left_span, level);
            left_span = span;
        }
        left
    }

    /// From the first operand up to its level, past what stands behind it.
    fn level(&mut self, cursor: &mut TreeCursor<'_>) -> Level {
        let mut level = Level::default();
        while cursor.goto_next_sibling() {
            self.level_part(cursor, &mut level);
        }
        cursor.goto_parent();
        level
    }

    /// The same for `object.name`, where the text tells as much as the nodes do: the last word, behind a dot.
    fn attribute(&mut self, cursor: &mut TreeCursor<'_>) -> Level {
        let object = cursor.node().end_byte();
        cursor.goto_parent();
        let node = cursor.node();
        let rest = self.text.get(object..node.end_byte()).unwrap_or_default();
        let before = rest.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        if node.has_error() || !before.trim_end().ends_with('.') {
            cursor.goto_first_child();
            return self.level(cursor);
        }
        Level { name: Some(self.between(object + before.len(), node.end_byte())), ..Level::default() }
    }

    fn level_part(&mut self, cursor: &mut TreeCursor<'_>, level: &mut Level) {
        match field(cursor) {
            Field::Attribute => level.name = Some(self.span(cursor)),
            Field::Arguments => {
                level.arguments = self.span(cursor);
                level.args = self.arguments(cursor);
            }
            Field::Subscript | Field::Right => level.operands.push(self.expr(cursor)),
            Field::Operator | Field::Operators => {
                let text = self.text_of(cursor);
                level.operator = operator(text);
                level.inequality |= text != "==";
            }
            _ if kind(cursor) == Kind::Other || kind(cursor) == Kind::Comment => {}
            // Operands of comparisons have no field.
            _ if cursor.node().is_named() => level.operands.push(self.expr(cursor)),
            _ => {}
        }
    }

    fn push_level(&mut self, kind: Kind, span: Span, left: ExprId, receiver: Span, level: Level) -> ExprId {
        let right = level.operands.first().copied();
        let expr = match (kind, right) {
            (Kind::Attribute, _) => match level.name {
                Some(name) => Expr::Attribute { object: left, receiver, name },
                None => Expr::Unknown([left].into()),
            },
            (Kind::Call, _) => Expr::Call { function: left, arguments: level.arguments, args: level.args },
            (Kind::Subscript, _) => Expr::Subscript { object: left, index: level.operands.into() },
            (Kind::Boolean, Some(right)) => Expr::Either(left, right),
            (Kind::Binary, Some(right)) => Expr::Binary { operator: level.operator, left, right },
            (Kind::Comparison, Some(_)) => {
                let operands = std::iter::once(left).chain(level.operands).collect();
                Expr::Compare { equality: !level.inequality, operands }
            }
            _ => Expr::Unknown([left].into()),
        };
        self.push(span, expr)
    }

    fn arguments(&mut self, cursor: &mut TreeCursor<'_>) -> Box<[Arg]> {
        if kind(cursor) == Kind::Generator {
            let span = self.span(cursor);
            let value = self.expr(cursor);
            return [Arg { name: ArgName::Positional, value, span }].into();
        }
        let mut args = Vec::new();
        self.children(cursor, |this, cursor| {
            let span = this.span(cursor);
            let (name, value) = match kind(cursor) {
                Kind::Comment => return,
                Kind::Keyword => {
                    let (mut name, mut value) = (None, None);
                    this.children(cursor, |this, cursor| match field(cursor) {
                        Field::Name => name = Some(this.span(cursor)),
                        Field::Value => value = Some(this.expr(cursor)),
                        _ => {}
                    });
                    match (name, value) {
                        (Some(name), Some(value)) => (ArgName::Keyword(name), value),
                        _ => return,
                    }
                }
                Kind::ListSplat => (ArgName::Star, this.expr(cursor)),
                Kind::DictionarySplat => (ArgName::DoubleStar, this.expr(cursor)),
                _ if cursor.node().is_named() => (ArgName::Positional, this.expr(cursor)),
                _ => return,
            };
            args.push(Arg { name, value, span });
        });
        args.into()
    }

    /// An expression that is no chain.
    fn single(&mut self, cursor: &mut TreeCursor<'_>, kind: Kind, span: Span) -> ExprId {
        let expr = match kind {
            Kind::Identifier => Expr::Name,
            Kind::String => return self.string(cursor, span),
            Kind::Concatenated => {
                let parts = self.exprs(cursor);
                Expr::Template(parts)
            }
            Kind::Integer => Expr::Integer,
            Kind::Float => Expr::Float,
            Kind::True => Expr::True,
            Kind::False => Expr::False,
            Kind::None => Expr::None,
            Kind::Slice => Expr::Slice,
            Kind::List | Kind::Set | Kind::ListPattern => Expr::List(self.exprs(cursor)),
            Kind::Tuple | Kind::TuplePattern | Kind::ExpressionList | Kind::PatternList => {
                Expr::Tuple(self.exprs(cursor))
            }
            Kind::Dictionary => Expr::Dict(self.pairs(cursor)),
            Kind::Parenthesized => {
                let inner = self.exprs(cursor);
                match inner.first() {
                    Some(first) => return *first,
                    None => Expr::Unknown(inner),
                }
            }
            Kind::Not => self.first(cursor).map_or(Expr::Unknown(Box::default()), Expr::Not),
            Kind::Unary => {
                let minus = self.text_of(cursor).starts_with('-');
                self.first(cursor).map_or(Expr::Unknown(Box::default()), |operand| Expr::Unary { minus, operand })
            }
            Kind::Conditional => match *self.exprs(cursor) {
                [then, test, otherwise] => Expr::Conditional { test, then, otherwise },
                ref parts => Expr::Unknown(parts.into()),
            },
            Kind::Lambda => match self.lambda(cursor) {
                Some(id) => Expr::Lambda(id),
                None => Expr::Unknown(Box::default()),
            },
            Kind::Named => self.walrus(cursor),
            Kind::ListComprehension | Kind::SetComprehension | Kind::Generator | Kind::DictionaryComprehension => {
                self.comprehension(cursor)
            }
            Kind::ListSplat | Kind::DictionarySplat | Kind::ListSplatPattern => {
                self.first(cursor).map_or(Expr::Unknown(Box::default()), Expr::Splat)
            }
            Kind::Yield => {
                let delegates = self.text_of(cursor).trim_start_matches("yield").trim_start().starts_with("from ");
                Expr::Yield(self.first(cursor), delegates)
            }
            Kind::Await => self.first(cursor).map_or(Expr::Unknown(Box::default()), Expr::Await),
            Kind::AsTarget => {
                return self.first(cursor).unwrap_or_else(|| self.push(span, Expr::Unknown(Box::default())));
            }
            Kind::Comment => Expr::Unknown(Box::default()),
            _ => Expr::Unknown(self.exprs(cursor)),
        };
        self.push(span, expr)
    }

    fn first(&mut self, cursor: &mut TreeCursor<'_>) -> Option<ExprId> {
        self.exprs(cursor).first().copied()
    }

    fn walrus(&mut self, cursor: &mut TreeCursor<'_>) -> Expr {
        let (mut name, mut value) = (None, None);
        self.children(cursor, |this, cursor| match field(cursor) {
            Field::Name => name = Some(this.span(cursor)),
            Field::Value => value = Some(this.expr(cursor)),
            _ => {}
        });
        match (name, value) {
            (Some(name), Some(value)) => Expr::Walrus { name, value },
            _ => Expr::Unknown(Box::default()),
        }
    }

    fn pairs(&mut self, cursor: &mut TreeCursor<'_>) -> Box<[Pair]> {
        let mut pairs = Vec::new();
        self.children(cursor, |this, cursor| match kind(cursor) {
            Kind::Pair => pairs.extend(this.pair(cursor)),
            Kind::DictionarySplat => {
                let span = this.span(cursor);
                let value = this.expr(cursor);
                pairs.push(Pair { span, key: None, value });
            }
            _ => {}
        });
        pairs.into()
    }

    fn pair(&mut self, cursor: &mut TreeCursor<'_>) -> Option<Pair> {
        let span = self.span(cursor);
        let (mut key, mut value) = (None, None);
        self.children(cursor, |this, cursor| match field(cursor) {
            Field::Key => key = Some(this.expr(cursor)),
            Field::Value => value = Some(this.expr(cursor)),
            _ => {}
        });
        Some(Pair { span, key: Some(key?), value: value? })
    }

    fn comprehension(&mut self, cursor: &mut TreeCursor<'_>) -> Expr {
        let is_dict = kind(cursor) == Kind::DictionaryComprehension;
        let (mut elements, mut clauses) = (Vec::new(), Vec::new());
        self.children(cursor, |this, cursor| match (field(cursor), kind(cursor)) {
            (Field::Body, Kind::Pair) => {
                if let Some(Pair { key: Some(key), value, .. }) = this.pair(cursor) {
                    elements.extend([key, value]);
                }
            }
            (Field::Body, _) => elements.push(this.expr(cursor)),
            (_, Kind::ForIn) => clauses.extend(this.for_in(cursor)),
            (_, Kind::IfClause) => clauses.extend(this.first(cursor).map(Clause::If)),
            _ => {}
        });
        Expr::Comprehension(Box::new(Comprehension { elements: elements.into(), clauses: clauses.into(), is_dict }))
    }

    fn for_in(&mut self, cursor: &mut TreeCursor<'_>) -> Option<Clause> {
        let header = self.span(cursor);
        let (mut target, mut iterable) = (None, None);
        self.children(cursor, |this, cursor| match field(cursor) {
            Field::Left => target = Some(this.expr(cursor)),
            Field::Right if cursor.node().is_named() => iterable = Some(this.expr(cursor)),
            _ => {}
        });
        Some(Clause::For { header, target: target?, iterable: iterable? })
    }

    fn string(&mut self, cursor: &mut TreeCursor<'_>, span: Span) -> ExprId {
        match plain_string(self.text_of(cursor)) {
            Some((prefix, start, end)) if !cursor.node().has_error() => {
                let content = Span { start: span.start + start as u32, end: span.start + end as u32 };
                self.push(span, Expr::Text(Text { content, ..literal(prefix) }))
            }
            _ => self.string_of_parts(cursor, span),
        }
    }

    fn string_of_parts(&mut self, cursor: &mut TreeCursor<'_>, span: Span) -> ExprId {
        let mut prefix = "";
        let mut content: Option<(usize, usize)> = None;
        let mut parts = Vec::new();
        let mut has_holes = false;
        self.children(cursor, |this, cursor| {
            let node = cursor.node();
            match kind(cursor) {
                Kind::StringStart => {
                    prefix = this.text_of(cursor);
                    content = Some((node.end_byte(), node.end_byte()));
                }
                Kind::StringEnd => content = content.map(|(start, _)| (start, node.start_byte())),
                Kind::StringContent => {
                    content = content.map(|(start, _)| (start, node.end_byte()));
                    let text = Text { content: this.span(cursor), ..literal(prefix) };
                    let span = this.span(cursor);
                    parts.push(this.push(span, Expr::Text(text)));
                }
                Kind::Interpolation => {
                    has_holes = true;
                    content = content.map(|(start, _)| (start, node.end_byte()));
                    let span = this.span(cursor);
                    let inner = this.exprs(cursor);
                    parts
                        .push(inner.first().copied().unwrap_or_else(|| this.push(span, Expr::Unknown(Box::default()))));
                }
                _ => {}
            }
        });
        if has_holes {
            return self.push(span, Expr::Template(parts.into()));
        }
        let (start, end) = content.unwrap_or((self.base, self.base));
        let text = Text { content: self.between(start, end), ..literal(prefix) };
        self.push(span, Expr::Text(text))
    }

    /// The statements under the cursor's node, one level deeper.
    pub(super) fn block(&mut self, cursor: &mut TreeCursor<'_>) -> Block {
        let mut block = Vec::new();
        self.deeper(|this| {
            this.children(cursor, |this, cursor| {
                if cursor.node().is_named() {
                    this.statement(cursor, &mut block);
                }
            });
        });
        block
    }

    pub(super) fn statement_node(&self, cursor: &TreeCursor<'_>, stmt: Stmt) -> StmtNode {
        StmtNode { span: self.span(cursor), stmt }
    }
}

/// What stands behind the first operand on one level of a chain.
struct Level {
    name: Option<Span>,
    arguments: Span,
    args: Box<[Arg]>,
    operands: Vec<ExprId>,
    operator: Operator,
    inequality: bool,
}

impl Default for Level {
    fn default() -> Self {
        Self {
            name: None,
            arguments: Span::default(),
            args: Box::default(),
            operands: Vec::new(),
            operator: Operator::Other,
            inequality: false,
        }
    }
}

fn is_spine(kind: Kind) -> bool {
    matches!(kind, Kind::Call | Kind::Attribute | Kind::Subscript | Kind::Binary | Kind::Boolean | Kind::Comparison)
}

pub(super) fn operator(text: &str) -> Operator {
    match text.trim_end_matches('=') {
        "+" => Operator::Add,
        "-" => Operator::Subtract,
        "*" => Operator::Multiply,
        "**" => Operator::Power,
        "%" => Operator::Modulo,
        "&" => Operator::And,
        "|" => Operator::Or,
        _ => Operator::Other,
    }
}

/// The start, and where the content starts and ends, of a string that can have no holes: most strings are such, and their nodes
/// tell no more.
fn plain_string(string: &str) -> Option<(&str, usize, usize)> {
    let quotes = string.find(['"', '\''])?;
    let (prefix, body) = string.split_at(quotes);
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote))?;
    let end = string.len().checked_sub(quote.len())?;
    let start = quotes + quote.len();
    let has_holes = prefix.contains(['f', 'F', 't', 'T']);
    (!has_holes && start <= end && string.ends_with(quote)).then(|| (&string[..start], start, end))
}

/// What a string's prefix says.
fn literal(start: &str) -> Text {
    let has = |letter: char| start.contains([letter, letter.to_ascii_uppercase()]);
    Text { content: Span::default(), raw: has('r'), bytes: has('b'), format: has('f') || has('t') }
}
