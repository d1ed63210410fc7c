//! A run as a server tells it through Spark's REST API, for where no event log is handed out.
//!
//! The API of a History Server and that of a running application are the same. It tells of jobs, stages, tasks, executors
//! and settings, not of plans; of a long run it has forgotten what came first. The run's coverage says both.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;

use super::build::Builder;
use super::history::{NOT_ITS_API, no_server};
use super::rest_answers::{Application, Attempt, Environment, Execution, Executor, Job, Stage, Task, millis};
use super::rest_events::{self as events, StageEvent};
use super::{Progress, Read};
use crate::run::Run;
use crate::run::summary::Summary;

/// Tasks that are asked for at once: with the stack traces of failed ones, an answer stays far below what is read of it.
const TASKS: usize = 2_000;
/// SQL executions that are asked for at once.
const EXECUTIONS: usize = 1_000;
/// Stages that a note names.
const NAMED: usize = 5;

/// Which run is meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address<'a> {
    pub(super) id: &'a str,
    pub(super) attempt: Option<&'a str>,
}

/// Answers a call below `applications/`.
pub(super) type Ask<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

/// Reads the run; `why` says what became of its log.
pub(super) fn read(address: Address<'_>, ask: Ask<'_>, why: &str, progress: Progress<'_>) -> io::Result<Run> {
    let mut telling = Telling { address, ask, progress, builder: Builder::default(), bytes: 0, unreadable: 0 };
    let told = telling.run()?;
    let Telling { mut builder, bytes, unreadable, .. } = telling;
    let coverage = &mut builder.run.coverage;
    // What was read are answers: the events are only how they were told to the builder.
    coverage.events = 0;
    coverage.bytes = bytes;
    coverage.notes = notes(&told, why, unreadable);
    coverage.summary = Some(told.summary);
    let mut run = builder.finish();
    run.coverage.complete = false;
    Ok(run)
}

/// What is worth a word of what was told.
#[derive(Default)]
struct Told {
    summary: Summary,
    /// Stages with fewer tasks than ended: which, told, ended.
    short: Vec<(i64, u64, u64)>,
}

/// A run that is being told.
struct Telling<'a, 'p> {
    address: Address<'a>,
    ask: Ask<'a>,
    progress: Progress<'p>,
    builder: Builder,
    /// Of all answers.
    bytes: u64,
    /// Parts of answers that name no job, stage, task or executor.
    unreadable: u64,
}

impl Telling<'_, '_> {
    fn run(&mut self) -> io::Result<Told> {
        let answer = self.answer(self.address.id)?;
        let application: Application<'_> = parse(&answer)?;
        let attempt = self.attempt(&application)?;
        let (start, end) = events::application(&application, attempt);
        start.iter().for_each(|event| self.tell(event));
        let environment = self.call("environment")?;
        self.tell(&events::environment(&parse::<Environment<'_>>(&environment)?));
        if let Some(answer) = self.call_if_there("allexecutors")? {
            let mut executors: Vec<Executor<'_>> = parse(&answer)?;
            executors.sort_by_key(|executor| millis(&executor.add_time));
            executors.iter().flat_map(events::executor).for_each(|event| self.tell(&event));
        }
        let (jobs, stages) = (self.call("jobs")?, self.call("stages?details=false")?);
        let (jobs, stages): (Vec<Job<'_>>, Vec<Stage<'_>>) = (parse(&jobs)?, parse(&stages)?);
        let mut told = Told::default();
        told.summary.jobs_missing = missing(jobs.iter().filter_map(|job| job.job_id.0));
        told.summary.stages_missing = missing_stages(&jobs, &stages);
        // In a run that ended nothing runs. Of one that goes on, an execution may have ended only if work of the run did.
        let until = if end.is_some() { i64::MAX } else { last_end(&jobs, &stages) };
        let (execution_of, missing) = self.executions(until, &jobs)?;
        told.summary.executions_missing = missing;
        for job in &jobs {
            let execution = job.job_id.0.and_then(|id| execution_of.get(&id).copied());
            events::job(job, execution).iter().for_each(|event| self.tell(event));
        }
        for stage in stages.iter().rev().filter(|stage| stage.ran()) {
            self.stage(stage, &mut told)?;
        }
        end.iter().for_each(|event| self.tell(event));
        Ok(told)
    }

    fn attempt<'b, 'c>(&self, application: &'b Application<'c>) -> io::Result<&'b Attempt<'c>> {
        let is_meant = |attempt: &&Attempt<'_>| attempt.attempt_id.0.as_deref() == self.address.attempt;
        application.attempts.iter().find(is_meant).ok_or_else(|| no_server(NOT_ITS_API))
    }

    /// Tells of the SQL executions; the execution of each job that belongs to one, and how many are missing. Before
    /// Spark 3.1 no server tells of them.
    fn executions(&mut self, until: i64, jobs: &[Job<'_>]) -> io::Result<(FxHashMap<i64, i64>, Option<u64>)> {
        let mut execution_of = FxHashMap::default();
        let mut starts = BTreeMap::new();
        for page in 0.. {
            let offset = page * EXECUTIONS;
            let call = format!("sql?details=false&planDescription=false&offset={offset}&length={EXECUTIONS}");
            let Some(answer) = self.call_if_there(&call)? else { return Ok((execution_of, None)) };
            let executions: Vec<Execution<'_>> = parse(&answer)?;
            let before = starts.len();
            for execution in &executions {
                let Some(id) = execution.id.0 else { continue };
                starts.insert(id, millis(&execution.submission_time));
                execution_of.extend(events::jobs_of(execution).map(|job| (job, id)));
                events::execution(execution, until).iter().for_each(|event| self.tell(event));
            }
            // A server that does not know of pages tells all again and again.
            if executions.len() < EXECUTIONS || starts.len() == before {
                break;
            }
        }
        let missing = missing_executions(&starts, jobs, &execution_of);
        Ok((execution_of, Some(missing)))
    }

    fn stage(&mut self, stage: &Stage<'_>, told: &mut Told) -> io::Result<()> {
        self.tell(&events::stage(stage, StageEvent::Submitted));
        let ended = self.tasks(stage)?;
        if let Some(id) = stage.stage_id.0.filter(|_| ended < stage.ended()) {
            told.summary.tasks_missing += stage.ended() - ended;
            told.short.push((id, ended, stage.ended()));
        }
        if millis(&stage.completion_time).is_some() {
            self.tell(&events::stage(stage, StageEvent::Completed));
        }
        Ok(())
    }

    /// Tells of a stage's tasks; how many ended.
    fn tasks(&mut self, stage: &Stage<'_>) -> io::Result<u64> {
        let (Some(id), Some(attempt)) = (stage.stage_id.0, stage.attempt_id.0) else { return Ok(0) };
        let mut ended = 0;
        for page in 0.. {
            let offset = page * TASKS;
            let call = format!("stages/{id}/{attempt}/taskList?offset={offset}&length={TASKS}");
            // A server that is told of new stages forgets old ones meanwhile.
            let Some(answer) = self.call_if_there(&call)? else { break };
            let mut tasks: Vec<Task<'_>> = parse(&answer)?;
            // As a log has them; what is replayed takes tasks that were launched at once in this order.
            tasks.sort_by_cached_key(events::finish);
            for event in tasks.iter().filter_map(|task| events::task(task, stage)) {
                self.tell(&event);
                ended += 1;
            }
            if tasks.len() < TASKS || offset > u32::MAX as usize {
                break;
            }
        }
        Ok(ended)
    }

    fn tell(&mut self, event: &Value) {
        if self.builder.line(event.to_string().as_bytes()).is_err() {
            self.unreadable += 1;
        }
    }

    /// A call of the attempt.
    fn call(&mut self, call: &str) -> io::Result<Vec<u8>> {
        let id = self.address.id;
        self.answer(&match self.address.attempt {
            Some(attempt) => format!("{id}/{attempt}/{call}"),
            None => format!("{id}/{call}"),
        })
    }

    /// As [`Self::call`]; `None` where the server knows of no such thing.
    fn call_if_there(&mut self, call: &str) -> io::Result<Option<Vec<u8>>> {
        match self.call(call) {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn answer(&mut self, call: &str) -> io::Result<Vec<u8>> {
        let answer = (self.ask)(call)?;
        self.bytes += answer.len() as u64;
        if !(self.progress)(Read { done: self.bytes, total: 0 }) {
            return Err(ErrorKind::Interrupted.into());
        }
        Ok(answer)
    }
}

fn parse<'a, T: Deserialize<'a>>(answer: &'a [u8]) -> io::Result<T> {
    serde_json::from_slice(answer).map_err(|_| no_server(NOT_ITS_API))
}

/// How many of the numbers from 0 to the largest are not there.
fn missing(ids: impl Iterator<Item = i64>) -> u64 {
    let ids: BTreeSet<u64> = ids.filter_map(|id| u64::try_from(id).ok()).collect();
    ids.last().map_or(0, |last| last.saturating_add(1).saturating_sub(ids.len() as u64))
}

/// SQL executions that are not told of. Their numbers go on over the applications of one JVM: those before the first one
/// told are missing only if a job ran before it that may belong to one.
fn missing_executions(
    starts: &BTreeMap<i64, Option<i64>>,
    jobs: &[Job<'_>],
    execution_of: &FxHashMap<i64, i64>,
) -> u64 {
    let Some((&first, &started)) = starts.first_key_value() else { return 0 };
    let is_before = |job: &&Job<'_>| millis(&job.submission_time).zip(started).is_none_or(|(job, first)| job < first);
    let of_none = |job: &&Job<'_>| job.job_id.0.is_none_or(|id| !execution_of.contains_key(&id));
    let begins_late = jobs.iter().filter(of_none).any(|job| is_before(&job));
    let told = starts.keys().map(|id| if begins_late { *id } else { id.saturating_sub(first) });
    missing(told)
}

/// Stages of the jobs that are not told of, not even as skipped.
fn missing_stages(jobs: &[Job<'_>], stages: &[Stage<'_>]) -> u64 {
    let told: BTreeSet<i64> = stages.iter().filter_map(|stage| stage.stage_id.0).collect();
    let of_jobs: BTreeSet<i64> = jobs.iter().flat_map(|job| &job.stage_ids).filter_map(|id| id.0).collect();
    of_jobs.difference(&told).count() as u64
}

/// When the last job or stage ended that did.
fn last_end(jobs: &[Job<'_>], stages: &[Stage<'_>]) -> i64 {
    let jobs = jobs.iter().filter_map(|job| millis(&job.completion_time));
    let stages = stages.iter().filter_map(|stage| millis(&stage.completion_time));
    jobs.chain(stages).max().unwrap_or(0)
}

/// What the run is and what it lacks.
fn notes(told: &Told, why: &str, unreadable: u64) -> Vec<String> {
    let summary = &told.summary;
    let mut notes = vec![
        format!("Not the event log: what the server tells through its REST API. Its log is not handed out: {why}"),
        "REST tells no SQL plans, RDDs or call stacks: rules that need them say nothing, and fewer stages can be tied to \
         lines of code"
            .to_owned(),
    ];
    let gone = [
        (summary.jobs_missing, "jobs", "spark.ui.retainedJobs"),
        (summary.stages_missing, "stages", "spark.ui.retainedStages"),
        (summary.executions_missing.unwrap_or(0), "SQL executions", "spark.sql.ui.retainedExecutions"),
    ];
    for (missing, what, setting) in gone {
        if missing > 0 {
            notes.push(format!("{what} missing: {missing}; a server keeps the last ones only ({setting})"));
        }
    }
    if summary.executions_missing.is_none() {
        notes.push("SQL executions are not told: which jobs belong to one is not known".to_owned());
    }
    if summary.tasks_missing > 0 {
        let stages: Vec<String> = told
            .short
            .iter()
            .take(NAMED)
            .map(|(stage, told, ended)| format!("stage {stage} has {told} of {ended} that ended"))
            .collect();
        let more = told.short.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(", and {more} stages more") } else { String::new() };
        notes.push(format!(
            "tasks missing: {}{more}; a server keeps a part of them only (spark.ui.retainedTasks)",
            stages.join(", ")
        ));
    }
    if unreadable > 0 {
        notes.push(format!("{unreadable} parts of the answers can't be read"));
    }
    notes
}

#[cfg(test)]
#[path = "rest_tests.rs"]
mod tests;
