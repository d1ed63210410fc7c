//! JVM flags that the Java of this Spark does not know.

use super::support;
use crate::conf::Setting;
use crate::declare_rule;
use crate::rules::{Finding, SettingsContext, Severity};
use crate::text::Span;

declare_rule! {
    /// A JVM option that the Java of this Spark does not start with, or ignores.
    ///
    /// ## Why
    /// Tuning guides for Java 8 live on in settings files. A JVM that meets a flag it no longer knows prints a line and exits:
    /// the executors die as fast as they are asked for, and the driver waits. Spark 4 needs Java 17 or newer, which knows none
    /// of the flags of the concurrent mark sweep collector, of the permanent generation, and of the old garbage collection log.
    ///
    /// ## Silent when
    /// - the same options hold `-XX:+IgnoreUnrecognizedVMOptions`
    /// - information only, before Spark 4: Java 8, which knows the flags, is still possible there
    /// - the flag is only deprecated, and works
    ///
    /// ## Example
    /// ```conf
    /// spark.executor.extraJavaOptions -XX:+UseG1GC -XX:+PrintGCDateStamps  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.executor.extraJavaOptions -XX:+UseG1GC -Xlog:gc*
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/tuning.html#garbage-collection-tuning>
    /// - <https://docs.oracle.com/en/java/javase/17/docs/specs/man/java.html>
    pub JVM_FLAG = {
        name: "jvm-flag", group: Settings, severity: Error, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

const KEYS: [&str; 5] = [
    "spark.driver.defaultJavaOptions",
    "spark.driver.extraJavaOptions",
    "spark.executor.defaultJavaOptions",
    "spark.executor.extraJavaOptions",
    "spark.yarn.am.extraJavaOptions",
];

/// Flags that Java 17 exits on, and that Java 8 knew. Each was given to a Java 17.
const GONE_IN_17: [&str; 26] = [
    "AggressiveOpts",
    "CMSClassUnloadingEnabled",
    "CMSInitiatingOccupancyFraction",
    "CMSParallelRemarkEnabled",
    "CMSScavengeBeforeRemark",
    "G1SummarizeConcMark",
    "GCLogFileSize",
    "MaxPermSize",
    "NumberOfGCLogFiles",
    "PermSize",
    "PrintAdaptiveSizePolicy",
    "PrintGCApplicationConcurrentTime",
    "PrintGCApplicationStoppedTime",
    "PrintGCDateStamps",
    "PrintGCTimeStamps",
    "PrintHeapAtGC",
    "PrintReferenceGC",
    "PrintTenuringDistribution",
    "UnlockCommercialFeatures",
    "UseCMSInitiatingOccupancyOnly",
    "UseConcMarkSweepGC",
    "UseFastAccessorMethods",
    "UseGCLogFileRotation",
    "UseParNewGC",
    "UseParallelOldGC",
    "UseSplitVerifier",
];

/// Flags that only the G1 collector looks at.
const OF_G1: [&str; 4] =
    ["G1HeapRegionSize", "G1MixedGCCountTarget", "G1ReservePercent", "InitiatingHeapOccupancyPercent"];

fn check(cx: &mut SettingsContext<'_>) {
    for key in KEYS {
        for (setting, _) in support::known_at_start(cx.settings, key) {
            for finding in findings(cx, setting) {
                cx.shared.report(finding);
            }
        }
    }
}

fn findings(cx: &SettingsContext<'_>, setting: &Setting) -> Vec<Finding> {
    let words = support::words(&cx.shared, setting);
    let has = |flag: &str| words.iter().any(|(word, _)| word.strip_prefix("-XX:+") == Some(flag));
    if has("IgnoreUnrecognizedVMOptions") {
        return Vec::new();
    }
    let other_collector =
        ["UseParallelGC", "UseSerialGC"].into_iter().find(|flag| has(flag)).filter(|_| !has("UseG1GC"));
    let finding = |(word, span): &(&str, Span)| {
        let flag = flag(word)?;
        if GONE_IN_17.contains(&flag) {
            return Some(gone(cx, setting, word, *span));
        }
        let collector = other_collector.filter(|_| OF_G1.contains(&flag))?;
        let message = format!("`{word}` belongs to the G1 collector: with -XX:+{collector} nothing looks at it.");
        let finding = support::finding(&cx.shared, Severity::Information, *span, message);
        Some(finding.with_fixes(support::remove_word(&cx.shared, setting, word, *span)))
    };
    words.iter().filter_map(finding).collect()
}

/// `UseG1GC` of `-XX:+UseG1GC`, `PermSize` of `-XX:PermSize=64m`.
fn flag(word: &str) -> Option<&str> {
    let flag = word.strip_prefix("-XX:")?.trim_start_matches(['+', '-']);
    Some(flag.split('=').next().unwrap_or(flag))
}

fn gone(cx: &SettingsContext<'_>, setting: &Setting, word: &str, span: Span) -> Finding {
    let whose = if setting.key.starts_with("spark.executor") { "the executors do" } else { "the JVM does" };
    let logs_gc = ["Print", "GCLog", "NumberOfGC", "UseGCLog"].iter().any(|part| word.contains(part));
    let instead = if logs_gc { " `-Xlog:gc*` logs garbage collection there." } else { "" };
    let version = cx.shared.version();
    let (severity, message) = if version.at_least(4, 0) {
        let message =
            format!("Java 17, the oldest that Spark {version} runs on, exits on `{word}`: {whose} not start.{instead}");
        (Severity::Error, message)
    } else {
        (Severity::Information, format!("Java 17 exits on `{word}`: {whose} not start with it.{instead}"))
    };
    support::finding(&cx.shared, severity, span, message)
        .with_fixes(support::remove_word(&cx.shared, setting, word, span))
}
