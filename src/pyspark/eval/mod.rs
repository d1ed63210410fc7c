//! Abstract interpretation: runs a file with types instead of values and writes down what it does with Spark.
//!
//! Loops are run once, branches are merged, functions are read for their callers' arguments (and with what their
//! parameters' names, annotations and uses tell, if nothing calls them). Work is capped: a file that asks for more than
//! the budget loses facts, never time.
//!
//! Every edit interprets the whole file again, from the statements that `file` keeps: nothing is remembered per function.
//! Places, nodes, loops and scopes in a plan are those of the whole file, and what a function does depends on who called
//! what before it; a memo would have to carry all of that over, and would know every list of the plan. What makes an edit
//! cheap is that a step costs little: names and arguments are looked at, not copied.

mod arguments;
mod builtin;
mod builtin_calls;
mod builtin_terms;
mod by_use;
mod call;
mod callers;
mod column;
mod composed;
mod condition;
mod deletes;
mod effects;
mod either;
mod expression;
mod frame;
mod functions;
mod io;
mod join;
mod library;
mod loops;
mod misuse;
mod modules;
mod names;
mod objects;
mod outside;
mod project;
mod pushed;
mod python;
mod rdd;
mod settings;
mod sql;
mod statement;
mod version;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use self::outside::Outside;
use self::project::Files;
use super::Imports;
use super::file::Placed;
use super::ir::{ExprId, FunctionId};
use super::plan::{Action, CallSite, Literal, LoopId, Node, NodeId, Operator, Scope, ScopeId, SparkUse, StaticPlan};
use super::value::{Closure, Code, EnvId, Item, SparkVersionValue, UserClass, Value};
use super::versions::Versions;
use super::{jobs, magics};
use crate::text::Span;

/// Expressions nested deeper than this, over all calls, are unknown.
const DEPTH: usize = 160;

/// How deep functions of the file are followed into each other.
const CALLS: usize = 12;

/// The plan of a file: its text, its statements, where a new import belongs, and what it may import.
pub(super) fn interpret(text: &str, tops: &[Placed], import_offset: u32, imports: &Imports) -> StaticPlan {
    let expressions: usize = tops.iter().map(|placed| placed.top.exprs.len()).sum();
    let mut interpreter = Interpreter::new(text, 20_000 + 12 * expressions, imports);
    interpreter.plan.uses = SparkUse { import_offset, ..SparkUse::default() };
    let tops: Vec<Code<'_>> =
        tops.iter().map(|placed| Code { top: &placed.top, text, file: 0, origin: 0, base: placed.start }).collect();
    interpreter.scan_imports(&tops);
    for code in &tops {
        interpreter.block(*code, &code.top.body);
    }
    interpreter.read_outside();
    interpreter.read_uncalled_from(0);
    interpreter.find_captures();
    callers::loops_of_callers(&mut interpreter.plan);
    interpreter.keep_own();
    let mut plan = interpreter.plan;
    jobs::read(text, &tops, &mut plan);
    magics::read(text, &mut plan);
    plan.finish();
    plan
}

/// What the code around an expression does with its value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Usage<'a> {
    Discarded,
    Bound(&'a str),
    Returned,
    Iterated,
    Indexed,
    Used,
}

/// The names of one namespace.
#[derive(Debug, Default)]
struct Env<'a> {
    names: FxHashMap<&'a str, Option<Value<'a>>>,
    parent: Option<EnvId>,
    /// It is that of a call, which nobody sees but the call and the functions that are made in it.
    of_call: bool,
    /// Names that `global` and `nonlocal` take from elsewhere.
    outer: SmallVec<[(&'a str, EnvId); 1]>,
}

/// The function that runs, and where in it.
#[derive(Debug)]
struct Frame<'a> {
    env: EnvId,
    scope: ScopeId,
    loops: SmallVec<[LoopId; 2]>,
    conditional: bool,
    returns: Vec<Value<'a>>,
    yields: Vec<Value<'a>>,
    statement: Span,
}

/// One change of a name: where, which, and what it was.
type Change<'a> = (EnvId, &'a str, Option<Option<Value<'a>>>);

/// What a branch that runs has changed so far.
struct Branch<'a> {
    /// The first namespace that is younger than the branch.
    first_env: u32,
    changes: Vec<Change<'a>>,
}

/// How a block ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    /// `return`, `raise`, `break`, `continue`.
    Leaves,
}

struct Interpreter<'a> {
    files: Files<'a>,
    outside: Outside,
    plan: StaticPlan,
    envs: Vec<Env<'a>>,
    journal: Vec<Branch<'a>>,
    frame: Frame<'a>,
    /// Functions that run, to cut recursion.
    calls: Vec<(u32, FunctionId)>,
    /// Functions that were read.
    read: FxHashSet<(u32, FunctionId)>,
    /// Lambdas that were met.
    lambdas: FxHashSet<(u32, FunctionId)>,
    /// Functions and lambdas in the order in which they were met.
    defined: Vec<(Closure<'a>, ScopeId, Option<std::rc::Rc<UserClass<'a>>>)>,
    /// Results by function and arguments.
    memo: FxHashMap<functions::CallKey, Value<'a>>,
    /// Objects made of the file's classes, by the class's namespace.
    instances: FxHashMap<EnvId, Value<'a>>,
    /// The class that an object was made of, by the object's namespace.
    classes: FxHashMap<EnvId, std::rc::Rc<UserClass<'a>>>,
    /// Calls of the file's functions that were noted.
    called: FxHashSet<(ScopeId, Span)>,
    /// Frames by temporary view.
    views: FxHashMap<String, NodeId>,
    scopes: FxHashMap<(Span, u32), ScopeId>,
    /// By the loop, and for one of another file by the call that led there.
    loops: FxHashMap<(Span, Span), LoopId>,
    actions: FxHashMap<(Span, Span), usize>,
    bindings: FxHashMap<Span, usize>,
    windows: FxHashMap<Span, usize>,
    settings: FxHashMap<(Span, Span), usize>,
    discarded: FxHashSet<Span>,
    released: FxHashSet<Span>,
    functions: FxHashMap<Span, u32>,
    python: FxHashMap<Span, usize>,
    /// UDFs by the name that SQL knows them by, in lower case.
    registered: FxHashMap<String, usize>,
    /// Functions that Spark runs, with the plan's index.
    row_functions: Vec<(usize, Closure<'a>)>,
    /// The versions of Spark that a statement left over for those behind it.
    left_to: Option<Versions>,
    /// The arguments of a `print` or a logger's call are being read.
    logging: bool,
    depth: usize,
    steps: usize,
    budget: usize,
    /// Another library with frames or sessions like Spark's is imported.
    has_snowpark: bool,
}

const MODULE: EnvId = EnvId(0);

impl<'a> Interpreter<'a> {
    fn new(text: &'a str, budget: usize, imports: &'a Imports) -> Self {
        let span = Span::new(0, text.len());
        let mut plan = StaticPlan::default();
        plan.scopes.push(Scope { name: String::new(), span, parent: ScopeId(0), is_test: false });
        Self {
            files: Files::new(text, MODULE, imports),
            outside: Outside::default(),
            plan,
            envs: vec![Env::default()],
            journal: Vec::new(),
            frame: Frame {
                env: MODULE,
                scope: ScopeId(0),
                loops: SmallVec::new(),
                conditional: false,
                returns: Vec::new(),
                yields: Vec::new(),
                statement: Span::default(),
            },
            calls: Vec::new(),
            read: FxHashSet::default(),
            lambdas: FxHashSet::default(),
            defined: Vec::new(),
            memo: FxHashMap::default(),
            instances: FxHashMap::default(),
            classes: FxHashMap::default(),
            called: FxHashSet::default(),
            views: FxHashMap::default(),
            scopes: FxHashMap::default(),
            loops: FxHashMap::default(),
            actions: FxHashMap::default(),
            bindings: FxHashMap::default(),
            windows: FxHashMap::default(),
            settings: FxHashMap::default(),
            discarded: FxHashSet::default(),
            released: FxHashSet::default(),
            functions: FxHashMap::default(),
            python: FxHashMap::default(),
            registered: FxHashMap::default(),
            row_functions: Vec::new(),
            left_to: None,
            logging: false,
            depth: 0,
            steps: 0,
            budget,
            has_snowpark: false,
        }
    }

    /// The characters of a relative span.
    fn str(&self, code: Code<'a>, span: Span) -> &'a str {
        code.str(span)
    }

    /// The characters of an expression.
    fn source_of(&self, code: Code<'a>, id: ExprId) -> &'a str {
        code.str(code.top.expr(id).span)
    }

    /// The characters of a span over all files.
    fn text_at(&self, span: Span) -> &'a str {
        self.files.text(span)
    }

    fn span_of(&self, code: Code<'a>, id: ExprId) -> Span {
        code.span(code.top.expr(id).span)
    }

    /// Adds an operator.
    fn node(&mut self, operator: Operator, inputs: &[NodeId], site: Option<CallSite>) -> NodeId {
        let id = NodeId(self.plan.nodes.len() as u32);
        self.plan.nodes.push(Node {
            operator,
            inputs: SmallVec::from_slice(inputs),
            site,
            scope: self.frame.scope,
            loops: SmallVec::from_slice(&self.frame.loops),
            conditional: self.frame.conditional,
            cached: false,
        });
        id
    }

    /// A frame of which nothing but its type is known.
    fn given(&mut self) -> NodeId {
        self.node(Operator::Source(super::plan::Source::Given), &[], None)
    }

    /// Adds an action, or one more input to an action that was met before at the same call.
    fn action(&mut self, action: Action) -> usize {
        if !self.files.is_own(action.site.call) {
            self.remote_action(&action);
        }
        let key = (action.site.call, action.site.method);
        let Some(&index) = self.actions.get(&key) else {
            self.actions.insert(key, self.plan.actions.len());
            self.plan.actions.push(action);
            return self.plan.actions.len() - 1;
        };
        let merged = match (self.plan.actions[index].input, action.input) {
            (Some(before), Some(now)) if before != now => Some(self.merged_node(before, now)),
            (before, now) => before.or(now),
        };
        let known = &mut self.plan.actions[index];
        known.input = merged;
        known.conditional &= action.conditional;
        index
    }

    fn merged_node(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let is_shared = |node: &Node, other: NodeId| node.operator == Operator::Merge && node.inputs.contains(&other);
        if is_shared(self.plan.node(a), b) {
            return a;
        }
        if is_shared(self.plan.node(b), a) {
            return b;
        }
        self.node(Operator::Merge, &[a, b], None)
    }

    /// Either of two values.
    fn merge(&mut self, a: Value<'a>, b: Value<'a>) -> Value<'a> {
        if a.same(&b) {
            return a;
        }
        match (self.imported(a), self.imported(b)) {
            (Value::Frame(a), Value::Frame(b)) => Value::Frame(self.merged_node(a, b)),
            (Value::Rdd(a), Value::Rdd(b)) => Value::Rdd(self.merged_node(a, b)),
            (Value::Rows(a), Value::Rows(b)) => Value::Rows(self.merged_node(a, b)),
            (version @ Value::Version(_), _) | (_, version @ Value::Version(_)) => match version {
                Value::Version(SparkVersionValue::Test(_)) => Value::Version(SparkVersionValue::exact(None)),
                version => version,
            },
            // `None` stands for "not yet"; using it would fail.
            (Value::None, known) | (known, Value::None) if !known.is_scalar() => known,
            (a @ (Value::Text(_) | Value::Template(_)), b @ (Value::Text(_) | Value::Template(_))) => {
                Value::Template(Rc::new(composed::in_common(&a, &b)))
            }
            (Value::Column(a), Value::Column(b)) => Value::Column(column::either(&a, &b)),
            (Value::Reader(a), Value::Reader(b)) => self.either_reader(&a, &b),
            (Value::Writer(a), Value::Writer(b)) => self.either_writer(&a, &b),
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() && a.len() <= 8 => {
                let part = |(a, b): (&Item<'a>, &Item<'a>)| Item {
                    value: self.merge(a.value.clone(), b.value.clone()),
                    span: a.span,
                };
                Value::Tuple(std::rc::Rc::new(a.iter().zip(b.iter()).map(part).collect()))
            }
            (a, b) if arguments::is_choice(&a) && arguments::is_choice(&b) => arguments::choice(a, b),
            (
                a @ (Value::List(_) | Value::Tuple(_) | Value::Many(_)),
                b @ (Value::List(_) | Value::Tuple(_) | Value::Many(_)),
            ) => match (self.element(&a), self.element(&b)) {
                (Some(a), Some(b)) => Value::Many(self.merge(a, b).into()),
                (Some(one), None) | (None, Some(one)) => Value::Many(one.into()),
                (None, None) => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    /// Any element of a collection; `None` if it is empty or no collection.
    fn element(&mut self, collection: &Value<'a>) -> Option<Value<'a>> {
        match collection {
            Value::Many(element) => Some((**element).clone()),
            Value::List(items) | Value::Tuple(items) => {
                let mut values = items.iter().map(|item| item.value.clone());
                let first = values.next()?;
                Some(values.collect::<Vec<_>>().into_iter().fold(first, |all, value| self.merge(all, value)))
            }
            _ => None,
        }
    }

    /// Whether the running file has cost more than its budget.
    fn is_spent(&self) -> bool {
        if self.files.at_home() { self.steps > self.budget } else { self.files.is_spent() }
    }

    /// Whether the file may still be read on; false once it has cost more than its budget.
    fn step(&mut self) -> bool {
        if !self.files.at_home() {
            return self.files.step();
        }
        self.steps += 1;
        self.steps <= self.budget
    }
}

/// Literal parts of a text with holes, holes as `?`.
fn template_text(literal: &Literal) -> Option<String> {
    match literal {
        Literal::Text(text) => Some(text.clone()),
        Literal::Template(parts) => Some(parts.iter().map(|part| part.as_deref().unwrap_or("?")).collect()),
        _ => None,
    }
}
