//! Lines of a settings file that Spark reads otherwise than they look.

use super::support;
use crate::catalog;
use crate::conf::properties::{Problem, ProblemKind};
use crate::conf::{Setting, value};
use crate::declare_rule;
use crate::rules::{Edit, Finding, Fix, FixKind, SettingsContext, Severity};
use crate::text::Span;

declare_rule! {
    /// A line of a settings file that Spark reads otherwise than it looks.
    ///
    /// ## Why
    /// Settings files are Java properties, with rules that people don't expect: a `# note` behind a value is part of the value,
    /// quotes and a trailing `;` stay in it, a backslash is an escape, and a malformed `\u` stops spark-submit. Keys without
    /// `spark.` are dropped.
    ///
    /// ## Silent when
    /// - the value is refused anyway: `invalid-value` says so
    /// - the line steers a template (`{% if %}`, `<% %>`)
    ///
    /// ## Example
    /// ```conf
    /// spark.app.name nightly # the big one # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// # the big one
    /// spark.app.name nightly
    /// ```
    ///
    /// ## Sources
    /// - <https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/Properties.html#load(java.io.Reader)>
    pub MISREAD_LINE = {
        name: "misread-line", group: Carriers, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    let Some(file) = cx.properties else { return };
    for problem in &file.problems {
        if !problem.fatal && is_refused(cx, problem) {
            continue;
        }
        let finding = finding(cx, problem);
        cx.shared.report(finding);
    }
}

/// Whether the value that the problem lies in is refused by Spark.
fn is_refused(cx: &SettingsContext<'_>, problem: &Problem) -> bool {
    let refuses = |setting: &Setting| {
        let facts = catalog::setting(&setting.key);
        let text = setting.value.literal();
        facts.zip(text).is_some_and(|(facts, text)| value::parse(facts, cx.shared.version(), text).is_err())
    };
    cx.settings.iter().filter(|setting| setting.value_span.contains(problem.span)).any(refuses)
}

fn finding(cx: &SettingsContext<'_>, problem: &Problem) -> Finding {
    let severity = match problem.kind {
        _ if problem.fatal => Severity::Error,
        ProblemKind::Dropped => Severity::Information,
        _ => Severity::Warning,
    };
    let mut finding = support::finding(&cx.shared, severity, problem.span, problem.message.clone());
    finding.unnecessary = problem.kind == ProblemKind::Dropped;
    finding.fixes = fix(cx.shared.text, problem).into_iter().collect();
    finding
}

fn fix(text: &str, problem: &Problem) -> Option<Fix> {
    let span = problem.span;
    let (title, edits) = match problem.kind {
        ProblemKind::InlineComment => {
            let line = text[..span.start as usize].rfind(['\n', '\r']).map_or(0, |at| at + 1);
            let blanks = text[..span.start as usize].trim_end_matches([' ', '\t']).len();
            let note = format!("{}\n", span.of(text).trim_end());
            let out = Edit { span: Span::new(blanks, span.end as usize), text: String::new() };
            ("Put the note on its own line", vec![Edit { span: Span::at(line), text: note }, out])
        }
        ProblemKind::Quoted => {
            let inner = span.of(text).trim_matches(['"', '\'']).to_owned();
            ("Remove the quotes", vec![Edit { span, text: inner }])
        }
        ProblemKind::TrailingSeparator | ProblemKind::Invisible => {
            ("Remove the character", vec![Edit { span, text: String::new() }])
        }
        ProblemKind::LostBackslash | ProblemKind::MalformedEscape => {
            let word = word_around(text, span);
            ("Double the backslashes", vec![Edit { span: word, text: doubled(word.of(text)) }])
        }
        ProblemKind::ForeignSyntax
        | ProblemKind::SwallowedComment
        | ProblemKind::BrokenContinuation
        | ProblemKind::Dropped => {
            return None;
        }
    };
    Some(Fix { title: title.to_owned(), kind: FixKind::QuickFix, safe: false, edits })
}

/// The text between blanks and line ends that a span lies in.
fn word_around(text: &str, span: Span) -> Span {
    let start = text[..span.start as usize].rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let end = text[span.end as usize..].find(char::is_whitespace).map_or(text.len(), |at| span.end as usize + at);
    Span::new(start, end)
}

/// A word whose single backslashes are doubled; those that are doubled already stay.
fn doubled(word: &str) -> String {
    word.replace("\\\\", "\\").replace('\\', "\\\\")
}
