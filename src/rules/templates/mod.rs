//! Changes that are offered on a piece of the plan: as fixes of a finding, or as refactorings at the cursor.
//!
//! Plain functions from plan and text to a [`Fix`]; `None` where the change would not be right or has no place.

mod broadcast;
mod cache;
mod diagnose;
mod edits;
mod replace;
mod salting;
mod schema;

pub use broadcast::broadcast;
pub use cache::cache_between;
pub use diagnose::{explain, heaviest_keys, rows_per_partition};
pub use replace::{
    assign, first, iterate, limit_rows, move_around, pandas_api, repartition, take, with_columns, without_call,
    write_rows,
};
pub use salting::salting;
pub use schema::schema_skeleton;

use crate::conf::EffectiveConf;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{CallSite, NodeId, Operator};
use crate::rules::Fix;
use crate::text::Span;

/// What is offered at a cursor or selection: on the calls that it touches, else on the calls of its line.
pub fn refactorings(plan: &StaticPlan, text: &str, conf: &EffectiveConf, at: Span) -> Vec<Fix> {
    let touched = offered(plan, text, conf, |site| called(site).intersects(at));
    if !touched.is_empty() {
        return touched;
    }
    let line = edits::line_of(text, at);
    offered(plan, text, conf, |site| line.contains(site.method))
}

/// From the method's name to the closing parenthesis.
fn called(site: &CallSite) -> Span {
    site.method.cover(site.arguments)
}

fn offered(plan: &StaticPlan, text: &str, conf: &EffectiveConf, wanted: impl Fn(&CallSite) -> bool) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for (index, node) in plan.nodes.iter().enumerate() {
        if node.site.as_ref().is_some_and(&wanted) {
            fixes.extend(on_node(plan, text, conf, NodeId(index as u32)));
        }
    }
    for action in plan.actions.iter().filter(|action| wanted(&action.site)) {
        fixes.extend(explain(plan, text, conf.version(), action));
    }
    let mut seen = Vec::new();
    fixes.retain(|fix: &Fix| {
        !seen.contains(&fix.edits) && {
            seen.push(fix.edits.clone());
            true
        }
    });
    fixes
}

fn on_node(plan: &StaticPlan, text: &str, conf: &EffectiveConf, id: NodeId) -> Vec<Fix> {
    let offers = match plan.node(id).operator {
        Operator::Join(_) => vec![
            broadcast(plan, text, conf, id),
            salting(plan, text, id),
            heaviest_keys(plan, text, id),
            rows_per_partition(plan, text, id),
        ],
        Operator::Aggregate { .. } | Operator::Window | Operator::Distinct => {
            vec![heaviest_keys(plan, text, id), rows_per_partition(plan, text, id)]
        }
        Operator::Coalesce { .. } => vec![repartition(plan, text, id)],
        Operator::Source(_) => vec![schema_skeleton(plan, id)],
        _ => Vec::new(),
    };
    offers.into_iter().flatten().collect()
}
