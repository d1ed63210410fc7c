//! Connections and models made for each row.

use super::python::words;
use crate::declare_rule;
use crate::pyspark::plan::{FunctionFacts, PythonFunction, Runs};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// A connection, client or model that a Python function makes again for each row.
    ///
    /// ## Why
    /// Setting up takes milliseconds to seconds, the row itself microseconds: a million rows open a million connections or load a model a
    /// million times. Once a partition, or once a batch iterator, is enough.
    ///
    /// ## Silent when
    /// - the function is kept by `lru_cache` or `cache`, or fills a global that it looks at first;
    /// - it runs once a partition or takes an iterator of batches (`mapPartitions`, `foreachPartition`, `mapInPandas`);
    /// - it runs on the driver (`foreachBatch`).
    ///
    /// A compiled regular expression is information: Python keeps the newest ones, only looking it up costs. A set-up in a function of
    /// whole batches is information too.
    ///
    /// ## Example
    /// ```python
    /// import requests
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// @F.udf("string")
    /// def country(address):
    ///     return requests.get("https://geo.internal/" + address).text  # finding
    ///
    /// spark.table("visits").withColumn("country", country("address")).write.parquet("s3a://lake/visits")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from typing import Iterator
    ///
    /// import pandas as pd
    /// import requests
    /// from pyspark.sql import SparkSession, functions as F
    ///
    /// spark = SparkSession.builder.getOrCreate()
    ///
    /// @F.pandas_udf("string")
    /// def country(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    ///     with requests.Session() as session:
    ///         for addresses in batches:
    ///             yield addresses.map(lambda address: session.get("https://geo.internal/" + address).text)
    ///
    /// spark.table("visits").withColumn("country", country("address")).write.parquet("s3a://lake/visits")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/tutorial/sql/arrow_pandas.html#iterator-of-series-to-iterator-of-series>
    pub UDF_SETUP_PER_ROW = {
        name: "udf-setup-per-row", group: Udfs, severity: Warning, confidence: Reasoned,
        since: "0.1.0", check: Code(check),
    }
}

/// What is set up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SetUp {
    Connection,
    Request,
    Model,
    Pattern,
}

fn check(cx: &mut CodeContext<'_>) {
    let mut seen: Vec<Span> = Vec::new();
    for python in &cx.plan.python {
        let Some(function) = &python.function else { continue };
        let once_a_batch = python.runs == Runs::PandasUdf && !takes_iterator(cx.shared.text, function);
        if !(python.runs.per_row() || once_a_batch) || function.cached || keeps_global(cx.shared.text, function) {
            continue;
        }
        for (name, span) in &function.calls {
            let Some(set_up) = set_up(name).filter(|_| !seen.contains(span)) else { continue };
            if once_a_batch && matches!(set_up, SetUp::Pattern | SetUp::Request) {
                continue;
            }
            seen.push(*span);
            cx.shared.report(finding(cx, python, name, *span, set_up));
        }
    }
}

fn finding(cx: &CodeContext<'_>, python: &PythonFunction, name: &str, span: Span, set_up: SetUp) -> Finding {
    let callee = callee(cx.shared.text, span);
    let function = words(python);
    let each = if python.runs.per_row() { "row" } else { "batch" };
    let (what, instead) = match set_up {
        SetUp::Connection => ("opens a connection", "open it once a partition"),
        SetUp::Request => ("opens a connection and waits for an answer", "keep one session a partition"),
        SetUp::Model => ("loads it", "load it once a partition"),
        SetUp::Pattern => ("looks its pattern up", "compile it outside the function"),
    };
    let how = match (set_up, python.runs) {
        (SetUp::Pattern, _) => "",
        (_, Runs::Foreach) => ", in foreachPartition",
        (_, Runs::Map) => ", in mapPartitions",
        _ => ", in a pandas_udf of Iterator[pd.Series]",
    };
    let severity =
        if set_up == SetUp::Pattern || !python.runs.per_row() { Severity::Information } else { Severity::Warning };
    let message = format!("{function} runs for each {each}, and {name}() {what} each time. Instead, {instead}{how}.");
    Finding::new(cx.shared.rule, severity, callee, message)
}

/// What is called, without its arguments.
fn callee(text: &str, call: Span) -> Span {
    let end = call.of(text).find('(').map_or(call.end, |at| call.start + at as u32);
    Span { end, ..call }
}

fn set_up(name: &str) -> Option<SetUp> {
    const REQUESTS: [&str; 14] = [
        "requests.get",
        "requests.post",
        "requests.put",
        "requests.patch",
        "requests.delete",
        "requests.request",
        "httpx.get",
        "httpx.post",
        "httpx.request",
        "urllib.request.urlopen",
        "urllib.request.urlretrieve",
        "urlopen",
        "smtplib.SMTP",
        "smtplib.SMTP_SSL",
    ];
    const CONNECTIONS: [&str; 34] = [
        "requests.Session",
        "requests.session",
        "httpx.Client",
        "http.client.HTTPSConnection",
        "http.client.HTTPConnection",
        "boto3.client",
        "boto3.resource",
        "boto3.Session",
        "boto3.session.Session",
        "psycopg2.connect",
        "psycopg.connect",
        "pymysql.connect",
        "MySQLdb.connect",
        "mysql.connector.connect",
        "sqlite3.connect",
        "pyodbc.connect",
        "cx_Oracle.connect",
        "oracledb.connect",
        "pymssql.connect",
        "snowflake.connector.connect",
        "redis.Redis",
        "redis.StrictRedis",
        "redis.from_url",
        "pymongo.MongoClient",
        "MongoClient",
        "elasticsearch.Elasticsearch",
        "Elasticsearch",
        "kafka.KafkaProducer",
        "KafkaProducer",
        "sqlalchemy.create_engine",
        "create_engine",
        "paramiko.SSHClient",
        "openai.OpenAI",
        "OpenAI",
    ];
    const MODELS: [&str; 14] = [
        "joblib.load",
        "pickle.load",
        "torch.load",
        "torch.jit.load",
        "spacy.load",
        "fasttext.load_model",
        "transformers.pipeline",
        "SentenceTransformer",
        "sentence_transformers.SentenceTransformer",
        "nltk.download",
        "load_model",
        "onnxruntime.InferenceSession",
        "geoip2.database.Reader",
        "whisper.load_model",
    ];
    if name == "re.compile" {
        Some(SetUp::Pattern)
    } else if REQUESTS.contains(&name) {
        Some(SetUp::Request)
    } else if CONNECTIONS.contains(&name) {
        Some(SetUp::Connection)
    } else if MODELS.contains(&name) || name.ends_with(".from_pretrained") || name.ends_with(".load_model") {
        Some(SetUp::Model)
    } else {
        None
    }
}

/// Whether the function fills a global that it looks at first.
fn keeps_global(text: &str, function: &FunctionFacts) -> bool {
    let body = function.span.of(text);
    let keeps = |line: &str| line.starts_with("global ") || line.starts_with("nonlocal ");
    let asks = |line: &str| {
        line.starts_with("if ") && (line.contains(" not in ") || line.contains("is None") || line.contains("hasattr("))
    };
    let lines = || body.lines().map(str::trim_start);
    lines().any(keeps) || lines().any(|line| asks(line) && !asks_parameter(line, function))
}

/// `if value is None:` asks for a row's value.
fn asks_parameter(line: &str, function: &FunctionFacts) -> bool {
    let asked = line.trim_start_matches("if ").split([' ', ':']).next().unwrap_or_default();
    function.params.iter().any(|(name, _)| name == asked.trim_start_matches("not "))
}

fn takes_iterator(text: &str, function: &FunctionFacts) -> bool {
    function.is_generator || function.span.of(text).lines().any(|line| line.contains("Iterator["))
}
