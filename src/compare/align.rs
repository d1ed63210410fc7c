//! Which of two lists belong together.

/// So many cells of the table are filled at most (one byte each); longer lists are compared in a band around its diagonal.
const MOST_CELLS: usize = 4_000_000;
/// More pairs than these are not weighed one against the other.
const MOST_PAIRS: usize = 250_000;

/// How a best pairing of two prefixes ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Pair,
    SkipLeft,
    SkipRight,
}

/// Pairs of indices into lists of `left` and `right` entries, in the order of both, so that the sum of the scores is as
/// high as it can be. Entries may stay alone; a score of 0 never makes a pair. Of equal pairings, entries are paired as
/// early as possible.
pub(super) fn in_order(left: usize, right: usize, score: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    let width = (MOST_CELLS / (left + 1)).max(2 * (right / left.max(1) + 1)).max(16);
    // Of row `i`, the cells from the first to the last of these.
    let window = |i: usize| {
        let centre = (i as u64 * right as u64 / left.max(1) as u64) as usize;
        (centre.saturating_sub(width / 2), right.min(centre.saturating_add(width / 2)))
    };
    let mut steps: Vec<Vec<Step>> = Vec::with_capacity(left + 1);
    let mut above: Vec<f64> = Vec::new();
    let mut above_from = 0;
    for i in 0..=left {
        let (from, to) = window(i);
        let mut sums: Vec<f64> = Vec::with_capacity(to - from + 1);
        let mut row = Vec::with_capacity(to - from + 1);
        for j in from..=to {
            let upper = |j: usize| j.checked_sub(above_from).and_then(|column| above.get(column)).copied();
            let skip_left = upper(j);
            let skip_right = sums.last().copied();
            let pair = (i > 0 && j > 0).then(|| upper(j - 1)).flatten().and_then(|sum| {
                let score = score(i - 1, j - 1);
                (score > 0.0).then_some(sum + score)
            });
            let mut best = (skip_right.unwrap_or(f64::NEG_INFINITY), Step::SkipRight);
            if skip_left.is_some_and(|sum| sum > best.0) || skip_right.is_none() {
                best = (skip_left.unwrap_or(0.0), Step::SkipLeft);
            }
            if let Some(sum) = pair.filter(|sum| *sum > best.0) {
                best = (sum, Step::Pair);
            }
            sums.push(best.0);
            row.push(best.1);
        }
        steps.push(row);
        (above, above_from) = (sums, from);
    }
    backwards(left, right, |i, j| steps.get(i)?.get(j.checked_sub(window(i).0)?).copied())
}

fn backwards(left: usize, right: usize, step: impl Fn(usize, usize) -> Option<Step>) -> Vec<(usize, usize)> {
    let (mut i, mut j) = (left, right);
    let mut pairs = Vec::new();
    while i > 0 && j > 0 {
        match step(i, j) {
            Some(Step::Pair) => {
                (i, j) = (i - 1, j - 1);
                pairs.push((i, j));
            }
            Some(Step::SkipLeft) => i -= 1,
            Some(Step::SkipRight) => j -= 1,
            None => break,
        }
    }
    pairs.reverse();
    pairs
}

/// Pairs of indices, the likest first taken, whatever their order; of equal scores those nearest to each other in their
/// lists. A score of 0 never makes a pair. In the order of the left list.
pub(super) fn by_likeness(left: usize, right: usize, score: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    if left.saturating_mul(right) > MOST_PAIRS {
        return in_order(left, right, score);
    }
    let mut all: Vec<(f64, usize, usize)> = (0..left)
        .flat_map(|i| (0..right).map(move |j| (i, j)))
        .map(|(i, j)| (score(i, j), i, j))
        .filter(|(score, ..)| *score > 0.0)
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1.abs_diff(a.2), a.1).cmp(&(b.1.abs_diff(b.2), b.1))));
    let (mut left_taken, mut right_taken) = (vec![false; left], vec![false; right]);
    let mut pairs = Vec::new();
    for (_, i, j) in all {
        if !left_taken[i] && !right_taken[j] {
            (left_taken[i], right_taken[j]) = (true, true);
            pairs.push((i, j));
        }
    }
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(left: &str, right: &str) -> Vec<(usize, usize)> {
        let (left, right) = (left.as_bytes(), right.as_bytes());
        in_order(left.len(), right.len(), |i, j| if left[i] == right[j] { 1.0 } else { 0.0 })
    }

    #[test]
    fn what_was_added_and_what_is_gone_stays_alone() {
        assert_eq!(of("abcd", "abcd"), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!(of("abd", "abcd"), [(0, 0), (1, 1), (2, 3)]);
        assert_eq!(of("abcd", "acd"), [(0, 0), (2, 1), (3, 2)]);
        assert_eq!(of("abxd", "abyd"), [(0, 0), (1, 1), (3, 3)]);
        assert_eq!(of("ab", "cd"), []);
        assert_eq!(of("", "cd"), []);
        // One turn of a loop more: the first ones are paired.
        assert_eq!(of("aaz", "aaaz"), [(0, 0), (1, 1), (2, 3)]);
    }

    #[test]
    fn a_better_pair_wins_over_an_earlier_one() {
        let pairs = in_order(1, 2, |_, j| [0.5, 2.0][j]);
        assert_eq!(pairs, [(0, 1)]);
    }

    #[test]
    fn long_lists_are_compared_near_the_diagonal() {
        let pairs = in_order(30_000, 30_010, |i, j| if i + 10 == j { 1.0 } else { 0.0 });
        assert_eq!(pairs.len(), 30_000);
        assert_eq!(in_order(3, 100_000, |i, j| if j == i * 40_000 { 1.0 } else { 0.0 }).len(), 3);
    }

    #[test]
    fn stages_that_changed_places_find_each_other() {
        let score = [[0.0, 9.0, 0.0], [9.0, 0.0, 0.5], [0.0, 0.0, 0.5]];
        assert_eq!(by_likeness(3, 3, |i, j| score[i][j]), [(0, 1), (1, 0), (2, 2)]);
    }
}
