//! Lines that fit a terminal.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

/// Columns of a page.
pub(in crate::cli) const WIDTH: usize = 100;

pub(in crate::cli) fn bold() -> Style {
    Style::new().bold()
}

pub(in crate::cli) fn dim() -> Style {
    Style::new().dimmed()
}

/// Adds a text, broken at blanks; lines after the first are indented by two more.
pub(in crate::cli) fn wrap(page: &mut String, style: Style, indent: usize, text: &str) {
    let mut line = " ".repeat(indent);
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.width() + 1 + word.width() > WIDTH {
            flush(page, style, &line);
            line = " ".repeat(indent + 2);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    flush(page, style, &line);
}

fn flush(page: &mut String, style: Style, line: &str) {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    page.push_str(&format!("{indent}{style}{text}{style:#}\n"));
}

/// Adds a line with a text on the left and a note behind it, below it if both don't fit.
pub(in crate::cli) fn beside(page: &mut String, indent: usize, left: &str, column: usize, note: &str) {
    let dim = dim();
    let width = indent + left.width();
    let start = column.max(width + 2);
    page.push_str(&" ".repeat(indent));
    page.push_str(left);
    if start + note.width() <= WIDTH && !note.is_empty() {
        page.push_str(&format!("{}{dim}{note}{dim:#}\n", " ".repeat(start - width)));
    } else {
        page.push('\n');
        if !note.is_empty() {
            wrap(page, dim, indent + 4, note);
        }
    }
}

/// The text as far as it fits into this many columns.
pub(in crate::cli) fn cut(text: &str, columns: usize) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.width() <= columns {
        return text;
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + 2 > columns {
            break;
        }
        short.push(c);
    }
    short + "…"
}
