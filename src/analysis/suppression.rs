//! Comments that speak to us: `# sparkls: ignore[slug]`, `# sparkls: ignore-file[slug]`, and reasons written beside code.

mod lines;
mod sql;
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
    /// `--` to a line's end.
    Sql,
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
    /// Brackets that it opens and doesn't close, less those that it closes.
    opens: i32,
}

/// Lines of a command that a comment is looked for above.
const LONGEST_COMMAND: usize = 200;

/// The comments of one document.
pub(super) struct Comments<'a> {
    text: &'a str,
    syntax: Syntax,
    /// Where SQL stands among other text.
    sql: &'a [Span],
    lines: Vec<Line>,
    /// The first line of each line's statement, as far as no comment can stand between.
    first_lines: Vec<usize>,
    /// The first line of each line's statement in brackets over several lines, in Python.
    opening_lines: Vec<usize>,
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
            Syntax::Sql => sql::read(text, Span::new(0, text.len())),
        };
        Self::new(text, syntax, &[], lines)
    }

    /// Reads the comments of a notebook: of its Python, and of its cells in SQL.
    pub(super) fn read_notebook(text: &'a str, notebook: &'a super::Notebook) -> Self {
        let mut lines = python_lines(&notebook.code);
        for cell in &notebook.sql {
            let first = lines.partition_point(|line| line.span.end < cell.start);
            for (line, read) in lines.iter_mut().skip(first).zip(sql::read(text, *cell)) {
                *line = Line { span: line.span, ..read };
            }
        }
        Self::new(text, Syntax::Python, &notebook.sql, lines)
    }

    fn new(text: &'a str, syntax: Syntax, sql: &'a [Span], lines: Vec<Line>) -> Self {
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
        let opening_lines = if syntax == Syntax::Python { opening_lines(&lines) } else { Vec::new() };
        let commented = (0..lines.len()).filter(|at| lines[*at].comment.is_some()).collect();
        Self {
            text,
            syntax,
            sql,
            lines,
            first_lines,
            opening_lines,
            commented,
            ignored_in_file,
            used: RefCell::default(),
        }
    }

    /// Whether a comment on the line of `span`, right above it, or for the whole file names the rule.
    pub(super) fn suppress(&self, rule: &str, span: Span) -> bool {
        let (first, last) = self.statement_lines(span);
        // The nearest comment is the one that is used.
        self.commented(first, last).chain(self.above(first)).any(|line| self.names(line, rule))
            || self.names_around(rule, first)
            || self.names_inside(rule, span, first, last)
            || self.ignored_in_file.get(rule).is_some_and(|place| {
                self.used.borrow_mut().insert(*place);
                true
            })
    }

    /// The comment lines right above a line, nearest first; one in another cell of a notebook is not above it.
    fn above(&self, line: usize) -> impl Iterator<Item = &Line> {
        let is_cell = |line: &Line| line.span.of(self.text).starts_with("# COMMAND ----------");
        self.lines[..line].iter().rev().take_while(move |line| line.only_comment && !is_cell(line))
    }

    /// Whether a comment above or at the end of a statement in brackets over several lines names the rule.
    fn names_around(&self, rule: &str, line: usize) -> bool {
        let Some(&opening) = self.opening_lines.get(line) else { return false };
        let closing = self.opening_lines.partition_point(|other| *other <= opening) - 1;
        opening < closing
            && self.commented(closing, closing).chain(self.above(opening)).any(|line| self.names(line, rule))
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
            .any(|directive| comment.trim_start_matches(['#', '-', ' ']).starts_with(directive));
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
                Edit { span: Span::at(end), text: format!("  {} sparkls: ignore[{rule}]", self.mark(last)) }
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
                Edit { span: Span::at(at), text: format!("{indent}{} sparkls: ignore[{rule}]\n", self.mark(first)) }
            }
        };
        Some(Fix { title: format!("Ignore {rule} here"), kind: FixKind::QuickFix, safe: false, edits: vec![edit] })
    }

    /// What starts a comment on a line.
    fn mark(&self, line: usize) -> &'static str {
        let span = self.lines[line].span;
        let is_sql = self.syntax == Syntax::Sql || self.sql.iter().any(|cell| cell.touches(span.end as usize));
        // A notebook's cell in SQL may stand in comments of Python, and has comments of its own.
        if is_sql || span.of(self.text).starts_with("# MAGIC") { "--" } else { "#" }
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
        self.commented(first, last).chain(self.above(first)).find_map(|line| {
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
            Self::Python | Self::Sql => true,
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
            Line { span, comment, only_comment, continues: continued, opens: 0 }
        })
        .collect()
}

fn python_lines(text: &str) -> Vec<Line> {
    let mut open: Option<Quote> = None;
    line_spans(text)
        .into_iter()
        .map(|span| {
            let line = span.of(text);
            let (comment, opens) = scan_python(line, &mut open);
            let comment = comment.map(|at| span.start + at as u32);
            let before = comment.map_or(line, |at| &line[..(at - span.start) as usize]);
            let only_comment = comment.is_some() && before.trim_matches(['\u{feff}', ' ', '\t', '\u{c}']).is_empty();
            let continues = open.is_some() || (comment.is_none() && line.ends_with('\\'));
            Line { span, comment, only_comment, continues, opens }
        })
        .collect()
}

/// An open string.
#[derive(Clone, Copy)]
struct Quote {
    character: u8,
    triple: bool,
}

/// By line of Python: the first line of the statement, which goes on while a bracket is open.
fn opening_lines(lines: &[Line]) -> Vec<usize> {
    let mut first = 0;
    let mut depth = 0;
    let opening_of = |(at, line): (usize, &Line)| {
        let of_this = first;
        depth += line.opens;
        // A bracket that nobody closes, as while it is typed, doesn't take the rest of the file.
        if depth <= 0 && !line.continues || at - first >= LONGEST_COMMAND {
            first = at + 1;
            depth = 0;
        }
        of_this
    };
    lines.iter().enumerate().map(opening_of).collect()
}

/// The next character that opens or ends something: a string, or a comment.
fn next_mark(rest: &[u8], open: Option<Quote>) -> Option<usize> {
    match open {
        Some(quote) => memchr::memchr2(quote.character, b'\\', rest),
        None => memchr::memchr3(b'#', b'"', b'\'', rest),
    }
}

/// Brackets that a piece of code opens, less those that it closes.
fn brackets(code: &[u8]) -> i32 {
    let change = |byte: &u8| match byte {
        b'(' | b'[' | b'{' => 1,
        b')' | b']' | b'}' => -1,
        _ => 0,
    };
    code.iter().map(change).sum()
}

/// Scans one line of Python; gives the offset of its comment and the brackets that it opens, less those that it closes, and
/// leaves the string that is open at its end.
fn scan_python(line: &str, open: &mut Option<Quote>) -> (Option<usize>, i32) {
    let bytes = line.as_bytes();
    let mut at = 0;
    let mut opens = 0;
    while let Some(found) = next_mark(bytes.get(at..).unwrap_or_default(), *open) {
        if open.is_none() {
            opens += brackets(&bytes[at..at + found]);
        }
        at += found;
        let tripled = bytes[at..].starts_with(&[bytes[at]; 3]);
        match *open {
            Some(_) if bytes[at] == b'\\' => at += 2,
            Some(quote) if quote.triple && !tripled => at += 1,
            Some(quote) => {
                *open = None;
                at += if quote.triple { 3 } else { 1 };
            }
            None if bytes[at] == b'#' => return (Some(at), opens),
            None => {
                *open = Some(Quote { character: bytes[at], triple: tripled });
                at += if tripled { 3 } else { 1 };
            }
        }
    }
    if open.is_none() {
        opens += brackets(bytes.get(at..).unwrap_or_default());
    }
    // A plain string ends with its line, closed or not, unless a backslash carries it on.
    if open.is_some_and(|quote| !quote.triple) && !line.ends_with('\\') {
        *open = None;
    }
    (None, opens)
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
