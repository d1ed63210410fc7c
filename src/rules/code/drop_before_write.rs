//! A table or a path that is emptied to be written again.

use super::blocks::{Together, together};
use crate::declare_rule;
use crate::pyspark::plan::{Action, ActionKind, CallSite, Literal, Node, Operator, PathDelete, ScopeId, Source};
use crate::rules::{CodeContext, Finding, Fix, Severity, templates};

declare_rule! {
    /// `DROP TABLE`, or a deletion of its files, before the write that makes the same table again.
    ///
    /// ## Why
    /// From the drop to the end of the write the table is gone: readers fail, and if the write fails the old rows are lost. The drop
    /// takes grants, properties and history with it. An overwrite, or `CREATE OR REPLACE TABLE` where the format has it, replaces the
    /// table at the end.
    ///
    /// Files that a call deletes (`dbutils.fs.rm`, `shutil.rmtree`, `hadoop fs -rm`) are gone before Spark has looked at the query; an
    /// overwrite deletes them once it was analysed, and a table format keeps them until the commit.
    ///
    /// ## Silent when
    /// - another table is written, or none in the same function behind it;
    /// - the table or path is temporary by its name (`tmp`, `temp`, `staging`, `checkpoint`), or a view;
    /// - the write appends, or the deletion runs under a condition of its own;
    /// - the name isn't known, or the code is a test.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// totals = spark.table("shop.orders").groupBy("shop").sum("total")
    /// spark.sql("DROP TABLE IF EXISTS shop.totals")  # finding
    /// totals.write.mode("overwrite").saveAsTable("shop.totals")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// totals = spark.table("shop.orders").groupBy("shop").sum("total")
    /// totals.write.mode("overwrite").saveAsTable("shop.totals")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/sql-ref-syntax-ddl-drop-table.html>
    /// - <https://spark.apache.org/docs/latest/sql-data-sources-load-save-functions.html#save-modes>
    pub DROP_BEFORE_WRITE = {
        name: "drop-before-write", group: Partitions, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    check_paths(cx);
    let statements: Vec<Statement<'_>> = cx.plan.nodes.iter().filter_map(statement).collect();
    let mut seen = Vec::new();
    for drop in &statements {
        let Some(table) = dropped(drop.sql).filter(|table| !is_temporary(table)) else { continue };
        if cx.plan.scope(drop.scope).is_test || seen.contains(&drop.site.call) {
            continue;
        }
        seen.push(drop.site.call);
        let follows = |site: &CallSite, scope: ScopeId| scope == drop.scope && site.call.start > drop.site.call.end;
        let writes =
            cx.plan.actions.iter().filter(|action| follows(&action.site, action.scope) && makes(action, &table));
        let creates = statements.iter().filter(|later| follows(later.site, later.scope) && creates(later.sql, &table));
        let by_write = writes.map(|action| (&action.site, overwrites(action)));
        let Some((site, overwrites)) =
            by_write.chain(creates.map(|later| (later.site, false))).min_by_key(|(site, _)| site.call.start)
        else {
            continue;
        };
        let message = format!(
            "{table} is gone from here to the end of the write that makes it again, and lost if that fails. Overwrite it, or use CREATE OR REPLACE TABLE where the format has it."
        );
        let is_statement = drop.site.statement == drop.site.call;
        let fix = templates::without_drop(cx.shared.text, drop.site).filter(|_| overwrites && is_statement);
        let finding = Finding::new(cx.shared.rule, Severity::Information, drop.site.call, message)
            .with_related(site.method, "makes the table again")
            .with_fixes(fix);
        cx.shared.report(finding);
    }
}

/// Deletions of paths that a write fills again.
fn check_paths(cx: &mut CodeContext<'_>) {
    let mut findings = Vec::new();
    for delete in &cx.plan.deletes {
        if cx.plan.scope(delete.scope).is_test || matches!(&delete.path, Literal::Text(path) if is_temporary(path)) {
            continue;
        }
        let refills = |action: &&Action| {
            let text = cx.shared.text;
            let is_behind = action.scope == delete.scope && action.site.call.start > delete.site.call.end;
            let runs = || together(text, delete.site.statement, action.site.statement) == Together::Always;
            is_behind && fills(text, action, delete) && runs()
        };
        let Some(action) = cx.plan.actions.iter().find(refills) else { continue };
        let name = match &delete.path {
            Literal::Text(path) => path.as_str(),
            _ => delete.written.as_str(),
        };
        let message = format!(
            "What lies under {name} is gone from here on, whatever becomes of the write that fills it again. mode(\"overwrite\") deletes it once the query was analysed; Delta and Iceberg replace it at the end, with its history."
        );
        let is_statement = delete.site.statement == delete.site.call;
        let fix = templates::without_drop(cx.shared.text, &delete.site).filter(|_| overwrites(action) && is_statement);
        let fix = fix.map(|fix| Fix { title: "Remove the deletion: the write replaces the files".to_owned(), ..fix });
        let finding = Finding::new(cx.shared.rule, Severity::Information, delete.site.call, message)
            .with_related(action.site.method, "fills the path again")
            .with_fixes(fix);
        findings.push(finding);
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

/// Whether an action writes to the path that was deleted.
fn fills(text: &str, action: &Action, delete: &PathDelete) -> bool {
    let ActionKind::Write(write) = &action.kind else { return false };
    if write.mode.as_deref() == Some("append") {
        return false;
    }
    match (&write.target, &delete.path) {
        (Literal::Text(target), Literal::Text(path)) => plain_path(target) == plain_path(path),
        (Literal::Text(_), _) | (_, Literal::Text(_)) => false,
        _ => {
            let written = action.site.argument(0, "path").map(|path| path.span.of(text));
            !delete.written.is_empty() && written == Some(delete.written.as_str())
        }
    }
}

/// A path without what its file system's name may leave out.
fn plain_path(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    ["dbfs:", "file://", "file:", "/dbfs"].iter().find_map(|prefix| path.strip_prefix(prefix)).unwrap_or(path)
}

/// A text that `spark.sql` runs.
struct Statement<'a> {
    sql: &'a str,
    site: &'a CallSite,
    scope: ScopeId,
}

fn statement(node: &Node) -> Option<Statement<'_>> {
    match (&node.operator, &node.site) {
        (Operator::Source(Source::Sql { text: Literal::Text(sql), .. }), Some(site)) => {
            Some(Statement { sql, site, scope: node.scope })
        }
        _ => None,
    }
}

fn overwrites(action: &Action) -> bool {
    matches!(&action.kind, ActionKind::Write(write) if write.mode.as_deref() == Some("overwrite"))
}

/// The table that a text of SQL drops.
fn dropped(sql: &str) -> Option<String> {
    let words: Vec<String> = sql.split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["drop", "table", "if", "exists", table, ..] | ["drop", "table", table, ..] => Some(plain(table)),
        _ => None,
    }
}

fn plain(table: &str) -> String {
    table.trim_end_matches(';').replace('`', "").to_ascii_lowercase()
}

fn is_temporary(table: &str) -> bool {
    ["tmp", "temp", "staging", "stage", "checkpoint"].iter().any(|word| table.contains(word))
}

/// Whether an action makes this table.
fn makes(action: &Action, table: &str) -> bool {
    let ActionKind::Write(write) = &action.kind else { return false };
    // In SQL there is no receiver.
    let makes = action.site.receiver.is_empty()
        || matches!(action.method.as_str(), "saveAsTable" | "create" | "createOrReplace");
    makes && matches!(&write.target, Literal::Text(target) if plain(target) == table)
}

/// Whether a text of SQL makes this table anew.
fn creates(sql: &str, table: &str) -> bool {
    let words: Vec<String> = sql.split(|c: char| c.is_whitespace() || c == '(').map(str::to_ascii_lowercase).collect();
    matches!(&words[..], [create, kind, name, ..] if create == "create" && kind == "table" && plain(name) == table)
}
