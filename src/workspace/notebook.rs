//! A notebook's file: its code cells as one text, what is read out of them, and the way back into the file.

use std::sync::Arc;

use crate::analysis::{self, Facts};
use crate::conf::carriers::{self, CellLanguage, Mapped, may_hold_settings};
use crate::pyspark::{
    Imports, NotebookCode, PythonFile, SqlDialect, StaticPlan, code_of_cell, loads_other_sql, may_use_spark,
    sql_dialect, sql_of_cell,
};
use crate::rules::{Edit, Finding, Fix};
use crate::text::{Cells, Span};

/// The code cells of a notebook, joined in their order.
#[derive(Debug, Clone, Default)]
pub struct Joined {
    /// Which lines are whose.
    pub cells: Cells,
    /// The cells as they are written.
    pub text: Arc<str>,
    /// Their Python: as long as `text`, with blanks for what the kernel runs itself.
    pub code: Arc<str>,
    /// Where cells hold SQL that may be Spark's, in source order.
    pub sql: Vec<Span>,
}

impl Joined {
    /// Joins code cells: their numbers among all cells from 1, their texts, and what they are written in.
    pub fn new<'t>(cells: impl IntoIterator<Item = (u32, &'t str, CellLanguage)>) -> Self {
        let cells: Vec<(u32, &str, CellLanguage)> = cells.into_iter().collect();
        let (map, text) = Cells::join(cells.iter().map(|(number, text, _)| (*number, *text)));
        let mut code = String::with_capacity(text.len());
        let mut sql = Vec::new();
        for (cell, (_, _, language)) in map.all().iter().zip(&cells) {
            let own = cell.span.of(&text);
            sql.extend(sql_in(own, *language).map(|part| part.shifted(cell.span.start)));
            if *language == CellLanguage::Python {
                code.push_str(&code_of_cell(own));
            } else {
                code.extend(own.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' }));
            }
            code.push('\n');
        }
        if cells.iter().any(|(_, cell, _)| loads_other_sql(cell)) {
            sql.clear();
        }
        Self { cells: map, text: text.into(), code: code.into(), sql }
    }

    /// Whether other cells hold the same code.
    pub fn same_code(&self, other: &Self) -> bool {
        self.text == other.text && self.code == other.code && self.sql == other.sql
    }

    /// The cells of SQL, if this is a notebook of Spark's.
    fn spark_sql(&self) -> Vec<Span> {
        let dialect = |cell: &Span| sql_dialect(cell.of(&self.text));
        let runs_spark = may_use_spark(&self.code)
            || self.text.contains("%%configure")
            || self.sql.iter().any(|cell| dialect(cell) == SqlDialect::Spark);
        if !runs_spark {
            return Vec::new();
        }
        self.sql.iter().filter(|cell| dialect(cell) != SqlDialect::Other).copied().collect()
    }

    /// What is read out of the cells. `parse` reads their Python and SQL.
    pub fn facts(&self, parse: impl FnOnce(&NotebookCode<'_>) -> Arc<StaticPlan>) -> Facts {
        let sql = self.spark_sql();
        let is_sql = |cell: &Span| sql.iter().any(|sql| cell.contains(*sql));
        let others = self.cells.all().iter().map(|cell| cell.span).filter(|cell| !is_sql(cell));
        let found = may_hold_settings(&self.text)
            .then(|| carriers::read_cells(&self.text, others))
            .filter(|found| !found.settings.is_empty() || !found.submits.is_empty() || !found.problems.is_empty());
        if found.is_none() && sql.is_empty() && !may_use_spark(&self.code) {
            return Facts::Nothing;
        }
        let mut plan = parse(&NotebookCode { code: &self.code, written: &self.text, sql: &sql });
        if let Some(found) = found {
            Arc::make_mut(&mut plan).add(found);
        }
        Facts::Notebook(Arc::new(analysis::Notebook { code: Arc::clone(&self.code), plan, sql }))
    }
}

/// Where a cell holds SQL.
fn sql_in(cell: &str, language: CellLanguage) -> Option<Span> {
    let found = match language {
        CellLanguage::Sql if !cell.trim_start().starts_with('%') => Some(0..cell.len()),
        CellLanguage::Sql | CellLanguage::Python => sql_of_cell(cell),
        CellLanguage::Other => None,
    };
    found.map(|range| Span::new(range.start, range.end))
}

/// A notebook's file.
#[derive(Debug)]
pub struct Notebook {
    /// Its code cells.
    pub joined: Joined,
    /// What was read out of them.
    pub facts: Facts,
    /// The file's text.
    pub file: Arc<str>,
    /// Where each cell's characters stand in the file.
    sources: Vec<Mapped<'static>>,
}

impl Notebook {
    /// Reads the text of a notebook's file; `None` if it has no code cell.
    pub fn read(file: &Arc<str>) -> Option<Self> {
        let cells = carriers::cells_of_notebook(file);
        if cells.is_empty() {
            return None;
        }
        let joined = Joined::new(cells.iter().map(|cell| (cell.number, cell.source.text(), cell.language)));
        let facts = joined.facts(parsed);
        let sources = cells.iter().map(|cell| cell.source.slice(0..cell.source.text().len())).collect();
        Some(Self { joined, facts, file: Arc::clone(file), sources })
    }

    /// Leaves out the fixes that can't be made in the file; the edits of the others lie inside of cells.
    pub fn retain_fixes(&self, findings: &mut [Finding]) {
        for finding in findings {
            finding.fixes.retain(|fix| fix.edits.iter().all(|edit| self.edit_of_file(edit).is_some()));
            for edit in finding.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
                if let Some((_, span, text)) = self.joined.cells.inside(edit.span, &edit.text) {
                    *edit = Edit { span, text };
                }
            }
        }
    }

    /// The findings with their fixes as edits of the file, as far as they can be made there.
    pub fn with_edits_of_file(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let of_file = |fix: &Fix| {
            let edits: Option<Vec<Edit>> = fix.edits.iter().map(|edit| self.edit_of_file(edit)).collect();
            Some(Fix { edits: edits?, ..fix.clone() })
        };
        let with_edits = |mut finding: Finding| {
            finding.fixes = finding.fixes.iter().filter_map(of_file).collect();
            finding
        };
        findings.into_iter().map(with_edits).collect()
    }

    /// Where a span of the joined text stands in the file; of one over several cells, its beginning.
    pub fn span_of_file(&self, span: Span) -> Span {
        let cells = &self.joined.cells;
        let found =
            cells.at(span.start as usize).and_then(|index| Some((cells.all().get(index)?, self.sources.get(index)?)));
        let Some((cell, source)) = found else { return Span::default() };
        let start = (span.start - cell.span.start) as usize;
        let end = (span.end.min(cell.span.end).max(span.start) - cell.span.start) as usize;
        source.span(start..end)
    }

    /// The edit as one of the file, if it can be made inside of a string of it.
    pub fn edit_of_file(&self, edit: &Edit) -> Option<Edit> {
        let (index, span, text) = self.joined.cells.inside(edit.span, &edit.text)?;
        let start = self.joined.cells.all().get(index)?.span.start as usize;
        let source = self.sources.get(index).filter(|source| !source.text().is_empty())?;
        let own = span.start as usize - start..span.end as usize - start;
        let place = source.span(own.clone());
        // Lines are strings of their own in the file: what is replaced must lie inside of one of them.
        let is_inside = unescaped(place.of(&self.file)).is_some_and(|text| source.text().get(own) == Some(&text));
        is_inside.then(|| Edit { span: place, text: escaped(&text) })
    }
}

/// The plan of a lone notebook.
pub fn parsed(notebook: &NotebookCode<'_>) -> Arc<StaticPlan> {
    Arc::clone(PythonFile::parse_notebook(notebook, &Imports::default()).plan())
}

/// The inside of a JSON string.
fn unescaped(text: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{text}\"")).ok()
}

/// A text as the inside of a JSON string, with characters beyond ASCII as they are.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r##"{"cells": [
 {"cell_type": "markdown", "source": ["# Title"]},
 {"cell_type": "code", "source": ["%pip install é\n", "path = \"/data/\ud83d\ude42\"\n", "df = spark.read.parquet(path)"]},
 {"cell_type": "code", "source": "%%sql\nselect 1"},
 {"cell_type": "code", "source": "rows = df.collect()\n"}
], "metadata": {"language_info": {"name": "python"}}}"##;

    fn notebook() -> Notebook {
        Notebook::read(&Arc::from(FILE)).expect("there are cells")
    }

    #[test]
    fn cells_are_one_text_with_blanks_for_the_kernel() {
        let joined = notebook().joined;
        assert_eq!(joined.text.len(), joined.code.len());
        assert!(joined.text.starts_with("%pip install é\npath = \"/data/🙂\"\ndf ="));
        let code: Vec<&str> = joined.code.lines().map(str::trim).collect();
        let rows = "rows = df.collect()";
        assert_eq!(code, ["", "path = \"/data/🙂\"", "df = spark.read.parquet(path)", "", "", rows, ""]);
        let numbers: Vec<u32> = joined.cells.all().iter().map(|cell| cell.number).collect();
        assert_eq!(numbers, [2, 3, 4]);
    }

    #[test]
    fn edits_are_made_inside_of_the_strings_of_the_file() {
        let notebook = notebook();
        let replaced = |what: &str, by: &str| {
            let start = notebook.joined.text.find(what).expect("the text holds it");
            let edit = Edit { span: Span::new(start, start + what.len()), text: by.to_owned() };
            let edit = notebook.edit_of_file(&edit)?;
            let file = crate::rules::fix::apply(FILE, &[edit]);
            assert!(serde_json::from_str::<serde_json::Value>(&file).is_ok(), "{file}");
            let read = Notebook::read(&Arc::from(file)).expect("there are cells");
            assert_eq!(*read.joined.text, notebook.joined.text.replacen(what, by, 1));
            Some(())
        };
        assert!(replaced("\"/data/🙂\"", "\"a\\b\"").is_some());
        assert!(replaced("collect()", "take(\n  \"1\")").is_some());
        assert!(replaced("df = spark", "é = spark").is_some());
        assert!(replaced("🙂\"\ndf", "x").is_none(), "two strings of the file");
        assert!(replaced("path)\n%%sql", "x").is_none(), "two cells");
    }
}
