//! Python functions that Spark runs: what kind of run it is, and what their text tells.

use super::Interpreter;
use super::call::Call;
use crate::pyspark::ir::{Block, Expr, Function, FunctionId, Stmt};
use crate::pyspark::plan::{Capture, Captured, FunctionFacts, NodeId, PythonFunction, Runs};
use crate::pyspark::value::{Closure, Code, Object, Value};
use crate::text::Span;

impl<'a> Interpreter<'a> {
    /// Notes a function that Spark runs, each site once.
    pub(super) fn python_function(&mut self, runs: Runs, site: Span, input: Option<NodeId>) -> usize {
        if let Some(&known) = self.python.get(&site) {
            return known;
        }
        let index = self.plan.python.len();
        self.python.insert(site, index);
        self.plan.python.push(PythonFunction {
            runs,
            site,
            function: None,
            nondeterministic: false,
            scope: self.frame.scope,
            input,
        });
        index
    }

    /// A call that hands a function to Spark: `rdd.map(f)`, `df.mapInPandas(f, schema)`, `df.foreach(f)`.
    pub(super) fn runs_python(&mut self, runs: Runs, input: NodeId, call: &Call<'a>) {
        let index = self.python_function(runs, call.span, Some(input));
        if let Some(Value::Closure(closure)) = call.values.first() {
            self.fill(index, &closure.clone());
        }
    }

    /// `udf(f, type)`, `udf(returnType=…)` before its function is known, `pandas_udf(…)`.
    pub(super) fn udf(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        let by_arrow = matches!(call.keyword("useArrow"), Some((_, Value::Bool(true))));
        let index = self.python_function(runs(name, by_arrow), call.span, None);
        if let Some(Value::Closure(closure)) = call.values.first() {
            self.fill(index, &closure.clone());
        }
        Value::Udf(Some(index))
    }

    /// `spark.udf.register(name, f)`.
    pub(super) fn registered_udf(&mut self, call: &Call<'a>) -> Value<'a> {
        let udf = self.udf_to_register(call);
        if let (Value::Udf(Some(index)), Some(name)) = (&udf, call.value(0, "name").and_then(Value::as_text)) {
            self.registered.insert(name.to_ascii_lowercase(), *index);
        }
        udf
    }

    fn udf_to_register(&mut self, call: &Call<'a>) -> Value<'a> {
        match call.value(1, "f") {
            Some(Value::Udf(known)) => Value::Udf(*known),
            Some(Value::Closure(closure)) => {
                let closure = closure.clone();
                let index = self.python_function(Runs::RowUdf, call.span, None);
                self.fill(index, &closure);
                Value::Udf(Some(index))
            }
            _ => Value::Udf(None),
        }
    }

    /// A decorator `@udf` or `@udf(…)` on a function of the file.
    pub(super) fn decorated(
        &mut self,
        code: Code<'a>,
        id: FunctionId,
        decorator: &Value<'a>,
        site: Span,
    ) -> Option<usize> {
        let index = match decorator {
            Value::Udf(index) => (*index)?,
            Value::Function(name) => self.python_function(runs(name, false), site, None),
            _ => return None,
        };
        let closure = Closure { code, function: id, env: self.frame.env, this: None };
        self.fill(index, &closure);
        Some(index)
    }

    /// Adds what the text of the function tells.
    pub(super) fn fill(&mut self, index: usize, closure: &Closure<'a>) {
        if self.plan.python.get(index).is_none_or(|known| known.function.is_some()) {
            return;
        }
        let declared = self.text_at(self.plan.python[index].site);
        let facts = self.function_facts(closure, declared);
        self.plan.python[index].function = Some(facts);
        self.row_functions.push((index, closure.clone()));
    }

    /// What the functions take from outside: known when everything around them was read.
    pub(super) fn find_captures(&mut self) {
        for (index, closure) in std::mem::take(&mut self.row_functions) {
            let function = closure.code.top.function(closure.function);
            let names = self.names_in(closure.code, function);
            let own = self.bound_in(closure.code, function);
            self.use_imports(closure.code, names.iter().map(|(name, _)| *name));
            let captures = self.captures(&closure, &names, &own);
            if let Some(facts) = self.plan.python.get_mut(index).and_then(|known| known.function.as_mut()) {
                facts.captures = captures;
            }
        }
    }

    fn function_facts(&mut self, closure: &Closure<'a>, declared: &str) -> FunctionFacts {
        let (code, id) = (closure.code, closure.function);
        let function = code.top.function(id);
        let scope = self.scope_of(code, id);
        let names = self.names_in(code, function);
        let params: Vec<(String, bool)> = function
            .params
            .iter()
            .map(|param| {
                let name = self.str(code, param.name);
                (name.to_owned(), names.iter().any(|(used, _)| *used == name))
            })
            .collect();
        let value = match (&function.value, &function.body[..]) {
            (Some(value), _) => Some(*value),
            (None, [only]) => returned(&only.stmt),
            // A docstring before it says nothing.
            (None, [first, second]) if is_text(code, &first.stmt) => returned(&second.stmt),
            _ => None,
        };
        let decorators = function.decorators.iter().map(|id| self.source_of(code, *id));
        let cached = decorators.into_iter().any(|text| text.contains("cache"));
        FunctionFacts {
            name: self.plan.scope(scope).name.clone(),
            span: code.span(function.span),
            scope,
            captures: Vec::new(),
            params,
            value: value.map(|value| self.span_of(code, value)),
            calls: self.calls_in(code, function),
            builtin: super::builtin::expression(self, code, function, declared),
            cached,
            is_generator: self.str(code, function.span).contains("yield"),
        }
    }

    /// Names that the body reads, in source order.
    fn names_in(&self, code: Code<'a>, function: &'a Function) -> Vec<(&'a str, Span)> {
        let range = function.exprs.0 as usize..function.exprs.1 as usize;
        let nodes = code.top.exprs.get(range).unwrap_or_default().iter();
        let mut names: Vec<(&'a str, Span)> = nodes
            .filter(|node| node.expr == Expr::Name)
            .map(|node| (self.str(code, node.span), code.span(node.span)))
            .collect();
        names.sort_by_key(|(_, span)| *span);
        names
    }

    /// Names that the function binds itself: parameters, targets, and those of functions in it.
    fn bound_in(&self, code: Code<'a>, function: &'a Function) -> Vec<&'a str> {
        let within = |inner: &Function| function.exprs.0 <= inner.exprs.0 && inner.exprs.1 <= function.exprs.1;
        let functions = code.top.functions.iter().filter(|inner| within(inner));
        let params = functions.clone().flat_map(|inner| &inner.params).map(|param| self.str(code, param.name));
        let mut names: Vec<&'a str> = function.params.iter().map(|param| self.str(code, param.name)).collect();
        names.extend(params);
        let mut targets = Vec::new();
        let mut open: Vec<&'a Stmt> = function.body.iter().map(|node| &node.stmt).collect();
        open.extend(functions.flat_map(|inner| &inner.body).map(|node| &node.stmt));
        let blocks = |blocks: &'a [Block]| blocks.iter().flatten().map(|node| &node.stmt);
        while let Some(statement) = open.pop() {
            match statement {
                Stmt::Assign { targets: assigned, .. } => targets.extend(assigned.iter().copied()),
                Stmt::For { target, body, otherwise, .. } => {
                    targets.push(*target);
                    open.extend(body.iter().chain(otherwise).map(|node| &node.stmt));
                }
                Stmt::While { body, otherwise, .. } => {
                    open.extend(body.iter().chain(otherwise).map(|node| &node.stmt));
                }
                Stmt::If { branches, otherwise } => {
                    open.extend(branches.iter().flat_map(|(_, body)| body).map(|node| &node.stmt));
                    open.extend(otherwise.iter().flatten().map(|node| &node.stmt));
                }
                Stmt::Try { body, handlers, otherwise, finally } => {
                    open.extend(body.iter().chain(otherwise).chain(finally).map(|node| &node.stmt));
                    open.extend(blocks(handlers));
                }
                Stmt::With { items, body } => {
                    targets.extend(items.iter().filter_map(|(_, target)| *target));
                    open.extend(body.iter().map(|node| &node.stmt));
                }
                Stmt::Match { cases, .. } => {
                    names.extend(cases.iter().flat_map(|case| &case.names).map(|name| self.str(code, *name)));
                    open.extend(cases.iter().flat_map(|case| &case.body).map(|node| &node.stmt));
                }
                Stmt::Import(imported) => {
                    let bound = |it: &crate::pyspark::ir::Imported| self.str(code, it.alias.unwrap_or(it.name));
                    names.extend(imported.iter().map(bound));
                }
                _ => {}
            }
        }
        let range = function.exprs.0 as usize..function.exprs.1 as usize;
        for node in code.top.exprs.get(range).unwrap_or_default() {
            let Expr::Comprehension(comprehension) = &node.expr else { continue };
            targets.extend(comprehension.clauses.iter().filter_map(|clause| match clause {
                crate::pyspark::ir::Clause::For { target, .. } => Some(*target),
                crate::pyspark::ir::Clause::If(_) => None,
            }));
        }
        while let Some(target) = targets.pop() {
            match &code.top.expr(target).expr {
                Expr::Name => names.push(self.source_of(code, target)),
                Expr::Tuple(items) | Expr::List(items) => targets.extend(items.iter().copied()),
                _ => {}
            }
        }
        names
    }

    /// Calls in the body by dotted name, the name of an imported module resolved.
    fn calls_in(&self, code: Code<'a>, function: &'a Function) -> Vec<(String, Span)> {
        let range = function.exprs.0 as usize..function.exprs.1 as usize;
        let nodes = code.top.exprs.get(range).unwrap_or_default().iter();
        let mut calls: Vec<(String, Span)> = nodes
            .filter_map(|node| {
                let Expr::Call { function, .. } = &node.expr else { return None };
                let name = self.source_of(code, *function);
                let is_path = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
                (is_path && !name.is_empty()).then(|| (self.resolved(name), code.span(node.span)))
            })
            .collect();
        calls.sort_by_key(|(_, span)| *span);
        calls
    }

    pub(super) fn resolved(&self, name: &str) -> String {
        let (root, rest) = name.split_once('.').map_or((name, ""), |(root, rest)| (root, rest));
        match self.lookup(root) {
            Some(Value::Module(path)) if rest.is_empty() => path.to_string(),
            Some(Value::Module(path)) => format!("{path}.{rest}"),
            _ => name.to_owned(),
        }
    }

    /// Names from outside the function that weigh something.
    fn captures(&self, closure: &Closure<'a>, names: &[(&'a str, Span)], params: &[&str]) -> Vec<Capture> {
        let mut captures: Vec<Capture> = Vec::new();
        for (name, span) in names {
            if params.contains(name) || captures.iter().any(|known| known.name == *name) {
                continue;
            }
            let what = match self.lookup_from(closure.env, name) {
                Some(Value::Frame(node) | Value::Rdd(node)) => Captured::Frame(node),
                Some(Value::Object(Object::Session | Object::Context | Object::SqlContext)) => Captured::Session,
                Some(Value::Rows(_) | Value::Pandas(_)) => Captured::Collected,
                Some(Value::List(items) | Value::Tuple(items)) => Captured::Literal(items.len() as u64),
                Some(Value::Dict(entries)) => Captured::Literal(entries.len() as u64),
                _ => continue,
            };
            captures.push(Capture { name: (*name).to_owned(), span: *span, what });
        }
        captures
    }
}

fn runs(name: &str, by_arrow: bool) -> Runs {
    match name {
        "pandas_udf" => Runs::PandasUdf,
        "arrow_udf" => Runs::ArrowUdf,
        "udtf" | "arrow_udtf" => Runs::TableFunction,
        _ if by_arrow => Runs::ArrowUdf,
        _ => Runs::RowUdf,
    }
}

fn returned(statement: &Stmt) -> Option<crate::pyspark::ir::ExprId> {
    match statement {
        Stmt::Return(value) => *value,
        _ => None,
    }
}

fn is_text(code: Code<'_>, statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(id) if matches!(code.top.expr(*id).expr, Expr::Text(_)))
}

impl<'a> Interpreter<'a> {
    /// Evaluates the arguments of a `print` or a logger's call.
    pub(super) fn in_log<T>(&mut self, is_log: bool, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.logging;
        self.logging |= is_log;
        let value = evaluate(self);
        self.logging = outside;
        value
    }

    /// Notes that the value of an action is used here, if it is one.
    pub(super) fn uses_result(&mut self, value: &Value<'a>, span: Span) {
        let Value::Result(index) = value else { return };
        let logging = self.logging;
        let Some(action) = self.plan.actions.get_mut(*index) else { return };
        if logging {
            if !action.uses.logged.contains(&span) {
                action.uses.logged.push(span);
            }
        } else {
            action.uses.other += 1;
        }
    }

    /// Takes a use back that turned out to be a test.
    pub(super) fn tests_result(&mut self, index: usize, test: crate::pyspark::plan::Emptiness, by_name: bool) {
        let Some(action) = self.plan.actions.get_mut(index) else { return };
        if by_name {
            action.uses.other = action.uses.other.saturating_sub(1);
        }
        if !action.uses.emptiness.iter().any(|known| known.span == test.span) {
            action.uses.emptiness.push(test);
        }
    }

    /// Whether a call's function prints or logs.
    pub(super) fn is_log(&self, code: Code<'a>, function: crate::pyspark::ir::ExprId) -> bool {
        match &code.top.expr(function).expr {
            Expr::Name => self.source_of(code, function) == "print",
            Expr::Attribute { receiver, name, .. } => {
                let level = matches!(
                    self.str(code, *name),
                    "debug" | "info" | "warning" | "warn" | "error" | "critical" | "exception" | "log" | "success"
                );
                level && self.str(code, *receiver).to_ascii_lowercase().contains("log")
            }
            _ => false,
        }
    }
}
