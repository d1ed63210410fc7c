//! `sparkls rules`.

use clap::ValueEnum;
use serde_json::json;

use super::{Exit, words};
use crate::rules::{self, Rule};

/// List all rules.
///
/// `sparkls explain RULE` shows one rule's documentation.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How to print them.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A table.
    Text,
    /// `{"version":1,"rules":[...]}`, with the documentation in Markdown.
    Json,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let text = match args.format {
        Format::Text => table(rules::all()),
        Format::Json => json(rules::all())?,
    };
    super::print(&text)?;
    Ok(Exit::Clean)
}

fn table<'a>(rules: impl Iterator<Item = &'a Rule>) -> String {
    let bold = anstyle::Style::new().bold();
    let dim = anstyle::Style::new().dimmed();
    let mut rules: Vec<&Rule> = rules.collect();
    rules.sort_by_key(|rule| (rule.group, rule.name));
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut group = None;
    for rule in rules {
        if group.replace(rule.group) != Some(rule.group) {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{bold}{}{bold:#}\n", words::group(rule.group)));
        }
        let level = if rule.off { "off" } else { words::severity(rule.severity) };
        text.push_str(&format!("  {:width$}  {dim}{level:11}{dim:#}  {}\n", rule.name, plain(rule.summary())));
    }
    text
}

/// A summary without its code marks.
fn plain(summary: &str) -> String {
    summary.replace('`', "")
}

fn json<'a>(rules: impl Iterator<Item = &'a Rule>) -> anyhow::Result<String> {
    let rules: Vec<_> = rules
        .map(|rule| {
            json!({
                "rule": rule.name,
                "group": words::group(rule.group),
                "reads": words::check(rule.check),
                "severity": words::severity(rule.severity),
                "default": !rule.off,
                "confidence": words::confidence(rule.confidence),
                "since": rule.since,
                "summary": rule.summary(),
                "documentation": rule.docs,
                "options": rule.options.iter().map(|option| json!({
                    "name": option.name, "default": option.default, "help": option.help,
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    Ok(serde_json::to_string_pretty(&json!({ "version": 1, "rules": rules }))? + "\n")
}
