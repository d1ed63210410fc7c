//! Settings that arrive in a session that runs already, or in a JVM that does.

use super::support;
use crate::catalog::{self, Scope, SettingFacts};
use crate::conf::Setting;
use crate::declare_rule;
use crate::pyspark::plan::{ScopeId, SessionStart};
use crate::pyspark::{StaticPlan, is_databricks_notebook};
use crate::rules::{Edit, Finding, Fix, FixKind, SettingsContext, Severity, Vendor};
use crate::text::Span;

declare_rule! {
    /// A setting of the application, or one of all its sessions, that arrives after they started.
    ///
    /// ## Why
    /// Executor and driver sizes, the serializer, jars, extensions, the warehouse: Spark reads these once, when the JVM, the
    /// context or the first session starts. `spark.conf.set` and `SET` refuse the settings that Spark declares, and store the
    /// others without a word. A builder on a session that runs hands it out as it is: only the runtime settings of SQL are
    /// applied. Under `spark-submit` the driver's JVM runs before the first line of the code, so its size, options and
    /// packages can't come from the code at all.
    ///
    /// ## Silent when
    /// - the first builder or `SparkConf` of a plain `python job.py` or a notebook's kernel sets it: PySpark passes what it
    ///   holds on to the JVM that it launches, the driver's memory included
    /// - the job runs on `local[…]`, for the settings of the JVM
    /// - how the job is launched is not known, for the settings of the JVM
    /// - a runtime setting of SQL, a Hadoop key, or a name that Spark doesn't know
    /// - the session is stopped before, or is started only under a condition
    /// - the file is a test
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.appName("daily").getOrCreate()
    /// spark.conf.set("spark.executor.memory", "8g")  # finding
    /// spark.conf.set("spark.sql.shuffle.partitions", "400")
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.appName("daily").config("spark.executor.memory", "8g").getOrCreate()
    /// spark.conf.set("spark.sql.shuffle.partitions", "400")
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/configuration.html#dynamically-loading-spark-properties>
    /// - <https://spark.apache.org/docs/latest/sql-migration-guide.html>
    /// - <https://issues.apache.org/jira/browse/SPARK-5570> (`spark.driver.memory` in code)
    pub SETTING_TOO_LATE = {
        name: "setting-too-late", group: Carriers, severity: Warning, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

/// Names that Spark reads as raw text when the application starts, and beginnings of such names.
const RAW_AT_START: [&str; 5] =
    ["spark.default.parallelism", "spark.executorEnv.", "spark.master", "spark.shuffle.io.", "spark.submit.deployMode"];

/// Modules that a session does not load by itself, so that it takes their settings for unknown names.
const NOT_LOADED: [&str; 6] = [
    "spark.default.parallelism",
    "spark.kubernetes.",
    "spark.mesos.",
    "spark.sql.hive.",
    "spark.streaming.",
    "spark.yarn.",
];

/// What a running session makes of a setting that came too late.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The line fails.
    Refused(Scope),
    /// The text is stored and nobody reads it.
    Stored,
}

fn check(cx: &mut SettingsContext<'_>) {
    if cx.shared.is_test {
        return;
    }
    for setting in cx.settings.iter().filter(|setting| !setting.key_is_prefix) {
        let finding = if setting.carrier.at_run_time() {
            fate(cx, &setting.key).map(|fate| at_run_time(cx, setting, fate))
        } else {
            cx.plan.and_then(|plan| in_code(cx, plan, setting))
        };
        if let Some(finding) = finding {
            cx.shared.report(finding);
        }
    }
}

fn fate(cx: &SettingsContext<'_>, key: &str) -> Option<Fate> {
    let version = cx.shared.version();
    let not_loaded = NOT_LOADED.iter().any(|module| key.starts_with(module));
    let facts = catalog::setting(key);
    if let Some(facts) = facts.filter(|facts| facts.registered_in(version)) {
        return match facts.scope(version)? {
            Scope::SqlRuntime => None,
            _ if not_loaded => Some(Fate::Stored),
            Scope::Core if stores_core_settings(cx) => Some(Fate::Stored),
            scope => Some(Fate::Refused(scope)),
        };
    }
    let is_core = |facts: &SettingFacts| facts.scope(version) == Some(Scope::Core);
    let older_name = facts.and_then(SettingFacts::alternative_of).and_then(|main| catalog::setting(main.key));
    let raw = RAW_AT_START.iter().any(|name| key == *name || (name.ends_with('.') && key.starts_with(name)));
    (raw || older_name.is_some_and(is_core)).then_some(Fate::Stored)
}

/// The switch that gives Spark 2's behaviour back.
fn stores_core_settings(cx: &SettingsContext<'_>) -> bool {
    cx.shared.conf.boolean("spark.sql.legacy.setCommandRejectsSparkCoreConfs") == Some(false)
}

fn at_run_time(cx: &SettingsContext<'_>, setting: &Setting, fate: Fate) -> Finding {
    let (key, version) = (&setting.key, cx.shared.version());
    let (severity, message) = match fate {
        Fate::Refused(Scope::SqlStatic) => {
            let message = format!(
                "`{key}` is fixed once the first session has started: Spark {version} refuses it here and the job fails on \
                 this line. Set it in the builder, at the submit command or in the settings file."
            );
            (Severity::Error, message)
        }
        Fate::Refused(_) => {
            let message = format!(
                "`{key}` is read when the application starts: Spark {version} refuses it in a running session and the job \
                 fails on this line. Set it before the session, at the submit command or in the settings file."
            );
            (Severity::Error, message)
        }
        Fate::Stored => {
            let message = format!(
                "`{key}` is read when the application starts: a running session stores the value and nothing looks at it. Set \
                 it before the session, at the submit command or in the settings file."
            );
            (Severity::Warning, message)
        }
    };
    let by_vendor = cx.shared.environment.vendor != Vendor::Oss;
    let severity = if by_vendor { severity.min(Severity::Warning) } else { severity };
    support::finding(&cx.shared, severity, setting.key_span, message).with_fixes(move_to_builder(cx, setting))
}

fn in_code(cx: &SettingsContext<'_>, plan: &StaticPlan, setting: &Setting) -> Option<Finding> {
    if session_before(cx, plan, setting).is_some() {
        on_a_live_session(cx, setting)
    } else if runs_before_the_code(cx) {
        on_the_platforms_session(cx, setting)
    } else if support::READ_BY_THE_LAUNCH.contains(&setting.key.as_str()) && !support::runs_locally(cx) {
        behind_the_launch(cx, setting)
    } else {
        None
    }
}

/// A start of a session that must have run before this setting is reached.
fn session_before<'a>(cx: &SettingsContext<'_>, plan: &'a StaticPlan, setting: &Setting) -> Option<&'a SessionStart> {
    let scope = innermost(plan, setting.key_span);
    plan.sessions.iter().find(|session| {
        let between = session.call.end as usize..setting.key_span.start as usize;
        !session.conditional
            && (session.scope == scope || session.scope == ScopeId(0))
            && cx.shared.text.get(between).is_some_and(|between| !between.contains(".stop()"))
    })
}

fn innermost(plan: &StaticPlan, span: Span) -> ScopeId {
    let holders = plan.scopes.iter().enumerate().filter(|(_, scope)| scope.span.contains(span));
    holders.min_by_key(|(_, scope)| scope.span.end - scope.span.start).map_or(ScopeId(0), |(at, _)| ScopeId(at as u32))
}

/// Whether a builder on a session that runs drops the setting, or stores it where nobody looks.
fn is_lost(cx: &SettingsContext<'_>, setting: &Setting) -> bool {
    let named_by_everybody = matches!(setting.key.as_str(), "spark.master" | "spark.app.name");
    let set_before = || {
        let same = |other: &&Setting| other.key == setting.key && other.key_span.start < setting.key_span.start;
        cx.settings.iter().filter(same).any(|other| other.value == setting.value && other.value.literal().is_some())
    };
    !named_by_everybody && fate(cx, &setting.key).is_some() && !set_before()
}

fn on_a_live_session(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Finding> {
    let message = format!(
        "The session runs already: this call hands it out and `{}` has no effect. Set it where the session is built first.",
        setting.key
    );
    let fixes = support::remove(&cx.shared, setting);
    is_lost(cx, setting)
        .then(|| support::finding(&cx.shared, Severity::Warning, setting.key_span, message).with_fixes(fixes))
}

/// Platforms that start the session before the first line of the code.
fn runs_before_the_code(cx: &SettingsContext<'_>) -> bool {
    cx.shared.environment.vendor == Vendor::Databricks || is_databricks_notebook(cx.shared.text)
}

fn on_the_platforms_session(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Finding> {
    let message = format!(
        "On Databricks the session runs before the code: the builder hands it out and `{}` has no effect. It belongs to the \
         cluster's Spark configuration.",
        setting.key
    );
    let fixes = support::remove(&cx.shared, setting);
    is_lost(cx, setting)
        .then(|| support::finding(&cx.shared, Severity::Information, setting.key_span, message).with_fixes(fixes))
}

fn behind_the_launch(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Finding> {
    let how = launched(cx)?;
    let message = format!(
        "{how}: the driver's JVM runs before this line and `{}` comes too late. Give it to the submit command or the settings \
         file.",
        setting.key
    );
    let fixes = support::remove(&cx.shared, setting);
    Some(support::finding(&cx.shared, Severity::Warning, setting.key_span, message).with_fixes(fixes))
}

/// How the JVM came to run before the code, where that is known.
fn launched(cx: &SettingsContext<'_>) -> Option<String> {
    if cx.shared.conf.get("spark.submit.deployMode").value.as_deref() == Some("cluster") {
        return Some("The job is deployed in cluster mode".to_owned());
    }
    if let Some(start) = cx.shared.conf.submitted() {
        let file = start.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        return Some(format!("{file}:{} starts the job with spark-submit", start.line));
    }
    let run = cx.shared.runs.iter().find(|view| !view.links.links.is_empty())?.measured;
    let command = run.run.application.command.as_deref()?;
    // A plain `python job.py` launches its JVM with the same class, for the shell of PySpark.
    let submitted = command.contains("deploy.SparkSubmit") && !command.contains("pyspark-shell");
    submitted.then(|| format!("Run {} was started by spark-submit", run.label))
}

/// Writes the setting into the chain that starts the session, in place of the statement.
fn move_to_builder(cx: &SettingsContext<'_>, setting: &Setting) -> Option<Fix> {
    let text = cx.shared.text;
    if support::READ_BY_THE_LAUNCH.contains(&setting.key.as_str()) || runs_before_the_code(cx) {
        return None;
    }
    let value = setting.value.literal().filter(|value| !value.contains(['"', '\\', '\n']))?;
    let session = cx.plan?.sessions.iter().find(|session| session.call.end <= setting.span.start)?;
    if session.method.of(text) != "getOrCreate" {
        return None;
    }
    let dot = text.get(..session.method.start as usize)?.rfind('.')?;
    let line = text[..dot].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[line..dot];
    let behind = if indent.trim().is_empty() { format!("\n{indent}") } else { String::new() };
    let config = format!(".config(\"{}\", \"{value}\"){behind}", setting.key);
    Some(Fix {
        title: "Move to the builder".to_owned(),
        kind: FixKind::QuickFix,
        safe: false,
        edits: vec![
            Edit { span: Span::at(dot), text: config },
            Edit { span: whole_lines(text, setting.span)?, text: String::new() },
        ],
    })
}

/// The lines of a statement that stands alone on them, at the margin: in a block it may be the only one.
fn whole_lines(text: &str, span: Span) -> Option<Span> {
    let (start, end) = (span.start as usize, span.end as usize);
    let at_margin = start == 0 || text.get(..start)?.ends_with(['\n', '\r']);
    let rest = text.get(end..)?;
    let line_end = rest.find('\n').map_or(rest.len(), |at| at + 1);
    (at_margin && rest[..line_end].trim().is_empty()).then(|| Span::new(start, end + line_end))
}
