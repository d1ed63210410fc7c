//! Settings that Spark's own checks refuse when the application starts.

use super::support;
use crate::catalog;
use crate::conf::{EffectiveConf, Setting, value};
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity};
use crate::text::Span;

declare_rule! {
    /// Settings that Spark refuses together, or a value that its start check refuses.
    ///
    /// ## Why
    /// Before anything runs, Spark checks its configuration: fractions between 0 and 1, a network timeout longer than the
    /// heartbeat, encryption only with authentication, no heap size among the executors' JVM options. What fails the check
    /// stops the application at its start, on the cluster, after the queue.
    ///
    /// ## Silent when
    /// - one of the values is a template or is not known
    /// - another place overrides the value that is written here
    /// - the settings are set in a session that runs: the check is over by then
    /// - the file is a template with branches
    /// - the job runs on `local[…]`, for what only a cluster checks
    ///
    /// ## Example
    /// ```conf
    /// spark.network.timeout 10s  # finding
    /// spark.executor.heartbeatInterval 20s
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.network.timeout 300s
    /// spark.executor.heartbeatInterval 20s
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#networking>
    /// - <https://spark.apache.org/docs/latest/security.html>
    pub INVALID_COMBINATION = {
        name: "invalid-combination", group: Carriers, severity: Error, confidence: Documented,
        since: "0.2.0", check: Settings(check),
    }
}

const TIMEOUT: &str = "spark.network.timeout";
const HEARTBEAT: &str = "spark.executor.heartbeatInterval";
const AUTHENTICATE: &str = "spark.authenticate";
const ENCRYPTIONS: [&str; 2] = ["spark.network.crypto.enabled", "spark.authenticate.enableSaslEncryption"];
const EXECUTOR_CORES: &str = "spark.executor.cores";
const TASK_CPUS: &str = "spark.task.cpus";
const DEPLOY_MODE: &str = "spark.submit.deployMode";
const MIN_EXECUTORS: &str = "spark.dynamicAllocation.minExecutors";
const MAX_EXECUTORS: &str = "spark.dynamicAllocation.maxExecutors";

/// What a check of Spark refuses.
struct Clash {
    /// The keys that take part; the finding stands at the first of them that this document sets.
    keys: Vec<&'static str>,
    message: String,
    /// A key with a value that passes the check.
    better: Option<(&'static str, String)>,
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.properties.is_some_and(|file| file.is_template) {
        return;
    }
    let conf = cx.shared.conf;
    let mut clashes: Vec<Clash> = [deploy_mode(conf), timeouts(conf)].into_iter().flatten().collect();
    clashes.extend(["spark.memory.fraction", "spark.memory.storageFraction"].map(|key| fraction(conf, key)).into_iter().flatten());
    clashes.extend(ENCRYPTIONS.map(|key| encryption(conf, key)).into_iter().flatten());
    if !support::runs_locally(cx) {
        clashes.extend(cores(conf));
        clashes.extend(executor_bounds(conf));
    }
    for clash in clashes {
        if let Some(finding) = at_its_setting(cx, &clash) {
            cx.shared.report(finding);
        }
    }
    for (setting, _) in support::known_at_start(cx.settings, "spark.executor.extraJavaOptions") {
        if support::is_in_force(&cx.shared, setting) {
            java_options(cx, setting);
        }
    }
}

fn at_its_setting(cx: &SettingsContext<'_>, clash: &Clash) -> Option<Finding> {
    let written = |key: &&'static str| {
        let in_force = |(setting, _): &(&Setting, &str)| support::is_in_force(&cx.shared, setting);
        support::known_at_start(cx.settings, key).filter(in_force).last().map(|(setting, _)| setting)
    };
    let setting = clash.keys.iter().find_map(written)?;
    let message = format!("{} The application does not start.", clash.message);
    let mut finding = support::finding(&cx.shared, Severity::Error, support::value_or_key(setting), message);
    for key in clash.keys.iter().filter(|key| **key != setting.key) {
        let shown = crate::rules::in_force::in_force(cx.shared.conf, key);
        finding.evidence.extend(shown.map(|value| support::evidence(key, value, "effective value")));
    }
    if let Some((key, value)) = &clash.better {
        let other = written(key);
        finding.fixes.extend(other.and_then(|setting| support::set_value(&cx.shared, setting, value)));
    }
    Some(finding.with_fixes(support::remove(&cx.shared, setting)))
}

/// The values of one of these keys that its own parser refuses are `invalid-value`'s.
fn parses(conf: &EffectiveConf, key: &str) -> bool {
    let text = conf.get(key).value;
    catalog::setting(key).zip(text).is_none_or(|(facts, text)| value::parse(facts, conf.version(), &text).is_ok())
}

fn fraction(conf: &EffectiveConf, key: &'static str) -> Option<Clash> {
    let fraction = conf.double(key).filter(|fraction| !(0.0..=1.0).contains(fraction) && parses(conf, key))?;
    let message = format!("`{key}` is a share of the heap: it must lie between 0 and 1, not be {fraction}.");
    let default = if key == "spark.memory.fraction" { "0.6" } else { "0.5" };
    Some(Clash { keys: vec![key], message, better: Some((key, default.to_owned())) })
}

fn deploy_mode(conf: &EffectiveConf) -> Option<Clash> {
    let mode = conf.get(DEPLOY_MODE).value.filter(|mode| !matches!(mode.as_str(), "client" | "cluster"))?;
    let message = format!("`{DEPLOY_MODE}` is `client` or `cluster`, in small letters, not `{mode}`.");
    let better = if mode.trim().eq_ignore_ascii_case("cluster") { "cluster" } else { "client" };
    Some(Clash { keys: vec![DEPLOY_MODE], message, better: Some((DEPLOY_MODE, better.to_owned())) })
}

fn timeouts(conf: &EffectiveConf) -> Option<Clash> {
    let (timeout, heartbeat) = (conf.millis(TIMEOUT)?.0, conf.millis(HEARTBEAT)?.0);
    if timeout > heartbeat {
        return None;
    }
    let message = format!(
        "`{TIMEOUT}` ({}) must be longer than `{HEARTBEAT}` ({}): bare numbers are seconds in the first and milliseconds in \
         the second.",
        crate::conf::Millis(timeout),
        crate::conf::Millis(heartbeat)
    );
    // The defaults are 120 s and 10 s: whichever is written goes back to that proportion.
    let longer = (TIMEOUT, format!("{}s", (heartbeat.saturating_mul(12) / 1000).max(120)));
    let better = if is_written(conf, TIMEOUT) { longer } else { (HEARTBEAT, "10s".to_owned()) };
    Some(Clash { keys: vec![TIMEOUT, HEARTBEAT], message, better: Some(better) })
}

fn is_written(conf: &EffectiveConf, key: &str) -> bool {
    matches!(conf.get(key).origin, Some(crate::conf::Origin::Written { .. }))
}

fn encryption(conf: &EffectiveConf, key: &'static str) -> Option<Clash> {
    let encrypted = conf.boolean(key) == Some(true) && conf.boolean(AUTHENTICATE) == Some(false);
    encrypted.then(|| Clash {
        keys: vec![key, AUTHENTICATE],
        message: format!("`{key}` needs `{AUTHENTICATE} true`: Spark encrypts only between parties that know each other."),
        better: Some((AUTHENTICATE, "true".to_owned())),
    })
}

fn cores(conf: &EffectiveConf) -> Option<Clash> {
    let (cores, cpus) = (conf.integer(EXECUTOR_CORES)?, conf.double(TASK_CPUS)?);
    let too_few = cores > 0 && cpus.is_finite() && cpus > cores as f64;
    too_few.then(|| Clash {
        keys: vec![TASK_CPUS, EXECUTOR_CORES],
        message: format!("A task needs {cpus} cores (`{TASK_CPUS}`) and an executor has {cores} (`{EXECUTOR_CORES}`)."),
        better: Some((EXECUTOR_CORES, cpus.ceil().to_string())),
    })
}

fn executor_bounds(conf: &EffectiveConf) -> Option<Clash> {
    if conf.boolean("spark.dynamicAllocation.enabled") != Some(true) {
        return None;
    }
    let (min, max) = (conf.integer(MIN_EXECUTORS)?, conf.integer(MAX_EXECUTORS)?);
    let message = if max == 0 {
        format!("`{MAX_EXECUTORS}` must not be 0.")
    } else if min > max {
        format!("`{MIN_EXECUTORS}` ({min}) must not be above `{MAX_EXECUTORS}` ({max}).")
    } else {
        return None;
    };
    Some(Clash { keys: vec![MAX_EXECUTORS, MIN_EXECUTORS], message, better: Some((MAX_EXECUTORS, min.max(1).to_string())) })
}

/// The two kinds of options that an executor's JVM may not be given this way; a text search, as Spark's is.
fn java_options(cx: &mut SettingsContext<'_>, setting: &Setting) {
    let refused = |word: &str| word.contains("-Xmx") || word.contains("-Dspark");
    let refused: Vec<(String, Span)> = support::words(&cx.shared, setting)
        .into_iter()
        .filter(|(word, _)| refused(word))
        .map(|(word, span)| (word.to_owned(), span))
        .collect();
    for (word, span) in refused {
        let instead = if word.contains("-Xmx") {
            "The heap's size is `spark.executor.memory`."
        } else {
            "Settings of Spark are written as settings."
        };
        let message = format!(
            "Spark refuses `{word}` among the executors' JVM options. {instead} The application does not start."
        );
        let finding = support::finding(&cx.shared, Severity::Error, span, message)
            .with_fixes(support::remove_word(&cx.shared, setting, &word, span));
        cx.shared.report(finding);
    }
}
