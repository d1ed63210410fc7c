//! Facts of a plan beside its operators: column functions, Python that runs on rows, streaming queries, and what the
//! code does with results.

use smallvec::SmallVec;

use super::plan::{ActionKind, CallSite, Language, Literal, LoopId, NodeId, ScopeId, Write};
use crate::text::Span;

/// A call of a function of `pyspark.sql.functions`, or of a UDF, that makes a column. Constructors that compute nothing
/// (`col`, `lit`, `expr`) are not kept.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// What it is written in.
    pub language: Language,
    /// Its name in `pyspark.sql.functions`; of a UDF the name that it is called by.
    pub name: String,
    /// The UDF, as an index into `StaticPlan::python`.
    pub udf: Option<usize>,
    /// The whole call.
    pub call: Span,
    /// The function's name in it.
    pub method: Span,
    /// The parentheses with the arguments.
    pub arguments: Span,
    /// What the file tells of the arguments: texts are column names; a column is `Unknown`.
    pub args: Vec<Literal>,
    /// Columns among the arguments that are plain names.
    pub columns: Vec<String>,
    /// The window that the result is taken over.
    pub over: Option<OverWindow>,
    /// The function that holds the call.
    pub scope: ScopeId,
    /// The operators that it is used in; empty where that isn't known.
    pub used_in: SmallVec<[NodeId; 1]>,
}

/// An equality in a join's condition: `a.k == b.id`.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyTerm {
    /// The whole comparison.
    pub span: Span,
    /// What stands before and behind the sign.
    pub sides: [KeySide; 2],
}

/// One side of a [`KeyTerm`].
#[derive(Debug, Clone, PartialEq)]
pub struct KeySide {
    /// Its characters.
    pub span: Span,
    /// The column's name, if it is a plain one.
    pub name: Option<String>,
    /// It is not the column itself: a cast, a function, arithmetic.
    pub computed: bool,
}

/// A window as a function is taken over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverWindow {
    /// Its `orderBy`, as an index into `StaticPlan::windows`; `None` without an order.
    pub order: Option<usize>,
    /// It has `partitionBy` with a column.
    pub partitioned: bool,
    /// It has `rowsBetween` or `rangeBetween`.
    pub framed: bool,
    /// The `over` call.
    pub call: Span,
}

/// Python that Spark runs on rows or batches of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct PythonFunction {
    /// How Spark runs it.
    pub runs: Runs,
    /// The decorator, the `udf(...)` call, or the call that takes the function.
    pub site: Span,
    /// The function, if the file holds it.
    pub function: Option<FunctionFacts>,
    /// `asNondeterministic()` was called on it.
    pub nondeterministic: bool,
    /// The function that holds `site`.
    pub scope: ScopeId,
    /// The frames that it works on, where that is known (`map`, `mapInPandas`, `foreachBatch`).
    pub input: Option<NodeId>,
}

/// How Spark runs a Python function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Runs {
    /// `udf`: once a row, values pickled.
    RowUdf,
    /// `udf(useArrow=True)`, `arrow_udf`: values through Arrow.
    ArrowUdf,
    /// `pandas_udf`.
    PandasUdf,
    /// `udtf`.
    TableFunction,
    /// `rdd.map`, `flatMap`, `filter`, `mapValues`.
    Map,
    /// `rdd.mapPartitions`, `mapInPandas`, `mapInArrow`: once a partition.
    MapPartitions,
    /// `foreach`.
    Foreach,
    /// `foreachPartition`.
    ForeachPartition,
    /// `applyInPandas`, `cogroup`: once a group.
    Group,
    /// `foreachBatch`: on the driver, once a batch.
    ForeachBatch,
}

impl Runs {
    /// Whether it is called once for each row.
    pub fn per_row(self) -> bool {
        matches!(self, Self::RowUdf | Self::ArrowUdf | Self::Map | Self::Foreach)
    }

    /// Whether it makes a column.
    pub fn is_udf(self) -> bool {
        matches!(self, Self::RowUdf | Self::ArrowUdf | Self::PandasUdf)
    }
}

/// What the text of a function tells.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionFacts {
    /// Its name; `<lambda>` for a lambda.
    pub name: String,
    /// Its whole text.
    pub span: Span,
    /// Its scope.
    pub scope: ScopeId,
    /// Parameters, and whether the body names them.
    pub params: Vec<(String, bool)>,
    /// The value of a lambda or of a body that is nothing but `return …`.
    pub value: Option<Span>,
    /// Calls in it: the name with the module that it comes from where the file tells (`re.compile`).
    pub calls: Vec<(String, Span)>,
    /// Names from outside that weigh something.
    pub captures: Vec<Capture>,
    /// The same as its result as an expression of built-in functions, with `{0}` for the column that the first parameter
    /// gets (other braces are doubled), if there is one.
    pub builtin: Option<String>,
    /// It is kept by `lru_cache` or `cache`.
    pub cached: bool,
    /// It takes or yields an iterator.
    pub is_generator: bool,
}

/// A name that a function takes from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The name.
    pub name: String,
    /// Where it is first used in the function.
    pub span: Span,
    /// What it is.
    pub what: Captured,
}

/// What a function takes from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Captured {
    /// A DataFrame or RDD.
    Frame(NodeId),
    /// A session or context.
    Session,
    /// Rows that were collected, or a pandas frame.
    Collected,
    /// A literal collection of this many items.
    Literal(u64),
}

/// A streaming query, where it is started.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamStart {
    /// The `start` or `toTable` call.
    pub site: CallSite,
    /// The streaming frame.
    pub input: NodeId,
    /// Format, target, options, columns; `mode` is the output mode.
    pub write: Write,
    /// `trigger(...)`: its keyword and value.
    pub trigger: Option<(String, Literal, Span)>,
    /// The function of `foreachBatch`, as an index into `StaticPlan::python`.
    pub batch: Option<usize>,
    /// The function that holds the call.
    pub scope: ScopeId,
}

/// What the code does with the value of an action.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultUses {
    /// Comparisons with zero and tests of truth: only whether there are rows matters.
    pub emptiness: Vec<Emptiness>,
    /// Places in a `print` or a logger's call.
    pub logged: Vec<Span>,
    /// Other places.
    pub other: u32,
    /// Methods and properties of the pandas frame that are used first, by name.
    pub pandas: Vec<(String, Span)>,
}

/// A test whether a count is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emptiness {
    /// The whole test.
    pub span: Span,
    /// It holds if there are no rows.
    pub if_empty: bool,
}

/// A column where Python wants a truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MisusedColumn {
    /// The whole expression.
    pub span: Span,
    /// The operator between the operands (the keyword), or the whole expression.
    pub operator: Span,
    /// How.
    pub misuse: Misuse,
}

/// How a column is misused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Misuse {
    /// `and`, `or`.
    BooleanOperator,
    /// `not`.
    Not,
    /// `a < b < c`.
    Chained,
    /// `== None`, `!= None`.
    EqualsNone,
    /// `is None`, `is not None` on an expression.
    IsNone,
    /// The test of `if` or `while`.
    Condition,
}

/// A built-in function of Python that a star import replaced, called with Python's values.
#[derive(Debug, Clone, PartialEq)]
pub struct ShadowedBuiltin {
    /// Its name.
    pub name: String,
    /// The name in the call.
    pub span: Span,
}

/// Collected rows where Spark could have worked on.
#[derive(Debug, Clone, PartialEq)]
pub struct RowUse {
    /// The frame that was collected.
    pub node: NodeId,
    /// The whole use.
    pub span: Span,
    /// How.
    pub kind: RowUseKind,
}

/// How collected rows are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowUseKind {
    /// `len(rows)`.
    Length,
    /// `column.isin(rows)`.
    IsIn,
    /// A text of SQL with the rows in an `IN (…)`.
    InText,
}

/// Data that a frame is made of was read by the driver.
#[derive(Debug, Clone, PartialEq)]
pub struct DriverData {
    /// The frame.
    pub node: NodeId,
    /// The argument.
    pub span: Span,
}

/// A call that deletes what lies under a path, by whatever means.
#[derive(Debug, Clone, PartialEq)]
pub struct PathDelete {
    /// The call.
    pub site: CallSite,
    /// The path.
    pub path: Literal,
    /// The path's expression as written; empty where it is a part of a command's text.
    pub written: String,
    /// The function that holds it.
    pub scope: ScopeId,
}

/// A call of a function of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalCall {
    /// The function.
    pub callee: ScopeId,
    /// The call, or for properties the statement.
    pub call: Span,
    /// The function that holds the call.
    pub scope: ScopeId,
    /// The loops around it within that function, outermost first.
    pub loops: SmallVec<[LoopId; 2]>,
    /// Whether it runs only under an `if` inside its innermost loop (or function).
    pub conditional: bool,
}

/// An action that stands in another module of the project.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteAction {
    /// What it is.
    pub kind: ActionKind,
    /// The frame that it runs.
    pub input: Option<NodeId>,
    /// The call in this file that leads there.
    pub call: Span,
    /// The function that holds the call.
    pub scope: ScopeId,
}
