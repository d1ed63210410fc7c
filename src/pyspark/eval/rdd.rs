//! RDDs and the contexts that make them.

use super::Interpreter;
use super::call::Call;
use super::effects::{action_kind, runs_of};
use super::frame::integer;
use crate::pyspark::api::{self, Class, Effect, Returns, Run, Setup, Step};
use crate::pyspark::plan::{ActionKind, NodeId, Operator, Source, Write};
use crate::pyspark::value::{Object, Value};

impl<'a> Interpreter<'a> {
    pub(super) fn context_method(&mut self, name: &str, call: &Call<'a>) -> Value<'a> {
        let Some(entry) = api::entry(Class::SparkContext, name) else { return Value::Unknown };
        match entry.effect {
            Effect::Lazy(Step::Load) => {
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
            Effect::Lazy(Step::Local) => {
                let rows = match call.values.first() {
                    Some(Value::List(items) | Value::Tuple(items)) => Some(items.len() as u64),
                    _ => None,
                };
                self.rdd_source(Source::Local(rows), call)
            }
            Effect::Lazy(Step::Range) => {
                let rows = match (call.values.first(), call.values.get(1)) {
                    (Some(Value::Integer(end)), None) => u64::try_from(*end).ok(),
                    _ => None,
                };
                self.rdd_source(Source::Range(rows), call)
            }
            Effect::Lazy(Step::Union) => match call.values.first().cloned().and_then(|list| self.element(&list)) {
                Some(Value::Rdd(rdd)) => {
                    let site = self.site(call);
                    Value::Rdd(self.node(Operator::Union { open: true }, &[rdd], Some(site)))
                }
                _ => Value::Unknown,
            },
            Effect::Lazy(_) => self.rdd_source(Source::Given, call),
            Effect::Setup(Setup::Session) => Value::Object(Object::Context),
            Effect::Action(run) => {
                let rdd = if let Some(Value::Rdd(rdd)) = call.values.first() { Some(*rdd) } else { None };
                self.act(action_kind(run, name, call), rdd, true, call);
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    fn rdd_source(&mut self, source: Source, call: &Call<'a>) -> Value<'a> {
        let site = self.site(call);
        Value::Rdd(self.node(Operator::Source(source), &[], Some(site)))
    }

    pub(super) fn rdd_method(&mut self, rdd: NodeId, name: &str, call: &Call<'a>) -> Value<'a> {
        let Some(entry) = api::entry(Class::Rdd, name) else { return Value::Unknown };
        let step = match entry.effect {
            Effect::Lazy(step) => step,
            Effect::Action(run) => return self.rdd_action(rdd, run, name, call),
            Effect::Release => {
                if entry.returns == Returns::One(Class::Rdd) {
                    self.release(rdd, call);
                    return Value::Rdd(rdd);
                }
                return Value::Unknown;
            }
            _ => return Value::Unknown,
        };
        let operator = match step {
            Step::Coalesce => Operator::Coalesce { count: integer(call.value(0, "numPartitions")) },
            Step::Repartition => Operator::Repartition { count: integer(call.value(0, "numPartitions")), keyed: false },
            Step::Filter => Operator::Filter { key_equality: false },
            Step::Distinct => Operator::Distinct,
            Step::Sample => Operator::Sample { seeded: call.value(2, "seed").is_some() },
            Step::Cache => {
                self.plan.nodes[rdd.0 as usize].cached = true;
                Operator::Cache
            }
            Step::Checkpoint => {
                self.plan.nodes[rdd.0 as usize].cached = true;
                return Value::None;
            }
            Step::Union => {
                let site = self.site(call);
                let other = match call.values.first() {
                    Some(Value::Rdd(other)) => *other,
                    _ => self.given(),
                };
                return Value::Rdd(self.node(Operator::Union { open: false }, &[rdd, other], Some(site)));
            }
            Step::ToFrame => {
                let site = self.site(call);
                return Value::Frame(self.node(Operator::Other(name.to_owned()), &[rdd], Some(site)));
            }
            Step::Map | Step::MapPartitions => {
                if let Some(runs) = runs_of(entry.effect) {
                    self.runs_python(runs, rdd, call);
                }
                Operator::Udf
            }
            Step::Split => return Value::Unknown,
            Step::RddByJob => {
                // Spark counts rows or draws bounds before it knows the result's partitions.
                self.act(ActionKind::Other(name.to_owned()), Some(rdd), true, call);
                Operator::Rdd
            }
            _ => Operator::Rdd,
        };
        let site = self.site(call);
        let node = self.node(operator, &[rdd], Some(site));
        self.plan.nodes[node.0 as usize].cached |= step == Step::Cache;
        Value::Rdd(node)
    }

    fn rdd_action(&mut self, rdd: NodeId, run: Run, name: &str, call: &Call<'a>) -> Value<'a> {
        let kind = match run {
            Run::WritePath => ActionKind::Write(Write {
                format: Some("text".to_owned()),
                target: call.values.first().map(Value::literal).unwrap_or_default(),
                chain: call.span,
                ..Write::default()
            }),
            run => action_kind(run, name, call),
        };
        self.act(kind, Some(rdd), true, call);
        if let Some(runs) = runs_of(Effect::Action(run)) {
            self.runs_python(runs, rdd, call);
        }
        match run {
            Run::Collect | Run::Take | Run::Iterate => Value::Rows(rdd),
            _ => Value::Unknown,
        }
    }
}
