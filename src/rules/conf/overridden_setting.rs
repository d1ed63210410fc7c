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
    /// - a settings file loses against a job: that is what the file's values are for
    /// - the losing value comes from a variable that several commands may share
    /// - the launch reads the value before the code can set it (`spark.driver.memory`), or it is the application's name
    /// - code sets the key more than once, so that which value counts is not known
    /// - two launches of one script differ
    /// - another finding tells it: `duplicate-key` for one key twice in a command, `conflicting-flag` for a flag beside `--conf`
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
    let stronger = match in_this_file {
        true => setting.carrier.is_code() && setting.carrier != *carrier && in_one_function(cx, setting, *line),
        false => carrier.is_code() && loses_a_launch(cx, setting, &effective),
    };
    if same || carrier.at_run_time() || !stronger {
        return None;
    }
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let place = if in_this_file { format!("line {line}") } else { format!("{file}:{line}") };
    // What a flag beats in its own command would come up behind it, and lose as well.
    let alone = cx.settings.iter().filter(|other| other.key == setting.key).count() == 1;
    let fix = support::remove(&cx.shared, setting).filter(|_| alone || in_this_file);
    let message = format!("`{value}` of {place} wins over this: {}.", why(setting.carrier));
    Some(support::finding(&cx.shared, Severity::Information, support::value_or_key(setting), message).with_fixes(fix))
}

/// Whether the value that one launch gives for its own job is lost because of what the job's code says.
fn loses_a_launch(cx: &SettingsContext<'_>, setting: &Setting, effective: &Effective) -> bool {
    let key = setting.key.as_str();
    let of_this_launch = match setting.carrier {
        Carrier::SubmitConf | Carrier::SubmitFlag | Carrier::Job | Carrier::JobField => {
            cx.submit.is_some_and(|submit| submit.span.contains(setting.key_span))
        }
        _ => false,
    };
    let said_twice = effective.overridden.iter().any(|layer| match layer.origin {
        Origin::Written { carrier, .. } => carrier.is_code(),
        _ => false,
    });
    let own = cx.settings.iter().filter(|other| other.key == key);
    let strongest = own.map(|other| (other.carrier.rank(), other.key_span)).max();
    of_this_launch
        && !said_twice
        && key != "spark.app.name"
        && !support::READ_BY_THE_LAUNCH.contains(&key)
        && strongest == Some((setting.carrier.rank(), setting.key_span))
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

fn why(loser: Carrier) -> &'static str {
    match loser {
        Carrier::Builder | Carrier::SparkConf => "of two that code sets before the session, the later one counts",
        _ => "code sets it before the session starts, which beats every file and flag",
    }
}
