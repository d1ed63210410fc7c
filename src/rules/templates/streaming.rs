//! What a streaming query lacks.

use super::edits::{insert, quick_fix, replace};
use crate::rules::Fix;
use crate::text::Span;

/// `.withWatermark(...)` behind the frame that ends here.
pub fn watermark(text: &str, frame_end: usize, column: &str) -> Option<Fix> {
    text.get(..frame_end)?;
    let edit = insert(frame_end, format!(".withWatermark(\"{column}\", \"10 minutes\")"));
    Some(quick_fix(format!("Insert withWatermark on {column}"), vec![edit]))
}

/// `.option(...)` before a method of a reader or writer, whose receiver ends here.
pub fn option_before(receiver_end: u32, name: &str, value: &str) -> Fix {
    let edit = insert(receiver_end as usize, format!(".option(\"{name}\", {value})"));
    quick_fix(format!("Insert the option {name}"), vec![edit])
}

/// `trigger(once=True)` to the trigger that took its place.
pub fn available_now(trigger: Span, text: &str) -> Option<Fix> {
    let at = trigger.of(text).rfind("once")?;
    let start = trigger.start as usize + at;
    let edit = replace(Span::new(start, start + "once".len()), "availableNow");
    Some(quick_fix("Replace once by availableNow", vec![edit]))
}
