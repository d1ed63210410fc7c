//! A key under which too many rows may come together.

use super::evidence;
use super::sides::words;
use crate::declare_rule;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{CallSite, Join, JoinCondition, Literal, NodeId, Operator, RowBound};
use crate::rules::{CodeContext, Finding, Severity, templates};
use crate::text::Span;

declare_rule! {
    /// A key of a join or window that brings too many rows together by the code: filled with one value, or of few values.
    ///
    /// ## Why
    /// All rows of one key go to one task, and the stage ends when that task ends. Adaptive execution splits such a partition only in a
    /// join between two shuffles: not in an aggregation, not in a window, and not where the split would need one more shuffle.
    ///
    /// Rows that an outer join keeps though their key is null meet in one task: all nulls have one hash. That is so where the key is a
    /// column of the optional side of an outer join before: it is null in each row that found no match.
    ///
    /// A value that stands for "unknown" makes a hot key out of all rows without one; rows whose key is null would have matched nothing.
    ///
    /// ## Silent when
    /// - nothing in the code makes the key a hot one: what a run measured without it is `skewed-stage`;
    /// - the window's frame isn't known to be large;
    /// - the join has a salt among its keys;
    /// - the rows without the key are filtered out before, or the join drops them (an inner join).
    ///
    /// A hint; a warning once a linked run measured the skew in a stage of this line.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits").fillna({"user_id": "unknown"})
    /// users = spark.table("web.users")
    /// joined = visits.join(users, "user_id", "left")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// users = spark.table("web.users")
    /// joined = visits.join(users, "user_id", "left").fillna({"user_id": "unknown"})
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-performance-tuning.html#optimizing-skew-join>
    /// - <https://issues.apache.org/jira/browse/SPARK-33832> (splits that would need a shuffle)
    /// - <https://issues.apache.org/jira/browse/SPARK-39921> (the streamed side of a broadcast join)
    pub SKEW_PRONE_KEY = {
        name: "skew-prone-key", group: Joins, severity: Warning, confidence: Reasoned,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        let (Operator::Join(join), Some(site)) = (&node.operator, &node.site) else { continue };
        let found = filled_key(cx, &node.inputs, join, site).or_else(|| null_key(cx, &node.inputs, join, site));
        let Some(finding) = found else { continue };
        let finding = if_measured(cx, finding, &[id]).with_fixes(templates::heaviest_keys(cx.plan, cx.shared.text, id));
        cx.shared.report(finding);
    }
    for (index, window) in cx.plan.windows.iter().enumerate() {
        let large = |&id: &NodeId| cx.plan.bound(id) == RowBound::Unbounded;
        let keys: Option<Vec<&String>> = window.keys.iter().map(Option::as_ref).collect();
        let Some(keys) = keys.filter(|keys| !keys.is_empty() && keys.iter().all(|key| has_few_values(key))) else {
            continue;
        };
        if window.used_on.iter().any(large) {
            let names = keys.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(", ");
            let message = format!(
                "By its name {names} has a few values only: this window sorts all rows of each in one task, and adaptive execution splits no window. Add a key with more values to partitionBy, or aggregate first."
            );
            let span = partition_call(cx.shared.text, &window.site).unwrap_or(window.site.method);
            let over = cx.plan.functions.iter().filter(|call| call.over.is_some_and(|over| over.order == Some(index)));
            let nodes: Vec<NodeId> = over.flat_map(|call| call.used_in.iter().copied()).collect();
            let finding = Finding::new(cx.shared.rule, Severity::Hint, span, message);
            let finding = if_measured(cx, finding, &nodes);
            cx.shared.report(finding);
        }
    }
}

/// The finding as a warning, if a linked run measured the skew in a stage of these operators.
fn if_measured(cx: &CodeContext<'_>, finding: Finding, nodes: &[NodeId]) -> Finding {
    let Some((verdict, label)) = nodes.iter().find_map(|&id| evidence::fired(&cx.shared, id, "skewed-stage")) else {
        return finding;
    };
    let message = format!("{} In run {label}: {}.", finding.message, verdict.short);
    let measured = evidence::measured("slowest task", verdict.short.clone(), label);
    Finding { severity: Severity::Warning, message, ..finding }.with_measured(Some(measured))
}

/// A join by a key whose missing values were filled with a literal before.
fn filled_key(cx: &CodeContext<'_>, sides: &[NodeId], join: &Join, site: &CallSite) -> Option<Finding> {
    let keys = keys_of(join);
    if keys.iter().any(|key| words(key).iter().any(|word| word.contains("salt"))) {
        return None;
    }
    let (key, at) = sides.iter().find_map(|&side| keys.iter().find_map(|&key| Some((key, fill(cx, side, key)?))))?;
    let message = format!(
        "The rows without {key} were given one value before, so they all go to one task of this join. Fill it behind the join: rows whose key is null match nothing, and a left join keeps them where they are."
    );
    Some(Finding::new(cx.shared.rule, Severity::Hint, site.method, message).with_related(at, "fills the key"))
}

fn keys_of(join: &Join) -> Vec<&str> {
    match &join.condition {
        JoinCondition::Using(keys) => keys.iter().map(String::as_str).collect(),
        _ => join.terms.iter().flat_map(|term| &term.sides).filter_map(|side| side.name.as_deref()).collect(),
    }
}

/// An outer join that keeps rows whose key is null, as they found no match in an outer join before.
fn null_key(cx: &CodeContext<'_>, sides: &[NodeId], join: &Join, site: &CallSite) -> Option<Finding> {
    let &[left, right] = sides else { return None };
    let kept: &[NodeId] = match join.kind.as_deref()? {
        "left" => &[left],
        "right" => &[right],
        "full" => &[left, right],
        _ => return None,
    };
    // Any other key spreads the rows.
    let is_only = match &join.condition {
        JoinCondition::Using(keys) => keys.len() == 1,
        _ => join.terms.len() == 1,
    };
    let keys = if is_only { keys_of(join) } else { Vec::new() };
    let null = |&side: &NodeId| keys.iter().find_map(|&key| Some((key, made_null(cx, side, key)?)));
    let (key, at) = kept.iter().find_map(null)?;
    let message = format!(
        "{key} is null in each row that found no match in the join before, and this join keeps these rows: they all go to one task. Join the rows that have {key} and union the others behind it."
    );
    Some(Finding::new(cx.shared.rule, Severity::Hint, site.method, message).with_related(at, "leaves the key null"))
}

/// The outer join that makes a column of a side null, if nothing behind it deals with that.
fn made_null(cx: &CodeContext<'_>, side: NodeId, key: &str) -> Option<Span> {
    let text = cx.shared.text;
    let mut at = side;
    for _ in 0..cx.plan.nodes.len() {
        let node = cx.plan.node(at);
        match &node.operator {
            Operator::Join(before) => {
                let &[left, right] = &node.inputs[..] else { return None };
                let (optional, kept) = match before.kind.as_deref()? {
                    "left" => (right, left),
                    "right" => (left, right),
                    _ => return None,
                };
                let is_common =
                    matches!(&before.condition, JoinCondition::Using(keys) if keys.iter().any(|it| it == key));
                let is_null = !is_common && provides(cx, optional, key) && !provides(cx, kept, key);
                return node.site.as_ref().filter(|_| is_null).map(|site| site.method);
            }
            Operator::Filter { .. } | Operator::Project { .. } | Operator::WithColumns => {
                let arguments = node.site.as_ref().map(|site| site.arguments.of(text)).unwrap_or_default();
                let drops = node.site.as_ref().is_some_and(|site| site.method.of(text).starts_with("drop"));
                let passes = matches!(node.operator, Operator::Project { .. }) && !drops;
                if !passes && arguments.contains(key) || drops && arguments == "()" {
                    return None;
                }
            }
            Operator::Cache | Operator::Hint(_) => {}
            _ => return None,
        }
        at = *node.inputs.first()?;
    }
    None
}

/// Whether a frame is known to have a column: it is selected, added or made by name.
fn provides(cx: &CodeContext<'_>, frame: NodeId, key: &str) -> bool {
    let quoted = [format!("\"{key}\""), format!("'{key}'")];
    cx.plan.upstream(frame).into_iter().any(|id| {
        let node = cx.plan.node(id);
        let names = matches!(
            node.operator,
            Operator::Project { .. } | Operator::WithColumns | Operator::Aggregate { .. } | Operator::Window
        );
        let written = node.site.as_ref().map(|site| site.arguments.of(cx.shared.text)).unwrap_or_default();
        names && quoted.iter().any(|name| written.contains(name.as_str()))
    })
}

/// Where a side fills a column with a literal.
fn fill(cx: &CodeContext<'_>, side: NodeId, key: &str) -> Option<Span> {
    let mut at = side;
    for _ in 0..cx.plan.nodes.len() {
        let node = cx.plan.node(at);
        if let Some(site) = &node.site
            && fills(cx.plan, cx.shared.text, at, site, key)
        {
            return Some(site.method);
        }
        match node.operator {
            Operator::Filter { .. } | Operator::Project { .. } | Operator::WithColumns | Operator::Cache => {}
            Operator::Hint(_) => {}
            _ => return None,
        }
        at = *node.inputs.first()?;
    }
    None
}

fn fills(plan: &StaticPlan, text: &str, id: NodeId, site: &CallSite, key: &str) -> bool {
    match site.method.of(text) {
        "fillna" | "fill" => match site.argument(0, "value").map(|value| &value.value) {
            Some(Literal::Dict(entries)) => entries.iter().any(|(name, _)| *name == Literal::Text(key.to_owned())),
            Some(_) => match site.argument(1, "subset").map(|subset| &subset.value) {
                Some(Literal::List(names)) => names.contains(&Literal::Text(key.to_owned())),
                Some(name) => *name == Literal::Text(key.to_owned()),
                None => false,
            },
            None => false,
        },
        "withColumn" => {
            let is_key = site.argument(0, "colName").is_some_and(|name| name.value == Literal::Text(key.to_owned()));
            let coalesces = plan.functions.iter().any(|call| {
                matches!(call.name.as_str(), "coalesce" | "nvl" | "ifnull")
                    && call.used_in.contains(&id)
                    && call.columns == [key]
                    && call.arguments.of(text).contains("lit(")
            });
            is_key && coalesces
        }
        _ => false,
    }
}

/// `is_active`, `gender`, `status`.
fn has_few_values(key: &str) -> bool {
    let words = words(key);
    matches!(words.first().map(String::as_str), Some("is" | "has"))
        || matches!(words.last().map(String::as_str), Some("gender" | "sex" | "status" | "flag" | "active" | "enabled"))
}

/// `partitionBy(...)` in front of the order.
fn partition_call(text: &str, site: &CallSite) -> Option<Span> {
    const CALL: &str = "partitionBy";
    let at = site.receiver.of(text).rfind(CALL)? + site.receiver.start as usize;
    Some(Span::new(at, at + CALL.len()))
}
