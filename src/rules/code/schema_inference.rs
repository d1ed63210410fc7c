//! A read that has to find out its own schema.

use super::lineage::{actions_on, readers};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, CallSite, Literal, NodeId, Operator, ResultUse, Source};
use crate::rules::{CodeContext, Finding, Severity, templates};
use crate::text::Span;

declare_rule! {
    /// A CSV or JSON read without a schema.
    ///
    /// ## Why
    /// Spark reads the whole input once at that line, before any action, to find out the types, and then again for the job. The types
    /// follow the data: a day whose values all look like numbers changes the columns of everything behind it. CSV without `inferSchema`
    /// reads only the first line, and makes every column a string.
    ///
    /// ## Silent when
    /// - a schema is given, or the format carries its own (Parquet, ORC, Delta, Avro);
    /// - `samplingRatio` bounds what is read, or the text comes out of the code (`parallelize`);
    /// - the schema may be among `*args` or `**kwargs`;
    /// - nothing but the schema of the result is used: finding it is the purpose;
    /// - it is a file of settings in JSON: one row of it is read and nothing else, with `first()` or `head()`;
    /// - the file is a test.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.read.json("s3a://lake/events")  # finding
    /// prices = spark.read.csv("s3a://lake/prices", header=True, inferSchema=True)  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// events = spark.read.schema("id BIGINT, kind STRING, at TIMESTAMP").json("s3a://lake/events")
    /// prices = spark.read.schema("item STRING, price DECIMAL(10, 2)").csv("s3a://lake/prices", header=True)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-csv.html#data-source-option> (`inferSchema`)
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-json.html#data-source-option> (`samplingRatio`)
    pub SCHEMA_INFERENCE = {
        name: "schema-inference", group: Reads, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let (Operator::Source(source), Some(site)) = (&node.operator, &node.site) else { continue };
        let is_local = site.argument(0, "path").is_some_and(|it| it.span.of(cx.shared.text).contains("parallelize("));
        if is_local || cx.plan.scope(node.scope).is_test {
            continue;
        }
        let Some(inference) = inference(source) else { continue };
        let id = NodeId(index as u32);
        if may_hold_schema(site) || is_for_schema(cx.plan, id) || is_for_one_row(cx.plan, id, source) {
            continue;
        }
        let finding = judge(cx, id, source, site, inference);
        cx.shared.report(finding);
    }
}

/// Whether a schema may be among unpacked arguments.
fn may_hold_schema(site: &CallSite) -> bool {
    let has_schema = |value: &Literal| match value {
        Literal::Dict(entries) => entries.iter().any(|(key, _)| *key == Literal::Text("schema".to_owned())),
        _ => true,
    };
    site.args.iter().any(|arg| match arg.keyword.as_deref() {
        Some("*") => true,
        Some("**") => has_schema(&arg.value),
        _ => false,
    })
}

/// Whether the code reads the schema of a frame and does nothing else with it.
fn is_for_schema(plan: &StaticPlan, id: NodeId) -> bool {
    plan.schemas.contains(&id)
        && !plan.escapes.contains(&id)
        && readers(plan, id).next().is_none()
        && actions_on(plan, id).next().is_none()
}

/// Whether one row of a JSON file is read and nothing else.
fn is_for_one_row(plan: &StaticPlan, id: NodeId, source: &Source) -> bool {
    let takes_one = |action: &Action| {
        matches!(action.kind, ActionKind::Take(Some(1))) && action.result != ResultUse::Discarded
            || action.kind == ActionKind::Collect && action.result == ResultUse::Indexed
    };
    let mut actions = actions_on(plan, id).peekable();
    matches!(source, Source::Read { format: Some(format), .. } if format == "json")
        && actions.peek().is_some()
        && actions.all(takes_one)
        && !plan.escapes.contains(&id)
        && readers(plan, id).next().is_none()
}

/// How Spark comes to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inference {
    /// It reads everything.
    FullScan,
    /// It reads the first line and takes strings.
    Header,
}

fn inference(source: &Source) -> Option<Inference> {
    let Source::Read { format, options, has_schema: false, streaming: false, .. } = source else { return None };
    let option = |name: &str| options.iter().rev().find(|(option, _)| option == name).map(|(_, value)| value);
    if option("samplingratio").is_some() {
        return None;
    }
    match (format.as_deref()?, option("inferschema")) {
        ("json", _) => Some(Inference::FullScan),
        ("csv", Some(Literal::Bool(true))) => Some(Inference::FullScan),
        ("csv", Some(Literal::Text(text))) if text.eq_ignore_ascii_case("true") => Some(Inference::FullScan),
        ("csv", Some(Literal::Bool(false) | Literal::Text(_)) | None) => Some(Inference::Header),
        _ => None,
    }
}

fn judge(cx: &CodeContext<'_>, id: NodeId, source: &Source, site: &CallSite, inference: Inference) -> Finding {
    let text = cx.shared.text;
    let (severity, message) = match inference {
        Inference::FullScan => (
            Severity::Warning,
            "Without a schema this line reads the whole input once to find out the types (samplingRatio = 1.0 by default), and the job reads it again. Declare the schema: types then don't change with the data, either.",
        ),
        Inference::Header => (
            Severity::Hint,
            "Without a schema this line starts a job for the first line, and every column is a string. Declare the schema to get types without inferSchema.",
        ),
    };
    Finding::new(cx.shared.rule, severity, written_option(text, source).unwrap_or(site.method), message)
        .with_fixes(templates::schema_skeleton(cx.plan, text, id))
}

/// The word `inferSchema` in the reader's chain.
fn written_option(text: &str, source: &Source) -> Option<Span> {
    const OPTION: &str = "inferSchema";
    let Source::Read { chain, .. } = source else { return None };
    let at = chain.of(text).to_ascii_lowercase().find(&OPTION.to_ascii_lowercase())? + chain.start as usize;
    Some(Span::new(at, at + OPTION.len()))
}
