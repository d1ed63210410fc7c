//! `toPandas()` of a frame that nothing bounds.

use super::rows;
use crate::declare_rule;
use crate::pyspark::plan::{Action, ActionKind, ResultUse};
use crate::rules::{CodeContext, templates};

declare_rule! {
    /// `toPandas()` of a frame whose number of rows nothing bounds.
    ///
    /// ## Why
    /// All rows travel to the driver as with `collect()`, and are then copied into a pandas frame, which needs several times their
    /// size. What follows runs on one core.
    ///
    /// ## Silent when
    /// - the rows are bounded: `limit`, an aggregation, `describe`, literal data, a `LIMIT` in SQL;
    /// - they were on the driver before: `createDataFrame(rows)`;
    /// - a plotting library of the file draws the result: the pixels bound what is useful;
    /// - the file is a test;
    /// - a linked run measured that the call brought a few rows only.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// frame = visits.toPandas()  # finding
    /// print(frame["country"].value_counts())
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// visits = spark.table("web.visits")
    /// frame = visits.groupBy("country").count().toPandas()
    /// print(frame)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.DataFrame.toPandas.html>
    /// - <https://spark.apache.org/docs/latest/configuration.html#application-properties> (`spark.driver.maxResultSize`)
    pub TO_PANDAS_UNBOUNDED = {
        name: "to-pandas-unbounded", group: Driver, severity: Warning, confidence: Documented,
        since: "0.1.0",
        options: [("max-rows", 100_000.0, "a literal bound above this many rows is reported, too")],
        check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let plots = cx.plan.uses.plots;
    let text = cx.shared.text;
    let is_drawn = |action: &Action| match &action.result {
        ResultUse::Used => plots,
        ResultUse::Bound(name) => plots && is_in_a_plot(text, name),
        _ => false,
    };
    let wanted = |action: &Action| action.kind == ActionKind::ToPandas && !is_drawn(action);
    rows::report(cx, wanted, |cx, action| {
        let fixes = [templates::limit_rows(action), templates::pandas_api(cx.shared.version(), action)];
        fixes.into_iter().flatten().collect()
    });
}

/// Whether a statement that draws, or one that makes a frame that is drawn, names the pandas frame.
fn is_in_a_plot(text: &str, name: &str) -> bool {
    const DRAWS: [&str; 12] =
        ["plt.", "sns.", "px.", "go.", "alt.", "ax.", "ax[", "axes[", ".plot", ".hist(", "plot(", "figure("];
    let words =
        |line: &str, wanted: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == wanted);
    let mut names = vec![name.to_owned()];
    let mut at = 0;
    while let Some(name) = names.get(at).cloned() {
        at += 1;
        for line in text.lines().filter(|line| words(line, &name)) {
            if DRAWS.iter().any(|draws| line.contains(draws)) {
                return true;
            }
            let target = line.split_once(" = ").map(|(target, _)| target.trim());
            if let Some(target) =
                target.filter(|target| names.len() < 16 && target.chars().all(|c| c.is_alphanumeric() || c == '_'))
                && !names.iter().any(|known| known == target)
            {
                names.push(target.to_owned());
            }
        }
    }
    false
}
