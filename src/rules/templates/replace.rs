//! One call in the place of another.

use super::edits::{insert, is_name, quick_fix, refactor, replace, without_statement};
use crate::catalog::SparkVersion;
use crate::pyspark::StaticPlan;
use crate::pyspark::api::Class;
use crate::pyspark::plan::{Action, ActionKind, Argument, CallSite, Emptiness, NodeId, Operator, ResultUse, Write};
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
    let is_pandas = action.site.class == Some(Class::PandasOnSpark);
    let edit = replace(Span { start: at, end: at }, if is_pandas { ".head(10000)" } else { ".limit(10000)" });
    (!action.site.receiver.is_empty()).then(|| quick_fix(format!("Limit the rows of {}()", action.method), vec![edit]))
}

/// A call in the place of another of the same frame.
pub fn instead(site: &CallSite, written: &str, title: &str) -> Fix {
    quick_fix(title, vec![replace(call(site), written)])
}

/// A join with this type: in the place of the one that is written, or behind the other arguments.
pub fn join_type(text: &str, site: &CallSite, kind: &str) -> Option<Fix> {
    let edit = match site.argument(2, "how") {
        Some(how) if how.span.of(text).starts_with(['"', '\'']) => replace(how.span, format!("\"{kind}\"")),
        Some(_) => return None,
        None => insert(site.args.last()?.span.end as usize, format!(", how=\"{kind}\"")),
    };
    let title = match kind {
        "inner" => "Say that it is an inner join".to_owned(),
        _ => format!("Make it a {kind} join"),
    };
    Some(quick_fix(title, vec![edit]))
}

/// `.repartition(64)` behind a read.
pub fn repartition_behind(plan: &StaticPlan, read: NodeId) -> Option<Fix> {
    let site = plan.node(read).site.as_ref()?;
    let edit = insert(site.call.end as usize, ".repartition(64)");
    Some(quick_fix("Repartition behind the read (choose the number)", vec![edit]))
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

/// `F.broadcast(a).join(b, …)` to `a.join(F.broadcast(b), …)`: the hint goes from one side of a join to the other.
pub fn move_hint(text: &str, hint: &CallSite, from: Span, to: Span, side: &str) -> Option<Fix> {
    let is_method = hint.method.of(text) == "hint";
    let frame = if is_method { hint.receiver } else { hint.args.first()?.span };
    let (open, close) = (Span { end: frame.start, ..hint.call }, Span { start: frame.end, ..hint.call });
    // A call as it is may stand before `.join` or as an argument; anything else would have to be wrapped.
    let is_plain = |span: Span| !span.of(text).contains([' ', '\n', '\r', '#']);
    if hint.call != from || hint.args.len() != 1 || !is_plain(frame) || !is_plain(to) {
        return None;
    }
    let edits = vec![
        replace(open, ""),
        replace(close, ""),
        insert(to.start as usize, open.of(text)),
        insert(to.end as usize, close.of(text)),
    ];
    Some(quick_fix(format!("Broadcast the {side} side instead"), edits))
}

/// A statement `df.call()` to `df = df.call()`.
pub fn assign(text: &str, site: &CallSite, frame: &str) -> Option<Fix> {
    let assigned = insert(site.statement.start as usize, format!("{frame} = "));
    let is_statement = site.statement.start == site.call.start && is_name(frame);
    let title = format!("Assign the result of {} to {frame}", site.method.of(text));
    is_statement.then(|| quick_fix(title, vec![assigned]))
}

/// `groupByKey().mapValues(sum)` to `reduceByKey(...)`.
pub fn reduce_by_key(text: &str, group: &CallSite, reduced: &CallSite, function: &str) -> Option<Fix> {
    let combine = match function {
        "sum" => "lambda a, b: a + b",
        "max" => "max",
        "min" => "min",
        _ => return None,
    };
    let chained = Span { start: group.call.end, end: reduced.method.start }.of(text);
    let plain = reduced.method.of(text) == "mapValues" && chained.trim() == ".";
    let span = Span { start: group.method.start, end: reduced.call.end };
    plain.then(|| quick_fix("Replace it by reduceByKey", vec![replace(span, format!("reduceByKey({combine})"))]))
}

/// `df.count() == 0` to `df.isEmpty()`, or to `len(df.take(1)) == 0` before there was one.
pub fn is_empty(text: &str, has_method: bool, action: &Action, test: Emptiness) -> Option<Fix> {
    let receiver = action.site.receiver.of(text);
    if !test.span.contains(action.site.call) || receiver.is_empty() {
        return None;
    }
    let asked = match (has_method, test.if_empty) {
        (true, true) => format!("{receiver}.isEmpty()"),
        (true, false) => format!("not {receiver}.isEmpty()"),
        (false, true) => format!("len({receiver}.take(1)) == 0"),
        (false, false) => format!("len({receiver}.take(1)) > 0"),
    };
    let title = format!("Ask {}", if has_method { "isEmpty()" } else { "take(1)" });
    let fix = quick_fix(title, vec![replace(test.span, asked)]);
    Some(Fix { safe: true, ..fix })
}

/// `len(df.collect())` and the like to `df.count()`.
pub fn count_rows(text: &str, action: &Action, whole: Span) -> Option<Fix> {
    let receiver = action.site.receiver.of(text);
    if !whole.contains(action.site.call) || receiver.is_empty() {
        return None;
    }
    let fix = quick_fix("Replace it by count()", vec![replace(whole, format!("{receiver}.count()"))]);
    Some(Fix { safe: true, ..fix })
}

/// A call that is a statement of its own, taken out with its line.
pub fn without_line(text: &str, site: &CallSite) -> Option<Fix> {
    let edit = without_statement(text, site.statement)?;
    let title = format!("Remove {}", call(site).of(text));
    (site.statement == site.call).then(|| quick_fix(title, vec![edit]))
}

/// `rows = df.collect()` and `len(rows)` to a count and its name.
pub fn count_named_rows(action: &Action, name: &str, lengths: &[Span]) -> Fix {
    let lengths = lengths.iter().map(|&whole| replace(whole, name));
    let edits = std::iter::once(replace(call(&action.site), "count()")).chain(lengths).collect();
    Fix { safe: true, ..quick_fix("Replace it by count()", edits) }
}
