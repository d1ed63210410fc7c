//! Walks over the operators that a frame is computed from.

use rustc_hash::FxHashSet;

use crate::pyspark::api::Rows;
use crate::pyspark::plan::{Action, Binding, FunctionCall, Literal, Node, NodeId, Operator, Source};
use crate::pyspark::{StaticPlan, sql_lookup};

/// The operators that run again each time a frame is computed: upstream to the nearest cached ones, nearest first.
pub(super) fn recomputed(plan: &StaticPlan, from: NodeId) -> Vec<NodeId> {
    let mut seen = FxHashSet::default();
    let mut found = vec![from];
    let mut next = 0;
    found.retain(|&id| !is_kept(plan.node(id)) && seen.insert(id));
    while let Some(&id) = found.get(next) {
        next += 1;
        for &input in &plan.node(id).inputs {
            if !is_kept(plan.node(input)) && seen.insert(input) {
                found.push(input);
            }
        }
    }
    found
}

fn is_kept(node: &Node) -> bool {
    node.cached || matches!(node.operator, Operator::Cache | Operator::Checkpoint)
}

/// What is costly in computing one operator again, in the words of a message.
pub(super) fn costly(node: &Node) -> Option<&'static str> {
    match &node.operator {
        Operator::Join(_) => Some("join"),
        Operator::Aggregate { .. } => Some("aggregation"),
        Operator::Distinct => Some("deduplication"),
        Operator::Window => Some("window"),
        Operator::Sort { global: true } => Some("sort"),
        Operator::Repartition { .. } => Some("repartitioning"),
        Operator::Udf => Some("Python function"),
        Operator::Source(Source::Read { format: Some(format), .. }) if format == "jdbc" => Some("JDBC read"),
        Operator::Source(Source::Sql { text: Literal::Text(text), .. }) if shuffles(text) => Some("query"),
        _ => None,
    }
}

/// Whether a SQL text joins, groups, sorts or numbers rows.
fn shuffles(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    words.iter().any(|word| ["join", "over", "distinct"].contains(word))
        || words.windows(2).any(|pair| pair[1] == "by" && ["group", "order"].contains(&pair[0]))
}

/// Whether a frame or RDD has a row a group or distinct value, whatever it is computed from.
pub(super) fn is_grouped(plan: &StaticPlan, text: &str, id: NodeId) -> bool {
    let mut at = id;
    for _ in 0..plan.nodes.len() {
        let node = plan.node(at);
        let rows = node.site.as_ref().and_then(|site| site.entry(text)?.rows);
        match node.operator {
            Operator::Aggregate { grouped: true, .. } | Operator::Distinct => return true,
            Operator::Filter { key_equality: true } if node.inputs.iter().any(|&input| is_ranked(plan, input)) => {
                return true;
            }
            Operator::Rdd | Operator::Udf if rows == Some(Rows::Groups) => return true,
            Operator::Rdd | Operator::Udf if rows == Some(Rows::Multiplies) => return false,
            Operator::Filter { .. } | Operator::Project { explodes: false, .. } | Operator::WithColumns => {}
            Operator::Sort { .. } | Operator::Cache | Operator::Window | Operator::Rdd | Operator::Udf => {}
            _ => return false,
        }
        let Some(&input) = node.inputs.first() else { return false };
        at = input;
    }
    false
}

/// Whether rows are numbered in their groups: a filter on the number leaves a row a group.
fn is_ranked(plan: &StaticPlan, id: NodeId) -> bool {
    const RANKS: [&str; 3] = ["row_number", "rank", "dense_rank"];
    let numbers = |call: &FunctionCall| {
        RANKS.contains(&call.name.as_str())
            && call.over.is_some_and(|over| over.partitioned)
            && call.used_in.contains(&id)
    };
    plan.node(id).operator == Operator::Window && plan.functions.iter().any(numbers)
}

/// Whether the groups of a frame hold all their rows as lists: fewer rows, but no less of them.
pub(super) fn gathers(plan: &StaticPlan, id: NodeId) -> bool {
    let mut at = id;
    for _ in 0..plan.nodes.len() {
        let node = plan.node(at);
        match node.operator {
            Operator::Aggregate { grouped: true, .. } => {
                return plan.functions.iter().any(|call| {
                    call.used_in.contains(&at) && matches!(call.name.as_str(), "collect_list" | "array_agg")
                });
            }
            Operator::Filter { .. } | Operator::WithColumns | Operator::Sort { .. } | Operator::Cache => {}
            _ => return false,
        }
        let Some(&input) = node.inputs.first() else { return false };
        at = input;
    }
    false
}

/// Whether a frame comes from elsewhere: a parameter, an attribute, a foreign call.
pub(super) fn is_given(plan: &StaticPlan, id: NodeId) -> bool {
    let given = |&id: &NodeId| matches!(plan.node(id).operator, Operator::Source(Source::Given));
    plan.upstream(id).iter().any(given)
}

/// Whether all rows come out of the code itself: `range`, literals.
pub(super) fn is_generated(plan: &StaticPlan, id: NodeId) -> bool {
    sources(plan, id).all(|(_, source)| matches!(source, Source::Range(Some(_)) | Source::Local(Some(_))))
}

/// The sources that a frame is computed from.
pub(super) fn sources(plan: &StaticPlan, id: NodeId) -> impl Iterator<Item = (NodeId, &Source)> {
    plan.upstream(id).into_iter().filter_map(|id| match &plan.node(id).operator {
        Operator::Source(source) => Some((id, source)),
        _ => None,
    })
}

/// Whether all rows are names and definitions that commands looked up (`SHOW TABLES`, `DESCRIBE t`): no job reads data
/// for them.
pub(super) fn is_lookup(plan: &StaticPlan, id: NodeId) -> bool {
    let mut sources = sources(plan, id).peekable();
    sources.peek().is_some() && sources.all(|(_, source)| looks_up(source))
}

fn looks_up(source: &Source) -> bool {
    let Source::Sql { text, .. } = source else { return false };
    let start = match text {
        Literal::Text(text) => Some(text.as_str()),
        Literal::Template(parts) => parts.first().and_then(Option::as_deref),
        _ => None,
    };
    start.and_then(sql_lookup).is_some()
}

/// Whether all rows were on the driver before Spark got them, and no more come out than went in.
pub(super) fn is_from_driver(plan: &StaticPlan, text: &str, id: NodeId) -> bool {
    // A function of one row returns one.
    const PER_ROW: [&str; 6] = ["map", "mapValues", "withColumn", "withColumns", "select", "toDF"];
    let grows = |&id: &NodeId| {
        let node = plan.node(id);
        let method = node.site.as_ref().map(|site| site.method.of(text)).unwrap_or_default();
        match node.operator {
            Operator::Udf => !PER_ROW.contains(&method),
            Operator::Join(_) | Operator::Project { explodes: true, .. } => true,
            _ => false,
        }
    };
    let mut sources = sources(plan, id).peekable();
    sources.peek().is_some()
        && sources.all(|(_, source)| matches!(source, Source::Local(_)) || looks_up(source))
        && !plan.upstream(id).iter().any(grows)
}

/// The operators that read a frame, in source order.
pub(super) fn readers(plan: &StaticPlan, id: NodeId) -> impl Iterator<Item = NodeId> {
    let reads = move |(_, node): &(usize, &Node)| node.inputs.contains(&id);
    plan.nodes.iter().enumerate().filter(reads).map(|(index, _)| NodeId(index as u32))
}

/// The actions that run a frame as it is, in source order.
pub(super) fn actions_on(plan: &StaticPlan, id: NodeId) -> impl Iterator<Item = &Action> {
    plan.actions.iter().filter(move |action| action.input == Some(id))
}

/// The name under which an action reads a frame.
pub(super) fn name_of<'a>(plan: &'a StaticPlan, frame: NodeId, action: &Action) -> Option<&'a str> {
    let is_known = |binding: &&Binding| {
        let before = binding.span.start < action.site.method.start;
        let merged = || {
            let node = plan.node(binding.node);
            node.operator == Operator::Merge && node.inputs.contains(&frame)
        };
        (binding.node == frame || merged())
            && before
            && (binding.scope == action.scope || binding.name.starts_with("self."))
    };
    plan.bindings.iter().rfind(is_known).map(|binding| binding.name.as_str())
}
