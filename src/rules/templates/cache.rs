//! A frame kept between its first and its last action, or cut off from its plan.

use super::edits::{indentation, is_name, line_after, lines_before, quick_fix, refactor, session, without_statement};
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Action, CallSite, ScopeId};
use crate::rules::Fix;

/// `name.cache()` before the first action and `name.unpersist()` after the last, where both stand in one block.
pub fn cache_between(text: &str, name: &str, first: &Action, last: &Action) -> Option<Fix> {
    let (from, to) = (first.site.statement, last.site.statement);
    if !is_name(name) {
        return None;
    }
    let mut edits = vec![lines_before(text, from, &[format!("{name}.cache()")])?];
    let leaves = ["return", "raise", "yield"].iter().any(|word| to.of(text).starts_with(word));
    let one_block = indentation(text, from) == indentation(text, to);
    if leaves || !one_block {
        return Some(quick_fix(format!("Cache {name} before its first action"), edits));
    }
    edits.push(line_after(text, to, &format!("{name}.unpersist()"))?);
    Some(quick_fix(format!("Cache {name} before its first action and release it after the last"), edits))
}

/// `name.unpersist()` behind the last action that reads a cached frame, where both stand in one block.
pub fn release_after(text: &str, name: &str, cached: &CallSite, last: &Action) -> Option<Fix> {
    let last = last.site.statement;
    let one_block = indentation(text, cached.statement)? == indentation(text, last)?;
    let leaves = ["return", "raise", "yield"].iter().any(|word| last.of(text).starts_with(word));
    if !is_name(name) || !one_block || leaves {
        return None;
    }
    Some(quick_fix(
        format!("Release {name} after its last action"),
        vec![line_after(text, last, &format!("{name}.unpersist()"))?],
    ))
}

/// `session.sparkContext.setCheckpointDir(...)` in front of a statement that checkpoints.
pub fn checkpoint_directory(plan: &StaticPlan, text: &str, site: &CallSite, scope: ScopeId) -> Option<Fix> {
    let line = format!("{}.sparkContext.setCheckpointDir(\"path/to/checkpoints\")", session(plan, text, scope)?);
    Some(quick_fix(
        "Set the checkpoint directory (fill in its path)",
        vec![lines_before(text, site.statement, &[line])?],
    ))
}

/// The statement of an `unpersist()` moved behind the last action that reads the frame.
pub fn release_behind(text: &str, release: &CallSite, last: &Action) -> Option<Fix> {
    let statement = release.statement.of(text).trim_end();
    let one_block = indentation(text, release.statement)? == indentation(text, last.site.statement)?;
    let leaves = ["return", "raise", "yield"].iter().any(|word| last.site.statement.of(text).starts_with(word));
    if release.statement != release.call || !one_block || leaves {
        return None;
    }
    let edits = vec![without_statement(text, release.statement)?, line_after(text, last.site.statement, statement)?];
    Some(quick_fix("Release it behind the last action that reads it", edits))
}

/// `name = name.localCheckpoint()` behind the statement that gives the name its frame; `None` if it may not stand there.
pub fn checkpoint_after(text: &str, site: &CallSite, has_lines: bool) -> Option<Fix> {
    let name = site.statement.of(text).split_once('=').map(|(name, _)| name.trim()).filter(|name| is_name(name))?;
    let edit = line_after(text, site.statement, &format!("{name} = {name}.localCheckpoint()")).filter(|_| has_lines)?;
    Some(refactor(format!("Cut the plan of {name} in each turn with localCheckpoint()"), vec![edit]))
}
