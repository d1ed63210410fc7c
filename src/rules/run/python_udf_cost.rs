//! What Python functions cost.

use super::in_force::in_force;
use super::stage_plan::StagePlan;
use super::view::StageView;
use super::words::{bytes, duration, percent};
use super::{on_stage, per_stage};
use crate::declare_rule;
use crate::rules::{RunContext, State, Verdict};
use crate::run::Run;
use crate::run::model::PlanNode;

declare_rule! {
    /// A stage sends its rows through a Python function.
    ///
    /// ## Why
    /// A Python UDF takes every row out of the JVM, to a Python process, and back. A built-in function does neither; a pandas
    /// UDF, or a UDF with Arrow, moves whole batches. The plan tells which stages do that, and from Spark 4.0 on how long
    /// the Python workers ran. For older versions the time of the whole stage is shown, as the most that it can be. The
    /// finding stands in reports and hovers; a line is never painted for it, since a function may have no built-in twin.
    ///
    /// ## Silent when
    /// The stage has no `BatchEvalPython` or `ArrowEvalPython`, or is shorter than 0.5 % of the run.
    ///
    /// ## Example
    /// ```text
    /// the Python UDF shout ran 21.4 s in Python workers, 83 % of the stage's run time
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// words.select(F.upper("word"))
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/user_guide/sql/arrow_pandas.html>
    pub PYTHON_UDF_COST = {
        name: "python-udf-cost", group: Run, severity: Information, confidence: Experimental,
        since: "0.1.0",
        check: Run(check),
    }
}

fn check(context: &RunContext<'_>) -> Vec<Verdict> {
    per_stage(context, |view| {
        if let Some(state) = view.skipped(&context.floors) {
            return Err(state);
        }
        let plan = view.plan();
        let nodes: Vec<&PlanNode> = plan.nodes.iter().copied().filter(|node| evaluates(node)).collect();
        if nodes.is_empty() {
            return Err(State::NotFired);
        }
        Ok(describe(context, view, plan, &nodes))
    })
}

fn evaluates(node: &PlanNode) -> bool {
    node.name.starts_with("BatchEvalPython") || node.name.starts_with("ArrowEvalPython")
}

/// The functions of `BatchEvalPython [score(id#0L)#12, other(x#1)#13], [pythonUDF0#15, …]`.
fn functions(node: &PlanNode) -> Vec<String> {
    let list = node.text.split_once('[').map_or("", |(_, rest)| rest.split("], [").next().unwrap_or(rest));
    let mut names: Vec<String> = Vec::new();
    let mut depth = 0usize;
    let mut word = String::new();
    for sign in list.chars() {
        match sign {
            '(' if depth == 0 => {
                names.push(std::mem::take(&mut word));
                depth = 1;
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => word.clear(),
            _ if depth == 0 => word.push(sign),
            _ => {}
        }
    }
    names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

fn describe(context: &RunContext<'_>, view: &StageView<'_>, plan: &StagePlan<'_>, nodes: &[&PlanNode]) -> Verdict {
    let run = context.run;
    let metric = |name: &str| {
        let execution = run.executions.get(&plan.execution?)?;
        nodes
            .iter()
            .map(|node| execution.node_metric(run, node, name))
            .sum::<Option<i64>>()
            .map(|sum| sum.max(0) as f64)
    };
    let run_ms = view.sum(&view.tasks().run_time).filter(|&ms| ms > 0.0).unwrap_or(view.task_ms()).max(1.0);
    let python_ms = metric("time to run Python workers").map(|ms| ms.min(run_ms));
    let share = python_ms.map_or(1.0, |ms| ms / run_ms);
    let tasks = view.tasks();
    let saved = view.saved_seconds(|row| tasks.duration.get(row) as f64 * (1.0 - share));
    let mut verdict = on_stage(context, view, Some(saved));
    verdict.paintable = false;
    let mut names: Vec<String> = nodes.iter().flat_map(|node| functions(node)).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(4);
    let what = match names.as_slice() {
        [] => "a Python UDF".to_owned(),
        [one] => format!("the Python UDF {one}"),
        many => format!("the Python UDFs {}", many.join(", ")),
    };
    verdict.message = match python_ms {
        Some(ms) => {
            format!("{what} ran {} in Python workers, {} of the stage's run time", duration(ms), percent(share))
        }
        None => {
            verdict.paintable = false;
            format!(
                "{what} runs in a stage of {} of task time; how much of it is Python is not recorded",
                duration(run_ms)
            )
        }
    };
    verdict.short = match python_ms {
        Some(_) => format!("{} in Python", percent(share)),
        None => format!("Python UDF · {} of task time", duration(run_ms)),
    };
    let kinds: Vec<&str> = nodes.iter().map(|node| node.name.split(' ').next().unwrap_or_default()).collect();
    verdict.prove("plan", kinds.join(", "), Some("BatchEvalPython or ArrowEvalPython".to_owned()), None);
    verdict.prove(
        "time in Python workers",
        python_ms.map_or("not recorded (from Spark 4.0 on)".to_owned(), duration),
        None,
        None,
    );
    verdict.prove("run time of the stage", duration(run_ms), None, None);
    for name in ["data sent to Python workers", "data returned from Python workers"] {
        if let Some(size) = metric(name) {
            verdict.prove(name, bytes(size), None, None);
        }
    }
    verdict.advice = advise(run, plan.execution, nodes);
    verdict
}

fn advise(run: &Run, execution: Option<i64>, nodes: &[&PlanNode]) -> Vec<String> {
    let mut advice = vec!["Use a built-in function where there is one: its rows do not leave the JVM".to_owned()];
    let row_by_row = nodes.iter().any(|node| node.name.starts_with("BatchEvalPython"));
    if row_by_row {
        let key = "spark.sql.execution.pythonUDF.arrow.enabled";
        match in_force(run, execution, key) {
            Some(now) if now.boolean() == Some(false) => advice.push(format!(
                "Set {key}=true (now false, {}), or make it a pandas UDF: rows then go to Python in batches",
                now.origin
            )),
            _ => advice.push("Make it a pandas UDF: rows then go to Python in batches".to_owned()),
        }
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_names_the_functions() {
        let named = |text: &str| functions(&PlanNode { text: text.to_owned(), ..PlanNode::default() });
        assert_eq!(named("BatchEvalPython [score(id#0L)#12], [pythonUDF0#15]"), ["score"]);
        assert_eq!(
            named("ArrowEvalPython [a(upper(x#1, 2))#3, <lambda>(y#2)#4], [p0#5, p1#6], 101"),
            ["a", "<lambda>"]
        );
        assert_eq!(named("BatchEvalPython"), Vec::<String>::new());
    }
}
