//! How full the storage memory of a host was: an experimental hint that makes no finding by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::host_score;
use super::view::StageView;
use super::words::{bytes, percent};

/// The storage memory of a host's executors in a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HostStorage {
    /// Bytes at the peak.
    used: u64,
    /// Bytes that there were.
    available: u64,
    /// The share of the median host.
    median: f64,
}

impl HostStorage {
    /// Peak over available.
    pub(super) fn share(self) -> f64 {
        self.used as f64 / self.available as f64
    }

    /// Its share over that of the median host.
    pub(super) fn times(self) -> f64 {
        self.share() / self.median
    }

    /// `32 % of 120.0 MiB, the median host 4.1 %`.
    pub(super) fn words(self) -> String {
        let available = bytes(self.available as f64);
        format!("{} of {available}, the median host {}", percent(self.share()), percent(self.median))
    }
}

/// The storage of the stage's hosts, by the executors that ran its tasks. Empty with one host, where a peak or the memory
/// of one of them is not recorded, and where the median host holds no block.
pub(super) fn storage(view: &StageView<'_>) -> BTreeMap<u16, HostStorage> {
    let peaks = &view.stage.storage_peaks;
    if peaks.is_empty() {
        return BTreeMap::new();
    }
    let ran: BTreeSet<(u16, u16)> =
        view.rows.iter().map(|row| (view.tasks().host_of(row), view.tasks().executor_of(row))).collect();
    let mut hosts: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for (host, executor) in ran {
        let peak = peaks.iter().filter(|peak| peak.executor == executor).map(|peak| peak.bytes).max();
        let memory = view.run.executors.get(usize::from(executor)).and_then(|executor| executor.storage_memory);
        let (Some(peak), Some(memory)) = (peak, memory.filter(|&memory| memory > 0)) else { return BTreeMap::new() };
        let sums = hosts.entry(host).or_default();
        *sums = (sums.0.saturating_add(peak), sums.1.saturating_add(memory));
    }
    if hosts.len() < 2 {
        return BTreeMap::new();
    }
    let median = host_score::middle(hosts.values().map(|&(used, available)| used as f64 / available as f64));
    if median <= 0.0 {
        return BTreeMap::new();
    }
    let of = |(used, available)| HostStorage { used, available, median };
    hosts.into_iter().map(|(host, sums)| (host, of(sums))).collect()
}
