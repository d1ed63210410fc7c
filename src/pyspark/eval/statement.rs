//! Statements.

use std::rc::Rc;

use smallvec::SmallVec;

use super::{Flow, Interpreter, Usage, version};
use crate::pyspark::ir::{Case, ClassId, Expr, ExprId, FunctionId, Operator, Stmt, StmtNode};
use crate::pyspark::plan::{LoopId, ScopeId};
use crate::pyspark::value::{Closure, Code, UserClass, Value};
use crate::pyspark::versions::Versions;
use crate::text::Span;

impl<'a> Interpreter<'a> {
    pub(super) fn block(&mut self, code: Code<'a>, block: &'a [StmtNode]) -> Flow {
        for (index, node) in block.iter().enumerate() {
            let flow = self.statement(code, node);
            let left = self.left_to.take();
            if flow == Flow::Leaves {
                return Flow::Leaves;
            }
            // `if version < 3: return …`: what follows is for the others.
            if let Some(versions) = left {
                self.note_versions(code, &block[index + 1..], &versions);
            }
        }
        Flow::Next
    }

    fn statement(&mut self, code: Code<'a>, node: &'a StmtNode) -> Flow {
        self.at(code, node.span);
        match &node.stmt {
            Stmt::Nothing => {}
            Stmt::Expr(value) => self.expression_statement(code, *value),
            Stmt::Assign { targets, annotation, value } => {
                let usage = match targets.first().map(|target| &code.top.expr(*target).expr) {
                    Some(Expr::Name) if targets.len() == 1 => Usage::Bound(self.source_of(code, targets[0])),
                    _ => Usage::Used,
                };
                let Some(value) = value else { return Flow::Next };
                let mut value = self.eval(code, *value, usage);
                if let (Value::Unknown, Some(annotation)) = (&value, annotation) {
                    value = self.annotated(self.str(code, *annotation));
                }
                for target in targets {
                    self.assign(code, *target, value.clone());
                }
            }
            Stmt::Augment { target, operator, value } => self.augment(code, *target, *operator, *value),
            Stmt::Return(value) => {
                let value = value.map_or(Value::None, |value| self.eval(code, value, Usage::Returned));
                self.escape(&value);
                self.frame.returns.push(value);
                return Flow::Leaves;
            }
            Stmt::Raise(parts) => {
                for part in parts {
                    self.eval(code, *part, Usage::Used);
                }
                return Flow::Leaves;
            }
            Stmt::Break | Stmt::Continue => return Flow::Leaves,
            Stmt::If { branches, otherwise } => return self.if_statement(code, branches, otherwise.as_deref()),
            Stmt::For { .. } | Stmt::While { .. } => return self.loop_statement(code, node),
            Stmt::Try { body, handlers, otherwise, finally } => {
                return self.try_statement(code, body, handlers, otherwise, finally);
            }
            Stmt::With { items, body } => {
                for (value, target) in items {
                    self.at(code, code.top.expr(*value).span);
                    let value = self.eval(code, *value, Usage::Used);
                    let value = self.entered(value);
                    if let Some(target) = target {
                        self.assign(code, *target, value);
                    }
                }
                return self.block(code, body);
            }
            Stmt::Match { subject, cases } => {
                let subject = match subject {
                    Some(subject) => self.eval(code, *subject, Usage::Used),
                    None => Value::Unknown,
                };
                let mut branches: Vec<_> = cases.iter().map(|case| self.case(code, case, &subject)).collect();
                branches.push((Flow::Next, Vec::new()));
                return self.join(branches);
            }
            Stmt::Function(id) => self.define(code, *id),
            Stmt::Class(id) => self.class(code, *id),
            Stmt::Import(names) => self.import(code, names),
            Stmt::Delete(targets) => {
                for target in targets {
                    if let Expr::Name = code.top.expr(*target).expr {
                        let name = self.source_of(code, *target);
                        let env = self.target_env(name);
                        self.set(env, name, None);
                    }
                }
            }
            Stmt::Outer(names, nonlocal) => self.outer(code, names, *nonlocal),
            Stmt::Sql(lines) => self.sql_cell(code, lines),
            // Half-written code leaves nothing.
            Stmt::Broken(block) => {
                self.block(code, block);
            }
        }
        Flow::Next
    }

    fn expression_statement(&mut self, code: Code<'a>, id: ExprId) {
        let before = self.plan.nodes.len();
        let value = self.eval(code, id, Usage::Discarded);
        if let Value::Frame(node) = value
            && node.0 as usize >= before
            // A statement of SQL has its hints in it.
            && self.plan.node(node).site.as_ref().is_none_or(|site| !site.is_sql())
        {
            self.discard(node);
        }
    }

    fn augment(&mut self, code: Code<'a>, target: ExprId, operator: Operator, value: ExprId) {
        let left = self.object_of(code, target);
        let right = self.eval(code, value, Usage::Used);
        let value = self.binary(operator, left, right, self.span_of(code, value));
        self.assign(code, target, value);
    }

    fn outer(&mut self, code: Code<'a>, names: &'a [crate::text::Span], nonlocal: bool) {
        let env = self.frame.env;
        for name in names {
            let name = self.str(code, *name);
            let mut target = self.files.env(code);
            if nonlocal {
                let mut at = self.envs[env.0 as usize].parent;
                while let Some(parent) = at {
                    if self.envs[parent.0 as usize].names.contains_key(name) {
                        target = parent;
                        break;
                    }
                    at = self.envs[parent.0 as usize].parent;
                }
            }
            self.envs[env.0 as usize].outer.push((name, target));
        }
    }

    /// Runs a block as one of several branches.
    pub(super) fn branch(&mut self, code: Code<'a>, block: &'a [StmtNode]) -> (Flow, super::names::Changes<'a>) {
        let conditional = std::mem::replace(&mut self.frame.conditional, true);
        self.begin();
        let flow = self.block(code, block);
        let changes = self.rollback();
        self.frame.conditional = conditional;
        (flow, changes)
    }

    /// Runs a case of a `match` with the names that its pattern binds.
    fn case(&mut self, code: Code<'a>, case: &'a Case, subject: &Value<'a>) -> (Flow, super::names::Changes<'a>) {
        let conditional = std::mem::replace(&mut self.frame.conditional, true);
        self.begin();
        for name in &case.names {
            let value = if case.whole == Some(*name) { subject.clone() } else { Value::Unknown };
            self.assign_name(code.span(*name), value);
        }
        let flow = self.block(code, &case.body);
        let changes = self.rollback();
        self.frame.conditional = conditional;
        (flow, changes)
    }

    /// What `with` binds: what the object's own `__enter__` returns, else the object.
    fn entered(&mut self, value: Value<'a>) -> Value<'a> {
        let Value::Instance(class, env) = &value else { return value };
        match self.class_member(class, "__enter__") {
            Some(Value::Closure(method)) => {
                let this = Some(self.as_itself(class, *env));
                let bound = Closure { code: method.code, function: method.function, env: method.env, this };
                self.call_plain(&bound)
            }
            _ => value,
        }
    }

    fn if_statement(
        &mut self,
        code: Code<'a>,
        branches: &'a [(ExprId, Vec<StmtNode>)],
        otherwise: Option<&'a [StmtNode]>,
    ) -> Flow {
        let mut outcomes = Vec::new();
        let (mut is_dead, mut is_void) = (false, false);
        let (all, mut left) = (Versions::all(), None::<Versions>);
        for (test, body) in branches {
            self.at(code, code.top.expr(*test).span);
            let value = self.eval(code, *test, Usage::Used);
            self.check_condition(code, *test, &value);
            if let Value::Version(version) = &value {
                let (then, others) = version.branches();
                let rest = left.as_ref().unwrap_or(&all);
                self.note_versions(code, body, &then.and(rest));
                left = Some(others.and(rest));
            } else if let Some(rest) = &left {
                self.note_versions(code, body, rest);
            }
            match self.truth(code, *test) {
                Some(true) => {
                    if outcomes.is_empty() {
                        let flow = self.block(code, body);
                        self.unreachable(code, branches, *test, otherwise);
                        return flow;
                    }
                    outcomes.push(self.branch(code, body));
                    self.unreachable(code, branches, *test, otherwise);
                    return self.join(outcomes);
                }
                // Read for its findings; its names never arrive.
                Some(false) if !code.is_home() => {}
                Some(false) => {
                    self.branch(code, body);
                }
                None => {
                    let holds = self.tests_none(code, *test);
                    let doubted = self.doubt(code, *test);
                    let outcome = self.branch(code, body);
                    self.believe(doubted);
                    // The branch of a test that can't hold is read for its findings.
                    if !is_void && holds != Some(false) {
                        outcomes.push(outcome);
                    }
                    is_dead |= holds == Some(false);
                    is_void |= holds == Some(true);
                }
            }
        }
        if let (Some(rest), Some(otherwise)) = (&left, otherwise) {
            self.note_versions(code, otherwise, rest);
        }
        let last = match otherwise {
            Some(otherwise) if outcomes.is_empty() && !is_dead => return self.block(code, otherwise),
            Some(otherwise) => self.branch(code, otherwise),
            None => (Flow::Next, Vec::new()),
        };
        let leaves = outcomes.iter().all(|(flow, _)| *flow == Flow::Leaves);
        if !is_void {
            outcomes.push(last);
        }
        let flow = self.join(outcomes);
        self.left_to = left.filter(|_| leaves && otherwise.is_none());
        flow
    }

    /// Reads the branches behind one that is always taken, for what they do alone.
    fn unreachable(
        &mut self,
        code: Code<'a>,
        branches: &'a [(ExprId, Vec<StmtNode>)],
        taken: ExprId,
        otherwise: Option<&'a [StmtNode]>,
    ) {
        if !code.is_home() {
            return;
        }
        let behind = branches.iter().skip_while(|(test, _)| *test != taken).skip(1);
        for (_, body) in behind {
            self.branch(code, body);
        }
        if let Some(otherwise) = otherwise {
            self.branch(code, otherwise);
        }
    }

    fn try_statement(
        &mut self,
        code: Code<'a>,
        body: &'a [StmtNode],
        handlers: &'a [Vec<StmtNode>],
        otherwise: &'a [StmtNode],
        finally: &'a [StmtNode],
    ) -> Flow {
        self.begin();
        let mut flow = self.block(code, body);
        if flow == Flow::Next {
            flow = self.block(code, otherwise);
        }
        let changes = self.rollback();
        let mut outcomes = vec![(flow, changes)];
        let mut before = version::end_of(body).unwrap_or_default();
        for handler in handlers {
            if self.is_fallback(code, body, before, handler) {
                self.note_versions(code, handler, &Versions::all());
            }
            before = version::end_of(handler).unwrap_or(before);
            outcomes.push(self.branch(code, handler));
        }
        let flow = self.join(outcomes);
        match self.block(code, finally) {
            Flow::Leaves => Flow::Leaves,
            Flow::Next => flow,
        }
    }

    fn define(&mut self, code: Code<'a>, id: FunctionId) {
        let function = code.top.function(id);
        let mut udf = None;
        let mut is_udf = false;
        let mut decorators = Vec::new();
        for decorator in &function.decorators {
            let value = self.eval(code, *decorator, Usage::Used);
            is_udf |= matches!(value, Value::Udf(_)) || matches!(&value, Value::Function(name) if name.contains("udf"));
            if is_udf && udf.is_none() {
                udf = self.decorated(code, id, &value, self.span_of(code, *decorator));
            }
            decorators.push((value, self.source_of(code, *decorator)));
        }
        let scope = self.scope_of(code, id);
        let closure = Closure { code, function: id, env: self.frame.env, this: None };
        let name = self.str(code, function.name);
        let env = self.target_env(name);
        if is_udf {
            self.set(env, name, Some(Value::Udf(udf)));
            return;
        }
        if self.is_read_in_full(code) {
            self.defined.push((Closure { code, function: id, env: self.frame.env, this: None }, scope, None));
        }
        let mut value = Value::Closure(Rc::new(closure));
        while let Some((decorator, text)) = decorators.pop() {
            value = self.wrapped(&decorator, text, value, code.span(function.name));
        }
        self.set(env, name, Some(value));
    }

    /// What a decorator makes of a function: what its own code returns, else the function itself if its name promises so.
    fn wrapped(&mut self, decorator: &Value<'a>, text: &str, function: Value<'a>, site: Span) -> Value<'a> {
        let made = match decorator {
            Value::Builtin("wrapped") => function.clone(),
            Value::Closure(_) => {
                let item = crate::pyspark::value::Item { value: function.clone(), span: site };
                let arguments = super::arguments::Arguments { positional: vec![item], ..Default::default() };
                self.apply_at(decorator, arguments, site)
            }
            _ => Value::Unknown,
        };
        match made {
            Value::Unknown | Value::None if super::functions::keeps_result(text) => function,
            made => made,
        }
    }

    fn class(&mut self, code: Code<'a>, id: ClassId) {
        let class = code.top.class(id);
        let bases = class.bases.iter().map(|base| self.eval(code, *base, Usage::Used)).collect();
        let outer = self.frame.env;
        let env = self.new_env(Some(outer));
        let fields = class.body.iter().filter_map(|node| self.field(code, node)).collect();
        let user_class = Rc::new(UserClass { env, bases, fields });
        let first = self.defined.len();
        self.frame.env = env;
        self.block(code, &class.body);
        self.frame.env = outer;
        // Functions of a class body see the names around the class, not those in it.
        for (closure, _, owner) in &mut self.defined[first..] {
            if closure.env == env {
                closure.env = outer;
                *owner = Some(user_class.clone());
            }
        }
        self.unlink_methods(env, outer);
        let name = self.str(code, class.name);
        let target = self.target_env(name);
        self.set(target, name, Some(Value::UserClass(user_class)));
    }

    /// A name that a class body annotates, with the annotation.
    fn field(&self, code: Code<'a>, node: &'a StmtNode) -> Option<(&'a str, &'a str)> {
        let Stmt::Assign { targets, annotation: Some(annotation), .. } = &node.stmt else { return None };
        let [target] = **targets else { return None };
        (code.top.expr(target).expr == Expr::Name).then(|| (self.source_of(code, target), self.str(code, *annotation)))
    }

    /// Methods in a class's namespace look names up outside of it.
    fn unlink_methods(&mut self, env: crate::pyspark::value::EnvId, outer: crate::pyspark::value::EnvId) {
        for value in self.envs[env.0 as usize].names.values_mut().flatten() {
            if let Value::Closure(closure) = value
                && closure.env == env
            {
                *value = Value::Closure(Rc::new(Closure {
                    code: closure.code,
                    function: closure.function,
                    env: outer,
                    this: None,
                }));
            }
        }
    }

    pub(super) fn scope_of(&mut self, code: Code<'a>, id: FunctionId) -> ScopeId {
        // Other files' functions have no place in the plan: what they do belongs to who calls them.
        if !code.is_home() {
            return self.frame.scope;
        }
        let function = code.top.function(id);
        let key = (code.span(function.span), id.0);
        if let Some(scope) = self.scopes.get(&key) {
            return *scope;
        }
        let name = self.str(code, function.name);
        let is_test =
            name.starts_with("test_") || name == "test" || name.trim_start_matches('_').starts_with("assert_");
        let name = if function.value.is_some() { "<lambda>" } else { name };
        let scope = ScopeId(self.plan.scopes.len() as u32);
        let fixture = function.decorators.iter().any(|id| self.source_of(code, *id).contains("fixture"));
        self.plan.scopes.push(crate::pyspark::plan::Scope {
            name: name.to_owned(),
            span: key.0,
            parent: self.frame.scope,
            is_test: is_test || fixture,
        });
        self.scopes.insert(key, scope);
        scope
    }

    /// A running frame's place for nested work: loops and conditions start anew.
    pub(super) fn enter(&mut self, env: crate::pyspark::value::EnvId, scope: ScopeId) -> super::Frame<'a> {
        let frame = super::Frame {
            env,
            scope,
            loops: SmallVec::new(),
            conditional: false,
            returns: Vec::new(),
            yields: Vec::new(),
            statement: self.frame.statement,
        };
        std::mem::replace(&mut self.frame, frame)
    }

    /// A lambda runs where it stands: in the loops and conditions around it.
    pub(super) fn stay(&mut self, outer: &super::Frame<'a>, lambda: crate::text::Span) {
        let holds = |id: &&LoopId| {
            let looped = self.plan.loop_(**id);
            // Loops of other modules stand for the call that led there, which may hold the lambda.
            looped.span.contains(lambda) && looped.header != looped.span
        };
        let around = outer.loops.iter().filter(holds);
        self.frame.loops = around.copied().collect();
        self.frame.conditional = outer.conditional;
    }
}
