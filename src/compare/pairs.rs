//! Which actions and stages of two runs are the same.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::actions::{Action, ActionStage, Operators, likeness};
use super::figures::durations;
use super::{ActionChange, ActionFigures, PairedBy, StageChange, StageFigures, align, plans};
use crate::run::Run;
use crate::run::keys;

/// Actions of one call site that have less of their operators in common are different ones, unless the site names a line
/// of Python.
const LEAST_LIKENESS: f64 = 0.25;
/// From here on actions of different call sites, or stages of different shapes, do the same.
const MUCH_ALIKE: f64 = 0.8;
/// Stages of one action that have less of their operators in common are different ones.
const LEAST_STAGE_LIKENESS: f64 = 0.5;

/// Indices of actions that belong together, in the order of both runs.
pub(super) fn pair(base: &[Action<'_>], candidate: &[Action<'_>]) -> Vec<(usize, usize)> {
    let mut kinds = Kinds::default();
    let left: Vec<usize> = base.iter().map(|action| kinds.of(action)).collect();
    let right: Vec<usize> = candidate.iter().map(|action| kinds.of(action)).collect();
    // A loop has many actions and few kinds of them.
    let known: RefCell<FxHashMap<(usize, usize), f64>> = RefCell::default();
    align::in_order(base.len(), candidate.len(), |i, j| {
        *known.borrow_mut().entry((left[i], right[j])).or_insert_with(|| score(&base[i], &candidate[j]))
    })
}

/// Numbers for actions that nothing tells apart but their turn.
#[derive(Default)]
struct Kinds<'a>(FxHashMap<(&'a str, u64, &'a Operators), usize>);

impl<'a> Kinds<'a> {
    fn of(&mut self, action: &'a Action<'_>) -> usize {
        let next = self.0.len();
        *self.0.entry((&action.lasting_site, action.shape, &action.operators)).or_insert(next)
    }
}

fn score(a: &Action<'_>, b: &Action<'_>) -> f64 {
    let alike = likeness(&a.operators, &b.operators);
    let same_shape = f64::from(u8::from(a.shape == b.shape));
    if a.lasting_site == b.lasting_site {
        let one = alike >= LEAST_LIKENESS || keys::names_python(&a.site);
        return if one { 0.2 + alike + same_shape } else { 0.0 };
    }
    let telling = a.operators.len() >= 3;
    if telling && alike >= MUCH_ALIKE { 0.1 + 0.5 * (alike + same_shape) } else { 0.0 }
}

/// The actions of both runs with their differences: in the order of the runs, what is gone before what is new.
pub(super) fn changes(
    (base, before): (&Run, &[Action<'_>]),
    (candidate, after): (&Run, &[Action<'_>]),
    pairs: &[(usize, usize)],
) -> Vec<ActionChange> {
    let mut changes = Vec::new();
    let (mut i, mut j) = (0, 0);
    let ends = (before.len(), after.len());
    for &(left, right) in pairs.iter().chain([&ends]) {
        changes.extend(before.get(i..left).unwrap_or_default().iter().map(|action| change(Some(action), None)));
        changes.extend(after.get(j..right).unwrap_or_default().iter().map(|action| change(None, Some(action))));
        if let (Some(old), Some(new)) = (before.get(left), after.get(right)) {
            let mut both = change(Some(old), Some(new));
            both.plan = plans::changes((base, &old.executions), (candidate, &new.executions));
            changes.push(both);
        }
        (i, j) = (left + 1, right + 1);
    }
    changes
}

fn change(base: Option<&Action<'_>>, candidate: Option<&Action<'_>>) -> ActionChange {
    let of = |action: &Action<'_>| ActionFigures {
        id: action.id,
        site: action.site.clone(),
        sums: action.figures,
        failure: action.failure.map(str::to_owned),
    };
    let stages = |action: Option<&Action<'_>>| -> Vec<StageFigures> {
        action.iter().flat_map(|action| &action.stages).map(stage_figures).collect()
    };
    let (before, after) = (stages(base), stages(candidate));
    let pairs = match (base, candidate) {
        (Some(base), Some(candidate)) => pair_stages(&base.stages, &candidate.stages),
        _ => Vec::new(),
    };
    ActionChange {
        base: base.map(of),
        candidate: candidate.map(of),
        stages: stage_changes(before, after, &pairs),
        plan: Vec::new(),
    }
}

fn pair_stages(base: &[ActionStage<'_>], candidate: &[ActionStage<'_>]) -> Vec<(usize, usize, PairedBy)> {
    let by_structure = |i: usize, j: usize| structure_score(&base[i], &candidate[j]);
    let same_key = |i: usize, j: usize| base[i].identity.key == candidate[j].identity.key;
    let pairs = align::by_likeness(base.len(), candidate.len(), |i, j| match (same_key(i, j), by_structure(i, j)) {
        (true, score) => 100.0 + score,
        (false, score) => score,
    });
    let how = |i, j| if same_key(i, j) { PairedBy::Key } else { PairedBy::Structure };
    pairs.into_iter().map(|(i, j)| (i, j, how(i, j))).collect()
}

fn structure_score(a: &ActionStage<'_>, b: &ActionStage<'_>) -> f64 {
    let (one, other) = (a.view.stage, b.view.stage);
    let fits = 0.2 * f64::from(u8::from(one.task_count == other.task_count))
        + 0.1 * f64::from(u8::from(one.parents.len() == other.parents.len()));
    let alike = likeness(&a.operators, &b.operators);
    if without_turn(&a.identity.label) == without_turn(&b.identity.label) {
        10.0 + alike + fits
    } else if alike >= LEAST_STAGE_LIKENESS {
        alike + fits
    } else {
        0.0
    }
}

/// The label without the number that tells the turns of a loop apart.
fn without_turn(label: &str) -> &str {
    let turn = label.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    match turn {
        Some((label, turn)) if turn.bytes().all(|byte| byte.is_ascii_digit()) => label,
        _ => label,
    }
}

fn stage_figures(stage: &ActionStage<'_>) -> StageFigures {
    StageFigures {
        key: stage.view.key,
        label: stage.identity.label.clone(),
        sums: stage.figures,
        durations: durations(&stage.view),
    }
}

fn stage_changes(
    before: Vec<StageFigures>,
    after: Vec<StageFigures>,
    pairs: &[(usize, usize, PairedBy)],
) -> Vec<StageChange> {
    let partner: FxHashMap<usize, (usize, PairedBy)> = pairs.iter().map(|&(i, j, how)| (i, (j, how))).collect();
    let taken: BTreeSet<usize> = pairs.iter().map(|&(_, j, _)| j).collect();
    let mut changes: Vec<StageChange> = before
        .into_iter()
        .enumerate()
        .map(|(i, base)| {
            let found = partner.get(&i).and_then(|&(j, how)| Some((after.get(j)?.clone(), how)));
            let (candidate, paired_by) = found.map_or((None, None), |(stage, how)| (Some(stage), Some(how)));
            StageChange { base: Some(base), candidate, paired_by }
        })
        .collect();
    let alone = after.into_iter().enumerate().filter(|(j, _)| !taken.contains(j));
    changes.extend(alone.map(|(_, stage)| StageChange { base: None, candidate: Some(stage), paired_by: None }));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_a_loop_have_one_label() {
        assert_eq!(without_turn("save at orders.py: Exchange (12)"), "save at orders.py: Exchange");
        assert_eq!(without_turn("save at orders.py: Exchange (a)"), "save at orders.py: Exchange (a)");
        assert_eq!(without_turn("save"), "save");
    }
}
