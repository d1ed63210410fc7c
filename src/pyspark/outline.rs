//! What an editor's outline shows of a Python file, as plain data.

use std::sync::OnceLock;

use tree_sitter::{Query, QueryCursor, StreamingIterator};

use super::PythonFile;
use crate::text::Span;

/// Kinds of symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    /// A function or method.
    Function,
    /// A class.
    Class,
    /// A name that holds a DataFrame.
    Frame,
    /// A name that holds the Spark session.
    Session,
}

/// A symbol; those in another one's span belong to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Symbol {
    /// The name as written.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// All that belongs to it.
    pub span: Span,
    /// The name's characters.
    pub selection: Span,
}

fn query() -> Option<&'static Query> {
    static QUERY: OnceLock<Option<Query>> = OnceLock::new();
    QUERY
        .get_or_init(|| Query::new(&super::syntax::language(), include_str!("../../queries/outline.scm")).ok())
        .as_ref()
}

impl PythonFile {
    /// Functions, classes, sessions and frames, in source order; a name that is bound again in its function is shown once.
    pub fn outline(&self) -> Vec<Symbol> {
        let mut symbols = self.definitions();
        let mut seen = rustc_hash::FxHashSet::default();
        for binding in &self.plan().bindings {
            if seen.insert((binding.scope, binding.name.as_str())) {
                let (name, selection) = (binding.name.clone(), binding.span);
                symbols.push(Symbol { name, kind: SymbolKind::Frame, span: selection, selection });
            }
        }
        symbols.extend(self.session());
        symbols.sort_by_key(|symbol| (symbol.span.start, std::cmp::Reverse(symbol.span.end)));
        symbols
    }

    fn definitions(&self) -> Vec<Symbol> {
        let mut symbols = Vec::new();
        let (Some(tree), Some(query)) = (&self.syntax.tree, query()) else { return symbols };
        let names = query.capture_names();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(query, tree.root_node(), self.syntax.text.as_bytes());
        while let Some(found) = matches.next() {
            let (mut symbol, mut selection) = (None, None);
            for capture in found.captures() {
                let span = Span::new(capture.node.start_byte(), capture.node.end_byte());
                match names.get(capture.index as usize).copied() {
                    Some("function") => symbol = Some((SymbolKind::Function, span)),
                    Some("class") => symbol = Some((SymbolKind::Class, span)),
                    Some("name") => selection = Some(span),
                    _ => {}
                }
            }
            if let (Some((kind, span)), Some(selection)) = (symbol, selection) {
                symbols.push(Symbol { name: selection.of(&self.syntax.text).to_owned(), kind, span, selection });
            }
        }
        symbols
    }

    /// Where the session gets its name.
    fn session(&self) -> Option<Symbol> {
        let selection = self.plan().session_span?;
        let name = selection.of(&self.syntax.text).to_owned();
        Some(Symbol { name, kind: SymbolKind::Session, span: selection, selection })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_classes_sessions_and_frames() {
        let text = "\
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
class Job:
    def run(self):
        df = spark.table('t')
        df = df.limit(1)
";
        let outline = PythonFile::parse(&text.into()).outline();
        let shown: Vec<_> = outline.iter().map(|symbol| (symbol.name.as_str(), symbol.kind)).collect();
        let expected = [
            ("spark", SymbolKind::Session),
            ("Job", SymbolKind::Class),
            ("run", SymbolKind::Function),
            ("df", SymbolKind::Frame),
        ];
        assert_eq!(shown, expected);
        assert_eq!(outline[2].span.of(text), "def run(self):\n        df = spark.table('t')\n        df = df.limit(1)");
    }

    #[test]
    fn the_query_compiles() {
        assert!(query().is_some());
    }
}
