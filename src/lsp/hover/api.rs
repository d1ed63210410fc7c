//! What PySpark's API tells of a method or function: whether anything runs, whether rows move, and since when.

use crate::catalog::SparkVersion;
use crate::pyspark::StaticPlan;
use crate::pyspark::api::{self, Class, Effect, Entry, Function, FunctionKind, Run, Shuffle, Step};
use crate::pyspark::plan::{CallSite, Operator};
use crate::text::Span;

/// What there is to say of the call, function or grouping at an offset, and the name as its place. `version` is the
/// project's.
pub(super) fn section(plan: &StaticPlan, text: &str, offset: usize, version: SparkVersion) -> Option<(Span, String)> {
    let of_call = |site: &CallSite| {
        let entry = site.entry(text)?;
        Some((site.method, said(site.method.of(text), entry, of_method(plan, site, entry)?, version)))
    };
    let action = plan.actions.iter().map(|action| &action.site).find(|site| site.method.touches(offset));
    let node = plan.nodes.iter().filter_map(|node| node.site.as_ref()).find(|site| site.method.touches(offset));
    action
        .or(node)
        .and_then(of_call)
        .or_else(|| grouping(plan, text, offset, version))
        .or_else(|| of_function(plan, offset, version))
}

fn said(name: &str, entry: &Entry, what: String, version: SparkVersion) -> String {
    let since = match entry.since {
        Some(since) if since > version => format!(" It is new in Spark {since}; this project runs {version}."),
        Some(since) => format!(" Since Spark {since}."),
        None => String::new(),
    };
    format!("`{name}` {what}{since}")
}

fn of_method(plan: &StaticPlan, site: &CallSite, entry: &Entry) -> Option<String> {
    let moves = if is_broadcast(plan, site) { "No shuffle: one side is broadcast." } else { moves(entry.shuffle) };
    let what = match entry.effect {
        Effect::Action(run) => format!("is an action: {}.", of_run(run)),
        Effect::Lazy(Step::Cache) => {
            return Some("is lazy: the first action that needs the rows keeps them, later ones read them.".to_owned());
        }
        Effect::Lazy(Step::RddByJob) => format!(
            "is a transformation, yet a job runs at once: it looks at the rows before the partitions are known. {moves}"
        ),
        Effect::Lazy(_) if entry.shuffle.is_none() => return None,
        Effect::Lazy(_) => format!("is a transformation: nothing runs until an action needs the rows. {moves}"),
        Effect::View => "names the frame for SQL; nothing runs.".to_owned(),
        Effect::Column(_) | Effect::Setup(_) | Effect::Release | Effect::Metadata => return None,
    };
    Some(what.trim_end().to_owned())
}

fn is_broadcast(plan: &StaticPlan, site: &CallSite) -> bool {
    let hint = Operator::Hint("broadcast".to_owned());
    let joins = plan.nodes.iter().filter(|node| matches!(node.operator, Operator::Join(_)));
    let mut here = joins.filter(|node| node.site.as_ref().is_some_and(|known| known.call == site.call));
    here.any(|node| node.inputs.iter().any(|input| plan.node(*input).operator == hint))
}

fn of_run(run: Run) -> &'static str {
    match run {
        Run::Collect | Run::ToPandas | Run::ToValues => "all rows come to the driver",
        Run::Take | Run::Head => "so many rows come to the driver, out of as few partitions as it takes",
        Run::First => "one row comes to the driver, out of as few partitions as it takes",
        Run::Lookup => "the values of one key come to the driver",
        Run::Iterate => "all rows come to the driver, one partition at a time",
        Run::Count => "every partition counts its rows",
        Run::Show => "some rows are computed and printed",
        Run::IsEmpty => "partitions are computed until there is a row",
        Run::Foreach => "a function runs on each row, on the executors",
        Run::ForeachPartition => "a function runs on each partition, on the executors",
        Run::Reduce => "all rows become one value on the driver",
        Run::Statistic | Run::Summary => "all rows are read for it at once",
        Run::Checkpoint => "the rows are computed and kept at once, and the plan starts anew from them",
        Run::Fit => "the rows are read at once, by some models many times",
        Run::RunJob => "a function runs on each of the partitions",
        Run::WriteFormat | Run::WritePath | Run::WriteTable | Run::WriteJdbc | Run::WriteGiven => {
            "the whole frame is computed and written"
        }
        Run::WriteMerge => "the frame is computed, and joined with the table that it changes",
        Run::StartPath | Run::StartTable => "a query starts that runs on until it is stopped, or its input ends",
    }
}

fn moves(shuffle: Option<Shuffle>) -> &'static str {
    match shuffle {
        None => "",
        Some(Shuffle::Never) => "No shuffle: rows stay in their partitions.",
        Some(Shuffle::Always) => "It shuffles: rows are distributed anew.",
        Some(Shuffle::UnlessByKeys) => "It shuffles by its keys, unless the rows lie by them already.",
        Some(Shuffle::UnlessSmallSide) => {
            "It shuffles both sides by their keys, unless one is small enough to be broadcast."
        }
        Some(Shuffle::ToOne) => "What each partition has left of its rows goes to one partition.",
        Some(Shuffle::IfAsked) => "No shuffle, unless it is asked for.",
    }
}

/// `groupBy` and `pivot`, which are nothing by themselves: what is computed of the groups behind them is in the plan.
fn grouping(plan: &StaticPlan, text: &str, offset: usize, version: SparkVersion) -> Option<(Span, String)> {
    let word = super::word(text, offset, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let name = word.of(text);
    let entries = [api::entry(Class::DataFrame, name), api::entry(Class::GroupedData, name)];
    let entry = entries.into_iter().flatten().find(|it| matches!(it.step(), Some(Step::Group | Step::Pivot)))?;
    let is_called = text.get(word.end as usize..)?.trim_start().starts_with('(');
    let is_method = text.get(..word.start as usize)?.trim_end().ends_with('.');
    let sites = plan.nodes.iter().filter_map(|node| node.site.as_ref());
    let mut of_groups = sites.filter(|site| matches!(site.class, Some(Class::GroupedData | Class::PandasCogroupedOps)));
    let is_there = is_called && is_method && of_groups.any(|site| site.receiver.contains(word));
    let what = format!("only says how rows are grouped; nothing runs. {}", moves(entry.shuffle));
    is_there.then(|| (word, said(name, entry, what, version)))
}

fn of_function(plan: &StaticPlan, offset: usize, version: SparkVersion) -> Option<(Span, String)> {
    let called = plan.functions.iter().find(|call| call.udf.is_none() && call.method.touches(offset))?;
    let entry = api::entry(Class::Functions, &called.name)?;
    let what = of_kind(entry.function()?)?;
    // SQL may have had it before Python.
    let entry =
        if called.language == crate::pyspark::plan::Language::Sql { Entry { since: None, ..*entry } } else { *entry };
    Some((called.method, said(&called.name, &entry, what, version)))
}

fn of_kind(function: Function) -> Option<String> {
    let kind = match function.kind {
        FunctionKind::Aggregate if function.collects => {
            "puts all values of a group into one list, in one executor's memory."
        }
        FunctionKind::Aggregate => "makes one value of the rows of a group.",
        FunctionKind::Window => "tells something of a row's place, over a window.",
        FunctionKind::Generator => "makes several rows of one.",
        FunctionKind::Partition => "is a transform that a table is partitioned by; it computes no column.",
        FunctionKind::Scalar => "is computed row by row.",
        _ => return None,
    };
    let depends = match function {
        Function { draws: Some(_), .. } => " Without a seed it gives other values each time the frame is computed.",
        Function { by_order: true, .. } => " Its value may change with the order in which rows arrive.",
        Function { by_place: true, .. } => " Its value changes with the partition that a row lies in.",
        _ => "",
    };
    Some(format!("{kind}{depends}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pyspark::PythonFile;

    /// What is told at `|`.
    fn told(code: &str) -> String {
        let code = format!(
            "from pyspark.sql import SparkSession, functions as F\ndf = SparkSession.builder.getOrCreate().table('t')\n{code}"
        );
        let offset = code.find('|').expect("a place is marked");
        let text: std::sync::Arc<str> = code.replace('|', "").into();
        let file = PythonFile::parse(&text);
        section(file.plan(), &text, offset, SparkVersion::new(3, 5, 1)).map(|(_, told)| told).unwrap_or_default()
    }

    #[test]
    fn actions_run_and_transformations_wait() {
        assert_eq!(told("df.col|lect()"), "`collect` is an action: all rows come to the driver. Since Spark 1.3.0.");
        let narrow = told("x = df.wh|ere('a')");
        assert!(
            narrow.starts_with("`where` is a transformation: nothing runs until an action needs the rows. No shuffle")
        );
        assert!(told("df.rdd.reduce|ByKey(max)").contains("shuffles by its keys, unless"));
        assert!(told("df.ca|che()").contains("is lazy"));
        assert!(told("df.check|point()").contains("is an action"));
    }

    #[test]
    fn joins_and_groups_say_when_rows_move() {
        assert!(
            told("df.jo|in(df, 'k').count()").contains("It shuffles both sides by their keys, unless one is small")
        );
        assert!(told("df.jo|in(F.broadcast(df), 'k').count()").contains("No shuffle: one side is broadcast."));
        assert!(told("df.group|By('k').agg(F.sum('v'))").starts_with("`groupBy` only says how rows are grouped"));
        assert!(told("df.groupBy('k').a|gg(F.sum('v'))").contains("It shuffles by its keys"));
        assert_eq!(told("x.group|By('k')"), "");
    }

    #[test]
    fn what_a_function_depends_on_is_told() {
        assert!(told("df.select(F.ra|nd())").starts_with("`rand` is computed row by row. Without a seed"));
        assert!(told("df.agg(F.collect_|list('a'))").contains("one list, in one executor's memory"));
        assert_eq!(told("df.select(F.co|l('a'))"), "");
    }

    #[test]
    fn what_is_newer_than_the_project_is_named() {
        assert!(told("df.toAr|row()").ends_with("It is new in Spark 4.0.0; this project runs 3.5.1."));
    }
}
