//! Python as the interpreter reads it: statements and expressions of one top-level statement, without strings of their
//! own. Spans count from the top-level statement's first byte, so that an untouched statement survives an edit as it is.

use crate::text::Span;

/// An expression of [`Top::exprs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ExprId(pub(super) u32);

/// A function or lambda of [`Top::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FunctionId(pub(super) u32);

/// A class of [`Top::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ClassId(pub(super) u32);

/// One statement of the module with everything in it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Top {
    pub(super) len: u32,
    /// Its text can hold settings for jobs that it starts.
    pub(super) may_start_jobs: bool,
    pub(super) exprs: Vec<ExprNode>,
    pub(super) functions: Vec<Function>,
    pub(super) classes: Vec<Class>,
    pub(super) body: Vec<StmtNode>,
}

impl Top {
    pub(super) fn expr(&self, id: ExprId) -> &ExprNode {
        &self.exprs[id.0 as usize]
    }

    pub(super) fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    pub(super) fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct ExprNode {
    pub(super) span: Span,
    pub(super) expr: Expr,
}

#[derive(Debug, PartialEq)]
pub(super) enum Expr {
    /// Something that tells nothing of Spark, or is nested too deep; its parts are kept for their side effects.
    Unknown(Box<[ExprId]>),
    Name,
    Text(Text),
    /// Adjacent literals, or an f-string's parts in order; a hole is an expression that is no text.
    Template(Box<[ExprId]>),
    Integer,
    Float,
    True,
    False,
    None,
    /// A list or set.
    List(Box<[ExprId]>),
    Tuple(Box<[ExprId]>),
    Dict(Box<[Pair]>),
    Call {
        function: ExprId,
        /// With the parentheses.
        arguments: Span,
        args: Box<[Arg]>,
    },
    Attribute {
        object: ExprId,
        /// The object's characters, with its parentheses.
        receiver: Span,
        name: Span,
    },
    Subscript {
        object: ExprId,
        index: Box<[ExprId]>,
    },
    Slice,
    Binary {
        operator: Operator,
        left: ExprId,
        right: ExprId,
    },
    /// `and`, `or`.
    Either(ExprId, ExprId),
    Compare {
        equality: bool,
        operands: Box<[ExprId]>,
    },
    Not(ExprId),
    Unary {
        minus: bool,
        operand: ExprId,
    },
    Conditional {
        test: ExprId,
        then: ExprId,
        otherwise: ExprId,
    },
    Lambda(FunctionId),
    Walrus {
        name: Span,
        value: ExprId,
    },
    Comprehension(Box<Comprehension>),
    /// `*x`, `**x`, `await x`: the value in it.
    Splat(ExprId),
    Await(ExprId),
    /// `yield x`; with `true` `yield from x`.
    Yield(Option<ExprId>, bool),
}

/// A string literal without holes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Text {
    /// Between the quotes.
    pub(super) content: Span,
    pub(super) raw: bool,
    pub(super) bytes: bool,
    /// Part of an f-string: doubled braces stand for one.
    pub(super) format: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    And,
    Or,
    Multiply,
    Subtract,
    Power,
    Modulo,
    Other,
}

#[derive(Debug, PartialEq)]
pub(super) struct Arg {
    pub(super) name: ArgName,
    pub(super) value: ExprId,
    /// With keyword or stars.
    pub(super) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ArgName {
    Positional,
    Keyword(Span),
    Star,
    DoubleStar,
}

#[derive(Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) span: Span,
    /// `None` for `**other`.
    pub(super) key: Option<ExprId>,
    pub(super) value: ExprId,
}

#[derive(Debug, PartialEq)]
pub(super) struct Comprehension {
    /// The element; a dict comprehension's key and value.
    pub(super) elements: Box<[ExprId]>,
    pub(super) clauses: Box<[Clause]>,
    pub(super) is_dict: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Clause {
    For { header: Span, target: ExprId, iterable: ExprId },
    If(ExprId),
}

#[derive(Debug, PartialEq)]
pub(super) struct StmtNode {
    pub(super) span: Span,
    pub(super) stmt: Stmt,
}

pub(super) type Block = Vec<StmtNode>;

#[derive(Debug, PartialEq)]
pub(super) enum Stmt {
    /// `pass`, and what tells nothing.
    Nothing,
    Expr(ExprId),
    Assign {
        targets: Box<[ExprId]>,
        annotation: Option<Span>,
        value: Option<ExprId>,
    },
    Augment {
        target: ExprId,
        operator: Operator,
        value: ExprId,
    },
    Return(Option<ExprId>),
    Raise(Box<[ExprId]>),
    Break,
    Continue,
    If {
        branches: Vec<(ExprId, Block)>,
        otherwise: Option<Block>,
    },
    For {
        header: Span,
        target: ExprId,
        iterable: ExprId,
        body: Block,
        otherwise: Block,
    },
    While {
        header: Span,
        test: ExprId,
        body: Block,
        otherwise: Block,
    },
    Try {
        body: Block,
        handlers: Vec<Block>,
        otherwise: Block,
        finally: Block,
    },
    With {
        items: Box<[(ExprId, Option<ExprId>)]>,
        body: Block,
    },
    Match {
        subject: Option<ExprId>,
        cases: Vec<Case>,
    },
    Function(FunctionId),
    Class(ClassId),
    Import(Box<[Imported]>),
    Delete(Box<[ExprId]>),
    /// `global` and `nonlocal` (`true`).
    Outer(Box<[Span]>, bool),
    /// A cell of a notebook in SQL, by line.
    Sql(Box<[Span]>),
    /// What stands in a part of the text that is no Python.
    Broken(Block),
}

/// A case of a `match`.
#[derive(Debug, PartialEq)]
pub(super) struct Case {
    /// Names that the pattern binds.
    pub(super) names: Box<[Span]>,
    /// The name that takes the whole subject.
    pub(super) whole: Option<Span>,
    pub(super) body: Block,
}

/// One imported name.
#[derive(Debug, PartialEq)]
pub(super) struct Imported {
    /// `a.b` of `from a.b import c`; with leading dots for relative imports.
    pub(super) from: Option<Span>,
    /// The name, or `*`.
    pub(super) name: Span,
    pub(super) alias: Option<Span>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Function {
    /// Empty for lambdas.
    pub(super) name: Span,
    pub(super) span: Span,
    pub(super) params: Vec<Param>,
    pub(super) returns: Option<Span>,
    pub(super) decorators: Box<[ExprId]>,
    pub(super) body: Block,
    /// A lambda's value.
    pub(super) value: Option<ExprId>,
    /// Expressions of the body: first and one past the last.
    pub(super) exprs: (u32, u32),
}

#[derive(Debug, PartialEq)]
pub(super) struct Param {
    pub(super) name: Span,
    pub(super) annotation: Option<Span>,
    pub(super) default: Option<ExprId>,
    pub(super) kind: ParamKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParamKind {
    Plain,
    KeywordOnly,
    Star,
    DoubleStar,
}

#[derive(Debug, PartialEq)]
pub(super) struct Class {
    pub(super) name: Span,
    pub(super) bases: Box<[ExprId]>,
    pub(super) body: Block,
}
