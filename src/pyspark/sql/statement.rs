//! Statements: the heads of commands by their words, their queries through the parser.

use std::ops::Range;

use sqlparser::ast::Query;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};

use super::dialect::Spark;
use super::query::Lowering;
use super::tokens::{Kind, Mark, Marks};
use super::{Command, CommandKind, Lowered, Place, literal};
use crate::pyspark::plan::{Literal, Write};
use crate::pyspark::value::Relation;

/// How deep queries and expressions may be nested.
const DEPTH: usize = 50;

/// A statement as steps; `None` if it is neither a query nor holds one.
pub(super) fn lower(text: &str) -> Option<Lowered> {
    let marks = Marks::read(text)?;
    let first = marks.marks.first()?;
    let Kind::Word(keyword) = first.kind else {
        return if first.kind == Kind::Open { query(&marks, 0, None) } else { None };
    };
    match keyword {
        Keyword::SELECT | Keyword::WITH | Keyword::FROM | Keyword::VALUES => query(&marks, 0, None),
        Keyword::INSERT => insert(&marks),
        Keyword::CREATE | Keyword::REPLACE => create(&marks),
        Keyword::CACHE => cache(&marks),
        Keyword::UNCACHE => uncache(&marks),
        _ => None,
    }
}

/// The statements of a script, without the semicolons between them.
pub(in crate::pyspark) fn split(text: &str) -> Vec<Range<usize>> {
    super::scan::semicolons(text)
        .into_iter()
        .chain([text.len()])
        .scan(0, |start, end| Some(std::mem::replace(start, (end + 1).min(text.len()))..end))
        .filter(|range| !text[range.clone()].trim().is_empty())
        .collect()
}

/// The query from a mark on, and what is done with it.
fn query(marks: &Marks<'_>, from: usize, command: Option<Command>) -> Option<Lowered> {
    let query = parse(marks, from)?;
    let mut lowering = Lowering::new(marks, from);
    let root = lowering.query(&query)?;
    let mut lowered = lowering.out;
    lowered.root = Some(root);
    lowered.command = command;
    Some(lowered)
}

fn parse(marks: &Marks<'_>, from: usize) -> Option<Box<Query>> {
    let first = marks.marks.get(from)?.token;
    let mut tokens = marks.tokens.get(first..)?.to_vec();
    let end = Location::new(u64::MAX, 0);
    tokens.push(TokenWithSpan::new(Token::EOF, Span::new(end, end)));
    let mut parser = Parser::new(&Spark).with_recursion_limit(DEPTH).with_tokens_with_locations(tokens);
    let query = parser.parse_query().ok()?;
    while parser.consume_token(&Token::SemiColon) {}
    (parser.peek_token().token == Token::EOF).then_some(query)
}

/// What a condition compares.
pub(in crate::pyspark) fn condition(text: &str) -> Relation {
    let parsed = Marks::read(text).and_then(|marks| {
        let mut parser = Parser::new(&Spark).with_recursion_limit(DEPTH).with_tokens_with_locations(marks.tokens);
        let condition = parser.parse_expr().ok()?;
        (parser.peek_token().token == Token::EOF).then_some(condition)
    });
    parsed.map_or(Relation::Unknown, |condition| super::expr::relation(&condition))
}

/// Where the query of a command starts: behind its head, outside parentheses.
fn query_start(marks: &Marks<'_>, from: usize, behind_as: bool) -> Option<usize> {
    let keywords = [Keyword::SELECT, Keyword::WITH, Keyword::VALUES, Keyword::FROM];
    let mut at = from;
    loop {
        let next = marks.find(at, 0, &[&keywords[..], &[Keyword::AS]].concat())?;
        if marks.marks[next].is(Keyword::AS) {
            let query = next + 1;
            let starts = |mark: &Mark| mark.kind == Kind::Open || keywords.iter().any(|keyword| mark.is(*keyword));
            if behind_as && marks.marks.get(query).is_some_and(starts) {
                return Some(query);
            }
        } else if !behind_as || starts_query_without_as(marks, next) {
            return Some(next);
        }
        at = next + 1;
    }
}

/// `CREATE TABLE t SELECT …`: `AS` may be left out.
fn starts_query_without_as(marks: &Marks<'_>, at: usize) -> bool {
    marks.marks[at].is(Keyword::SELECT)
}

/// `INSERT INTO|OVERWRITE [TABLE] name [PARTITION (…)] [(columns)] query`.
fn insert(marks: &Marks<'_>) -> Option<Lowered> {
    let start = query_start(marks, 1, false)?;
    let overwrite = marks.find(1, 0, &[Keyword::OVERWRITE]).is_some_and(|at| at < start);
    let mut name = 1;
    while marks.marks.get(name).is_some_and(|mark| {
        matches!(mark.kind, Kind::Word(Keyword::INTO | Keyword::OVERWRITE | Keyword::TABLE | Keyword::LOCAL))
    }) {
        name += 1;
    }
    let head = start.checked_sub(1)?;
    let mut write = Write { mode: Some(if overwrite { "overwrite" } else { "append" }.to_owned()), ..Write::default() };
    if marks.marks.get(name)?.is(Keyword::DIRECTORY) {
        write.target = string(marks, name + 1);
        write.format = using(marks, name, start);
    } else {
        write.target = name_at(marks, name)?;
        write.partition_by = columns_behind(marks, name, start, &[Keyword::PARTITION]);
    }
    let command = Command {
        kind: CommandKind::Write(write),
        place: Place {
            word: marks.marks[0].range(),
            clause: marks.range(0, head),
            inside: marks.range(1.min(head), head),
        },
    };
    query(marks, start, Some(command))
}

/// `CREATE TABLE … AS query`, `CREATE TEMPORARY VIEW … AS query`.
fn create(marks: &Marks<'_>) -> Option<Lowered> {
    let what = marks.find(0, 0, &[Keyword::TABLE, Keyword::VIEW])?;
    let start = query_start(marks, what + 1, true)?;
    let head = start.checked_sub(1)?;
    let before = |keyword| marks.find(0, 0, &[keyword]).is_some_and(|at| at < what);
    let mut name = what + 1;
    let if_not_exists = marks.marks.get(name).is_some_and(|mark| mark.is(Keyword::IF));
    if if_not_exists {
        name += 3;
    }
    let place =
        Place { word: marks.range(0, what), clause: marks.range(0, head), inside: marks.range(name.min(head), head) };
    if marks.marks[what].is(Keyword::VIEW) {
        let is_temporary = before(Keyword::TEMP) || before(Keyword::TEMPORARY);
        let command = match name_at(marks, name)? {
            Literal::Text(view) if is_temporary => Some(Command { kind: CommandKind::View(view), place }),
            _ => None,
        };
        return query(marks, start, command);
    }
    let replaces = marks.marks[0].is(Keyword::REPLACE) || before(Keyword::REPLACE);
    let mode = match (if_not_exists, replaces) {
        (true, _) => "ignore",
        (false, true) => "overwrite",
        (false, false) => "error",
    };
    let write = Write {
        format: using(marks, name, start),
        target: name_at(marks, name)?,
        mode: Some(mode.to_owned()),
        partition_by: columns_behind(marks, name, start, &[Keyword::PARTITIONED]),
        ..Write::default()
    };
    query(marks, start, Some(Command { kind: CommandKind::Write(write), place }))
}

/// `CACHE [LAZY] TABLE name [OPTIONS (…)] [[AS] query]`.
fn cache(marks: &Marks<'_>) -> Option<Lowered> {
    let table = marks.find(0, 0, &[Keyword::TABLE])?;
    let Literal::Text(name) = name_at(marks, table + 1)? else { return None };
    let place = Place {
        word: marks.range(0, table),
        clause: marks.range(0, table + 1),
        inside: marks.range(table + 1, table + 1),
    };
    let command = Command { kind: CommandKind::Cache(name), place };
    match query_start(marks, table + 2, true) {
        Some(start) => query(marks, start, Some(command)),
        None => Some(Lowered { command: Some(command), ..Lowered::default() }),
    }
}

/// `UNCACHE TABLE [IF EXISTS] name`.
fn uncache(marks: &Marks<'_>) -> Option<Lowered> {
    let table = marks.find(0, 0, &[Keyword::TABLE])?;
    let has_if = marks.marks.get(table + 1).is_some_and(|mark| mark.is(Keyword::IF));
    let name = table + if has_if { 3 } else { 1 };
    let Literal::Text(view) = name_at(marks, name)? else { return None };
    let place = Place { word: marks.range(0, table), clause: marks.range(0, name), inside: marks.range(name, name) };
    Some(Lowered { command: Some(Command { kind: CommandKind::Uncache(view), place }), ..Lowered::default() })
}

/// The dotted name that starts at a mark.
fn name_at(marks: &Marks<'_>, at: usize) -> Option<Literal> {
    let first = marks.marks.get(at)?;
    let mut last = first;
    for mark in marks.marks.get(at + 1..).unwrap_or_default() {
        // The parts of a name touch each other.
        if mark.start != last.end || matches!(mark.kind, Kind::Open | Kind::Close | Kind::Comma | Kind::Semicolon) {
            break;
        }
        last = mark;
    }
    let name = marks.text.get(first.start..last.end)?;
    (!matches!(first.kind, Kind::Open | Kind::Close)).then(|| literal(&name.replace('`', "")))
}

fn string(marks: &Marks<'_>, at: usize) -> Literal {
    let text = marks.marks.get(at).and_then(|mark| marks.text.get(mark.range())).unwrap_or_default();
    if text.starts_with(['\'', '"']) { literal(text.trim_matches(['\'', '"'])) } else { Literal::Unknown }
}

/// The format behind `USING` or `STORED AS`, in lower case.
fn using(marks: &Marks<'_>, from: usize, until: usize) -> Option<String> {
    let at = marks.find(from, 0, &[Keyword::USING, Keyword::STORED]).filter(|at| *at < until)?;
    let name = if marks.marks[at].is(Keyword::USING) { at + 1 } else { at + 2 };
    match name_at(marks, name)? {
        Literal::Text(format) => Some(format.to_ascii_lowercase()),
        _ => None,
    }
}

/// Columns in the parentheses behind a keyword: the first word of each item.
fn columns_behind(marks: &Marks<'_>, from: usize, until: usize, keywords: &[Keyword]) -> Vec<Literal> {
    let Some(at) = marks.find(from, 0, keywords).filter(|at| *at < until) else { return Vec::new() };
    let Some(open) = (at + 1..(at + 3).min(until)).find(|at| marks.marks[*at].kind == Kind::Open) else {
        return Vec::new();
    };
    let Some(close) = marks.closing(open) else { return Vec::new() };
    let starts = |at: &usize| {
        let before = marks.marks[*at - 1];
        *at - 1 == open || before.kind == Kind::Comma && before.depth == marks.marks[open].depth + 1
    };
    (open + 1..close).filter(starts).filter_map(|at| name_at(marks, at)).collect()
}
