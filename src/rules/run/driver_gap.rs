//! Time in which no task runs.

use super::words::{duration, percent};
use super::{micro_batches, worth_painting};
use crate::declare_rule;
use crate::rules::{RunContext, State, Subject, Verdict};
use crate::run::Run;
use crate::run::model::{Job, SqlExecution, StageKey};
use crate::run::stats::finish;

declare_rule! {
    /// No task ran for a minute or more.
    ///
    /// ## Why
    /// Between two actions only the driver works: plain Python, a model that is trained there, a wait for another system,
    /// files that are listed or committed. Executors keep their cores meanwhile. The finding names the actions before and
    /// after the gap, or the action in which it lies.
    ///
    /// ## Silent when
    /// - tasks follow each other within a minute,
    /// - it is the start of the application, before its first task, or its end, after its last action,
    /// - the run has streaming queries, which wait between their triggers,
    /// - parts of the log are missing: the gap may be the hole.
    ///
    /// ## Example
    /// ```text
    /// no task ran for 70.2 s between collect at orders.py:14 and collect at orders.py:16
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// scored = orders.withColumn("score", score("amount"))   # on the executors, not in a loop on the driver
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/cluster-overview.html>
    pub DRIVER_GAP = {
        name: "driver-gap", group: Run, severity: Information, confidence: Measured,
        since: "0.1.0",
        options: [("seconds", 60.0, "seconds without a task, at least")],
        check: Run(check),
    }
}

/// Milliseconds since the epoch in which no task ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    from: i64,
    to: i64,
}

impl Gap {
    fn ms(self) -> f64 {
        (self.to - self.from) as f64
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    let run = context.run;
    let quiet = |state| vec![Verdict::quiet(context.rule, state, Vec::new())];
    if run.stages.values().all(|stage| stage.tasks.is_empty()) {
        return quiet(State::NotApplicable("no task ended in the log".to_owned()));
    }
    let coverage = &run.coverage;
    if coverage.compacted || !coverage.missing_files.is_empty() || coverage.bad_lines > 0 {
        return quiet(State::NotApplicable("a part of the log is missing".to_owned()));
    }
    if micro_batches::is_streaming(run) {
        return quiet(State::NotApplicable("streaming queries wait between their triggers".to_owned()));
    }
    let least = context.option("seconds") * 1000.0;
    let found: Vec<Verdict> =
        gaps(run).into_iter().filter(|gap| gap.ms() >= least).filter_map(|gap| describe(context, gap)).collect();
    if found.is_empty() { quiet(State::NotFired) } else { found }
}

/// When tasks ran. Spans that meet are joined from time to time, as a run has as many as tasks.
#[derive(Default)]
struct Busy {
    spans: Vec<(i64, i64)>,
    /// How many spans the last joining left.
    apart: usize,
}

impl Busy {
    /// Spans that are not worth joining yet.
    const FEW: usize = 4096;

    fn add(&mut self, from: i64, to: i64) {
        self.spans.push((from, to));
        if self.spans.len() >= Self::FEW.max(2 * self.apart) {
            self.join();
        }
    }

    fn join(&mut self) {
        self.spans.sort_unstable();
        self.spans.dedup_by(|next, before| {
            let meet = next.0 <= before.1;
            if meet {
                before.1 = before.1.max(next.1);
            }
            meet
        });
        self.apart = self.spans.len();
    }

    /// In their order, with time between them.
    fn spans(mut self) -> Vec<(i64, i64)> {
        self.join();
        self.spans
    }
}

/// Where no task of any outcome ran, from the first task to the run's end.
fn gaps(run: &Run) -> Vec<Gap> {
    let (start, end) = (run.application.start, run.application.end);
    let at = |time: u64| start.saturating_add(i64::try_from(time).unwrap_or(i64::MAX));
    let mut busy = Busy::default();
    for tasks in run.stages.values().map(|stage| &stage.tasks) {
        (0..tasks.len()).for_each(|row| busy.add(at(tasks.launch.get(row)), at(finish(tasks, row))));
    }
    let busy = busy.spans();
    let mut gaps = Vec::new();
    let mut until = busy.first().map_or(end, |first| first.0);
    for (launch, done) in busy.into_iter().chain([(end, end)]) {
        if launch > until {
            gaps.push(Gap { from: until, to: launch });
        }
        until = until.max(done);
    }
    gaps
}

/// An action of the run: a SQL execution, or a job outside SQL.
#[derive(Clone, Copy)]
enum Action<'a> {
    Execution(i64, &'a SqlExecution),
    Job(&'a Job),
}

impl Action<'_> {
    fn span(self) -> Option<(i64, i64)> {
        match self {
            Self::Execution(_, execution) => Some((execution.start, execution.end?)),
            Self::Job(job) => Some((job.submitted?, job.completed?)),
        }
    }

    /// `collect at orders.py:14`.
    fn name(self) -> String {
        let written = match self {
            Self::Execution(_, execution) => execution.description.as_str(),
            Self::Job(job) => job.call_site.as_deref().unwrap_or("a job"),
        };
        let first = written.lines().next().unwrap_or_default();
        match first.split_once(" at ") {
            Some((call, site)) => format!("{call} at {}", site.rsplit(['/', '\\']).next().unwrap_or(site)),
            None => first.chars().take(80).collect(),
        }
    }

    fn subject(self, run: &Run) -> Subject {
        match self {
            Self::Execution(id, _) => Subject::Execution(id),
            Self::Job(job) => stage_of(run, job).map_or(Subject::Run, Subject::Stage),
        }
    }

    fn stages(self, run: &Run) -> Vec<StageKey> {
        match self {
            Self::Execution(..) => Vec::new(),
            Self::Job(job) => stage_of(run, job).into_iter().collect(),
        }
    }
}

fn stage_of(run: &Run, job: &Job) -> Option<StageKey> {
    let key = |&stage: &u32| StageKey { stage, attempt: 0 };
    job.stages.iter().map(key).find(|key| run.stages.contains_key(key))
}

/// Root executions, and jobs outside SQL, whose times are known.
fn actions(run: &Run) -> impl Iterator<Item = Action<'_>> {
    let root = |(id, execution): &(&i64, &SqlExecution)| execution.root.is_none_or(|root| root == **id);
    let executions = run.executions.iter().filter(root).map(|(&id, execution)| Action::Execution(id, execution));
    let jobs = run.jobs.values().filter(|job| job.execution.is_none()).map(Action::Job);
    executions.chain(jobs).filter(|action| action.span().is_some())
}

/// Where a gap lies among the actions.
enum Place<'a> {
    /// In one action: most of the gap is between its start and end.
    Inside(Action<'a>),
    Between(Action<'a>, Action<'a>),
}

/// `None` for a gap after the last action, and where the log names no action around it.
fn place(run: &Run, gap: Gap) -> Option<Place<'_>> {
    let overlap =
        |action: &Action<'_>| action.span().map_or(0, |(start, end)| (end.min(gap.to) - start.max(gap.from)).max(0));
    if let Some(action) = actions(run).max_by_key(overlap).filter(|action| 2 * overlap(action) >= gap.to - gap.from) {
        return Some(Place::Inside(action));
    }
    let middle = gap.from + (gap.to - gap.from) / 2;
    let ended = |action: &Action<'_>| action.span().map(|(_, end)| end).filter(|&end| end <= middle);
    let begins = |action: &Action<'_>| action.span().map(|(start, _)| start).filter(|&start| start >= middle);
    let before = actions(run).filter(|action| ended(action).is_some()).max_by_key(ended)?;
    let after = actions(run).filter(|action| begins(action).is_some()).min_by_key(begins)?;
    Some(Place::Between(before, after))
}

fn describe(context: &RunContext<'_>, gap: Gap) -> Option<Verdict> {
    let run = context.run;
    let place = place(run, gap)?;
    let (action, text) = match &place {
        Place::Inside(action) => (*action, format!("inside {}", action.name())),
        Place::Between(before, after) => (*after, format!("between {} and {}", before.name(), after.name())),
    };
    let (subject, stages) = (action.subject(run), action.stages(run));
    let mut verdict = Verdict::fired(context.rule, subject, stages);
    let seconds = gap.ms() / 1000.0;
    verdict.impact_s = Some(seconds);
    verdict.paintable = worth_painting(context, Some(seconds));
    verdict.message = format!("no task ran for {} {text}", duration(gap.ms()));
    verdict.short = format!("no task for {}", duration(gap.ms()));
    verdict.prove(
        "without a task",
        duration(gap.ms()),
        Some(format!(">= {}", duration(context.option("seconds") * 1000.0))),
        run.application.id.clone(),
    );
    let run_ms = (run.application.end - run.application.start).max(1) as f64;
    verdict.prove("of the run", percent(gap.ms() / run_ms), None, None);
    verdict.prove("from the run's start", duration((gap.from - run.application.start) as f64), None, None);
    verdict.advice = vec![
        match place {
            Place::Inside(_) => "Look at what the driver does in this action: planning, listing files, collecting a broadcast side, committing a write, or waiting for executors",
            Place::Between(..) => "Move what the driver does between these two actions to the executors, or do it before the session starts",
        }
        .to_owned(),
    ];
    Some(verdict)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// More spans than are kept apart: whole multiples of 3, so that some meet and some leave time between them.
        #[test]
        fn joined_spans_cover_what_was_busy(given in prop::collection::vec((0i64..4_000, 0i64..4), 0..3 * Busy::FEW)) {
            let mut busy = Busy::default();
            let mut ran = vec![false; 3 * 4_003];
            for (from, length) in given {
                busy.add(3 * from, 3 * (from + length));
                ran[3 * from as usize..3 * (from + length) as usize].fill(true);
            }
            let spans = busy.spans();
            prop_assert!(spans.windows(2).all(|two| two[0].1 < two[1].0));
            let mut covered = vec![false; ran.len()];
            spans.iter().for_each(|&(from, to)| covered[from as usize..to as usize].fill(true));
            prop_assert_eq!(covered, ran);
        }
    }
}
