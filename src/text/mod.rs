//! Documents as editors see them: a rope with a version, byte spans, positions in three encodings.
//!
//! Promises: positions outside the text are clamped, never an error; `\n`, `\r\n` and a lone `\r` end a line;
//! a byte order mark counts as one character of the first line.

mod cells;
mod document;
mod position;
mod span;
mod system;

pub use cells::{Cell, Cells};
pub use document::{Document, Edit, Point};
pub use position::{Encoding, Position};
pub use span::Span;
pub use system::plainly;
