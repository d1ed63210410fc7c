//! What the interpreter knows of a Python value.

use std::rc::Rc;

use smallvec::SmallVec;

use super::api::Class;
use super::ir::{FunctionId, Top};
use super::plan::{JoinCondition, KeyTerm, Literal, NodeId};
use super::sql::place::{Piece, Pieces};
use super::versions::Versions;
use crate::text::Span;

/// One top-level statement with the text that holds it. The files that are read together lie one behind the other, the
/// interpreted one first, so that a span tells its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code<'a> {
    pub(super) top: &'a Top,
    /// The text of the file.
    pub(super) text: &'a str,
    /// The file, by its place among those that were read.
    pub(super) file: u32,
    /// Where the file starts.
    pub(super) origin: u32,
    /// Where the statement starts.
    pub(super) base: u32,
}

impl<'a> Code<'a> {
    /// A span of the statement as a span over all files.
    pub(super) fn span(self, relative: Span) -> Span {
        Span { start: self.base + relative.start, end: self.base + relative.end }
    }

    /// The characters of a span of the statement.
    pub(super) fn str(self, relative: Span) -> &'a str {
        let start = self.base - self.origin;
        Span { start: start + relative.start, end: start + relative.end }.of(self.text)
    }

    /// The text of the file behind a span of the statement.
    pub(super) fn behind(self, relative: Span) -> &'a str {
        let end = self.base - self.origin + relative.end;
        self.text.get(end as usize..).unwrap_or_default()
    }

    /// Whether it belongs to the interpreted file, not to a module that this one imports.
    pub(super) fn is_home(self) -> bool {
        self.file == 0
    }
}

/// A namespace: the module's, a call's, a class's or an object's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EnvId(pub(super) u32);

#[derive(Debug, Clone)]
pub(super) enum Value<'a> {
    Unknown,
    /// Known to be no part of Spark's API: a pandas frame, another library.
    Foreign,
    /// A module by its dotted path.
    Module(Rc<str>),
    /// A module or package of the project by its path from the root.
    Project(Rc<str>),
    /// A name that was imported from a module of the project and not used yet: the module's path from the root, the name.
    Imported(Rc<str>, &'a str),
    /// A Python built-in (or `functools.reduce`) by name.
    Builtin(&'a str),
    Text(Rc<TextValue>),
    Template(Rc<Template>),
    Integer(i64),
    Float(f64),
    Bool(bool),
    None,
    List(Rc<Vec<Item<'a>>>),
    Tuple(Rc<Vec<Item<'a>>>),
    /// A collection of unknown size with elements like this one.
    Many(Rc<Value<'a>>),
    Dict(Rc<Vec<Entry<'a>>>),
    /// A key (a value) of this dict, whichever a loop is at.
    TurnKey(Rc<Vec<Entry<'a>>>),
    TurnItem(Rc<Vec<Entry<'a>>>),
    /// A class of PySpark by name.
    Class(Class),
    /// A function of `pyspark.sql.functions`.
    Function(&'a str),
    /// A method taken from its class: `DataFrame.unionByName`.
    Unbound(&'a str),
    /// A builder, conf, session, …: an object of PySpark without facts of its own, by class.
    Object(Object),
    Reader(Rc<Reader>),
    Writer(Rc<Writer>),
    Frame(NodeId),
    Grouped(Rc<Grouped>),
    Rdd(NodeId),
    Column(Rc<Column>),
    Window(Rc<WindowSpec>),
    /// Spark's version, or what is made of it.
    Version(SparkVersionValue),
    /// A UDF, as an index into the plan's Python functions where the file tells.
    Udf(Option<usize>),
    /// An object of a library around PySpark.
    Library(Library),
    /// Rows on the driver.
    Rows(NodeId),
    /// One of such rows.
    Row(NodeId),
    /// A value out of such a row.
    Cell(NodeId),
    /// The number that an action returned, by the plan's index of the action.
    Result(usize),
    /// A pandas frame: of this action, or read by the driver.
    Pandas(Option<usize>),
    Closure(Rc<Closure<'a>>),
    /// `functools.partial`.
    Partial(Rc<Partial<'a>>),
    /// One of several functions, classes or objects.
    Choice(Rc<Vec<Value<'a>>>),
    UserClass(Rc<UserClass<'a>>),
    Instance(Rc<UserClass<'a>>, EnvId),
}

/// What is made of Spark's version.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SparkVersionValue {
    /// The version, as a text, a list of numbers or an object that compares.
    Whole,
    /// Its first number.
    Major,
    /// Something else of it.
    Part,
    /// A test: the versions for which it holds, and those for which it doesn't, at most.
    Test(Rc<(Versions, Versions)>),
}

impl SparkVersionValue {
    /// A test that holds for these versions alone; `None` if that isn't told.
    pub(super) fn exact(versions: Option<Versions>) -> Self {
        let branches = versions.map_or_else(
            || (Versions::all(), Versions::all()),
            |versions| {
                let others = versions.others();
                (versions, others)
            },
        );
        Self::Test(Rc::new(branches))
    }

    /// The versions for which it is true, and those for which it isn't, at most.
    pub(super) fn branches(&self) -> (Versions, Versions) {
        match self {
            Self::Test(branches) => (**branches).clone(),
            _ => (Versions::all(), Versions::all()),
        }
    }
}

/// Objects of libraries around PySpark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Library {
    /// A DynamicFrame of AWS Glue.
    Dynamic(NodeId),
    /// `create_dynamic_frame`, or `create_data_frame`, whose methods return DataFrames.
    DynamicReader { frames: bool },
    /// `write_dynamic_frame`.
    DynamicWriter,
    /// A `DeltaTable`.
    Delta(NodeId),
    /// `merge` of a frame into one.
    Merge { table: NodeId, source: NodeId },
    /// A frame of `pyspark.pandas`.
    PandasOnSpark(NodeId),
    /// An estimator, a transformer, a model or an evaluator of `pyspark.ml`.
    Stage,
}

/// Objects of PySpark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    Session,
    Builder,
    Conf,
    Runtime,
    Context,
    SqlContext,
    Catalog,
    Query,
    UdfRegistration,
    /// `df.na`, `df.stat`.
    Functions(NodeId),
}

/// A text and where its characters stand, if they stand in one literal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextValue {
    pub(super) text: String,
    pub(super) span: Option<Span>,
    /// What its bytes were made of; empty if that isn't known.
    pub(super) pieces: Pieces,
}

/// A text with holes: the literal parts in order, `None` for a hole.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Template {
    pub(super) parts: Vec<Option<String>>,
    /// What its parts were made of; empty if that isn't known.
    pub(super) pieces: Pieces,
    /// Collected rows whose values it holds.
    pub(super) rows: Option<NodeId>,
    /// The same between the parentheses of an `IN`, and where.
    pub(super) listed: Option<(NodeId, Span)>,
}

impl From<Vec<Option<String>>> for Template {
    fn from(parts: Vec<Option<String>>) -> Self {
        Self { parts, pieces: Pieces::new(), rows: None, listed: None }
    }
}

impl Template {
    /// A text of which nothing is known but the collected rows that it holds.
    pub(super) fn of_rows(rows: Option<NodeId>) -> Self {
        Self { rows, ..vec![None].into() }
    }
}

impl TextValue {
    /// Where it is written, if in one place.
    pub(super) fn place(&self) -> Span {
        match self.pieces[..] {
            [piece] => piece.span,
            _ => Span::default(),
        }
    }

    /// A part of it.
    pub(super) fn slice(&self, range: std::ops::Range<usize>) -> Self {
        let mut pieces = Pieces::new();
        if let [piece] = self.pieces[..] {
            pieces.push(piece.slice(range.clone()));
        }
        Self { text: self.text[range].to_owned(), span: None, pieces }
    }
}

/// An element of a collection and where it is written (inside the quotes, if it is a string).
#[derive(Debug, Clone)]
pub(super) struct Item<'a> {
    pub(super) value: Value<'a>,
    pub(super) span: Span,
}

#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub(super) key: Item<'a>,
    pub(super) value: Item<'a>,
    pub(super) span: Span,
}

/// `spark.read…` on its way to a load.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reader {
    pub(super) format: Option<String>,
    pub(super) options: Vec<(String, Literal)>,
    pub(super) open: bool,
    pub(super) has_schema: bool,
    pub(super) streaming: bool,
}

/// `df.write…` on its way to a save.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Writer {
    pub(super) input: NodeId,
    pub(super) write: super::plan::Write,
    pub(super) streaming: bool,
    /// Where `.write` starts.
    pub(super) start: u32,
    /// The keyword and value of `trigger`, and the call.
    pub(super) trigger: Option<(String, Literal, Span)>,
    /// The function of `foreachBatch`.
    pub(super) batch: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grouped {
    pub(super) input: NodeId,
    pub(super) keys: Vec<Option<String>>,
    pub(super) pivot: Option<bool>,
    /// `cogroup` of another one.
    pub(super) other: Option<NodeId>,
}

/// What is known of a column expression.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Column {
    /// The column's name, if it is a plain one.
    pub(super) name: Option<String>,
    pub(super) aggregate: bool,
    pub(super) explodes: bool,
    pub(super) windowed: bool,
    /// The plan's record of the window's `orderBy`.
    pub(super) window: Option<usize>,
    pub(super) udf: bool,
    /// A literal value, not a column.
    pub(super) constant: bool,
    pub(super) relation: Relation,
    /// The plan's function calls in it, the outermost first.
    pub(super) calls: SmallVec<[u32; 2]>,
    /// It is made of columns and no column itself: a cast, a function, arithmetic.
    pub(super) computed: bool,
    /// The frames that its columns are taken from (`df.k`).
    pub(super) frames: SmallVec<[NodeId; 2]>,
    /// The equalities that it needs.
    pub(super) terms: Vec<KeyTerm>,
}

/// What a condition compares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Relation {
    /// It is no comparison that we can read.
    #[default]
    Unknown,
    /// A column with a value.
    Key,
    /// A column with what may be a value or another column.
    KeyOrEquality,
    /// Two columns for equality.
    Equality,
    /// Something else.
    NoEquality,
}

impl Relation {
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Equality, _) | (_, Self::Equality) => Self::Equality,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::KeyOrEquality, _) | (_, Self::KeyOrEquality) => Self::KeyOrEquality,
            (Self::Key, _) | (_, Self::Key) => Self::Key,
            _ => Self::NoEquality,
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        let unknown = |it| matches!(it, Self::Unknown | Self::KeyOrEquality);
        if unknown(self) || unknown(other) { Self::Unknown } else { Self::NoEquality }
    }

    /// As a filter's condition it leaves the rows of one key.
    pub(super) fn is_key(self) -> bool {
        matches!(self, Self::Key | Self::KeyOrEquality)
    }

    pub(super) fn condition(self) -> JoinCondition {
        match self {
            Self::Equality => JoinCondition::Equality,
            Self::Key | Self::NoEquality => JoinCondition::NoEquality,
            Self::Unknown | Self::KeyOrEquality => JoinCondition::Unknown,
        }
    }
}

/// A window specification; `index` is its place in the plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct WindowSpec {
    pub(super) partitioned: bool,
    /// The columns of `partitionBy` by name.
    pub(super) keys: Vec<Option<String>>,
    /// The plan's record of its `orderBy`.
    pub(super) index: Option<usize>,
    /// `rowsBetween` or `rangeBetween`.
    pub(super) framed: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Closure<'a> {
    pub(super) code: Code<'a>,
    pub(super) function: FunctionId,
    pub(super) env: EnvId,
    /// The instance a method is bound to.
    pub(super) this: Option<Value<'a>>,
}

#[derive(Debug)]
pub(super) struct UserClass<'a> {
    /// The class body's names.
    pub(super) env: EnvId,
    pub(super) bases: Vec<Value<'a>>,
    /// Names that its body annotates, with the annotation: what a dataclass takes, in order.
    pub(super) fields: Vec<(&'a str, &'a str)>,
}

/// An argument with its keyword.
#[derive(Debug, Clone)]
pub(super) struct Named<'a> {
    pub(super) name: Rc<str>,
    /// The keyword's characters.
    pub(super) key: Span,
    pub(super) item: Item<'a>,
}

/// A function with some of its arguments.
#[derive(Debug)]
pub(super) struct Partial<'a> {
    pub(super) callee: Value<'a>,
    pub(super) positional: Vec<Item<'a>>,
    pub(super) named: Vec<Named<'a>>,
}

impl<'a> Value<'a> {
    pub(super) fn text(text: impl Into<String>, span: Option<Span>) -> Self {
        Self::Text(Rc::new(TextValue { text: text.into(), span, pieces: Pieces::new() }))
    }

    /// The text of one literal.
    pub(super) fn literal_text(text: String, span: Span, raw: bool, format: bool) -> Self {
        let piece = Piece::of_literal(&text, span, raw, format);
        Self::Text(Rc::new(TextValue { text, span: Some(span), pieces: smallvec::smallvec![piece] }))
    }

    /// The collected rows that it is, or that its elements or holes are taken from.
    pub(super) fn rows(&self) -> Option<NodeId> {
        match self {
            Self::Rows(node) | Self::Cell(node) => Some(*node),
            Self::Template(template) => template.rows,
            Self::Many(element) => match &**element {
                Self::Cell(node) => Some(*node),
                Self::Template(template) => template.rows,
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&text.text),
            _ => None,
        }
    }

    /// What a rule may know of the value.
    pub(super) fn literal(&self) -> Literal {
        // One list may stand in another many times over: what is larger than any code means is not told.
        self.literal_within(&mut 10_000)
    }

    fn literal_within(&self, budget: &mut usize) -> Literal {
        let Some(left) = budget.checked_sub(1) else { return Literal::Unknown };
        *budget = left;
        match self {
            Self::Text(text) => Literal::Text(text.text.clone()),
            Self::Template(parts) => Literal::Template(parts.parts.clone()),
            Self::Integer(value) => Literal::Integer(*value),
            Self::Float(value) => Literal::Float(*value),
            Self::Bool(value) => Literal::Bool(*value),
            Self::None => Literal::None,
            Self::List(items) | Self::Tuple(items) => {
                Literal::List(items.iter().map(|item| item.value.literal_within(budget)).collect())
            }
            Self::Dict(entries) => {
                let literal = |entry: &Entry<'_>| {
                    (entry.key.value.literal_within(budget), entry.value.value.literal_within(budget))
                };
                Literal::Dict(entries.iter().map(literal).collect())
            }
            _ => Literal::Unknown,
        }
    }

    /// Whether it is a plain value that Spark takes as a literal.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Self::Text(_) | Self::Template(_) | Self::Integer(_) | Self::Float(_) | Self::Bool(_) | Self::None
        )
    }

    /// Whether both are certainly the same.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown, Self::Unknown)
            | (Self::Foreign, Self::Foreign)
            | (Self::None, Self::None)
            | (Self::Udf(None), Self::Udf(None)) => true,
            (Self::Udf(a), Self::Udf(b)) | (Self::Pandas(a), Self::Pandas(b)) => a == b,
            (Self::Result(a), Self::Result(b)) => a == b,
            (Self::Library(a), Self::Library(b)) => a == b,
            (Self::Imported(a, name), Self::Imported(b, other)) => a == b && name == other,
            (Self::Row(a), Self::Row(b)) | (Self::Cell(a), Self::Cell(b)) => a == b,
            (Self::Module(a), Self::Module(b)) | (Self::Project(a), Self::Project(b)) => a == b,
            (Self::Function(a), Self::Function(b)) | (Self::Builtin(a), Self::Builtin(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a.text == b.text,
            (Self::Template(a), Self::Template(b)) => a.parts == b.parts,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Class(a), Self::Class(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            (Self::Frame(a), Self::Frame(b)) | (Self::Rdd(a), Self::Rdd(b)) | (Self::Rows(a), Self::Rows(b)) => a == b,
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => {
                Rc::ptr_eq(a, b) || a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.value.same(&b.value))
            }
            (Self::Many(a), Self::Many(b)) => Rc::ptr_eq(a, b) || a.same(b),
            (Self::Dict(a), Self::Dict(b))
            | (Self::TurnKey(a), Self::TurnKey(b))
            | (Self::TurnItem(a), Self::TurnItem(b)) => Rc::ptr_eq(a, b),
            (Self::Reader(a), Self::Reader(b)) => a == b,
            (Self::Writer(a), Self::Writer(b)) => a == b,
            (Self::Grouped(a), Self::Grouped(b)) => a == b,
            (Self::Column(a), Self::Column(b)) => a == b,
            (Self::Window(a), Self::Window(b)) => a == b,
            (Self::Version(a), Self::Version(b)) => a == b,
            (Self::Closure(a), Self::Closure(b)) => {
                Rc::ptr_eq(a, b)
                    || a.code.base == b.code.base
                        && a.function == b.function
                        && a.env == b.env
                        && a.this.is_none()
                        && b.this.is_none()
            }
            (Self::UserClass(a), Self::UserClass(b)) => Rc::ptr_eq(a, b),
            (Self::Partial(a), Self::Partial(b)) => Rc::ptr_eq(a, b),
            (Self::Choice(a), Self::Choice(b)) => {
                Rc::ptr_eq(a, b) || a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b))
            }
            (Self::Instance(_, a), Self::Instance(_, b)) => a == b,
            _ => false,
        }
    }
}
