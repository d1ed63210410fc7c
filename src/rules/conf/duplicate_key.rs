//! One key twice in one place.

use rustc_hash::FxHashMap;

use super::support;
use crate::conf::carriers::Submit;
use crate::conf::{Carrier, Setting};
use crate::declare_rule;
use crate::rules::{Finding, Fix, Related, SettingsContext, Severity};

declare_rule! {
    /// The same key is set twice in one settings file, one command, one map or one builder.
    ///
    /// ## Why
    /// The last one wins without a word, so a change to the first one does nothing.
    ///
    /// ## Silent when
    /// - the file is a template with branches: only one of the lines survives
    /// - the calls set the value at run time: each holds from its line on
    /// - the two stand in different branches, functions, builders or maps, or one of them comes from a variable
    /// - a hint only, when both values are the same
    ///
    /// ## Example
    /// ```conf
    /// spark.executor.memory 4g  # finding
    /// spark.executor.cores 2
    /// spark.executor.memory 8g
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.executor.memory 8g
    /// spark.executor.cores 2
    /// ```
    ///
    /// ## Sources
    /// - <https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/Properties.html>
    pub DUPLICATE_KEY = {
        name: "duplicate-key", group: Carriers, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.properties.is_some_and(|file| file.is_template) {
        return;
    }
    // The next setting of a key and carrier, and the one that wins where that stands.
    let mut next: FxHashMap<(&str, Carrier), (&Setting, &Setting)> = FxHashMap::default();
    let mut findings = Vec::new();
    for setting in cx.settings.iter().rev().filter(|setting| !setting.key_is_prefix && !setting.carrier.at_run_time()) {
        let winner = match next.get(&(setting.key.as_str(), setting.carrier)) {
            Some((next, winner)) if same_place(cx, setting, next) => {
                findings.push(finding(cx, setting, winner));
                winner
            }
            _ => setting,
        };
        next.insert((&setting.key, setting.carrier), (setting, winner));
    }
    findings.reverse();
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

/// In a properties file always, in a command too; in code only within one statement, where no branch can lie between the
/// two, and elsewhere within one map.
fn same_place(cx: &SettingsContext<'_>, one: &Setting, other: &Setting) -> bool {
    let Some(between) = cx.shared.text.get(one.span.end as usize..other.span.start as usize) else { return false };
    match one.carrier {
        Carrier::Properties => true,
        carrier if carrier.is_code() => !between.contains('\n') || in_one_chain(between),
        Carrier::SubmitConf | Carrier::SubmitFlag => {
            // What a variable holds is a default that a command may override.
            let inside = |submit: &Submit| submit.span.contains(one.span) && submit.span.contains(other.span);
            !has_branches(between) && cx.submit.is_none_or(inside)
        }
        _ => !has_branches(between) && in_one_map(cx.shared.text, one, between),
    }
}

/// A template's branches: only one of the two survives.
fn has_branches(between: &str) -> bool {
    ["{%", "{{", "<%", "%{"].iter().any(|opening| between.contains(opening))
}

/// No bracket is left open or closes what was open before, and no line stands further left.
fn in_one_map(text: &str, one: &Setting, between: &str) -> bool {
    let mut open = 0_i32;
    let never_closed = between.chars().all(|char| {
        open += match char {
            '{' | '[' => 1,
            '}' | ']' => -1,
            _ => 0,
        };
        open >= 0
    });
    let indent_of = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let before = text.get(..one.key_span.start as usize).unwrap_or_default();
    let indent = indent_of(before.rsplit('\n').next().unwrap_or_default());
    let is_inside = |line: &str| line.trim().is_empty() || indent_of(line) >= indent;
    never_closed && open == 0 && between.lines().skip(1).all(is_inside)
}

/// Only calls and blanks lie between two links of one chain.
fn in_one_chain(between: &str) -> bool {
    between.lines().all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with(['.', '#', '\\', ')'])
    })
}

fn finding(cx: &SettingsContext<'_>, setting: &Setting, winner: &Setting) -> Finding {
    let same = setting.value.literal().is_some() && setting.value == winner.value;
    let value = winner.value.literal().unwrap_or("the later value");
    let (severity, message) = if same {
        (Severity::Hint, format!("{} is set again later, to the same value.", setting.key))
    } else {
        (Severity::Warning, format!("{} is set again later: {value} wins, this does nothing.", setting.key))
    };
    let mut finding = support::finding(&cx.shared, severity, setting.key_span, message);
    finding.unnecessary = true;
    finding.related = vec![Related { path: None, span: winner.key_span, message: "the one that wins".to_owned() }];
    let title = if cx.shared.format.is_some() { "Remove the one that loses" } else { "Remove the line that loses" };
    let removed = support::remove(&cx.shared, setting);
    finding.with_fixes(removed.map(|fix| Fix { title: title.to_owned(), safe: true, ..fix }))
}
