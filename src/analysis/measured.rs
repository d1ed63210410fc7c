//! What linked runs say about a document: findings on lines, notes at their ends, a summary for the rest.

use super::{Analysis, Input};

/// Adds what the linked runs say to an analysis.
pub(super) fn measure(input: &Input<'_>, analysis: &mut Analysis) {
    let _ = (input, analysis);
}
