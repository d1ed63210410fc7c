//! Values shipped whole to be summed.

use crate::declare_rule;
use crate::pyspark::plan::{CallSite, NodeId, Operator};
use crate::rules::templates::reduce_by_key;
use crate::rules::{CodeContext, Finding, Severity};

declare_rule! {
    /// `groupByKey()` whose groups are reduced to one value.
    ///
    /// ## Why
    /// All values of a key are shipped to one task and held there as a list. `reduceByKey` reduces them on both sides of the shuffle:
    /// one value for each key and task travels.
    ///
    /// ## Silent when
    /// - the whole list is needed: sorted, joined, or handed to a function that the file doesn't tell.
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// pairs = spark.sparkContext.textFile("s3a://lake/log").map(lambda line: (line[:10], len(line)))
    /// totals = pairs.groupByKey().mapValues(sum)  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// pairs = spark.sparkContext.textFile("s3a://lake/log").map(lambda line: (line[:10], len(line)))
    /// totals = pairs.reduceByKey(lambda a, b: a + b)
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/api/python/reference/api/pyspark.RDD.groupByKey.html>
    pub GROUP_BY_KEY = {
        name: "group-by-key", group: Udfs, severity: Information, confidence: Documented,
        since: "0.1.0", check: Code(check),
    }
}

fn check(cx: &mut CodeContext<'_>) {
    let text = cx.shared.text;
    let mut findings = Vec::new();
    for (index, node) in cx.plan.nodes.iter().enumerate() {
        let Some(site) = node.site.as_ref().filter(|_| !cx.plan.is_repeat(NodeId(index as u32))) else { continue };
        let grouped =
            node.inputs.first().and_then(|&input| cx.plan.node(input).site.as_ref().map(|site| (input, site)));
        let Some((input, group)) = grouped else { continue };
        let on_rdd = matches!(cx.plan.node(input).operator, Operator::Rdd | Operator::Udf);
        if !on_rdd || group.method.of(text) != "groupByKey" || !matches!(site.method.of(text), "mapValues" | "map") {
            continue;
        }
        if let Some(function) = reduces(text, site) {
            let message = format!(
                "groupByKey ships every value of a key to one task, where {function}() leaves one of them. reduceByKey does that before the shuffle too."
            );
            let fix = reduce_by_key(text, group, site, function);
            findings.push(Finding::new(cx.shared.rule, Severity::Information, group.method, message).with_fixes(fix));
        }
    }
    findings.into_iter().for_each(|finding| cx.shared.report(finding));
}

/// The function that makes one value of a group.
fn reduces<'a>(text: &'a str, site: &CallSite) -> Option<&'a str> {
    let argument = site.args.first()?.span.of(text).trim();
    let whole = |name: &&str| matches!(*name, "sum" | "len" | "max" | "min");
    if site.method.of(text) == "mapValues" && whole(&argument) {
        return Some(argument);
    }
    let (params, body) = argument.strip_prefix("lambda ")?.split_once(':')?;
    let params = params.trim();
    let body = body.trim();
    let group = if site.method.of(text) == "map" { format!("{params}[1]") } else { params.to_owned() };
    let body = match site.method.of(text) {
        "map" => body.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?.1.trim(),
        _ => body,
    };
    let (function, of) = body.split_once('(')?;
    let of = of.strip_suffix(')')?.trim();
    (whole(&function) && (of == group || of == format!("list({group})"))).then_some(function)
}
