//! Values from outside in the text of a query.

use crate::declare_rule;
use crate::pyspark::plan::{CallSite, NodeId, Operator, ScopeId, Source};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// A value from outside, put as text into a query.
    ///
    /// ## Why
    /// Whoever chooses the value chooses the query: a quote in it ends the literal, and what follows is run. Parameters of `spark.sql` are
    /// never read as SQL.
    ///
    /// ## Silent when
    /// - the value is a constant, or the file doesn't tell where it comes from;
    /// - it stands for a table or column: these have no parameters, and come from a configuration.
    ///
    /// A function's parameter is a hint: only its callers know where it comes from.
    ///
    /// ## Example
    /// ```python
    /// import sys
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// name = sys.argv[1]
    /// user = spark.sql(f"SELECT * FROM users WHERE name = '{name}'")  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// import sys
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// name = sys.argv[1]
    /// user = spark.sql("SELECT * FROM users WHERE name = :name", args={"name": name})
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.SparkSession.sql.html>
    pub SQL_STRING_INTERPOLATION = {
        name: "sql-string-interpolation", group: Correctness, severity: Information, confidence: Reasoned,
        since: "0.1.0", check: Code(check),
    }
}

/// Where values come from that someone else chooses.
const OUTSIDE: [&str; 7] = ["input(", "sys.argv", "os.environ", "os.getenv(", "requests.", "request.", "getpass("];

fn check(cx: &mut CodeContext<'_>) {
    let mut findings = Vec::new();
    let mut seen: Vec<Span> = Vec::new();
    let nodes = cx.plan.nodes.iter().enumerate().filter_map(|(index, node)| match node.operator {
        Operator::Source(Source::Sql { .. }) if !cx.plan.is_repeat(NodeId(index as u32)) => {
            Some((node.site.as_ref()?, node.scope))
        }
        _ => None,
    });
    let actions = cx.plan.actions.iter().filter(|action| action.method == "sql").map(|it| (&it.site, it.scope));
    for (site, scope) in nodes.chain(actions) {
        for hole in holes(cx.shared.text, site) {
            let Some(origin) = origin(cx, hole, scope).filter(|_| !seen.contains(&hole)) else { continue };
            seen.push(hole);
            findings.push(finding(cx, hole, origin));
        }
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Outside,
    Parameter,
}

fn finding(cx: &CodeContext<'_>, hole: Span, origin: Origin) -> Finding {
    let name = hole.of(cx.shared.text);
    let instead = if cx.shared.version().at_least(3, 4) {
        "Write :name in the query and pass the value with args=."
    } else {
        "Filter with F.col(...) == value instead."
    };
    let (severity, whence) = match origin {
        Origin::Outside => (Severity::Information, "comes from outside"),
        Origin::Parameter => (Severity::Hint, "is chosen by the caller"),
    };
    let message = format!("{name} {whence} and becomes a part of the query: a quote in it runs as SQL. {instead}");
    Finding::new(cx.shared.rule, severity, hole, message)
}

/// Names in the holes of an f-string that stand for values: between quotes, or behind a comparison.
fn holes(text: &str, site: &CallSite) -> Vec<Span> {
    let Some(argument) = site.args.first() else { return Vec::new() };
    let written = argument.span.of(text);
    let prefix = written.find(['"', '\'']).map(|at| written[..at].to_ascii_lowercase()).unwrap_or_default();
    if !prefix.contains('f') || prefix.len() > 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, _) in written.match_indices('{') {
        let Some(length) = written[at..].find('}') else { break };
        let inner = &written[at + 1..at + length];
        let is_name = !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        if is_name && is_value_position(&written[..at]) {
            let start = argument.span.start as usize + at + 1;
            found.push(Span::new(start, start + inner.len()));
        }
    }
    found
}

fn is_value_position(before: &str) -> bool {
    let before = before.trim_end_matches('%');
    let quoted = before.ends_with('\'');
    let open = before.trim_end_matches(['\'', '"']).trim_end();
    let compared = open.ends_with(['=', '<', '>']) || open.to_ascii_lowercase().ends_with(" like");
    let listed = open.to_ascii_lowercase().trim_end_matches('(').trim_end().ends_with(" in");
    quoted && (compared || listed || open.ends_with([',', '('])) || compared
}

fn origin(cx: &CodeContext<'_>, hole: Span, scope: ScopeId) -> Option<Origin> {
    let text = cx.shared.text;
    let name = hole.of(text);
    if OUTSIDE.iter().any(|source| name.starts_with(source.trim_end_matches('('))) {
        return Some(Origin::Outside);
    }
    if name.contains('.') {
        return None;
    }
    let scope = cx.plan.scope(scope);
    let within = if scope.name.is_empty() { text } else { scope.span.of(text) };
    let assigned = within.lines().map(str::trim).find_map(|line| {
        let (target, value) = line.split_once('=')?;
        (target.trim() == name && !value.starts_with('=')).then(|| value.trim())
    });
    match assigned {
        Some(value) => OUTSIDE.iter().any(|source| value.starts_with(source)).then_some(Origin::Outside),
        None if !scope.name.is_empty() && is_parameter(within, name) => Some(Origin::Parameter),
        None => None,
    }
}

/// Whether the signature has a text of this name.
fn is_parameter(function: &str, name: &str) -> bool {
    let signature = function
        .find('(')
        .and_then(|open| function[open + 1..].split_once("):").or_else(|| function[open + 1..].split_once(") ->")));
    let Some((signature, _)) = signature else { return false };
    signature.split(',').any(|param| {
        let (param, annotation) = param.split_once(':').unwrap_or((param, "str"));
        let annotation = annotation.split('=').next().unwrap_or_default().trim();
        param.split('=').next().unwrap_or_default().trim() == name
            && matches!(annotation, "str" | "Optional[str]" | "str | None")
    })
}
