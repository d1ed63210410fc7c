//! The lines of SQL: `--` to a line's end; strings and `/* … */` go over several lines.

use super::{Line, line_spans};
use crate::text::Span;

/// What is open at a line's end.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Nothing,
    Quote(u8),
    Block,
}

/// The lines of a place in a text; lines that it holds a part of only are those parts.
pub(super) fn read(text: &str, place: Span) -> Vec<Line> {
    let mut open = Open::Nothing;
    line_spans(place.of(text))
        .into_iter()
        .map(|line| {
            let span = Span { start: place.start + line.start, end: place.start + line.end };
            let was_open = open != Open::Nothing;
            let comment = scan(span.of(text).as_bytes(), &mut open);
            let is_blank = |at: usize| span.of(text)[..at].trim_matches(['\u{feff}', ' ', '\t']).is_empty();
            let only_comment = !was_open && comment.is_some_and(is_blank);
            let comment = comment.map(|at| span.start + at as u32);
            Line { span, comment, only_comment, continues: open != Open::Nothing, opens: 0 }
        })
        .collect()
}

/// The offset of a line's comment; leaves what is open at its end.
fn scan(line: &[u8], open: &mut Open) -> Option<usize> {
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        let pair = line.get(at + 1);
        match *open {
            Open::Quote(_) if byte == b'\\' => at += 1,
            Open::Quote(quote) if byte == quote => *open = Open::Nothing,
            Open::Block if byte == b'*' && pair == Some(&b'/') => {
                *open = Open::Nothing;
                at += 1;
            }
            Open::Quote(_) | Open::Block => {}
            Open::Nothing => match byte {
                b'-' if pair == Some(&b'-') => return Some(at),
                b'/' if pair == Some(&b'*') => {
                    *open = Open::Block;
                    at += 1;
                }
                b'\'' | b'"' | b'`' => *open = Open::Quote(byte),
                _ => {}
            },
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_stand_outside_of_strings() {
        let text = "SELECT '--' -- a\n-- b\n, '\n-- c' /* -- d\n-- e */ -- f\n";
        let lines = read(text, Span::new(0, text.len()));
        let shown: Vec<String> = lines
            .iter()
            .map(|line| {
                let comment = line.comment.map_or("", |at| &text[at as usize..line.span.end as usize]);
                format!(
                    "{comment}{}{}",
                    if line.only_comment { " alone" } else { "" },
                    if line.continues { " >" } else { "" }
                )
            })
            .collect();
        assert_eq!(shown, ["-- a", "-- b alone", " >", " >", "-- f", ""]);
    }
}
