//! The lines of scripts, manifests and templates: where their comments start, and which belong to one statement.
//!
//! A comment must not get into a command that goes on with `\`, a string over several lines, a heredoc or a block scalar:
//! all lines of one count as one statement.

use rustc_hash::FxHashSet;

use super::{Line, line_spans};
use crate::conf::carriers::CarrierKind;

/// The lines of a text.
pub(super) fn read(text: &str, kind: CarrierKind) -> Vec<Line> {
    let mut reader = Reader { kind, open: Open::Nothing, lone_words: None };
    let mut lines: Vec<Line> = Vec::new();
    for span in line_spans(text) {
        let line = span.of(text);
        let inside = reader.enters(line);
        if inside || (kind == CarrierKind::Yaml && goes_on(lines.last(), text, line)) {
            lines.last_mut().into_iter().for_each(|before| before.continues = true);
        }
        let (comment, continues) =
            if inside && !reader.is_in_quotes() { (None, reader.leaves(line)) } else { reader.scan(line, text) };
        let is_first = |at: &usize| line[..*at].trim_matches(['\u{feff}', ' ', '\t']).is_empty();
        let only_comment = !inside && comment.as_ref().is_some_and(is_first);
        let comment = comment.map(|at| span.start + at as u32);
        lines.push(Line { span, comment, only_comment, continues, opens: 0 });
    }
    lines
}

/// What is open at the end of a line.
#[derive(Debug, Clone, PartialEq)]
enum Open {
    Nothing,
    /// A string; three of its character end it, if `triple`.
    Quote {
        character: u8,
        triple: bool,
    },
    /// A heredoc, up to a line that holds nothing but this word.
    Heredoc(String),
    /// A block scalar: every line that is blank or further right than this.
    Block(usize),
}

struct Reader<'t> {
    kind: CarrierKind,
    open: Open,
    /// Lines that hold one word, which may end a heredoc; collected when the first heredoc begins.
    lone_words: Option<FxHashSet<&'t str>>,
}

impl<'t> Reader<'t> {
    /// Whether a line stands inside of what was open before it.
    fn enters(&mut self, line: &str) -> bool {
        match self.open {
            Open::Nothing => false,
            Open::Quote { .. } | Open::Heredoc(_) => true,
            Open::Block(indent) => {
                let is_inside = line.trim().is_empty() || indent_of(line) > indent;
                if !is_inside {
                    self.open = Open::Nothing;
                }
                is_inside
            }
        }
    }

    fn is_in_quotes(&self) -> bool {
        matches!(self.open, Open::Quote { .. })
    }

    /// Ends a heredoc at its last line; says whether the text goes on.
    fn leaves(&mut self, line: &str) -> bool {
        let Open::Heredoc(end) = &self.open else { return false };
        let ends = line.trim() == end;
        if ends {
            self.open = Open::Nothing;
        }
        !ends
    }

    /// The offset of a line's comment, and whether the next line belongs to it.
    fn scan(&mut self, line: &str, text: &'t str) -> (Option<usize>, bool) {
        let bytes = line.as_bytes();
        let mut heredoc = None;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let tripled = bytes[at..].starts_with(&[byte; 3]);
            match self.open {
                Open::Quote { character, triple } => {
                    let escapes = byte == b'\\' && (character == b'"' || self.kind == CarrierKind::Hocon);
                    let doubled =
                        character == b'\'' && bytes[at..].starts_with(b"''") && self.kind == CarrierKind::Yaml;
                    if escapes || doubled {
                        at += 2;
                    } else if byte == character && (tripled || !triple) {
                        self.open = Open::Nothing;
                        at += if triple { 3 } else { 1 };
                    } else {
                        at += 1;
                    }
                }
                _ if self.starts_comment(bytes, at) => return (Some(at), self.ends_open(heredoc, &line[..at])),
                _ if byte == b'\\' && self.is_script() => at += 2,
                _ if self.opens_quote(bytes, at) => {
                    let triple = tripled && self.kind == CarrierKind::Hocon;
                    self.open = Open::Quote { character: byte, triple };
                    at += if triple { 3 } else { 1 };
                }
                _ if bytes[at..].starts_with(b"<<") && heredoc.is_none() => {
                    let word = self.heredoc(&line[at + 2..], text);
                    at += 2 + usize::from(bytes.get(at + 2) == Some(&b'<'));
                    heredoc = word;
                }
                _ => at += 1,
            }
        }
        let is_joined = self.is_script() && line.ends_with('\\');
        (None, self.ends_open(heredoc, line) || is_joined)
    }

    /// What stays open behind a line; says whether anything does.
    fn ends_open(&mut self, heredoc: Option<String>, line: &str) -> bool {
        let spans_lines = match self.open {
            Open::Quote { triple, .. } => {
                triple || matches!(self.kind, CarrierKind::Shell | CarrierKind::Yaml) || line.ends_with('\\')
            }
            _ => false,
        };
        if !spans_lines {
            self.open = match heredoc {
                Some(word) => Open::Heredoc(word),
                None if self.kind == CarrierKind::Yaml => block(line).map_or(Open::Nothing, Open::Block),
                None => Open::Nothing,
            };
        }
        // Whether a block scalar has a line at all is seen at the next one.
        matches!(self.open, Open::Quote { .. } | Open::Heredoc(_))
    }

    /// A script, in which `\` joins lines and takes the meaning from a character.
    fn is_script(&self) -> bool {
        matches!(self.kind, CarrierKind::Shell | CarrierKind::Makefile | CarrierKind::Dockerfile)
    }

    fn starts_comment(&self, bytes: &[u8], at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let at_word = before.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b';' | b'&' | b'|' | b'(' | b')' | 0xbf));
        match self.kind {
            CarrierKind::Shell | CarrierKind::Makefile | CarrierKind::Dockerfile | CarrierKind::Yaml => {
                bytes[at] == b'#' && at_word
            }
            CarrierKind::Hcl | CarrierKind::Hocon => bytes[at] == b'#' || bytes[at..].starts_with(b"//"),
            CarrierKind::Json | CarrierKind::Notebook => false,
        }
    }

    fn opens_quote(&self, bytes: &[u8], at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let at_value = before.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'[' | b'{' | b',' | b':' | b'('));
        match (self.kind, bytes[at]) {
            (CarrierKind::Shell | CarrierKind::Makefile | CarrierKind::Dockerfile, b'"' | b'\'') => true,
            (CarrierKind::Yaml, b'"' | b'\'') => at_value,
            (CarrierKind::Hcl | CarrierKind::Hocon, b'"') => true,
            _ => false,
        }
    }

    /// The word that ends the heredoc that begins here, if some line is that word.
    fn heredoc(&mut self, behind: &str, text: &'t str) -> Option<String> {
        if !matches!(self.kind, CarrierKind::Shell | CarrierKind::Dockerfile | CarrierKind::Hcl) {
            return None;
        }
        let behind = behind.strip_prefix('-').unwrap_or(behind).trim_start().trim_start_matches(['"', '\'', '\\']);
        let end = behind.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(behind.len());
        let lone_words = self.lone_words.get_or_insert_with(|| text.lines().map(str::trim).collect());
        lone_words.get(&behind[..end]).filter(|word| !word.is_empty()).map(|word| (*word).to_owned())
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// How far left the entry stands whose value is a block scalar: `key: |`, `- >-`.
fn block(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let indicator = line.rsplit([' ', '\t']).next()?;
    let is_block = indicator.starts_with(['|', '>'])
        && indicator[1..].bytes().all(|byte| matches!(byte, b'+' | b'-' | b'0'..=b'9'));
    let entry = line.trim_start_matches(['-', ' ', '\t']);
    let dashes = if entry == indicator { line.rfind('-') } else { None };
    is_block.then(|| dashes.unwrap_or(line.len() - entry.len()))
}

/// Whether a line of YAML goes on with the plain text of the line before.
fn goes_on(before: Option<&Line>, text: &str, line: &str) -> bool {
    let Some(before) = before.filter(|before| before.comment.is_none()) else { return false };
    let content = line.trim();
    let is_entry = content.is_empty()
        || content == "-"
        || content.starts_with("- ")
        || content.starts_with(['#', '{', '}', '[', ']', '"', '\'', '%', '<', '@'])
        || content.starts_with("---")
        || content.starts_with("...")
        || content.contains(": ")
        || content.ends_with(':');
    !is_entry && !before.span.of(text).trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines, with `>` where one goes on and the comments in brackets.
    fn shown(kind: CarrierKind, text: &str) -> Vec<String> {
        let shown = |line: &Line| {
            let comment =
                line.comment.map_or(String::new(), |at| format!("[{}]", &text[at as usize..line.span.end as usize]));
            format!("{}{comment}", if line.continues { ">" } else { "" })
        };
        read(text, kind).iter().map(shown).collect()
    }

    #[test]
    fn scripts_go_on_in_strings_heredocs_and_behind_backslashes() {
        let lines = |text| shown(CarrierKind::Shell, text);
        assert_eq!(lines("a \\\n b # c"), [">", "[# c]"]);
        assert_eq!(lines("a 'b\n# c'\nd"), [">", "", ""]);
        assert_eq!(lines("a \"it's # b\" # c"), ["[# c]"]);
        assert_eq!(lines("cat <<-'E' > f # c\n# d\nE\ne"), [">[# c]", ">", "", ""]);
        assert_eq!(lines("cat <<< word # c\nx $((1 << 2))\na${b#c} $#"), ["[# c]", "", ""]);
    }

    #[test]
    fn yaml_goes_on_in_block_scalars_and_plain_text() {
        let lines = |text| shown(CarrierKind::Yaml, text);
        assert_eq!(lines("- run: |\n    a # b\n\n    c\n  d: e # f"), [">", ">", ">", "", "[# f]"]);
        assert_eq!(lines("- >-\n  a\n- b"), [">", "", ""]);
        assert_eq!(lines("a: b\n  c\nd: it's # e"), [">", "", "[# e]"]);
        assert_eq!(lines("a: \"b\n  # c\"\nd: x#y"), [">", "", ""]);
    }

    #[test]
    fn hcl_and_hocon_have_two_kinds_of_comments() {
        assert_eq!(
            shown(CarrierKind::Hcl, "a = \"# b\" // c\nd = <<-EOT\n  # e\n  EOT\n"),
            ["[// c]", ">", ">", "", ""]
        );
        assert_eq!(shown(CarrierKind::Hocon, "a = \"\"\"b\n# c\"\"\" # d"), [">", "[# d]"]);
        assert_eq!(shown(CarrierKind::Json, "{\"a\": \"# b\"}"), [""]);
    }
}
