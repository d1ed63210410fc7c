//! Names: scopes, assignment, and what branches do to them.

use std::rc::Rc;

use super::{Branch, Env, Flow, Interpreter};
use crate::pyspark::ir::{Expr, ExprId};
use crate::pyspark::plan::Binding;
use crate::pyspark::value::{Code, Entry, EnvId, Item, Value};
use crate::text::Span;

/// What one branch changed.
pub(super) type Changes<'a> = Vec<(EnvId, &'a str, Option<Value<'a>>)>;

impl<'a> Interpreter<'a> {
    pub(super) fn new_env(&mut self, parent: Option<EnvId>) -> EnvId {
        self.envs.push(Env { parent, ..Env::default() });
        EnvId(self.envs.len() as u32 - 1)
    }

    /// The names of a call of a function that stands in this namespace.
    pub(super) fn new_call_env(&mut self, parent: EnvId) -> EnvId {
        self.envs.push(Env { parent: Some(parent), of_call: true, ..Env::default() });
        EnvId(self.envs.len() as u32 - 1)
    }

    /// The value of a name as the running function sees it; `None` if nothing in the file binds it.
    pub(super) fn lookup(&self, name: &str) -> Option<Value<'a>> {
        self.lookup_from(self.frame.env, name)
    }

    pub(super) fn lookup_from(&self, env: EnvId, name: &str) -> Option<Value<'a>> {
        let mut at = Some(env);
        while let Some(env) = at {
            let env = &self.envs[env.0 as usize];
            if let Some(value) = env.names.get(name) {
                return Some(value.clone().unwrap_or(Value::Unknown));
            }
            at = env.parent;
        }
        None
    }

    /// The value of a name in this namespace alone.
    pub(super) fn own(&self, env: EnvId, name: &str) -> Option<Value<'a>> {
        self.envs[env.0 as usize].names.get(name).cloned().flatten()
    }

    /// Binds a name (`None` deletes it) and remembers what it was, unless the running branch made the call that it is a
    /// name of: no other branch sees it.
    pub(super) fn set(&mut self, env: EnvId, name: &'a str, value: Option<Value<'a>>) {
        let names = &mut self.envs[env.0 as usize];
        let before = names.names.insert(name, value);
        if let Some(branch) = self.journal.last_mut()
            && !(names.of_call && env.0 >= branch.first_env)
        {
            branch.changes.push((env, name, before));
        }
    }

    /// The namespace that an assignment to a name goes to.
    pub(super) fn target_env(&self, name: &str) -> EnvId {
        let env = self.frame.env;
        let outer = &self.envs[env.0 as usize].outer;
        outer.iter().find(|(known, _)| *known == name).map_or(env, |(_, env)| *env)
    }

    /// Starts a branch: what is assigned from here on can be taken back.
    pub(super) fn begin(&mut self) {
        self.journal.push(Branch { first_env: self.envs.len() as u32, changes: Vec::new() });
    }

    /// Ends a branch: takes back what it assigned, and tells it.
    pub(super) fn rollback(&mut self) -> Changes<'a> {
        let Some(branch) = self.journal.pop() else { return Vec::new() };
        let mut changes: Changes<'a> = Vec::new();
        for (env, name, before) in branch.changes.into_iter().rev() {
            let names = &mut self.envs[env.0 as usize].names;
            let now = names.get(name).cloned();
            match before {
                Some(before) => names.insert(name, before),
                None => names.remove(name),
            };
            if !changes.iter().any(|(known_env, known, _)| *known_env == env && *known == name) {
                changes.push((env, name, now.flatten()));
            }
        }
        changes.reverse();
        changes
    }

    /// Goes on after branches of which exactly one runs: names hold what any branch that does not leave gave them.
    pub(super) fn join(&mut self, branches: Vec<(Flow, Changes<'a>)>) -> Flow {
        let live: Vec<Changes<'a>> =
            branches.into_iter().filter(|(flow, _)| *flow == Flow::Next).map(|(_, changes)| changes).collect();
        if live.is_empty() {
            return Flow::Leaves;
        }
        let mut names: Vec<(EnvId, &'a str)> = Vec::new();
        for (env, name, _) in live.iter().flatten() {
            if !names.contains(&(*env, *name)) {
                names.push((*env, *name));
            }
        }
        for (env, name) in names {
            let before = self.envs[env.0 as usize].names.get(name).cloned();
            let mut merged: Option<Value<'a>> = None;
            for branch in &live {
                let change = branch.iter().find(|(known_env, known, _)| *known_env == env && *known == name);
                let value = match change {
                    Some((_, _, value)) => value.clone(),
                    // Not bound before: the branch cannot lead to a use of the name.
                    None => before.clone().flatten(),
                };
                merged = match (merged, value) {
                    (Some(merged), Some(value)) => Some(self.merge(merged, value)),
                    (merged, value) => merged.or(value),
                };
            }
            self.set(env, name, merged);
        }
        Flow::Next
    }

    /// Assigns to a target: a name, an attribute of an object of this file, an element, or several of these.
    pub(super) fn assign(&mut self, code: Code<'a>, target: ExprId, value: Value<'a>) {
        if matches!(code.top.expr(target).expr, Expr::Attribute { .. } | Expr::Subscript { .. }) {
            self.escape(&value);
        }
        match &code.top.expr(target).expr {
            Expr::Name => {
                let span = self.span_of(code, target);
                self.assign_name(span, value);
            }
            Expr::Tuple(targets) | Expr::List(targets) => self.destructure(code, targets, value),
            Expr::Attribute { object, name, .. } => {
                let env = match self.object_of(code, *object) {
                    Value::Instance(_, env) => Some(env),
                    Value::UserClass(class) => Some(class.env),
                    _ => None,
                };
                if let Some(env) = env {
                    let span = self.span_of(code, target);
                    self.bind(self.text_at(span).to_owned(), span, &value);
                    let name = self.str(code, *name);
                    self.set(env, name, Some(value));
                }
            }
            Expr::Subscript { object, index } => self.assign_element(code, *object, index, value),
            Expr::Splat(inner) => self.assign(code, *inner, value),
            _ => {}
        }
    }

    pub(super) fn assign_name(&mut self, span: Span, value: Value<'a>) {
        let name = self.text_at(span);
        self.bind(name.to_owned(), span, &value);
        if matches!(value, Value::Object(crate::pyspark::value::Object::Session)) {
            self.plan.uses.session.get_or_insert_with(|| name.to_owned());
            if self.files.is_own(span) {
                self.plan.session_span.get_or_insert(span);
            }
        }
        let env = self.target_env(name);
        self.set(env, name, Some(value));
    }

    /// Tells that a name holds a frame from here on.
    fn bind(&mut self, name: String, span: Span, value: &Value<'a>) {
        let Value::Frame(node) = *value else { return };
        match self.bindings.get(&span).copied() {
            Some(index) => {
                let before = self.plan.bindings[index].node;
                if before != node {
                    self.plan.bindings[index].node = self.merged_node(before, node);
                }
            }
            None => {
                self.bindings.insert(span, self.plan.bindings.len());
                self.plan.bindings.push(Binding { name, span, node, scope: self.frame.scope });
            }
        }
    }

    fn destructure(&mut self, code: Code<'a>, targets: &'a [ExprId], value: Value<'a>) {
        let items = match &value {
            Value::Tuple(items) | Value::List(items) if items.len() == targets.len() => Some(items.clone()),
            _ => None,
        };
        let element = if let Value::Many(element) = &value { (**element).clone() } else { Value::Unknown };
        for (index, target) in targets.iter().enumerate() {
            let part = match &items {
                Some(items) => items[index].value.clone(),
                None if matches!(code.top.expr(*target).expr, Expr::Splat(_)) => Value::Many(element.clone().into()),
                None => element.clone(),
            };
            self.assign(code, *target, part);
        }
    }

    fn assign_element(&mut self, code: Code<'a>, object: ExprId, index: &'a [ExprId], value: Value<'a>) {
        let collection = self.object_of(code, object);
        let [index] = index else { return };
        let key = self.object_of(code, *index);
        let changed = match (collection, key) {
            (Value::Dict(entries), key @ (Value::Text(_) | Value::Integer(_))) => {
                let item = |value: Value<'a>, span: Span| Item { value, span };
                let span = self.span_of(code, *index);
                let entry = Entry {
                    key: item(key.clone(), span),
                    value: item(value, self.frame.statement),
                    span: self.frame.statement,
                };
                let mut entries = (*entries).clone();
                entries.retain(|known| !known.key.value.same(&key));
                entries.push(entry);
                Value::Dict(Rc::new(entries))
            }
            (Value::Dict(entries), _) if entries.is_empty() => Value::Many(value.into()),
            (Value::Dict(_) | Value::List(_), _) => Value::Unknown,
            _ => return,
        };
        self.assign(code, object, changed);
    }

    /// The value of a plain name, attribute or literal, without running anything.
    pub(super) fn object_of(&mut self, code: Code<'a>, id: ExprId) -> Value<'a> {
        match &code.top.expr(id).expr {
            Expr::Name => {
                let name = self.str(code, code.top.expr(id).span);
                let value = self.lookup(name).unwrap_or(Value::Unknown);
                self.imported(value)
            }
            Expr::Attribute { object, name, .. } => {
                let name = self.str(code, *name);
                match self.object_of(code, *object) {
                    Value::Instance(_, env) => self.own(env, name).unwrap_or(Value::Unknown),
                    Value::UserClass(class) => self.own(class.env, name).unwrap_or(Value::Unknown),
                    _ => Value::Unknown,
                }
            }
            Expr::Text(_) | Expr::Template(_) | Expr::Integer => self.eval(code, id, super::Usage::Used),
            _ => Value::Unknown,
        }
    }
}
