//! The columns of a frame that the code names.

use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{ActionKind, JoinCondition, Literal, Node, NodeId, Operator};

/// The columns by which a frame is joined, grouped or partitioned later on, in source order.
pub(super) fn keys_later(plan: &StaticPlan, from: NodeId) -> Vec<String> {
    let mut columns = Columns::default();
    let computed = computed_from(plan, from);
    for (node, _) in plan.nodes.iter().zip(&computed).filter(|(_, computed)| **computed) {
        columns.add(keys(node));
    }
    for window in plan.windows.iter().filter(|window| window.used_on.iter().any(|id| computed[id.0 as usize])) {
        columns.add(window.keys.iter().flatten().map(String::as_str));
    }
    columns.names
}

/// All columns of a frame that are named later on, keys first; not those that are made on the way.
pub(super) fn named_later(plan: &StaticPlan, text: &str, from: NodeId) -> Vec<String> {
    let mut columns = Columns { names: keys_later(plan, from) };
    let computed = computed_from(plan, from);
    let is_computed = |id: &NodeId| computed[id.0 as usize];
    let mut made: Vec<(String, usize)> = Vec::new();
    for (index, node) in plan.nodes.iter().enumerate().filter(|(index, _)| computed[*index]) {
        let Some(site) = &node.site else { continue };
        let texts = || site.args.iter().filter_map(|argument| as_text(&argument.value));
        match site.method.of(text) {
            "select" | "drop" | "dropDuplicates" | "drop_duplicates" | "orderBy" | "sort" | "repartition" => {
                columns.add(texts());
                columns.add(site.args.iter().flat_map(|argument| names_in(&argument.value)));
            }
            "withColumn" => made.extend(texts().take(1).map(|name| (name.to_owned(), index))),
            "withColumnRenamed" => {
                columns.add(texts().take(1));
                made.extend(texts().nth(1).map(|name| (name.to_owned(), index)));
            }
            _ => {}
        }
    }
    for call in plan.functions.iter().filter(|call| call.used_in.iter().any(is_computed)) {
        columns.add(call.columns.iter().map(String::as_str));
    }
    for action in plan.actions.iter().filter(|action| action.input.as_ref().is_some_and(is_computed)) {
        if let ActionKind::Write(write) = &action.kind {
            columns.add(write.partition_by.iter().filter_map(as_text));
        }
    }
    // A column that is made out of itself is one of the frame's own.
    let is_read_before = |name: &str, made: usize| {
        let reads = |id: &NodeId| is_computed(id) && id.0 as usize <= made;
        plan.functions
            .iter()
            .any(|call| call.columns.iter().any(|column| column == name) && call.used_in.iter().any(reads))
    };
    columns.names.retain(|name| {
        made.iter().find(|(made, _)| made == name).is_none_or(|(_, index)| is_read_before(name, *index))
    });
    columns.names
}

/// The columns that one operator matches or groups by.
fn keys(node: &Node) -> Vec<&str> {
    match &node.operator {
        Operator::Join(join) => match &join.condition {
            JoinCondition::Using(keys) => keys.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        },
        Operator::Aggregate { keys, .. } => keys.iter().flatten().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// By node: whether it is the frame or computed from it. Inputs stand before the nodes that read them.
fn computed_from(plan: &StaticPlan, from: NodeId) -> Vec<bool> {
    let mut computed = vec![false; plan.nodes.len()];
    for (index, node) in plan.nodes.iter().enumerate() {
        let reads_it = |input: &NodeId| computed.get(input.0 as usize).copied().unwrap_or(false);
        computed[index] = index == from.0 as usize || node.inputs.iter().any(reads_it);
    }
    computed
}

fn as_text(value: &Literal) -> Option<&str> {
    if let Literal::Text(text) = value { Some(text) } else { None }
}

fn names_in(value: &Literal) -> Vec<&str> {
    if let Literal::List(items) = value { items.iter().filter_map(as_text).collect() } else { Vec::new() }
}

/// Names that a schema takes without quoting, each once.
#[derive(Debug, Default)]
struct Columns {
    names: Vec<String>,
}

impl Columns {
    fn add<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if is_plain && !self.names.iter().any(|known| known == name) {
                self.names.push(name.to_owned());
            }
        }
    }
}
