//! A number of partitions that is written into the code.

use super::shape::called;
use crate::declare_rule;
use crate::pyspark::plan::{Literal, NodeId, Operator, RowBound};
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// A literal number in `repartition` or `coalesce`.
    ///
    /// ## Why
    /// The right number follows the size of the data and of the cluster, and the number in the code follows neither: what fits today
    /// spills next year. AQE merges small partitions by size where the code leaves the number to it.
    ///
    /// ## Silent when
    /// - the number comes from a constant, a parameter or a setting;
    /// - columns are given as well: the number only bounds them;
    /// - it is one (`single-partition-write`), few rows come in, or the code is a test.
    ///
    /// ## Example
    /// ```toml
    /// [rules]
    /// literal-partition-count = "on"
    /// ```
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders").repartition(200)  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders").hint("rebalance")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#coalescing-post-shuffle-partitions>
    pub LITERAL_PARTITION_COUNT = {
        name: "literal-partition-count", group: Partitions, severity: Hint, confidence: Reasoned,
        since: "0.1.0", off: true, check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let (Operator::Repartition { count: Some(count), keyed: false } | Operator::Coalesce { count: Some(count) }) =
            &node.operator
        else {
            continue;
        };
        let (Some(site), Some(&input)) = (&node.site, node.inputs.first()) else { continue };
        let is_small = matches!(cx.plan.bound(input), RowBound::Exactly(_) | RowBound::Small);
        let written = site.args.first().is_some_and(|argument| {
            let digits = argument.span.of(cx.shared.text);
            matches!(argument.value, Literal::Integer(_))
                && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
        });
        let is_test = cx.plan.scope(node.scope).is_test;
        if *count < 2 || !written || is_small || is_test || cx.plan.is_repeat(NodeId(index as u32)) {
            continue;
        }
        let message = format!(
            "{} fixes the number of partitions, whatever the size of the data. Take it from the configuration, or leave it to AQE.",
            called(site).of(cx.shared.text)
        );
        cx.shared.report(Finding::new(cx.shared.rule, Severity::Hint, called(site), message));
    }
}
