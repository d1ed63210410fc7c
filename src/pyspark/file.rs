//! A Python document and its plan, kept up to date edit by edit.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use rustc_hash::FxHashMap;

use super::StaticPlan;
use super::ir::{Stmt, Top};
use super::kinds::{Kind, kind};
use super::sql::{SqlDialect, sql_dialect};
use super::syntax::{Difference, Syntax};
use super::{Imports, cells, eval, lower};
use crate::text::{Edit, Span};

/// A parsed Python document. Cheap to clone; a clone is a snapshot.
#[derive(Debug, Clone)]
pub struct PythonFile {
    pub(super) syntax: Arc<Syntax>,
    tops: Arc<Vec<Placed>>,
    plan: Arc<StaticPlan>,
}

/// A top-level statement and where it starts.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) start: u32,
    kind: u16,
    pub(super) top: Arc<Top>,
}

/// The kind of what is no node of the syntax tree: that of a text's end. The largest number is the kind of errors.
const NO_KIND: u16 = 0;

impl Default for PythonFile {
    fn default() -> Self {
        Self::parse(&Arc::from(""))
    }
}

impl PythonFile {
    /// Parses a lone text. A text that is too large or takes too long has an empty plan.
    pub fn parse(text: &Arc<str>) -> Self {
        Self::parse_in(text, &Imports::default())
    }

    /// Parses a text whose imports lead to modules of its project. The plan tells of this text alone; what the modules
    /// do is seen in the frames that they hand back.
    pub fn parse_in(text: &Arc<str>, imports: &Imports) -> Self {
        Self::new(Syntax::parse(text), &Reuse::default(), imports)
    }

    /// The file after edits, given in the order in which they were made; `text` is the text after all of them. What
    /// changed is found by comparing the texts: next to a lone `\r`, more than the edited characters may have.
    pub fn edited(&self, edits: &[Edit], text: &Arc<str>) -> Self {
        self.edited_in(edits, text, &Imports::default())
    }

    /// The same among the modules of a project, which may have changed too.
    pub fn edited_in(&self, edits: &[Edit], text: &Arc<str>, imports: &Imports) -> Self {
        if edits.is_empty() && *self.syntax.text == **text {
            let plan = interpret(&self.syntax.text, &self.tops, imports);
            return Self { plan: Arc::new(plan), ..self.clone() };
        }
        let (syntax, changed) = self.syntax.update(text);
        let reuse =
            changed.map_or_else(Reuse::default, |(difference, ranges)| Reuse::new(&self.tops, difference, &ranges));
        Self::new(syntax, &reuse, imports)
    }

    /// Parses the Python of a notebook's cells; the plan tells of its cells of SQL, too.
    pub fn parse_notebook(notebook: &NotebookCode<'_>, imports: &Imports) -> Self {
        Self::of_notebook(Syntax::parse(notebook.code), &Reuse::default(), notebook, imports)
    }

    /// The notebook after edits of its Python, as [`PythonFile::edited`].
    pub fn edited_notebook(&self, edits: &[Edit], notebook: &NotebookCode<'_>, imports: &Imports) -> Self {
        if edits.is_empty() && *self.syntax.text == **notebook.code {
            let syntax = Arc::clone(&self.syntax);
            let python = self.tops.iter().filter(|placed| placed.kind != NO_KIND).cloned().collect();
            return Self::with_cells(syntax, python, notebook, imports);
        }
        let (syntax, changed) = self.syntax.update(notebook.code);
        let reuse =
            changed.map_or_else(Reuse::default, |(difference, ranges)| Reuse::new(&self.tops, difference, &ranges));
        Self::of_notebook(syntax, &reuse, notebook, imports)
    }

    fn of_notebook(syntax: Syntax, reuse: &Reuse, notebook: &NotebookCode<'_>, imports: &Imports) -> Self {
        let tops = lower_all(&syntax, reuse);
        Self::with_cells(Arc::new(syntax), tops, notebook, imports)
    }

    fn with_cells(syntax: Arc<Syntax>, python: Vec<Placed>, notebook: &NotebookCode<'_>, imports: &Imports) -> Self {
        let mut tops = python;
        if syntax.tree.is_some() {
            let cells = notebook.sql.iter().map(|cell| (cell.start, cells::cell(*cell)));
            add_cells(&mut tops, cells.chain(cells::cells(&syntax.text)));
        }
        // What the kernel runs itself is blank in the Python; the text of SQL is read as it is written.
        let plan = eval::interpret(notebook.written, &tops, import_offset(&syntax.text, &tops), imports);
        Self { syntax, tops: Arc::new(tops), plan: Arc::new(plan) }
    }

    fn new(syntax: Syntax, reuse: &Reuse, imports: &Imports) -> Self {
        let mut tops = lower_all(&syntax, reuse);
        if syntax.tree.is_some() {
            add_cells(&mut tops, cells::cells(&syntax.text).into_iter());
        }
        let plan = interpret(&syntax.text, &tops, imports);
        Self { syntax: Arc::new(syntax), tops: Arc::new(tops), plan: Arc::new(plan) }
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<StaticPlan> {
        &self.plan
    }

    /// Whether the text is not all Python, as it is while somebody types: what stands behind an error may not be seen.
    pub fn is_broken(&self) -> bool {
        self.syntax.tree.as_ref().is_none_or(|tree| tree.root_node().has_error())
    }

    /// The syntax tree as an S-expression, to compare trees; empty if the text was not parsed.
    pub fn tree_text(&self) -> String {
        self.syntax.tree.as_ref().map_or_else(String::new, |tree| tree.root_node().to_sexp())
    }

    /// The text that the plan was made of.
    pub fn text(&self) -> &Arc<str> {
        &self.syntax.text
    }
}

/// The code of a notebook's cells: three readings of one text.
#[derive(Debug, Clone, Copy)]
pub struct NotebookCode<'n> {
    /// Its Python: as long as `written`, with blanks for everything else.
    pub code: &'n Arc<str>,
    /// The cells as they are written.
    pub written: &'n Arc<str>,
    /// Where SQL of Spark's stands in `written`.
    pub sql: &'n [Span],
}

/// The plan of a text that nobody edits, which may import modules of its project. A text that other modules are read with is
/// parsed once for them all.
pub fn plan_in(text: &Arc<str>, imports: &Imports) -> Arc<StaticPlan> {
    let Some(module) = imports.shared(text) else { return PythonFile::parse_in(text, imports).plan };
    let mut tops = Cow::Borrowed(module.tops());
    let cells = cells::cells(text);
    if !cells.is_empty() {
        add_cells(tops.to_mut(), cells.into_iter());
    }
    Arc::new(interpret(text, &tops, imports))
}

/// Puts statements of SQL among those of Python.
fn add_cells(tops: &mut Vec<Placed>, cells: impl Iterator<Item = (u32, Top)>) {
    let before = tops.len();
    tops.extend(cells.map(|(start, top)| Placed { start, kind: NO_KIND, top: Arc::new(top) }));
    if tops.len() > before {
        tops.sort_by_key(|placed| placed.start);
    }
}

fn interpret(text: &Arc<str>, tops: &[Placed], imports: &Imports) -> StaticPlan {
    eval::interpret(text, tops, import_offset(text, tops), imports)
}

/// Statements of the text before an edit that are the same after it, by place, length and kind.
#[derive(Default)]
pub(super) struct Reuse {
    tops: FxHashMap<(u32, u32, u16), Arc<Top>>,
}

impl Reuse {
    fn new(tops: &[Placed], difference: Difference, changed: &[std::ops::Range<usize>]) -> Self {
        let mut kept = FxHashMap::default();
        for placed in tops {
            let (start, end) = (placed.start as usize, placed.start as usize + placed.top.len as usize);
            // A character next to a statement may become a part of it.
            let moved = if end < difference.start {
                start
            } else if start > difference.old_end {
                start - difference.old_end + difference.new_end
            } else {
                continue;
            };
            let moved_end = moved + placed.top.len as usize;
            if changed.iter().all(|range| range.end <= moved || range.start >= moved_end) {
                kept.insert((moved as u32, placed.top.len, placed.kind), placed.top.clone());
            }
        }
        Self { tops: kept }
    }
}

pub(super) fn lower_all(syntax: &Syntax, reuse: &Reuse) -> Vec<Placed> {
    let mut tops = Vec::new();
    let Some(tree) = &syntax.tree else { return tops };
    let mut cursor = tree.walk();
    let mut room = Vec::new();
    if kind(&cursor) == Kind::Error {
        // Nothing of the text is Python as it stands: one statement with all that can be read.
        let node = cursor.node();
        let (start, kind) = (node.start_byte() as u32, node.kind_id());
        tops.push(Placed { start, kind, top: Arc::new(lower::lower(&mut cursor, &syntax.text, &mut room)) });
        return tops;
    }
    if !cursor.goto_first_child() {
        return tops;
    }
    loop {
        let node = cursor.node();
        if node.is_named() && kind(&cursor) != Kind::Comment {
            let key = (node.start_byte() as u32, (node.end_byte() - node.start_byte()) as u32, node.kind_id());
            let top = match reuse.tops.get(&key) {
                Some(top) => top.clone(),
                None => Arc::new(lower::lower(&mut cursor, &syntax.text, &mut room)),
            };
            tops.push(Placed { start: key.0, kind: key.2, top });
        }
        if !cursor.goto_next_sibling() {
            return tops;
        }
    }
}

/// Where a new import line belongs: after the last import at the top level, else after the module's docstring.
fn import_offset(text: &str, tops: &[Placed]) -> u32 {
    let is_import = |placed: &&Placed| matches!(placed.top.body.first().map(|node| &node.stmt), Some(Stmt::Import(_)));
    let is_docstring = |placed: &&Placed| {
        matches!(placed.top.body.first().map(|node| &node.stmt),
            Some(Stmt::Expr(id)) if matches!(placed.top.expr(*id).expr, super::ir::Expr::Text(_)))
    };
    let Some(last) = tops.iter().rev().find(is_import).or_else(|| tops.first().filter(is_docstring)) else {
        return first_line(text);
    };
    let end = (last.start + last.top.len) as usize;
    let line_end =
        text.get(end..).and_then(|rest| rest.find(['\n', '\r']).map(|at| (end + at, rest.as_bytes().get(at..at + 2))));
    match line_end {
        Some((at, Some(b"\r\n"))) => at as u32 + 2,
        Some((at, _)) => at as u32 + 1,
        None => text.len() as u32,
    }
}

/// The plan of a text of SQL: a script, or a notebook's cell. Statements are separated by semicolons.
/// Whether it is surely Spark's is told by [`plan::SparkUse::is_spark`](super::plan::SparkUse::is_spark).
pub fn sql_script(text: &str) -> StaticPlan {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let script =
        Placed { start: start as u32, kind: NO_KIND, top: Arc::new(cells::cell(Span::new(start, text.len()))) };
    let mut plan = eval::interpret(text, &[script], 0, &Imports::default());
    plan.uses.is_spark = sql_dialect(text) == SqlDialect::Spark;
    plan
}

/// The first line that is no byte order mark, interpreter line or coding comment.
fn first_line(text: &str) -> u32 {
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while text[at..].starts_with('#') {
        match text[at..].find('\n') {
            Some(end) => at += end + 1,
            None => break,
        }
    }
    at as u32
}

/// Whether a text can be about Spark at all: a byte scan, so that other files are never parsed.
///
/// A frame can only be proven by an import or a session, and each of these spells one of the marks.
pub fn may_use_spark(text: &str) -> bool {
    const MARKS: &str =
        "spark|Spark|SPARK|awsglue|databricks|dbutils|sqlContext|sqlCtx|import dlt|delta\\.tables|# MAGIC %sql";
    static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(MARKS).ok());
    MARK.as_ref().is_none_or(|mark| mark.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_cannot_be_spark() {
        assert!(may_use_spark("from pyspark.sql import functions as F"));
        assert!(may_use_spark("def f(session):\n    return self.spark.table('t')"));
        assert!(!may_use_spark("import pandas as pd\nfrom datetime import timedelta\npd.DataFrame()"));
        assert!(!may_use_spark(""));
    }

    /// The text with `|` where a new import belongs.
    fn import_at(text: &str) -> String {
        let offset = PythonFile::parse(&text.into()).plan().uses.import_offset as usize;
        format!("{}|{}", &text[..offset], &text[offset..])
    }

    #[test]
    fn a_new_import_goes_behind_the_last_one() {
        assert_eq!(
            import_at("import os\r\nimport sys  # why\r\nx = 1\r\n"),
            "import os\r\nimport sys  # why\r\n|x = 1\r\n"
        );
        assert_eq!(
            import_at("from __future__ import annotations\nx = 1\n"),
            "from __future__ import annotations\n|x = 1\n"
        );
        assert_eq!(import_at("\"\"\"Doc.\n\nMore.\"\"\"\nx = 1\n"), "\"\"\"Doc.\n\nMore.\"\"\"\n|x = 1\n");
        assert_eq!(import_at("#!/usr/bin/python\nx = 1\n"), "#!/usr/bin/python\n|x = 1\n");
        assert_eq!(import_at("import os"), "import os|");
        assert_eq!(import_at(""), "|");
    }
}
