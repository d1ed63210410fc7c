//! SQL as steps of a plan: the text of `spark.sql(...)`, of `%sql` cells and of scripts.
//!
//! `scan` tells from words alone whether a statement is a query or a command; `statement` reads the heads of commands by
//! their words and hands queries to the parser; `query` and `expr` lower what it returns to [`Lowered`]. Positions are
//! byte offsets of the text; `place` leads them back to the file. What can't be read has no steps and is unknown.

mod dialect;
mod dialect_of;
mod expr;
mod hints;
mod join;
mod memo;
pub(super) mod place;
mod query;
mod scan;
mod statement;
mod table;
mod tokens;

use std::ops::Range;

use smallvec::SmallVec;

use super::plan::{Literal, Operator, Write};

pub use dialect_of::{SqlDialect, sql_dialect};
pub(super) use memo::lowered;
pub(crate) use scan::lookup;
pub(super) use scan::{Statement, compares, expression, has_window, is_key_equality, read};
pub(super) use statement::{condition, split};

/// What stands in a text for a value that the file doesn't tell. An identifier, so that the parser goes on.
pub(super) const HOLE: &str = "__hole__";

/// Whether a text holds something that the file doesn't tell.
pub(super) fn has_hole(text: &str) -> bool {
    text.contains(HOLE)
}

/// A text with holes in it as a literal.
pub(super) fn literal(text: &str) -> Literal {
    if text == HOLE {
        return Literal::Unknown;
    }
    if !has_hole(text) {
        return Literal::Text(text.to_owned());
    }
    let mut parts = Vec::new();
    for (index, part) in text.split(HOLE).enumerate() {
        if index > 0 {
            parts.push(None);
        }
        if !part.is_empty() {
            parts.push(Some(part.to_owned()));
        }
    }
    Literal::Template(parts)
}

/// One statement as steps of a plan.
#[derive(Debug, Default)]
pub(super) struct Lowered {
    /// Operators; inputs stand before what reads them.
    pub(super) steps: Vec<Step>,
    /// Windows with an order.
    pub(super) windows: Vec<Window>,
    /// Calls of functions.
    pub(super) calls: Vec<FunctionCall>,
    /// The step whose rows come out.
    pub(super) root: Option<usize>,
    /// What is done with them.
    pub(super) command: Option<Command>,
}

/// One operator.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) operator: Operator,
    pub(super) inputs: SmallVec<[usize; 2]>,
    pub(super) place: Place,
}

/// Where a construct stands in the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Place {
    /// The keyword or name that stands for it.
    pub(super) word: Range<usize>,
    /// The whole clause.
    pub(super) clause: Range<usize>,
    /// What the clause holds behind its keyword.
    pub(super) inside: Range<usize>,
}

/// An `ORDER BY` of a window.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) place: Place,
    pub(super) partitioned: bool,
    /// The rows that it goes over.
    pub(super) used_on: Option<usize>,
}

/// A call of a function.
#[derive(Debug)]
pub(super) struct FunctionCall {
    /// In lower case.
    pub(super) name: String,
    pub(super) call: Range<usize>,
    pub(super) method: Range<usize>,
    pub(super) arguments: Range<usize>,
    pub(super) args: Vec<Literal>,
    pub(super) columns: Vec<String>,
    pub(super) over: Option<Over>,
    /// The step that it is a part of.
    pub(super) used_in: Option<usize>,
}

/// The window of a function.
#[derive(Debug, Clone)]
pub(super) struct Over {
    /// Its order, as an index into [`Lowered::windows`].
    pub(super) order: Option<usize>,
    pub(super) partitioned: bool,
    pub(super) framed: bool,
    /// From `OVER` on.
    pub(super) place: Range<usize>,
}

/// A statement that does something with its query.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) kind: CommandKind,
    pub(super) place: Place,
}

/// Kinds of such statements.
#[derive(Debug)]
pub(super) enum CommandKind {
    /// `INSERT`, `CREATE TABLE … AS`; `chain` of the write is not set.
    Write(Write),
    /// `CREATE TEMPORARY VIEW … AS`, with the view's name.
    View(String),
    /// `CACHE TABLE`, with the table's name.
    Cache(String),
    /// `UNCACHE TABLE`.
    Uncache(String),
}

/// Whether a function is one of Spark's own that calls are noted of.
pub(super) fn is_builtin(name: &str) -> bool {
    super::api::sql_function(name).is_some()
}
