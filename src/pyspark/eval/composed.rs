//! Texts put together of others: what each byte was made of.

use std::rc::Rc;

use crate::pyspark::plan::NodeId;
use crate::pyspark::sql;
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
    rows: Option<NodeId>,
    listed: Option<(NodeId, Span)>,
}

impl Composed {
    /// Adds a value; `place` is where it stands, if what it holds is written elsewhere.
    pub(super) fn value(&mut self, value: &Value<'_>, place: Option<Span>) {
        self.value_at(value, place, place.unwrap_or_default());
    }

    /// The same of a value that stands at `at`, wherever what it holds is written.
    pub(super) fn value_at(&mut self, value: &Value<'_>, place: Option<Span>, at: Span) {
        match value {
            Value::Text(text) => self.text(&text.text, &text.pieces, place),
            Value::Template(template) => self.template(template, place, at),
            _ => self.value_hole(value, place.unwrap_or_default()),
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

    fn template(&mut self, template: &Template, place: Option<Span>, at: Span) {
        if let Some(rows) = template.rows {
            self.takes(rows, at);
        }
        self.listed = self.listed.or(template.listed);
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

    /// Adds what the file doesn't tell of a value.
    pub(super) fn value_hole(&mut self, value: &Value<'_>, span: Span) {
        if let Some(rows) = value.rows() {
            self.takes(rows, span);
        }
        self.hole(span);
    }

    /// Notes that collected rows come next.
    fn takes(&mut self, rows: NodeId, span: Span) {
        self.rows = Some(rows);
        if self.parts.last().and_then(Option::as_deref).is_some_and(opens_list) {
            self.listed = Some((rows, span));
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
            _ => {
                let Self { parts, pieces, rows, listed } = self;
                Value::Template(Rc::new(Template { parts, pieces, rows, listed }))
            }
        }
    }
}

/// Whether a text ends where the values of an `IN` begin.
fn opens_list(text: &str) -> bool {
    let before = text.trim_end_matches(['\'', '"']).trim_end();
    let word = before.strip_suffix('(').unwrap_or(before).trim_end();
    let is_open = before.len() > word.len() || text.ends_with(char::is_whitespace);
    let start = word.len().saturating_sub(2);
    let is_word = !word.get(..start).is_some_and(|rest| rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    is_open && is_word && word.get(start..).is_some_and(|last| last.eq_ignore_ascii_case("in"))
}

/// What is known of a text that is either of two: of lookups (`SHOW TABLES`) their first word. Of queries it would tell
/// too much, since what follows may be anything.
pub(super) fn in_common(a: &Value<'_>, b: &Value<'_>) -> Template {
    let rows = a.rows().or(b.rows());
    let words = [a, b].map(|value| {
        let start = match value {
            Value::Text(text) => Some(text.text.as_str()),
            Value::Template(template) => template.parts.first().and_then(Option::as_deref),
            _ => None,
        };
        start.and_then(sql::lookup)
    });
    match words {
        [Some(a), Some(b)] if a.eq_ignore_ascii_case(b) => {
            Template { rows, ..vec![Some(format!("{a} ")), None].into() }
        }
        _ => Template::of_rows(rows),
    }
}
