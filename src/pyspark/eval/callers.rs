//! Calls of the file's own functions: an action in a function that a loop calls runs in that loop.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Interpreter;
use crate::pyspark::plan::{LocalCall, LoopId, ScopeId, StaticPlan};
use crate::pyspark::value::Closure;
use crate::text::Span;

/// How many functions lie between a loop and what it runs at most.
const FAR: usize = 8;

impl<'a> Interpreter<'a> {
    /// Notes a call of a function of the file by another one, or by the module.
    pub(super) fn local_call(&mut self, closure: &Closure<'a>, call: Span) {
        if !closure.code.is_home() {
            return;
        }
        let callee = self.scope_of(closure.code, closure.function);
        let (scope, conditional) = (self.frame.scope, self.frame.conditional);
        if callee == scope || !self.called.insert((callee, call)) {
            return;
        }
        self.plan.calls.push(LocalCall { callee, call, scope, loops: self.frame.loops.clone(), conditional });
    }
}

/// Puts actions without a loop of their own, that certainly run when their function does, into the loop that certainly
/// calls it.
pub(super) fn loops_of_callers(plan: &mut StaticPlan) {
    let mut calls: FxHashMap<ScopeId, Vec<usize>> = FxHashMap::default();
    for (index, call) in plan.calls.iter().enumerate().filter(|(_, call)| !call.conditional) {
        calls.entry(call.callee).or_default().push(index);
    }
    let mut known: FxHashMap<ScopeId, SmallVec<[LoopId; 2]>> = FxHashMap::default();
    for index in 0..plan.actions.len() {
        let action = &plan.actions[index];
        if !action.loops.is_empty() || action.conditional || action.scope == ScopeId(0) {
            continue;
        }
        let scope = action.scope;
        let loops = known.entry(scope).or_insert_with(|| around(plan, &calls, scope)).clone();
        plan.actions[index].loops = loops;
    }
}

/// The loops of the nearest call that leads to a function.
fn around(plan: &StaticPlan, calls: &FxHashMap<ScopeId, Vec<usize>>, scope: ScopeId) -> SmallVec<[LoopId; 2]> {
    let mut seen = vec![scope];
    let mut callees = vec![scope];
    for _ in 0..FAR {
        let mut callers = Vec::new();
        for call in callees.iter().filter_map(|callee| calls.get(callee)).flatten().map(|index| &plan.calls[*index]) {
            if !call.loops.is_empty() {
                return call.loops.clone();
            }
            if !seen.contains(&call.scope) {
                seen.push(call.scope);
                callers.push(call.scope);
            }
        }
        callees = callers;
    }
    SmallVec::new()
}
