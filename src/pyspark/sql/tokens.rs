//! Words and parentheses of a text with their places, and the parser's tokens.

use std::ops::Range;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

use super::dialect::Spark;

/// Longer texts are not read.
const MOST_BYTES: usize = 128 << 10;

/// More operators in a row, or more set operators, than this make a tree that is too deep.
const LONGEST_CHAIN: u32 = 400;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word(Keyword),
    Open,
    Close,
    Comma,
    Semicolon,
    Other,
}

/// A token that is neither blank nor comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// How many parentheses are open around it.
    pub(super) depth: u32,
    /// Which of the parser's tokens it is.
    pub(super) token: usize,
    at: Location,
}

impl Mark {
    pub(super) fn is(&self, keyword: Keyword) -> bool {
        self.kind == Kind::Word(keyword)
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// A text and its tokens.
#[derive(Debug)]
pub(super) struct Marks<'t> {
    pub(super) text: &'t str,
    pub(super) marks: Vec<Mark>,
    pub(super) tokens: Vec<TokenWithSpan>,
}

impl<'t> Marks<'t> {
    /// `None` for texts without tokens that fit together, and for those that are too large or too deep to be parsed.
    pub(super) fn read(text: &'t str) -> Option<Self> {
        if text.len() > MOST_BYTES {
            return None;
        }
        let tokens = Tokenizer::new(&Spark, text).tokenize_with_location().ok()?;
        let marks = marks(text, &tokens);
        is_flat(&marks).then_some(Self { text, marks, tokens })
    }

    /// The mark at a place that the parser names.
    pub(super) fn at(&self, at: Location) -> Option<usize> {
        self.marks.binary_search_by(|mark| mark.at.cmp(&at)).ok()
    }

    /// The first of some keywords from a mark on at this depth; ends where the parentheses around it close.
    pub(super) fn find(&self, from: usize, depth: u32, keywords: &[Keyword]) -> Option<usize> {
        let marks = self.marks.get(from..)?;
        let within = marks.iter().take_while(|mark| mark.depth >= depth && mark.kind != Kind::Semicolon);
        let mut before = None;
        for (index, mark) in within.enumerate() {
            if mark.depth != depth {
                continue;
            }
            if let Kind::Word(keyword) = mark.kind
                && keywords.contains(&keyword)
                && !is_part_of_another(before, keyword)
            {
                return Some(from + index);
            }
            before = Some(mark.kind);
        }
        None
    }

    /// The parenthesis that closes the one at a mark.
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let depth = self.marks.get(open).filter(|mark| mark.kind == Kind::Open)?.depth;
        let rest = self.marks.get(open + 1..)?;
        let index = rest.iter().position(|mark| mark.depth <= depth && mark.kind == Kind::Close)?;
        Some(open + 1 + index)
    }

    /// From a mark to the end of another.
    pub(super) fn range(&self, first: usize, last: usize) -> Range<usize> {
        match (self.marks.get(first), self.marks.get(last)) {
            (Some(first), Some(last)) if first.start <= last.end => first.start..last.end,
            (Some(first), _) => first.range(),
            _ => 0..0,
        }
    }
}

/// `IS DISTINCT FROM` is no `FROM`, and `WITHIN GROUP` no `GROUP BY`.
fn is_part_of_another(before: Option<Kind>, keyword: Keyword) -> bool {
    matches!(
        (before, keyword),
        (Some(Kind::Word(Keyword::DISTINCT)), Keyword::FROM)
            | (Some(Kind::Word(Keyword::WITHIN)), Keyword::GROUP)
            | (Some(Kind::Word(Keyword::IS | Keyword::NOT)), Keyword::DISTINCT)
    )
}

fn marks(text: &str, tokens: &[TokenWithSpan]) -> Vec<Mark> {
    let mut marks = Vec::with_capacity(tokens.len() / 2);
    let mut place = Walk { text, offset: 0, at: Location::new(1, 1) };
    let mut depth = 0_u32;
    for (index, token) in tokens.iter().enumerate() {
        let start = place.to(token.span.start);
        let end = place.to(token.span.end);
        let kind = match &token.token {
            Token::Whitespace(_) | Token::EOF => continue,
            Token::Word(word) if word.quote_style.is_none() => Kind::Word(word.keyword),
            Token::LParen => Kind::Open,
            Token::RParen => Kind::Close,
            Token::Comma => Kind::Comma,
            Token::SemiColon => Kind::Semicolon,
            _ => Kind::Other,
        };
        if kind == Kind::Close {
            depth = depth.saturating_sub(1);
        }
        marks.push(Mark { kind, start, end, depth, token: index, at: token.span.start });
        if kind == Kind::Open {
            depth += 1;
        }
    }
    marks
}

/// Lines and columns as offsets, in one walk.
struct Walk<'t> {
    text: &'t str,
    offset: usize,
    at: Location,
}

impl Walk<'_> {
    fn to(&mut self, target: Location) -> usize {
        for letter in self.text[self.offset..].chars() {
            if self.at >= target {
                break;
            }
            self.offset += letter.len_utf8();
            if letter == '\n' {
                self.at = Location::new(self.at.line + 1, 1);
            } else {
                self.at.column += 1;
            }
        }
        self.offset
    }
}

/// Whether no chain of operators is so long that its tree is too deep.
fn is_flat(marks: &[Mark]) -> bool {
    let (mut chains, mut unions) = (vec![0_u32], 0_u32);
    for mark in marks {
        match mark.kind {
            Kind::Open => chains.push(0),
            Kind::Close if chains.len() > 1 => {
                chains.pop();
            }
            Kind::Comma | Kind::Word(Keyword::SELECT) => {
                if let Some(chain) = chains.last_mut() {
                    *chain = 0;
                }
            }
            Kind::Word(Keyword::UNION | Keyword::EXCEPT | Keyword::MINUS | Keyword::INTERSECT) => unions += 1,
            Kind::Other
            | Kind::Word(
                Keyword::AND
                | Keyword::OR
                | Keyword::IS
                | Keyword::LIKE
                | Keyword::BETWEEN
                | Keyword::COLLATE
                | Keyword::PIVOT
                | Keyword::UNPIVOT
                | Keyword::DIV,
            ) => {
                let Some(chain) = chains.last_mut() else { return false };
                *chain += 1;
                if *chain > 2 * LONGEST_CHAIN {
                    return false;
                }
            }
            _ => {}
        }
    }
    unions <= LONGEST_CHAIN
}
