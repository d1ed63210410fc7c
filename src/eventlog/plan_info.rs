//! `sparkPlanInfo`, read without recursion: plans of generated jobs nest deeper than a JSON reader's stack allows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::lenient::{Number, Text};
use crate::run::SharedTexts;
use crate::run::model::{PlanMetric, PlanNode};

/// Nodes below this level are left out; dropping a tree recurses, so its depth must be bounded.
pub(super) const MAX_DEPTH: usize = 500;

/// Longest `simpleString` and metadata value kept, in bytes.
const MAX_TEXT: usize = 4096;

/// A plan, and whether levels below [`MAX_DEPTH`] were left out.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) root: PlanNode,
    pub(super) cut: bool,
}

/// Reads the plan object at the start of `raw`; what follows it is ignored.
pub(super) fn parse(raw: &[u8], texts: &mut SharedTexts) -> Option<Plan> {
    let text = String::from_utf8_lossy(raw);
    Reader { rest: text.as_ref(), texts }.plan()
}

struct Reader<'a, 't> {
    rest: &'a str,
    texts: &'t mut SharedTexts,
}

#[derive(Deserialize)]
struct RawMetric<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(rename = "accumulatorId", default)]
    accumulator: Number,
    #[serde(rename = "metricType", borrow, default)]
    kind: Text<'a>,
}

impl<'a> Reader<'a, '_> {
    fn plan(mut self) -> Option<Plan> {
        self.eat('{')?;
        let mut open = vec![PlanNode::default()];
        let mut cut = false;
        loop {
            if self.eat(',').is_some() {
                continue;
            }
            if self.eat('}').is_none() {
                let key: Cow<'a, str> = self.value::<Text<'a>>()?.0?;
                self.eat(':')?;
                match key.as_ref() {
                    "children" => self.children(&mut open)?,
                    key => self.field(key, open.last_mut()?)?,
                }
                continue;
            }
            let mut done = open.pop()?;
            // Plans stay as long as the run does, and most nodes have one child.
            done.children.shrink_to_fit();
            done.metrics.shrink_to_fit();
            let depth = open.len();
            let Some(parent) = open.last_mut() else { return Some(Plan { root: done, cut }) };
            if depth < MAX_DEPTH {
                parent.children.push(done);
            } else {
                cut = true;
            }
            if self.eat(',').is_some() {
                self.eat('{')?;
                open.push(PlanNode::default());
            } else {
                self.eat(']')?;
            }
        }
    }

    fn children(&mut self, open: &mut Vec<PlanNode>) -> Option<()> {
        self.eat('[')?;
        if self.eat(']').is_none() {
            self.eat('{')?;
            open.push(PlanNode::default());
        }
        Some(())
    }

    fn field(&mut self, key: &str, node: &mut PlanNode) -> Option<()> {
        match key {
            "nodeName" => node.name = self.value::<Text<'a>>()?.shared(self.texts),
            "simpleString" => node.text = self.value::<Text<'a>>()?.0.map(shorten).unwrap_or_default(),
            "metadata" => {
                let raw = self.value::<BTreeMap<String, Text<'a>>>()?;
                node.metadata = raw.into_iter().filter_map(|(key, text)| Some((key, shorten(text.0?)))).collect();
            }
            "metrics" => {
                let raw = self.value::<Vec<RawMetric<'a>>>()?;
                node.metrics = raw.into_iter().filter_map(|raw| metric(raw, self.texts)).collect();
            }
            _ => {
                self.value::<IgnoredAny>()?;
            }
        }
        Some(())
    }

    fn eat(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(sign)?;
        Some(())
    }

    /// The JSON value that comes next.
    fn value<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<T>();
        let value = values.next()?.ok()?;
        self.rest = self.rest.get(values.byte_offset()..)?;
        Some(value)
    }
}

fn metric(raw: RawMetric<'_>, texts: &mut SharedTexts) -> Option<PlanMetric> {
    Some(PlanMetric { name: raw.name.shared(texts), accumulator: raw.accumulator.0?, kind: raw.kind.shared(texts) })
}

fn shorten(text: Cow<'_, str>) -> String {
    text[..text.floor_char_boundary(MAX_TEXT)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(raw: &[u8]) -> Option<Plan> {
        super::parse(raw, &mut SharedTexts::default())
    }

    #[test]
    fn a_plan_with_its_metrics_and_children() {
        let raw = br#"{"nodeName":"Project","simpleString":"Project [a#1]","children":[
            {"nodeName":"Scan","simpleString":"Scan \"t\"","children":[],"metadata":{"Location":"InMemoryFileIndex"},
             "metrics":[{"name":"number of output rows","accumulatorId":7,"metricType":"sum"},{"name":"odd","accumulatorId":[]}]},
            {"nodeName":"Other","simpleString":"","children":[],"metadata":{},"metrics":[]}],
            "metadata":{},"metrics":[]},"time":12}"#;
        let Plan { root, cut } = parse(raw).unwrap();
        assert!(!cut);
        assert_eq!(root.name, "Project");
        assert_eq!(root.children.len(), 2);
        let scan = &root.children[0];
        assert_eq!(scan.text, "Scan \"t\"");
        assert_eq!(scan.metadata["Location"], "InMemoryFileIndex");
        assert_eq!(
            scan.metrics,
            [PlanMetric { name: "number of output rows".into(), accumulator: 7, kind: "sum".into() }]
        );
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let levels = 20_000;
        let mut raw = "{\"nodeName\":\"N\",\"children\":[".repeat(levels);
        raw.push_str(&"]}".repeat(levels));
        let Plan { root, cut } = parse(raw.as_bytes()).unwrap();
        assert!(cut);
        let mut depth = 1;
        let mut node = &root;
        while let Some(child) = node.children.first() {
            node = child;
            depth += 1;
        }
        assert_eq!(depth, MAX_DEPTH);
        assert_eq!(format!("{:?}", root.clone()).matches("\"N\"").count(), MAX_DEPTH);
    }

    #[test]
    fn long_texts_are_cut_and_broken_plans_are_none() {
        let raw = format!("{{\"nodeName\":\"N\",\"simpleString\":\"{}\",\"children\":[]}}", "é".repeat(4000));
        assert_eq!(parse(raw.as_bytes()).unwrap().root.text.len(), MAX_TEXT);
        for broken in ["", "[]", "{", "{\"nodeName\"", "{\"nodeName\":\"N\",\"children\":[{]}"] {
            assert!(parse(broken.as_bytes()).is_none(), "{broken}");
        }
    }
}
