//! Texts put together of others: what each byte was made of.

use std::rc::Rc;

use crate::pyspark::sql::place::{Piece, Pieces, Written};
use crate::pyspark::value::{Template, TextValue, Value};
use crate::text::Span;

/// A text that is put together is known up to this many bytes, so that texts in texts can't multiply further.
const MAX_TEXT: usize = 1 << 16;

/// The places of a text that is made of more pieces are not kept.
const MAX_PIECES: usize = 1 << 10;

/// A text on its way, with holes for what the file doesn't tell.
#[derive(Debug, Default)]
pub(super) struct Composed {
    parts: Vec<Option<String>>,
    pieces: Pieces,
}

impl Composed {
    /// Adds a value; `place` is where it stands, if what it holds is written elsewhere.
    pub(super) fn value(&mut self, value: &Value<'_>, place: Option<Span>) {
        match value {
            Value::Text(text) => self.text(&text.text, &text.pieces, place),
            Value::Template(template) => self.template(template, place),
            _ => self.hole(place.unwrap_or_default()),
        }
    }

    /// Adds a text that was made of these pieces.
    pub(super) fn text(&mut self, text: &str, pieces: &[Piece], place: Option<Span>) {
        match (place, pieces) {
            (Some(span), _) => self.pieces.push(Piece { span, ..Piece::elsewhere(text) }),
            (None, []) => self.pieces.push(Piece::elsewhere(text)),
            (None, pieces) => self.pieces.extend_from_slice(pieces),
        }
        self.part(text);
    }

    fn template(&mut self, template: &Template, place: Option<Span>) {
        let known = place.is_none() && !template.pieces.is_empty();
        if known {
            self.pieces.extend_from_slice(&template.pieces);
        }
        for part in &template.parts {
            match part {
                Some(text) if known => self.part(text),
                Some(text) => self.text(text, &[], place),
                None if known => self.parts.push(None),
                None => self.hole(place.unwrap_or_default()),
            }
        }
    }

    /// Adds what the file doesn't tell.
    pub(super) fn hole(&mut self, span: Span) {
        self.pieces.push(Piece { len: 0, span, written: Written::Hole });
        self.parts.push(None);
    }

    /// Neighbours that are known become one.
    fn part(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Some(last)) if last.len() + text.len() <= MAX_TEXT => last.push_str(text),
            Some(last @ Some(_)) => *last = None,
            _ => self.parts.push(Some(text.to_owned())),
        }
    }

    pub(super) fn into_value<'a>(mut self) -> Value<'a> {
        if self.pieces.len() > MAX_PIECES {
            self.pieces = Pieces::default();
        }
        match &self.parts[..] {
            [] => Value::text("", None),
            [Some(text)] => Value::Text(Rc::new(TextValue { text: text.clone(), span: None, pieces: self.pieces })),
            _ => Value::Template(Rc::new(Template { parts: self.parts, pieces: self.pieces })),
        }
    }
}
