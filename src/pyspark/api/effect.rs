//! What a name of PySpark does, in types: the words of `data/pyspark-effects.tsv`.

/// What a name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Spark runs at once.
    Action(Run),
    /// A step of the plan is described; nothing runs.
    Lazy(Step),
    /// A column is made.
    Column(Function),
    /// An object is prepared that reads, writes or is configured.
    Setup(Setup),
    /// A name for SQL is given to a frame.
    View,
    /// Kept rows are dropped.
    Release,
    /// No rows are touched: names, types, plans, the catalogue.
    Metadata,
}

words! {
    /// What runs at once.
    Run {
        /// All rows to the driver.
        Collect = "collect",
        /// All rows to the driver, as pandas or Arrow.
        ToPandas = "to-pandas",
        /// A given number of rows.
        Take = "take",
        /// One row, or a given number of rows.
        Head = "head",
        /// One row.
        First = "first",
        /// The values of one key.
        Lookup = "lookup",
        /// All rows, one partition at a time.
        Iterate = "iterate",
        /// The number of rows.
        Count = "count",
        /// Some rows, printed.
        Show = "show",
        /// Whether there are rows.
        IsEmpty = "is-empty",
        /// A function for each row.
        Foreach = "foreach",
        /// A function for each partition.
        ForeachPartition = "foreach-partition",
        /// All rows into one value.
        Reduce = "reduce",
        /// All rows to the driver, as texts or objects of Python.
        ToValues = "to-values",
        /// A number or list of numbers about columns.
        Statistic = "statistic",
        /// A small table about columns.
        Summary = "summary",
        /// The rows are kept outside of the plan, at once unless told otherwise.
        Checkpoint = "checkpoint",
        /// A model is fitted, or measured.
        Fit = "fit",
        /// A function on chosen partitions.
        RunJob = "run-job",
        /// A write in the format that the name tells.
        WriteFormat = "write format",
        /// A write to a path.
        WritePath = "write path",
        /// A write to a table that is named here.
        WriteTable = "write table",
        /// A write to a table of a database.
        WriteJdbc = "write jdbc",
        /// A write to what was named before.
        WriteGiven = "write given",
        /// A merge into what was named before.
        WriteMerge = "write merge",
        /// A streaming query to a path or sink.
        StartPath = "start path",
        /// A streaming query to a table.
        StartTable = "start table",
    }
}

words! {
    /// A step of the plan.
    Step {
        /// Some of the rows.
        Filter = "filter",
        /// Rows without nulls.
        DropNulls = "drop-nulls",
        /// Columns, by expressions.
        Select = "select",
        /// Columns, by texts of SQL.
        SelectSql = "select-sql",
        /// Other columns or names.
        Project = "project",
        /// More columns.
        Columns = "columns",
        /// Two frames by a condition.
        Join = "join",
        /// Each row with each.
        CrossJoin = "cross-join",
        /// Groups that nothing has been computed of.
        Group = "group",
        /// Values by group, or of all rows.
        Aggregate = "aggregate",
        /// Groups with a column for each value of another.
        Pivot = "pivot",
        /// Groups of two frames.
        Cogroup = "cogroup",
        /// Each row once.
        Distinct = "distinct",
        /// Rows by whether another frame has them.
        Set = "set",
        /// The rows of both.
        Union = "union",
        /// Rows distributed anew.
        Repartition = "repartition",
        /// Fewer partitions.
        Coalesce = "coalesce",
        /// Rows in order over all partitions.
        Sort = "sort",
        /// Rows in order within each partition.
        SortWithin = "sort-within",
        /// At most a number of rows.
        Limit = "limit",
        /// Rows by chance.
        Sample = "sample",
        /// Several frames by chance.
        Split = "split",
        /// Rows that are kept once they were computed.
        Cache = "cache",
        /// Rows that are kept outside of the plan.
        Checkpoint = "checkpoint",
        /// A hint to the optimizer.
        Hint = "hint",
        /// A small table about columns.
        Summary = "summary",
        /// A Python function for each row.
        Map = "map",
        /// A Python function that gives each row a key.
        MapKeys = "map-keys",
        /// A Python function for each partition.
        MapPartitions = "map-partitions",
        /// A Python function for each group.
        MapGroups = "map-groups",
        /// What a function makes of the frame.
        Transform = "transform",
        /// What a fitted model makes of the frame.
        Model = "model",
        /// An RDD of the rows, or made of RDDs.
        Rdd = "rdd",
        /// The same, for which a job runs at once.
        RddByJob = "rdd-by-job",
        /// Rows as texts.
        ToJson = "to-json",
        /// A frame of an RDD's rows.
        ToFrame = "to-frame",
        /// pandas' interface on the frame.
        PandasApi = "pandas-api",
        /// Another library's frame.
        Foreign = "foreign",
        /// A step without a kind of its own.
        Other = "other",
        /// A read; path and format as set up.
        Load = "load",
        /// A read in the format that the name tells.
        LoadFormat = "load-format",
        /// A read of a table.
        ReadTable = "read-table",
        /// Numbers in a row.
        Range = "range",
        /// Rows of the driver.
        Local = "local",
        /// A text of SQL.
        Sql = "sql",
        /// Rows from elsewhere.
        Source = "source",
    }
}

words! {
    /// What is prepared.
    Setup {
        /// The session itself.
        Session = "session",
        /// A reader.
        Reader = "reader",
        /// A writer of files, tables or streams.
        Writer = "writer",
        /// A writer of a table that is named here.
        TableWriter = "table-writer",
        /// A merge.
        Merge = "merge",
        /// More functions of the frame.
        Functions = "functions",
        /// Another library's object.
        Foreign = "foreign",
        /// What happens to rows that are there.
        Mode = "mode",
        /// The format.
        Format = "format",
        /// One option.
        Option = "option",
        /// Several options.
        Options = "options",
        /// The schema.
        Schema = "schema",
        /// The columns that files are put apart by.
        Partitions = "partitions",
        /// When a stream's batches start.
        Trigger = "trigger",
        /// A function for each row of a stream.
        Foreach = "foreach",
        /// A function for each batch of a stream.
        ForeachBatch = "foreach-batch",
        /// Something else.
        Other = "",
    }
}

/// What makes a column, and what it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Its kind.
    pub kind: FunctionKind,
    /// It puts the values of all rows of a group into one.
    pub collects: bool,
    /// Its value may change with the order of rows.
    pub by_order: bool,
    /// Its value changes with the partition that a row lies in.
    pub by_place: bool,
    /// It gives another value each time; the position of the seed that it may have.
    pub draws: Option<u8>,
}

words! {
    /// Kinds of what makes a column.
    FunctionKind {
        /// Of one row's values.
        Scalar = "scalar",
        /// Of one row's values; of methods of columns: the same column under another name.
        Name = "name",
        /// The same column in another order.
        Order = "order",
        /// The same column in another type.
        Cast = "cast",
        /// A condition that is no equality of two columns.
        Test = "test",
        /// An equality that knows nulls.
        Equal = "equal",
        /// A choice between values.
        Choice = "choice",
        /// Over a window.
        Over = "over",
        /// A column by its name.
        Column = "column",
        /// A constant.
        Literal = "literal",
        /// A text of SQL.
        Sql = "sql",
        /// A frame with a hint.
        Broadcast = "broadcast",
        /// A Python function as a function of columns.
        Udf = "udf",
        /// Many rows into one value.
        Aggregate = "aggregate",
        /// By a row's place in a window; only `over` one.
        Window = "window",
        /// One row into many.
        Generator = "generator",
        /// A transform that a table is partitioned by.
        Partition = "partition",
    }
}

words! {
    /// Whether rows go over the network between partitions.
    Shuffle {
        /// They stay.
        Never = "never",
        /// They go.
        Always = "always",
        /// They go unless they lie by these keys already.
        UnlessByKeys = "keys",
        /// They go unless one side is small enough to be broadcast.
        UnlessSmallSide = "sides",
        /// What each partition has left goes to one.
        ToOne = "one",
        /// They go if an argument says so.
        IfAsked = "asked",
    }
}

words! {
    /// How many rows come back, by those that went in.
    Rows {
        /// As many.
        Keeps = "keeps",
        /// As many or fewer.
        Filters = "filters",
        /// At most a given number.
        Bounds = "bounds",
        /// Possibly more.
        Multiplies = "multiplies",
        /// Those of both inputs.
        Adds = "adds",
        /// One a key.
        Groups = "groups",
        /// One a key, with all its rows in it.
        Gathers = "gathers",
        /// One.
        One = "one",
        /// A few.
        Small = "small",
        /// As a function says.
        Any = "any",
    }
}

words! {
    /// What a method's name alone tells of its receiver.
    Tells {
        /// Nothing.
        Nothing = "-",
        /// A DataFrame of Spark, if the variable is called like one.
        Frame = "frame",
        /// A DataFrame of Spark, in a file of Spark.
        Spark = "spark",
    }
}

impl Effect {
    /// The words of the table.
    pub(super) fn from_words(words: &str) -> Option<Self> {
        let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
        Some(match first {
            "action" => Self::Action(Run::from_word(rest)?),
            "lazy" => Self::Lazy(Step::from_word(rest)?),
            "column" => Self::Column(Function::from_words(rest)?),
            "setup" => Self::Setup(Setup::from_word(rest)?),
            "view" => Self::View,
            "release" => Self::Release,
            "metadata" => Self::Metadata,
            _ => return None,
        })
    }
}

impl Function {
    fn from_words(words: &str) -> Option<Self> {
        let mut words = words.split(' ');
        let kind = FunctionKind::from_word(words.next()?)?;
        let mut function = Self { kind, collects: false, by_order: false, by_place: false, draws: None };
        for word in words {
            match word {
                "collects" => function.collects = true,
                "by-order" => function.by_order = true,
                "by-place" => function.by_place = true,
                _ => function.draws = Some(word.strip_prefix("draws=")?.parse().ok()?),
            }
        }
        Some(function)
    }
}

impl Run {
    /// Whether rows or values are stored outside of Spark.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::WriteFormat
                | Self::WritePath
                | Self::WriteTable
                | Self::WriteJdbc
                | Self::WriteGiven
                | Self::WriteMerge
        )
    }
}
