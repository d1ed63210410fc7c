//! What the API is in the plan: values by class, calls by effect.

use super::call::Call;
use super::frame::integer;
use crate::pyspark::api::{self, Class, Effect, Run, Step};
use crate::pyspark::plan::{ActionKind, Runs, Write};
use crate::pyspark::value::{Library, Object, Value};

/// A merge and its clauses.
pub(super) const MERGE: &[Class] =
    &[Class::MergeIntoWriter, Class::WhenMatched, Class::WhenNotMatched, Class::WhenNotMatchedBySource];

/// The action that a call is.
pub(super) fn action_kind(run: Run, name: &str, call: &Call<'_>) -> ActionKind {
    let rows = |value: Option<&Value<'_>>| integer(value).and_then(|rows| u64::try_from(rows).ok());
    match run {
        Run::Collect => ActionKind::Collect,
        Run::ToPandas => ActionKind::ToPandas,
        Run::Take => ActionKind::Take(rows(call.value(0, "num"))),
        Run::Head if !call.values.is_empty() => ActionKind::Take(rows(call.value(0, "n"))),
        Run::Head | Run::First => ActionKind::Take(Some(1)),
        Run::Lookup => ActionKind::Take(None),
        Run::Iterate => ActionKind::LocalIterator,
        Run::Count => ActionKind::Count,
        Run::Show => ActionKind::Show,
        Run::IsEmpty => ActionKind::IsEmpty,
        Run::Foreach | Run::ForeachPartition => ActionKind::Foreach,
        Run::Reduce => ActionKind::Reduce,
        run if run.writes() => ActionKind::Write(Write { chain: call.span, ..Write::default() }),
        _ => ActionKind::Other(name.to_owned()),
    }
}

/// How Spark runs the Python function that a call gets, if it gets one.
pub(super) fn runs_of(effect: Effect) -> Option<Runs> {
    Some(match effect {
        Effect::Lazy(Step::Map | Step::MapKeys) => Runs::Map,
        Effect::Lazy(Step::MapPartitions) => Runs::MapPartitions,
        Effect::Lazy(Step::MapGroups) => Runs::Group,
        Effect::Action(Run::Foreach) => Runs::Foreach,
        Effect::Action(Run::ForeachPartition) => Runs::ForeachPartition,
        _ => return None,
    })
}

impl Value<'_> {
    /// The class of PySpark that it is of and that has this name.
    pub(super) fn class_with(&self, name: &str) -> Option<Class> {
        let classes: &[Class] = match self {
            Self::Frame(_) => &[Class::DataFrame],
            Self::Rdd(_) => &[Class::Rdd],
            Self::Grouped(grouped) if grouped.other.is_some() => &[Class::PandasCogroupedOps],
            Self::Grouped(_) => &[Class::GroupedData],
            Self::Column(_) => &[Class::Column],
            Self::Window(_) => &[Class::WindowSpec],
            Self::Reader(reader) if reader.streaming => &[Class::DataStreamReader],
            Self::Reader(_) => &[Class::DataFrameReader],
            Self::Writer(writer) if writer.streaming => &[Class::DataStreamWriter],
            Self::Writer(_) => &[Class::DataFrameWriter, Class::DataFrameWriterV2],
            Self::Object(object) => object.classes(),
            Self::Library(Library::PandasOnSpark(_)) => &[Class::PandasOnSpark],
            Self::Library(Library::Stage) => &[Class::Estimator, Class::Transformer],
            Self::Library(Library::Merge { .. }) => MERGE,
            _ => &[],
        };
        classes.iter().copied().find(|class| api::entry(*class, name).is_some())
    }
}

impl Object {
    fn classes(self) -> &'static [Class] {
        match self {
            Self::Session => &[Class::SparkSession],
            Self::Builder => &[Class::Builder],
            Self::Conf => &[Class::SparkConf],
            Self::Runtime => &[Class::RuntimeConfig],
            Self::Context => &[Class::SparkContext],
            Self::SqlContext => &[Class::SqlContext],
            Self::Catalog => &[Class::Catalog],
            Self::Query => &[Class::StreamingQuery],
            Self::UdfRegistration => &[Class::UdfRegistration],
            Self::Functions(_) => &[Class::DataFrameNaFunctions, Class::DataFrameStatFunctions],
        }
    }
}
