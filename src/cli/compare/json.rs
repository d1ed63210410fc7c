//! The comparison as JSON: one object, `version` 1. Fields are only ever added.

use serde_json::{Value, json};

use super::words::judgement;
use super::{Compared, Page};
use crate::cli::conf::upgrade::{change_json, default_json};
use crate::cli::logs::ReadRun;
use crate::compare::{
    ActionChange, ActionFigures, ActionId, Adaptive, Budget, BudgetResult, BudgetState, Figures, Held, Outcome,
    PairedBy, PlanChange, RunFigures, SettingChange, StageChange, StageFigures, UsedDefault,
};
use crate::conf::upgrade::Upgrade;
use crate::run::model::StageKey;

/// The whole comparison.
pub(super) fn render(page: &Page) -> String {
    let base = page.candidates.first().map(|compared| run(&page.base, &compared.comparison.base));
    let answer = json!({
        "version": 1,
        "base": base,
        "noise": { "share": page.thresholds.noise_share, "ms": page.thresholds.noise_ms },
        "comparisons": page.candidates.iter().map(comparison).collect::<Vec<_>>(),
        "best": page.best,
        "errors": page.errors.iter().map(|message| json!({ "message": message })).collect::<Vec<_>>(),
    });
    format!("{answer:#}\n")
}

fn run(read: &ReadRun, figures: &RunFigures) -> Value {
    let application = &read.run.application;
    json!({
        "source": read.source,
        "id": application.id,
        "attempt": application.attempt,
        "name": application.name,
        "spark_version": application.version.map(|version| version.to_string()),
        "estimated": application.estimated,
        "complete": read.run.coverage.complete,
        "cores": figures.cores,
        "figures": self::figures(&figures.sums),
    })
}

fn figures(figures: &Figures) -> Value {
    json!({
        "wall_ms": figures.wall_ms,
        "tasks": figures.tasks,
        "task_ms": figures.task_ms,
        "input_bytes": figures.input_bytes,
        "read_bytes": figures.read_bytes,
        "input_rows": figures.input_rows,
        "read_rows": figures.read_rows,
        "shuffle_write_bytes": figures.shuffle_write_bytes,
        "spill_bytes": figures.spill_bytes,
        "gc_ms": figures.gc_ms,
        "failed_tasks": figures.failed_tasks,
        "ended_tasks": figures.ended_tasks,
    })
}

fn comparison(compared: &Compared) -> Value {
    let comparison = &compared.comparison;
    let outcome = match comparison.outcome() {
        Outcome::Passed => "passed",
        Outcome::Inconclusive => "inconclusive",
        Outcome::Failed => "failed",
    };
    let times = comparison.base.sums.wall_ms.zip(comparison.candidate.sums.wall_ms);
    json!({
        "candidate": run(&compared.read, &comparison.candidate),
        "verdict": judgement(comparison.judgement),
        "outcome": outcome,
        "sentence": comparison.speed(),
        "gaps": comparison.gaps,
        "time_ratio": times.filter(|(base, _)| *base > 0.0).map(|(base, candidate)| candidate / base),
        "data_ratio": comparison.data,
        "budgets": comparison.budgets.iter().map(budget).collect::<Vec<_>>(),
        "actions": comparison.actions.iter().map(action).collect::<Vec<_>>(),
        "settings": comparison.settings.iter().map(setting).collect::<Vec<_>>(),
        "upgrade": comparison.upgrade.as_ref().map(|found| upgrade(found, &comparison.used_defaults)),
    })
}

fn budget(result: &BudgetResult) -> Value {
    let (name, unit) = match result.budget {
        Budget::Runtime => ("max-runtime", "ms"),
        Budget::Skew => ("max-skew", "ratio"),
        Budget::Spill => ("max-spill", "bytes"),
        Budget::FailedTaskRate => ("max-failed-task-rate", "share"),
        Budget::Regression => ("max-regression", "share"),
    };
    let (state, why) = match &result.state {
        BudgetState::Met => ("met", None),
        BudgetState::Violated => ("violated", None),
        BudgetState::NotEvaluated(why) => ("not evaluated", Some(why)),
    };
    json!({
        "budget": name, "unit": unit, "limit": result.limit, "measured": result.measured,
        "stage": result.stage.map(stage_key), "state": state, "why": why,
    })
}

fn stage_key(key: StageKey) -> Value {
    json!({ "stage": key.stage, "attempt": key.attempt })
}

fn action(change: &ActionChange) -> Value {
    json!({
        "base": change.base.as_ref().map(action_side),
        "candidate": change.candidate.as_ref().map(action_side),
        "stages": change.stages.iter().map(stage).collect::<Vec<_>>(),
        "plan": change.plan.iter().map(plan).collect::<Vec<_>>(),
    })
}

fn action_side(side: &ActionFigures) -> Value {
    let (execution, job) = match side.id {
        ActionId::Execution(id) => (Some(id), None),
        ActionId::Job(id) => (None, Some(id)),
    };
    json!({
        "execution": execution, "job": job, "site": side.site, "failure": side.failure,
        "figures": figures(&side.sums),
    })
}

fn stage(change: &StageChange) -> Value {
    let paired_by = change.paired_by.map(|how| match how {
        PairedBy::Key => "key",
        PairedBy::Structure => "structure",
    });
    json!({
        "base": change.base.as_ref().map(stage_side),
        "candidate": change.candidate.as_ref().map(stage_side),
        "paired_by": paired_by,
    })
}

fn stage_side(side: &StageFigures) -> Value {
    let durations = side
        .durations
        .map(|of| json!({ "min": of.min, "median": of.median, "p75": of.p75, "p95": of.p95, "max": of.max }));
    json!({
        "stage": side.key.stage, "attempt": side.key.attempt, "label": side.label,
        "figures": figures(&side.sums), "duration_ms": durations,
    })
}

fn plan(change: &PlanChange) -> Value {
    match change {
        PlanChange::Join { keys, base, candidate } => {
            json!({ "change": "join", "keys": keys, "base": base, "candidate": candidate })
        }
        PlanChange::Operator { name, base, candidate } => {
            json!({ "change": "operator", "operator": name, "base": base, "candidate": candidate })
        }
        PlanChange::Adaptive { what, base, candidate } => {
            let what = match what {
                Adaptive::Split => "split",
                Adaptive::Merged => "merged",
                Adaptive::Local => "local",
            };
            json!({ "change": "adaptive", "what": what, "base": base, "candidate": candidate })
        }
    }
}

fn setting(change: &SettingChange) -> Value {
    let held = |held: &Held| match held {
        Held::Set(value) => json!({ "state": "set", "value": value }),
        Held::Default(value) => json!({ "state": "default", "value": value }),
        Held::Unset => json!({ "state": "unset", "value": null }),
    };
    json!({
        "key": change.key, "base": held(&change.base), "candidate": held(&change.candidate),
        "executions": change.executions,
    })
}

/// As `sparkls conf --upgrade` writes it.
fn upgrade(upgrade: &Upgrade, used: &[UsedDefault]) -> Value {
    let used = used.iter().map(|used| {
        let mut default = default_json(&used.default);
        default["used_by"] = json!(used.used_by);
        default
    });
    let written = upgrade.written.iter().map(
        |written| json!({ "key": written.key, "changes": written.changes.iter().map(change_json).collect::<Vec<_>>() }),
    );
    json!({
        "from": upgrade.from.to_string(),
        "to": upgrade.to.to_string(),
        "written": written.collect::<Vec<_>>(),
        "relied_on": upgrade.relied_on.iter().map(default_json).collect::<Vec<_>>(),
        "used": used.collect::<Vec<_>>(),
        "others": upgrade.others.iter().map(default_json).collect::<Vec<_>>(),
    })
}
