//! Where the frames of a plan live: scopes, loops, names.

use super::plan::{NodeId, ScopeId};
use crate::text::Span;

/// A Python loop or comprehension.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// The whole loop.
    pub span: Span,
    /// From `for`/`while` to the colon.
    pub header: Span,
    /// What it runs over.
    pub over: LoopOver,
    /// The target's names.
    pub targets: Vec<String>,
    /// Frames that its target holds, or that functions get through it: each turn has one of its own.
    pub frames: Vec<NodeId>,
    /// A comprehension or generator.
    pub comprehension: bool,
    /// The body leaves the loop unconditionally in its first turn (`break`, `return`).
    pub runs_once: bool,
    /// A `while` loop or a `for` over attempts, with `try` and `break`/`return` inside: a retry loop.
    pub retries: bool,
}

/// What a loop runs over.
#[derive(Debug, Clone, PartialEq)]
pub enum LoopOver {
    /// A literal collection or `range` of this many items.
    Literal(u64),
    /// Rows collected from a frame.
    CollectedRows(NodeId),
    /// `while True`.
    Endless,
    /// A `while` with a condition.
    Condition,
    /// Anything else.
    Unknown,
}

/// The module or a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    /// The function's name; empty for the module, `<lambda>` for lambdas.
    pub name: String,
    /// Its whole text.
    pub span: Span,
    /// The enclosing scope; the module's is itself.
    pub parent: ScopeId,
    /// A test function, a test file's fixture, or a check of a test (`assert_equal_frames`).
    pub is_test: bool,
}

/// A name bound to a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// `orders`, `self.base`, …
    pub name: String,
    /// The name's characters.
    pub span: Span,
    /// The frame.
    pub node: NodeId,
    /// Where.
    pub scope: ScopeId,
}
