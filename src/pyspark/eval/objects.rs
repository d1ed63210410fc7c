//! Sessions, contexts, builders, windows, built-in functions, and attributes of all of them.

use std::rc::Rc;

use super::call::Call;
use super::effects::action_kind;
use super::frame::integer;
use super::{Interpreter, Usage, column};
use crate::conf::Carrier;
use crate::pyspark::api::{self, Class, Effect, Returns, Setup, Step};
use crate::pyspark::ir::{ArgName, ExprId};
use crate::pyspark::plan::{
    ActionKind, DriverData, Loop, LoopOver, Operator, RowUseKind, SessionStart, Source, WindowOrder,
};
use crate::pyspark::value::{Code, Library, Object, Reader, SparkVersionValue, Template, UserClass, Value, WindowSpec};

/// Built-in functions that pass frames or collections on.
pub(super) fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "reduce"
            | "display"
            | "list"
            | "tuple"
            | "sorted"
            | "reversed"
            | "set"
            | "iter"
            | "tqdm"
            | "dict"
            | "enumerate"
            | "zip"
            | "filter"
            | "map"
            | "len"
            | "str"
            | "int"
            | "range"
            | "print"
            | "super"
            | "next"
    )
}

impl<'a> Interpreter<'a> {
    /// An attribute that is not called.
    pub(super) fn attribute(
        &mut self,
        code: Code<'a>,
        id: ExprId,
        value: Value<'a>,
        name: &'a str,
        object: ExprId,
    ) -> Value<'a> {
        if let Value::Module(path) = &value {
            return self.member(path, name);
        }
        if let Value::Project(module) = &value {
            return self.project_member(module, name);
        }
        let value = self.by_use(code, object, value, name);
        let value = self.frame_by_attribute(&value, name, code, object).map_or(value, Value::Frame);
        match &value {
            Value::Frame(frame) => {
                let mut call = Call::property(self, code, id, Usage::Used);
                call.class = value.class_with(name);
                self.frame_attribute(*frame, name, &call)
            }
            Value::Object(object) => self.object_attribute(*object, name),
            Value::Library(object) => self.library_attribute(*object, name),
            Value::Class(Class::SparkSession) if name == "builder" => Value::Object(Object::Builder),
            Value::Class(_) => Value::Unbound(name),
            Value::Instance(class, env) => self.instance_attribute(&class.clone(), *env, name),
            Value::UserClass(class) => match self.class_member(class, name) {
                Some(Value::Closure(method)) => Value::Closure(Rc::new(self.of_class(class, &method))),
                member => member.unwrap_or(Value::Unknown),
            },
            Value::Choice(choices) => {
                let values: Vec<Value<'a>> =
                    choices.iter().map(|choice| self.attribute(code, id, choice.clone(), name, object)).collect();
                self.any_of(values)
            }
            Value::Rdd(_) | Value::Grouped(_) | Value::Reader(_) | Value::Writer(_) | Value::Window(_) => {
                Value::Unknown
            }
            Value::Foreign => Value::Foreign,
            Value::Pandas(of) => {
                if matches!(name, "shape" | "empty" | "size" | "index" | "columns" | "values") {
                    let span = match &code.top.expr(id).expr {
                        crate::pyspark::ir::Expr::Attribute { name, .. } => code.span(*name),
                        _ => self.span_of(code, id),
                    };
                    self.uses_pandas(*of, name, span);
                    return Value::Foreign;
                }
                value
            }
            Value::Row(node) => Value::Cell(*node),
            Value::Version(version) => self.version_attribute(version, name),
            _ => self.named_version(name).unwrap_or(Value::Unknown),
        }
    }

    fn object_attribute(&mut self, object: Object, name: &str) -> Value<'a> {
        let class = match object {
            Object::Session => Class::SparkSession,
            Object::SqlContext => Class::SqlContext,
            Object::Context if name == "version" => return Value::Version(SparkVersionValue::Whole),
            _ => return Value::Unknown,
        };
        let returns = api::entry(class, name).map(|entry| entry.returns);
        match (object, name) {
            _ if let Some(Returns::One(class)) = returns => match class {
                Class::DataFrameReader => Value::Reader(Rc::default()),
                Class::DataStreamReader => Value::Reader(Rc::new(Reader { streaming: true, ..Reader::default() })),
                Class::RuntimeConfig => Value::Object(Object::Runtime),
                Class::SparkContext => Value::Object(Object::Context),
                Class::Catalog => Value::Object(Object::Catalog),
                Class::UdfRegistration => Value::Object(Object::UdfRegistration),
                Class::Builder => Value::Object(Object::Builder),
                _ => Value::Unknown,
            },
            (Object::Session, "version") => Value::Version(SparkVersionValue::Whole),
            (_, "udtf") => Value::Object(Object::UdfRegistration),
            // Names that Spark keeps for itself, and names of Glue.
            (Object::Session, "_sc") | (Object::SqlContext, "sparkContext") => Value::Object(Object::Context),
            (Object::SqlContext, "spark_session" | "sparkSession") => Value::Object(Object::Session),
            (Object::SqlContext, "create_dynamic_frame") => Value::Library(Library::DynamicReader { frames: false }),
            (Object::SqlContext, "create_data_frame") => Value::Library(Library::DynamicReader { frames: true }),
            (Object::SqlContext, "write_dynamic_frame" | "write_data_frame") => Value::Library(Library::DynamicWriter),
            _ => Value::Unknown,
        }
    }

    pub(super) fn object_method(&mut self, object: Object, name: &str, call: &Call<'a>) -> Value<'a> {
        match object {
            Object::SqlContext => match self.glue_method(name, call) {
                Some(value) => value,
                None => self.session_method(object, name, call),
            },
            Object::Session => self.session_method(object, name, call),
            Object::Builder => self.builder_method(name, call),
            Object::Conf => self.conf_method(name, call),
            Object::Runtime => {
                if name == "set" {
                    self.pair_setting(Carrier::RuntimeSet, call, "key", "value");
                }
                Value::Unknown
            }
            Object::Context => self.context_method(name, call),
            Object::Functions(frame) => self.frame_functions(frame, name, call),
            Object::UdfRegistration => self.registered_udf(call),
            Object::Catalog => self.catalog_method(Class::Catalog, name, call),
            Object::Query => Value::Unknown,
        }
    }

    /// What is done with tables and views by name.
    fn catalog_method(&mut self, class: Class, name: &str, call: &Call<'a>) -> Value<'a> {
        let Some(entry) = api::entry(class, name) else { return Value::Unknown };
        let view = call.values.first().and_then(Value::as_text);
        let frame = view.and_then(|view| self.views.get(&view.to_ascii_lowercase())).copied();
        match (entry.effect, frame) {
            (Effect::Lazy(Step::Cache), _) => {
                if let Some(view) = view {
                    self.cache_table(view);
                }
            }
            (Effect::Action(run), _) => drop(self.act(action_kind(run, name, call), frame, false, call)),
            (Effect::Lazy(Step::Source), _) => return self.table(call),
            _ => return Value::Unknown,
        }
        Value::None
    }

    fn session_method(&mut self, object: Object, name: &str, call: &Call<'a>) -> Value<'a> {
        let class = if object == Object::SqlContext { Class::SqlContext } else { Class::SparkSession };
        let Some(entry) = api::entry(class, name) else { return Value::Unknown };
        match entry.effect {
            Effect::Lazy(Step::Sql) => self.sql(call),
            Effect::Lazy(Step::ReadTable) => self.table(call),
            Effect::Lazy(Step::Range) => {
                let count = match (call.value(0, "start"), call.value(1, "end"), call.value(2, "step")) {
                    (Some(Value::Integer(end)), None, _) => u64::try_from(*end).ok(),
                    (Some(Value::Integer(start)), Some(Value::Integer(end)), step) => {
                        let step = integer(step).unwrap_or(1).unsigned_abs().max(1);
                        end.checked_sub(*start)
                            .and_then(|rows| u64::try_from(rows).ok())
                            .map(|rows| rows.div_ceil(step))
                    }
                    _ => None,
                };
                self.source(Source::Range(count), call)
            }
            Effect::Lazy(Step::Local) => {
                let rows = match call.value(0, "data") {
                    Some(Value::List(items) | Value::Tuple(items)) => Some(items.len() as u64),
                    _ => None,
                };
                let frame = self.source(Source::Local(rows), call);
                let is_generated = call.arg(0, "data").is_some_and(|(arg, value)| {
                    matches!(call.code.top.expr(arg.value).expr, crate::pyspark::ir::Expr::Comprehension(_))
                        && matches!(value, Value::Many(element) if !matches!(**element, Value::Row(_) | Value::Cell(_)))
                });
                if let (Value::Frame(node), true) = (&frame, is_generated) {
                    return Value::Frame(self.node(Operator::Limit(None), &[*node], None));
                }
                if let (Value::Frame(node), Some((arg, Value::Pandas(None)))) = (&frame, call.arg(0, "data")) {
                    let span = self.span_of(call.code, arg.value);
                    self.plan.driver_data.push(DriverData { node: *node, span });
                }
                frame
            }
            Effect::Lazy(Step::Source) if object == Object::Session => self.source(Source::Local(Some(0)), call),
            Effect::Setup(Setup::Session) => Value::Object(object),
            Effect::View => {
                if let (Some(Value::Frame(frame)), Some(view)) =
                    (call.value(0, "df"), call.value(1, "tableName").and_then(Value::as_text))
                {
                    self.views.insert(view.to_ascii_lowercase(), *frame);
                }
                Value::None
            }
            _ if name == "setConf" => {
                self.pair_setting(Carrier::RuntimeSet, call, "key", "value");
                Value::None
            }
            _ => self.catalog_method(class, name, call),
        }
    }

    pub(super) fn source(&mut self, source: Source, call: &Call<'a>) -> Value<'a> {
        let site = self.site(call);
        Value::Frame(self.node(Operator::Source(source), &[], Some(site)))
    }

    fn builder_method(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        match name {
            "config" => {
                self.builder_settings(call);
                Value::Object(Object::Builder)
            }
            "master" | "appName" => {
                self.named_setting(name, Carrier::Builder, call);
                Value::Object(Object::Builder)
            }
            "remote" => {
                self.plan.uses.connect = true;
                Value::Object(Object::Builder)
            }
            "getOrCreate" | "create" => {
                self.session_start(call);
                self.plan.uses.is_spark = true;
                Value::Object(Object::Session)
            }
            _ => Value::Object(Object::Builder),
        }
    }

    fn session_start(&mut self, call: &Call<'a>) {
        self.plan.uses.builds_session = true;
        let (scope, conditional) = (self.frame.scope, self.frame.conditional);
        self.plan.sessions.push(SessionStart { call: call.span, method: call.method, scope, conditional });
    }

    fn conf_method(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        match name {
            "set" | "setIfMissing" => self.pair_setting(Carrier::SparkConf, call, "key", "value"),
            "setAll" => {
                if let Some(value) = call.value(0, "pairs").cloned() {
                    self.collection_settings(Carrier::SparkConf, &value);
                }
            }
            "setMaster" | "setAppName" => self.named_setting(name, Carrier::SparkConf, call),
            "setSparkHome" | "setExecutorEnv" => {}
            _ => return Value::Unknown,
        }
        Value::Object(Object::Conf)
    }

    /// A class of PySpark called, or a method of one.
    pub(super) fn construct(&mut self, class: Class, call: &Call<'a>) -> Value<'a> {
        match class {
            Class::SparkSession => Value::Object(Object::Session),
            Class::SparkContext => {
                for (position, keyword, name) in [(0, "master", "setMaster"), (1, "appName", "setAppName")] {
                    if let Some((_, Value::Text(text))) = call.arg(position, keyword) {
                        self.note_name(name, &text.text.clone());
                    }
                }
                self.plan.uses.is_spark = true;
                self.session_start(call);
                Value::Object(Object::Context)
            }
            Class::SparkConf => Value::Object(Object::Conf),
            Class::SqlContext | Class::GlueContext => Value::Object(Object::SqlContext),
            Class::Builder => Value::Object(Object::Builder),
            _ => Value::Unknown,
        }
    }

    pub(super) fn class_method(&mut self, class: Class, name: &str, call: &Call<'a>) -> Value<'a> {
        match (class, name) {
            (Class::SparkSession, "getActiveSession" | "active" | "getOrCreate") => Value::Object(Object::Session),
            (Class::SparkSession, "builder" | "Builder") => Value::Object(Object::Builder),
            (Class::SparkContext, "getOrCreate") => Value::Object(Object::Context),
            (Class::SqlContext, "getOrCreate") => Value::Object(Object::SqlContext),
            (Class::Window, _) => self.window_method(&Rc::default(), name, call),
            _ if !call.values.is_empty() => {
                let mut inner = call.clone();
                let receiver = inner.values.remove(0);
                inner.args = inner.args.get(1..).unwrap_or_default();
                match receiver {
                    Value::Class(_) => Value::Unknown,
                    receiver => {
                        inner.class = receiver.class_with(name);
                        self.dispatch(&receiver, name, &inner).unwrap_or(Value::Unknown)
                    }
                }
            }
            _ => Value::Unknown,
        }
    }

    pub(super) fn window_method(&mut self, window: &Rc<WindowSpec>, name: &str, call: &Call<'a>) -> Value<'a> {
        let mut next = (**window).clone();
        match name {
            "partitionBy" => {
                // A literal key puts every row into one partition.
                let literal = |value: &Value<'a>| matches!(value, Value::Column(column) if column.constant);
                // Of `*keys` nobody knows the number.
                let unpacked = call.args.iter().any(|arg| arg.name == ArgName::Star);
                next.partitioned |= unpacked || call.parts().any(|value| !literal(value));
                next.keys = call.parts().map(column::name_of_argument).collect();
                if let Some(order) = next.index.and_then(|index| self.plan.windows.get_mut(index)) {
                    order.partitioned |= next.partitioned;
                    order.keys.clone_from(&next.keys);
                }
            }
            "orderBy" => {
                let site = self.site(call);
                let index = *self.windows.entry(call.span).or_insert(self.plan.windows.len());
                if index == self.plan.windows.len() {
                    let (partitioned, keys) = (next.partitioned, next.keys.clone());
                    self.plan.windows.push(WindowOrder { site, partitioned, keys, used_on: Vec::new() });
                }
                next.index = Some(index);
            }
            "rowsBetween" | "rangeBetween" => next.framed = true,
            _ => return Value::Unknown,
        }
        Value::Window(Rc::new(next))
    }

    /// A built-in function of Python, or of notebooks.
    pub(super) fn call_builtin(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        let first = call.values.first().cloned();
        match (name, first) {
            ("reduce", Some(callee)) => self.reduce(&callee, call),
            ("partial", Some(_)) => self.partial(call),
            ("next", Some(iterator)) => self.element(&iterator).unwrap_or(Value::Unknown),
            ("wraps", _) => Value::Builtin("wrapped"),
            ("wrapped", Some(function)) => function,
            ("display", Some(Value::Frame(frame))) => {
                self.act(ActionKind::Show, Some(frame), false, call);
                Value::None
            }
            (
                "list" | "tuple" | "sorted" | "reversed" | "set" | "iter" | "tqdm",
                Some(value @ (Value::List(_) | Value::Tuple(_) | Value::Many(_) | Value::Rows(_))),
            ) => value,
            ("len", Some(rows @ Value::Rows(_))) => {
                self.uses_rows(RowUseKind::Length, &rows, call.span);
                Value::Unknown
            }
            ("len", Some(Value::Pandas(of))) => {
                self.uses_pandas(of, name, call.method);
                Value::Unknown
            }
            ("super", _) => self.base_of_self(),
            ("list", None) => Value::List(Rc::default()),
            ("dict", None) if call.args.is_empty() => Value::Dict(Rc::default()),
            ("dict", Some(value @ Value::Dict(_))) => value,
            ("enumerate", Some(value)) => self.enumerate(value),
            ("zip", Some(value)) => self.zip(value, call),
            ("map", Some(Value::Builtin("str"))) => match call.values.get(1) {
                Some(values) if values.rows().is_some() => values.clone(),
                _ => Value::Unknown,
            },
            ("filter" | "map", _) => Value::Unknown,
            ("len", Some(Value::List(items) | Value::Tuple(items))) => Value::Integer(items.len() as i64),
            ("str", Some(value @ (Value::Text(_) | Value::Template(_)))) => value,
            ("str", Some(Value::Integer(number))) => Value::text(number.to_string(), None),
            ("str", Some(value)) => Value::Template(Rc::new(Template::of_rows(value.rows()))),
            ("int", Some(value @ Value::Integer(_))) => value,
            _ => Value::Unknown,
        }
    }

    /// `super()`: the object, with the methods of its class's first base in the file.
    fn base_of_self(&self) -> Value<'a> {
        let Some(Value::Instance(class, env)) = self.lookup("self") else { return Value::Unknown };
        let base_of = |class: &UserClass<'a>| {
            class.bases.iter().find_map(|base| match base {
                Value::UserClass(base) => Some(base.clone()),
                _ => None,
            })
        };
        // The base of the class that holds the running method.
        let running = self.calls.last().copied();
        let mut holder = Some(class.clone());
        for _ in 0..16 {
            let Some(at) = holder else { break };
            let holds = self.envs[at.env.0 as usize].names.values().flatten().any(|member| {
                matches!(member, Value::Closure(method) if Some((method.code.base, method.function)) == running)
            });
            if holds {
                return base_of(&at).map_or(Value::Unknown, |base| Value::Instance(base, env));
            }
            holder = base_of(&at);
        }
        base_of(&class).map_or(Value::Unknown, |base| Value::Instance(base, env))
    }

    fn enumerate(&mut self, value: Value<'a>) -> Value<'a> {
        let item = |value| crate::pyspark::value::Item { value, span: Default::default() };
        let pair = |value| Value::Tuple(Rc::new(vec![item(Value::Unknown), item(value)]));
        match value {
            Value::List(items) | Value::Tuple(items) => {
                Value::List(Rc::new(items.iter().map(|one| item(pair(one.value.clone()))).collect()))
            }
            Value::Many(element) => Value::Many(Rc::new(pair((*element).clone()))),
            rows @ Value::Rows(_) => rows,
            _ => Value::Unknown,
        }
    }

    fn zip(&mut self, first: Value<'a>, call: &Call<'a>) -> Value<'a> {
        let item = |value| crate::pyspark::value::Item { value, span: Default::default() };
        let mut parts = Vec::new();
        let mut length = None;
        for value in std::iter::once(first).chain(call.values.iter().skip(1).cloned()) {
            if let Value::List(items) | Value::Tuple(items) = &value {
                length = Some(length.map_or(items.len(), |known: usize| known.min(items.len())));
            }
            parts.push(item(self.element(&value).unwrap_or(Value::Unknown)));
        }
        let pair = Value::Tuple(Rc::new(parts));
        match length {
            Some(length @ 0..=64) => Value::List(Rc::new(vec![item(pair); length])),
            _ => Value::Many(Rc::new(pair)),
        }
    }

    /// `reduce(f, frames)`: the accumulator is a loop's variable.
    fn reduce(&mut self, callee: &Value<'a>, call: &Call<'a>) -> Value<'a> {
        let Some(collection) = call.values.get(1).cloned() else { return Value::Unknown };
        let start = call.value(2, "initial").cloned();
        if let Value::List(items) | Value::Tuple(items) = &collection
            && items.len() <= 8
        {
            let mut values: Vec<Value<'a>> = start.into_iter().collect();
            values.extend(items.iter().map(|item| item.value.clone()));
            let mut values = values.into_iter();
            let Some(first) = values.next() else { return Value::Unknown };
            return values.fold(first, |all, next| self.apply_value(callee, vec![all, next], call));
        }
        // Of an unknown collection only the start tells what the accumulator is.
        let element = self.element(&collection).unwrap_or(Value::Unknown);
        let start = start.unwrap_or_else(|| element.clone());
        let Value::Frame(before) = start else {
            return self.apply_value(callee, vec![start, element], call);
        };
        let id = self.loop_id(Loop {
            span: call.span,
            header: call.method,
            over: LoopOver::Unknown,
            targets: Vec::new(),
            frames: Vec::new(),
            comprehension: true,
            runs_once: false,
            retries: false,
        });
        let variable = self.node(Operator::LoopCarried(id), &[before], None);
        self.frame.loops.push(id);
        let result = self.apply_value(callee, vec![Value::Frame(variable), element], call);
        self.frame.loops.pop();
        let Value::Frame(end) = result else { return result };
        if let Operator::Union { open } = &mut self.plan.nodes[end.0 as usize].operator {
            *open = true;
        }
        if end != variable {
            self.plan.nodes[variable.0 as usize].inputs.push(end);
        }
        Value::Frame(end)
    }
}
