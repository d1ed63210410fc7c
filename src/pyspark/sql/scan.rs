//! What the text of a SQL statement tells without a parser: how many rows come back, and whether it is a command.

use crate::pyspark::api;
use crate::pyspark::plan::RowBound;

/// A word, number or sign outside strings and comments, and how deep in parentheses it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) depth: u32,
    start: usize,
}

impl Token<'_> {
    fn is(&self, keyword: &str) -> bool {
        self.text.eq_ignore_ascii_case(keyword)
    }
}

pub(super) fn tokens(sql: &str) -> Vec<Token<'_>> {
    let bytes = sql.as_bytes();
    let (mut tokens, mut at, mut depth) = (Vec::new(), 0, 0_u32);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'\'' | b'"' | b'`' => at = quoted_end(bytes, at),
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = memchr::memmem::find(&bytes[at..], b"*/").map_or(bytes.len(), |end| at + end + 2);
                continue;
            }
            b'(' => {
                depth += 1;
                at += 1;
                continue;
            }
            b')' => {
                depth = depth.saturating_sub(1);
                at += 1;
                continue;
            }
            _ if is_word(byte) => {
                while bytes.get(at).copied().is_some_and(is_word) {
                    at += 1;
                }
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            _ => at += 1,
        }
        tokens.push(Token { text: sql.get(start..at).unwrap_or_default(), depth, start });
    }
    tokens
}

/// Where semicolons stand outside strings and comments.
pub(super) fn semicolons(sql: &str) -> Vec<usize> {
    tokens(sql).iter().filter(|token| token.text == ";").map(|token| token.start).collect()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn quoted_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        at += if byte == b'\\' { 2 } else { 1 };
        if byte == quote {
            break;
        }
    }
    at.min(bytes.len())
}

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pyspark) enum Statement {
    /// It returns rows when an action asks for them.
    Query(RowBound),
    /// It runs at once (`INSERT`, `CREATE TABLE … AS`, `MERGE`, …).
    Command,
    /// It runs at once, but starts no job of its own (`SET`, `USE`, `SHOW`, `CREATE VIEW`).
    Small,
}

/// Reads a statement; holes of a template are `?`.
pub(in crate::pyspark) fn read(sql: &str) -> Statement {
    let tokens = tokens(sql);
    let Some(first) = tokens.first() else { return Statement::Small };
    match first.text.to_ascii_uppercase().as_str() {
        "SELECT" | "WITH" | "FROM" | "VALUES" | "TABLE" => {
            match tokens.iter().find(|token| token.depth == 0 && (token.is("INSERT") || token.is("MERGE"))) {
                Some(_) => Statement::Command,
                None => Statement::Query(query_bound(&tokens)),
            }
        }
        "INSERT" | "MERGE" | "UPDATE" | "DELETE" | "OPTIMIZE" | "VACUUM" | "ANALYZE" | "CACHE" | "COPY" | "LOAD"
        | "REPLACE" => Statement::Command,
        "CREATE" if has_query(&tokens) => Statement::Command,
        _ if first.text == "?" => Statement::Query(RowBound::Unknown),
        "SHOW" | "DESCRIBE" | "DESC" | "EXPLAIN" | "SET" | "RESET" | "USE" | "CREATE" | "DROP" | "ALTER"
        | "REFRESH" | "TRUNCATE" | "UNCACHE" | "CLEAR" | "MSCK" | "ADD" | "LIST" | "COMMENT" | "GRANT" | "REVOKE"
        | "DECLARE" => Statement::Small,
        _ => Statement::Query(RowBound::Unknown),
    }
}

/// The first word of a statement that only looks names and definitions up.
pub(crate) fn lookup(sql: &str) -> Option<&str> {
    let first = sql.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty())?;
    let is_first = sql.trim_start().starts_with(first);
    let is_lookup = ["show", "describe", "desc", "explain"].iter().any(|word| first.eq_ignore_ascii_case(word));
    (is_first && is_lookup).then_some(first)
}

/// `CREATE TABLE … AS SELECT`, not `CREATE VIEW`.
fn has_query(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|token| token.is("TABLE"))
        && !tokens.iter().take(6).any(|token| token.is("VIEW"))
        && tokens.iter().any(|token| token.is("SELECT"))
}

fn query_bound(tokens: &[Token<'_>]) -> RowBound {
    let top: Vec<&Token<'_>> = tokens.iter().filter(|token| token.depth == 0).collect();
    let position = |keyword: &str| top.iter().rposition(|token| token.is(keyword));
    if let Some(limit) = position("LIMIT") {
        return match top.get(limit + 1).and_then(|token| token.text.parse().ok()) {
            Some(rows) => RowBound::Exactly(rows),
            None if top.get(limit + 1).is_some_and(|token| token.is("ALL")) => RowBound::Unbounded,
            None => RowBound::Small,
        };
    }
    if position("UNION").is_some() {
        return RowBound::Unbounded;
    }
    let Some(select) = position("SELECT") else { return RowBound::Unbounded };
    let end = (select..top.len()).find(|at| top[*at].is("FROM")).unwrap_or(top.len());
    if position("GROUP").is_some_and(|group| group > select) {
        return RowBound::ByGroups;
    }
    if end == top.len() {
        return RowBound::Exactly(1);
    }
    if top.get(select + 1).is_some_and(|token| token.is("DISTINCT")) {
        return RowBound::ByGroups;
    }
    let list_end = top.get(end).map_or(usize::MAX, |token| token.start);
    if only_aggregates(tokens, top[select].start, list_end) { RowBound::Exactly(1) } else { RowBound::Unbounded }
}

/// Whether each item of the select list between two offsets is an aggregate.
fn only_aggregates(tokens: &[Token<'_>], start: usize, end: usize) -> bool {
    let list: Vec<&Token<'_>> = tokens.iter().filter(|token| token.start > start && token.start < end).collect();
    let mut items = list.split(|token| token.depth == 0 && token.text == ",");
    let aggregated = |item: &[&Token<'_>]| match item {
        [first, second, ..] => {
            api::is_aggregate(first.text) && second.depth > 0 && !item.iter().any(|token| token.is("OVER"))
        }
        _ => false,
    };
    !list.is_empty() && items.all(aggregated)
}

/// Whether a `selectExpr` argument is an aggregate (`count(*) as n`), and whether it multiplies rows.
pub(in crate::pyspark) fn expression(text: &str) -> (bool, bool) {
    let tokens = tokens(text);
    let aggregate = match &tokens[..] {
        [first, second, ..] => {
            api::is_aggregate(first.text)
                && (second.depth > 0 || text[first.text.len()..].trim_start().starts_with('('))
        }
        _ => false,
    };
    (
        aggregate && !tokens.iter().any(|token| token.is("OVER")),
        tokens.iter().any(|token| api::is_generator(token.text)),
    )
}

/// Whether an expression takes something over a window.
pub(in crate::pyspark) fn has_window(text: &str) -> bool {
    text.len() > "over".len() && tokens(text).iter().any(|token| token.is("OVER"))
}

/// Whether a text condition is one equality of a name with a value (`id = 7`).
pub(in crate::pyspark) fn is_key_equality(text: &str) -> bool {
    let tokens = tokens(text);
    let equalities = tokens.iter().filter(|token| token.text == "=").count();
    equalities > 0
        && !tokens.iter().any(|token| token.is("OR") || matches!(token.text, "<" | ">" | "!"))
        && tokens.iter().any(|token| is_value(token.text))
}

/// Whether a text condition may compare columns: a byte scan, so that other texts are never parsed.
pub(in crate::pyspark) fn compares(text: &str) -> bool {
    text.contains(['=', '<', '>']) || tokens(text).iter().any(|token| COMPARISONS.iter().any(|word| token.is(word)))
}

/// Comparisons that are words.
const COMPARISONS: [&str; 4] = ["BETWEEN", "LIKE", "RLIKE", "ILIKE"];

fn is_value(text: &str) -> bool {
    text.starts_with(['\'', '"']) || text == "?" || text.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(sql: &str) -> RowBound {
        match read(sql) {
            Statement::Query(bound) => bound,
            other => panic!("{sql}: {other:?}"),
        }
    }

    #[test]
    fn what_a_query_returns() {
        assert_eq!(bound("SELECT * FROM t"), RowBound::Unbounded);
        assert_eq!(bound("select a from (select a from t limit 3)"), RowBound::Unbounded);
        assert_eq!(bound("SELECT * FROM t LIMIT 20 -- all"), RowBound::Exactly(20));
        assert_eq!(bound("SELECT count(*), max(a) AS m FROM t WHERE x = 'limit 3'"), RowBound::Exactly(1));
        assert_eq!(bound("SELECT count(*) OVER (ORDER BY a) FROM t"), RowBound::Unbounded);
        assert_eq!(bound("SELECT k, count(*) FROM t GROUP BY k"), RowBound::ByGroups);
        assert_eq!(bound("SELECT DISTINCT k FROM t"), RowBound::ByGroups);
        assert_eq!(bound("WITH x AS (SELECT 1) SELECT * FROM x"), RowBound::Unbounded);
        assert_eq!(bound("SELECT * FROM t LIMIT ?"), RowBound::Small);
        assert_eq!(bound("SELECT 1"), RowBound::Exactly(1));
    }

    #[test]
    fn what_a_command_is() {
        assert_eq!(read("INSERT INTO t SELECT * FROM s"), Statement::Command);
        assert_eq!(read("CREATE TABLE t AS SELECT 1"), Statement::Command);
        assert_eq!(read("CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM t"), Statement::Small);
        assert_eq!(read("show tables"), Statement::Small);
        assert_eq!(read(""), Statement::Small);
    }

    #[test]
    fn select_expressions() {
        assert_eq!(expression("count(*) as n"), (true, false));
        assert_eq!(expression("explode(xs)"), (false, true));
        assert_eq!(expression("a + 1"), (false, false));
        assert!(is_key_equality("id = 7") && !is_key_equality("a > 1") && !is_key_equality("a = b"));
    }
}
