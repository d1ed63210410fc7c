//! A rule's Markdown on a terminal: headings bold, code indented, marks gone.

use anstyle::{AnsiColor, Style};

/// Renders headings, paragraphs, lists, code blocks, `code`, **bold** and `<links>`; that is all that rules use.
pub(super) fn render(markdown: &str) -> String {
    let dim = Style::new().dimmed();
    let mut text = String::new();
    let mut is_code = false;
    for line in dedented(markdown) {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            text.push_str(&code(line, dim));
        } else if let Some(heading) = line.strip_prefix('#') {
            let bold = Style::new().bold();
            text.push_str(&format!("{bold}{}{bold:#}\n", heading.trim_start_matches('#').trim()));
        } else {
            text.push_str(&inline(line));
            text.push('\n');
        }
    }
    text
}

/// The lines without the blank that rustdoc comments start with.
fn dedented(markdown: &str) -> impl Iterator<Item = &str> {
    markdown.trim_end().lines().map(|line| line.strip_prefix(' ').unwrap_or(line))
}

fn code(line: &str, dim: Style) -> String {
    match line.split_once("# finding") {
        Some((code, rest)) => format!("    {code}{dim}# finding{rest}{dim:#}\n"),
        None if line.is_empty() => "\n".to_owned(),
        None => format!("    {line}\n"),
    }
}

fn inline(line: &str) -> String {
    let name = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
    let mut text = String::new();
    for (index, part) in line.split('`').enumerate() {
        if index % 2 == 1 {
            text.push_str(&format!("{name}{part}{name:#}"));
        } else {
            text.push_str(&part.replace("**", "").replace("<http", "http").replace('>', close_of(part)));
        }
    }
    text
}

/// A `>` is dropped only where it ends a link.
fn close_of(part: &str) -> &'static str {
    if part.contains("<http") { "" } else { ">" }
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn a_rule_reads_well_without_marks() {
        let page = render(
            " A `summary`.\n ## Why\n It **costs** 3 > 2.\n\n ```python\n rows = df.collect()  # finding\n ```\n - <https://x.org/a>\n",
        );
        let plain = anstream::adapter::strip_str(&page).to_string();
        assert_eq!(
            plain,
            "A summary.\nWhy\nIt costs 3 > 2.\n\n    rows = df.collect()  # finding\n- https://x.org/a\n"
        );
    }
}
