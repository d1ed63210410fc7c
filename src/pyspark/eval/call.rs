//! Calls: evaluated arguments, the site that the plan keeps, and who is called.

use std::rc::Rc;

use super::composed::Composed;
use super::expression::MAX_ITEMS;
use super::{Interpreter, Usage};
use crate::pyspark::api::{self, Class};
use crate::pyspark::ir::{Arg, ArgName, Expr, ExprId};
use crate::pyspark::plan::{Action, ActionKind, Argument, CallSite, Language, NodeId, ResultUse, ResultUses};
use crate::pyspark::value::{Code, Item, Object, Template, Value};
use crate::text::Span;

/// A call with its arguments evaluated.
#[derive(Debug, Clone)]
pub(super) struct Call<'a> {
    pub(super) code: Code<'a>,
    pub(super) usage: Usage<'a>,
    /// The whole call.
    pub(super) span: Span,
    pub(super) receiver: Span,
    pub(super) method: Span,
    pub(super) arguments: Span,
    pub(super) args: &'a [Arg],
    pub(super) values: Vec<Value<'a>>,
    /// The receiver's class, if it is one of PySpark's that has the method.
    pub(super) class: Option<Class>,
}

impl<'a> Call<'a> {
    pub(super) fn new(interpreter: &mut Interpreter<'a>, code: Code<'a>, id: ExprId, usage: Usage<'a>) -> Self {
        let node = code.top.expr(id);
        let Expr::Call { function, arguments, args } = &node.expr else {
            return Self::property(interpreter, code, id, usage);
        };
        let passes_on = usage == Usage::Iterated && matches!(code.top.expr(*function).expr, Expr::Name);
        let inner = if passes_on { usage } else { Usage::Used };
        let is_log = interpreter.is_log(code, *function);
        let values = interpreter.in_log(is_log, |interpreter| {
            args.iter()
                .map(|arg| {
                    let value = interpreter.eval(code, arg.value, inner);
                    // A name was noted where it was looked up.
                    if !matches!(code.top.expr(arg.value).expr, Expr::Name) {
                        interpreter.uses_result(&value, interpreter.span_of(code, arg.value));
                    }
                    value
                })
                .collect()
        });
        let function = code.top.expr(*function);
        let (receiver, method) = match &function.expr {
            Expr::Attribute { receiver, name, .. } => (*receiver, *name),
            _ => (Span { start: node.span.start, end: node.span.start }, function.span),
        };
        Self {
            code,
            usage,
            span: code.span(node.span),
            receiver: code.span(receiver),
            method: code.span(method),
            arguments: code.span(*arguments),
            args,
            values,
            class: None,
        }
    }

    /// A property, as a call without arguments.
    pub(super) fn property(interpreter: &Interpreter<'a>, code: Code<'a>, id: ExprId, usage: Usage<'a>) -> Self {
        let span = interpreter.span_of(code, id);
        let end = Span { start: span.end, end: span.end };
        let (receiver, method) = match &code.top.expr(id).expr {
            Expr::Attribute { receiver, name, .. } => (code.span(*receiver), code.span(*name)),
            _ => (Span { start: span.start, end: span.start }, span),
        };
        Self { code, usage, span, receiver, method, arguments: end, args: &[], values: Vec::new(), class: None }
    }

    /// The argument with this keyword, or at this position.
    pub(super) fn arg(&self, position: usize, keyword: &str) -> Option<(&'a Arg, &Value<'a>)> {
        let named = self.args.iter().position(|arg| match arg.name {
            ArgName::Keyword(name) => self.code.str(name) == keyword,
            _ => false,
        });
        let index = match named {
            Some(index) => index,
            None => {
                let before = self.args.get(..=position)?;
                before.iter().all(|arg| arg.name == ArgName::Positional).then_some(position)?
            }
        };
        Some((self.args.get(index)?, self.values.get(index)?))
    }

    pub(super) fn value(&self, position: usize, keyword: &str) -> Option<&Value<'a>> {
        if self.args.is_empty() {
            return self.values.get(position);
        }
        self.arg(position, keyword).map(|(_, value)| value)
    }

    /// The argument with this keyword.
    pub(super) fn keyword(&self, keyword: &str) -> Option<(&'a Arg, &Value<'a>)> {
        self.arg(usize::MAX - 1, keyword)
    }

    /// All arguments as columns or names, lists opened, to look at.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Value<'a>> {
        self.values.iter().flat_map(|value| {
            let (items, one): (&[Item<'a>], _) = match value {
                Value::List(items) | Value::Tuple(items) => (items, None),
                Value::Many(element) => (&[], Some(&**element)),
                value => (&[], Some(value)),
            };
            items.iter().map(|item| &item.value).chain(one)
        })
    }

    /// All arguments as columns or names, lists opened.
    pub(super) fn flat(&self) -> Vec<Value<'a>> {
        self.parts().cloned().collect()
    }
}

impl<'a> Interpreter<'a> {
    pub(super) fn site(&self, call: &Call<'a>) -> CallSite {
        let arg = |(arg, value): (&Arg, &Value<'a>)| {
            let keyword = match arg.name {
                ArgName::Positional => None,
                ArgName::Keyword(name) => Some(self.str(call.code, name).to_owned()),
                ArgName::Star => Some("*".to_owned()),
                ArgName::DoubleStar => Some("**".to_owned()),
            };
            let span = match arg.name {
                ArgName::Keyword(_) | ArgName::Positional => self.span_of(call.code, arg.value),
                _ => call.code.span(arg.span),
            };
            Argument { keyword, span, value: value.literal() }
        };
        CallSite {
            language: Language::Python,
            call: call.span,
            receiver: call.receiver,
            method: call.method,
            arguments: call.arguments,
            args: call.args.iter().zip(&call.values).map(arg).collect(),
            statement: self.frame.statement,
            class: call.class,
        }
    }

    /// Notes an action; says which of the plan's it is.
    pub(super) fn act(&mut self, kind: ActionKind, input: Option<NodeId>, on_rdd: bool, call: &Call<'a>) -> usize {
        let action = Action {
            kind,
            method: self.text_at(call.method).to_owned(),
            input,
            site: self.site(call),
            scope: self.frame.scope,
            loops: self.frame.loops.clone(),
            conditional: self.frame.conditional,
            result: match call.usage {
                Usage::Discarded => ResultUse::Discarded,
                Usage::Bound(name) => ResultUse::Bound(name.to_owned()),
                Usage::Returned => ResultUse::Returned,
                Usage::Iterated => ResultUse::Iterated,
                Usage::Indexed => ResultUse::Indexed,
                Usage::Used => ResultUse::Used,
            },
            uses: ResultUses::default(),
            on_rdd,
        };
        self.action(action)
    }

    /// A call of something that is no method.
    pub(super) fn call_value(&mut self, callee: Value<'a>, call: Call<'a>) -> Value<'a> {
        match callee {
            Value::Function(name) => self.call_function(name, &call),
            Value::Class(name) => self.construct(name, &call),
            Value::Builtin(name) => self.call_builtin(name, &call),
            callee if super::arguments::is_choice(&callee) => {
                let arguments = self.arguments(&call);
                self.apply(&callee, arguments, &call)
            }
            Value::Unbound(method) => self.call_unbound(method, call),
            Value::Udf(udf) => match call.values.first() {
                Some(Value::Closure(closure)) => {
                    if let Some(index) = udf {
                        self.fill(index, &closure.clone());
                    }
                    Value::Udf(udf)
                }
                _ => self.call_udf(udf, &call),
            },
            Value::Module(path) => self.call_library(&path, &call),
            Value::Foreign => Value::Foreign,
            _ => Value::Unknown,
        }
    }

    /// `DataFrame.union(a, b)`: the receiver is the first argument.
    pub(super) fn call_unbound(&mut self, method: &'a str, mut call: Call<'a>) -> Value<'a> {
        if call.values.is_empty() {
            return Value::Unknown;
        }
        let receiver = call.values.remove(0);
        call.args = call.args.get(1..).unwrap_or_default();
        call.class = receiver.class_with(method);
        self.dispatch(&receiver, method, &call).unwrap_or(Value::Unknown)
    }

    /// A call of a method.
    pub(super) fn call_method(
        &mut self,
        receiver: Value<'a>,
        name: &'a str,
        object: ExprId,
        mut call: Call<'a>,
    ) -> Value<'a> {
        if let Value::Module(path) = &receiver {
            let callee = self.member(path, name);
            return self.call_value(callee, call);
        }
        if let Value::Project(module) = &receiver {
            let callee = self.project_member(module, name);
            return self.call_value(callee, call);
        }
        let receiver = self.by_use(call.code, object, receiver, name);
        let receiver = self.frame_by_call(&receiver, name, object, &call).map_or(receiver, Value::Frame);
        call.class = receiver.class_with(name);
        if let Some(value) = self.dispatch(&receiver, name, &call) {
            return value;
        }
        match receiver {
            Value::List(_) | Value::Tuple(_) | Value::Many(_) | Value::Dict(_) => {
                self.collection_method(receiver, name, object, &call)
            }
            Value::Instance(class, env) => self.instance_method(&class, env, name, call),
            Value::Choice(choices) => {
                let conditional = std::mem::replace(&mut self.frame.conditional, true);
                let values: Vec<Value<'a>> =
                    choices.iter().map(|choice| self.call_method(choice.clone(), name, object, call.clone())).collect();
                self.frame.conditional = conditional;
                self.any_of(values)
            }
            Value::UserClass(class) => match self.class_member(&class, name) {
                Some(Value::Closure(method)) => {
                    let method = Value::Closure(Rc::new(self.of_class(&class, &method)));
                    self.call_value(method, call)
                }
                Some(value) => self.call_value(value, call),
                None => Value::Unknown,
            },
            Value::Text(_) | Value::Template(_) => text_method(&receiver, name, &call),
            Value::Foreign if READS.contains(&name) => Value::Pandas(None),
            Value::Foreign => Value::Foreign,
            Value::Pandas(of) => {
                self.uses_pandas(of, name, call.method);
                Value::Foreign
            }
            _ => Value::Unknown,
        }
    }

    /// Notes what is done first with a pandas frame that an action returned.
    pub(super) fn uses_pandas(&mut self, of: Option<usize>, name: &str, span: Span) {
        if let Some(action) = of.and_then(|index| self.plan.actions.get_mut(index))
            && !action.uses.pandas.iter().any(|(_, known)| *known == span)
        {
            action.uses.pandas.push((name.to_owned(), span));
        }
    }

    /// Methods of PySpark's own types.
    pub(super) fn dispatch(&mut self, receiver: &Value<'a>, name: &str, call: &Call<'a>) -> Option<Value<'a>> {
        Some(match receiver {
            Value::Frame(frame) => self.frame_method(*frame, name, call),
            // It would fail, so that nothing comes of it: `all = part if all is None else all.union(part)`.
            Value::None => Value::None,
            Value::Grouped(grouped) => self.grouped_method(grouped, name, call),
            Value::Rdd(rdd) => self.rdd_method(*rdd, name, call),
            Value::Column(column) => self.column_method(column, name, call),
            Value::Window(window) => self.window_method(window, name, call),
            Value::Version(version) => self.version_method(version, name, call.values.first()),
            Value::Reader(reader) => self.reader_method(reader, name, call),
            Value::Writer(writer) => self.writer_method(writer, name, call),
            Value::Object(object) => self.object_method(*object, name, call),
            Value::Class(class) => self.class_method(*class, name, call),
            Value::Library(object) => self.library_method(*object, name, call),
            Value::Udf(index) => {
                if name == "asNondeterministic"
                    && let Some(function) = index.and_then(|index| self.plan.python.get_mut(index))
                {
                    function.nondeterministic = true;
                }
                Value::Udf(*index)
            }
            _ => return None,
        })
    }

    /// An unknown value that its name and use show to be a session or context.
    pub(super) fn by_use(&mut self, code: Code<'a>, object: ExprId, value: Value<'a>, name: &str) -> Value<'a> {
        if !matches!(value, Value::Unknown | Value::Builtin(_) | Value::None) {
            return value;
        }
        let source = match &code.top.expr(object).expr {
            Expr::Name => self.source_of(code, object),
            Expr::Attribute { name, .. } => self.str(code, *name),
            _ => return value,
        };
        let known = match source.trim_start_matches('_') {
            "spark" | "spark_session" | "sparkSession" => api::is_session_name(name).then_some(Object::Session),
            "session" if self.plan.uses.is_spark && !self.has_snowpark => {
                matches!(name, "createDataFrame" | "readStream" | "sparkContext" | "read" | "sql" | "table")
                    .then_some(Object::Session)
            }
            "sc" | "sparkContext" if self.plan.uses.is_spark => {
                api::entry(Class::SparkContext, name).map(|_| Object::Context)
            }
            _ => None,
        };
        match known {
            Some(object_kind) => {
                if object_kind == Object::Session {
                    self.plan.uses.is_spark = true;
                    let session = self.source_of(code, object).to_owned();
                    self.plan.uses.session.get_or_insert(session);
                }
                Value::Object(object_kind)
            }
            None => value,
        }
    }

    /// Methods of lists and dicts; a list that grows is a list of unknown size.
    fn collection_method(&mut self, receiver: Value<'a>, name: &str, object: ExprId, call: &Call<'a>) -> Value<'a> {
        match (receiver, name) {
            (receiver @ (Value::List(_) | Value::Many(_)), "append" | "insert" | "extend") => {
                let added = match call.values.last() {
                    Some(value) if name == "extend" => self.element(&value.clone()).unwrap_or(Value::Unknown),
                    Some(value) => value.clone(),
                    None => return Value::None,
                };
                let grown = match (&receiver, self.frame.loops.is_empty(), name) {
                    (Value::List(items), true, "append") if !self.frame.conditional => {
                        let item = Item {
                            value: added,
                            span: call.args.first().map_or(call.span, |arg| self.value_span(call.code, arg.value)),
                        };
                        Value::List(Rc::new(items.iter().cloned().chain([item]).collect()))
                    }
                    _ => {
                        let element = match self.element(&receiver) {
                            Some(element) => self.merge(element, added),
                            None => added,
                        };
                        Value::Many(Rc::new(element))
                    }
                };
                self.assign(call.code, object, grown);
                Value::None
            }
            (Value::List(_), "pop") => {
                self.assign(call.code, object, Value::Unknown);
                Value::Unknown
            }
            (Value::Dict(entries), "items") => {
                let item = |value| Item { value, span: Span::default() };
                if entries.iter().all(|entry| entry.value.value.is_scalar()) {
                    let pair = Value::Tuple(Rc::new(vec![
                        item(Value::TurnKey(entries.clone())),
                        item(Value::TurnItem(entries.clone())),
                    ]));
                    return Value::List(Rc::new(vec![item(pair); entries.len()]));
                }
                let pairs = entries
                    .iter()
                    .map(|entry| item(Value::Tuple(Rc::new(vec![entry.key.clone(), entry.value.clone()]))));
                Value::List(Rc::new(pairs.collect()))
            }
            (Value::Dict(entries), "keys") => {
                Value::List(Rc::new(entries.iter().map(|entry| entry.key.clone()).collect()))
            }
            (Value::Dict(entries), "values") => {
                Value::List(Rc::new(entries.iter().map(|entry| entry.value.clone()).collect()))
            }
            (Value::Dict(entries), "get" | "pop") => match call.values.first() {
                Some(key) => entries
                    .iter()
                    .rev()
                    .find(|entry| entry.key.value.same(key))
                    .map_or(Value::Unknown, |entry| entry.value.value.clone()),
                None => Value::Unknown,
            },
            (receiver @ Value::Dict(_), "copy") => receiver,
            (Value::Dict(entries), "update") => {
                let updated = match call.values.first() {
                    Some(Value::Dict(other)) if entries.len() + other.len() <= MAX_ITEMS => {
                        Value::Dict(Rc::new(entries.iter().chain(other.iter()).cloned().collect()))
                    }
                    _ => Value::Unknown,
                };
                self.assign(call.code, object, updated);
                Value::None
            }
            (Value::Many(element), "values") => Value::Many(element),
            (Value::Many(element), "items") => {
                let item = |value| Item { value, span: Span::default() };
                let pair = Value::Tuple(Rc::new(vec![item(Value::Unknown), item((*element).clone())]));
                Value::Many(Rc::new(pair))
            }
            (Value::Many(element), "get" | "pop") => (*element).clone(),
            (receiver @ Value::List(_), "copy") => receiver,
            _ => Value::Unknown,
        }
    }
}

/// Readers of pandas for what Spark reads as well.
const READS: [&str; 8] =
    ["read_csv", "read_table", "read_parquet", "read_orc", "read_json", "read_sql", "read_sql_query", "read_sql_table"];

/// Methods of texts whose result the file tells in part.
fn text_method<'a>(receiver: &Value<'a>, name: &str, call: &Call<'a>) -> Value<'a> {
    match (receiver, name) {
        (Value::Text(text), "strip") if call.values.is_empty() => {
            let start = text.text.len() - text.text.trim_start().len();
            Value::Text(Rc::new(text.slice(start..start + text.text.trim().len())))
        }
        (Value::Text(text), "lower") => Value::text(text.text.to_lowercase(), None),
        (Value::Text(text), "upper") => Value::text(text.text.to_uppercase(), None),
        (Value::Text(text), "format") => {
            let mut composed = Composed::default();
            let mut at = 0;
            for (index, part) in text.text.split('{').enumerate() {
                let end = at + part.len();
                let start = match part.find('}') {
                    _ if index == 0 => at,
                    Some(close) => at + close + 1,
                    None => end,
                };
                if index > 0 {
                    let place = text.slice(at - 1..start).place();
                    match formatted(part, index - 1, call) {
                        Some(value) => composed.value_hole(value, place),
                        None => composed.hole(place),
                    }
                }
                if start < end {
                    composed.value(&Value::Text(Rc::new(text.slice(start..end))), None);
                }
                at = end + 1;
            }
            composed.into_value()
        }
        (Value::Text(_) | Value::Template(_), "join") => {
            Value::Template(Rc::new(Template::of_rows(call.values.first().and_then(Value::rows))))
        }
        (Value::Text(_) | Value::Template(_), "format" | "strip" | "replace" | "lower" | "upper") => {
            Value::Template(Rc::new(vec![None].into()))
        }
        _ => Value::Unknown,
    }
}

/// The argument of `format` that stands for a hole: `{}` by its number, `{name}` by its keyword.
fn formatted<'c, 'a>(hole: &str, number: usize, call: &'c Call<'a>) -> Option<&'c Value<'a>> {
    match hole.split(['}', ':', '!']).next()? {
        "" => call.args.get(number).filter(|arg| arg.name == ArgName::Positional).and(call.values.get(number)),
        name => call.keyword(name).map(|(_, value)| value),
    }
}
