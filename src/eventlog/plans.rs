//! The newest plan of each SQL execution. Adaptive execution writes a plan again and again; only the last one is parsed.

use rustc_hash::FxHashMap;

use super::plan_info;
use crate::run::SharedTexts;
use crate::run::model::PlanNode;

/// Bytes of plans kept, as written; streaming applications would plan without end.
const BUDGET: usize = 256 << 20;

/// Plans as written, until no newer one can come.
#[derive(Clone, Default)]
pub(super) struct Plans {
    raw: FxHashMap<i64, Vec<u8>>,
    /// Bytes of all plans kept, parsed ones included.
    bytes: usize,
    dropped: bool,
    cut: bool,
    unreadable: usize,
}

impl Plans {
    /// Keeps the plan in `line` in place of an older one of the execution.
    pub(super) fn keep(&mut self, execution: i64, line: &[u8]) {
        let key: &[u8] = b"\"sparkPlanInfo\":";
        let Some(at) = memchr::memmem::find(line, key) else { return };
        let plan = &line[at + key.len()..];
        let old = self.raw.get(&execution).map_or(0, Vec::len);
        let bytes = self.bytes - old + plan.len();
        if bytes > BUDGET {
            self.dropped = true;
            return;
        }
        self.bytes = bytes;
        self.raw.insert(execution, plan.to_vec());
    }

    /// The execution's plan, if one was kept that can be read.
    pub(super) fn take(&mut self, execution: i64, texts: &mut SharedTexts) -> Option<PlanNode> {
        let plan = plan_info::parse(&self.raw.remove(&execution)?, texts);
        self.unreadable += usize::from(plan.is_none());
        let plan_info::Plan { root, cut } = plan?;
        self.cut |= cut;
        Some(root)
    }

    /// The executions whose plan was not taken yet.
    pub(super) fn waiting(&self) -> Vec<i64> {
        let mut waiting: Vec<i64> = self.raw.keys().copied().collect();
        waiting.sort_unstable();
        waiting
    }

    /// What to say of plans that are not whole.
    pub(super) fn notes(&self) -> Vec<String> {
        let dropped = self.dropped.then(|| format!("plans beyond {} MiB were not kept", BUDGET >> 20));
        let cut = self.cut.then(|| format!("plans are kept down to level {}", plan_info::MAX_DEPTH));
        let unreadable = (self.unreadable > 0).then(|| format!("{} plans can't be read", self.unreadable));
        dropped.into_iter().chain(cut).chain(unreadable).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_plan_is_taken_once() {
        let mut plans = Plans::default();
        for name in ["Old", "New"] {
            plans.keep(7, format!("{{\"sparkPlanInfo\":{{\"nodeName\":\"{name}\"}},\"time\":1}}").as_bytes());
        }
        plans.keep(8, b"{\"time\":1}");
        assert_eq!(plans.waiting(), [7]);
        let texts = &mut SharedTexts::default();
        assert_eq!(plans.take(7, texts).unwrap().name, "New");
        assert!(plans.take(7, texts).is_none() && plans.notes().is_empty());
    }

    #[test]
    fn a_plan_that_cannot_be_read_is_said() {
        let mut plans = Plans::default();
        plans.keep(7, b"{\"sparkPlanInfo\":{\"nodeName\":}");
        assert!(plans.take(7, &mut SharedTexts::default()).is_none());
        assert_eq!(plans.notes(), ["1 plans can't be read"]);
    }
}
