//! `sparkls explain`.

use std::io::Write as _;

use super::inputs::nearest;
use super::{Exit, words};
use crate::rules::{self, Rule};

/// Show a rule's documentation, or the facts on a Spark setting.
///
/// For example: sparkls explain collect-unbounded, sparkls explain spark.sql.shuffle.partitions
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A rule's name or a setting's key.
    #[arg(value_name = "RULE|KEY")]
    subject: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(rule) = rules::find(&args.subject) else {
        let hint = nearest(&args.subject, rules::all().map(|rule| rule.name));
        let hint = hint.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default();
        anyhow::bail!("there is no rule or setting `{}`{hint}", args.subject);
    };
    anstream::stdout().write_all(page(rule).as_bytes())?;
    Ok(Exit::Clean)
}

fn page(rule: &Rule) -> String {
    format!("{} {}", rule.name, words::group(rule.group))
}
