//! The commit algorithm that moves files before the job is sure of them.

use super::support;
use crate::declare_rule;
use crate::rules::{SettingsContext, Severity, Vendor};

const KEYS: [&str; 2] =
    ["spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version", "mapreduce.fileoutputcommitter.algorithm.version"];

/// Keys that put another committer in the place of the one that the algorithm belongs to.
const OTHER_COMMITTERS: [&str; 5] = [
    "spark.hadoop.fs.s3a.committer.name",
    "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a",
    "spark.sql.parquet.output.committer.class",
    "spark.sql.parquet.fs.optimized.committer.optimization-enabled",
    "spark.sql.sources.commitProtocolClass",
];

declare_rule! {
    /// Version 2 of Hadoop's file commit algorithm.
    ///
    /// ## Why
    /// Version 2 moves the files of a task to the final folder when the task ends, not when the job does. It saves a rename at
    /// the end, and a job that fails half way leaves a part of its output where readers take it for all of it. A task that
    /// fails while it commits can leave both attempts' files.
    ///
    /// ## Silent when
    /// - another committer is set: the S3A committers, EMRFS's, one of a table format
    /// - the platform is EMR, whose committer does not use it, or Databricks, which has its own
    /// - a comment beside the setting gives the reason, or the file is a test
    ///
    /// ## Example
    /// ```conf
    /// spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version 2  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```conf
    /// spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version 1
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/cloud-integration.html>
    /// - <https://issues.apache.org/jira/browse/MAPREDUCE-7282>
    pub OUTPUT_COMMITTER = {
        name: "output-committer", group: Settings, severity: Information, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

fn check(cx: &mut SettingsContext<'_>) {
    let other = matches!(cx.shared.environment.vendor, Vendor::Emr | Vendor::Databricks)
        || OTHER_COMMITTERS.iter().any(|key| support::is_written(&cx.shared, key))
        || uses_a_table_format(cx);
    if cx.shared.is_test || other {
        return;
    }
    for key in KEYS {
        for (setting, value) in support::known(cx.settings, key) {
            if value == "2" && !support::has_reason(&cx.shared, setting) {
                let message = "Each task's files become visible when the task ends: a job that fails leaves a part of its \
                               output, which readers take for all. Version 1 moves them when the job ends.";
                let finding = support::replaceable(&cx.shared, Severity::Information, setting, message.to_owned(), "1");
                cx.shared.report(finding);
            }
        }
    }
}

fn uses_a_table_format(cx: &SettingsContext<'_>) -> bool {
    let extensions = cx.shared.conf.get("spark.sql.extensions").value.unwrap_or_default().to_ascii_lowercase();
    ["delta", "iceberg", "hudi"].iter().any(|format| extensions.contains(format))
}
