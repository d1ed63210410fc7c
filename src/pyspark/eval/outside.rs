//! Callers of the interpreted file in other modules of the project: they run after it, and what they hand to its
//! functions is what the parameters hold there. Where not every caller could be read, a parameter may be anything, too.

use rustc_hash::FxHashSet;

use super::Interpreter;
use super::project::BUDGET;
use crate::pyspark::ir::FunctionId;
use crate::pyspark::plan::{NodeId, Operator, Source};
use crate::pyspark::value::{Closure, Value};
use crate::text::Span;

/// What is known while other modules run for what they call in the interpreted file.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// They run now.
    is_read: bool,
    /// Their paths from the root.
    callers: Vec<std::sync::Arc<str>>,
    /// Functions that the interpreted file calls itself.
    settled: FxHashSet<(u32, FunctionId)>,
    /// Functions that were called without anything of Spark.
    empty_handed: FxHashSet<(u32, FunctionId)>,
    /// Functions that were called with something of Spark.
    told: FxHashSet<(u32, FunctionId)>,
}

impl Outside {
    /// Whether other modules run for what they call.
    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    /// Whether a module is run for what it calls.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.is_read && self.callers.iter().any(|caller| **caller == *path)
    }
}

impl<'a> Interpreter<'a> {
    /// Runs the modules that import the file, and those that import them.
    pub(super) fn read_outside(&mut self) {
        let (callers, mut is_all) = self.files.callers();
        if callers.is_empty() {
            return;
        }
        self.outside =
            Outside { is_read: true, callers: callers.clone(), settled: self.read.clone(), ..Outside::default() };
        let steps = self.files.restart(0);
        let budget = std::mem::replace(&mut self.budget, self.steps + BUDGET);
        let call = std::mem::take(&mut self.files.call);
        let own = self.defined.len();
        let views = self.views.clone();
        for caller in &callers {
            let before = self.files.count();
            let is_read = self.load_module(caller).is_some() && self.files.count() > before;
            is_all &= is_read || self.files.was_read_outside(caller);
            self.views.clone_from(&views);
        }
        self.read_uncalled_from(own);
        self.defined.truncate(own);
        self.views = views;
        is_all &= !self.files.is_spent() && self.steps <= self.budget;
        self.files.call = call;
        self.budget = budget.max(self.steps);
        self.files.restart(steps);
        let outside = std::mem::take(&mut self.outside);
        if !is_all {
            // Others may call with anything: the functions are read for that as well.
            self.read = outside.settled;
        } else {
            // A call with nothing in its hands says less than names and annotations do.
            let is_silent = |function: &(u32, FunctionId)| {
                outside.empty_handed.contains(function)
                    && !outside.told.contains(function)
                    && !outside.settled.contains(function)
            };
            self.read.retain(|function| !is_silent(function));
        }
    }

    /// Notes whether another module's call of one of the file's functions brings something of Spark.
    fn note_outside(&mut self, closure: &Closure<'a>, bound: &[Option<Value<'a>>]) {
        let function = (closure.code.base, closure.function);
        let brings = bound.is_empty() || bound.iter().flatten().any(|value| self.is_spark_s(value, 2));
        if brings {
            self.outside.told.insert(function)
        } else {
            self.outside.empty_handed.insert(function)
        };
    }

    /// Whether a value is of Spark, or holds what is.
    fn is_spark_s(&self, value: &Value<'a>, depth: usize) -> bool {
        match value {
            Value::Frame(_) | Value::Rdd(_) | Value::Object(_) | Value::Reader(_) | Value::Column(_) => true,
            _ if depth == 0 => false,
            Value::Instance(_, env) => {
                let names = &self.envs[env.0 as usize].names;
                names.values().flatten().any(|value| self.is_spark_s(value, depth - 1))
            }
            Value::List(items) | Value::Tuple(items) => {
                items.iter().any(|item| self.is_spark_s(&item.value, depth - 1))
            }
            Value::Dict(entries) => entries.iter().any(|entry| self.is_spark_s(&entry.value.value, depth - 1)),
            Value::Many(element) => self.is_spark_s(element, depth - 1),
            _ => false,
        }
    }

    /// Whether another module's call of one of the file's functions tells something of it. Of a function that the file
    /// calls itself, a call with unknown frames tells nothing new.
    pub(super) fn is_heard(&mut self, closure: &Closure<'a>, bound: &[Option<Value<'a>>]) -> bool {
        let comes_from_outside = self.outside.is_read
            && closure.code.is_home()
            && !self.files.at_home()
            && self.files.call == Span::default();
        if !comes_from_outside {
            return true;
        }
        self.note_outside(closure, bound);
        if !self.outside.settled.contains(&(closure.code.base, closure.function)) {
            return true;
        }
        bound.iter().flatten().all(|value| match value {
            Value::Unknown => false,
            Value::Frame(frame) => !self.is_given(*frame),
            _ => true,
        })
    }

    fn is_given(&self, frame: NodeId) -> bool {
        let given = |id: &NodeId| matches!(self.plan.node(*id).operator, Operator::Source(Source::Given));
        self.plan.upstream(frame).iter().any(given)
    }
}
