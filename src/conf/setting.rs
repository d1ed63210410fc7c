//! One written setting.

use crate::text::Span;

/// Where a setting is written. The order of precedence is [`Carrier::rank`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Carrier {
    /// `spark-defaults.conf` or another properties file.
    Properties,
    /// `SparkSession.builder.config(...)` in any of its forms.
    Builder,
    /// `SparkConf().set`, `.setAll`, `.setIfMissing`, `.setMaster`, `.setAppName`.
    SparkConf,
    /// `spark.conf.set(...)`, `sqlContext.setConf(...)`: at run time, from its line on.
    RuntimeSet,
    /// `SET key = value` in the text of `spark.sql(...)`: at run time, from its line on.
    SqlSet,
    /// What a cluster gives to every job on it: EMR's `spark-defaults` classification, `spark_conf` of a Databricks
    /// cluster, `properties` of a Dataproc cluster.
    Cluster,
    /// `--conf key=value` of `spark-submit` and the shells.
    SubmitConf,
    /// A flag of `spark-submit` with an own name (`--executor-memory 4g`); the key's span covers the flag.
    SubmitFlag,
    /// A key in the definition of a job: `sparkConf` of a SparkApplication, `conf` of Livy or Airflow, Glue's `--conf`.
    Job,
    /// A field with an own name in the definition of a job (`executor.memory`, `executorMemory`); the key's span covers
    /// the field's name.
    JobField,
}

impl Carrier {
    /// Who wins: a higher rank overrides a lower one for the same key.
    pub fn rank(self) -> u8 {
        match self {
            Self::Properties | Self::Cluster => 10,
            Self::SubmitConf | Self::Job => 20,
            Self::SubmitFlag | Self::JobField => 25,
            Self::Builder | Self::SparkConf => 30,
            Self::RuntimeSet | Self::SqlSet => 40,
        }
    }

    /// Whether the setting arrives in a session that runs already.
    pub fn at_run_time(self) -> bool {
        matches!(self, Self::RuntimeSet | Self::SqlSet)
    }

    /// Whether it is a call in the code of the job itself.
    pub fn is_code(self) -> bool {
        matches!(self, Self::Builder | Self::SparkConf | Self::RuntimeSet | Self::SqlSet)
    }

    /// Whether the name that is written stands for a key instead of being one: then it can't be renamed in place.
    pub fn names_a_field(self) -> bool {
        matches!(self, Self::SubmitFlag | Self::JobField)
    }
}

/// What is known of a written value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// The text that Spark receives (Python's `True` arrives as `true`).
    Literal(String),
    /// A template or a text with holes, e.g. `${MEM}`, `{{ mem }}`, an f-string: known only in part, never checked.
    Template,
    /// An expression whose value the file doesn't tell.
    Unknown,
}

impl Value {
    /// The literal text, if the value is known.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Template | Self::Unknown => None,
        }
    }
}

/// A setting as written in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key as Spark receives it (escapes and constants resolved).
    pub key: String,
    /// Whether the key has holes (an f-string): then `key` holds only the literal prefix.
    pub key_is_prefix: bool,
    /// The value.
    pub value: Value,
    /// The key's characters, without quotes.
    pub key_span: Span,
    /// The value's characters, without quotes; empty where a value is missing.
    pub value_span: Span,
    /// The whole statement, call or line, as a removal would take it.
    pub span: Span,
    /// Where it is written.
    pub carrier: Carrier,
}
