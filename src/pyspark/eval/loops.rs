//! Loops and comprehensions: the body is run once, with the names that it changes as loop variables.

use super::names::Changes;
use super::{Flow, Interpreter, Usage};
use crate::pyspark::ir::{Clause, Comprehension, Expr, ExprId, Stmt, StmtNode};
use crate::pyspark::plan::{Loop, LoopId, LoopOver, NodeId, Operator};
use crate::pyspark::value::{Code, EnvId, Item, Value};
use crate::text::Span;

/// A name that holds a frame before the loop and is assigned in it.
struct Carried<'a> {
    env: EnvId,
    name: &'a str,
    node: NodeId,
}

/// Loops in each other whose bodies may be read a second time.
const MOST_READ_TWICE: usize = 3;

impl<'a> Interpreter<'a> {
    pub(super) fn loop_statement(&mut self, code: Code<'a>, node: &'a StmtNode) -> Flow {
        let (header, body, otherwise) = match &node.stmt {
            Stmt::For { header, body, otherwise, .. } | Stmt::While { header, body, otherwise, .. } => {
                (*header, body, otherwise)
            }
            _ => return Flow::Next,
        };
        self.at(code, header);
        let (over, targets, value) = match &node.stmt {
            Stmt::For { target, iterable, .. } => {
                let value = self.eval(code, *iterable, Usage::Iterated);
                (self.loop_over(code, *iterable, &value), self.target_names(code, *target), Some((*target, value)))
            }
            Stmt::While { test, .. } => {
                let endless = matches!(self.truth(code, *test), Some(true));
                (if endless { LoopOver::Endless } else { LoopOver::Condition }, Vec::new(), None)
            }
            _ => return Flow::Next,
        };
        let turns = matches!(over, LoopOver::Literal(1..) | LoopOver::Endless);
        let id = self.loop_id(Loop {
            span: code.span(node.span),
            header: code.span(header),
            retries: retries(code, &node.stmt, body, &targets),
            over,
            targets,
            frames: Vec::new(),
            comprehension: false,
            runs_once: runs_once(body),
        });
        let mut carried = self.carry(code, body, id);
        let conditional = std::mem::replace(&mut self.frame.conditional, false);
        self.frame.loops.push(id);
        let mut changes = self.turn(code, node, value.clone(), body);
        // Each loop around doubles the work once more.
        let is_shallow = self.frame.loops.len() <= MOST_READ_TWICE;
        let begun = if is_shallow { self.carry_begun(&changes, id) } else { Vec::new() };
        if !begun.is_empty() {
            carried.extend(begun);
            changes = self.turn(code, node, value, body);
        }
        self.frame.loops.pop();
        self.frame.conditional = conditional;
        self.after_loop(changes, &carried, turns);
        self.block(code, otherwise)
    }

    /// Runs the body of a loop once; says what it changed.
    fn turn(
        &mut self,
        code: Code<'a>,
        node: &'a StmtNode,
        target: Option<(ExprId, Value<'a>)>,
        body: &'a [StmtNode],
    ) -> Changes<'a> {
        self.begin();
        match (target, &node.stmt) {
            (Some((target, value)), _) => self.assign_turn(code, target, value),
            (None, Stmt::While { test, .. }) => {
                let value = self.eval(code, *test, Usage::Used);
                self.check_condition(code, *test, &value);
            }
            _ => {}
        }
        self.block(code, body);
        self.rollback()
    }

    /// Names that hold `None` before the loop and a frame after a turn: from the second turn on they are the loop's
    /// variables (`all = df if all is None else all.union(df)`).
    fn carry_begun(&mut self, changes: &Changes<'a>, id: LoopId) -> Vec<Carried<'a>> {
        let mut begun = Vec::new();
        for (env, name, value) in changes {
            let (Some(Value::Frame(end)), Some(Value::None)) = (value, self.own(*env, name)) else { continue };
            let node = self.node(Operator::LoopCarried(id), &[*end], None);
            begun.push(Carried { env: *env, name, node });
            self.set(*env, name, Some(Value::Frame(node)));
        }
        begun
    }

    /// Gives the names that the body assigns the values they may have in any turn.
    fn carry(&mut self, code: Code<'a>, body: &'a [StmtNode], id: LoopId) -> Vec<Carried<'a>> {
        let mut carried: Vec<Carried<'a>> = Vec::new();
        for target in assigned(code, body) {
            let Some((env, name, value)) = self.place(code, target) else { continue };
            if carried.iter().any(|known| known.env == env && known.name == name) {
                continue;
            }
            let (Value::Frame(before) | Value::Rdd(before)) = value else {
                if value.is_scalar() && !matches!(value, Value::None) {
                    self.set(env, name, Some(Value::Unknown));
                }
                continue;
            };
            let node = self.node(Operator::LoopCarried(id), &[before], None);
            carried.push(Carried { env, name, node });
            let variable = if let Value::Rdd(_) = value { Value::Rdd(node) } else { Value::Frame(node) };
            self.set(env, name, Some(variable));
        }
        carried
    }

    /// Where a target's value lives: namespace, name and value.
    fn place(&mut self, code: Code<'a>, target: ExprId) -> Option<(EnvId, &'a str, Value<'a>)> {
        match &code.top.expr(target).expr {
            Expr::Name => {
                let name = self.source_of(code, target);
                let env = self.target_env(name);
                Some((env, name, self.own(env, name)?))
            }
            Expr::Attribute { object, name, .. } => {
                let Value::Instance(_, env) = self.object_of(code, *object) else { return None };
                let name = self.str(code, *name);
                Some((env, name, self.own(env, name)?))
            }
            _ => None,
        }
    }

    fn after_loop(&mut self, changes: Changes<'a>, carried: &[Carried<'a>], turns: bool) {
        for (env, name, value) in changes {
            let variable = carried.iter().find(|carried| carried.env == env && carried.name == name);
            let after = match (variable, value) {
                (Some(variable), Some(Value::Frame(end) | Value::Rdd(end))) => {
                    let inputs = &mut self.plan.nodes[variable.node.0 as usize].inputs;
                    if end != variable.node && !inputs.contains(&end) {
                        inputs.push(end);
                    }
                    let kept = self.own(env, name);
                    // A loop that turns at least once ends with its body's value.
                    match kept {
                        Some(Value::Rdd(_)) => Some(Value::Rdd(if turns { end } else { variable.node })),
                        _ => Some(Value::Frame(if turns { end } else { variable.node })),
                    }
                }
                (Some(_), Some(_)) => Some(Value::Unknown),
                (None, Some(value)) => match self.own(env, name) {
                    Some(before) if !turns => Some(self.merge(before, value)),
                    _ => Some(value),
                },
                (_, None) => None,
            };
            self.set(env, name, after);
        }
    }

    /// Gives a loop's target what it holds in a turn.
    fn assign_turn(&mut self, code: Code<'a>, target: ExprId, iterable: Value<'a>) {
        let value = self.turn_value(iterable);
        if let Some(id) = self.frame.loops.last().copied() {
            self.turns_over(id, &value);
        }
        self.assign(code, target, value);
    }

    /// Notes the frames among what a loop's target holds.
    pub(super) fn turns_over(&mut self, id: LoopId, value: &Value<'a>) {
        match value {
            Value::Frame(node) if !self.plan.loop_(id).frames.contains(node) => {
                self.plan.loops[id.0 as usize].frames.push(*node);
            }
            Value::Tuple(items) => {
                items.iter().filter(|item| !matches!(item.value, Value::Tuple(_))).for_each(|item| {
                    self.turns_over(id, &item.value);
                })
            }
            _ => {}
        }
    }

    fn turn_value(&mut self, iterable: Value<'a>) -> Value<'a> {
        match iterable {
            Value::Dict(entries) => Value::TurnKey(entries),
            Value::Rows(node) => Value::Row(node),
            Value::Many(element) => (*element).clone(),
            Value::List(items) | Value::Tuple(items) => match as_pairs(&items) {
                Some(pairs) => pairs,
                None => match items.len() {
                    1 => items[0].value.clone(),
                    _ => match self.element(&Value::List(items)) {
                        Some(Value::Template(_)) | None => Value::Unknown,
                        Some(element) => element,
                    },
                },
            },
            _ => Value::Unknown,
        }
    }

    fn loop_over(&mut self, code: Code<'a>, iterable: ExprId, value: &Value<'a>) -> LoopOver {
        match value {
            Value::List(items) | Value::Tuple(items) => LoopOver::Literal(items.len() as u64),
            Value::Dict(entries) => LoopOver::Literal(entries.len() as u64),
            Value::Rows(node) => LoopOver::CollectedRows(*node),
            _ => match self.range_length(code, iterable) {
                Some(length) => LoopOver::Literal(length),
                None => LoopOver::Unknown,
            },
        }
    }

    /// The length of `range(…)` with known numbers, and of `enumerate(range(…))`.
    fn range_length(&mut self, code: Code<'a>, iterable: ExprId) -> Option<u64> {
        let Expr::Call { function, args, .. } = &code.top.expr(iterable).expr else { return None };
        if !matches!(code.top.expr(*function).expr, Expr::Name) {
            return None;
        }
        let name = self.source_of(code, *function);
        if self.lookup(name).is_some() {
            return None;
        }
        if matches!(name, "enumerate" | "reversed" | "sorted" | "list" | "tuple" | "tqdm") {
            return self.range_length(code, args.first()?.value);
        }
        if name != "range" {
            return None;
        }
        let mut bounds = Vec::new();
        for arg in args {
            match self.eval(code, arg.value, Usage::Used) {
                Value::Integer(number) => bounds.push(number),
                _ => return None,
            }
        }
        let (start, end, step) = match bounds[..] {
            [end] => (0, end, 1),
            [start, end] => (start, end, 1),
            [start, end, step] => (start, end, step),
            _ => return None,
        };
        let distance = if step < 0 { start.checked_sub(end)? } else { end.checked_sub(start)? };
        let step = step.unsigned_abs().max(1);
        Some(u64::try_from(distance).unwrap_or(0).div_ceil(step))
    }

    fn target_names(&mut self, code: Code<'a>, target: ExprId) -> Vec<String> {
        match &code.top.expr(target).expr {
            Expr::Name => vec![self.source_of(code, target).to_owned()],
            Expr::Tuple(parts) | Expr::List(parts) => {
                parts.iter().flat_map(|part| self.target_names(code, *part)).take(16).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The loop's record; a loop of a function that is read again is the same loop.
    pub(super) fn loop_id(&mut self, new: Loop) -> LoopId {
        let count = self.plan.loops.len();
        let mut new = new;
        let mut key = (new.span, Span::default());
        if !self.files.at_home() {
            key.1 = self.files.call;
            (new.span, new.header) = (self.files.call, self.files.call);
        }
        match self.loops.entry(key) {
            std::collections::hash_map::Entry::Occupied(known) => {
                let id = *known.get();
                let before = self.plan.loop_(id).over.clone();
                let over = match (before, new.over) {
                    (LoopOver::CollectedRows(a), LoopOver::CollectedRows(b)) if a != b => {
                        LoopOver::CollectedRows(self.merged_node(a, b))
                    }
                    (a, b) if a == b => a,
                    _ => LoopOver::Unknown,
                };
                self.plan.loops[id.0 as usize].over = over;
                id
            }
            std::collections::hash_map::Entry::Vacant(place) => {
                let id = LoopId(count as u32);
                place.insert(id);
                self.plan.loops.push(new);
                id
            }
        }
    }

    pub(super) fn comprehension(&mut self, code: Code<'a>, id: ExprId, parts: &'a Comprehension) -> Value<'a> {
        let span = self.span_of(code, id);
        let conditional = self.frame.conditional;
        let depth = self.frame.loops.len();
        let mut length = Some(1_u64);
        self.begin();
        for clause in &parts.clauses {
            match clause {
                Clause::For { header, target, iterable } => {
                    let value = self.eval(code, *iterable, Usage::Iterated);
                    let over = self.loop_over(code, *iterable, &value);
                    length = match (length, &over) {
                        (Some(length), LoopOver::Literal(items)) => length.checked_mul(*items),
                        _ => None,
                    };
                    // Comprehensions with several clauses hold each other.
                    let targets = self.target_names(code, *target);
                    let id = self.loop_id(Loop {
                        span: Span { start: span.start, end: code.span(*header).end.max(span.end) },
                        header: code.span(*header),
                        over,
                        targets,
                        frames: Vec::new(),
                        comprehension: true,
                        runs_once: false,
                        retries: false,
                    });
                    if self.frame.loops.last() != Some(&id) {
                        self.frame.loops.push(id);
                    }
                    self.assign_turn(code, *target, value);
                    self.frame.conditional = false;
                }
                Clause::If(test) => {
                    length = None;
                    self.eval(code, *test, Usage::Used);
                    self.frame.conditional = true;
                }
            }
        }
        let mut values: Vec<Value<'a>> =
            parts.elements.iter().map(|element| self.eval(code, *element, Usage::Used)).collect();
        self.rollback();
        self.frame.loops.truncate(depth);
        self.frame.conditional = conditional;
        let element = values.pop().unwrap_or(Value::Unknown);
        match length {
            Some(length @ 0..=16) if !parts.is_dict => {
                let item = Item { value: element, span };
                Value::List(vec![item; length as usize].into())
            }
            _ => Value::Many(element.into()),
        }
    }
}

/// A list of pairs of literals, as the loop that takes them apart sees it.
fn as_pairs<'a>(items: &[Item<'a>]) -> Option<Value<'a>> {
    let mut entries = Vec::with_capacity(items.len());
    for item in items {
        let (Value::Tuple(pair) | Value::List(pair)) = &item.value else { return None };
        let [key, value] = &pair[..] else { return None };
        if !key.value.is_scalar() || !value.value.is_scalar() {
            return None;
        }
        entries.push(crate::pyspark::value::Entry { key: key.clone(), value: value.clone(), span: item.span });
    }
    let entries: std::rc::Rc<Vec<_>> = entries.into();
    let item = |value| Item { value, span: Span::default() };
    (!entries.is_empty())
        .then(|| Value::Tuple(vec![item(Value::TurnKey(entries.clone())), item(Value::TurnItem(entries))].into()))
}

/// The targets that a block assigns, without those of functions in it.
fn assigned(code: Code<'_>, block: &[StmtNode]) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut blocks = vec![block];
    while let Some(block) = blocks.pop() {
        for node in block {
            match &node.stmt {
                Stmt::Assign { targets, .. } => targets.iter().for_each(|target| flatten(code, *target, &mut found)),
                Stmt::Augment { target, .. } => found.push(*target),
                Stmt::If { branches, otherwise } => {
                    blocks.extend(branches.iter().map(|(_, body)| &body[..]));
                    blocks.extend(otherwise.as_deref());
                }
                Stmt::For { target, body, otherwise, .. } => {
                    flatten(code, *target, &mut found);
                    blocks.extend([&body[..], &otherwise[..]]);
                }
                Stmt::While { body, otherwise, .. } => blocks.extend([&body[..], &otherwise[..]]),
                Stmt::Try { body, handlers, otherwise, finally } => {
                    blocks.extend([&body[..], &otherwise[..], &finally[..]]);
                    blocks.extend(handlers.iter().map(|handler| &handler[..]));
                }
                Stmt::With { body, .. } | Stmt::Broken(body) => blocks.push(body),
                Stmt::Match { cases, .. } => blocks.extend(cases.iter().map(|case| &case.body[..])),
                _ => {}
            }
        }
    }
    found
}

fn flatten(code: Code<'_>, target: ExprId, found: &mut Vec<ExprId>) {
    match &code.top.expr(target).expr {
        Expr::Tuple(parts) | Expr::List(parts) => parts.iter().for_each(|part| flatten(code, *part, found)),
        _ => found.push(target),
    }
}

/// Whether the body leaves the loop in its first turn, whatever happens.
fn runs_once(body: &[StmtNode]) -> bool {
    !has(body, &|stmt| matches!(stmt, Stmt::Continue))
        && body.iter().any(|node| matches!(node.stmt, Stmt::Break | Stmt::Return(_) | Stmt::Raise(_)))
}

/// Whether the loop tries something until it works.
fn retries(code: Code<'_>, stmt: &Stmt, body: &[StmtNode], targets: &[String]) -> bool {
    let tries = body.iter().any(|node| match &node.stmt {
        Stmt::Try { body, otherwise, .. } => {
            let leaves = |stmt: &Stmt| matches!(stmt, Stmt::Break | Stmt::Return(_));
            has(body, &leaves) || has(otherwise, &leaves)
        }
        _ => false,
    });
    let attempts = |name: &String| {
        let name = name.to_ascii_lowercase();
        name == "_" || ["attempt", "retry", "retries", "tries", "try_"].iter().any(|word| name.contains(word))
    };
    tries
        && match stmt {
            Stmt::While { .. } => true,
            Stmt::For { iterable, .. } => {
                targets.iter().any(attempts) || code.str(code.top.expr(*iterable).span).starts_with("range(")
            }
            _ => false,
        }
}

/// Whether a statement in the block, but not in loops or functions in it, is one of these.
fn has(block: &[StmtNode], wanted: &impl Fn(&Stmt) -> bool) -> bool {
    let mut blocks = vec![block];
    while let Some(block) = blocks.pop() {
        for node in block {
            if wanted(&node.stmt) {
                return true;
            }
            match &node.stmt {
                Stmt::If { branches, otherwise } => {
                    blocks.extend(branches.iter().map(|(_, body)| &body[..]));
                    blocks.extend(otherwise.as_deref());
                }
                Stmt::Try { body, handlers, otherwise, finally } => {
                    blocks.extend([&body[..], &otherwise[..], &finally[..]]);
                    blocks.extend(handlers.iter().map(|handler| &handler[..]));
                }
                Stmt::With { body, .. } => blocks.push(body),
                Stmt::Match { cases, .. } => blocks.extend(cases.iter().map(|case| &case.body[..])),
                _ => {}
            }
        }
    }
    false
}
