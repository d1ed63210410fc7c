//! The classes of PySpark.

words! {
    /// A class of PySpark; the functions of `pyspark.sql.functions` count as one.
    Class {
        /// `SparkSession.builder`.
        Builder = "Builder",
        /// `spark.catalog`.
        Catalog = "Catalog",
        /// A column.
        Column = "Column",
        /// A DataFrame.
        DataFrame = "DataFrame",
        /// `df.na`.
        DataFrameNaFunctions = "DataFrameNaFunctions",
        /// `spark.read`.
        DataFrameReader = "DataFrameReader",
        /// `df.stat`.
        DataFrameStatFunctions = "DataFrameStatFunctions",
        /// `df.write`.
        DataFrameWriter = "DataFrameWriter",
        /// `df.writeTo(…)`.
        DataFrameWriterV2 = "DataFrameWriterV2",
        /// `spark.readStream`.
        DataStreamReader = "DataStreamReader",
        /// `df.writeStream`.
        DataStreamWriter = "DataStreamWriter",
        /// What is fitted in `pyspark.ml`.
        Estimator = "Estimator",
        /// `pyspark.sql.functions`.
        Functions = "functions",
        /// AWS Glue's context.
        GlueContext = "GlueContext",
        /// `df.groupBy(…)`.
        GroupedData = "GroupedData",
        /// `df.mergeInto(…)`.
        MergeIntoWriter = "MergeIntoWriter",
        /// A frame of `pyspark.pandas`.
        PandasOnSpark = "PandasOnSpark",
        /// `a.groupBy(…).cogroup(…)`.
        PandasCogroupedOps = "PandasCogroupedOps",
        /// An RDD.
        Rdd = "RDD",
        /// `spark.conf`.
        RuntimeConfig = "RuntimeConfig",
        /// A configuration that a session starts with.
        SparkConf = "SparkConf",
        /// `spark.sparkContext`.
        SparkContext = "SparkContext",
        /// A session.
        SparkSession = "SparkSession",
        /// The session of Spark 1.
        SqlContext = "SQLContext",
        /// A streaming query that was started.
        StreamingQuery = "StreamingQuery",
        /// `spark.streams`.
        StreamingQueryManager = "StreamingQueryManager",
        /// What transforms frames in `pyspark.ml`.
        Transformer = "Transformer",
        /// `spark.udf`.
        UdfRegistration = "UDFRegistration",
        /// A clause of a merge: rows of both sides.
        WhenMatched = "WhenMatched",
        /// A clause of a merge: rows of the source alone.
        WhenNotMatched = "WhenNotMatched",
        /// A clause of a merge: rows of the target alone.
        WhenNotMatchedBySource = "WhenNotMatchedBySource",
        /// `Window`.
        Window = "Window",
        /// `Window.partitionBy(…)`.
        WindowSpec = "WindowSpec",
    }
}

impl Class {
    /// The class that a name of PySpark's modules stands for; old and vendors' names fold into it.
    pub(in crate::pyspark) fn named(name: &str) -> Option<Self> {
        match name {
            "DatabricksSession" => Some(Self::SparkSession),
            "HiveContext" => Some(Self::SqlContext),
            "RuntimeConf" => Some(Self::RuntimeConfig),
            _ => Self::from_word(name).filter(|class| !class.is_generic()),
        }
    }

    /// Whether user code derives from it, or its name is too common to tell anything.
    fn is_generic(self) -> bool {
        matches!(
            self,
            Self::Functions
                | Self::Estimator
                | Self::Transformer
                | Self::PandasOnSpark
                | Self::MergeIntoWriter
                | Self::StreamingQueryManager
                | Self::WhenMatched
                | Self::WhenNotMatched
                | Self::WhenNotMatchedBySource
        )
    }
}
