//! Settings that another place of the same job overrides.

use super::support;
use crate::conf::{Carrier, Effective, Layer, Origin, Setting};
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity};

declare_rule! {
    /// A value that another place of the same job overrides.
    ///
    /// ## Why
    /// What code sets before the session starts wins over the submit command, that over the settings file. Whoever changes the
    /// losing place sees nothing happen: the change was deployed, the file is right, and the job runs with the old value.
    ///
    /// ## Silent when
    /// - both say the same
    /// - the two are files of one kind: settings for different targets, of which a job gets one
    /// - the winner is set at run time, from its line on
    /// - the two stand in different functions of one file
    /// - the winner's value is not known
    ///
    /// ## Example
    /// ```python
    /// from pyspark import SparkConf
    /// from pyspark.sql import SparkSession
    ///
    /// conf = SparkConf().set("spark.executor.memory", "4g")  # finding
    /// spark = SparkSession.builder.config(conf=conf).config("spark.executor.memory", "8g").getOrCreate()
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark import SparkConf
    /// from pyspark.sql import SparkSession
    ///
    /// conf = SparkConf().set("spark.executor.memory", "8g")
    /// spark = SparkSession.builder.config(conf=conf).getOrCreate()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#dynamically-loading-spark-properties>
    pub OVERRIDDEN_SETTING = {
        name: "overridden-setting", group: Carriers, severity: Information, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    for setting in cx.settings.iter().filter(|setting| !setting.key_is_prefix && !setting.carrier.at_run_time()) {
        if let Some(finding) = overridden(cx, setting) {
            cx.shared.report(finding);
        }
    }
}

fn overridden(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Finding> {
    let effective = cx.shared.conf.get(&setting.key);
    let (Some(value), Some(winner)) = (effective.value.as_deref(), effective.origin.as_ref()) else { return None };
    let Origin::Written { carrier, path, line } = winner else { return None };
    let own = own_layer(cx, setting, &effective)?;
    let Origin::Written { path: own_path, .. } = &own.origin else { return None };
    let written = setting.value.literal()?;
    let same = crate::catalog::setting(&setting.key).map_or(written.trim() == value.trim(), |facts| {
        crate::conf::value::same_value(facts, cx.shared.version(), written.trim(), value.trim())
    });
    let in_this_file = path == own_path;
    let stronger = if in_this_file {
        setting.carrier != *carrier && in_one_function(cx, setting, *line)
    } else {
        carrier.rank() > setting.carrier.rank()
    };
    if same || carrier.at_run_time() || !stronger {
        return None;
    }
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let place = if in_this_file { format!("line {line}") } else { format!("{file}:{line}") };
    let message = format!("`{value}` of {place} wins over this: {}.", why(setting.carrier, *carrier));
    Some(support::finding(&cx.shared, Severity::Information, support::value_or_key(setting), message)
        .with_fixes(support::remove(&cx.shared, setting)))
}

/// The setting among those that lost.
fn own_layer<'a>(cx: &SettingsContext<'_>, setting: &Setting, effective: &'a Effective) -> Option<&'a Layer> {
    let own_line = line(cx.shared.text, setting);
    effective.overridden.iter().find(|layer| {
        let here = |origin: &Origin| match origin {
            Origin::Written { carrier, line, .. } => *carrier == setting.carrier && *line == own_line,
            Origin::Launches(_) | Origin::Run(_) | Origin::Default(_) => false,
        };
        layer.value == setting.value && here(&layer.origin)
    })
}

fn line(text: &str, setting: &Setting) -> u32 {
    let before = text.get(..setting.key_span.start as usize).unwrap_or_default();
    before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1
}

/// Whether the setting of this key on that line stands in the same function.
fn in_one_function(cx: &SettingsContext<'_>, setting: &Setting, winner_line: u32) -> bool {
    let Some(plan) = cx.plan else { return true };
    let is_winner = |other: &&Setting| other.key == setting.key && line(cx.shared.text, other) == winner_line;
    let Some(winner) = cx.settings.iter().find(is_winner) else { return false };
    plan.scopes.iter().all(|scope| scope.span.contains(setting.key_span) == scope.span.contains(winner.key_span))
}

fn why(loser: Carrier, winner: Carrier) -> &'static str {
    match (loser, winner) {
        (Carrier::Builder | Carrier::SparkConf, _) => "of two that code sets before the session, the later one counts",
        (_, Carrier::Builder | Carrier::SparkConf) => "code sets it before the session starts, which beats every file and flag",
        _ => "the submit command beats the settings file, and its flags beat its --conf",
    }
}
