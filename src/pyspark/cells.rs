//! Cells in SQL: comments of Databricks notebooks that start with `# MAGIC %sql`, cells of other notebooks, scripts.

use memchr::memmem;

use super::ir::{Stmt, StmtNode, Top};
use crate::text::Span;

const MAGIC: &str = "# MAGIC";
const SQL: &str = "%sql";

/// Whether a text is a notebook of Databricks in the form of Python: one of its first comments says so.
pub fn is_databricks_notebook(text: &str) -> bool {
    let mut comments = text.trim_start_matches('\u{feff}').lines().take_while(|line| line.starts_with('#'));
    comments.any(|line| line == "# Databricks notebook source")
}

/// The cells of a text, by their start.
pub(super) fn cells(text: &str) -> Vec<(u32, Top)> {
    let mut cells = Vec::new();
    if memmem::find(text.as_bytes(), b"# MAGIC %sql").is_none() {
        return cells;
    }
    let mut cell: Option<(usize, usize, Vec<Span>)> = None;
    for (start, line) in lines(text) {
        let content = line.strip_prefix(MAGIC).filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        let command = content.map(str::trim_start).filter(|content| content.starts_with('%'));
        if content.is_none() || command.is_some() {
            cells.extend(cell.take().map(placed));
        }
        let Some(content) = content else { continue };
        let end = start + line.len();
        match (command.map(|command| command.strip_prefix(SQL)), &mut cell) {
            (Some(Some(rest)), _) if rest.is_empty() || rest.starts_with(char::is_whitespace) => {
                cell = Some((start, end, vec![Span::new(end - rest.len(), end)]));
            }
            (None, Some((_, last, lines))) => {
                *last = end;
                let blank = usize::from(!content.is_empty());
                lines.push(Span::new(end - content.len() + blank, end));
            }
            _ => {}
        }
    }
    cells.extend(cell.map(placed));
    cells
}

/// A text that is nothing but SQL, by its place.
pub(super) fn cell(place: Span) -> Top {
    placed((place.start as usize, place.end as usize, vec![place])).1
}

/// Lines with their starts, without line ends and the byte order mark.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        let start = at;
        let line_end = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        at = (start + end + line_end).min(text.len());
        Some((start, &rest[..end]))
    })
}

fn placed((start, end, lines): (usize, usize, Vec<Span>)) -> (u32, Top) {
    let relative = |span: Span| Span::new(span.start as usize - start, span.end as usize - start);
    let stmt = Stmt::Sql(lines.into_iter().map(relative).collect());
    let span = Span::new(0, end - start);
    (start as u32, Top { len: (end - start) as u32, body: vec![StmtNode { span, stmt }], ..Top::default() })
}
