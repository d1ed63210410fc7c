//! A hint that reaches no join.

use crate::declare_rule;
use crate::pyspark::plan::{CallSite, Join, Node, NodeId, Operator};
use crate::rules::{CodeContext, Finding, Fix, Severity, templates};

declare_rule! {
    /// `broadcast(df)` or `df.hint(...)` whose result is thrown away.
    ///
    /// ## Why
    /// Frames don't change: both calls return a new frame that carries the hint. The join that uses the old name is planned without it,
    /// shuffles both sides, and nothing says so.
    ///
    /// ## Silent when
    /// - the result is assigned, passed on or returned.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    /// from pyspark.sql.functions import broadcast
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// currencies = spark.table("shop.currencies")
    /// broadcast(currencies)  # finding
    /// priced = orders.join(currencies, "currency")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    /// from pyspark.sql.functions import broadcast
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// orders = spark.table("shop.orders")
    /// currencies = spark.table("shop.currencies")
    /// priced = orders.join(broadcast(currencies), "currency")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#join-strategy-hints-for-sql-queries>
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.functions.broadcast.html>
    pub BROADCAST_DISCARDED = {
        name: "broadcast-discarded", group: Joins, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for &id in &cx.plan.discarded {
        let node = cx.plan.node(id);
        let (Operator::Hint(hint), Some(site)) = (&node.operator, &node.site) else { continue };
        let method = site.method.of(cx.shared.text);
        let message = format!(
            "Nothing uses the frame that {method} returns, so the {hint} hint reaches no join; the frame under the old name is unchanged. Put the call around the join's side, or assign its result."
        );
        let fixes = [wrap_join(cx, id, node, site), assign(cx, site)];
        let finding = Finding::new(cx.shared.rule, Severity::Warning, site.method, message)
            .with_fixes(fixes.into_iter().flatten());
        cx.shared.report(finding);
    }
}

/// Moves the call around the right side of the next join that reads the same frame, if that side may be built.
fn wrap_join(cx: &CodeContext<'_>, hint: NodeId, node: &Node, site: &CallSite) -> Option<Fix> {
    let frame = node.inputs.first()?;
    let is_target = |join: &Node| {
        let builds_right = |kind: &Join| kind.kind.as_deref().is_some_and(|kind| !matches!(kind, "right" | "full"));
        matches!(&join.operator, Operator::Join(kind) if builds_right(kind)) && join.inputs.get(1) == Some(frame)
    };
    let later = cx.plan.nodes.get(hint.0 as usize + 1..)?;
    let join = later.iter().find(|join| is_target(join))?.site.as_ref()?;
    templates::move_around(cx.shared.text, site, join.argument(0, "other")?.span)
}

/// `broadcast(df)` to `df = broadcast(df)`.
fn assign(cx: &CodeContext<'_>, site: &CallSite) -> Option<Fix> {
    let text = cx.shared.text;
    let frame = if site.method.of(text) == "hint" { site.receiver } else { site.args.first()?.span };
    templates::assign(text, site, frame.of(text))
}
