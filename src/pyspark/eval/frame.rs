//! Methods of DataFrames and grouped data.

use std::rc::Rc;

use smallvec::SmallVec;

use super::call::Call;
use super::effects::{action_kind, runs_of};
use super::{Interpreter, column};
use crate::pyspark::api::{self, Class, Effect, Entry, Returns, Run, Setup, Step};
use crate::pyspark::ir::ExprId;
use crate::pyspark::plan::{ActionKind, Join, JoinCondition, NodeId, Operator, Runs, Source, Write};
use crate::pyspark::sql;
use crate::pyspark::value::{Code, Column, Grouped, Item, Library, Object, Value, Writer};

impl<'a> Interpreter<'a> {
    /// Adds an operator on a frame.
    pub(super) fn on(&mut self, frame: NodeId, operator: Operator, call: &Call<'a>) -> Value<'a> {
        let site = self.site(call);
        let node = self.node(operator, &[frame], Some(site));
        self.used_in(node, &call.values);
        for index in
            call.parts().filter_map(|value| if let Value::Column(column) = value { column.window } else { None })
        {
            if let Some(window) = self.plan.windows.get_mut(index) {
                window.used_on.push(frame);
            }
        }
        Value::Frame(node)
    }

    pub(super) fn frame_method(&mut self, frame: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        match api::entry(Class::DataFrame, name) {
            Some(entry) => self.frame_effect(frame, entry, name, call),
            None => {
                self.escape(&Value::Frame(frame));
                Value::Unknown
            }
        }
    }

    fn frame_effect(&mut self, frame: NodeId, entry: &Entry, name: &str, call: &Call<'a>) -> Value<'a> {
        match entry.effect {
            Effect::Action(run) => self.frame_action(frame, run, name, call),
            Effect::Lazy(step) => self.frame_step(frame, step, name, call),
            Effect::Column(_) => Value::Column(Rc::default()),
            Effect::Setup(Setup::TableWriter) => {
                let target = call.value(0, "table").map(Value::literal).unwrap_or_default();
                let write = Write { target, ..Write::default() };
                Self::writer(frame, write, false, call.method.start.saturating_sub(1))
            }
            Effect::Setup(Setup::Merge) => {
                let target = call.value(0, "table").map(Value::literal).unwrap_or_default();
                let table = self.node(Operator::Source(Source::Table(target)), &[], None);
                Value::Library(Library::Merge { table, source: frame })
            }
            Effect::View => {
                if let Some(view) = call.value(0, "name").and_then(Value::as_text) {
                    self.views.insert(view.to_ascii_lowercase(), frame);
                }
                self.act(ActionKind::Other(name.to_owned()), Some(frame), false, call);
                Value::None
            }
            Effect::Release => {
                self.release(frame, call);
                Value::Frame(frame)
            }
            Effect::Setup(_) | Effect::Metadata => Value::Unknown,
        }
    }

    fn frame_action(&mut self, frame: NodeId, run: Run, name: &str, call: &Call<'a>) -> Value<'a> {
        if run == Run::Checkpoint {
            // `eager` is true unless said otherwise.
            if !matches!(call.value(0, "eager"), Some(Value::Bool(false))) {
                self.act(ActionKind::Other(name.to_owned()), Some(frame), false, call);
            }
            return self.cached(frame, Operator::Checkpoint, call);
        }
        let kind = action_kind(run, name, call);
        let taken = if let ActionKind::Take(rows) = kind { Some(rows) } else { None };
        let action = self.act(kind, Some(frame), false, call);
        if let Some(runs) = runs_of(Effect::Action(run)) {
            self.runs_python(runs, frame, call);
        }
        match run {
            Run::ToPandas if name == "toArrow" => Value::Foreign,
            Run::ToPandas => Value::Pandas(Some(action)),
            Run::Count => Value::Result(action),
            Run::Summary => self.on(frame, Operator::Summary, call),
            Run::Head if call.values.is_empty() => Value::Unknown,
            Run::Collect | Run::Take | Run::Head | Run::Iterate => Value::Rows(match taken {
                Some(rows) => self.node(Operator::Limit(rows), &[frame], None),
                None => frame,
            }),
            _ => Value::Unknown,
        }
    }

    fn frame_step(&mut self, frame: NodeId, step: Step, name: &str, call: &Call<'a>) -> Value<'a> {
        let operator = match step {
            Step::Filter => {
                if let Some(condition) = call.value(0, "condition") {
                    self.uses_text(&condition.clone());
                }
                Operator::Filter { key_equality: self.is_key_filter(call) }
            }
            Step::DropNulls => Operator::Filter { key_equality: false },
            Step::Select => projection(&call.flat()),
            Step::SelectSql => return self.select_expr(frame, call),
            Step::Project => Operator::Project { only_aggregates: false, explodes: false },
            Step::Columns => self.columns(call),
            Step::Join => return self.join_frames(frame, call),
            Step::CrossJoin => {
                let kind = Some("cross".to_owned());
                return self.join_with(frame, Join { condition: JoinCondition::Cross, kind, terms: Vec::new() }, call);
            }
            Step::Group => {
                let keys = call.parts().map(column::name_of_argument).collect();
                return Value::Grouped(Rc::new(Grouped { input: frame, keys, pivot: None, other: None }));
            }
            Step::Aggregate => Operator::Aggregate { keys: Vec::new(), grouped: false, pivot: None },
            Step::Distinct => Operator::Distinct,
            Step::Set => return self.with_other(frame, Operator::Distinct, call),
            Step::Union => return self.with_other(frame, Operator::Union { open: false }, call),
            Step::Repartition => self.repartition(call),
            Step::Coalesce => Operator::Coalesce { count: integer(call.value(0, "numPartitions")) },
            Step::Sort => Operator::Sort { global: true },
            Step::SortWithin => Operator::Sort { global: false },
            Step::Limit => Operator::Limit(integer(call.value(0, "num")).and_then(|rows| u64::try_from(rows).ok())),
            Step::Sample => Operator::Sample { seeded: self.is_seeded(call, 2) },
            Step::Split => return self.random_split(frame, call),
            Step::Cache => return self.cached(frame, Operator::Cache, call),
            Step::Hint => {
                Operator::Hint(call.value(0, "name").and_then(Value::as_text).unwrap_or("hint").to_ascii_lowercase())
            }
            Step::Summary => Operator::Summary,
            Step::MapPartitions => {
                self.runs_python(Runs::MapPartitions, frame, call);
                Operator::Udf
            }
            Step::Transform => {
                let Some(callee) = call.value(0, "func").cloned() else { return Value::Unknown };
                let extra = call.values.iter().skip(1).cloned();
                let values = std::iter::once(Value::Frame(frame)).chain(extra).collect();
                return match self.apply_value(&callee, values, call) {
                    Value::Unknown | Value::None => self.on(frame, Operator::Other("transform".to_owned()), call),
                    value => value,
                };
            }
            Step::PandasApi => return Value::Library(Library::PandasOnSpark(frame)),
            Step::Foreign => return Value::Foreign,
            Step::ToJson | Step::Rdd => {
                let site = self.site(call);
                return Value::Rdd(self.node(Operator::Rdd, &[frame], Some(site)));
            }
            // What RDDs, groups and sessions have; a frame's other steps are known by name.
            _ => Operator::Other(name.to_owned()),
        };
        self.on(frame, operator, call)
    }

    /// Notes that kept rows are dropped.
    pub(super) fn release(&mut self, node: NodeId, call: &Call<'a>) {
        if self.released.insert(call.span) {
            let site = self.site(call);
            self.plan.unpersists.push((node, site));
        }
    }

    fn writer(input: NodeId, write: Write, streaming: bool, start: u32) -> Value<'a> {
        Value::Writer(Rc::new(Writer { input, write, streaming, start, trigger: None, batch: None }))
    }

    fn is_key_filter(&self, call: &Call<'a>) -> bool {
        match call.value(0, "condition") {
            Some(Value::Column(column)) => column.relation.is_key(),
            Some(Value::Text(text)) => sql::is_key_equality(&text.text),
            Some(value @ Value::Template(_)) => {
                super::template_text(&value.literal()).is_some_and(|text| sql::is_key_equality(&text))
            }
            _ => false,
        }
    }

    /// `withColumn` by what its expressions do.
    fn columns(&self, call: &Call<'a>) -> Operator {
        let mut values = call.values.clone();
        for value in &call.values {
            if let Value::Dict(entries) = value {
                values.extend(entries.iter().map(|entry| entry.value.value.clone()));
            }
        }
        let any = |test: fn(&Column) -> bool| {
            values.iter().any(|value| matches!(value, Value::Column(column) if test(column)))
        };
        if any(|column| column.udf) {
            Operator::Udf
        } else if any(|column| column.windowed) {
            Operator::Window
        } else if any(|column| column.explodes) {
            Operator::Project { only_aggregates: false, explodes: true }
        } else {
            Operator::WithColumns
        }
    }

    fn repartition(&self, call: &Call<'a>) -> Operator {
        let first = call.value(0, "numPartitions");
        let count = integer(first);
        let is_column = |value: &Value<'a>| {
            matches!(value, Value::Column(_) | Value::Text(_) | Value::List(_) | Value::Tuple(_) | Value::Many(_))
        };
        Operator::Repartition { count, keyed: call.values.iter().any(is_column) || call.values.len() > 1 }
    }

    fn is_seeded(&self, call: &Call<'a>, position: usize) -> bool {
        match call.value(position, "seed") {
            Some(value) => !matches!(value, Value::None),
            // `sample(0.1, 42)`: fraction and seed.
            None => {
                matches!((call.values.first(), call.values.get(1)), (Some(Value::Float(_)), Some(Value::Integer(_))))
            }
        }
    }

    fn random_split(&mut self, frame: NodeId, call: &Call<'a>) -> Value<'a> {
        let seeded = self.is_seeded(call, 1);
        let parts = match call.value(0, "weights") {
            Some(Value::List(items) | Value::Tuple(items)) => Some(items.len()),
            _ => None,
        };
        let part = self.on(frame, Operator::Sample { seeded }, call);
        match parts {
            Some(parts @ 1..=32) => {
                let rest: Vec<Value<'a>> =
                    (1..parts).map(|_| self.on(frame, Operator::Sample { seeded }, call)).collect();
                let items = std::iter::once(part).chain(rest).map(|value| Item { value, span: call.span }).collect();
                Value::List(Rc::new(items))
            }
            _ => Value::Many(Rc::new(part)),
        }
    }

    fn cached(&mut self, frame: NodeId, operator: Operator, call: &Call<'a>) -> Value<'a> {
        // Spark keeps the plan, so that the frame itself is cached too; a checkpoint is a new frame.
        if operator == Operator::Cache {
            self.plan.nodes[frame.0 as usize].cached = true;
        }
        let value = self.on(frame, operator, call);
        if let Value::Frame(node) = value {
            self.plan.nodes[node.0 as usize].cached = true;
        }
        value
    }

    fn with_other(&mut self, frame: NodeId, operator: Operator, call: &Call<'a>) -> Value<'a> {
        let site = self.site(call);
        let inputs = match call.value(0, "other") {
            Some(Value::Frame(other)) => vec![frame, *other],
            // The other side is unknown, so is the number of rows.
            _ => vec![frame, self.given()],
        };
        Value::Frame(self.node(operator, &inputs, Some(site)))
    }

    pub(super) fn broadcast(&mut self, call: &Call<'a>) -> Value<'a> {
        match call.values.first() {
            Some(Value::Frame(frame)) => self.on(*frame, Operator::Hint("broadcast".to_owned()), call),
            Some(Value::Unknown) | None => {
                let frame = self.given();
                self.on(frame, Operator::Hint("broadcast".to_owned()), call)
            }
            Some(_) => Value::Unknown,
        }
    }

    /// A transformation whose result a statement throws away.
    pub(super) fn discard(&mut self, node: NodeId) {
        let known = self.plan.node(node);
        let transforms = !matches!(
            known.operator,
            Operator::Cache | Operator::Checkpoint | Operator::Merge | Operator::Source(_) | Operator::LoopCarried(_)
        );
        if let Some(site) = known.site.as_ref().filter(|_| transforms)
            && self.frame.statement.contains(site.call)
            && self.discarded.insert(site.call)
        {
            self.plan.discarded.push(node);
        }
    }

    /// `df["a"]`, `df[["a", "b"]]`, `df[condition]`.
    pub(super) fn frame_item(&mut self, code: Code<'a>, id: ExprId, frame: NodeId, key: &Value<'a>) -> Value<'a> {
        let call = Call::property(self, code, id, super::Usage::Used);
        match key {
            Value::Column(_) => {
                let key_equality = matches!(key, Value::Column(column) if column.relation.is_key());
                self.on(frame, Operator::Filter { key_equality }, &call)
            }
            Value::List(_) | Value::Tuple(_) => {
                self.on(frame, Operator::Project { only_aggregates: false, explodes: false }, &call)
            }
            key => Value::Column(Rc::new(Column {
                name: key.as_text().map(str::to_owned),
                frames: SmallVec::from_slice(&[frame]),
                ..Column::default()
            })),
        }
    }

    /// A property of a frame, or one of its columns.
    pub(super) fn frame_attribute(&mut self, frame: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        let Some(entry) = api::entry(Class::DataFrame, name) else {
            return Value::Column(Rc::new(Column {
                name: Some(name.to_owned()),
                frames: SmallVec::from_slice(&[frame]),
                ..Column::default()
            }));
        };
        match entry.effect {
            // A writer starts at its dot.
            Effect::Setup(Setup::Writer) => {
                let streaming = entry.returns == Returns::One(Class::DataStreamWriter);
                Self::writer(frame, Write::default(), streaming, call.receiver.end)
            }
            Effect::Setup(Setup::Functions) => Value::Object(Object::Functions(frame)),
            Effect::Setup(Setup::Foreign) => Value::Foreign,
            Effect::Lazy(Step::Rdd) => self.frame_step(frame, Step::Rdd, name, call),
            Effect::Metadata if matches!(name, "schema" | "dtypes") => {
                self.plan.schemas.push(frame);
                Value::Unknown
            }
            _ if entry.returns == Returns::One(Class::SparkSession) => Value::Object(Object::Session),
            _ => Value::Unknown,
        }
    }

    pub(super) fn grouped_method(&mut self, grouped: &Rc<Grouped>, name: &str, call: &Call<'a>) -> Value<'a> {
        let class = if grouped.other.is_some() { Class::PandasCogroupedOps } else { Class::GroupedData };
        match api::entry(class, name).map(|entry| entry.effect) {
            Some(Effect::Lazy(Step::Aggregate)) => {
                let operator = Operator::Aggregate {
                    keys: grouped.keys.clone(),
                    grouped: !grouped.keys.is_empty(),
                    pivot: grouped.pivot,
                };
                self.on(grouped.input, operator, call)
            }
            Some(Effect::Lazy(Step::Pivot)) => {
                let given = call.value(1, "values").is_some_and(|values| !matches!(values, Value::None));
                if !given {
                    self.act(ActionKind::Other("pivot".to_owned()), Some(grouped.input), false, call);
                }
                Value::Grouped(Rc::new(Grouped { pivot: Some(given), ..(**grouped).clone() }))
            }
            Some(Effect::Lazy(Step::Cogroup)) => match call.values.first() {
                Some(Value::Grouped(other)) => {
                    Value::Grouped(Rc::new(Grouped { other: Some(other.input), ..(**grouped).clone() }))
                }
                _ => Value::Unknown,
            },
            Some(effect @ Effect::Lazy(Step::MapGroups)) => {
                let inputs: Vec<NodeId> = std::iter::once(grouped.input).chain(grouped.other).collect();
                let site = self.site(call);
                if let Some(runs) = runs_of(effect) {
                    self.runs_python(runs, grouped.input, call);
                }
                Value::Frame(self.node(Operator::Udf, &inputs, Some(site)))
            }
            _ => Value::Unknown,
        }
    }

    /// `df.na.fill(…)`, `df.stat.crosstab(…)`.
    pub(super) fn frame_functions(&mut self, frame: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        let classes = [Class::DataFrameNaFunctions, Class::DataFrameStatFunctions];
        match classes.into_iter().find_map(|class| api::entry(class, name)) {
            Some(entry) => self.frame_effect(frame, entry, name, call),
            None => Value::Unknown,
        }
    }
}

pub(super) fn integer(value: Option<&Value<'_>>) -> Option<i64> {
    match value {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    }
}

/// A select of these columns.
pub(super) fn projection(values: &[Value<'_>]) -> Operator {
    let columns: Vec<Option<&Column>> =
        values.iter().map(|value| if let Value::Column(column) = value { Some(&**column) } else { None }).collect();
    let any = |test: fn(&Column) -> bool| columns.iter().flatten().any(|column| test(column));
    if any(|column| column.udf) {
        return Operator::Udf;
    }
    if any(|column| column.windowed) {
        return Operator::Window;
    }
    Operator::Project {
        only_aggregates: any(|column| column.aggregate)
            && columns.iter().all(|column| column.is_some_and(|it| it.aggregate || it.constant)),
        explodes: any(|column| column.explodes),
    }
}
