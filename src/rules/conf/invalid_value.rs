//! Values that Spark refuses, or reads as something else than was meant.

use super::support;
use crate::catalog::{self, Kind, SettingFacts};
use crate::conf::carriers::{Problem, ProblemKind};
use crate::conf::value::{self, Noticed, Parsed, Reason, Refusal};
use crate::conf::{Bytes, Carrier, Setting};
use crate::declare_rule;
use crate::rules::{Edit, Finding, Fix, FixKind, SettingsContext, Severity, Vendor};

declare_rule! {
    /// A value that Spark refuses, or that means something else than it looks.
    ///
    /// ## Why
    /// Spark parses values strictly: no blank before a unit, no fraction of a size, no `yes` for a boolean. A refused value stops
    /// the application when it is read, which may be at its start, at the first query or late in the night. A bare number is in
    /// the setting's own unit, and what is finer than that unit is cut off. A manifest of Kubernetes takes text only, and is
    /// refused with a bare number or boolean.
    ///
    /// ## Silent when
    /// - the value is a template, a reference (`${env:X}`), an expression, or a placeholder in capitals (`DRIVER_MEMORY`)
    /// - a vendor's runtime takes it (`auto` on Databricks)
    /// - the key is unknown, or nothing declares its type
    ///
    /// ## Example
    /// ```conf
    /// spark.executor.memory 4 g  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.executor.memory 4g
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#spark-properties>
    pub INVALID_VALUE = {
        name: "invalid-value", group: Carriers, severity: Error, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    for problem in cx.problems.iter().filter(|problem| problem.kind == ProblemKind::NotAString) {
        let finding = not_a_string(cx, problem);
        cx.shared.report(finding);
    }
    for setting in cx.settings.iter().filter(|setting| !setting.key_is_prefix) {
        let (Some(facts), Some(text)) = (catalog::setting(&setting.key), setting.value.literal()) else { continue };
        if is_placeholder(text)
            || vendor_takes(cx.shared.environment.vendor, setting.carrier, text)
            || facts.kind(cx.shared.version()) == Kind::Untyped
        {
            continue;
        }
        let finding = match value::parse(facts, cx.shared.version(), text) {
            Err(refusal) => Some(refused(cx, setting, facts, text, refusal)),
            Ok(parsed) => match unknown_name(&setting.key, text) {
                Some(refusal) => Some(refused(cx, setting, facts, text, refusal)),
                None => surprising(cx, setting, facts, text, &parsed),
            },
        };
        if let Some(finding) = finding {
            cx.shared.report(finding);
        }
    }
}

/// A number or a boolean where a manifest takes text.
fn not_a_string(cx: &SettingsContext<'_>, problem: &Problem) -> Finding {
    let quoted = Fix {
        title: "Put it in quotes".to_owned(),
        kind: FixKind::QuickFix,
        safe: true,
        edits: vec![Edit { span: problem.span, text: format!("\"{}\"", problem.span.of(cx.shared.text)) }],
    };
    support::finding(&cx.shared, Severity::Error, problem.span, problem.message.clone()).with_fixes([quoted])
}

/// `EXECUTOR_MEMORY`: something fills it in before Spark sees it.
fn is_placeholder(text: &str) -> bool {
    text.contains('_')
        && text.len() >= 4
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// `auto` means something on clusters of Databricks.
fn vendor_takes(vendor: Vendor, carrier: Carrier, text: &str) -> bool {
    let may_be_theirs = vendor == Vendor::Databricks || carrier == Carrier::Cluster;
    may_be_theirs && text.trim().eq_ignore_ascii_case("auto")
}

fn refused(cx: &SettingsContext<'_>, setting: &Setting, facts: &SettingFacts, text: &str, refusal: Refusal) -> Finding {
    let noticed = value::noticed(facts, setting.carrier, cx.shared.version());
    let (severity, when) = match noticed {
        Noticed::Never => (Severity::Warning, "Spark stores it and never looks at it".to_owned()),
        Noticed::AtStart => (Severity::Error, "the application does not start".to_owned()),
        noticed => (Severity::Error, format!("Spark refuses it {noticed}")),
    };
    let what = refusal.message.trim_end_matches('.');
    let message = match what.contains(text.trim()) {
        true => format!("{what} ({when})."),
        false => format!("`{}`: {what} ({when}).", text.trim()),
    };
    let mut finding = support::finding(&cx.shared, severity, support::value_or_key(setting), message);
    finding.fixes =
        refusal.suggestion.and_then(|value| support::set_value(&cx.shared, setting, &value)).into_iter().collect();
    finding
}

/// An accepted value that is nothing once its unit is applied, or a heap that no machine has.
fn surprising(
    cx: &SettingsContext<'_>,
    setting: &Setting,
    facts: &SettingFacts,
    text: &str,
    parsed: &Parsed,
) -> Option<Finding> {
    const TERABYTE: i64 = 1 << 40;
    let unit_is_written = text.trim().ends_with(|c: char| c.is_ascii_alphabetic());
    let starts_with_zero = text.trim().starts_with('0');
    let message = match parsed {
        Parsed::Bytes(0, unit) if unit_is_written && !starts_with_zero => {
            format!(
                "`{}` is less than one unit of {} ({}): Spark reads it as 0.",
                text.trim(),
                setting.key,
                unit.suffix()
            )
        }
        Parsed::Time(0, unit) if unit_is_written && !starts_with_zero => {
            format!(
                "`{}` is less than one unit of {} ({}): Spark reads it as 0.",
                text.trim(),
                setting.key,
                unit.name()
            )
        }
        Parsed::Bytes(amount, unit) if !unit_is_written && is_heap(facts) => {
            let bytes = Bytes(amount.saturating_mul(unit.bytes()));
            if bytes.0 < 16 * TERABYTE {
                return None;
            }
            format!("A bare number is MiB here: `{}` means {bytes}. Write the unit, e.g. 4g.", text.trim())
        }
        _ => return None,
    };
    Some(support::finding(&cx.shared, Severity::Warning, support::value_or_key(setting), message))
}

/// Keys whose names Spark's code looks up, besides the classes that a value may name with their package.
const NAMED_IN_CODE: [(&str, &[&str]); 5] = [
    ("spark.eventLog.compression.codec", CODECS),
    ("spark.io.compression.codec", CODECS),
    ("spark.scheduler.mode", &["FAIR", "FIFO", "NONE"]),
    ("spark.shuffle.manager", &["sort", "tungsten-sort"]),
    ("spark.shuffle.mapStatus.compression.codec", CODECS),
];

const CODECS: &[&str] = &["lz4", "lzf", "snappy", "zstd"];

/// A short name that no code of Spark knows. Spark folds their case.
fn unknown_name(key: &str, text: &str) -> Option<Refusal> {
    let (_, names) = NAMED_IN_CODE.iter().find(|(named, _)| *named == key)?;
    let text = text.trim();
    let refused = !text.contains(['.', '$']) && !names.iter().any(|name| name.eq_ignore_ascii_case(text));
    refused.then(|| Refusal {
        reason: Reason::NotAllowed,
        message: format!("`{text}` is not one of {}, nor a class with its package.", names.join(", ")),
        suggestion: None,
    })
}

fn is_heap(facts: &SettingFacts) -> bool {
    matches!(
        facts.name(),
        "spark.driver.memory"
            | "spark.executor.memory"
            | "spark.driver.memoryOverhead"
            | "spark.executor.memoryOverhead"
    )
}
