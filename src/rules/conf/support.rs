//! What the rules on settings share: what is in force, reasons beside a setting, findings on it.

use std::borrow::Cow;

use crate::catalog::{self, SparkVersion};
use crate::conf::{Bytes, Carrier, Origin, Setting, value};
use crate::pyspark::StaticPlan;
use crate::pyspark::plan::{Operator, Source};
use crate::rules::{Confidence, Edit, Evidence, Finding, Fix, FixKind, SettingsContext, Severity, Shared};

pub(super) use super::written::{beside, remove, rename, set_value};
use crate::text::Span;

/// A finding on a span of a setting, with nothing but a message.
pub(super) fn finding(cx: &Shared<'_>, severity: Severity, span: Span, message: String) -> Finding {
    Finding::new(cx.rule, severity, span, message)
}

/// The value's span, or the key's where no value is written.
pub(super) fn value_or_key(setting: &Setting) -> Span {
    if setting.value_span.is_empty() { setting.key_span } else { setting.value_span }
}

/// Whether somebody wrote why: a comment of a few words at the end of the line, or right above it or its command.
pub(super) fn has_reason(cx: &Shared<'_>, setting: &Setting) -> bool {
    let Some(before) = cx.text.get(..setting.key_span.start as usize) else { return false };
    let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    const LONGEST_COMMAND: usize = 200;
    let mut above = before[..line_start].trim_end_matches(['\n', '\r']).split(['\n', '\r']).rev().take(LONGEST_COMMAND);
    // A command goes on over lines, and its reason stands above all of them.
    let above = match cx.format {
        Some(_) => above.find(|line| !line.trim().is_empty() && !line.trim_end().ends_with('\\')),
        None => above.next(),
    };
    let behind = match setting.carrier {
        Carrier::Properties => "",
        _ => {
            let rest = cx.text.get(setting.span.end.max(setting.value_span.end) as usize..).unwrap_or_default();
            let ended = setting.span.of(cx.text).ends_with(['\n', '\r']);
            let rest = rest.split(['\n', '\r']).next().filter(|_| !ended).unwrap_or_default();
            rest.find('#').map_or("", |at| &rest[at..])
        }
    };
    [above.unwrap_or_default().trim_start_matches(['\u{feff}', ' ', '\t']), behind].into_iter().any(is_reason)
}

fn is_reason(comment: &str) -> bool {
    let Some(words) = comment.strip_prefix(['#', '!']).or_else(|| comment.strip_prefix("//")) else { return false };
    let directive = words.trim_start().starts_with("sparkls:");
    !directive && words.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() >= 4
}

/// Evidence: an effective value with its threshold.
pub(super) fn evidence(
    name: impl Into<Cow<'static, str>>,
    value: impl Into<String>,
    source: impl Into<String>,
) -> Evidence {
    Evidence { name: name.into(), value: value.into(), threshold: None, source: Some(source.into()) }
}

/// The settings with this key whose value is known, with the value trimmed as Spark trims it.
pub(super) fn known<'a>(settings: &'a [Setting], key: &'a str) -> impl Iterator<Item = (&'a Setting, &'a str)> + 'a {
    settings
        .iter()
        .filter(move |setting| setting.key == key && !setting.key_is_prefix)
        .filter_map(|setting| Some((setting, setting.value.literal()?.trim())))
}

/// The same without what is set in a session that runs already.
pub(super) fn known_at_start<'a>(
    settings: &'a [Setting],
    key: &'a str,
) -> impl Iterator<Item = (&'a Setting, &'a str)> + 'a {
    known(settings, key).filter(|(setting, _)| !setting.carrier.at_run_time())
}

/// Whether the value that is written here is the one in force.
pub(super) fn is_in_force(cx: &Shared<'_>, setting: &Setting) -> bool {
    let in_force = cx.conf.get(&setting.key).value;
    setting.value.literal().zip(in_force).is_some_and(|(written, value)| written.trim() == value.trim())
}

/// Whether somebody or a run sets the key: not the default of a version.
pub(super) fn is_written(cx: &Shared<'_>, key: &str) -> bool {
    matches!(cx.conf.get(key).origin, Some(Origin::Written { .. } | Origin::Run(_)))
}

/// The whole job runs in one JVM, without executors: by setting, by the code, or by the master in force.
pub(super) fn runs_locally(cx: &SettingsContext<'_>) -> bool {
    let local = |master: String| master.starts_with("local") && !master.starts_with("local-cluster");
    cx.shared.environment.local
        || cx.plan.is_some_and(|plan| plan.uses.local_master)
        || cx.shared.conf.get("spark.master").value.is_some_and(local)
}

/// Whether a frame of the file reads a stream.
pub(super) fn reads_a_stream(plan: &StaticPlan) -> bool {
    plan.nodes.iter().any(|node| matches!(node.operator, Operator::Source(Source::Read { streaming: true, .. })))
}

/// The words of a value between blanks, with their places; the value's own place where it is written with escapes.
pub(super) fn words<'a>(cx: &Shared<'a>, setting: &'a Setting) -> Vec<(&'a str, Span)> {
    let Some(value) = setting.value.literal() else { return Vec::new() };
    let as_written = setting.value_span.of(cx.text) == value;
    let place = |word: &str| match as_written {
        true => {
            let start = setting.value_span.start as usize + (word.as_ptr() as usize - value.as_ptr() as usize);
            Span::new(start, start + word.len())
        }
        false => value_or_key(setting),
    };
    value.split_whitespace().map(|word| (word, place(word))).collect()
}

/// Takes one word out of a value, or the setting with its only word.
pub(super) fn remove_word(cx: &Shared<'_>, setting: &Setting, word: &str, span: Span) -> Option<Fix> {
    if span.of(cx.text) != word {
        return None;
    }
    if span == setting.value_span {
        return remove(cx, setting);
    }
    let value = setting.value_span.of(cx.text);
    let (start, end) =
        ((span.start - setting.value_span.start) as usize, (span.end - setting.value_span.start) as usize);
    let after = value[end..].len() - value[end..].trim_start().len();
    let before = value[..start].len() - value[..start].trim_end().len();
    // The blank behind the word goes with it; behind the last word there is none.
    let taken = if after > 0 {
        Span::new(span.start as usize, span.end as usize + after)
    } else {
        Span::new(span.start as usize - before, span.end as usize)
    };
    Some(Fix {
        title: format!("Remove {word}"),
        kind: FixKind::QuickFix,
        safe: false,
        edits: vec![Edit { span: taken, text: String::new() }],
    })
}

/// A finding on the value of a setting that can be set to a better one, or removed.
pub(super) fn replaceable(
    cx: &Shared<'_>,
    severity: Severity,
    setting: &Setting,
    message: String,
    better: &str,
) -> Finding {
    let mut finding = finding(cx, severity, value_or_key(setting), message);
    finding.fixes = set_value(cx, setting, better).into_iter().chain(remove(cx, setting)).collect();
    finding
}

/// What only the launch of the driver's JVM reads, or what `spark-submit` resolves before it.
pub(super) const READ_BY_THE_LAUNCH: [&str; 13] = [
    "spark.driver.cores",
    "spark.driver.defaultJavaOptions",
    "spark.driver.extraClassPath",
    "spark.driver.extraJavaOptions",
    "spark.driver.extraLibraryPath",
    "spark.driver.memory",
    "spark.driver.memoryOverhead",
    "spark.driver.memoryOverheadFactor",
    "spark.jars.excludes",
    "spark.jars.ivy",
    "spark.jars.packages",
    "spark.jars.repositories",
    "spark.submit.deployMode",
];

/// The size that a value means to Spark; `None` for what Spark refuses.
pub(super) fn bytes(key: &str, version: SparkVersion, value: &str) -> Option<Bytes> {
    value::parse(catalog::setting(key)?, version, value).ok()?.bytes()
}

/// Confidence of what follows from how settings relate.
pub(super) const REASONED: Confidence = Confidence::Reasoned;
