//! Several settings in one text: Glue's `--conf`, dbt's `conf`, `--properties` of `gcloud`.

use super::{Shapes, key_of};
use crate::conf::Carrier;
use crate::conf::carriers::ProblemKind;
use crate::conf::carriers::collect::{self, Collector};
use crate::conf::carriers::mapped::Mapped;
use crate::conf::carriers::tree::Scalar;
use crate::conf::carriers::words::{Word, split};
use crate::conf::{Setting, Value};

impl Shapes<'_, '_> {
    /// `spark.a=1 --conf spark.b=2` of Glue: the first `--conf` is the name of the argument itself. What is named `conf`
    /// may also be parted by commas (`spark.a=1,spark.b=2` of Airflow's `SparkSqlOperator`).
    pub(super) fn chain(&mut self, name: &str, value: &Scalar<'_>) -> Vec<usize> {
        let words: Vec<Word<'_>> = match name {
            "--conf" => split(&value.text),
            _ => split(&value.text).iter().flat_map(listed).collect(),
        };
        let mut settings = Vec::new();
        let mut chained = true;
        for word in &words {
            let text = word.as_str();
            if text == "--conf" {
                chained = true;
                continue;
            }
            let from = text.strip_prefix("--conf=").map_or(0, |rest| text.len() - rest.len());
            let Some(assign) = text[from..].find('=').map(|at| from + at) else { continue };
            if !text[from..].starts_with("spark.") {
                continue;
            }
            if !chained && from == 0 && name == "--conf" {
                let message =
                    "Only the first pair of this value reaches Spark: put `--conf` in front of each further one.";
                self.out.problem(ProblemKind::UnchainedConf, word.span, message);
                continue;
            }
            chained = false;
            let setting = collect::pair(&word.text, from..assign, assign + 1..text.len(), Carrier::Job, word.span);
            settings.push(self.out.add(setting));
        }
        settings
    }
}

/// The parts of a word between commas that begin with a key of Spark, each with one of its commas for a removal; commas
/// inside of values part nothing.
fn listed<'a>(word: &Word<'a>) -> Vec<Word<'a>> {
    let text = word.as_str();
    let commas = text.match_indices(",spark.").map(|(at, _)| at);
    let mut from = 0;
    let mut parts = Vec::new();
    for end in commas.chain([text.len()]) {
        let removed = if from > 0 { from - 1..end } else { from..(end + 1).min(text.len()) };
        parts.push(Word { span: word.text.span(removed), ..Word::known(word.text.slice(from..end)) });
        from = end + 1;
    }
    parts
}

/// `key=value,key=value`, with another delimiter as `^#^key=value#key=value`. Says which settings it holds.
pub(in crate::conf::carriers) fn read_property_list(
    list: &Mapped<'_>,
    has_holes: bool,
    carrier: Carrier,
    out: &mut Collector,
) -> Vec<usize> {
    let text = list.text();
    let mut settings = Vec::new();
    let (delimiter, mut from) = match text.strip_prefix('^').and_then(|rest| rest.split_once('^')) {
        Some((delimiter, _)) if !delimiter.is_empty() => (delimiter, delimiter.len() + 2),
        _ => (",", 0),
    };
    for pair in text[from..].split(delimiter) {
        let start = from;
        from += pair.len() + delimiter.len();
        let Some((name, value)) = pair.split_once('=') else { continue };
        let (key, prefix) = key_of(name);
        if !key.starts_with("spark.") {
            continue;
        }
        let (key_at, value_at) = (start + prefix, start + name.len() + 1);
        let known =
            if has_holes && value.contains('$') { Value::Template } else { collect::literal_or_template(value, false) };
        settings.push(out.add(Setting {
            key: key.to_owned(),
            key_is_prefix: false,
            value: known,
            key_span: list.span(key_at..key_at + key.len()),
            value_span: list.span(value_at..start + pair.len()),
            span: list.span(start..start + pair.len()),
            carrier,
        }));
    }
    settings
}
