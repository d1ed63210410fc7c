//! RDDs and the contexts that make them.

use super::Interpreter;
use super::call::Call;
use super::frame::integer;
use crate::pyspark::api;
use crate::pyspark::plan::{ActionKind, NodeId, Operator, Source, Write};
use crate::pyspark::value::{Object, Value};

impl<'a> Interpreter<'a> {
    pub(super) fn context_method(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        match name {
            "textFile" | "wholeTextFiles" | "binaryFiles" | "sequenceFile" | "newAPIHadoopFile" | "hadoopFile"
            | "binaryRecords" | "objectFile" | "pickleFile" => {
                let source = Source::Read {
                    format: Some("text".to_owned()),
                    location: call.values.first().map(Value::literal).into_iter().collect(),
                    options: Vec::new(),
                    open: false,
                    has_schema: true,
                    streaming: false,
                    chain: call.span,
                };
                self.rdd_source(source, call)
            }
            "parallelize" => {
                let rows = match call.values.first() {
                    Some(Value::List(items) | Value::Tuple(items)) => Some(items.len() as u64),
                    _ => None,
                };
                self.rdd_source(Source::Local(rows), call)
            }
            "range" => {
                let rows = match (call.values.first(), call.values.get(1)) {
                    (Some(Value::Integer(end)), None) => u64::try_from(*end).ok(),
                    _ => None,
                };
                self.rdd_source(Source::Range(rows), call)
            }
            "union" => match call.values.first().cloned().and_then(|list| self.element(&list)) {
                Some(Value::Rdd(rdd)) => {
                    let site = self.site(call);
                    Value::Rdd(self.node(Operator::Union { open: true }, &[rdd], Some(site)))
                }
                _ => Value::Unknown,
            },
            "getOrCreate" => Value::Object(Object::Context),
            _ => match api::entry("SparkContext", name).map(|entry| entry.returns) {
                Some("RDD") => self.rdd_source(Source::Given, call),
                Some("SparkContext") => Value::Object(Object::Context),
                _ => Value::Unknown,
            },
        }
    }

    fn rdd_source(&mut self, source: Source, call: &Call<'a>) -> Value<'a> {
        let site = self.site(call);
        Value::Rdd(self.node(Operator::Source(source), &[], Some(site)))
    }

    pub(super) fn rdd_method(&mut self, rdd: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        if let Some(kind) = rdd_action(name, call) {
            let rows = matches!(kind, ActionKind::Collect | ActionKind::Take(_) | ActionKind::LocalIterator)
                && name != "first";
            self.act(kind, Some(rdd), true, call);
            if let Some(runs) = Self::runs_of(name) {
                self.runs_python(runs, rdd, call);
            }
            return if rows { Value::Rows(rdd) } else { Value::Unknown };
        }
        let operator = match name {
            "coalesce" => Operator::Coalesce { count: integer(call.value(0, "numPartitions")) },
            "repartition" => Operator::Repartition { count: integer(call.value(0, "numPartitions")), keyed: false },
            "filter" => Operator::Filter { key_equality: false },
            "distinct" => Operator::Distinct,
            "sample" => Operator::Sample { seeded: call.value(2, "seed").is_some() },
            "cache" | "persist" => {
                self.plan.nodes[rdd.0 as usize].cached = true;
                Operator::Cache
            }
            "checkpoint" | "localCheckpoint" => {
                self.plan.nodes[rdd.0 as usize].cached = true;
                return Value::None;
            }
            "union" => {
                let site = self.site(call);
                let other = match call.values.first() {
                    Some(Value::Rdd(other)) => *other,
                    _ => self.given(),
                };
                return Value::Rdd(self.node(Operator::Union { open: false }, &[rdd, other], Some(site)));
            }
            "toDF" => {
                let site = self.site(call);
                return Value::Frame(self.node(Operator::Other("toDF".to_owned()), &[rdd], Some(site)));
            }
            "unpersist" => {
                let site = self.site(call);
                if self.released.insert(call.span) {
                    self.plan.unpersists.push((rdd, site));
                }
                return Value::Rdd(rdd);
            }
            "map" | "mapPartitions" | "flatMap" | "mapValues" | "flatMapValues" | "mapPartitionsWithIndex" => {
                if let Some(runs) = Self::runs_of(name) {
                    self.runs_python(runs, rdd, call);
                }
                Operator::Udf
            }
            _ => match api::entry("RDD", name).map(|entry| entry.returns) {
                Some("RDD") => Operator::Rdd,
                _ => return Value::Unknown,
            },
        };
        let site = self.site(call);
        let node = self.node(operator, &[rdd], Some(site));
        self.plan.nodes[node.0 as usize].cached |= matches!(name, "cache" | "persist");
        Value::Rdd(node)
    }
}

fn rdd_action(name: &str, call: &Call<'_>) -> Option<ActionKind> {
    let rows = |value: Option<&Value<'_>>| integer(value).and_then(|rows| u64::try_from(rows).ok());
    Some(match name {
        "collect" | "collectAsMap" => ActionKind::Collect,
        "take" | "takeSample" | "takeOrdered" | "top" => ActionKind::Take(rows(call.value(0, "num"))),
        "first" => ActionKind::Take(Some(1)),
        "toLocalIterator" => ActionKind::LocalIterator,
        "count" => ActionKind::Count,
        "isEmpty" => ActionKind::IsEmpty,
        "foreach" | "foreachPartition" => ActionKind::Foreach,
        "reduce"
        | "fold"
        | "aggregate"
        | "treeReduce"
        | "treeAggregate"
        | "sum"
        | "min"
        | "max"
        | "mean"
        | "stdev"
        | "variance"
        | "stats"
        | "countByKey"
        | "countByValue"
        | "histogram"
        | "countApprox"
        | "countApproxDistinct" => ActionKind::Reduce,
        "saveAsTextFile"
        | "saveAsPickleFile"
        | "saveAsSequenceFile"
        | "saveAsHadoopFile"
        | "saveAsNewAPIHadoopFile" => ActionKind::Write(Write {
            format: Some("text".to_owned()),
            target: call.values.first().map(Value::literal).unwrap_or_default(),
            chain: call.span,
            ..Write::default()
        }),
        _ => return None,
    })
}
