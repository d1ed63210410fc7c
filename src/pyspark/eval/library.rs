//! Libraries around PySpark whose objects hold or make DataFrames: AWS Glue, Delta Lake, pandas on Spark, ML pipelines,
//! pipelines of tables.

use super::Interpreter;
use super::call::Call;
use super::effects::{MERGE, action_kind};
use super::frame::integer;
use crate::pyspark::api::{self, Class, Effect, Run, Step};
use crate::pyspark::plan::{ActionKind, Join, JoinCondition, Literal, NodeId, Operator, Source, Write};
use crate::pyspark::value::{Library, Value};

/// Modules of `pyspark.ml` whose classes are estimators, transformers or evaluators.
const STAGES: [&str; 8] =
    ["feature", "classification", "regression", "clustering", "recommendation", "tuning", "evaluation", "fpm"];

/// Transformations of AWS Glue that a star import brings.
pub(super) const GLUE_TRANSFORMS: [&str; 12] = [
    "ApplyMapping",
    "DropFields",
    "DropNullFields",
    "Filter",
    "Join",
    "Map",
    "Relationalize",
    "RenameField",
    "ResolveChoice",
    "SelectFields",
    "SelectFromCollection",
    "Spigot",
];

/// Whether a dotted path names a stage of an ML pipeline.
fn is_stage(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("pyspark.ml.") else { return false };
    let (module, class) = rest.split_once('.').unwrap_or(("", rest));
    let class = class.split('.').next().unwrap_or(class);
    let is_known = if module.is_empty() { class.starts_with("Pipeline") } else { STAGES.contains(&module) };
    (is_known || rest.starts_with("Pipeline")) && rest.contains(|letter: char| letter.is_ascii_uppercase())
}

impl<'a> Interpreter<'a> {
    /// A call of something of a library, by its dotted path.
    pub(super) fn call_library(&mut self, path: &str, call: &Call<'a>) -> Value<'a> {
        if is_stage(path) {
            return Value::Library(Library::Stage);
        }
        let (owner, name) = path.rsplit_once('.').unwrap_or(("", path));
        match owner {
            "delta.tables.DeltaTable" => self.delta_table(name, call),
            "awsglue.dynamicframe.DynamicFrame" | "awsglue.DynamicFrame" if name == "fromDF" => {
                let frame = self.frame_argument(call, 0, "dataframe");
                Value::Library(Library::Dynamic(frame))
            }
            "pyspark.ml.stat.Correlation"
            | "pyspark.ml.stat.ChiSquareTest"
            | "pyspark.ml.stat.KolmogorovSmirnovTest" => {
                let frame = self.frame_argument(call, 0, "dataset");
                self.act(ActionKind::Other(name.to_owned()), Some(frame), false, call);
                let site = self.site(call);
                Value::Frame(self.node(Operator::Summary, &[frame], Some(site)))
            }
            "dlt" if name == "read" => self.table(call),
            "dlt" if name == "read_stream" => {
                let location = call.values.first().map(Value::literal).into_iter().collect();
                Value::Frame(self.outside_source(None, location, true, call))
            }
            "pyspark.pandas" => self.pandas_on_spark(name, call),
            _ => match owner.strip_prefix("awsglue.transforms.") {
                Some(transform) if name == "apply" => self.glue_transform(transform, call),
                _ => Value::Unknown,
            },
        }
    }

    /// A method of an object of a library.
    pub(super) fn library_method(&mut self, object: Library, name: &str, call: &Call<'a>) -> Value<'a> {
        match object {
            Library::Dynamic(frame) => self.dynamic_method(frame, name, call),
            Library::DynamicReader { frames } => self.glue_read(name, frames, call),
            Library::DynamicWriter => self.glue_write(call),
            Library::Delta(table) => self.delta_method(table, name, call),
            Library::Merge { table, source } => self.merge_method(table, source, name, call),
            Library::PandasOnSpark(frame) => self.pandas_on_spark_method(frame, name, call),
            Library::Stage => self.stage_method(name, call),
        }
    }

    /// An attribute of an object of a library.
    pub(super) fn library_attribute(&mut self, object: Library, name: &str) -> Value<'a> {
        match (object, name) {
            (Library::Stage, "bestModel") => Value::Library(Library::Stage),
            (Library::PandasOnSpark(_), _) => Value::Library(Library::PandasOnSpark(self.given())),
            _ => Value::Unknown,
        }
    }

    /// A frame among the arguments; of another value a frame of which nothing is known.
    fn frame_argument(&mut self, call: &Call<'a>, position: usize, keyword: &str) -> NodeId {
        match call.value(position, keyword) {
            Some(Value::Frame(frame) | Value::Library(Library::Dynamic(frame))) => *frame,
            _ => self.given(),
        }
    }

    fn outside_source(
        &mut self,
        format: Option<String>,
        location: Vec<Literal>,
        streaming: bool,
        call: &Call<'a>,
    ) -> NodeId {
        // These read no data to find the types.
        let source = Source::Read {
            format,
            location,
            options: Vec::new(),
            open: false,
            has_schema: true,
            streaming,
            chain: call.span,
        };
        let site = self.site(call);
        self.node(Operator::Source(source), &[], Some(site))
    }

    fn stage_method(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        let classes = [Class::Estimator, Class::Transformer];
        match classes.into_iter().find_map(|class| api::entry(class, name)).map(|entry| entry.effect) {
            Some(Effect::Action(run)) => {
                if let Some(Value::Frame(frame)) = call.value(0, "dataset") {
                    self.act(action_kind(run, name, call), Some(*frame), false, call);
                }
                return if name == "fit" { Value::Library(Library::Stage) } else { Value::Unknown };
            }
            Some(Effect::Lazy(_)) => {
                let frame = self.frame_argument(call, 0, "dataset");
                let site = self.site(call);
                return Value::Frame(self.node(Operator::Other(name.to_owned()), &[frame], Some(site)));
            }
            _ => {}
        }
        match name {
            "load" | "copy" => Value::Library(Library::Stage),
            _ if name.starts_with("set") => Value::Library(Library::Stage),
            _ if name.starts_with("recommendFor") => Value::Frame(self.given()),
            _ => Value::Unknown,
        }
    }

    fn delta_table(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        let location = call.value(1, if name == "forPath" { "path" } else { "tableOrViewName" });
        let location = location.map(Value::literal).unwrap_or_default();
        let table = match name {
            "forPath" => self.outside_source(Some("delta".to_owned()), vec![location], false, call),
            "forName" => {
                let site = self.site(call);
                self.node(Operator::Source(Source::Table(location)), &[], Some(site))
            }
            _ => return Value::Unknown,
        };
        Value::Library(Library::Delta(table))
    }

    fn delta_method(&mut self, table: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        match name {
            "toDF" => Value::Frame(table),
            "alias" => Value::Library(Library::Delta(table)),
            "merge" => {
                let source = self.frame_argument(call, 0, "source");
                Value::Library(Library::Merge { table, source })
            }
            "history" | "detail" => {
                let site = self.site(call);
                Value::Frame(self.node(Operator::Summary, &[table], Some(site)))
            }
            "delete" | "update" | "vacuum" => {
                self.act(ActionKind::Other(name.to_owned()), Some(table), false, call);
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    fn merge_method(&mut self, table: NodeId, source: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        let of_frame = MERGE.iter().find_map(|class| api::entry(*class, name)).map(|entry| entry.effect);
        let is_delta = name == "execute";
        match of_frame {
            Some(Effect::Setup(_)) => Value::Library(Library::Merge { table, source }),
            effect if is_delta || matches!(effect, Some(Effect::Action(_))) => {
                let target = match &self.plan.node(table).operator {
                    Operator::Source(Source::Read { location, .. }) => location.first().cloned().unwrap_or_default(),
                    Operator::Source(Source::Table(name)) => name.clone(),
                    _ => Literal::Unknown,
                };
                let write = Write {
                    format: is_delta.then(|| "delta".to_owned()),
                    target,
                    mode: Some("merge".to_owned()),
                    chain: call.span,
                    ..Write::default()
                };
                self.act(ActionKind::Write(write), Some(source), false, call);
                Value::Unknown
            }
            _ if name.starts_with("when") => Value::Library(Library::Merge { table, source }),
            _ => Value::Unknown,
        }
    }

    /// `glueContext.create_dynamic_frame.from_catalog(…)`, `create_data_frame.from_options(…)`.
    fn glue_read(&mut self, name: &str, frames: bool, call: &Call<'a>) -> Value<'a> {
        let node = match name {
            "from_catalog" => {
                let part = |position, keyword| call.value(position, keyword).and_then(Value::as_text);
                let table = match (part(0, "database"), part(1, "table_name")) {
                    (Some(database), Some(table)) => Literal::Text(format!("{database}.{table}")),
                    _ => Literal::Unknown,
                };
                let site = self.site(call);
                self.node(Operator::Source(Source::Table(table)), &[], Some(site))
            }
            "from_options" => {
                let text = |position, keyword| call.value(position, keyword).and_then(Value::as_text);
                let format = text(2, "format").or_else(|| text(0, "connection_type")).map(str::to_ascii_lowercase);
                let location = match call.value(1, "connection_options").map(Value::literal) {
                    Some(Literal::Dict(options)) => options
                        .into_iter()
                        .find(|(key, _)| matches!(key, Literal::Text(key) if key == "paths" || key == "path"))
                        .map(|(_, paths)| if let Literal::List(paths) = paths { paths } else { vec![paths] })
                        .unwrap_or_default(),
                    _ => Vec::new(),
                };
                self.outside_source(format, location, false, call)
            }
            _ => return Value::Unknown,
        };
        if frames { Value::Frame(node) } else { Value::Library(Library::Dynamic(node)) }
    }

    fn glue_write(&mut self, call: &Call<'a>) -> Value<'a> {
        if let Some(Value::Library(Library::Dynamic(frame)) | Value::Frame(frame)) = call.value(0, "frame") {
            let format = call.keyword("format").and_then(|(_, value)| value.as_text()).map(str::to_ascii_lowercase);
            let options = call.keyword("connection_options").map(|(_, value)| value.literal());
            let option = |wanted: &str| match &options {
                Some(Literal::Dict(entries)) => entries
                    .iter()
                    .find(|(key, _)| *key == Literal::Text(wanted.to_owned()))
                    .map(|(_, value)| value.clone()),
                _ => None,
            };
            let partition_by = match option("partitionKeys") {
                Some(Literal::List(columns)) => columns,
                _ => Vec::new(),
            };
            let target = option("path").unwrap_or_default();
            let write = Write { format, target, partition_by, chain: call.span, ..Write::default() };
            self.act(ActionKind::Write(write), Some(*frame), false, call);
        }
        Value::Unknown
    }

    /// `create_dynamic_frame_from_catalog(…)` and the other methods of a GlueContext in one word.
    pub(super) fn glue_method(&mut self, name: &str, call: &Call<'a>) -> Option<Value<'a>> {
        let read = |prefix: &str| name.strip_prefix(prefix);
        if let Some(from) = read("create_dynamic_frame_") {
            return Some(self.glue_read(from, false, call));
        }
        if let Some(from) = read("create_data_frame_") {
            return Some(self.glue_read(from, true, call));
        }
        (name.starts_with("write_dynamic_frame_") || name.starts_with("write_data_frame_"))
            .then(|| self.glue_write(call))
    }

    fn glue_transform(&mut self, transform: &str, call: &Call<'a>) -> Value<'a> {
        let operator = match transform {
            "Join" => {
                let keys = |position, keyword| match call.value(position, keyword).map(Value::literal) {
                    Some(Literal::Text(key)) => Some(vec![key]),
                    Some(Literal::List(keys)) => keys
                        .into_iter()
                        .map(|key| if let Literal::Text(key) = key { Some(key) } else { None })
                        .collect(),
                    _ => None,
                };
                let condition = match (keys(2, "keys1"), keys(3, "keys2")) {
                    (Some(left), Some(right)) if left == right => JoinCondition::Using(left),
                    _ => JoinCondition::Equality,
                };
                let left = self.frame_argument(call, 0, "frame1");
                let right = self.frame_argument(call, 1, "frame2");
                let join = Join { condition, kind: Some("inner".to_owned()), terms: Vec::new() };
                let site = self.site(call);
                let node = self.node(Operator::Join(join), &[left, right], Some(site));
                return Value::Library(Library::Dynamic(node));
            }
            "Filter" => Operator::Filter { key_equality: false },
            "Map" => Operator::Udf,
            "ApplyMapping" | "SelectFields" | "DropFields" | "RenameField" | "DropNullFields" | "ResolveChoice" => {
                Operator::Project { only_aggregates: false, explodes: false }
            }
            _ => return Value::Unknown,
        };
        let frame = self.frame_argument(call, 0, "frame");
        let site = self.site(call);
        Value::Library(Library::Dynamic(self.node(operator, &[frame], Some(site))))
    }

    fn dynamic_method(&mut self, frame: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        let operator = match name {
            "toDF" => {
                let site = self.site(call);
                return Value::Frame(self.node(Operator::Other(name.to_owned()), &[frame], Some(site)));
            }
            "count" => {
                return Value::Result(self.act(ActionKind::Count, Some(frame), false, call));
            }
            "show" => {
                self.act(ActionKind::Show, Some(frame), false, call);
                return Value::None;
            }
            "filter" => Operator::Filter { key_equality: false },
            "map" => Operator::Udf,
            "repartition" | "coalesce" | "apply_mapping" | "applyMapping" | "select_fields" | "drop_fields"
            | "rename_field" | "resolveChoice" | "drop_nulls" | "unbox" => Operator::Other(name.to_owned()),
            _ => return Value::Unknown,
        };
        let site = self.site(call);
        Value::Library(Library::Dynamic(self.node(operator, &[frame], Some(site))))
    }

    /// A function of `pyspark.pandas`: what it makes is no DataFrame, and hands one out.
    fn pandas_on_spark(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        let frame = match name.strip_prefix("read_") {
            Some(format) => {
                let location = call.values.first().map(Value::literal).into_iter().collect();
                self.outside_source(Some(format.to_owned()), location, false, call)
            }
            None if matches!(name, "DataFrame" | "Series" | "sql" | "from_pandas" | "concat" | "merge" | "range") => {
                self.given()
            }
            None => return Value::Foreign,
        };
        Value::Library(Library::PandasOnSpark(frame))
    }

    fn pandas_on_spark_method(&mut self, frame: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        match api::entry(Class::PandasOnSpark, name).map(|entry| entry.effect) {
            Some(Effect::Lazy(Step::ToFrame)) => Value::Frame(frame),
            Some(Effect::Lazy(Step::Limit)) => {
                let rows = call.value(0, "n").map_or(Some(5), |rows| integer(Some(rows)));
                let limit = Operator::Limit(rows.and_then(|rows| u64::try_from(rows).ok()));
                let site = self.site(call);
                Value::Library(Library::PandasOnSpark(self.node(limit, &[frame], Some(site))))
            }
            Some(Effect::Lazy(_)) => Value::Library(Library::PandasOnSpark(frame)),
            // Without a path the text comes back.
            Some(Effect::Action(run)) if run.writes() && !call.values.is_empty() => {
                let format = name.strip_prefix("to_").filter(|_| run == Run::WriteFormat);
                let write = Write {
                    format: format.map(str::to_owned),
                    target: call.values.first().map(Value::literal).unwrap_or_default(),
                    mode: Some("overwrite".to_owned()),
                    chain: call.span,
                    ..Write::default()
                };
                self.act(ActionKind::Write(write), Some(frame), false, call);
                Value::None
            }
            Some(Effect::Action(run)) => {
                let run = if run.writes() { Run::ToValues } else { run };
                let action = self.act(action_kind(run, name, call), Some(frame), false, call);
                if run == Run::ToPandas { Value::Pandas(Some(action)) } else { Value::Foreign }
            }
            _ => Value::Library(Library::PandasOnSpark(self.given())),
        }
    }
}
