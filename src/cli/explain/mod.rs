//! `sparkls explain`.

mod markdown;
pub(super) mod setting;

use anstyle::Style;

use super::inputs::nearest;
use super::{Exit, words};
use crate::catalog;
use crate::conf::carriers::flags;
use crate::rules::{self, Rule};

/// Show a rule's documentation, or the facts on a Spark setting.
///
/// For example: sparkls explain collect-unbounded, sparkls explain spark.sql.shuffle.partitions, sparkls explain
/// --executor-memory
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A rule's name, a setting's key, or an option of spark-submit.
    #[arg(value_name = "RULE|KEY", allow_hyphen_values = true)]
    subject: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let subject = args.subject.trim();
    // The setting that an option of spark-submit stands for.
    let subject = flags().find_map(|(flag, key)| key.filter(|_| flag == subject)).unwrap_or(subject);
    let page = match rules::find(subject) {
        Some(rule) => rule_page(rule),
        None => setting::page(subject).ok_or_else(|| anyhow::anyhow!(unknown(subject)))?,
    };
    super::print(&page)?;
    Ok(Exit::Clean)
}

fn rule_page(rule: &Rule) -> String {
    let bold = Style::new().bold();
    let dim = Style::new().dimmed();
    let level = if rule.off { "off by default" } else { words::severity(rule.severity) };
    let mut page = format!(
        "{bold}{}{bold:#}  {dim}{level}, {}, {}, since {}{dim:#}\n\n{}",
        rule.name,
        words::group(rule.group),
        words::confidence(rule.confidence),
        rule.since,
        markdown::render(rule.docs)
    );
    if !rule.options.is_empty() {
        page.push_str(&format!("\n{bold}Options{bold:#}  {dim}in sparkls.toml under [rules.{}]{dim:#}\n", rule.name));
        for option in rule.options {
            page.push_str(&format!("  {} = {}  {}\n", option.name, option.default, option.help));
        }
    }
    page
}

fn unknown(subject: &str) -> String {
    let rule = nearest(subject, rules::all().map(|rule| rule.name));
    let key = catalog::similar(subject).first().map(|facts| facts.name());
    let end = format!(".{}", subject.trim_start_matches('.'));
    let longer = || catalog::settings().map(|facts| facts.name()).find(|name| name.ends_with(&end));
    let hint = match key.or_else(longer).or(rule) {
        Some(name) => format!(", did you mean `{name}`?"),
        None => "; `sparkls rules` lists the rules".to_owned(),
    };
    format!("there is no rule and no setting `{subject}`{hint}")
}
