//! Jupyter notebooks: `%%configure` cells, whose body is JSON as Livy takes it, or as Glue's sessions do.
//!
//! Any key can stand in `conf`; fields with names of their own (`driverMemory`) win over it. Cells of Python are read
//! elsewhere; a cell with `%%bash` or `!spark-submit` is a script.

use super::collect::Collector;
use super::mapped::Mapped;
use super::tree::{Node, Scalar};
use super::{Extract, json, shapes, shell, sql};
use crate::text::Span;

/// A code cell of a notebook's file.
#[derive(Debug, Clone)]
pub(crate) struct CodeCell<'a> {
    /// Its number among all cells, from 1.
    pub(crate) number: u32,
    /// Its text, with the places of its characters in the file.
    pub(crate) source: Mapped<'a>,
    /// What it is written in.
    pub(crate) language: CellLanguage,
}

/// What a cell is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellLanguage {
    /// The kernel runs it as Python, and what it runs itself (`%%sql`, `!ls`).
    Python,
    /// SQL, as the editor knows it.
    Sql,
    /// Something else.
    Other,
}

impl CellLanguage {
    /// By the name that editors have for it.
    pub fn of(name: &str) -> Self {
        match name {
            "python" => Self::Python,
            "sql" | "spark-sql" | "sparksql" => Self::Sql,
            _ => Self::Other,
        }
    }
}

/// Reads a notebook.
pub(super) fn read(text: &str, out: &mut Collector) {
    for cell in cells(text) {
        read_cell(&cell.source, out);
    }
}

/// The code cells of a notebook's file.
pub(crate) fn cells(text: &str) -> Vec<CodeCell<'_>> {
    let Some(root) = json::tree(text) else { return Vec::new() };
    let documents = if let Node::List(nodes) = &root { nodes.as_slice() } else { std::slice::from_ref(&root) };
    let mut found = Vec::new();
    for document in documents {
        let Some(Node::List(cells)) = document.get(&["cells"]) else { continue };
        let of_kernel = if runs_python(document) { CellLanguage::Python } else { CellLanguage::Other };
        let numbered = cells.iter().zip(1..);
        found.extend(numbered.filter_map(|(cell, number)| {
            let language = at(cell, &["metadata", "vscode", "languageId"]);
            let language = language.map_or(of_kernel, |language| CellLanguage::of(language.as_str()));
            Some(CodeCell { number, source: source(cell)?, language })
        }));
    }
    found
}

/// Whether the kernel of a notebook runs Python, as far as its file tells.
fn runs_python(notebook: &Node<'_>) -> bool {
    let languages = [["metadata", "language_info", "name"], ["metadata", "kernelspec", "language"]];
    let told = languages.iter().filter_map(|path| at(notebook, path)).map(|language| language.as_str());
    let mut told = told.filter(|language| !language.is_empty()).map(str::to_ascii_lowercase);
    told.next().is_none_or(|language| ["python", "pyspark"].iter().any(|name| language.contains(name)))
}

/// The scalar under a path of keys.
fn at<'n, 'a>(node: &'n Node<'a>, path: &[&str]) -> Option<&'n Scalar<'a>> {
    let (last, parents) = path.split_last()?;
    parents.iter().try_fold(node, |node, name| node.get(&[*name]))?.scalar(&[*last])
}

/// What the cells of a notebook set and start, which stand at these places of a text.
pub(crate) fn read_cells(text: &str, cells: impl Iterator<Item = Span>) -> Extract {
    let mut out = Collector::default();
    cells.for_each(|cell| read_cell(&Mapped::verbatim(text, cell), &mut out));
    out.finish()
}

/// Reads the source of a cell, or a file that is one.
pub(super) fn read_cell(source: &Mapped<'_>, out: &mut Collector) {
    let text = source.text();
    let Some(body) = text.trim_start().strip_prefix("%%") else {
        read_commands(source, out);
        return;
    };
    let from = text.len() - body.len();
    let line_end = body.find('\n').map_or(text.len(), |at| from + at);
    match body.split_whitespace().next() {
        Some("configure") => {
            let start = text[from..].find('{').map_or(text.len(), |at| from + at);
            out.embedded(&source.slice(start..text.len()), |text, out| {
                if let Some(root) = json::tree(text) {
                    shapes::read_session(text, &root, out);
                }
            });
        }
        Some("sql" | "sparksql") => {
            let settings = sql::settings(&source.slice(line_end..text.len()));
            let settings: Vec<usize> = settings.into_iter().map(|setting| out.add(setting)).collect();
            out.group(&settings);
        }
        Some("bash" | "sh" | "script") => shell::read_string(&source.slice(line_end..text.len()), out),
        _ => {}
    }
}

/// `!spark-submit …` in a cell.
fn read_commands(source: &Mapped<'_>, out: &mut Collector) {
    let text = source.text();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        let command = line.trim_start().strip_prefix('!');
        if command.is_some_and(shell::mentions_tool) {
            let end = continued(text, at + line.len());
            shell::read_string(&source.slice(start + 1..end), out);
        }
        at += line.len();
    }
}

/// Where a command ends that goes on behind backslashes.
fn continued(text: &str, mut end: usize) -> usize {
    while text[..end].trim_end_matches(['\n', '\r']).ends_with('\\') && end < text.len() {
        end += text[end..].find('\n').map_or(text.len() - end, |at| at + 1);
    }
    end
}

/// The source of a code cell: one string, or a list of lines.
fn source<'a>(cell: &Node<'a>) -> Option<Mapped<'a>> {
    if cell.scalar(&["cell_type"]).is_some_and(|kind| kind.as_str() != "code") {
        return None;
    }
    match cell.get(&["source"])? {
        Node::Scalar(Scalar { text, .. }) => Some(text.clone()),
        lines @ Node::List(_) => {
            let mut source = Mapped::default();
            for line in lines.scalars()? {
                source.push_mapped(&line.text);
            }
            Some(source)
        }
        Node::Map(_) | Node::Unknown(_) => None,
    }
}
