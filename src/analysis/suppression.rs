//! Comments that speak to us: `# sparkls: ignore[slug]`, `# sparkls: ignore-file[slug]`, and reasons written beside code.

mod lines;
mod unused;

use std::cell::RefCell;
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::conf::carriers::CarrierKind;
use crate::rules::{Edit, Fix, FixKind};
use crate::text::Span;

/// How a document writes comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `#` after code, strings over several lines, `\` at a line's end.
    Python,
    /// `#` or `!` at a line's start only, `\` at a line's end.
    Properties,
    /// Scripts, manifests, templates: `#`, as far as the format has comments.
    Carrier(CarrierKind),
}

/// One physical line.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// Without its line end.
    span: Span,
    /// Where its comment starts, if it has one.
    comment: Option<u32>,
    /// Nothing but a comment stands on it.
    only_comment: bool,
    /// It goes on in the next line: a string or a `\`; a comment can't stand at its end.
    continues: bool,
}

/// Lines of a command that a comment is looked for above.
const LONGEST_COMMAND: usize = 200;

/// The comments of one document.
pub(super) struct Comments<'a> {
    text: &'a str,
    syntax: Syntax,
    lines: Vec<Line>,
    /// The first line of each line's statement.
    first_lines: Vec<usize>,
    /// The lines that have a comment.
    commented: Vec<usize>,
    /// The rules that are ignored in the whole file, with the place of each in its list.
    ignored_in_file: BTreeMap<&'a str, u32>,
    /// The places in lists whose rules found something that was ignored.
    used: RefCell<FxHashSet<u32>>,
}

impl<'a> Comments<'a> {
    /// Reads the comments of a text.
    pub(super) fn read(text: &'a str, syntax: Syntax) -> Self {
        let lines = match syntax {
            Syntax::Python => python_lines(text),
            Syntax::Properties => properties_lines(text),
            Syntax::Carrier(kind) => lines::read(text, kind),
        };
        let mut ignored_in_file = BTreeMap::new();
        for line in &lines {
            let (Some(start), Some(comment)) = (line.comment, comment_of(text, line)) else { continue };
            for list in lists(comment, "ignore-file") {
                for (offset, slug) in list.slugs() {
                    ignored_in_file.entry(slug).or_insert(start + (list.at + offset) as u32);
                }
            }
        }
        let mut first = 0;
        let first_of = |(at, line): (usize, &Line)| {
            let of_this = first;
            if !line.continues {
                first = at + 1;
            }
            of_this
        };
        let first_lines = lines.iter().enumerate().map(first_of).collect();
        let commented = (0..lines.len()).filter(|at| lines[*at].comment.is_some()).collect();
        Self { text, syntax, lines, first_lines, commented, ignored_in_file, used: RefCell::default() }
    }

    /// Whether a comment on the line of `span`, right above it, or for the whole file names the rule.
    pub(super) fn suppress(&self, rule: &str, span: Span) -> bool {
        let (first, last) = self.statement_lines(span);
        let above = self.lines[..first].iter().rev().take_while(|line| line.only_comment);
        // The nearest comment is the one that is used.
        self.commented(first, last).chain(above).any(|line| self.names(line, rule))
            || self.names_inside(rule, span, first, last)
            || self.ignored_in_file.get(rule).is_some_and(|place| {
                self.used.borrow_mut().insert(*place);
                true
            })
    }

    /// Whether a comment of a script that stands inside of the document (a block scalar, a heredoc) names the rule.
    fn names_inside(&self, rule: &str, span: Span, first: usize, last: usize) -> bool {
        if first == last || !matches!(self.syntax, Syntax::Carrier(_)) {
            return false;
        }
        let text = |at: &usize| self.lines[*at].span.of(self.text);
        let names = |at: usize| names(text(&at), rule);
        let line = self.line_of(span);
        let joined = |at: &usize| text(at).ends_with('\\');
        let start = (first..line).rev().take(LONGEST_COMMAND).take_while(joined).last().unwrap_or(line);
        let mut above = (first..start).rev().take_while(|at| text(at).trim_start().starts_with('#'));
        text(&line).contains("# sparkls:") && names(line) || above.any(names)
    }

    /// Whether somebody wrote a reason beside the code: a comment of several words on the line of `span`.
    pub(super) fn gives_reason(&self, span: Span) -> bool {
        let (_, last) = self.statement_lines(span);
        let line = &self.lines[last];
        let Some(comment) = comment_of(self.text, line).filter(|_| !line.only_comment) else { return false };
        let words = comment.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| word.len() > 1);
        let is_directive = ["type:", "pylint:", "fmt:", "sparkls:", "TODO", "FIXME"]
            .iter()
            .any(|directive| comment.trim_start_matches(['#', ' ']).starts_with(directive));
        !is_directive && words.count() >= 3
    }

    /// The edit that makes [`Comments::suppress`] true for a finding; `None` where the format has no comments.
    pub(super) fn suppress_fix(&self, rule: &str, span: Span) -> Option<Fix> {
        if matches!(self.syntax, Syntax::Carrier(CarrierKind::Json | CarrierKind::Notebook)) {
            return None;
        }
        let (first, last) = self.statement_lines(span);
        let edit = match self.existing_list_end(first, last) {
            Some(at) => Edit { span: Span::at(at), text: format!(", {rule}") },
            None if self.syntax.has_comments_behind() && !self.lines[last].continues && first == last => {
                let end = self.lines[last].span.end as usize;
                // A notebook's cell in SQL stands in comments of Python, and has comments of its own.
                let line = self.lines[last].span.of(self.text);
                let mark = if line.starts_with("# MAGIC") { "--" } else { "#" };
                Edit { span: Span::at(end), text: format!("  {mark} sparkls: ignore[{rule}]") }
            }
            None => {
                let line = self.lines[first].span;
                let code = line.of(self.text).trim_start_matches('\u{feff}');
                // A recipe's own lines are shown and run; make leaves out those at the margin.
                let indent = match self.syntax {
                    Syntax::Carrier(CarrierKind::Makefile) => "",
                    _ => &code[..code.len() - code.trim_start().len()],
                };
                let at = line.end as usize - code.len();
                Edit { span: Span::at(at), text: format!("{indent}# sparkls: ignore[{rule}]\n") }
            }
        };
        Some(Fix { title: format!("Ignore {rule} here"), kind: FixKind::QuickFix, safe: false, edits: vec![edit] })
    }

    /// The lines with a comment among these.
    fn commented(&self, first: usize, last: usize) -> impl Iterator<Item = &Line> {
        let at = |line: usize| self.commented.partition_point(|commented| *commented < line);
        self.commented[at(first)..at(last + 1)].iter().map(|line| &self.lines[*line])
    }

    fn line_of(&self, span: Span) -> usize {
        self.lines.partition_point(|line| line.span.end < span.start).min(self.lines.len() - 1)
    }

    /// The physical lines that a comment can't be put between: the line of `span` with what continues it.
    fn statement_lines(&self, span: Span) -> (usize, usize) {
        let line = self.line_of(span);
        let first = self.first_lines[line];
        (first, self.first_lines.partition_point(|other| *other <= first) - 1)
    }

    fn names(&self, line: &Line, rule: &str) -> bool {
        let (Some(start), Some(comment)) = (line.comment, comment_of(self.text, line)) else { return false };
        let place = place_of(comment, rule);
        self.used.borrow_mut().extend(place.map(|place| start + place as u32));
        place.is_some()
    }

    /// Where the list of an `ignore[...]` that covers these lines ends.
    fn existing_list_end(&self, first: usize, last: usize) -> Option<usize> {
        let above = self.lines[..first].iter().rev().take_while(|line| line.only_comment);
        self.commented(first, last).chain(above).find_map(|line| {
            let start = line.comment? as usize;
            let list = lists(comment_of(self.text, line)?, "ignore").next()?;
            Some(start + list.at + list.text.len())
        })
    }
}

impl Syntax {
    /// Whether a comment may stand at the end of a line that holds something.
    fn has_comments_behind(self) -> bool {
        match self {
            Self::Python => true,
            Self::Properties => false,
            // Dockerfiles have none there, and in a Makefile the blank in front of it would belong to the value.
            Self::Carrier(kind) => matches!(kind, CarrierKind::Shell | CarrierKind::Yaml | CarrierKind::Hcl),
        }
    }
}

/// Whether a comment tells to ignore the rule.
fn names(comment: &str, rule: &str) -> bool {
    place_of(comment, rule).is_some()
}

/// Where a comment names a rule that is to be ignored.
fn place_of(comment: &str, rule: &str) -> Option<usize> {
    lists(comment, "ignore").find_map(|list| {
        let place = list.slugs().find(|(_, slug)| *slug == rule)?.0;
        Some(list.at + place)
    })
}

fn comment_of<'a>(text: &'a str, line: &Line) -> Option<&'a str> {
    text.get(line.comment? as usize..line.span.end as usize)
}

/// What stands in `sparkls: <verb>[a, b]` within a comment.
struct List<'a> {
    /// Where `sparkls:` stands in the comment.
    marker: usize,
    /// Where the text between the brackets begins.
    at: usize,
    text: &'a str,
}

impl<'a> List<'a> {
    /// The names in it, each with its offset.
    fn slugs(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        let mut at = 0;
        let parts = self.text.split(',').map(move |part| {
            let start = at + (part.len() - part.trim_start().len());
            at += part.len() + 1;
            (start, part.trim())
        });
        parts.filter(|(_, slug)| !slug.is_empty())
    }
}

/// The lists of a verb within a comment.
fn lists<'a>(comment: &'a str, verb: &str) -> impl Iterator<Item = List<'a>> {
    comment.match_indices("sparkls:").filter_map(move |(marker, word)| {
        let rest = &comment[marker + word.len()..];
        let list = rest.trim_start().strip_prefix(verb)?.strip_prefix('[')?;
        Some(List { marker, at: comment.len() - list.len(), text: &list[..list.find(']')?] })
    })
}

/// The spans of a text's lines without their ends; `\n`, `\r\n` and `\r` end a line.
fn line_spans(text: &str) -> Vec<Span> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut start = 0;
    for end in memchr::memchr2_iter(b'\n', b'\r', bytes) {
        if bytes[end] == b'\n' && end > 0 && bytes[end - 1] == b'\r' {
            start = end + 1;
            continue;
        }
        spans.push(Span::new(start, end));
        start = end + 1;
    }
    spans.push(Span::new(start, bytes.len()));
    spans
}

fn properties_lines(text: &str) -> Vec<Line> {
    let mut continued = false;
    line_spans(text)
        .into_iter()
        .map(|span| {
            let line = span.of(text);
            let content = line.trim_start();
            let only_comment = !continued && content.starts_with(['#', '!']);
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            continued = !only_comment && backslashes % 2 == 1;
            let comment = only_comment.then(|| span.end - content.len() as u32);
            Line { span, comment, only_comment, continues: continued }
        })
        .collect()
}

fn python_lines(text: &str) -> Vec<Line> {
    let mut open: Option<Quote> = None;
    line_spans(text)
        .into_iter()
        .map(|span| {
            let line = span.of(text);
            let comment = scan_python(line, &mut open).map(|at| span.start + at as u32);
            let before = comment.map_or(line, |at| &line[..(at - span.start) as usize]);
            let only_comment = comment.is_some() && before.trim_matches(['\u{feff}', ' ', '\t', '\u{c}']).is_empty();
            let continues = open.is_some() || (comment.is_none() && line.ends_with('\\'));
            Line { span, comment, only_comment, continues }
        })
        .collect()
}

/// An open string.
#[derive(Clone, Copy)]
struct Quote {
    character: u8,
    triple: bool,
}

/// The next character that opens or ends something: a string, or a comment.
fn next_mark(rest: &[u8], open: Option<Quote>) -> Option<usize> {
    match open {
        Some(quote) => memchr::memchr2(quote.character, b'\\', rest),
        None => memchr::memchr3(b'#', b'"', b'\'', rest),
    }
}

/// Scans one line of Python; gives the offset of its comment and leaves the string that is open at its end.
fn scan_python(line: &str, open: &mut Option<Quote>) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut at = 0;
    while let Some(found) = next_mark(bytes.get(at..).unwrap_or_default(), *open) {
        at += found;
        let tripled = bytes[at..].starts_with(&[bytes[at]; 3]);
        match *open {
            Some(_) if bytes[at] == b'\\' => at += 2,
            Some(quote) if quote.triple && !tripled => at += 1,
            Some(quote) => {
                *open = None;
                at += if quote.triple { 3 } else { 1 };
            }
            None if bytes[at] == b'#' => return Some(at),
            None => {
                *open = Some(Quote { character: bytes[at], triple: tripled });
                at += if tripled { 3 } else { 1 };
            }
        }
    }
    // A plain string ends with its line, closed or not, unless a backslash carries it on.
    if open.is_some_and(|quote| !quote.triple) && !line.ends_with('\\') {
        *open = None;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, what: &str) -> Span {
        let start = text.find(what).expect("the text holds what is looked for");
        Span::new(start, start + what.len())
    }

    fn suppressed(text: &str) -> bool {
        Comments::read(text, Syntax::Python).suppress("collect-unbounded", at(text, "collect()"))
    }

    #[test]
    fn a_comment_on_the_line_or_right_above_it_suppresses() {
        assert!(suppressed("df.collect()  # sparkls: ignore[collect-unbounded]"));
        assert!(suppressed("df.collect()  # sparkls: ignore[other, collect-unbounded] small by contract"));
        assert!(suppressed("# sparkls: ignore[collect-unbounded]\ndf.collect()"));
        assert!(suppressed("# sparkls: ignore[collect-unbounded]\n# ten rows\ndf.collect()"));
        assert!(suppressed("\n\n# sparkls: ignore-file[collect-unbounded]\n\ndf.collect()"));
    }

    #[test]
    fn a_comment_elsewhere_or_in_a_string_does_not() {
        assert!(!suppressed("df.collect()\n# sparkls: ignore[collect-unbounded]"));
        assert!(!suppressed("x = 1  # sparkls: ignore[collect-unbounded]\ndf.collect()"));
        assert!(!suppressed("# sparkls: ignore[collect-unbounded]\n\ndf.collect()"));
        assert!(!suppressed("x = '# sparkls: ignore[collect-unbounded]'; df.collect()"));
        assert!(!suppressed("df.collect()  # sparkls: ignore[collect]"));
        assert!(!suppressed("df.collect()  # sparkls: ignore"));
    }

    #[test]
    fn the_fix_suppresses_wherever_the_finding_stands() {
        for text in [
            "df.collect()",
            "if x:\r\n    df.collect()\r\n    y()\r\n",
            "df \\\n  .collect() \\\n  .x()\n",
            "    spark.sql(\"\"\"\n  SET collect()\n\"\"\")\n",
            "df.collect()  # sparkls: ignore[other]\n",
            "# sparkls: ignore[other]\ndf.collect()\n",
            "\u{feff}df \\\n.collect()\n",
        ] {
            let comments = Comments::read(text, Syntax::Python);
            let fix = comments.suppress_fix("collect-unbounded", at(text, "collect()")).expect("Python has comments");
            let fixed = crate::rules::fix::apply(text, &fix.edits);
            assert!(suppressed(&fixed), "{fixed}");
            assert_eq!(fixed.matches("sparkls:").count(), 1, "{fixed}");
        }
    }

    #[test]
    fn a_cell_in_sql_takes_a_comment_of_sql() {
        let text = "# MAGIC %sql\n# MAGIC SELECT * FROM a, b\n";
        let fix = Comments::read(text, Syntax::Python)
            .suppress_fix("cartesian-join", at(text, ","))
            .expect("SQL has comments");
        let fixed = crate::rules::fix::apply(text, &fix.edits);
        assert_eq!(fixed, "# MAGIC %sql\n# MAGIC SELECT * FROM a, b  -- sparkls: ignore[cartesian-join]\n");
        assert!(Comments::read(&fixed, Syntax::Python).suppress("cartesian-join", at(&fixed, ",")));
    }

    #[test]
    fn properties_take_the_comment_above() {
        let text = "spark.a 1\nspark.b \\\n  2\n";
        let span = at(text, "2");
        let fix = Comments::read(text, Syntax::Properties).suppress_fix("invalid-value", span);
        let fix = fix.expect("properties files have comments");
        let fixed = crate::rules::fix::apply(text, &fix.edits);
        assert_eq!(fixed, "spark.a 1\n# sparkls: ignore[invalid-value]\nspark.b \\\n  2\n");
        assert!(Comments::read(&fixed, Syntax::Properties).suppress("invalid-value", at(&fixed, "2")));
        let comment = "spark.a 1 # sparkls: ignore[invalid-value]";
        assert!(!Comments::read(comment, Syntax::Properties).suppress("invalid-value", at(comment, "1")));
    }

    #[test]
    fn a_reason_is_a_comment_of_some_words() {
        let reason = |text| Comments::read(text, Syntax::Python).gives_reason(at(text, "collect("));
        assert!(reason("df.collect()  # at most forty shops"));
        assert!(!reason("df.collect()  # noqa: E501"));
        assert!(!reason("df.collect()  # type: ignore because of stubs"));
        assert!(!reason("df.collect('# at most forty shops')"));
        assert!(!reason("df.collect()"));
    }
}
