//! The comparison in Markdown, for a comment on a pull request: the verdict in the open, the details folded.

use std::fmt::Write as _;

use super::summary::{self, Action, Versions};
use super::words::{budget_measured, budget_name, budget_state, budget_value, judgement, setting};
use super::{Compared, Page};
use crate::cli::report::markdown::escaped;
use crate::compare::{BudgetState, Comparison};
use crate::rules::run::words::count;

/// The whole comparison, in the Markdown that GitHub and GitLab show.
pub(super) fn render(page: &Page) -> String {
    let mut text = String::new();
    if page.candidates.len() > 1 {
        several(&mut text, page);
    }
    for (index, compared) in page.candidates.iter().enumerate() {
        let title = match page.candidates.len() {
            1 => String::new(),
            _ => format!("Candidate {}: ", index + 1),
        };
        let _ = writeln!(text, "### {title}{}\n", judgement(compared.comparison.judgement));
        one(&mut text, page, compared);
        text.push('\n');
    }
    for error in &page.errors {
        let _ = writeln!(text, "_{}_\n", escaped(error));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn several(text: &mut String, page: &Page) {
    text.push_str("| | Candidate | | |\n| ---: | --- | --- | --- |\n");
    for (index, Compared { read, comparison }) in page.candidates.iter().enumerate() {
        let (word, verdict) = (judgement(comparison.judgement), summary::times_and_speed(comparison));
        let _ = writeln!(text, "| {} | {} | **{word}** | {} |", index + 1, escaped(&read.source), escaped(&verdict));
    }
    let _ = writeln!(text, "\n{}\n", escaped(&summary::best(page).unwrap_or_default()));
}

fn one(text: &mut String, page: &Page, Compared { read, comparison }: &Compared) {
    let _ = writeln!(text, "{}", escaped(&summary::verdict(comparison, page)));
    let notes = page.base.run.coverage.notes.iter().chain(&read.run.coverage.notes);
    for gap in comparison.gaps.iter().chain(notes) {
        let _ = writeln!(text, "\n- {}", escaped(gap));
    }
    text.push_str("\n| | |\n| --- | --- |\n");
    for (name, parts) in [
        ("base", summary::head(&page.base, &comparison.base)),
        ("candidate", summary::head(read, &comparison.candidate)),
    ] {
        let _ = writeln!(text, "| {name} | {} |", escaped(&parts.join(" · ")));
    }
    budgets(text, comparison);
    totals(text, comparison);
    actions(text, page, comparison);
    settings(text, page, comparison);
}

fn budgets(text: &mut String, comparison: &Comparison) {
    if comparison.budgets.is_empty() {
        return;
    }
    text.push_str("\n| Budget | | measured | at most |\n| --- | --- | ---: | ---: |\n");
    for result in &comparison.budgets {
        let why = match &result.state {
            BudgetState::NotEvaluated(why) => format!(": {}", escaped(why)),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "| {} | **{}**{why} | {} | {} |",
            budget_name(result.budget),
            budget_state(&result.state),
            budget_measured(result),
            budget_value(result.budget, result.limit),
        );
    }
}

fn totals(text: &mut String, comparison: &Comparison) {
    text.push_str("\n| In all | base | candidate | |\n| --- | ---: | ---: | ---: |\n");
    for total in summary::totals(comparison) {
        let _ = writeln!(text, "| {} | {} | {} | {} |", total.name, total.base, total.candidate, total.change);
    }
}

fn actions(text: &mut String, page: &Page, comparison: &Comparison) {
    let (shown, more) = summary::actions(comparison, page);
    if shown.is_empty() {
        return;
    }
    let title = format!("What changed ({})", summary::alignment(comparison));
    let _ = writeln!(text, "\n<details><summary>{}</summary>\n", escaped(&title));
    for action in &shown {
        self::action(text, action);
    }
    if more > 0 {
        let _ = writeln!(text, "- and {}", count(more as u64, "more action"));
    }
    text.push_str("\n</details>\n");
}

fn action(text: &mut String, action: &Action) {
    let _ = writeln!(text, "- **{}**: {} ({})", escaped(&action.title), action.times, action.difference);
    for detail in &action.details {
        let _ = writeln!(text, "  - {}", escaped(detail));
    }
    if !action.plan.is_empty() {
        let _ = writeln!(text, "  - plan: {}", escaped(&action.plan.join(", ")));
    }
    for stage in &action.stages {
        let label = format!("{}, {}", stage.title, stage.label);
        let details = if stage.details.is_empty() { String::new() } else { format!("; {}", stage.details.join("; ")) };
        let _ = writeln!(text, "  - {}: {}{}", escaped(&label), stage.times, escaped(&details));
    }
    if action.more_stages > 0 {
        let _ = writeln!(text, "  - and {}", count(action.more_stages as u64, "more stage"));
    }
}

fn settings(text: &mut String, page: &Page, comparison: &Comparison) {
    let of_hand = comparison.settings.iter().map(|change| (change.key.clone(), setting(change)));
    keys(text, "Settings that differ", &of_hand.collect::<Vec<_>>());
    if let Some(upgrade) = &comparison.upgrade {
        let Versions { title, entries, besides } = summary::versions(upgrade, &comparison.used_defaults, page.all);
        keys(text, &format!("{title}: what changes for these runs"), &entries);
        if besides > 0 {
            let _ = writeln!(text, "\n{title}: {} changed.", count(besides as u64, "other default"));
        }
    }
}

fn keys(text: &mut String, title: &str, entries: &[(String, String)]) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n<details><summary>{} ({})</summary>\n", escaped(title), entries.len());
    text.push_str("| | |\n| --- | --- |\n");
    for (key, words) in entries {
        let _ = writeln!(text, "| {} | {} |", escaped(key), escaped(words));
    }
    text.push_str("\n</details>\n");
}
