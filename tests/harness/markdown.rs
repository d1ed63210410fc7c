//! Headings and fenced code blocks of a Markdown text.

/// A piece of a Markdown text.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    /// A heading with its level.
    Heading(usize, String),
    /// A fenced block: its info string, its text, and the line (from 1) of its first line.
    Block { info: String, text: String, line: usize },
}

/// The headings and blocks of a text, in order.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let mut block = String::new();
            for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
                block.push_str(line);
                block.push('\n');
            }
            pieces.push(Piece::Block { info: info.trim().to_owned(), text: block, line: number + 2 });
        } else if let Some(level) = heading_level(line) {
            pieces.push(Piece::Heading(level, line[level..].trim().to_owned()));
        }
    }
    pieces
}

fn heading_level(line: &str) -> Option<usize> {
    let level = line.len() - line.trim_start_matches('#').len();
    (level > 0 && line[level..].starts_with(' ')).then_some(level)
}

/// The value of `name="..."` in a block's info string.
pub(crate) fn attribute<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    let start = info.find(&format!("{name}=\""))? + name.len() + 2;
    info[start..].split('"').next()
}
