//! What linked runs say of a document. While its syntax is broken, what they said of it before stays, and moves with the text: a
//! bracket that is being typed would take most of it away for a moment.

use std::sync::Arc;

use crate::analysis::{Analysis, LineNote};
use crate::rules::MeasuredRun;
use crate::text::{Edit, Span};

/// Lines that runs measured, and what they say of the whole document.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    runs: Vec<Arc<MeasuredRun>>,
    pub(super) notes: Vec<LineNote>,
    pub(super) summary: Vec<String>,
}

impl Measured {
    pub(super) fn of(analysis: &Analysis, runs: &[Arc<MeasuredRun>]) -> Self {
        Self { runs: runs.to_vec(), notes: analysis.notes.clone(), summary: analysis.summary.clone() }
    }

    /// Whether it is of the same runs.
    pub(super) fn is_of(&self, runs: &[Arc<MeasuredRun>]) -> bool {
        self.runs.len() == runs.len() && self.runs.iter().zip(runs).all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// The same after edits of the text; what was replaced is gone.
    pub(super) fn moved(mut self, edits: &[Edit]) -> Self {
        self.notes.retain_mut(|note| {
            let moved = edits.iter().try_fold(note.span, moved);
            moved.inspect(|span| note.span = *span).is_some()
        });
        self
    }
}

/// Where a span is after an edit; `None` if the edit replaced some of its ends.
fn moved(span: Span, edit: &Edit) -> Option<Span> {
    let (start, end) = (span.start as usize, span.end as usize);
    let shifted = |offset: usize| offset - edit.old_end + edit.new_end;
    if edit.old_end <= start {
        Some(Span::new(shifted(start), shifted(end)))
    } else if edit.start >= end {
        Some(span)
    } else if start < edit.start && edit.old_end < end {
        Some(Span::new(start, shifted(end)))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Point;

    fn after(start: usize, old_end: usize, new_end: usize) -> Option<(u32, u32)> {
        let none = Point { row: 0, column: 0 };
        let edit = Edit { start, old_end, new_end, start_point: none, old_end_point: none, new_end_point: none };
        moved(Span::new(10, 14), &edit).map(|span| (span.start, span.end))
    }

    #[test]
    fn a_span_moves_with_the_text_around_it() {
        assert_eq!(after(0, 2, 5), Some((13, 17)));
        assert_eq!(after(4, 10, 4), Some((4, 8)));
        assert_eq!(after(14, 14, 20), Some((10, 14)));
        assert_eq!(after(11, 12, 15), Some((10, 17)));
    }

    #[test]
    fn what_is_replaced_is_gone() {
        assert_eq!(after(8, 20, 9), None);
        assert_eq!(after(12, 20, 13), None);
    }
}
