//! Arguments on their way to parameters, and functions with some of them given (`functools.partial`).

use std::rc::Rc;

use super::Interpreter;
use super::call::Call;
use super::functions::Missing;
use crate::pyspark::ir::{ArgName, Param, ParamKind};
use crate::pyspark::plan::LoopId;
use crate::pyspark::value::{Closure, Entry, Item, Named, Partial, Value};
use crate::text::Span;

/// More values that one name may hold than this are unknown.
const MOST_CHOICES: usize = 8;

/// The arguments of one call.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments<'a> {
    pub(super) positional: Vec<Item<'a>>,
    pub(super) named: Vec<Named<'a>>,
    /// `*values` of unknown number.
    pub(super) rest: Option<Value<'a>>,
    /// `**options` with unknown names.
    pub(super) open: bool,
}

impl<'a> Interpreter<'a> {
    /// A call's arguments with `*` and `**` unpacked as far as they are known.
    pub(super) fn arguments(&self, call: &Call<'a>) -> Arguments<'a> {
        let mut arguments = Arguments::default();
        if call.args.is_empty() {
            arguments.positional =
                call.values.iter().map(|value| Item { value: value.clone(), span: call.span }).collect();
            return arguments;
        }
        for (arg, value) in call.args.iter().zip(&call.values) {
            let item = || Item { value: value.clone(), span: self.value_span(call.code, arg.value) };
            match (arg.name, value) {
                (ArgName::Positional, _) => arguments.positional.push(item()),
                (ArgName::Keyword(name), _) => {
                    let named = Named { name: call.code.str(name).into(), key: call.code.span(name), item: item() };
                    arguments.named.push(named);
                }
                (ArgName::Star, Value::List(items) | Value::Tuple(items)) => {
                    arguments.positional.extend(items.iter().cloned());
                }
                (ArgName::Star, Value::Many(element)) => arguments.rest = Some((**element).clone()),
                (ArgName::Star, _) => arguments.rest = Some(Value::Unknown),
                (ArgName::DoubleStar, Value::Dict(entries)) => {
                    for entry in entries.iter() {
                        match entry.key.value.as_text() {
                            Some(name) => arguments.named.push(Named {
                                name: name.into(),
                                key: entry.key.span,
                                item: entry.value.clone(),
                            }),
                            None => arguments.open = true,
                        }
                    }
                }
                (ArgName::DoubleStar, _) => arguments.open = true,
            }
        }
        arguments
    }

    /// The values of a function's parameters, and what those hold that got none.
    pub(super) fn bind_arguments(
        &mut self,
        closure: &Closure<'a>,
        arguments: Arguments<'a>,
    ) -> (Vec<Option<Value<'a>>>, Missing) {
        let function = closure.code.top.function(closure.function);
        let (mut bound, mut position) = self.slots(closure);
        let mut extra = Vec::new();
        for item in arguments.positional {
            if let Some(param) = function.params.get(position).filter(|param| param.kind == ParamKind::Plain) {
                bound[position] = Some(self.of_turn(closure, param, item));
                position += 1;
            } else {
                extra.push(item);
            }
        }
        let mut options = Vec::new();
        for Named { name, key, item } in arguments.named {
            let is_named = |kind| matches!(kind, ParamKind::Plain | ParamKind::KeywordOnly);
            let index =
                function.params.iter().position(|param| is_named(param.kind) && closure.code.str(param.name) == &*name);
            match index {
                Some(index) => bound[index] = Some(self.of_turn(closure, &function.params[index], item)),
                None => options.push(Entry {
                    key: Item { value: Value::text(&*name, None), span: key },
                    span: key.cover(item.span),
                    value: item,
                }),
            }
        }
        let missing = if arguments.rest.is_some() || arguments.open { Missing::Guess } else { Missing::Default };
        for (param, slot) in function.params.iter().zip(&mut bound) {
            match (param.kind, &arguments.rest) {
                (ParamKind::Plain, Some(rest)) if slot.is_none() && param.default.is_none() => {
                    *slot = Some(rest.clone())
                }
                (ParamKind::Star, None) => *slot = Some(Value::Tuple(Rc::new(std::mem::take(&mut extra)))),
                (ParamKind::Star, Some(rest)) => {
                    let first = Item { value: rest.clone(), span: Default::default() };
                    let all = std::iter::once(first).chain(std::mem::take(&mut extra)).collect();
                    let element = self.element(&Value::List(Rc::new(all))).unwrap_or(Value::Unknown);
                    *slot = Some(Value::Many(Rc::new(element)));
                }
                (ParamKind::DoubleStar, _) if !arguments.open => {
                    *slot = Some(Value::Dict(Rc::new(std::mem::take(&mut options))));
                }
                _ => {}
            }
        }
        (bound, missing)
    }

    /// What a parameter holds of an argument that is the target of a loop around the call: a frame, if its type or its
    /// name and use say so.
    fn of_turn(&mut self, closure: &Closure<'a>, param: &'a Param, item: Item<'a>) -> Value<'a> {
        if !matches!(item.value, Value::Unknown) || !closure.code.is_home() {
            return item.value;
        }
        let name = self.text_at(item.span);
        let is_target = |id: &&LoopId| self.plan.loop_(**id).targets.iter().any(|target| target == name);
        let Some(id) = self.frame.loops.iter().rfind(is_target).copied() else { return item.value };
        let function = closure.code.top.function(closure.function);
        let caller = std::mem::replace(&mut self.frame.env, closure.env);
        let value = self.param(closure.code, function, param);
        self.frame.env = caller;
        self.turns_over(id, &value);
        if let Value::Frame(_) = value { value } else { item.value }
    }

    /// Calls what may be called with these arguments; `call` is where.
    pub(super) fn apply(&mut self, callee: &Value<'a>, arguments: Arguments<'a>, call: &Call<'a>) -> Value<'a> {
        match callee {
            Value::Closure(closure) => {
                let (bound, missing) = self.bind_arguments(closure, arguments);
                self.run(closure, bound, missing, call.span)
            }
            Value::Partial(partial) => {
                let positional = partial.positional.iter().cloned().chain(arguments.positional).collect();
                let given = |name: &str| arguments.named.iter().any(|named| &*named.name == name);
                let before = partial.named.iter().filter(|named| !given(&named.name)).cloned();
                let named = before.chain(arguments.named.iter().cloned()).collect();
                let all = Arguments { positional, named, ..arguments };
                self.apply(&partial.callee, all, call)
            }
            Value::Choice(choices) => {
                let conditional = std::mem::replace(&mut self.frame.conditional, true);
                let values: Vec<Value<'a>> =
                    choices.iter().map(|choice| self.apply(choice, arguments.clone(), call)).collect();
                self.frame.conditional = conditional;
                self.any_of(values)
            }
            Value::UserClass(class) => self.instantiate(class, Some(arguments), call.span),
            Value::Instance(class, env) => match self.class_member(class, "__call__") {
                Some(Value::Closure(method)) => {
                    let this = Some(Value::Instance(class.clone(), *env));
                    let bound = Closure { code: method.code, function: method.function, env: method.env, this };
                    self.apply(&Value::Closure(Rc::new(bound)), arguments, call)
                }
                _ => Value::Unknown,
            },
            Value::Unbound(method) => {
                let mut values: Vec<Value<'a>> = arguments.positional.into_iter().map(|item| item.value).collect();
                if values.is_empty() {
                    return Value::Unknown;
                }
                let receiver = values.remove(0);
                let inner = Call { args: &[], values, ..call.clone() };
                self.dispatch(&receiver, method, &inner).unwrap_or(Value::Unknown)
            }
            Value::Function(name) => {
                let values = arguments.positional.into_iter().map(|item| item.value).collect();
                self.call_function(name, &Call { args: &[], values, ..call.clone() })
            }
            _ => Value::Unknown,
        }
    }

    /// Calls what a decorator stands for, where no call is written.
    pub(super) fn apply_at(&mut self, callee: &Value<'a>, arguments: Arguments<'a>, site: Span) -> Value<'a> {
        match callee {
            Value::Closure(closure) => {
                let (bound, missing) = self.bind_arguments(closure, arguments);
                self.run(closure, bound, missing, site)
            }
            _ => Value::Unknown,
        }
    }

    /// Either of several values.
    pub(super) fn any_of(&mut self, values: Vec<Value<'a>>) -> Value<'a> {
        values.into_iter().reduce(|all, value| self.merge(all, value)).unwrap_or(Value::Unknown)
    }

    /// `partial(f, …)`.
    pub(super) fn partial(&mut self, call: &Call<'a>) -> Value<'a> {
        let mut arguments = self.arguments(call);
        if arguments.positional.is_empty() || arguments.rest.is_some() || arguments.open {
            return Value::Unknown;
        }
        let callee = arguments.positional.remove(0).value;
        if !is_choice(&callee) && !matches!(callee, Value::Unbound(_) | Value::Function(_)) {
            return Value::Unknown;
        }
        let Arguments { positional, named, .. } = arguments;
        Value::Partial(Rc::new(Partial { callee, positional, named }))
    }
}

/// Whether a name that may hold one of several such values is worth following: functions, classes and objects of files.
pub(super) fn is_choice(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Closure(_) | Value::UserClass(_) | Value::Instance(..) | Value::Partial(_) | Value::Choice(_)
    )
}

/// One of two functions, classes or objects.
pub(super) fn choice<'a>(a: Value<'a>, b: Value<'a>) -> Value<'a> {
    let mut all: Vec<Value<'a>> = Vec::new();
    for value in [a, b] {
        let several = if let Value::Choice(choices) = &value { choices.to_vec() } else { vec![value] };
        for value in several {
            if !all.iter().any(|known| known.same(&value)) {
                all.push(value);
            }
        }
    }
    if all.len() > MOST_CHOICES { Value::Unknown } else { Value::Choice(Rc::new(all)) }
}
