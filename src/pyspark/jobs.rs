//! Settings that the code writes for other jobs: operators of Airflow, clients of clouds, commands, environments.
//!
//! Which dicts, lists and texts those are, the shapes of [`crate::conf::carriers`] decide, as they do for YAML and JSON;
//! here is what they get to see. What the code gives to its own session was read with the session and is not told twice.

mod names;
mod nodes;

use std::sync::OnceLock;

use memchr::memmem::Finder;
use rustc_hash::FxHashSet;

use super::ir::{Expr, ExprId, Stmt, StmtNode};
use super::plan::StaticPlan;
use super::value::Code;
use crate::conf::carriers::{self, Extract, Node};
use crate::conf::{Carrier, Setting};
use crate::text::Span;
use names::Names;
use nodes::Reader;

/// Whether a top-level statement can hold a setting for another job: a byte scan, done once for each statement.
pub(super) fn may_start_jobs(statement: &str) -> bool {
    const MARKS: [&str; 17] = [
        "\"spark.",
        "'spark.",
        "spark:",
        "--conf",
        "--executor-",
        "--driver-",
        "--num-executors",
        "spark-submit",
        "SparkSubmit",
        "SparkSql",
        "Livy",
        "sparkSubmit",
        "spark_python_task",
        "pyspark_",
        "SUBMIT_ARGS",
        "executorMemory",
        "driverMemory",
    ];
    static FINDERS: OnceLock<Vec<Finder<'static>>> = OnceLock::new();
    holds_one(FINDERS.get_or_init(|| MARKS.iter().map(Finder::new).collect()), statement)
}

/// Whether the arguments of a call are worth reading.
fn may_hold_settings(call: &str) -> bool {
    const MARKS: [&str; 4] = ["park", "--", "ivy", "xecutor"];
    static FINDERS: OnceLock<Vec<Finder<'static>>> = OnceLock::new();
    holds_one(FINDERS.get_or_init(|| MARKS.iter().map(Finder::new).collect()), call)
}

fn holds_one(finders: &[Finder<'_>], text: &str) -> bool {
    finders.iter().any(|finder| finder.find(text.as_bytes()).is_some())
}

/// Adds the jobs that the code defines to the plan of what it does itself.
pub(super) fn read(text: &str, tops: &[Code<'_>], plan: &mut StaticPlan) {
    let may_start: Vec<Code<'_>> = tops.iter().copied().filter(|code| code.top.may_start_jobs).collect();
    if may_start.is_empty() {
        return;
    }
    let names = Names::of(text, tops);
    let reader = Reader::new(text, &names);
    // Calls first: they tell what a dict with a name of its own is for.
    let mut found: Vec<Node<'_>> = may_start.iter().flat_map(|code| calls(&reader, *code)).collect();
    for code in may_start {
        found.extend(literals(&reader, code));
        assignments(&reader, code, &code.top.body, &mut found);
        for function in &code.top.functions {
            assignments(&reader, code, &function.body, &mut found);
        }
        for class in &code.top.classes {
            assignments(&reader, code, &class.body, &mut found);
        }
    }
    let found = others(plan, carriers::extract_nodes(text, &found));
    plan.add(found);
}

/// The outermost calls with something to read in their arguments.
fn calls<'a>(reader: &Reader<'a, '_>, code: Code<'a>) -> Vec<Node<'a>> {
    let mut found = Vec::new();
    outermost(code, |id| {
        let Expr::Call { function, arguments, .. } = &code.top.expr(id).expr else { return None };
        let callee = code.top.expr(*function);
        let name = if let Expr::Attribute { name, .. } = callee.expr { name } else { callee.span };
        let is_read = may_hold_settings(reader.str(code, name.cover(*arguments)));
        if is_read {
            found.push(reader.node(code, id));
        }
        Some(*arguments)
    });
    found
}

/// The outermost dicts and lists that are no arguments, and neither compared nor looked up in.
fn literals<'a>(reader: &Reader<'a, '_>, code: Code<'a>) -> Vec<Node<'a>> {
    let mut found = Vec::new();
    let mut looked_up: FxHashSet<ExprId> = FxHashSet::default();
    outermost(code, |id| {
        let node = code.top.expr(id);
        match &node.expr {
            Expr::Call { arguments, .. } => return Some(*arguments),
            Expr::Compare { operands, .. } => looked_up.extend(operands.iter()),
            Expr::Attribute { object, .. } | Expr::Subscript { object, .. } => {
                looked_up.insert(*object);
            }
            Expr::Dict(_) | Expr::List(_) => {
                if !looked_up.contains(&id) && may_hold_settings(reader.str(code, node.span)) {
                    found.push(reader.node(code, id));
                }
                return Some(node.span);
            }
            _ => {}
        }
        None
    });
    found
}

/// Visits expressions from the last to the first, each before its parts; what lies in a place that `visit` answers is left
/// out.
fn outermost(code: Code<'_>, mut visit: impl FnMut(ExprId) -> Option<Span>) {
    let mut done: Option<Span> = None;
    for (index, node) in code.top.exprs.iter().enumerate().rev() {
        if done.is_some_and(|done| done.contains(node.span)) {
            continue;
        }
        done = visit(ExprId(index as u32)).or(done);
    }
}

/// Texts that get a name, and elements that get a value: `os.environ["PYSPARK_SUBMIT_ARGS"] = "…"`.
fn assignments<'a>(reader: &Reader<'a, '_>, code: Code<'a>, block: &'a [StmtNode], found: &mut Vec<Node<'a>>) {
    for node in block {
        match &node.stmt {
            Stmt::Assign { targets, value: Some(value), .. } => {
                if let [target] = targets[..]
                    && may_hold_settings(reader.str(code, node.span))
                {
                    found.extend(reader.assigned(code, target, *value, node.span));
                }
            }
            Stmt::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| assignments(reader, code, body, found));
                otherwise.iter().for_each(|body| assignments(reader, code, body, found));
            }
            Stmt::For { body, otherwise, .. } | Stmt::While { body, otherwise, .. } => {
                [body, otherwise].into_iter().for_each(|body| assignments(reader, code, body, found));
            }
            Stmt::Try { body, handlers, otherwise, finally } => {
                let blocks = [body, otherwise, finally].into_iter().chain(handlers);
                blocks.for_each(|body| assignments(reader, code, body, found));
            }
            Stmt::With { body, .. } | Stmt::Broken(body) => assignments(reader, code, body, found),
            Stmt::Match { cases, .. } => cases.iter().for_each(|case| assignments(reader, code, &case.body, found)),
            _ => {}
        }
    }
}

/// What was found, without what the code gives to its own session and without what only tells of settings.
fn others(plan: &StaticPlan, extract: Extract) -> Extract {
    let mut of_jobs = vec![false; extract.settings.len()];
    extract.submits.iter().flat_map(|submit| &submit.settings).for_each(|index| of_jobs[*index] = true);
    let mut own: Vec<Span> = plan.settings.iter().map(|setting| setting.key_span).collect();
    own.sort_unstable();
    let is_own = |setting: &Setting| {
        let behind = own.partition_point(|own| own.start <= setting.key_span.start);
        behind.checked_sub(1).is_some_and(|at| own[at].contains(setting.key_span))
    };
    let settings = extract.settings.iter().zip(&of_jobs);
    let mut is_kept: Vec<bool> =
        settings.map(|(setting, of_job)| !is_own(setting) && (*of_job || setting.key.starts_with("spark."))).collect();
    for group in &extract.groups {
        if group.iter().any(|index| is_told_of(&extract.settings[*index])) {
            group.iter().for_each(|index| is_kept[*index] = false);
        }
    }
    extract.retain(&is_kept)
}

/// Whether a dict that maps keys of Spark to something tells of settings instead of making them: other names for them, or
/// sentences about them.
fn is_told_of(setting: &Setting) -> bool {
    let value = setting.value.literal().unwrap_or_default();
    let takes_sentences = ["ptions", "ommand", "name", "description"].iter().any(|end| setting.key.ends_with(end));
    let is_sentence = value.split_whitespace().count() > 3 && !takes_sentences;
    setting.carrier == Carrier::Job && (value.starts_with("spark.") || is_sentence)
}
