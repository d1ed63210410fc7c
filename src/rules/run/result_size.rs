//! How much a stage sent to the driver.

use super::in_force::{InForce, in_force};
use super::view::StageView;
use super::words::{bytes, count, percent};
use super::{on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, Severity, State, Verdict};

declare_rule! {
    /// The tasks of a stage sent much to the driver, measured against `spark.driver.maxResultSize`.
    ///
    /// ## Why
    /// `collect()` and `toPandas()` bring every row into the driver's heap. Spark aborts the job when the serialised
    /// results of a stage exceed `spark.driver.maxResultSize`; below that, the driver may still run out of memory.
    ///
    /// ## Silent when
    /// The results are below half of the limit, or there is no limit (0).
    ///
    /// ## Example
    /// ```text
    /// the job was aborted: its results exceed spark.driver.maxResultSize (1 GiB)
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// df.write.parquet(path)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#application-properties>
    pub RESULT_SIZE = {
        name: "result-size", group: Run, severity: Warning, confidence: Measured,
        since: "0.1.0",
        options: [("share", 0.5, "share of spark.driver.maxResultSize that is worth a word")],
        check: Run(check),
    }
}

const KEY: &str = "spark.driver.maxResultSize";

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        let limit = in_force(context.run, view.execution, KEY).ok_or_else(|| {
            State::NotRecorded("Spark version, for its default of spark.driver.maxResultSize".to_owned())
        })?;
        let limit_bytes =
            limit.bytes().ok_or_else(|| State::NotApplicable(format!("{KEY} = {} is not a size", limit.value)))?;
        let tripped = tripped(context, view);
        if limit_bytes <= 0.0 && !tripped {
            return Err(State::NotApplicable(format!("{KEY} is 0: no limit")));
        }
        if !view.stage.tasks.flags.iter().any(|flags| flags.metrics()) && !tripped {
            return Err(view.unjudged(&context.floors).unwrap_or_else(|| State::NotRecorded("Result Size".to_owned())));
        }
        let sent: f64 = view.tasks().result_bytes.iter().map(|bytes| bytes as f64).sum();
        if tripped || sent >= context.option("share") * limit_bytes {
            Ok(describe(context, view, sent, &limit, limit_bytes, tripped))
        } else {
            Err(State::NotFired)
        }
    })
}

/// The stage was aborted because its results were too large.
fn tripped(context: &RunContext<'_>, view: &StageView<'_>) -> bool {
    let says = |reason: &Option<String>| reason.as_ref().is_some_and(|reason| reason.contains(KEY));
    let job_says = || {
        let last = |stages: &[u32]| stages.iter().max() == Some(&view.key.stage);
        context.run.jobs.values().any(|job| says(&job.failure) && last(&job.stages))
    };
    says(&view.stage.failure) || job_says()
}

fn describe(
    context: &RunContext<'_>,
    view: &StageView<'_>,
    sent: f64,
    limit: &InForce,
    limit_bytes: f64,
    tripped: bool,
) -> Verdict {
    let lost_s = if tripped { Some(view.wall_ms / 1000.0) } else { None };
    let mut verdict = on_stage(context, view, lost_s);
    verdict.paintable = true;
    let (sent_text, limit_text) = (bytes(sent), bytes(limit_bytes));
    if tripped {
        verdict.severity = Severity::Error;
        verdict.message = format!(
            "the job was aborted: the results of {} exceed {KEY} ({limit_text}); {sent_text} had arrived",
            count(u64::from(view.stage.task_count), "task")
        );
        verdict.short = format!("aborted over {KEY}");
    } else {
        let share = percent(sent / limit_bytes);
        verdict.message = format!("{sent_text} sent to the driver, {share} of {KEY} ({limit_text})");
        verdict.short = format!("{sent_text} to the driver");
    }
    verdict.prove(
        "sent to the driver",
        sent_text,
        Some(format!(">= {} of {limit_text}", percent(context.option("share")))),
        Some(format!("{KEY}, {}", limit.origin)),
    );
    verdict.advice = vec![
        "Write the rows instead of collecting them, or aggregate and take what you look at".to_owned(),
        "Use toLocalIterator() where the driver must see every row: it holds one partition at a time".to_owned(),
    ];
    verdict
}
