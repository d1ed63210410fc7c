//! Expressions.

use std::rc::Rc;

use smallvec::SmallVec;

use super::call::Call;
use super::composed::Composed;
use super::{DEPTH, Interpreter, Usage, column};
use crate::pyspark::ir::{Expr, ExprId, Operator, Pair};
use crate::pyspark::plan::NodeId;
use crate::pyspark::strings;
use crate::pyspark::value::{Closure, Code, Column, Entry, Item, Object, Relation, SparkVersionValue, Value};
use crate::text::Span;

/// Lists that are added are known up to this many elements, so that lists in lists can't multiply further.
pub(super) const MAX_ITEMS: usize = 1 << 14;

impl<'a> Interpreter<'a> {
    /// The value of an expression; runs what it does.
    pub(super) fn eval(&mut self, code: Code<'a>, id: ExprId, usage: Usage<'a>) -> Value<'a> {
        if self.depth >= DEPTH || !self.step() {
            return Value::Unknown;
        }
        self.depth += 1;
        let value = self.chain(code, id, usage);
        self.depth -= 1;
        value
    }

    /// A chain from its first operand on, without a call on the stack for each level.
    fn chain(&mut self, code: Code<'a>, id: ExprId, usage: Usage<'a>) -> Value<'a> {
        let mut levels: SmallVec<[ExprId; 8]> = SmallVec::new();
        let mut first = id;
        loop {
            let next = match &code.top.expr(first).expr {
                Expr::Call { function, .. } => match &code.top.expr(*function).expr {
                    Expr::Attribute { object, .. } => *object,
                    _ => *function,
                },
                Expr::Attribute { object, .. } | Expr::Subscript { object, .. } => *object,
                Expr::Binary { left, .. } | Expr::Either(left, _) => *left,
                Expr::Await(inner) => *inner,
                _ => break,
            };
            levels.push(first);
            first = next;
        }
        let alone = levels.is_empty();
        let mut value = self.leaf(code, first, if alone { usage } else { Usage::Used });
        while let Some(level) = levels.pop() {
            let usage = match levels.last().map(|outer| &code.top.expr(*outer).expr) {
                None => usage,
                Some(Expr::Subscript { .. }) => Usage::Indexed,
                Some(Expr::Await(_)) if levels.len() == 1 => usage,
                Some(_) => Usage::Used,
            };
            value = self.level(code, level, value, usage);
        }
        value
    }

    fn level(&mut self, code: Code<'a>, id: ExprId, value: Value<'a>, usage: Usage<'a>) -> Value<'a> {
        match &code.top.expr(id).expr {
            Expr::Call { function, .. } => {
                if !self.step() {
                    return Value::Unknown;
                }
                let call = Call::new(self, code, id, usage);
                self.note_delete(&call);
                let handed = frames_in(&call.values);
                let version = Self::version_of_call(&call.values);
                let is_told = tells_use(&value);
                let of_class = matches!(value, Value::Instance(..) | Value::UserClass(_));
                let result = match &code.top.expr(*function).expr {
                    Expr::Attribute { object, name, .. } => {
                        let name = self.str(code, *name);
                        self.call_method(value, name, *object, call)
                    }
                    _ => self.call_value(value, call),
                };
                if !is_told || of_class && matches!(result, Value::Unknown) {
                    self.plan.escapes.extend(handed);
                }
                match (result, version) {
                    (Value::Unknown | Value::Foreign | Value::Template(_), Some(version)) => version,
                    (result, _) => result,
                }
            }
            Expr::Attribute { object, name, .. } => {
                let name = self.str(code, *name);
                self.attribute(code, id, value, name, *object)
            }
            Expr::Subscript { index, .. } => self.subscript(code, id, value, index),
            Expr::Binary { operator, right, .. } => {
                let span = self.span_of(code, *right);
                let right = self.eval(code, *right, Usage::Used);
                self.binary(*operator, value, right, span)
            }
            Expr::Either(_, right) => {
                let conditional = std::mem::replace(&mut self.frame.conditional, true);
                let right = self.eval(code, *right, Usage::Used);
                self.frame.conditional = conditional;
                self.check_either(code, id, &value, &right);
                let is_and = self.is_and(code, id);
                self.either_version(is_and, &value, &right).unwrap_or_else(|| self.merge(value, right))
            }
            _ => value,
        }
    }

    fn leaf(&mut self, code: Code<'a>, id: ExprId, usage: Usage<'a>) -> Value<'a> {
        let node = code.top.expr(id);
        let source = || code.str(node.span);
        match &node.expr {
            Expr::Name => {
                let name = source();
                match self.lookup(name) {
                    Some(value) => {
                        let value = self.imported(value);
                        self.uses_result(&value, code.span(node.span));
                        match value {
                            Value::Unknown => self.named_version(name).unwrap_or(Value::Unknown),
                            value => value,
                        }
                    }
                    None => self.named_version(name).unwrap_or_else(|| self.free(name)),
                }
            }
            Expr::Text(text) => {
                let span = code.span(text.content);
                if text.bytes {
                    return Value::Unknown;
                }
                Value::literal_text(strings::decode(code.str(text.content), *text), span, text.raw, text.format)
            }
            Expr::Template(parts) => self.template(code, parts),
            Expr::Integer => strings::integer(source()).map_or(Value::Unknown, Value::Integer),
            Expr::Float => source().replace('_', "").parse().map_or(Value::Unknown, Value::Float),
            Expr::True => Value::Bool(true),
            Expr::False => Value::Bool(false),
            Expr::None => Value::None,
            Expr::List(items) => self.sequence(code, items, false),
            Expr::Tuple(items) => self.sequence(code, items, true),
            Expr::Dict(pairs) => self.dict(code, pairs),
            Expr::Compare { equality, operands } => {
                let values: Vec<Value<'a>> =
                    operands.iter().map(|operand| self.eval(code, *operand, Usage::Used)).collect();
                self.check_comparison(code, id, operands, &values);
                if let Some(test) = self.version_comparison(code, operands, &values) {
                    return test;
                }
                // `is` and `in` give a truth value, whatever they compare.
                if self.gives_truth(code, operands) {
                    return Value::Unknown;
                }
                let spans: SmallVec<[Span; 2]> = operands.iter().map(|id| self.span_of(code, *id)).collect();
                let span = self.span_of(code, id);
                column::compare(column::Comparison { equality: *equality, span, spans: &spans }, &values)
            }
            Expr::Not(operand) => {
                let value = self.eval(code, *operand, Usage::Used);
                self.check_not(code, id, *operand, &value);
                match value {
                    Value::Version(version) => {
                        let (then, otherwise) = version.branches();
                        Value::Version(SparkVersionValue::Test(Rc::new((otherwise, then))))
                    }
                    _ => Value::Unknown,
                }
            }
            Expr::Unary { minus, operand } => match self.eval(code, *operand, Usage::Used) {
                Value::Integer(number) if *minus => Value::Integer(number.saturating_neg()),
                Value::Float(number) if *minus => Value::Float(-number),
                Value::Column(column) => {
                    Value::Column(Rc::new(Column { name: None, relation: Relation::Unknown, ..(*column).clone() }))
                }
                _ => Value::Unknown,
            },
            Expr::Conditional { test, then, otherwise } => {
                let truth = self.eval(code, *test, Usage::Used);
                self.check_condition(code, *test, &truth);
                if let Value::Version(version) = &truth {
                    let branches = version.branches();
                    self.note_version_span(self.span_of(code, *then), &branches.0);
                    self.note_version_span(self.span_of(code, *otherwise), &branches.1);
                }
                let holds = self.tests_none(code, *test);
                let conditional = std::mem::replace(&mut self.frame.conditional, true);
                let doubted = self.doubt(code, *test);
                let then = self.eval(code, *then, usage);
                self.believe(doubted);
                let otherwise = self.eval(code, *otherwise, usage);
                self.frame.conditional = conditional;
                match holds {
                    Some(true) => then,
                    Some(false) => otherwise,
                    None => self.merge(then, otherwise),
                }
            }
            Expr::Lambda(function) => {
                if code.is_home() && self.lambdas.insert((code.base, *function)) {
                    let closure = Closure { code, function: *function, env: self.frame.env, this: None };
                    self.defined.push((closure, self.frame.scope, None));
                }
                Value::Closure(Rc::new(Closure { code, function: *function, env: self.frame.env, this: None }))
            }
            Expr::Walrus { name, value } => {
                let name = code.span(*name);
                let value = self.eval(code, *value, Usage::Bound(self.text_at(name)));
                self.assign_name(name, value.clone());
                value
            }
            Expr::Comprehension(parts) => self.comprehension(code, id, parts),
            Expr::Splat(inner) => self.eval(code, *inner, Usage::Used),
            Expr::Yield(value, delegates) => {
                let value = value.map_or(Value::None, |value| self.eval(code, value, Usage::Returned));
                let value = if *delegates { self.element(&value).unwrap_or(Value::Unknown) } else { value };
                self.frame.yields.push(value);
                Value::Unknown
            }
            Expr::Unknown(parts) => {
                for part in parts {
                    let value = self.eval(code, *part, Usage::Used);
                    self.escape(&value);
                }
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    /// Notes that a frame goes where the file doesn't tell what is done with it.
    pub(super) fn escape(&mut self, value: &Value<'a>) {
        self.plan.escapes.extend(frame_of(value));
    }

    /// A name that nothing in the file binds: a built-in, or what shells and notebooks provide.
    fn free(&mut self, name: &'a str) -> Value<'a> {
        match name {
            "spark" => {
                self.plan.uses.session.get_or_insert_with(|| name.to_owned());
                self.plan.uses.is_spark = true;
                Value::Object(Object::Session)
            }
            "sc" if self.plan.uses.is_spark => Value::Object(Object::Context),
            "sqlContext" | "sqlCtx" => Value::Object(Object::SqlContext),
            _ if super::objects::is_builtin(name) => Value::Builtin(name),
            _ => Value::Unknown,
        }
    }

    fn template(&mut self, code: Code<'a>, parts: &'a [ExprId]) -> Value<'a> {
        let mut composed = Composed::default();
        for part in parts {
            let span = self.span_of(code, *part);
            // What a hole holds is written elsewhere.
            let place = match code.top.expr(*part).expr {
                Expr::Text(_) | Expr::Template(_) => None,
                _ => Some(span),
            };
            match self.eval(code, *part, Usage::Used) {
                Value::Integer(number) => composed.text(&number.to_string(), &[], place),
                value @ (Value::Text(_) | Value::Template(_)) => composed.value(&value, place),
                value => {
                    if !matches!(code.top.expr(*part).expr, Expr::Name) {
                        self.uses_result(&value, span);
                    }
                    composed.value_hole(&value, span);
                }
            }
        }
        composed.into_value()
    }

    fn sequence(&mut self, code: Code<'a>, items: &'a [ExprId], tuple: bool) -> Value<'a> {
        let mut values = Vec::with_capacity(items.len());
        let mut open = false;
        for item in items {
            let value = self.eval(code, *item, Usage::Used);
            if let Expr::Splat(_) = code.top.expr(*item).expr {
                match value {
                    Value::List(items) | Value::Tuple(items) if values.len() + items.len() <= MAX_ITEMS => {
                        values.extend(items.iter().cloned());
                    }
                    Value::Many(element) => {
                        open = true;
                        values.push(Item { value: (*element).clone(), span: self.span_of(code, *item) });
                    }
                    _ => {
                        open = true;
                        values.push(Item { value: Value::Unknown, span: self.span_of(code, *item) });
                    }
                }
                continue;
            }
            self.escape(&value);
            values.push(Item { value, span: self.value_span(code, *item) });
        }
        let list: Value<'a> = Value::List(Rc::new(values));
        match (open, tuple, list) {
            (true, _, list) => Value::Many(Rc::new(self.element(&list).unwrap_or(Value::Unknown))),
            (false, true, Value::List(items)) => Value::Tuple(items),
            (_, _, list) => list,
        }
    }

    fn dict(&mut self, code: Code<'a>, pairs: &'a [Pair]) -> Value<'a> {
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(pairs.len());
        let mut open = false;
        for pair in pairs {
            let value = self.eval(code, pair.value, Usage::Used);
            self.escape(&value);
            let Some(key) = pair.key else {
                match value {
                    Value::Dict(inner) => entries.extend(inner.iter().cloned()),
                    _ => open = true,
                }
                continue;
            };
            let key_value = self.eval(code, key, Usage::Used);
            open |= !key_value.is_scalar();
            entries.push(Entry {
                key: Item { value: key_value, span: self.value_span(code, key) },
                value: Item { value, span: self.value_span(code, pair.value) },
                span: code.span(pair.span),
            });
        }
        if open {
            let values = entries.into_iter().map(|entry| entry.value).collect::<Vec<_>>();
            let element = self.element(&Value::List(Rc::new(values)));
            return Value::Many(Rc::new(element.unwrap_or(Value::Unknown)));
        }
        Value::Dict(Rc::new(entries))
    }

    /// Where a value is written: inside the quotes, if it is a string.
    pub(super) fn value_span(&self, code: Code<'a>, id: ExprId) -> Span {
        let node = code.top.expr(id);
        match &node.expr {
            Expr::Text(text) => code.span(text.content),
            Expr::Template(parts) => match (parts.first(), parts.last(), parts.len()) {
                // Adjacent literals have no common inside; an f-string's is between its quotes.
                (Some(_), Some(_), _) if is_one_literal(code.str(node.span)) => {
                    strings::inside(code.span(node.span), code.str(node.span))
                }
                _ => code.span(node.span),
            },
            _ => code.span(node.span),
        }
    }

    fn subscript(&mut self, code: Code<'a>, id: ExprId, value: Value<'a>, index: &'a [ExprId]) -> Value<'a> {
        let keys: Vec<Value<'a>> = index.iter().map(|index| self.eval(code, *index, Usage::Used)).collect();
        let key = match &keys[..] {
            [key] => key.clone(),
            _ => Value::Unknown,
        };
        let slice = index.iter().any(|index| matches!(code.top.expr(*index).expr, Expr::Slice));
        match (value, key) {
            (Value::Frame(frame), key) => self.frame_item(code, id, frame, &key),
            (Value::Dict(entries), key) => match entries.iter().rev().find(|entry| entry.key.value.same(&key)) {
                Some(entry) => entry.value.value.clone(),
                None => {
                    let values = entries.iter().map(|entry| entry.value.clone()).collect();
                    self.element(&Value::List(Rc::new(values))).filter(|_| !key.is_scalar()).unwrap_or(Value::Unknown)
                }
            },
            (Value::List(items) | Value::Tuple(items), Value::Integer(at)) => {
                let at = if at < 0 { at + items.len() as i64 } else { at };
                usize::try_from(at).ok().and_then(|at| items.get(at)).map_or(Value::Unknown, |item| item.value.clone())
            }
            (collection @ (Value::List(_) | Value::Tuple(_)), _) => {
                let element = self.element(&collection).unwrap_or(Value::Unknown);
                if slice { Value::Many(Rc::new(element)) } else { element }
            }
            (Value::Many(element), _) => {
                if slice {
                    Value::Many(element)
                } else {
                    (*element).clone()
                }
            }
            (Value::Rows(node), _) if slice => Value::Rows(node),
            (Value::Column(_), _) => Value::Column(Rc::default()),
            (Value::Library(object), _) => self.library_attribute(object, ""),
            // `Base[Config]`.
            (class @ Value::UserClass(_), _) => class,
            (Value::Version(version), key) => self.version_item(&version, &key, slice),
            (Value::Foreign, _) => Value::Foreign,
            (Value::Pandas(of), _) => Value::Pandas(of),
            (Value::Row(node), _) => Value::Cell(node),
            (Value::Rows(node), _) => Value::Row(node),
            _ => Value::Unknown,
        }
    }

    /// `left + right` and other operators; `at` is where the right operand stands.
    pub(super) fn binary(&mut self, operator: Operator, left: Value<'a>, right: Value<'a>, at: Span) -> Value<'a> {
        match (operator, left, right) {
            (_, Value::Column(left), right) => column::combine(operator, &left, &right),
            (_, left, Value::Column(right)) => column::combine(operator, &right, &left),
            (Operator::Add, Value::List(a), Value::List(b)) if a.len() + b.len() <= MAX_ITEMS => {
                Value::List(Rc::new(a.iter().chain(b.iter()).cloned().collect()))
            }
            (Operator::Add, a @ (Value::List(_) | Value::Many(_)), b @ (Value::List(_) | Value::Many(_))) => {
                self.merge(a, b)
            }
            (Operator::Add, a @ (Value::Text(_) | Value::Template(_)), b)
            | (Operator::Add, a, b @ (Value::Text(_) | Value::Template(_))) => {
                let mut composed = Composed::default();
                composed.value(&a, None);
                composed.value_at(&b, None, at);
                composed.into_value()
            }
            (Operator::Modulo, Value::Text(_) | Value::Template(_), _) => Value::Template(Rc::new(vec![None].into())),
            (operator, Value::Integer(a), Value::Integer(b)) => match operator {
                Operator::Add => a.checked_add(b),
                Operator::Subtract => a.checked_sub(b),
                Operator::Multiply => a.checked_mul(b),
                Operator::Power => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
                _ => None,
            }
            .map_or(Value::Unknown, Value::Integer),
            (Operator::Or, Value::Dict(a), Value::Dict(b)) => Value::Dict(Rc::new(
                a.iter()
                    .filter(|entry| !b.iter().any(|other| other.key.value.same(&entry.key.value)))
                    .chain(b.iter())
                    .cloned()
                    .collect(),
            )),
            (_, Value::Foreign | Value::Pandas(_), _) => Value::Foreign,
            _ => Value::Unknown,
        }
    }
}

/// Whether a string expression is a single literal, not several side by side.
fn is_one_literal(source: &str) -> bool {
    let body = source.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let quote = &body[..body.len().min(1)];
    !quote.is_empty() && body.ends_with(quote) && source.starts_with(['f', 'F', 'r', 'R', 't', 'T'])
}

/// The frame that a value stands for.
fn frame_of(value: &Value<'_>) -> Option<NodeId> {
    match value {
        Value::Frame(node) | Value::Rdd(node) => Some(*node),
        Value::Writer(writer) => Some(writer.input),
        Value::Grouped(grouped) => Some(grouped.input),
        _ => None,
    }
}

fn frames_in(values: &[Value<'_>]) -> SmallVec<[NodeId; 2]> {
    values.iter().filter_map(frame_of).collect()
}

/// Whether the plan shows what a call of this, or of a method of it, does with a frame among its arguments.
fn tells_use(callee: &Value<'_>) -> bool {
    match callee {
        Value::Frame(_) | Value::Rdd(_) | Value::Grouped(_) | Value::Closure(_) | Value::Function(_) => true,
        Value::Class(_) | Value::Unbound(_) | Value::Builtin(_) | Value::UserClass(_) | Value::Instance(..) => true,
        Value::Module(path) => path.starts_with("pyspark.sql"),
        _ => false,
    }
}
