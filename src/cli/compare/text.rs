//! The comparison for people: at most 100 columns, the verdict first.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

use super::summary::{self, Action, Stage, Versions};
use super::words::{budget_measured, budget_name, budget_state, budget_value, judgement, setting};
use super::{Compared, Page};
use crate::cli::conf::page::{WIDTH, beside, bold, cut, dim, wrap};
use crate::compare::{BudgetState, Comparison, Judgement};
use crate::rules::run::words::count;

/// The whole comparison. Holds ANSI styles.
pub(super) fn render(page: &Page) -> String {
    let mut text = String::new();
    if let Some(first) = page.candidates.first() {
        head(&mut text, "base", &summary::head(&page.base, &first.comparison.base));
    }
    for (index, compared) in page.candidates.iter().enumerate() {
        let parts = summary::head(&compared.read, &compared.comparison.candidate);
        head(&mut text, &summary::name(page, index), &parts);
    }
    if let Some(best) = summary::best(page) {
        text.push('\n');
        table(&mut text, page);
        text.push('\n');
        wrap(&mut text, bold(), 0, &best);
    }
    for (index, compared) in page.candidates.iter().enumerate() {
        text.push('\n');
        if page.candidates.len() > 1 {
            wrap(&mut text, bold(), 0, &format!("Candidate {}, {}", index + 1, compared.read.source));
        }
        one(&mut text, page, compared);
    }
    text
}

fn head(text: &mut String, name: &str, parts: &[String]) {
    const NAME: usize = 11;
    let words = parts.join("  ");
    if NAME + 2 + words.width() <= WIDTH {
        wrap(text, Style::new(), 0, &format!("{name:<NAME$}  {words}"));
    } else {
        beside(text, 0, name, NAME + 2, "");
        wrap(text, Style::new(), 2, &words);
    }
}

/// The candidates under each other.
fn table(text: &mut String, page: &Page) {
    for (index, Compared { read, comparison }) in page.candidates.iter().enumerate() {
        let style = style(comparison.judgement);
        let word = judgement(comparison.judgement);
        let source = summary::tail(&read.source, 38);
        let fill = " ".repeat(38usize.saturating_sub(source.width()));
        let rest = cut(&summary::times_and_speed(comparison), WIDTH - 57);
        text.push_str(&format!("{:>2}  {source}{fill}  {style}{word:<12}{style:#}  {rest}\n", index + 1));
    }
}

fn style(judgement: Judgement) -> Style {
    match judgement {
        Judgement::Slower => AnsiColor::Red.on_default().bold(),
        Judgement::Faster => AnsiColor::Green.on_default().bold(),
        Judgement::NoChange => bold(),
        Judgement::Inconclusive => AnsiColor::Yellow.on_default().bold(),
    }
}

fn one(text: &mut String, page: &Page, Compared { read, comparison }: &Compared) {
    let style = style(comparison.judgement);
    let words = summary::verdict(comparison, page);
    text.push_str(&format!("{style}{}{style:#}: {words}\n", judgement(comparison.judgement)));
    for gap in &comparison.gaps {
        wrap(text, Style::new(), 4, &format!("= {gap}"));
    }
    for note in page.base.run.coverage.notes.iter().chain(&read.run.coverage.notes) {
        wrap(text, dim(), 4, &format!("= {note}"));
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
    section(text, "Budgets");
    for result in &comparison.budgets {
        let style = match result.state {
            BudgetState::Met => AnsiColor::Green.on_default(),
            BudgetState::Violated => AnsiColor::Red.on_default(),
            BudgetState::NotEvaluated(_) => AnsiColor::Yellow.on_default(),
        };
        let limit = budget_value(result.budget, result.limit);
        let (name, measured) = (budget_name(result.budget), budget_measured(result));
        text.push_str(&format!(
            "  {style}{:<13}{style:#}  {name:<28}  {measured}, at most {limit}\n",
            budget_state(&result.state)
        ));
        if let BudgetState::NotEvaluated(why) = &result.state {
            wrap(text, dim(), 17, why);
        }
    }
}

fn totals(text: &mut String, comparison: &Comparison) {
    text.push('\n');
    let (bold, dim) = (bold(), dim());
    text.push_str(&format!("{bold}{:<15}{:>14}{:>14}{bold:#}\n", "In all", "base", "candidate"));
    for total in summary::totals(comparison) {
        let line = format!("  {:<13}{:>14}{:>14}", total.name, total.base, total.candidate);
        text.push_str(&format!("{line}{dim}{:>10}{dim:#}\n", total.change));
    }
}

fn actions(text: &mut String, page: &Page, comparison: &Comparison) {
    let (shown, more) = summary::actions(comparison, page);
    section(text, &format!("What changed ({})", summary::alignment(comparison)));
    if shown.is_empty() {
        wrap(text, dim(), 2, "nothing beyond noise");
    }
    for action in &shown {
        self::action(text, action);
    }
    if more > 0 {
        wrap(text, dim(), 2, &format!("and {} (--all shows them)", count(more as u64, "more action")));
    }
}

fn action(text: &mut String, action: &Action) {
    let bold = bold();
    let title = cut(&action.title, 52);
    let fill = " ".repeat(52usize.saturating_sub(title.width()));
    text.push_str(&format!("  {bold}{title}{bold:#}{fill}  {}  {}\n", action.times, action.difference));
    list(text, 6, &action.details);
    if !action.plan.is_empty() {
        wrap(text, Style::new(), 6, &format!("plan: {}", action.plan.join(", ")));
    }
    for stage in &action.stages {
        self::stage(text, stage);
    }
    if action.more_stages > 0 {
        wrap(text, dim(), 6, &format!("and {} (--all shows them)", count(action.more_stages as u64, "more stage")));
    }
}

fn stage(text: &mut String, stage: &Stage) {
    let title = format!("{}  {}", stage.title, stage.label);
    let title = cut(&title, 48);
    let fill = " ".repeat(48usize.saturating_sub(title.width()));
    text.push_str(&format!("      {title}{fill}  {}\n", stage.times));
    list(text, 10, &stage.details);
}

fn list(text: &mut String, indent: usize, details: &[String]) {
    if !details.is_empty() {
        wrap(text, Style::new(), indent, &details.join("; "));
    }
}

fn settings(text: &mut String, page: &Page, comparison: &Comparison) {
    if !comparison.settings.is_empty() {
        section(text, "Settings that differ");
        let entries: Vec<(String, String)> =
            comparison.settings.iter().map(|change| (change.key.clone(), setting(change))).collect();
        table_of_keys(text, &entries);
    }
    if let Some(upgrade) = &comparison.upgrade {
        let Versions { title, entries, besides } = summary::versions(upgrade, &comparison.used_defaults, page.all);
        section(text, &format!("{title}: what changes for these runs"));
        table_of_keys(text, &entries);
        if entries.is_empty() {
            wrap(text, dim(), 2, "nothing that they set, and no default that what they set relies on");
        }
        if besides > 0 {
            wrap(text, dim(), 2, &format!("{} changed (--all shows them)", count(besides as u64, "other default")));
        }
    }
}

fn table_of_keys(text: &mut String, entries: &[(String, String)]) {
    const WIDEST_KEY: usize = 52;
    const LONGEST: usize = 400;
    let width = entries.iter().map(|(key, _)| key.width()).filter(|width| *width <= WIDEST_KEY).max().unwrap_or(0);
    for (key, words) in entries {
        beside(text, 2, key, width + 4, &cut(words, LONGEST));
    }
}

fn section(text: &mut String, title: &str) {
    text.push('\n');
    wrap(text, bold(), 0, title);
}
