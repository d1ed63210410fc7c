//! The syntax tree of a Python text, kept up to date edit by edit.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tree_sitter::{InputEdit, ParseOptions, Parser, Point, Tree};

/// Texts above this many bytes are not parsed: no one edits such a file, and its tree would fill the memory.
const LIMIT: usize = 16 << 20;

/// What parsing one text may take at most; a text that takes longer has no tree.
const BUDGET: Duration = Duration::from_secs(10);

thread_local! {
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// The Python grammar.
pub(super) fn language() -> tree_sitter::Language {
    tree_sitter_python::LANGUAGE.into()
}

/// A text with its tree; the two always belong together.
#[derive(Debug, Clone)]
pub(super) struct Syntax {
    pub(super) text: Arc<str>,
    /// `None` if the text is too large or took too long.
    pub(super) tree: Option<Tree>,
}

/// What two versions of a text have in common: the bytes before `start` and those from `old_end` (`new_end`) on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) start: usize,
    pub(super) old_end: usize,
    pub(super) new_end: usize,
}

/// What an edit changed: the text, and the ranges in which the structure is another one.
pub(super) type Changed = (Difference, Vec<std::ops::Range<usize>>);

impl Difference {
    /// The smallest replacement that turns `old` into `new`.
    pub(super) fn between(old: &[u8], new: &[u8]) -> Self {
        let start = common_start(old, new);
        let tail = common_end(&old[start..], &new[start..]);
        Self { start, old_end: old.len() - tail, new_end: new.len() - tail }
    }

    fn is_empty(self) -> bool {
        self.start == self.old_end && self.start == self.new_end
    }

    fn input(self, old: &[u8], new: &[u8]) -> InputEdit {
        let start_position = point(new, self.start);
        InputEdit {
            start_byte: self.start,
            old_end_byte: self.old_end,
            new_end_byte: self.new_end,
            start_position,
            old_end_position: advance(start_position, &old[self.start..self.old_end]),
            new_end_position: advance(start_position, &new[self.start..self.new_end]),
        }
    }
}

/// How many bytes two texts have in common from their start; whole blocks first, because texts are long and edits short.
fn common_start(old: &[u8], new: &[u8]) -> usize {
    const BLOCK: usize = 256;
    let blocks =
        old.chunks_exact(BLOCK).zip(new.chunks_exact(BLOCK)).take_while(|(old, new)| old == new).count() * BLOCK;
    blocks + old[blocks..].iter().zip(&new[blocks..]).take_while(|(old, new)| old == new).count()
}

/// The same from their end.
fn common_end(old: &[u8], new: &[u8]) -> usize {
    const BLOCK: usize = 256;
    let blocks =
        old.rchunks_exact(BLOCK).zip(new.rchunks_exact(BLOCK)).take_while(|(old, new)| old == new).count() * BLOCK;
    let (old, new) = (&old[..old.len() - blocks], &new[..new.len() - blocks]);
    blocks + old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count()
}

fn point(text: &[u8], offset: usize) -> Point {
    advance(Point::new(0, 0), &text[..offset])
}

fn advance(from: Point, text: &[u8]) -> Point {
    match memchr::memrchr(b'\n', text) {
        Some(last) => Point::new(from.row + memchr::memchr_iter(b'\n', text).count(), text.len() - last - 1),
        None => Point::new(from.row, from.column + text.len()),
    }
}

impl Syntax {
    pub(super) fn parse(text: &Arc<str>) -> Self {
        Self { text: text.clone(), tree: run(&line_ends(text), None) }
    }

    /// The syntax of a later text, what changed, and the ranges in which the structure is another one.
    pub(super) fn update(&self, text: &Arc<str>) -> (Self, Option<Changed>) {
        let Some(old) = &self.tree else { return (Self::parse(text), None) };
        let (before, after) = (line_ends(&self.text), line_ends(text));
        let difference = Difference::between(&before, &after);
        if difference.is_empty() {
            return (Self { text: text.clone(), tree: Some(old.clone()) }, Some((difference, Vec::new())));
        }
        let mut edited = old.clone();
        edited.edit(&difference.input(&before, &after));
        let tree = reparse(old, &edited, &after);
        let changed = tree.as_ref().map(|tree| {
            (difference, edited.changed_ranges(tree).map(|range| range.start_byte..range.end_byte).collect())
        });
        (Self { text: text.clone(), tree }, changed)
    }
}

/// The tree after an edit: what a fresh parse gives. A parse that reuses nodes may recover from errors in another way than
/// a fresh one, so that only trees without errors are made from their predecessors.
fn reparse(old: &Tree, edited: &Tree, text: &[u8]) -> Option<Tree> {
    if old.root_node().has_error() {
        return run(text, None);
    }
    run(text, Some(edited)).filter(|tree| !tree.root_node().has_error()).or_else(|| run(text, None))
}

/// The text as the grammar reads it: a lone `\r` ends a line in Python but not in the grammar.
fn line_ends(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    let lone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
    if memchr::memchr_iter(b'\r', bytes).all(|at| !lone(&at)) {
        return Cow::Borrowed(bytes);
    }
    let mut normal = bytes.to_vec();
    for at in memchr::memchr_iter(b'\r', bytes).filter(lone) {
        normal[at] = b'\n';
    }
    Cow::Owned(normal)
}

fn run(bytes: &[u8], old: Option<&Tree>) -> Option<Tree> {
    if bytes.len() > LIMIT {
        return None;
    }
    let deadline = Instant::now() + BUDGET;
    let mut on_time = |_: &tree_sitter::ParseState| {
        if Instant::now() < deadline { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    PARSER.with_borrow_mut(|slot| {
        let parser = slot.get_or_insert_with(|| {
            let mut parser = Parser::new();
            // The grammar's version is fixed with the crate; a test parses with it.
            let _ = parser.set_language(&language());
            parser
        });
        let options = ParseOptions::new().progress_callback(&mut on_time);
        let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), old, Some(options));
        // An interrupted parser would go on with this text when it gets the next one.
        parser.reset();
        tree
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sexp(syntax: &Syntax) -> String {
        syntax.tree.as_ref().unwrap().root_node().to_sexp()
    }

    #[test]
    fn a_lone_carriage_return_ends_a_line() {
        assert_eq!(sexp(&Syntax::parse(&"a = 1\rb = 2\r".into())), sexp(&Syntax::parse(&"a = 1\nb = 2\n".into())));
    }

    #[test]
    fn the_difference_is_the_smallest_replacement() {
        let difference = Difference::between(b"abcd", b"abXYcd");
        assert_eq!(difference, Difference { start: 2, old_end: 2, new_end: 4 });
        assert_eq!(Difference::between(b"aaa", b"aa"), Difference { start: 2, old_end: 3, new_end: 2 });
    }

    #[test]
    fn an_update_gives_the_tree_of_a_fresh_parse() {
        let before = Syntax::parse(&"df = spark.read.parquet(\"x\")\r\ndf.count()\r\n".into());
        let text: Arc<str> = "df = spark.read.parquet(\"x\")\rdf.count()\r\n".into();
        let (after, changed) = before.update(&text);
        assert!(changed.is_some());
        assert_eq!(sexp(&after), sexp(&Syntax::parse(&text)));
    }
}
