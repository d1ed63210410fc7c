//! Blocks of settings for `spark-defaults.conf` and the places beside it, with the values of the Spark version at hand.

use super::support;
use crate::catalog::{self, Default, SparkVersion};
use crate::conf::Setting;
use crate::rules::{Edit, Fix, FixKind, SettingsContext};
use crate::text::Span;

/// Keys of one block, with a word on each.
struct Block {
    title: &'static str,
    heading: &'static str,
    keys: &'static [(&'static str, Written, &'static str)],
}

/// What a block writes for a key.
enum Written {
    /// The version's default, spelled out so that it can be measured against.
    Default,
    /// Another value than the default.
    Value(&'static str),
}

const ADAPTIVE: Block = Block {
    title: "Insert the adaptive execution block",
    heading: "Adaptive query execution",
    keys: &[
        (
            "spark.sql.adaptive.enabled",
            Written::Value("true"),
            "merges, splits and re-plans with sizes measured at run time",
        ),
        ("spark.sql.adaptive.coalescePartitions.enabled", Written::Default, "merges small shuffle partitions"),
        (
            "spark.sql.adaptive.advisoryPartitionSizeInBytes",
            Written::Default,
            "the size that merging and splitting aim at",
        ),
        (
            "spark.sql.adaptive.skewJoin.enabled",
            Written::Default,
            "splits skewed partitions of joins, not of aggregates",
        ),
        (
            "spark.sql.adaptive.skewJoin.skewedPartitionFactor",
            Written::Default,
            "skewed: larger than this many times the median",
        ),
        (
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes",
            Written::Default,
            "and larger than this; review it when the advisory size is raised",
        ),
    ],
};

const SPECULATION: Block = Block {
    title: "Insert the speculation block",
    heading: "Speculative execution: a second copy of tasks on a slow host; not for sinks that two attempts must not write",
    keys: &[
        ("spark.speculation", Written::Value("true"), "off by default"),
        ("spark.speculation.quantile", Written::Default, "share of a stage's tasks that must have ended first"),
        ("spark.speculation.multiplier", Written::Default, "a task must run this many times the median"),
        ("spark.speculation.minTaskRuntime", Written::Default, "and at least this long"),
        (
            "spark.speculation.efficiency.enabled",
            Written::Default,
            "and process its data more slowly than the stage does",
        ),
        ("spark.locality.wait", Written::Default, "lower it if the slow host holds the data"),
    ],
};

/// The blocks of adaptive and of speculative execution: the lines that a settings file doesn't have, appended to it.
pub fn offers(text: &str, settings: &[Setting], version: SparkVersion) -> Vec<Fix> {
    [&ADAPTIVE, &SPECULATION].into_iter().filter_map(|block| append(block, text, settings, version)).collect()
}

/// Switches speculation on where it is off, and spells out what it goes by right below.
pub(super) fn speculation(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Fix> {
    let on = support::set_value(&cx.shared, setting, "true")?;
    let text = match cx.properties {
        Some(_) => {
            let open_end = !setting.span.of(cx.shared.text).ends_with(['\n', '\r']);
            let lines = lines(&SPECULATION, cx.settings, cx.shared.version());
            format!("{}{lines}", if open_end { "\n" } else { "" })
        }
        None => beside(cx, &SPECULATION, setting)?,
    };
    let behind = Edit { span: Span::at(setting.span.end as usize), text };
    Some(Fix {
        title: "Switch speculation on, with what it goes by".to_owned(),
        edits: on.edits.into_iter().chain([behind]).collect(),
        ..on
    })
}

/// The keys of a block that the version has and the job doesn't set, in the syntax of a setting that stands there.
fn beside(cx: &SettingsContext<'_>, block: &Block, setting: &Setting) -> Option<String> {
    let missing = block.keys.iter().filter(|(key, ..)| !cx.settings.iter().any(|setting| setting.key == *key));
    missing
        .filter_map(|(key, written, _)| Some((key, value(key, written, cx.shared.version())?)))
        .map(|(key, value)| support::beside(&cx.shared, setting, key, value).map(|edit| edit.text))
        .collect()
}

fn append(block: &Block, text: &str, settings: &[Setting], version: SparkVersion) -> Option<Fix> {
    let lines = lines(block, settings, version);
    if lines.is_empty() {
        return None;
    }
    let gap = match text {
        "" => "",
        text if text.ends_with(['\n', '\r']) => "\n",
        _ => "\n\n",
    };
    let text_after = format!("{gap}# {} (values of Spark {version})\n{lines}", block.heading);
    Some(Fix {
        title: block.title.to_owned(),
        kind: FixKind::Refactor,
        safe: false,
        edits: vec![Edit { span: Span::at(text.len()), text: text_after }],
    })
}

/// A comment and a line for each key of the block that the version has and the file doesn't set.
fn lines(block: &Block, settings: &[Setting], version: SparkVersion) -> String {
    block
        .keys
        .iter()
        .filter(|(key, ..)| !settings.iter().any(|setting| setting.key == *key))
        .filter_map(|(key, written, word)| {
            let value = value(key, written, version)?;
            let is_default = default(key, version) == Some(value);
            let default = if is_default { "default; " } else { "" };
            Some(format!("# {default}{word}\n{key} {value}\n"))
        })
        .collect()
}

fn value(key: &str, written: &Written, version: SparkVersion) -> Option<&'static str> {
    match written {
        Written::Default => default(key, version),
        Written::Value(value) => Some(value),
    }
}

fn default(key: &str, version: SparkVersion) -> Option<&'static str> {
    match catalog::setting(key)?.default(version) {
        Default::Value(value) => Some(value),
        // The wait falls back on nothing but its own default; anything else can't be spelled out.
        Default::Unset | Default::Symbolic(_) | Default::Fallback(_) | Default::Unknown | Default::Absent => None,
    }
}
