//! What an action runs: everything before it that had never run, up to where rows are kept.

use crate::pyspark::StaticPlan;
use crate::pyspark::api::Shuffle;
use crate::pyspark::plan::{Action, ActionKind, CallSite, Literal, Node, NodeId, Operator, Source};

/// Operators named one by one; more are counted.
const SHOWN: usize = 12;
/// Earlier actions that are named; more say nothing new.
const EARLIER: usize = 3;

/// The operators that run, and the caches on the way.
#[derive(Default)]
struct Walk<'a> {
    run: Vec<NodeId>,
    /// Calls that keep rows, with the action that filled them; checkpoints fill themselves.
    kept: Vec<(&'a CallSite, Option<&'a Action>)>,
    /// Caches that this action fills.
    fills: Vec<&'a CallSite>,
}

/// What an action runs, in Markdown: every operator since rows were last kept, in the order of the source, with the shuffles
/// that cut them into stages; and what of it an earlier action had computed. `line` names an offset's line.
pub(super) fn attribution(
    plan: &StaticPlan,
    text: &str,
    line: impl Fn(u32) -> String,
    action: &Action,
) -> Option<String> {
    let walk = walk(plan, action, action.input?);
    let mut steps: Vec<(&Node, &CallSite)> =
        walk.run.iter().filter_map(|id| Some((plan.node(*id), plan.node(*id).site.as_ref()?))).collect();
    steps.sort_by_key(|(_, site)| site.method.start);
    steps.dedup_by_key(|(_, site)| site.method);
    if steps.is_empty() && walk.kept.is_empty() {
        return None;
    }
    let at = |site: &CallSite| format!("`{}` in {}", site.method.of(text), line(site.method.start));
    let shuffles = steps.iter().filter(|(node, _)| boundary(plan, text, node).is_some_and(|(_, cuts)| cuts)).count();
    let since = if walk.kept.is_empty() { "from the sources on" } else { "since rows were kept" };
    let mut lines = vec![format!(
        "`{}` runs what has not run before, {since}: {}, {}",
        action.method,
        count(steps.len(), "operation"),
        count(shuffles, "shuffle"),
    )];
    for (node, site) in steps.iter().take(SHOWN) {
        let note = boundary(plan, text, node).map(|(note, _)| format!(" — {note}")).unwrap_or_default();
        lines.push(format!("- {}: `{}`{note}", line(site.method.start), name(node, site, text)));
    }
    if steps.len() > SHOWN {
        lines.push(format!("- and {} more", steps.len() - SHOWN));
    }
    let mut before: Vec<String> = Vec::new();
    for (site, filler) in &walk.kept {
        let by = filler.map(|filler| format!(", filled by {}", at(&filler.site))).unwrap_or_default();
        before.push(format!("- {} keeps its rows{by}", at(site)));
    }
    for earlier in earlier(plan, action).filter(|earlier| earlier.scope == action.scope).take(EARLIER) {
        let computed = earlier.input.map(|input| plan.upstream(input)).unwrap_or_default();
        let again = walk.run.iter().filter(|id| computed.contains(id) && plan.node(**id).site.is_some()).count();
        if again > 0 {
            before.push(format!("- {} ran {again} of these operations; nothing kept their rows", at(&earlier.site)));
        }
    }
    before.extend(walk.fills.iter().map(|site| format!("- {} keeps its rows from here on", at(site))));
    if !before.is_empty() {
        lines.push("\nComputed before".to_owned());
        lines.extend(before);
    }
    Some(lines.join("\n"))
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Actions that surely ran before this one, and computed whole frames.
fn earlier<'a>(plan: &'a StaticPlan, action: &'a Action) -> impl Iterator<Item = &'a Action> {
    plan.actions.iter().filter(|other| {
        let is_whole =
            !matches!(other.kind, ActionKind::Take(_) | ActionKind::Show | ActionKind::IsEmpty | ActionKind::Other(_));
        is_whole && !other.conditional && other.site.method.start < action.site.method.start
    })
}

/// Upstream from a frame to where rows are kept when the action starts.
fn walk<'a>(plan: &'a StaticPlan, action: &'a Action, from: NodeId) -> Walk<'a> {
    let mut walk = Walk::default();
    let mut seen = vec![false; plan.nodes.len()];
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(id) = queue.pop_front() {
        let Some(seen) = seen.get_mut(id.0 as usize).filter(|seen| !**seen) else { continue };
        *seen = true;
        let node = plan.node(id);
        if node.operator == Operator::Checkpoint {
            walk.kept.extend(node.site.as_ref().map(|site| (site, None)));
            continue;
        }
        if let Some(site) = cache_of(plan, id).filter(|site| site.method.start < action.site.method.start) {
            if let Some(filler) = filler(plan, action, id, site) {
                if !walk.kept.iter().any(|(known, _)| known.call == site.call) {
                    walk.kept.push((site, Some(filler)));
                }
                continue;
            }
            if !walk.fills.iter().any(|known| known.call == site.call) && !is_released(plan, id, site, action) {
                walk.fills.push(site);
            }
        }
        // Keeping rows is no work of its own.
        if node.operator != Operator::Cache {
            walk.run.push(id);
        }
        queue.extend(node.inputs.iter().copied());
    }
    walk
}

/// The call that caches a frame: its own, or a later one on it.
fn cache_of(plan: &StaticPlan, id: NodeId) -> Option<&CallSite> {
    let node = plan.node(id);
    if node.operator == Operator::Cache {
        return node.site.as_ref();
    }
    let on_it = |other: &&Node| other.operator == Operator::Cache && other.inputs.contains(&id);
    plan.nodes.iter().filter(|_| node.cached).find(on_it).and_then(|node| node.site.as_ref())
}

/// The action between the call that caches a frame and this one that filled the cache, if nobody released it since.
fn filler<'a>(plan: &'a StaticPlan, action: &'a Action, id: NodeId, cache: &CallSite) -> Option<&'a Action> {
    let computes = |other: &&Action| other.input.is_some_and(|input| plan.upstream(input).contains(&id));
    let found = earlier(plan, action).filter(|other| other.site.method.start > cache.method.start).find(computes)?;
    (!is_released(plan, id, &found.site, action)).then_some(found)
}

/// Whether a frame is released between a call and an action.
fn is_released(plan: &StaticPlan, id: NodeId, from: &CallSite, action: &Action) -> bool {
    plan.unpersists.iter().any(|(released, site)| {
        let is_this = *released == id || plan.node(*released).inputs.contains(&id) && plan.node(id).cached;
        is_this && (from.method.start..action.site.method.start).contains(&site.method.start)
    })
}

/// The method as written; for a read, with its format.
fn name(node: &Node, site: &CallSite, text: &str) -> String {
    let method = site.method.of(text);
    match &node.operator {
        Operator::Source(Source::Read { format: Some(format), .. }) if method != format => {
            format!("{method} ({format})")
        }
        _ => method.to_owned(),
    }
}

/// What is to be said of an operator, and whether rows move between executors for it, so that a stage ends.
fn boundary(plan: &StaticPlan, text: &str, node: &Node) -> Option<(&'static str, bool)> {
    let is_broadcast = |id: &NodeId| plan.node(*id).operator == Operator::Hint("broadcast".to_owned());
    match &node.operator {
        Operator::Join(_) if node.inputs.iter().any(is_broadcast) => Some(("one side is broadcast: no shuffle", false)),
        Operator::Join(_) => Some(("shuffle of both sides, unless one is broadcast", true)),
        Operator::Aggregate { grouped: true, .. } | Operator::Distinct | Operator::Window => Some(("shuffle", true)),
        Operator::Repartition { .. } => Some(("shuffle", true)),
        Operator::Sort { global: true } => Some(("shuffle by ranges", true)),
        Operator::Source(source) if infers_schema(source) => {
            Some(("its schema took a job of its own, when this line ran", false))
        }
        Operator::Udf | Operator::Rdd | Operator::Other(_) => {
            match node.site.as_ref().and_then(|site| site.entry(text)?.shuffle)? {
                Shuffle::Always => Some(("shuffle", true)),
                Shuffle::UnlessByKeys => Some(("shuffle, unless the rows lie by its keys", true)),
                Shuffle::UnlessSmallSide => Some(("shuffle of both sides, unless one is broadcast", true)),
                Shuffle::Never | Shuffle::ToOne | Shuffle::IfAsked => None,
            }
        }
        _ => None,
    }
}

/// Whether reading runs at once: Spark looks at the rows for their types.
fn infers_schema(source: &Source) -> bool {
    let Source::Read { format: Some(format), options, has_schema: false, streaming: false, .. } = source else {
        return false;
    };
    let is_asked = |(name, value): &(String, Literal)| {
        let is_true = match value {
            Literal::Bool(value) => *value,
            Literal::Text(value) => value.eq_ignore_ascii_case("true"),
            _ => false,
        };
        name == "inferschema" && is_true
    };
    format == "json" || format == "csv" && options.iter().any(is_asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pyspark::PythonFile;

    /// What the last action of a file runs; line 1 is the first of `code`.
    fn told(code: &str) -> String {
        let text: std::sync::Arc<str> = format!("from pyspark.sql import SparkSession, functions as F\n{code}").into();
        let plan = PythonFile::parse(&text).plan().clone();
        let line = |offset: u32| format!("line {}", text[..offset as usize].matches('\n').count());
        attribution(&plan, &text, line, plan.actions.last().expect("there is an action")).unwrap_or_default()
    }

    #[test]
    fn an_action_runs_everything_since_the_sources() {
        let told =
            told("a = spark.read.json('a')\nb = a.groupBy('k').count()\nb.join(F.broadcast(a), 'k').collect()\n");
        assert!(
            told.starts_with("`collect` runs what has not run before, from the sources on: 4 operations, 1 shuffle"),
            "{told}"
        );
        assert!(told.contains("- line 1: `json` — its schema took a job"), "{told}");
        assert!(told.contains("- line 2: `count` — shuffle"), "{told}");
        assert!(told.contains("- line 3: `join` — one side is broadcast"), "{told}");
        assert!(!told.contains("Computed before"), "{told}");
    }

    #[test]
    fn an_earlier_action_keeps_nothing_by_itself() {
        let told = told("a = spark.table('a').distinct()\na.count()\na.write.parquet('b')\n");
        assert!(told.contains("2 operations, 1 shuffle"), "{told}");
        assert!(told.contains("- `count` in line 2 ran 2 of these operations; nothing kept their rows"), "{told}");
    }

    #[test]
    fn the_first_action_fills_a_cache_and_the_next_reads_it() {
        let first = told("a = spark.table('a').distinct().cache()\na.count()\n");
        assert!(first.contains("from the sources on: 2 operations"), "{first}");
        assert!(first.contains("- `cache` in line 1 keeps its rows from here on"), "{first}");
        let next = told("a = spark.table('a').distinct().cache()\na.count()\na.filter('x').write.parquet('b')\n");
        assert!(next.contains("since rows were kept: 1 operation, 0 shuffles"), "{next}");
        assert!(next.contains("- `cache` in line 1 keeps its rows, filled by `count` in line 2"), "{next}");
    }

    #[test]
    fn what_was_released_is_computed_again() {
        let told = told("a = spark.table('a').distinct()\na.cache()\na.count()\na.unpersist()\na.write.parquet('b')\n");
        assert!(told.contains("from the sources on: 2 operations"), "{told}");
        assert!(told.contains("- `count` in line 3 ran 2 of these operations"), "{told}");
    }

    #[test]
    fn a_checkpoint_keeps_its_rows_at_once() {
        let told = told("a = spark.table('a').distinct().localCheckpoint()\na.write.parquet('b')\n");
        assert!(told.contains("- `localCheckpoint` in line 1 keeps its rows"), "{told}");
    }
}
