//! Functions and classes of the file: calls with arguments, and readings without a caller.

use std::rc::Rc;

use super::arguments::Arguments;
use super::call::Call;
use super::{CALLS, Flow, Interpreter, Usage};
use crate::pyspark::api::{self, Class};
use crate::pyspark::ir::{Expr, Function, FunctionId, Param, ParamKind};
use crate::pyspark::plan::NodeId;
use crate::pyspark::value::{Closure, Code, EnvId, Item, Object, UserClass, Value};
use crate::text::Span;

/// A function with the arguments that decide what it does.
pub(super) type CallKey = (u32, FunctionId, Vec<ArgKey>);

/// An argument, as far as equal ones are certainly equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ArgKey {
    Missing,
    Unknown,
    Frame(NodeId),
    Object(u8),
    Text(String),
    Integer(i64),
    Bool(bool),
    None,
}

/// Whether a decorator leaves the function's result as it is.
pub(super) fn keeps_result(decorator: &str) -> bool {
    let name = decorator.split('(').next().unwrap_or(decorator);
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(
        last,
        "staticmethod"
            | "classmethod"
            | "property"
            | "cached_property"
            | "wraps"
            | "lru_cache"
            | "cache"
            | "override"
            | "retry"
            | "timed"
            | "timer"
            | "log"
            | "fixture"
            | "abstractmethod"
            | "task"
            | "final"
            | "typechecked"
            | "contextmanager"
            | "memoize"
            | "cached"
            | "flow"
            | "step"
            | "asset"
            | "op"
            | "table"
            | "view"
            | "materialized_view"
            | "temporary_view"
            | "expect"
            | "expect_all"
            | "expect_or_drop"
            | "expect_or_fail"
            | "expect_all_or_drop"
            | "expect_all_or_fail"
    )
}

impl<'a> Interpreter<'a> {
    /// The parameters of a call with the object that the method is bound to, and which comes first behind it.
    pub(super) fn slots(&self, closure: &Closure<'a>) -> (Vec<Option<Value<'a>>>, usize) {
        let function = closure.code.top.function(closure.function);
        let mut bound: Vec<Option<Value<'a>>> = vec![None; function.params.len()];
        if let (Some(this), Some(first)) = (&closure.this, bound.first_mut())
            && !is_static(closure.code, function)
        {
            *first = Some(this.clone());
            return (bound, 1);
        }
        (bound, 0)
    }

    /// Calls something with plain positional values.
    pub(super) fn apply_value(&mut self, callee: &Value<'a>, values: Vec<Value<'a>>, call: &Call<'a>) -> Value<'a> {
        let positional = values.into_iter().map(|value| Item { value, span: call.span }).collect();
        self.apply(callee, Arguments { positional, ..Arguments::default() }, call)
    }

    /// Runs a method without arguments.
    pub(super) fn call_plain(&mut self, closure: &Closure<'a>) -> Value<'a> {
        let (values, _) = self.slots(closure);
        self.run(closure, values, Missing::Default, self.frame.statement)
    }

    /// Runs a function; `call` is the place in the interpreted file, if one calls it there.
    pub(super) fn run(
        &mut self,
        closure: &Closure<'a>,
        bound: Vec<Option<Value<'a>>>,
        missing: Missing,
        call: Span,
    ) -> Value<'a> {
        if !self.is_heard(closure, &bound) {
            return self.returned(closure.code, closure.code.top.function(closure.function), Value::Unknown);
        }
        let led_here = self.files.call;
        if self.files.at_home() {
            self.files.call = call;
            self.local_call(closure, call);
        }
        let before = self.go_to(closure.code.file);
        let value = self.run_here(closure, bound, missing);
        self.go_to(before);
        self.files.call = led_here;
        if self.files.at_home() && matches!(value, Value::Frame(_) | Value::Object(Object::Session)) {
            self.plan.uses.is_spark = true;
        }
        value
    }

    fn run_here(&mut self, closure: &Closure<'a>, bound: Vec<Option<Value<'a>>>, missing: Missing) -> Value<'a> {
        let (code, id) = (closure.code, closure.function);
        let function = code.top.function(id);
        let key = self.key(closure, &bound);
        if let Some(known) = key.as_ref().and_then(|key| self.memo.get(key)) {
            return known.clone();
        }
        let is_running = self.calls.contains(&(code.base, id));
        if is_running || self.calls.len() >= CALLS || self.is_spent() {
            return self.returned(code, function, Value::Unknown);
        }
        self.read.insert((code.base, id));
        let scope = self.scope_of(code, id);
        let env = self.new_call_env(closure.env);
        // Defaults see the names around the function, not those of its caller.
        let caller = std::mem::replace(&mut self.frame.env, closure.env);
        self.bind_params(code, function, env, bound, missing);
        self.frame.env = caller;
        self.calls.push((code.base, id));
        let outer = self.enter(env, scope);
        if function.value.is_some() {
            self.stay(&outer, code.span(function.span));
        }
        let value = match function.value {
            Some(value) => self.eval(code, value, Usage::Returned),
            None => {
                let flow = self.block(code, &function.body);
                let returns = std::mem::take(&mut self.frame.returns);
                let yields = std::mem::take(&mut self.frame.yields);
                if yields.is_empty() {
                    self.joined_returns(returns, flow == Flow::Next)
                } else {
                    let element = self.any_of(yields);
                    let is_context = has_decorator(code, function, "contextmanager");
                    if is_context { element } else { Value::Many(Rc::new(element)) }
                }
            }
        };
        self.frame = outer;
        self.calls.pop();
        let value = self.returned(code, function, value);
        if let Some(key) = key {
            self.memo.insert(key, value.clone());
        }
        value
    }

    fn joined_returns(&mut self, returns: Vec<Value<'a>>, falls_through: bool) -> Value<'a> {
        let mut returns = returns.into_iter();
        let Some(first) = returns.next() else { return if falls_through { Value::None } else { Value::Unknown } };
        let value = returns.fold(first, |all, value| self.merge(all, value));
        if falls_through { self.merge(value, Value::None) } else { value }
    }

    /// What a call returns: what its body tells, else what its annotation says.
    fn returned(&mut self, code: Code<'a>, function: &'a Function, value: Value<'a>) -> Value<'a> {
        match (&value, function.returns) {
            (Value::Unknown, Some(annotation)) => self.annotated(self.str(code, annotation)),
            _ => value,
        }
    }

    fn key(&self, closure: &Closure<'a>, bound: &[Option<Value<'a>>]) -> Option<CallKey> {
        // A function in a function sees other names each time.
        if closure.env != self.files.env(closure.code) {
            return None;
        }
        let mut args = Vec::with_capacity(bound.len());
        for value in bound {
            args.push(match value {
                None => ArgKey::Missing,
                Some(Value::Unknown | Value::Foreign | Value::Pandas(_)) => ArgKey::Unknown,
                Some(Value::Frame(node)) => ArgKey::Frame(*node),
                Some(Value::Object(Object::Session)) => ArgKey::Object(0),
                Some(Value::Object(Object::Context)) => ArgKey::Object(1),
                Some(Value::Text(text)) => ArgKey::Text(text.text.clone()),
                Some(Value::Integer(number)) => ArgKey::Integer(*number),
                Some(Value::Bool(truth)) => ArgKey::Bool(*truth),
                Some(Value::None) => ArgKey::None,
                Some(Value::Tuple(items)) if items.is_empty() => ArgKey::Missing,
                Some(Value::Dict(entries)) if entries.is_empty() => ArgKey::Missing,
                // Objects change, collections are large.
                Some(_) => return None,
            });
        }
        Some((closure.code.base, closure.function, args))
    }

    fn bind_params(
        &mut self,
        code: Code<'a>,
        function: &'a Function,
        env: EnvId,
        bound: Vec<Option<Value<'a>>>,
        missing: Missing,
    ) {
        for (param, value) in function.params.iter().zip(bound) {
            let name = self.str(code, param.name);
            let value = match (value, param.kind) {
                (Some(Value::Unknown), _) => self.param(code, function, param),
                (Some(value), _) => value,
                (None, ParamKind::Star) => Value::Many(Rc::new(Value::Unknown)),
                (None, ParamKind::DoubleStar) => Value::Unknown,
                (None, _) => match (param.default, missing) {
                    (Some(default), Missing::Default) => self.eval(code, default, Usage::Used),
                    _ => self.param(code, function, param),
                },
            };
            self.set(env, name, Some(value));
        }
    }

    /// What a parameter is without a caller: by its annotation, else by name and use together.
    pub(super) fn param(&mut self, code: Code<'a>, function: &'a Function, param: &'a Param) -> Value<'a> {
        if let Some(annotation) = param.annotation {
            return self.annotated(self.str(code, annotation));
        }
        let name = self.str(code, param.name);
        let uses = self.uses(code, function, name);
        let used = |test: fn(&str) -> bool| uses.iter().any(|name| test(name));
        let session_name = matches!(name, "spark" | "spark_session" | "sparkSession" | "session" | "ss" | "_spark");
        if session_name {
            let is_session = used(api::is_session_name) && uses.iter().all(|name| api::is_session_name(name));
            let proven = name.contains("spark") || self.plan.uses.is_spark && !self.has_snowpark;
            if is_session && proven {
                self.plan.uses.is_spark = true;
                self.plan.uses.session.get_or_insert_with(|| name.to_owned());
                return Value::Object(Object::Session);
            }
            return Value::Unknown;
        }
        if matches!(name, "sc" | "spark_context" | "sparkContext") && self.plan.uses.is_spark {
            return Value::Object(Object::Context);
        }
        if used(api::is_foreign_frame) || self.has_snowpark {
            return Value::Unknown;
        }
        let strong = used(api::is_distinctive) && self.plan.uses.is_spark;
        if (super::by_use::names_frame(name) && used(api::is_frame_only)) || strong {
            return Value::Frame(self.given());
        }
        Value::Unknown
    }

    /// The attributes that a function's body takes from a name.
    fn uses(&self, code: Code<'a>, function: &'a Function, name: &str) -> Vec<&'a str> {
        let range = function.exprs.0 as usize..function.exprs.1 as usize;
        let of_name = |node: &'a crate::pyspark::ir::ExprNode| match &node.expr {
            Expr::Attribute { object, name: attribute, .. } if code.top.expr(*object).expr == Expr::Name => {
                (self.source_of(code, *object) == name).then(|| self.str(code, *attribute))
            }
            _ => None,
        };
        code.top.exprs.get(range).unwrap_or_default().iter().filter_map(of_name).collect()
    }

    /// The value that an annotation promises.
    pub(super) fn annotated(&mut self, annotation: &'a str) -> Value<'a> {
        let text = annotation.trim().trim_matches(['"', '\'']);
        let inner = |prefix: &str| text.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(']'));
        if let Some(inner) = inner("Optional[").or_else(|| inner("typing.Optional[")) {
            return self.annotated(inner);
        }
        for list in ["List[", "list[", "Sequence[", "Iterable[", "typing.List[", "Iterator["] {
            if let Some(inner) = inner(list) {
                return Value::Many(Rc::new(self.annotated(inner)));
            }
        }
        let name = text.split('|').map(str::trim).find(|part| *part != "None").unwrap_or(text);
        let (root, rest) = name.split_once('.').map_or((name, None), |(root, rest)| (root, Some(rest)));
        let root_value = self.lookup(root).map(|value| self.imported(value));
        let class = match (root_value, rest) {
            (Some(Value::Class(class)), None) => Some(class),
            (Some(Value::UserClass(class)), None) => return self.instance_of(&class),
            (Some(Value::Module(path)), Some(rest)) => {
                let (path, last) = match rest.rsplit_once('.') {
                    Some((middle, last)) => (format!("{path}.{middle}"), last),
                    None => (path.to_string(), rest),
                };
                match self.member(&path, last) {
                    Value::Class(class) => Some(class),
                    _ => None,
                }
            }
            (Some(Value::Foreign), _) => return Value::Foreign,
            (None | Some(Value::Unknown), None) if self.plan.uses.is_spark && !self.has_snowpark => {
                Class::named(root).filter(|class| matches!(class, Class::DataFrame | Class::SparkSession))
            }
            _ => None,
        };
        class.map_or(Value::Unknown, |class| self.object_of_class(class))
    }

    /// An object of a class of PySpark.
    fn object_of_class(&mut self, class: Class) -> Value<'a> {
        match class {
            Class::DataFrame => Value::Frame(self.given()),
            Class::Rdd => Value::Rdd(self.given()),
            Class::SparkSession => Value::Object(Object::Session),
            Class::SparkContext => Value::Object(Object::Context),
            Class::SparkConf => Value::Object(Object::Conf),
            Class::SqlContext => Value::Object(Object::SqlContext),
            Class::Builder => Value::Object(Object::Builder),
            Class::Column => Value::Column(Rc::default()),
            Class::GroupedData => {
                let input = self.given();
                Value::Grouped(Rc::new(crate::pyspark::value::Grouped {
                    input,
                    keys: vec![None],
                    pivot: None,
                    other: None,
                }))
            }
            _ => Value::Unknown,
        }
    }

    /// Reads the functions that nothing called, from one of those that were met on.
    pub(super) fn read_uncalled_from(&mut self, first: usize) {
        let mut next = first;
        while let Some((closure, scope, owner)) = self.defined.get(next) {
            next += 1;
            let closure = Closure { code: closure.code, function: closure.function, env: closure.env, this: None };
            let (scope, owner) = (*scope, owner.clone());
            let function = closure.code.top.function(closure.function);
            if self.read.contains(&(closure.code.base, closure.function)) {
                continue;
            }
            // Each has a share of its own, however much the others took.
            let size = (function.exprs.1 - function.exprs.0) as usize;
            self.budget = self.budget.max(self.steps + 200 + 12 * size);
            let this = owner.map(|class| self.instance_of(&class));
            let closure = Closure { this, ..closure };
            let (bound, _) = self.slots(&closure);
            let frame = self.enter(closure.env, scope);
            // It may run at any time, or never: what it does to objects and globals is one possibility.
            self.begin();
            self.run(&closure, bound, Missing::Guess, self.frame.statement);
            let changes = self.rollback();
            self.join(vec![(Flow::Next, changes), (Flow::Next, Vec::new())]);
            self.frame = frame;
        }
    }

    /// An object of a class of the file: one that was made in it, or one made of guessed arguments.
    fn instance_of(&mut self, class: &Rc<UserClass<'a>>) -> Value<'a> {
        match self.instances.get(&class.env) {
            Some(instance) => instance.clone(),
            None => self.instantiate(class, None, self.frame.statement),
        }
    }

    /// An object of a class of the files, made of these arguments, or of guessed ones.
    pub(super) fn instantiate(
        &mut self,
        class: &Rc<UserClass<'a>>,
        arguments: Option<Arguments<'a>>,
        call: Span,
    ) -> Value<'a> {
        let env = self.new_env(None);
        let instance = Value::Instance(class.clone(), env);
        self.instances.entry(class.env).or_insert_with(|| instance.clone());
        self.classes.insert(env, class.clone());
        match (self.class_member(class, "__init__"), arguments) {
            (Some(Value::Closure(init)), arguments) => {
                let bound =
                    Closure { code: init.code, function: init.function, env: init.env, this: Some(instance.clone()) };
                let (values, missing) = match arguments {
                    Some(arguments) => self.bind_arguments(&bound, arguments),
                    None => (self.slots(&bound).0, Missing::Guess),
                };
                self.run(&bound, values, missing, call);
            }
            (_, Some(arguments)) => self.take_fields(class, env, arguments),
            _ => {}
        }
        instance
    }

    /// What a dataclass does with its arguments.
    fn take_fields(&mut self, class: &Rc<UserClass<'a>>, env: EnvId, arguments: Arguments<'a>) {
        let mut fields: Vec<&'a str> = Vec::new();
        for class in self.with_bases(class).iter().rev() {
            for (name, _) in &class.fields {
                if !fields.contains(name) {
                    fields.push(name);
                }
            }
        }
        for (name, item) in fields.iter().zip(arguments.positional) {
            self.set(env, name, Some(item.value));
        }
        for named in arguments.named {
            if let Some(name) = fields.iter().find(|field| **field == &*named.name) {
                self.set(env, name, Some(named.item.value));
            }
        }
    }

    /// A class and its bases, nearest first.
    fn with_bases(&self, class: &Rc<UserClass<'a>>) -> Vec<Rc<UserClass<'a>>> {
        let mut all: Vec<Rc<UserClass<'a>>> = Vec::new();
        let mut next = vec![class.clone()];
        while let Some(class) = next.pop().filter(|_| all.len() < 16) {
            let bases = class.bases.iter().rev();
            next.extend(
                bases.filter_map(|base| if let Value::UserClass(base) = base { Some(base.clone()) } else { None }),
            );
            all.push(class);
        }
        all
    }

    /// An object as a method gets it: of its own class, also where `super()` looks a base's method up.
    pub(super) fn as_itself(&self, class: &Rc<UserClass<'a>>, env: EnvId) -> Value<'a> {
        Value::Instance(self.classes.get(&env).unwrap_or(class).clone(), env)
    }

    /// A method taken from its class: a class method gets the class.
    pub(super) fn of_class(&self, class: &Rc<UserClass<'a>>, method: &Closure<'a>) -> Closure<'a> {
        let function = method.code.top.function(method.function);
        let is_class_method = has_decorator(method.code, function, "classmethod");
        let this = is_class_method.then(|| Value::UserClass(class.clone()));
        Closure { code: method.code, function: method.function, env: method.env, this }
    }

    /// A name of a class of the file or of its bases in the file.
    pub(super) fn class_member(&self, class: &Rc<UserClass<'a>>, name: &str) -> Option<Value<'a>> {
        if let Some(value) = self.own(class.env, name) {
            return Some(value);
        }
        if class.bases.is_empty() {
            return None;
        }
        self.with_bases(class).iter().skip(1).find_map(|class| self.own(class.env, name))
    }

    pub(super) fn instance_method(
        &mut self,
        class: &Rc<UserClass<'a>>,
        env: EnvId,
        name: &str,
        call: Call<'a>,
    ) -> Value<'a> {
        if let Some(value) = self.own(env, name) {
            return self.call_value(value, call);
        }
        match self.class_member(class, name) {
            Some(Value::Closure(method)) => {
                let this = Some(self.as_itself(class, env));
                let bound = Closure { code: method.code, function: method.function, env: method.env, this };
                self.call_value(Value::Closure(Rc::new(bound)), call)
            }
            Some(member) => self.call_value(member, call),
            None => Value::Unknown,
        }
    }

    /// An attribute of an object of the file; properties are run.
    pub(super) fn instance_attribute(&mut self, class: &Rc<UserClass<'a>>, env: EnvId, name: &str) -> Value<'a> {
        if let Some(value) = self.own(env, name) {
            return value;
        }
        match self.class_member(class, name) {
            Some(Value::Closure(method)) => {
                let function = method.code.top.function(method.function);
                let this = Some(self.as_itself(class, env));
                let bound = Closure { code: method.code, function: method.function, env: method.env, this };
                if has_decorator(method.code, function, "property") {
                    return self.call_plain(&bound);
                }
                Value::Closure(Rc::new(bound))
            }
            Some(value) => value,
            None => {
                let classes = self.with_bases(class);
                let field = classes.iter().flat_map(|class| &class.fields).find(|(field, _)| *field == name);
                field.copied().map_or(Value::Unknown, |(_, annotation)| self.annotated(annotation))
            }
        }
    }
}

/// What a parameter without an argument holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Default,
    Guess,
}

fn has_decorator(code: Code<'_>, function: &Function, wanted: &str) -> bool {
    function.decorators.iter().any(|id| code.str(code.top.expr(*id).span).ends_with(wanted))
}

fn is_static(code: Code<'_>, function: &Function) -> bool {
    has_decorator(code, function, "staticmethod")
}
