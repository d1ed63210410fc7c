//! One number for a host out of several signals: an experimental hint that makes no finding by itself.

use std::collections::BTreeMap;

use super::view::StageView;
use crate::run::stats::median;
use crate::run::{Column, Rows};

/// What a host's tasks took in one respect, against the median host.
type Signal = (&'static str, fn(&StageView<'_>, &Rows) -> f64);

const SIGNALS: [Signal; 5] = [
    ("mean duration", |view, rows| total(&view.tasks().duration, rows) / rows.len() as f64),
    ("read a task", |view, rows| total(&view.tasks().read_bytes, rows) / rows.len() as f64),
    ("GC share", |view, rows| of_run_time(view, rows, &view.tasks().gc_time)),
    ("fetch wait share", |view, rows| of_run_time(view, rows, &view.tasks().fetch_wait)),
    ("spill a task", |view, rows| total(&view.tasks().spill_disk, rows) / rows.len() as f64),
];

/// The score of a host in a stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostScore {
    /// Geometric mean of its ratios to the median host; 1 is like the others.
    pub(super) score: f64,
    /// The signals that went in: those that the host and the median host both have.
    pub(super) signals: Vec<&'static str>,
}

fn total(column: &Column, rows: &Rows) -> f64 {
    rows.iter().map(|row| column.get(row) as f64).sum()
}

fn of_run_time(view: &StageView<'_>, rows: &Rows, column: &Column) -> f64 {
    total(column, rows) / total(&view.tasks().run_time, rows).max(1.0)
}

/// The median of the hosts; 0 without any.
pub(super) fn middle(values: impl Iterator<Item = f64>) -> f64 {
    // Shares are below 1: scale before rounding to the whole numbers that a median is made of.
    let scaled: Vec<u64> = values.map(|value| (value * 1e6) as u64).collect();
    median(&scaled).unwrap_or(0.0) / 1e6
}

/// The scores of the stage's hosts; empty without task metrics or with one host.
pub(super) fn scores(view: &StageView<'_>) -> BTreeMap<u16, HostScore> {
    let hosts = view.by_host();
    if hosts.len() < 2 || !view.measured() {
        return BTreeMap::new();
    }
    let mut ratios: BTreeMap<u16, Vec<(&'static str, f64)>> = BTreeMap::new();
    for (name, signal) in SIGNALS {
        let values: Vec<(u16, f64)> = hosts.iter().map(|(&host, rows)| (host, signal(view, rows))).collect();
        let middle = middle(values.iter().map(|&(_, value)| value));
        for (host, value) in values.into_iter().filter(|(_, value)| *value > 0.0 && middle > 0.0) {
            ratios.entry(host).or_default().push((name, value / middle));
        }
    }
    let score = |ratios: Vec<(&'static str, f64)>| HostScore {
        score: (ratios.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp(),
        signals: ratios.into_iter().map(|(name, _)| name).collect(),
    };
    ratios.into_iter().map(|(host, ratios)| (host, score(ratios))).collect()
}
