//! Names near a name that nobody knows.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

use super::table::Table;
use super::{SettingFacts, VersionIndex};

/// At most this many single-character changes make a slip of the finger.
const SLIP: usize = 2;

/// How a known name differs from the written one; the first kind is the likeliest slip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    Case,
    Characters(usize),
    SegmentsSwapped,
    SegmentTooFew,
    SegmentTooMany,
}

/// Known names that `name` was perhaps meant to be, likeliest first; empty if `name` is known or far from all names.
pub fn similar(name: &str) -> Vec<&'static SettingFacts> {
    let table = Table::get();
    if table.find(name).is_some() {
        return Vec::new();
    }
    let segments: Vec<&str> = name.split('.').collect();
    let mut near: Vec<(Difference, bool, &'static SettingFacts)> = table
        .settings
        .iter()
        .filter_map(|facts| Some((difference(name, &segments, facts.name())?, facts)))
        .filter(|(_, facts)| !facts.is_prefix())
        .map(|(difference, facts)| (difference, !facts.registered_in(VersionIndex::NEWEST), facts))
        .collect();
    near.sort_by_key(|&(difference, old, facts)| (difference, old, facts.name()));
    near.into_iter().map(|(_, _, facts)| facts).collect()
}

fn difference(name: &str, segments: &[&str], known: &'static str) -> Option<Difference> {
    if known.eq_ignore_ascii_case(name) {
        return Some(Difference::Case);
    }
    if let Some(changes) = distance(name, known, slip(name).min(slip(known))) {
        return Some(Difference::Characters(changes));
    }
    let same = |a: &&str, b: &&str| a.eq_ignore_ascii_case(b);
    let count = known.bytes().filter(|&byte| byte == b'.').count() + 1;
    if count == segments.len() {
        let known: Vec<&str> = known.split('.').collect();
        return swapped(segments, &known).then_some(Difference::SegmentsSwapped);
    }
    if count == segments.len() + 1 && count > 3 {
        let longer: Vec<&str> = known.split('.').collect();
        return one_more(&longer, segments, same).map(|_| Difference::SegmentTooFew);
    }
    if count + 1 == segments.len() && count > 2 {
        let shorter: Vec<&str> = known.split('.').collect();
        let extra = one_more(segments, &shorter, same)?;
        return is_segment(segments[extra]).then_some(Difference::SegmentTooMany);
    }
    None
}

/// How many changes still make a slip: a short word with two changes is another word.
fn slip(name: &str) -> usize {
    match name.strip_prefix("spark.").unwrap_or(name).len() {
        0..3 => 0,
        3..8 => 1,
        _ => SLIP,
    }
}

/// Whether two segments changed places and all others are the same.
fn swapped(a: &[&str], b: &[&str]) -> bool {
    let mut differing = a.iter().zip(b).enumerate().filter(|(_, (x, y))| !x.eq_ignore_ascii_case(y));
    let (Some((i, _)), Some((j, _)), None) = (differing.next(), differing.next(), differing.next()) else {
        return false;
    };
    a[i].eq_ignore_ascii_case(b[j]) && a[j].eq_ignore_ascii_case(b[i])
}

/// Where `longer` has the one segment that `shorter` lacks.
fn one_more(longer: &[&str], shorter: &[&str], same: impl Fn(&&str, &&str) -> bool) -> Option<usize> {
    let at = longer.iter().zip(shorter).take_while(|(a, b)| same(a, b)).count();
    longer[at + 1..].iter().zip(&shorter[at..]).all(|(a, b)| same(a, b)).then_some(at)
}

/// Whether the word occurs in any known name; others are an application's own.
fn is_segment(word: &str) -> bool {
    static SEGMENTS: OnceLock<FxHashSet<&str>> = OnceLock::new();
    let names = || Table::get().settings.iter().flat_map(|facts| facts.name().split('.'));
    SEGMENTS.get_or_init(|| names().collect()).contains(word)
}

/// Whether one word is a slip of the other, whatever their case: at most two characters differ, one in short words.
pub fn similar_word(a: &str, b: &str) -> bool {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    distance(&a, &b, slip(&a).min(slip(&b))).is_some()
}

/// How many insertions, deletions, replacements or swaps of neighbours lead from `a` to `b`, if at most `limit`.
pub(super) fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    // What differs between the common ends of two near names is short; a long rest means that they are far.
    const LONGEST: usize = 24;
    if a.len().max(b.len()) > LONGEST {
        return None;
    }
    let mut rows = [[0usize; LONGEST + 1]; 3];
    for (column, cell) in rows[0].iter_mut().enumerate() {
        *cell = column;
    }
    for (i, x) in a.iter().enumerate() {
        let (row, above, above2) = ((i + 1) % 3, i % 3, (i + 2) % 3);
        rows[row][0] = i + 1;
        let mut least = i + 1;
        for (j, y) in b.iter().enumerate() {
            let mut cost = (rows[above][j] + usize::from(x != y)).min(rows[above][j + 1] + 1).min(rows[row][j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                cost = cost.min(rows[above2][j - 1] + 1);
            }
            rows[row][j + 1] = cost;
            least = least.min(cost);
        }
        if least > limit + 1 {
            return None;
        }
    }
    Some(rows[a.len() % 3][b.len()]).filter(|&changes| changes <= limit)
}
