//! What an action's value is used for, and which actions compute one frame.

use memchr::memmem;

use super::blocks::{Together, together};
use super::lineage::recomputed;
use crate::pyspark::plan::{Action, ActionKind, NodeId, Operator, ResultUse, Source};
use crate::rules::CodeContext;
use crate::text::Span;

/// Whether nothing but the code at these places reads the value of an action: the plan counts the uses of a name, but
/// loses them where branches give the name other values, so that the name must not stand on any other line.
pub(super) fn is_read_only_at(cx: &CodeContext<'_>, action: &Action, places: &[Span]) -> bool {
    let text = cx.shared.text;
    match &action.result {
        ResultUse::Bound(name) => {
            if places.is_empty() {
                return false;
            }
            let scope = cx.plan.scope(action.scope).span;
            let lines: Vec<usize> = places.iter().map(|place| line_start(text, place.start as usize)).collect();
            let mentions = mentions(text, scope, name).into_iter().filter(|&at| !action.site.statement.touches(at));
            let mut mentions = mentions.map(|at| line_start(text, at));
            mentions.all(|line| lines.contains(&line) || is_comment(text, line))
        }
        _ => !places.is_empty() && places.iter().all(|place| place.contains(action.site.call)),
    }
}

/// Where a name stands as a word of its own, not behind a dot.
fn mentions<'t>(text: &'t str, within: Span, name: &str) -> Vec<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let stands_alone = |at: &usize| {
        let (before, after) = (&text[..*at], &text[*at + name.len()..]);
        !before.ends_with(|c| is_word(c) || c == '.') && !after.starts_with(is_word)
    };
    let found = memmem::find_iter(within.of(text).as_bytes(), name);
    found.map(|at| within.start as usize + at).filter(stands_alone).collect()
}

fn line_start(text: &str, offset: usize) -> usize {
    text.get(..offset).and_then(|before| before.rfind(['\n', '\r'])).map_or(0, |at| at + 1)
}

fn is_comment(text: &str, line: usize) -> bool {
    text.get(line..).is_some_and(|rest| rest.trim_start().starts_with('#'))
}

/// Whether an action computes all rows of its frame.
pub(super) fn is_full(kind: &ActionKind) -> bool {
    !matches!(kind, ActionKind::Take(_) | ActionKind::Show | ActionKind::IsEmpty | ActionKind::Other(_))
}

/// Another action that computes a frame again.
pub(super) struct Again {
    /// Its index.
    pub(super) index: usize,
    /// Whether it runs whenever the first one does.
    pub(super) together: Together,
}

/// The actions of the same function that compute the frame of an action as well, best evidence first.
pub(super) fn also_computed_by(cx: &CodeContext<'_>, action: usize, frame: NodeId) -> Vec<Again> {
    let this = &cx.plan.actions[action];
    let mut found: Vec<Again> = Vec::new();
    for (index, other) in cx.plan.actions.iter().enumerate().filter(|(index, _)| *index != action) {
        let computes = |input| recomputed(cx.plan, input).contains(&frame);
        if other.scope != this.scope || other.on_rdd || !other.input.is_some_and(computes) {
            continue;
        }
        let (first, second) = if other.site.call < this.site.call { (other, this) } else { (this, other) };
        let together = together(cx.shared.text, first.site.statement, second.site.statement);
        if together > Together::Never {
            found.push(Again { index, together });
        }
    }
    found.sort_by_key(|again| std::cmp::Reverse(again.together));
    found
}

/// Whether a frame comes from a stream: batches are no frames that run twice.
pub(super) fn is_streaming(cx: &CodeContext<'_>, frame: NodeId) -> bool {
    let streams =
        |id: &NodeId| matches!(cx.plan.node(*id).operator, Operator::Source(Source::Read { streaming: true, .. }));
    cx.plan.upstream(frame).iter().any(streams)
}
