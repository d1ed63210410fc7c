//! `--fix` and `--diff`: safe fixes, applied until the text is stable.

use std::path::Path;
use std::sync::Arc;

use similar::TextDiff;

use crate::rules::{Edit, Finding};
use crate::text::Span;

/// Fixes that make room for each other come to rest long before this.
const ROUNDS: usize = 32;
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The text after all safe fixes, and how many were applied; `None` if there was nothing to fix.
pub(super) fn fixed(text: &Arc<str>, analyse: impl Fn(&Arc<str>) -> Vec<Finding>) -> Option<(Arc<str>, usize)> {
    let mut now = Arc::clone(text);
    let mut applied = 0;
    for _ in 0..ROUNDS {
        let findings = analyse(&now);
        let fixes = compatible(&findings);
        let next = apply(&now, fixes.iter().copied().flatten());
        if *next == *now {
            break;
        }
        applied += fixes.len();
        now = Arc::from(next);
    }
    (now != *text).then_some((now, applied))
}

/// The first safe fix of each finding that doesn't touch a fix taken before; the others wait for the next round.
fn compatible(findings: &[Finding]) -> Vec<&[Edit]> {
    let mut taken: Vec<&[Edit]> = Vec::new();
    for finding in findings {
        let Some(fix) = finding.fixes.iter().find(|fix| fix.safe) else { continue };
        let touches = |span: Span| taken.iter().copied().flatten().any(|other| other.span.intersects(span));
        if !fix.edits.iter().any(|edit| touches(edit.span)) {
            taken.push(&fix.edits);
        }
    }
    taken
}

/// Applies edits that don't overlap. New lines end as the document's lines do; a byte order mark stays in front.
fn apply<'a>(text: &str, edits: impl Iterator<Item = &'a Edit>) -> String {
    let line_end = line_end(text);
    let front = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let mut edits: Vec<&Edit> = edits.collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut result = text.to_owned();
    for edit in edits {
        let range = edit.span.range();
        let range = range.start.max(front)..range.end.max(front);
        if result.get(range.clone()).is_some() {
            result.replace_range(range, &edit.text.replace('\n', line_end));
        }
    }
    result
}

/// How the document ends its first line.
fn line_end(text: &str) -> &'static str {
    match text.find(['\r', '\n']).map(|at| text.as_bytes().get(at..at + 2).unwrap_or_default()) {
        Some(b"\r\n") => "\r\n",
        Some([b'\r', ..]) => "\r",
        _ => "\n",
    }
}

/// A unified diff that `git apply` takes; lines end where git ends them, at `\n` only.
pub(super) fn diff(path: &Path, before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let name = name_below_here(path);
    let mut text = format!("--- {}\n+++ {}\n", header("a", &name), header("b", &name));
    for hunk in TextDiff::from_slices(&old, &new).unified_diff().iter_hunks() {
        text.push_str(&format!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            text.push_str(&format!("{}{}", change.tag(), change.value()));
            if !change.value().ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// The path relative to the current folder, where `git apply` looks for it, with `/` between its parts.
fn name_below_here(path: &Path) -> String {
    let below = std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    let name = below.as_deref().unwrap_or(path).to_string_lossy().into_owned();
    let name = if cfg!(windows) { name.replace('\\', "/") } else { name };
    name.trim_start_matches("./").trim_start_matches('/').to_owned()
}

/// A name as git reads it: quoted if it holds what could end it; with a tab behind it if it holds a blank.
fn header(side: &str, name: &str) -> String {
    let is_plain = |character: char| !character.is_control() && character != '"' && character != '\\';
    if name.chars().all(is_plain) {
        let end = if name.contains(' ') { "\t" } else { "" };
        return format!("{side}/{name}{end}");
    }
    let mut quoted = format!("\"{side}/");
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() && control.is_ascii() => {
                quoted.push_str(&format!("\\{:03o}", control as u32));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Confidence, Fix, FixKind, Severity};

    /// A finding on each `bad`, whose safe fix is `good`.
    fn findings(text: &Arc<str>) -> Vec<Finding> {
        text.match_indices("bad")
            .map(|(at, word)| Finding {
                rule: "invalid-value",
                severity: Severity::Error,
                confidence: Confidence::Documented,
                message: String::new(),
                span: Span::new(at, at + word.len()),
                evidence: Vec::new(),
                related: Vec::new(),
                fixes: vec![Fix {
                    title: "Say good".to_owned(),
                    kind: FixKind::QuickFix,
                    safe: true,
                    edits: vec![Edit { span: Span::new(at, at + word.len()), text: "good\n".to_owned() }],
                }],
                unnecessary: false,
                deprecated: false,
            })
            .collect()
    }

    #[test]
    fn neighbours_are_fixed_in_turn() {
        let (text, applied) = fixed(&Arc::from("badbad x bad"), findings).expect("there is something to fix");
        assert_eq!((&*text, applied), ("good\ngood\n x good\n", 3));
    }

    #[test]
    fn line_ends_and_byte_order_mark_stay() {
        let (text, _) = fixed(&Arc::from("\u{feff}bad\r\nx\r\n"), findings).expect("there is something to fix");
        assert_eq!(&*text, "\u{feff}good\r\n\r\nx\r\n");
    }

    #[test]
    fn an_insertion_in_front_goes_behind_the_byte_order_mark() {
        let edit = Edit { span: Span::at(0), text: "# x\n".to_owned() };
        assert_eq!(apply("\u{feff}a\n", [&edit].into_iter()), "\u{feff}# x\na\n");
    }

    #[test]
    fn nothing_to_fix_is_nothing() {
        assert!(fixed(&Arc::from("fine"), findings).is_none());
    }

    #[test]
    fn a_diff_names_the_file_and_a_missing_line_end() {
        let text = diff(Path::new("./my jobs/a.py"), "x\r\nbad", "x\r\ngood");
        assert_eq!(
            text,
            "--- a/my jobs/a.py\t\n+++ b/my jobs/a.py\t\n@@ -1,2 +1,2 @@\n x\r\n-bad\n\\ No newline at end of file\n\
             +good\n\\ No newline at end of file\n"
        );
    }
}
