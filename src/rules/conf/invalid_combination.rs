//! Settings that Spark's own checks refuse when the application starts.

use super::support;
use crate::catalog;
use crate::conf::{Carrier, EffectiveConf, Origin, Setting, value};
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
    /// - a warning only, where code clashes with a default that the cluster's settings may replace
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
        since: "0.1.0", check: Settings(check),
    }
}

const STORAGE_TIMEOUT: &str = "spark.storage.blockManagerHeartbeatTimeoutMs";
const INTERVAL: &str = "spark.network.timeoutInterval";
const EXECUTOR_MEMORY: &str = "spark.executor.memory";
/// One and a half times what Spark reserves for itself.
const LEAST_EXECUTOR_MEMORY: i64 = 471_859_200;
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
    let mut clashes: Vec<Clash> =
        [deploy_mode(conf), heartbeat(conf), timeouts(conf), executor_memory(conf), task_cpus(conf)]
            .into_iter()
            .flatten()
            .collect();
    clashes.extend(
        ["spark.memory.fraction", "spark.memory.storageFraction"].map(|key| fraction(conf, key)).into_iter().flatten(),
    );
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
            java_options(cx, setting, &EXECUTORS);
        }
    }
    // spark-submit looks before it launches the driver itself; in cluster mode somebody else does.
    if conf.get(DEPLOY_MODE).value.as_deref() != Some("cluster") {
        for key in ["spark.driver.extraJavaOptions", "spark.driver.defaultJavaOptions"] {
            let in_code = |setting: &Setting| matches!(setting.carrier, Carrier::Builder | Carrier::SparkConf);
            for (setting, _) in support::known_at_start(cx.settings, key) {
                if support::is_in_force(&cx.shared, setting) && !in_code(setting) {
                    java_options(cx, setting, &DRIVER);
                }
            }
        }
    }
}

fn at_its_setting(cx: &SettingsContext<'_>, clash: &Clash) -> Option<Finding> {
    let written = |key: &&'static str| {
        let in_force = |(setting, _): &(&Setting, &str)| support::is_in_force(&cx.shared, setting);
        support::known_at_start(cx.settings, key).filter(in_force).last().map(|(setting, _)| setting)
    };
    let setting = clash.keys.iter().find_map(written)?;
    // Only a properties file takes the place of the cluster's settings, which may say what nobody says here.
    let by_default = |key: &&str| matches!(cx.shared.conf.get(key).origin, Some(Origin::Default(_)));
    let proven = cx.properties.is_some() || !clash.keys.iter().any(by_default);
    let (severity, end) = match proven {
        true => (Severity::Error, "The application does not start."),
        false => (Severity::Warning, "The application does not start, unless another place sets what is missing here."),
    };
    let message = format!("{} {end}", clash.message);
    let mut finding = support::finding(&cx.shared, severity, support::value_or_key(setting), message);
    for key in clash.keys.iter().filter(|key| **key != setting.key) {
        let shown = crate::rules::in_force::in_force(cx.shared.conf, key);
        finding.evidence.extend(shown.map(|value| support::evidence(*key, value, "effective value")));
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
    let of_heap = key == "spark.memory.fraction";
    // Nothing at all for execution is refused a moment later.
    let refused = |fraction: &f64| !(0.0..=1.0).contains(fraction) || (of_heap && *fraction == 0.0);
    let fraction = conf.double(key).filter(|fraction| refused(fraction) && parses(conf, key))?;
    let message = format!("`{key}` is a share of memory: it must lie between 0 and 1, not be {fraction}.");
    let default = if of_heap { "0.6" } else { "0.5" };
    Some(Clash { keys: vec![key], message, better: Some((key, default.to_owned())) })
}

fn deploy_mode(conf: &EffectiveConf) -> Option<Clash> {
    let mode = conf.get(DEPLOY_MODE).value.filter(|mode| !matches!(mode.as_str(), "client" | "cluster"))?;
    let message = format!("`{DEPLOY_MODE}` is `client` or `cluster`, in small letters, not `{mode}`.");
    let better = if mode.trim().eq_ignore_ascii_case("cluster") { "cluster" } else { "client" };
    Some(Clash { keys: vec![DEPLOY_MODE], message, better: Some((DEPLOY_MODE, better.to_owned())) })
}

fn heartbeat(conf: &EffectiveConf) -> Option<Clash> {
    let heartbeat = conf.millis(HEARTBEAT).filter(|heartbeat| heartbeat.0 <= 0)?;
    let message = format!("`{HEARTBEAT}` ({heartbeat}) must be more than 0: executors report at this interval.");
    Some(Clash { keys: vec![HEARTBEAT], message, better: Some((HEARTBEAT, "10s".to_owned())) })
}

/// From the version on in which a task may take a part of a core, none at all is refused where it is declared.
fn task_cpus(conf: &EffectiveConf) -> Option<Clash> {
    let cpus = conf.double(TASK_CPUS).filter(|cpus| conf.version().at_least(4, 3) && *cpus <= 0.0)?;
    let message = format!("`{TASK_CPUS}` ({cpus}) must be more than 0.");
    Some(Clash { keys: vec![TASK_CPUS], message, better: Some((TASK_CPUS, "1".to_owned())) })
}

/// The network's timeout against the heartbeat, and against the interval in which timeouts are looked for.
fn timeouts(conf: &EffectiveConf) -> Option<Clash> {
    let (timeout, heartbeat, interval) = (conf.millis(TIMEOUT)?, conf.millis(HEARTBEAT)?, conf.millis(INTERVAL)?);
    // The defaults are 120 s and 10 s: whichever is written goes back to that proportion.
    let longer = (TIMEOUT, format!("{}s", (heartbeat.0.saturating_mul(12) / 1000).max(120)));
    if timeout <= heartbeat {
        let message = format!(
            "`{TIMEOUT}` ({timeout}) must be longer than `{HEARTBEAT}` ({heartbeat}): bare numbers are seconds in the first \
             and milliseconds in the second."
        );
        let better = if is_written(conf, TIMEOUT) { longer } else { (HEARTBEAT, "10s".to_owned()) };
        return Some(Clash { keys: vec![TIMEOUT, HEARTBEAT], message, better: Some(better) });
    }
    let of_storage = conf.millis(STORAGE_TIMEOUT).filter(|_| is_written(conf, STORAGE_TIMEOUT));
    let (key, limit) = of_storage.map_or((TIMEOUT, timeout), |timeout| (STORAGE_TIMEOUT, timeout));
    if interval <= limit {
        return None;
    }
    let message = format!(
        "`{key}` ({limit}) must not be shorter than `{INTERVAL}` ({interval}), the interval in which executors are checked."
    );
    let better = if key == TIMEOUT { longer } else { (STORAGE_TIMEOUT, "120s".to_owned()) };
    Some(Clash { keys: vec![key, INTERVAL], message, better: Some(better) })
}

fn executor_memory(conf: &EffectiveConf) -> Option<Clash> {
    let memory = conf.bytes(EXECUTOR_MEMORY).filter(|memory| memory.0 < LEAST_EXECUTOR_MEMORY)?;
    let message =
        format!("Executors need at least 450 MiB of heap and `{EXECUTOR_MEMORY}` is {memory}; a bare number is MiB.");
    Some(Clash { keys: vec![EXECUTOR_MEMORY], message, better: Some((EXECUTOR_MEMORY, "1g".to_owned())) })
}

fn is_written(conf: &EffectiveConf, key: &str) -> bool {
    matches!(conf.get(key).origin, Some(Origin::Written { .. } | Origin::Run(_)))
}

fn encryption(conf: &EffectiveConf, key: &'static str) -> Option<Clash> {
    let encrypted = conf.boolean(key) == Some(true) && conf.boolean(AUTHENTICATE) == Some(false);
    encrypted.then(|| Clash {
        keys: vec![key, AUTHENTICATE],
        message: format!(
            "`{key}` needs `{AUTHENTICATE} true`: Spark encrypts only between parties that know each other."
        ),
        better: Some((AUTHENTICATE, "true".to_owned())),
    })
}

fn cores(conf: &EffectiveConf) -> Option<Clash> {
    // A standalone cluster gives an executor all cores of its worker unless a number is written.
    let one_by_default = ["yarn", "k8s", "local-cluster"];
    let master = conf.get("spark.master").value.unwrap_or_default();
    let is_known = is_written(conf, EXECUTOR_CORES) || one_by_default.iter().any(|name| master.starts_with(name));
    let cores = if is_known { conf.integer(EXECUTOR_CORES).unwrap_or(1) } else { return None };
    let cpus = conf.double(TASK_CPUS)?;
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
    Some(Clash {
        keys: vec![MAX_EXECUTORS, MIN_EXECUTORS],
        message,
        better: Some((MAX_EXECUTORS, min.max(1).to_string())),
    })
}

/// Options that a JVM may not be given this way, with what to do instead; a text search, as Spark's is.
struct JavaOptions {
    whose: &'static str,
    refused: &'static [(&'static str, &'static str)],
}

const EXECUTORS: JavaOptions = JavaOptions {
    whose: "the executors'",
    refused: &[
        ("-Xmx", "The heap's size is `spark.executor.memory`."),
        ("-Dspark", "Settings of Spark are written as settings."),
    ],
};

const DRIVER: JavaOptions =
    JavaOptions { whose: "the driver's", refused: &[("-Xmx", "The heap's size is `spark.driver.memory`.")] };

fn java_options(cx: &mut SettingsContext<'_>, setting: &Setting, options: &JavaOptions) {
    let instead =
        |word: &str| options.refused.iter().find(|(part, _)| word.contains(part)).map(|(_, instead)| *instead);
    let refused: Vec<(String, Span, &'static str)> = support::words(&cx.shared, setting)
        .into_iter()
        .filter_map(|(word, span)| Some((word.to_owned(), span, instead(word)?)))
        .collect();
    for (word, span, instead) in refused {
        let message = format!(
            "Spark refuses `{word}` among {} JVM options. {instead} The application does not start.",
            options.whose
        );
        let finding = support::finding(&cx.shared, Severity::Error, span, message)
            .with_fixes(support::remove_word(&cx.shared, setting, &word, span));
        cx.shared.report(finding);
    }
}
