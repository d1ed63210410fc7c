//! Hints behind `SELECT`: `/*+ BROADCAST(t), REPARTITION(4) */`.

use std::ops::Range;

use super::query::Lowering;
use super::tokens::Marks;
use super::{HOLE, Place};
use crate::pyspark::plan::Operator;

/// One hint.
#[derive(Debug, Clone)]
pub(super) struct Hint {
    /// In lower case.
    name: String,
    args: Vec<String>,
    word: Range<usize>,
    whole: Range<usize>,
}

/// The hints between a `SELECT` and what follows it.
pub(super) fn after(marks: &Marks<'_>, select: usize) -> Vec<Hint> {
    let start = marks.marks.get(select).map_or(0, |mark| mark.end);
    let end = marks.marks.get(select + 1).map_or(marks.text.len(), |mark| mark.start);
    let gap = marks.text.get(start..end).unwrap_or_default();
    let mut hints = Vec::new();
    let mut at = 0;
    while let Some(open) = gap.get(at..).and_then(|rest| rest.find("/*+")) {
        let from = at + open + 3;
        let Some(close) = gap[from..].find("*/") else { break };
        hints.extend(read(&gap[from..from + close], start + from));
        at = from + close + 2;
    }
    hints
}

/// Names with arguments in parentheses, or without, separated by commas or blanks.
fn read(text: &str, offset: usize) -> Vec<Hint> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut hints, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find(is_name).map(|start| at + start) {
        let name_end = text[start..].find(|letter| !is_name(letter)).map_or(text.len(), |end| start + end);
        let rest = &text[name_end..];
        let blanks = rest.len() - rest.trim_start().len();
        let mut end = name_end;
        let mut args = Vec::new();
        if rest[blanks..].starts_with('(') {
            let open = name_end + blanks + 1;
            let close = text[open..].find(')').map_or(text.len(), |close| open + close);
            args = text[open..close].split(',').map(|arg| arg.trim().trim_matches('`').to_owned()).collect();
            end = (close + 1).min(text.len());
        }
        hints.push(Hint {
            name: text[start..name_end].to_ascii_lowercase(),
            args,
            word: offset + start..offset + name_end,
            whole: offset + start..offset + end,
        });
        at = end;
    }
    hints
}

impl Hint {
    fn place(&self) -> Place {
        Place { word: self.word.clone(), clause: self.whole.clone(), inside: self.word.end..self.whole.end }
    }

    /// What joins it speaks of, in the words of `df.hint`.
    fn strategy(&self) -> Option<&'static str> {
        Some(match self.name.as_str() {
            "broadcast" | "broadcastjoin" | "mapjoin" => "broadcast",
            "merge" | "shuffle_merge" | "mergejoin" => "merge",
            "shuffle_hash" => "shuffle_hash",
            "shuffle_replicate_nl" => "shuffle_replicate_nl",
            "skew" => "skew",
            _ => return None,
        })
    }
}

impl Lowering<'_, '_> {
    /// A table with the hints that name it.
    pub(super) fn join_hints(&mut self, hints: &[Hint], names: &[String], mut root: usize) -> usize {
        for hint in hints {
            let Some(strategy) = hint.strategy() else { continue };
            let last = |arg: &String| arg.rsplit('.').next().unwrap_or(arg).to_ascii_lowercase();
            if hint.args.iter().any(|arg| names.contains(&last(arg))) {
                root = self.step(Operator::Hint(strategy.to_owned()), &[root], hint.place());
            }
        }
        root
    }

    /// The rows of a select with the hints on their partitions.
    pub(super) fn partition_hints(&mut self, hints: &[Hint], mut root: usize) -> usize {
        for hint in hints {
            let count = hint.args.first().and_then(|count| count.parse().ok());
            let keys = hint.args.iter().filter(|arg| arg.parse::<i64>().is_err() && *arg != HOLE && !arg.is_empty());
            let operator = match hint.name.as_str() {
                "repartition" | "repartition_by_range" => Operator::Repartition { count, keyed: keys.count() > 0 },
                "coalesce" => Operator::Coalesce { count },
                "rebalance" => Operator::Hint("rebalance".to_owned()),
                _ => continue,
            };
            root = self.step(operator, &[root], hint.place());
        }
        root
    }
}
