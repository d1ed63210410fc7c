//! Events, one after another, to a [`Run`].

use std::sync::LazyLock;

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

use super::lenient::{Number, clamp_u32, clamp_u64};
use super::plans::Plans;
use super::task_end::{self, FIELDS, TaskEnd, first_line};
use super::{attempts, events, names};
use crate::run::model::{Executor, Job, Rdd, SqlExecution, Stage, StageKey, StoragePeak, Task, TaskFailure, TaskFlags};
use crate::run::{Run, SharedTexts};

/// Tasks that a stage makes room for at once; what it announces is not believed without bound.
const RESERVED_TASKS: usize = 1 << 17;

/// Milliseconds.
const HOUR: i64 = 3_600_000;

/// A line that is no event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine;

/// A run in the making.
#[derive(Clone, Default)]
pub(super) struct Builder {
    pub(super) run: Run,
    pub(super) plans: Plans,
    texts: SharedTexts,
    hosts: FxHashMap<String, u16>,
    executors: FxHashMap<String, u16>,
    /// Storage memory by executor: a block manager may be announced before its executor.
    storage_memory: FxHashMap<String, u64>,
    pub(super) attempts: attempts::Attempts,
    pub(super) first_time: Option<i64>,
    pub(super) last_time: Option<i64>,
    pub(super) started: Option<i64>,
    pub(super) ended: Option<i64>,
    /// `SparkListenerApplicationEnd` came, with a time or without.
    pub(super) end_seen: bool,
    /// Task launches count from here until the end is reached.
    base: Option<i64>,
    /// The earliest launch.
    pub(super) earliest: Option<i64>,
    /// Files are missing before the events that come now.
    after_hole: bool,
    pub(super) crowded: bool,
}

impl Builder {
    /// Takes one line.
    pub(super) fn line(&mut self, line: &[u8]) -> Result<(), BadLine> {
        match self.event(line) {
            Err(BadLine) if std::str::from_utf8(line).is_err() => {
                let readable = String::from_utf8_lossy(line).into_owned();
                self.event(readable.as_bytes())
            }
            result => result,
        }?;
        self.run.coverage.events += 1;
        Ok(())
    }

    fn event(&mut self, line: &[u8]) -> Result<(), BadLine> {
        if !line.ends_with(b"}") {
            return Err(BadLine);
        }
        // Nearly all lines are one of these two.
        if line.starts_with(b"{\"Event\":\"SparkListenerTaskEnd\",") {
            return self.task_end(line);
        }
        if line.starts_with(b"{\"Event\":\"SparkListenerTaskStart\",") {
            return self.task_start(line);
        }
        match event_name(line)?.as_ref() {
            "SparkListenerTaskEnd" => self.task_end(line),
            "SparkListenerTaskStart" => self.task_start(line),
            "SparkListenerStageSubmitted" => self.stage(line, false),
            "SparkListenerStageCompleted" => self.stage(line, true),
            "SparkListenerJobStart" => self.job_start(line),
            "SparkListenerJobEnd" => self.job_end(line),
            "SparkListenerSQLExecutionStart" => self.execution_start(line),
            "SparkListenerSQLAdaptiveExecutionUpdate" => self.plan_update(line),
            "SparkListenerSQLExecutionEnd" => self.execution_end(line),
            "SparkListenerDriverAccumUpdates" => self.driver_metrics(line),
            "SparkListenerExecutorAdded" => self.executor_added(line),
            "SparkListenerExecutorRemoved" => self.executor_removed(line),
            "SparkListenerBlockManagerAdded" => self.block_manager_added(line),
            "SparkListenerStageExecutorMetrics" => self.stage_executor_metrics(line),
            "SparkListenerLogStart" => self.log_start(line),
            "SparkListenerEnvironmentUpdate" => self.environment(line),
            "SparkListenerApplicationStart" => self.application_start(line),
            "SparkListenerApplicationEnd" => self.application_end(line),
            name if events::IGNORED.contains(&name) => Ok(()),
            name => {
                let name: String = name.chars().take(100).collect();
                *self.run.coverage.unknown_events.entry(name).or_default() += 1;
                Ok(())
            }
        }
    }

    /// Notes a time of the application's own work, if it was recorded.
    fn saw(&mut self, time: Number) -> Option<i64> {
        let time = recorded(time)?;
        self.first_time = Some(self.first_time.map_or(time, |first| first.min(time)));
        self.last_time = Some(self.last_time.map_or(time, |last| last.max(time)));
        Some(time)
    }

    fn task_start(&mut self, line: &[u8]) -> Result<(), BadLine> {
        static LAUNCH: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"Launch Time\":"));
        if let Some(at) = LAUNCH.find(line) {
            let digits = line[at + LAUNCH.needle().len()..].iter().take_while(|byte| byte.is_ascii_digit());
            let time = digits.fold(0i64, |time, digit| time.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
            self.saw(Number(Some(time)));
        }
        Ok(())
    }

    fn task_end(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let end = task_end::scan(line).or_else(|| task_end::parse(line)).ok_or(BadLine)?;
        self.saw(Number(Some(end.finish)));
        let host = self.host(&end.host);
        let executor = self.executor(&end.executor, host);
        let launch = self.launch(end.launch);
        let stage = Self::stage_entry(&mut self.run, end.stage, self.after_hole);
        if let Some((class, message)) = &end.failure {
            note_failure(stage, class, message);
        }
        add_task(stage, &end, launch, executor, host);
        // The stage's own list comes with its completion. Of one that never completes, each doubling brings the totals up to
        // date, and the metrics that the first tasks did not have.
        if stage.completed.is_none() && stage.tasks.len().is_power_of_two() {
            let found = task_end::accumulables(line);
            stage.accumulables.extend(found.iter().map(|(id, _)| id));
            for (id, total) in found {
                self.metric_total(id, total);
            }
        }
        Ok(())
    }

    fn metric_total(&mut self, id: i64, total: Option<i64>) {
        if let Some(total) = total {
            self.run.metric_totals.insert(id, total);
        }
    }

    /// Milliseconds of a launch after `base`, which moves back if a task was launched before it. By an hour at least, so that
    /// launches in falling order do not move all tasks again and again; the end puts the base right.
    fn launch(&mut self, time: i64) -> u32 {
        let base = *self.base.get_or_insert(self.started.or(self.first_time).unwrap_or(time));
        let before = base.saturating_sub(time);
        // Clocks differ by minutes, not by weeks: a launch long before the start is no launch time.
        if time <= 0 || before > i64::from(u32::MAX / 2) {
            return 0;
        }
        self.saw(Number(Some(time)));
        self.earliest = Some(self.earliest.map_or(time, |earliest| earliest.min(time)));
        if before > 0 {
            self.move_base(base - before.max(HOUR));
        }
        clamp_u32(time.saturating_sub(self.base.unwrap_or(time)))
    }

    /// Counts launches from another instant.
    pub(super) fn move_base(&mut self, base: i64) {
        let by = self.base.replace(base).map_or(0, |old| old.saturating_sub(base));
        if by == 0 {
            return;
        }
        for launch in self.run.stages.values_mut().map(|stage| &mut stage.tasks.launch) {
            launch.change(|time| time.saturating_add_signed(by).min(u64::from(u32::MAX)));
        }
    }

    fn stage_entry(run: &mut Run, key: StageKey, after_hole: bool) -> &mut Stage {
        run.stages.entry(key).or_insert_with(|| Stage { partial: after_hole, ..Stage::default() })
    }

    fn host(&mut self, written: &str) -> u16 {
        if let Some(&known) = self.hosts.get(written) {
            return known;
        }
        let name = names::host(written);
        let index = match self.run.hosts.iter().position(|host| *host == name) {
            Some(index) => clamp_index(index),
            None if self.run.hosts.len() > usize::from(u16::MAX) => {
                self.crowded = true;
                return u16::MAX;
            }
            None => {
                self.run.hosts.push(name);
                clamp_index(self.run.hosts.len() - 1)
            }
        };
        self.hosts.insert(written.to_owned(), index);
        index
    }

    /// The executor's index; one that was never announced has no cores and no times.
    fn executor(&mut self, id: &str, host: u16) -> u16 {
        if let Some(&known) = self.executors.get(id) {
            return known;
        }
        if self.run.executors.len() > usize::from(u16::MAX) {
            self.crowded = true;
            return u16::MAX;
        }
        let index = clamp_index(self.run.executors.len());
        let storage_memory = self.storage_memory.get(id).copied();
        self.run.executors.push(Executor { id: id.to_owned(), host, storage_memory, ..Executor::default() });
        self.executors.insert(id.to_owned(), index);
        index
    }

    fn executor_added(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::ExecutorAdded<'_> = read(line)?;
        let id = event.id.0.ok_or(BadLine)?;
        let host = self.host(event.info.host.0.as_deref().unwrap_or(""));
        let index = self.executor(&id, host);
        if let Some(executor) = self.run.executors.get_mut(usize::from(index)) {
            executor.host = host;
            executor.cores = event.info.cores.clamped();
            executor.added = recorded(event.time);
        }
        Ok(())
    }

    fn executor_removed(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::ExecutorRemoved<'_> = read(line)?;
        let id = event.id.0.ok_or(BadLine)?;
        let known = self.executors.get(id.as_ref()).copied();
        if let Some(executor) = known.and_then(|index| self.run.executors.get_mut(usize::from(index))) {
            executor.removed = recorded(event.time);
            executor.removed_reason = event.reason.owned();
        }
        Ok(())
    }

    fn block_manager_added(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::BlockManagerAdded<'_> = read(line)?;
        let (Some(id), Some(bytes)) = (event.id.executor.0, event.memory.0) else { return Ok(()) };
        let known = self.executors.get(id.as_ref()).copied();
        if let Some(executor) = known.and_then(|index| self.run.executors.get_mut(usize::from(index))) {
            executor.storage_memory = Some(clamp_u64(bytes));
        }
        self.storage_memory.insert(id.into_owned(), clamp_u64(bytes));
        Ok(())
    }

    fn stage_executor_metrics(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::StageExecutorMetrics<'_> = read(line)?;
        let attempt = event.attempt.clamped().unwrap_or(0);
        let key = StageKey { stage: event.stage.clamped().ok_or(BadLine)?, attempt };
        let known = event.executor.0.and_then(|id| self.executors.get(id.as_ref()).copied());
        if let (Some(executor), Some(bytes), Some(stage)) =
            (known, event.metrics.and_then(|metrics| metrics.storage()), self.run.stages.get_mut(&key))
        {
            stage.storage_peaks.push(StoragePeak { executor, bytes });
        }
        Ok(())
    }

    fn stage(&mut self, line: &[u8], completed: bool) -> Result<(), BadLine> {
        let event: events::StageEvent<'_> = read(line)?;
        let info = event.info;
        let key =
            StageKey { stage: info.stage.clamped().ok_or(BadLine)?, attempt: info.attempt.clamped().unwrap_or(0) };
        let submitted = self.saw(info.submitted);
        let ended = self.saw(info.completed);
        let plan_metrics: Vec<_> = info.accumulables.iter().filter_map(|one| one.for_plan()).collect();
        let stage = Self::stage_entry(&mut self.run, key, self.after_hole && completed);
        stage.name = info.name.shared(&mut self.texts);
        stage.details = info.details.shared(&mut self.texts);
        stage.task_count = info.tasks.clamped().unwrap_or(0);
        stage.parents = info.parents.iter().filter_map(|id| id.clamped()).collect();
        stage.submitted = submitted.or(stage.submitted);
        if completed {
            stage.completed = ended.or(stage.completed);
            stage.failure = info.failure.owned().map(|reason| first_line(&reason).to_owned());
            // The stage's list holds all that its tasks' lists hold.
            stage.accumulables = plan_metrics.iter().map(|(id, _)| *id).collect();
        }
        if stage.rdds.is_empty() {
            stage.rdds = info.rdds.into_iter().map(|one| rdd(one, &mut self.texts)).collect();
            stage.rdds.shrink_to_fit();
        }
        if let Some(site) = event.properties.and_then(|properties| properties.call_site.owned()) {
            stage.call_site = Some(site);
        }
        for (id, total) in plan_metrics {
            self.metric_total(id, total);
        }
        Ok(())
    }

    fn job_start(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::JobStart<'_> = read(line)?;
        let submitted = self.saw(event.time);
        let properties = event.properties.unwrap_or_default();
        let job = Job {
            submitted,
            stages: event.stages.iter().filter_map(|id| id.clamped()).collect(),
            execution: properties.execution.0,
            call_site: properties.call_site.owned(),
            call_stack: properties.call_stack.owned(),
            description: properties.description.owned(),
            group: properties.group.owned(),
            ..Job::default()
        };
        self.run.jobs.insert(event.job.clamped().ok_or(BadLine)?, job);
        Ok(())
    }

    fn job_end(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::JobEnd<'_> = read(line)?;
        let completed = self.saw(event.time);
        let job = self.run.jobs.entry(event.job.clamped().ok_or(BadLine)?).or_default();
        job.completed = completed;
        job.failure = event.result.filter(|result| result.result.0.as_deref() == Some("JobFailed")).map(|result| {
            let message = result.exception.and_then(|exception| exception.message.0).unwrap_or_default();
            first_line(&message).to_owned()
        });
        Ok(())
    }

    fn execution_start(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::ExecutionStart<'_> = read(line)?;
        let start = self.saw(event.time);
        let id = event.execution.0.ok_or(BadLine)?;
        let configs = event.modified_configs.unwrap_or_default().into_iter();
        let execution = SqlExecution {
            root: event.root.0,
            description: event.description.or_empty(),
            details: event.details.shared(&mut self.texts),
            start: start.unwrap_or(0),
            modified_configs: configs.filter_map(|(key, value)| redacted(key, value.owned()?)).collect(),
            ..SqlExecution::default()
        };
        self.run.executions.insert(id, execution);
        self.plans.keep(id, line);
        Ok(())
    }

    fn plan_update(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let key: &[u8] = b"\"executionId\":";
        let at = memchr::memmem::find(line, key).ok_or(BadLine)?;
        let id = std::str::from_utf8(&line[at + key.len()..])
            .ok()
            .and_then(|rest| serde_json::Deserializer::from_str(rest).into_iter::<Number>().next()?.ok()?.0)
            .or_else(|| read::<events::ExecutionId>(line).ok()?.execution.0)
            .ok_or(BadLine)?;
        self.run.executions.entry(id).or_default();
        self.plans.keep(id, line);
        Ok(())
    }

    pub(super) fn parse_plan(&mut self, id: i64) {
        if let Some(plan) = self.plans.take(id, &mut self.texts)
            && let Some(execution) = self.run.executions.get_mut(&id)
        {
            execution.plan = plan;
        }
    }

    fn execution_end(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::ExecutionEnd<'_> = read(line)?;
        let end = self.saw(event.time);
        let id = event.execution.0.ok_or(BadLine)?;
        let execution = self.run.executions.entry(id).or_default();
        execution.end = end;
        execution.error = event.error.0.map(|text| first_line(&text).to_owned()).filter(|text| !text.is_empty());
        self.parse_plan(id);
        Ok(())
    }

    fn driver_metrics(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::DriverAccumUpdates = read(line)?;
        let execution = self.run.executions.entry(event.execution.0.ok_or(BadLine)?).or_default();
        for update in event.updates {
            if let [Number(Some(id)), Number(Some(value))] = update.as_slice() {
                execution.driver_metrics.insert(*id, *value);
            }
        }
        Ok(())
    }

    fn log_start(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::LogStart<'_> = read(line)?;
        self.attempts.log_started(self.run.executors.len());
        self.run.application.version = event.version.0.and_then(|text| text.parse().ok());
        Ok(())
    }

    fn environment(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::EnvironmentUpdate<'_> = read(line)?;
        let settings = event.spark.into_iter();
        self.run.conf.extend(settings.filter_map(|(key, value)| redacted(key, value.owned()?)));
        if let Some(command) = event.system.command.0 {
            self.run.application.command = Some(names::redact_command(&command));
        }
        let version = &mut self.run.application.version;
        *version = version.or_else(|| attempts::version_of_jars(line));
        Ok(())
    }

    fn application_start(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::ApplicationStart<'_> = read(line)?;
        let identity = (event.id.0.as_deref(), event.attempt.0.as_deref(), event.time.0);
        if let Some(kept) = self.attempts.application_started(identity) {
            self.restart(kept);
        }
        let time = self.saw(event.time);
        self.started = self.started.or(time);
        let application = &mut self.run.application;
        application.name = event.name.owned();
        application.id = event.id.owned();
        application.attempt = event.attempt.owned();
        application.user = event.user.owned();
        Ok(())
    }

    /// Another attempt of the application begins: only what was announced for it already is kept.
    fn restart(&mut self, first_executor: usize) {
        let old = std::mem::take(self);
        self.attempts = old.attempts;
        self.run.conf = old.run.conf;
        self.run.coverage = old.run.coverage;
        self.storage_memory = old.storage_memory;
        self.run.application.version = old.run.application.version;
        self.run.application.command = old.run.application.command;
        self.after_hole = old.after_hole;
        for executor in old.run.executors.into_iter().skip(first_executor) {
            let host = old.run.hosts.get(usize::from(executor.host)).cloned().unwrap_or_default();
            let host = self.host(&host);
            let index = self.executor(&executor.id, host);
            if let Some(kept) = self.run.executors.get_mut(usize::from(index)) {
                *kept = Executor { host, ..executor };
            }
        }
    }

    fn application_end(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let event: events::Timed = read(line)?;
        self.ended = self.saw(event.time);
        self.end_seen = true;
        Ok(())
    }

    /// Events are missing at this place: open stages may have lost tasks.
    pub(super) fn hole(&mut self) {
        self.after_hole = true;
        for stage in self.run.stages.values_mut().filter(|stage| stage.completed.is_none()) {
            stage.partial = true;
        }
    }
}

/// A time; 0 and less stand for one that was not recorded.
fn recorded(time: Number) -> Option<i64> {
    time.0.filter(|&time| time > 0)
}

/// The event's name without its package.
fn event_name(line: &[u8]) -> Result<std::borrow::Cow<'_, str>, BadLine> {
    use std::borrow::Cow;
    let written = line.strip_prefix(b"{\"Event\":\"").and_then(|rest| {
        let end = memchr::memchr2(b'"', b'\\', rest)?;
        (rest[end] == b'"').then_some(())?;
        std::str::from_utf8(&rest[..end]).ok()
    });
    let name = match written {
        Some(name) => Cow::Borrowed(name),
        None => read::<events::Named<'_>>(line)?.event,
    };
    Ok(match name {
        Cow::Borrowed(name) => Cow::Borrowed(without_package(name)),
        Cow::Owned(name) => Cow::Owned(without_package(&name).to_owned()),
    })
}

fn without_package(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, name)| name)
}

fn read<'a, T: serde::Deserialize<'a>>(line: &'a [u8]) -> Result<T, BadLine> {
    serde_json::from_slice(line).map_err(|_| BadLine)
}

fn redacted(key: String, value: String) -> Option<(String, String)> {
    let value = names::redact(&key, value);
    Some((key, value))
}

fn clamp_index(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

fn rdd(info: events::RddInfo<'_>, texts: &mut SharedTexts) -> Rdd {
    let scope = info.scope.0.and_then(|json| serde_json::from_str::<events::Scope>(&json).ok());
    Rdd {
        name: info.name.shared(texts),
        call_site: info.call_site.shared(texts),
        scope: scope.map(|scope| scope.name),
        partitions: info.partitions.clamped().unwrap_or(0),
    }
}

fn note_failure(stage: &mut Stage, class: &str, message: &str) {
    if let Some(known) = stage.failures.iter_mut().find(|known| known.class == class && known.message == message) {
        known.tasks += 1;
    } else if stage.failures.len() < Stage::MAX_FAILURES {
        stage.failures.push(TaskFailure { class: class.to_owned(), message: message.to_owned(), tasks: 1 });
    }
}

fn add_task(stage: &mut Stage, end: &TaskEnd<'_>, launch: u32, executor: u16, host: u16) {
    let metrics = end.metrics.unwrap_or_default();
    let duration = if end.finish == 0 { metrics.run_time } else { clamp_u32(end.finish.saturating_sub(end.launch)) };
    let shuffle_read = metrics.remote_read.saturating_add(metrics.local_read);
    if metrics.missing != 0 {
        let lacking = (0..FIELDS.len()).filter(|bit| metrics.missing & (1 << bit) != 0);
        stage.tasks.not_recorded.extend(lacking.map(|bit| FIELDS[bit]));
    }
    if stage.tasks.is_empty() {
        stage.tasks.reserve(usize::try_from(stage.task_count).unwrap_or(0).min(RESERVED_TASKS));
    }
    stage.tasks.push(Task {
        index: end.index,
        launch,
        duration,
        executor,
        host,
        flags: TaskFlags {
            outcome: end.outcome,
            speculative: end.speculative,
            metrics: end.metrics.is_some(),
            locality: end.locality,
        },
        run_time: metrics.run_time,
        gc_time: metrics.gc_time,
        deserialize_time: metrics.deserialize_time,
        fetch_wait: metrics.fetch_wait,
        read_bytes: metrics.input_bytes.saturating_add(shuffle_read),
        shuffle_read_bytes: shuffle_read,
        read_records: metrics.input_records.saturating_add(metrics.shuffle_records),
        shuffle_write_bytes: metrics.shuffle_write,
        spill_disk: metrics.spill_disk,
        spill_memory: metrics.spill_memory,
        result_bytes: metrics.result_bytes,
        output_bytes: metrics.output_bytes,
    });
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
