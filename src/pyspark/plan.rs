//! The static plan: what the file's DataFrames are, as a graph of operators like Spark's logical plan.

use smallvec::SmallVec;

pub use super::details::*;
pub use super::scopes::{Binding, Loop, LoopOver, Scope};
pub use super::versions::{VersionBranch, Versions};

use super::api::{self, Class};
use crate::conf::Setting;
use crate::conf::carriers::{Extract, Problem, Submit};
use crate::text::Span;

/// A node of [`StaticPlan::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A loop of [`StaticPlan::loops`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

/// A function, lambda, class body or the module of [`StaticPlan::scopes`]; 0 is the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub u32);

/// Everything that is known of Spark in one Python file.
#[derive(Debug, Clone, Default)]
pub struct StaticPlan {
    /// Operators in the order in which they were met; inputs may point forward only through [`Operator::LoopCarried`].
    pub nodes: Vec<Node>,
    /// Actions in source order.
    pub actions: Vec<Action>,
    /// Actions of other modules of the project that calls in this file run, in the order in which they were met.
    pub remote: Vec<RemoteAction>,
    /// Calls of this file's functions by each other and by the module, in the order in which they were met.
    pub calls: Vec<LocalCall>,
    /// Settings written in the code, in source order: of the job itself, and of jobs that it defines (Airflow, boto3).
    pub settings: Vec<Setting>,
    /// Jobs that the code defines, with indices into `settings`.
    pub submits: Vec<Submit>,
    /// Settings of one dict without a job around it, as indices into `settings`.
    pub groups: Vec<Vec<usize>>,
    /// What those jobs read otherwise than it looks, in source order.
    pub problems: Vec<Problem>,
    /// Python loops and comprehensions.
    pub loops: Vec<Loop>,
    /// The module and its functions.
    pub scopes: Vec<Scope>,
    /// Hint calls (`F.broadcast(df)`, `df.hint(...)`, other transformations) whose result nothing uses.
    pub discarded: Vec<NodeId>,
    /// Where frames are released: `df.unpersist()`.
    pub unpersists: Vec<(NodeId, CallSite)>,
    /// Names bound to frames, for hovers, symbols and templates; in source order.
    pub bindings: Vec<Binding>,
    /// How the file uses Spark.
    pub uses: SparkUse,
    /// Where the session first gets its name in this file, if it is built here.
    pub session_span: Option<Span>,
    /// Where a session or a context is started or handed out (`getOrCreate`, `SparkContext(...)`); in source order.
    pub sessions: Vec<SessionStart>,
    /// Window specifications with an order, at their `orderBy`; in source order.
    pub windows: Vec<WindowOrder>,
    /// Calls that make columns, in the order in which they were met.
    pub functions: Vec<FunctionCall>,
    /// Python that Spark runs, in the order in which it was met.
    pub python: Vec<PythonFunction>,
    /// Streaming queries, in source order.
    pub streams: Vec<StreamStart>,
    /// Columns where Python wants a truth value, in source order.
    pub misused: Vec<MisusedColumn>,
    /// Built-in functions of Python that a star import replaced, in source order.
    pub shadowed: Vec<ShadowedBuiltin>,
    /// What is done with collected rows, in source order.
    pub row_uses: Vec<RowUse>,
    /// Frames made of what the driver read, in source order.
    pub driver_data: Vec<DriverData>,
    /// Frames that go where the file doesn't tell what is done with them: returned, kept in attributes and collections,
    /// handed to foreign code.
    pub escapes: Vec<NodeId>,
    /// Frames whose columns' types the code reads: `df.schema`, `df.dtypes`.
    pub schemas: Vec<NodeId>,
    /// What [`StaticPlan::bound`] answers, by node; empty until [`StaticPlan::finish`].
    pub bounds: Vec<RowBound>,
    /// Texts of SQL, in source order: between the quotes where they stand in one literal.
    pub sql: Vec<Span>,
    /// Calls that delete what lies under a path, in source order.
    pub deletes: Vec<PathDelete>,
    /// Code that runs with some versions of Spark only, in source order.
    pub version_branches: Vec<VersionBranch>,
    /// By node: the operators that read it; empty until [`StaticPlan::finish`].
    pub consumers: Vec<Vec<NodeId>>,
    /// By node: whether an earlier node has the same call (a function that was read for several callers).
    pub repeats: Vec<bool>,
}

/// A call after which a session runs: the first one starts it, later ones hand it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionStart {
    /// The whole call with its chain, from `SparkSession` on.
    pub call: Span,
    /// The method's or class's name.
    pub method: Span,
    /// The function that holds it.
    pub scope: ScopeId,
    /// Whether it runs only under an `if` inside its function.
    pub conditional: bool,
}

/// A window specification with an order: `Window.orderBy(...)`, `Window.partitionBy(...).orderBy(...)`.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowOrder {
    /// The `orderBy` call.
    pub site: CallSite,
    /// `partitionBy` with at least one column that is no literal, before or after it.
    pub partitioned: bool,
    /// The columns of `partitionBy` by name; `None` for other expressions.
    pub keys: Vec<Option<String>>,
    /// The frames that it is used on in this file.
    pub used_on: Vec<NodeId>,
}

/// How a file uses Spark; decides guards and templates.
#[derive(Debug, Clone, Default)]
pub struct SparkUse {
    /// The file imports pyspark (or awsglue, delta, databricks) or uses a session by proof.
    pub is_spark: bool,
    /// A literal `master("local…")` in the builder or `SparkConf.setMaster`.
    pub local_master: bool,
    /// `DataFrame`s here come from `pyspark.pandas`, Connect or the classic API.
    pub connect: bool,
    /// The name under which `pyspark.sql.functions` is known here, e.g. `F`.
    pub functions_alias: Option<String>,
    /// Names imported from `pyspark.sql.functions` directly: (name there, name here).
    pub imported_functions: Vec<(String, String)>,
    /// The name of the session here, e.g. `spark` or `self.spark`.
    pub session: Option<String>,
    /// Byte offset where a new import line belongs (start of a line, after the last top-level import).
    pub import_offset: u32,
    /// A literal `appName("…")`.
    pub app_name: Option<String>,
    /// Plotting libraries imported here (matplotlib, seaborn, plotly, …).
    pub plots: bool,
    /// The session is built in this file (`getOrCreate`).
    pub builds_session: bool,
}

/// One operator, at the call that adds it.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it does.
    pub operator: Operator,
    /// The frames it reads, left first.
    pub inputs: SmallVec<[NodeId; 2]>,
    /// The call that wrote it; `None` for joins of branches and loop variables.
    pub site: Option<CallSite>,
    /// The function that holds the call.
    pub scope: ScopeId,
    /// The loops around the call within its function, outermost first.
    pub loops: SmallVec<[LoopId; 2]>,
    /// Whether the call runs only under an `if` inside its innermost loop (or function).
    pub conditional: bool,
    /// Whether [`Operator::Cache`] or a checkpoint lies at this node (`df.cache()` also marks `df` itself, which Spark shares).
    pub cached: bool,
}

/// What a call is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Language {
    /// Python.
    #[default]
    Python,
    /// A text of SQL: the call is a clause and the method its keyword, a table's name or a function's name; there is no
    /// receiver, and there are no [`CallSite::args`].
    Sql,
}

/// A method or function call in the source.
#[derive(Debug, Clone, PartialEq)]
pub struct CallSite {
    /// What it is written in: edits of Python have no place in SQL.
    pub language: Language,
    /// The whole call, from its receiver's first character to the closing parenthesis.
    pub call: Span,
    /// The receiver expression in front of the dot; empty for plain functions.
    pub receiver: Span,
    /// The method's name.
    pub method: Span,
    /// The argument list with its parentheses; empty for properties.
    pub arguments: Span,
    /// The arguments in order.
    pub args: Vec<Argument>,
    /// The statement that holds the call.
    pub statement: Span,
    /// The receiver's class, where the method is one of PySpark's.
    pub class: Option<Class>,
}

impl CallSite {
    /// What PySpark's API tells of the method.
    pub fn entry(&self, text: &str) -> Option<&'static api::Entry> {
        api::entry(self.class?, self.method.of(text))
    }

    /// The step of the plan that the method is by PySpark's API.
    pub fn step(&self, text: &str) -> Option<api::Step> {
        self.entry(text)?.step()
    }

    /// Whether it stands in a text of SQL.
    pub fn is_sql(&self) -> bool {
        self.language == Language::Sql
    }

    /// The argument with this keyword, or at this position if it is positional.
    pub fn argument(&self, position: usize, keyword: &str) -> Option<&Argument> {
        self.args
            .iter()
            .find(|argument| argument.keyword.as_deref() == Some(keyword))
            .or_else(|| self.args.get(position).filter(|argument| argument.keyword.is_none()))
    }
}

/// One argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its keyword, if written with one; `*` and `**` for unpacked arguments.
    pub keyword: Option<String>,
    /// The value's characters.
    pub span: Span,
    /// What the file tells of the value.
    pub value: Literal,
}

/// What is known of a Python value, through constants and single assignments.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Literal {
    /// A string.
    Text(String),
    /// A string with holes: the literal parts in order, `None` for a hole.
    Template(Vec<Option<String>>),
    /// An integer.
    Integer(i64),
    /// Another number.
    Float(f64),
    /// `True` or `False`.
    Bool(bool),
    /// `None`.
    None,
    /// A list, tuple or set.
    List(Vec<Literal>),
    /// A dict with literal keys, in order.
    Dict(Vec<(Literal, Literal)>),
    /// Not told by the file.
    #[default]
    Unknown,
}

/// What a node does to its inputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Operator {
    /// Where rows come from.
    Source(Source),
    /// `filter`, `where`, `dropna`.
    Filter {
        /// The condition is an equality of a column with a value (`F.col("id") == 7`).
        key_equality: bool,
    },
    /// `select`, `selectExpr`, `drop`, renames, `toDF`: as many rows as before.
    Project {
        /// Every selected expression is an aggregate: one row comes out.
        only_aggregates: bool,
        /// An expression multiplies rows (`explode`).
        explodes: bool,
    },
    /// `withColumn`, `withColumns`, `withColumnRenamed`, …
    WithColumns,
    /// A join of two frames.
    Join(Join),
    /// `groupBy(...).agg(...)` and its short forms; `agg` on the frame itself has no keys.
    Aggregate {
        /// Grouping keys that are known as column names; `None` for other expressions.
        keys: Vec<Option<String>>,
        /// Whether there may be more than one group.
        grouped: bool,
        /// `pivot` in between, and whether its values are given.
        pivot: Option<bool>,
    },
    /// `distinct`, `dropDuplicates`, `intersect`, `subtract`.
    Distinct,
    /// A window function was added (`row_number().over(...)`); rows stay.
    Window,
    /// `repartition` and `repartitionByRange`.
    Repartition {
        /// The number, if given and known.
        count: Option<i64>,
        /// Columns are given.
        keyed: bool,
    },
    /// `coalesce(n)`.
    Coalesce {
        /// The number, if known.
        count: Option<i64>,
    },
    /// `orderBy`, `sort`, `sortWithinPartitions`.
    Sort {
        /// Over all partitions.
        global: bool,
    },
    /// `limit(n)`, with the number if known.
    Limit(Option<u64>),
    /// `union`, `unionByName`; over more than two inputs when `reduce`d (then `open` says that their number is unknown).
    Union {
        /// The number of inputs is not known.
        open: bool,
    },
    /// `sample`, `sampleBy`, `randomSplit`.
    Sample {
        /// A seed is given.
        seeded: bool,
    },
    /// `cache`, `persist`.
    Cache,
    /// `checkpoint`, `localCheckpoint`.
    Checkpoint,
    /// `F.broadcast(df)` or `df.hint("broadcast")`; other hints by name.
    Hint(String),
    /// `describe`, `summary`, `printSchema`-like small tables, `crosstab`.
    Summary,
    /// Rows pass through Python: `mapInPandas`, `applyInPandas`, a UDF in the expression, `rdd.map`.
    Udf,
    /// Values of a variable after branches: either of the inputs.
    Merge,
    /// A loop's variable: before the loop (first input) or at the end of its body (second, if it changed).
    LoopCarried(LoopId),
    /// A transformation that is known to return a frame but nothing more (method name).
    Other(String),
    /// `df.rdd` and transformations on RDDs that keep the rows.
    Rdd,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// `spark.read…` of files or a data source.
    Read {
        /// `parquet`, `csv`, `jdbc`, … in lower case, if known.
        format: Option<String>,
        /// Paths or table, if literal.
        location: Vec<Literal>,
        /// Options given as literals, in order: name in lower case.
        options: Vec<(String, Literal)>,
        /// There are options that the file doesn't tell (`**options`).
        open: bool,
        /// A schema is given (`schema(...)`, `schema=`).
        has_schema: bool,
        /// A streaming source.
        streaming: bool,
        /// The whole reader chain from `spark` to the loading call.
        chain: Span,
    },
    /// `spark.table("…")`, `spark.read.table`.
    Table(Literal),
    /// `spark.range(...)`, with its row count if known.
    Range(Option<u64>),
    /// `createDataFrame`, with its row count if the data is a literal.
    Local(Option<u64>),
    /// `spark.sql(...)`.
    Sql {
        /// The text, if known.
        text: Literal,
        /// What the text tells of the number of rows.
        bound: RowBound,
    },
    /// A parameter, an attribute or a foreign call that is known to be a frame.
    Given,
}

/// A join.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// How rows are matched.
    pub condition: JoinCondition,
    /// `inner`, `left`, `right`, `full`, `cross`, `left_semi`, `left_anti` (Spark's aliases folded); `None` if not literal.
    pub kind: Option<String>,
    /// The equalities that the condition needs, as far as they are known.
    pub terms: Vec<KeyTerm>,
}

/// How a join matches rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinCondition {
    /// Column names shared by both sides, if known.
    Using(Vec<String>),
    /// An expression with at least one equality between the sides.
    Equality,
    /// An expression that is known to hold no usable equality.
    NoEquality,
    /// No condition at all.
    Missing,
    /// `crossJoin` or `how="cross"`: written on purpose.
    Cross,
    /// Not told by the file.
    Unknown,
}

/// What makes Spark run.
#[derive(Debug, Clone)]
pub struct Action {
    /// What it is.
    pub kind: ActionKind,
    /// The method's name as written, e.g. `toPandas`.
    pub method: String,
    /// The frame (or RDD) it runs; `None` when only the receiver's type is known.
    pub input: Option<NodeId>,
    /// The call.
    pub site: CallSite,
    /// The function that holds it.
    pub scope: ScopeId,
    /// The loops around it within its function, outermost first; if there are none, those around the call that certainly
    /// leads to it.
    pub loops: SmallVec<[LoopId; 2]>,
    /// Whether it runs only under an `if` inside its innermost loop (or function).
    pub conditional: bool,
    /// What happens to the result.
    pub result: ResultUse,
    /// What the code does with its value.
    pub uses: ResultUses,
    /// The receiver is an RDD.
    pub on_rdd: bool,
}

/// Kinds of actions.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionKind {
    /// `collect`: all rows to the driver.
    Collect,
    /// `toPandas`, `toArrow`, `to_pandas`.
    ToPandas,
    /// `take`, `head`, `tail`, `first`: a few rows.
    Take(Option<u64>),
    /// `toLocalIterator`: one partition at a time.
    LocalIterator,
    /// `count`.
    Count,
    /// `show`, `display`.
    Show,
    /// `isEmpty`.
    IsEmpty,
    /// `foreach`, `foreachPartition`.
    Foreach,
    /// A write.
    Write(Write),
    /// An RDD action that returns one value (`sum`, `reduce`, …).
    Reduce,
    /// `spark.sql` of a command, `createOrReplaceTempView`, `pivot` without values, schema inference, … (method name).
    Other(String),
}

/// A write.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Write {
    /// `parquet`, `csv`, … in lower case, if known.
    pub format: Option<String>,
    /// Path or table.
    pub target: Literal,
    /// `append`, `overwrite`, …
    pub mode: Option<String>,
    /// `partitionBy` columns, if any were given.
    pub partition_by: Vec<Literal>,
    /// Options given as literals.
    pub options: Vec<(String, Literal)>,
    /// The calls that set the writer up (`mode`, `partitionBy`, `option`, …), in order.
    pub calls: Vec<CallSite>,
    /// The whole writer chain, from `.write` to the closing parenthesis.
    pub chain: Span,
}

/// What the code does with an action's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultUse {
    /// Nothing.
    Discarded,
    /// A loop or comprehension runs over it.
    Iterated,
    /// One element is taken: `[0]`, `[0][0]`.
    Indexed,
    /// Bound to this name.
    Bound(String),
    /// Returned from the function.
    Returned,
    /// Anything else.
    Used,
}

/// What the code tells of a frame's number of rows. Ordered from harmless to harmful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowBound {
    /// At most this many rows.
    Exactly(u64),
    /// Few: a summary, a limit of unknown size, `SHOW TABLES`.
    Small,
    /// One row a group or distinct value.
    ByGroups,
    /// A key filter or an unknown source: can't be told.
    Unknown,
    /// As many as the sources hold.
    Unbounded,
}

impl StaticPlan {
    /// The node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The loop.
    pub fn loop_(&self, id: LoopId) -> &Loop {
        &self.loops[id.0 as usize]
    }

    /// The scope.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    /// What the code tells of the number of rows of a node.
    pub fn bound(&self, id: NodeId) -> RowBound {
        self.bounds.get(id.0 as usize).copied().unwrap_or(RowBound::Unknown)
    }

    /// Whether an earlier node stands for the same call: rules that look at single calls need not look again.
    pub fn is_repeat(&self, id: NodeId) -> bool {
        self.repeats.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// Computes what is derived from the nodes, and puts the lists in source order.
    pub fn finish(&mut self) {
        self.bounds = super::bounds::bounds(&self.nodes);
        self.consumers = consumers(&self.nodes);
        let mut seen = rustc_hash::FxHashSet::default();
        self.repeats =
            self.nodes.iter().map(|node| node.site.as_ref().is_some_and(|site| !seen.insert(site.call))).collect();
        self.deletes.sort_by_key(|delete| delete.site.call);
        self.version_branches.sort_by_key(|branch| branch.span);
        self.sql.sort();
        self.sql.dedup();
        self.actions.sort_by_key(|action| (action.site.call.start, action.site.call.end));
        self.sort_settings();
        self.submits.sort_by_key(|submit| submit.span);
        self.problems.sort_by_key(|problem| problem.span);
        self.bindings.sort_by_key(|binding| binding.span);
        self.windows.sort_by_key(|window| window.site.call);
        self.misused.sort_by_key(|misused| misused.span);
        self.misused.dedup();
        self.shadowed.sort_by_key(|shadowed| shadowed.span);
        self.shadowed.dedup();
        self.row_uses.sort_by_key(|used| used.span);
        self.row_uses.dedup_by_key(|used| (used.span, used.kind));
        self.streams.sort_by_key(|stream| stream.site.call);
        self.streams.dedup_by_key(|stream| stream.site.call);
        self.driver_data.sort_by_key(|data| data.span);
        self.driver_data.dedup_by_key(|data| data.span);
        self.escapes.sort();
        self.escapes.dedup();
        self.schemas.sort();
        self.schemas.dedup();
        self.sessions.sort_by_key(|session| session.call);
        self.sessions.dedup_by_key(|session| session.call);
    }

    /// Adds what stands in the code for other jobs.
    pub fn add(&mut self, extract: Extract) {
        let first = self.settings.len();
        let placed = |indices: &mut Vec<usize>| indices.iter_mut().for_each(|index| *index += first);
        let Extract { settings, mut submits, mut groups, problems } = extract;
        submits.iter_mut().for_each(|submit| placed(&mut submit.settings));
        groups.iter_mut().for_each(placed);
        self.settings.extend(settings);
        self.submits.extend(submits);
        self.groups.extend(groups);
        self.problems.extend(problems);
    }

    /// Puts the settings in source order, and the indices into them with it.
    fn sort_settings(&mut self) {
        let mut order: Vec<usize> = (0..self.settings.len()).collect();
        order.sort_by_key(|&index| (self.settings[index].key_span, self.settings[index].span));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &index)| places[index] = place);
        self.settings.sort_by_key(|setting| (setting.key_span, setting.span));
        let of_jobs = self.submits.iter_mut().flat_map(|submit| &mut submit.settings);
        for index in of_jobs.chain(self.groups.iter_mut().flatten()) {
            *index = places[*index];
        }
        self.groups.sort();
    }

    /// Whether the rows of a node keep coming: one of its sources streams.
    pub fn is_streaming(&self, id: NodeId) -> bool {
        let streams =
            |&id: &NodeId| matches!(self.node(id).operator, Operator::Source(Source::Read { streaming: true, .. }));
        self.upstream(id).iter().any(streams)
    }

    /// The node and all it is computed from, each once, nearest first. Costs what it finds, not the size of the plan:
    /// rules ask it of node after node.
    pub fn upstream(&self, id: NodeId) -> Vec<NodeId> {
        let mut seen = Seen::default();
        let mut found = vec![id];
        let mut next = 0;
        while let Some(&id) = found.get(next) {
            next += 1;
            for &input in &self.node(id).inputs {
                if seen.is_new(&found, input) {
                    found.push(input);
                }
            }
        }
        found
    }
}

/// The members of a list, as a set once the list is long.
#[derive(Default)]
struct Seen(rustc_hash::FxHashSet<NodeId>);

impl Seen {
    /// Lists up to this length are looked through.
    const SHORT: usize = 24;

    /// Whether a node that comes next is not in the list yet.
    fn is_new(&mut self, list: &[NodeId], id: NodeId) -> bool {
        if list.len() <= Self::SHORT {
            return !list.contains(&id);
        }
        if self.0.is_empty() {
            self.0.extend(list);
        }
        self.0.insert(id)
    }
}

/// By node: the operators that read it.
fn consumers(nodes: &[Node]) -> Vec<Vec<NodeId>> {
    let mut consumers = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for input in &node.inputs {
            consumers[input.0 as usize].push(NodeId(index as u32));
        }
    }
    consumers
}
