//! The explanations of settings: about settings there are, tidy, and beside a link for what Spark documents.

use std::collections::HashMap;

use sparkls::catalog::{self, SettingFacts, VersionIndex, setting, settings};

const NOTES: &str = include_str!("../data/notes.tsv");

/// Settings that Spark calls internal and people meet all the same, in advice, migration guides and error messages.
const INTERNAL: [&str; 52] = [
    "spark.sql.analyzer.failAmbiguousSelfJoin",
    "spark.sql.avro.datetimeRebaseModeInRead",
    "spark.sql.caseSensitive",
    "spark.sql.catalogImplementation",
    "spark.sql.codegen.hugeMethodLimit",
    "spark.sql.codegen.maxFields",
    "spark.sql.codegen.wholeStage",
    "spark.sql.crossJoin.enabled",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.exchange.reuse",
    "spark.sql.execution.arrow.maxBytesPerBatch",
    "spark.sql.execution.pandas.convertToArrowArraySafely",
    "spark.sql.execution.rangeExchange.sampleSizePerPartition",
    "spark.sql.execution.sortBeforeRepartition",
    "spark.sql.files.openCostInBytes",
    "spark.sql.join.preferSortMergeJoin",
    "spark.sql.legacy.allowHashOnMapType",
    "spark.sql.legacy.allowNegativeScaleOfDecimal",
    "spark.sql.legacy.charVarcharAsString",
    "spark.sql.legacy.createHiveTableByDefault",
    "spark.sql.legacy.ctePrecedencePolicy",
    "spark.sql.legacy.doLooseUpcast",
    "spark.sql.legacy.json.allowEmptyString.enabled",
    "spark.sql.legacy.parquet.nanosAsLong",
    "spark.sql.legacy.setCommandRejectsSparkCoreConfs",
    "spark.sql.legacy.sizeOfNull",
    "spark.sql.legacy.storeAnalyzedPlanForView",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled",
    "spark.sql.maxConcurrentOutputFileWriters",
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold",
    "spark.sql.optimizer.maxIterations",
    "spark.sql.orc.impl",
    "spark.sql.parquet.datetimeRebaseModeInRead",
    "spark.sql.parquet.datetimeRebaseModeInWrite",
    "spark.sql.parquet.int96RebaseModeInRead",
    "spark.sql.parquet.int96RebaseModeInWrite",
    "spark.sql.parquet.output.committer.class",
    "spark.sql.requireAllClusterKeysForCoPartition",
    "spark.sql.sources.commitProtocolClass",
    "spark.sql.sources.ignoreDataLocality",
    "spark.sql.sources.outputCommitterClass",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism",
    "spark.sql.sources.useV1SourceList",
    "spark.sql.streaming.schemaInference",
    "spark.sql.streaming.stateStore.maintenanceInterval",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot",
    "spark.sql.streaming.stateStore.providerClass",
    "spark.sql.thriftServer.incrementalCollect",
    "spark.sql.windowExec.buffer.in.memory.threshold",
    "spark.sql.windowExec.buffer.spill.threshold",
    "spark.ui.prometheus.enabled",
];

/// Beginnings below which Spark documents every public setting.
const DOCUMENTED: [&str; 32] = [
    "spark.connect.",
    "spark.deploy.",
    "spark.driver.",
    "spark.dynamicAllocation.",
    "spark.eventLog.",
    "spark.excludeOnFailure.",
    "spark.executor.",
    "spark.files.",
    "spark.history.",
    "spark.io.",
    "spark.jars.",
    "spark.kryo.",
    "spark.kryoserializer.",
    "spark.kubernetes.",
    "spark.locality.",
    "spark.memory.",
    "spark.metrics.",
    "spark.network.",
    "spark.pyspark.",
    "spark.python.",
    "spark.reducer.",
    "spark.rpc.",
    "spark.scheduler.",
    "spark.shuffle.",
    "spark.speculation.",
    "spark.sql.",
    "spark.storage.",
    "spark.streaming.",
    "spark.task.",
    "spark.ui.",
    "spark.worker.",
    "spark.yarn.",
];

/// Key, explanation, and the tuning note if there is one.
fn rows() -> Vec<Vec<&'static str>> {
    NOTES.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect()
}

#[test]
fn there_are_plenty_each_of_two_or_three_fields() {
    let rows = rows();
    assert!(rows.len() >= 200, "{} rows", rows.len());
    for row in rows {
        assert!((2..=3).contains(&row.len()), "{row:?}");
    }
}

#[test]
fn keys_are_sorted_and_stand_once() {
    assert!(rows().is_sorted_by(|one, next| one[0] < next[0]));
}

#[test]
fn every_key_is_a_setting_that_people_set() {
    let internal = |facts: &SettingFacts| facts.registered() && !facts.public(VersionIndex::NEWEST);
    for row in rows() {
        let facts = setting(row[0]).unwrap_or_else(|| panic!("{} is not in the catalogue", row[0]));
        assert_eq!(internal(facts), INTERNAL.contains(&row[0]), "{} is internal, or is not", row[0]);
    }
}

#[test]
fn texts_are_short_and_tidy() {
    for row in rows() {
        let length = row.join("\t").chars().count();
        assert!(length <= 320, "{} has {length} characters", row[0]);
        assert!(row[1].chars().count() <= 200, "{} explains at length", row[0]);
        for text in &row[1..] {
            assert!(text.ends_with('.'), "{}: {text}", row[0]);
            assert!(!text.contains("  ") && *text == text.trim(), "{}: blanks in {text:?}", row[0]);
            assert!(
                text.starts_with(|first: char| !first.is_ascii_punctuation() || first == '-'),
                "{}: {text}",
                row[0]
            );
        }
    }
}

#[test]
fn no_text_stands_twice() {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    for row in rows() {
        for text in &row[1..] {
            if let Some(other) = seen.insert(text, row[0]) {
                panic!("{other} and {} have the same text: {text}", row[0]);
            }
        }
    }
}

#[test]
fn keys_within_texts_are_settings_too() {
    for row in rows() {
        for word in row[1..].iter().flat_map(|text| text.split_whitespace()) {
            let key = word.trim_matches(|other: char| !other.is_ascii_alphanumeric());
            let known = setting(key).is_some() || key == "spark.profile.show";
            assert!(!key.starts_with("spark.") || known, "{} speaks of {key}", row[0]);
        }
    }
}

#[test]
fn what_spark_documents_has_a_link() {
    let public = settings().filter(|facts| {
        facts.declared_in().is_some_and(|releases| releases.last == VersionIndex::NEWEST)
            && facts.public(VersionIndex::NEWEST)
    });
    let mut count = 0;
    for facts in public.filter(|facts| DOCUMENTED.iter().any(|start| facts.name().starts_with(start))) {
        let link = catalog::link(facts.name(), None);
        assert!(link.is_some_and(|link| link.starts_with("https://spark.apache.org/docs/latest/")), "{}", facts.name());
        count += 1;
    }
    assert!(count > 800, "{count} public settings");
}
