//! A union a turn.

use super::shape::{Growth, growths, has_many_turns, is_cut, turns};
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{NodeId, Operator, Source};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// `df = df.union(...)` in a loop: a scan more in the plan each turn.
    ///
    /// ## Why
    /// Each turn adds a leaf to the plan that Spark analyses, plans and lists on its own, and the whole plan is analysed again: a
    /// thousand paths are a thousand scans. One `read` takes all paths, and one filter all keys.
    ///
    /// ## Silent when
    /// - the loop has at most 3 literal items, leaves in its first turn, or is a retry;
    /// - the frames have different columns (`allowMissingColumns`);
    /// - the loop only adds up frames of a list, as `reduce` does;
    /// - the body cuts the plan with a checkpoint;
    /// - what is added depends on the loop's variable (`join-in-loop`).
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// paths = spark.conf.get("job.paths").split(",")
    /// orders = spark.read.parquet(paths[0])
    /// for path in paths[1:]:
    ///     orders = orders.unionByName(spark.read.parquet(path))  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// paths = spark.conf.get("job.paths").split(",")
    /// orders = spark.read.parquet(*paths)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrameReader.parquet.html>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.unionByName.html>
    pub UNION_IN_LOOP = {
        name: "union-in-loop", group: Plan, severity: Information, confidence: Documented,
        since: "0.1.0",
        options: [("max-turns", 3.0, "loops over at most this many literal items are left alone")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let mut reported: Vec<NodeId> = Vec::new();
    for growth in growths(cx.plan, |node| matches!(node.operator, Operator::Union { .. })) {
        let is_known = reported.contains(&growth.variable) || cx.plan.is_repeat(growth.node);
        if !is_known && let Some(finding) = judge(cx, growth) {
            reported.push(growth.variable);
            cx.shared.report(finding);
        }
    }
}

fn judge(cx: &CodeContext<'_>, growth: Growth) -> Option<Finding> {
    let looped = cx.plan.loop_(growth.inside);
    let node = cx.plan.node(growth.node);
    let site = node.site.as_ref()?;
    let depends = |side: &&NodeId| cx.plan.upstream(**side).contains(&growth.variable);
    let missing = site.argument(1, "allowMissingColumns").is_some();
    if missing
        || looped.comprehension
        || !has_many_turns(looped, cx.shared.option("max-turns"))
        || is_cut(cx.plan, growth)
    {
        return None;
    }
    let mut added = node.inputs.iter().filter(|side| !depends(side));
    let (Some(&added), None) = (added.next(), added.next()) else { return None };
    // Frames of a list, made before: the same plan as `reduce` makes.
    let side = cx.plan.node(added);
    if side.operator == Operator::Source(Source::Given) || !side.loops.contains(&growth.inside) {
        return None;
    }
    let (what, instead) = match added_by(cx.plan, added, growth) {
        Added::Read => ("a scan", "Give all paths or a pattern to one read."),
        Added::Rows => ("a literal frame", "Collect the rows in a list and call createDataFrame once."),
        Added::Part => ("a scan of the same frame", "Select all of them by one filter (isin), or group by the key."),
        Added::Other => (
            "an input",
            "Read all of them at once where they have one source, or collect the frames in a list and union that.",
        ),
    };
    let message = format!(
        "{} adds {what} to the plan in {} of this loop, and the whole plan is analysed again each time. {instead}",
        site.method.of(cx.shared.text),
        turns(looped)
    );
    let finding = Finding::new(cx.shared.rule, Severity::Information, site.method, message);
    Some(finding.with_related(looped.header, "the loop"))
}

enum Added {
    Read,
    Rows,
    Part,
    Other,
}

/// What a turn adds.
fn added_by(plan: &StaticPlan, side: NodeId, growth: Growth) -> Added {
    let sources: Vec<_> = plan
        .upstream(side)
        .into_iter()
        .map(|id| plan.node(id))
        .filter_map(|node| match &node.operator {
            Operator::Source(source) => Some((source, node.loops.contains(&growth.inside))),
            _ => None,
        })
        .collect();
    match sources[..] {
        [(Source::Read { .. } | Source::Table(_), true)] => Added::Read,
        [(Source::Local(_), true)] => Added::Rows,
        [(Source::Read { .. } | Source::Table(_), false)] => Added::Part,
        _ => Added::Other,
    }
}
