//! Python functions on rows, in other words.

use super::edits::{Functions, as_receiver, indentation, insert, is_name, quick_fix, refactor, replace};
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{FunctionFacts, PythonFunction};
use crate::rules::{Edit, Fix};
use crate::text::Span;

/// One call of a UDF: where it stands and its arguments as written.
pub struct UdfCall<'a> {
    /// The whole call.
    pub call: Span,
    /// Its arguments in order.
    pub arguments: Vec<&'a str>,
}

/// An expression with `{0}` for the first argument: each placeholder filled by `argument`, doubled braces undone.
fn filled(expression: &str, argument: impl Fn(usize) -> Option<String>) -> Option<String> {
    let mut code = String::new();
    let mut rest = expression;
    while let Some(at) = rest.find(['{', '}']) {
        code.push_str(&rest[..at]);
        let after = &rest[at..];
        if let Some(more) = after.strip_prefix("{{").or_else(|| after.strip_prefix("}}")) {
            code.push_str(&after[..1]);
            rest = more;
            continue;
        }
        let (index, more) = after.strip_prefix('{')?.split_once('}')?;
        code.push_str(&argument(index.parse().ok()?)?);
        rest = more;
    }
    code.push_str(rest);
    Some(code)
}

/// An argument as a column: a text names one.
fn as_column(functions: &Functions<'_>, argument: &str) -> String {
    let is_text = argument.starts_with(['"', '\'']);
    match is_text {
        true => format!("{}({argument})", functions.call("col")),
        false if is_operand(argument) => as_receiver(argument),
        false => format!("({argument})"),
    }
}

/// Whether code stands beside an operator as it is: names, calls and subscripts.
pub(super) fn is_operand(code: &str) -> bool {
    let mut depth = 0_u32;
    let mut quote = None;
    for character in code.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, character) if depth == 0 && !(character.is_alphanumeric() || "_.".contains(character)) => {
                return false;
            }
            _ => {}
        }
    }
    true
}

/// Functions of Spark in an expression, under the names that they have in the file.
fn renamed(functions: &Functions<'_>, code: &str) -> String {
    let mut renamed = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("F.") {
        let is_start = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let after = &rest[at + 2..];
        let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
        renamed.push_str(&rest[..at]);
        if is_start {
            renamed.push_str(&functions.call(&after[..end]));
            rest = &after[end..];
        } else {
            renamed.push_str("F.");
            rest = after;
        }
    }
    renamed.push_str(rest);
    renamed
}

/// An expression of built-in functions with parameter names for its arguments, as a message shows it.
pub fn shown(function: &FunctionFacts, expression: &str) -> Option<String> {
    filled(expression, |index| function.params.get(index).map(|(name, _)| name.clone()))
}

/// Every call of a UDF replaced by an expression of built-in functions.
pub fn by_builtin(
    plan: &StaticPlan,
    text: &str,
    function: &FunctionFacts,
    expression: &str,
    calls: &[UdfCall<'_>],
) -> Option<Fix> {
    let functions = Functions::of(plan, text);
    let mut edits = Vec::new();
    for call in calls {
        if call.arguments.len() != function.params.len() {
            return None;
        }
        let expression = renamed(&functions, expression);
        let code = filled(&expression, |index| Some(as_column(&functions, call.arguments.get(index)?)))?;
        let code = if is_operand(&code) { code } else { format!("({code})") };
        edits.push(replace(call.call, code));
    }
    let title = "Replace the calls by built-in functions (look at nulls first)";
    (!edits.is_empty()).then(|| quick_fix(title, functions.with_import(edits)))
}

/// `useArrow=True`: values travel in batches.
pub fn use_arrow(text: &str, python: &PythonFunction) -> Option<Fix> {
    let site = python.site.of(text);
    let title = "Pass values through Arrow: useArrow=True";
    if let Some(before) = site.trim_end().strip_suffix(')') {
        let has_arguments = !before.trim_end().ends_with('(');
        let separator = match (has_arguments, before.trim_end().ends_with(',')) {
            (false, _) => "",
            (true, true) => " ",
            (true, false) => ", ",
        };
        let at = python.site.start as usize + before.trim_end().len();
        return Some(quick_fix(title, vec![insert(at, format!("{separator}useArrow=True"))]));
    }
    is_name(site).then(|| quick_fix(title, vec![insert(python.site.end as usize, "(useArrow=True)")]))
}

/// `def f(a): return …` under `@udf(…)` as a function of a `pandas.Series`.
pub fn pandas_udf(plan: &StaticPlan, text: &str, python: &PythonFunction) -> Option<Fix> {
    let function = python.function.as_ref()?;
    let [(param, _)] = &function.params[..] else { return None };
    let value = function.value?;
    let decorator = text.get(..python.site.start as usize)?.trim_end().ends_with('@');
    let site = python.site.of(text);
    if !decorator || !site.ends_with(')') || site.contains("useArrow") {
        return None;
    }
    let functions = Functions::of(plan, text);
    let (callee, arguments) = site.split_once('(')?;
    if arguments.trim() == ")" || !(callee == "udf" || callee.ends_with(".udf")) {
        return None;
    }
    let header = Span { start: function.span.start, end: value.start }.of(text);
    let def = header.find("def ")? + function.span.start as usize;
    let open = def + text.get(def..)?.find('(')?;
    let close = open + text.get(open..)?.find(':')?;
    let signature = text.get(open..close)?;
    // A signature with a colon inside has an annotation: read to its last one on the line.
    let line_end = text.get(open..)?.find(['\n', '\r']).map_or(text.len(), |at| open + at);
    let colon = open + text.get(open..line_end)?.rfind(':')?;
    let end = if signature.ends_with(')') { close } else { colon };
    indentation(text, Span::at(def))?;
    let edits: Vec<Edit> = vec![
        replace(python.site, format!("{}({arguments}", functions.call("pandas_udf"))),
        replace(Span::new(open, end), format!("({param}: pd.Series) -> pd.Series")),
        replace(value, format!("{param}.map(lambda {param}: {})", value.of(text))),
        insert(plan.uses.import_offset as usize, "import pandas as pd\n"),
    ];
    let has_pandas = text.lines().any(|line| line.trim() == "import pandas as pd");
    let edits = if has_pandas { edits[..3].to_vec() } else { edits };
    Some(refactor("Turn it into a pandas_udf: one call a batch instead of one a row", functions.with_import(edits)))
}
