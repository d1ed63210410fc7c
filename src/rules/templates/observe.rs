//! Rows counted while they are written.

use super::edits::{
    Functions, import_line, indentation, insert, is_name, line_after, lines_before, quick_fix, replace,
    without_statement,
};
use crate::catalog::SparkVersion;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, ActionKind, ResultUse};
use crate::rules::Fix;

/// What the counter is called.
const COUNTER: &str = "written_rows";

/// The count of a log line taken from the write: an `Observation` on the written frame, and the line behind the write.
pub fn observe(plan: &StaticPlan, text: &str, version: SparkVersion, count: &Action, write: &Action) -> Option<Fix> {
    let ActionKind::Write(written) = &write.kind else { return None };
    let (counts, writes) = (count.site.statement, write.site.statement);
    let is_same = count.input == write.input && is_name(count.site.receiver.of(text));
    let one_block = indentation(text, counts)? == indentation(text, writes)?;
    let is_free = !text.contains(COUNTER) && version.at_least(3, 3) && !written.chain.is_empty();
    let is_later = counts.start > writes.start;
    // A name is read behind its line: those lines must stand behind the write.
    let is_name = matches!(count.result, ResultUse::Bound(_));
    let reads_later = !is_name || count.uses.logged.iter().all(|place| place.start > writes.end);
    let value = format!("{COUNTER}.get[{}]", quoted("rows", counts.of(text))?);
    if !(is_same && one_block && is_free && (is_later || reads_later)) {
        return None;
    }
    let functions = Functions::of(plan, text);
    let rows = format!("{}({}(1)).alias(\"rows\")", functions.call("count"), functions.call("lit"));
    let import = match plan.uses.functions_alias.is_none() && rows.contains("F.") {
        true => "from pyspark.sql import Observation, functions as F",
        false => "from pyspark.sql import Observation",
    };
    let mut edits = vec![
        import_line(plan, text, import),
        lines_before(text, writes, &[format!("{COUNTER} = Observation()")])?,
        insert(written.chain.start as usize, format!(".observe({COUNTER}, {rows})")),
    ];
    if is_later {
        edits.push(replace(count.site.call, value));
    } else {
        let call = (count.site.call.start - counts.start) as usize;
        let (before, after) = counts.of(text).split_at_checked(call)?;
        let moved = format!("{before}{value}{}", after.get(count.site.call.len()..)?);
        edits.push(without_statement(text, counts)?);
        edits.push(line_after(text, writes, moved.trim_end())?);
    }
    Some(quick_fix("Count the rows while they are written", edits))
}

/// A text in quotes that a statement's own texts don't use: it may stand in one of them.
fn quoted(text: &str, statement: &str) -> Option<String> {
    let quote = ['"', '\''].into_iter().find(|&quote| !statement.contains(quote))?;
    Some(format!("{quote}{text}{quote}"))
}
