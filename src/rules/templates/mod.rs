//! Changes that are offered on a piece of the plan: as fixes of a finding, or as refactorings at the cursor.
//!
//! Plain functions from plan and text to a [`Fix`]; `None` where the change would not be right or has no place.

mod broadcast;
mod cache;
mod columns;
mod diagnose;
mod distinct;
mod edits;
mod grouped;
mod jdbc;
mod named_columns;
mod observe;
mod replace;
mod salting;
mod schema;
mod streaming;
mod udf;
mod window;
mod with_columns;

pub use broadcast::broadcast;
pub use cache::{cache_between, checkpoint_after, checkpoint_directory, release_after, release_behind};
pub use columns::{builtins, column_operator, null_test, union_by_name};
pub use diagnose::{explain, heaviest_keys, rows_per_partition};
pub use distinct::estimated_counts;
pub use grouped::grouped_counts;
pub use jdbc::jdbc_partitions;
pub use observe::observe;
pub use replace::{
    assign, before_write, count_named_rows, count_rows, first, instead, is_empty, iterate, join_type, limit_rows,
    merge_repartition, move_around, move_hint, on_writer, pandas_api, reduce_by_key, repartition, repartition_behind,
    sort_within_partitions, take, without_call, without_drop, without_line, write_rows,
};
pub use salting::salting;
pub use schema::schema_skeleton;
pub use streaming::{available_now, option_before, watermark};
pub use udf::{UdfCall, by_builtin, pandas_udf, shown, use_arrow};
pub use window::{first_of_key, partition_window, rows_frame};
pub use with_columns::{merge_columns, with_columns};

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
        if node.site.as_ref().is_some_and(|site| !site.is_sql() && wanted(site)) {
            fixes.extend(on_node(plan, text, conf, NodeId(index as u32)));
        }
    }
    for window in plan.windows.iter().filter(|window| !window.site.is_sql() && wanted(&window.site)) {
        fixes.extend(partition_window(plan, text, window));
    }
    for action in plan.actions.iter().filter(|action| !action.site.is_sql() && wanted(&action.site)) {
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
        Operator::Source(_) => vec![schema_skeleton(plan, text, id), jdbc_partitions(plan, text, id)],
        _ => Vec::new(),
    };
    offers.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::SparkVersion;
    use crate::pyspark::PythonFile;

    /// What is offered at `at` in a file with the frames `a` and `b`, by title.
    fn titles(code: &str, at: &str) -> Vec<String> {
        let head = "from pyspark.sql import SparkSession, functions as F\nspark = SparkSession.builder.getOrCreate()\n";
        let text: std::sync::Arc<str> = format!("{head}a = spark.table('a')\nb = spark.table('b')\n{code}").into();
        let start = text.rfind(at).expect("the code holds the place");
        let conf = EffectiveConf::new(SparkVersion::new(3, 5, 9), Vec::new());
        let plan = PythonFile::parse(&text).plan().clone();
        let fixes = refactorings(&plan, &text, &conf, Span::new(start, start + at.len()));
        fixes.into_iter().map(|fix| fix.title).collect()
    }

    fn offers(titles: &[String], start: &str) -> bool {
        titles.iter().any(|title| title.starts_with(start))
    }

    #[test]
    fn only_a_side_that_may_be_built_is_broadcast() {
        let by = |kind: &str| titles(&format!("c = a.join(b, 'k', '{kind}')\n"), "join");
        for kind in ["inner", "left", "leftouter", "left_semi", "left_anti"] {
            assert!(offers(&by(kind), "Broadcast the right"), "{kind}: {:?}", by(kind));
        }
        assert!(offers(&by("right_outer"), "Broadcast the left"), "{:?}", by("right_outer"));
        assert!(!offers(&by("full"), "Broadcast") && !offers(&by("full"), "Salt"), "{:?}", by("full"));
        assert!(!offers(&by(""), "Broadcast"), "a type that Spark doesn't know");
    }

    #[test]
    fn a_join_that_is_broadcast_already_needs_neither() {
        let titles = titles("c = a.join(F.broadcast(b), 'k')\n", "join");
        assert!(!offers(&titles, "Broadcast") && !offers(&titles, "Salt"), "{titles:?}");
    }

    #[test]
    fn no_python_is_offered_in_sql() {
        let code = "c = spark.sql('SELECT /*+ COALESCE(1) */ k FROM a JOIN b USING (k) GROUP BY k')\n";
        for at in ["COALESCE", "JOIN", "GROUP BY", "SELECT", "c ="] {
            assert_eq!(titles(code, at), Vec::<String>::new(), "{at}");
        }
    }

    #[test]
    fn keys_that_the_code_does_not_tell_are_not_salted() {
        assert!(!offers(&titles("c = a.join(b, keys)\n", "join"), "Salt"));
        assert!(!offers(&titles("c = a.join(b, a.x < b.y)\n", "join"), "Salt"));
        assert!(offers(&titles("keys = ['k', 'd']\nc = a.join(b, keys)\n", "join"), "Salt"));
    }

    #[test]
    fn a_cursor_on_one_call_gets_the_offers_of_that_call() {
        let code = "c = a.join(b, 'k').coalesce(4)\n";
        assert!(!offers(&titles(code, "coalesce"), "Broadcast"));
        assert!(offers(&titles(code, "coalesce"), "Replace coalesce"));
        assert!(offers(&titles(code, "c ="), "Broadcast"), "elsewhere on the line: all of its calls");
    }
}
