//! One key twice in one place.

use rustc_hash::FxHashMap;

use super::support;
use crate::conf::{Carrier, Setting};
use crate::declare_rule;
use crate::rules::{Edit, Finding, Fix, FixKind, Related, SettingsContext, Severity};

declare_rule! {
    /// The same key is set twice in one settings file or one builder.
    ///
    /// ## Why
    /// The last one wins without a word, so a change to the first one does nothing.
    ///
    /// ## Silent when
    /// - the file is a template with branches: only one of the lines survives
    /// - the calls set the value at run time: each holds from its line on
    /// - the two stand in different branches, functions or builders
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
    let mut last: FxHashMap<(&str, Carrier), &Setting> = FxHashMap::default();
    let mut findings = Vec::new();
    for setting in cx.settings.iter().rev().filter(|setting| !setting.key_is_prefix && !setting.carrier.at_run_time()) {
        match last.get(&(setting.key.as_str(), setting.carrier)) {
            Some(winner) if same_place(cx, setting, winner) => findings.push(finding(cx, setting, winner)),
            Some(_) => {}
            None => drop(last.insert((&setting.key, setting.carrier), setting)),
        }
    }
    findings.reverse();
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

/// In a properties file always; in code only within one statement, where no branch can lie between the two.
fn same_place(cx: &SettingsContext<'_>, one: &Setting, other: &Setting) -> bool {
    one.carrier == Carrier::Properties || !cx.shared.text[one.span.end as usize..other.span.start as usize].contains('\n')
        || in_one_chain(&cx.shared.text[one.span.end as usize..other.span.start as usize])
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
        (Severity::Hint, format!("{} is set again below, to the same value.", setting.key))
    } else {
        (Severity::Warning, format!("{} is set again below: {value} wins, this line does nothing.", setting.key))
    };
    let mut finding = support::finding(&cx.shared, severity, setting.key_span, message);
    finding.unnecessary = true;
    finding.related = vec![Related { path: None, span: winner.key_span, message: "the one that wins".to_owned() }];
    if setting.carrier == Carrier::Properties || setting.span.of(cx.shared.text).trim_start().starts_with('.') {
        finding.fixes.push(Fix {
            title: "Remove the line that loses".to_owned(),
            kind: FixKind::QuickFix,
            safe: true,
            edits: vec![Edit { span: setting.span, text: String::new() }],
        });
    }
    finding
}
