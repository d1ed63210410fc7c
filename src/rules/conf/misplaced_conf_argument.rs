//! Options of a submit command that never arrive, and pairs that arrive as something else.

use super::support;
use crate::conf::carriers::{Problem, ProblemKind, Submit, Text};
use crate::declare_rule;
use crate::rules::{Edit, Finding, Fix, FixKind, SettingsContext, Severity};
use crate::text::Span;

declare_rule! {
    /// An option or a `key=value` that stands where Spark doesn't see it, or not as it was meant.
    ///
    /// ## Why
    /// `spark-submit` stops looking for options at the application file: what stands behind it goes to the application, and
    /// most applications ignore what they don't know. `--conf key = value` with blanks becomes three arguments for the shell, an
    /// unquoted `;` ends the command, and of several pairs in one value of Glue's `--conf` only those count that have a
    /// `--conf` of their own in front. The command looks right and the setting is lost, or `spark-submit` stops.
    ///
    /// ## Silent when
    /// - the option is one that applications have, too (`--name`, `--files`), or a `--conf` without a key of Spark
    /// - another application file stands behind it: the first one is a wrapper that submits the second
    /// - one of the shells is started (`pyspark`, `spark-shell`, `spark-sql`), which take options anywhere
    ///
    /// ## Example
    /// ```sh
    /// spark-submit --master yarn jobs/daily.py --conf spark.executor.memory=8g  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```sh
    /// spark-submit --master yarn --conf spark.executor.memory=8g jobs/daily.py
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/submitting-applications.html#launching-applications-with-spark-submit>
    pub MISPLACED_CONF_ARGUMENT = {
        name: "misplaced-conf-argument", group: Carriers, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

/// A command with more options behind its application has lost them all for one reason.
const MOST: usize = 100;

fn check(cx: &mut SettingsContext<'_>) {
    let lost = cx.submit.filter(|submit| !submits_another(submit));
    let lost = lost.into_iter().flat_map(|submit| submit.after_application.iter().map(move |option| (submit, *option)));
    let lost = lost.take(MOST);
    let mut findings: Vec<Finding> = lost.map(|(submit, option)| behind_application(cx, submit, option)).collect();
    findings.extend(cx.problems.iter().filter_map(|problem| misread(cx, problem)));
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

/// Whether a further application file stands among the arguments.
fn submits_another(submit: &Submit) -> bool {
    let is_file = |argument: &Text| {
        let options = &submit.after_application;
        let before = options.partition_point(|option| option.start <= argument.span.start);
        let is_value = options[..before].last().is_some_and(|option| option.contains(argument.span));
        !is_value && [".py", ".jar", ".R"].iter().any(|ending| argument.text.ends_with(ending))
    };
    submit.arguments.iter().any(is_file)
}

fn behind_application(cx: &SettingsContext<'_>, submit: &Submit, option: Span) -> Finding {
    let text = option.of(cx.shared.text);
    let name = text.trim_start_matches(['"', '\'']).split(|char: char| !char.is_alphanumeric() && char != '-').next();
    let application = submit.application.as_ref().map_or("the application", |application| {
        application.text.rsplit(['/', '\\']).next().unwrap_or(&application.text)
    });
    let message = format!(
        "`{}` stands behind the application file: it goes to {application} as an argument, and Spark never sees it. Options \
         come first.",
        name.unwrap_or(text)
    );
    support::finding(&cx.shared, Severity::Warning, option, message).with_fixes(moved(cx.shared.text, submit, option))
}

/// Puts an option in front of the application file, within one line of a command or over lines that `\` joins.
fn moved(text: &str, submit: &Submit, option: Span) -> Option<Fix> {
    let application = submit.application.as_ref()?.span;
    let quotes = usize::from(text.get(..application.start as usize)?.ends_with(['"', '\'']));
    let start = application.start as usize - quotes;
    let before = text.get(..start)?;
    let between = text.get(application.end as usize + quotes..option.start as usize)?;
    let gap = &between[between.trim_end_matches(GAP).len()..];
    let parted_by_blanks = before.ends_with([' ', '\t']) && !gap.is_empty() && !gap.starts_with(',');
    let written = option.of(text);
    if !parted_by_blanks || [between, written].into_iter().any(|part| !is_of_one_command(part)) {
        return None;
    }
    let taken = Span::new(option.start as usize - gap.len(), option.end as usize);
    Some(Fix {
        title: "Move it before the application file".to_owned(),
        kind: FixKind::QuickFix,
        safe: false,
        edits: vec![
            Edit { span: Span::at(start), text: format!("{written}{gap}").replace("\r\n", "\n") },
            Edit { span: taken, text: String::new() },
        ],
    })
}

/// What stands between two words of a command.
const GAP: [char; 5] = [' ', '\t', '\r', '\n', '\\'];

/// Every line but the last goes on in the next, and no list's commas part the words.
fn is_of_one_command(part: &str) -> bool {
    let mut lines = part.split('\n').rev();
    lines.next();
    lines.all(|line| line.trim_end_matches('\r').ends_with('\\')) && !["\",", "',"].iter().any(|end| part.contains(end))
}

fn misread(cx: &SettingsContext<'_>, problem: &Problem) -> Option<Finding> {
    let text = cx.shared.text;
    let before = text.get(..problem.span.start as usize).unwrap_or_default();
    let mut message = problem.message.as_str();
    let (severity, fix) = match problem.kind {
        ProblemKind::SpacedAssignment => {
            let option = before.trim_end_matches(GAP);
            let is_words = ["--conf", "--conf=", "-c"].iter().any(|conf| option.ends_with(conf))
                && !problem.span.of(text).starts_with(['"', '\'']);
            if is_words {
                (Severity::Error, joined(text, problem.span))
            } else {
                message = "The blanks stay: Spark takes the key with the blank behind it for one that it does not know. \
                           Write `key=value`.";
                (Severity::Warning, joined(text, problem.span))
            }
        }
        ProblemKind::MissingAssignment | ProblemKind::MissingValue => (Severity::Error, None),
        ProblemKind::UnquotedSemicolon => (cut(before), quoted(text, problem.span)),
        ProblemKind::UnchainedConf => {
            let edit = Edit { span: Span::at(problem.span.start as usize), text: "--conf ".to_owned() };
            (Severity::Warning, Some(quick_fix("Put --conf in front", edit)))
        }
        ProblemKind::NotAString => return None,
    };
    Some(support::finding(&cx.shared, severity, problem.span, message.to_owned()).with_fixes(fix))
}

/// A submit command that is cut off has no application and stops; a shell starts without the rest.
fn cut(before: &str) -> Severity {
    let command = before.rsplit(['\n', ';', '&', '|']).next().unwrap_or_default();
    if command.contains("spark-submit") || command.trim_start().starts_with('-') {
        Severity::Error
    } else {
        Severity::Warning
    }
}

fn quick_fix(title: &str, edit: Edit) -> Fix {
    Fix { title: title.to_owned(), kind: FixKind::QuickFix, safe: false, edits: vec![edit] }
}

/// `key=value` without blanks.
fn joined(text: &str, span: Span) -> Option<Fix> {
    let (key, value) = span.of(text).split_once('=')?;
    let (key, value) = (key.trim_end(), value.trim_start());
    let is_whole = !value.is_empty() && !key.contains(['\n', '\\']) && !value.contains(['\n', '\\']);
    is_whole.then(|| quick_fix("Write it without blanks", Edit { span, text: format!("{key}={value}") }))
}

/// The word around a `;` in quotes.
fn quoted(text: &str, span: Span) -> Option<Fix> {
    let (before, behind) = (text.get(..span.start as usize)?, text.get(span.end as usize..)?);
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let end = span.end as usize + behind.find(char::is_whitespace).unwrap_or(behind.len());
    let word = text.get(start..end)?;
    let is_plain = !word.contains(['"', '\'', '`', '\\', '&', '|', '(', ')']) && !word.ends_with(';');
    is_plain.then(|| quick_fix("Quote it", Edit { span: Span::new(start, end), text: format!("\"{word}\"") }))
}
