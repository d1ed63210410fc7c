//! The report in Markdown, for a comment on a pull request: what matters in the open, the rest folded.

use std::fmt::Write as _;

use super::summary::{Summary, Title};
use crate::rules::Verdict;
use crate::rules::run::words::{count, duration};

/// The whole report, in the Markdown that GitHub and GitLab show.
pub(super) fn render(summary: &Summary<'_>) -> String {
    let mut text = String::new();
    let mut head = summary.head.iter();
    let _ = writeln!(text, "### {}\n", escaped(head.next().map_or("A Spark run", String::as_str)));
    let _ = writeln!(text, "{}", head.map(|part| escaped(part)).collect::<Vec<_>>().join(" · "));
    for note in summary.notes {
        let _ = writeln!(text, "\n_{}_", escaped(note));
    }
    table(&mut text, summary);
    for verdict in &summary.shown {
        finding(&mut text, summary, verdict);
    }
    if !summary.unspoken.is_empty() {
        text.push_str("\n<details><summary>What else was checked</summary>\n\n");
        for sentence in &summary.unspoken {
            let _ = writeln!(text, "- {}", escaped(sentence));
        }
        text.push_str("\n</details>\n");
    }
    text
}

fn table(text: &mut String, summary: &Summary<'_>) {
    if summary.rows.is_empty() {
        return;
    }
    text.push_str("\n| Stage | Where the time went | Time | | If fixed |\n| ---: | --- | ---: | --- | ---: |\n");
    for row in &summary.rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            row.stage.stage,
            escaped(&row.what),
            duration(row.wall_ms),
            escaped(&row.short),
            row.saving().unwrap_or_default(),
        );
    }
    if summary.more_rows > 0 {
        let _ = writeln!(text, "\nand {} more", count(summary.more_rows as u64, "stage"));
    }
}

fn finding(text: &mut String, summary: &Summary<'_>, verdict: &Verdict) {
    let Title { severity, place, saving } = summary.title(verdict);
    let place = if place.is_empty() { String::new() } else { format!(", {}", escaped(&place)) };
    let saving = saving.map(|saving| format!(": {saving} if fixed")).unwrap_or_default();
    let _ = writeln!(text, "\n**{severity}** `{}`{place}{saving}\n", verdict.rule);
    let _ = writeln!(text, "{}", escaped(&verdict.message));
    let mut lines: Vec<String> =
        verdict.advice.iter().map(|advice| format!("- **fix:** {}", escaped(advice))).collect();
    lines.extend(verdict.confounders.iter().map(|confounder| format!("- **but:** {}", escaped(confounder))));
    if !lines.is_empty() {
        let _ = writeln!(text, "\n{}", lines.join("\n"));
    }
    if verdict.evidence.is_empty() {
        return;
    }
    text.push_str(
        "\n<details><summary>Evidence</summary>\n\n| | measured | threshold | from |\n| --- | --- | --- | --- |\n",
    );
    for evidence in &verdict.evidence {
        let cell = |text: &Option<String>| text.as_deref().map(escaped).unwrap_or_default();
        let (threshold, source) = (cell(&evidence.threshold), cell(&evidence.source));
        let _ =
            writeln!(text, "| {} | {} | {threshold} | {source} |", escaped(&evidence.name), escaped(&evidence.value));
    }
    text.push_str("\n</details>\n");
}

/// Text that Markdown and HTML take as it is, on one line.
pub(in crate::cli) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '@' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_a_log_is_no_markup() {
        assert_eq!(escaped("a|b <script> `x` @team\nmore"), "a\\|b &lt;script> \\`x\\` \\@team more");
    }
}
