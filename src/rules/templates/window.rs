//! Windows with a partition key and a frame.

use super::edits::{Functions, import_line, insert, quick_fix, replace};
use super::named_columns::keys_later;
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{CallSite, FunctionCall, WindowOrder};
use crate::rules::Fix;
use crate::text::Span;

/// `Window.orderBy(...)` to `Window.partitionBy("key").orderBy(...)`, with a key of the frame if the code tells one.
pub fn partition_window(plan: &StaticPlan, text: &str, window: &WindowOrder) -> Option<Fix> {
    let site = &window.site;
    let receiver = site.receiver.of(text).trim_end();
    let behind = text.get(site.call.end as usize..)?.trim_start();
    if window.partitioned || receiver.is_empty() || behind.starts_with(".partitionBy") {
        return None;
    }
    let ordered = site.arguments.of(text);
    let keys = window.used_on.iter().take(2).flat_map(|&id| keys_later(plan, id));
    let key = keys.into_iter().find(|key| !ordered.contains(key.as_str())).unwrap_or_else(|| "key".to_owned());
    let edit = match literal_keys(text, site.receiver) {
        Some(arguments) => replace(arguments, format!("(\"{key}\")")),
        None if receiver.contains("partitionBy") => return None,
        None => insert(site.method.start as usize, format!("partitionBy(\"{key}\").")),
    };
    Some(quick_fix("Give the window a partition key (choose the column)", vec![edit]))
}

/// The parentheses of a last `partitionBy(...)`.
fn literal_keys(text: &str, receiver: Span) -> Option<Span> {
    const CALL: &str = "partitionBy(";
    let written = receiver.of(text).trim_end();
    let at = written.rfind(CALL)?;
    let start = receiver.start as usize + at + CALL.len() - 1;
    let end = receiver.start as usize + written.len();
    let inner = text.get(start..end)?;
    let is_last = inner.ends_with(')') && inner.matches('(').count() == inner.matches(')').count();
    let has_chain = inner.trim_end_matches(')').contains(").");
    (is_last && !has_chain).then(|| Span::new(start, end))
}

/// `over(w)` to `over(w.rowsBetween(...))`: rows before the current one, and no ties with it.
pub fn rows_frame(plan: &StaticPlan, text: &str, function: &FunctionCall) -> Option<Fix> {
    let over = function.over?;
    let window = plan.windows.get(over.order?)?;
    let class: String =
        window.site.receiver.of(text).chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect();
    let class = if class.starts_with(char::is_uppercase) { class } else { imported(text)?.to_owned() };
    let end = over.call.end.checked_sub(1)?;
    let inner = text.get(function.call.end as usize..end as usize)?.trim_end();
    if inner.ends_with([',', '(']) || text.get(end as usize..)?.starts_with(|c| c != ')') {
        return None;
    }
    let frame = format!(".rowsBetween({class}.unboundedPreceding, {class}.currentRow)");
    Some(quick_fix("Count rows from the start of the window to the current one", vec![insert(end as usize, frame)]))
}

/// `df.orderBy(o).dropDuplicates(k)` to the first row of each key by `row_number()`.
pub fn first_of_key(plan: &StaticPlan, text: &str, sort: &CallSite, drop: &CallSite) -> Option<Fix> {
    let [subset] = &drop.args[..] else { return None };
    let replaced = Span { start: sort.receiver.end, end: drop.call.end };
    let is_chain = sort.call == drop.receiver && !sort.receiver.is_empty() && !replaced.of(text).contains('#');
    let order = sort.arguments.of(text).strip_prefix('(')?.strip_suffix(')')?.trim().trim_end_matches(',');
    if !is_chain || order.is_empty() || sort.args.iter().any(|argument| argument.keyword.is_some()) {
        return None;
    }
    let functions = Functions::of(plan, text);
    let number = functions.call("row_number");
    let keys = subset.span.of(text);
    let code = format!(
        ".withColumn(\"nth\", {number}().over(Window.partitionBy({keys}).orderBy({order}))).filter(\"nth = 1\").drop(\"nth\")"
    );
    let mut edits = functions.with_import(vec![replace(replaced, code)]);
    if imported(text).is_none() {
        edits.insert(0, import_line(plan, text, "from pyspark.sql import Window"));
    }
    Some(quick_fix("Keep the first row of each key by row_number()", edits))
}

/// The name of the class, where it is imported under its own.
fn imported(text: &str) -> Option<&'static str> {
    let imports =
        |line: &str| line.contains("import") && line.split([' ', ',', '(']).any(|word| word.trim() == "Window");
    text.lines().any(imports).then_some("Window")
}
