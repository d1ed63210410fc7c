//! Estimates in the place of exact numbers of distinct values.

use super::edits::{Functions, quick_fix, replace};
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::FunctionCall;
use crate::rules::Fix;

/// `count_distinct("c")` to `approx_count_distinct("c")` in one aggregation; of several columns there is no estimate.
pub fn estimated_counts(plan: &StaticPlan, text: &str, calls: &[&FunctionCall]) -> Option<Fix> {
    const ESTIMATE: &str = "approx_count_distinct";
    let functions = Functions::of(plan, text);
    let is_plain = |call: &&FunctionCall| call.args.len() == 1 && !call.arguments.of(text).contains(['*', '=']);
    if !calls.iter().all(is_plain) {
        return None;
    }
    let edits = calls.iter().map(|call| {
        let is_qualified = text.get(..call.method.start as usize).is_some_and(|before| before.ends_with('.'));
        replace(call.method, if is_qualified { ESTIMATE.to_owned() } else { functions.call(ESTIMATE) })
    });
    let edits = edits.collect();
    Some(quick_fix("Estimate these counts by approx_count_distinct", functions.with_import(edits)))
}
