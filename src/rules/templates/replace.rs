//! One call in the place of another.

use super::edits::{insert, is_name, quick_fix, refactor, replace, without_statement};
use crate::catalog::SparkVersion;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, Argument, CallSite, NodeId, Operator, ResultUse, Write};
use crate::rules::Fix;
use crate::text::Span;

/// `collect()` to `take(100)`.
pub fn take(action: &Action) -> Fix {
    quick_fix(format!("Replace {}() by take(100)", action.method), vec![replace(call(&action.site), "take(100)")])
}

/// `collect()[0]` to `first()`.
pub fn first(text: &str, action: &Action) -> Option<Fix> {
    let after = text.get(action.site.call.end as usize..)?;
    let edit = replace(Span { end: action.site.call.end + 3, ..call(&action.site) }, "first()");
    let title = format!("Replace {}()[0] by first()", action.method);
    after.starts_with("[0]").then(|| quick_fix(title, vec![edit]))
}

/// `collect()` to `toLocalIterator()`, where the result is only gone through.
pub fn iterate(action: &Action) -> Option<Fix> {
    let edit = replace(call(&action.site), "toLocalIterator()");
    let title = format!("Replace {}() by toLocalIterator(): one partition at a time", action.method);
    (action.result == ResultUse::Iterated).then(|| quick_fix(title, vec![edit]))
}

/// The statement of a `collect()` or `toPandas()` to a write of the same rows.
pub fn write_rows(text: &str, action: &Action) -> Option<Fix> {
    let statement = action.site.statement;
    let frame = action.site.receiver.of(text);
    let written = statement.of(text).trim_end();
    let is_whole = statement.start as usize + written.len() == action.site.call.end as usize;
    let bound = match &action.result {
        ResultUse::Discarded => statement.start == action.site.call.start,
        ResultUse::Bound(name) => written.starts_with(name.as_str()),
        _ => false,
    };
    if !(is_whole && bound) || frame.is_empty() {
        return None;
    }
    let write = if action.on_rdd { "saveAsTextFile(\"path/to/rows\")" } else { "write.parquet(\"path/to/rows\")" };
    let title = format!("Replace {}() by a write", action.method);
    Some(quick_fix(title, vec![replace(statement, format!("{frame}.{write}"))]))
}

/// `.limit(10000)` in front of an action.
pub fn limit_rows(action: &Action) -> Option<Fix> {
    let at = action.site.receiver.end;
    let edit = replace(Span { start: at, end: at }, ".limit(10000)");
    (!action.site.receiver.is_empty()).then(|| quick_fix(format!("Limit the rows of {}()", action.method), vec![edit]))
}

/// `coalesce(n)` to `repartition(n)`: a shuffle, but the steps before it keep their tasks.
pub fn repartition(plan: &StaticPlan, text: &str, id: NodeId) -> Option<Fix> {
    let node = plan.node(id);
    let site = node.site.as_ref().filter(|_| matches!(node.operator, Operator::Coalesce { .. }))?;
    let title = format!("Replace coalesce by repartition{}", site.arguments.of(text));
    Some(refactor(format!("{title}: the steps before it keep their tasks"), vec![replace(site.method, "repartition")]))
}

/// A call taken out of its chain: `df.coalesce(1).write` to `df.write`.
pub fn without_call(text: &str, site: &CallSite) -> Option<Fix> {
    let dot = Span { start: site.receiver.end, end: site.call.end };
    let title = format!("Remove {}", call(site).of(text));
    (!site.receiver.is_empty()).then(|| quick_fix(title, vec![replace(dot, "")]))
}

/// A call put in front of a writer that starts at its frame: `df.write…` to `df.repartition("day").write…`.
pub fn before_write(text: &str, write: &Write, call: &str, title: &str) -> Option<Fix> {
    let starts_here = write.chain.of(text).trim_start().trim_start_matches('\\').trim_start().starts_with(".write");
    let edit = insert(write.chain.start as usize, format!(".{call}"));
    starts_here.then(|| quick_fix(title, vec![edit]))
}

/// A call put in front of the last one of a writer: `df.write.parquet(…)` to `df.write.mode("append").parquet(…)`.
pub fn on_writer(action: &Action, call: &str, title: &str) -> Option<Fix> {
    let at = action.site.receiver;
    let edit = insert(at.end as usize, format!(".{call}"));
    (at.start < at.end).then(|| quick_fix(title, vec![edit]))
}

/// `df.orderBy(…)` to `df.sortWithinPartitions(…)`.
pub fn sort_within_partitions(text: &str, site: &CallSite) -> Option<Fix> {
    let title = format!("Replace {} by sortWithinPartitions", site.method.of(text));
    (!site.receiver.is_empty()).then(|| quick_fix(title, vec![replace(site.method, "sortWithinPartitions")]))
}

/// `df.repartition(200).coalesce(10)` to `df.repartition(10)`: one shuffle, into the smaller number.
pub fn merge_repartition(text: &str, first: &CallSite, second: &CallSite) -> Option<Fix> {
    let title = format!("Replace both by repartition{}", second.arguments.of(text));
    let removed = Span { start: first.receiver.end, end: first.call.end };
    let apart = !first.receiver.is_empty() && !second.receiver.is_empty() && !removed.intersects(second.method);
    apart.then(|| quick_fix(title, vec![replace(removed, ""), replace(second.method, "repartition")]))
}

/// A statement that drops a table, taken out.
pub fn without_drop(text: &str, site: &CallSite) -> Option<Fix> {
    Some(quick_fix("Remove the drop: the write replaces the table", vec![without_statement(text, site.statement)?]))
}

/// `toPandas()` to `pandas_api()`: a distributed frame with the methods of pandas.
pub fn pandas_api(version: SparkVersion, action: &Action) -> Option<Fix> {
    let is_frame = action.kind == ActionKind::ToPandas && action.method == "toPandas" && !action.on_rdd;
    let edit = replace(call(&action.site), "pandas_api()");
    let title = "Replace toPandas() by pandas_api(): the rows stay in Spark";
    (is_frame && version.at_least(3, 2)).then(|| quick_fix(title, vec![edit]))
}

fn call(site: &CallSite) -> Span {
    site.method.cover(site.arguments)
}

/// A statement `broadcast(df)` moved around the `df` of a join: the statement goes, the join's side is wrapped.
pub fn move_around(text: &str, site: &CallSite, side: Span) -> Option<Fix> {
    let is_around = |argument: &Argument| argument.span.of(text) == side.of(text);
    let (before, after) = if site.args.first().is_some_and(is_around) {
        let argument = site.args.first()?.span;
        (Span { start: site.call.start, end: argument.start }, Span { start: argument.end, end: site.call.end })
    } else if site.receiver.of(text) == side.of(text) {
        (Span { start: site.call.start, end: site.call.start }, Span { start: site.receiver.end, end: site.call.end })
    } else {
        return None;
    };
    if site.statement != site.call || side.intersects(site.statement) {
        return None;
    }
    let edits = vec![
        without_statement(text, site.statement)?,
        insert(side.start as usize, before.of(text)),
        insert(side.end as usize, after.of(text)),
    ];
    Some(quick_fix("Move the hint to the side of the join", edits))
}

/// A statement `df.call()` to `df = df.call()`.
pub fn assign(text: &str, site: &CallSite, frame: &str) -> Option<Fix> {
    let assigned = insert(site.statement.start as usize, format!("{frame} = "));
    let is_statement = site.statement.start == site.call.start && is_name(frame);
    let title = format!("Assign the result of {} to {frame}", site.method.of(text));
    is_statement.then(|| quick_fix(title, vec![assigned]))
}
