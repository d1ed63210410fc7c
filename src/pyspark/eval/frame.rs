//! Methods of DataFrames and grouped data.

use std::rc::Rc;

use smallvec::SmallVec;

use super::call::Call;
use super::{Interpreter, column};
use crate::pyspark::ir::ExprId;
use crate::pyspark::plan::{ActionKind, Join, JoinCondition, KeyTerm, NodeId, Operator, Runs};
use crate::pyspark::value::{Code, Column, Grouped, Item, Object, Relation, Value, Writer};
use crate::pyspark::{api, sql};

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
        if let Some(kind) = self.frame_action(name, call) {
            let collects = matches!(kind, ActionKind::Collect | ActionKind::Take(_) | ActionKind::LocalIterator);
            let taken = if let ActionKind::Take(rows) = kind { Some(rows) } else { None };
            let action = self.act(kind, Some(frame), false, call);
            if let Some(runs) = Self::runs_of(name) {
                self.runs_python(runs, frame, call);
            }
            return match name {
                "toPandas" | "to_pandas" => Value::Pandas(Some(action)),
                "toArrow" => Value::Foreign,
                "count" => Value::Result(action),
                "crosstab" | "freqItems" => self.on(frame, Operator::Summary, call),
                "first" => Value::Unknown,
                "head" if call.values.is_empty() => Value::Unknown,
                _ if collects => Value::Rows(match taken {
                    Some(rows) => self.node(Operator::Limit(rows), &[frame], None),
                    None => frame,
                }),
                _ => Value::Unknown,
            };
        }
        let operator = match name {
            "filter" | "where" => Operator::Filter { key_equality: self.is_key_filter(call) },
            "dropna" => Operator::Filter { key_equality: false },
            "select" => projection(&call.flat()),
            "selectExpr" => return self.select_expr(frame, call),
            "drop" | "toDF" | "withColumnRenamed" | "withColumnsRenamed" | "alias" | "to" | "fillna" | "replace" => {
                Operator::Project { only_aggregates: false, explodes: false }
            }
            "withColumn" | "withColumns" => self.columns(call),
            "join" => return self.join_frames(frame, call),
            "crossJoin" => {
                let kind = Some("cross".to_owned());
                return self.join_with(frame, Join { condition: JoinCondition::Cross, kind, terms: Vec::new() }, call);
            }
            "groupBy" | "groupby" | "rollup" | "cube" | "groupingSets" => {
                let keys = call.parts().map(column::name_of_argument).collect();
                return Value::Grouped(Rc::new(Grouped { input: frame, keys, pivot: None, other: None }));
            }
            "agg" => Operator::Aggregate { keys: Vec::new(), grouped: false, pivot: None },
            "distinct" | "dropDuplicates" | "drop_duplicates" | "dropDuplicatesWithinWatermark" => Operator::Distinct,
            "intersect" | "intersectAll" | "subtract" | "exceptAll" => {
                return self.with_other(frame, Operator::Distinct, call);
            }
            "union" | "unionAll" | "unionByName" => {
                return self.with_other(frame, Operator::Union { open: false }, call);
            }
            "repartition" | "repartitionByRange" | "repartitionById" => self.repartition(call),
            "coalesce" => Operator::Coalesce { count: integer(call.value(0, "numPartitions")) },
            "orderBy" | "sort" => Operator::Sort { global: true },
            "sortWithinPartitions" => Operator::Sort { global: false },
            "limit" => Operator::Limit(integer(call.value(0, "num")).and_then(|rows| u64::try_from(rows).ok())),
            "sample" => Operator::Sample { seeded: self.is_seeded(call, 2) },
            "sampleBy" => Operator::Sample { seeded: self.is_seeded(call, 2) },
            "randomSplit" => return self.random_split(frame, call),
            "cache" | "persist" => return self.cached(frame, Operator::Cache, call),
            "checkpoint" | "localCheckpoint" => return self.cached(frame, Operator::Checkpoint, call),
            "hint" => {
                Operator::Hint(call.value(0, "name").and_then(Value::as_text).unwrap_or("hint").to_ascii_lowercase())
            }
            "describe" | "summary" => Operator::Summary,
            "mapInPandas" | "mapInArrow" | "mapPartitionsInPandas" => {
                self.runs_python(Runs::MapPartitions, frame, call);
                Operator::Udf
            }
            "transform" | "pipe" => {
                let Some(callee) = call.value(0, "func").cloned() else { return Value::Unknown };
                let extra = call.values.iter().skip(1).cloned();
                let values = std::iter::once(Value::Frame(frame)).chain(extra).collect();
                return match self.apply_value(&callee, values, call) {
                    Value::Unknown | Value::None => self.on(frame, Operator::Other("transform".to_owned()), call),
                    value => value,
                };
            }
            "unpersist" => {
                if self.released.insert(call.span) {
                    let site = self.site(call);
                    self.plan.unpersists.push((frame, site));
                }
                return Value::Frame(frame);
            }
            "createOrReplaceTempView"
            | "createTempView"
            | "createOrReplaceGlobalTempView"
            | "createGlobalTempView"
            | "registerTempTable" => {
                if let Some(view) = call.value(0, "name").and_then(Value::as_text) {
                    self.views.insert(view.to_ascii_lowercase(), frame);
                }
                self.act(ActionKind::Other(name.to_owned()), Some(frame), false, call);
                return Value::None;
            }
            "writeTo" => {
                let write = crate::pyspark::plan::Write {
                    target: call.value(0, "table").map(Value::literal).unwrap_or_default(),
                    ..Default::default()
                };
                let start = call.method.start.saturating_sub(1);
                return Value::Writer(Rc::new(Writer {
                    input: frame,
                    write,
                    streaming: false,
                    start,
                    trigger: None,
                    batch: None,
                }));
            }
            "pandas_api" | "to_pandas_on_spark" => {
                return Value::Library(crate::pyspark::value::Library::PandasOnSpark(frame));
            }
            "to_koalas" => return Value::Foreign,
            "toJSON" => {
                let site = self.site(call);
                return Value::Rdd(self.node(Operator::Rdd, &[frame], Some(site)));
            }
            _ => {
                if api::entry("DataFrame", name).is_none() {
                    self.escape(&Value::Frame(frame));
                }
                return match api::entry("DataFrame", name).map(|entry| entry.returns) {
                    Some("DataFrame") => self.on(frame, Operator::Other(name.to_owned()), call),
                    Some("Column") => Value::Column(Rc::default()),
                    Some("pandas" | "arrow") => Value::Foreign,
                    _ => Value::Unknown,
                };
            }
        };
        self.on(frame, operator, call)
    }

    /// What makes Spark run among a frame's methods.
    fn frame_action(&self, name: &str, call: &Call<'a>) -> Option<ActionKind> {
        let rows = |value: Option<&Value<'a>>| integer(value).and_then(|rows| u64::try_from(rows).ok());
        Some(match name {
            "collect" => ActionKind::Collect,
            "toPandas" | "to_pandas" | "toArrow" => ActionKind::ToPandas,
            "take" | "tail" => ActionKind::Take(rows(call.value(0, "num"))),
            "head" if !call.values.is_empty() => ActionKind::Take(rows(call.value(0, "n"))),
            "head" | "first" => ActionKind::Take(Some(1)),
            "toLocalIterator" => ActionKind::LocalIterator,
            "count" => ActionKind::Count,
            "show" | "display" => ActionKind::Show,
            "isEmpty" => ActionKind::IsEmpty,
            "foreach" | "foreachPartition" => ActionKind::Foreach,
            "approxQuantile" | "corr" | "cov" | "crosstab" | "freqItems" => ActionKind::Other(name.to_owned()),
            _ => return None,
        })
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

    fn join_frames(&mut self, frame: NodeId, call: &Call<'a>) -> Value<'a> {
        let kind = match call.value(2, "how") {
            None => Some("inner".to_owned()),
            Some(how) => how.as_text().map(join_kind),
        };
        let is_cross = kind.as_deref() == Some("cross");
        let condition = match call.value(1, "on") {
            _ if call.args.iter().any(|arg| {
                !matches!(arg.name, crate::pyspark::ir::ArgName::Positional | crate::pyspark::ir::ArgName::Keyword(_))
            }) =>
            {
                JoinCondition::Unknown
            }
            None | Some(Value::None) if is_cross => JoinCondition::Cross,
            None | Some(Value::None) => JoinCondition::Missing,
            Some(on) => join_condition(on),
        };
        let terms = call.value(1, "on").map(join_terms).unwrap_or_default();
        self.join_with(frame, Join { condition, kind, terms }, call)
    }

    fn join_with(&mut self, frame: NodeId, join: Join, call: &Call<'a>) -> Value<'a> {
        let site = self.site(call);
        let other = match call.value(0, "other") {
            Some(Value::Frame(other)) => *other,
            _ => self.given(),
        };
        let node = self.node(Operator::Join(join), &[frame, other], Some(site));
        self.used_in(node, &call.values);
        Value::Frame(node)
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
        match name {
            "write" | "writeStream" => {
                let streaming = name == "writeStream";
                // From the dot on.
                let start = call.receiver.end;
                Value::Writer(Rc::new(Writer {
                    input: frame,
                    write: Default::default(),
                    streaming,
                    start,
                    trigger: None,
                    batch: None,
                }))
            }
            "rdd" => {
                let site = self.site(call);
                Value::Rdd(self.node(Operator::Rdd, &[frame], Some(site)))
            }
            "na" | "stat" => Value::Object(Object::Functions(frame)),
            "sparkSession" => Value::Object(Object::Session),
            "plot" => Value::Foreign,
            "is_cached" => Value::Unknown,
            _ => match api::entry("DataFrame", name) {
                Some(_) => Value::Unknown,
                None => Value::Column(Rc::new(Column {
                    name: Some(name.to_owned()),
                    frames: SmallVec::from_slice(&[frame]),
                    ..Column::default()
                })),
            },
        }
    }

    pub(super) fn grouped_method(&mut self, grouped: &Rc<Grouped>, name: &str, call: &Call<'a>) -> Value<'a> {
        match name {
            "agg" | "count" | "sum" | "avg" | "mean" | "min" | "max" => {
                let operator = Operator::Aggregate {
                    keys: grouped.keys.clone(),
                    grouped: !grouped.keys.is_empty(),
                    pivot: grouped.pivot,
                };
                self.on(grouped.input, operator, call)
            }
            "pivot" => {
                let given = call.value(1, "values").is_some_and(|values| !matches!(values, Value::None));
                if !given {
                    self.act(ActionKind::Other("pivot".to_owned()), Some(grouped.input), false, call);
                }
                Value::Grouped(Rc::new(Grouped { pivot: Some(given), ..(**grouped).clone() }))
            }
            "cogroup" => match call.values.first() {
                Some(Value::Grouped(other)) => {
                    Value::Grouped(Rc::new(Grouped { other: Some(other.input), ..(**grouped).clone() }))
                }
                _ => Value::Unknown,
            },
            _ => match api::entry("GroupedData", name).or_else(|| api::entry("PandasCogroupedOps", name)) {
                Some(entry) if entry.returns == "DataFrame" => {
                    let inputs: Vec<NodeId> = std::iter::once(grouped.input).chain(grouped.other).collect();
                    let site = self.site(call);
                    if let Some(runs) = Self::runs_of(name) {
                        self.runs_python(runs, grouped.input, call);
                    }
                    Value::Frame(self.node(Operator::Udf, &inputs, Some(site)))
                }
                _ => Value::Unknown,
            },
        }
    }

    /// `df.na.fill(…)`, `df.stat.crosstab(…)`.
    pub(super) fn frame_functions(&mut self, frame: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        match name {
            "drop" => self.on(frame, Operator::Filter { key_equality: false }, call),
            "fill" | "replace" => self.on(frame, Operator::Project { only_aggregates: false, explodes: false }, call),
            _ => self.frame_method(frame, name, call),
        }
    }
}

pub(super) fn integer(value: Option<&Value<'_>>) -> Option<i64> {
    match value {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    }
}

/// Spark's names for a kind of join, folded.
fn join_kind(how: &str) -> String {
    let folded = how.to_ascii_lowercase().replace('_', "");
    match folded.as_str() {
        "left" | "leftouter" => "left",
        "right" | "rightouter" => "right",
        "full" | "outer" | "fullouter" => "full",
        "leftsemi" | "semi" => "left_semi",
        "leftanti" | "anti" => "left_anti",
        "cross" => "cross",
        "inner" => "inner",
        other => return other.to_owned(),
    }
    .to_owned()
}

/// The equalities that a condition needs, in order.
fn join_terms(on: &Value<'_>) -> Vec<KeyTerm> {
    match on {
        Value::Column(column) => column.terms.clone(),
        Value::List(items) | Value::Tuple(items) => items
            .iter()
            .flat_map(|item| if let Value::Column(column) = &item.value { column.terms.clone() } else { Vec::new() })
            .collect(),
        _ => Vec::new(),
    }
}

fn join_condition(on: &Value<'_>) -> JoinCondition {
    match on {
        Value::Text(text) => JoinCondition::Using(vec![text.text.clone()]),
        Value::List(items) | Value::Tuple(items) => {
            let names: Option<Vec<String>> = items.iter().map(|item| item.value.as_text().map(str::to_owned)).collect();
            match names {
                Some(names) if !names.is_empty() => JoinCondition::Using(names),
                _ => items
                    .iter()
                    .map(|item| match &item.value {
                        Value::Column(column) => column.relation,
                        _ => Relation::Unknown,
                    })
                    .reduce(Relation::and)
                    .map_or(JoinCondition::Unknown, Relation::condition),
            }
        }
        Value::Many(element) => match &**element {
            Value::Column(column) if column.relation == Relation::Equality => JoinCondition::Equality,
            _ => JoinCondition::Unknown,
        },
        Value::Column(column) if column.name.is_some() => JoinCondition::Using(column.name.iter().cloned().collect()),
        Value::Column(column) => column.relation.condition(),
        _ => JoinCondition::Unknown,
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
        only_aggregates: !columns.is_empty() && columns.iter().all(|column| column.is_some_and(|it| it.aggregate)),
        explodes: any(|column| column.explodes),
    }
}
