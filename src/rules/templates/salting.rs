//! A salted join: a random bucket on the large side, one copy of the small side a bucket.

use super::broadcast::{Side, buildable};
use super::edits::{
    Functions, as_receiver, can_move_before, insert, is_name, lines_before, refactor, replace, session,
};
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Argument, JoinCondition, Literal, NodeId, Operator};
use crate::rules::Fix;
use crate::text::Span;

/// Copies of the small side.
const SALTS: u32 = 16;

/// Rewrites a join by names or by a written equality so that each hot key is spread over 16 tasks.
pub fn salting(plan: &StaticPlan, text: &str, join: NodeId) -> Option<Fix> {
    let node = plan.node(join);
    let Operator::Join(kind) = &node.operator else { return None };
    let site = node.site.as_ref()?;
    let other = site.argument(0, "other")?;
    let on = site.argument(1, "on")?;
    let is_hinted = node.inputs.iter().any(|&input| matches!(plan.node(input).operator, Operator::Hint(_)));
    let by = Key::of(&kind.condition, on, text)?;
    let can_move = can_move_before(plan, site.statement, &node.loops, node.scope);
    if is_hinted || !can_move || kind.kind.as_deref() == Some("cross") || site.receiver.is_empty() {
        return None;
    }
    let left = Frame::of(text, site.receiver, "left");
    let right = Frame::of(text, other.span, "right");
    // The side that is copied must not be the one whose unmatched rows are kept: they would come out 16 times.
    let (salted, copied) = match buildable(kind)? {
        Side::Right => (&left, &right),
        Side::Left => (&right, &left),
    };
    let functions = Functions::of(plan, text);
    let rand = functions.call("rand");
    let of_frame = || format!("{}.sparkSession", as_receiver(site.receiver.of(text)));
    let session = session(plan, text, node.scope).unwrap_or_else(of_frame);
    let lines = [
        format!("# Salting: each key of {} is spread over {SALTS} tasks. The cost: {SALTS} copies of", salted.label),
        format!("# {}, and a join that is harder to read. For a measured skew, not a default.", copied.label),
        format!("salts = {session}.range({SALTS}).withColumnRenamed(\"id\", \"salt\")"),
        format!("{} = {}.withColumn(\"salt\", ({rand}() * {SALTS}).cast(\"long\"))", salted.name, salted.expression),
        format!("{} = {}.crossJoin(salts)", copied.name, copied.expression),
    ];
    let edits = vec![
        lines_before(text, site.statement, &lines)?,
        replace(site.receiver, left.name.clone()),
        replace(other.span, right.name.clone()),
        replace(on.span, by.salted(on.span.of(text), &left.name, &right.name)),
        insert(site.call.end as usize, ".drop(\"salt\")"),
    ];
    Some(refactor(format!("Salt this join ({SALTS} copies of {})", copied.label), functions.with_import(edits)))
}

/// A side as it is written and as it will be called.
struct Frame {
    expression: String,
    name: String,
    label: String,
}

impl Frame {
    fn of(text: &str, span: Span, side: &str) -> Self {
        let written = span.of(text).trim();
        let (base, label) = if is_name(written) {
            (written.rsplit('.').next().unwrap_or(written), written.to_owned())
        } else {
            (side, format!("the {side} side"))
        };
        Self { expression: as_receiver(written), name: format!("{base}_salted"), label }
    }
}

/// How the join names its keys.
enum Key {
    /// `"k"`, or a variable that holds one name.
    Name,
    /// `["k", "d"]`, or a variable that holds a list of names.
    Names,
    /// An equality such as `a.k == b.k`, written in place.
    Condition,
    /// A list of equalities, written in place.
    Conditions,
}

impl Key {
    fn of(condition: &JoinCondition, on: &Argument, text: &str) -> Option<Self> {
        let written = on.span.of(text).trim();
        match condition {
            JoinCondition::Using(_) if matches!(on.value, Literal::Text(_)) => Some(Self::Name),
            JoinCondition::Using(_) if matches!(on.value, Literal::List(_)) => Some(Self::Names),
            JoinCondition::Equality if is_name(written) => None,
            JoinCondition::Equality if written.starts_with('[') && written.ends_with(']') => Some(Self::Conditions),
            JoinCondition::Equality if written.contains("==") => Some(Self::Condition),
            _ => None,
        }
    }

    fn salted(&self, written: &str, left: &str, right: &str) -> String {
        let written = written.trim();
        let salts = format!("{left}[\"salt\"] == {right}[\"salt\"]");
        match self {
            Self::Name => format!("[{written}, \"salt\"]"),
            Self::Names if written.starts_with('[') => with_item(written, "\"salt\""),
            Self::Names => format!("[*{written}, \"salt\"]"),
            Self::Condition => format!("({written}) & ({salts})"),
            Self::Conditions => with_item(written, &salts),
        }
    }
}

/// `["a", "b",]` with one item more; in front where the list may end in a comment.
fn with_item(list: &str, item: &str) -> String {
    let inner = list.trim_start_matches('[');
    if inner.contains(['\n', '\r', '#']) {
        return format!("[{item}, {inner}");
    }
    let items = inner.trim_end_matches(']').trim_end().trim_end_matches(',');
    format!("[{items}, {item}]")
}
